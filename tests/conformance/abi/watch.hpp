// SPDX-License-Identifier: Apache-2.0
//
// Finds what a plugin has changed in its process: the state that the plugin must leave as it found
// it (P-9, P-10). To be used by one thread.
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

// A change of the process. `by_driver`: a driver's library may have made the change, not the
// plugin. A signal handler counts as the driver's if its code is in a driver's library. A change of
// the thread's state or of the environment counts as the driver's if any driver's library is
// loaded.
struct Change {
    std::string what;  // "the locale"
    bool by_driver = false;
};

class ProcessWatch {
  public:
    // Construct the first ProcessWatch of a process before the plugin is loaded: the constructor
    // then notes which libraries are the kit's own.
    ProcessWatch();
    // What has changed since construction.
    [[nodiscard]] std::vector<Change> changes() const;
    // Whether libraries other than the plugin's own and those of the C and C++ languages were
    // loaded.
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

// Captures what the process prints, from construction to `end`.
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
