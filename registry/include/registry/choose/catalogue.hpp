// SPDX-License-Identifier: Apache-2.0
//
// Registry: the catalogue of a context's plugins and devices. The first request that is not for
// built-in plugins alone searches for plugins and reads their manifests, but opens none; with
// layers or WYE_PLUGINS_DISABLE, the registry already searches when it is created. A plugin is
// opened once, at the first request that may concern one of its devices, and the result is kept. If
// a plugin file has the id of a built-in plugin, the built-in one is used and the file gets a
// record.
//
// Devices share ownership of their plugin: a DeviceRef stays valid after the registry is destroyed.
// Free-threaded; holds no lock during a call of a plugin. Everything that is passed over gets a
// Record.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "registry/choose/identity.hpp"
#include "registry/choose/selector.hpp"
#include "registry/find/search.hpp"
#include "registry/open/device.hpp"
#include "registry/open/host_services.hpp"
#include "registry/open/layers.hpp"
#include "registry/probe/probe.hpp"
#include "registry/record.hpp"

namespace wye::registry {

// A plugin that is linked into the host. `id` must equal the id in the wye_plugin_desc that `query`
// returns.
struct BuiltinPlugin {
    std::string id;
    wye_plugin_query_fn query = nullptr;
};

// A device's score for `auto`: the highest comes first, equal scores in search order.
struct Score {
    std::uint32_t points = 0;
    std::vector<std::string> reasons;  // what the score is made of, as text for users
};
using Rank = std::function<Score(const DeviceInfo&)>;

struct Options {
    std::vector<BuiltinPlugin> builtins;
    Rank rank;                                             // null: all devices are equal
    bool search_files = true;                              // false: built-in plugins only
    std::vector<std::filesystem::path> application_paths;  // files or folders
    Environment environment;                               // empty: no variable is read
    bool elevated = false;                                 // process_is_elevated()
    std::filesystem::path system_folder;
    std::filesystem::path host_folder;  // of the host library
    Config config;                      // handed to plugins
    ProbeOptions probe;
    // Problems that the host found earlier, each with the area of its log line. With an empty area,
    // the registry does not log the record; the host does.
    std::vector<std::pair<std::string_view, Record>> records;
    bool named_cache = true;  // the cache folder was chosen by the user; false: it is the default
    LogSink log;
    std::uint32_t log_level = WYE_LOG_DEBUG;  // `log` drops texts of less severe levels
    // Null: native_file_system(). Any other object must outlive the registry.
    const FileSystem* files = nullptr;
};

enum class PluginState : std::uint8_t {
    found,   // manifest valid; not opened yet
    ready,   // opened; devices known (maybe none)
    failed,  // refused at a stage; `reason` says why
};
[[nodiscard]] std::string_view state_name(PluginState state) noexcept;

// A snapshot of one plugin candidate.
struct PluginInfo {
    std::string id;
    std::string path;  // empty: built in
    Source source = Source::builtin;
    PluginState state = PluginState::found;
    std::string backend;          // from the manifest; else the id
    std::string version;          // reported by the plugin if opened, else from the manifest
    std::string vendor;           // reported by the plugin; empty until it is opened
    std::uint32_t abi_major = 0;  // 0: not known yet
    std::uint32_t abi_draft = 0;
    std::uint32_t abi_minor = 0;
    std::optional<Record> reason;         // set if the state is `failed`
    std::optional<Verdict> verdict;       // of the plugin's probe, if it was probed
    ProbeState probe = ProbeState::none;  // how the verdict was obtained
    std::vector<std::shared_ptr<const DeviceInfo>> devices;  // filled if the state is `ready`
};

// A device, a plugin or a selector entry that was passed over in a selection.
struct PassedOver {
    enum class Why : std::uint8_t {
        unmatched,  // the entry names nothing that exists
        excluded,   // a "-" entry names it
        failed,     // the plugin failed, or found no devices
        unusable,   // the device is unusable, as its plugin or its probe says
        unfit,      // the device lacks a property, or does not fit the program
        outranked,  // not checked: the chosen device ranks higher or comes first
        not_tried,  // an entry of the selector after the one that gave the device
    };
    std::string subject;  // in selector syntax: "name:0", "name"
    std::string reason;
    std::string fix;  // may be empty
    Why why = Why::unfit;
};
[[nodiscard]] std::string_view why_name(PassedOver::Why why) noexcept;

// How strictly a selector binds the choice.
enum class Policy : std::uint8_t {
    require,    // only devices that the selector names, in the order of its entries
    prefer,     // as `require`; then the best of all others that are not excluded
    automatic,  // the best device that the selector names; the order of its entries does not count
};

struct Selection {
    std::shared_ptr<const DeviceInfo> device;
    std::string reason;  // "the first usable device of `cpu`, requested by name"
    std::vector<PassedOver> passed_over;
};

// Returns the reasons against a device; empty: the device fits. Called without locks, possibly
// several times for one device.
using Fit = std::function<std::vector<std::string>(const DeviceInfo&)>;

class Registry {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Registry>> create(Options options);
    ~Registry();
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;

