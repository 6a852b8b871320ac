// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fake_files.hpp"
#include "registry/find/search.hpp"

namespace test_search {

using namespace wye;
using namespace wye::registry;

namespace {

std::vector<std::string> ids(const SearchResult& result) {
    std::vector<std::string> out;
    for (const Candidate& candidate : result.candidates) out.push_back(candidate.id);
    return out;
}

// The only record of a search in which exactly one is expected.
const Record& only(const SearchResult& result) {
    REQUIRE(result.records.size() == 1);
    return result.records[0];
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("places are searched in the documented order") {
    FakeFiles files;
    files.plugin("/app", "one");
    files.plugin("/add", "two");
    files.plugin("/home/u/plugins", "three");
    files.plugin("/usr/lib/wye/plugins", "four");
    files.plugin("/opt/lib", "five");
    files.plugin("/opt/lib/wye/plugins", "six");
    files.plugin("/only", "seven");
    SearchInput input;
    input.application = {"/app"};
    input.environment = {{"WYE_PLUGIN_PATH_ADD", "/add"}};
    input.user_folder = "/home/u/plugins";
    input.system_folder = "/usr/lib/wye/plugins";
    input.host_folder = "/opt/lib";
    auto result = search(input, files);
    CHECK(ids(result) == Names{"one", "two", "three", "four", "five", "six"});
    CHECK(result.records.empty());
    CHECK(result.candidates[0].source == Source::application);
    CHECK(result.candidates[1].source == Source::environment);
    CHECK(result.candidates[2].source == Source::user);
    CHECK(result.candidates[3].source == Source::system);
    CHECK(result.candidates[4].source == Source::beside_host);
    CHECK(result.candidates[0].library == "/app/wye_one.so");

    SUBCASE("WYE_PLUGIN_PATH replaces what comes after the application and the added folders") {
        input.environment["WYE_PLUGIN_PATH"] = "/only";
        files.touched.clear();
        result = search(input, files);
        CHECK(ids(result) == Names{"one", "two", "seven"});
        CHECK(files.touched.count("/usr/lib/wye/plugins") == 0);
    }
    SUBCASE("an empty variable counts as unset") {
        input.environment["WYE_PLUGIN_PATH"] = "";
        CHECK(ids(search(input, files)).size() == 6);
    }
    SUBCASE("an elevated process takes neither environment nor user folder, and says so") {
        input.elevated = true;
        input.environment["WYE_PLUGIN_PATH"] = "/only";
        files.touched.clear();
        result = search(input, files);
        CHECK(ids(result) == Names{"one", "four", "five", "six"});
        REQUIRE(result.records.size() == 3);
        for (const Record& record : result.records) {
            CHECK(record.code == Code::NOT_TRUSTED);
            CHECK(record.severity == Severity::note);
            CHECK(record.fix.rfind("Fix: ", 0) == 0);
        }
        for (const char* folder : {"/add", "/only", "/home/u/plugins"})
            CHECK(files.touched.count(folder) == 0);
    }
}

TEST_CASE("entries that would mean the current folder are refused") {
    FakeFiles files;
    files.plugin("/good", "good");
    for (const char* value :
         {":/good", "/good:", "/good::", ".:/good", "plugins:/good", "./:/good"}) {
        CAPTURE(value);
        SearchInput input;
        input.environment = {{"WYE_PLUGIN_PATH", value}};
        const auto result = search(input, files);
        CHECK(ids(result) == Names{"good"});
        REQUIRE_FALSE(result.records.empty());
        for (const Record& record : result.records) {
            CHECK(record.code == Code::NOT_TRUSTED);
            CHECK(record.severity == Severity::refused);
            CHECK(record.message.find("current folder") != std::string::npos);
        }
    }
}

TEST_CASE("what somebody names and is not there is recorded; default folders may be absent") {
    FakeFiles files;
    SearchInput input;
    input.application = {"/no/file.so"};
    input.environment = {{"WYE_PLUGIN_PATH_ADD", "/no/folder"}};
    input.user_folder = "/none";
    input.system_folder = "/neither";
    const auto result = search(input, files);
    REQUIRE(result.records.size() == 2);
    CHECK(result.records[0].path == "/no/file.so");
    CHECK(result.records[0].code == Code::NOT_FOUND);
    CHECK(result.records[1].path == "/no/folder");
}

TEST_CASE("folders without a plugin are noted") {
    FakeFiles files;
    SearchInput input;
    input.user_folder = "/none";
    input.system_folder = "/neither";
    input.host_folder = "/opt/app";
    const auto result = search(input, files);
    REQUIRE(result.records.size() == 1);
    CHECK(result.records[0].severity == Severity::note);
    CHECK(result.records[0].message.find(
              "`/none`, `/neither`, `/opt/app`, `/opt/app/wye/plugins`") != std::string::npos);
    files.plugin("/opt/app", "mine");
    CHECK(search(input, files).records.empty());
}

TEST_CASE("a file without a manifest is taken from the application only") {
    FakeFiles files;
    files.file("/p/libwye_mine.so", "code");
    SearchInput input;
    SUBCASE("named by the application") {
        input.application = {"/p/libwye_mine.so"};
        const auto result = search(input, files);
        CHECK(ids(result) == Names{"mine"});
        CHECK_FALSE(result.candidates[0].manifest.has_value());
        CHECK(result.records.empty());
    }
    SUBCASE("in a folder of the application") { input.application = {"/p"}; }
    SUBCASE("named by the environment") {
        input.environment = {{"WYE_PLUGIN_PATH", "/p/libwye_mine.so"}};
    }
    SUBCASE("in a folder of the environment") { input.environment = {{"WYE_PLUGIN_PATH", "/p"}}; }
    if (input.application != std::vector<std::filesystem::path>{"/p/libwye_mine.so"}) {
        const auto result = search(input, files);
        CHECK(result.candidates.empty());
        CHECK(only(result).code == Code::BAD_MANIFEST);
        CHECK(only(result).stage == Stage::manifest);
        CHECK(only(result).fix.find("libwye_mine.wye.json") != std::string::npos);
    }
}

TEST_CASE("a library that is named brings its manifest") {
    FakeFiles files;
    files.plugin("/p", "x", "3.1");
    SearchInput input;
    input.application = {"/p/wye_x.so"};
    const auto result = search(input, files);
    REQUIRE(result.candidates.size() == 1);
    REQUIRE(result.candidates[0].manifest.has_value());
    CHECK(result.candidates[0].manifest->version == "3.1");
}

TEST_CASE("the manifest decides before anything is opened") {
    struct Case {
        const char* from;
        const char* to;
        Stage stage;
        Code code;
    };
    const Case cases[] = {
        {"\"major\": 1", "\"major\": 9", Stage::manifest, Code::ABI_MISMATCH},
        {"\"minor_needed\": 0", "\"minor_needed\": 99", Stage::manifest, Code::ABI_MISMATCH},
        {"\"arch\": \"", "\"arch\": \"vax_", Stage::architecture, Code::ABI_MISMATCH},
        {"wye_x.so", "wye_y.so", Stage::found, Code::NOT_FOUND},
        {"\"schema\"", "schema", Stage::manifest, Code::BAD_MANIFEST},
    };
    for (const Case& c : cases) {
        CAPTURE(c.to);
        FakeFiles files;
        files.plugin("/p", "ok");
        std::string text = FakeFiles::manifest("x");
        text.replace(text.find(c.from), std::string(c.from).size(), c.to);
        files.file("/p/wye_x.wye.json", text);
        files.file("/p/wye_x.so");
        SearchInput input;
        input.system_folder = "/p";
        const auto result = search(input, files);
        CHECK(ids(result) == Names{"ok"});
        CHECK(only(result).stage == c.stage);
        CHECK(only(result).code == c.code);
        CHECK(only(result).severity == Severity::refused);
        CHECK(only(result).fix.rfind("Fix: ", 0) == 0);
    }
}

TEST_CASE("a huge manifest is refused without reading it whole") {
    FakeFiles files;
    files.file("/p/wye_x.wye.json", std::string(kManifestBytes + 1, ' '));
    SearchInput input;
    input.system_folder = "/p";
    const auto result = search(input, files);
    CHECK(only(result).code == Code::BAD_MANIFEST);
}

TEST_CASE("what everyone may write to is refused") {
    FakeFiles files;
    files.plugin("/a/b", "x");
    SearchInput input;
    input.system_folder = "/a/b";
    std::string culprit;
    SUBCASE("the library") { culprit = "/a/b/wye_x.so"; }
    SUBCASE("the manifest") { culprit = "/a/b/wye_x.wye.json"; }
    SUBCASE("the folder") { culprit = "/a/b"; }
    SUBCASE("a folder further up") { culprit = "/a"; }
    files.nodes[culprit].mode |= 0002;
    auto result = search(input, files);
    CHECK(result.candidates.empty());
    CHECK(only(result).stage == Stage::trust);
    CHECK(only(result).code == Code::NOT_TRUSTED);
    CHECK(only(result).severity == Severity::refused);
    CHECK(only(result).message.find("`" + culprit + "`") != std::string::npos);

    // Other users cannot replace what is in a sticky folder, but they can add plugins to it.
    files.nodes[culprit].mode |= 01000;
    CHECK(search(input, files).candidates.size() == (culprit == "/a" ? 1 : 0));

    // The application is trusted with the folders that it names, unless its privileges are
    // elevated.
    files.nodes[culprit].mode &= ~01000U;
    input.system_folder.clear();
    input.application = {"/a/b"};
    result = search(input, files);
    CHECK(result.candidates.size() == 1);
    REQUIRE_FALSE(result.records.empty());
    CHECK(result.records[0].severity == Severity::warning);
    input.elevated = true;
    CHECK(search(input, files).candidates.empty());
}

TEST_CASE("a link is judged by its own folders too") {
    FakeFiles files;
    files.plugin("/safe", "x");
    files.folder("/open");
    files.nodes["/open"].mode = 0777;
    files.links["/open/wye_x.so"] = "/safe/wye_x.so";
    files.links["/open/wye_x.wye.json"] = "/safe/wye_x.wye.json";
    SearchInput input;
    input.environment = {{"WYE_PLUGIN_PATH", "/open/wye_x.so"}};
    const auto result = search(input, files);
    CHECK(result.candidates.empty());
    CHECK(only(result).code == Code::NOT_TRUSTED);
}

TEST_CASE("of one id the highest version wins and the loser is recorded") {
    FakeFiles files;
    files.plugin("/first", "x", "0.9.0");
    files.plugin("/second", "x", "0.10.0");
    files.plugin("/third", "x", "0.10.0");
    SearchInput input;
    input.application = {"/first", "/second", "/third"};
    const auto result = search(input, files);
    REQUIRE(result.candidates.size() == 1);
    CHECK(result.candidates[0].library == "/second/wye_x.so");
    REQUIRE(result.records.size() == 2);
    for (const Record& record : result.records) {
        CHECK(record.code == Code::DUPLICATE);
        CHECK(record.severity == Severity::note);
        CHECK(record.plugin == "x");
    }
    CHECK(result.records[0].path == "/first/wye_x.so");
    CHECK(result.records[1].path == "/third/wye_x.so");
}

TEST_CASE("a file that only the application can name is not beaten") {
    FakeFiles files;
    files.file("/dev/x.so");
    files.plugin("/sys", "x", "9.0");
    SearchInput input;
    input.application = {"/dev/x.so"};
    input.system_folder = "/sys";
    const auto result = search(input, files);
    REQUIRE(result.candidates.size() == 1);
    CHECK(result.candidates[0].library == "/dev/x.so");
    CHECK(only(result).code == Code::DUPLICATE);
}

TEST_CASE("the same file under two names is one") {
    FakeFiles files;
    files.plugin("/p", "x");
    files.file("/q/wye_x.so");
    files.nodes["/q/wye_x.so"].inode = files.nodes["/p/wye_x.so"].inode;
    files.file("/q/wye_x.wye.json", FakeFiles::manifest("x", "7.0"));
    SearchInput input;
    input.application = {"/p", "/q"};
    const auto result = search(input, files);
    CHECK(result.candidates.size() == 1);
    CHECK(only(result).code == Code::DUPLICATE);
    CHECK(only(result).message.find("same file") != std::string::npos);
}

TEST_CASE("the same folder twice is silent") {
    FakeFiles files;
    files.plugin("/p", "x");
    files.links["/alias"] = "/p";
    SearchInput input;
    input.application = {"/p"};
    input.system_folder = "/p";
    input.host_folder = "/alias";
    const auto result = search(input, files);
    CHECK(result.candidates.size() == 1);
    CHECK(result.records.empty());
}

TEST_CASE("a built-in id wins over files") {
    FakeFiles files;
    files.plugin("/p", "cpu", "99.0");
    SearchInput input;
    input.application = {"/p"};
    input.taken_ids = {"cpu"};
    const auto result = search(input, files);
    CHECK(result.candidates.empty());
    CHECK(only(result).code == Code::DUPLICATE);
    CHECK(only(result).message.find("built-in") != std::string::npos);
}

TEST_CASE("the user's folder follows the XDG rule") {
    CHECK(user_plugin_folder({{"HOME", "/h"}}) == "/h/.local/share/wye/plugins");
    CHECK(user_plugin_folder({{"HOME", "/h"}, {"XDG_DATA_HOME", "/x"}}) == "/x/wye/plugins");
    CHECK(user_plugin_folder({{"HOME", "/h"}, {"XDG_DATA_HOME", "rel"}}) ==
          "/h/.local/share/wye/plugins");
    CHECK(user_plugin_folder({{"HOME", "h"}}).empty());
    CHECK(user_plugin_folder({}).empty());
}

TEST_CASE("ids of file names") {
    CHECK(id_of_file("/a/libwye_opencl.so") == "opencl");
    CHECK(id_of_file("wye_cuda.so.1.2") == "cuda");
    CHECK(id_of_file("mine.so") == "mine");
    CHECK(id_of_file("lib.so") == "lib");
}

}  // namespace test_search
