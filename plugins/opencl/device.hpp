// SPDX-License-Identifier: Apache-2.0
//
// The plugin and one opened device: a context of its own, and what every object below needs.
// [FREE] unless said otherwise; kept alive by the host until its objects are gone.
#pragma once

#include <atomic>
#include <memory>
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

    [[nodiscard]] const wye_host_table& host() const { return *plugin.host; }
    // Runs a slot's body.
    template <typename Body>
    wye_status guard(wye_error** error, Body&& body) const noexcept {
        return sdk::guard(host(), error, std::forward<Body>(body));
    }
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
