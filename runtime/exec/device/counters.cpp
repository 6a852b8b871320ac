// SPDX-License-Identifier: Apache-2.0
#include "exec/device/counters.hpp"

#include <array>
#include <cstddef>
#include <cstring>

#include "exec/program/compiled_program.hpp"

namespace wye::exec {

void Counters::compiled(const CompileStats& stats) {
    add(compiled_, stats.compiled);
    add(loaded_, stats.loaded);
}

void Counters::add_to(wye_counters& out) const {
    // Reads the failed runs first. Each of them is already counted in `runs_`, so the difference is
    // never negative.
    const std::uint64_t failed_runs = load(failed_runs_);
    const std::uint64_t runs = load(runs_);
    out.dispatches += load(dispatches_) + runs - failed_runs;
    out.dispatches_failed += load(failed_) + failed_runs;
    out.dispatches_repeated += load(repeats_);
    out.submits += load(submits_) + load(sends_) + runs;
    out.waits += load(waits_) + runs;
    out.polls += load(polls_);
    out.polls_ended += load(polls_ended_);
    out.bytes_uploaded += load(uploaded_);
    out.bytes_downloaded += load(downloaded_);
    out.bytes_copied += load(copied_);
    out.bytes_filled += load(filled_);
    out.scratch_made += load(scratch_);
    out.programs_compiled += load(compiled_);
    out.programs_loaded += load(loaded_);
    out.programs_found += load(found_);
    out.bytes_registered += load(registered_);
    out.bytes_across += load(across_);
}

void add_counts(const wye_counters& more, wye_counters& out) {
    constexpr std::size_t kFirst = offsetof(wye_counters, dispatches) / sizeof(std::uint64_t);
    constexpr std::size_t kWords = sizeof(wye_counters) / sizeof(std::uint64_t);
    std::array<std::uint64_t, kWords> from{}, to{};
    std::memcpy(from.data(), &more, sizeof more);
    std::memcpy(to.data(), &out, sizeof out);
    for (std::size_t i = kFirst; i < kWords; ++i) to[i] += from[i];
    std::memcpy(reinterpret_cast<std::byte*>(&out) + kFirst * sizeof(std::uint64_t), &to[kFirst],
                (kWords - kFirst) * sizeof(std::uint64_t));
}

}  // namespace wye::exec
