// SPDX-License-Identifier: Apache-2.0
//
// The bind stage: an admitted launch becomes a list of queue operations. Takes scratch buffers for
// host arguments from the lease; submits nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/device/session.hpp"
#include "exec/dispatch/resolve.hpp"
#include "exec/program/compiled.hpp"
#include "plan/launch.hpp"
#include "plan/split.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// One kernel of a launch with its parameter block: the program's, or that of each phase.
struct Step {
    Prepared* prepared;
    const std::byte* params;
};

// The operations of one launch, in order: uploads, fills, dispatches (with the trap record around
// them), read-backs. Borrowed from the lease and the launch.
struct Batch {
    std::span<const wye_operation> all;
    std::size_t launch = 0;     // index of the first operation that is no upload
    std::size_t read_back = 0;  // index of the first read-back
    std::uint64_t bytes_uploaded = 0;
    std::uint64_t bytes_downloaded = 0;
    std::uint64_t bytes_filled = 0;
    bool traps = false;  // the lease's trap record is written

    [[nodiscard]] std::span<const wye_operation> uploads() const { return all.first(launch); }
    [[nodiscard]] std::span<const wye_operation> launches() const {
        return all.subspan(launch, read_back - launch);
    }
    [[nodiscard]] std::span<const wye_operation> read_backs() const {
        return all.subspan(read_back);
    }
};

// `steps` is empty for an empty launch, which only fills and copies.
[[nodiscard]] Result<Batch> bind(const plan::ProgramPlan& plan, const plan::Launch& launch,
                                 const plan::Split& split, std::span<const Step> steps,
                                 const Residents& residents, QueueLease& lease);

}  // namespace wye::exec
