// SPDX-License-Identifier: Apache-2.0
//
// Starts helper programs with posix_spawn, at any time and from any thread. A started program has
// no descriptors except those that it is given.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace wye::registry {

// A file descriptor, closed by the destructor.
class Fd {
  public:
    explicit Fd(int value = -1) noexcept : value_(value) {}
    Fd(Fd&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Fd() { reset(); }
    void reset() noexcept {
        if (value_ >= 0) ::close(std::exchange(value_, -1));
    }
    [[nodiscard]] int get() const noexcept { return value_; }
    [[nodiscard]] bool open() const noexcept { return value_ >= 0; }
    // Moves the descriptor to a number above those that `spawn` assigns in the child, so that none
    // of the assignments overwrites the descriptor. False: no number is free, and the descriptor is
    // closed.
    [[nodiscard]] bool lift() noexcept;

  private:
    int value_;
};

// A pipe whose reading end does not block. Both ends are closed in programs that are started.
struct Pipe {
    Fd read, write;
    [[nodiscard]] bool make() noexcept;  // false: errno says why
};

// The descriptor `to` of the child is a copy of `from`.
struct Inherited {
    int from = -1;
    int to = -1;
};

// The processes that a started program started in turn, in whatever process group they are. They
// are found by an environment variable, which the program is given and its descendants inherit. A
// process that replaces its environment is not found. No process is found if /proc/PID/environ
// cannot be read.
class Descendants {
  public:
    Descendants();
    // Kills all descendants that still run.
    ~Descendants() { end(); }
    Descendants(const Descendants&) = delete;
    Descendants& operator=(const Descendants&) = delete;
    // "NAME=VALUE", for the environment of the program. No other object has the same value.
    [[nodiscard]] const std::string& variable() const noexcept { return variable_; }
    // This process's environment and the variable, in the form that `spawn` takes. Valid as long as
    // this object exists and the environment is unchanged.
    [[nodiscard]] std::vector<char*> environment();

  private:
    void end() const noexcept;

    std::string variable_;
};

// Starts the program `words[0]`, a path, with these arguments and this environment (null at its
// end). The program leads a process group of its own. All its signals are at their defaults, and
// none is blocked. It has no descriptor above the last `to` of `inherited`, whose elements must be
// in ascending order of `to`. Returns 0 and sets `pid`, or returns a value of errno.
[[nodiscard]] int spawn(const std::vector<std::string>& words, std::span<const Inherited> inherited,
                        char* const* environment, pid_t& pid);

}  // namespace wye::registry
