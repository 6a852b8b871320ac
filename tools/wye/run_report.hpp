// SPDX-License-Identifier: Apache-2.0
//
// What `wye run` prints about a run.
#pragma once

#include <string_view>
#include <vector>

#include "run_repeat.hpp"
#include "wye/wye.hpp"

namespace wye::tool {

// To stderr, one line for each counter.
void print_counters(const wye_counters& counters);

// To stderr: why the device was picked, and each other choice with the reason against it; choices
// of one reason share a line. Plugins that failed only if `asked`, the selector, has their names:
// most machines lack some driver.
void print_choice(const wye_device_description& device,
                  const std::vector<wye_passed_over>& passed_over, std::string_view asked);

// To stderr, one line. `repeated`: null: one dispatch, as below.
void print_line(const wye_program_description& program, const wye_device_description& device,
                const wye_report& report, const Repeated* repeated);

// To stdout, one document. `counters`: null: without them.
void print_json(const wye_program_description& program, const wye_device_description& device,
                const std::vector<wye_passed_over>& passed_over, const wye_report& report,
                const Repeated* repeated, const wye_counters* counters);

}  // namespace wye::tool
