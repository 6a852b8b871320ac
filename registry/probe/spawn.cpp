// SPDX-License-Identifier: Apache-2.0
#include "registry/probe/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <fmt/format.h>

#include "wye/sdk/numbers.hpp"

namespace wye::registry {
namespace {

class SpawnPlan {
  public:
    SpawnPlan() {
        ::posix_spawn_file_actions_init(&files_);
        ::posix_spawnattr_init(&attributes_);
    }
    ~SpawnPlan() {
        ::posix_spawn_file_actions_destroy(&files_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    // Gives the program copies of these descriptors, and no others. Returns 0 or errno, like
    // `start`.
    [[nodiscard]] int give(std::span<const Inherited> inherited) {
        int last = -1;
        for (const Inherited& one : inherited) {
            if (const int error = ::posix_spawn_file_actions_adddup2(&files_, one.from, one.to))
                return error;
            last = one.to;
        }
        return ::posix_spawn_file_actions_addclosefrom_np(&files_, last + 1);
    }

    [[nodiscard]] int start(const std::vector<std::string>& words, char* const* environment,
                            pid_t& pid) {
        sigset_t all;
        sigset_t none;
        sigfillset(&all);
        sigemptyset(&none);
        ::posix_spawnattr_setsigdefault(&attributes_, &all);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setpgroup(&attributes_, 0);
        ::posix_spawnattr_setflags(
            &attributes_, static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                             POSIX_SPAWN_SETPGROUP));
        std::vector<char*> arguments;
        arguments.reserve(words.size() + 1);
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        return ::posix_spawn(&pid, words.front().c_str(), &files_, &attributes_, arguments.data(),
                             environment);
    }

  private:
    posix_spawn_file_actions_t files_{};
    posix_spawnattr_t attributes_{};
};

}  // namespace

bool Fd::lift() noexcept {
    constexpr int kFirst = 16;
    Fd high(::fcntl(value_, F_DUPFD_CLOEXEC, kFirst));
    std::swap(value_, high.value_);
    return open();
}

bool Pipe::make() noexcept {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read = Fd(ends[0]);
    write = Fd(ends[1]);
    return read.lift() && write.lift() && ::fcntl(read.get(), F_SETFL, O_NONBLOCK) == 0;
}

Descendants::Descendants() {
    std::random_device random;
    variable_ = fmt::format("_WYE_STARTED_BY={}-{:08x}{:08x}", ::getpid(), random(), random());
}

std::vector<char*> Descendants::environment() {
    std::vector<char*> out;
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) out.push_back(*at);
    out.push_back(variable_.data());
    out.push_back(nullptr);
    return out;
}

void Descendants::end() const noexcept try {
    constexpr int kMostRounds = 16;  // processes may start others meanwhile
    const std::string wanted = std::string(1, '\0') + variable_ + std::string(1, '\0');
    for (int round = 0, found = 1; found != 0 && round < kMostRounds; ++round) {
        found = 0;
        std::error_code error;
        std::filesystem::directory_iterator at("/proc", error);
        for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
            const std::string name = at->path().filename().string();
            const auto process = sdk::parse_number<pid_t>(name);
            if (!process) continue;
            // Opens a handle of the process before reading its variables, since the number may be
            // reused.
            const Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, *process, 0)));
            std::ifstream file(at->path() / "environ", std::ios::binary);
            const std::string text(std::istreambuf_iterator<char>(file), {});
            if (!handle.open() || (std::string(1, '\0') + text).find(wanted) == std::string::npos)
                continue;
            if (::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0) == 0) ++found;
        }
    }
} catch (const std::exception&) {  // no memory: the descendants stay
}

int spawn(const std::vector<std::string>& words, std::span<const Inherited> inherited,
          char* const* environment, pid_t& pid) {
    SpawnPlan plan;
    if (const int error = plan.give(inherited)) return error;
    return plan.start(words, environment, pid);
}

}  // namespace wye::registry
