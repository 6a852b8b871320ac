// SPDX-License-Identifier: Apache-2.0
//
// Its probe_devices throws a value that is not an exception object.
#include "base.hpp"

static wye_status probe(wye_plugin_object*, std::uint32_t*, wye_error**) { throw 7; }
FAKE_TABLE("throws_probe", t.probe_devices = probe)
