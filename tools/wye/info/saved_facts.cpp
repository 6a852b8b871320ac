// SPDX-License-Identifier: Apache-2.0
#include "saved_facts.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace wye::tool {

using registry::FactInfo;
using registry::Facts;
using registry::FactValue;

std::optional<FactValue> fact_of(const Report& value, std::uint32_t type) {
    const bool numbers = value.is_array() && std::ranges::all_of(value, [](const Report& one) {
                             return one.is_number_unsigned();
                         });
    switch (type) {
        case WYE_FACT_BOOL:
            if (value.is_boolean()) return value.get<bool>();
            break;
        case WYE_FACT_U64:
            if (value.is_number_unsigned()) return value.get<std::uint64_t>();
            break;
        case WYE_FACT_F64:
            if (value.is_number()) return value.get<double>();
            break;
        case WYE_FACT_TEXT:
            if (value.is_string()) return value.get<std::string>();
            break;
        case WYE_FACT_U64_LIST:
            if (numbers) return value.get<std::vector<std::uint64_t>>();
            break;
        case WYE_FACT_U32X3: {
            if (!numbers || value.size() != 3) break;
            std::array<std::uint32_t, 3> out{};
            for (std::size_t i = 0; i < 3; ++i)
                out[i] = static_cast<std::uint32_t>(
                    std::min<std::uint64_t>(value[i].get<std::uint64_t>(), UINT32_MAX));
            return out;
        }
        default:
            break;
    }
    return std::nullopt;
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
    std::from_chars(out.selector.data() + index, out.selector.data() + out.selector.size(),
                    out.index);
    return out;
}

}  // namespace wye::tool
