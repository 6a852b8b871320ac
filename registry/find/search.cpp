// SPDX-License-Identifier: Apache-2.0
#include "registry/find/search.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "registry/abi_versions.hpp"
#include "wye/abi.h"
#include "wye/sdk/words.hpp"

namespace wye::registry {
namespace {

namespace fs = std::filesystem;
using FileKey = std::pair<std::uint64_t, std::uint64_t>;  // device, inode

// Calls visit(part) for each part of a list, empty ones included.
template <typename Visit>
void each_part(const std::string& list, char separator, Visit&& visit) {
    std::size_t start = 0;
    while (start <= list.size()) {
        const std::size_t end = std::min(list.find(separator, start), list.size());
        visit(list.substr(start, end - start));
        start = end + 1;
    }
}

class Search {
  public:
    Search(const SearchInput& input, const FileSystem& files)
        : input_(input), files_(files), trust_(files, input.trusted) {}

    SearchResult run() {
        const bool host_known = input_.host_folder.is_absolute();
        if (input_.elevated)
            say_what_is_ignored();
        else if (host_known)
            trust_.add_owners(input_.host_folder);
        read_disabled();
        for (const fs::path& path : input_.application) visit_application(path);
        visit_variable("WYE_PLUGIN_PATH_ADD");
        if (!visit_variable("WYE_PLUGIN_PATH")) {
            visit_user_folder();
            visit_folder(input_.system_folder, Source::system);
            if (host_known) {
                visit_folder(input_.host_folder, Source::beside_host);
                visit_folder(input_.host_folder / "wye" / "plugins", Source::beside_host);
            } else if (!input_.host_folder.empty()) {
                record(Stage::found, Severity::note, Code::NOT_TRUSTED, input_.host_folder,
                       fmt::format("the folder of the host library is not searched: the library "
                                   "was loaded by the relative path `{}`",
                                   input_.host_folder.string()),
                       "Fix: load the library by its full path, or by its name alone");
            }
            if (result_.candidates.empty() && result_.layers.empty() && result_.records.empty())
                report_none();
        }
        report_unknown_disabled();
        if (left_out_ != 0) result_.records.push_back(records_left_out());
        return std::move(result_);
    }

  private:
    // One part of WYE_PLUGINS_DISABLE: an id, or a shell pattern (`open*`).
    struct Disable {
        std::string pattern;
        bool used = false;  // whether it matched a plugin's id

        [[nodiscard]] bool stands_for(const std::string& id) const {
            return ::fnmatch(pattern.c_str(), id.c_str(), 0) == 0;
        }
    };

    void record(Stage stage, Severity severity, Code code, const fs::path& path,
                std::string message, std::string fix, std::string plugin = {}) {
        if (result_.records.size() + 1 >= kMostRecords) {
            ++left_out_;
            return;
        }
        result_.records.push_back({.stage = stage,
                                   .severity = severity,
                                   .code = code,
                                   .message = std::move(message),
                                   .fix = std::move(fix),
                                   .path = path.string(),
                                   .plugin = std::move(plugin)});
    }

    [[nodiscard]] Record records_left_out() const {
        return {.severity = Severity::warning,
                .code = Code::LIMIT_EXCEEDED,
                .message = fmt::format("{} more files or entries were passed over", left_out_),
                .fix = "Fix: remedy the reasons that are listed, then look again"};
    }

    void refuse(Stage stage, const fs::path& path, const Error& error, std::string plugin = {}) {
        record(stage, Severity::refused, error.code, path, error.message, error.fix,
               std::move(plugin));
    }

    // ---- Variables ------------------------------------------------------------------------

    void say_what_is_ignored() {
        for (auto at = input_.environment.lower_bound("WYE_");
             at != input_.environment.end() && at->first.starts_with("WYE_"); ++at)
            if (!at->second.empty())
                record(Stage::found, Severity::note, Code::NOT_TRUSTED, at->second,
                       fmt::format("{} is ignored, because the process has raised privileges",
                                   at->first),
                       "Fix: set it through the application, or install plugins system-wide");
    }

    void read_disabled() {
        const auto at = input_.environment.find(kDisableVariable);
        if (at == input_.environment.end() || input_.elevated) return;
        each_part(at->second, ',', [&](const std::string& part) {
            const bool known =
                std::ranges::find(disables_, part, &Disable::pattern) != disables_.end();
            if (!part.empty() && !known) disables_.push_back({part, false});
        });
        for (const std::string& id : input_.taken_ids)
            if (is_disabled(id)) disabled(id, {});
    }

