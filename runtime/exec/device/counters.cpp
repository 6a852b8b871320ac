// SPDX-License-Identifier: Apache-2.0
#include "exec/device/counters.hpp"

#include "exec/program/compiled_program.hpp"

namespace wye::exec {

void Counters::compiled(const CompileStats& stats) {
    add(compiled_, stats.compiled);
    add(loaded_, stats.loaded);
}

void Counters::add_to(wye_counters& out) const {
    // Failures first: then no failed request counts as a success.
    const std::uint64_t failed_repeats = load(failed_repeats_);
    const std::uint64_t repeats = load(repeats_);
    out.dispatches += load(dispatches_) + repeats - failed_repeats;
    out.dispatches_failed += load(failed_) + failed_repeats;
    out.dispatches_repeated += repeats + load(later_repeats_);
    out.submits += load(submits_) + repeats;
    out.waits += load(waits_) + repeats;
    out.polls += load(polls_);
    out.polls_ended += load(polls_ended_);
    out.bytes_uploaded += load(uploaded_);
    out.bytes_downloaded += load(downloaded_);
    out.bytes_copied += load(copied_);
    out.bytes_filled += load(filled_) + load(refilled_);
    out.scratch_made += load(scratch_);
    out.programs_compiled += load(compiled_);
    out.programs_loaded += load(loaded_);
    out.programs_found += load(found_);
    out.bytes_registered += load(registered_);
    out.bytes_across += load(across_);
}

}  // namespace wye::exec
