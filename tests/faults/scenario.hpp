// SPDX-License-Identifier: Apache-2.0
//
// The life of a context with one program: makes every kind of call of the C API, and checks each.
// To be used by one thread. Memory that this code allocates does not count as Wye's.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/examples.hpp"
#include "wye/wye.h"

namespace faults {

// The device that a program runs on.
struct Target {
    std::string name;      // "opencl"
    std::string selector;  // empty: no device; programs are only checked and lowered
    std::string folder;    // the plugin's folder; empty: built in
    std::vector<std::pair<std::string, std::string>> config;
};

// A program with one small launch.
struct Subject {
    std::string name;
    std::string text;
    support::Example example;
    bool traps = false;         // the launch must end with WYE_TRAPPED
    bool grid_barrier = false;  // the program has a grid barrier: prepare is refused
};

const std::vector<Target>& targets();
// The names of all programs: the examples, one with grid barriers, and one that traps.
std::vector<std::string> subject_names();
Subject subject(const std::string& name);

// The result of a pass.
struct Pass {
    bool done = false;                 // every call succeeded
    std::vector<std::string> defects;  // errors that the injected fault does not explain
    std::string refusal;               // the text of the first error object
};

// Creates a context. `cache`: its cache folder.
wye_context* make_context(const Target& target, const std::string& cache, Pass& pass);
// Runs a pass. Stops at the first call that fails, and frees all objects that the pass has created.
void run_pass(wye_context* context, const Target& target, const Subject& subject, Pass& pass);

}  // namespace faults
