// SPDX-License-Identifier: Apache-2.0
//
// Context: the OpenCL context of an opened device. Free-threaded.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "opencl/discovery.hpp"
#include "opencl/handle.hpp"
#include "opencl/pocl/context_number.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::opencl {

class HostMapping;

class Context {
  public:
    // `lost_before`: whether a device was lost in this process. If so, a refusal by the driver is
    // the error DEVICE_LOST, with the advice to restart the process.
    [[nodiscard]] static Result<std::unique_ptr<Context>> create(const Driver& driver,
                                                                 const DeviceInfo& info,
                                                                 bool lost_before);

    [[nodiscard]] cl_context get() const { return handle_.get(); }
    // Allocates at least kLeastBytes, in host memory if `on_host`.
    static constexpr std::uint64_t kLeastBytes = 64;
    [[nodiscard]] cl_int allocate(std::uint64_t size, bool on_host, MemoryHandle& out) const;
    // `timing`: the queue measures the times of its commands. `priority`: -1, 0 or 1.
    [[nodiscard]] cl_int make_queue(bool timing, QueueHandle& out, int priority = 0) const;
    // Whether the device supports queues of different priorities.
    [[nodiscard]] bool has_priorities() const;
    // Quirk pocl-shared-code: a compiler option that makes the programs of this context differ from
    // those of other contexts; empty for the first context. `check_numbered` returns an error with
    // `code` if the option is not empty, since only programs of the first context are saved and
    // loaded.
    [[nodiscard]] std::string number_option() const;
    [[nodiscard]] Result<void> check_numbered(Code code, const std::string& label) const;
    // Waits until the queue is idle; quirk rusticl-finish.
    [[nodiscard]] cl_int finish(cl_command_queue queue) const;
    // Maps the first `size` bytes of a buffer that was allocated with `on_host`.
    [[nodiscard]] Result<HostMapping> map(cl_mem memory, std::uint64_t size);
    void unmap(cl_mem memory, std::byte* address);
    // The memory that is bound for empty ranges, since a kernel may read element 0 of any range.
    [[nodiscard]] cl_mem nothing() const { return nothing_.get(); }
    // Whether the device still responds: a tiny command on a new queue succeeds, or fails for lack
    // of memory. Waits at most a second; a slow device counts as responding.
    [[nodiscard]] bool answers() const;

  private:
    Context(const Driver& driver, const DeviceInfo& info) : driver_(driver), info_(info) {}

    const Driver& driver_;
    const DeviceInfo& info_;
    std::optional<ContextNumber> number_;
    ContextHandle handle_;
    MemoryHandle nothing_;
    sdk::Mutex mapping_;
    QueueHandle mapper_ WYE_GUARDED_BY(mapping_);  // made at first use
};

}  // namespace wye::opencl
