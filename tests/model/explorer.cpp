// SPDX-License-Identifier: Apache-2.0
#include "explorer.hpp"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "world.hpp"

namespace wye::model {
namespace {

using Clock = std::chrono::system_clock;  // the steady clock is replaced

// The sequence that runs. A signal handler prints it if a call crashes, or never returns or waits.
char running[512];
volatile std::uint64_t runs = 0, runs_seen = 0;

void say(const char* text) { (void)!::write(2, text, std::strlen(text)); }

[[noreturn]] void end(const char* what) {
    say("\n");
    say(what);
    say(", at the end of: ");
    say(running);
    char tried[32];
    std::snprintf(tried, sizeof tried, " (sequence %llu)\n", static_cast<unsigned long long>(runs));
    say(tried);
    ::_exit(1);
}

void crashes(int) { end("a call ends the process"); }

void spins(int) {
    if (runs == runs_seen) end("a call neither returns nor waits");
    runs_seen = runs;
}

void watch() {
    struct sigaction action {};
    action.sa_handler = crashes;
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE})
        ::sigaction(signal, &action, nullptr);
    action.sa_handler = spins;
    ::sigaction(SIGPROF, &action, nullptr);
    const itimerval every = {{2, 0}, {2, 0}};  // seconds of processor time
    ::setitimer(ITIMER_PROF, &every, nullptr);
}

struct Node {
    Sequence steps;
    std::vector<Step> next;
};

struct Outcome {
    bool done = true;  // all steps could be done
    std::string fault;
    std::uint64_t state = 0;
    std::vector<Step> next;
};

class Runner {
  public:
    Runner(const Scope& scope, const Share& share)
        : scope_(scope), world_(std::make_unique<World>(scope)) {
        the_device().ignored = share.ignored;
        watch();
    }

    Outcome run(const Sequence& steps, Found& found) {
        Outcome out;
        const std::string text = text_of(steps);
        std::strncpy(running, text.c_str(), sizeof running - 1);
        runs = runs + 1;
        World& world = *world_;
        world.begin();
        for (const Step& step : steps) {
            ++found.steps;
            out.done = world.step(step);
            if (!out.done || !world.fault().empty()) break;
        }
        if (world.fault().empty() && out.done) {
            out.state = std::hash<std::string>()(world.state());
            out.next = world.enabled();
        }
        if (world.fault().empty()) world.finish();
        ++found.sequences;
        out.fault = world.fault();
        if (!out.fault.empty()) {
            // After a fault the World may be in any state, so it is not destroyed.
            (void)world_.release();
            the_device().clear();
        }
        if (!out.fault.empty() || !world.is_alive()) world_ = std::make_unique<World>(scope_);
        return out;
    }

  private:
    const Scope& scope_;
    std::unique_ptr<World> world_;
};

class Search {
  public:
    Search(const Scope& scope, const Share& share)
        : scope_(scope), share_(share), runner_(scope, share) {}

    Found run(int most) {
        if (visit({})) return found_;
        for (int depth = 1; depth <= most; ++depth) {
            std::vector<Node> nodes = std::move(frontier_);
            frontier_.clear();
            for (const Node& node : nodes) {
                if (std::chrono::duration<double>(Clock::now() - start_).count() > share_.seconds)
                    return found_;
                for (const Step& step : node.next)
                    if (extend(node, step)) return found_;
            }
            found_.depth = depth;
            if (frontier_.empty()) break;
        }
        return found_;
    }

  private:
    // Tries a sequence with one more step, and again with each place at which the step's call can
    // stop.
    bool extend(const Node& node, const Step& step) {
        Sequence steps = node.steps;
        steps.push_back(step);
        if (visit(steps)) return true;
        // A step `>` may stop the line's thread again, also where it holds locks.
        const bool stops = World::is_call(step.kind) || (step.kind == '>' && scope_.holds_line);
        if (!stops || scope_.calls < 2) return false;
        for (int place = 1; place <= scope_.places; ++place) {
            steps.back().stop = place;
            bool done = true;
            if (visit(steps, &done)) return true;
            if (!done) break;
        }
        return false;
    }
    // Runs a sequence. Returns whether there was a fault.
    bool visit(const Sequence& steps, bool* done = nullptr) {
        Outcome outcome = runner_.run(steps, found_);
        if (done != nullptr) *done = outcome.done;
        if (!outcome.done && outcome.fault.empty()) return false;
        if (!outcome.fault.empty()) {
            found_.sequence = text_of(steps);
            found_.fault = outcome.fault;
            return true;
        }
        if (!seen_.insert(outcome.state).second) return false;
        const auto jobs = static_cast<std::uint64_t>(share_.jobs);
        if (steps.size() == 2 && outcome.state % jobs != static_cast<std::uint64_t>(share_.job))
            return false;
        frontier_.push_back({steps, std::move(outcome.next)});
        return false;
    }

    const Scope& scope_;
    const Share& share_;
    Runner runner_;
    Found found_;
    std::vector<Node> frontier_;
    std::unordered_set<std::uint64_t> seen_;
    const Clock::time_point start_ = Clock::now();
};

}  // namespace

Found explore(const Scope& scope, int steps, const Share& share) {
    return Search(scope, share).run(steps);
}

std::string replay(const Scope& scope, const std::string& sequence,
                   const std::vector<std::string>& ignored) {
    the_device().ignored = ignored;
    std::string wrong;
    const Sequence steps = parse(sequence, wrong);
    if (steps.empty()) return "the step `" + wrong + "` cannot be read";
    watch();
    auto* const world = new World(scope);  // kept, since a fault may leave calls in it
    std::strncpy(running, sequence.c_str(), sizeof running - 1);
    world->begin();
    world->trace(true);
    for (const Step& step : steps)
        if (!world->step(step) || !world->fault().empty()) break;
    if (world->fault().empty()) std::printf("  the end\n");
    if (world->fault().empty()) world->finish();
    return world->fault();
}

}  // namespace wye::model
