// SPDX-License-Identifier: Apache-2.0
#include "registry/choose/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>

#include "choice.hpp"
#include "registry/open/contain.hpp"
#include "registry/open/handshake.hpp"
#include "registry/open/process_state.hpp"
#include "registry/probe/open_probed.hpp"
#include "registry/probe/opening_mark.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::registry {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20U;  // of a translation

}  // namespace

// One candidate and, once it is opened, the result. Not in the unnamed namespace, since
// Registry::Impl has it as a member.
struct Plugin {
    Candidate candidate;
    wye_plugin_query_fn query = nullptr;  // null unless the plugin is built in

    enum class Phase : std::uint8_t { idle, opening, done };
    sdk::WaitMutex mutex;
    std::condition_variable changed;
    Phase phase WYE_GUARDED_BY(mutex) = Phase::idle;
    std::optional<Probed> probed;  // of the opened copy; set while `opening`, then immutable
    PluginOpening opened;          // immutable once done
    std::size_t chosen = 0;        // the opened copy; immutable once done

    // Copies of the plugin: the candidate, then those of the same id that it shadows.
    [[nodiscard]] std::size_t copies() const noexcept { return 1 + candidate.shadowed.size(); }
    [[nodiscard]] const Candidate& copy(std::size_t at) const noexcept {
        return at == 0 ? candidate : candidate.shadowed[at - 1];
    }
    // The opened copy once there is one, else the candidate.
    [[nodiscard]] const Candidate& current() WYE_EXCLUDES(mutex) {
        const sdk::Lock lock(mutex);
        return copy(phase == Phase::done ? chosen : 0);
    }
};

namespace {

constexpr std::size_t kRecordText = 2048;  // bytes of each text of a record

// Shortens long texts and escapes control characters, so that texts of plugins and drivers, and
// file names, cannot forge lines.
void on_one_line(Record& record) {
    for (std::string* text : {&record.message, &record.fix, &record.loader_text, &record.path,
                              &record.plugin, &record.missing_library}) {
        *text = one_line(text->substr(0, kRecordText));
        if (text->size() <= kRecordText) continue;
        text->resize(kRecordText);
        *text = one_line(*text) + "...";
    }
}

// Keeps a plugin's first records, then one with the number left out, then the last, which says why
// the plugin failed if it did. A plugin may report thousands of bad facts.
void shorten(std::vector<Record>& records) {
    constexpr std::size_t kMost = 64;
    if (records.size() <= kMost) return;
    Record left_out = records[kMost - 2];
    left_out.severity = Severity::warning;
    left_out.code = Code::LIMIT_EXCEEDED;
    left_out.message =
        fmt::format("{} more records of the plugin are left out", records.size() - (kMost - 1));
    left_out.fix = "Fix: remedy the causes that are listed, then look again";
    left_out.loader_text.clear();
    left_out.missing_library.clear();
    records[kMost - 2] = std::move(left_out);
    records[kMost - 1] = std::move(records.back());
    records.resize(kMost);
}

// Why a plugin that was not opened in this process cannot do what was asked.
Error not_opened(const PluginOpening& opening) {
    if (!opening.described) return to_error(opening.records.back());
    return {Code::UNSUPPORTED, "the context only describes plugins, and opens none",
            "Fix: create the context without WYE_CONTEXT_DESCRIBE"};
}

// Whether the file turned out not to be what its manifest says, so that another copy of the plugin
// may be opened. False for a file without a manifest, which the application named.
bool may_fall_back(const Candidate& candidate, const PluginOpening& opening) {
    if (opening.ready() || !candidate.manifest || opening.records.empty()) return false;
    const Record& why = opening.records.back();
    switch (why.code) {
        case Code::BAD_MANIFEST:
        case Code::BAD_PLUGIN:
        case Code::ABI_MISMATCH:
        case Code::UNSUPPORTED_EXTENSION:
        case Code::MISSING_DEPENDENCY:
        case Code::NOT_FOUND:
        case Code::NOT_TRUSTED:
            return why.stage >= Stage::architecture && why.stage <= Stage::negotiated;
        default:
            return false;
    }
}

Record fell_back(const Candidate& from, const Candidate& to) {
    const auto version = [](const Candidate& c) {
        return c.manifest ? fmt::format("version {}", c.manifest->version)
                          : std::string("no manifest");
    };
    Record out;
    out.stage = Stage::found;
    out.severity = Severity::warning;
    out.code = Code::DUPLICATE;
    out.message =
        fmt::format("`{}` ({}) is opened instead of `{}` ({}), which was refused",
                    to.library.string(), version(to), from.library.string(), version(from));
    out.fix = "Fix: remove or reinstall the one that was refused";
    out.path = from.library.string();
    out.plugin = from.id;
    return out;
}

Record layers_not_searched(std::string_view names) {
    Record out;
    out.severity = Severity::note;
    out.code = Code::DISABLED;
    out.message =
        fmt::format("the layers `{}` are not used, since the context opens no files", names);
    out.fix = "Fix: create the context without WYE_CONTEXT_NO_PLUGINS";
    return out;
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
    return fmt::format("{}", fmt::join(parts, between));
}

}  // namespace

