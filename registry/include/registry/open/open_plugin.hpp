// SPDX-License-Identifier: Apache-2.0
//
// OpenPlugin: an initialised plugin. open_plugin(): opens a candidate in stages, and records a
// failure. An OpenPlugin keeps the plugin's host services alive. Devices keep the OpenPlugin alive,
// so its destructor, which calls shutdown, runs after the last device is closed. The library stays
// mapped. Free-threaded once open. Internal to the registry.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "registry/find/search.hpp"
#include "registry/open/device.hpp"
#include "registry/open/host_services.hpp"
#include "registry/open/layers.hpp"
#include "registry/open/library.hpp"
#include "registry/record.hpp"

namespace wye::registry {

class OpenPlugin {
  public:
    // `layers`, which may be null, are put over the plugin.
    OpenPlugin(std::shared_ptr<HostServices> host, std::optional<Library> library,
               Negotiated negotiated, const Candidate& candidate,
               const std::shared_ptr<const Layers>& layers);
    // Shuts the plugin down if it was initialised.
    ~OpenPlugin();
    OpenPlugin(const OpenPlugin&) = delete;
    OpenPlugin& operator=(const OpenPlugin&) = delete;

    // Called once, before the other members.
    [[nodiscard]] Result<void> initialise();

    [[nodiscard]] const Negotiated& about() const noexcept { return negotiated_; }
    // The functions to call: the plugin's, or those of the topmost layer over it.
    [[nodiscard]] const wye_plugin_table& table() const noexcept { return negotiated_.table; }
    [[nodiscard]] wye_plugin_object* object() const noexcept { return object_; }
    [[nodiscard]] const HostServices& host() const noexcept { return *host_; }

    [[nodiscard]] bool built_in() const noexcept { return !library_; }

    // Identifies the plugin, its file and its compiler, on one line: saved programs are valid for
    // one identity only.
    [[nodiscard]] std::string identity() const;
    // The name and version of the plugin's compiler, whose library may be opened by this call.
    // Empty: the plugin has no compiler, or the compiler's library is missing. Nullopt: the plugin
    // failed.
    [[nodiscard]] std::optional<std::string> compiler() const;

  private:
    // A hash of the file's content, since copies may agree in version, size and time.
    const std::string& file_identity() const;

    std::shared_ptr<HostServices> host_;
    std::optional<Library> library_;  // none: the plugin is built in
    Negotiated negotiated_;
    std::unique_ptr<const LayerStack> layers_;  // null: there are none
    wye_plugin_object* object_ = nullptr;
    std::filesystem::path file_path_;  // empty: the plugin is built in
    FileStatus file_;
    mutable std::once_flag file_once_;
    mutable std::string file_identity_;
};

// What is known of a plugin that only the probe's process has opened.
struct Described {
    std::string version, vendor;
    std::uint32_t abi_minor = 0;
};

// The result of opening a plugin: `plugin` or `described` is set, or `records` ends with the
// refusal.
struct PluginOpening {
    std::shared_ptr<const OpenPlugin> plugin;
    std::optional<Described> described;
    [[nodiscard]] bool ready() const noexcept { return plugin || described; }
    std::vector<std::shared_ptr<const DeviceInfo>> devices;
    std::vector<Record> records;
    // Set once `init` succeeded, even if listing the devices failed: translation needs no device.
    std::shared_ptr<const OpenPlugin> translator;
};

// The opened library of a plugin or a layer, and what its query function says.
struct OpenFile {
    Library library;
    Negotiated about;
};
// After the call, `stage` is the stage that failed, or the last stage. Adds warnings to `records`.
[[nodiscard]] Result<OpenFile> open_file(const Candidate& candidate, const HostServices& host,
                                         Stage& stage, std::vector<Record>& records);

// Opens the built-in plugin of `query`; if `query` is null, opens the file `candidate.library`.
// Puts `layers`, which may be null, over the plugin. Restores signal handlers, alternate stack and
// floating-point mode before it returns.
[[nodiscard]] PluginOpening open_plugin(const Candidate& candidate, wye_plugin_query_fn query,
                                        const std::shared_ptr<HostServices>& host,
                                        const std::shared_ptr<const Layers>& layers);

[[nodiscard]] Result<DeviceRef> open_device(std::shared_ptr<const OpenPlugin> plugin,
                                            std::shared_ptr<const DeviceInfo> info);

}  // namespace wye::registry
