// SPDX-License-Identifier: Apache-2.0
#include "known_plugins.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "choice.hpp"
#include "registry/probe/open_probed.hpp"

namespace wye::registry {
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

// Keeps a plugin's first records, then a record with the number of those left out, then the last
// record, which says why the plugin failed if it did. A plugin may report thousands of bad facts.
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

// Whether opening a copy of a plugin failed because of its file, so that the next copy may be
// opened. False for a file without a manifest, which the application named.
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
    return record_about(
        from, Stage::found, Severity::warning, Code::DUPLICATE,
        fmt::format("`{}` ({}) is opened instead of `{}` ({}), which was refused",
                    to.library.string(), version(to), from.library.string(), version(from)),
        "Fix: remove or reinstall the one that was refused");
}

Record layers_not_searched(std::string_view names) {
    return {.severity = Severity::note,
            .code = Code::DISABLED,
            .message = fmt::format("the layers `{}` are not used, since the context opens no files",
                                   names),
            .fix = "Fix: create the context without WYE_CONTEXT_NO_PLUGINS"};
}

}  // namespace

PluginInfo KnownPlugin::info() {
    PluginInfo out;
    const sdk::Lock lock(mutex);
    const bool done = phase == Phase::done;
    const Candidate& from = copy(done ? chosen : 0);
    out.id = from.id;
    out.path = one_line(from.library.string());
    out.source = from.source;
    out.backend = from.id;
    if (from.manifest) {
        out.backend = from.manifest->backend;
        out.version = from.manifest->version;
        out.abi_major = from.manifest->abi_major;
        out.abi_draft = from.manifest->draft;
        out.abi_minor = from.manifest->minor_built;
    }
    if (!done) return out;
    if (probed) {
        out.verdict = probed->verdict;
        out.probe = probed->state;
    } else if (query == nullptr) {
        out.probe = ProbeState::off;
    }
    if (!opened.ready()) {
        out.state = PluginState::failed;
        if (!opened.records.empty()) out.reason = opened.records.back();
        return out;
    }
    const Described about =
        opened.described ? *opened.described
                         : Described{opened.plugin->about().version, opened.plugin->about().vendor,
                                     opened.plugin->about().minor_built};
    out.state = PluginState::ready;
    out.version = about.version;
    out.vendor = about.vendor;
    out.abi_major = WYE_ABI_MAJOR;
    out.abi_draft = WYE_ABI_MINOR_DRAFT;
    out.abi_minor = about.abi_minor;
    out.devices = opened.devices;
    return out;
}

KnownPlugins::KnownPlugins(Options& options, std::shared_ptr<HostServices> host)
    : host_(std::move(host)),
      prober_(std::move(options.probe), host_),
      files_(options.files != nullptr ? *options.files : native_file_system()) {}

Result<std::unique_ptr<KnownPlugins>> KnownPlugins::create(Options options) {
    std::unique_ptr<KnownPlugins> out(new KnownPlugins(
        options, HostServices::create(std::move(options.config), std::move(options.log))));
    for (const auto& [area, record] : options.records) out->keep({record}, area);
    SearchInput input;
    for (const BuiltinPlugin& builtin : options.builtins) {
        if (builtin.query == nullptr || !valid_plugin_id(builtin.id) ||
            out->find_builtin(builtin.id))
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("the built-in plugin `{}` has no query function, an invalid "
                                     "id, or is listed twice",
                                     builtin.id),
                         "Fix: correct the host's list of built-in plugins", builtin.id);
        auto plugin = std::make_unique<KnownPlugin>();
        plugin->candidate.id = builtin.id;
        plugin->candidate.source = Source::builtin;
        plugin->query = builtin.query;
        out->builtin_.push_back(std::move(plugin));
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
    const auto named = out->host_->config().find(kLayersKey);
    const std::string_view layers =
        named == out->host_->config().end() ? std::string_view() : named->second;
    // Two settings need the search now: layers, which are opened first, and WYE_PLUGINS_DISABLE,
    // which may name a built-in plugin.
    const bool search_now =
        !options.search_files || !layers.empty() || input.environment.contains(kDisableVariable);
    out->places_ = std::move(input);
    SearchResult found;
    if (search_now) found = out->search_places();
    // Without a search for files, a plugin that WYE_PLUGINS_DISABLE names may exist although it was
    // not found.
    if (!options.search_files)
        std::erase_if(found.records, [](const Record& r) { return r.code == Code::NOT_FOUND; });
    if (!options.search_files && !layers.empty())
        found.records.push_back(layers_not_searched(layers));
    WYE_ASSIGN(out->layers_,
               Layers::open(options.search_files ? layers : std::string_view(), found, out->host_));
    std::erase_if(out->builtin_, [&](const auto& plugin) {
        return std::ranges::find(found.disabled, plugin->candidate.id) != found.disabled.end();
    });
    if (search_now) std::call_once(out->searched_, [&] { out->take(std::move(found)); });
    return out;
}

const std::vector<KnownPlugin*>& KnownPlugins::all() {
    std::call_once(searched_, [this] { take(search_places()); });
    return all_;
}

std::vector<KnownPlugin*> KnownPlugins::builtins() const {
    std::vector<KnownPlugin*> out;
    for (const auto& plugin : builtin_) out.push_back(plugin.get());
    return out;
}

KnownPlugin* KnownPlugins::find_builtin(std::string_view id) const {
    for (const auto& plugin : builtin_)
        if (plugin->candidate.id == id) return plugin.get();
    return nullptr;
}

