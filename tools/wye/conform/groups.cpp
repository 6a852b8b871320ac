// SPDX-License-Identifier: Apache-2.0
#include "groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kit.hpp"
#include "wye/sdk/numbers.hpp"
#include "wye/sdk/words.hpp"

namespace wye::tool::conform {
namespace {

using Clock = std::chrono::steady_clock;

// A group is given up when the plugin has ended this many processes, since each process takes time.
constexpr int kMostEnds = 8;
// The time limit of a case's second try, as a multiple of the limit of the first try.
constexpr int kLonger = 4;
constexpr std::size_t kTold = 3;  // the most failures that are kept for a case

double seconds_of(std::chrono::milliseconds time) {
    return std::chrono::duration<double>(time).count();
}

double seconds_since(Clock::time_point begun) {
    return std::chrono::duration<double>(Clock::now() - begun).count();
}

// Splits "text (P-1, P-2)" into a case's name and its rules.
Case case_of(std::string_view name) {
    Case out;
    const std::size_t open = name.rfind(" (P-");
    if (open == name.npos || !name.ends_with(')')) {
        out.name = name;
        return out;
    }
    out.name = name.substr(0, open);
    std::string_view rest = name.substr(open + 2, name.size() - open - 3);
    while (!rest.empty()) out.rules.emplace_back(sdk::cut(rest, ", "));
    return out;
}

// Adds a broken rule to a case. If the case had failed before, the rule comes last, since its
// breach may be a consequence. Otherwise the rule comes first, since it was surely broken.
void add_rule(Case& to, const std::string& rule) {
    const bool last = to.result == Outcome::failed;
    const auto known = std::find(to.rules.begin(), to.rules.end(), rule);
    if (known == to.rules.end())
        to.rules.insert(last ? to.rules.end() : to.rules.begin(), rule);
    else if (!last)
        std::rotate(to.rules.begin(), known, known + 1);
}

std::optional<std::uint32_t> number(std::string_view text) {
    return sdk::parse_number<std::uint32_t>(text);
}

// Builds a group from the lines of a kit.
class Reader {
  public:
    Reader(Group& group, Verdict& verdict) : group_(group), verdict_(verdict) {}

    [[nodiscard]] bool take(const std::vector<std::string>& words) {
        const std::string& kind = words.front();
        if (kind == "plugin" && words.size() == 8) return take_plugin(words);
        if (kind == "device" && words.size() == 6) return take_device(words);
        if (kind == "work" || kind == "opened") return true;
        if (kind == "leave") return leaves_ = true;
        if (kind == "rest" && words.size() == 2) {
            const auto left = number(words[1]);
            if (left) left_ = *left;
            return left.has_value();
        }
        if (kind == "case" && words.size() == 2) {
            ++told_;
            begin(words[1]);
            return true;
        }
        if (!open_) return false;
        Case& now = group_.cases.back();
        if (kind == "end") {
            close();
        } else if (words.size() != 2) {
            return false;
        } else if (kind == "fail") {
            fail(words[1]);
        } else if (kind == "rule") {
            add_rule(now, words[1]);
        } else if (kind == "skip") {
            if (now.result == Outcome::passed) now.result = Outcome::not_applicable;
            now.messages.push_back(words[1]);
        } else if (kind == "note") {
            now.notes.push_back(words[1]);
        } else {
            return false;
        }
        return true;
    }

    // The number of cases that the kit began, in all its processes.
    [[nodiscard]] std::size_t told() const { return told_; }
    // The number of cases that the last process did not begin, since the time for them was over.
    [[nodiscard]] std::size_t left() const { return left_; }
    // Whether the last process reported that it ends although cases are left.
    [[nodiscard]] bool takes_leave() { return std::exchange(leaves_, false); }
    // Whether the report is between the lines "case" and "end".
    [[nodiscard]] bool in_case() const { return open_; }
    void begin(std::string_view name) {
        close();
        group_.cases.push_back(case_of(name));
        failures_ = 0;
        open_ = true;
        begun_ = Clock::now();
    }
    void fail(const std::string& text) {
        Case& now = group_.cases.back();
        if (now.result == Outcome::not_applicable) now.messages.clear();
        now.result = Outcome::failed;
        if (++failures_ <= kTold) now.messages.push_back(text);
    }
    void note(std::string text) { group_.cases.back().notes.push_back(std::move(text)); }
    void rule(const std::string& name) { add_rule(group_.cases.back(), name); }
    // Drops the current case, which will be tried again.
    void forget() {
        if (!open_) return;
        open_ = false;
        group_.cases.pop_back();
        --told_;
    }
    void close() {
        if (!open_) return;
        open_ = false;
        Case& now = group_.cases.back();
        now.seconds = seconds_since(begun_);
        if (failures_ > kTold)
            now.messages.push_back(fmt::format("and {} more failures", failures_ - kTold));
    }

