// SPDX-License-Identifier: Apache-2.0
#include "registry/probe.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

#include "child.hpp"
#include "registry/json.hpp"
#include "registry/layers.hpp"
#include "registry/plugin_text.hpp"
#include "wye/sdk/kept_text.hpp"

namespace wye::registry {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKind = "plugin-probe";
constexpr std::string_view kTrustKind = "plugin-trust";
constexpr std::size_t kFolderFiles = 256;   // per watched folder
constexpr std::size_t kMostStamps = 1024;   // per verdict
constexpr std::size_t kPrintedShown = 300;  // the last bytes that a plugin printed
constexpr int kLostPipe = 99;               // the helper's status if it cannot write its message

std::int64_t unix_now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string hex(XXH128_hash_t hash) {
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// The hash of a file's content; empty if the file cannot be read.
std::string hash_of_file(const fs::path& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                               &std::fclose);
    if (!file) return {};
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    std::array<char, 65536> chunk;
    while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get()))
        XXH3_128bits_update(&state, chunk.data(), got);
    return std::ferror(file.get()) != 0 ? std::string() : hex(XXH3_128bits_digest(&state));
}

std::string key_of(const Candidate& candidate) {
    return fmt::format("{}\n{}\n", candidate.id, candidate.library.string());
}

// The time of CLOCK_MONOTONIC, which the helper reads too.
std::int64_t steady_now_ns() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string value_at(const Config& config, const std::string& key) {
    const auto found = config.find(key);
    return found == config.end() ? std::string() : found->second;
}
std::string variable_at(const Config& config, const std::string& name) {
    return value_at(config, "env." + name);
}

