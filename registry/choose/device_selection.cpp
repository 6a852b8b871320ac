// SPDX-License-Identifier: Apache-2.0
#include "device_selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace wye::registry {

Result<Selection> DeviceSelection::select(const Selector& selector, const Fit& fit, Policy policy) {
    std::vector<PassedOver> passed_over;
    if (policy != Policy::prefer && names_builtin(selector)) {
        const ChoiceSource from = source(plugins_.builtins());
        if (auto chosen = choose(from, selector, fit, policy, passed_over))
            return std::move(*chosen);
        passed_over.clear();
    }
    const ChoiceSource from = source(plugins_.all());
    if (auto chosen = choose(from, selector, fit, policy, passed_over)) return std::move(*chosen);
    Error error = nothing(selector, passed_over);
    const auto unmatched = std::ranges::find_if(passed_over, [](const PassedOver& one) {
        return one.why == PassedOver::Why::unmatched && !one.fix.empty();
    });
    const DevicePtr other = fit ? alternative(fit, &selector) : nullptr;
    if (unmatched != passed_over.end())
        error.fix = unmatched->fix + (other ? "; `" + other->selector + "` can run it too" : "");
    else if (other)
        error.fix = fmt::format("Fix: choose `{}`, which can run it, or remedy one of the causes",
                                other->selector);
    return error;
}

Registry::Listing DeviceSelection::list(const Selector& selector) {
    Registry::Listing out;
    std::set<std::string> seen;
    std::vector<PassedOver> passed_over;
    const ChoiceSource from = source(plugins_.all());
    for (const SelectorEntry& entry : selector.wanted())
        for (DevicePtr& device : named(from, entry, selector, passed_over))
            if (seen.insert(device->selector).second) out.devices.push_back(std::move(device));
    for (PassedOver& one : passed_over)
        if (one.why == PassedOver::Why::unmatched) out.unmatched.push_back(std::move(one));
    return out;
}

Registry::PhysicalListing DeviceSelection::physical() {
    const std::shared_ptr<const Identified> all = identified();
    Registry::PhysicalListing out;
    for (const PhysicalDevice& one : all->identities.physical) {
        Registry::Physical& made =
            out.devices.emplace_back(Registry::Physical{one.id, one.identifier, {}, {}});
        std::vector<std::size_t> members = one.members;
        std::ranges::stable_sort(members, std::greater<>(),
                                 [&](std::size_t at) { return points(*all->devices[at]); });
        for (const std::size_t at : members) {
            made.devices.push_back(all->devices[at]);
            made.aliases.push_back(aliases(all->devices, all->identities, at, all->host));
        }
    }
    std::ranges::sort(out.devices, {}, &Registry::Physical::id);
    for (const Doubt& doubt : all->identities.doubts)
        out.doubts.push_back(
            {all->devices[doubt.first]->selector, all->devices[doubt.second]->selector, doubt.why});
    return out;
}

DevicePtr DeviceSelection::alternative(const Fit& fit, const Selector* selector) {
    const auto is_named = [&](const DeviceInfo& device) {
        return selector != nullptr &&
               std::ranges::any_of(selector->entries, [&](const SelectorEntry& entry) {
                   return !entry.discard && entry.plugin == device.plugin;
               });
    };
    DevicePtr best;
    std::pair<bool, std::uint32_t> most;
    for (KnownPlugin* const plugin : plugins_.all()) {
        if (plugin->query == nullptr && plugin->if_opened() == nullptr) continue;
        for (const DevicePtr& device : plugins_.open(*plugin).devices) {
            const std::pair own(is_named(*device), points(*device));
            if (!device->usable || (best && own <= most) || !fit(*device).empty()) continue;
            best = device;
            most = own;
        }
    }
    return best;
}

