// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "registry/probe/spawn.hpp"
#include "registry/probe/verdict.hpp"

namespace wye::registry {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr std::size_t kKeptPrint = 1024;  // bytes that are kept of `printed`
// Milliseconds between looks at the memory, and at the process where the system has no pidfd.
constexpr int kTick = 20;

// Reads from /proc/PID/status how much memory a process has taken. The file is opened while the
// process exists, so it never describes a later process of the same number.
class MemoryLook {
  public:
    MemoryLook() = default;
    explicit MemoryLook(pid_t process) noexcept {
        char path[32];
        (void)std::snprintf(path, sizeof path, "/proc/%d/status", static_cast<int>(process));
        status_ = Fd(::open(path, O_RDONLY | O_CLOEXEC));
    }

    [[nodiscard]] bool open() const noexcept { return status_.open(); }
    // Bytes of memory not backed by files, in RAM or swapped out; 0: unknown, or the process ended.
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        char text[8192];
        const ssize_t size = status_.open() ? ::pread(status_.get(), text, sizeof text, 0) : 0;
        if (size <= 0) return 0;
        const std::string_view all(text, static_cast<std::size_t>(size));
        std::uint64_t kib = 0;
        for (const std::string_view name : {"\nRssAnon:", "\nRssShmem:", "\nVmSwap:"}) {
            const std::size_t at = all.find(name);
            if (at == all.npos) continue;
            const std::size_t digits = all.find_first_not_of(" \t", at + name.size());
            std::uint64_t number = 0;
            if (digits != all.npos)
                std::from_chars(all.data() + digits, all.data() + all.size(), number);
            kib += number;
        }
        return kib * 1024;
    }

  private:
    Fd status_;
};

// The longest time for which one thread of the process was ready to run but had no processor. Zero
// if the system does not count it (/proc/PID/task/*/schedstat).
std::chrono::nanoseconds waited_for_processor(pid_t process) {
    std::int64_t most = 0;
    std::error_code error;
    fs::directory_iterator at(fs::path("/proc") / std::to_string(process) / "task", error);
    for (; !error && at != fs::directory_iterator(); at.increment(error)) {
        const Fd file(::open((at->path() / "schedstat").c_str(), O_RDONLY | O_CLOEXEC));
        char text[128];
        const ssize_t size = file.open() ? ::read(file.get(), text, sizeof text) : 0;
        if (size <= 0) continue;
        // Three numbers: the time that the thread ran, the time that it waited, its number of runs.
        const std::string_view numbers(text, static_cast<std::size_t>(size));
        const std::size_t space = numbers.find(' ');
        std::int64_t ns = 0;
        if (space != numbers.npos)
            std::from_chars(numbers.data() + space + 1, numbers.data() + numbers.size(), ns);
        most = std::max(most, ns);
    }
    return std::chrono::nanoseconds(most);
}

// A file without a name that holds `text`, to be read from its start.
Fd file_of(const std::string& text) {
    Fd file(::memfd_create("wye-probe", MFD_CLOEXEC));
    if (!file.open() || !file.lift()) return Fd();
    std::size_t at = 0;
    while (at < text.size()) {
        const ssize_t wrote = ::write(file.get(), text.data() + at, text.size() - at);
        if (wrote <= 0) return Fd();
        at += static_cast<std::size_t>(wrote);
    }
    return ::lseek(file.get(), 0, SEEK_SET) == 0 ? std::move(file) : Fd();
}

class Child {
  public:
    Child(const ChildTask& task, char* const* environment, Leaving& leaving)
        : begun_(Clock::now()),
          limit_(task.limit),
          deadline_(begun_ + limit_),
          leaving_(leaving),
          memory_limit_(task.memory) {
        Pipe message;
        Pipe print;
        const Fd input = file_of(task.input);
        if (!input.open() || !message.make() || !print.make()) {
            result.start_error = errno;
            return;
        }
        const Inherited inherited[] = {{input.get(), 0},
                                       {print.write.get(), 1},
                                       {print.write.get(), 2},
                                       {message.write.get(), kMessageDescriptor}};
        result.start_error = spawn({task.program}, inherited, environment, pid_);
        if (result.start_error != 0) return;
        running_ = true;
        message_ = std::move(message.read);
        print_ = std::move(print.read);
        process_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
        if (memory_limit_ > 0) memory_ = MemoryLook(pid_);
    }
    ~Child() {
        if (running_) end();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    [[nodiscard]] bool running() const noexcept { return running_; }

    void add_to(std::vector<pollfd>& list) const {
        for (const Fd* fd : {&message_, &print_, &process_})
            if (fd->open()) list.push_back({fd->get(), POLLIN, 0});
    }
    // Milliseconds until `look` must be called again.
    [[nodiscard]] int wait_ms() const {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
        const bool ticks = memory_.open() || !process_.open();
        const auto most = ticks ? std::int64_t{kTick} : std::int64_t{1000};
        return static_cast<int>(std::clamp<std::int64_t>(left, 0, most));
    }

    void look() {
        read_all();
        if (result.flooded || result.oversized) return end();
        const Clock::time_point now = Clock::now();
        const bool is_whole = is_whole_message(result.message);
        if (memory_.open() && (is_whole || now >= next_memory_look_)) {
            next_memory_look_ = now + std::chrono::milliseconds(kTick);
            if (memory_.bytes() > memory_limit_) {
                result.overgrown = true;
                return end();
            }
        }
        if (is_whole) return leave();
        if (ended(WNOHANG)) {
            read_all();  // the output that the child wrote last
            return finish();
        }
        if (is_late(now)) {
            result.timed_out = true;
            end();
        }
    }

    ChildResult result;

  private:
    static constexpr std::size_t kChunk = 65536;
    static constexpr int kMostWaits = 9;  // waiting that does not count: up to 9 time limits

    // Whether the child has exceeded its time limit. First moves the deadline by the time that the
    // child waited for a processor, on a busy machine.
    [[nodiscard]] bool is_late(Clock::time_point now) {
        if (now < deadline_) return false;
        const std::chrono::nanoseconds most = kMostWaits * limit_;
        deadline_ = begun_ + limit_ + std::min(waited_for_processor(pid_), most);
        return now >= deadline_;
    }

    void read_all() {
        const auto read = [](Fd& fd, std::string& into) {
            char chunk[kChunk];
            const ssize_t got = fd.open() ? ::read(fd.get(), chunk, sizeof chunk) : 0;
            if (got > 0) into.append(chunk, static_cast<std::size_t>(got));
            if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) fd.reset();
            return got > 0 ? static_cast<std::size_t>(got) : 0;
        };
        while (read(message_, result.message) > 0) {
            if (result.message.size() <= kMostMessageBytes) continue;
            result.message.resize(kMostMessageBytes);
            result.oversized = true;
            return;
        }
        while (const std::size_t got = read(print_, result.printed)) {
            printed_ += got;
            if (result.printed.size() > 2 * kKeptPrint)
                result.printed.erase(0, result.printed.size() - kKeptPrint);
            if (printed_ <= kMostPrinted) continue;
            result.flooded = true;
            return;
        }
    }

