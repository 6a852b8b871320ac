// SPDX-License-Identifier: Apache-2.0
//
// Runs benchmarks in pairs, "NAME/wye" and "NAME/raw" (or "NAME/limit"), interleaved in one
// process. The reporter prints what Google Benchmark prints, then a line for each pair: the median
// times, their ratio, and the goal of the pair.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace wye::bench {

struct Goal {
    std::string name;        // the NAME of the pair
    double ratio = 0;        // maximum of wye / raw; 0: no goal
    double nanoseconds = 0;  // maximum time; 0: no goal
};

class RatioReporter : public benchmark::ConsoleReporter {
  public:
    explicit RatioReporter(std::vector<Goal> goals)
        : ConsoleReporter(OO_Tabular), goals_(std::move(goals)) {}

    void ReportRuns(const std::vector<Run>& runs) override;
    void Finalize() override;

  private:
    std::vector<Goal> goals_;
    std::map<std::string, std::vector<double>> times_;  // by benchmark name: ns of each repetition
};

// The main function of each benchmark: runs the repetitions, interleaved, and prints the table.
[[nodiscard]] int run_benchmarks(int argc, char** argv, std::vector<Goal> goals);

}  // namespace wye::bench
