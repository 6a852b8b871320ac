// SPDX-License-Identifier: Apache-2.0
#include "registry/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "registry/handshake.hpp"
#include "wye/abi.h"

namespace wye::registry {
namespace {

namespace fs = std::filesystem;
using FileKey = std::pair<std::uint64_t, std::uint64_t>;  // device, inode

constexpr std::uint32_t kWritableByOthers = 0002;
constexpr std::uint32_t kSticky = 01000;
constexpr std::size_t kFolderEntries = 100000;  // names read of one folder

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

class Search {
  public:
    Search(const SearchInput& input, const FileSystem& files) : input_(input), files_(files) {}

    SearchResult run() {
        for (const fs::path& path : input_.application) visit_application(path);
        visit_variable("WYE_PLUGIN_PATH_ADD");
        if (!visit_variable("WYE_PLUGIN_PATH")) {
            visit_user_folder();
            visit_folder(input_.system_folder, Source::system);
            if (!input_.host_folder.empty()) {
                visit_folder(input_.host_folder, Source::beside_host);
                visit_folder(input_.host_folder / "wye" / "plugins", Source::beside_host);
            }
        }
        return std::move(result_);
    }

  private:
    void record(Stage stage, Severity severity, Code code, const fs::path& path,
                std::string message, std::string fix, std::string plugin = {}) {
        Record r;
        r.stage = stage;
        r.severity = severity;
        r.code = code;
        r.message = std::move(message);
        r.fix = std::move(fix);
        r.path = path.string();
        r.plugin = std::move(plugin);
        result_.records.push_back(std::move(r));
    }

    void refuse(Stage stage, const fs::path& path, const Error& error, std::string plugin = {}) {
        record(stage, Severity::refused, error.code, path, error.message, error.fix,
               std::move(plugin));
    }

    // ---- Places ---------------------------------------------------------------------------

    void visit_application(const fs::path& named) {
        if (named.empty()) {
            record(Stage::found, Severity::refused, Code::INVALID_ARGUMENT, named,
                   "the application names an empty plugin path",
                   "Fix: name a plugin file or a folder");
            return;
        }
        visit_named(named, Source::application);
    }

    // Whether the variable is set and not ignored.
    bool visit_variable(const std::string& name) {
        const auto at = input_.environment.find(name);
        if (at == input_.environment.end() || at->second.empty()) return false;
        if (input_.elevated) {
            record(Stage::found, Severity::note, Code::NOT_TRUSTED, at->second,
                   fmt::format("{} is ignored, because the process has raised privileges", name),
                   "Fix: name plugin paths through the application, or install them system-wide");
            return false;
        }
        const std::string& list = at->second;
        std::size_t start = 0;
        while (start <= list.size()) {
            const std::size_t end = std::min(list.find(':', start), list.size());
            const std::string entry = list.substr(start, end - start);
            start = end + 1;
            if (entry.empty() || !fs::path(entry).is_absolute()) {
                record(Stage::found, Severity::refused, Code::NOT_TRUSTED, entry,
                       fmt::format("{} has {}, which would mean the current folder", name,
                                   entry.empty() ? "an empty entry"
                                                 : fmt::format("the relative entry `{}`", entry)),
                       "Fix: use absolute paths, separated by `:`");
                continue;
            }
            visit_named(entry, Source::environment);
        }
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

    // Visits a named file or folder; its absence gets a record.
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
            case FileStatus::Kind::other:
                record(Stage::found, Severity::refused, Code::BAD_PLUGIN, path,
                       fmt::format("`{}` is neither a file nor a folder", path.string()),
                       "Fix: name a plugin file or a folder");
                return;
        }
    }

