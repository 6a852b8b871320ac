// SPDX-License-Identifier: Apache-2.0
#include "conditions.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include "wye/sdk/kept_text.hpp"
#include "wye/sdk/lasting.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/words.hpp"

namespace wye::registry {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVerdictKind = "plugin-probe";
constexpr std::size_t kFolderFiles = 256;  // per watched folder
constexpr std::size_t kMostStamps = 1024;  // per verdict
constexpr std::size_t kMostVerdicts = 64;  // in a folder, or in memory

std::string hex(XXH128_hash_t hash) {
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// Verdicts that could not be kept in a folder, by folder and key. Global, since a driver that does
// harm harms the whole process.
class ProcessVerdicts {
  public:
    [[nodiscard]] static ProcessVerdicts& of_process() {
        static const sdk::Lasting<ProcessVerdicts> memory([] { return ProcessVerdicts(); });
        return *memory;
    }
    [[nodiscard]] std::optional<std::string> read(const std::string& key) {
        const sdk::Lock lock(mutex_);
        const auto found = texts_.find(key);
        return found == texts_.end() ? std::nullopt : std::optional(found->second);
    }
    void keep(const std::string& key, std::string text) {
        const sdk::Lock lock(mutex_);
        if (texts_.size() >= kMostVerdicts && !texts_.contains(key)) texts_.erase(texts_.begin());
        texts_.insert_or_assign(key, std::move(text));
    }
    void drop_of(const std::string& begin) {
        const sdk::Lock lock(mutex_);
        std::erase_if(texts_, [&](const auto& one) { return one.first.starts_with(begin); });
    }

  private:
    sdk::Mutex mutex_;
    std::map<std::string, std::string> texts_ WYE_GUARDED_BY(mutex_);
};

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

bool holds(const KeptVerdict& kept, const Candidate& candidate) {
    const std::string path = candidate.library.string();
    if (kept.plugin != stamp_of(path) &&
        (kept.plugin.path != path || kept.hash != hash_of_file(path)))
        return false;
    return std::ranges::all_of(kept.files,
                               [](const FileStamp& file) { return file == stamp_of(file.path); });
}

// Removes the oldest verdicts of a folder beyond the limit.
void evict(const std::string& folder) {
    std::vector<std::pair<std::int64_t, std::string>> files;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (name.starts_with(kVerdictKind) && sdk::is_kept_name(name))
            files.emplace_back(stamp_of(at->path().string()).time_ns, at->path().string());
    }
    if (files.size() <= kMostVerdicts) return;
    std::ranges::sort(files);
    for (std::size_t i = 0; i < files.size() - kMostVerdicts; ++i)
        ::unlink(files[i].second.c_str());
}

}  // namespace

std::string value_at(const Config& config, const std::string& key) {
    const auto found = config.find(key);
    return found == config.end() ? std::string() : found->second;
}

std::int64_t unix_now_ns() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

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

Conditions::Conditions(const Candidate& candidate, const Config& config, std::string_view around) {
    std::string values(around);
    const auto add = [&](const auto& entry) {
        values += fmt::format("{}={}\n", entry.first, entry.second);
    };
    const std::string own = candidate.id + ".";
    for (auto at = config.lower_bound(own); at != config.end() && at->first.starts_with(own); ++at)
        add(*at);
    for (const char* name : {"env.LD_LIBRARY_PATH", "env.LD_PRELOAD"})
        if (const auto at = config.find(name); at != config.end()) add(*at);
    add_path("/etc/ld.so.cache", paths_);
    if (candidate.manifest)
        for (const Watch& watch : candidate.manifest->watches) {
            if (!watch.path.empty()) {
                const bool home = watch.path.starts_with("~/");
                add_path(home ? value_at(config, "env.HOME") + watch.path.substr(1) : watch.path,
                         paths_);
            }
            if (!watch.variable.empty()) add_variables(watch.variable, config, add);
            if (!watch.value_of.empty()) each_variable(watch.value_of, config, add);
        }
    key_ = key_of(candidate) + hex(XXH3_128bits(values.data(), values.size()));
}

// Calls visit(entry) for each environment variable with this name, or with this prefix (`VK_*`).
template <typename Visit>
void Conditions::each_variable(std::string_view name, const Config& config, Visit&& visit) {
    const bool many = name.ends_with('*');
    const std::string begin = "env." + std::string(name.substr(0, name.size() - (many ? 1 : 0)));
    for (auto at = config.lower_bound(begin); at != config.end() && at->first.starts_with(begin);
         ++at)
        if (many || at->first == begin) visit(*at);
}

// As `each_variable`, but also watches the paths in a value, which are separated by colons.
template <typename Add>
void Conditions::add_variables(std::string_view name, const Config& config, Add&& add) {
    each_variable(name, config, [&](const auto& entry) {
        add(entry);
        for (const std::string_view part : sdk::split(entry.second, ":"))
            if (part.starts_with('/')) add_path(std::string(part), paths_);
    });
}

std::optional<KeptVerdict> Conditions::kept(const std::string& folder,
                                            const Candidate& candidate) const {
    auto text = folder.empty() ? std::nullopt : sdk::read_kept(folder, kVerdictKind, key_);
    if (!text) text = ProcessVerdicts::of_process().read(folder + "\n" + key_);
    auto out = text ? parse_kept_verdict(*text, candidate.id) : std::nullopt;
    return out && holds(*out, candidate) ? std::move(out) : std::nullopt;
}

Result<void> Conditions::keep(const std::string& folder, const PluginFile& file,
                              const Verdict& verdict, const std::string& message,
                              std::uint64_t memory) const {
    KeptVerdict out;
    out.memory = memory;
    out.verdict = verdict;
    out.plugin = file.stamp;
    out.hash = file.hash;
    for (const auto* list : {&paths_, &verdict.message.libraries})
        for (const std::string& path : *list)
            if (path.starts_with('/') && out.files.size() < kMostStamps)
                out.files.push_back(stamp_of(path));
    if (!is_cut(verdict.end)) out.message = without_progress(message);
    std::string text = to_text(out);
    if (folder.empty()) {
        ProcessVerdicts::of_process().keep(folder + "\n" + key_, std::move(text));
        return {};
    }
    auto kept = sdk::keep_text(folder, kVerdictKind, key_, text);
    if (kept.ok())
        evict(folder);
    else
        ProcessVerdicts::of_process().keep(folder + "\n" + key_, std::move(text));
    return kept;
}

void forget_verdicts(const std::string& folder, const Candidate& candidate) noexcept try {
    const std::string begin = key_of(candidate);
    ProcessVerdicts::of_process().drop_of(folder + "\n" + begin);
    if (!folder.empty()) sdk::drop_kept_of(folder, kVerdictKind, begin);
} catch (const std::exception&) {  // no memory: the verdicts stay
}

}  // namespace wye::registry
