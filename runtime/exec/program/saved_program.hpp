// SPDX-License-Identifier: Apache-2.0
//
// Serialises a compiled program for the disk cache: the artifact and the plugin's saved bytes.
// Reading validates the bytes even though the cache has verified their checksum. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lower/lower.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct SavedProgram {
    lower::Artifact artifact;
    std::span<const std::byte> native;  // the plugin's bytes; borrowed
};

[[nodiscard]] std::vector<std::byte> write_saved(const lower::Artifact& artifact,
                                                 std::span<const std::byte> native);
// INVALID_WIRE for bytes that `write_saved` cannot have written.
[[nodiscard]] Result<SavedProgram> read_saved(std::span<const std::byte> bytes);

}  // namespace wye::exec