std::string_view why_name(PassedOver::Why why) noexcept {
    switch (why) {
        case PassedOver::Why::unmatched:
            return "unmatched";
        case PassedOver::Why::excluded:
            return "excluded";
        case PassedOver::Why::failed:
            return "failed";
        case PassedOver::Why::unusable:
            return "unusable";
        case PassedOver::Why::unfit:
            return "unfit";
        case PassedOver::Why::outranked:
            return "outranked";
        case PassedOver::Why::not_tried:
            return "not_tried";
    }
    return "unknown";
}

std::string_view state_name(PluginState state) noexcept {
    switch (state) {
        case PluginState::found:
            return "found";
        case PluginState::ready:
            return "ready";
        case PluginState::failed:
            return "failed";
    }
    return "unknown";
}

struct Registry::Impl {
    std::shared_ptr<HostServices> host;
    std::optional<Prober> prober;                  // set by create
    std::shared_ptr<const Layers> layers;          // set by create
    Rank rank;                                     // may be null
    std::vector<std::unique_ptr<Plugin>> builtin;  // fixed after create
    SearchInput places;                            // likewise
    const FileSystem* files = nullptr;             // likewise
    std::once_flag searched;
    std::vector<std::unique_ptr<Plugin>> in_files;  // set by the search
    std::vector<Plugin*> all;                       // set by the search
    mutable sdk::Mutex records_mutex;
    std::vector<Record> records WYE_GUARDED_BY(records_mutex);
    sdk::Mutex identified_mutex;
    std::shared_ptr<const Identified> known_identified WYE_GUARDED_BY(identified_mutex);
    // The number of opened plugins when `known_identified` was made.
    std::size_t identified_plugins WYE_GUARDED_BY(identified_mutex) = 0;

    void keep(const std::vector<Record>& more, std::string_view area = "registry") {
        for (const Record& record : more) {
            const std::uint32_t level =
                record.severity == Severity::note ? WYE_LOG_INFO : WYE_LOG_WARNING;
            if (!area.empty()) host->log(level, area, to_text(record));
        }
        const sdk::Lock lock(records_mutex);
        records.insert(records.end(), more.begin(), more.end());
    }

    [[nodiscard]] std::vector<Record> records_now() const {
        const sdk::Lock lock(records_mutex);
        return records;
    }

    // All plugins, in search order. The first call searches for files; a context that uses built-in
    // plugins only never does.
    [[nodiscard]] const std::vector<Plugin*>& plugins() {
        std::call_once(searched, [this] { take(search_places()); });
        return all;
    }

    [[nodiscard]] std::vector<Plugin*> builtins() const {
        std::vector<Plugin*> out;
        for (const auto& plugin : builtin) out.push_back(plugin.get());
        return out;
    }

    [[nodiscard]] SearchResult search_places() const {
        SearchInput input = places;
        input.trusted = trusted_users(input.elevated);
        return search(input, *files);
    }

