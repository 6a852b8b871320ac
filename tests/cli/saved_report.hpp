// SPDX-License-Identifier: Apache-2.0
//
// What the tests of `wye info` share: the command, and the saved report of a machine.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "command.hpp"

namespace wye::test {

using Variables = std::map<std::string, std::string>;
using nlohmann::json;

inline Outcome info(std::vector<std::string> words, const Variables& variables = {}) {
    words.insert(words.begin(), {WYE_TOOL, "info"});
    return run_command(words, variables);
}

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

// The report of a machine with a GPU, a CPU, and two plugins that failed.
inline json machine() {
    const json reason = {{"stage", "enumerated"},    {"severity", "refused"},
                         {"code", "NO_DEVICE"},      {"message", "the driver is not installed"},
                         {"loader_text", nullptr},   {"fix", "Fix: install the driver"},
                         {"path", "/home/ann/p.so"}, {"plugin", "third"}};
    const auto plugin = [](const char* id, const char* state, const json& why) {
        return json{{"id", id}, {"path", nullptr}, {"state", state}, {"reason", why}};
    };
    const auto device = [](const char* selector, const json& facts) {
        return json{
            {"id", "0123456789abcdef"}, {"selector", selector}, {"name", "Test device"},
            {"plugin", "first"},        {"usable", true},       {"reason", nullptr},
            {"fix", nullptr},           {"facts", facts},       {"formats", {"spirv-vulkan"}}};
    };
    const json gpu = {{"device_kind", "gpu"},
                      {"memory_bytes", 8589934592},
                      {"f64", true},
                      {"driver", "9.1"},
                      {"api_version", "Vulkan 1.3.230"},
                      {"uuid", "00112233445566778899aabbccddeeff"},
                      {"subgroup_sizes", {16, 32}},
                      {"max_workgroup_size", nullptr}};
    const json cpu = {{"device_kind", "cpu"}, {"memory_bytes", 1073741824}, {"f64", nullptr}};
    return {{"schema_version", 1},
            {"host", {{"version", "0.1.0"}, {"arch", "x86_64"}, {"system", "Linux"}}},
            {"filters", {{{"name", "selector"}, {"value", "auto"}}}},
            {"picks", "first:0"},
            {"plugins",
             {plugin("first", "ready", nullptr), plugin("second", "not_opened", reason),
              plugin("third", "failed", reason)}},
            {"devices", {device("first:0", gpu), device("first:1", cpu)}},
            {"records", json::array()}};
}

struct Saved {
    TempFolder folder;
    [[nodiscard]] std::string write(const json& report, const char* name = "report.json") const {
        return folder.write(name, report.dump(1));
    }
};

}  // namespace wye::test