    // The first pattern of WYE_PLUGINS_DISABLE that matches the id, or null.
    [[nodiscard]] const Disable* disable_of(const std::string& id) const {
        const auto at =
            std::ranges::find_if(disables_, [&](const Disable& one) { return one.stands_for(id); });
        return at == disables_.end() ? nullptr : &*at;
    }
    [[nodiscard]] bool is_disabled(const std::string& id) const {
        return disable_of(id) != nullptr;
    }

    void disabled(const std::string& id, const fs::path& path) {
        const std::string pattern = disable_of(id)->pattern;
        for (Disable& one : disables_) one.used = one.used || one.stands_for(id);
        if (std::ranges::find(result_.disabled, id) == result_.disabled.end())
            result_.disabled.push_back(id);
        record(Stage::found, Severity::note, Code::DISABLED, path,
               fmt::format("{} names `{}`{}", kDisableVariable, id,
                           pattern == id ? "" : fmt::format(" by `{}`", pattern)),
               fmt::format("Fix: none needed; or remove `{}` from {}", pattern, kDisableVariable),
               id);
    }

    void report_unknown_disabled() {
        for (const Disable& one : disables_)
            if (!one.used)
                record(Stage::found, Severity::warning, Code::NOT_FOUND, {},
                       fmt::format("{} names `{}`, and there is no such plugin", kDisableVariable,
                                   one.pattern),
                       "Fix: correct the id; `wye info` lists the plugins");
    }

    // Records that no searched folder has a plugin, which happens if a static application was
    // moved.
    void report_none() {
        const fs::path& host = input_.host_folder;
        std::string searched;
        for (const fs::path& folder : {input_.user_folder, input_.system_folder, host,
                                       host.empty() ? fs::path() : host / "wye" / "plugins"})
            if (!folder.empty())
                searched += fmt::format("{}`{}`", searched.empty() ? "" : ", ", folder.string());
        if (searched.empty()) return;
        record(Stage::found, Severity::note, Code::NOT_FOUND, input_.system_folder,
               fmt::format("no plugin is in the folders that are searched: {}", searched),
               "Fix: install plugins there, or name their folder in WYE_PLUGIN_PATH_ADD");
    }

    // ---- Places ---------------------------------------------------------------------------

    void visit_application(const fs::path& named) {
        if (named.empty()) {
            record(Stage::found, Severity::refused, Code::INVALID_ARGUMENT, named,
                   "the application names an empty plugin path",
                   "Fix: name a plugin file or a folder");
            return;
        }
        if (!named.is_absolute()) {
            record(Stage::found, Severity::refused, Code::INVALID_ARGUMENT, named,
                   fmt::format("the application names `{}`, which depends on the current folder",
                               named.string()),
                   "Fix: name the plugin by its full path");
            return;
        }
        visit_named(named, Source::application);
    }

    // Visits the entries of a variable. False: the variable is not set, or it is ignored.
    bool visit_variable(const std::string& name) {
        const auto at = input_.environment.find(name);
        if (at == input_.environment.end() || at->second.empty() || input_.elevated) return false;
        each_part(at->second, ':', [&](const std::string& entry) {
            if (!entry.empty() && entry[0] == '/') return visit_named(entry, Source::environment);
            record(Stage::found, Severity::refused, Code::NOT_TRUSTED, entry,
                   fmt::format("{} has {}, which would mean the current folder", name,
                               entry.empty() ? "an empty entry"
                                             : fmt::format("the relative entry `{}`", entry)),
                   "Fix: use absolute paths, separated by `:`");
        });
        return true;
    }

    void visit_user_folder() {
        if (input_.user_folder.empty()) return;
        if (input_.elevated) {
            const auto there = files_.status(input_.user_folder);
            if (there.ok() && there->kind == FileStatus::Kind::folder)
                record(Stage::found, Severity::note, Code::NOT_TRUSTED, input_.user_folder,
                       "the user's plugin folder is ignored, because the process has raised "
                       "privileges",
                       "Fix: install the plugins system-wide");
            return;
        }
        visit_folder(input_.user_folder, Source::user);
    }

    // Visits a named file or folder; adds a record if the file or folder is missing.
    void visit_named(const fs::path& path, Source source) {
        const auto status = files_.status(path);
        if (!status.ok()) return refuse(Stage::found, path, status.error());
        switch (status->kind) {
            case FileStatus::Kind::missing:
                record(Stage::found, Severity::refused, Code::NOT_FOUND, path,
                       fmt::format("`{}` does not exist", path.string()),
                       "Fix: correct the path, or remove it");
                return;
            case FileStatus::Kind::folder:
                return visit_folder(path, source);
            case FileStatus::Kind::file:
                return visit_file(path, source);
            default:
                record(Stage::found, Severity::refused, Code::BAD_PLUGIN, path,
                       fmt::format("`{}` is neither a file nor a folder", path.string()),
                       "Fix: name a plugin file or a folder");
                return;
        }
    }

