// SPDX-License-Identifier: Apache-2.0
#include "property.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../suggest.hpp"

namespace wye::tool {
namespace {

const Report* found_in(const Report& object, const std::string& name) {
    const auto at = object.find(name);
    return at == object.end() ? nullptr : &*at;
}

}  // namespace

const Report* property_of(const Report& device, const std::string& name) {
    const Report& facts = fields(device, "facts");
    for (const std::string& known : {name, name + "_bytes", "device_" + name}) {
        if (const Report* fact = found_in(facts, known)) return fact;
        const Report* own = found_in(device, known);
        if (own != nullptr && !own->is_object()) return own;
    }
    return nullptr;
}

std::optional<Error> unknown_property(const Report& report, const std::string& name) {
    const Report& devices = items(report, "devices");
    std::vector<std::string> known;
    for (const Report& device : devices) {
        if (property_of(device, name) != nullptr) return std::nullopt;
        if (!known.empty()) continue;
        for (const auto& [key, value] : device.items())
            if (!value.is_object()) known.push_back(key);
        for (const auto& [key, value] : fields(device, "facts").items()) known.push_back(key);
    }
    if (devices.empty()) return std::nullopt;
    std::vector<std::string> near = nearest(name, known);
    for (std::string& one : near) one = fmt::format("`{}`", clean(one));
    return Error(Code::INVALID_ARGUMENT, fmt::format("no device has a property `{}`", clean(name)),
                 near.empty() ? "Fix: `wye info -v` lists all"
                              : fmt::format("Fix: did you mean {}?", fmt::join(near, " or ")),
                 name);
}

Result<std::string> property_view(const Report& report, const std::string& name, bool named) {
    if (auto error = unknown_property(report, name)) return std::move(*error);
    std::string out;
    for (const Report& device : items(report, "devices")) {
        const Report* value = property_of(device, name);
        if (named) out += clean(text(device, "selector")) + '\t';
        out += clean(value == nullptr ? "unknown" : value_text(*value)) + '\n';
    }
    return out;
}

}  // namespace wye::tool
