// SPDX-License-Identifier: Apache-2.0
//
// `wye plugins`: lists what earlier probes of plugins found, and records which plugins the user
// trusts. Opens no plugin and starts no process.
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "verbs.hpp"
#include "wye/wye.hpp"

namespace wye::tool {
namespace {

using Json = nlohmann::json;

// The text of a member; empty: the member is no text, or absent.
std::string word(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string state_of(const Json& plugin) {
    std::string out = word(plugin, "verdict");
    if (out.empty()) return "not probed";
    for (char& c : out)
        if (c == '_') c = ' ';
    return plugin.value("quarantined", false) ? out + ", quarantined" : out;
}

std::string details_of(const Json& plugin) {
    const std::string how = word(plugin, "how");
    const std::string slot = word(plugin, "slot");
    const Json reason = plugin.value("reason", Json());
    if (how.empty() && slot.empty() && reason.is_object())
        return fmt::format("  {}\n", with_remedy(word(reason, "message"), word(reason, "fix")));
    if (how.empty() && slot.empty()) return {};
    return fmt::format("  {}{}{}{}\n", how, how.empty() || slot.empty() ? "" : " ",
                       slot.empty() ? "" : fmt::format("in `{}`", slot),
                       fmt::format(", {} time(s)", plugin.value("times", 1U)));
}

// The entries of the plugins in `ids`; of all plugins if `ids` is empty.
Result<Json> chosen(const Json& all, const std::vector<std::string>& ids) {
    if (ids.empty()) return all;
    Json out = Json::array();
    for (const std::string& id : ids) {
        const std::size_t before = out.size();
        for (const Json& plugin : all)
            if (word(plugin, "id") == id) out.push_back(plugin);
        if (out.size() == before)
            return Error(Code::NOT_FOUND, fmt::format("there is no plugin file of the id `{}`", id),
                         "Fix: give an id that `wye plugins` lists", id);
    }
    return out;
}

Result<void> show(const Context& context, const PluginsOptions& options) {
    WYE_ASSIGN(const std::string document, context.verdicts_report());
    const Json all = Json::parse(document, nullptr, false);
    if (!all.is_array())
        return Error(Code::INTERNAL, "the library's report is not JSON", "Fix: report this");
    WYE_ASSIGN(const Json plugins, chosen(all, options.ids));
    if (options.json) {
        fmt::print("{}\n", options.ids.empty() ? document : plugins.dump(2));
        return {};
    }
    if (plugins.empty()) fmt::print("no plugin files were found\n");
    for (const Json& plugin : plugins)
        fmt::print("{:<10} {:<22} {}\n{}", word(plugin, "id"), state_of(plugin),
                   word(plugin, "path"), details_of(plugin));
    return {};
}

Result<void> act(const PluginsOptions& options) {
    WYE_ASSIGN(const auto context, Context::create());
    if (options.action == "list") return show(context, options);
    if (options.ids.empty())
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`wye plugins {}` names no plugin", options.action),
                     "Fix: give the ids that `wye plugins` lists", options.action);
    for (const std::string& id : options.ids)
        WYE_TRY(options.action == "trust" ? context.trust_plugin(id) : context.forget_plugin(id));
    return {};
}

}  // namespace

ExitCode plugins(const PluginsOptions& options) {
    const auto done = act(options);
    return done.ok() ? kOk : fail(done.error());
}

}  // namespace wye::tool
