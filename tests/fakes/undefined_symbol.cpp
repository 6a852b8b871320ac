// SPDX-License-Identifier: Apache-2.0
//
// Calls a function that no library defines.
#include "base.hpp"

extern "C" int wye_nobody_defines_this();
static wye_status probe(wye_plugin_object*, std::uint32_t* out_count, wye_error**) {
    *out_count = static_cast<std::uint32_t>(wye_nobody_defines_this());
    return WYE_OK;
}
FAKE_TABLE("undefined_symbol", t.probe_devices = probe)
