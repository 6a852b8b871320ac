// SPDX-License-Identifier: Apache-2.0
//
// The plugin and one opened device: a context of its own, and what every object below needs.
// [FREE] unless said otherwise; kept alive by the host until its objects are gone.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "opencl/discovery.hpp"
#include "opencl/handle.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::opencl {

// Made by `init`; the device list is filled by the first probe and never changes after.
struct Plugin {
    const wye_host_table* host = nullptr;
    std::unique_ptr<const Driver> driver;
    std::vector<Device> devices;
    bool probed = false;
    std::atomic<bool> lost_any = false;  // some device, in this process
};

struct OpenDevice {
    Plugin& plugin;
    const Driver& driver;
    const Device& info;
    Context context;
    Memory nothing;  // stands for empty ranges: a kernel may always read one element
    std::atomic<std::uint64_t> next_serial{
        1};                                   // numbers buffers, so that none is taken for another
    std::atomic<std::uint64_t> allocated{0};  // bytes of live buffers

    std::atomic<bool> lost{false};
    std::mutex loss_mutex{};
    std::optional<Error> loss{};  // once lost

    [[nodiscard]] const wye_host_table& host() const { return *plugin.host; }
    // Runs a slot's body, unless the device is lost; what fails in it is judged.
    template <typename Body>
    wye_status guard(wye_error** error, Body&& body) noexcept {
        return sdk::guard(host(), error, [&]() -> Result<void> {
            if (lost.load(std::memory_order_acquire)) return how_lost();
            Result<void> result = body();
            if (!result.ok()) return judged(std::move(result).error());
            return result;
        });
    }
    [[nodiscard]] Error how_lost();
    // DEVICE_LOST instead of an error behind which the device has stopped to answer. OpenCL has no
    // status for that: drivers say that a queue is invalid, or a number of their own.
    [[nodiscard]] Error judged(Error error);
    // Whether a new queue still does a tiny piece of work.
    [[nodiscard]] bool answers() const;
    [[nodiscard]] static Result<std::unique_ptr<OpenDevice>> open(Plugin& plugin,
                                                                  std::uint32_t index);
};

// A buffer of at least kLeastBytes, so that its first element can always be read.
struct Buffer {
    OpenDevice& device;
    Memory memory;
    std::uint64_t size;
    std::uint64_t serial;

    Buffer(OpenDevice& owner, Memory bytes, std::uint64_t count)
        : device(owner),
          memory(std::move(bytes)),
          size(count),
          serial(owner.next_serial.fetch_add(1)) {
        device.allocated.fetch_add(size);
    }
    ~Buffer() { device.allocated.fetch_sub(size); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
};
inline constexpr std::uint64_t kLeastBytes = 64;

[[nodiscard]] Result<std::unique_ptr<Buffer>> create_buffer(OpenDevice& device, std::uint64_t size,
                                                            std::string_view label);

// The slots of an opened device.
extern const wye_device_table kDeviceTable;

[[nodiscard]] inline OpenDevice& device_of(wye_device_object* object) {
    return *reinterpret_cast<OpenDevice*>(object);
}
[[nodiscard]] inline Buffer& buffer_of(wye_buffer_object* object) {
    return *reinterpret_cast<Buffer*>(object);
}

}  // namespace wye::opencl
