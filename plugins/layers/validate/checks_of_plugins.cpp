// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "layers/validate/checks.hpp"

namespace wye::layers::validate {
namespace {

constexpr std::uint64_t kProbeLimit = 10'000'000'000;  // ns

// Returns a fact as text, for comparison.
std::string text_of(const wye_fact& fact) {
    std::string out = number(fact.type) + ' ' + number(fact.u) + ' ' + std::to_string(fact.f);
    for (const std::uint32_t part : fact.xyz) out += ' ' + number(part);
    out += ' ' + std::string(sdk::from_abi(fact.text));
    if (fact.type == WYE_FACT_U64_LIST && fact.list != nullptr)
        for (std::uint64_t i = 0; i < fact.list_size; ++i) out += ' ' + number(fact.list[i]);
    return out;
}

std::string text_of(const wye_device_info& info) {
    std::string out = std::string(sdk::from_abi(info.name)) + '\n' + number(info.state) + '\n' +
                      std::string(sdk::from_abi(info.reason));
    if (info.formats != nullptr)
        for (const wye_string& format : std::span(info.formats, info.format_count))
            out += '\n' + std::string(sdk::from_abi(format));
    return out;
}

struct KnownFact {
    std::uint32_t key, type;
    std::string_view name;
};
constexpr KnownFact kFacts[] = {
#define WYE_VALIDATE_FACT(name, key, json, type) {key, WYE_FACT_##type, json},
    WYE_FACTS(WYE_VALIDATE_FACT)
#undef WYE_VALIDATE_FACT
};

Result<void> has_device(PluginNode& node, std::uint32_t index) {
    Plugin& plugin = node.state();
    const sdk::Lock lock(plugin.mutex);
    if (plugin.count && index < *plugin.count) return {};
    return Error(Code::INVALID_ARGUMENT,
                 plugin.count
                     ? "there is no device " + number(index) + " of " + number(*plugin.count)
                     : "no call of `probe_devices` came before it",
                 "Fix: correct the call");
}

}  // namespace

Result<void> before(slot::plugin::device_info, PluginNode& node, Frame&, std::uint32_t index,
                    wye_device_info*, wye_error**) {
    return has_device(node, index);
}

Result<void> before(slot::plugin::open_device, PluginNode& node, Frame&, const wye_open_desc* desc,
                    wye_device_object**, const wye_device_table**, wye_error**) {
    return has_device(node, desc->index);
}

Result<void> before(slot::plugin::translate, PluginNode& node, Frame&, std::uint32_t index,
                    const wye_artifact*, wye_string, wye_bytes*, wye_error**) {
    if (index == UINT32_MAX) return {};  // a translation for no device
    Result<void> out = has_device(node, index);
    if (out.ok()) return out;
    return Error(out.error().code, out.error().message, out.error().fix, "H-3");
}

Result<void> before(slot::plugin::shutdown, PluginNode& node, Frame&) {
    Plugin& plugin = node.state();
    std::size_t left = 0;
    {
        const sdk::Lock lock(plugin.mutex);
        left = plugin.open.size();
    }
    if (left != 0)
        plugin.breaches.add(Side::host, "P-56", "shutdown", nullptr,
                            number(left) + " devices were not closed before their plugin");
    return {};
}

void after(slot::plugin::probe_devices, PluginNode& node, Frame& frame, wye_status status,
           std::uint32_t* count, wye_error**) {
    Plugin& plugin = node.state();
    if (frame.spent_ns > kProbeLimit)
        plugin.breaches.add(Side::plugin, "P-17", "probe_devices", nullptr,
                            "the probe took " + number(frame.spent_ns / 1'000'000) + " ms");
    if (status != WYE_OK) return;
    std::uint32_t first = 0;
    {
        const sdk::Lock lock(plugin.mutex);
        if (!plugin.count) plugin.count = *count;
        first = *plugin.count;
    }
    if (*count != first)
        plugin.breaches.add(
            Side::plugin, "P-17", "probe_devices", nullptr,
            "the list has " + number(*count) + " devices, and had " + number(first) + " before");
}

void after(slot::plugin::device_info, PluginNode& node, Frame&, wye_status status,
           std::uint32_t index, wye_device_info* out, wye_error**) {
    if (status != WYE_OK) return;
    Breaches& breaches = node.state().breaches;
    const auto breach = [&](std::string_view rule, const std::string& text) {
        breaches.add(Side::plugin, rule, "device_info", nullptr,
                     "device " + number(index) + ' ' + text);
    };
    if (out->name.size == 0) breach("P-22", "has no name");
    if (out->format_count != 0 && out->formats == nullptr) breach("P-22", "has no list of formats");
    if (out->state == WYE_DEVICE_USABLE && out->format_count == 0)
        breach("P-22", "can be used, and lists no format");
    if (out->state > WYE_DEVICE_UNUSABLE) breach("P-18", "has the state " + number(out->state));
    if (out->state == WYE_DEVICE_UNUSABLE) {
        if (out->reason.size == 0) breach("P-18", "cannot be used, and has no reason");
        if (!sdk::from_abi(out->fix).starts_with("Fix: "))
            breach("P-18", "cannot be used, and has no remedy that begins with `Fix: `");
    }
    const std::string now = text_of(*out);
    bool same = true;
    {
        const sdk::Lock lock(node.state().mutex);
        same = node.state().infos.try_emplace(index, now).first->second == now;
    }
    if (!same) breach("P-21", "is described otherwise than before");
}

void after(slot::plugin::device_fact, PluginNode& node, Frame&, wye_status status,
           std::uint32_t index, std::uint32_t key, wye_fact* out) {
    Breaches& breaches = node.state().breaches;
    const auto* known = std::ranges::find(kFacts, key, &KnownFact::key);
    const std::string name = known == std::end(kFacts)
                                 ? "the fact " + number(key)
                                 : "the fact `" + std::string(known->name) + '`';
    const auto breach = [&](std::string_view rule, const std::string& text) {
        breaches.add(Side::plugin, rule, "device_fact", nullptr,
                     name + " of device " + number(index) + ' ' + text);
    };
    if (status != WYE_OK && status != WYE_UNSUPPORTED && status != WYE_UNKNOWN_KEY)
        breach("P-19", "has the status " + number(static_cast<std::uint32_t>(status)));
    if (status == WYE_OK && known != std::end(kFacts) && out->type != known->type)
        breach("P-19", "has the type " + number(out->type) + " in place of " + number(known->type));
    if (status == WYE_OK && out->type == WYE_FACT_BOOL && out->u > 1)
        breach("P-19", "is the truth value " + number(out->u));
    const std::string now = status == WYE_OK ? text_of(*out) : std::string("not reported");
    bool same = true;
    {
        const sdk::Lock lock(node.state().mutex);
        same = node.state().facts.try_emplace({index, key}, now).first->second == now;
    }
    if (!same) breach("P-21", "is another than before");
}

void after(slot::plugin::open_device, PluginNode& node, Frame&, wye_status status,
           const wye_open_desc*, wye_device_object** out, const wye_device_table** table,
           wye_error**) {
    if (status != WYE_OK || *out == nullptr || *table == nullptr) return;
    DeviceNode& device = sdk::layer::node_of<State>(*out);
    {
        const sdk::Lock lock(node.state().mutex);
        node.state().open.insert(&device.state());
        node.state().handles.insert(&device);
    }
    Breaches& breaches = node.state().breaches;
    const auto breach = [&](const std::string& text) {
        breaches.add(Side::plugin, "P-6", "open_device", nullptr, text);
    };
#define WYE_VALIDATE_SLOT(name, mandatory)               \
    if ((mandatory) != 0 && device.next.name == nullptr) \
        breach("the table of the device has no `" #name "`, which is mandatory");
    WYE_DEVICE_SLOTS(WYE_VALIDATE_SLOT)
#undef WYE_VALIDATE_SLOT
    const wye_device_table& slots = device.next;
    if (slots.timeline_create != nullptr &&
        (slots.timeline_destroy == nullptr || slots.timeline_signal == nullptr ||
         slots.timeline_fail == nullptr))
        breach("the table of the device has `timeline_create` without its companions");
    if (slots.command_create != nullptr &&
        (slots.command_destroy == nullptr || slots.command_info == nullptr))
        breach("the table of the device has `command_create` without its companions");
}

}  // namespace wye::layers::validate
