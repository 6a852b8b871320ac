// SPDX-License-Identifier: Apache-2.0
// All its buffers have one native handle.
#include <string_view>

#include "base.hpp"
#include "wye/abi_native.h"

namespace {

wye_status native(wye_native_handle* out) {
    out->count = 1;
    out->values[0].type = fake::text("fake_handle");
    out->values[0].value = 1;
    return WYE_OK;
}
wye_status native_device(wye_device_object*, wye_native_handle* out, wye_error**) {
    return native(out);
}
wye_status native_queue(wye_device_object*, wye_queue_object*, wye_native_handle* out,
                        wye_error**) {
    return native(out);
}
wye_status native_buffer(wye_device_object*, wye_buffer_object*, wye_native_handle* out,
                         wye_error**) {
    return native(out);
}

constexpr wye_native_table kNative = {
    {sizeof(wye_native_table), 0, nullptr}, native_device, native_queue, native_buffer};

const void* get_extension(wye_device_object*, wye_string name, std::uint32_t version) {
    const std::string_view asked(name.data, name.size);
    return asked == WYE_EXTENSION_NATIVE_HANDLE && version == 1 ? &kNative : nullptr;
}

}  // namespace

FAKE_DEVICE("same_handles", t.get_extension = get_extension)