    // Whether the child has ended. If so, kills the rest of its process group and takes the child's
    // status, in this order: after that, the group's number may be reused. Does neither on ECHILD:
    // another part of the process took the status, or SIGCHLD is ignored.
    bool ended(int flags) {
        siginfo_t seen{};
        int error = 0;
        do {
            error = ::waitid(P_PID, static_cast<id_t>(pid_), &seen, WEXITED | WNOWAIT | flags);
        } while (error != 0 && errno == EINTR);
        if (error == 0 && seen.si_pid == 0) return false;
        if (error == 0) {
            ::kill(-pid_, SIGKILL);
            int status = 0;
            if (::waitpid(pid_, &status, WNOHANG) == pid_) result.status = status;
        }
        return true;
    }

    // Kills the process group, whose number cannot be reused before the child's status is taken.
    // Kills nothing on ECHILD: another part of the process took the status.
    void leave() {
        siginfo_t seen{};
        if (::waitid(P_PID, static_cast<id_t>(pid_), &seen, WEXITED | WNOWAIT | WNOHANG) == 0) {
            ::kill(-pid_, SIGKILL);
            leaving_.add(pid_);
        }
        finish();
    }

    void end() {
        if (process_.open())
            ::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
        else
            ::kill(pid_, SIGKILL);
        (void)ended(0);
        result.status.reset();  // the status of this kill, not of the child's own end
        finish();
    }

    void finish() {
        running_ = false;
        result.took_ns = static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begun_).count());
        message_.reset();
        print_.reset();
        process_.reset();
        memory_ = MemoryLook();
    }

    Clock::time_point begun_;
    std::chrono::milliseconds limit_;
    Clock::time_point deadline_;
    Leaving& leaving_;
    pid_t pid_ = -1;
    bool running_ = false;
    Fd message_, print_, process_;
    MemoryLook memory_;
    std::uint64_t memory_limit_;
    Clock::time_point next_memory_look_{};
    std::uint64_t printed_ = 0;
};

}  // namespace

void Leaving::add(pid_t process) {
    const sdk::Lock lock(mutex_);
    processes_.push_back(process);
}

void Leaving::collect() noexcept { collect(WNOHANG); }

void Leaving::collect(int flags) noexcept {
    const sdk::Lock lock(mutex_);
    std::erase_if(processes_, [&](pid_t process) {
        pid_t got = 0;
        do {
            got = ::waitpid(process, nullptr, flags);
        } while (got < 0 && errno == EINTR);
        return got != 0;  // ECHILD: another part of the process took the status
    });
}

void run_children(const std::vector<ChildTask>& tasks, Leaving& leaving,
                  const std::function<void()>& started,
                  const std::function<void(std::size_t, ChildResult)>& ended) {
    if (tasks.empty()) return started();
    Descendants descendants;
    const std::vector<char*> environment = descendants.environment();
    std::vector<std::unique_ptr<Child>> children;
    children.reserve(tasks.size());
    for (const ChildTask& task : tasks)
        children.push_back(std::make_unique<Child>(task, environment.data(), leaving));
    started();
    for (std::size_t left = children.size(); left > 0;) {
        for (std::size_t i = 0; i < children.size(); ++i) {
            std::unique_ptr<Child>& child = children[i];
            if (!child || child->running()) continue;
            ChildResult result = std::move(child->result);
            child.reset();
            --left;
            ended(i, std::move(result));
        }
        std::vector<pollfd> list;
        int wait = -1;
        for (const auto& child : children) {
            if (!child) continue;
            child->add_to(list);
            wait = wait < 0 ? child->wait_ms() : std::min(wait, child->wait_ms());
        }
        if (wait < 0) break;
        (void)::poll(list.data(), list.size(), wait);
        for (const auto& child : children)
            if (child) child->look();
    }
}

}  // namespace wye::registry
