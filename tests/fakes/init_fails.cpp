// SPDX-License-Identifier: Apache-2.0
//
// Its init fails as if its driver were not installed.
#include "base.hpp"

static wye_status init(const wye_host_table* host, std::uint32_t, wye_plugin_object**,
                       wye_error** error) {
    return fake::fail(host, error, WYE_MISSING_DEPENDENCY,
                      fake::text("libfake_driver.so.1 is not installed"),
                      fake::text("Fix: install fake-driver"));
}
FAKE_TABLE("init_fails", t.init = init)
