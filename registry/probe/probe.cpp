// SPDX-License-Identifier: Apache-2.0
#include "registry/probe/probe.hpp"

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "child.hpp"
#include "conditions.hpp"
#include "registry/json.hpp"
#include "registry/open/layers.hpp"
#include "registry/open/plugin_text.hpp"
#include "registry/probe/opening_mark.hpp"
#include "surroundings.hpp"
#include "wye/sdk/kept_text.hpp"
#include "wye/sdk/words.hpp"

namespace wye::registry {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTrustKind = "plugin-trust";
constexpr std::size_t kPrintedShown = 300;  // the last bytes that a plugin printed
constexpr int kChangedFile = 97;            // the helper's status if the plugin's file was replaced
constexpr int kLostPipe = 99;               // the helper's status if it cannot write its message
constexpr std::uint32_t kMostDeaths = 3;    // deaths in a row after which a plugin is refused

// The time of CLOCK_MONOTONIC, which the helper reads too.
std::int64_t steady_now_ns() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string end_of(const std::string& printed) {
    const std::size_t from = printed.size() > kPrintedShown ? printed.size() - kPrintedShown : 0;
    std::string out = one_line(printed.substr(from));
    while (out.ends_with("\\n")) out.resize(out.size() - 2);
    return out;
}

std::string signal_name(int number) {
    const char* const name = ::sigabbrev_np(number);
    return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

Verdict judge(const ChildResult& result, std::string_view plugin, const ProbeOptions& options) {
    Verdict out;
    out.made_unix_ns = unix_now_ns();
    out.took_ns = result.took_ns;
    auto message = parse_probe_message(result.message, plugin);
    if (message.ok()) out.message = std::move(*message);
    const bool exited = result.status && WIFEXITED(*result.status);
    if (result.oversized) {
        out.end = ProbeEnd::oversized;
        out.how = fmt::format("{} MiB", kMostMessageBytes >> 20U);
    } else if (result.flooded) {
        out.end = ProbeEnd::flooded;
        out.how = fmt::format("{} MiB", kMostPrinted >> 20U);
    } else if (result.overgrown) {
        out.end = ProbeEnd::out_of_memory;
        out.how = fmt::format("{} MiB", options.memory_limit() >> 20U);
    } else if (result.timed_out) {
        out.end = ProbeEnd::timed_out;
        out.how = fmt::format("{} ms", options.limit.count());
    } else if (!message.ok() || (exited && WEXITSTATUS(*result.status) == kLostPipe)) {
        out.end = ProbeEnd::garbled;
        if (!message.ok()) out.message.slot = slot_before_fault(result.message, plugin);
    } else if (out.message.done) {
        out.end = out.message.ready ? ProbeEnd::good : ProbeEnd::refused;
        return out;
    } else if (exited) {
        out.end = ProbeEnd::exited;
        out.how = fmt::format("status {}", WEXITSTATUS(*result.status));
    } else {
        out.end = ProbeEnd::crashed;
        out.how = result.status ? signal_name(WTERMSIG(*result.status)) : "its status is unknown";
    }
    out.slot = out.message.slot;
    out.output = end_of(result.printed);
    return out;
}

Record died_inside(const Candidate& candidate, std::uint32_t times) {
    return record_about(
        candidate, Stage::probed, Severity::refused, Code::PROBE_CRASHED,
        fmt::format("this program ended {} times in a row while it opened the plugin, "
                    "although the plugin's probe was good",
                    times),
        fmt::format("Fix: update the plugin or its driver, or see which other library of "
                    "this program conflicts with it; to open it again, run `wye plugins "
                    "forget {}` or wait an hour",
                    candidate.id));
}

Record not_kept(const Candidate& candidate, const Error& why) {
    return record_about(
        candidate, Stage::probed, Severity::note, why.code,
        fmt::format("each process probes the plugin again, since the verdict cannot be "
                    "kept: {}",
                    why.message),
        why.fix.empty() ? "Fix: name a folder with WYE_CACHE_DIR" : why.fix);
}

}  // namespace

std::uint64_t default_probe_memory() noexcept {
    constexpr std::uint64_t kMost = std::uint64_t{4} << 30U;
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long page = ::sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return kMost;
    return std::min(kMost,
                    static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 2);
}

std::string_view probe_state_name(ProbeState state) noexcept {
    constexpr std::string_view kNames[] = {"none", "off", "trusted", "remembered", "child"};
    return sdk::name_in(kNames, state);
}

std::optional<ProbeMode> probe_mode_of(std::string_view name) noexcept {
    if (name == "off") return ProbeMode::off;
    if (name == "inline") return ProbeMode::inside;
    if (name == "child") return ProbeMode::child;
    if (name == "auto") return ProbeMode::automatic;
    return std::nullopt;
}

Prober::Prober(ProbeOptions options, std::shared_ptr<const HostServices> host)
    : options_(std::move(options)), host_(std::move(host)), leaving_(std::make_unique<Leaving>()) {}
Prober::Prober(Prober&&) noexcept = default;
Prober::~Prober() = default;

std::string Prober::folder() const { return value_at(host_->config(), "cache_folder"); }

bool Prober::trusted(const Candidate& candidate) const {
    if (folder().empty()) return false;
    const std::string key = key_of(candidate);
    const auto text = sdk::read_kept(folder(), kTrustKind, key);
    return text && *text == hash_of_file(candidate.library);
}

Result<void> Prober::trust(const Candidate& candidate) const {
    if (folder().empty())
        return Error(Code::IO, "there is no cache folder to keep it in",
                     "Fix: name one with WYE_CACHE_DIR", candidate.id);
    const std::string hash = hash_of_file(candidate.library);
    if (hash.empty())
        return Error(Code::IO, fmt::format("cannot read `{}`", candidate.library.string()),
                     "Fix: make it readable", candidate.library.string());
    return sdk::keep_text(folder(), kTrustKind, key_of(candidate), hash);
}

void Prober::drop_verdicts(const Candidate& candidate) const noexcept try {
    forget_verdicts(folder(), candidate);
} catch (const std::exception&) {  // no memory
}

OpeningMark Prober::mark(const Probed& probed) const {
    return probed.conditions.empty() ? OpeningMark() : OpeningMark(folder(), probed.conditions);
}

void Prober::forget(const Candidate& candidate) const noexcept try {
    drop_verdicts(candidate);
    if (folder().empty()) return;
    OpeningMark::forget(folder());
    sdk::drop_kept_of(folder(), kTrustKind, key_of(candidate));
} catch (const std::exception&) {  // no memory
}

std::optional<Verdict> Prober::recall(const Candidate& candidate) const {
    if (!folder().empty() && trusted(candidate)) {
        Verdict out;
        out.trusted = out.remembered = true;
        return out;
    }
    auto kept = Conditions(candidate, host_->config(), surroundings()).kept(folder(), candidate);
    if (!kept) return std::nullopt;
    return std::move(kept->verdict);
}

// Makes the request that lets the helper open the plugin as this process would.
std::string Prober::request(const Candidate& candidate) const {
    Json config = Json::object();
    for (const auto& [key, value] : host_->config())
        if (!key.starts_with("env.") && !key.starts_with("probe.") && !key.starts_with("trace.") &&
            key != kLayersKey && !key.starts_with("layer."))
            config[key] = exact(value);
    Json out;
    out["id"] = candidate.id;
    out["library"] = exact(candidate.library.string());
    if (candidate.file.kind == FileStatus::Kind::file) out["status"] = status_text(candidate.file);
    out["manifest"] = exact(candidate.manifest_file.string());
    out["seconds"] = 1 + options_.limit.count() / 1000;
    out["memory"] = options_.memory_limit();
    out["begun_ns"] = steady_now_ns();
    out["config"] = std::move(config);
    return out.dump(-1);
}

fs::path Prober::helper() const {
    if (!options_.helper.empty()) return options_.helper;
    const auto found = std::ranges::find_if(
        options_.helpers, [](const fs::path& one) { return ::access(one.c_str(), X_OK) == 0; });
    return found == options_.helpers.end() ? fs::path() : *found;
}

std::vector<Probed> Prober::probe(std::span<const Candidate* const> candidates) const {
    struct Job {
        std::size_t at;
        Conditions conditions;
        std::uint32_t before;  // preceding harmful probes, in a row
        bool trusted;
        PluginFile file;
    };
    std::vector<Probed> out(candidates.size());
    std::vector<Job> jobs;
    std::vector<ChildTask> tasks;
    const bool keeps = !folder().empty();
    std::optional<fs::path> helper;
    const std::string around = candidates.empty() || !on() ? std::string() : surroundings();
    for (std::size_t i = 0; i < candidates.size() && on(); ++i) {
        const Candidate& candidate = *candidates[i];
        const bool is_trusted = keeps && trusted(candidate);
        out[i].state = is_trusted ? ProbeState::trusted : ProbeState::off;
        if (is_trusted && !options_.describe) continue;
        Conditions conditions(candidate, host_->config(), around);
        auto kept = conditions.kept(folder(), candidate);
        if (kept && options_.mode == ProbeMode::child && !harmful(kept->verdict.end)) kept.reset();
        const bool bad = kept && harmful(kept->verdict.end);
        const std::uint32_t before = bad ? kept->verdict.times : 0;
        OpeningMark::Deaths deaths;
        if (!options_.describe) deaths = OpeningMark::deaths(folder(), conditions.key());
        if (deaths.in_row >= kMostDeaths && !is_trusted) {
            out[i].records.push_back(died_inside(candidate, deaths.in_row));
            continue;
        }
        const bool again = (bad && !quarantined(kept->verdict)) || deaths.fresh != 0 ||
                           (bad && kept->verdict.end == ProbeEnd::out_of_memory &&
                            kept->memory < options_.memory_limit());
        if (kept && options_.mode != ProbeMode::child && !again) {
            out[i].verdict = std::move(kept->verdict);
            out[i].verdict->trusted = is_trusted;
            out[i].state = ProbeState::remembered;
            out[i].conditions = conditions.key();
            continue;
        }
        if (options_.mode == ProbeMode::inside) continue;
        if (!helper) helper = this->helper();
        if (helper->empty()) {
            const bool refuse = options_.mode == ProbeMode::child;
            out[i].records.push_back(record_about(
                candidate, Stage::probed, refuse ? Severity::refused : Severity::note,
                Code::MISSING_DEPENDENCY,
                "the helper `wye-probe` is missing, so the plugin was not probed",
                "Fix: install the helper, or set WYE_PROBE=inline to open plugins unprobed"));
        } else {
            if (!keeps && options_.mode == ProbeMode::automatic && !options_.describe)
                out[i].records.push_back(record_about(
                    candidate, Stage::probed, Severity::note, Code::DISABLED,
                    "each process probes the plugin again, since there is no cache folder to "
                    "remember it in",
                    "Fix: none needed; or name a folder with WYE_CACHE_DIR"));
            tasks.push_back(
                {helper->string(), request(candidate), options_.limit, options_.memory_limit()});
            jobs.push_back({i,
                            std::move(conditions),
                            before,
                            is_trusted,
                            {stamp_of(candidate.library.string()), {}}});
        }
    }
    leaving_->collect();
    const auto started = [&] {
        for (Job& job : jobs) job.file.hash = hash_of_file(candidates[job.at]->library);
    };
    run_children(tasks, *leaving_, started, [&](std::size_t i, ChildResult result) {
        const Job& job = jobs[i];
        const Candidate& candidate = *candidates[job.at];
        Probed& probed = out[job.at];
        if (result.status && WIFEXITED(*result.status) &&
            WEXITSTATUS(*result.status) == kChangedFile) {
            probed.records.push_back(
                record_about(candidate, Stage::probed, Severity::refused, Code::NOT_TRUSTED,
                             "the plugin's file was replaced or changed before it was probed",
                             "Fix: create a new context, which looks for plugins again"));
            return;
        }
        Verdict verdict = judge(result, candidate.id, options_);
        // These are not the plugin's fault: the helper did not start, or is of another version.
        if (result.start_error != 0 ||
            (verdict.end == ProbeEnd::garbled && !is_probe_message(result.message))) {
            const std::string why = result.start_error != 0 ? std::strerror(result.start_error)
                                                            : "it gave no valid result";
            const auto low = low_limit();
            probed.records.push_back(record_about(
                candidate, Stage::probed, Severity::refused, Code::MISSING_DEPENDENCY,
                fmt::format("the helper `{}` failed, so the plugin was not probed: {}{}",
                            helper->string(), why, low ? ", with " + low->text : ""),
                fmt::format("Fix: {}, or set WYE_PROBE=inline to open plugins unprobed",
                            low ? low->fix : "reinstall Wye")));
            probed.records.back().loader_text = end_of(result.printed);
            return;
        }
        if (harmful(verdict.end)) verdict.times = job.before + 1;
        const auto kept = job.conditions.keep(folder(), job.file, verdict, result.message,
                                              options_.memory_limit());
        if (!kept.ok() && options_.mode == ProbeMode::automatic && !options_.describe)
            probed.records.push_back(not_kept(candidate, kept.error()));
        probed.conditions = job.conditions.key();
        verdict.trusted = job.trusted;
        probed.state = ProbeState::child;
        probed.verdict = std::move(verdict);
    });
    return out;
}

}  // namespace wye::registry