    void take(SearchResult found) {
        std::vector<std::unique_ptr<Plugin>> made;
        std::vector<Plugin*> both = builtins();
        for (Candidate& candidate : found.candidates) {
            made.push_back(std::make_unique<Plugin>());
            made.back()->candidate = std::move(candidate);
            both.push_back(made.back().get());
        }
        for (Record& record : found.records) on_one_line(record);
        keep(found.records);
        in_files = std::move(made);
        all = std::move(both);
    }

    // Probes those plugins that are not opened yet, all at once. Holds no lock meanwhile.
    void probe(const std::vector<Plugin*>& wanted) {
        std::vector<Plugin*> claimed;
        std::vector<const Candidate*> candidates;
        claimed.reserve(wanted.size());
        candidates.reserve(wanted.size());
        for (Plugin* plugin : wanted) {
            const sdk::Lock lock(plugin->mutex);
            if (plugin->query != nullptr || plugin->phase != Plugin::Phase::idle || plugin->probed)
                continue;
            candidates.push_back(&plugin->candidate);
            claimed.push_back(plugin);
            plugin->phase = Plugin::Phase::opening;
        }
        std::vector<Probed> results;
        // Allocates nothing: others wait for the plugins to be released.
        const auto release = [&]() noexcept {
            for (std::size_t i = 0; i < claimed.size(); ++i) {
                const sdk::Lock lock(claimed[i]->mutex);
                if (!results.empty()) claimed[i]->probed = std::move(results[i]);
                claimed[i]->phase = Plugin::Phase::idle;
                claimed[i]->changed.notify_all();
            }
        };
        try {
            results = prober->probe(candidates);
        } catch (...) {
            release();
            throw;
        }
        release();
    }

    // Opens one copy of a plugin. `probed`: the probe's result, if there is one.
    PluginOpening open_copy(const Candidate& candidate, std::optional<Probed>& probed) const {
        if (!prober->on()) return registry::open_plugin(candidate, nullptr, host, layers);
        if (!probed) {
            const Candidate* const one[] = {&candidate};
            probed = prober->probe(one).front();
        }
        return open_probed(candidate, *prober, *probed, host, layers);
    }

    // Opens the first copy whose file is what its manifest says; if there is none, returns the
    // refusal of the first. Called by the one thread that set the phase to `opening`.
    PluginOpening open_now(Plugin& plugin) const {
        if (plugin.query != nullptr)
            return registry::open_plugin(plugin.candidate, plugin.query, host, layers);
        plugin.chosen = 0;
        PluginOpening first = open_copy(plugin.candidate, plugin.probed);
        PluginOpening* last = &first;
        PluginOpening opened;
        std::vector<Record> refusals;
        for (std::size_t at = 1; at < plugin.copies(); ++at) {
            if (!may_fall_back(plugin.copy(at - 1), *last)) break;
            if (at > 1)
                refusals.insert(refusals.end(), opened.records.begin(), opened.records.end());
            std::optional<Probed> probed;
            opened = open_copy(plugin.copy(at), probed);
            last = &opened;
            if (!opened.ready()) continue;
            refusals.insert(refusals.begin(), first.records.begin(), first.records.end());
            refusals.push_back(fell_back(plugin.candidate, plugin.copy(at)));
            opened.records.insert(opened.records.begin(), refusals.begin(), refusals.end());
            plugin.chosen = at;
            plugin.probed = std::move(probed);
            return opened;
        }
        if (last != &first)
            refusals.insert(refusals.end(), opened.records.begin(), opened.records.end());
        first.records.insert(first.records.begin(), refusals.begin(), refusals.end());
        return first;
    }

    // Opens a plugin once; later and concurrent callers get the same result. Holds no lock
    // meanwhile.
    const PluginOpening& open(Plugin& plugin) {
        sdk::WaitingLock lock(plugin.mutex);
        while (plugin.phase == Plugin::Phase::opening) lock.wait(plugin.changed);
        if (plugin.phase == Plugin::Phase::idle) {
            plugin.phase = Plugin::Phase::opening;
            lock.unlock();
            PluginOpening opened;
            try {
                opened = open_now(plugin);
                shorten(opened.records);
                for (Record& record : opened.records) on_one_line(record);
                keep(opened.records);
            } catch (...) {  // no memory: the next caller tries again
                lock.lock();
                plugin.phase = Plugin::Phase::idle;
                plugin.changed.notify_all();
                throw;
            }
            lock.lock();
            plugin.opened = std::move(opened);
            plugin.phase = Plugin::Phase::done;
            plugin.changed.notify_all();
        }
        return plugin.opened;
    }

