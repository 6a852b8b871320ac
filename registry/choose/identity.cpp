// SPDX-License-Identifier: Apache-2.0
#include "registry/choose/identity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <tuple>

#include "registry/open/bus_facts.hpp"
#include "registry/open/device_id.hpp"
#include "wye/sdk/ascii.hpp"
#include "wye/sdk/words.hpp"

namespace wye::registry {
namespace {

// PCI vendor numbers have 16 bits. Vendor numbers that a driver API assigns to makers of software
// are larger.
constexpr std::uint64_t kPciVendors = 0x10000;

// The maximum number of devices of the same identifier that a device is compared with.
constexpr std::size_t kMostTries = 16;

// The kinds of identifiers, the strongest first.
enum Identifier : std::size_t { kPci, kUuid, kLuid, kNode, kKinds };
constexpr std::uint32_t kKeys[kKinds] = {WYE_FACT_KEY_PCI_ADDRESS, WYE_FACT_KEY_UUID,
                                         WYE_FACT_KEY_LUID, WYE_FACT_KEY_RENDER_NODE};
constexpr std::string_view kNames[kKinds] = {"pci_address", "uuid", "luid", "render_node"};

// The hex digits of a UUID or LUID in lower case. Empty if there are other characters or too few
// digits, or if all digits are equal, as in a UUID of zeros.
std::string hex_of(std::string_view text, std::size_t digits) {
    if (sdk::ascii::same_but_case(text.substr(0, 4), "gpu-")) text.remove_prefix(4);
    std::string out;
    for (const char c : text) {
        if (c == '-') continue;
        if (!sdk::ascii::is_digit(c) &&
            !(sdk::ascii::small(c) >= 'a' && sdk::ascii::small(c) <= 'f'))
            return {};
        out += sdk::ascii::small(c);
    }
    const bool plain = out.find_first_not_of(out.substr(0, 1)) == std::string::npos;
    return out.size() == digits && !plain ? out : std::string();
}

struct Evidence {
    std::array<std::string, kKinds> identifiers;  // empty: none
    bool on_host = false;
    bool off_host = false;   // known not to run on the host's processors
    bool has_model = false;  // the device's name has the model of the host's processor
    std::uint64_t vendor = 0;
};

// The words of a name: letters and digits in lower case, without marks such as (R).
std::vector<std::string> words_of_name(std::string_view name) {
    std::vector<std::string> out(1);
    int depth = 0;
    for (const char c : name) {
        if (c == '(') ++depth;
        const bool part = depth == 0 && (sdk::ascii::is_digit(c) || sdk::ascii::is_letter(c));
        if (c == ')' && depth > 0) --depth;
        if (part)
            out.back() += sdk::ascii::small(c);
        else if (!out.back().empty())
            out.emplace_back();
    }
    if (out.back().empty()) out.pop_back();
    return out;
}

enum class Model : std::uint8_t { none, host, other };

// Whether a name contains the host's model, another processor's model, or none.
Model model_in(std::string_view name, const HostProcessor& host) {
    const auto words = words_of_name(name);
    const auto model = words_of_name(host.model);
    if (model.empty()) return Model::none;
    if (std::search(words.begin(), words.end(), model.begin(), model.end()) != words.end())
        return Model::host;
    const bool shares = std::ranges::any_of(
        words, [&](const std::string& word) { return std::ranges::count(model, word) != 0; });
    return shares ? Model::other : Model::none;
}

Evidence evidence_of(const DeviceInfo& device, const HostProcessor& host) {
    Evidence out;
    const Facts& facts = device.facts;
    out.identifiers[kPci] = normal_address(facts.text(kKeys[kPci]));
    out.identifiers[kUuid] = hex_of(facts.text(kKeys[kUuid]), 32);
    out.identifiers[kLuid] = hex_of(facts.text(kKeys[kLuid]), 16);
    out.identifiers[kNode] = facts.text(kKeys[kNode]);
    out.vendor = facts.number(WYE_FACT_KEY_VENDOR_ID).value_or(0);
    const bool known = facts.find(WYE_FACT_KEY_HOST_PROCESSOR) != nullptr;
    const bool claims = facts.has(WYE_FACT_KEY_HOST_PROCESSOR);
    const Model model = claims ? model_in(device.name, host) : Model::none;
    out.on_host = claims && model != Model::other && out.identifiers[kPci].empty();
    out.off_host = known && !claims;
    out.has_model = model == Model::host;
    return out;
}

// Removes identifiers that several devices of one plugin and platform share.
void drop_shared(DeviceList devices, std::vector<Evidence>& all) {
    using Source = std::tuple<std::size_t, std::string_view, std::string_view, std::string_view>;
    std::map<Source, std::vector<std::size_t>> holders;
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t kind = 0; kind < kKinds; ++kind)
            if (const std::string& value = all[i].identifiers[kind]; !value.empty())
                holders[{kind, devices[i]->plugin, devices[i]->facts.text(WYE_FACT_KEY_PLATFORM),
                         value}]
                    .push_back(i);
    std::vector<std::pair<std::size_t, std::size_t>> dropped;
    for (const auto& [source, who] : holders)
        if (who.size() > 1)
            for (const std::size_t i : who) dropped.emplace_back(i, std::get<0>(source));
    for (const auto& [device, kind] : dropped) all[device].identifiers[kind].clear();
}

// Why two devices cannot be the same, whatever the other evidence; empty: nothing contradicts.
std::string contradiction(const DeviceInfo& a, const Evidence& ea, const DeviceInfo& b,
                          const Evidence& eb) {
    if (ea.on_host && eb.on_host) return {};  // a machine's processors count as one device
    if (a.plugin == b.plugin &&
        a.facts.text(WYE_FACT_KEY_PLATFORM) == b.facts.text(WYE_FACT_KEY_PLATFORM))
        return "one driver lists both";
    const std::string& one = ea.identifiers[kPci];
    const std::string& two = eb.identifiers[kPci];
    if (!one.empty() && !two.empty() && one != two)
        return fmt::format("pci_address {} is not {}", one, two);
    if (one.empty() || two.empty()) {
        if (ea.vendor != 0 && eb.vendor != 0 && ea.vendor < kPciVendors &&
            eb.vendor < kPciVendors && ea.vendor != eb.vendor)
            return fmt::format("vendor_id {:#06x} is not {:#06x}", ea.vendor, eb.vendor);
        if ((ea.on_host && eb.off_host) || (ea.off_host && eb.on_host))
            return "only one runs on the host's processors";
    }
    return {};
}

struct Match {
    std::string evidence;  // empty: no match
    Confidence confidence = Confidence::presumed;
};

Match match_processors(const DeviceInfo& a, const Evidence& ea, const DeviceInfo& b,
                       const Evidence& eb, const HostProcessor& host) {
    const auto own = a.facts.number(WYE_FACT_KEY_COMPUTE_UNITS);
    const auto other = b.facts.number(WYE_FACT_KEY_COMPUTE_UNITS);
    Match out;
    if (ea.has_model && eb.has_model) {
        out.confidence = Confidence::likely;
        out.evidence = fmt::format("the same processor model `{}`", host.model);
    } else {
        out.evidence = "both run on the host's processors (host_processor)";
        if (!ea.has_model || !eb.has_model)
            out.evidence += fmt::format("; the name of `{}` has no processor model",
                                        (ea.has_model ? b : a).selector);
    }
    if (own && other) {
        out.evidence += *own == *other ? fmt::format(", {} compute units each", *own)
                                       : fmt::format(", but {} and {} compute units", *own, *other);
        if (*own != *other) out.confidence = Confidence::presumed;
    }
    return out;
}

// The evidence that two devices are the same.
Match match(const DeviceInfo& a, const Evidence& ea, const DeviceInfo& b, const Evidence& eb,
            const HostProcessor& host) {
    Match out;
    std::size_t equal = 0;
    std::vector<std::string_view> different;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
        const std::string& one = ea.identifiers[kind];
        const std::string& two = eb.identifiers[kind];
        if (one.empty() || two.empty()) continue;
        if (one != two) {
            different.push_back(kNames[kind]);
            continue;
        }
        out.evidence += fmt::format("{}{} {}", equal == 0 ? "" : ", ", kNames[kind], one);
        ++equal;
    }
    if (equal == 0)
        return ea.on_host && eb.on_host ? match_processors(a, ea, b, eb, host) : Match{};
    out.confidence = equal > 1 && different.empty() ? Confidence::certain : Confidence::strong;
    if (!different.empty())
        out.evidence += fmt::format("; different {}", fmt::join(different, ", "));
    return out;
}

