// SPDX-License-Identifier: Apache-2.0
// What is checked again when a plugin that was found is opened: its file, manifest and libraries.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "registry/choose/catalogue.hpp"
#include "registry/open/library.hpp"
#include "registry/report/load_report.hpp"
#include "temporary_folder.hpp"

namespace test_checks {

using namespace wye;
using namespace wye::registry;
namespace fs = std::filesystem;

namespace {

std::unique_ptr<Registry> open_folder(const fs::path& folder) {
    Options options;
    options.environment = {{"WYE_PLUGIN_PATH", folder.string()}};
    auto registry = Registry::create(std::move(options));
    REQUIRE(registry.ok());
    return std::move(*registry);
}

void replace_in(const fs::path& file, const std::string& from, const std::string& to) {
    std::string text = TemporaryFolder::read(file);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    std::ofstream(file, std::ios::binary) << text;
}

Record last_record(const Registry& registry) {
    const auto records = registry.records();
    REQUIRE_FALSE(records.empty());
    return records.back();
}

}  // namespace

TEST_CASE("a library that is replaced after it was found is not opened") {
    const TemporaryFolder folder;
    folder.plugin("healthy");
    const fs::path library = folder.path() / "healthy.so";
    const auto registry = open_folder(folder.path());
    REQUIRE(registry->plugins().size() == 1);
    bool opens = false;
    SUBCASE("replaced by another file") {
        fs::copy_file(fs::path(WYE_FAKES) / "plain_chain.so", folder.path() / "new");
        fs::rename(folder.path() / "new", library);
    }
    SUBCASE("replaced by a copy with the same size and time") {
        fs::copy_file(library, folder.path() / "new");
        fs::last_write_time(folder.path() / "new", fs::last_write_time(library));
        fs::rename(folder.path() / "new", library);
    }
    SUBCASE("replaced for a moment, and then put back") {
        fs::rename(library, folder.path() / "old");
        fs::copy_file(fs::path(WYE_FAKES) / "plain_chain.so", library);
        fs::rename(folder.path() / "old", library);
    }
    SUBCASE("changed in place") { std::ofstream(library, std::ios::app) << "more"; }
    SUBCASE("writable by everyone now") { ::chmod(library.c_str(), 0666); }
    SUBCASE("an unchanged one is opened") { opens = true; }
    CHECK(registry->open_plugin("healthy").ok() == opens);
    if (opens) return;
    CHECK(last_record(*registry).code == Code::NOT_TRUSTED);
    CHECK(last_record(*registry).message.find("replaced or changed") != std::string::npos);
}

TEST_CASE("what a manifest says must be what the plugin says") {
    struct Case {
        const char* from;
        const char* to;
        const char* expected;
    };
    const Case cases[] = {
        {"\"version\": \"0.1.0\"", "\"version\": \"9.9\"",
         "`version` is 9.9, but the plugin says 0.1.0"},
        {"\"minor_built\": 0", "\"minor_built\": 7",
         "`abi.minor_built` is 7, but the plugin says 0"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.to);
        const TemporaryFolder folder;
        folder.plugin("healthy");
        CHECK(open_folder(folder.path())->open_plugin("healthy").ok());
        replace_in(folder.path() / "healthy.wye.json", c.from, c.to);
        const auto registry = open_folder(folder.path());
        CHECK_FALSE(registry->open_plugin("healthy").ok());
        const Record record = last_record(*registry);
        CHECK(record.stage == Stage::negotiated);
        CHECK(record.code == Code::BAD_MANIFEST);
        CHECK(record.message.find(c.expected) != std::string::npos);
    }
}

TEST_CASE("a copy that is not what its manifest states does not hide the good copy of the plugin") {
    const TemporaryFolder good;
    const TemporaryFolder bad;
    good.plugin("healthy");
    bad.plugin("healthy");
    const fs::path manifest = bad.path() / "healthy.wye.json";
    const std::string path = good.path().string() + ":" + bad.path().string();
    std::string expected = "BAD_MANIFEST";
    LoadedPlugin::State state = LoadedPlugin::State::failed;
    SUBCASE("it states another version") {
        replace_in(manifest, "\"version\": \"0.1.0\"", "\"version\": \"9.9\"");
    }
    SUBCASE("its library is another plugin") {
        replace_in(manifest, "\"version\": \"0.1.0\"", "\"version\": \"9.9\"");
        fs::remove(bad.path() / "healthy.so");
        fs::copy_file(fs::path(WYE_FAKES) / "wrong_id.so", bad.path() / "healthy.so");
        expected = "BAD_PLUGIN";
    }
    SUBCASE("its library is no library") {
        replace_in(manifest, "\"version\": \"0.1.0\"", "\"version\": \"9.9\"");
        std::ofstream(bad.path() / "healthy.so") << "text";
        expected = "BAD_PLUGIN";
        state = LoadedPlugin::State::refused;
    }
    const auto registry = open_folder(path);
    CHECK(registry->plugins()[0].path == (bad.path() / "healthy.so").string());
    const auto opened = registry->open_plugin("healthy");
    REQUIRE(opened.ok());
    CHECK(opened->version == "0.1.0");
    CHECK(opened->path == (good.path() / "healthy.so").string());
    std::vector<std::string> codes;
    for (const Record& record : registry->records()) codes.emplace_back(code_name(record.code));
    CHECK(codes == std::vector<std::string>{"DUPLICATE", expected, "DUPLICATE"});
    const Record last = last_record(*registry);
    CHECK(last.message.find("is opened instead of") != std::string::npos);
    CHECK(last.message.find((good.path() / "healthy.so").string()) == 1);
    CHECK(last.severity == Severity::warning);
    // The report lists both copies, each with its state.
    const LoadReport report = load_report(*registry, *parse_selector("auto"));
    REQUIRE(report.plugins.size() == 2);
    CHECK(report.plugins[0].state == LoadedPlugin::State::ready);
    CHECK(report.plugins[1].state == state);
    CHECK(report.plugins[1].info.path == (bad.path() / "healthy.so").string());
}

TEST_CASE("without a good copy, the refusal of the first is the reason, and none is left out") {
    const TemporaryFolder one;
    const TemporaryFolder two;
    for (const TemporaryFolder* folder : {&one, &two}) {
        folder->plugin("healthy");
        replace_in(folder->path() / "healthy.wye.json", "\"version\": \"0.1.0\"",
                   folder == &one ? "\"version\": \"9.8\"" : "\"version\": \"9.9\"");
    }
    const auto registry = open_folder(one.path().string() + ":" + two.path().string());
    const auto opened = registry->open_plugin("healthy");
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().message.find("`version` is 9.9") != std::string::npos);
    CHECK(registry->plugins()[0].path == (two.path() / "healthy.so").string());
    int refusals = 0;
    for (const Record& record : registry->records())
        if (record.code == Code::BAD_MANIFEST) ++refusals;
    CHECK(refusals == 2);
    // If the driver fails, the other copy is not tried, since it would fail, too.
    const TemporaryFolder fails;
    const TemporaryFolder again;
    for (const TemporaryFolder* folder : {&fails, &again}) folder->plugin("init_fails");
    const auto other = open_folder(fails.path().string() + ":" + again.path().string());
    CHECK(other->open_plugin("init_fails").error().code == Code::MISSING_DEPENDENCY);
    CHECK(last_record(*other).path == (fails.path() / "init_fails.so").string());
    CHECK(other->records().size() == 2);  // the second is the note on the other copy
}