  private:
    bool take_plugin(const std::vector<std::string>& words) {
        std::uint32_t numbers[4] = {};
        for (std::size_t i = 0; i < 4; ++i) {
            const auto read = number(words[4 + i]);
            if (!read) return false;
            numbers[i] = *read;
        }
        verdict_.id = words[1];
        verdict_.version = words[2];
        verdict_.vendor = words[3];
        verdict_.abi = Abi{numbers[0], numbers[1], numbers[3], numbers[2]};
        return true;
    }
    bool take_device(const std::vector<std::string>& words) {
        const auto index = number(words[1]);
        if (!index) return false;
        const auto formats = sdk::split(words[5], ",");
        Device device{
            *index, words[2] == "usable", words[3], words[4], {formats.begin(), formats.end()}};
        // The case that lists devices may be tried twice, so the device may be known already.
        for (Device& known : verdict_.devices)
            if (known.index == device.index) {
                known = std::move(device);
                return true;
            }
        verdict_.devices.push_back(std::move(device));
        return true;
    }

    Group& group_;
    Verdict& verdict_;
    bool open_ = false, leaves_ = false;
    std::size_t told_ = 0, left_ = 0;
    std::size_t failures_ = 0;
    Clock::time_point begun_;
};

// How many tests of the language run, as arguments of the kit.
struct Amount {
    const char* scale;   // scale of the examples; 0: one small launch each
    const char* inputs;  // inputs of each operation
    const char* random;  // seeds of random programs
    const char* traps;
};
Amount amount_of(Depth depth) {
    switch (depth) {
        case Depth::quick:
            return {"0", "2048", "0..40", "0..10"};
        case Depth::full:
            return {"2", "1048576", "0..1500", "0..300"};
        case Depth::usual:
            break;
    }
    return {"1", "65536", "0..250", "0..60"};
}

bool has_random_time(std::string_view group) {
    return group == "random" || group == "traps" || group == "functions";
}

std::vector<std::string> words_of(const GroupPlan& plan, const Setup& setup,
                                  const Verdict& verdict) {
    std::vector<std::string> out;
    if (plan.needs == Needs::language) {
        out = {setup.language_kit, plan.name,
               "--device",         fmt::format("{}:{}", verdict.id, verdict.device->index),
               "--plugin",         setup.link};
        const Amount amount = amount_of(setup.depth);
        const std::string_view name = plan.name;
        const auto add = [&](std::string_view group, const char* flag, const char* value) {
            if (name == group) out.insert(out.end(), {flag, value});
        };
        add("examples", "--scale", amount.scale);
        add("sweeps", "--count", amount.inputs);
        add("random", "--seeds", amount.random);
        add("traps", "--seeds", amount.traps);
        add("functions", "--seeds", "0..352");
    } else {
        out = {setup.abi_kit, setup.plugin, fmt::format("--test-suite={}", plan.name)};
        if (verdict.device)
            out.insert(out.end(), {"--device", std::to_string(verdict.device->index)});
        for (const std::string& layer : setup.layers) out.insert(out.end(), {"--layer", layer});
    }
    for (const std::string& setting : setup.config) out.insert(out.end(), {"--config", setting});
    return out;
}

// Runs the cases of one group.
class GroupRun {
  public:
    GroupRun(const GroupPlan& plan, const Setup& setup, Verdict& verdict)
        : setup_(setup), verdict_(verdict), words_(words_of(plan, setup, verdict)) {
        group_.name = plan.name;
        group_.about = plan.about;
    }

