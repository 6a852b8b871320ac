// SPDX-License-Identifier: Apache-2.0
#include "registry/open/open_plugin.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "registry/forks.hpp"
#include "registry/open/bus_facts.hpp"
#include "registry/open/contain.hpp"
#include "registry/open/device_id.hpp"
#include "registry/open/error_object.hpp"
#include "registry/open/process_state.hpp"
#include "registry/open/slot_watch.hpp"
#include "wye/abi_compiler.h"
#include "wye/sdk/plugin.hpp"

namespace wye::registry {
namespace {

constexpr std::uint32_t kDevices = 4096;  // a larger device count is a fault
constexpr std::uint64_t kFormats = 64;
constexpr std::uint64_t kTextLimit = 4096;

Record record_at(Stage stage, const Candidate& candidate, const Error& error) {
    Record r =
        record_about(candidate, stage, Severity::refused, error.code, error.message, error.fix);
    for (const Error* cause = error.cause.get(); cause != nullptr; cause = cause->cause.get())
        r.loader_text += fmt::format("{}{}", r.loader_text.empty() ? "" : "; ", cause->message);
    // Takes the subject only if it is the name of a library. Other subjects are paths of plugins,
    // devices and so on.
    if (error.code == Code::MISSING_DEPENDENCY && error.subject.find(".so") != std::string::npos &&
        error.subject != r.path)
        r.missing_library = error.subject;
    return r;
}

constexpr const char* kUnloadable = "cannot be loaded";

// Whether a variable with this value may hide a driver. The value may be a path or a file name. An
// empty value hides the usual path.
bool may_be_path(std::string_view value) {
    return value.empty() || value.find_first_of("/.") != value.npos;
}

// Lists the variables that are set and may hide a driver from its loader, as "A, B". These are the
// variables that the manifest watches, and LD_LIBRARY_PATH if a library was found that cannot be
// loaded.
std::string hiding_variables(const Candidate& candidate, const Config& config, const Error& error) {
    constexpr std::string_view kOurs = "env.";
    std::vector<std::string> patterns;
    if (candidate.manifest)
        for (const Watch& watch : candidate.manifest->watches)
            if (!watch.variable.empty()) patterns.push_back(watch.variable);
    std::string out;
    for (auto at = config.lower_bound(kOurs); at != config.end() && at->first.starts_with(kOurs);
         ++at) {
        const std::string name = at->first.substr(kOurs.size());
        const bool watched = std::ranges::any_of(patterns, [&](const std::string& pattern) {
            return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                          : name == pattern;
        });
        const bool searched = name == "LD_LIBRARY_PATH" && !at->second.empty() &&
                              error.message.find(kUnloadable) != std::string::npos;
        if (searched || (watched && may_be_path(at->second)))
            out += (out.empty() ? "" : ", ") + name;
    }
    return out;
}

// The remedy if no driver or no device was found. Also for OUT_OF_MEMORY, which a driver's loader
// may report if it cannot read a file that a variable names.
std::string fix_of_hidden(const Candidate& candidate, const Config& config, const Error& error) {
    constexpr std::string_view kFix = "Fix: ";
    if (error.code != Code::MISSING_DEPENDENCY && error.code != Code::NO_DEVICE &&
        error.code != Code::OUT_OF_MEMORY)
        return error.fix;
    const std::string names = hiding_variables(candidate, config, error);
    if (names.empty() || !error.fix.starts_with(kFix)) return error.fix;
    return fmt::format("Fix: correct or unset {}, which may hide what is installed; else {}", names,
                       error.fix.substr(kFix.size()));
}

Result<wye_plugin_query_fn> entry_of(const Library& library) {
    void* address = library.symbol(WYE_PLUGIN_QUERY_SYMBOL);
    if (address == nullptr)
        return Error(Code::BAD_PLUGIN,
                     "it does not export " WYE_PLUGIN_QUERY_SYMBOL ", the entry of ABI major 1",
                     "Fix: install a plugin for this host, or correct the manifest's library");
    return reinterpret_cast<wye_plugin_query_fn>(address);
}

// Whether a text can be the name of a format. Most garbage, such as that past the end of a list, is
// too long or has other characters.
bool is_format(std::string_view name) {
    constexpr std::size_t kLongest = 128;
    return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    });
}

// What is wrong with a device's answers; the device is listed nevertheless.
struct DeviceFaults {
    std::vector<std::string> description, facts;
};

