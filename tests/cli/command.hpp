// SPDX-License-Identifier: Apache-2.0
//
// Runs a program as a user would, and keeps its output. A time-out fails the test.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace wye::test {

struct Outcome {
    int code = -1;    // exit code, or 128 + signal
    std::string out;  // standard output
    std::string err;  // standard error
};

// Runs a command in the test's own environment, with the changes in `environment`. The disk cache
// of programs is off unless these set WYE_CACHE_SIZE. The time-out is ten minutes, since a busy
// machine may take many times as long as a quiet one.
[[nodiscard]] Outcome run_command(const std::vector<std::string>& words,
                                  const std::map<std::string, std::string>& environment = {});

// Runs `wye` with these words.
[[nodiscard]] Outcome wye_command(std::vector<std::string> words,
                                  const std::map<std::string, std::string>& environment = {});

// The selectors that `wye info -l` lists, except those of devices whose name contains `without`.
// The test fails if there are none.
[[nodiscard]] std::vector<std::string> listed_devices(const std::string& without = "");

// A temporary folder, which the destructor removes with its content.
class TempFolder {
  public:
    explicit TempFolder(
        const std::filesystem::path& parent = std::filesystem::temp_directory_path());
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder();

    [[nodiscard]] std::string path(const std::string& name) const {
        return (root_ / name).string();
    }
    // Writes a file and returns its path.
    [[nodiscard]] std::string write(const std::string& name, const std::string& bytes) const;
    [[nodiscard]] std::vector<std::string> names() const;  // sorted

  private:
    std::filesystem::path root_;
};

[[nodiscard]] inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Checks the exit code of a command, and that its standard error contains `part` and a remedy.
void check_complaint(const Outcome& outcome, int code, const std::string& part);

// All bytes of a file. The test fails if the file cannot be read.
[[nodiscard]] std::string read_bytes(const std::string& path);

}  // namespace wye::test