    [[nodiscard]] Result<Group> all() {
        for (int ends = 0;;) {
            const std::size_t before = reader_.told();
            WYE_ASSIGN(KitEnd end, run(setup_.limit));
            if (reader_.takes_leave()) {
                // The kit has reported the failure itself before it ended.
            } else if (end.how == KitEnd::How::timed_out && !end.said_done && !verdict_.hangs) {
                WYE_ASSIGN(end, try_again());
                if (end.how == KitEnd::How::done) continue;
            } else {
                judge(end, fmt::format("it did not end within {} seconds (--timeout){}",
                                       seconds_of(setup_.limit),
                                       verdict_.hangs ? "; there was no second try, since another "
                                                        "case hung in its second, too"
                                                      : ""));
                if (end.said_done) break;
            }
            if (++ends < kMostEnds && reader_.told() > before) continue;
            group_.not_tried = fmt::format(
                "the plugin ended {} processes, so the cases after that did not run", ends);
            break;
        }
        if (group_.cases.empty())
            return Error(
                Code::INTERNAL,
                fmt::format("`{}` has no case of the group `{}`", words_.front(), group_.name),
                "Fix: install a kit of the same version as the command", words_.front());
        if (reader_.left() != 0)
            group_.partly = fmt::format(
                "{} of {} programs ran, since the {} seconds for them were over (--random-time)",
                reader_.told(), reader_.told() + reader_.left(), setup_.random_time->count());
        group_.seconds = seconds_since(begun_);
        return std::move(group_);
    }

  private:
    // Runs the cases that are left, or at most `most` of them, in a process.
    [[nodiscard]] Result<KitEnd> run(std::chrono::milliseconds limit, std::size_t most = 0) {
        std::vector<std::string> words = words_;
        words.insert(words.end(), {"--from", std::to_string(reader_.told())});
        if (most != 0) {
            words.insert(words.end(), {"--cases", std::to_string(most)});
        } else if (setup_.random_time && has_random_time(group_.name)) {
            const double left =
                static_cast<double>(setup_.random_time->count()) - seconds_since(begun_);
            words.insert(words.end(),
                         {"--seconds", fmt::format("{:.0f}", std::max(0.0, std::ceil(left)))});
        }
        return run_kit(std::move(words), limit,
                       [&](const auto& line) { return reader_.take(line); });
    }

    // Runs the timed-out case again, alone and with a longer limit, since a busy machine makes any
    // plugin slow. If a second try times out, no other case of the whole run gets a second try: the
    // plugin does not conform, and each try would take long.
    [[nodiscard]] Result<KitEnd> try_again() {
        const std::chrono::milliseconds longer = setup_.limit * kLonger;
        reader_.forget();
        const std::size_t before = group_.cases.size();
        WYE_ASSIGN(KitEnd end, run(longer, 1));
        verdict_.hangs = end.how == KitEnd::How::timed_out;
        if (!reader_.takes_leave())
            judge(end, fmt::format("it did not end within {} seconds (--timeout), and, tried again "
                                   "alone, not within {}",
                                   seconds_of(setup_.limit), seconds_of(longer)));
        if (group_.cases.size() == before) return end;
        Case& now = group_.cases[before];
        now.tries = 2;
        now.notes.push_back(fmt::format(
            "`{}` was tried twice: it did not end within {} seconds; the second time, alone, it {}",
            now.name, seconds_of(setup_.limit),
            verdict_.hangs ? fmt::format("did not end within {} seconds", seconds_of(longer))
                           : fmt::format("took {:.1f} seconds", now.seconds)));
        return end;
    }

    // Adds a failure to the group if a kit's process did not end as it should. `late`: the message
    // for a process that timed out.
    void judge(const KitEnd& end, const std::string& late) {
        if (end.how == KitEnd::How::done) return;
        if (!reader_.in_case())
            reader_.begin(end.said_done          ? "the process ends after its last case (P-30)"
                          : group_.cases.empty() ? "the cases begin (P-8)"
                                                 : "the cases go on (P-8)");
        switch (end.how) {
            case KitEnd::How::done:
            case KitEnd::How::not_loaded:
                break;
            case KitEnd::How::ended:
                if (!end.said_done) reader_.rule("P-8");
                reader_.fail("the plugin ended the process " + end.text);
                break;
            case KitEnd::How::timed_out:
                reader_.fail(late);
                break;
            case KitEnd::How::lost_report:
                reader_.rule("P-10");
                reader_.fail(
                    "the plugin closed or wrote to descriptor 3 of its process, which is not its "
                    "own");
                break;
        }
        if (!end.printed.empty()) reader_.note("the process printed: " + end.printed);
        reader_.close();
    }