TEST_CASE("the least version of a needed library is compared with what is installed") {
    struct Case {
        const char* soname;
        const char* least;
        const char* from;
        Severity severity;  // `note` stands for no record
    };
    const Case cases[] = {
        {"libc.so.6", "99.0", "", Severity::refused},
        {"libc.so.6", "99.0", "symbols", Severity::refused},
        {"libc.so.6", "2.17", "symbols", Severity::note},
        {"libm.so.6", "2.17", "", Severity::note},
        {"libxxhash.so.0", "0.1", "file", Severity::note},
        {"libxxhash.so.0", "99", "file", Severity::refused},
        {"libxxhash.so.0", "0.1", "symbols", Severity::warning},  // its symbols have no versions
    };
    for (const Case& c : cases) {
        CAPTURE(c.soname);
        CAPTURE(c.from);
        const TemporaryFolder folder;
        folder.plugin("healthy");
        std::string need = std::string(", \"needs\": [{\"soname\": \"") + c.soname +
                           "\", \"min_version\": \"" + c.least + "\"";
        if (*c.from != '\0') need += std::string(", \"version_from\": \"") + c.from + "\"";
        replace_in(folder.path() / "healthy.wye.json", "0.1.0\"}", "0.1.0\"" + need + "}]}");
        const auto registry = open_folder(folder.path());
        CHECK(registry->open_plugin("healthy").ok() == (c.severity != Severity::refused));
        if (c.severity == Severity::note) {
            CHECK(registry->records().empty());
            continue;
        }
        const Record record = last_record(*registry);
        CHECK(record.stage == Stage::needs);
        CHECK(record.severity == c.severity);
        CHECK(record.message.find(c.least) != std::string::npos);
        if (c.severity != Severity::refused) continue;
        CHECK(record.code == Code::MISSING_DEPENDENCY);
        CHECK(record.missing_library == c.soname);
    }
}