    [[nodiscard]] Plugin* find_builtin(std::string_view id) const {
        for (const auto& plugin : builtin)
            if (plugin->candidate.id == id) return plugin.get();
        return nullptr;
    }

    [[nodiscard]] Plugin* find(std::string_view id) {
        if (Plugin* const found = find_builtin(id)) return found;
        for (Plugin* const plugin : plugins())
            if (plugin->candidate.id == id) return plugin;
        return nullptr;
    }

    // Whether each entry names a built-in plugin, so that the selector needs no search for files.
    [[nodiscard]] bool names_builtin(const Selector& selector) const {
        return std::ranges::all_of(selector.wanted(), [&](const SelectorEntry& entry) {
            return find_builtin(entry.plugin) != nullptr;
        });
    }

    // A text such as "devices a:0, b:0; plugins not opened: c". Opens no plugin.
    [[nodiscard]] std::string what_exists() {
        std::vector<std::string> devices;
        std::vector<std::string> closed;
        std::vector<std::string> failed;
        for (Plugin* const plugin : plugins()) {
            const sdk::Lock lock(plugin->mutex);
            if (plugin->phase != Plugin::Phase::done) {
                closed.push_back(plugin->candidate.id);
            } else if (!plugin->opened.ready()) {
                failed.push_back(plugin->candidate.id);
            } else {
                for (const DevicePtr& device : plugin->opened.devices)
                    devices.push_back(device->selector + (device->usable ? "" : " (unusable)"));
            }
        }
        std::vector<std::string> out;
        if (!devices.empty()) out.push_back("devices " + joined(devices, ", "));
        if (!closed.empty()) out.push_back("plugins not opened: " + joined(closed, ", "));
        if (!failed.empty()) out.push_back("plugins that failed: " + joined(failed, ", "));
        return out.empty() ? "no devices" : joined(out, "; ");
    }

    static Described description(const PluginOpening& opened) {
        if (opened.described) return *opened.described;
        const Negotiated& about = opened.plugin->about();
        return {about.version, about.vendor, about.minor_built};
    }

    static PluginInfo describe(Plugin& plugin) {
        PluginInfo out;
        const sdk::Lock lock(plugin.mutex);
        const bool done = plugin.phase == Plugin::Phase::done;
        const Candidate& candidate = plugin.copy(done ? plugin.chosen : 0);
        out.id = candidate.id;
        out.path = one_line(candidate.library.string());
        out.source = candidate.source;
        out.backend = candidate.id;
        if (candidate.manifest) {
            out.backend = candidate.manifest->backend;
            out.version = candidate.manifest->version;
            out.abi_major = candidate.manifest->abi_major;
            out.abi_draft = candidate.manifest->draft;
            out.abi_minor = candidate.manifest->minor_built;
        }
        if (!done) return out;
        if (plugin.probed) {
            out.verdict = plugin.probed->verdict;
            out.probe = plugin.probed->state;
        } else if (plugin.query == nullptr) {
            out.probe = ProbeState::off;
        }
        if (!plugin.opened.ready()) {
            out.state = PluginState::failed;
            if (!plugin.opened.records.empty()) out.reason = plugin.opened.records.back();
            return out;
        }
        const Described about = description(plugin.opened);
        out.state = PluginState::ready;
        out.version = about.version;
        out.vendor = about.vendor;
        out.abi_major = WYE_ABI_MAJOR;
        out.abi_draft = WYE_ABI_MINOR_DRAFT;
        out.abi_minor = about.abi_minor;
        out.devices = plugin.opened.devices;
        return out;
    }

    // ---- Selection ------------------------------------------------------------------------

