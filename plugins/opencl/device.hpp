// SPDX-License-Identifier: Apache-2.0
//
// Device: an opened device, with its OpenCL context and the state that its buffers, programs,
// commands and queues share. Free-threaded; the host closes a device only after these objects are
// gone.
#pragma once

#include <atomic>

#include "opencl/context/context.hpp"
#include "opencl/plugin.hpp"
#include "wye/sdk/command.hpp"
#include "wye/sdk/work_times.hpp"

namespace wye::opencl {

class Buffer;
class Command;
class Program;
class Queue;

class Device {
  public:
    using Buffer = opencl::Buffer;
    using Program = opencl::Program;
    using Queue = opencl::Queue;
    using Command = opencl::Command;

    [[nodiscard]] static Result<std::unique_ptr<Device>> create(Plugin& plugin,
                                                                const DeviceInfo& info);

    Plugin& plugin;
    const DeviceInfo& info;
    const Driver& driver;
    sdk::LossState loss;
    sdk::NanosecondMatch clock;  // relates the times of all queues to the host's clock

    [[nodiscard]] Context& context() const { return *context_; }
    [[nodiscard]] Result<sdk::MemoryState> memory() const;
    // Adds the handles for the extension wye.native_handle.
    [[nodiscard]] Result<void> native(sdk::NativeValues& out) const {
        out.add("cl_context", context().get());
        out.add("cl_device_id", info.id);
        out.add("cl_platform_id", info.platform);
        return {};
    }

    // Returns the error of a failed driver call. An empty subject stands for the device's name.
    [[nodiscard]] Error failed(cl_int status, std::string_view call,
                               std::string_view subject = {}) const;
    [[nodiscard]] Result<void> check(cl_int status, std::string_view call,
                                     std::string_view subject = {}) const {
        if (status == CL_SUCCESS) return {};
        return failed(status, call, subject);
    }
    // Turns an error that may mean a loss into DEVICE_LOST if the device no longer responds. OpenCL
    // has no status for a loss: drivers report an invalid queue, or a status of their own.
    [[nodiscard]] Error judged(Error error);

    std::atomic<std::uint64_t> next_serial{1};  // numbers buffers
    std::atomic<std::uint64_t> allocated{0};    // bytes of live buffers

  private:
    Device(Plugin& owner, const DeviceInfo& found)
        : plugin(owner), info(found), driver(*owner.driver) {}

    std::unique_ptr<Context> context_;
};

[[nodiscard]] inline Device& device_of(wye_device_object* object) {
    return sdk::DeviceSlots<Device>::of(object);
}

}  // namespace wye::opencl
