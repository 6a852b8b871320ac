// SPDX-License-Identifier: Apache-2.0
//
// Never returns from closing its device, like a driver whose kernel never ends. The call logs a
// line at its begin, and again and again after that.
#include <ctime>

#include "base.hpp"

static wye_plugin_object* plugin_object = nullptr;

static wye_status init(const wye_host_table* host, std::uint32_t minor, wye_plugin_object** out,
                       wye_error** error) {
    const wye_status status = fake::init(host, minor, out, error);
    plugin_object = *out;
    return status;
}

static void close_device(wye_device_object*) {
    const timespec pause{0, 1'000'000};
    for (;;) {
        const wye_host_table* host = plugin_object->host;
        host->log(host->self, WYE_LOG_INFO, fake::text("fake"), fake::text("still closing"));
        nanosleep(&pause, nullptr);
    }
}
static constexpr wye_device_table kDevices = [] {
    auto t = fake::kDeviceTable;
    t.close = close_device;
    return t;
}();

static wye_status open_device(wye_plugin_object* plugin, const wye_open_desc* desc,
                              wye_device_object** out, const wye_device_table** table,
                              wye_error** error) {
    const wye_status status = fake::open_device(plugin, desc, out, table, error);
    *table = &kDevices;
    return status;
}
FAKE_TABLE("never_closes", t.init = init; t.open_device = open_device)
