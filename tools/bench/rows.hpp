// SPDX-License-Identifier: Apache-2.0
//
// The rows of the table: what is measured, the amount of work, and the goals. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace wye::bench {

enum class RowId {
    OneCommand,
    Commands,
    OneDispatch,
    Recorded,
    Recording,
    Batch,
    PipelineCall,
    Launches,
    Submits,
    BehindAnother,
    RoundTrip,
    Large,
    Upload,
    Download,
    Many,
    Registered,
    Hash,
    Million,
};

enum class Unit { Time, Bytes };  // shown as the time of an item, or as bytes per second

struct Row {
    RowId id;
    std::string_view name;  // as on the command line
    std::string_view what;
    Unit unit;
};

[[nodiscard]] std::span<const Row> all_rows();
[[nodiscard]] const Row* find_row(std::string_view name);  // null: there is none

// The amount of work of one run of a row.
struct Sizes {
    std::uint64_t turns = 40;
    std::uint64_t recorded = 1000;
    std::uint64_t large_bytes = std::uint64_t{256} << 20U;  // in each direction
    std::uint64_t many = 32;
    std::uint64_t many_bytes = std::uint64_t{8} << 20U;  // in each direction
    std::uint64_t round_trip_bytes = std::uint64_t{1} << 20U;
    std::uint64_t hash_chunk_bytes = std::uint64_t{64} << 20U;
    std::uint64_t hash_chunks = 16;
    std::uint64_t million = 1'000'000;
    std::uint64_t in_flight = 1024;
    std::uint64_t warm = 20'000;  // dispatches before the memory of `million` is first read
};

// `soft`: the device shares the processors with the host, so large work takes long. `most_bytes`:
// the largest buffer of the device.
[[nodiscard]] Sizes sizes_of(bool quick, bool soft, std::uint64_t most_bytes);

// The items (dispatches) and bytes of one run. Bytes are the sum of both directions; 0: none.
struct Work {
    std::uint64_t items = 1;
    std::uint64_t bytes = 0;
};
[[nodiscard]] Work work_of(RowId row, const Sizes& sizes);

struct Goal {
    enum class Kind {
        None,
        Ratio,        // Wye's time is at most this many times that of the first raw way
        Nanoseconds,  // at most this many for one item
        Gigabytes,    // at least this many 1e9 bytes per second
        Growth,       // memory grows by at most this many bytes
    };
    Kind kind = Kind::None;
    double value = 0;
};

// The goal of a row on a device of `plugin`. On GPUs, the figures are for an H200.
[[nodiscard]] Goal goal_of(RowId row, std::string_view plugin, bool soft);

}  // namespace wye::bench
