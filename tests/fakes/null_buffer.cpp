// SPDX-License-Identifier: Apache-2.0
//
// Returns OK for new buffers, programs and queues, but makes no object.
#include "base.hpp"

static constexpr wye_device_table kNullTable = [] {
    auto t = fake::kDeviceTable;
    t.buffer_create = [](wye_device_object*, const wye_buffer_desc*, wye_buffer_object**,
                         wye_error**) -> wye_status { return WYE_OK; };
    t.program_create = [](wye_device_object*, const wye_artifact*, wye_program_object**,
                          wye_error**) -> wye_status { return WYE_OK; };
    t.queue_create = [](wye_device_object*, const wye_queue_desc*, wye_queue_object**,
                        wye_timeline_object**, const wye_queue_table**,
                        wye_error**) -> wye_status { return WYE_OK; };
    return t;
}();
static wye_status open(wye_plugin_object* plugin, const wye_open_desc* desc,
                       wye_device_object** out, const wye_device_table** table, wye_error** error) {
    const wye_status status = fake::open_device(plugin, desc, out, table, error);
    *table = &kNullTable;
    return status;
}
FAKE_TABLE("null_buffer", t.open_device = open)
