// SPDX-License-Identifier: Apache-2.0
//
// KnownPlugins: the plugins of a registry: those that are built in, and those that the search for
// files found. Each is probed and opened at most once, when it is needed, and the result is kept,
// success or failure. A Registry owns the plugins, and devices share the ownership of opened ones.
//
// Free-threaded. No lock is held during a search, a probe or a call of a plugin, and no thread
// holds two locks. Each plugin has a mutex that guards its phase, and another mutex guards the
// records. Internal to the registry.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/choose/catalogue.hpp"
#include "registry/open/open_plugin.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::registry {

// A plugin that may be opened, and the result of opening it.
struct KnownPlugin {
    Candidate candidate;
    wye_plugin_query_fn query = nullptr;  // null unless the plugin is built in

    enum class Phase : std::uint8_t { idle, opening, done };
    sdk::WaitMutex mutex;
    std::condition_variable changed;
    Phase phase WYE_GUARDED_BY(mutex) = Phase::idle;
    std::optional<Probed> probed;  // of the opened copy; changes only in the phase `opening`
    PluginOpening opened;          // immutable once done
    std::size_t chosen = 0;        // the index of the opened copy; immutable once done

    // The number of copies of the plugin: the candidate and the candidates of the same id that it
    // shadows.
    [[nodiscard]] std::size_t copies() const noexcept { return 1 + candidate.shadowed.size(); }
    [[nodiscard]] const Candidate& copy(std::size_t at) const noexcept {
        return at == 0 ? candidate : candidate.shadowed[at - 1];
    }
    // The opened copy in the phase `done`, else the candidate.
    [[nodiscard]] const Candidate& current() WYE_EXCLUDES(mutex) {
        const sdk::Lock lock(mutex);
        return copy(phase == Phase::done ? chosen : 0);
    }
    // The result of opening the plugin; null: it is not opened yet. Immutable.
    [[nodiscard]] const PluginOpening* if_opened() WYE_EXCLUDES(mutex) {
        const sdk::Lock lock(mutex);
        return phase == Phase::done ? &opened : nullptr;
    }
    // A snapshot for the report.
    [[nodiscard]] PluginInfo info() WYE_EXCLUDES(mutex);
};

class KnownPlugins {
  public:
    // As `Registry::create`. Opens the layers; searches for plugin files only if the options need
    // that at once.
    [[nodiscard]] static Result<std::unique_ptr<KnownPlugins>> create(Options options);

    [[nodiscard]] const std::shared_ptr<HostServices>& host() const noexcept { return host_; }
    [[nodiscard]] const Prober& prober() const noexcept { return prober_; }
    [[nodiscard]] const Layers& layers() const noexcept { return *layers_; }

    // All plugins, in search order. The first call searches for plugin files, unless `create` did.
    // A context that uses only built-in plugins makes no such call.
    [[nodiscard]] const std::vector<KnownPlugin*>& all();
    [[nodiscard]] std::vector<KnownPlugin*> builtins() const;
    [[nodiscard]] KnownPlugin* find_builtin(std::string_view id) const;  // null: there is none
    // The error NOT_FOUND lists the plugins that exist.
    [[nodiscard]] Result<KnownPlugin*> find(std::string_view id);

    // All records so far, including those of the search if there was one.
    [[nodiscard]] std::vector<Record> records() const;

    // Probes, in parallel, those of the plugins that are not opened yet.
    void probe(const std::vector<KnownPlugin*>& wanted);
    // Opens a plugin; later and concurrent callers get the same result.
    const PluginOpening& open(KnownPlugin& plugin);

  private:
    KnownPlugins(Options& options, std::shared_ptr<HostServices> host);
    void keep(const std::vector<Record>& more, std::string_view area = "registry");
    [[nodiscard]] SearchResult search_places() const;
    void take(SearchResult found);
    [[nodiscard]] PluginOpening open_copy(const Candidate& candidate,
                                          std::optional<Probed>& probed) const;
    [[nodiscard]] PluginOpening open_now(KnownPlugin& plugin) const;

    const std::shared_ptr<HostServices> host_;
    const Prober prober_;
    const FileSystem& files_;
    std::shared_ptr<const Layers> layers_;               // fixed after create
    SearchInput places_;                                 // fixed after create
    std::vector<std::unique_ptr<KnownPlugin>> builtin_;  // fixed after create
    std::once_flag searched_;
    std::vector<std::unique_ptr<KnownPlugin>> in_files_;  // set by the search
    std::vector<KnownPlugin*> all_;                       // set by the search
    mutable sdk::Mutex records_mutex_;
    std::vector<Record> records_ WYE_GUARDED_BY(records_mutex_);
};

// The error for a request that needs a plugin which was not opened in this process.
[[nodiscard]] Error not_opened(const PluginOpening& opening);

}  // namespace wye::registry
