// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include <algorithm>
#include <array>

namespace wye::bench {
namespace {

constexpr std::array kRows = {
    Row{RowId::OneCommand, "one-command", "a graph of one tiny dispatch: run and wait", Unit::Time},
    Row{RowId::Commands, "40-commands", "40 such graphs, one after the other", Unit::Time},
    Row{RowId::OneDispatch, "one-dispatch", "a tiny dispatch, requested again each time",
        Unit::Time},
    Row{RowId::Recorded, "1000-recorded", "1000 dependent dispatches as one graph, one wait",
        Unit::Time},
    Row{RowId::Recording, "record-1000", "making that graph and freeing it, without a run",
        Unit::Time},
    Row{RowId::Batch, "1000-batch", "1000 dependent dispatches as a batch of a pipeline",
        Unit::Time},
    Row{RowId::PipelineCall, "pipeline-call", "a tiny dispatch through a pipeline", Unit::Time},
    Row{RowId::Launches, "1000-launches", "1000 dependent dispatches, submitted singly, one wait",
        Unit::Time},
    Row{RowId::Submits, "1000-submits",
        "1000 dependent submits of a graph of one dispatch, one wait", Unit::Time},
    Row{RowId::BehindAnother, "behind-another",
        "CPU: tiny dispatches behind a longer one, on the queue's thread", Unit::Time},
    Row{RowId::RoundTrip, "round-trip", "a dispatch with 1 MiB of host bytes up and down",
        Unit::Time},
    Row{RowId::Large, "large", "a dispatch with 256 MiB of host bytes up and down", Unit::Bytes},
    Row{RowId::Upload, "upload", "256 MiB of host bytes to a resident buffer", Unit::Bytes},
    Row{RowId::Download, "download", "256 MiB of a resident buffer to the host", Unit::Bytes},
    Row{RowId::Many, "many", "32 asynchronous dispatches with 8 MiB up and down", Unit::Bytes},
    Row{RowId::Registered, "registered", "the same from and to registered memory, borrowed",
        Unit::Bytes},
    Row{RowId::Hash, "hash", "SHA-256 of blocks of 4 KiB, in chunks of 64 MiB, three in flight",
        Unit::Bytes},
    Row{RowId::Million, "million", "1,000,000 dispatches, at most 1,024 in flight: memory",
        Unit::Time},
};

constexpr double kGiB = static_cast<double>(std::uint64_t{1} << 30U) / 1e9;
constexpr double kFlatBytes = 4 << 20;

Goal ratio(double value) { return {Goal::Kind::Ratio, value}; }
Goal nanoseconds(double value) { return {Goal::Kind::Nanoseconds, value}; }
Goal gigabytes(double value) { return {Goal::Kind::Gigabytes, value}; }

Goal cpu_goal(RowId row) {
    switch (row) {
        case RowId::OneCommand:
            return nanoseconds(100);
        case RowId::BehindAnother:
            return nanoseconds(350);
        case RowId::Recorded:
            return nanoseconds(50);
        default:
            return {};
    }
}

Goal soft_goal(RowId row) {
    switch (row) {
        case RowId::OneCommand:
        case RowId::Recorded:
            return ratio(1.05);
        case RowId::Recording:
            return ratio(1.5);
        default:
            return {};
    }
}

Goal gpu_goal(RowId row, std::string_view plugin) {
    const bool cuda = plugin == "cuda", vulkan = plugin == "vulkan";
    switch (row) {
        case RowId::OneCommand:
            return ratio(cuda ? 0.75 : vulkan ? 0.40 : 1.05);
        case RowId::Commands:
            return ratio(cuda ? 0.85 : vulkan ? 0.45 : 1.10);
        case RowId::Recorded:
            return cuda ? nanoseconds(1000) : ratio(1.05);
        case RowId::Recording:
            return ratio(1.5);
        case RowId::Launches:
        case RowId::Submits:
            return vulkan ? nanoseconds(5000) : ratio(cuda ? 1.05 : 1.10);
        case RowId::Batch:
        case RowId::RoundTrip:
            return ratio(1.05);
        case RowId::Large:
            return ratio(1 / 0.85);  // 0.85 of the raw throughput
        case RowId::Many:
            return gigabytes(50);
        case RowId::Registered:
            return gigabytes(85);
        case RowId::Hash:
            return gigabytes((cuda ? 25 : 15) * kGiB);
        default:
            return {};
    }
}

}  // namespace

std::span<const Row> all_rows() { return kRows; }

const Row* find_row(std::string_view name) {
    const auto* const found = std::ranges::find(kRows, name, &Row::name);
    return found == kRows.end() ? nullptr : found;
}

Sizes sizes_of(bool quick, bool soft, std::uint64_t most_bytes) {
    Sizes out;
    if (soft) out.hash_chunks = 4;
    out.large_bytes = std::min(out.large_bytes, most_bytes / 256 * 256);
    if (!quick) return out;
    constexpr std::uint64_t kKiB = 1024;
    return {.turns = 8,
            .recorded = 100,
            .large_bytes = 4096 * kKiB,
            .many = 4,
            .many_bytes = 256 * kKiB,
            .round_trip_bytes = 1024 * kKiB,
            .hash_chunk_bytes = 256 * kKiB,
            .hash_chunks = 4,
            .million = 5000,
            .in_flight = 1024,
            .warm = 2048};
}

Work work_of(RowId row, const Sizes& sizes) {
    switch (row) {
        case RowId::OneCommand:
        case RowId::OneDispatch:
        case RowId::PipelineCall:
            return {1, 0};
        case RowId::Commands:
            return {sizes.turns, 0};
        case RowId::Recorded:
        case RowId::Recording:
        case RowId::Batch:
        case RowId::Launches:
        case RowId::Submits:
        case RowId::BehindAnother:
            return {sizes.recorded, 0};
        case RowId::RoundTrip:
            return {1, 2 * sizes.round_trip_bytes};
        case RowId::Large:
            return {1, 2 * sizes.large_bytes};
        case RowId::Upload:
        case RowId::Download:
            return {1, sizes.large_bytes};
        case RowId::Many:
        case RowId::Registered:
            return {sizes.many, 2 * sizes.many * sizes.many_bytes};
        case RowId::Hash:
            return {sizes.hash_chunks, sizes.hash_chunks * sizes.hash_chunk_bytes};
        case RowId::Million:
            return {sizes.million, 0};
    }
    return {};
}

Goal goal_of(RowId row, std::string_view plugin, bool soft) {
    if (row == RowId::Million) return {Goal::Kind::Growth, kFlatBytes};
    if (plugin == "cpu") return cpu_goal(row);
    return soft ? soft_goal(row) : gpu_goal(row, plugin);
}

}  // namespace wye::bench
