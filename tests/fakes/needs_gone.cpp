// SPDX-License-Identifier: Apache-2.0
//
// Linked to libwye_gone.so. A test changes that name in a copy of the plugin.
#include "base.hpp"

extern "C" int wye_gone();
static wye_status probe(wye_plugin_object*, std::uint32_t* out_count, wye_error**) {
    *out_count = static_cast<std::uint32_t>(wye_gone());
    return WYE_OK;
}
FAKE_TABLE("needs_gone", t.probe_devices = probe)
