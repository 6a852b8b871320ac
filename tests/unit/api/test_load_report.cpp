// SPDX-License-Identifier: Apache-2.0
//
// The load report as C++ values, compared with the JSON report of the same context.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "wye/report.hpp"

namespace {

using nlohmann::json;

std::string text(wye_string from) { return {from.data == nullptr ? "" : from.data, from.size}; }

// A member of the JSON report; "" for null.
std::string text(const json& object, const char* key) {
    return object.at(key).is_null() ? "" : object.at(key).get<std::string>();
}

wye::Context context() {
    const std::string fakes = WYE_FAKES;
    auto made = wye::Context::create(
        {.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT,
         .plugin_paths = {fakes + "/healthy.so", fakes + "/init_fails.so",
                          fakes + "/undefined_symbol.so", "/nowhere/at/all.so"},
         .config = {{"probe.mode", "off"}}});
    REQUIRE(made.ok());
    return std::move(*made);
}

const wye_load_plugin& plugin(const wye::LoadReport& report, const std::string& id) {
    for (const wye_load_plugin& each : report.plugins)
        if (text(each.id) == id) return each;
    FAIL("no plugin ", id);
    return report.plugins.front();
}

void check_record(const wye_load_record& record, const json& other) {
    static const char* const kStages[] = {"found",      "manifest", "trust",      "architecture",
                                          "needs",      "opened",   "negotiated", "initialised",
                                          "enumerated", "probed"};
    static const char* const kSeverities[] = {"refused", "warning", "note"};
    REQUIRE(record.stage < 10);
    REQUIRE(record.severity < 3);
    CHECK(other.at("stage") == kStages[record.stage]);
    CHECK(other.at("severity") == kSeverities[record.severity]);
    CHECK(text(record.message) == text(other, "message"));
    CHECK(text(record.fix) == text(other, "fix"));
    CHECK(text(record.loader_text) == text(other, "loader_text"));
    CHECK(text(record.missing_library) == text(other, "missing_library"));
    CHECK(text(record.path) == text(other, "path"));
    CHECK(text(record.plugin) == text(other, "plugin"));
}

}  // namespace

TEST_CASE("a helper is named by its full path") {
    const auto made = wye::Context::create({.config = {{"probe.helper", "bin/wye-probe"}}});
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == wye::Code::INVALID_ARGUMENT);
    CHECK(made.error().message.find("`bin/wye-probe`") != std::string::npos);
    CHECK(made.error().fix == "Fix: give its full path");
}

TEST_CASE("each plugin has its state, stage and reason") {
    const wye::Context made = context();
    const auto report = wye::load_report(made);
    REQUIRE(report.ok());
    const wye_load_plugin& healthy = plugin(*report, "healthy");
    CHECK(healthy.state == WYE_LOAD_STATE_READY);
    CHECK(healthy.stage == WYE_LOAD_ENUMERATED);
    CHECK(healthy.device_count == 2);
    CHECK(healthy.has_reason == 0);
    CHECK(text(healthy.source) == "application");
    CHECK(text(healthy.vendor) == "Wye tests");
    CHECK(text(plugin(*report, "cpu").source) == "builtin");
    const wye_load_plugin& fails = plugin(*report, "init_fails");
    CHECK(fails.state == WYE_LOAD_STATE_FAILED);
    CHECK(fails.stage == WYE_LOAD_INITIALISED);
    REQUIRE(fails.has_reason == 1);
    CHECK(fails.reason.code == WYE_MISSING_DEPENDENCY);
    CHECK(text(fails.reason.fix) == "Fix: install fake-driver");
    CHECK(plugin(*report, "undefined_symbol").stage == WYE_LOAD_OPENED);
    CHECK(text(plugin(*report, "undefined_symbol").reason.loader_text)
              .find("wye_nobody_defines_this") != std::string::npos);
    const wye_load_plugin& absent = plugin(*report, "");
    CHECK(absent.state == WYE_LOAD_STATE_REFUSED);
    CHECK(text(absent.path) == "/nowhere/at/all.so");
    CHECK(text(absent.source).empty());
    CHECK(absent.reason.code == WYE_NOT_FOUND);
}

