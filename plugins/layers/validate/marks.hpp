// SPDX-License-Identifier: Apache-2.0
//
// Finds downloads that did not write all bytes. Before a submit, a mark is written over the last
// bytes of each download's memory. Once the plugin reports the submit's value as reached, the mark
// must be overwritten. The caller holds the plugin's mutex.
#pragma once

#include <cstdint>
#include <vector>

#include "layers/validate/objects.hpp"

namespace wye::layers::validate {

// Marks the ends of the submission's downloads, and adds the marks to `submit`. Memory that pending
// uploads read, or that belongs to a buffer, gets no mark. `count`: the number of marks so far,
// which makes all marks differ.
void mark_downloads(Submit& submit, const wye_submission& submission, Objects& objects,
                    std::uint64_t& count);

// Restores the bytes under the marks that are left, after the submit has failed.
void unmark(const Submit& submit);

// Whether all marks were overwritten. If not, waits for up to `patience_ns`. `late`: the last marks
// were overwritten only during this wait.
enum class Written : std::uint8_t { yes, late, no };
[[nodiscard]] Written written(const Submit& submit, std::uint64_t patience_ns);

}  // namespace wye::layers::validate