    // The input of a selection from these plugins. Valid while this object lives.
    [[nodiscard]] ChoiceSource source(std::vector<Plugin*> from) {
        ChoiceSource out{{}, {}, [this] { return identified(); }, rank};
        for (const Plugin* plugin : from) out.plugins.push_back(plugin->candidate.id);
        out.prepare = [this, from](std::span<const std::size_t> wanted) {
            if (!prober->on()) return;
            std::vector<Plugin*> list;
            for (const std::size_t at : wanted) list.push_back(from[at]);
            probe(list);
        };
        out.records = [this] { return records_now(); };
        out.open = [this, from = std::move(from)](std::size_t at) -> ChoiceSource::Opened {
            const PluginOpening& opened = open(*from[at]);
            if (opened.ready()) return {true, {}, {}, opened.devices};
            const Record& why = opened.records.back();
            return {
                false,
                fmt::format("the plugin failed ({}): {}{}", stage_name(why.stage), why.message,
                            why.loader_text.empty() ? "" : fmt::format(" [{}]", why.loader_text)),
                why.fix,
                {}};
        };
        return out;
    }

    // The devices opened so far, grouped by physical device. Rebuilt if a plugin was opened since.
    [[nodiscard]] std::shared_ptr<const Identified> identified() {
        std::vector<const PluginOpening*> all;  // immutable once done
        for (Plugin* const plugin : plugins()) {
            const sdk::Lock lock(plugin->mutex);
            if (plugin->phase == Plugin::Phase::done) all.push_back(&plugin->opened);
        }
        const sdk::Lock lock(identified_mutex);
        if (known_identified && identified_plugins == all.size()) return known_identified;
        auto made = std::make_shared<Identified>();
        for (const PluginOpening* opened : all)
            made->devices.insert(made->devices.end(), opened->devices.begin(),
                                 opened->devices.end());
        const bool processors = std::ranges::any_of(made->devices, [](const DevicePtr& device) {
            return device->facts.has(WYE_FACT_KEY_HOST_PROCESSOR);
        });
        if (processors) made->host = host_processor();
        made->identities = identify(made->devices, made->host);
        for (std::size_t i = 0; i < made->devices.size(); ++i)
            made->index.emplace(made->devices[i].get(), i);
        known_identified = std::move(made);
        identified_plugins = all.size();
        return known_identified;
    }

    Error unknown_plugin(std::string_view id) {
        std::vector<std::string_view> ids;
        for (const Plugin* known : plugins()) ids.push_back(known->candidate.id);
        Absence why = absence_of(id, ids, records_now());
        if (why.fix.empty()) why.fix = "Fix: install it, or set WYE_PLUGIN_PATH_ADD";
        return {Code::NOT_FOUND, std::move(why.reason), std::move(why.fix), std::string(id)};
    }

    [[nodiscard]] std::uint32_t points(const DeviceInfo& device) const {
        return rank ? rank(device).points : 0;
    }

    // Prefers devices of a plugin that the selector names.
    DevicePtr alternative(const Fit& fit, const Selector* selector = nullptr) {
        const auto is_named = [&](const DeviceInfo& device) {
            return selector != nullptr &&
                   std::ranges::any_of(selector->entries, [&](const SelectorEntry& entry) {
                       return !entry.discard && entry.plugin == device.plugin;
                   });
        };
        DevicePtr best;
        std::pair<bool, std::uint32_t> most;
        for (Plugin* const plugin : plugins()) {
            if (plugin->query == nullptr) {
                const sdk::Lock lock(plugin->mutex);
                if (plugin->phase != Plugin::Phase::done) continue;
            }
            for (const DevicePtr& device : open(*plugin).devices) {
                const std::pair own(is_named(*device), points(*device));
                if (!device->usable || (best && own <= most) || !fit(*device).empty()) continue;
                best = device;
                most = own;
            }
        }
        return best;
    }

