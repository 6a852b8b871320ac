// SPDX-License-Identifier: Apache-2.0
//
// Registry: the catalogue of plugins and devices of one runtime instance. Making it searches and
// reads manifests; it opens no plugin. A plugin is opened when somebody asks for a device that it
// may have: once, whatever the number of threads, and the outcome is remembered. Built-in plugins
// go first and win over a file of the same id, which is recorded.
//
// Owns the opened plugins together with their devices: a DeviceRef stays valid after the registry
// is gone. Free-threaded; no lock is held while a plugin runs. Everything passed over is a Record.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "registry/device.hpp"
#include "registry/host_services.hpp"
#include "registry/record.hpp"
#include "registry/search.hpp"
#include "registry/selector.hpp"

namespace wye::registry {

// A plugin that is linked in. Its id must equal the description's.
struct BuiltinPlugin {
    std::string id;
    wye_plugin_query_fn query = nullptr;
};

// How good a device is for `auto`: the highest goes first, and equal ones in search order.
struct Score {
    std::uint32_t points = 0;
    std::vector<std::string> reasons;  // for people: what the points were given for
};
using Rank = std::function<Score(const DeviceInfo&)>;

struct Options {
    std::vector<BuiltinPlugin> builtins;
    Rank rank;                                             // null: all devices are equal
    bool search_files = true;                              // false: built-in plugins only
    std::vector<std::filesystem::path> application_paths;  // files or folders
    Environment environment;                               // empty: none is taken
    bool elevated = false;                                 // process_is_elevated()
    std::filesystem::path system_folder;
    std::filesystem::path host_folder;  // of the host library
    Config config;                      // handed to plugins
    LogSink log;
    const FileSystem* files = nullptr;  // null: native_file_system(); must outlive the registry
};

enum class PluginState : std::uint8_t {
    found,   // its manifest is good; not opened yet
    ready,   // opened; its devices are known (there may be none)
    failed,  // refused at some stage; `reason` says why
};
[[nodiscard]] std::string_view state_name(PluginState state) noexcept;

// A snapshot of one candidate.
struct PluginInfo {
    std::string id;
    std::string path;  // empty: built in
    Source source = Source::builtin;
    PluginState state = PluginState::found;
    std::string backend;          // of the manifest; else the id
    std::string version;          // of the plugin when opened, else of the manifest
    std::string vendor;           // when opened
    std::uint32_t abi_major = 0;  // 0: not known yet
    std::uint32_t abi_minor = 0;
    std::optional<Record> reason;                            // failed
    std::vector<std::shared_ptr<const DeviceInfo>> devices;  // ready
};

// A device that was passed over on the way to a choice.
struct PassedOver {
    std::string subject;  // a selector: "name:0", "name"
    std::string reason;
    std::string fix;  // may be empty
};

struct Selection {
    std::shared_ptr<const DeviceInfo> device;
    std::string reason;  // "first usable device of 'cpu', asked for by name"
    std::vector<PassedOver> passed_over;
};

// Why a device will not do; empty: it will. Called without locks, possibly several times.
using Fit = std::function<std::vector<std::string>(const DeviceInfo&)>;

class Registry {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Registry>> create(Options options);
    ~Registry();
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;

    // Snapshots, in search order. The records grow as plugins are opened.
    [[nodiscard]] std::vector<PluginInfo> plugins() const;
    [[nodiscard]] std::vector<Record> records() const;
    [[nodiscard]] const HostServices& host() const noexcept;
    [[nodiscard]] std::shared_ptr<const HostServices> shared_host() const noexcept;

    // Opens, negotiates, initialises and enumerates. NOT_FOUND lists what exists; otherwise the
    // remembered failure.
    [[nodiscard]] Result<PluginInfo> open_plugin(std::string_view id);

    // The first device that the selector names, is usable, and fits. Opens only plugins that can be
    // meant, an entry's only once the entries before it gave nothing. `auto` takes the best by
    // `Options::rank`. NO_DEVICE: each device passed over is a cause, what exists is listed, and
    // the remedy names an alternative.
    [[nodiscard]] Result<Selection> select(const Selector& selector, const Fit& fit = {});

    // The best device that `fit` has no reason against, for a refusal's remedy, or null. Looks at
    // built-in plugins and at those that are open already: a refusal loads no driver.
    [[nodiscard]] std::shared_ptr<const DeviceInfo> alternative(const Fit& fit);

    // Every device that the selector names, unusable ones included, `auto` being all. In the order
    // of the entries, without repeats. Empty is not an error here.
    [[nodiscard]] std::vector<std::shared_ptr<const DeviceInfo>> devices(const Selector& selector);

    // An artifact in another format, through the plugin's own compiler. No device is needed, nor a
    // driver: a plugin whose probe failed is asked all the same. `device` may be one that the
    // plugin does not have. UNSUPPORTED where it translates nothing, else what it says.
    [[nodiscard]] Result<std::vector<std::byte>> translate(std::string_view plugin,
                                                           std::uint32_t device,
                                                           const wye_artifact& artifact,
                                                           std::string_view format);

    // A format that some plugin here makes, by its manifest; opens nothing.
    struct Translator {
        std::string plugin;
        Translation translation;
    };
    [[nodiscard]] std::vector<Translator> translators() const;

    // What has to be the same for translations to be used again: the plugin, its file and its
    // compiler. As translate otherwise.
    [[nodiscard]] Result<std::string> translator_identity(std::string_view plugin);

    // Each call opens another, independent device. NO_DEVICE for an unusable one.
    [[nodiscard]] Result<DeviceRef> open_device(const DeviceInfo& device);

  private:
    struct Impl;
    explicit Registry(std::unique_ptr<Impl> impl) noexcept;
    std::unique_ptr<Impl> impl_;
};

}  // namespace wye::registry
