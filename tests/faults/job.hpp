// SPDX-License-Identifier: Apache-2.0
//
// A job: runs a scenario in a separate process again and again. In each run another call fails.
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
    bool warm = false;   // whether the cache folder is filled before the job
    bool twice = false;  // only on a busy device: two calls fail

    [[nodiscard]] bool busy() const { return target.starts_with("busy-"); }
    [[nodiscard]] std::string text() const;  // "cpu/saxpy/allocation/once/0/cold"
};
std::string kind_name(Kind kind);
// The inverse of Job::text. False: there is no such job.
bool parse_job(const std::string& text, Job& out);

// All jobs.
std::vector<Job> all_jobs();

// Shared with the process that runs the job. `at`: the number of the call that fails at present.
struct Progress {
    std::atomic<std::uint64_t> at, calls, injected, refused, unaffected, later, defects;
    std::atomic<bool> finished;
    char what[kNameRoom];  // name of the failing call
};

struct Range {
    std::uint64_t first = 1;
    std::uint64_t most = 0;  // how many calls fail, spread evenly; 0: every `stride`th call
    std::uint64_t stride = 1;
};

// Runs a job, and prints the defects. Returns the exit status of the process: 0, or 1 after a
// defect.
int run_job(const Job& job, const Range& range, const std::string& cache, Progress& progress);

}  // namespace faults
