// SPDX-License-Identifier: Apache-2.0
//
// Prints what `wye run` reports about a run.
#pragma once

#include <string_view>
#include <vector>

#include "repeat.hpp"
#include "wye/wye.hpp"

namespace wye::tool {

// The counters of a device, and its use of memory.
struct Counted {
    wye_counters counters;
    wye_memory_use memory;
};

// Prints the counters to stderr, one line for each counter and one line about memory.
void print_counters(const Counted& counted);

// Prints to stderr why the device was picked, and the other choices with the reasons against them;
// choices with equal reasons share a line. Plugins that failed are included only if `asked`, the
// selector, names them, since most machines lack some driver.
void print_choice(const wye_device_description& device,
                  const std::vector<wye_passed_over>& passed_over, std::string_view asked);

// Prints one line about the run to stderr. `repeated`: null for a single dispatch, also in
// print_json.
void print_line(const wye_program_description& program, const wye_device_description& device,
                const wye_report& report, const Repeated* repeated);

// Prints one document to stdout. `counted`: null to leave the counters out.
void print_json(const wye_program_description& program, const wye_device_description& device,
                const std::vector<wye_passed_over>& passed_over, const wye_report& report,
                const Repeated* repeated, const Counted* counted);

}  // namespace wye::tool
