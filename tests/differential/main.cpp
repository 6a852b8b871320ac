// SPDX-License-Identifier: Apache-2.0
// `wye fuzz`: runs random programs on devices and compares the results with the oracle. A program
// that differs is shrunk and saved. Standard output has one line for each finding, then one line
// with all counts for each device, then the counts of all devices together.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "command/files.hpp"
#include "command/output.hpp"
#include "command/progress.hpp"
#include "differential/options.hpp"
#include "differential/shrink.hpp"
#include "differential/tally.hpp"
#include "differential/target.hpp"
#include "support/caller_state.hpp"
#include "support/random_case.hpp"
#include "support/referee.hpp"
#include "wye/sdk/printable.hpp"
#include "wye/sdk/standard_files.hpp"

namespace {

using namespace differential;
namespace fs = std::filesystem;
using wye::sdk::one_line;

enum Exit { kEqual = 0, kDiffers = 1, kUsageError = 2, kNoDevice = 3 };

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The name of a finding's file: DEVICE-NAME.wye, with unsuitable characters replaced.
std::string file_name(const std::string& device, const std::string& name) {
    std::string out = device + "-" + name;
    for (char& c : out)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
    return out + ".wye";
}

void keep(const std::string& folder, const std::string& name, const std::string& text) {
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    const std::string path = (fs::path(folder) / name).string();
    std::ofstream out(path, std::ios::binary);
    out << text;
    if (out.flush())
        std::fprintf(wye::tool::output(), "  kept as %s\n", one_line(path).c_str());
    else
        std::fprintf(wye::tool::output(),
                     "  cannot be kept as %s. Fix: name a folder that can be written\n",
                     one_line(path).c_str());
}

// Reports a finding, shrinks its case and saves the result.
void report(Target& target, const Options& options, const std::string& name, const Case& what,
            const Finding& finding) {
    const std::string selector = target.selector();
    std::fprintf(wye::tool::output(), "DIFFERS %s on %s: %s\n", name.c_str(), selector.c_str(),
                 finding.text.c_str());
    const Judge judge_changed = [&](const Case& c) { return target.judge(c, support::kChanged); };
    std::vector<std::string> remarks = {name + " on " + selector};
    Case smallest = what;
    Finding last = finding;
    // If a case does not end, each step of the shrinker would take the whole time limit.
    const bool ends = finding.kind != Finding::Kind::Error || finding.code != wye::Code::TIMEOUT;
    const Finding again = ends ? judge_changed(what) : finding;
    if (!again.like(finding)) {
        std::fprintf(wye::tool::output(), "  not the same again: %s\n",
                     again.text.empty() ? "equal" : again.text.c_str());
        remarks.push_back("Not the same again: " + again.text);
    } else if (ends && options.limit > 0) {
        const auto start = std::chrono::steady_clock::now();
        ShrinkLimits limits;
        limits.seconds = options.limit;
        const Shrunk shrunk = shrink(what, finding, judge_changed, limits);
        const double took = seconds_since(start);
        std::fprintf(wye::tool::output(),
                     "  made small: %zu statements, %llu tries in %.1f s%s: %s\n",
                     shrunk.statements, static_cast<unsigned long long>(shrunk.tries), took,
                     shrunk.finished ? "" : " (the time ended first)", shrunk.finding.text.c_str());
        smallest = shrunk.smallest;
        last = shrunk.finding;
    }
    remarks.push_back(last.text);
    if (!options.keep.empty())
        keep(options.keep, file_name(selector, name), support::write_case(smallest, remarks));
}

// Whether the device refuses the case because it lacks a capability that the case's file names.
bool lacks_a_need(const Case& what, const Finding& finding) {
    return finding.kind == Finding::Kind::Error && finding.code == wye::Code::UNSUPPORTED &&
           std::ranges::any_of(what.needs, [&](const std::string& capability) {
               return finding.text.find("needs " + capability + " ") != std::string::npos;
           });
}

// Whether the driver cannot work in this state of the caller. PoCL cannot read the files that it
// writes if the file mode mask takes rights from their owner.
bool refuses_state(const Finding& finding) {
    return finding.kind == Finding::Kind::Error &&
           finding.text.find("the file mode mask (umask) of this process") != std::string::npos;
}

// Judges one case after another on a device. If the device stays busy, the other cases are not run.
class Session {
  public:
    Session(Target& target, const Options& options, std::size_t replayed)
        : target_(target),
          options_(options),
          progress_("programs on " + target.selector(),
                    replayed + (options.replay.empty() ? options.seeds.size() : 0)) {}

    void check(const std::string& name, const Case& what, const Care& care) {
        if (tally_.stays_busy()) {
            ++tally_.not_run;
            return;
        }
        const std::size_t state = options_.any_state ? state_of(name) : 0;
        target_.set_state(state);
        const Finding finding = target_.judge(what, care);
        progress_.at(++judged_);
        if (finding.differs() || finding.kind == Finding::Kind::Useless || tally_.stays_busy() ||
            finding.kind == Finding::Kind::Error)
            progress_.hide();
        if (lacks_a_need(what, finding) || (state != 0 && refuses_state(finding))) {
            ++tally_.left_out;
            std::fprintf(wye::tool::output(), "LEFT OUT %s on %s: %s\n", name.c_str(),
                         target_.selector().c_str(), finding.text.c_str());
            return;
        }
        tally_.add(finding);
        by_state_[state].add(finding);
        if (finding.differs())
            report(target_, options_, name, what, finding);
        else if (finding.kind == Finding::Kind::Useless)
            std::fprintf(wye::tool::output(), "USELESS %s: %s\n", name.c_str(),
                         finding.text.c_str());
        if (tally_.stays_busy())
            std::fprintf(wye::tool::output(), "STOPPED after %s: %s stays busy\n", name.c_str(),
                         target_.selector().c_str());
    }
    [[nodiscard]] const Tally& tally() const { return tally_; }
    // Prints a table of the caller's states in which programs ran.
    void print_states() const {
        for (const auto& [state, tally] : by_state_)
            std::fprintf(wye::tool::output(), "  %s: %llu of %llu equal\n",
                         support::caller_states()[state].name,
                         static_cast<unsigned long long>(tally.equal),
                         static_cast<unsigned long long>(tally.programs()));
    }