// Adds faults of a device's description that break the ABI's rules but leave its meaning clear.
void check_info(const wye_device_info& info, const DeviceInfo& device,
                std::vector<std::string>& faults) {
    if (device.name.empty()) faults.emplace_back("it has no name");
    if (info.state > WYE_DEVICE_UNUSABLE)
        faults.push_back(
            fmt::format("its state is {}, neither usable (0) nor unusable (1), and counts as "
                        "unusable",
                        info.state));
    if (info.state == WYE_DEVICE_UNUSABLE && info.reason.size == 0)
        faults.emplace_back("it is unusable without a reason");
    if (device.usable && device.formats.empty())
        faults.emplace_back("it is usable, but takes no artifact format, so no program runs on it");
}

Result<void> read_info(const wye_device_info& info, Memory memory, DeviceInfo& out) {
    out.native_code = info.native_code;
    out.usable = info.state == WYE_DEVICE_USABLE;
    WYE_ASSIGN(out.name, read_text(info.name, kTextLimit, "the device's name", memory));
    if (!out.usable) {
        WYE_ASSIGN(out.reason, read_text(info.reason, kTextLimit, "the device's reason", memory));
        WYE_ASSIGN(out.fix, read_text(info.fix, kTextLimit, "the device's fix", memory));
        if (out.reason.empty()) out.reason = "the plugin gives no reason";
    }
    if (info.format_count > kFormats || (info.formats == nullptr && info.format_count != 0))
        return Error(
            Code::PLUGIN_FAULT,
            fmt::format("the device claims {} artifact formats{}", info.format_count,
                        info.formats == nullptr ? " at a null pointer"
                                                : fmt::format(", the most is {}", kFormats)),
            kPluginAuthor);
    for (std::uint64_t i = 0; i < info.format_count; ++i) {
        const std::string what =
            fmt::format("artifact format {} of {} of the device", i + 1, info.format_count);
        wye_string format{};
        if (!read_memory(&format, info.formats + i, sizeof format, memory))
            return Error(Code::PLUGIN_FAULT, fmt::format("{} is not in memory", what),
                         kPluginAuthor);
        WYE_ASSIGN(std::string name, read_text(format, kTextLimit, what, memory));
        if (!is_format(name))
            return Error(Code::PLUGIN_FAULT,
                         fmt::format("{} is not a valid name: `{}`", what, name), kPluginAuthor);
        out.formats.push_back(std::move(name));
    }
    return {};
}

// Reads one device. A fault in the description makes the device unusable, but not the plugin.
DeviceInfo describe(const OpenPlugin& plugin, std::uint32_t index, DeviceFaults& faults) {
    DeviceInfo out;
    out.plugin = plugin.about().id;
    out.index = index;
    out.selector = fmt::format("{}:{}", out.plugin, index);
    wye_device_info info{};
    info.header = sdk::header_of(sizeof info);
    const auto described = contain(out.plugin, "device_info", [&](wye_error** error) {
        return plugin.table().device_info(plugin.object(), index, &info, error);
    });
    if (!described.ok()) {
        out.reason = described.error().message;
        out.fix = described.error().fix;
        out.native_code = described.error().native_code;
        return out;
    }
    const Memory memory = plugin.built_in() ? Memory::mapped : Memory::unknown;
    const Result<void> said = read_info(info, memory, out);
    if (!said.ok()) {
        out.usable = false;
        out.formats.clear();
        out.reason = said.error().message;
        out.fix = said.error().fix;
    } else {
        check_info(info, out, faults.description);
    }
    const InsidePlugin inside(out.plugin, "device_fact");
    const auto read = [&](std::uint32_t key, wye_fact* fact) -> wye_status {
        wye_status status = WYE_PLUGIN_FAULT;
        const auto asked = contain_quick(out.plugin, "device_fact", [&](wye_error**) {
            status = plugin.table().device_fact(plugin.object(), index, key, fact);
            return WYE_OK;
        });
        return asked.ok() ? status : WYE_PLUGIN_FAULT;
    };
    out.facts = read_facts(read, memory, faults.facts);
    out.probed = std::chrono::steady_clock::now();
    add_bus_facts(out.facts);
    return out;
}

