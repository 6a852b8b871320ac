// SPDX-License-Identifier: Apache-2.0
//
// Makes buffers of native memory, and breaks one rule about them (P-51), which the configuration's
// "breaks_native.how" names:
//   nothing       no rule is broken
//   copies        the buffer is a copy of the native memory
//   frees         the destruction of the buffer clears the native memory, as if to free it
//   takes_null    a null handle is accepted
//   takes_short   memory of another type or of no bytes is accepted
#include <set>
#include <string_view>

#include "base.hpp"
#include "wye/abi_native.h"

namespace {

std::string_view how;
bool is(std::string_view what) { return how == what; }

struct Adopted {
    wye_buffer_object* buffer;
    unsigned char* bytes;
    std::uint64_t size;
    bool operator<(const Adopted& other) const { return buffer < other.buffer; }
};
std::set<Adopted> all_adopted;

wye_status native(wye_native_handle* out, std::string_view type, const void* value) {
    out->count = 1;
    out->values[0].type = {type.data(), type.size()};
    out->values[0].value = reinterpret_cast<std::uintptr_t>(value);
    return WYE_OK;
}
wye_status native_device(wye_device_object* device, wye_native_handle* out, wye_error**) {
    return native(out, "fake_device", device);
}
wye_status native_queue(wye_device_object*, wye_queue_object* queue, wye_native_handle* out,
                        wye_error**) {
    return native(out, "fake_queue", queue);
}
wye_status native_buffer(wye_device_object*, wye_buffer_object* buffer, wye_native_handle* out,
                         wye_error**) {
    return native(out, "fake_memory", buffer->bytes);
}

constexpr wye_native_table kNative = {
    {sizeof(wye_native_table), 0, nullptr}, native_device, native_queue, native_buffer};

const void* get_extension(wye_device_object*, wye_string name, std::uint32_t version) {
    const std::string_view asked(name.data, name.size);
    return asked == WYE_EXTENSION_NATIVE_HANDLE && version == 1 ? &kNative : nullptr;
}

wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    const auto* entry = static_cast<const wye_header*>(desc->header.next);
    if (entry == nullptr || entry->type != (WYE_CHAIN_NATIVE_MEMORY | WYE_CHAIN_CRITICAL))
        return fake::buffer_create(device, desc, out, error);
    const wye_native_handle& handle = *reinterpret_cast<const wye_native_memory*>(entry)->handle;
    if (fake::has_critical_entry(handle.header))
        return fake::fail(device->plugin->host, error, WYE_UNSUPPORTED_EXTENSION,
                          fake::text("the handle has a part that the fake plugin does not know"),
                          fake::text("Fix: leave it out"));
    const wye_native_value& value = handle.values[0];
    const bool fits =
        std::string_view(value.type.data, value.type.size) == "fake_memory" && desc->size != 0;
    if ((value.value == 0 && !is("takes_null")) || (!fits && !is("takes_short")))
        return fake::fail(device->plugin->host, error, WYE_INVALID_ARGUMENT,
                          fake::text("this is no memory of the fake plugin"),
                          fake::text("Fix: give the handle of a buffer"));
    if (is("copies") || value.value == 0) return fake::buffer_create(device, desc, out, error);
    auto* bytes = reinterpret_cast<unsigned char*>(value.value);
    *out = static_cast<wye_buffer_object*>(std::malloc(sizeof(wye_buffer_object)));
    (*out)->bytes = bytes;
    all_adopted.insert({*out, bytes, desc->size});
    return WYE_OK;
}

void buffer_destroy(wye_device_object* device, wye_buffer_object* buffer) {
    const auto found = all_adopted.find({buffer, nullptr, 0});
    if (found == all_adopted.end()) return fake::buffer_destroy(device, buffer);
    if (is("frees")) std::memset(found->bytes, 0, found->size);
    all_adopted.erase(found);
    std::free(buffer);
}

wye_status init(const wye_host_table* host, std::uint32_t minor, wye_plugin_object** out,
                wye_error** error) {
    wye_string value{};
    if (host->config_get(host->self, fake::text("breaks_native.how"), &value) == WYE_OK)
        how = {value.data, static_cast<std::size_t>(value.size)};
    return fake::init(host, minor, out, error);
}

}  // namespace

FAKE_DEVICE_AND_PLUGIN("breaks_native", t.buffer_create = buffer_create;
                       t.buffer_destroy = buffer_destroy;
                       t.get_extension = get_extension, t.init = init)