  private:
    // The state depends only on the case's name, so that a case that runs alone has the same state.
    [[nodiscard]] static std::size_t state_of(const std::string& name) {
        std::uint32_t hash = 2166136261U;  // FNV-1a
        for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
        return hash % support::caller_states().size();
    }

    Target& target_;
    const Options& options_;
    Tally tally_;
    std::map<std::size_t, Tally> by_state_;
    wye::tool::Progress progress_;
    std::uint64_t judged_ = 0;
};

// A file to replay.
struct Text {
    std::string path;
    std::string content;
};

// Reads files and the files in folders, sorted by name. Each is read only once, since a pipe cannot
// be read again.
wye::Result<std::vector<Text>> read_files(const std::vector<std::string>& paths) {
    std::map<std::string, wye::tool::Kind> found;
    for (const std::string& path : paths) {
        std::error_code error;
        if (!fs::is_directory(path, error)) {
            found[path] = wye::tool::Kind::Any;
            continue;
        }
        for (const auto& entry : fs::directory_iterator(path, error))
            if (entry.path().extension() == ".wye")
                found.emplace(entry.path().string(), wye::tool::Kind::Regular);
    }
    std::vector<Text> out;
    for (const auto& [path, kind] : found) {
        WYE_ASSIGN(const auto bytes, wye::tool::read_file(path, "case", UINT64_MAX, kind));
        out.push_back({path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}});
    }
    return out;
}

bool replay(Session& session, const std::vector<Text>& files) {
    for (const Text& file : files) {
        const auto what = support::read_case(file.content);
        if (!what.ok()) {
            std::fprintf(stderr, "wye fuzz: error: %s: %s\n", one_line(file.path).c_str(),
                         what.error().text().c_str());
            return false;
        }
        session.check(one_line(fs::path(file.path).stem().string()), *what, support::kChanged);
    }
    return true;
}

bool all_seeds(Session& session, Target& target, const Options& options) {
    for (const std::uint64_t seed : options.seeds) {
        const auto what = target.random(seed, options.traps);
        if (!what.ok()) {
            std::fprintf(stderr, "wye fuzz: error: %s\n", what.error().text().c_str());
            return false;
        }
        session.check((options.traps ? "traps-" : "seed-") + std::to_string(seed), *what,
                      support::kTrusted);
    }
    return true;
}

int run(const Options& options) {
    const auto files = read_files(options.replay);
    if (!files.ok()) {
        std::fprintf(stderr, "wye fuzz: error: %s\n", files.error().text().c_str());
        return kUsageError;
    }
    const auto selectors = options.devices.empty() ? usable_devices() : options.devices;
    std::uint64_t equal = 0;
    std::uint64_t others = 0;
    bool all_equal = true;
    for (const std::string& selector : selectors) {
        TargetOptions how;
        how.timeout_ns = static_cast<std::uint64_t>(options.timeout * 1e9);
        how.config = options.config;
        auto target = Target::open(selector, std::move(how));
        if (!target.ok()) {
            std::fprintf(stderr, "wye fuzz: error: %s\n", target.error().text().c_str());
            return kNoDevice;
        }
        const auto start = std::chrono::steady_clock::now();
        std::optional<Session> judging(std::in_place, *target, options, files->size());
        Session& session = *judging;
        if (!replay(session, *files)) return kUsageError;
        if (options.replay.empty() && !all_seeds(session, *target, options)) return kNoDevice;
        target->close();
        const Tally tally = session.tally();
        std::fprintf(wye::tool::output(), "%s: %s\n", target->selector().c_str(),
                     tally.line(seconds_since(start)).c_str());
        if (options.any_state) session.print_states();
        judging.reset();
        equal += tally.equal;
        others += tally.programs() - tally.equal;
        all_equal = all_equal && tally.all_equal();
    }
    if (selectors.empty()) {
        std::fputs("wye fuzz: error: there is no usable device\nFix: see `wye info`\n", stderr);
        return kNoDevice;
    }
    std::fprintf(wye::tool::output(), "%llu equal, %llu different\n",
                 static_cast<unsigned long long>(equal), static_cast<unsigned long long>(others));
    return all_equal ? kEqual : kDiffers;
}

}  // namespace

int main(int argc, char** argv) {
    wye::sdk::open_standard_files();
    Options options;
    if (const std::string wrong = read_options(argc, argv, options); !wrong.empty()) {
        std::fprintf(stderr, "wye fuzz: error: %s\n", wrong.c_str());
        return kUsageError;
    }
    if (!options.help.empty()) {
        std::fputs(options.help.c_str(), wye::tool::output());
        return kEqual;
    }
    wye::tool::keep_output();
    // Line-buffered, so that the output of a long run can be watched.
    std::setvbuf(wye::tool::output(), nullptr, _IOLBF, 1 << 16);
    return run(options);
}
