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
#include <vector>

#include "wye/sdk/output_file.hpp"
#include "wye/sdk/result.hpp"

namespace wye::tool {

// The files that are read. Opening a file that is not regular may block: a pipe blocks until it has
// a writer.
enum class Kind { Any, Regular };

// Whether a path ends with `ending`, such as ".npy", in small letters or capitals.
[[nodiscard]] bool has_ending(std::string_view path, std::string_view ending);

// Reads a whole file or stream. LIMIT_EXCEEDED above `limit` bytes; if the size is unknown, also
// above a quarter of the machine's memory (a pipe), or above 64 MiB (a device such as /dev/zero).
// Reads at most one byte more than the limit. `what` names the file's use in messages ("program",
// "input `x`").
[[nodiscard]] Result<std::vector<std::byte>> read_file(const std::string& path,
                                                       std::string_view what,
                                                       std::uint64_t limit = UINT64_MAX,
                                                       Kind kind = Kind::Any);

// The maximum number of bytes that are read from a stream, which may be endless: a quarter of the
// machine's memory.
[[nodiscard]] std::uint64_t most_of_stream();

// Outputs that appear complete or not at all (sdk::OutputFile). All outputs are opened before the
// work that makes their content, so that a path that cannot be written to fails first. Nothing is
// visible before commit(), which puts the files in place one by one. Without commit() nothing
// remains, even if a signal ends the process. A signal during commit() takes effect when the
// current file is in place. Only one object may exist at a time.
class StagedOutputs {
  public:
    using Naming = sdk::NewFile::Naming;
    explicit StagedOutputs(Naming naming = Naming::None) : naming_(naming) {}
    StagedOutputs(const StagedOutputs&) = delete;
    StagedOutputs& operator=(const StagedOutputs&) = delete;
    ~StagedOutputs();

    // Returns the output's number, which counts from 0.
    [[nodiscard]] Result<std::size_t> open(const std::string& path);
    // `bytes` must live until commit().
    [[nodiscard]] Result<void> write(std::size_t output, std::span<const std::byte> bytes);
    [[nodiscard]] Result<void> commit();
    // Removes the staged files. Call it before the process ends without destructors.
    void discard();

  private:
    struct Entry {
        std::string path;  // as it was given
        sdk::OutputFile file;
    };
    Naming naming_;
    std::vector<Entry> entries_;
};

// A file that a command reads or writes.
struct FileUse {
    std::string what;  // "input `x`"
    std::string path;
    bool written = false;
    std::string buffer = {};  // the buffer's name: its output may replace its own input
};

// INVALID_ARGUMENT if a file that is written has another use, too. The traces that WYE_TRACE and
// the layer `trace` write count as uses, so call check_files before a context is made. Compares
// only regular files, by identity: two names or links of a file count as one.
[[nodiscard]] Result<void> check_files(std::vector<FileUse> files);

}  // namespace wye::tool