// Groups of devices, merged pair by pair.
class Groups {
  public:
    Groups(DeviceList devices, const std::vector<Evidence>& all)
        : devices_(devices), all_(all), group_(devices.size()), members_(devices.size()) {
        for (std::size_t i = 0; i < devices.size(); ++i) {
            group_[i] = i;
            members_[i] = {i};
        }
    }

    // Merges the groups of two devices, unless a member of one contradicts a member of the other.
    void join(std::size_t a, std::size_t b, std::string_view because) {
        const std::size_t into = std::min(group_[a], group_[b]);
        const std::size_t from = std::max(group_[a], group_[b]);
        if (into == from) return;
        for (const std::size_t x : members_[into])
            for (const std::size_t y : members_[from])
                if (std::string why = contradiction(*devices_[x], all_[x], *devices_[y], all_[y]);
                    !why.empty()) {
                    doubts.push_back({a, b, fmt::format("{}, but {}", because, why)});
                    return;
                }
        for (const std::size_t y : members_[from]) group_[y] = into;
        members_[into].insert(members_[into].end(), members_[from].begin(), members_[from].end());
        members_[from].clear();
    }

    // Returns the groups in the order of their first members; members ascend.
    [[nodiscard]] std::vector<std::vector<std::size_t>> take() {
        std::vector<std::vector<std::size_t>> out;
        for (std::vector<std::size_t>& one : members_) {
            if (one.empty()) continue;
            std::ranges::sort(one);
            out.push_back(std::move(one));
        }
        return out;
    }