    void visit_folder(const fs::path& folder, Source source) {
        if (folder.empty()) return;
        const auto seen = trust_.look(folder);
        if (!seen.ok()) return refuse(Stage::found, folder, seen.error());
        if (seen->status.kind != FileStatus::Kind::folder) return;
        // Skips a folder that was visited before, even under another name.
        if (!folders_.insert({seen->status.device, seen->status.inode}).second) return;
        // In Wye's own folders, a library without a manifest gets no record.
        const bool ours = source == Source::system || source == Source::beside_host;
        constexpr std::string_view kEndings[] = {kManifestSuffix, ".so"};
        const auto listed =
            files_.list(seen->real, std::span(kEndings).first(ours ? 1 : 2), kMostManifests);
        if (!listed.ok()) return refuse(Stage::found, folder, listed.error());
        const FileNames& manifests = listed->front();
        // A folder without plugins needs no trust.
        if (manifests.names.empty() && (ours || listed->back().names.empty())) return;
        if (!trusted(*seen, folder, source, {})) return;
        if (manifests.left_out != 0)
            record(Stage::found, Severity::warning, Code::LIMIT_EXCEEDED, folder,
                   fmt::format("`{}` has {} manifests; all but the first {} are ignored",
                               folder.string(), manifests.names.size() + manifests.left_out,
                               manifests.names.size()),
                   "Fix: remove those that are no plugins");
        std::set<std::string> libraries;
        for (const std::string& name : manifests.names) {
            const std::size_t plugins = result_.candidates.size();
            const std::size_t layers = result_.layers.size();
            visit_manifest(folder / name, source);
            if (result_.candidates.size() > plugins)
                libraries.insert(result_.candidates.back().library.filename().string());
            if (result_.layers.size() > layers)
                libraries.insert(result_.layers.back().library.filename().string());
            libraries.insert(name.substr(0, name.size() - kManifestSuffix.size()) + ".so");
        }
        // In other folders a stray library is likely to be a mistake.
        if (!ours) visit_strays(folder, listed->back(), libraries);
    }

    // Records libraries in a plugin folder that no manifest names.
    void visit_strays(const fs::path& folder, const FileNames& found,
                      const std::set<std::string>& libraries) {
        std::vector<std::string> strays;
        for (const std::string& name : found.names)
            if (libraries.count(name) == 0) strays.push_back(name);
        const std::size_t count = strays.size() + found.left_out;
        if (count > kMostStrayLibraries) {
            record(Stage::manifest, Severity::refused, Code::BAD_MANIFEST, folder,
                   fmt::format("`{}` has {} libraries without a manifest, such as `{}`",
                               folder.string(), count, strays.empty() ? "" : strays[0]),
                   "Fix: name a folder of plugins, each with a manifest beside it");
            return;
        }
        for (const std::string& name : strays) no_manifest(folder / name);
    }

    void no_manifest(const fs::path& library) {
        record(Stage::manifest, Severity::refused, Code::BAD_MANIFEST, library,
               fmt::format("`{}` has no manifest", library.string()),
               fmt::format("Fix: put `{}{}` beside it; only an application may name a plugin "
                           "without one",
                           library.stem().string(), kManifestSuffix),
               id_of_file(library));
    }

    void visit_file(const fs::path& path, Source source) {
        if (path.native().ends_with(kManifestSuffix)) return visit_manifest(path, source);
        fs::path manifest = path;
        manifest.replace_extension();
        manifest += kManifestSuffix;
        const auto status = files_.status(manifest);
        if (status.ok() && status->kind == FileStatus::Kind::file)
            return visit_manifest(manifest, source);
        if (source != Source::application) return no_manifest(path);
        Candidate candidate;
        candidate.id = id_of_file(path);
        candidate.library = path;
        candidate.source = source;
        if (!valid_plugin_id(candidate.id)) {
            record(
                Stage::found, Severity::refused, Code::BAD_PLUGIN, path,
                fmt::format("`{}` has no manifest, and its name gives no plugin id", path.string()),
                "Fix: put a manifest beside it, or name it ID.so with an id of a-z, 0-9 and _");
            return;
        }
        add(std::move(candidate));
    }