    // Snapshots: the plugins, in search order, and the records. Opening a plugin may add records.
    [[nodiscard]] std::vector<PluginInfo> plugins() const;
    [[nodiscard]] std::vector<Record> records() const;
    // The layers, which are put over every plugin; the first is nearest to the host.
    [[nodiscard]] const std::vector<Layer>& layers() const noexcept;
    [[nodiscard]] const HostServices& host() const noexcept;
    [[nodiscard]] std::shared_ptr<const HostServices> shared_host() const noexcept;

    // Opens a plugin: negotiates with it, initialises it and enumerates its devices. Later calls
    // return the first result, a failure included. The error NOT_FOUND lists the plugins that
    // exist.
    [[nodiscard]] Result<PluginInfo> open_plugin(std::string_view id);

    // Selects the first usable device that the selector names and `fit` accepts. Opens only plugins
    // that the selector can name, and opens the plugins of an entry only if earlier entries gave no
    // device. `auto` takes the best device by `Options::rank`. NO_DEVICE: each device passed over
    // is a cause, the message lists the devices that exist, and the remedy suggests another device
    // or the nearest spelling.
    [[nodiscard]] Result<Selection> select(const Selector& selector, const Fit& fit = {},
                                           Policy policy = Policy::require);

    // Finds the best device that `fit` accepts, for the remedy of a refusal; null if there is none.
    // Considers built-in and opened plugins only, so that a refusal loads no driver.
    [[nodiscard]] std::shared_ptr<const DeviceInfo> alternative(const Fit& fit);

    // Lists every device that the selector names, unusable ones included; `auto` names all. Returns
    // the devices in the order of the entries, without duplicates; there may be none.
    [[nodiscard]] std::vector<std::shared_ptr<const DeviceInfo>> devices(const Selector& selector);

    // As `devices`, and also returns the selector entries that name nothing.
    struct Listing {
        std::vector<std::shared_ptr<const DeviceInfo>> devices;
        std::vector<PassedOver> unmatched;
    };
    [[nodiscard]] Listing list(const Selector& selector);

    // One physical device and the devices that represent it in the plugins opened so far.
    struct Physical {
        std::string id, identifier;                              // as in PhysicalDevice
        std::vector<std::shared_ptr<const DeviceInfo>> devices;  // highest rank first
        std::vector<std::vector<Alias>> aliases;                 // of each element of `devices`
    };
    struct PhysicalListing {
        std::vector<Physical> devices;  // ascending by id
        // Two devices, by selector, whose evidence of identity is contradictory.
        struct Doubt {
            std::string first, second, why;
        };
        std::vector<Doubt> doubts;
    };
    [[nodiscard]] PhysicalListing physical();

    // Translates an artifact to another format with the plugin's compiler. Needs neither device nor
    // driver: it works even if listing the plugin's devices failed, and `device` may be an index
    // that the plugin does not have. UNSUPPORTED if the plugin cannot translate; other errors are
    // the plugin's.
    [[nodiscard]] Result<std::vector<std::byte>> translate(std::string_view plugin,
                                                           std::uint32_t device,
                                                           const wye_artifact& artifact,
                                                           std::string_view format);

    // A translation that a plugin's compiler can make, as the plugin's manifest says. `translators`
    // lists all of them, and opens no plugin.
    struct Translator {
        std::string plugin;
        Translation translation;
    };
    [[nodiscard]] std::vector<Translator> translators() const;

    // The name and version of an opened plugin's compiler; empty if the plugin has no working
    // compiler.
    [[nodiscard]] std::string compiler(std::string_view plugin);

    // Identifies the plugin, its file and its compiler: cached translations are valid for one
    // identity only. Errors as for `translate`.
    [[nodiscard]] Result<std::string> translator_identity(std::string_view plugin);

    // Opens a device; each call gives an independent DeviceRef. NO_DEVICE if the device is
    // unusable.
    [[nodiscard]] Result<DeviceRef> open_device(const DeviceInfo& device);

    // ---- Verdicts on plugin files; none of these opens a plugin or starts a process --------

    struct Remembered {
        std::string id, path;
        std::optional<Verdict> verdict;  // none: the plugin was never probed, or has changed since
    };
    [[nodiscard]] std::vector<Remembered> remembered() const;
    // Marks a plugin file as trusted by the user; does nothing for a built-in plugin, which is
    // never probed. NOT_FOUND: there is no such plugin. IO: the trust cannot be stored.
    [[nodiscard]] Result<void> trust(std::string_view id);
    [[nodiscard]] Result<void> forget(std::string_view id);

  private:
    struct Impl;
    explicit Registry(std::unique_ptr<Impl> impl) noexcept;
    std::unique_ptr<Impl> impl_;
};

}  // namespace wye::registry
