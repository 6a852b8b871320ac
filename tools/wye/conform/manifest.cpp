// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "command/files.hpp"
#include "groups.hpp"
#include "registry/find/manifest.hpp"
#include "registry/find/search.hpp"

namespace wye::tool::conform {
namespace {

namespace fs = std::filesystem;

Result<registry::Manifest> read_manifest(const std::string& path) {
    WYE_ASSIGN(const auto bytes,
               read_file(path, "manifest", registry::kManifestBytes, Kind::Regular));
    return registry::parse_manifest({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                    path);
}

// Manifests in the folder of the plugin, by name.
std::vector<fs::path> manifests_beside(const fs::path& plugin) {
    std::vector<fs::path> out;
    std::error_code error;
    fs::directory_iterator at(plugin.parent_path(), error);
    for (const fs::directory_iterator end; !error && at != end; at.increment(error))
        if (at->path().filename().string().ends_with(registry::kManifestSuffix))
            out.push_back(at->path());
    std::sort(out.begin(), out.end());
    return out;
}

// Whether the manifest has the plugin's file name, with the suffix of manifests in place of ".so".
bool named_alike(const fs::path& manifest, const fs::path& plugin) {
    const std::string name = manifest.filename().string();
    return name.substr(0, name.size() - registry::kManifestSuffix.size()) == plugin.stem().string();
}

void fail(Case& check, std::string text) {
    check.result = Outcome::failed;
    check.messages.push_back(std::move(text));
}

void compare(const registry::Manifest& said, const Verdict& verdict, const std::string& file,
             Case& check) {
    const auto differs = [&](const char* what, const auto& manifest, const auto& plugin) {
        if (manifest != plugin)
            fail(check,
                 fmt::format("`{}` says {} {}, the plugin {}", file, what, manifest, plugin));
    };
    differs("id", said.id, verdict.id);
    differs("version", said.version, verdict.version);
    differs("abi.major", said.abi_major, verdict.abi->major);
    differs("abi.draft", said.draft, verdict.abi->draft);
    differs("abi.minor_built", said.minor_built, verdict.abi->minor);
    differs("abi.minor_needed", said.minor_needed, verdict.abi->host_minor_needed);
    if (said.arch != registry::host_arch())
        fail(check, fmt::format("`{}` says arch {}, this machine is {}", file, said.arch,
                                registry::host_arch()));
    for (const std::string& key : said.unknown_keys)
        check.notes.push_back(fmt::format("`{}` has the unknown key `{}`", file, key));
}

}  // namespace

bool is_layer(const std::string& path) {
    std::error_code error;
    const fs::path file = fs::absolute(path, error);
    const std::vector<fs::path> manifests = manifests_beside(file);
    return std::any_of(manifests.begin(), manifests.end(), [&](const fs::path& manifest) {
        const auto read = read_manifest(manifest.string());
        return read.ok() && read->library == file.filename().string() &&
               read->kind == registry::PluginKind::layer;
    });
}

Case check_manifest(const Verdict& verdict) {
    Case check{
        "the manifest beside the file agrees with the plugin; without one, the file is named after "
        "the plugin's id",
        {"P-5"},
        Outcome::passed,
        {},
        {},
        0,
        1,
        {}};
    if (!verdict.abi) {
        check.result = Outcome::not_applicable;
        check.messages = {"the plugin did not say its id"};
        return check;
    }
    std::error_code error;
    const fs::path plugin = fs::absolute(verdict.path, error);
    bool any = false;
    for (const fs::path& path : manifests_beside(plugin)) {
        const std::string file = path.filename().string();
        const auto read = read_manifest(path.string());
        if (read.ok() && read->library == plugin.filename().string()) {
            any = true;
            compare(*read, verdict, file, check);
        } else if (!read.ok() && named_alike(path, plugin)) {
            any = true;
            fail(check, read.error().message);
        }
    }
    if (any) return check;
    check.notes.emplace_back("there is no manifest beside the file");
    const std::string name = registry::id_of_file(plugin);
    if (name != verdict.id)
        fail(check, fmt::format("its id is `{}`, but the file's name stands for the id `{}`. "
                                "Name the file `wye_{}.so`, or give it a manifest",
                                verdict.id, name, verdict.id));
    return check;
}

}  // namespace wye::tool::conform
