// SPDX-License-Identifier: Apache-2.0
//
// Program: a loaded kernel. Creating and launching are [FREE]: a launch keeps its arguments on the
// stack, and the driver copies them.
#pragma once

#include <cstddef>
#include <vector>

#include "cuda/device.hpp"
#include "wye/sdk/launch_shape.hpp"

namespace wye::cuda {

class Program {
  public:
    static constexpr std::size_t kMostSlots =
        160;  // 64 buffers, 64 lengths, parameters, grid, zero, trap words

    // The arguments of a launch, in the form that the driver takes. Not copyable: it contains
    // pointers into itself.
    struct Arguments {
        explicit Arguments(const wye_dispatch_op& op) : grid(op) {}
        Arguments(const Arguments&) = delete;
        Arguments& operator=(const Arguments&) = delete;

        std::uint64_t words[kMostSlots];
        void* pointers[kMostSlots];
        sdk::GridWords grid;
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

    // Queues the kernel and returns before it runs. The context must be current. Error:
    // LIMIT_EXCEEDED for a cooperative launch of more workgroups than can run at once.
    // `barrier`: the words of a program with a grid barrier, see GridBarrier.
    [[nodiscard]] Result<void> launch(CUstream stream, const wye_dispatch_op& op,
                                      CUdeviceptr barrier) const;
    // Makes a graph node of the launch. `out` points to `arguments` and to the operation's
    // parameters.
    [[nodiscard]] Result<void> node(const wye_dispatch_op& op, CUdeviceptr barrier,
                                    Arguments& arguments, CUDA_KERNEL_NODE_PARAMS& out) const;
    [[nodiscard]] bool has_grid_barrier() const { return shape_.has_grid_barrier; }

  private:
    Program(Device& device, sdk::LaunchShape shape)
        : device_(device), context_(device.context()), shape_(std::move(shape)) {}
    Result<void> compile(const wye_artifact& artifact);
    Result<void> load(wye_bytes saved);
    Result<void> load_image();
    Result<void> find_kernel(std::uint32_t shared_bytes);
    void set(const wye_dispatch_op& op, CUdeviceptr barrier, Arguments& out) const;
    [[nodiscard]] Result<void> check(const wye_dispatch_op& op) const {
        WYE_TRY(shape_.check(op));
        return (op.flags & WYE_LAUNCH_COOPERATIVE) == 0 ? Result<void>() : check_at_once(op);
    }
    [[nodiscard]] Result<void> check_at_once(const wye_dispatch_op& op) const;

    Device& device_;
    const Context& context_;
    const sdk::LaunchShape shape_;
    std::vector<std::byte> image_;
    ModuleHandle module_;
    CUfunction kernel_ = nullptr;
    unsigned dynamic_shared_ = 0;
};

[[nodiscard]] inline Program& program_of(wye_program_object* object) {
    return *reinterpret_cast<Program*>(object);
}

}  // namespace wye::cuda
