// SPDX-License-Identifier: Apache-2.0
// A plugin's wrong values and exceptions become an error or a line in the log and do not harm the
// host; its texts cannot forge further lines.
#include <doctest/doctest.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "registry/choose/catalogue.hpp"
#include "registry/json.hpp"
#include "registry/open/plugin_text.hpp"
#include "registry/report/report.hpp"
#include "wye/sdk/plugin.hpp"

namespace test_lies {

using namespace wye;
using namespace wye::registry;

namespace {

struct Logged {
    std::mutex mutex;
    std::vector<std::string> lines;
    [[nodiscard]] bool has(std::string_view text) {
        const std::lock_guard lock(mutex);
        return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
            return line.find(text) != std::string::npos;
        });
    }
};

std::unique_ptr<Registry> open(const std::string& how, Logged* log = nullptr) {
    Options options;
    options.application_paths = {std::filesystem::path(WYE_FAKES) / "breaks_rules.so"};
    options.config["breaks_rules.how"] = how;
    if (log != nullptr)
        options.log = [log](std::uint32_t, std::string_view area, std::string_view text) {
            const std::lock_guard lock(log->mutex);
            log->lines.push_back(std::string(area) + ": " + std::string(text));
        };
    auto registry = Registry::create(std::move(options));
    REQUIRE(registry.ok());
    return std::move(*registry);
}

PluginInfo listed(const std::string& how) {
    const auto registry = open(how);
    const auto plugin = registry->open_plugin("breaks_rules");
    REQUIRE(plugin.ok());
    return *plugin;
}

wye_artifact some_artifact() {
    wye_artifact out{};
    out.header = sdk::header_of(sizeof out);
    out.format = sdk::to_abi("wye-program");
    return out;
}

TEST_CASE("what a plugin throws when it destroys, closes and shuts down is logged") {
    Logged log;
    {
        const auto registry = open("throws_at_end", &log);
        const auto plugin = registry->open_plugin("breaks_rules");
        REQUIRE(plugin.ok());
        const auto device = registry->open_device(*plugin->devices[0]);
        REQUIRE(device.ok());
        CHECK(NativeBuffer::create(*device, 16, 16, "b").ok());
        CHECK(NativeProgram::create(*device, some_artifact()).ok());
        CHECK(NativeQueue::create(*device, "q").ok());
    }
    for (const char* slot :
         {"buffer_destroy", "program_destroy", "queue_destroy", "close", "shutdown"}) {
        CAPTURE(slot);
        CHECK(log.has(std::string("threw: ") + slot));
    }
}

TEST_CASE("a saved program that cannot be is a fault of the plugin") {
    for (const char* how : {"huge_save", "absent_save"}) {
        CAPTURE(how);
        const auto registry = open(how);
        const auto plugin = registry->open_plugin("breaks_rules");
        REQUIRE(plugin.ok());
        const auto device = registry->open_device(*plugin->devices[0]);
        REQUIRE(device.ok());
        const auto program = NativeProgram::create(*device, some_artifact());
        REQUIRE(program.ok());
        const auto saved = program->save();
        REQUIRE_FALSE(saved.ok());
        CHECK(saved.error().code == Code::PLUGIN_FAULT);
        CHECK(saved.error().message.find("program_save") != std::string::npos);
        CHECK(saved.error().subject == "breaks_rules:0");
    }
    const auto registry = open("nothing");
    const auto plugin = registry->open_plugin("breaks_rules");
    const auto device = registry->open_device(*plugin->devices[0]);
    REQUIRE(device.ok());
    const auto program = NativeProgram::create(*device, some_artifact());
    CHECK(program->save()->size() == 5);
}

TEST_CASE("a device that lies about its name or formats is unusable, and says why") {
    const std::pair<const char*, const char*> lies[] = {
        {"long_name", "name claims 5368709120 bytes"},
        {"absent_name", "not all in memory"},
        {"many_formats", "claims 1099511627776 artifact formats"},
        {"more_formats", "artifact format 2 of 3 of the device is not a valid name: `\\x01`"},
    };
    for (const auto& lie : lies) {
        const std::string how = lie.first;
        const std::string text = lie.second;
        CAPTURE(how);
        const PluginInfo plugin = listed(how);
        REQUIRE(plugin.devices.size() == 2);
        CHECK_FALSE(plugin.devices[0]->usable);
        CAPTURE(plugin.devices[0]->reason);
        CHECK(plugin.devices[0]->reason.find(text) != std::string::npos);
        CHECK(plugin.devices[0]->fix.rfind("Fix: ", 0) == 0);
    }
    CHECK(listed("nothing").devices[0]->usable);
}

TEST_CASE("line ends, escapes and bytes that are no UTF-8 cannot leave their line") {
    Logged log;
    const auto registry = open("forges", &log);
    const auto plugin = registry->open_plugin("breaks_rules");
    REQUIRE(plugin.ok());
    CHECK(plugin->devices[0]->name ==
          "fine\\nforged:0\\tusable\\x1b[2J \\xff\\xc0\\x80 gr\xc3\xbcn");
    CHECK(plugin->devices[1]->reason == "first\\nsecond\\r\\x7f\\xc2\\x85\\xe2\\x80\\xae");
    CHECK(log.has("fa\\nke: one\\nerror: two \\x1b[31mred"));
    const auto json = nlohmann::json::parse(report_json(*registry, {}), nullptr, false);
    REQUIRE_FALSE(json.is_discarded());
    CHECK(json["devices"][0]["name"].get<std::string>() == plugin->devices[0]->name);
}

TEST_CASE("text on one line: what is visible stays, everything else is written out") {
    CHECK(one_line("a b\\c \xe2\x82\xac \xf0\x9f\x98\x80") ==
          "a b\\c \xe2\x82\xac \xf0\x9f\x98\x80");
    CHECK(one_line(std::string_view("\0\x1f", 2)) == "\\x00\\x1f");
    CHECK(one_line("\xed\xa0\x80 \xc3 \xf5") == "\\xed\\xa0\\x80 \\xc3 \\xf5");
    CHECK(one_line("\xe0\x80\xaf") == "\\xe0\\x80\\xaf");  // an encoding that is longer than needed
    CHECK(several_lines("a\n\tb\x1b") == "a\n\tb\\x1b");
}

TEST_CASE("JSON is valid and has nothing that a terminal obeys, whatever the text") {
    const std::string text = "\x1b \x7f \u009b \u202e gr\u00fcn";
    const std::string written = Json(text).dump(-1);
    CHECK(written == "\"\\u001b \\u007f \\u009b \\u202e gr\u00fcn\"");
    CHECK(nlohmann::json::parse(written).get<std::string>() == text);
    CHECK(Json("\xff\xed\xa0\x80").dump(-1) == "\"\ufffd\ufffd\ufffd\ufffd\"");
}

TEST_CASE("memory that is not there is not read") {
    char to[16] = {};
    CHECK(read_memory(to, "0123456789abcde", 16));
    CHECK(std::string_view(to) == "0123456789abcde");
    CHECK_FALSE(read_memory(to, reinterpret_cast<const void*>(std::uintptr_t{4096}), 16));
    CHECK(read_memory(to, nullptr, 0));
}

}  // namespace

}  // namespace test_lies
