// SPDX-License-Identifier: Apache-2.0
//
// Scope: a set of sequences to try. It has the letters, the number of steps, and the device's
// options.
#pragma once

#include <string>
#include <vector>

#include "device.hpp"

namespace wye::model {

struct Scope {
    std::string name;
    std::string letters;
    int steps = 0;       // in the gate's run
    int long_steps = 0;  // in a run with --long
    int buffers = 2;
    int queues = 1;           // public queues at a time
    int pending = 3;          // pending dispatches in a sequence
    int calls = 1;            // calls in progress at a time; 2: calls can be stopped
    int places = 0;           // maximum number of places to stop at
    bool holds_line = false;  // the line's thread stops before each of its actions
    int native = 2;           // the configuration's queues.count
    int pending_count = 16;
    DeviceOptions device;
};

[[nodiscard]] const std::vector<Scope>& scopes();
[[nodiscard]] const Scope* scope_of(const std::string& name);

}  // namespace wye::model
