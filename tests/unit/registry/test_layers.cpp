// SPDX-License-Identifier: Apache-2.0
// Layers are found as plugins are, named by the configuration, and put over every plugin in order.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "registry/choose/catalogue.hpp"
#include "registry/report/report.hpp"
#include "temporary_folder.hpp"

namespace test_layers {

using namespace wye;
using namespace wye::registry;

namespace {

struct Log {
    std::mutex mutex;
    std::vector<std::string> lines;
    [[nodiscard]] bool has(const std::string& text) {
        const std::lock_guard lock(mutex);
        return std::ranges::any_of(
            lines, [&](const std::string& line) { return line.find(text) != line.npos; });
    }
};

Result<std::unique_ptr<Registry>> open(const std::string& layers, Log& log,
                                       std::vector<std::filesystem::path> paths = {
                                           WYE_LAYERS_FOLDER}) {
    Options options;
    options.application_paths = std::move(paths);
    options.application_paths.push_back(std::filesystem::path(WYE_FAKES) / "healthy.so");
    options.config = {{"layers", layers}};
    options.log = [&log](std::uint32_t, std::string_view area, std::string_view text) {
        const std::lock_guard lock(log.mutex);
        log.lines.push_back(std::string(area) + ": " + std::string(text));
    };
    return Registry::create(std::move(options));
}

std::size_t at(const std::string& text, const char* part) { return text.find(part); }

}  // namespace

TEST_CASE("no layer is opened unless it is named, and layers are no plugins") {
    Log log;
    const auto registry = open("", log);
    REQUIRE(registry.ok());
    CHECK((*registry)->layers().empty());
    REQUIRE((*registry)->plugins().size() == 1);
    CHECK((*registry)->open_plugin("healthy").ok());
    CHECK((*registry)->open_plugin("trace").error().code == Code::NOT_FOUND);
    CHECK_FALSE(log.has("trace: "));
}

TEST_CASE("layers see the calls of every plugin, and the report names them in order") {
    Log log;
    const auto registry = open(" validate, trace ", log);
    REQUIRE(registry.ok());
    REQUIRE((*registry)->layers().size() == 2);
    REQUIRE((*registry)->open_plugin("healthy").ok());
    const auto devices = (*registry)->devices(*parse_selector("healthy"));
    REQUIRE(devices.size() == 2);
    {
        const auto device = (*registry)->open_device(*devices[0]);
        REQUIRE(device.ok());
        CHECK(NativeBuffer::create(*device, 64, 16, "b").ok());
    }
    CHECK(log.has("trace: "));
    CHECK(log.has(" healthy buffer_create device="));
    CHECK(log.has(" healthy buffer_destroy device="));
    CHECK_FALSE((log.has("validate: P-") || log.has("validate: H-")));
    const std::string report = report_json(**registry, {});
    CHECK(at(report, "\"validate\"") < at(report, "\"trace\""));
    CHECK(at(report, "\"trace\"") != std::string::npos);
}

TEST_CASE(
    "an unknown layer is an error with the nearest name, as are a plugin's and a second one") {
    struct Wrong {
        const char* names;
        Code code;
        const char* message;
        const char* fix;
    };
    constexpr Wrong kWrong[] = {
        {"valdate", Code::NOT_FOUND, "there is no layer `valdate`", "Fix: write `validate`"},
        {"trace,xyzzy", Code::NOT_FOUND, "are `faults`, `trace`, `validate`", "Fix: install it"},
        {"healthy", Code::NOT_FOUND, "`healthy` is a plugin, and no layer", "Fix: remove it"},
        {"trace,trace", Code::INVALID_ARGUMENT, "`trace` is listed twice", "Fix: name each"},
    };
    for (const Wrong& one : kWrong) {
        CAPTURE(one.names);
        Log log;
        const auto registry = open(one.names, log);
        REQUIRE_FALSE(registry.ok());
        CHECK(registry.error().code == one.code);
        CHECK(registry.error().message.find(one.message) != std::string::npos);
        CHECK(registry.error().fix.starts_with(one.fix));
    }
}

TEST_CASE("a file that is no layer is refused with the reason") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "broken.wye.json")
        << R"({"schema": 1, "kind": "layer", "id": "broken", "library": "broken.so", "arch": ")"
        << host_arch() << R"(", "abi": {"major": 1, "draft": )" << WYE_ABI_MINOR_DRAFT
        << R"(, "minor_needed": 0, "minor_built": 0}, "backend": "layer", "version": "0.1.0"})";
    std::ofstream(folder.path() / "broken.so") << "not a library";
    Log log;
    const auto registry = open("broken", log, {folder.path()});
    REQUIRE_FALSE(registry.ok());
    CHECK(registry.error().code == Code::BAD_PLUGIN);
    CHECK(registry.error().message.find("the layer `broken` cannot be used") != std::string::npos);
    REQUIRE(registry.error().cause);
    CHECK(registry.error().cause->message.find("is not a shared object") != std::string::npos);
    CHECK(open("", log, {folder.path()}).ok());
}

TEST_CASE("a layer that refuses its settings makes each plugin fail with its error") {
    Log log;
    Options options;
    options.application_paths = {WYE_LAYERS_FOLDER,
                                 std::filesystem::path(WYE_FAKES) / "healthy.so"};
    options.config = {{"layers", "faults"}, {"layer.faults.rules", "sumbit:1:DRIVER"}};
    const auto registry = Registry::create(std::move(options));
    REQUIRE(registry.ok());
    const auto opened = (*registry)->open_plugin("healthy");
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().fix == "Fix: write `submit`");
}

TEST_CASE("a manifest's kind is plugin or layer") {
    const auto parse = [](const std::string& kind) {
        return parse_manifest(
            R"({"schema": 1, "kind": )" + kind +
                R"(, "id": "x", "library": "x.so", "arch": "y", "abi": {"major": 1, )"
                R"("minor_needed": 0, "minor_built": 0}, "backend": "x", "version": "1"})",
            "m");
    };
    CHECK(parse("\"layer\"")->kind == PluginKind::layer);
    CHECK(parse("\"plugin\"")->kind == PluginKind::plugin);
    CHECK(parse("\"thing\"").error().message.find("kind `thing` is not known") !=
          std::string::npos);
    CHECK_FALSE(parse("7").ok());
}

TEST_CASE("the context that opens no files notes that layers are not used") {
    Options options;
    options.search_files = false;
    options.config = {{"layers", "validate"}};
    const auto registry = Registry::create(std::move(options));
    REQUIRE(registry.ok());
    const auto records = (*registry)->records();
    REQUIRE(records.size() == 1);
    CHECK(records[0].code == Code::DISABLED);
    CHECK(records[0].message.find("`validate`") != std::string::npos);
}

}  // namespace test_layers
