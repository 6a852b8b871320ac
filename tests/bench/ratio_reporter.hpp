// SPDX-License-Identifier: Apache-2.0
//
// Benchmarks come in pairs, "NAME/wye" and "NAME/raw" (or "NAME/limit"), run interleaved in one
// process. The reporter prints what Google Benchmark prints and then one line per pair: the median
// times and their ratio, against the goal that was registered for it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace wye::bench {

struct Goal {
    std::string name;        // of the pair, without "/wye"
    double ratio = 0;        // at most this times raw; 0: none
    double nanoseconds = 0;  // at most this long in all; 0: none
};

class RatioReporter : public benchmark::ConsoleReporter {
  public:
    explicit RatioReporter(std::vector<Goal> goals)
        : ConsoleReporter(OO_Tabular), goals_(std::move(goals)) {}

    void ReportRuns(const std::vector<Run>& runs) override;
    void Finalize() override;

  private:
    std::vector<Goal> goals_;
    std::map<std::string, std::vector<double>> times_;  // name without options -> ns per repetition
};

// The main program of each benchmark: interleaved repetitions, the table last.
[[nodiscard]] int run_benchmarks(int argc, char** argv, std::vector<Goal> goals);

}  // namespace wye::bench