    void visit_manifest(const fs::path& path, Source source) {
        const auto seen = trust_.look(path);
        if (!seen.ok()) return refuse(Stage::found, path, seen.error());
        if (!trusted(*seen, path, source, {})) return;
        auto manifest = read_manifest(path, *seen);
        if (!manifest.ok()) {
            const Stage stage =
                manifest.error().code == Code::NOT_TRUSTED ? Stage::trust : Stage::manifest;
            return refuse(stage, path, manifest.error());
        }
        const std::string id = manifest->id;
        if (manifest->kind == PluginKind::plugin && is_disabled(id)) return disabled(id, path);
        if (manifest->arch != host_arch()) {
            record(Stage::architecture, Severity::refused, Code::ABI_MISMATCH, path,
                   fmt::format("the plugin was built for `{}`, this machine is `{}`",
                               manifest->arch, host_arch()),
                   "Fix: install the plugin's build for this machine", id);
            return;
        }
        if (!speaks_our_abi(*manifest, path)) return;
        for (const std::string& key : manifest->unknown_keys)
            record(Stage::manifest, Severity::warning, Code::UNKNOWN_KEY, path,
                   fmt::format("manifest `{}`: key `{}` is not known, and ignored", path.string(),
                               key),
                   "Fix: correct its spelling, or remove it", id);
        Candidate candidate;
        candidate.id = id;
        candidate.library = path.parent_path() / manifest->library;
        candidate.manifest = std::move(*manifest);
        candidate.manifest_file = path;
        candidate.source = source;
        add(std::move(candidate));
    }

    Result<Manifest> read_manifest(const fs::path& path, const Trust::Seen& seen) {
        if (seen.status.kind != FileStatus::Kind::file)
            return Error(Code::BAD_MANIFEST,
                         fmt::format("manifest `{}` is not a file", path.string()),
                         "Fix: reinstall the plugin");
        const auto too_long = [&](const std::string& why, const char* fix) {
            return Error(Code::BAD_MANIFEST,
                         fmt::format("manifest `{}` is not read: {}", path.string(), why), fix);
        };
        if (seen.status.size > kManifestBytes)
            return too_long(
                fmt::format("it has {} bytes, more than {}", seen.status.size, kManifestBytes),
                "Fix: keep the manifest short");
        if (seen.status.size > room_)
            return too_long(
                fmt::format("the manifests before it have {} bytes, and all together may have {}",
                            kManifestTotal - room_, kManifestTotal),
                "Fix: remove manifests that belong to no plugin");
        auto content = files_.read(seen.real, kManifestBytes);
        if (!content.ok()) return std::move(content).error();
        room_ -= std::min(room_, content->bytes.size());
        if (seen.status != content->status)
            return Error(Code::NOT_TRUSTED,
                         fmt::format("manifest `{}` was replaced while it was read", path.string()),
                         "Fix: try again");
        return parse_manifest(content->bytes, path.string());
    }

    bool speaks_our_abi(const Manifest& m, const fs::path& path) {
        std::string what;
        if (m.abi_major != WYE_ABI_MAJOR) {
            what = fmt::format("it was built against ABI major {}, and the host has {}",
                               m.abi_major, WYE_ABI_MAJOR);
        } else {
            // A draft extends the released minor before it. A draft of ABI 1.0 has no minor before
            // it.
            const bool above = m.draft != 0 && m.minor_built != 0;
            const auto minor = effective_minor({.minor = m.minor_built,
                                                .minor_needed = m.minor_needed,
                                                .draft = m.draft,
                                                .minor_frozen = m.minor_built - (above ? 1 : 0)});
            if (minor.ok()) return true;
            what = minor.error().message;
        }
        record(Stage::manifest, Severity::refused, Code::ABI_MISMATCH, path,
               fmt::format("the manifest says of the plugin that {}", what),
               "Fix: install a plugin and a host of matching versions", m.id);
        return false;
    }

    // ---- Trust ----------------------------------------------------------------------------

    bool trusted(const Trust::Seen& seen, const fs::path& path, Source source,
                 const std::string& id) {
        if (seen.fault.empty()) return true;
        const bool warn_only = source == Source::application && !input_.elevated;
        // Warns once of each fault, since all files in a folder may have the same fault.
        if (!warn_only || warned_.insert(seen.fault).second)
            record(Stage::trust, warn_only ? Severity::warning : Severity::refused,
                   Code::NOT_TRUSTED, path, seen.fault, seen.fix, id);
        return warn_only;
    }

    // ---- Duplicates -----------------------------------------------------------------------