TEST_CASE("a missing library has a field of its own") {
    const TemporaryFolder folder;
    folder.plugin("needs_gone");
    replace_in(folder.path() / "needs_gone.so", "libwye_gone.so", "libwye_none.so");
    const auto registry = open_folder(folder.path());
    CHECK_FALSE(registry->open_plugin("needs_gone").ok());
    CHECK(last_record(*registry).missing_library == "libwye_none.so");
    CHECK(last_record(*registry).loader_text.find("libwye_none.so") != std::string::npos);
}

TEST_CASE("saved programs belong to a plugin's content, not to its size and time") {
    const TemporaryFolder one;
    const TemporaryFolder two;
    const TemporaryFolder three;
    for (const TemporaryFolder* folder : {&one, &two, &three}) folder->plugin("healthy");
    // One byte of the third copy differs, in the name of the vendor.
    replace_in(three.path() / "healthy.so", "tests", "tEsts");
    const auto time = fs::last_write_time(one.path() / "healthy.so");
    fs::last_write_time(three.path() / "healthy.so", time);
    fs::last_write_time(two.path() / "healthy.so", time + std::chrono::seconds(5));
    const auto identity = [](const TemporaryFolder& folder) {
        const auto registry = open_folder(folder.path());
        const auto plugin = registry->open_plugin("healthy");
        REQUIRE(plugin.ok());
        const auto device = registry->open_device(*plugin->devices.at(0));
        REQUIRE(device.ok());
        return (*device)->plugin_identity();
    };
    CHECK(identity(one) == identity(two));
    CHECK(identity(one) != identity(three));
}

TEST_CASE("names of files reach no terminal unescaped, and long texts are shortened") {
    const TemporaryFolder folder;
    folder.write("bad\x1b[31m.wye.json", "[]");
    folder.write("long.wye.json", "{\"schema\": \"" + std::string(9000, 'x') + "\"}");
    const auto registry = open_folder(folder.path() / ".");
    REQUIRE(registry->records().size() == 2);
    for (const Record& record : registry->records())
        for (const std::string& text :
             {record.message, record.path, record.fix, record.plugin, record.loader_text}) {
            CHECK(text.find('\x1b') == std::string::npos);
            CHECK(text.size() < 2100);
        }
    CHECK(registry->records()[0].path.find("bad\\x1b[31m.wye.json") != std::string::npos);
}

TEST_CASE("a pipe in the folder, or under the name of a link, does not hang the search") {
    const TemporaryFolder folder;
    REQUIRE(::mkfifo((folder.path() / "pipe.wye.json").c_str(), 0600) == 0);
    fs::create_symlink(folder.path() / "pipe.wye.json", folder.path() / "link.wye.json");
    const auto registry = open_folder(folder.path());
    REQUIRE(registry->records().size() == 2);
    for (const Record& record : registry->records())
        CHECK(record.message.find("is not a file") != std::string::npos);
}

TEST_CASE("a folder or file of another user is refused, whoever runs this") {
    const TemporaryFolder folder;
    folder.plugin("healthy");
    fs::path culprit;
    SUBCASE("the folder") { culprit = folder.path(); }
    SUBCASE("the library") { culprit = folder.path() / "healthy.so"; }
    if (::geteuid() != 0) {
        // Only root can give files away. Others make the file writable, which is refused as well.
        REQUIRE(::chmod(culprit.c_str(), 0777) == 0);
    } else {
        REQUIRE(::chown(culprit.c_str(), 65534, 65534) == 0);
    }
    const auto registry = open_folder(folder.path());
    CHECK(registry->plugins().empty());
    CHECK(last_record(*registry).stage == Stage::trust);
    CHECK(last_record(*registry).code == Code::NOT_TRUSTED);
}

TEST_CASE("a disabled built-in plugin is not there, and the record says why") {
    Options options;
    options.search_files = false;
    options.builtins = {{"cpu", [](const wye_hello*, const wye_plugin_desc**) -> wye_status {
                             FAIL("entered");
                             return WYE_INTERNAL;
                         }}};
    options.environment = {{"WYE_PLUGINS_DISABLE", "cpu,opencl"}};
    const auto registry = Registry::create(std::move(options));
    REQUIRE(registry.ok());
    CHECK((*registry)->plugins().empty());
    REQUIRE((*registry)->records().size() == 1);
    CHECK((*registry)->records()[0].code == Code::DISABLED);
    CHECK((*registry)->records()[0].plugin == "cpu");
}

}  // namespace test_checks
