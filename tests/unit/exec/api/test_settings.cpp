// SPDX-License-Identifier: Apache-2.0
//
// Keys of the configuration: known, listed, refused and warned about.
#include "exec/settings.hpp"

#include <algorithm>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "rig.hpp"

namespace wye::exec::test::test_settings {
namespace {

// Creates a context with one key, and opens a device in it.
Outcome create(const char* key, const char* value, std::vector<std::string>* warnings = nullptr,
               const char* opened = nullptr) {
    wye_context_desc desc;
    WYE_INIT(desc);
    desc.flags = WYE_CONTEXT_NO_PLUGINS | WYE_CONTEXT_IGNORE_ENVIRONMENT;
    const wye_key_value config = {wye_str(key), wye_str(value)};
    desc.config = &config;
    desc.config_count = 1;
    desc.log_user = warnings;
    if (warnings != nullptr)
        desc.log = [](void* user, std::uint32_t level, wye_string, wye_string text) {
            if (level <= WYE_LOG_WARNING)
                static_cast<std::vector<std::string>*>(user)->emplace_back(text.data, text.size);
        };
    wye_context* context = nullptr;
    const Outcome out =
        attempt([&](wye_error** e) { return wye_context_create(&desc, &context, e); });
    CHECK((context != nullptr) == out.ok());
    wye_device device = 0;
    if (opened != nullptr)
        check_ok(attempt([&](wye_error** e) {
            return wye_device_open(context, wye_str(opened), 0, &device, e);
        }));
    wye_context_destroy(context);
    return out;
}

TEST_CASE("a key that only the library could read, and does not know, is refused") {
    for (const char* key : {"trace.fil", "queues.cuont", "memory.limit", "pending.",
                            "quirks.onlywith", "cachesize", "transfer.staging.", "", "threads"}) {
        INFO(std::string(key));
        check_refused(create(key, "1"), WYE_INVALID_ARGUMENT, "nothing reads");
    }
    check_refused(create("transfer.thread", "1"), WYE_INVALID_ARGUMENT, "`transfer.thread`");
    CHECK(create("transfer.thread", "1").fix.find("`transfer.threads`") != std::string::npos);
}

TEST_CASE("a key of an absent plugin is a warning; a key of a present one is not") {
    std::vector<std::string> warnings;
    check_ok(create("vulcan.library", "x", &warnings));
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("`vulcan.library`") != std::string::npos);
    CHECK(warnings[0].find("Fix: ") != std::string::npos);
    warnings.clear();
    check_ok(create("cpu.threads", "1", &warnings));
    check_ok(create("env.SOMETHING", "1", &warnings));
    CHECK(warnings.empty());
}

TEST_CASE("a key that its plugin does not read is a warning when a device is opened") {
    std::vector<std::string> warnings;
    for (const char* key : {"cpu.threads", "cpu.isa", "cpu.library"})
        check_ok(create(key, key[4] == 't' ? "1" : "baseline", &warnings, "cpu"));
    CHECK(warnings.empty());
    check_ok(create("cpu.thread", "1", &warnings, "cpu"));
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("`cpu.thread`, which plugin `cpu` has not read. "
                           "Fix: write `cpu.threads`") != std::string::npos);
}

TEST_CASE("values that their key does not allow are refused") {
    struct Row {
        const char *key, *value, *says;
    };
    const Row rows[] = {{"memory.device_limit", "0", "not a limit"},
                        {"memory.device_limit", "1  GB", "not a limit"},
                        {"memory.context_limit", "all", "not a limit"},
                        {"pending.count", "0", "not a limit"},
                        {"pending.bytes", "much", "not a limit"},
                        {"queues.count", "-1", "not a limit"},
                        {"transfer.threads", "", "not a limit"},
                        {"report.details", "no", "`no` is no value"},
                        {"transfer.bytes", "1XiB", "not a limit"},
                        {"transfer.staging", "maybe", "`maybe` is no value"},
                        {"quirks.with", "no-such-quirk", "no-such-quirk"},
                        {"quirks.without", "no-such-quirk", "no-such-quirk"}};
    for (const Row& row : rows) {
        INFO(std::string(row.key));
        registry::Config config = {{row.key, row.value}};
        const auto read = read_settings(config);
        REQUIRE_FALSE(read.ok());
        CHECK(read.error().code == Code::INVALID_ARGUMENT);
        CHECK(read.error().message.find(row.says) != std::string::npos);
        CHECK(read.error().fix.starts_with("Fix: "));
    }
}

TEST_CASE("a limit is named as its variable is, with an example of its unit") {
    registry::ProbeOptions probe;
    const auto late = read_probe({{"probe.timeout_ms", "abc"}}, probe);
    REQUIRE_FALSE(late.ok());
    CHECK(late.error().message ==
          "`abc` is not a limit for WYE_PROBE_TIMEOUT_MS (or `probe.timeout_ms`)");
    CHECK(late.error().fix.find("MiB") == std::string::npos);
    const auto large = read_probe({{"probe.memory_bytes", "abc"}}, probe);
    REQUIRE_FALSE(large.ok());
    CHECK(large.error().message.find("WYE_PROBE_MEMORY") != std::string::npos);
    CHECK(large.error().fix.find("64MiB") != std::string::npos);
}

TEST_CASE("the page of the configuration has the list of the library") {
    std::ifstream file(WYE_CONFIGURATION);
    REQUIRE(file.good());
    std::vector<std::string> told, known;
    const std::regex row(R"(\| `([a-z_.]+)` \| (.*) \|)");
    bool here = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("## ")) here = line == "## The library";
        std::smatch match;
        if (here && std::regex_match(line, match, row))
            told.push_back(match[1].str() + ": " + match[2].str());
    }
    for (const Setting& setting : settings())
        known.push_back(std::string(setting.key) + ": " + std::string(setting.meaning));
    REQUIRE(told.size() == known.size());
    for (std::size_t i = 0; i < told.size(); ++i) CHECK(told[i] == known[i]);
    CHECK(std::ranges::is_sorted(known));
}

}  // namespace
}  // namespace wye::exec::test::test_settings
