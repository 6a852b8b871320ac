// SPDX-License-Identifier: Apache-2.0
//
// Finds devices that leave out workgroups, which no answer of a plugin shows. Before the first
// submit with a launch of more workgroups than drivers often take, the layer makes one of its own,
// on a queue of its own, and looks at what the last workgroup has written. The plugin's mutexes
// must not be held.
#pragma once

#include "layers/validate/state.hpp"

namespace wye::layers::validate {

void check_grid(DeviceNode& node, const wye_submission& submission);

}  // namespace wye::layers::validate
