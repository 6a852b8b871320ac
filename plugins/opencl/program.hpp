// SPDX-License-Identifier: Apache-2.0
//
// One compiled kernel. Creating is [FREE]; launching locks the program, since arguments are state
// of the kernel and several queues may launch it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "opencl/device.hpp"
#include "wye/sdk/launch_shape.hpp"

namespace wye::opencl {

class Program {
  public:
    // COMPILE_FAILED has the compiler's log and the line that it refers to. If `saved`, the result
    // of `save`, is given, the source is ignored; UNSUPPORTED if the driver does not accept it.
    [[nodiscard]] static Result<std::unique_ptr<Program>> create(Device& device,
                                                                 const wye_artifact& artifact,
                                                                 wye_bytes saved);
    // The driver's binary, owned by this object. NOT_READY before the first launch if saving then
    // costs as much as compiling.
    [[nodiscard]] Result<wye_bytes> save();

    // By clGetKernelWorkGroupInfo.
    void describe(wye_program_info& out) const;
    [[nodiscard]] sdk::ArgumentSizes sizes() const { return shape_.sizes(); }

    // Sets the arguments that changed since the last launch and enqueues the kernel. Returns before
    // it runs.
    [[nodiscard]] Result<void> launch(cl_command_queue queue, const wye_dispatch_op& op,
                                      const Order& order);

  private:
    // The current value of a kernel argument: a whole buffer's serial, a word, or else bytes.
    struct Argument {
        wye_slot slot{};
        std::uint64_t word = kUnknown;
        std::vector<std::byte> bytes;
    };
    static constexpr std::uint64_t kUnknown = UINT64_MAX;  // neither a serial nor a length

    Program(Device& device, sdk::LaunchShape shape);
    Result<void> compile(const wye_artifact& artifact);
    // The texts form one source; lines in errors refer to the last.
    Result<void> compile(std::span<const std::string_view> texts, const std::string& options);
    Result<void> load(wye_bytes saved);
    Result<void> find_kernel();
    // The kernel's limit of invocations in a workgroup, by the driver.
    [[nodiscard]] std::size_t most_invocations() const;
    [[nodiscard]] bool compiled_for_workgroup() const;
    [[nodiscard]] Error too_large() const;
    Result<void> set_word(cl_uint index, std::uint64_t word) WYE_REQUIRES(mutex_);
    Result<void> set_bytes(cl_uint index, const void* data, std::size_t size) WYE_REQUIRES(mutex_);
    Result<void> set_buffer(cl_uint index, const wye_binding& binding,
                            std::vector<MemoryHandle>& temporary) WYE_REQUIRES(mutex_);
    Result<void> set_arguments(const wye_dispatch_op& op, std::vector<MemoryHandle>& temporary)
        WYE_REQUIRES(mutex_);

    Device& device_;
    const sdk::LaunchShape shape_;
    ProgramHandle program_;
    KernelHandle kernel_;
    std::array<std::size_t, 3> workgroup_ = {1, 1, 1};
    bool doubtful_ = false;  // the workgroup exceeds the driver's limit, which may be wrong
    cl_uint axes_ = 3;       // trailing axes with one invocation and one group are omitted

    sdk::Mutex mutex_;
    std::vector<Argument> arguments_ WYE_GUARDED_BY(mutex_);
    bool launched_ WYE_GUARDED_BY(mutex_) = false;
    std::vector<unsigned char> saved_ WYE_GUARDED_BY(mutex_);
};

[[nodiscard]] inline Program& program_of(wye_program_object* object) {
    return *reinterpret_cast<Program*>(object);
}

}  // namespace wye::opencl
