// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "registry/find/manifest.hpp"

namespace test_manifest {

using namespace wye;
using namespace wye::registry;

namespace {

const std::string kGood = R"({
  "schema": 1, "id": "opencl", "library": "wye_opencl.so", "arch": "x86_64",
  "abi": {"major": 1, "draft": 2, "minor_needed": 2, "minor_built": 3},
  "backend": "opencl", "version": "0.1.0",
  "needs": [{"soname": "libOpenCL.so.1", "min_version": "1.2"}, {"soname": "libm.so.6"}],
  "translates": [{"format": "ptx", "from": "cuda-c", "target_option": "--arch="},
                 {"format": "com.vendor.own", "from": "opencl-c"}],
  "later": {"unknown": [1, 2]}
})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a good manifest is read in full, and unknown keys are listed") {
    const auto m = parse_manifest(kGood, "x.wye.json");
    REQUIRE(m.ok());
    CHECK(m->id == "opencl");
    CHECK(m->library == "wye_opencl.so");
    CHECK(m->arch == "x86_64");
    CHECK(m->abi_major == 1);
    CHECK(m->minor_needed == 2);
    CHECK(m->draft == 2);
    CHECK(m->minor_built == 3);
    CHECK(m->backend == "opencl");
    CHECK(m->version == "0.1.0");
    REQUIRE(m->needs.size() == 2);
    CHECK(m->needs[0].soname == "libOpenCL.so.1");
    CHECK(m->needs[0].min_version == "1.2");
    CHECK(m->needs[1].min_version.empty());
    CHECK(m->needs[0].package.empty());
    REQUIRE(m->translates.size() == 2);
    CHECK(m->translates[0].format == "ptx");
    CHECK(m->translates[0].from == "cuda-c");
    CHECK(m->translates[0].target_option == "--arch=");
    CHECK(m->translates[1].target_option.empty());
    CHECK(m->unknown_keys == std::vector<std::string>{"later"});
}

TEST_CASE("each fault of a manifest is named by its key") {
    struct Case {
        const char* from;
        const char* to;
        const char* expected;
    };
    const Case cases[] = {
        {"\"schema\": 1", "\"schema\": 2", "schema 2 is not known"},
        {"\"schema\": 1,", "", "`schema` is missing"},
        {"\"schema\": 1", "\"schema\": \"1\"", "`schema` is string, not an integer"},
        {"\"schema\": 1", "\"schema\": 1.0", "`schema` is number, not an integer"},
        {"\"schema\": 1", "\"schema\": -1", "`schema` is -1"},
        {"\"major\": 1", "\"major\": 4294967296", "`abi.major` is 4294967296"},
        {"\"minor_built\": 3", "\"minor_built\": null", "`abi.minor_built` is null"},
        {"\"minor_needed\": 2,", "", "`abi.minor_needed` is missing"},
        {R"({"major": 1, "draft": 2, "minor_needed": 2, "minor_built": 3})", "[]",
         "`abi` is array"},
        {"\"id\": \"opencl\"", "\"id\": 7", "`id` is number, not a string"},
        {"\"id\": \"opencl\"", "\"id\": \"\"", "`id` is empty"},
        {"\"id\": \"opencl\"", "\"id\": \"auto\"", "id `auto`"},
        {"\"id\": \"opencl\"", "\"id\": \"Open CL\"", "id `Open CL`"},
        {"wye_opencl.so", "../evil.so", "`../evil.so` is not a plain file name"},
        {"wye_opencl.so", "/evil.so", "`/evil.so` is not a plain file name"},
        {"wye_opencl.so", "..", "`..` is not a plain file name"},
        {"wye_opencl.so", "a\\u0000b", "`library` has a control character"},
        {"\"0.1.0\"", "\"0\\u001b[31m\"", "`version` has a control character"},
        {"{\"soname\": \"libm.so.6\"}", "\"libm.so.6\"", "`needs[1]` is string"},
        {"{\"soname\": \"libm.so.6\"}", "{}", "`needs[1].soname` is missing"},
        {"\"min_version\": \"1.2\"", "\"package\": 7", "`needs[0].package` is number"},
        {"\"min_version\": \"1.2\"", "\"min_version\": 1.2", "`needs[0].min_version` is number"},
        {"libm.so.6", "./libm.so.6", "`needs[1].soname` is `./libm.so.6`, which is a path"},
        {"\"min_version\": \"1.2\"", "\"min_version\": \"new\"", "`needs[0].min_version` is `new`"},
        {"\"min_version\": \"1.2\"", "\"version_from\": \"rpm\"",
         "`needs[0].version_from` is `rpm`"},
        {"\"from\": \"opencl-c\"", "\"to\": \"opencl-c\"", "`translates[1].from` is missing"},
        {"\"from\": \"cuda-c\"", "\"from\": 7", "`translates[0].from` is number"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.to);
        const auto m = parse_manifest(replaced(kGood, c.from, c.to), "x.wye.json");
        REQUIRE_FALSE(m.ok());
        CHECK(m.error().code == Code::BAD_MANIFEST);
        CHECK(m.error().message.find(c.expected) != std::string::npos);
        CHECK(m.error().message.find("x.wye.json") != std::string::npos);
        CHECK(m.error().fix.rfind("Fix: ", 0) == 0);
        CHECK(m.error().subject == "x.wye.json");
    }
}

