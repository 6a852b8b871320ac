// SPDX-License-Identifier: Apache-2.0
//
// Its init fails without an error object.
#include "base.hpp"

static wye_status init(const wye_host_table*, std::uint32_t, wye_plugin_object**, wye_error**) {
    return WYE_DRIVER;
}
FAKE_TABLE("silent_failure", t.init = init)
