// SPDX-License-Identifier: Apache-2.0
//
// Throws something that is no exception class while listing devices.
#include "base.hpp"

static wye_status probe(wye_plugin_object*, std::uint32_t*, wye_error**) { throw 7; }
FAKE_TABLE("throws_probe", t.probe_devices = probe)
