// SPDX-License-Identifier: Apache-2.0
//
// One compiled kernel. Creating is [FREE]; launching locks the program, since arguments are state
// of the kernel and several queues may launch it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "opencl/launch/kernel.hpp"

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

    // For a command, which launches it by `enqueue`.
    [[nodiscard]] Result<Kernel> make_kernel() const;
    // Enqueues a kernel of this program, whose arguments are set.
    [[nodiscard]] Result<void> enqueue(const Kernel& kernel, cl_command_queue queue,
                                       const wye_dispatch_op& op, const Order& order);

  private:
    Program(Device& device, sdk::LaunchShape shape);
    Result<void> compile(const wye_artifact& artifact);
    // The texts form one source; lines in errors refer to the last.
    Result<void> compile(std::span<const std::string_view> texts, const std::string& options);
    Result<void> load(wye_bytes saved);
    // The kernel's limit of invocations in a workgroup, by the driver.
    [[nodiscard]] std::size_t most_invocations() const;
    [[nodiscard]] bool compiled_for_workgroup() const;
    [[nodiscard]] Error too_large() const;

    Device& device_;
    const sdk::LaunchShape shape_;
    ProgramHandle program_;
    cl_kernel asked_ = nullptr;  // the kernel below, for questions only
    std::array<std::size_t, 3> workgroup_ = {1, 1, 1};
    bool doubtful_ = false;  // the workgroup exceeds the driver's limit, which may be wrong
    std::atomic<bool> launched_ = false;
    cl_uint axes_ = 3;  // trailing axes with one invocation and one group are omitted

    sdk::Mutex mutex_;
    Kernel kernel_ WYE_GUARDED_BY(mutex_);
    std::vector<unsigned char> saved_ WYE_GUARDED_BY(mutex_);
};

[[nodiscard]] inline Program& program_of(wye_program_object* object) {
    return *reinterpret_cast<Program*>(object);
}

}  // namespace wye::opencl