    const Setup& setup_;
    Verdict& verdict_;
    const Clock::time_point begun_ = Clock::now();
    std::vector<std::string> words_;
    Group group_;
    Reader reader_{group_, verdict_};
};

}  // namespace

const std::vector<GroupPlan>& group_plans() {
    static const std::vector<GroupPlan> plans = {
        {"file", "what the file exports and names", Needs::file},
        {"load", "loading, handshake, start, list of devices", Needs::file},
        {"plugin", "start and end, facts", Needs::plugin},
        {"device", "opened devices and their limits", Needs::device},
        {"order", "values, bytes and arguments, which all that follows relies on", Needs::device},
        {"memory", "buffers, mappings, transfers", Needs::device},
        {"program", "artifacts, built, saved and loaded", Needs::device},
        {"queue", "launches and their order", Needs::device},
        {"timeline", "values, waits, signals, times", Needs::device},
        {"command", "recorded commands", Needs::device},
        {"launch", "indirect and cooperative launches", Needs::device},
        {"native", "native handles", Needs::device},
        {"lifetime", "ends in any order", Needs::device},
        {"leaks", "memory after thousands of rounds", Needs::device},
        {"loss", "lost devices and their recovery", Needs::device},
        {"skew", "hosts of other versions", Needs::plugin},
        {"device_skew", "structures of other versions", Needs::device},
        {"process", "signals, output, threads", Needs::plugin},
        {"threads", "calls from several threads", Needs::device},
        {"hostile", "damaged code, too much memory", Needs::device},
        {"capabilities", "a program for each claimed capability", Needs::language},
        {"limits", "programs that use all of a claimed limit", Needs::language},
        {"features", "grid barriers, subgroups, f16, long loops", Needs::language},
        {"examples", "the example programs", Needs::language},
        {"reference", "the examples of the language reference", Needs::language},
        {"sweeps", "every operation on every type", Needs::language},
        {"functions", "all results of math functions", Needs::language, true},
        {"random", "random programs", Needs::language},
        {"traps", "random programs that may trap", Needs::language},
    };
    return plans;
}

Result<Group> run_group(const GroupPlan& plan, const Setup& setup, Verdict& verdict) {
    return GroupRun(plan, setup, verdict).all();
}

Result<std::uint32_t> find_device(const std::string& selector, const Setup& setup,
                                  const Verdict& verdict) {
    const std::string prefix = verdict.id + ":";
    const std::string_view own = std::string_view(selector).starts_with(prefix)
                                     ? std::string_view(selector).substr(prefix.size())
                                     : std::string_view(selector);
    if (const auto index = number(own)) return *index;
    const std::size_t name = selector.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_");
    if (own == selector && name != selector.npos && name != 0 && selector[name] == ':')
        return Error(
            Code::NO_DEVICE,
            fmt::format("`--device {}` is of the plugin `{}`, but the file is the plugin `{}`",
                        selector, selector.substr(0, name), verdict.id),
            "Fix: leave the other plugin's name out", "--device");
    // Any other selector is left to the host.
    const std::string whole = selector == verdict.id || own != selector
                                  ? selector
                                  : fmt::format("{}:{}", verdict.id, selector);
    std::vector<std::string> words = {setup.language_kit, "device",  "--device", whole,
                                      "--plugin",         setup.link};
    for (const std::string& setting : setup.config)
        words.insert(words.end(), {"--config", setting});
    std::string opened, failure;
    WYE_ASSIGN(const KitEnd end, run_kit(words, setup.limit, [&](const auto& line) {
                   if (line.size() == 2 && line[0] == "opened") opened = line[1];
                   if (line.size() == 2 && line[0] == "fail") failure = line[1];
                   return true;
               }));
    const std::string_view found = opened;
    const auto index =
        found.starts_with(prefix) ? number(found.substr(prefix.size())) : std::nullopt;
    if (index) return *index;
    if (failure.empty()) failure = "the process that searched for the device ended " + end.text;
    // Keeps the sentence without its causes and remedies, since the error below has a remedy.
    for (const char* end : {"\n", " Fix: "})
        failure.erase(std::min(failure.find(end), failure.size()));
    return Error(
        Code::NO_DEVICE,
        fmt::format("`--device {}` names no device of `{}`: {}", selector, verdict.id, failure),
        "Fix: use a selector that `wye info` prints, or an index", "--device");
}

}  // namespace wye::tool::conform
