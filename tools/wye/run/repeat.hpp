// SPDX-License-Identifier: Apache-2.0
//
// `wye run --repeat`: runs a dispatch many times on the same resident buffers, as dispatches or as
// a recorded graph. A program with `persistent` buffers runs this way, too, even if it runs only
// once.
#pragma once

#include <cstdint>
#include <vector>

#include "slot.hpp"
#include "wye/graph.hpp"
#include "wye/wye.hpp"

namespace wye::tool {

struct Repeat {
    std::uint64_t count = 1;
    bool graph = false;
    std::uint64_t timeout_ns = 0;  // time limit of each repetition; 0: none
};

// The results of the repetitions. `report` has the workgroups of one repetition, and the sums of
// the times of all repetitions.
struct Repeated {
    Repeat how;
    wye_report report{};
    wye_graph_info info{};        // for a graph
    std::uint64_t record_ns = 0;  // time to check, compile and record the graph
};

// Uploads the inputs once; a `persistent` buffer without an input starts with zeros. Then makes
// room for the outputs, runs `dispatch`, which has no arguments yet, and reads the outputs once.
// Each repetition starts from the buffers as the previous repetition left them; outputs that are
// neither inputs nor persistent start with zeros each time. Stops at the first error, which names
// the repetition, and then writes no outputs.
[[nodiscard]] Result<Repeated> run_repeatedly(const Dispatch& dispatch, const Program& program,
                                              const Device& device, std::vector<Slot>& slots,
                                              const Repeat& how);

}  // namespace wye::tool
