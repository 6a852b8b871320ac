// SPDX-License-Identifier: Apache-2.0
//
// LossSlots: implements the extension `wye.loss` for a device that can be lost: one whose class has
// `Error failed(status, call, subject)` (see device_slots.hpp). Threads as in abi_loss.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wye/abi_loss.h"
#include "wye/sdk/plugin.hpp"
#include "wye/sdk/queue_slots.hpp"

namespace wye::sdk {

template <typename Device>
struct LossSlots {
    static constexpr bool kHas = requires { &Device::failed; };

    static wye_status lose(wye_device_object* object, wye_error** error) {
        Device& device = *reinterpret_cast<Device*>(object);
        return run_unless_lost(device, error, [&]() -> Result<void> {
            const auto timeline_of = [](void* queue) -> auto& {
                return static_cast<typename Device::Queue*>(queue)->timeline();
            };
            // The driver still works. Lets its work end, because the host may then destroy objects
            // that the work uses.
            device.loss.visit_queues([&](void* queue) { timeline_of(queue).let_end(); });
            device.loss.record(errors::lost_on_request(device.info.name));
            device.loss.visit_queues([&](void* queue) { timeline_of(queue).drain(); });
            return {};
        });
    }

    static constexpr wye_loss_table kTable = {{sizeof(wye_loss_table), 0, nullptr}, lose};

    // Returns the extension's table; null for other names and versions.
    static const void* find(std::string_view name, std::uint32_t version) {
        return name == WYE_EXTENSION_LOSS && version == 1 ? &kTable : nullptr;
    }
};

}  // namespace wye::sdk
