// SPDX-License-Identifier: Apache-2.0
//
// Finds faults that no result of a call shows: the layer runs trial work on a queue of its own,
// before a submit that is larger than earlier ones. The caller must not hold the plugin's mutexes.
#pragma once

#include "layers/validate/state.hpp"

namespace wye::layers::validate {

// Finds devices that leave out workgroups. Before a launch of more than 65535 workgroups in x, runs
// a trial launch of as many workgroups (at most 2^18), and checks the output of the last workgroup.
void check_grid(DeviceNode& node, const wye_submission& submission);

// Finds devices that lose bytes of uploads, copies, fills or downloads. If one operation of the
// submit moves at least 64 KiB, and twice as many bytes as the last trial, tries each kind of
// operation with as many bytes (at most 16 MiB). Smaller moves need no trial: the host runs
// dispatches when it probes the plugin, and these would show lost bytes.
void check_moves(DeviceNode& node, const wye_submission& submission);

}  // namespace wye::layers::validate