    Error nothing(const Selector& selector, const std::vector<PassedOver>& passed_over) {
        Error out(Code::NO_DEVICE,
                  fmt::format("no usable device matches `{}`; there are {}", to_text(selector),
                              what_exists()),
                  "Fix: choose one that `wye info -l` lists, or remedy one of the causes",
                  to_text(selector));
        // Makes a chain of causes, each device passed over the cause of the one before it. The last
        // cause states the number of devices left out.
        const auto put_before = [&out](Error cause) {
            cause.cause = std::move(out.cause);
            out.cause = std::make_shared<const Error>(std::move(cause));
        };
        std::size_t shown = passed_over.size();
        if (shown > kMostCauses) {
            shown = kMostCauses - 1;
            put_before({Code::NO_DEVICE,
                        fmt::format("{} more were passed over", passed_over.size() - shown),
                        "Fix: name fewer devices to see their reasons", to_text(selector)});
        }
        for (; shown > 0; --shown) {
            const PassedOver& at = passed_over[shown - 1];
            put_before({Code::NO_DEVICE, fmt::format("{}: {}", at.subject, at.reason), at.fix,
                        at.subject});
        }
        return out;
    }
};

Registry::Registry(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Registry::~Registry() = default;

Result<std::unique_ptr<Registry>> Registry::create(Options options) {
    auto impl = std::make_unique<Impl>();
    impl->host = HostServices::create(std::move(options.config), std::move(options.log));
    impl->prober.emplace(std::move(options.probe), impl->host);
    impl->rank = std::move(options.rank);
    for (const auto& [area, record] : options.records) impl->keep({record}, area);
    SearchInput input;
    for (const BuiltinPlugin& builtin : options.builtins) {
        if (builtin.query == nullptr || !valid_plugin_id(builtin.id) ||
            impl->find_builtin(builtin.id))
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("the built-in plugin `{}` has no query function, an invalid "
                                     "id, or is listed twice",
                                     builtin.id),
                         "Fix: correct the host's list of built-in plugins", builtin.id);
        auto plugin = std::make_unique<Plugin>();
        plugin->candidate.id = builtin.id;
        plugin->candidate.source = Source::builtin;
        plugin->query = builtin.query;
        impl->builtin.push_back(std::move(plugin));
        input.taken_ids.push_back(builtin.id);
    }
    input.environment = std::move(options.environment);
    input.elevated = options.elevated;
    if (options.search_files) {
        input.application = std::move(options.application_paths);
        input.user_folder = user_plugin_folder(input.environment);
        input.system_folder = std::move(options.system_folder);
        input.host_folder = std::move(options.host_folder);
    } else {
        // Without a search, the variables that name paths are ignored.
        input.environment.erase("WYE_PLUGIN_PATH");
        input.environment.erase("WYE_PLUGIN_PATH_ADD");
    }
    const auto named = impl->host->config().find(kLayersKey);
    const std::string_view layers =
        named == impl->host->config().end() ? std::string_view() : named->second;
    // Two settings need the search now: layers, which are opened first, and WYE_PLUGINS_DISABLE,
    // which may name a built-in plugin.
    const bool search_now =
        !options.search_files || !layers.empty() || input.environment.contains(kDisableVariable);
    impl->places = std::move(input);
    impl->files = options.files != nullptr ? options.files : &native_file_system();
    SearchResult found;
    if (search_now) found = impl->search_places();
    // Without a search, an unknown plugin may still exist.
    if (!options.search_files)
        std::erase_if(found.records, [](const Record& r) { return r.code == Code::NOT_FOUND; });
    if (!options.search_files && !layers.empty())
        found.records.push_back(layers_not_searched(layers));
    WYE_ASSIGN(impl->layers,
               Layers::open(options.search_files ? layers : std::string_view(), found, impl->host));
    std::erase_if(impl->builtin, [&](const auto& plugin) {
        return std::ranges::find(found.disabled, plugin->candidate.id) != found.disabled.end();
    });
    if (search_now) std::call_once(impl->searched, [&] { impl->take(std::move(found)); });
    return std::unique_ptr<Registry>(new Registry(std::move(impl)));
}

std::vector<PluginInfo> Registry::plugins() const {
    std::vector<PluginInfo> out;
    for (Plugin* const plugin : impl_->plugins()) out.push_back(Impl::describe(*plugin));
    return out;
}

