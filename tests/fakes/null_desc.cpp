// SPDX-License-Identifier: Apache-2.0
//
// Its query returns OK, but gives no description.
#include "base.hpp"

FAKE_EXPORT wye_status wye_plugin_query_1(const wye_hello*, const wye_plugin_desc**) {
    return WYE_OK;
}