    void visit_folder(const fs::path& folder, Source source) {
        if (folder.empty()) return;
        const auto status = files_.status(folder);
        if (!status.ok()) return refuse(Stage::found, folder, status.error());
        if (status->kind != FileStatus::Kind::folder) return;
        // Skips a folder that was visited before, even under another name.
        if (!folders_.insert({status->device, status->inode}).second) return;
        // In Wye's own folders, a library without a manifest gets no record.
        const bool ours = source == Source::system || source == Source::beside_host;
        const auto names = ours ? files_.list(folder, {kManifestSuffix})
                                : files_.list(folder, {kManifestSuffix, ".so"});
        if (!names.ok()) return refuse(Stage::found, folder, names.error());
        const std::size_t count = std::min(names->size(), kFolderEntries);
        std::set<std::string> libraries;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string& name = (*names)[i];
            if (!ends_with(name, kManifestSuffix)) continue;
            const std::size_t before = result_.candidates.size();
            visit_manifest(folder / name, source);
            if (result_.candidates.size() > before)
                libraries.insert(result_.candidates.back().library.filename().string());
            libraries.insert(name.substr(0, name.size() - kManifestSuffix.size()) + ".so");
        }
        // Elsewhere it is likely to be a mistake.
        for (std::size_t i = 0; i < count; ++i) {
            const std::string& name = (*names)[i];
            if (ends_with(name, ".so") && libraries.count(name) == 0) no_manifest(folder / name);
        }
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
        if (ends_with(path.filename().string(), kManifestSuffix))
            return visit_manifest(path, source);
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
        if (!trusted(path, source, {})) return;
        auto bytes = files_.read(path, kManifestBytes);
        if (!bytes.ok()) {
            Error error = std::move(bytes).error();
            if (error.code == Code::LIMIT_EXCEEDED) error.code = Code::BAD_MANIFEST;
            return refuse(Stage::manifest, path, error);
        }
        auto manifest = parse_manifest(*bytes, path.string());
        if (!manifest.ok()) return refuse(Stage::manifest, path, manifest.error());
        const std::string id = manifest->id;
        if (manifest->arch != host_arch()) {
            record(Stage::architecture, Severity::refused, Code::ABI_MISMATCH, path,
                   fmt::format("the plugin was built for `{}`, this machine is `{}`",
                               manifest->arch, host_arch()),
                   "Fix: install the plugin's build for this machine", id);
            return;
        }
        if (!speaks_our_abi(*manifest, path)) return;
        Candidate candidate;
        candidate.id = id;
        candidate.library = path.parent_path() / manifest->library;
        candidate.manifest = std::move(*manifest);
        candidate.manifest_file = path;
        candidate.source = source;
        add(std::move(candidate));
    }

    bool speaks_our_abi(const Manifest& m, const fs::path& path) {
        constexpr std::uint32_t kMax = WYE_ABI_MINOR;
        constexpr std::uint32_t kFloor = WYE_ABI_MINOR_FLOOR;
        std::string what;
        if (m.abi_major != WYE_ABI_MAJOR) {
            what = fmt::format("ABI major {}, but the host has {}", m.abi_major, WYE_ABI_MAJOR);
        } else if (m.draft != WYE_ABI_DRAFT) {
            what = fmt::format("{}, but the host has draft {}", draft_text(m.draft), WYE_ABI_DRAFT);
        } else if (m.minor_needed > kMax) {
            what = fmt::format("a host of ABI minor {}, but this one has {}", m.minor_needed, kMax);
        } else if (std::int64_t{m.minor_built} < std::int64_t{kFloor}) {
            what = fmt::format("ABI minor {}, but the host accepts {} and later", m.minor_built,
                               kFloor);
        }
        if (what.empty()) return true;
        record(Stage::manifest, Severity::refused, Code::ABI_MISMATCH, path,
               fmt::format("the plugin wants {}", what),
               "Fix: install a plugin and a host of matching versions", m.id);
        return false;
    }

    // ---- Trust ----------------------------------------------------------------------------

    // The first of the file and the folders above it that everyone may write to; empty: none.
    Result<fs::path> writable_by_others(const fs::path& path) {
        WYE_ASSIGN(const fs::path real, files_.canonical(path));
        // Checks both the given path, where a link could be replaced, and the real one.
        for (fs::path at : {path.is_absolute() ? path.lexically_normal() : real, real}) {
            bool is_file = true;
            for (;;) {
                WYE_ASSIGN(const FileStatus status, files_.status(at));
                const bool open_folder = (status.mode & kWritableByOthers) != 0 &&
                                         (is_file || (status.mode & kSticky) == 0);
                if (status.kind != FileStatus::Kind::missing && open_folder) return at;
                if (!at.has_relative_path()) break;
                at = at.parent_path();
                is_file = false;
            }
        }
        return fs::path{};
    }

