// SPDX-License-Identifier: Apache-2.0
// Who may change a plugin: owners, groups, links, sticky folders; hostile numbers of files.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "fake_files.hpp"
#include "registry/find/search.hpp"

namespace test_trust {

using namespace wye;
using namespace wye::registry;

namespace {

constexpr std::uint32_t kStranger = 1234;
constexpr std::uint32_t kSelf = 1000;

SearchInput in(const char* folder) {
    SearchInput input;
    input.system_folder = folder;
    return input;
}

// Looks for one plugin in /a/b, and returns why it is refused; empty: it is a candidate.
std::string refusal(const FakeFiles& files, const SearchInput& input = in("/a/b")) {
    const SearchResult result = search(input, files);
    REQUIRE(result.candidates.size() + result.records.size() == 1);
    if (result.records.empty()) return {};
    CHECK(result.records[0].stage == Stage::trust);
    CHECK(result.records[0].code == Code::NOT_TRUSTED);
    CHECK(result.records[0].severity == Severity::refused);
    CHECK(result.records[0].fix.starts_with("Fix: ch"));
    return result.records[0].message;
}

constexpr const char* kOnTheWay[] = {"/", "/a", "/a/b", "/a/b/wye_x.so", "/a/b/wye_x.wye.json"};

}  // namespace

TEST_CASE("the plugin, its manifest and the folders above belong to root or the user") {
    for (const char* culprit : kOnTheWay) {
        CAPTURE(culprit);
        FakeFiles files;
        files.plugin("/a/b", "x");
        CHECK(refusal(files).empty());
        files.nodes[culprit].owner = kStranger;
        CHECK(refusal(files) == "`" + std::string(culprit) + "` belongs to user 1234");
        // A user whom the search trusts may own any of these files and folders.
        SearchInput input = in("/a/b");
        input.trusted.users = {kStranger};
        CHECK(refusal(files, input).empty());
    }
}

TEST_CASE("a group that may write is root's or the user's own") {
    for (const char* culprit : kOnTheWay) {
        CAPTURE(culprit);
        FakeFiles files;
        files.plugin("/a/b", "x");
        files.nodes[culprit].mode |= 0020;
        CHECK(refusal(files).empty());
        files.nodes[culprit].group = kSelf;
        CHECK(refusal(files) == "group 1000 may write to `" + std::string(culprit) + "`");
        SearchInput input = in("/a/b");
        input.trusted.private_group = kSelf;
        CHECK(refusal(files, input).empty());
        files.nodes[culprit].mode &= ~0020U;
        CHECK(refusal(files).empty());
    }
}

TEST_CASE("every link on the way is followed, and each of its folders judged") {
    FakeFiles files;
    files.plugin("/good", "x");
    files.folder("/trusted");
    files.folder("/open");
    files.nodes["/open"].mode = 0777;
    files.links["/trusted/link1"] = "../open/link2";
    files.links["/open/link2"] = "/good";
    CHECK(refusal(files, in("/trusted/link1")) == "everyone may write to `/open`");
    files.nodes["/open"].mode = 0755;
    CHECK(refusal(files, in("/trusted/link1")).empty());
    files.nodes["/open"].owner = kStranger;
    CHECK(refusal(files, in("/trusted/link1")) == "`/open` belongs to user 1234");
    // In a sticky folder other users cannot replace a link, but they can make one.
    files.nodes["/open"] = {"", 01777, 77, true, 0, 0, 0};
    CHECK(refusal(files, in("/trusted/link1")).empty());
    files.link_owners["/open/link2"] = kStranger;
    CHECK(refusal(files, in("/trusted/link1")) == "`/open/link2` belongs to user 1234");
}

TEST_CASE("links in a circle end") {
    FakeFiles files;
    files.folder("/a");
    files.links["/a/one"] = "/a/two";
    files.links["/a/two"] = "one";
    const auto result = search(in("/a/one"), files);
    REQUIRE(result.records.size() == 1);
    CHECK(result.records[0].code == Code::IO);
    CHECK(result.records[0].message.find("too many links") != std::string::npos);
}

TEST_CASE("whoever owns the folder of the host library is trusted, unless elevated") {
    FakeFiles files;
    files.plugin("/a/b", "x");
    files.folder("/a/lib");
    files.nodes["/a"].owner = kStranger;
    SearchInput input = in("/a/b");
    input.host_folder = "/a/lib";
    CHECK(refusal(files, input).empty());
    input.elevated = true;
    CHECK(refusal(files, input) == "`/a` belongs to user 1234");
}

TEST_CASE(
    "a relative folder of the host library, and relative paths of the application, are not "
    "searched") {
    FakeFiles files;
    files.plugin("/a/b", "x");
    SearchInput input;
    input.host_folder = "lib";
    input.application = {"a/b"};
    const auto result = search(input, files);
    CHECK(files.touched.empty());
    CHECK(files.looks == 0);
    REQUIRE(result.records.size() == 2);
    CHECK(result.records[0].code == Code::INVALID_ARGUMENT);
    CHECK(result.records[0].message.find("`a/b`, which depends on the current folder") !=
          std::string::npos);
    CHECK(result.records[1].code == Code::NOT_TRUSTED);
    CHECK(result.records[1].message.find("the relative path `lib`") != std::string::npos);
}

TEST_CASE("a manifest that is replaced between check and reading is refused") {
    FakeFiles files;
    files.plugin("/a/b", "x");
    files.before_read = [&](const std::string& path) { files.nodes[path].inode = 999; };
    CHECK(search(in("/a/b"), files).records.at(0).message.find("was replaced while it was read") !=
          std::string::npos);
}

TEST_CASE("each folder on the way is looked at once") {
    FakeFiles files;
    constexpr int kPlugins = 20;
    for (int i = 0; i < kPlugins; ++i) files.plugin("/a/b/c/d/e", "x" + std::to_string(i));
    const auto result = search(in("/a/b/c/d/e"), files);
    CHECK(result.candidates.size() == kPlugins);
    CHECK(files.looks == 6 + 2 * kPlugins);  // six folders, the root among them; a manifest and a
                                             // library of each plugin
}

TEST_CASE("what an elevated process ignores is recorded, with each variable of Wye") {
    FakeFiles files;
    SearchInput input;
    input.elevated = true;
    input.environment = {{"WYE_CACHE_DIR", "/c"},
                         {"WYE_DEVICE", "cuda"},
                         {"WYE_EMPTY", ""},
                         {"WYE_PLUGINS_DISABLE", "cpu"},
                         {"PATH", "/bin"}};
    input.taken_ids = {"cpu"};
    const auto result = search(input, files);
    REQUIRE(result.records.size() == 3);
    CHECK(result.disabled.empty());
    CHECK(result.records[0].message.starts_with("WYE_CACHE_DIR is ignored"));
    CHECK(result.records[1].message.starts_with("WYE_DEVICE is ignored"));
    CHECK(result.records[2].message.starts_with("WYE_PLUGINS_DISABLE is ignored"));
}

TEST_CASE("WYE_PLUGINS_DISABLE leaves plugins out, with a record, and says which ids are unknown") {
    FakeFiles files;
    files.plugin("/a/b", "x");
    files.plugin("/a/b", "y");
    files.file("/p/z.so", "code");
    SearchInput input = in("/a/b");
    input.application = {"/p/z.so"};
    input.taken_ids = {"cpu"};
    input.environment = {{"WYE_PLUGINS_DISABLE", "x,,cpu,z,nope,x"}};
    const auto result = search(input, files);
    REQUIRE(result.candidates.size() == 1);
    CHECK(result.candidates[0].id == "y");
    std::vector<std::string> disabled;
    for (const Record& record : result.records)
        if (record.code == Code::DISABLED) {
            CHECK(record.severity == Severity::note);
            disabled.push_back(record.plugin);
        }
    CHECK(disabled == std::vector<std::string>{"cpu", "z", "x"});
    REQUIRE(result.records.size() == 4);
    CHECK(result.records[3].code == Code::NOT_FOUND);
    CHECK(result.records[3].severity == Severity::warning);
    CHECK(result.records[3].message.find("`nope`") != std::string::npos);
}

TEST_CASE("WYE_PLUGINS_DISABLE takes patterns") {
    FakeFiles files;
    for (const char* id : {"opencl", "openother", "vulkan"}) files.plugin("/a/b", id);
    SearchInput input = in("/a/b");
    input.taken_ids = {"cpu"};
    input.environment["WYE_PLUGINS_DISABLE"] = "open*,?pu,cuda*";
    const auto result = search(input, files);
    REQUIRE(result.candidates.size() == 1);
    CHECK(result.candidates[0].id == "vulkan");
    CHECK(result.disabled == std::vector<std::string>{"cpu", "opencl", "openother"});
    REQUIRE(result.records.size() == 4);
    CHECK(result.records[1].message == "WYE_PLUGINS_DISABLE names `opencl` by `open*`");
    CHECK(result.records[3].message.find("names `cuda*`, and there is no such") !=
          std::string::npos);
    CHECK(files.touched.count("/a/b/opencl.so") == 0);
}

TEST_CASE("thousands of bad files give few records and few reads") {
    FakeFiles files;
    for (int i = 0; i < 2000; ++i) {
        files.file("/bad/a" + std::to_string(i) + ".wye.json", "[");
        files.file("/stray/a" + std::to_string(i) + ".so", "");
    }
    files.plugin("/good", "x");
    SearchInput input;
    input.environment = {{"WYE_PLUGIN_PATH", "/bad:/stray:/good"}};
    const auto result = search(input, files);
    CHECK(result.candidates.size() == 1);
    CHECK(result.records.size() == kMostRecords);
    CHECK(result.records.front().code == Code::LIMIT_EXCEEDED);
    CHECK(result.records.front().message.find("`/bad` has 2000 manifests") != std::string::npos);
    CHECK(result.records.back().code == Code::LIMIT_EXCEEDED);
    CHECK(result.records.back().message.find("passed over") != std::string::npos);
    CHECK(files.touched.size() == 3 + kMostManifests + 1);

    input.environment = {{"WYE_PLUGIN_PATH", "/stray"}};
    const auto strays = search(input, files);
    REQUIRE(strays.records.size() == 1);
    CHECK(strays.records[0].message.find("2000 libraries without a manifest") != std::string::npos);
}

TEST_CASE("large manifests are read up to a total") {
    FakeFiles files;
    const std::string large(kManifestBytes, ' ');
    for (int i = 0; i < 100; ++i) files.file("/bad/a" + std::to_string(i) + ".wye.json", large);
    const auto result = search(in("/bad"), files);
    CHECK(files.touched.size() == 1 + kManifestTotal / kManifestBytes);
    CHECK(result.records.size() == kMostRecords);
}

TEST_CASE("keys of a manifest that nobody knows are warnings") {
    FakeFiles files;
    files.plugin("/a/b", "x", "0.1.0", R"(, "colour": 1, "needs": [{"soname": "l", "min": "2"}])");
    const auto result = search(in("/a/b"), files);
    CHECK(result.candidates.size() == 1);
    REQUIRE(result.records.size() == 2);
    for (const Record& record : result.records) {
        CHECK(record.severity == Severity::warning);
        CHECK(record.code == Code::UNKNOWN_KEY);
        CHECK(record.plugin == "x");
    }
    CHECK(result.records[0].message.find("`needs[0].min`") != std::string::npos);
    CHECK(result.records[1].message.find("`colour`") != std::string::npos);
}

}  // namespace test_trust
