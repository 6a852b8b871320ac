// SPDX-License-Identifier: Apache-2.0
//
// Gets the handles that a plugin's objects have in the driver's API, through the extension
// wye.native_handle.
#include <fmt/format.h>

#include <algorithm>

#include "registry/open/contain.hpp"
#include "registry/open/device.hpp"
#include "registry/open/plugin_text.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::registry {
namespace {

constexpr std::uint64_t kTypeLimit = 64;  // bytes

Error broken(const NativeDevice& device, std::string what) {
    return {Code::PLUGIN_FAULT, std::move(what), kPluginAuthor, device.info().selector};
}

// The plugin's table of the extension. UNSUPPORTED: the plugin has no such table.
Result<const wye_native_table*> table_of(const NativeDevice& device) {
    const wye_native_table* table = nullptr;
    WYE_TRY(contain(device.info().plugin, "get_extension", [&](wye_error**) {
        table = static_cast<const wye_native_table*>(device.table().get_extension(
            device.object(), sdk::to_abi(WYE_EXTENSION_NATIVE_HANDLE), 1));
        return WYE_OK;
    }));
    if (table == nullptr)
        return Error(
            Code::UNSUPPORTED,
            fmt::format("the plugin of {} gives no native handles away", device.info().selector),
            "Fix: use the functions of wye.h, or a plugin with the extension "
            "`" WYE_EXTENSION_NATIVE_HANDLE "`",
            device.info().selector);
    if (table->header.size < sdk::kSizeOfMinor0<wye_native_table> || table->device == nullptr ||
        table->queue == nullptr || table->buffer == nullptr)
        return broken(device, fmt::format("the table of `{}` has {} bytes, or lacks a slot",
                                          WYE_EXTENSION_NATIVE_HANDLE, table->header.size));
    return table;
}

Result<void> check_handle(const NativeDevice& device, const wye_native_handle& handle) {
    if (handle.count == 0 || handle.count > WYE_NATIVE_VALUES)
        return broken(device, fmt::format("a native handle has {} values", handle.count));
    for (std::uint32_t i = 0; i < handle.count; ++i) {
        auto type = read_text(handle.values[i].type, kTypeLimit, "the type of a native handle");
        if (!type.ok()) return std::move(type).error();
        if (type->empty()) return broken(device, "the type of a native handle is empty");
    }
    return {};
}

// Calls a slot of the table, and checks the handle that the slot wrote.
template <typename Slot>
Result<wye_native_handle> ask(const NativeDevice& device, std::string_view name, Slot&& slot) {
    const Gate::Stay stay(device.gate());
    WYE_TRY(device.check_gate(stay));
    WYE_ASSIGN(const wye_native_table* const table, table_of(device));
    wye_native_handle out{};
    out.header = sdk::header_of(sizeof out);
    WYE_TRY(contain(device.info().plugin, name,
                    [&](wye_error** error) { return slot(*table, &out, error); }));
    WYE_TRY(check_handle(device, out));
    std::fill(out.values + out.count, std::end(out.values), wye_native_value{});
    return out;
}

}  // namespace

Result<wye_native_handle> NativeDevice::native() const {
    return ask(*this, "native device", [&](const auto& table, auto* out, auto** error) {
        return table.device(object_, out, error);
    });
}

Result<wye_native_handle> NativeBuffer::native() const {
    return ask(*device_, "native buffer", [&](const auto& table, auto* out, auto** error) {
        return table.buffer(device_->object(), object_, out, error);
    });
}

Result<wye_native_handle> NativeQueue::native() const {
    return ask(*device_, "native queue", [&](const auto& table, auto* out, auto** error) {
        return table.queue(device_->object(), object_, out, error);
    });
}

Result<void> NativeQueue::wait_native(const wye_native_handle& event,
                                      std::span<const wye_event> waits) {
    const wye_native_wait native{
        {sizeof native, WYE_CHAIN_NATIVE_WAIT | WYE_CHAIN_CRITICAL, nullptr}, &event};
    wye_submission submission = sdk::submission_of(newest_ + 1, {}, waits);
    submission.header.next = &native;
    const std::string& selector = device_->info().selector;
    auto sent = contain(device_->info().plugin, "submit", [&](wye_error** error) {
        return table_.submit(object_, &submission, error);
    });
    if (sent.ok()) newest_ = submission.value;
    if (sent.ok() || sent.error().code != Code::UNSUPPORTED_EXTENSION) return sent;
    return Error(Code::UNSUPPORTED,
                 fmt::format("the plugin of {} waits for no events of a driver", selector),
                 "Fix: let the application wait for the event, then submit the work", selector);
}

}  // namespace wye::registry