TEST_CASE("it says what the JSON report says") {
    const wye::Context made = context();
    const auto report = wye::load_report(made);
    const auto document = made.report();
    REQUIRE(report.ok());
    REQUIRE(document.ok());
    const json other = json::parse(*document);
    static const char* const kStates[] = {"found",    "ready",    "failed",    "refused",
                                          "shadowed", "disabled", "not_opened"};
    REQUIRE(report->plugins.size() == other.at("plugins").size());
    for (std::size_t i = 0; i < report->plugins.size(); ++i) {
        const wye_load_plugin& one = report->plugins[i];
        const json& same = other.at("plugins").at(i);
        REQUIRE(one.state < 7);
        CHECK(same.at("state") == kStates[one.state]);
        CHECK(text(one.id) == text(same, "id"));
        CHECK(text(one.path) == text(same, "path"));
        CHECK(text(one.version) == text(same, "version"));
        CHECK((one.has_reason == 1) == same.at("reason").is_object());
        static const char* const kProbes[] = {"none", "off", "trusted", "remembered", "child"};
        REQUIRE(one.probe < 5);
        CHECK(same.at("probe_state") == kProbes[one.probe]);
        CHECK(one.probed_unix_ns == 0);
        if (one.has_reason == 1) check_record(one.reason, same.at("reason"));
    }
    REQUIRE(report->records.size() == other.at("records").size());
    CHECK(report->records.size() == 3);
    for (std::size_t i = 0; i < report->records.size(); ++i)
        check_record(report->records[i], other.at("records").at(i));
    REQUIRE(report->devices.size() == other.at("devices").size());
    for (std::size_t i = 0; i < report->devices.size(); ++i) {
        const json& same = other.at("devices").at(i);
        CHECK(text(report->devices[i].selector) == same.at("selector"));
        CHECK(text(report->devices[i].id) == same.at("id"));
        CHECK(text(report->devices[i].name) == text(same, "name"));
        CHECK((report->devices[i].usable == 1) == same.at("usable"));
        CHECK(text(report->devices[i].reason) == text(same, "reason"));
        CHECK(text(report->devices[i].physical) == text(same, "physical_id"));
        const json& aliases = same.at("aliases");
        REQUIRE(report->devices[i].alias_count == aliases.size());
        REQUIRE(report->aliases[i].size() == aliases.size());
        for (std::size_t j = 0; j < aliases.size(); ++j) {
            CHECK(text(report->aliases[i][j].selector) == text(aliases[j], "selector"));
            CHECK(text(report->aliases[i][j].evidence) == text(aliases[j], "evidence"));
            CHECK(text(report->aliases[i][j].confidence) == text(aliases[j], "confidence"));
        }
    }
}

TEST_CASE("it lists the entries of the selector that name nothing") {
    const wye::Context made = context();
    const auto report = wye::load_report(made, "cpu,helthy,cpu:7");
    REQUIRE(report.ok());
    REQUIRE(report->unmatched.size() == 2);
    CHECK(text(report->unmatched[0].entry) == "helthy");
    CHECK(text(report->unmatched[0].reason).find("there is no plugin `helthy`; there are cpu, ") ==
          0);
    CHECK(text(report->unmatched[0].fix).find("`healthy`") != std::string::npos);
    CHECK(text(report->unmatched[1].entry) == "cpu:7");
    CHECK(report->devices.size() == 1);
}

TEST_CASE("there are no aliases beyond the last, nor of devices beyond the last") {
    const wye::Context made = context();
    const auto report = wye::load_report(made);
    REQUIRE(report.ok());
    wye_load_alias alias;
    WYE_INIT(alias);
    CHECK(wye_load_report_alias(report->owner.get(), report->devices.size(), 0, &alias, nullptr) ==
          WYE_NOT_FOUND);
    CHECK(wye_load_report_alias(report->owner.get(), 0, UINT64_MAX, &alias, nullptr) ==
          WYE_NOT_FOUND);
}

