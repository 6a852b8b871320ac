// SPDX-License-Identifier: Apache-2.0
//
// Program: a compiled kernel. Creating is free-threaded. Launching locks the program, since
// arguments are state of the kernel object, and several queues may launch the program.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "opencl/launch/kernel.hpp"

namespace wye::opencl {

class Program {
  public:
    // The range of a launch, in invocations, as for clEnqueueNDRangeKernel.
    struct Range {
        cl_uint axes = 0;
        std::array<std::size_t, 3> global{};

        // Whether PoCL counts the launch as one of a small grid, for which PoCL makes separate
        // machine code.
        [[nodiscard]] bool is_small() const {
            return std::max({global[0], global[1], global[2]}) < 0xffff;
        }
    };

    // The error COMPILE_FAILED has the compiler's log and the source line that the log refers to.
    // If `saved`, the result of `save`, is not empty, the source is ignored. UNSUPPORTED: the
    // driver does not accept `saved`. NOT_READY: this context loads no saved programs, but another
    // one may.
    [[nodiscard]] static Result<std::unique_ptr<Program>> create(Device& device,
                                                                 const wye_artifact& artifact,
                                                                 wye_bytes saved);
    // The driver's binary, owned by this object. NOT_READY before the first launch, if a binary
    // saved that early would take as long to load as the source to compile.
    [[nodiscard]] Result<wye_bytes> save();

    // Reports the results of clGetKernelWorkGroupInfo.
    void describe(wye_program_info& out) const;
    [[nodiscard]] sdk::ArgumentSizes sizes() const { return shape_.sizes(); }

    // Sets the arguments that changed since the last launch and enqueues the kernel. Returns before
    // the kernel runs. `by`: identifies the queue.
    [[nodiscard, gnu::always_inline]] inline Result<void> launch(cl_command_queue queue,
                                                                 const wye_dispatch_op& op,
                                                                 const Order& order,
                                                                 const void* by) {
        const sdk::Lock lock(mutex_);
        if (op.again == 0 || set_by_ != by) [[unlikely]]
            return set_and_launch(queue, op, order, by);
        return enqueue(kernel_, queue, set_range_, order);
    }

    // Makes a kernel object for a command, which launches it by `enqueue`.
    [[nodiscard]] Result<Kernel> make_kernel() const;
    [[nodiscard]] Result<Range> range_of(const wye_dispatch_op& op) const;
    // Enqueues a kernel object of this program. The kernel's arguments must be set.
    [[nodiscard, gnu::always_inline]] inline Result<void> enqueue(const Kernel& kernel,
                                                                  cl_command_queue queue,
                                                                  const Range& range,
                                                                  const Order& order) {
        const std::uint8_t form = range.is_small() ? kSmallForm : kLargeForm;
        const bool first = (launched_.load(std::memory_order_relaxed) & form) == 0;
        if (first) [[unlikely]]
            WYE_TRY(before_first_launch());
        const cl_int status = device_.driver.clEnqueueNDRangeKernel(
            queue, kernel.get(), range.axes, nullptr, range.global.data(), workgroup_.data(),
            order.wait_count, order.waits, order.event);
        if (status != CL_SUCCESS) [[unlikely]]
            return refused(status);
        if (first) [[unlikely]]
            launched_.fetch_or(form, std::memory_order_relaxed);
        return {};
    }

  private:
    enum Form : std::uint8_t { kSmallForm = 1, kLargeForm = 2 };

    Program(Device& device, sdk::LaunchShape shape);
    [[nodiscard]] Result<void> set_and_launch(cl_command_queue queue, const wye_dispatch_op& op,
                                              const Order& order, const void* by)
        WYE_REQUIRES(mutex_);
    Result<void> compile(const wye_artifact& artifact);
    // Compiles the texts as one source; lines in errors refer to the last text.
    Result<void> compile(std::span<const std::string_view> texts, const std::string& options);
    Result<void> load(wye_bytes saved);
    // Called before the first launch of each Form, that is, of a small and of a large grid, since
    // PoCL then writes files (quirks pocl-compiles-at-launch and pocl-file-mask).
    [[nodiscard]] Result<void> before_first_launch() const;
    // The driver's limit on the invocations of a workgroup of this kernel.
    [[nodiscard]] std::size_t most_invocations() const;
    [[nodiscard]] bool compiled_for_workgroup() const;
    [[nodiscard]] Error too_large() const;
    [[nodiscard]] Error refused(cl_int status) const;  // by the driver, of a launch

    Device& device_;
    const sdk::LaunchShape shape_;
    ProgramHandle program_;
    cl_kernel asked_ = nullptr;  // the handle of kernel_, for queries only
    std::array<std::size_t, 3> workgroup_ = {1, 1, 1};
    bool doubtful_ = false;  // the workgroup exceeds the driver's limit, which may be wrong
    std::atomic<std::uint8_t> launched_ = 0;  // the forms of the launches so far
    cl_uint axes_ = 3;  // number of workgroup axes, without trailing axes of one invocation

    sdk::Mutex mutex_;
    Kernel kernel_ WYE_GUARDED_BY(mutex_);
    // The queue that set the kernel's arguments last, and the range of that launch. Null: no queue,
    // or an argument is a sub-buffer, which was only for that launch.
    const void* set_by_ WYE_GUARDED_BY(mutex_) = nullptr;
    Range set_range_ WYE_GUARDED_BY(mutex_);
    std::vector<unsigned char> saved_ WYE_GUARDED_BY(mutex_);
};

[[nodiscard]] inline Program& program_of(wye_program_object* object) {
    return *reinterpret_cast<Program*>(object);
}

}  // namespace wye::opencl
