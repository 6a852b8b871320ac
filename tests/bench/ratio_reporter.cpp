// SPDX-License-Identifier: Apache-2.0
#include "ratio_reporter.hpp"

#include <algorithm>
#include <cstdio>

namespace wye::bench {
namespace {

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// The median of each repetition's ratio, since a drift during the run changes both times of a
// repetition.
double ratio(const std::vector<double>& wye, const std::vector<double>& raw) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(wye.size(), raw.size()); ++i)
        if (raw[i] > 0) ratios.push_back(wye[i] / raw[i]);
    return median(std::move(ratios));
}

}  // namespace

void RatioReporter::ReportRuns(const std::vector<Run>& runs) {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
        if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
        times_[run.run_name.function_name].push_back(
            run.GetAdjustedRealTime() * 1e9 / benchmark::GetTimeUnitMultiplier(run.time_unit));
    }
}

void RatioReporter::Finalize() {
    std::printf("\n%-34s %14s %14s %8s %10s\n", "pair (medians)", "wye ns", "raw ns", "ratio",
                "goal");
    for (const Goal& goal : goals_) {
        const auto wye = times_.find(goal.name + "/wye");
        const auto raw = times_.find(goal.name + "/raw");
        if (wye == times_.end()) continue;
        const double wye_ns = median(wye->second);
        if (raw == times_.end()) {
            std::printf("%-34s %14.0f %14s %8s %7.0f ns%s\n", goal.name.c_str(), wye_ns, "-", "-",
                        goal.nanoseconds, wye_ns <= goal.nanoseconds ? "" : "  MISSED");
            continue;
        }
        const double times = ratio(wye->second, raw->second);
        std::printf("%-34s %14.0f %14.0f %8.2f %10.2f%s\n", goal.name.c_str(), wye_ns,
                    median(raw->second), times, goal.ratio,
                    goal.ratio == 0 || times <= goal.ratio ? "" : "  MISSED");
    }
}

int run_benchmarks(int argc, char** argv, std::vector<Goal> goals) {
    std::vector<char*> arguments(argv, argv + argc);
    std::string repetitions = "--benchmark_repetitions=9";
    std::string interleaving = "--benchmark_enable_random_interleaving=true";
    std::string min_time = "--benchmark_min_time=0.05";
    // The defaults come first, so that flags of the command line override them.
    arguments.insert(arguments.begin() + 1,
                     {repetitions.data(), interleaving.data(), min_time.data()});
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
    RatioReporter reporter(std::move(goals));
    benchmark::RunSpecifiedBenchmarks(&reporter);
    benchmark::Shutdown();
    return 0;
}

}  // namespace wye::bench
