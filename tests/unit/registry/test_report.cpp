// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "registry/report/report.hpp"
#include "temporary_folder.hpp"

namespace test_report {

using namespace wye;
using namespace wye::registry;
using Json = nlohmann::ordered_json;

namespace {

Json report(const std::vector<std::filesystem::path>& paths, const ReportOptions& options) {
    Options registry_options;
    registry_options.application_paths = paths;
    auto registry = Registry::create(std::move(registry_options));
    REQUIRE(registry.ok());
    Json out = Json::parse(report_json(**registry, options));
    // Root may run the tests of a build that a user made.
    Json& records = out["records"];
    records.erase(std::remove_if(records.begin(), records.end(),
                                 [](const Json& one) { return one["code"] == "NOT_TRUSTED"; }),
                  records.end());
    return out;
}

std::vector<std::string> keys(const Json& object) {
    std::vector<std::string> out;
    for (const auto& [key, value] : object.items()) out.push_back(key);
    return out;
}

std::filesystem::path fake(const char* name) {
    return std::filesystem::path(WYE_FAKES) / (std::string(name) + ".so");
}

}  // namespace

TEST_CASE("the document has its keys in order, unknown is null and sizes are integers") {
    const Json j = report({fake("healthy"), fake("init_fails")}, {});
    CHECK(keys(j) == std::vector<std::string>{"schema_version", "host", "filters", "picks", "order",
                                              "layers", "plugins", "devices", "records",
                                              "physical_devices", "doubts", "unmatched"});
    CHECK(j["layers"].empty());
    CHECK(j["schema_version"] == 1);
    CHECK(j["filters"][0]["value"] == "auto");
    REQUIRE(j["plugins"].size() == 2);
    CHECK(j["plugins"][0]["id"] == "healthy");
    CHECK(j["plugins"][0]["state"] == "ready");
    CHECK(j["plugins"][0]["reason"].is_null());
    CHECK(j["plugins"][0]["abi"]["major"] == 1);
    CHECK(j["plugins"][0]["abi"]["draft"] == WYE_ABI_MINOR_DRAFT);
    CHECK(j["plugins"][1]["id"] == "init_fails");
    CHECK(j["plugins"][1]["state"] == "failed");
    CHECK(j["plugins"][1]["reason"]["code"] == "MISSING_DEPENDENCY");
    CHECK(j["plugins"][1]["reason"]["stage"] == "initialised");
    CHECK(j["plugins"][1]["reason"]["fix"] == "Fix: install fake-driver");
    REQUIRE(j["devices"].size() == 2);
    const Json& device = j["devices"][0];
    CHECK(device["selector"] == "healthy:0");
    CHECK(device["usable"] == true);
    CHECK(device["facts"]["int64"] == true);
    CHECK(device["facts"]["f64"] == false);
    CHECK(device["facts"]["storage16"].is_null());
    CHECK(device["facts"]["max_shared_bytes"].is_null());
    CHECK(device["facts"]["l1_cache_bytes"].is_number_integer());
    CHECK(device["facts"]["max_workgroup_size"] == Json::array({256, 16, 4}));
    CHECK(device["facts"].size() == fact_infos().size());
    CHECK(device["fact_sources"]["l1_cache_bytes"] == "invented");
    CHECK(device["formats"] == Json::array({"wye-program"}));
    CHECK(device["unmet"].is_null());
    CHECK(device["quirks"].is_null());
    CHECK(device["fact_reasons"]["storage16"] == "unreported");
    CHECK(device["fact_reasons"]["f64"].is_null());
    CHECK(device["free_memory_age_ms"].is_null());
    CHECK(j["plugins"][0]["compiler"].is_null());
    CHECK(j["plugins"][0]["compiler_only"] == false);
    CHECK(device["aliases"] == Json::array());
    CHECK((device["physical_id"] == j["physical_devices"][0]["id"] ||
           device["physical_id"] == j["physical_devices"][1]["id"]));
    REQUIRE(j["physical_devices"].size() == 2);
    CHECK(j["doubts"].empty());
    CHECK(j["unmatched"].empty());
    CHECK(j["devices"][1]["usable"] == false);
    CHECK(j["devices"][1]["reason"] == "the fake says so");
    CHECK(j["devices"][1]["native_code"] == -6);
    REQUIRE(j["records"].size() == 1);
    CHECK(j["records"][0]["plugin"] == "init_fails");
}

TEST_CASE("plugins that the selector leaves out are not opened, and the report says so") {
    ReportOptions options;
    options.selector = *parse_selector("healthy:1");
    const Json j = report({fake("healthy"), fake("init_fails")}, options);
    REQUIRE(j["devices"].size() == 1);
    CHECK(j["devices"][0]["selector"] == "healthy:1");
    CHECK(j["plugins"][1]["state"] == "not_opened");
    CHECK(j["records"].empty());
}

TEST_CASE("an entry of the selector that names nothing is listed") {
    ReportOptions options;
    options.selector = *parse_selector("healthy,nope");
    const Json j = report({fake("healthy")}, options);
    CHECK(j["devices"].size() == 2);
    REQUIRE(j["unmatched"].size() == 1);
    CHECK(j["unmatched"][0]["selector"] == "nope");
    CHECK(j["unmatched"][0]["message"] == "there is no plugin `nope`; there are healthy");
    CHECK(j["unmatched"][0]["fix"].is_string());
}

TEST_CASE("what a device lacks of the needs is listed as `unmet`") {
    ReportOptions options;
    Requirements needs;
    needs.capabilities = {"f64"};
    needs.shared_bytes = 64;
    options.needs = needs;
    const Json j = report({fake("healthy")}, options);
    REQUIRE(j["devices"][0]["unmet"].size() == 1);
    CHECK(j["devices"][0]["unmet"][0]["name"] == "f64");
    CHECK(j["devices"][0]["unverified"] == Json::array({"max_shared_bytes"}));
}

TEST_CASE("candidates that never became plugins are listed with their reasons") {
    const TemporaryFolder folder;
    folder.plugin("healthy");
    folder.write("bad.wye.json", "[]");
    folder.write("stray.so", "x");
    const TemporaryFolder older;
    older.plugin("healthy", "healthy", "0.0.1");
    const Json j = report({folder.path(), older.path()}, {});
    REQUIRE(j["plugins"].size() == 4);
    CHECK(j["plugins"][0]["state"] == "ready");
    int refused = 0;
    int shadowed = 0;
    for (const Json& plugin : j["plugins"]) {
        if (plugin["state"] == "refused") ++refused;
        if (plugin["state"] == "shadowed") ++shadowed;
        if (plugin["state"] != "ready") CHECK(plugin["reason"]["fix"].is_string());
    }
    CHECK(refused == 2);
    CHECK(shadowed == 1);
}

TEST_CASE("two reports of one machine are equal, and bytes that are not UTF-8 do no harm") {
    const TemporaryFolder folder;
    folder.plugin("healthy");
    folder.write("bad\xff.wye.json", "[]");
    const auto text = [&] {
        Options options;
        options.application_paths = {folder.path()};
        auto registry = Registry::create(std::move(options));
        return report_json(**registry, {});
    };
    const std::string first = text();
    CHECK(first == text());
    CHECK(Json::accept(first));
}

}  // namespace test_report
