// SPDX-License-Identifier: Apache-2.0
#include "option_table.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace wye::tool {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The name of an option's value, such as "NAME=FILE" of the description "NAME=FILE: raw bytes". If
// the option has a type, the name is the part of the type before a colon.
std::string value_name(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::string& about = option.get_description();
    if (!type.empty() && type != "TEXT") return type.substr(0, type.find(':'));
    const std::size_t colon = about.find(": ");
    const std::string first = about.substr(0, colon == about.npos ? 0 : colon);
    const bool name = first.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ=[,]") == first.npos;
    return first.empty() || !name ? "VALUE" : first;
}

// The values in an option's type, such as "POLICY:{require,prefer,auto}"; empty: it lists none.
std::vector<std::string> values_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t open = type.find(":{");
    std::vector<std::string> out;
    if (open == type.npos || !type.ends_with('}')) return out;
    for (std::size_t at = open + 2; at < type.size();) {
        const std::size_t end = type.find_first_of(",}", at);
        out.push_back(type.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

OrderedJson table_of(const VerbEntry& verb) {
    OrderedJson out = {{"name", verb.name},
                       {"about", verb.about},
                       {"helper", verb.helper},
                       {"options", OrderedJson::array()},
                       {"positionals", OrderedJson::array()},
                       {"verbs", OrderedJson::array()}};
    for (const OptionEntry& option : verb.options)
        out["options"].push_back(
            {{"flags", option.flags},
             {"value", option.value.empty() ? OrderedJson() : OrderedJson(option.value)},
             {"about", option.about},
             {"required", option.required},
             {"repeats", option.repeats},
             {"values", option.values},
             {"view", option.view}});
    for (const PositionalEntry& place : verb.positionals)
        out["positionals"].push_back({{"name", place.name},
                                      {"about", place.about},
                                      {"required", place.required},
                                      {"repeats", place.repeats},
                                      {"values", place.values}});
    for (const VerbEntry& below : verb.verbs) out["verbs"].push_back(table_of(below));
    return out;
}

}  // namespace

VerbEntry verb_table(const CLI::App& app) {
    VerbEntry out{app.get_name(), app.get_description(), app.get_group() == "Helpers", {}, {}, {}};
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty() || option == app.get_help_ptr()) continue;
        const std::string& about = option->get_description();
        const bool repeats = option->get_items_expected_max() > 1;
        if (option->get_positional()) {
            out.positionals.push_back(
                {option->get_name(), about, option->get_required(), repeats, values_of(*option)});
            continue;
        }
        OptionEntry entry{{},
                          {},
                          about,
                          option->get_required(),
                          repeats,
                          values_of(*option),
                          option->get_group() == kViews};
        for (const std::string& name : option->get_snames()) entry.flags.push_back("-" + name);
        for (const std::string& name : option->get_lnames()) entry.flags.push_back("--" + name);
        if (option->get_items_expected_max() > 0) entry.value = value_name(*option);
        out.options.push_back(std::move(entry));
    }
    for (const CLI::App* verb : app.get_subcommands({})) out.verbs.push_back(verb_table(*verb));
    return out;
}

void add_values(VerbEntry& table, const std::string& verb, const std::string& name,
                const std::vector<std::string>& values) {
    const auto found = std::ranges::find(table.verbs, verb, &VerbEntry::name);
    if (found == table.verbs.end()) return;
    for (OptionEntry& option : found->options)
        if (std::ranges::find(option.flags, name) != option.flags.end()) option.values = values;
    for (PositionalEntry& place : found->positionals)
        if (place.name == name) place.values = values;
}

std::string json_of(const VerbEntry& table) { return table_of(table).dump(1) + '\n'; }

}  // namespace wye::tool
