// SPDX-License-Identifier: Apache-2.0
//
// Moves bytes for a queue, in slices of at most a few milliseconds, and checks for a stop request
// between slices. CANCELLED: stopped; the rest was not moved.
#pragma once

#include "cpu/run/run.hpp"

namespace wye::cpu {

[[nodiscard]] Result<void> run_copy(const wye_copy_op& op, const Stop& stop);
[[nodiscard]] Result<void> run_fill(const wye_fill_op& op, const Stop& stop);
[[nodiscard]] Result<void> run_upload(const wye_transfer_op& op, const Stop& stop);
[[nodiscard]] Result<void> run_download(const wye_transfer_op& op, const Stop& stop);

}  // namespace wye::cpu
