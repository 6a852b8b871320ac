// SPDX-License-Identifier: Apache-2.0
//
// Breaks one rule in each of many slots, and keeps all rules elsewhere. For the tests of the layer
// that watches calls.
#include <cfenv>
#include <stdexcept>

#include "base.hpp"

namespace {

wye_status probe_devices(wye_plugin_object*, std::uint32_t* out_count, wye_error**) {
    static std::uint32_t count = 3;  // the result is 2, then 3, then 2, ...
    *out_count = count = count == 3 ? 2 : 3;
    return WYE_OK;
}
wye_status device_fact(wye_plugin_object* plugin, std::uint32_t index, std::uint32_t key,
                       wye_fact* out) {
    static std::uint64_t turn = 0;  // the result is 0, then 1, then 0, ...
    const wye_status status = fake::device_fact(plugin, index, key, out);
    if (key == WYE_FACT_KEY_INT64) out->u = turn++ % 2;
    return status;
}
// Makes a buffer of 7 bytes, but returns an error, which lacks a remedy.
wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    const wye_status status = fake::buffer_create(device, desc, out, error);
    if (desc->size != 7) return status;
    return fake::fail(device->plugin->host, error, WYE_DEVICE_MEMORY, fake::text("no"),
                      fake::text("try again"));
}
wye_status buffer_map(wye_device_object*, wye_buffer_object* buffer, wye_mapping* out,
                      wye_error**) {
    static std::size_t shift = 0;
    out->address = buffer->bytes + 16 * (shift++ % 2);
    return WYE_OK;
}
wye_status program_create(wye_device_object* device, const wye_artifact*, wye_program_object**,
                          wye_error** error) {
    (void)fake::fail(device->plugin->host, error, WYE_INVALID_ARGUMENT, fake::text("no"),
                     fake::text("Fix: none"));
    return WYE_COMPILE_FAILED;
}
// Says that a value is reached, and in the next call that it is not.
wye_status query(wye_device_object*, const wye_event*, wye_error**) {
    static int turn = 0;
    return turn++ % 2 == 0 ? WYE_OK : WYE_NOT_READY;
}
// Returns a time-out without waiting.
wye_status wait(wye_device_object*, const wye_event*, std::uint64_t, std::uint32_t, std::uint64_t,
                std::uint64_t*, wye_error**) {
    return WYE_TIMEOUT;
}
wye_status prepare(wye_device_object*, wye_error**) {
    std::fesetround(FE_UPWARD);
    return WYE_OK;
}
wye_status memory_info(wye_device_object*, wye_memory_info*, wye_error**) {
    throw std::runtime_error("out of luck");
}

}  // namespace

FAKE_DEVICE_AND_PLUGIN("breaks_calls", t.buffer_create = buffer_create; t.buffer_map = buffer_map;
                       t.program_create = program_create; t.query = query; t.wait = wait;
                       t.prepare = prepare;
                       t.memory_info = memory_info, t.probe_devices = probe_devices;
                       t.device_fact = device_fact)
