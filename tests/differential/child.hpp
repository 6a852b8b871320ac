// SPDX-License-Identifier: Apache-2.0
//
// Child: a forked copy of this process that answers messages, so that only the copy is lost if a
// driver aborts, crashes or hangs. A fork is safe only while this process has one thread, so this
// process itself opens no driver. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "wye/wye.hpp"

namespace differential {

class Child {
  public:
    using Answer = std::function<std::string(const std::string&)>;
    // Starts a child. The child calls `open` once, and for each message the function that `open`
    // has returned. IO: no process can be started.
    [[nodiscard]] static wye::Result<Child> start(const std::function<Answer()>& open);
    Child(Child&& other) noexcept;
    Child& operator=(Child&& other) noexcept;
    // Ends the child, and waits until the child has closed all that it opened.
    ~Child() { stop(); }

    // Sends a message and returns the answer; empty: the child has ended.
    [[nodiscard]] std::optional<std::string> ask(const std::string& message);
    void kill();
    // Ends the child, waits for it, and returns "exit status 1" or "signal 11 (Segmentation
    // fault)".
    std::string stop();

  private:
    Child(pid_t process, int socket) : process_(process), socket_(socket) {}

    pid_t process_ = -1;
    int socket_ = -1;
};

}  // namespace differential
