// SPDX-License-Identifier: Apache-2.0
#include "choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "wye/sdk/nearest.hpp"

namespace wye::registry {
namespace {

using Kind = SelectorEntry::Kind;
using Why = PassedOver::Why;

constexpr std::size_t kMostLosers = 64;  // listed in a selection; further ones are only counted
constexpr std::size_t kMostShown = 8;    // names or ids in a message

// Puts the best devices first; devices with equal points keep their order.
void sort_by_points(const ChoiceSource& source, std::vector<DevicePtr>& devices) {
    if (!source.rank || devices.size() < 2) return;
    std::vector<std::pair<std::uint32_t, DevicePtr>> ranked;
    ranked.reserve(devices.size());
    for (DevicePtr& device : devices) {
        const std::uint32_t points = source.points(*device);
        ranked.emplace_back(points, std::move(device));
    }
    std::ranges::stable_sort(ranked, std::greater<>(), &std::pair<std::uint32_t, DevicePtr>::first);
    for (std::size_t i = 0; i < devices.size(); ++i) devices[i] = std::move(ranked[i].second);
}

// Joins texts, as "a, b and 3 more".
std::string some_of(const std::vector<std::string>& texts) {
    if (texts.empty()) return "none";
    const std::size_t shown = std::min(texts.size(), kMostShown);
    std::string out = fmt::format("{}", fmt::join(texts.begin(), texts.begin() + shown, ", "));
    if (shown < texts.size()) out += fmt::format(" and {} more", texts.size() - shown);
    return out;
}

std::string_view nearest_of(std::string_view text, const std::vector<std::string>& known) {
    const std::vector<std::string_view> views(known.begin(), known.end());
    return sdk::nearest(text, views);
}

// Finds the record of a refused or disabled file of the plugin. A file whose manifest was not read
// is recognised by its name.
const Record* passed_over_file(std::string_view id, const std::vector<Record>& records) {
    const auto found = std::ranges::find_if(records, [&](const Record& record) {
        const bool of_plugin =
            record.plugin == id || (record.plugin.empty() && id_of_file(record.path) == id);
        return of_plugin && (record.severity == Severity::refused || record.code == Code::DISABLED);
    });
    return found == records.end() ? nullptr : &*found;
}

PassedOver unknown_plugin_of(const ChoiceSource& source, const SelectorEntry& entry) {
    const std::vector<Record> records = source.records ? source.records() : std::vector<Record>();
    Absence out = absence_of(entry.plugin, source.plugins, records);
    const std::string kind = devices_of_kind(entry.plugin);
    if (!kind.empty() && passed_over_file(entry.plugin, records) == nullptr)
        out.fix = fmt::format("Fix: write `{}` for devices of this kind", kind);
    else if (out.fix.empty())
        out.fix = fmt::format(
            "Fix: write `{}` if this is a part of a device's name, else install the plugin or set "
            "WYE_PLUGIN_PATH_ADD",
            in_quotes(entry.plugin));
    return {to_text(entry), std::move(out.reason), std::move(out.fix), Why::unmatched};
}

// Explains why an entry names none of these devices.
PassedOver unmatched_of(const ChoiceSource& source, const SelectorEntry& entry,
                        const std::vector<DevicePtr>& devices) {
    PassedOver out{to_text(entry), {}, {}, Why::unmatched};
    if (entry.kind == Kind::device) {
        out.reason = fmt::format("plugin `{}` has {} device(s)", entry.plugin, devices.size());
        out.fix = fmt::format("Fix: write `{}`", devices.back()->selector);
    } else if (entry.kind == Kind::id) {
        const auto all = source.identified();
        std::vector<std::string> ids;
        std::set<std::string> seen;
        for (const DevicePtr& device : devices) {
            std::string id = fmt::format("@{}", all->physical(*device));
            if (seen.insert(id).second) ids.push_back(std::move(id));
        }
        std::vector<std::string> known = ids;
        for (const DevicePtr& device : devices) known.push_back(fmt::format("@{}", device->id));
        const std::string_view near = nearest_of("@" + entry.text, known);
        out.reason = fmt::format("no device has this id; there are {}", some_of(ids));
        out.fix = near.empty() ? "Fix: write an id that `wye info` prints"
                               : fmt::format("Fix: write `{}`", near);
    } else {
        std::vector<std::string> names;
        for (const DevicePtr& device : devices)
            if (std::ranges::find(names, device->name) == names.end() && names.size() <= kMostShown)
                names.push_back(device->name);
        const std::string_view near = nearest_of(entry.text, names);
        std::vector<std::string> shown;
        for (const std::string& name : names) shown.push_back(in_quotes(name));
        out.reason = fmt::format("no device has this in its name; there are {}", some_of(shown));
        out.fix = near.empty() ? "Fix: write a part of a name that `wye info -l` lists"
                               : fmt::format("Fix: write `{}`", in_quotes(near));
    }
    return out;
}

std::string reason_for(const ChoiceSource& source, const SelectorEntry& entry,
                       const DeviceInfo& device) {
    const auto best = [&] {
        return source.rank ? fmt::format("the best usable device ({})",
                                         fmt::join(source.rank(device).reasons, ", "))
                           : std::string("the first usable device");
    };
    switch (entry.kind) {
        case Kind::automatic:
        case Kind::all:
            if (entry.properties.empty()) return "auto: " + best();
            return fmt::format("{} that `{}` describes", best(), to_text(entry));
        case Kind::plugin:
            if (entry.properties.empty())
                return fmt::format("the first usable device of `{}`, requested by name",
                                   entry.plugin);
            return fmt::format("the first usable device that `{}` describes", to_text(entry));
        case Kind::device:
            return "requested by name";
        case Kind::id:
            return fmt::format("requested by id{}", entry.plugin.empty() ? "; " + best() : "");
        case Kind::name:
            return fmt::format("requested by {}", in_quotes(entry.text));
    }
    return {};
}

// Collects the devices and entries that were not tried in a selection, at most kMostLosers of them.
// The destructor adds the number of the others.
class Losers {
  public:
    explicit Losers(std::vector<PassedOver>& out) : out_(out) {}

