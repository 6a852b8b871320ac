// SPDX-License-Identifier: Apache-2.0
//
// Prints the measurements and their goals, as a table and as JSON. Pure apart from printing.
#pragma once

#include <optional>

#include "measure.hpp"
#include "million.hpp"
#include "rows.hpp"

namespace wye::bench {

struct RowResult {
    const Row* row = nullptr;
    Work work;
    Goal goal;
    std::string wye_way;
    Samples wye;
    struct Raw {
        std::string way;
        Samples samples;
    };
    std::vector<Raw> raw;          // the goal refers to the first way
    std::string no_baseline;       // why a requested baseline is missing; else empty
    std::optional<Stream> stream;  // for the row `million`, instead of samples
    std::optional<Error> error;    // set if nothing was measured
};

struct Report {
    std::string selector, name, plugin;
    bool quick = false, against_raw = false;
    std::vector<RowResult> rows;
};

enum class Verdict { NoGoal, Met, Missed, NoBaseline, Failed };
[[nodiscard]] Verdict verdict_of(const RowResult& row);
[[nodiscard]] std::string_view verdict_text(Verdict verdict);

void print_heading(const Report& report);
void print_row(const RowResult& row);

[[nodiscard]] std::string json_of(const Report& report);

}  // namespace wye::bench
