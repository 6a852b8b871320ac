// SPDX-License-Identifier: Apache-2.0
//
// wye-model: explores sequences of calls with work in flight. README.md says how to use it.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "explorer.hpp"
#include "step.hpp"
#include "support/slice.hpp"

namespace {

using namespace wye::model;

struct Options {
    std::string scope, replayed;
    std::vector<std::string> ignored;
    int steps = 0;  // 0: the number of the scope
    int jobs = 2;
    bool wide = false;
    double seconds = 1e9;
};

struct Line {
    std::uint64_t sequences = 0, steps = 0;
    int depth = 0;
    char sequence[256] = {};
    char fault[1536] = {};
};

Line line_of(const Found& found) {
    Line out;
    out.sequences = found.sequences;
    out.steps = found.steps;
    out.depth = found.depth;
    std::strncpy(out.sequence, found.sequence.c_str(), sizeof out.sequence - 1);
    std::strncpy(out.fault, found.fault.c_str(), sizeof out.fault - 1);
    return out;
}

// Explores a scope in several processes. Returns whether there was no fault.
bool run(const Scope& scope, const Options& options) {
    const int steps = options.steps != 0 ? options.steps
                      : options.wide     ? scope.long_steps
                                         : scope.steps;
    int pipes[2];
    if (::pipe(pipes) != 0) return false;
    std::vector<pid_t> children;
    for (int job = 0; job < options.jobs; ++job) {
        std::fflush(stdout);
        const pid_t child = ::fork();
        if (child == 0) {
            const Line line = line_of(
                explore(scope, steps, {job, options.jobs, options.ignored, options.seconds}));
            static_assert(sizeof(Line) <= 4096, "a write to a pipe is whole up to this size");
            ::_exit(::write(pipes[1], &line, sizeof line) == sizeof line ? 0 : 1);
        }
        children.push_back(child);
    }
    ::close(pipes[1]);
    Line sum, line, fault;
    sum.depth = steps;
    while (::read(pipes[0], &line, sizeof line) == sizeof line) {
        sum.sequences += line.sequences;
        sum.steps += line.steps;
        sum.depth = std::min(sum.depth, line.depth);
        const std::size_t length = std::strlen(line.sequence);
        if (line.fault[0] != 0 && (fault.fault[0] == 0 || length < std::strlen(fault.sequence)))
            fault = line;
    }
    ::close(pipes[0]);
    bool good = fault.fault[0] == 0;
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        if (status != 0 && good)
            std::printf("%s: a process ended with status %d\n", scope.name.c_str(), status);
        good = good && status == 0;
    }
    if (fault.fault[0] != 0)
        std::printf("%s: FAULT: %s\n  --replay \"%s: %s\"\n", scope.name.c_str(), fault.fault,
                    scope.name.c_str(), fault.sequence);
    std::printf("%s: %llu sequences with %llu steps, all up to %d steps\n", scope.name.c_str(),
                static_cast<unsigned long long>(sum.sequences),
                static_cast<unsigned long long>(sum.steps), sum.depth);
    return good;
}

int replay_one(const std::string& text, const std::vector<std::string>& ignored) {
    const std::size_t colon = text.find(':');
    const Scope* const scope =
        colon == std::string::npos ? nullptr : scope_of(text.substr(0, colon));
    if (scope == nullptr) {
        std::fprintf(stderr, "`%s` does not begin with the name of a scope\n", text.c_str());
        return 2;
    }
    const std::string fault = replay(*scope, text.substr(colon + 1), ignored);
    std::printf("%s\n", fault.empty() ? "no fault" : ("FAULT: " + fault).c_str());
    std::fflush(stdout);
    ::_exit(fault.empty() ? 0 : 1);
}

void print_list() {
    for (const Scope& scope : scopes())
        std::printf("%-16s %-12s %d steps, --long %d\n", scope.name.c_str(), scope.letters.c_str(),
                    scope.steps, scope.long_steps);
    for (const Letter& letter : letters())
        std::printf("%c%-4s %s\n", letter.kind, letter.arguments, letter.meaning);
}

}  // namespace

int main(int count, char** arguments) {
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string name = arguments[i];
        const bool last = i + 1 == count;
        if (name == "--list") return print_list(), 0;
        if (name == "--long")
            options.wide = true;
        else if (name == "--scope" && !last)
            options.scope = arguments[++i];
        else if (name == "--replay" && !last)
            options.replayed = arguments[++i];
        else if (name == "--ignore" && !last)
            options.ignored.emplace_back(arguments[++i]);
        else if (name == "--steps" && !last)
            options.steps = std::atoi(arguments[++i]);
        else if (name == "--jobs" && !last)
            options.jobs = std::max(1, std::atoi(arguments[++i]));
        else if (name == "--seconds" && !last)
            options.seconds = std::atof(arguments[++i]);
        else {
            std::fprintf(
                stderr,
                "usage: wye-model [--list] [--scope NAME] [--steps N] [--long] [--jobs N]\n"
                "                 [--seconds S] [--ignore TEXT] [--replay \"SCOPE: STEPS\"]\n");
            return 2;
        }
    }
    if (!options.replayed.empty()) return replay_one(options.replayed, options.ignored);
    // Without --scope and --long, one run of the tests takes a third of the scopes.
    constexpr std::size_t kParts = 3;
    const bool some = options.scope.empty() && !options.wide;
    const support::Slice slice = support::Slice::of_this_run();
    if (some) std::printf("slice: scopes of work in flight, %s\n", slice.text(kParts).c_str());
    bool good = true;
    for (std::size_t i = 0; i < scopes().size(); ++i) {
        const Scope& scope = scopes()[i];
        if (some ? slice.has(i, kParts) : options.scope.empty() || options.scope == scope.name)
            good = run(scope, options) && good;
    }
    return good ? 0 : 1;
}
