// SPDX-License-Identifier: Apache-2.0
#include "saved_facts.hpp"

#include "wye/sdk/numbers.hpp"

namespace wye::tool {

using registry::FactInfo;
using registry::Facts;
using registry::FactValue;

std::optional<FactValue> fact_of(const Report& value, std::uint32_t type) {
    return registry::fact_value(registry::Json::parse(value.dump()), type);
}

Facts facts_of(const Report& device) {
    Facts out;
    const Report& facts = fields(device, "facts");
    for (const FactInfo& info : registry::fact_infos())
        if (auto value = fact_of(member(facts, std::string(info.name).c_str()), info.type))
            out.set(info.key, {std::move(*value), {}});
    return out;
}

registry::DeviceInfo device_of(const Report& device) {
    registry::DeviceInfo out;
    out.plugin = text(device, "plugin");
    out.selector = text(device, "selector");
    out.id = text(device, "id");
    out.name = text(device, "name");
    out.usable = usable(device);
    out.reason = text(device, "reason");
    out.formats = texts(device, "formats");
    out.facts = facts_of(device);
    const std::size_t index = out.selector.find(':') + 1;  // 0: no index
    out.index =
        sdk::parse_number<std::uint32_t>(std::string_view(out.selector).substr(index)).value_or(0);
    return out;
}

}  // namespace wye::tool
