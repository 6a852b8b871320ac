// SPDX-License-Identifier: Apache-2.0
//
// What of its process a plugin must leave as it found it (P-9, P-10), and what of that changed.
// One thread.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace harness {

// A difference. The driver made it, if it is a handler whose code is in a driver's library, or,
// where such a library is loaded, if it is of the calling thread or in the environment.
struct Change {
    std::string what;  // "the locale"
    bool by_driver = false;
};

class ProcessWatch {
  public:
    // The first of a process is made before the plugin is loaded.
    ProcessWatch();
    // What has changed since construction.
    [[nodiscard]] std::vector<Change> changes() const;
    // Whether libraries were loaded besides the plugin and those of the language.
    [[nodiscard]] static bool driver_loaded();

  private:
    struct Seen {
        std::array<struct sigaction, 32> handlers{};
        sigset_t mask{};
        stack_t stack{};
        int rounding = 0, traps = 0;
        bool flushes = false;
        std::string locale, folder;
        std::set<std::string> environment;
        mode_t file_mask = 0;
        std::vector<std::pair<dev_t, ino_t>> standard;  // descriptors 0, 1 and 2
    };
    [[nodiscard]] static Seen look();

    Seen before_;
};

[[nodiscard]] std::size_t count_threads();
[[nodiscard]] std::size_t count_descriptors();

// Keeps what the process prints from construction on, instead of printing it.
class Printed {
  public:
    Printed();
    ~Printed() { end(); }
    Printed(const Printed&) = delete;
    Printed& operator=(const Printed&) = delete;
    // Lets the process print again. A second call has no effect.
    void end();
    [[nodiscard]] const std::string& output() const { return texts_[0]; }
    [[nodiscard]] const std::string& errors() const { return texts_[1]; }

  private:
    int files_[2] = {-1, -1};
    int kept_[2] = {-1, -1};
    std::string texts_[2];
};

}  // namespace harness
