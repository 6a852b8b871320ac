// SPDX-License-Identifier: Apache-2.0
//
// Finds writes that did not take place. Before a submit the last bytes of what it downloads become
// a mark; once its value is reported as reached, the mark must be gone. The plugin's mutex is held.
#pragma once

#include <cstdint>
#include <vector>

#include "layers/validate/objects.hpp"

namespace wye::layers::validate {

// Marks the ends of the submission's downloads, and adds them to `submit`. Memory that pending
// uploads read, or that is a buffer's own, gets no mark. `count` makes marks differ.
void mark_downloads(Submit& submit, const wye_submission& submission, Objects& objects,
                    std::uint64_t& count);

// Puts back what was there before, where a mark is left: the submit has failed.
void unmark(const Submit& submit);

// Whether a mark is left; waits up to `patience_ns` for that to change. LATE: the bytes came while
// it waited.
enum class Written : std::uint8_t { yes, late, no };
[[nodiscard]] Written written(const Submit& submit, std::uint64_t patience_ns);

}  // namespace wye::layers::validate
