// SPDX-License-Identifier: Apache-2.0
//
// A context's whole life through the C API, over one program: everything that a caller may do with
// it, each call checked. Single-threaded. Its own memory is not counted as Wye's.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/examples.hpp"
#include "wye/wye.h"

namespace faults {

// Where a program runs.
struct Target {
    std::string name;      // "opencl"
    std::string selector;  // empty: no device, programs are only checked and lowered
    std::string folder;    // of the plugin; empty: built in
    std::vector<std::pair<std::string, std::string>> config;
};

// A program with one launch, small.
struct Subject {
    std::string name;
    std::string text;
    support::Example example;
    bool traps = false;         // the launch ends with WYE_TRAPPED
    bool grid_barrier = false;  // prepare is refused
};

const std::vector<Target>& targets();
// The example programs, one with grid barriers and one that traps.
std::vector<std::string> subject_names();
Subject subject(const std::string& name);

// What went on in a pass.
struct Pass {
    bool done = false;                 // every call succeeded
    std::vector<std::string> defects;  // what no failure excuses
    std::string refusal;               // the first error: text of its object
};

// `cache` is the folder that the context keeps things in.
wye_context* make_context(const Target& target, const std::string& cache, Pass& pass);
// Stops at the first call that fails, after giving back what it made.
void run_pass(wye_context* context, const Target& target, const Subject& subject, Pass& pass);

}  // namespace faults