Result<void> enumerate(const Candidate& candidate, PluginOpening& out) {
    const OpenPlugin& plugin = *out.plugin;
    std::uint32_t count = 0;
    WYE_TRY(contain(plugin.about().id, "probe_devices", [&](wye_error** error) {
        return plugin.table().probe_devices(plugin.object(), &count, error);
    }));
    if (count > kDevices)
        return Error(Code::PLUGIN_FAULT,
                     fmt::format("the plugin reports {} devices, more than {}", count, kDevices),
                     "Fix: ask the plugin's author for a build that keeps the contract");
    std::map<std::string, std::uint32_t> seen;
    for (std::uint32_t i = 0; i < count; ++i) {
        DeviceFaults faults;
        auto device = std::make_shared<DeviceInfo>(describe(plugin, i, faults));
        device->id = device_id(*device, seen[identity_of(*device)]++);
        const auto warn = [&](std::string message, const char* fix) {
            Record r = record_at(Stage::enumerated, candidate,
                                 Error(Code::PLUGIN_FAULT, std::move(message), fix));
            r.severity = Severity::warning;
            out.records.push_back(std::move(r));
        };
        for (const std::string& fault : faults.description)
            warn(fmt::format("device `{}` is described wrongly: {}", device->selector, fault),
                 kPluginAuthor);
        for (const std::string& fault : faults.facts)
            warn(fmt::format("device `{}` reports a bad fact: {}", device->selector, fault),
                 "Fix: none needed, the fact counts as not reported");
        out.devices.push_back(std::move(device));
    }
    return {};
}

// Compares a library's version with the manifest's minimum. A library that states no version gets a
// warning.
Result<void> check_version(const Candidate& candidate, const Need& need, const SystemLibrary& found,
                           std::vector<Record>& records) {
    if (need.min_version.empty()) return {};
    const bool by_file = need.version_from == "file";
    const std::string& version = by_file ? found.file_version : found.symbol_version;
    if (version.empty()) {
        Record r = record_at(
            Stage::needs, candidate,
            Error(Code::UNSUPPORTED,
                  fmt::format("plugin `{}` needs `{}` {} or newer, and the {} of the library "
                              "have no version to compare",
                              candidate.id, need.soname, need.min_version,
                              by_file ? "file names" : "symbols"),
                  "Fix: none needed, it is used; or correct `version_from` in the manifest"));
        r.severity = Severity::warning;
        records.push_back(std::move(r));
        return {};
    }
    if (compare_versions(version, need.min_version) >= 0) return {};
    return Error(Code::MISSING_DEPENDENCY,
                 fmt::format("plugin `{}` needs the library `{}` {} or newer, and {} is installed",
                             candidate.id, need.soname, need.min_version, version),
                 fmt::format("Fix: install a newer {}, or name another library with `{}.library`",
                             need.package.empty() ? need.soname : need.package, candidate.id),
                 need.soname);
}

// Checks that the system libraries of the manifest are installed. Skipped if the configuration
// names another library for the plugin (`ID.library`).
Result<void> check_needs(const Candidate& candidate, const HostServices& host,
                         std::vector<Record>& records) {
    if (!candidate.manifest || host.config().contains(candidate.id + ".library")) return {};
    for (const Need& need : candidate.manifest->needs) {
        Result<SystemLibrary> found = find_system_library(need.soname);
        if (found.ok()) {
            WYE_TRY(check_version(candidate, need, *found, records));
            continue;
        }
        if (found.error().code == Code::NOT_TRUSTED) return std::move(found).error();
        const std::string version =
            need.min_version.empty() ? "" : fmt::format(" ({} or newer)", need.min_version);
        const std::string package = need.package.empty()
                                        ? "the package that has it"
                                        : fmt::format("it (Debian: `{}`)", need.package);
        const bool absent = found.error().message.find("No such file") != std::string::npos;
        return std::move(found).error().wrapped(
            Code::MISSING_DEPENDENCY,
            fmt::format("plugin `{}` needs the library `{}`{}, which {}", candidate.id, need.soname,
                        version, absent ? "is not installed" : kUnloadable),
            fmt::format("Fix: {} {}, or name the library with `{}.library`",
                        absent ? "install" : "reinstall", package, candidate.id),
            need.soname);
    }
    return {};
}

