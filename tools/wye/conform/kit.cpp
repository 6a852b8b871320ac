// SPDX-License-Identifier: Apache-2.0
#include "kit.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "registry/probe/spawn.hpp"

namespace wye::tool::conform {
namespace {

using Clock = std::chrono::steady_clock;
using registry::Fd;
using registry::Pipe;

constexpr int kReport = 3;       // the child's descriptor for the report
constexpr int kNotLoaded = 127;  // the exit status of a program that lacks a library
constexpr int kLostReport = 99;  // the exit status of a kit that cannot write its report
constexpr std::size_t kMostLine = std::size_t{1} << 20U;  // bytes; kits write shorter lines
constexpr std::size_t kKeptPrint = 2048;

// Splits a line of the report into words, and decodes the escapes.
std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> out(1);
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\t') {
            out.emplace_back();
        } else if (line[i] == '\\' && i + 1 < line.size()) {
            const char next = line[++i];
            out.back() += next == 'n' ? '\n' : next == 't' ? '\t' : next;
        } else {
            out.back() += line[i];
        }
    }
    return out;
}

// The environment of a kit: that of this process, without the variables that would choose or probe
// other plugins.
class Environment {
  public:
    // `variable`: an additional variable, "NAME=VALUE".
    explicit Environment(const std::string& variable) {
        constexpr std::string_view kOwn[] = {
            "WYE_PROBE=", "WYE_DEVICE=", "WYE_PLUGINS_DISABLE=", "WYE_TRACE="};
        for (char** at = environ; at != nullptr && *at != nullptr; ++at)
            if (std::none_of(std::begin(kOwn), std::end(kOwn), [&](std::string_view own) {
                    return std::string_view(*at).starts_with(own);
                }))
                texts_.emplace_back(*at);
        texts_.emplace_back("WYE_PROBE=off");
        texts_.push_back(variable);
        for (std::string& text : texts_) list_.push_back(text.data());
        list_.push_back(nullptr);
    }
    [[nodiscard]] char* const* list() { return list_.data(); }

  private:
    std::vector<std::string> texts_;
    std::vector<char*> list_;
};

class Kit {
  public:
    Kit(std::chrono::milliseconds limit, const TakeLine& take) : limit_(limit), take_(take) {}
    ~Kit() {
        if (pid_ > 0) (void)end();
    }
    Kit(const Kit&) = delete;
    Kit& operator=(const Kit&) = delete;

    [[nodiscard]] Result<void> start(const std::vector<std::string>& words) {
        Pipe report;
        Pipe print;
        const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        int error = 0;
        if (!nothing.open() || !report.make() || !print.make()) {
            error = errno;
        } else {
            const registry::Inherited inherited[] = {{nothing.get(), 0},
                                                     {print.write.get(), 1},
                                                     {print.write.get(), 2},
                                                     {report.write.get(), kReport}};
            Environment environment(descendants_.variable());
            error = registry::spawn(words, inherited, environment.list(), pid_);
        }
        if (error != 0) {
            pid_ = -1;
            return Error(
                Code::IO,
                fmt::format("`{}` cannot be started: {}", words.front(), std::strerror(error)),
                "Fix: allow more processes or open files", words.front());
        }
        report_ = std::move(report.read);
        print_ = std::move(print.read);
        return {};
    }

