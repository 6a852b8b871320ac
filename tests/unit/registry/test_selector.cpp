// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "registry/choose/selector.hpp"
#include "registry/open/device.hpp"

namespace test_selector {

using namespace wye;
using namespace wye::registry;

namespace {

DeviceInfo device(const char* plugin, std::uint32_t index) {
    DeviceInfo out;
    out.plugin = plugin;
    out.index = index;
    return out;
}

}  // namespace

TEST_CASE("what is printed is what is accepted") {
    for (const char* text : {"auto",
                             "cpu",
                             "opencl:0",
                             "opencl:*",
                             "cpu,opencl:0",
                             "auto,-opencl",
                             "-opencl:1",
                             "opencl:4294967295",
                             "-a,-b:*,c_2:7,auto",
                             "*",
                             "*,-cpu",
                             "@5a1b0c2d3e4f5061",
                             "@0000:65:00.0",
                             "cuda:@GPU-5a1b-0c2d,-@12ab",
                             "\"geforce, [rtx]\"",
                             "vulkan:\"a \\\"b\\\\\"",
                             "*[f64,!int64]",
                             "cuda:*[memory_bytes>=8GiB,f64],cpu",
                             "cpu[compute_units!=3]",
                             "-*[device_kind=cpu]",
                             "auto[driver>=535.1]",
                             "@1[max_workgroup_size>=16x16x4]",
                             "a:0[subgroup_sizes=32]",
                             "*[vendor=\"NVIDIA Corporation\"]",
                             "*[clock_hz>1.5GHz]"}) {
        CAPTURE(text);
        const auto parsed = parse_selector(text);
        REQUIRE(parsed.ok());
        CHECK(to_text(*parsed) == text);
        const auto again = parse_selector(to_text(*parsed));
        REQUIRE(again.ok());
        CHECK(to_text(*again) == text);
    }
}

TEST_CASE("spaces are dropped and no text is auto") {
    CHECK(to_text(*parse_selector("  cpu , opencl:1 ")) == "cpu,opencl:1");
    CHECK(to_text(*parse_selector("")) == "auto");
    CHECK(to_text(*parse_selector("  ")) == "auto");
}

TEST_CASE("errors name the column, show a caret and a fix") {
    struct Case {
        const char* text;
        int column;
        const char* what;
    };
    const Case cases[] = {
        {"CPU", 1, "plugin's name"},
        {"cpu,", 5, "an entry is missing"},
        {",cpu", 1, "an entry is missing"},
        {"cpu,,opencl", 5, "an entry is missing"},
        {"cpu:", 5, "an index or *"},
        {"cpu:x", 5, "an index or *"},
        {"cpu:1x", 6, "an index or *"},
        {"cpu:-1", 5, "an index or *"},
        {"cpu:4294967296", 5, "too large"},
        {"cpu:00", 5, "leading zero"},
        {"cpu:0:1", 6, "an index or *"},
        {"auto:0", 5, "auto takes no index"},
        {"-auto", 2, "auto cannot be excluded"},
        {"-", 2, "an entry is missing"},
        {":0", 1, "name is missing"},
        {"cpu gpu", 4, "plugin's name"},
        {"opencl:@", 8, "the id is missing"},
        {"@a b", 3, "part of an id"},
        {"-*", 2, "* cannot be excluded"},
        {"\"abc", 5, "the quotes are not closed"},
        {"\"\"", 1, "is empty"},
        {"\"a\"b", 4, "a comma or [ must follow"},
        {"\"a\\n\"", 3, "are known here"},
        {"cpu[f64", 8, "the bracket is not closed"},
        {"cpu[f64]x", 9, "a comma must follow the bracket"},
        {"[f64]", 1, "the device is missing"},
        {"cpu[]", 5, "a property is missing"},
        {"cpu[f64,]", 9, "a property is missing"},
        {"cpu[memroy_bytes>1]", 5, "there is no fact `memroy_bytes`"},
        {"cpu[memory]", 11, "a condition on `memory_bytes` is missing"},
        {"cpu[memory>]", 12, "cannot be compared with `memory_bytes`"},
        {"cpu[memory>8  GiB]", 12, "cannot be compared"},
        {"cpu[memory>8XiB]", 12, "cannot be compared"},
        {"cpu[memory>99999999999999TiB]", 12, "cannot be compared"},
        {"cpu[f64>yes]", 9, "cannot be compared with `f64`"},
        {"cpu[!f64=yes]", 9, "exclude each other"},
        {"cpu[kind>cpu]", 10, "`<` and `>` compare the first number of a text"},
        {"cpu[max_workgroup_size=16x16]", 24, "cannot be compared"},
        {"cpu[f64 f64]", 5, "there is no fact"},
        {"9cpu", 1, "plugin's name"},
        {"cpu,  ?", 7, "plugin's name"},
        {"\"gr\u00fcn \u009b\t\xff\"b", 8, "a control character"},
        {"\"gr\u00fcn \u009b\"b", 9, "a comma or [ must follow"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.text);
        const auto parsed = parse_selector(c.text);
        REQUIRE_FALSE(parsed.ok());
        const Error& error = parsed.error();
        CHECK(error.code == Code::INVALID_ARGUMENT);
        CHECK(error.message.find("column " + std::to_string(c.column) + ":") != std::string::npos);
        CHECK(error.message.find(c.what) != std::string::npos);
        const std::string caret =
            "\n  " + std::string(static_cast<std::size_t>(c.column - 1), ' ') + "^";
        CHECK(error.message.find(caret) != std::string::npos);
        CHECK(error.fix.rfind("Fix: ", 0) == 0);
    }
    CHECK(parse_selector(std::string(65, 'a')).error().code == Code::INVALID_ARGUMENT);
    CHECK(parse_selector(std::string(100000, 'a')).error().code == Code::LIMIT_EXCEEDED);
}

TEST_CASE("a plugin that cannot be meant need not be opened") {
    const auto excludes = [](const char* text, const char* id) {
        return parse_selector(text)->excludes_plugin(id);
    };
    CHECK(excludes("cpu", "opencl"));
    CHECK_FALSE(excludes("cpu", "cpu"));
    CHECK_FALSE(excludes("auto", "opencl"));
    CHECK(excludes("auto,-opencl", "opencl"));
    CHECK_FALSE(excludes("auto,-opencl:0", "opencl"));
    CHECK(excludes("-opencl", "opencl"));
    CHECK_FALSE(excludes("-opencl", "cpu"));
    CHECK_FALSE(excludes("cpu,opencl:0", "opencl"));
}

TEST_CASE("a selector of exclusions alone chooses automatically among all others") {
    const auto selector = parse_selector("-opencl:1,-cpu");
    REQUIRE(selector.ok());
    REQUIRE(selector->wanted().size() == 1);
    CHECK(selector->wanted()[0].kind == SelectorEntry::Kind::automatic);
    CHECK(selector->discards(device("cpu", 0)));
    CHECK(selector->discards(device("opencl", 1)));
    CHECK_FALSE(selector->discards(device("opencl", 0)));
}

TEST_CASE("short names of facts, spaces and other spellings print in one way") {
    CHECK(to_text(*parse_selector("cpu [ memory >= 8GiB , f64 ] , *")) ==
          "cpu[memory_bytes>=8GiB,f64],*");
    CHECK(to_text(*parse_selector("*[kind=gpu,f64=no,int64=yes,f64!=no]")) ==
          "*[device_kind=gpu,!f64,int64,f64]");
    CHECK(to_text(*parse_selector("*[vendor=\"Acme\"]")) == "*[vendor=Acme]");
}

TEST_CASE("an entry names devices by index, id, UUID, address and part of a name") {
    DeviceInfo one = device("cuda", 1);
    one.id = "00112233aabbccdd";
    one.name = "Acme GeFast 9000";
    one.facts.set(WYE_FACT_KEY_UUID, {std::string("5a1b0c2d3e4f5061728394a5b6c7d8e9"), {}});
    one.facts.set(WYE_FACT_KEY_PCI_ADDRESS, {std::string("0000:65:00.0"), {}});
    for (const char* text : {"*", "auto", "cuda", "cuda:*", "cuda:1", "@00112233aabbccdd",
                             "@00112233AABBCCDD", "cuda:@00112233aabbccdd", "@feedfeedfeedfeed",
                             "@GPU-5a1b0c2d-3e4f-5061-7283-94a5b6c7d8e9", "@0000:65:00.0",
                             "\"gefast\"", "\"GEFAST 9\"", "cuda:\"acme\""}) {
        CAPTURE(text);
        CHECK(parse_selector(text)->entries[0].covers(one, "feedfeedfeedfeed"));
    }
    for (const char* text :
         {"opencl", "cuda:0", "@00112233aabbccde", "@0011", "opencl:@00112233aabbccdd",
          "\"gefast 8\"", "opencl:\"acme\"", "@0000:66:00.0"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_selector(text)->entries[0].covers(one, "feedfeedfeedfeed"));
    }
    CHECK_FALSE(parse_selector("@x")->entries[0].covers(device("cuda", 0)));
}

TEST_CASE("properties compare facts by their types") {
    DeviceInfo one = device("cuda", 0);
    Facts& facts = one.facts;
    facts.set(WYE_FACT_KEY_F64, {true, {}});
    facts.set(WYE_FACT_KEY_SUBGROUP, {false, {}});
    facts.set(WYE_FACT_KEY_MEMORY_BYTES, {std::uint64_t{8} << 30U, {}});
    facts.set(WYE_FACT_KEY_CLOCK_HZ, {std::uint64_t{1500000000}, {}});
    facts.set(WYE_FACT_KEY_PROCESSOR_QUOTA, {1.5, {}});
    facts.set(WYE_FACT_KEY_DRIVER, {std::string("Mesa 22.3.6 (LLVM 15)"), {}});
    facts.set(WYE_FACT_KEY_DEVICE_KIND, {std::string("gpu"), {}});
    facts.set(WYE_FACT_KEY_MAX_WORKGROUP_SIZE, {std::array<std::uint32_t, 3>{1024, 1024, 64}, {}});
    facts.set(WYE_FACT_KEY_SUBGROUP_SIZES, {std::vector<std::uint64_t>{16, 32}, {}});
    for (const char* text : {"f64",
                             "!subgroup",
                             "!int64",
                             "f64!=no",
                             "memory>=8GiB",
                             "memory>=8 GiB",
                             "memory=8192MiB",
                             "memory<9GiB",
                             "memory>8.5GB",
                             "memory!=1",
                             "memory<=8589934592",
                             "clock_hz=1.5GHz",
                             "processor_quota<2",
                             "processor_quota=1.5",
                             "driver>=22.3",
                             "driver>22.3.5",
                             "driver<22.4",
                             "driver=\"mesa 22.3.6 (llvm 15)\"",
                             "driver>=22.3.6.0",
                             "kind=GPU",
                             "kind!=cpu",
                             "max_workgroup_size>=256x256x64",
                             "max_workgroup_size!=1x1x1",
                             "subgroup_sizes=32",
                             "subgroup_sizes!=64",
                             "subgroup_sizes<32"}) {
        CAPTURE(text);
        CHECK(parse_selector("*[" + std::string(text) + "]")->entries[0].covers(one));
    }
    for (const char* text : {"!f64",
                             "subgroup",
                             "int64",
                             "f64=no",
                             "memory>8GiB",
                             "memory>=8.1GiB",
                             "memory=8GB",
                             "clock_hz>1.5GHz",
                             "processor_quota>=2",
                             "driver>=22.4",
                             "driver<22.3.6",
                             "driver=mesa",
                             "kind=cpu",
                             "max_workgroup_size>=256x256x65",
                             "subgroup_sizes=64",
                             "subgroup_sizes!=16",
                             "subgroup_sizes>32",
                             "l2_cache_bytes>0",
                             "l2_cache_bytes!=5",
                             "uuid!=x",
                             "vendor=\"\""}) {
        CAPTURE(text);
        CHECK_FALSE(parse_selector("*[" + std::string(text) + "]")->entries[0].covers(one));
    }
    const auto asked = parse_selector("*[f64,memory>=16GiB]");
    REQUIRE(asked.ok());
    const Property* broken = asked->entries[0].broken(one);
    REQUIRE(broken != nullptr);
    CHECK(why_not(*broken, facts) == "needs memory_bytes>=16GiB, has 8589934592");
    CHECK(why_not(parse_selector("*[uuid=x]")->entries[0].properties[0], facts) ==
          "needs uuid=x, has not reported");
}

TEST_CASE("a mistyped fact brings the nearest name") {
    CHECK(parse_selector("*[memroy_bytes>1]").error().fix == "Fix: write memory_bytes");
    CHECK(parse_selector("*[memroy>1]").error().fix == "Fix: write memory");
    CHECK(parse_selector("*[qqqqqqqqqqqqqqqq]").error().fix.find("wye info --json") !=
          std::string::npos);
}

TEST_CASE("only plugins that an entry may name are opened for it") {
    const auto excludes = [](const char* text, const char* id) {
        return parse_selector(text)->excludes_plugin(id);
    };
    CHECK_FALSE(excludes("@12", "cpu"));
    CHECK_FALSE(excludes("\"name\"", "cpu"));
    CHECK_FALSE(excludes("*[f64]", "cpu"));
    CHECK(excludes("cuda:@12", "cpu"));
    CHECK(excludes("cuda:\"name\"", "cpu"));
    CHECK(excludes("@12,-cpu", "cpu"));
    CHECK_FALSE(excludes("-cpu[f64]", "cpu"));  // excludes only some devices of `cpu`
}

}  // namespace test_selector
