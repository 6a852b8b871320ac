// SPDX-License-Identifier: Apache-2.0
//
// Its init returns OK, but gives no object.
#include "base.hpp"

static wye_status init(const wye_host_table*, std::uint32_t, wye_plugin_object**, wye_error**) {
    return WYE_OK;
}
FAKE_TABLE("null_object", t.init = init)
