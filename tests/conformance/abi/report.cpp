// SPDX-License-Identifier: Apache-2.0
#include "conformance/abi/report.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>

namespace harness {
namespace {

// The report of this process. A process has at most one.
std::unique_ptr<Report>& chosen() {
    static std::unique_ptr<Report> value;
    return value;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) switch (c) {
            case '\\':
                out += "\\\\";
                break;
            case '\n':
                out += "\\n";
                break;
            case '\t':
                out += "\\t";
                break;
            default:
                out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
        }
    return out;
}

}  // namespace

void Report::line(std::string_view kind, std::initializer_list<std::string_view> fields) const {
    std::string text(kind);
    for (const std::string_view field : fields) text += '\t' + escaped(field);
    write(text + '\n');
}

void Report::write(std::string_view lines) const {
    while (!lines.empty()) {
        const ssize_t wrote = ::write(descriptor_, lines.data(), lines.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) ::_exit(kLostReport);
        lines.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

const Report* report() noexcept { return chosen().get(); }
void report_to(int descriptor) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    chosen() = std::make_unique<Report>(descriptor);
}

void not_applicable(std::string_view reason) {
    if (report() != nullptr)
        report()->line("skip", {reason});
    else
        std::printf("does not apply: %.*s\n", static_cast<int>(reason.size()), reason.data());
}

void note(std::string_view text) {
    if (report() != nullptr)
        report()->line("note", {text});
    else
        std::printf("note: %.*s\n", static_cast<int>(text.size()), text.data());
}

void blame(std::string_view rule) {
    if (report() != nullptr) report()->line("rule", {rule});
}

void fail_and_leave(const char* rule, const char* text) {
    char lines[1024];  // allocates nothing: a signal handler may call this
    const bool told = report() != nullptr;
    const int size =
        std::snprintf(lines, sizeof lines,
                      told ? "rule\t%s\nfail\t%s\nend\nleave\n" : "FAILED (%s): %s\n", rule, text);
    const std::string_view all(
        lines, std::min<std::size_t>(sizeof lines - 1, static_cast<std::size_t>(size)));
    Report(told ? report()->descriptor() : STDERR_FILENO).write(all);
    ::_exit(1);
}

}  // namespace harness
