// SPDX-License-Identifier: Apache-2.0
//
// Keeps the contract, but takes five seconds to list its devices, as on a busy machine.
#include <ctime>

#include "base.hpp"

static wye_status probe(wye_plugin_object* plugin, std::uint32_t* out_count, wye_error** error) {
    const timespec pause{5, 0};
    nanosleep(&pause, nullptr);
    return fake::probe_devices(plugin, out_count, error);
}
FAKE_TABLE("probes_slowly", t.probe_devices = probe)