std::vector<Record> Registry::records() const {
    (void)impl_->plugins();
    return impl_->records_now();
}

const std::vector<Layer>& Registry::layers() const noexcept { return impl_->layers->list(); }

const HostServices& Registry::host() const noexcept { return *impl_->host; }
std::shared_ptr<const HostServices> Registry::shared_host() const noexcept { return impl_->host; }

Result<PluginInfo> Registry::open_plugin(std::string_view id) {
    Plugin* plugin = impl_->find(id);
    if (plugin == nullptr) return impl_->unknown_plugin(id);
    const PluginOpening& opened = impl_->open(*plugin);
    if (!opened.ready()) return to_error(opened.records.back());
    return Impl::describe(*plugin);
}

Result<std::vector<std::byte>> Registry::translate(std::string_view id, std::uint32_t device,
                                                   const wye_artifact& artifact,
                                                   std::string_view format) {
    Plugin* plugin = impl_->find(id);
    if (plugin == nullptr) return impl_->unknown_plugin(id);
    const PluginOpening& opened = impl_->open(*plugin);
    if (!opened.translator) return not_opened(opened);
    const OpenPlugin& from = *opened.translator;
    const ProcessStateGuard guard(!from.built_in());
    wye_bytes bytes{};
    WYE_TRY(contain(id, "translate", [&](wye_error** error) {
        return from.table().translate(from.object(), device, &artifact, sdk::to_abi(format), &bytes,
                                      error);
    }));
    if (bytes.data == nullptr) return null_object_fault("translate");
    auto out = read_bytes(bytes, kMostBytes, "the result of the slot `translate`");
    contain_end(*impl_->host, id, "translate_release",
                [&] { from.table().translate_release(from.object(), bytes); });
    return out;
}

std::vector<Registry::Translator> Registry::translators() const {
    std::vector<Translator> out;
    for (Plugin* const plugin : impl_->plugins())
        if (const auto& manifest = plugin->current().manifest)
            for (const Translation& translation : manifest->translates)
                out.push_back({plugin->candidate.id, translation});
    return out;
}

Result<std::string> Registry::translator_identity(std::string_view id) {
    Plugin* plugin = impl_->find(id);
    if (plugin == nullptr) return impl_->unknown_plugin(id);
    const PluginOpening& opened = impl_->open(*plugin);
    if (!opened.translator) return not_opened(opened);
    return opened.translator->identity();
}

std::string Registry::compiler(std::string_view id) {
    Plugin* plugin = impl_->find(id);
    if (plugin == nullptr) return {};
    const auto& manifest = plugin->current().manifest;
    if (!manifest || manifest->translates.empty()) return {};
    {
        const sdk::Lock lock(plugin->mutex);
        if (plugin->phase != Plugin::Phase::done) return {};
        if (!plugin->opened.translator && plugin->probed && plugin->probed->verdict)
            return plugin->probed->verdict->message.compiler;
        if (!plugin->opened.translator) return {};
    }
    const OpenPlugin& from = *plugin->opened.translator;  // immutable once done
    const ProcessStateGuard guard(!from.built_in());
    return from.compiler().value_or(std::string());
}

Result<Selection> Registry::select(const Selector& selector, const Fit& fit, Policy policy) {
    std::vector<PassedOver> passed_over;
    if (policy != Policy::prefer && impl_->names_builtin(selector)) {
        const ChoiceSource source = impl_->source(impl_->builtins());
        if (auto chosen = choose(source, selector, fit, policy, passed_over))
            return std::move(*chosen);
        passed_over.clear();
    }
    const ChoiceSource source = impl_->source(impl_->plugins());
    if (auto chosen = choose(source, selector, fit, policy, passed_over)) return std::move(*chosen);
    Error error = impl_->nothing(selector, passed_over);
    const auto unmatched = std::ranges::find_if(passed_over, [](const PassedOver& one) {
        return one.why == PassedOver::Why::unmatched && !one.fix.empty();
    });
    const DevicePtr other = fit ? impl_->alternative(fit, &selector) : nullptr;
    if (unmatched != passed_over.end())
        error.fix = unmatched->fix + (other ? "; `" + other->selector + "` can run it too" : "");
    else if (other)
        error.fix = fmt::format("Fix: choose `{}`, which can run it, or remedy one of the causes",
                                other->selector);
    return error;
}

