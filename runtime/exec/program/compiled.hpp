// SPDX-License-Identifier: Apache-2.0
//
// A program lowered and compiled for one device. Shared by programs with equal bytes; immutable but
// for `warm`. Destroyed before its device, by whoever lets go last, and never while work that uses
// it is pending.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lower/lower.hpp"
#include "plan/launch.hpp"
#include "registry/device.hpp"
#include "wye/wye.h"

namespace wye::exec {

// The encoding without notes: what the fingerprint stands for.
using Encoding = std::shared_ptr<const std::vector<std::byte>>;

struct PreparedKey {
    plan::Count3 workgroup = {1, 1, 1};  // effective
    bool folded = false;                 // workgroup ids come from the dispatch, not the driver
    bool check_free = false;             // for launches that fulfil the program's preconditions
    std::uint32_t variant = ir::kNone;   // the native variant that stands in for the body
    std::uint32_t ulp_budget = 0;        // 0 too where nothing could become native
    friend bool operator==(const PreparedKey&, const PreparedKey&) = default;
};

// An entry that the disk cache is to get.
struct CacheEntry {
    std::vector<std::byte> key, value;
};

// What preparing came to, over all the programs of a call; nanoseconds.
struct PrepareStats {
    std::uint32_t compiled = 0;    // by the driver
    std::uint32_t loaded = 0;      // from the disk cache
    std::uint32_t missed = 0;      // looked for there in vain
    std::uint64_t kept_bytes = 0;  // in the disk cache, read or written
    std::uint64_t lower_ns = 0;
    std::uint64_t driver_ns = 0;  // in the plugin: compiling or loading
    std::vector<CacheEntry> unwritten;
};

// For reports: enum wye_disk_use.
[[nodiscard]] inline std::uint32_t disk_use(const PrepareStats& stats) {
    if (stats.missed != 0) return WYE_DISK_MISS;
    return stats.loaded != 0 ? WYE_DISK_HIT : WYE_DISK_UNUSED;
}

// What the disk cache still has to get of a program that cannot be saved before it ran.
struct Unkept {
    std::vector<std::byte> key;
    lower::Artifact artifact;
};

struct Prepared {
    explicit Prepared(registry::NativeProgram program) : native(std::move(program)) {}

    registry::NativeProgram native;
    PreparedKey key;
    Encoding encoding;
    std::string format;
    bool uses_trap = false;
    lower::NativeSet natives = 0;
    std::optional<Unkept> unkept;  // the session's: guarded by its lock
    // Some drivers generate code at the first launch, and replace signal handlers then.
    std::atomic<bool> warm = false;
    std::atomic<bool> made_code = false;  // a launch of no workgroups asked for it
};
using PreparedRef = std::shared_ptr<Prepared>;

}  // namespace wye::exec
