// SPDX-License-Identifier: Apache-2.0
//
// Files for the command line: whole-file reads, and outputs that appear complete or not at all.
// Not thread-safe. Errors: NOT_FOUND and INVALID_ARGUMENT for inputs, IO for outputs, each with the
// path and the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::tool {

// The whole file; refused above `limit` bytes. `what` names its use ("program", "input `x`").
[[nodiscard]] Result<std::vector<std::byte>> read_file(const std::string& path,
                                                       std::string_view what,
                                                       std::uint64_t limit = UINT64_MAX);

// Outputs staged beside their targets. Nothing is visible before commit(), which renames them one
// after the other; without commit() the staged files are removed. Targets that are not regular
// files (a pipe, /dev/null) are written by commit() itself.
class StagedOutputs {
  public:
    StagedOutputs() = default;
    StagedOutputs(const StagedOutputs&) = delete;
    StagedOutputs& operator=(const StagedOutputs&) = delete;
    ~StagedOutputs();

    [[nodiscard]] Result<void> add(const std::string& path, std::span<const std::byte> bytes);
    [[nodiscard]] Result<void> commit();

  private:
    struct Entry {
        std::string target;
        std::string staged;                // empty: written directly
        std::span<const std::byte> bytes;  // only for direct writes; caller keeps them alive
    };
    std::vector<Entry> entries_;
};

}  // namespace wye::tool