    std::vector<Doubt> doubts;

  private:
    DeviceList devices_;
    const std::vector<Evidence>& all_;
    std::vector<std::size_t> group_;
    std::vector<std::vector<std::size_t>> members_;
};

// The identifier value shared by all members that have an identifier of this kind; empty if no
// member has one, or if their values differ.
std::string common(const std::vector<Evidence>& all, const std::vector<std::size_t>& members,
                   std::size_t kind) {
    std::string out;
    for (const std::size_t i : members) {
        const std::string& value = all[i].identifiers[kind];
        if (value.empty()) continue;
        if (!out.empty() && out != value) return {};
        out = value;
    }
    return out;
}

// The identifiers of a physical device, the strongest first. The last one always exists: the id of
// the first member.
std::vector<std::string> identifiers_of(DeviceList devices, const std::vector<Evidence>& all,
                                        const std::vector<std::size_t>& members,
                                        const HostProcessor& host) {
    std::vector<std::string> out;
    if (all[members.front()].on_host && !host.model.empty())
        out.push_back(fmt::format("processor {}", host.model));
    // A UUID comes first, as it stays the same when a card moves to another slot.
    for (const std::size_t kind : {kUuid, kPci, kLuid, kNode})
        if (const std::string value = common(all, members, kind); !value.empty())
            out.push_back(fmt::format("{} {}", kNames[kind], value));
    out.push_back(fmt::format("device {}", devices[members.front()]->id));
    return out;
}

std::vector<Evidence> all_evidence(DeviceList devices, const HostProcessor& host) {
    std::vector<Evidence> all;
    all.reserve(devices.size());
    for (const auto& device : devices) all.push_back(evidence_of(*device, host));
    drop_shared(devices, all);
    return all;
}

}  // namespace

std::string_view confidence_name(Confidence confidence) noexcept {
    constexpr std::string_view kNames[] = {"presumed", "likely", "strong", "certain"};
    return sdk::name_in(kNames, confidence);
}

