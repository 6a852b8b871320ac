// SPDX-License-Identifier: Apache-2.0
//
// `wye fuzz` from a user's side: exit codes, output, saved files.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "command.hpp"

namespace wye::test::fuzz_test {
namespace {

Outcome fuzz(std::vector<std::string> words) {
    words.insert(words.begin(), {WYE_TOOL, "fuzz"});
    return run_command(words);
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
    CHECK(contains(outcome.out,
                   "cpu:0: programs=4 equal=4 different=0 refused=0 useless=0 not_run=0 "
                   "left_out=0 seconds="));
    CHECK(outcome.out.ends_with("8 equal, 0 different\n"));
    CHECK(fuzz({"--seeds", "1,5..7", "--devices", "cpu"}).out.ends_with("3 equal, 0 different\n"));
    CHECK(fuzz({"--traps", "--count", "3", "--devices", "cpu"})
              .out.ends_with("3 equal, 0 different\n"));
}

TEST_CASE("programs in other states of the caller are counted by state") {
    const Outcome outcome = fuzz({"--any-state", "--count", "40", "--devices", "cpu"});
    CHECK(outcome.code == 0);
    CHECK(outcome.out.ends_with("40 equal, 0 different\n"));
    std::size_t states = 0;
    for (const char* state : {"rounds down", "flushes subnormals", "a locale with commas",
                              "a stack of 64 KiB", "an odd environment"})
        states += contains(outcome.out, std::string("\n  ") + state + ": ") ? 1 : 0;
    CHECK(states >= 3);  // the names of programs choose the states, so some may not occur
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
    // A case that has no single right result is reported, since it proves nothing.
    std::string racy = kCase;
    racy.replace(racy.find("r[i] ="), 6, "r[0] =");
    const Outcome race = fuzz({"--replay", folder.write("racy.wye", racy), "--devices", "cpu"});
    CHECK(race.code == 1);
    CHECK(contains(race.out, "USELESS racy: race on element 0 of `r`"));
    CHECK(contains(race.out, "programs=1 equal=0 different=0 refused=0 useless=1 not_run=0 "));
    const Outcome bad =
        fuzz({"--replay", folder.write("bad.wye", "//: grid\n"), "--devices", "cpu"});
    CHECK(bad.code == 2);
    CHECK(contains(bad.err, "line 1"));
    CHECK(fuzz({"--replay", folder.path("none.wye")}).code == 2);
}

TEST_CASE("a case is read once, so that it can be a pipe; pipes in a folder are refused by name") {
    const TempFolder folder;
    const std::string file = folder.write("case.wye", kCase);
    std::filesystem::create_directory(folder.path("cases"));
    const std::string pipe = folder.path("cases/pipe.wye");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const Outcome read = run_command(
        {"/bin/sh", "-c", "cat \"$1\" > \"$2\" & exec \"$0\" fuzz --devices cpu --replay \"$2\"",
         WYE_TOOL, file, pipe});
    CAPTURE(read.err);
    CHECK(read.code == 0);
    CHECK(contains(read.out, "\n1 equal, 0 different\n"));
    check_complaint(fuzz({"--replay", folder.path("cases"), "--devices", "cpu"}), 2,
                    "`" + pipe + "` is no regular file");
}

TEST_CASE("a device that is wrong is found, and the proof is small and repeats") {
    const TempFolder folder;
    const std::map<std::string, std::string> environment = {{"WYE_PLUGIN_PATH", WYE_TURNS_WRONG}};
    const std::vector<std::string> search = {
        WYE_TOOL,    "fuzz",        "--seeds", "0..20",
        "--devices", "turns_wrong", "--keep",  folder.path("found")};
    const Outcome found = run_command(search, environment);
    CAPTURE(found.out);
    CAPTURE(found.err);
    CHECK(found.code == 1);
    CHECK(contains(found.out, "DIFFERS seed-"));
    CHECK(contains(found.out, " should be 0x"));
    CHECK(contains(found.out, "turns_wrong:0: programs=20 equal="));
    CHECK(contains(found.out, " bytes="));
    REQUIRE(contains(found.out, "kept as "));
    std::size_t kept = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path("found"))) {
        CHECK(entry.path().extension() == ".wye");  // no temporary file is left
        const std::string text = read_bytes(entry.path().string());
        CAPTURE(text);
        CHECK(contains(text, "rotl("));
        CHECK(contains(text, " on turns_wrong:0\n"));
        const std::string body = text.substr(text.find("main {"));
        CHECK(std::ranges::count(body, '\n') <= 8);
        ++kept;
    }
    CHECK(kept > 0);
    const std::vector<std::string> again = {WYE_TOOL,  "fuzz", "--replay", folder.path("found"),
                                            "--limit", "0",    "--devices"};
    const auto on = [&](const char* device) {
        std::vector<std::string> words = again;
        words.emplace_back(device);
        return run_command(words, environment);
    };
    const Outcome wrong = on("turns_wrong");
    CHECK(wrong.code == 1);
    CHECK(contains(wrong.out, "\n0 equal, " + std::to_string(kept) + " different\n"));
    CHECK(on("cpu").code == 0);
}

TEST_CASE("wrong usage, absent devices and an absent helper are told apart") {
    const Outcome help = fuzz({"--help"});
    CHECK(help.code == 0);
    CHECK(contains(help.out, "Usage: wye fuzz"));
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

}  // namespace wye::test::fuzz_test
