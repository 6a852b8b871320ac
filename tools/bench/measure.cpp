// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace wye::bench {
namespace {

using Clock = std::chrono::steady_clock;

Result<double> seconds_of(const Way& way, std::uint64_t times) {
    const auto start = Clock::now();
    WYE_TRY(way.run(times));
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// How often the way runs in one sample. The first runs are not counted, as they may compile.
Result<std::uint64_t> calibrate(const Way& way, const Effort& effort) {
    WYE_TRY(way.run(1));
    std::uint64_t times = 1;
    for (;;) {
        WYE_ASSIGN(const double took, seconds_of(way, times));
        if (took >= effort.sample_seconds / 4) {
            const double wanted =
                std::ceil(static_cast<double>(times) * effort.sample_seconds / took);
            return std::max<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1);
        }
        times *= 4;
    }
}

}  // namespace

Effort effort_of(bool quick) {
    if (!quick) return {};
    return {.sample_seconds = 0.001, .rounds = 3, .least_rounds = 3, .row_seconds = 1};
}

Result<std::vector<Samples>> measure(std::span<const Way> ways, const Effort& effort) {
    std::vector<std::uint64_t> times;
    for (const Way& way : ways) {
        WYE_ASSIGN(const std::uint64_t count, calibrate(way, effort));
        times.push_back(count);
    }
    std::vector<Samples> out(ways.size());
    const auto start = Clock::now();
    for (std::size_t round = 0; round < effort.rounds; ++round) {
        const double spent = std::chrono::duration<double>(Clock::now() - start).count();
        if (round >= effort.least_rounds && spent > effort.row_seconds) break;
        for (std::size_t step = 0; step < ways.size(); ++step) {
            // Every second round measures the ways in reverse order.
            const std::size_t i = round % 2 == 0 ? step : ways.size() - 1 - step;
            WYE_ASSIGN(const double took, seconds_of(ways[i], times[i]));
            out[i].push_back(took * 1e9 / static_cast<double>(times[i]));
        }
    }
    for (const Way& way : ways) WYE_TRY(way.check());
    return out;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

double ratio_of(const Samples& wye, const Samples& raw) {
    std::vector<double> out;
    for (std::size_t i = 0; i < std::min(wye.size(), raw.size()); ++i)
        out.push_back(wye[i] / raw[i]);
    return median(std::move(out));
}

}  // namespace wye::bench
