// SPDX-License-Identifier: Apache-2.0
//
// `wye fuzz` as a user meets it.
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "command.hpp"

using wye::test::Outcome;
using wye::test::run_command;
using wye::test::TempFolder;

namespace {

Outcome fuzz(std::vector<std::string> words) {
    words.insert(words.begin(), {WYE_TOOL, "fuzz"});
    const std::string folder = std::filesystem::path(WYE_FUZZ).parent_path().string();
    return run_command(words, {{"WYE_LIBEXEC", folder}});
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Element i of r becomes x[i] + 1.
const std::string kCase =
    "// a remark\n//: grid 1 1 1\n//: param 1\n//: buffer x input\n//: bytes 0500000007000000\n"
    "//: buffer r output\n//: zeros 8\n"
    "wye 1;\nprogram p;\nworkgroup 4;\nparam one: u32;\ninput x: u32[];\noutput r: u32[len(x)];\n"
    "main { let i = global_id.x; r[i] = x[i] + one; }\n";

}  // namespace

TEST_CASE("random programs on chosen devices") {
    const Outcome outcome = fuzz({"--seed", "3", "--count", "4", "--devices", "cpu,cpu:0"});
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "cpu:0: 4 programs in "));
    CHECK(outcome.out.ends_with("8 equal, 0 different\n"));
    CHECK(fuzz({"--seeds", "1,5..7", "--devices", "cpu"}).out.ends_with("3 equal, 0 different\n"));
    CHECK(fuzz({"--traps", "--count", "3", "--devices", "cpu"})
              .out.ends_with("3 equal, 0 different\n"));
}

TEST_CASE("kept cases run again") {
    const TempFolder folder;
    const std::string first = folder.write("first.wye", kCase);
    (void)folder.write("second.wye", kCase);
    const Outcome one = fuzz({"--replay", first, "--devices", "cpu"});
    CHECK(one.code == 0);
    CHECK(one.out.ends_with("1 equal, 0 different\n"));
    CHECK(fuzz({"--replay", folder.path(""), "--devices", "cpu"})
              .out.ends_with("2 equal, 0 different\n"));
    // What has no one right result is no proof of anything.
    std::string racy = kCase;
    racy.replace(racy.find("r[i] ="), 6, "r[0] =");
    const Outcome race = fuzz({"--replay", folder.write("racy.wye", racy), "--devices", "cpu"});
    CHECK(race.code == 1);
    CHECK(contains(race.out, "USELESS racy: race on element 0 of `r`"));
    const Outcome bad =
        fuzz({"--replay", folder.write("bad.wye", "//: grid\n"), "--devices", "cpu"});
    CHECK(bad.code == 2);
    CHECK(contains(bad.err, "line 1"));
    CHECK(fuzz({"--replay", folder.path("none.wye")}).code == 2);
}

TEST_CASE("wrong usage, absent devices and an absent helper are told apart") {
    const Outcome help = fuzz({"--help"});
    CHECK(help.code == 0);
    CHECK(contains(help.out, "usage: wye fuzz"));
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"--count"},
                                               {"--count", "0"},
                                               {"--count", "x"},
                                               {"--seeds", "9..3"},
                                               {"--seeds", ""},
                                               {"--limit", "-1"},
                                               {"--nothing"},
                                               {"7"},
                                               {"--seeds", "1", "--seed", "2"}}) {
        const Outcome outcome = fuzz(words);
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.err, "Fix:"));
    }
    const Outcome absent = fuzz({"--count", "1", "--devices", "warp:0"});
    CHECK(absent.code == 3);
    CHECK(contains(absent.err, "warp"));
    const TempFolder empty;
    const Outcome without = run_command({WYE_TOOL, "fuzz"}, {{"WYE_LIBEXEC", empty.path("")}});
    CHECK(without.code == 1);
    CHECK(contains(without.err, "wye-fuzz"));
    CHECK(contains(without.err, "Fix:"));
}
