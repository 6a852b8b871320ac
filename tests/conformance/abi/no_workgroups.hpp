// SPDX-License-Identifier: Apache-2.0
//
// What every plugin promises of a launch of no workgroups, for a TEST_CASE of each plugin's own.
// Needs the ABI alone. Uses doctest's checks and throws nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "wye/abi.h"

namespace harness::cases {

// Such a launch has a value, which is reached and on which another queue may wait; nothing of the
// program runs, alone or between other operations. `launch` has workgroups and changes what
// `content` reads; its program was not launched yet. The caller destroys both queues.
void launches_of_no_workgroups_end(const wye_queue_table& table, wye_queue_object* queue,
                                   wye_queue_object* other, const wye_operation& launch,
                                   const std::function<std::vector<std::byte>()>& content);

}  // namespace harness::cases