// Adds a file, or a folder and the files in it.
void add_path(const std::string& path, std::vector<std::string>& out) {
    out.push_back(path);
    std::error_code error;
    std::vector<std::string> inside;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
        inside.push_back(at->path().string());
        if (inside.size() >= kFolderFiles) break;
    }
    std::ranges::sort(inside);
    out.insert(out.end(), inside.begin(), inside.end());
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
    if (result.flooded) {
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

Record note(const Candidate& candidate, Severity severity, Code code, std::string message,
            std::string fix) {
    Record out;
    out.stage = Stage::probed;
    out.severity = severity;
    out.code = code;
    out.message = std::move(message);
    out.fix = std::move(fix);
    out.path = candidate.library.string();
    out.plugin = candidate.id;
    return out;
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
    switch (state) {
        case ProbeState::none:
            return "none";
        case ProbeState::off:
            return "off";
        case ProbeState::trusted:
            return "trusted";
        case ProbeState::remembered:
            return "remembered";
        case ProbeState::child:
            return "child";
    }
    return "unknown";
}

std::optional<ProbeMode> probe_mode_of(std::string_view name) noexcept {
    if (name == "off") return ProbeMode::off;
    if (name == "inline") return ProbeMode::inside;
    if (name == "child") return ProbeMode::child;
    if (name == "auto") return ProbeMode::automatic;
    return std::nullopt;
}

// A plugin's file as it was when its probe began.
struct PluginFile {
    FileStamp stamp;
    std::string hash;
};

// What a plugin's verdict depends on, besides the plugin itself.
struct Prober::Conditions {
    std::string key;                 // identifies the kept verdict
    std::vector<std::string> paths;  // must be unchanged, in addition to the loaded libraries

    Conditions(const Candidate& candidate, const Config& config) {
        std::string values;
        const auto add = [&](const auto& entry) {
            values += fmt::format("{}={}\n", entry.first, entry.second);
        };
        const std::string own = candidate.id + ".";
        for (auto at = config.lower_bound(own); at != config.end() && at->first.starts_with(own);
             ++at)
            add(*at);
        for (const char* name : {"env.LD_LIBRARY_PATH", "env.LD_PRELOAD", "probe.memory_bytes"})
            if (const auto at = config.find(name); at != config.end()) add(*at);
        add_path("/etc/ld.so.cache", paths);
        if (candidate.manifest)
            for (const Watch& watch : candidate.manifest->watches) {
                if (!watch.path.empty()) {
                    const bool home = watch.path.starts_with("~/");
                    add_path(home ? variable_at(config, "HOME") + watch.path.substr(1) : watch.path,
                             paths);
                }
                if (!watch.variable.empty()) add_variables(watch.variable, config, add);
                if (!watch.value_of.empty()) each_variable(watch.value_of, config, add);
            }
        key = fmt::format("{}\n{}\n{}", candidate.id, candidate.library.string(),
                          hex(XXH3_128bits(values.data(), values.size())));
    }

    // Calls visit(entry) for each environment variable with this name, or with this prefix
    // (`VK_*`).
    template <typename Visit>
    static void each_variable(std::string_view name, const Config& config, Visit&& visit) {
        const bool many = name.ends_with('*');
        const std::string begin =
            "env." + std::string(name.substr(0, name.size() - (many ? 1 : 0)));
        for (auto at = config.lower_bound(begin);
             at != config.end() && at->first.starts_with(begin); ++at)
            if (many || at->first == begin) visit(*at);
    }

    // Paths in a value, separated by colons, are watched too.
    template <typename Add>
    void add_variables(std::string_view name, const Config& config, Add&& add) {
        each_variable(name, config, [&](const auto& entry) {
            add(entry);
            std::string_view rest = entry.second;
            while (!rest.empty()) {
                const std::size_t end = std::min(rest.find(':'), rest.size());
                if (rest.front() == '/') add_path(std::string(rest.substr(0, end)), paths);
                rest.remove_prefix(std::min(end + 1, rest.size()));
            }
        });
    }

    [[nodiscard]] std::optional<KeptVerdict> kept(const std::string& folder,
                                                  const Candidate& candidate) const {
        if (folder.empty()) return std::nullopt;
        const auto text = sdk::read_kept(folder, kKind, key);
        return text ? parse_kept_verdict(*text, candidate.id) : std::nullopt;
    }

    // Whether plugin and driver are unchanged. A plugin file that was replaced by a copy with equal
    // content counts as unchanged.
    static bool holds(const KeptVerdict& kept, const Candidate& candidate) {
        const std::string path = candidate.library.string();
        if (kept.plugin != stamp_of(path) &&
            (kept.plugin.path != path || kept.hash != hash_of_file(path)))
            return false;
        return std::ranges::all_of(
            kept.files, [](const FileStamp& file) { return file == stamp_of(file.path); });
    }

    void keep(const std::string& folder, const PluginFile& file, const Verdict& verdict,
              const std::string& message) const {
        if (folder.empty()) return;
        KeptVerdict out;
        out.verdict = verdict;
        out.plugin = file.stamp;
        out.hash = file.hash;
        for (const auto* list : {&paths, &verdict.message.libraries})
            for (const std::string& path : *list)
                if (path.starts_with('/') && out.files.size() < kMostStamps)
                    out.files.push_back(stamp_of(path));
        if (verdict.end != ProbeEnd::flooded && verdict.end != ProbeEnd::garbled)
            out.message = without_progress(message);
        // If the verdict cannot be kept, the next process probes again.
        (void)sdk::keep_text(folder, kKind, key, to_text(out));
    }
};

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

void Prober::forget(const Candidate& candidate) const noexcept try {
    if (folder().empty()) return;
    for (const std::string_view kind : {kKind, kTrustKind})
        sdk::drop_kept_of(folder(), kind, key_of(candidate));
} catch (const std::exception&) {  // no memory
}

std::optional<Verdict> Prober::recall(const Candidate& candidate) const {
    if (!folder().empty() && trusted(candidate)) {
        Verdict out;
        out.trusted = out.remembered = true;
        return out;
    }
    auto kept = Conditions(candidate, host_->config()).kept(folder(), candidate);
    if (!kept || !Conditions::holds(*kept, candidate)) return std::nullopt;
    return std::move(kept->verdict);
}

// The request that makes the helper open the plugin as this process would.
std::string Prober::request(const Candidate& candidate) const {
    Json config = Json::object();
    for (const auto& [key, value] : host_->config())
        if (!key.starts_with("env.") && !key.starts_with("probe.") && !key.starts_with("trace.") &&
            key != kLayersKey && !key.starts_with("layer."))
            config[key] = value;
    Json out;
    out["id"] = candidate.id;
    out["library"] = candidate.library.string();
    out["manifest"] = candidate.manifest_file.string();
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
    for (std::size_t i = 0; i < candidates.size() && on(); ++i) {
        const Candidate& candidate = *candidates[i];
        const bool is_trusted = keeps && trusted(candidate);
        out[i].state = is_trusted ? ProbeState::trusted : ProbeState::off;
        if (is_trusted && !options_.describe) continue;
        Conditions conditions(candidate, host_->config());
        auto kept = conditions.kept(folder(), candidate);
        const bool used = kept && (options_.mode != ProbeMode::child || harmful(kept->verdict.end));
        if (!used || !Conditions::holds(*kept, candidate)) kept.reset();
        const bool bad = kept && harmful(kept->verdict.end);
        const std::uint32_t before = bad ? kept->verdict.times : 0;
        const bool again = bad && !quarantined(kept->verdict);
        if (kept && options_.mode != ProbeMode::child && !again) {
            out[i].verdict = std::move(kept->verdict);
            out[i].verdict->trusted = is_trusted;
            out[i].state = ProbeState::remembered;
            continue;
        }
        if (options_.mode == ProbeMode::inside) continue;
        if (!helper) helper = this->helper();
        if (helper->empty()) {
            const bool refuse = options_.mode == ProbeMode::child;
            out[i].records.push_back(note(
                candidate, refuse ? Severity::refused : Severity::note, Code::MISSING_DEPENDENCY,
                "the helper `wye-probe` is missing, so the plugin was "
                "not probed",
                "Fix: install the helper, or set WYE_PROBE=inline to open plugins unprobed"));
        } else if (!keeps && options_.mode == ProbeMode::automatic && !options_.describe) {
            out[i].records.push_back(
                note(candidate, Severity::note, Code::DISABLED,
                     "the plugin was not probed, since there is no cache folder to remember it in",
                     "Fix: none needed; or name a folder with WYE_CACHE_DIR"));
        } else {
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
        for (Job& job : jobs)
            if (keeps) job.file.hash = hash_of_file(candidates[job.at]->library);
    };
    run_children(tasks, *leaving_, started, [&](std::size_t i, ChildResult result) {
        const Job& job = jobs[i];
        const Candidate& candidate = *candidates[job.at];
        Probed& probed = out[job.at];
        Verdict verdict = judge(result, candidate.id, options_);
        // These are not the plugin's fault: the helper did not start, or is of another version.
        if (result.start_error != 0 ||
            (verdict.end == ProbeEnd::garbled && !is_probe_message(result.message))) {
            const std::string why = result.start_error != 0 ? std::strerror(result.start_error)
                                                            : "it gave no valid result";
            const bool refuse = options_.mode == ProbeMode::child;
            probed.records.push_back(note(
                candidate, refuse ? Severity::refused : Severity::warning, Code::MISSING_DEPENDENCY,
                fmt::format("the helper `{}` failed, so the plugin was not probed: {}",
                            helper->string(), why),
                "Fix: reinstall Wye, or set WYE_PROBE=inline to open plugins unprobed"));
            probed.records.back().loader_text = end_of(result.printed);
            return;
        }
        if (harmful(verdict.end)) verdict.times = job.before + 1;
        job.conditions.keep(folder(), job.file, verdict, result.message);
        verdict.trusted = job.trusted;
        probed.state = ProbeState::child;
        probed.verdict = std::move(verdict);
    });
    return out;
}

}  // namespace wye::registry