    void add(PassedOver loser) {
        if (++count_ <= kMostLosers) out_.push_back(std::move(loser));
    }
    ~Losers() {
        if (count_ > kMostLosers)
            out_.push_back({"*",
                            fmt::format("{} more were not tried", count_ - kMostLosers),
                            {},
                            Why::not_tried});
    }
    Losers(const Losers&) = delete;
    Losers& operator=(const Losers&) = delete;

  private:
    std::vector<PassedOver>& out_;
    std::size_t count_ = 0;
};

// The reasons against a device; nullopt: there is none, so the device is taken.
std::optional<PassedOver> against(const DeviceInfo& device, const Fit& fit) {
    if (!device.usable)
        return PassedOver{device.selector, device.reason, device.fix, Why::unusable};
    const std::vector<std::string> reasons = fit ? fit(device) : std::vector<std::string>{};
    if (reasons.empty()) return std::nullopt;
    return PassedOver{device.selector, fmt::format("{}", fmt::join(reasons, "; ")), {}, Why::unfit};
}

// Why `better` is preferred to `other`.
std::string why_outranked(const ChoiceSource& source, const DeviceInfo& better,
                          const DeviceInfo& other) {
    if (!source.rank) return fmt::format("`{}` comes first", better.selector);
    const Score score = source.rank(better);
    if (score.points == source.rank(other).points)
        return fmt::format("`{}` is of the same rank, and comes first", better.selector);
    return fmt::format("`{}` is better ({})", better.selector, fmt::join(score.reasons, ", "));
}

// The devices of all entries, the best first. Each device is listed once, with the index of the
// first entry that names it.
std::vector<std::pair<DevicePtr, std::size_t>> best_of(const ChoiceSource& source,
                                                       const std::vector<SelectorEntry>& wanted,
                                                       const Selector& selector,
                                                       std::vector<PassedOver>& passed_over) {
    std::vector<DevicePtr> devices;
    std::unordered_map<const DeviceInfo*, std::size_t> entry_of;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        for (DevicePtr& device : named(source, wanted[i], selector, passed_over))
            if (entry_of.emplace(device.get(), i).second) devices.push_back(std::move(device));
    sort_by_points(source, devices);
    std::vector<std::pair<DevicePtr, std::size_t>> out;
    for (DevicePtr& device : devices) {
        const std::size_t entry = entry_of[device.get()];
        out.emplace_back(std::move(device), entry);
    }
    return out;
}

}  // namespace

std::string_view Identified::physical(const DeviceInfo& device) const {
    const auto at = index.find(&device);
    if (at == index.end()) return {};
    return identities.physical[identities.of[at->second]].id;
}

Absence absence_of(std::string_view id, const std::vector<std::string_view>& ids,
                   const std::vector<Record>& records) {
    if (const Record* const record = passed_over_file(id, records)) {
        constexpr std::string_view kNone = "Fix: none needed; or ";
        const std::string fix = record->fix.starts_with(kNone)
                                    ? "Fix: " + record->fix.substr(kNone.size())
                                    : record->fix;
        return {
            fmt::format("the plugin `{}` is {}: {}", id,
                        record->code == Code::DISABLED ? "disabled" : "refused", record->message),
            fix};
    }
    const std::string_view near = sdk::nearest(id, ids);
    return {
        fmt::format("there is no plugin `{}`; there are {}", id, some_of({ids.begin(), ids.end()})),
        near.empty() ? std::string() : fmt::format("Fix: write `{}`, or install the plugin", near)};
}

std::vector<DevicePtr> named(const ChoiceSource& source, const SelectorEntry& entry,
                             const Selector& selector, std::vector<PassedOver>& passed_over) {
    // The reason against a plugin is kept once, even if several entries can name it.
    const auto pass_over_plugin = [&](PassedOver one) {
        if (std::ranges::none_of(passed_over, [&](const PassedOver& other) {
                return other.subject == one.subject && other.reason == one.reason;
            }))
            passed_over.push_back(std::move(one));
    };
    std::vector<DevicePtr> candidates;
    bool known = false;
    if (source.prepare) {
        std::vector<std::size_t> wanted;
        for (std::size_t i = 0; i < source.plugins.size(); ++i)
            if (const std::string id(source.plugins[i]);
                entry.can_name(id) && !selector.discards_plugin(id))
                wanted.push_back(i);
        source.prepare(wanted);
    }
    for (std::size_t i = 0; i < source.plugins.size(); ++i) {
        const std::string id(source.plugins[i]);
        if (!entry.can_name(id)) continue;
        known = true;
        if (selector.discards_plugin(id)) {
            pass_over_plugin({id, "the selector excludes it", {}, Why::excluded});
            continue;
        }
        const ChoiceSource::Opened opened = source.open(i);
        if (!opened.ok) {
            pass_over_plugin({id, opened.reason, opened.fix, Why::failed});
            continue;
        }
        if (opened.devices.empty())
            pass_over_plugin({id, "the plugin found no devices", {}, Why::failed});
        candidates.insert(candidates.end(), opened.devices.begin(), opened.devices.end());
    }
    if (!known && !entry.plugin.empty()) {
        passed_over.push_back(unknown_plugin_of(source, entry));
        return {};
    }
    const auto all = selector.has_ids() ? source.identified() : nullptr;
    std::vector<DevicePtr> out;
    bool names_any = false;
    for (const DevicePtr& device : candidates) {
        const std::string_view physical = all ? all->physical(*device) : std::string_view();
        if (!entry.names(*device, physical)) continue;
        names_any = true;
        if (selector.discards(*device, physical))
            passed_over.push_back(
                {device->selector, "the selector excludes it", {}, Why::excluded});
        else if (const Property* broken = entry.broken(*device))
            passed_over.push_back(
                {device->selector, why_not(*broken, device->facts), {}, Why::unfit});
        else
            out.push_back(device);
    }
    if (!names_any && !candidates.empty())
        passed_over.push_back(unmatched_of(source, entry, candidates));
    else if (out.empty() && names_any && !entry.properties.empty())
        passed_over.push_back({to_text(entry), "no device has these properties",
                               "Fix: ask for less; `wye info --json` lists the facts of all",
                               Why::unmatched});
    if (entry.ranked()) sort_by_points(source, out);
    return out;
}

std::optional<Selection> choose(const ChoiceSource& source, const Selector& selector,
                                const Fit& fit, Policy policy,
                                std::vector<PassedOver>& passed_over) {
    std::vector<SelectorEntry> wanted = selector.wanted();
    const std::size_t asked = wanted.size();
    if (policy == Policy::automatic) {
        const auto devices = best_of(source, wanted, selector, passed_over);
        for (std::size_t i = 0; i < devices.size(); ++i) {
            const DeviceInfo& device = *devices[i].first;
            if (auto loser = against(device, fit)) {
                passed_over.push_back(std::move(*loser));
                continue;
            }
            Selection out{devices[i].first, {}, std::move(passed_over)};
            SelectorEntry best;
            out.reason = fmt::format("{}, of those that `{}` names",
                                     reason_for(source, best, device), to_text(selector));
            Losers losers(out.passed_over);
            for (std::size_t j = i + 1; j < devices.size(); ++j)
                losers.add({devices[j].first->selector,
                            why_outranked(source, device, *devices[j].first),
                            {},
                            Why::outranked});
            return out;
        }
        return std::nullopt;
    }
    if (policy == Policy::prefer) wanted.emplace_back();
    std::set<const DeviceInfo*> tried;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::vector<DevicePtr> devices = named(source, wanted[i], selector, passed_over);
        for (std::size_t j = 0; j < devices.size(); ++j) {
            const DeviceInfo& device = *devices[j];
            if (!tried.insert(&device).second) continue;
            if (auto loser = against(device, fit)) {
                passed_over.push_back(std::move(*loser));
                continue;
            }
            Selection out{devices[j], reason_for(source, wanted[i], device),
                          std::move(passed_over)};
            if (i == asked)
                out.reason = fmt::format("no device that `{}` names can be used; {}",
                                         to_text(selector), out.reason);
            else if (asked > 1)
                out.reason += fmt::format(", preference {} of {}", i + 1, asked);
            Losers losers(out.passed_over);
            for (std::size_t k = j + 1; k < devices.size(); ++k)
                losers.add({devices[k]->selector,
                            wanted[i].ranked() ? why_outranked(source, device, *devices[k])
                                               : fmt::format("`{}` comes first", device.selector),
                            {},
                            Why::outranked});
            for (std::size_t k = i + 1; k < asked; ++k)
                losers.add({to_text(wanted[k]),
                            fmt::format("not tried, since `{}` comes first", to_text(wanted[i])),
                            {},
                            Why::not_tried});
            return out;
        }
    }
    return std::nullopt;
}

}  // namespace wye::registry
