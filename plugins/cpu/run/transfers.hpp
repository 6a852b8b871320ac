// SPDX-License-Identifier: Apache-2.0
//
// Moves bytes for a queue, in slices of a few milliseconds at most, and checks for a stop request
// between them. CANCELLED: stopped, and the rest is not moved.
#pragma once

#include "cpu/run/run.hpp"

namespace wye::cpu {

[[nodiscard]] Result<void> run_copy(const wye_copy_op& op, const Stop& stop);
[[nodiscard]] Result<void> run_fill(const wye_fill_op& op, const Stop& stop);
[[nodiscard]] Result<void> run_upload(const wye_transfer_op& op, const Stop& stop);
[[nodiscard]] Result<void> run_download(const wye_transfer_op& op, const Stop& stop);

}  // namespace wye::cpu
