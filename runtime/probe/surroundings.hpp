// SPDX-License-Identifier: Apache-2.0
//
// Surroundings: records the state of the process that a plugin must not change, and finds changes.
// For one thread.
#pragma once

#include <sys/types.h>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace wye::probe {

class Surroundings {
  public:
    Surroundings();

    struct Change {
        std::string text;         // such as "changes the locale of its process"
        bool is_drivers = false;  // drivers also make this change; it does little harm
    };
    // Each difference from the state at construction.
    [[nodiscard]] std::vector<Change> changes() const;
    // The number of threads that were added since construction.
    [[nodiscard]] std::size_t threads_left() const;

  private:
    struct Seen {
        std::string locale, folder;
        std::map<std::string, std::string> environment;
        mode_t umask = 0;
        std::vector<std::pair<dev_t, ino_t>> standard;  // the files of the descriptors 0, 1 and 2
    };
    [[nodiscard]] static Seen look();

    Seen before_;
    std::size_t threads_;
};

}  // namespace wye::probe