// Checks that the manifest's statements are true, since the host chose the plugin by them.
Result<void> check_manifest(const Candidate& candidate, const Negotiated& about) {
    if (!candidate.manifest) return {};
    const Manifest& said = *candidate.manifest;
    const auto differs = [&](const char* key, const auto& manifest, const auto& plugin) {
        return Error(
            Code::BAD_MANIFEST,
            fmt::format("the manifest's `{}` is {}, but the plugin says {}", key, manifest, plugin),
            "Fix: reinstall the plugin with its own manifest", candidate.library.string());
    };
    if (said.version != about.version) return differs("version", said.version, about.version);
    if (said.minor_built != about.minor_built)
        return differs("abi.minor_built", said.minor_built, about.minor_built);
    if (said.minor_needed != about.minor_needed)
        return differs("abi.minor_needed", said.minor_needed, about.minor_needed);
    return {};
}

// Runs the stages in order; after a failure, `stage` is the stage that failed.
Result<void> run(const Candidate& candidate, wye_plugin_query_fn query,
                 const std::shared_ptr<HostServices>& host,
                 const std::shared_ptr<const Layers>& layers, Stage& stage, PluginOpening& out) {
    std::optional<Library> library;
    Negotiated about;
    if (query == nullptr) {
        stage = Stage::opened;
        if (!may_open_drivers())
            return Error(Code::UNSUPPORTED,
                         "this process was forked from one that had opened plugins, and drivers do "
                         "not work in such a child",
                         "Fix: start the child as a program (posix_spawn, exec), fork before "
                         "opening plugins, or use `cpu`");
        WYE_ASSIGN(OpenFile file, open_file(candidate, *host, stage, out.records));
        library = std::move(file.library);
        about = std::move(file.about);
    } else {
        stage = Stage::negotiated;
        WYE_ASSIGN(about, negotiate(query, candidate.id));
        WYE_TRY(check_manifest(candidate, about));
    }
    stage = Stage::initialised;
    const auto plugin =
        std::make_shared<OpenPlugin>(host, std::move(library), std::move(about), candidate, layers);
    WYE_TRY(plugin->initialise());
    out.plugin = plugin;
    stage = Stage::enumerated;
    return enumerate(candidate, out);
}

}  // namespace

Result<OpenFile> open_file(const Candidate& candidate, const HostServices& host, Stage& stage,
                           std::vector<Record>& records) {
    stage = Stage::architecture;
    WYE_TRY(check_library(candidate.library, candidate.file));
    stage = Stage::needs;
    std::optional<InsidePlugin> inside(std::in_place, candidate.id, kLoading);
    WYE_TRY(check_needs(candidate, host, records));
    stage = Stage::opened;
    WYE_ASSIGN(Library library, Library::open(candidate.library));
    WYE_TRY(check_unchanged(candidate.library, candidate.file));
    stage = Stage::negotiated;
    WYE_ASSIGN(const wye_plugin_query_fn query, entry_of(library));
    count_as_driver(reinterpret_cast<const void*>(query));
    inside.reset();  // `negotiate` marks the query as a slot of its own
    WYE_ASSIGN(Negotiated about, negotiate(query, candidate.id));
    WYE_TRY(check_manifest(candidate, about));
    return OpenFile{std::move(library), std::move(about)};
}

OpenPlugin::OpenPlugin(std::shared_ptr<HostServices> host, std::optional<Library> library,
                       Negotiated negotiated, const Candidate& candidate,
                       const std::shared_ptr<const Layers>& layers)
    : host_(std::move(host)),
      library_(std::move(library)),
      negotiated_(std::move(negotiated)),
      file_path_(candidate.library),
      file_(candidate.file) {
    if (!layers || layers->list().empty()) return;
    layers_ = std::make_unique<const LayerStack>(layers, host_, negotiated_);
    negotiated_.table = layers_->table();
    negotiated_.minor = layers_->minor();
}

const std::string& OpenPlugin::file_identity() const {
    std::call_once(file_once_, [&] {
        if (built_in()) return;
        auto hash = content_hash(file_path_);
        // If the content of the opened file is unknown, the identity is unique, so that no saved
        // program is taken for one of this plugin.
        file_identity_ = hash.ok() && check_unchanged(file_path_, file_).ok()
                             ? std::move(*hash)
                             : fmt::format("unknown file in process {} at {}", ::getpid(),
                                           std::chrono::system_clock::now().time_since_epoch() /
                                               std::chrono::nanoseconds(1));
    });
    return file_identity_;
}

