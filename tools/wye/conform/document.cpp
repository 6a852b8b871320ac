// SPDX-License-Identifier: Apache-2.0
#include <sys/utsname.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "verdict.hpp"
#include "wye/abi.h"
#include "wye/wye.h"

namespace wye::tool::conform {
namespace {

using Json = nlohmann::ordered_json;

Json abi_of(const Abi& abi) {
    return {{"major", abi.major},
            {"minor", abi.minor},
            {"draft", abi.draft},
            {"host_minor_needed", abi.host_minor_needed}};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

// Rounds to milliseconds.
double rounded(double seconds) { return std::round(seconds * 1000) / 1000; }

Json device_of(const Verdict& verdict, const Device& device) {
    return {{"selector", verdict.id + ":" + std::to_string(device.index)},
            {"index", device.index},
            {"name", device.name},
            {"formats", device.formats}};
}

std::string joined(const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines) out += (out.empty() ? "" : "\n") + line;
    return out;
}

Json case_of(const Group& group, const Case& one) {
    return {{"group", group.name},
            {"name", one.name},
            {"rules", one.rules},
            {"result", outcome_name(one.result)},
            {"message", text_or_null(joined(one.messages))},
            {"fix", one.result == Outcome::failed ? Json(remedy_of(one.rules)) : Json()},
            {"consequence_of", text_or_null(one.consequence_of)},
            {"notes", one.notes},
            {"tries", one.tries},
            {"seconds", rounded(one.seconds)}};
}

}  // namespace

std::string document_of(const Verdict& verdict) {
    utsname machine{};
    (void)::uname(&machine);
    Json out = {{"schema", 1}};
    out["plugin"] = {{"path", verdict.path},
                     {"id", text_or_null(verdict.id)},
                     {"version", text_or_null(verdict.version)},
                     {"vendor", text_or_null(verdict.vendor)},
                     {"abi", verdict.abi ? abi_of(*verdict.abi) : Json()}};
    out["host"] = {{"version", wye_version()},
                   {"abi", abi_of({WYE_ABI_MAJOR, WYE_ABI_MINOR, WYE_ABI_MINOR_DRAFT, 0})},
                   {"arch", machine.machine},
                   {"system", std::string(machine.sysname) + " " + machine.release}};
    out["host"]["abi"].erase("host_minor_needed");
    out["depth"] = depth_name(verdict.depth);
    out["device"] = verdict.device ? device_of(verdict, *verdict.device) : Json();
    out["groups"] = Json::array();
    out["cases"] = Json::array();
    for (const Group& group : verdict.groups) {
        out["groups"].push_back({{"name", group.name},
                                 {"about", group.about},
                                 {"passed", group.count(Outcome::passed)},
                                 {"failed", group.count(Outcome::failed)},
                                 {"not_applicable", group.count(Outcome::not_applicable)},
                                 {"not_tried", text_or_null(group.not_tried)},
                                 {"partly", text_or_null(group.partly)},
                                 {"seconds", rounded(group.seconds)}});
        for (const Case& one : group.cases) out["cases"].push_back(case_of(group, one));
    }
    out["verdict"] = {{"conforms", verdict.conforms()},
                      {"passed", verdict.count(Outcome::passed)},
                      {"failed", verdict.count(Outcome::failed)},
                      {"not_applicable", verdict.count(Outcome::not_applicable)},
                      {"failed_rules", verdict.failed_rules()},
                      {"groups_tried", verdict.groups_tried()},
                      {"groups_not_tried", verdict.groups.size() - verdict.groups_tried()},
                      {"sentence", sentence_of(verdict)}};
    return out.dump(2, ' ', true, Json::error_handler_t::replace);
}

}  // namespace wye::tool::conform
