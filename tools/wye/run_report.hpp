// SPDX-License-Identifier: Apache-2.0
//
// What `wye run` prints about a run with --counters and --json.
#pragma once

#include "wye/wye.h"

namespace wye::tool {

// To stderr, one line for each counter.
void print_counters(const wye_counters& counters);

// To stdout, one document. `counters`: null: without them.
void print_json(const wye_program_description& program, const wye_device_description& device,
                const wye_report& report, const wye_counters* counters);

}  // namespace wye::tool