HostProcessor host_processor() {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line) && !line.empty()) {  // the lines of the first processor
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos)
            return {line.substr(colon + 2)};
    }
    return {};
}

Identities identify(DeviceList devices, const HostProcessor& host) {
    const std::vector<Evidence> all = all_evidence(devices, host);
    Groups groups(devices, all);
    // Merges by the strongest identifiers first and by processors last, since an earlier merge
    // rules out later ones that contradict it.
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
        std::map<std::string_view, std::vector<std::size_t>> holders;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (!all[i].identifiers[kind].empty()) holders[all[i].identifiers[kind]].push_back(i);
        for (const auto& [value, who] : holders)
            for (std::size_t i = 1; i < who.size(); ++i)
                for (std::size_t j = 0; j < std::min(i, kMostTries); ++j)
                    groups.join(who[j], who[i], fmt::format("{} {}", kNames[kind], value));
    }
    std::vector<std::size_t> on_host;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].on_host) on_host.push_back(i);
    for (std::size_t i = 1; i < on_host.size(); ++i)
        groups.join(on_host[0], on_host[i], "both run on the host's processors");

    Identities out;
    out.doubts = std::move(groups.doubts);
    out.of.resize(devices.size());
    std::vector<std::vector<std::size_t>> taken = groups.take();
    std::vector<std::vector<std::string>> identifiers;
    std::map<std::string, std::size_t> uses;
    for (const std::vector<std::size_t>& members : taken) {
        identifiers.push_back(identifiers_of(devices, all, members, host));
        for (const std::string& one : identifiers.back()) ++uses[one];
    }
    for (std::size_t i = 0; i < taken.size(); ++i) {
        // Prefers an identifier that no other physical device has, since devices that are kept
        // apart by a contradiction may share an identifier.
        const auto own = std::ranges::find_if(
            identifiers[i], [&](const std::string& one) { return uses[one] == 1; });
        const std::string identifier = own != identifiers[i].end() ? *own : identifiers[i].back();
        for (const std::size_t at : taken[i]) out.of[at] = i;
        out.physical.push_back({hash_id(identifier, 0), identifier, std::move(taken[i])});
    }
    return out;
}

std::vector<Alias> aliases(DeviceList devices, const Identities& identities, std::size_t at,
                           const HostProcessor& host) {
    const std::vector<std::size_t>& members = identities.physical[identities.of[at]].members;
    std::vector<Alias> out;
    if (members.size() == 1) return out;
    std::vector<std::shared_ptr<const DeviceInfo>> group;
    for (const std::size_t i : members) group.push_back(devices[i]);
    const std::vector<Evidence> all = all_evidence(group, host);
    const auto own = static_cast<std::size_t>(std::ranges::find(members, at) - members.begin());
    const auto between = [&](std::size_t i, std::size_t j) {
        return match(*group[i], all[i], *group[j], all[j], host);
    };
    for (std::size_t i = 0; i < group.size(); ++i) {
        if (i == own) continue;
        Match best = between(own, i);
        // If the two devices share no evidence, looks for a third device that shares evidence with
        // each of them.
        for (std::size_t k = 0; best.evidence.empty() && k < group.size(); ++k) {
            const Match here = between(own, k);
            const Match there = between(k, i);
            if (k == own || k == i || here.evidence.empty() || there.evidence.empty()) continue;
            best = {fmt::format("through `{}`: {}; {}", group[k]->selector, here.evidence,
                                there.evidence),
                    std::min(here.confidence, there.confidence)};
        }
        out.push_back({group[i]->selector, std::move(best.evidence), best.confidence});
    }
    return out;
}

bool answers_to(const DeviceInfo& device, std::string_view id) {
    const std::string uuid = hex_of(device.facts.text(WYE_FACT_KEY_UUID), 32);
    if (!uuid.empty() && uuid == hex_of(id, 32)) return true;
    const std::string address = normal_address(device.facts.text(WYE_FACT_KEY_PCI_ADDRESS));
    return !address.empty() && address == normal_address(id);
}

}  // namespace wye::registry
