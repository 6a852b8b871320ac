// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "registry/selector.hpp"

namespace test_selector {

using namespace wye;
using namespace wye::registry;

TEST_CASE("what is printed is what is accepted") {
    for (const char* text : {"auto", "cpu", "opencl:0", "opencl:*", "cpu,opencl:0", "auto,-opencl",
                             "-opencl:1", "opencl:4294967295", "-a,-b:*,c_2:7,auto"}) {
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
        {"opencl:@abc", 8, "an index or *"},
        {"9cpu", 1, "plugin's name"},
        {"cpu,  ?", 7, "plugin's name"},
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

TEST_CASE("discards alone mean auto without them") {
    const auto selector = parse_selector("-opencl:1,-cpu");
    REQUIRE(selector.ok());
    REQUIRE(selector->wanted().size() == 1);
    CHECK(selector->wanted()[0].kind == SelectorEntry::Kind::automatic);
    CHECK(selector->discards("cpu", 0));
    CHECK(selector->discards("opencl", 1));
    CHECK_FALSE(selector->discards("opencl", 0));
}

}  // namespace test_selector
