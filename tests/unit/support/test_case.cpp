// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "support/case.hpp"

using support::Case;
using support::read_case;
using support::write_case;

TEST_CASE("a case comes back from its file") {
    Case what;
    what.text = "wye 1;\nprogram p;\nworkgroup 1;\nmain {\n}\n";
    what.launch.groups = {2, 3, 4};
    what.launch.params = {0, 0xffffffffffffffffU};
    std::vector<std::byte> bytes(200);
    bytes[0] = std::byte{1};
    for (std::size_t i = 50; i < 120; ++i) bytes[i] = static_cast<std::byte>(i);
    what.launch.buffers = {
        {"a", true, false, bytes}, {"b", false, true, {}}, {"c", true, true, {}}};
    what.resident = true;
    what.needs = {"subgroup", "f64"};
    const std::string file = write_case(what, {"found\nhere"});
    CHECK(file.starts_with("// found\n// here\n//: grid 2 3 4\n"));
    const auto back = read_case(file);
    REQUIRE(back.ok());
    CHECK(back->launch.groups == what.launch.groups);
    CHECK(back->launch.params == what.launch.params);
    REQUIRE(back->launch.buffers.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(back->launch.buffers[i].name == what.launch.buffers[i].name);
        CHECK(back->launch.buffers[i].input == what.launch.buffers[i].input);
        CHECK(back->launch.buffers[i].output == what.launch.buffers[i].output);
        CHECK(back->launch.buffers[i].bytes == what.launch.buffers[i].bytes);
    }
    CHECK(back->resident);
    CHECK_FALSE(back->may_trap);
    CHECK(back->needs == what.needs);
    CHECK(back->text == "// found\n// here\n" + what.text);
    CHECK(write_case(*read_case(write_case(what, {})), {}) == write_case(what, {}));
}

TEST_CASE("a launch that cannot be read is refused by line") {
    for (const char* line : {"grid 1 2", "param xyz", "buffer a", "buffer a sideways", "bytes 00",
                             "zeros 1", "nothing", "grid 1 1 1 1", "needs",
                             "buffer a input\n//: bytes 0", "buffer a input\n//: zeros -1"}) {
        const auto back = read_case("wye 1;\n//: " + std::string(line) + "\n");
        INFO(line);
        REQUIRE_FALSE(back.ok());
        CHECK(back.error().code == wye::Code::INVALID_TEXT);
        CHECK(back.error().message.find("line ") == 0);
    }
}
