// SPDX-License-Identifier: Apache-2.0
//
// Finds what no answer of a plugin shows, by work of the layer's own on a queue of its own, before
// submits that are larger than those before them. The plugin's mutexes must not be held.
#pragma once

#include "layers/validate/state.hpp"

namespace wye::layers::validate {

// Devices that leave out workgroups: before the first launch of more than drivers often take, one
// of as many, of which the last workgroup must have written.
void check_grid(DeviceNode& node, const wye_submission& submission);

// Devices that lose bytes of uploads, copies, fills or downloads: each once, with as many bytes as
// the submit moves at once, if these are at least 64 KiB, and whenever they have doubled. What is
// lost of fewer the check of a plugin's probe finds.
void check_moves(DeviceNode& node, const wye_submission& submission);

}  // namespace wye::layers::validate
