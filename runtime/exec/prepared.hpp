// SPDX-License-Identifier: Apache-2.0
//
// A program lowered and compiled for one device. Shared by programs with equal bytes; immutable but
// for `warm`. Destroyed before its device, by whoever lets go last, and never while work that uses
// it is pending.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "plan/launch.hpp"
#include "registry/device.hpp"

namespace wye::exec {

// The encoding without notes: what the fingerprint stands for.
using Encoding = std::shared_ptr<const std::vector<std::byte>>;

struct PreparedKey {
    plan::Count3 workgroup = {1, 1, 1};  // effective
    bool folded = false;                 // workgroup ids come from the dispatch, not the driver
    std::uint32_t variant = ir::kNone;   // the native variant that stands in for the body
    friend bool operator==(const PreparedKey&, const PreparedKey&) = default;
};

struct Prepared {
    explicit Prepared(registry::NativeProgram program) : native(std::move(program)) {}

    registry::NativeProgram native;
    PreparedKey key;
    Encoding encoding;
    std::string format;
    bool uses_trap = false;
    // Some drivers generate code at the first launch, and replace signal handlers then.
    std::atomic<bool> warm = false;
};
using PreparedRef = std::shared_ptr<Prepared>;

}  // namespace wye::exec
