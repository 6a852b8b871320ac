// SPDX-License-Identifier: Apache-2.0
//
// Reads the native memory of a buffer's description, and the native events of a submission.
#include <span>

#include "wye/sdk/known.hpp"
#include "wye/sdk/native_slots.hpp"
#include "wye/sdk/native_wait.hpp"

namespace wye::sdk {
namespace {

Error refused(const wye_buffer_desc& desc, std::string what, std::string fix) {
    return {Code::INVALID_ARGUMENT, std::move(what), "Fix: " + std::move(fix),
            std::string(from_abi(desc.label))};
}

// The types of a handle's values, as text: "`cl_mem`, `HGLOBAL`", or "nothing".
std::string types_of(const wye_native_handle& handle) {
    std::string out;
    for (const wye_native_value& one : std::span(handle.values, handle.count))
        out += (out.empty() ? "`" : ", `") + std::string(from_abi(one.type)) + "`";
    return out.empty() ? "nothing" : out;
}

}  // namespace

const wye_native_value* find_value(const wye_native_handle& handle,
                                   std::string_view type) noexcept {
    for (const wye_native_value& one : std::span(handle.values, handle.count))
        if (from_abi(one.type) == type) return &one;
    return nullptr;
}

Result<std::uint64_t> native_value(const wye_buffer_desc& desc, std::string_view type,
                                   const std::string& device) {
    const wye_native_handle* const handle = native_memory(desc.header)->handle;
    WYE_TRY(known_extensions(handle->header.next, "a native handle"));
    const std::string wanted = "`" + std::string(type) + "`";
    const wye_native_value* const found = find_value(*handle, type);
    if (found == nullptr)
        return refused(
            desc,
            "`" + device + "` adopts a " + wanted + "; the native memory is " + types_of(*handle),
            "give a " + wanted + " of its driver");
    if (found->value != 0) return found->value;
    return refused(desc, "the native memory is a null " + wanted,
                   "give a " + wanted + " of the driver of `" + device + "`");
}

Error native_of_other(const wye_buffer_desc& desc, std::string_view type,
                      const std::string& device) {
    return {Code::WRONG_OWNER,
            "the `" + std::string(type) +
                "` belongs to another device or context of the driver than `" + device + "`",
            "Fix: create it with the handles that wye_device_native gives for this device",
            std::string(from_abi(desc.label))};
}

Error native_unfit(const wye_buffer_desc& desc, std::string_view type, std::string_view why,
                   std::string_view fix) {
    return refused(desc, "the `" + std::string(type) + "` cannot be adopted: " + std::string(why),
                   std::string(fix));
}

Result<void> check_native(const wye_buffer_desc& desc, std::uint64_t size, std::uint64_t address) {
    if (desc.size == 0)
        return refused(desc, "native memory of 0 bytes cannot be adopted",
                       "give the size that programs may use");
    if (size < desc.size)
        return refused(desc,
                       "the native memory has " + std::to_string(size) + " bytes, not " +
                           std::to_string(desc.size),
                       "adopt " + std::to_string(size) + " bytes or fewer");
    if (address % desc.alignment == 0) return {};
    return refused(desc,
                   "the native memory begins at a byte that is no multiple of " +
                       std::to_string(desc.alignment),
                   "adopt memory that is aligned to " + std::to_string(desc.alignment) + " bytes");
}

Result<std::uint64_t> native_event(const wye_native_handle& event, std::string_view type,
                                   const std::string& device) {
    WYE_TRY(known_extensions(event.header.next, "a native handle"));
    const std::string wanted = "`" + std::string(type) + "`";
    const wye_native_value* const found = find_value(event, type);
    if (found == nullptr)
        return Error(Code::INVALID_ARGUMENT,
                     "a queue of `" + device + "` waits for a " + wanted +
                         "; the native event is " + types_of(event),
                     "Fix: give a " + wanted + " of its driver", device);
    if (found->value == 0)
        return Error(Code::INVALID_ARGUMENT, "the native event is a null " + wanted,
                     "Fix: give a " + wanted + " of the driver of `" + device + "`", device);
    return found->value;
}

Error event_of_other(std::string_view type, const std::string& device) {
    return {Code::WRONG_OWNER,
            "the `" + std::string(type) +
                "` belongs to another device or context of the driver than `" + device + "`",
            "Fix: create it with the handles that wye_device_native gives for this device", device};
}

Error event_unfit(std::string_view type, const std::string& device, std::string_view why,
                  std::string_view fix) {
    return {Code::INVALID_ARGUMENT,
            "a queue of `" + device + "` cannot wait for the `" + std::string(type) +
                "`: " + std::string(why),
            "Fix: " + std::string(fix), device};
}

}  // namespace wye::sdk