    [[nodiscard]] KitEnd watch() {
        Clock::time_point heard = Clock::now();
        while (report_.open()) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(heard + limit_ - Clock::now());
            if (left.count() <= 0) return stop(KitEnd::How::timed_out);
            pollfd list[] = {{report_.get(), POLLIN, 0}, {print_.get(), POLLIN, 0}};
            const auto wait = std::min<std::int64_t>(left.count(), INT_MAX);
            if (::poll(list, 2, static_cast<int>(wait)) < 0 && errno != EINTR)
                return stop(KitEnd::How::lost_report);
            read_print();
            if (list[0].revents == 0) continue;
            const std::optional<bool> read = read_report();
            if (!read) return stop(KitEnd::How::lost_report);
            if (!*read) continue;
            heard = Clock::now();
        }
        return ended();
    }

  private:
    static constexpr std::chrono::seconds kGrace{20};  // after the end of the report

    // Kills what is left of the kit's processes; returns the kit's status, as waitpid does.
    int end() {
        ::kill(-pid_, SIGKILL);
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        return status;
    }

    KitEnd stop(KitEnd::How how) {
        (void)end();
        read_print();
        return {how, done_, {}, printed_};
    }

    // Called when the report is closed: the process has ended, or will end soon.
    KitEnd ended() {
        const Clock::time_point until = Clock::now() + std::min<Clock::duration>(kGrace, limit_);
        siginfo_t seen{};
        while (seen.si_pid == 0) {
            if (::waitid(P_PID, static_cast<id_t>(pid_), &seen, WEXITED | WNOWAIT | WNOHANG) != 0 &&
                errno != EINTR)
                break;
            if (seen.si_pid != 0) break;
            if (Clock::now() > until)
                return stop(done_ ? KitEnd::How::timed_out : KitEnd::How::lost_report);
            pollfd print{print_.get(), POLLIN, 0};
            (void)::poll(&print, 1, 5);
            read_print();
        }
        const int status = end();
        read_print();
        if (WIFSIGNALED(status))
            return {
                KitEnd::How::ended, done_,
                fmt::format("by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status))),
                printed_};
        if (WEXITSTATUS(status) == kNotLoaded && !heard_)
            return {KitEnd::How::not_loaded, false, {}, printed_};
        if (WEXITSTATUS(status) == kLostReport && !done_)
            return {KitEnd::How::lost_report, done_, {}, printed_};
        if (done_) return {KitEnd::How::done, true, {}, printed_};
        return {KitEnd::How::ended, false, fmt::format("with exit status {}", WEXITSTATUS(status)),
                printed_};
    }

    void read_print() {
        char chunk[4096];
        for (;;) {
            const ssize_t got = print_.open() ? ::read(print_.get(), chunk, sizeof chunk) : 0;
            if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) print_.reset();
            if (got <= 0) return;
            printed_.append(chunk, static_cast<std::size_t>(got));
            if (printed_.size() > kKeptPrint) printed_.erase(0, printed_.size() - kKeptPrint);
        }
    }

    // Reads lines of the report. Returns whether there was a line; nullopt: the kit wrote something
    // that is not a line of a report.
    std::optional<bool> read_report() {
        char chunk[65536];
        const ssize_t got = ::read(report_.get(), chunk, sizeof chunk);
        if (got < 0) return errno == EAGAIN || errno == EINTR ? std::optional(false) : std::nullopt;
        if (got == 0) {
            report_.reset();
            return false;
        }
        unread_.append(chunk, static_cast<std::size_t>(got));
        bool any = false;
        for (std::size_t end = 0; (end = unread_.find('\n')) != unread_.npos;) {
            const std::vector<std::string> words =
                words_of(std::string_view(unread_).substr(0, end));
            unread_.erase(0, end + 1);
            any = heard_ = true;
            if (words.front() == "done")
                done_ = true;
            else if (!take_(words))
                return std::nullopt;
        }
        if (unread_.size() > kMostLine) return std::nullopt;
        return any;
    }

    std::chrono::milliseconds limit_;
    const TakeLine& take_;
    registry::Descendants descendants_;
    pid_t pid_ = -1;
    Fd report_, print_;
    std::string unread_, printed_;
    bool heard_ = false;  // a line was read
    bool done_ = false;
};

}  // namespace

Result<KitEnd> run_kit(std::vector<std::string> words, std::chrono::milliseconds limit,
                       const TakeLine& take) {
    words.insert(words.end(), {"--report", std::to_string(kReport)});
    Kit kit(limit, take);
    WYE_TRY(kit.start(words));
    KitEnd end = kit.watch();
    if (end.how == KitEnd::How::not_loaded)
        return Error(Code::MISSING_DEPENDENCY,
                     fmt::format("`{}` cannot be loaded: {}", words.front(), end.printed),
                     "Fix: install the library that it names, or set LD_LIBRARY_PATH",
                     words.front());
    return end;
}

}  // namespace wye::tool::conform
