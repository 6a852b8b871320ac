// SPDX-License-Identifier: Apache-2.0
//
// `wye quirks`, and the other commands that show or choose workarounds for drivers.
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "command.hpp"

using nlohmann::json;

namespace wye::test::quirks_test {
namespace {

Outcome quirks(std::vector<std::string> words) {
    words.insert(words.begin(), {WYE_TOOL, "quirks"});
    return run_command(words);
}

std::set<std::string> names() {
    std::set<std::string> out;
    for (const auto& entry : json::parse(quirks({"--json"}).out)) out.insert(entry["id"]);
    return out;
}

}  // namespace

TEST_CASE("the table is printed for people and for programs") {
    const Outcome text = quirks({});
    CHECK(text.code == 0);
    const json table = json::parse(quirks({"--json"}).out);
    REQUIRE(table.size() > 20);
    for (const auto& entry : table) {
        CHECK(contains(text.out, entry["id"].get<std::string>() + "\n  seen on"));
        for (const char* key : {"seen_on", "fault", "workaround", "cost", "formats", "regression"})
            CHECK_FALSE(entry[key].get<std::string>().empty());
    }
    CHECK(names().contains("nvidia-vk-abs-min"));
}

TEST_CASE("only the audit needs the helper") {
    const TempFolder empty;
    const std::map<std::string, std::string> nowhere = {{"WYE_LIBEXEC", empty.path("")}};
    const Outcome table = run_command({WYE_TOOL, "quirks"}, nowhere);
    CHECK(table.code == 0);
    CHECK(table.out == quirks({}).out);
    CHECK(run_command({WYE_TOOL, "quirks", "--json"}, nowhere).out == quirks({"--json"}).out);
    check_complaint(run_command({WYE_TOOL, "quirks", "--audit"}, nowhere), 1, "`wye-quirks`");
}

TEST_CASE("lowering takes workarounds in and leaves them out by name") {
    const TempFolder folder;
    const std::string program = folder.write(
        "p.wye",
        "wye 1; program p; workgroup 1; param a: i32; output r: i32[1]; main { r[0] = abs(a); }");
    const auto lower = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = {"lower", program, "--to", "opencl-c"};
        words.insert(words.end(), more.begin(), more.end());
        return wye_command(words);
    };
    const std::string plain = lower({}).out;
    CHECK(contains(plain, " oz"));
    const Outcome without = lower({"--without-quirk", "ptxas-abs-min"});
    CHECK(without.code == 0);
    CHECK_FALSE(contains(without.out, " oz"));
    CHECK(lower({"--without-quirk", "all", "--with-quirk", "ptxas-abs-min"}).out == without.out);
    CHECK(lower({"--with-quirk", "ptxas-abs-min"}).out == plain);
    CHECK(lower({"--without-quirk", "mesa-sext-compare", "--without-quirk", "pocl-barriers"}).out ==
          plain);

    const Outcome unknown = lower({"--without-quirk", "nvidia"});
    check_complaint(unknown, 2, "there is no quirk named `nvidia`");
    for (const std::string& name : names()) CHECK(contains(unknown.err, "`" + name + "`"));
}

TEST_CASE("info says which workarounds a device gets") {
    const auto known = names();
    const auto report = json::parse(wye_command({"info", "--json"}).out);
    for (const auto& device : report["devices"]) {
        REQUIRE(device["quirks"].is_array());
        for (const auto& name : device["quirks"]) CHECK(known.contains(name));
        if (device["plugin"] == "cpu") CHECK(device["quirks"].empty());
    }
}

TEST_CASE("the audit replays what a device can need, and says what it found") {
    const Outcome cpu = quirks({"--audit", "--devices", "cpu"});  // the CPU needs no lowering
    CHECK(cpu.code == 0);
    CHECK(cpu.out.empty());
    const Outcome nobody = quirks({"--audit", "--devices", "nobody"});
    CHECK(nobody.code == 3);
    CHECK(contains(nobody.err, "Fix: "));
    const auto report = json::parse(wye_command({"info", "--json"}).out);
    for (const auto& device : report["devices"]) {
        if (device["usable"] != true || device["plugin"] == "cpu") continue;
        const std::string selector = device["selector"];
        for (const char* name : {"pocl-nan-in-table", "mesa-sext-compare"}) {
            const Outcome one =
                quirks({"--audit", "--devices", selector, "--only", name, "--json"});
            CAPTURE(one.err);
            if (one.out.empty()) continue;  // not in this format
            const auto said = json::parse(one.out);
            CHECK(said["device"] == selector);
            CHECK(said["id"] == name);
            const std::string verdict = said["verdict"];
            CHECK((verdict == "needed" || verdict == "not seen here"));
            CHECK(one.code == 0);
        }
    }
}

TEST_CASE("wrong usage of quirks says what would be right") {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--audits"},
          {"--only"},
          {"--only", "mesa-sext-compare"},  // without --audit
          {"more"},
          {"--audit", "more"},
          {"--audit", "--only"},
          {"--audit", "--only", "mesa"},
          {"--audit", "--timeout", "0"},
          {"--audit", "--timeout", "soon"}}) {
        const Outcome outcome = quirks(words);
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.err, "Fix: "));
    }
    CHECK(quirks({"--help"}).code == 0);
}

}  // namespace wye::test::quirks_test