    bool trusted(const fs::path& path, Source source, const std::string& id) {
        const auto open = writable_by_others(path);
        if (!open.ok()) return refuse(Stage::trust, path, open.error(), id), false;
        if (open->empty()) return true;
        const bool warn_only = source == Source::application && !input_.elevated;
        record(Stage::trust, warn_only ? Severity::warning : Severity::refused, Code::NOT_TRUSTED,
               path, fmt::format("everyone may write to `{}`", open->string()),
               fmt::format("Fix: chmod o-w '{}'", open->string()), id);
        return warn_only;
    }

    // ---- Duplicates -----------------------------------------------------------------------

    void add(Candidate candidate) {
        const auto status = files_.status(candidate.library);
        if (!status.ok())
            return refuse(Stage::found, candidate.library, status.error(), candidate.id);
        if (status->kind != FileStatus::Kind::file) {
            record(Stage::found, Severity::refused, Code::NOT_FOUND, candidate.library,
                   fmt::format("the plugin's library `{}` {}", candidate.library.string(),
                               status->kind == FileStatus::Kind::missing ? "does not exist"
                                                                         : "is not a file"),
                   "Fix: reinstall the plugin, or correct `library` in its manifest", candidate.id);
            return;
        }
        if (!trusted(candidate.library, candidate.source, candidate.id)) return;
        auto real = files_.canonical(candidate.library);
        if (!real.ok()) return refuse(Stage::found, candidate.library, real.error(), candidate.id);
        if (!libraries_.insert({status->device, status->inode}).second) {
            duplicate(candidate, "it is the same file as one found before",
                      "Fix: none needed; or name it once");
            return;
        }
        candidate.library = std::move(*real);
        const auto& taken = input_.taken_ids;
        if (std::find(taken.begin(), taken.end(), candidate.id) != taken.end()) {
            duplicate(candidate, "the built-in plugin of this id takes precedence",
                      "Fix: none needed; or give the plugin another id");
            return;
        }
        const auto same = std::find_if(result_.candidates.begin(), result_.candidates.end(),
                                       [&](const Candidate& c) { return c.id == candidate.id; });
        if (same == result_.candidates.end()) {
            result_.candidates.push_back(std::move(candidate));
            return;
        }
        const bool newer = beats(candidate, *same);
        const Candidate& loser = newer ? *same : candidate;
        const Candidate& winner = newer ? candidate : *same;
        duplicate(loser,
                  fmt::format("`{}` ({}) has the same id and takes precedence over {}",
                              winner.library.string(), version_text(winner), version_text(loser)),
                  "Fix: none needed; or remove one of the two");
        if (newer) {
            result_.candidates.erase(same);
            result_.candidates.push_back(std::move(candidate));
        }
    }

    // The higher version takes precedence, among equals the one found first. A file without a
    // manifest was named by the application, and takes precedence over all.
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
    SearchResult result_;
    std::set<FileKey> folders_;
    std::set<FileKey> libraries_;
};

}  // namespace

std::string_view source_name(Source source) noexcept {
    switch (source) {
        case Source::builtin:
            return "builtin";
        case Source::application:
            return "application";
        case Source::environment:
            return "environment";
        case Source::user:
            return "user";
        case Source::system:
            return "system";
        case Source::beside_host:
            return "beside_host";
    }
    return "unknown";
}

std::string id_of_file(const std::filesystem::path& library) {
    std::string name = library.filename().string();
    name.resize(std::min(name.find('.'), name.size()));
    for (const std::string_view prefix : {"lib", "wye_"})
        if (name.size() > prefix.size() && name.compare(0, prefix.size(), prefix) == 0)
            name.erase(0, prefix.size());
    return name;
}

SearchResult search(const SearchInput& input, const FileSystem& files) {
    return Search(input, files).run();
}

}  // namespace wye::registry