DevicePtr Registry::alternative(const Fit& fit) { return impl_->alternative(fit); }

std::vector<DevicePtr> Registry::devices(const Selector& selector) {
    return list(selector).devices;
}

Registry::Listing Registry::list(const Selector& selector) {
    Listing out;
    std::set<std::string> seen;
    std::vector<PassedOver> passed_over;
    const ChoiceSource source = impl_->source(impl_->plugins());
    for (const SelectorEntry& entry : selector.wanted())
        for (DevicePtr& device : named(source, entry, selector, passed_over))
            if (seen.insert(device->selector).second) out.devices.push_back(std::move(device));
    for (PassedOver& one : passed_over)
        if (one.why == PassedOver::Why::unmatched) out.unmatched.push_back(std::move(one));
    return out;
}

Registry::PhysicalListing Registry::physical() {
    const std::shared_ptr<const Identified> all = impl_->identified();
    PhysicalListing out;
    for (const PhysicalDevice& one : all->identities.physical) {
        Physical& made = out.devices.emplace_back(Physical{one.id, one.identifier, {}, {}});
        std::vector<std::size_t> members = one.members;
        std::ranges::stable_sort(members, std::greater<>(),
                                 [&](std::size_t at) { return impl_->points(*all->devices[at]); });
        for (const std::size_t at : members) {
            made.devices.push_back(all->devices[at]);
            made.aliases.push_back(aliases(all->devices, all->identities, at, all->host));
        }
    }
    std::ranges::sort(out.devices, {}, &Physical::id);
    for (const Doubt& doubt : all->identities.doubts)
        out.doubts.push_back(
            {all->devices[doubt.first]->selector, all->devices[doubt.second]->selector, doubt.why});
    return out;
}

Result<DeviceRef> Registry::open_device(const DeviceInfo& device) {
    Plugin* plugin = impl_->find(device.plugin);
    if (plugin == nullptr)
        return Error(Code::NOT_FOUND, fmt::format("there is no plugin `{}`", device.plugin),
                     "Fix: take the device from this registry", device.selector);
    const PluginOpening& opened = impl_->open(*plugin);
    if (!opened.plugin) return not_opened(opened);
    if (device.index >= opened.devices.size())
        return Error(Code::NOT_FOUND, fmt::format("there is no device `{}`", device.selector),
                     "Fix: take the device from this registry", device.selector);
    const OpeningMark mark = plugin->probed ? impl_->prober->mark(*plugin->probed) : OpeningMark();
    return registry::open_device(opened.plugin, opened.devices[device.index]);
}

std::vector<Registry::Remembered> Registry::remembered() const {
    std::vector<Remembered> out;
    for (Plugin* const plugin : impl_->plugins()) {
        if (plugin->query != nullptr) continue;
        for (std::size_t i = 0; i < plugin->copies(); ++i) {
            const Candidate& copy = plugin->copy(i);
            auto verdict = impl_->prober->recall(copy);
            if (i == 0 || verdict)
                out.push_back({copy.id, one_line(copy.library.string()), std::move(verdict)});
        }
    }
    return out;
}

Result<void> Registry::trust(std::string_view id) {
    const Plugin* plugin = impl_->find(id);
    if (plugin == nullptr) return impl_->unknown_plugin(id);
    for (std::size_t i = 0; i < plugin->copies() && plugin->query == nullptr; ++i)
        WYE_TRY(impl_->prober->trust(plugin->copy(i)));
    return {};
}

Result<void> Registry::forget(std::string_view id) {
    const Plugin* plugin = impl_->find(id);
    if (plugin == nullptr) return impl_->unknown_plugin(id);
    for (std::size_t i = 0; i < plugin->copies() && plugin->query == nullptr; ++i)
        impl_->prober->forget(plugin->copy(i));
    return {};
}

}  // namespace wye::registry
