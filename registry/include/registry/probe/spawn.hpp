// SPDX-License-Identifier: Apache-2.0
//
// Starts helper programs: descriptors with an owner, pipes, and a process that gets no descriptor
// but those that it is given. For posix_spawn at any time, from any thread.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace wye::registry {

// A file descriptor, closed at the end.
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
    // Moves the descriptor above the numbers that a child gets, so that none of those overwrites
    // it. False: there is no free number, and the descriptor is closed.
    [[nodiscard]] bool lift() noexcept;

  private:
    int value_;
};

// The parent reads without blocking. Both ends are closed in programs that are started.
struct Pipe {
    Fd read, write;
    [[nodiscard]] bool make() noexcept;  // false: errno
};

// The descriptor `to` of the child is a copy of `from`.
struct Inherited {
    int from = -1;
    int to = -1;
};

// The processes that a started program started in turn, in whatever process group they are. They
// are found by an environment variable, which the program is given and they inherit. A process that
// replaces its environment is not found, nor is any if /proc/PID/environ cannot be read.
class Descendants {
  public:
    Descendants();
    // Kills all of them that still run.
    ~Descendants() { end(); }
    Descendants(const Descendants&) = delete;
    Descendants& operator=(const Descendants&) = delete;
    // "NAME=VALUE", for the environment of the program. No other object has the same value.
    [[nodiscard]] const std::string& variable() const noexcept { return variable_; }
    // This process's environment and the variable, as `spawn` takes it, valid as long as the object
    // and the environment are.
    [[nodiscard]] std::vector<char*> environment();

  private:
    void end() const noexcept;

    std::string variable_;
};

// Starts the program `words[0]`, a path, with these arguments and this environment (null at its
// end). It leads a process group of its own, has every signal at its default and none blocked, and
// has no descriptor above the last of `inherited`, which are in ascending order of `to`. Returns 0
// with `pid`, or errno.
[[nodiscard]] int spawn(const std::vector<std::string>& words, std::span<const Inherited> inherited,
                        char* const* environment, pid_t& pid);

}  // namespace wye::registry
