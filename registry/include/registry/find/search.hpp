// SPDX-License-Identifier: Apache-2.0
//
// Search: finds plugin files, in order, and records why it passes others over. A pure function of
// its input, which includes the file system; opens no library. Free-threaded; nothing throws.
// registry/README.md has the order and the rules.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "registry/file_system.hpp"
#include "registry/find/manifest.hpp"
#include "registry/find/trust.hpp"
#include "registry/record.hpp"

namespace wye::registry {

// A snapshot of the environment; the registry reads variables from it only.
using Environment = std::map<std::string, std::string, std::less<>>;

// The environment of this process as it is now.
[[nodiscard]] Environment environment_snapshot();
// True when the process runs with raised privileges (AT_SECURE).
[[nodiscard]] bool process_is_elevated() noexcept;
// $XDG_DATA_HOME/wye/plugins, else $HOME/.local/share/wye/plugins; empty when neither is absolute.
[[nodiscard]] std::filesystem::path user_plugin_folder(const Environment& environment);

// The variable that names the plugins not to be opened, which may be built-in ones.
inline constexpr std::string_view kDisableVariable = "WYE_PLUGINS_DISABLE";

enum class Source : std::uint8_t { builtin, application, environment, user, system, beside_host };
[[nodiscard]] std::string_view source_name(Source source) noexcept;  // "environment"

struct SearchInput {
    std::vector<std::filesystem::path> application;  // files or folders that the application names
    // WYE_PLUGIN_PATH, WYE_PLUGIN_PATH_ADD, WYE_PLUGINS_DISABLE
    Environment environment;
    bool elevated = false;  // true: the environment and the user folder are ignored
    Trusted trusted;  // in addition to root and, unless elevated, the owners of the host's folder
    std::filesystem::path user_folder;    // empty: none
    std::filesystem::path system_folder;  // empty: none
    std::filesystem::path host_folder;    // the folder of the host library; empty: none
    std::vector<std::string> taken_ids;   // ids of built-in plugins, which take precedence
};

// A plugin that may be opened.
struct Candidate {
    std::string id;  // from the manifest, else from the file name (id_of_file)
    std::filesystem::path library;
    FileStatus file;                   // status of the library when it was found
    std::optional<Manifest> manifest;  // none only for a file that the application names
    std::filesystem::path manifest_file;
    Source source = Source::application;
    // Further candidates of the same id, in order. If opening one fails because of its file, the
    // next candidate is opened instead.
    std::vector<Candidate> shadowed;
};

// A record of a candidate.
[[nodiscard]] Record record_about(const Candidate& candidate, Stage stage, Severity severity,
                                  Code code, std::string message = {}, std::string fix = {});

struct SearchResult {
    std::vector<Candidate> candidates;  // in search order, one per id
    std::vector<Candidate> layers;      // in search order; a layer may have the id of a plugin
    std::vector<Record> records;        // at most kMostRecords; the last states the number left out
    std::vector<std::string> disabled;  // ids of plugins that WYE_PLUGINS_DISABLE names
};

// Limits of a search, so that a folder of thousands of files neither delays a process nor fills its
// report. A stray library is one without a manifest.
inline constexpr std::size_t kMostRecords = 100;
inline constexpr std::size_t kMostManifests = 256;          // per folder
inline constexpr std::size_t kManifestTotal = 1024 * 1024;  // bytes of manifests, per search
inline constexpr std::size_t kMostStrayLibraries = 8;       // with a record each, per folder

[[nodiscard]] SearchResult search(const SearchInput& input, const FileSystem& files);

// The id that a file without a manifest must have: its name up to the first dot, without a leading
// "lib" and "wye_" ("libwye_name.so" is "name").
[[nodiscard]] std::string id_of_file(const std::filesystem::path& library);

}  // namespace wye::registry
