// SPDX-License-Identifier: Apache-2.0
//
// Prints what `wye run` reports about a run.
#pragma once

#include <string_view>
#include <vector>

#include "repeat.hpp"
#include "wye/wye.hpp"

namespace wye::tool {

// What a device counted, and what it holds.
struct Counted {
    wye_counters counters;
    wye_memory_use memory;
};

// Prints to stderr, one line per counter, and one about memory.
void print_counters(const Counted& counted);

// Prints to stderr why the device was picked, and the other choices with the reasons against them;
// choices with equal reasons share a line. Plugins that failed are included only if `asked`, the
// selector, names them, since most machines lack some driver.
void print_choice(const wye_device_description& device,
                  const std::vector<wye_passed_over>& passed_over, std::string_view asked);

// Prints one line to stderr. `repeated`: null for a single dispatch; also below.
void print_line(const wye_program_description& program, const wye_device_description& device,
                const wye_report& report, const Repeated* repeated);

// Prints one document to stdout. `counted`: null to leave it out.
void print_json(const wye_program_description& program, const wye_device_description& device,
                const std::vector<wye_passed_over>& passed_over, const wye_report& report,
                const Repeated* repeated, const Counted* counted);

}  // namespace wye::tool