TEST_CASE("the examples of the schema's test are read as the schema says") {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(WYE_MANIFESTS)) {
        const std::string name = entry.path().filename().string();
        CAPTURE(name);
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        const auto manifest = parse_manifest(text, name);
        CHECK(manifest.ok() != name.starts_with("bad_"));
        if (manifest.ok()) CHECK(manifest->unknown_keys.empty() == name.starts_with("good_"));
        ++count;
    }
    CHECK(count > 30);
}

TEST_CASE("broken JSON is located by line and column") {
    const auto m = parse_manifest("{\n  \"schema\": 1,\n  \"id\" 5\n}", "x");
    REQUIRE_FALSE(m.ok());
    CHECK(m.error().message.find("line 3, column 8") != std::string::npos);
}

TEST_CASE("hostile bytes are refused") {
    const std::string deep = std::string(50000, '[');
    const std::string deep_object = [] {
        std::string out;
        for (int i = 0; i < 5000; ++i) out += "{\"a\":";
        return out;
    }();
    const std::string huge(kManifestBytes + 1, ' ');
    std::string eight = "{\"x\":";
    for (int i = 0; i < kManifestDepth; ++i) eight += "[";
    for (const std::string& bytes :
         {std::string(), deep, deep_object, huge, eight, std::string("\xff\xfe{}"),
          std::string("{\"id\": \"\xc3\x28\"}"), std::string("1e999"),
          std::string("{\"schema\":1e999}"), std::string("null"), std::string("[1]"),
          std::string("{}garbage"), std::string("\0{}", 3)}) {
        CAPTURE(bytes.substr(0, 20));
        const auto m = parse_manifest(bytes, "x");
        REQUIRE_FALSE(m.ok());
        CHECK(m.error().code == Code::BAD_MANIFEST);
        CHECK(m.error().fix.rfind("Fix: ", 0) == 0);
    }
}

TEST_CASE("brackets inside strings do not count as nesting") {
    const auto m = parse_manifest(
        replaced(kGood, "\"later\": {", "\"later\": {\"s\": \"[[[[[[[[[[\\\"[[[[\", "), "x");
    CHECK(m.ok());
}

TEST_CASE("versions are ordered by number") {
    CHECK(compare_versions("0.9", "0.10") < 0);
    CHECK(compare_versions("1.0", "0.99.99") > 0);
    CHECK(compare_versions("1.2.3", "1.2.3") == 0);
    CHECK(compare_versions("1.2", "1.2.1") < 0);
    CHECK(compare_versions("01.2", "1.02") == 0);
    CHECK(compare_versions("1.0a", "1.0b") < 0);
    CHECK(compare_versions("", "0.1") < 0);
    for (const char* early : {"1.0.0-rc1", "1.0.0-rc.1", "1.0.0~beta2", "1.0.0rc1"}) {
        CHECK(compare_versions(early, "1.0.0") < 0);
        CHECK(compare_versions("1.0.0", early) > 0);
        CHECK(compare_versions(early, "0.9.9") > 0);
    }
    CHECK(compare_versions("1.0.0-rc1", "1.0.0-rc2") < 0);
    CHECK(compare_versions("1.0.0-1", "1.0.0") > 0);  // a package's revision
    CHECK(compare_versions("99999999999999999999999", "99999999999999999999998") > 0);
}

TEST_CASE("plugin ids") {
    for (const char* good : {"cpu", "opencl", "my_gpu2", "a"}) CHECK(valid_plugin_id(good));
    for (const char* bad : {"", "auto", "CPU", "2gpu", "_x", "a-b", "a:0", "a b"})
        CHECK_FALSE(valid_plugin_id(bad));
    CHECK(valid_plugin_id(std::string(64, 'a')));
    CHECK_FALSE(valid_plugin_id(std::string(65, 'a')));
}

}  // namespace test_manifest
