// SPDX-License-Identifier: Apache-2.0
//
// Surroundings: what of its process a plugin must leave as it was, as at construction. One thread.
#pragma once

#include <sys/types.h>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace wye::probe {

class Surroundings {
  public:
    Surroundings();

    // "changes the locale", ... for each thing that differs now.
    [[nodiscard]] std::vector<std::string> changes() const;
    // Threads that there were not before.
    [[nodiscard]] std::size_t threads_left() const;

  private:
    struct Seen {
        std::string locale, folder, environment;
        mode_t umask = 0;
        std::vector<std::pair<dev_t, ino_t>> standard;  // of the descriptors 0, 1 and 2
    };
    [[nodiscard]] static Seen look();

    Seen before_;
    std::size_t threads_;
};

}  // namespace wye::probe
