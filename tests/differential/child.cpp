// SPDX-License-Identifier: Apache-2.0
#include "differential/child.hpp"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace differential {
namespace {

bool transfer(ssize_t moved, std::size_t& done) {
    if (moved > 0) done += static_cast<std::size_t>(moved);
    return moved > 0 || (moved < 0 && errno == EINTR);
}

bool send_bytes(int socket, const void* from, std::size_t size) {
    for (std::size_t done = 0; done < size;)
        if (!transfer(
                send(socket, static_cast<const char*>(from) + done, size - done, MSG_NOSIGNAL),
                done))
            return false;
    return true;
}

bool receive_bytes(int socket, void* to, std::size_t size) {
    for (std::size_t done = 0; done < size;)
        if (!transfer(recv(socket, static_cast<char*>(to) + done, size - done, 0), done))
            return false;
    return true;
}

// Sends a message: its length, then its bytes.
bool send_text(int socket, const std::string& text) {
    const std::uint64_t size = text.size();
    return send_bytes(socket, &size, sizeof size) && send_bytes(socket, text.data(), text.size());
}

std::optional<std::string> receive_text(int socket) {
    std::uint64_t size = 0;
    if (!receive_bytes(socket, &size, sizeof size)) return std::nullopt;
    std::string text(size, '\0');
    if (!receive_bytes(socket, text.data(), text.size())) return std::nullopt;
    return text;
}

void serve(int socket, const std::function<Child::Answer()>& open) {
    const Child::Answer answer = open();
    while (const auto message = receive_text(socket))
        if (!send_text(socket, answer(*message))) return;
}

}  // namespace

wye::Result<Child> Child::start(const std::function<Answer()>& open) {
    int ends[2] = {-1, -1};
    const bool connected = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    const pid_t process = connected ? fork() : -1;
    if (process < 0) {
        const std::string why = strerror(errno);
        for (const int end : ends)
            if (end >= 0) close(end);
        return wye::Error(wye::Code::IO, "no child process can be started: " + why,
                          "Fix: allow more processes or open files");
    }
    if (process == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        serve(ends[1], open);
        _exit(0);
    }
    close(ends[1]);
    return Child(process, ends[0]);
}

Child::Child(Child&& other) noexcept
    : process_(std::exchange(other.process_, -1)), socket_(std::exchange(other.socket_, -1)) {}

Child& Child::operator=(Child&& other) noexcept {
    std::swap(process_, other.process_);
    std::swap(socket_, other.socket_);
    return *this;
}

std::optional<std::string> Child::ask(const std::string& message) {
    if (!send_text(socket_, message)) return std::nullopt;
    return receive_text(socket_);
}

void Child::kill() {
    if (process_ > 0) (void)::kill(process_, SIGKILL);
}

std::string Child::stop() {
    if (socket_ >= 0) close(std::exchange(socket_, -1));
    if (process_ <= 0) return {};
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    if (WIFSIGNALED(status))
        return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) +
               ")";
    return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace differential
