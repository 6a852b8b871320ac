// SPDX-License-Identifier: Apache-2.0
//
// Finds faults that no result of a call shows: the layer runs trial work on a queue of its own,
// before a submit that is larger than earlier ones. The plugin's mutexes must not be held.
#pragma once

#include "layers/validate/state.hpp"

namespace wye::layers::validate {

// Finds devices that leave out workgroups. Before a launch of more than 65535 workgroups in x, runs
// a trial launch of as many, and checks what the last workgroup wrote.
void check_grid(DeviceNode& node, const wye_submission& submission);

// Finds devices that lose bytes of uploads, copies, fills or downloads. If one operation of the
// submit moves at least 64 KiB, and twice as many bytes as the last trial, tries each kind with as
// many bytes. The dispatches of a plugin's probe find losses in smaller moves.
void check_moves(DeviceNode& node, const wye_submission& submission);

}  // namespace wye::layers::validate