    void add(Candidate candidate) {
        const bool layer = candidate.manifest && candidate.manifest->kind == PluginKind::layer;
        if (!layer && is_disabled(candidate.id)) return disabled(candidate.id, candidate.library);
        auto seen = trust_.look(candidate.library);
        if (!seen.ok()) return refuse(Stage::found, candidate.library, seen.error(), candidate.id);
        if (seen->status.kind != FileStatus::Kind::file) {
            record(Stage::found, Severity::refused, Code::NOT_FOUND, candidate.library,
                   fmt::format("the plugin's library `{}` {}", candidate.library.string(),
                               seen->status.kind == FileStatus::Kind::missing ? "does not exist"
                                                                              : "is not a file"),
                   "Fix: reinstall the plugin, or correct `library` in its manifest", candidate.id);
            return;
        }
        if (!trusted(*seen, candidate.library, candidate.source, candidate.id)) return;
        if (!libraries_.insert({seen->status.device, seen->status.inode}).second) {
            duplicate(candidate, "it is the same file as one found before",
                      "Fix: none needed; or name it once");
            return;
        }
        candidate.library = std::move(seen->real);
        candidate.file = seen->status;
        const auto& taken = input_.taken_ids;
        if (!layer && std::find(taken.begin(), taken.end(), candidate.id) != taken.end()) {
            duplicate(candidate, "the built-in plugin of this id takes precedence",
                      "Fix: none needed; or give the plugin another id");
            return;
        }
        std::vector<Candidate>& found = layer ? result_.layers : result_.candidates;
        const auto same = std::ranges::find(found, candidate.id, &Candidate::id);
        if (same == found.end()) {
            found.push_back(std::move(candidate));
            return;
        }
        const bool newer = beats(candidate, *same);
        const Candidate& loser = newer ? *same : candidate;
        const Candidate& winner = newer ? candidate : *same;
        duplicate(loser,
                  fmt::format("`{}` ({}) has the same id and takes precedence over {}",
                              winner.library.string(), version_text(winner), version_text(loser)),
                  "Fix: none needed; or remove one of the two");
        // The candidate that takes precedence keeps its own place in the search order, and has the
        // others in `shadowed`.
        if (newer) {
            std::vector<Candidate> others = std::move(same->shadowed);
            same->shadowed.clear();
            others.insert(others.begin(), std::move(*same));
            candidate.shadowed = std::move(others);
            found.erase(same);
            found.push_back(std::move(candidate));
        } else {
            auto& others = same->shadowed;
            const auto at = std::ranges::find_if(
                others, [&](const Candidate& other) { return beats(candidate, other); });
            others.insert(at, std::move(candidate));
        }
    }

    // The higher version takes precedence; among equal versions, the file that was found first. A
    // file without a manifest takes precedence over all others, since the application named it.
    static bool beats(const Candidate& later, const Candidate& earlier) {
        if (!earlier.manifest) return false;
        if (!later.manifest) return true;
        return compare_versions(later.manifest->version, earlier.manifest->version) > 0;
    }

    static std::string version_text(const Candidate& c) {
        return c.manifest ? "version " + c.manifest->version : "named by the application";
    }

    void duplicate(const Candidate& loser, std::string why, std::string fix) {
        record(Stage::found, Severity::note, Code::DUPLICATE, loser.library, std::move(why),
               std::move(fix), loser.id);
    }

    const SearchInput& input_;
    const FileSystem& files_;
    Trust trust_;
    SearchResult result_;
    std::set<FileKey> folders_;
    std::set<FileKey> libraries_;
    std::set<std::string> warned_;  // faults of files that are used nevertheless
    std::vector<Disable> disables_;
    std::size_t room_ = kManifestTotal;  // bytes of manifests that may still be read
    std::size_t left_out_ = 0;           // records beyond kMostRecords
};

}  // namespace

std::string_view source_name(Source source) noexcept {
    constexpr std::string_view kNames[] = {"builtin", "application", "environment",
                                           "user",    "system",      "beside_host"};
    return sdk::name_in(kNames, source);
}

std::string id_of_file(const std::filesystem::path& library) {
    std::string name = library.filename().string();
    name.resize(std::min(name.find('.'), name.size()));
    for (const std::string_view prefix : {"lib", "wye_"})
        if (name.size() > prefix.size() && name.compare(0, prefix.size(), prefix) == 0)
            name.erase(0, prefix.size());
    return name;
}

Record record_about(const Candidate& candidate, Stage stage, Severity severity, Code code,
                    std::string message, std::string fix) {
    return {.stage = stage,
            .severity = severity,
            .code = code,
            .message = std::move(message),
            .fix = std::move(fix),
            .path = candidate.library.string(),
            .plugin = candidate.id};
}

SearchResult search(const SearchInput& input, const FileSystem& files) {
    return Search(input, files).run();
}

}  // namespace wye::registry
