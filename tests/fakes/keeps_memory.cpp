// SPDX-License-Identifier: Apache-2.0
// Its device has 16 MiB of memory, which buffers do not give back when they are freed.
#include "base.hpp"

namespace {

constexpr std::uint64_t kMemory = 1U << 24U;  // bytes
std::uint64_t used = 0;

wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    if (desc->size > kMemory - used)
        return fake::fail(device->plugin->host, error, WYE_DEVICE_MEMORY,
                          fake::text("the memory of the fake is used up"),
                          fake::text("Fix: free buffers"));
    used += desc->size;
    return fake::buffer_create(device, desc, out, error);
}

wye_status device_fact(wye_plugin_object* plugin, std::uint32_t index, std::uint32_t key,
                       wye_fact* out) {
    if (key != WYE_FACT_KEY_MEMORY_BYTES && key != WYE_FACT_KEY_UNIFIED_MEMORY)
        return fake::device_fact(plugin, index, key, out);
    out->type = key == WYE_FACT_KEY_MEMORY_BYTES ? WYE_FACT_U64 : WYE_FACT_BOOL;
    out->u = key == WYE_FACT_KEY_MEMORY_BYTES ? kMemory : 0;
    return WYE_OK;
}

}  // namespace

FAKE_DEVICE_AND_PLUGIN("keeps_memory", t.buffer_create = buffer_create, t.device_fact = device_fact)
