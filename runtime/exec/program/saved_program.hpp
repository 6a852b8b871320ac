// SPDX-License-Identifier: Apache-2.0
//
// What the disk cache keeps of a prepared program: the artifact and what the plugin saved, as
// bytes. Pure. The bytes have passed a checksum; they are looked at all the same.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lower/lower.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct KeptProgram {
    lower::Artifact artifact;
    std::span<const std::byte> saved;  // borrows
};

[[nodiscard]] std::vector<std::byte> keep_program(const lower::Artifact& artifact,
                                                  std::span<const std::byte> saved);
// INVALID_WIRE for anything that keep_program does not write.
[[nodiscard]] Result<KeptProgram> kept_program(std::span<const std::byte> bytes);

}  // namespace wye::exec
