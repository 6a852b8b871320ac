// SPDX-License-Identifier: Apache-2.0
//
// Device: an opened device, on its primary context. Free-threaded, except for `recover`. The host
// closes a device only after its buffers, programs, commands and queues are gone.
#pragma once

#include <atomic>
#include <vector>

#include "cuda/context/context.hpp"
#include "cuda/plugin.hpp"
#include "wye/sdk/command.hpp"

namespace wye::cuda {

class Buffer;
class Command;
class Program;
class Queue;

class Device {
  public:
    using Buffer = cuda::Buffer;
    using Program = cuda::Program;
    using Queue = cuda::Queue;
    using Command = cuda::Command;

    [[nodiscard]] static Result<std::unique_ptr<Device>> create(Plugin& plugin,
                                                                const DeviceInfo& info);

    Plugin& plugin;
    const DeviceInfo& info;
    const Driver& driver;
    sdk::LossState loss;

    // The result is valid while the device lives, even after the context was lost and replaced.
    [[nodiscard]] Context& context() const { return *current_.load(std::memory_order_acquire); }
    [[nodiscard]] Result<sdk::MemoryState> memory() const;
    // Adds the handles for the extension wye.native_handle.
    [[nodiscard]] Result<void> native(sdk::NativeValues& out) const {
        out.add("CUcontext", context().handle);
        out.add("CUdevice", info.id);
        return {};
    }

    // Returns the error of a failed driver call. An empty subject stands for the device's name. A
    // status that means a lost context (`sticky` in status.hpp) marks the device as lost.
    [[nodiscard]] Error failed(CUresult status, std::string_view call,
                               std::string_view subject = {});
    [[nodiscard]] Result<void> check(CUresult status, std::string_view call,
                                     std::string_view subject = {}) {
        if (status == CUDA_SUCCESS) return {};
        return failed(status, call, subject);
    }
    // Resets the primary context, for all its users in the process, if a fault lost the context and
    // no other Device has reset it since. One thread at a time.
    [[nodiscard]] Result<void> recover();

  private:
    Device(Plugin& owner, const DeviceInfo& found)
        : plugin(owner), info(found), driver(*owner.driver) {}
    Result<void> acquire();

    std::vector<std::unique_ptr<Context>> contexts_;  // all except the last are lost
    std::atomic<Context*> current_{nullptr};
};

[[nodiscard]] inline Device& device_of(wye_device_object* object) {
    return sdk::DeviceSlots<Device>::of(object);
}

}  // namespace wye::cuda
