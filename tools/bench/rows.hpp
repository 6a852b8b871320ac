// SPDX-License-Identifier: Apache-2.0
//
// The rows of the table: what is measured, how much of it, and what is aimed at. Pure.
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

enum class Unit { Time, Bytes };  // shown as time for an item, or as bytes in a second

struct Row {
    RowId id;
    std::string_view name;  // as on the command line
    std::string_view what;
    Unit unit;
};

[[nodiscard]] std::span<const Row> all_rows();
[[nodiscard]] const Row* find_row(std::string_view name);  // null: there is none

// Sizes of the work of one run of a row.
struct Sizes {
    std::uint64_t turns = 40;
    std::uint64_t recorded = 1000;
    std::uint64_t large_bytes = std::uint64_t{256} << 20U;  // each way
    std::uint64_t many = 32;
    std::uint64_t many_bytes = std::uint64_t{8} << 20U;  // each way
    std::uint64_t round_trip_bytes = std::uint64_t{1} << 20U;
    std::uint64_t hash_chunk_bytes = std::uint64_t{64} << 20U;
    std::uint64_t hash_chunks = 16;
    std::uint64_t million = 1'000'000;
    std::uint64_t in_flight = 1024;
    std::uint64_t warm = 20'000;  // dispatches before the memory of `million` is first looked at
};

// `soft`: a device that shares the processors with the host, for which large work takes long.
// `most_bytes`: of a buffer of the device.
[[nodiscard]] Sizes sizes_of(bool quick, bool soft, std::uint64_t most_bytes);

// One run's items (dispatches) and bytes (both directions together; 0: none).
struct Work {
    std::uint64_t items = 1;
    std::uint64_t bytes = 0;
};
[[nodiscard]] Work work_of(RowId row, const Sizes& sizes);

struct Goal {
    enum class Kind {
        None,
        Ratio,        // time of Wye, at most this times the first raw way
        Nanoseconds,  // at most this for an item
        Gigabytes,    // at least this many 1e9 bytes in a second
        Growth,       // memory grows by at most this many bytes
    };
    Kind kind = Kind::None;
    double value = 0;
};

// What is aimed at for a device of `plugin`: on GPUs the figures are those of an H200.
[[nodiscard]] Goal goal_of(RowId row, std::string_view plugin, bool soft);

}  // namespace wye::bench
