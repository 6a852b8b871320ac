// SPDX-License-Identifier: Apache-2.0
//
// Program: a loaded kernel. Creating and launching are free-threaded: the caller of a launch
// provides the memory for the arguments, and the driver copies the arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/device.hpp"
#include "wye/sdk/launch_shape.hpp"

namespace wye::cuda {

class Program {
  public:
    static constexpr std::size_t kMostSlots =
        160;  // 64 buffers, 64 lengths, parameters, grid, zero, trap words

    // The arguments of a launch, in the form that the driver takes. Consecutive launches with the
    // same object write only the arguments that differ from those of the previous launch. Not
    // copyable, since it contains pointers into itself.
    class Arguments {
      public:
        Arguments() = default;
        Arguments(const Arguments&) = delete;
        Arguments& operator=(const Arguments&) = delete;
        // To be called before a program or the bindings of an earlier launch may change or be
        // destroyed.
        void forget() { program_ = nullptr; }

      private:
        friend Program;
        const Program* program_ = nullptr;       // of the previous launch; null: none
        const wye_binding* bindings_ = nullptr;  // of the previous launch
        std::uint64_t words_[kMostSlots];
        void* pointers_[kMostSlots];
        std::uint32_t grid_[6];
    };

    // Makes a program from cuda-c, cubin or ptx. If `saved`, the result of `save`, is not empty,
    // the artifact's code is ignored. Errors: COMPILE_FAILED with the compiler's log; UNSUPPORTED
    // if this device does not accept `saved`.
    [[nodiscard]] static Result<std::unique_ptr<Program>> create(Device& device,
                                                                 const wye_artifact& artifact,
                                                                 wye_bytes saved);
    // The loaded code: a cubin, or PTX if the device is newer than NVRTC. Owned by this object.
    [[nodiscard]] Result<wye_bytes> save() const;

    // Reports the driver's attributes and occupancy figures.
    void describe(wye_program_info& out) const;
    [[nodiscard]] sdk::ArgumentSizes sizes() const { return shape_.sizes(); }

    // Returns the number of workgroups that can run at once on the whole device, or 0 if unknown.
    // The context must be current.
    [[nodiscard]] std::uint64_t resident_groups() const;

    // Whether `launch_plain` may do this launch: it is not cooperative, has workgroups, and passes
    // all checks.
    [[nodiscard]] bool is_plain(const wye_dispatch_op& op) const {
        return op.flags == 0 && op.groups[0] != 0 && !shape_.has_grid_barrier &&
               shape_.covers_grid(op);
    }
    // Queues the kernel, and returns without waiting for it. The context must be current.
    [[nodiscard, gnu::hot]] CUresult launch_plain(CUstream stream, const wye_dispatch_op& op,
                                                  Arguments& arguments) const;
    // Like `launch_plain`, for any launch. Error: LIMIT_EXCEEDED for a cooperative launch of more
    // workgroups than can run at once. `barrier`: the words of a program with a grid barrier, see
    // GridBarrier.
    [[nodiscard]] Result<void> launch(CUstream stream, const wye_dispatch_op& op,
                                      CUdeviceptr barrier, Arguments& arguments) const;
    // The result of a launch whose driver call returned `status`.
    [[nodiscard]] Result<void> launched(CUresult status) const {
        return device_.check(status, "cuLaunchKernel", shape_.label);
    }
    // Describes the launch as a graph node. `out` then points to `arguments` and to the operation's
    // parameters.
    [[nodiscard]] Result<void> node(const wye_dispatch_op& op, CUdeviceptr barrier,
                                    Arguments& arguments, CUDA_KERNEL_NODE_PARAMS& out) const;
    [[nodiscard]] bool has_grid_barrier() const { return shape_.has_grid_barrier; }

  private:
    // A slot that launches write, and the binding whose address or length is written there, if any.
    struct Place {
        std::uint32_t slot, binding;
    };

    Program(Device& device, sdk::LaunchShape shape);
    Result<void> compile(const wye_artifact& artifact);
    Result<void> load(wye_bytes saved);
    Result<void> load_image();
    Result<void> find_kernel(std::uint32_t shared_bytes);
    [[nodiscard]] std::uint64_t address(const wye_binding& binding) const;
    void set(const wye_dispatch_op& op, CUdeviceptr barrier, Arguments& out) const;
    // The parts of `set`: values that all launches share, slots of bindings, and other slots.
    void set_program(Arguments& out) const;
    void set_bindings(const wye_binding* bindings, Arguments& out) const;
    void set_others(const wye_dispatch_op& op, CUdeviceptr barrier, Arguments& out) const;
    [[nodiscard]] Result<void> check(const wye_dispatch_op& op) const {
        WYE_TRY(shape_.check(op));
        return (op.flags & WYE_LAUNCH_COOPERATIVE) == 0 ? Result<void>() : check_at_once(op);
    }
    [[nodiscard]] Result<void> check_at_once(const wye_dispatch_op& op) const;

    Device& device_;
    const Context& context_;
    const sdk::LaunchShape shape_;
    std::vector<Place> buffers_, lengths_, others_;  // the shape's slots, by kind
    std::vector<std::byte> image_;
    ModuleHandle module_;
    CUfunction kernel_ = nullptr;
    unsigned dynamic_shared_ = 0;
};

[[nodiscard]] inline Program& program_of(wye_program_object* object) {
    return *reinterpret_cast<Program*>(object);
}

}  // namespace wye::cuda
