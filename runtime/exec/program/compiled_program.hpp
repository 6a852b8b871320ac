// SPDX-License-Identifier: Apache-2.0
//
// A program lowered and compiled for one device. Shared by programs with equal bytes; immutable
// except for the atomic members at its end and `unsaved`. The last owner destroys it, before its
// device and never while work that uses it is pending.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lower/lower.hpp"
#include "plan/backend_layout.hpp"
#include "plan/launch.hpp"
#include "registry/open/device.hpp"
#include "wye/wye.h"

namespace wye::exec {

class Trace;

// A program's wire form without notes (the input of its fingerprint).
using Encoding = std::shared_ptr<const std::vector<std::byte>>;

// The properties that distinguish the compiled forms of a program on one device.
struct Form {
    plan::Count3 workgroup = {1, 1, 1};  // of the launch
    // Whether workgroup ids are computed from dispatch values, not taken from the driver.
    bool folded = false;
    bool check_free = false;            // for launches that fulfil the program's preconditions
    std::uint32_t variant = ir::kNone;  // the native variant that runs in place of the body
    lower::NativeSet natives = 0;       // functions that use the device's native form
    std::uint64_t profile = 0;          // profile_id of the request's profile
    friend bool operator==(const Form&, const Form&) = default;
};

// The number that stands for a profile in keys and reports: the XXH3 hash of its text, never 0.
// `profile_id` returns 0 for an empty text.
[[nodiscard]] std::uint64_t hash_of_profile(wye_string profile) noexcept;
[[nodiscard]] inline std::uint64_t profile_id(wye_string profile) noexcept {
    return profile.size == 0 ? 0 : hash_of_profile(profile);
}

// A new entry for the disk cache.
struct CacheEntry {
    std::vector<std::byte> key, value;
};

// Compile counts and times of all programs of a call; nanoseconds.
struct CompileStats {
    std::uint32_t compiled = 0;     // by the driver
    std::uint32_t loaded = 0;       // from the disk cache
    std::uint32_t missed = 0;       // not found in the disk cache
    std::uint64_t saved_bytes = 0;  // bytes of disk cache entries read or written
    std::uint64_t lower_ns = 0;
    std::uint64_t driver_ns = 0;  // inside the plugin: compiling or loading
    std::vector<CacheEntry> unwritten;
    Trace* trace = nullptr;  // records the steps; null: off
};

// For reports: enum wye_disk_use.
[[nodiscard]] inline std::uint32_t disk_use(const CompileStats& stats) {
    if (stats.missed != 0) return WYE_DISK_MISS;
    return stats.loaded != 0 ? WYE_DISK_HIT : WYE_DISK_UNUSED;
}

// The data for saving a program that the driver can save only after the first launch.
struct Unsaved {
    std::vector<std::byte> key;
    lower::Artifact artifact;
};

struct CompiledProgram {
    explicit CompiledProgram(registry::NativeProgram program) : native(std::move(program)) {}

    registry::NativeProgram native;
    Form form;
    Encoding encoding;
    bool uses_trap = false;
    plan::BackendLayout layout;
    std::optional<Unsaved> unsaved;  // guarded by the session's lock
    // Whether a launch was run. At the first launch, some drivers generate code and replace signal
    // handlers.
    std::atomic<bool> warm = false;
    // The number of workgroups that run at once on the whole device, as the driver says; 0:
    // unknown.
    static constexpr std::uint32_t kNotAsked = UINT32_MAX;
    std::atomic<std::uint32_t> resident_groups = kNotAsked;
    // Whether a launch of no workgroups was run, so that the driver has generated code.
    std::atomic<bool> made_code = false;
};
using CompiledRef = std::shared_ptr<CompiledProgram>;

}  // namespace wye::exec
