// SPDX-License-Identifier: Apache-2.0
//
// The plugin and one opened device: a VkDevice of its own, and what every object below needs.
// [FREE] unless said otherwise; kept alive by the host until its objects are gone.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "vulkan/discovery.hpp"
#include "vulkan/handle.hpp"
#include "vulkan/resources/layouts.hpp"
#include "vulkan/self_test/verdict.hpp"
#include "vulkan/setup/instance.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::vulkan {

// Made by `init`; instance and device list by the first probe, and unchanged after.
struct Plugin {
    const wye_host_table* host = nullptr;
    std::unique_ptr<const Loader> loader;
    std::unique_ptr<Instance> instance;
    std::vector<Device> devices;

    // The self-test's verdict of each device: remembered in the cache folder, else found out when
    // the first fact is asked that needs it.
    struct Tested {
        std::once_flag once;
        Verdict verdict;
    };
    std::deque<Tested> tested;
    std::string cache_folder;  // empty: nothing is remembered
    [[nodiscard]] const Verdict& verdict(std::uint32_t index);

    // Hands what the validation layer said to the host's log. No lock is held.
    void deliver_messages() const;
};

// As sdk::guard, and delivers the messages of the validation layer.
template <typename Body>
wye_status guard(const Plugin& plugin, wye_error** sink, Body&& body) noexcept {
    const wye_status status = sdk::guard(*plugin.host, sink, std::forward<Body>(body));
    plugin.deliver_messages();
    return status;
}

// A VkQueue takes one call at a time; several of the plugin's queues may share it.
struct NativeQueue {
    VkQueue handle = VK_NULL_HANDLE;
    std::mutex mutex;
};

struct Buffer;

struct OpenDevice {
    const Plugin& plugin;
    const Device& info;
    LogicalDevice logical;
    Layouts layouts;
    std::vector<std::unique_ptr<NativeQueue>> queues;
    std::atomic<std::uint32_t> next_queue{0};
    std::atomic<std::uint64_t> next_serial{1};  // numbers buffers and programs
    std::atomic<std::uint32_t> allocations{0};  // of device memory, which Vulkan limits in number
    std::unique_ptr<Buffer> nothing;  // stands for empty ranges: a kernel may read one element

    OpenDevice(const Plugin& p, const Device& d);
    ~OpenDevice();
    [[nodiscard]] static Result<std::unique_ptr<OpenDevice>> open(const Plugin& plugin,
                                                                  const Device& info);

    [[nodiscard]] const DeviceTable& vk() const { return logical.vk; }
    [[nodiscard]] VkDevice handle() const { return logical.handle; }
    // Runs a slot's body.
    template <typename Body>
    wye_status guard(wye_error** error, Body&& body) const noexcept {
        return vulkan::guard(plugin, error, std::forward<Body>(body));
    }
    // The error of a call that failed on this device; remembers when the device is lost. A VkDevice
    // does not come back: the device is opened again.
    [[nodiscard]] Error failed(VkResult result, std::string_view call);
    [[nodiscard]] Error failed(VkResult result, std::string_view call, std::string_view subject);
    [[nodiscard]] bool lost() const { return lost_.load(std::memory_order_acquire); }
    // DEVICE_LOST with the error that lost it, or nothing.
    [[nodiscard]] std::optional<Error> loss() const;

  private:
    std::atomic<bool> lost_{false};
    mutable std::mutex loss_mutex_;
    std::optional<Error> loss_;
};

// Bytes of device-local memory, from the driver's budget where it states one.
struct MemoryState {
    std::uint64_t total = 0;
    std::uint64_t free = UINT64_MAX;  // unknown
};
[[nodiscard]] MemoryState memory_state(const OpenDevice& device);

// The slots of an opened device.
extern const wye_device_table kDeviceTable;

[[nodiscard]] inline OpenDevice& device_of(wye_device_object* object) {
    return *reinterpret_cast<OpenDevice*>(object);
}

}  // namespace wye::vulkan
