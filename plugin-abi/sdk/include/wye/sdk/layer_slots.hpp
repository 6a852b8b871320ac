// SPDX-License-Identifier: Apache-2.0
//
// A type for each slot of the ABI, by which a layer chooses what it does in a call:
// slot::plugin::open_device, slot::device::buffer_create, slot::queue::submit, and those of the
// extensions, such as slot::native::buffer. Each type has the slot's name, table and member of the
// table.
#pragma once

#include <string_view>

#include "wye/abi.h"
#include "wye/abi_compiler.h"
#include "wye/abi_layouts.h"
#include "wye/abi_loss.h"
#include "wye/abi_native.h"
#include "wye/sdk/slots.hpp"

namespace wye::sdk::layer::slot {

#define WYE_LAYER_SLOT(of, slot, called)                    \
    struct slot {                                           \
        using Table = of;                                   \
        using Function = decltype(of::slot);                \
        static constexpr std::string_view kName = called;   \
        static constexpr Function of::*kMember = &of::slot; \
    };

namespace plugin {
#define WYE_LAYER_SLOT_OF_PLUGIN(slot, mandatory) WYE_LAYER_SLOT(wye_plugin_table, slot, #slot)
WYE_PLUGIN_SLOTS(WYE_LAYER_SLOT_OF_PLUGIN)
#undef WYE_LAYER_SLOT_OF_PLUGIN
}  // namespace plugin

namespace device {
#define WYE_LAYER_SLOT_OF_DEVICE(slot, mandatory) WYE_LAYER_SLOT(wye_device_table, slot, #slot)
WYE_DEVICE_SLOTS(WYE_LAYER_SLOT_OF_DEVICE)
#undef WYE_LAYER_SLOT_OF_DEVICE
}  // namespace device

namespace queue {
#define WYE_LAYER_SLOT_OF_QUEUE(slot, mandatory) WYE_LAYER_SLOT(wye_queue_table, slot, #slot)
WYE_QUEUE_SLOTS(WYE_LAYER_SLOT_OF_QUEUE)
#undef WYE_LAYER_SLOT_OF_QUEUE
}  // namespace queue

namespace native {
WYE_LAYER_SLOT(wye_native_table, device, "native_device")
WYE_LAYER_SLOT(wye_native_table, queue, "native_queue")
WYE_LAYER_SLOT(wye_native_table, buffer, "native_buffer")
}  // namespace native

namespace layouts {
WYE_LAYER_SLOT(wye_layouts_table, counts, "layout_counts")
}  // namespace layouts

namespace loss {
WYE_LAYER_SLOT(wye_loss_table, lose, "lose")
}  // namespace loss

namespace compiler {
WYE_LAYER_SLOT(wye_compiler_table, identity, "compiler_identity")
}  // namespace compiler

#undef WYE_LAYER_SLOT

// Calls visit(slot) for each slot, in the order of the tables.
template <typename Visit>
constexpr void each(Visit&& visit) {
#define WYE_LAYER_VISIT(slot, mandatory) visit(plugin::slot{});
    WYE_PLUGIN_SLOTS(WYE_LAYER_VISIT)
#undef WYE_LAYER_VISIT
#define WYE_LAYER_VISIT(slot, mandatory) visit(device::slot{});
    WYE_DEVICE_SLOTS(WYE_LAYER_VISIT)
#undef WYE_LAYER_VISIT
#define WYE_LAYER_VISIT(slot, mandatory) visit(queue::slot{});
    WYE_QUEUE_SLOTS(WYE_LAYER_VISIT)
#undef WYE_LAYER_VISIT
    visit(native::device{});
    visit(native::queue{});
    visit(native::buffer{});
    visit(layouts::counts{});
    visit(loss::lose{});
    visit(compiler::identity{});
}

// Whether the slot returns a status.
template <typename Function>
inline constexpr bool kReturnsStatus = false;
template <typename... Args>
inline constexpr bool kReturnsStatus<wye_status (*)(Args...)> = true;
template <typename Slot>
inline constexpr bool kFails = kReturnsStatus<typename Slot::Function>;

}  // namespace wye::sdk::layer::slot
