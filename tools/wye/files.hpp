// SPDX-License-Identifier: Apache-2.0
//
// Files for the command line: reads of whole files, and outputs that appear complete or not at all.
// Not thread-safe. Errors: NOT_FOUND and INVALID_ARGUMENT for inputs, IO for outputs, each with the
// path and the system's reason; OUT_OF_MEMORY with the number of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wye/sdk/new_file.hpp"
#include "wye/sdk/result.hpp"

namespace wye::tool {

// Reads a whole file or stream. LIMIT_EXCEEDED above `limit` bytes, or above a quarter of the
// machine's memory if the size is unknown (a pipe, /dev/zero); in that case one byte more was read.
// `what` names its use in messages ("program", "input `x`").
[[nodiscard]] Result<std::vector<std::byte>> read_file(const std::string& path,
                                                       std::string_view what,
                                                       std::uint64_t limit = UINT64_MAX);

// Outputs that are staged beside their targets, in files without names if the file system supports
// that (sdk::NewFile). Nothing is visible before commit(), which puts them in place one by one.
// Without commit() nothing remains, even if a signal ends the process. A signal during commit()
// ends it when the current file is in place. Targets that are not regular files (a pipe, /dev/null)
// are written directly by commit(). One object at a time.
class StagedOutputs {
  public:
    using Naming = sdk::NewFile::Naming;
    explicit StagedOutputs(Naming naming = Naming::None) : naming_(naming) {}
    StagedOutputs(const StagedOutputs&) = delete;
    StagedOutputs& operator=(const StagedOutputs&) = delete;
    ~StagedOutputs();

    [[nodiscard]] Result<void> add(const std::string& path, std::span<const std::byte> bytes);
    [[nodiscard]] Result<void> commit();

  private:
    struct Entry {
        std::string target;
        sdk::NewFile staged;
        bool direct = false;
        std::span<const std::byte> bytes;  // for direct writes only; the caller keeps them alive
    };
    Naming naming_;
    std::vector<Entry> entries_;
};

// INVALID_ARGUMENT if two of these outputs, {name, path}, are the same regular file.
[[nodiscard]] Result<void> check_targets(
    const std::vector<std::pair<std::string, std::string>>& outputs);

}  // namespace wye::tool
