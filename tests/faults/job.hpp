// SPDX-License-Identifier: Apache-2.0
//
// A job: runs a scenario in a process of its own and makes one call after another fail.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "faults/inject.hpp"
#include "faults/scenario.hpp"

namespace faults {

struct Job {
    std::string target, subject;
    Kind kind = kNothing;
    bool persistent = false;
    std::uint32_t flavour = 0;
    bool warm = false;   // whether the cache folder is already filled
    bool twice = false;  // on a busy device: pairs of calls fail

    [[nodiscard]] bool busy() const { return target.starts_with("busy-"); }
    [[nodiscard]] std::string text() const;  // "cpu/saxpy/allocation/once/0/cold"
};
std::string kind_name(Kind kind);
// The inverse of Job::text.
bool parse_job(const std::string& text, Job& out);

// All jobs.
std::vector<Job> all_jobs();

// Shared with the process that runs the job. `at`: the call that was to fail when the process died.
struct Progress {
    std::atomic<std::uint64_t> at, calls, injected, refused, unaffected, later, defects;
    std::atomic<bool> finished;
    char what[kNameRoom];  // name of the failing call
};

struct Range {
    std::uint64_t first = 1;
    std::uint64_t most = 0;  // number of calls that fail, spread evenly; 0: every `stride`th
    std::uint64_t stride = 1;
};

// Runs a job. Returns the exit status for the process: 0, or 1 if there were defects, which are
// printed.
int run_job(const Job& job, const Range& range, const std::string& cache, Progress& progress);

}  // namespace faults