Result<void> OpenPlugin::initialise() {
    wye_plugin_object* object = nullptr;
    WYE_TRY(contain(about().id, "init", [&](wye_error** error) {
        const wye_host_table& host = layers_ ? layers_->host_table() : host_->table();
        return negotiated_.table.init(&host, negotiated_.minor, &object, error);
    }));
    if (object == nullptr) return null_object_fault("init");
    object_ = object;
    return {};
}

OpenPlugin::~OpenPlugin() {
    if (object_ == nullptr) return;
    const ProcessStateGuard guard(!built_in());
    contain_end(*host_, about().id, "shutdown", [&] { negotiated_.table.shutdown(object_); });
}

std::optional<std::string> OpenPlugin::compiler() const {
    const Negotiated& about = negotiated_;
    std::string out;
    const auto described = contain(about.id, "get_extension", [&](wye_error**) {
        const auto* compiler = static_cast<const wye_compiler_table*>(
            about.table.get_extension(object_, sdk::to_abi(WYE_EXTENSION_COMPILER), 1));
        wye_string name{};
        if (compiler != nullptr &&
            compiler->header.size >= sdk::kSizeOfMinor0<wye_compiler_table> &&
            compiler->identity(object_, &name) == WYE_OK) {
            const auto read = read_text(name, kTextLimit, "the compiler's name");
            out = read.ok() ? *read : read.error().message;
        }
        return WYE_OK;
    });
    if (!described.ok()) return std::nullopt;
    return out;
}

std::string OpenPlugin::identity() const {
    const Negotiated& about = negotiated_;
    const std::optional<std::string> own = compiler();
    return fmt::format("{} {}, ABI {}.{} as {}, flags {}, {}{}{}", about.id, about.version,
                       WYE_ABI_MAJOR, about.minor_built, about.minor, about.build_flags,
                       file_identity(), !own || !own->empty() ? ", " : "",
                       own.value_or("compiler unknown"));
}

PluginOpening open_plugin(const Candidate& candidate, wye_plugin_query_fn query,
                          const std::shared_ptr<HostServices>& host,
                          const std::shared_ptr<const Layers>& layers) {
    const ProcessStateGuard guard(query == nullptr);
    PluginOpening out;
    Stage stage = Stage::found;
    const Result<void> done = run(candidate, query, host, layers, stage, out);
    out.translator = out.plugin;
    if (done.ok()) return out;
    out.devices.clear();
    out.plugin.reset();
    out.records.push_back(record_at(stage, candidate, done.error()));
    out.records.back().fix = fix_of_hidden(candidate, host->config(), done.error());
    return out;
}

Result<DeviceRef> open_device(std::shared_ptr<const OpenPlugin> plugin,
                              std::shared_ptr<const DeviceInfo> info) {
    if (!info->usable)
        return Error(Code::NO_DEVICE,
                     fmt::format("device `{}` is unusable: {}", info->selector, info->reason),
                     info->fix.empty() ? "Fix: use another device" : info->fix, info->selector);
    const ProcessStateGuard guard(!plugin->built_in());
    wye_device_object* object = nullptr;
    const wye_device_table* from = nullptr;
    const wye_open_desc desc{sdk::header_of(sizeof desc), info->index, 0,
                             sdk::to_abi(info->selector)};
    const auto opened = contain(info->plugin, "open_device", [&](wye_error** error) {
        return plugin->table().open_device(plugin->object(), &desc, &object, &from, error);
    });
    if (!opened.ok()) {
        Error error = opened.error();
        if (error.subject.empty()) error.subject = info->selector;
        return error;
    }
    if (object == nullptr) return null_object_fault("open_device");
    // Without a valid table, the device cannot even be closed.
    WYE_ASSIGN(const wye_device_table table, adopt(from, plugin->about().minor));
    const bool saves =
        from->header.size >= offsetof(wye_device_table, command_create) &&  // has both slots
        from->program_save != nullptr && from->program_load != nullptr;
    // Closes the device if there is no memory for its owner object.
    const auto close = [&table, plugin, info](wye_device_object* device) {
        contain_end(plugin->host(), info->plugin, "close", [&] { table.close(device); });
    };
    std::unique_ptr<wye_device_object, decltype(close)> owned(object, close);
    auto out = std::make_shared<const NativeDevice>(std::move(plugin), std::move(info), object,
                                                    table, saves);
    (void)owned.release();
    return out;
}

}  // namespace wye::registry