Result<KnownPlugin*> KnownPlugins::find(std::string_view id) {
    if (KnownPlugin* const found = find_builtin(id)) return found;
    std::vector<std::string_view> ids;
    for (KnownPlugin* const plugin : all()) {
        if (plugin->candidate.id == id) return plugin;
        ids.push_back(plugin->candidate.id);
    }
    Absence why = absence_of(id, ids, records());
    if (why.fix.empty()) why.fix = "Fix: install it, or set WYE_PLUGIN_PATH_ADD";
    return Error(Code::NOT_FOUND, std::move(why.reason), std::move(why.fix), std::string(id));
}

std::vector<Record> KnownPlugins::records() const {
    const sdk::Lock lock(records_mutex_);
    return records_;
}

void KnownPlugins::keep(const std::vector<Record>& more, std::string_view area) {
    for (const Record& record : more) {
        const std::uint32_t level =
            record.severity == Severity::note ? WYE_LOG_INFO : WYE_LOG_WARNING;
        if (!area.empty()) host_->log(level, area, to_text(record));
    }
    const sdk::Lock lock(records_mutex_);
    records_.insert(records_.end(), more.begin(), more.end());
}

SearchResult KnownPlugins::search_places() const {
    SearchInput input = places_;
    input.trusted = trusted_users(input.elevated);
    return search(input, files_);
}

void KnownPlugins::take(SearchResult found) {
    std::vector<std::unique_ptr<KnownPlugin>> made;
    std::vector<KnownPlugin*> both = builtins();
    for (Candidate& candidate : found.candidates) {
        made.push_back(std::make_unique<KnownPlugin>());
        made.back()->candidate = std::move(candidate);
        both.push_back(made.back().get());
    }
    for (Record& record : found.records) on_one_line(record);
    keep(found.records);
    in_files_ = std::move(made);
    all_ = std::move(both);
}

void KnownPlugins::probe(const std::vector<KnownPlugin*>& wanted) {
    std::vector<KnownPlugin*> claimed;
    std::vector<const Candidate*> candidates;
    claimed.reserve(wanted.size());
    candidates.reserve(wanted.size());
    for (KnownPlugin* const plugin : wanted) {
        const sdk::Lock lock(plugin->mutex);
        if (plugin->query != nullptr || plugin->phase != KnownPlugin::Phase::idle || plugin->probed)
            continue;
        candidates.push_back(&plugin->candidate);
        claimed.push_back(plugin);
        plugin->phase = KnownPlugin::Phase::opening;
    }
    std::vector<Probed> results;
    // Allocates nothing, so that it cannot fail: other threads wait for the plugins to be released.
    const auto release = [&]() noexcept {
        for (std::size_t i = 0; i < claimed.size(); ++i) {
            const sdk::Lock lock(claimed[i]->mutex);
            if (!results.empty()) claimed[i]->probed = std::move(results[i]);
            claimed[i]->phase = KnownPlugin::Phase::idle;
            claimed[i]->changed.notify_all();
        }
    };
    try {
        results = prober_.probe(candidates);
    } catch (...) {
        release();
        throw;
    }
    release();
}

// Opens one copy of a plugin. `probed`: the probe's result, if there is one.
PluginOpening KnownPlugins::open_copy(const Candidate& candidate,
                                      std::optional<Probed>& probed) const {
    if (!prober_.on()) return registry::open_plugin(candidate, nullptr, host_, layers_);
    if (!probed) {
        const Candidate* const one[] = {&candidate};
        probed = prober_.probe(one).front();
    }
    return open_probed(candidate, prober_, *probed, host_, layers_);
}

// Opens the copies in order, until one is ready or may_fall_back() is false. If no copy is ready,
// returns the refusal of the first copy. Called by the one thread that set the phase to `opening`.
PluginOpening KnownPlugins::open_now(KnownPlugin& plugin) const {
    if (plugin.query != nullptr)
        return registry::open_plugin(plugin.candidate, plugin.query, host_, layers_);
    plugin.chosen = 0;
    PluginOpening first = open_copy(plugin.candidate, plugin.probed);
    PluginOpening* last = &first;
    PluginOpening opened;
    std::vector<Record> refusals;
    for (std::size_t at = 1; at < plugin.copies(); ++at) {
        if (!may_fall_back(plugin.copy(at - 1), *last)) break;
        if (at > 1) refusals.insert(refusals.end(), opened.records.begin(), opened.records.end());
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

const PluginOpening& KnownPlugins::open(KnownPlugin& plugin) {
    sdk::WaitingLock lock(plugin.mutex);
    while (plugin.phase == KnownPlugin::Phase::opening) lock.wait(plugin.changed);
    if (plugin.phase == KnownPlugin::Phase::idle) {
        plugin.phase = KnownPlugin::Phase::opening;
        lock.unlock();
        PluginOpening opened;
        try {
            opened = open_now(plugin);
            shorten(opened.records);
            for (Record& record : opened.records) on_one_line(record);
            keep(opened.records);
        } catch (...) {  // no memory: the next caller tries again
            lock.lock();
            plugin.phase = KnownPlugin::Phase::idle;
            plugin.changed.notify_all();
            throw;
        }
        lock.lock();
        plugin.opened = std::move(opened);
        plugin.phase = KnownPlugin::Phase::done;
        plugin.changed.notify_all();
    }
    return plugin.opened;
}

Error not_opened(const PluginOpening& opening) {
    if (!opening.described) return to_error(opening.records.back());
    return {Code::UNSUPPORTED, "the context only describes plugins, and opens none",
            "Fix: create the context without WYE_CONTEXT_DESCRIBE"};
}

}  // namespace wye::registry
