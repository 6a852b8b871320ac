// SPDX-License-Identifier: Apache-2.0
#include "option_table.hpp"

#include <nlohmann/json.hpp>

namespace wye::tool {
namespace {

using Table = nlohmann::ordered_json;

// "NAME=FILE" for "NAME=FILE: raw bytes".
std::string value_name(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::string& about = option.get_description();
    if (!type.empty() && type != "TEXT") return type;
    const std::size_t colon = about.find(": ");
    const std::string first = about.substr(0, colon == about.npos ? 0 : colon);
    const bool name = first.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ=[,]") == first.npos;
    return first.empty() || !name ? "VALUE" : first;
}

Table table_of(const CLI::App& app) {
    Table out = {{"name", app.get_name()},
                 {"about", app.get_description()},
                 {"helper", app.get_group() == "Helpers"},
                 {"options", Table::array()},
                 {"positionals", Table::array()},
                 {"verbs", Table::array()}};
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty() || option == app.get_help_ptr()) continue;
        const std::string& about = option->get_description();
        if (option->get_positional()) {
            out["positionals"].push_back({{"name", option->get_name()},
                                          {"about", about},
                                          {"required", option->get_required()}});
            continue;
        }
        Table flags = Table::array();
        for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
        for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
        const bool takes_value = option->get_items_expected_max() > 0;
        out["options"].push_back({{"flags", flags},
                                  {"value", takes_value ? Table(value_name(*option)) : Table()},
                                  {"about", about}});
    }
    for (const CLI::App* verb : app.get_subcommands({})) out["verbs"].push_back(table_of(*verb));
    return out;
}

}  // namespace

std::string option_table(const CLI::App& app) { return table_of(app).dump(1) + '\n'; }

}  // namespace wye::tool