// The input of a selection from these plugins. Valid as long as this DeviceSelection exists.
ChoiceSource DeviceSelection::source(std::vector<KnownPlugin*> from) {
    ChoiceSource out{{}, {}, [this] { return identified(); }, rank_};
    for (const KnownPlugin* plugin : from) out.plugins.push_back(plugin->candidate.id);
    out.prepare = [this, from](std::span<const std::size_t> wanted) {
        if (!plugins_.prober().on()) return;
        std::vector<KnownPlugin*> list;
        for (const std::size_t at : wanted) list.push_back(from[at]);
        plugins_.probe(list);
    };
    out.records = [this] { return plugins_.records(); };
    out.open = [this, from = std::move(from)](std::size_t at) -> ChoiceSource::Opened {
        const PluginOpening& opened = plugins_.open(*from[at]);
        if (opened.ready()) return {true, {}, {}, opened.devices};
        const Record& why = opened.records.back();
        return {false,
                fmt::format("the plugin failed ({}): {}{}", stage_name(why.stage), why.message,
                            why.loader_text.empty() ? "" : fmt::format(" [{}]", why.loader_text)),
                why.fix,
                {}};
    };
    return out;
}

// The devices opened so far, grouped by physical device. Rebuilt if a plugin was opened since.
std::shared_ptr<const Identified> DeviceSelection::identified() {
    std::vector<const PluginOpening*> all;  // immutable once done
    for (KnownPlugin* const plugin : plugins_.all())
        if (const PluginOpening* const opened = plugin->if_opened()) all.push_back(opened);
    const sdk::Lock lock(identified_mutex_);
    if (identified_ && identified_plugins_ == all.size()) return identified_;
    auto made = std::make_shared<Identified>();
    for (const PluginOpening* opened : all)
        made->devices.insert(made->devices.end(), opened->devices.begin(), opened->devices.end());
    const bool processors = std::ranges::any_of(made->devices, [](const DevicePtr& device) {
        return device->facts.has(WYE_FACT_KEY_HOST_PROCESSOR);
    });
    if (processors) made->host = host_processor();
    made->identities = identify(made->devices, made->host);
    for (std::size_t i = 0; i < made->devices.size(); ++i)
        made->index.emplace(made->devices[i].get(), i);
    identified_ = std::move(made);
    identified_plugins_ = all.size();
    return identified_;
}

// Whether each entry names a built-in plugin, so that the selector needs no search for files.
bool DeviceSelection::names_builtin(const Selector& selector) const {
    return std::ranges::all_of(selector.wanted(), [&](const SelectorEntry& entry) {
        return plugins_.find_builtin(entry.plugin) != nullptr;
    });
}

// A text such as "devices a:0, b:0; plugins not opened: c". Opens no plugin.
std::string DeviceSelection::what_exists() {
    std::vector<std::string> devices;
    std::vector<std::string> closed;
    std::vector<std::string> failed;
    for (KnownPlugin* const plugin : plugins_.all()) {
        const PluginOpening* const opened = plugin->if_opened();
        if (opened == nullptr || !opened->ready()) {
            (opened == nullptr ? closed : failed).push_back(plugin->candidate.id);
            continue;
        }
        for (const DevicePtr& device : opened->devices)
            devices.push_back(device->selector + (device->usable ? "" : " (unusable)"));
    }
    std::string out;
    const auto add = [&](const char* what, const std::vector<std::string>& names) {
        if (names.empty()) return;
        out += fmt::format("{}{} {}", out.empty() ? "" : "; ", what, fmt::join(names, ", "));
    };
    add("devices", devices);
    add("plugins not opened:", closed);
    add("plugins that failed:", failed);
    return out.empty() ? "no devices" : out;
}

Error DeviceSelection::nothing(const Selector& selector,
                               const std::vector<PassedOver>& passed_over) {
    Error out(Code::NO_DEVICE,
              fmt::format("no usable device matches `{}`; there are {}", to_text(selector),
                          what_exists()),
              "Fix: choose one that `wye info -l` lists, or remedy one of the causes",
              to_text(selector));
    // Makes a chain of causes, in which each device passed over is the cause of the device before
    // it. The last cause states the number of devices left out.
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
        put_before(
            {Code::NO_DEVICE, fmt::format("{}: {}", at.subject, at.reason), at.fix, at.subject});
    }
    return out;
}

}  // namespace wye::registry
