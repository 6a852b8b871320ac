// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "exec/api/api.hpp"
#include "exec/api/log_filter.hpp"
#include "registry/find/search.hpp"
#include "registry/open/layers.hpp"
#include "registry/report/report.hpp"
#include "wye/device.h"
#include "wye/sdk/plugin.hpp"

namespace {

using wye::Code;
using wye::Error;
using wye::Result;
namespace registry = wye::registry;
using namespace wye::exec;
using wye::sdk::from_abi;

constexpr std::uint32_t kKnownFlags =
    WYE_CONTEXT_IGNORE_ENVIRONMENT | WYE_CONTEXT_NO_PLUGINS | WYE_CONTEXT_DESCRIBE;

// The folder of the library or program that contains this code; empty if the loader does not know
// the folder. If the library was loaded by a relative path, the result is relative, too, and is
// wrong if the current folder has changed since.
std::filesystem::path own_folder() {
    Dl_info info{};
    const link_map* map = nullptr;
    if (dladdr1(reinterpret_cast<const void*>(&wye_version), &info,
                reinterpret_cast<void**>(const_cast<link_map**>(&map)), RTLD_DL_LINKMAP) == 0 ||
        map == nullptr || map->l_name == nullptr)
        return {};
    std::error_code ignored;
    std::filesystem::path file = map->l_name;
    if (file.empty()) file = std::filesystem::read_symlink("/proc/self/exe", ignored);
    if (file.empty()) return {};
    return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

Result<void> check_desc(const wye_context_desc& desc) {
    WYE_TRY(check_header(desc.header, sizeof desc, "wye_context_desc"));
    if ((desc.flags & ~kKnownFlags) != 0 || desc.reserved != 0)
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("the context's unknown `flags` are {:#x}, and its `reserved` is {}",
                        desc.flags & ~kKnownFlags, desc.reserved),
            "Fix: start from WYE_INIT and use the WYE_CONTEXT_ flags of this version",
            "wye_context_desc");
    if (desc.plugin_path_count != 0) WYE_NEED(desc.plugin_paths);
    if (desc.config_count != 0) WYE_NEED(desc.config);
    for (std::uint64_t i = 0; i < desc.plugin_path_count; ++i)
        WYE_TRY(check_string(desc.plugin_paths[i], "plugin_paths"));
    for (std::uint64_t i = 0; i < desc.config_count; ++i) {
        WYE_TRY(check_string(desc.config[i].key, "config"));
        WYE_TRY(check_string(desc.config[i].value, "config"));
    }
    return {};
}

// Copies environment variables into the configuration, as `env.NAME`. Drivers read variables
// themselves, and some end the process if a value is wrong. Plugins do not read the environment;
// with these keys they can refuse to call such a driver.
void describe_surroundings(const registry::Environment& environment, registry::Config& config) {
    for (const auto& [name, value] : environment) config.insert_or_assign("env." + name, value);
}

bool is_own_folder(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           (::geteuid() != 0 || status.st_uid == 0);
}

std::string parent_of(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return std::filesystem::path(path).parent_path().string();
}

// Sets the cache folder of the host and the plugins. If WYE_CACHE_DIR is set, it names the folder,
// usable or not; an empty value turns the cache off. Otherwise the folder is $XDG_CACHE_HOME/wye if
// $XDG_CACHE_HOME or its parent exists. Without that variable, the folder is $HOME/.cache/wye if
// $HOME exists. For root, the existing folder must belong to root. WYE_CACHE_SIZE limits the size
// of the cache. Returns the folder; empty: WYE_CACHE_DIR is set, or there is no cache.
std::string choose_cache(const registry::Environment& environment, registry::Config& config) {
    const auto named = [&](const char* variable) {
        const auto found = environment.find(variable);
        const bool good =
            found != environment.end() && !found->second.empty() && found->second.front() == '/';
        return good ? found->second : std::string();
    };
    if (const auto size = environment.find("WYE_CACHE_SIZE"); size != environment.end())
        config.insert_or_assign("cache_size", size->second);
    const std::string cache = named("XDG_CACHE_HOME");
    const std::string home = named("HOME");
    if (const auto given = environment.find("WYE_CACHE_DIR"); given != environment.end()) {
        config.try_emplace("cache_folder", given->second);
        return {};
    }
    std::string usual;
    if (!cache.empty() && (is_own_folder(cache) || is_own_folder(parent_of(cache))))
        usual = cache + "/wye";
    else if (cache.empty() && is_own_folder(home))
        usual = home + "/.cache/wye";
    if (!usual.empty()) config.try_emplace("cache_folder", usual);
    return usual;
}

// Adds a note that there is no cache folder, unless the configuration asks for none.
void note_no_cache(registry::Options& options) {
    if (options.config.contains("cache_folder")) return;
    registry::Record note;
    note.severity = registry::Severity::note;
    note.code = Code::NOT_FOUND;
    note.message =
        "compiled programs and results of probes are not kept: neither XDG_CACHE_HOME nor HOME "
        "names an "
        "existing folder that is safe to use";
    note.fix = "Fix: set WYE_CACHE_DIR to a folder, or to an empty value to turn the cache off";
    options.records.emplace_back("cache", std::move(note));
}

// Sets the trace file from WYE_TRACE, unless the application sets one.
void choose_trace(const registry::Environment& environment, registry::Config& config) {
    const auto variable = environment.find("WYE_TRACE");
    if (variable != environment.end()) config.try_emplace("trace.file", variable->second);
}

// Sets the layers from WYE_LAYERS, and the settings of layers from WYE_LAYER_TRACE and
// WYE_LAYER_FAULTS. The application's own settings take precedence.
void choose_layers(const registry::Environment& environment, registry::Config& config) {
    constexpr std::pair<const char*, std::string_view> kVariables[] = {
        {"WYE_LAYERS", registry::kLayersKey},
        {"WYE_LAYER_TRACE", "layer.trace.file"},
        {"WYE_LAYER_FAULTS", "layer.faults.rules"}};
    for (const auto& [variable, key] : kVariables)
        if (const auto set = environment.find(variable);
            set != environment.end() && !set->second.empty())
            config.try_emplace(std::string(key), set->second);
}

// Sets how plugins are probed, from WYE_PROBE and the variables of its limits. The application's
// own settings take precedence. The probe helper is beside the library in a build tree, else in the
// package's folder; WYE_LIBEXEC names another folder.
void choose_probe(const registry::Environment& environment, registry::Options& options) {
    namespace fs = std::filesystem;
    options.probe.mode = registry::ProbeMode::automatic;
    const auto named = [&](const char* variable) {
        const auto found = environment.find(variable);
        return found == environment.end() ? std::string() : found->second;
    };
    constexpr std::pair<const char*, const char*> kSettings[] = {
        {"WYE_PROBE", "probe.mode"},
        {"WYE_PROBE_TIMEOUT_MS", "probe.timeout_ms"},
        {"WYE_PROBE_MEMORY", "probe.memory_bytes"}};
    for (const auto& [variable, key] : kSettings)
        if (const std::string value = named(variable); !value.empty())
            options.config.try_emplace(key, value);
    std::vector<fs::path> folders;
    if (const fs::path libexec = named("WYE_LIBEXEC"); libexec.is_absolute())
        folders = {libexec};
    else if (options.elevated)
        folders = {WYE_LIBEXEC_DIR};
    else
        folders = {options.host_folder,
                   (options.host_folder / WYE_LIBEXEC_FROM_LIB).lexically_normal()};
    for (const fs::path& folder : folders) {
        if (folder.is_absolute()) options.probe.helpers.push_back(folder / "wye-probe");
    }
}

// Sends the messages that WYE_LOG selects to standard error, in addition to the application's
// callback. If WYE_LOG is not set, other variables select messages:
// - WYE_LAYERS: all warnings and errors, since layers report their findings as such.
// - WYE_TRACE: messages about the trace, so that the user learns of an unusable file.
// - WYE_CACHE_DIR, WYE_CACHE_SIZE: messages about the cache, for the same reason.
Result<void> choose_log(registry::Options& options) {
    const auto named = [&](const char* variable) {
        const auto found = options.environment.find(variable);
        return found == options.environment.end() ? std::string() : found->second;
    };
    std::string wanted = named("WYE_LOG");
    if (wanted.empty() && !named("WYE_LAYERS").empty()) wanted = "warning";
    if (wanted.empty() && !named("WYE_TRACE").empty()) wanted = "trace:warning";
    const bool caches = !named("WYE_CACHE_DIR").empty() || !named("WYE_CACHE_SIZE").empty();
    if (caches && (wanted.empty() || wanted == "trace:warning"))
        wanted += wanted.empty() ? "cache:warning" : ",cache:warning";
    if (wanted.empty()) return {};
    WYE_ASSIGN(LogFilter filter, LogFilter::parse(wanted));
    if (options.log == nullptr) options.log_level = filter.least_severe();
    options.log = [filter = std::move(filter), callback = std::move(options.log)](
                      std::uint32_t level, std::string_view area, std::string_view text) {
        if (filter.passes(level, area)) write_log_line(level, area, text);
        if (callback) callback(level, area, text);
    };
    return {};
}

Result<wye_context*> create(const wye_context_desc& desc) {
    WYE_TRY(check_desc(desc));
    registry::Environment environment = registry::environment_snapshot();
    registry::Options options;
    options.builtins = builtin_plugins();
    options.search_files = (desc.flags & WYE_CONTEXT_NO_PLUGINS) == 0;
    options.elevated = registry::process_is_elevated();
    describe_surroundings(environment, options.config);
    const bool reads = (desc.flags & WYE_CONTEXT_IGNORE_ENVIRONMENT) == 0 && !options.elevated;
    std::string usual_cache;
    if ((desc.flags & WYE_CONTEXT_IGNORE_ENVIRONMENT) == 0) {
        if (!options.elevated) usual_cache = choose_cache(environment, options.config);
        if (!options.elevated) choose_trace(environment, options.config);
        if (!options.elevated) choose_layers(environment, options.config);
        options.environment = std::move(environment);
    }
    options.system_folder = WYE_PLUGIN_DIR;
    options.host_folder = own_folder();
    choose_probe(options.elevated ? registry::Environment() : options.environment, options);
    options.probe.describe = (desc.flags & WYE_CONTEXT_DESCRIBE) != 0;
    for (std::uint64_t i = 0; i < desc.plugin_path_count; ++i)
        options.application_paths.emplace_back(from_abi(desc.plugin_paths[i]));
    for (std::uint64_t i = 0; i < desc.config_count; ++i)
        options.config.insert_or_assign(std::string(from_abi(desc.config[i].key)),
                                        std::string(from_abi(desc.config[i].value)));
    const auto folder = options.config.find("cache_folder");
    options.named_cache = folder == options.config.end() || folder->second != usual_cache;
    if (reads) note_no_cache(options);
    if (desc.log != nullptr)
        options.log = [log = desc.log, user = desc.log_user](
                          std::uint32_t level, std::string_view area, std::string_view text) {
            log(user, level, wye::sdk::to_abi(area), wye::sdk::to_abi(text));
        };
    if (!options.elevated) WYE_TRY(choose_log(options));
    std::string selector = "auto";
    const auto variable = options.environment.find("WYE_DEVICE");
    if (variable != options.environment.end() && !options.elevated && !variable->second.empty())
        selector = variable->second;
    return make_context(std::move(options), std::move(selector));
}

}  // namespace

wye_status wye_context_create(const wye_context_desc* desc, wye_context** out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_NEED(out);
        wye_context_desc plain;
        WYE_INIT(plain);
        WYE_ASSIGN(*out, create(desc == nullptr ? plain : *desc));
        return {};
    });
}

wye_status wye_context_report(wye_context* context, wye_string selector, wye_blob** out,
                              wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_string(selector, "selector"));
        WYE_ASSIGN(std::string text, self->report(from_abi(selector)));
        *out = make_blob(std::move(text));
        return {};
    });
}

wye_status wye_verdicts_report(wye_context* context, wye_blob** out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        *out = make_blob(registry::verdicts_json(self->plugins()));
        return {};
    });
}

wye_status wye_verdict_trust(wye_context* context, wye_string plugin, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_TRY(check_string(plugin, "plugin"));
        return self->plugins().trust(from_abi(plugin));
    });
}

wye_status wye_verdict_forget(wye_context* context, wye_string plugin, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_TRY(check_string(plugin, "plugin"));
        return self->plugins().forget(from_abi(plugin));
    });
}
