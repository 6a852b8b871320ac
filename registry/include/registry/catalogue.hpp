// SPDX-License-Identifier: Apache-2.0
//
// Registry: the catalogue of a context's plugins and devices. Making it searches and reads
// manifests, but opens no plugin. A plugin is opened once, on the first request for a device that
// it may have, and the result is kept. A built-in plugin takes precedence over a file of the same
// id, which gets a record.
//
// Shares ownership of opened plugins with their devices: a DeviceRef stays valid after the registry
// is gone. Free-threaded; holds no lock while a plugin runs. Whatever is passed over gets a Record.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "registry/device.hpp"
#include "registry/host_services.hpp"
#include "registry/identity.hpp"
#include "registry/layers.hpp"
#include "registry/probe.hpp"
#include "registry/record.hpp"
#include "registry/search.hpp"
#include "registry/selector.hpp"

namespace wye::registry {

// A plugin that is linked into the host. Its id must equal the description's.
struct BuiltinPlugin {
    std::string id;
    wye_plugin_query_fn query = nullptr;
};

// The score of a device for `auto`: the highest comes first, equal ones in search order.
struct Score {
    std::uint32_t points = 0;
    std::vector<std::string> reasons;  // for people: what the score is made of
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
    LogSink log;
    const FileSystem* files = nullptr;  // null: native_file_system(); must outlive the registry
};

enum class PluginState : std::uint8_t {
    found,   // manifest valid; not opened yet
    ready,   // opened; devices known (maybe none)
    failed,  // refused at a stage, see `reason`
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
    std::uint32_t abi_draft = 0;
    std::uint32_t abi_minor = 0;
    std::optional<Record> reason;                            // failed
    std::optional<Verdict> verdict;                          // of its probe, if there was one
    ProbeState probe = ProbeState::none;                     // where the verdict is from
    std::vector<std::shared_ptr<const DeviceInfo>> devices;  // ready
};

// A device, plugin or entry of a selector that was passed over in a choice.
struct PassedOver {
    enum class Why : std::uint8_t {
        unmatched,  // the entry names nothing that exists
        excluded,   // by a "-" entry
        failed,     // the plugin has no devices
        unusable,   // the plugin says so
        unfit,      // by properties, or by the program's needs
        outranked,  // it was not asked: another one is better, or comes first
        not_tried,  // a later preference; its plugin was not opened for it
    };
    std::string subject;  // a selector: "name:0", "name"
    std::string reason;
    std::string fix;  // may be empty
    Why why = Why::unfit;
};
[[nodiscard]] std::string_view why_name(PassedOver::Why why) noexcept;

// How binding a selector is.
enum class Policy : std::uint8_t {
    require,    // only devices that it names, in the order of its entries
    prefer,     // these first; then the best of all that it does not exclude
    automatic,  // the best of those that it names, whatever their order
};

struct Selection {
    std::shared_ptr<const DeviceInfo> device;
    std::string reason;  // "the first usable device of `cpu`, requested by name"
    std::vector<PassedOver> passed_over;
};

// Returns the reasons against a device; empty: it fits. Called without locks, possibly several
// times.
using Fit = std::function<std::vector<std::string>(const DeviceInfo&)>;

class Registry {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Registry>> create(Options options);
    ~Registry();
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;

    // Snapshots, in search order. Opening plugins adds records.
    [[nodiscard]] std::vector<PluginInfo> plugins() const;
    [[nodiscard]] std::vector<Record> records() const;
    // What is put over every plugin, the first nearest to the host.
    [[nodiscard]] const std::vector<Layer>& layers() const noexcept;
    [[nodiscard]] const HostServices& host() const noexcept;
    [[nodiscard]] std::shared_ptr<const HostServices> shared_host() const noexcept;

    // Opens, negotiates, initialises and enumerates, once. Errors: NOT_FOUND, with the plugins that
    // exist; the failure of the first call.
    [[nodiscard]] Result<PluginInfo> open_plugin(std::string_view id);

    // The first usable device that the selector names and `fit` accepts. Opens only plugins that
    // the selector can name, those of an entry only if the entries before gave no device. `auto`
    // takes the best by `Options::rank`. NO_DEVICE: each device passed over is a cause, the message
    // lists the existing devices, and the remedy names an alternative, or the nearest spelling.
    [[nodiscard]] Result<Selection> select(const Selector& selector, const Fit& fit = {},
                                           Policy policy = Policy::require);

    // The best device that `fit` accepts, for the remedy of a refusal, or null. Considers built-in
    // and opened plugins only, so that a refusal loads no driver.
    [[nodiscard]] std::shared_ptr<const DeviceInfo> alternative(const Fit& fit);

    // Every device that the selector names, including unusable ones; `auto` names all. In the order
    // of the entries, without duplicates; may be empty.
    [[nodiscard]] std::vector<std::shared_ptr<const DeviceInfo>> devices(const Selector& selector);

    // As devices, with the entries of the selector that name nothing.
    struct Listing {
        std::vector<std::shared_ptr<const DeviceInfo>> devices;
        std::vector<PassedOver> unmatched;
    };
    [[nodiscard]] Listing list(const Selector& selector);

    // One physical device, of the plugins opened so far.
    struct Physical {
        std::string id, identifier;                              // as in PhysicalDevice
        std::vector<std::shared_ptr<const DeviceInfo>> devices;  // the best by rank first
        std::vector<std::vector<Alias>> aliases;                 // of each device
    };
    struct PhysicalListing {
        std::vector<Physical> devices;  // ascending by id
        // Pairs of selectors whose evidence is contradictory.
        struct Doubt {
            std::string first, second, why;
        };
        std::vector<Doubt> doubts;
    };
    [[nodiscard]] PhysicalListing physical();

    // Translates an artifact to another format by the plugin's compiler. Needs no device and no
    // driver: works even if the plugin's probe failed, and `device` may be an index that the plugin
    // does not have. UNSUPPORTED if the plugin cannot translate; else the plugin's error.
    [[nodiscard]] Result<std::vector<std::byte>> translate(std::string_view plugin,
                                                           std::uint32_t device,
                                                           const wye_artifact& artifact,
                                                           std::string_view format);

    // The plugin whose manifest says that it makes the format; opens no plugin.
    struct Translator {
        std::string plugin;
        Translation translation;
    };
    [[nodiscard]] std::vector<Translator> translators() const;

    // The name and version of an opened plugin's compiler; empty: it has none that works.
    [[nodiscard]] std::string compiler(std::string_view plugin);

    // The identity of the plugin, its file and its compiler; cached translations are valid for it
    // only. Errors as for translate.
    [[nodiscard]] Result<std::string> translator_identity(std::string_view plugin);

    // Opens a device; each call gives an independent one. NO_DEVICE if it is unusable.
    [[nodiscard]] Result<DeviceRef> open_device(const DeviceInfo& device);

    // ---- Verdicts on plugin files; none of these opens a plugin or starts a process --------

    struct Remembered {
        std::string id, path;
        std::optional<Verdict> verdict;  // none: it was never probed, or it changed since
    };
    [[nodiscard]] std::vector<Remembered> remembered() const;
    // NOT_FOUND: there is no such plugin; IO. Built-in ones are never probed.
    [[nodiscard]] Result<void> trust(std::string_view id);
    [[nodiscard]] Result<void> forget(std::string_view id);

  private:
    struct Impl;
    explicit Registry(std::unique_ptr<Impl> impl) noexcept;
    std::unique_ptr<Impl> impl_;
};

}  // namespace wye::registry
