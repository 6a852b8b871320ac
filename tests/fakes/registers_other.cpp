// SPDX-License-Identifier: Apache-2.0
// Says that it takes memory of the application, but copies to and from memory of its own.
#include "base.hpp"

namespace {

void* memory = nullptr;  // that was registered last

wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    wye_buffer_desc own = *desc;
    if (desc->usage == WYE_BUFFER_USAGE_REGISTERED) {
        memory = desc->memory;
        own.usage = WYE_BUFFER_USAGE_STAGING;
    }
    return fake::buffer_create(device, &own, out, error);
}

wye_status buffer_map(wye_device_object*, wye_buffer_object*, wye_mapping* out, wye_error**) {
    out->address = memory;
    return WYE_OK;
}

wye_status device_fact(wye_plugin_object* plugin, std::uint32_t index, std::uint32_t key,
                       wye_fact* out) {
    if (key != WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT)
        return fake::device_fact(plugin, index, key, out);
    out->type = WYE_FACT_U64;
    out->u = 4096;
    return WYE_OK;
}

}  // namespace

FAKE_DEVICE_AND_PLUGIN("registers_other", t.buffer_create = buffer_create;
                       t.buffer_map = buffer_map, t.device_fact = device_fact)
