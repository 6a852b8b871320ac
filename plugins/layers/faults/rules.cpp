// SPDX-License-Identifier: Apache-2.0
#include "layers/faults/rules.hpp"

#include <map>
#include <utility>

#include "wye/sdk/layer_slots.hpp"
#include "wye/sdk/nearest.hpp"
#include "wye/sdk/numbers.hpp"
#include "wye/sdk/words.hpp"

namespace wye::layers::faults {
namespace {

constexpr const char* kKey = "layer.faults.rules";
constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(1);

// Maps the names of slots to whether the slot returns a status.
std::map<std::string_view, bool> known_slots() {
    std::map<std::string_view, bool> out;
    sdk::layer::slot::each([&](auto slot) {
        using Slot = decltype(slot);
        out[Slot::kName] = out[Slot::kName] || sdk::layer::slot::kFails<Slot>;
    });
    return out;
}

std::map<std::string_view, Code> known_codes() {
    std::map<std::string_view, Code> out;
#define WYE_FAULTS_CODE(name, value, text) out[#name] = Code::name;
    WYE_STATUSES(WYE_FAULTS_CODE)
#undef WYE_FAULTS_CODE
    out.erase("OK");
    return out;
}

template <typename Known>
std::string suggestion(std::string_view word, const Known& known, const char* otherwise) {
    std::vector<std::string_view> names;
    for (const auto& [name, what] : known) names.push_back(name);
    const std::string_view near = sdk::nearest(word, names);
    return near.empty() ? otherwise : "Fix: write `" + std::string(near) + "`";
}

Error wrong(std::string_view rule, const std::string& what, std::string fix) {
    return {Code::INVALID_ARGUMENT, "the rule `" + std::string(rule) + "` " + what, std::move(fix),
            kKey};
}

// Reads the time in "hang(TIME)".
Result<std::chrono::nanoseconds> parse_hang(std::string_view rule, std::string_view action) {
    std::string_view time = action.substr(action.find('(') + 1);
    if (time.ends_with(')')) {
        time.remove_suffix(1);
        const auto ns = sdk::parse_quantity(time, {sdk::kTimeUnits});
        if (ns && *ns <= static_cast<std::uint64_t>(kLongest.count()))
            return std::chrono::nanoseconds(*ns);
    }
    return wrong(rule, "has the action `" + std::string(action) + "`, which is no time to hang for",
                 "Fix: write a time of at most 3600s, as in hang(50ms)");
}

Result<Rule> parse_rule(std::string_view text) {
    Rule out;
    out.text = text;
    std::string_view rest = text;
    const std::string_view slot = sdk::cut(rest, ":");
    std::string_view number = sdk::cut(rest, ":");
    const std::string_view action = rest;
    if (action.empty())
        return wrong(text, "is not SLOT:N:ACTION",
                     "Fix: name a slot, the number of its call and what happens then, as in "
                     "submit:10:DEVICE_LOST");
    const auto slots = known_slots();
    const auto known = slots.find(slot);
    if (known == slots.end())
        return wrong(text, "names `" + std::string(slot) + "`, which is no slot of the contract",
                     suggestion(slot, slots, "Fix: name a slot of wye/abi.h, as in buffer_create"));
    out.slot = slot;
    if (!sdk::take_number(number, out.first) || out.first == 0 || (number != "" && number != "+"))
        return wrong(text, "has no number of a call",
                     "Fix: count calls from 1; 3 is the third call, 3+ that and all later ones");
    out.last = number == "+" ? UINT64_MAX : out.first;
    if (action.starts_with("hang(")) {
        WYE_ASSIGN(out.pause, parse_hang(text, action));
        return out;
    }
    const auto codes = known_codes();
    const auto code = codes.find(action);
    if (code == codes.end())
        return wrong(text, "has the action `" + std::string(action) + "`, which is not known",
                     suggestion(action, codes,
                                "Fix: write the name of a status code, as OUT_OF_MEMORY, or "
                                "hang(TIME)"));
    if (!known->second)
        return wrong(text, "lets the slot `" + out.slot + "` fail, which returns no status",
                     "Fix: let it hang, or name another slot");
    out.code = code->second;
    return out;
}

}  // namespace

Result<std::vector<Rule>> parse_rules(std::string_view text) {
    std::vector<Rule> out;
    while (!text.empty()) {
        const std::string_view part = sdk::trimmed(sdk::cut(text, ","));
        if (part.empty()) continue;
        WYE_ASSIGN(Rule rule, parse_rule(part));
        out.push_back(std::move(rule));
    }
    return out;
}

}  // namespace wye::layers::faults