TEST_CASE("an application survives a plugin that crashes, and uses the others") {
    REQUIRE(::setenv("WYE_MISBEHAVES", "crash@init", 1) == 0);
    const std::string fakes = WYE_FAKES;
    const auto made =
        wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT,
                              .plugin_paths = {fakes + "/misbehaves.so", fakes + "/healthy.so"},
                              .config = {{"probe.mode", "child"}}});
    REQUIRE(made.ok());
    CHECK(made->open("misbehaves").error().text().find("SIGSEGV") != std::string::npos);
    const auto report = wye::load_report(*made);
    REQUIRE(report.ok());
    CHECK(plugin(*report, "healthy").state == WYE_LOAD_STATE_READY);
    const wye_load_plugin& crashed = plugin(*report, "misbehaves");
    CHECK(crashed.state == WYE_LOAD_STATE_FAILED);
    CHECK(crashed.probe == WYE_LOAD_PROBE_NOW);
    CHECK(crashed.reason.code == WYE_PROBE_CRASHED);

    const auto program = made->program_from_text(
        "wye 1;\nprogram add;\nworkgroup 64;\ninput_output a: u32[];\ngrid elements len(a);\n"
        "main { let i = global_id.x; if i < len(a) { a[i] = a[i] + 1u; } }\n");
    REQUIRE(program.ok());
    const auto device = made->open("misbehaves,cpu");
    REQUIRE(device.ok());
    std::vector<std::uint32_t> numbers = {1, 2, 3};
    std::vector<std::uint32_t> sums(3);
    const auto ran = wye::Dispatch(*program, *device).input("a", numbers).output("a", sums).run();
    REQUIRE(ran.ok());
    CHECK(sums == std::vector<std::uint32_t>{2, 3, 4});
    ::unsetenv("WYE_MISBEHAVES");
}

TEST_CASE("a listed device can be opened by its selector") {
    const wye::Context made = context();
    const auto report = wye::load_report(made, "cpu");
    REQUIRE(report.ok());
    REQUIRE(report->devices.size() == 1);
    CHECK(text(report->devices[0].kind) == "cpu");
    CHECK(made.open(text(report->devices[0].selector)).ok());
    CHECK(plugin(*report, "healthy").state == WYE_LOAD_STATE_NOT_OPENED);
    CHECK(text(plugin(*report, "healthy").reason.message).find("selector") != std::string::npos);
}

TEST_CASE("the report outlives its context; wrong calls are errors") {
    wye_load_report* report = nullptr;
    {
        const wye::Context made = context();
        REQUIRE(wye_load_report_create(made.get(), wye_str("cpu"), &report, nullptr) == WYE_OK);
        wye_error* error = nullptr;
        CHECK(wye_load_report_create(made.get(), wye_str("?!"), &report, &error) != WYE_OK);
        wye_error_free(error);
    }
    wye_load_device device;
    WYE_INIT(device);
    CHECK(wye_load_report_device(report, 0, &device, nullptr) == WYE_OK);
    CHECK(text(device.selector) == "cpu:0");
    CHECK(wye_load_report_device(report, 1, &device, nullptr) == WYE_NOT_FOUND);
    CHECK(wye_load_report_device(report, UINT64_MAX, &device, nullptr) == WYE_NOT_FOUND);
    CHECK(wye_load_report_device(nullptr, 0, &device, nullptr) == WYE_INVALID_ARGUMENT);
    CHECK(wye_load_report_device(report, 0, nullptr, nullptr) == WYE_INVALID_ARGUMENT);
    device.header.size = 8;
    CHECK(wye_load_report_device(report, 0, &device, nullptr) == WYE_INVALID_ARGUMENT);
    wye_load_record record{};
    wye_load_plugin one{};
    CHECK(wye_load_report_record(report, 0, &record, nullptr) == WYE_INVALID_ARGUMENT);
    CHECK(wye_load_report_plugin(report, 0, &one, nullptr) == WYE_INVALID_ARGUMENT);
    wye_load_report_free(report);
    wye_load_report_free(nullptr);
}

TEST_CASE("a list, and a preference, go on past a device that cannot be opened") {
    const std::string fakes = WYE_FAKES;
    const auto made = wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT,
                                            .plugin_paths = {fakes + "/null_device.so"},
                                            .config = {{"probe.mode", "off"}}});
    REQUIRE(made.ok());
    const auto alone = made->open("null_device:0");
    REQUIRE_FALSE(alone.ok());
    CHECK(alone.error().code == wye::Code::PLUGIN_FAULT);
    CHECK(made->open("null_device:0,cpu:0").ok());
    CHECK(made->choose("null_device:0", WYE_POLICY_PREFER).ok());
}
