// SPDX-License-Identifier: Apache-2.0
//
// `wye info` as an operator uses it: views of this machine and of saved reports, and exit codes.
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "saved_report.hpp"
#include "wye/abi.h"

using nlohmann::json;

namespace wye::test::info_test {

TEST_CASE("one screen shows devices first, the picked one marked, then what failed") {
    const Saved saved;
    const Outcome outcome = info({"--from", saved.write(machine())});
    CHECK(outcome.code == 0);
    CHECK(outcome.err.empty());
    CHECK(outcome.out ==
          "devices\n"
          "* first:0     Test device\n"
          "              gpu, 8.0 GiB, Vulkan 1.3.230, driver 9.1\n"
          "  first:1     Test device\n"
          "              cpu, 1.0 GiB\n"
          "* the device that `auto` picks\n"
          "not used\n"
          "  third     the driver is not installed. Fix: install the driver\n"
          "  not opened: second (the selector does not name them)\n"
          "wye 0.1.0, Linux  x86_64\n");
}

TEST_CASE("there is a full stop between the reason against a device and its remedy") {
    const Saved saved;
    for (const char* reason : {"the test dispatch gave 0x00 as element 0", "Its memory is full."}) {
        json report = machine();
        json& device = report["devices"][1];
        device["usable"] = false;
        device["reason"] = reason;
        device["fix"] = "Fix: update the driver";
        const std::string path = saved.write(report);
        const std::string ended =
            reason + std::string(std::string(reason).ends_with('.') ? "" : ".");
        const std::string whole = ended + " Fix: update the driver\n";
        CHECK(has(info({"--from", path}).out, "unusable: " + whole));
        CHECK(has(info({"--from", path, "-v"}).out, "no: " + whole));
    }
    CHECK(has(info({"--from", saved.write(machine()), "--html"}).out,
              "the driver is not installed. Fix: install the driver"));
}

TEST_CASE("one physical device is one entry, with the others that are the same below it") {
    const Saved saved;
    json report = machine();
    const auto alias = [](const char* selector, const char* evidence, const char* confidence) {
        return json{{"selector", selector}, {"evidence", evidence}, {"confidence", confidence}};
    };
    json other = report["devices"][0];
    other["selector"] = "fourth:0";
    other["name"] = "Test device by another API";
    other["facts"] = {{"device_kind", "gpu"}, {"api_version", "OpenCL 3.0 CUDA"}};
    other["aliases"] =
        json::array({alias("first:0", "both have the PCI address 0000:01:00.0", "certain")});
    report["devices"][0]["aliases"] =
        json::array({alias("fourth:0", "both have the PCI address 0000:01:00.0", "certain")});
    report["devices"].push_back(other);
    const std::string id = "fedcba9876543210";
    for (const std::size_t i : {0, 2}) report["devices"][i]["physical_id"] = id;
    report["physical_devices"] = {{{"id", id},
                                   {"identifier", "PCI 0000:01:00.0"},
                                   {"name", "Test device"},
                                   {"devices", {"first:0", "fourth:0"}}}};
    const std::string path = saved.write(report);
    CHECK(has(info({"--from", path}).out,
              "devices\n"
              "* first:0     Test device\n"
              "              gpu, 8.0 GiB, Vulkan 1.3.230, driver 9.1, @fedcba9876543210\n"
              "  + fourth:0  Test device by another API\n"
              "              gpu, OpenCL 3.0\n"
              "              the same device, certain (both have the PCI address "
              "0000:01:00.0)\n"
              "  first:1     Test device\n"));
    // The printed id is a selector. It selects the physical device in all APIs.
    CHECK(info({"--from", path, "-l", "-d", "@" + id}).out ==
          "first:0\tTest device\nfourth:0\tTest device by another API\n");
    const Outcome details = info({"--from", path, "-v"});
    CHECK(has(details.out, "physical id                fedcba9876543210\n"));
    CHECK(has(details.out, "fourth:0 (both have the PCI address 0000:01:00.0, certain)"));
}

TEST_CASE("remembered facts, the age of memory, compilers and warnings are on the screen") {
    const Saved saved;
    json report = machine();
    json& device = report["devices"][0];
    device["facts"]["free_memory_bytes"] = 4294967296;
    device["free_memory_age_ms"] = 185000;
    report["plugins"][0]["probe"] = {{"end", "good"},
                                     {"slot", nullptr},
                                     {"remembered", true},
                                     {"times", 1},
                                     {"made_unix_ns", 1795536974605000000},
                                     {"took_ns", 2707053705},
                                     {"listed_ns", 310270905},
                                     {"dispatch_ns", 1904270905}};
    report["plugins"][2]["compiler"] = "NVRTC 13.0 /usr/lib/libnvrtc.so.13 1 2";
    report["plugins"][2]["compiler_only"] = true;
    const auto record = [](const char* severity, const char* message) {
        return json{
            {"stage", "probed"},     {"severity", severity},     {"code", "PLUGIN_FAULT"},
            {"message", message},    {"loader_text", "loader!"}, {"fix", "Fix: tell its author"},
            {"path", "/p/first.so"}, {"plugin", "first"},        {"missing_library", "libx.so.1"}};
    };
    report["records"] =
        json::array({record("warning", "it changes the locale"), record("note", "a note")});
    const std::string path = saved.write(report);
    const std::string out = info({"--from", path}).out;
    CHECK(has(out, "gpu, 4.0 GiB of 8.0 GiB free 3 min ago, Vulkan"));
    CHECK(has(out, "\nremembered\n  first: as a probe found at 2026-11-24T16:16:14Z; "));
    CHECK(has(out, "the driver is not installed (compiler only: NVRTC 13.0). Fix: install"));
    CHECK(has(out,
              "warnings\n  first     it changes the locale. Fix: tell its author\n"
              "notes\n  1 note; `wye info -v` has it\n"));
    CHECK_FALSE(has(out, "a note"));
    const std::string details = info({"--from", path, "-v"}).out;
    CHECK(has(details, "compiler only              NVRTC 13.0 /usr/lib/libnvrtc.so.13\n"));
    CHECK(has(details,
              "good, remembered from 2026-11-24T16:16:14Z, took 2707 ms (devices listed after 310 "
              "ms, first dispatch 1904 ms)\n"));
    CHECK(has(details,
              "first  note\n"
              "  path                       /p/first.so\n"
              "  stage                      probed\n"
              "  code                       PLUGIN_FAULT\n"
              "  message                    a note\n"
              "  loader_text                loader!\n"
              "  missing_library            libx.so.1\n"
              "  fix                        Fix: tell its author\n"));
}

TEST_CASE("--strict holds for each view, after the view's own failure") {
    const Saved saved;
    json report = machine();
    const std::string path = saved.write(report);
    CHECK(info({"--from", path, "--strict", "--require", "f64"}).code == 5);
    CHECK(info({"--from", path, "--strict", "--require", "memory>=64GiB"}).code == 4);
    CHECK(info({"--from", path, "--strict", "doctor"}).code == 1);
    report["plugins"].erase(2);
    json warning = report["plugins"][1]["reason"];
    warning["severity"] = "warning";
    warning["message"] = "it changes the locale";
    report["records"] = json::array({warning});
    const std::string warned = saved.write(report, "warned.json");
    for (const std::vector<std::string>& view :
         std::vector<std::vector<std::string>>{{}, {"-l"}, {"--require", "f64"}}) {
        std::vector<std::string> words = {"--from", warned, "--strict"};
        words.insert(words.end(), view.begin(), view.end());
        const Outcome outcome = info(words);
        CHECK(outcome.code == 5);
        CHECK(has(outcome.err, "1 warning, the first: it changes the locale"));
    }
}

TEST_CASE("saved reports of real machines answer every verb") {
    const std::string program = std::string(WYE_PROGRAMS) + "/saxpy.wye";
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(WYE_SAVED_REPORTS)) {
        ++count;
        const std::string path = file.path().string();
        CAPTURE(path);
        const json report = json::parse(read_bytes(path));
        std::string list;
        for (const json& device : report["devices"])
            if (device["usable"])
                list += device["selector"].get<std::string>() + '\t' +
                        device["name"].get<std::string>() + '\n';
        CHECK(info({"--from", path, "-l"}).out == list);
        CHECK(json::parse(info({"--from", path, "--json"}).out) == report);
        CHECK(info({"diff", path, path}).code == 0);
        for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{
                 {}, {"-v"}, {"--html"}, {"--prop", "name"}, {"--explain", program}}) {
            std::vector<std::string> words = {"--from", path};
            words.insert(words.end(), verb.begin(), verb.end());
            const Outcome outcome = info(words);
            CHECK(outcome.code == 0);
            CHECK(outcome.err.empty());
            for (const json& device : report["devices"])
                CHECK(has(outcome.out,
                          device[verb.size() == 2 && verb[0] == "--prop" ? "name" : "selector"]
                              .get<std::string>()));
        }
        CHECK(info({"--from", path, "env"}).code == 0);
        // The id of a physical device selects all its entries, and no other.
        for (const json& physical : report["physical_devices"]) {
            const json named = json::parse(
                info({"--from", path, "--json", "-d", "@" + physical["id"].get<std::string>()})
                    .out);
            std::vector<std::string> selectors;
            for (const json& device : named["devices"])
                selectors.push_back(device["selector"].get<std::string>());
            auto expected = physical["devices"].get<std::vector<std::string>>();
            std::ranges::sort(selectors);
            std::ranges::sort(expected);
            CHECK(selectors == expected);
        }
    }
    CHECK(count >= 1);
    // This report has one GPU, which three APIs list.
    const std::string gpu = std::string(WYE_SAVED_REPORTS) + "/h200.json";
    CHECK(has(info({"--from", gpu}).out,
              "* cuda:0      NVIDIA H200\n"
              "              gpu, 132 compute units, 139 GiB, sm_90, CUDA 13.0, driver 580.159.04, "
              "@c5cb5cc16c7d7cc7\n"
              "  + vulkan:0  NVIDIA H200\n"));
    CHECK(info({"--from", gpu, "--require", "kind=gpu,memory>=100GiB"}).out ==
          "cuda:0\tNVIDIA H200\nopencl:0\tNVIDIA H200\nvulkan:0\tNVIDIA H200\n");
    CHECK(info({"--from", gpu, "doctor"}).out == "nothing to change\n");
}

TEST_CASE("the screen wraps to the width, and has colours only where they are wanted") {
    const Saved saved;
    json report = machine();
    report["devices"][0]["name"] = "a name of many words that does not fit into forty columns";
    const std::string path = saved.write(report);
    for (const std::string& line : lines_of(info({"--from", path}, {{"COLUMNS", "40"}}).out))
        CHECK(line.size() <= 40);
    const auto coloured = [&](const std::vector<std::string>& words, const Variables& variables) {
        std::vector<std::string> all = {"--from", path};
        all.insert(all.end(), words.begin(), words.end());
        return has(info(all, variables).out, "\x1b[");
    };
    CHECK_FALSE(coloured({}, {}));
    CHECK(coloured({"--color", "always"}, {}));
    CHECK(coloured({"--color", "always"}, {{"NO_COLOR", "1"}}));
    CHECK(coloured({}, {{"CLICOLOR_FORCE", "1"}}));
    CHECK_FALSE(coloured({}, {{"CLICOLOR_FORCE", "0"}}));
    CHECK_FALSE(coloured({}, {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}));
    CHECK_FALSE(coloured({"--color", "never"}, {{"CLICOLOR_FORCE", "1"}}));
    CHECK_FALSE(coloured({"--json"}, {{"CLICOLOR_FORCE", "1"}}));
    CHECK(info({"--from", path, "--color", "often"}).code == 2);
}

TEST_CASE("a selector narrows a saved report, and an entry that names nothing is an error") {
    const Saved saved;
    json report = machine();
    report["order"] = {"first:1", "first:0"};
    const std::string path = saved.write(report);
    const auto picks = [&](const std::string& selector) {
        const Outcome outcome = info({"--from", path, "--json", "-d", selector});
        return outcome.code == 0 ? json::parse(outcome.out)["picks"].get<std::string>() : "";
    };
    CHECK(picks("first") == "first:0");
    CHECK(picks("first:0") == "first:0");
    CHECK(picks("first:0, first:1") == "first:0");
    CHECK(picks("auto") == "first:1");
    CHECK(picks("*,-first:1") == "first:0");
    CHECK(info({"--from", path, "-l", "-d", "first:1"}).out == "first:1\tTest device\n");
    const Outcome wrong = info({"--from", path, "-d", "first:0,firts:1"});
    CHECK(wrong.code == 3);
    CHECK(has(wrong.err, "`firts:1` names no device"));
    CHECK(has(wrong.err, "did you mean `first:1`"));
    CHECK(picks("first[f64]") == "first:0");
    CHECK(picks("@0123456789abcdef") == "first:1");
    CHECK(info({"--from", path, "-d", "first[f64"}).code == 2);
}

TEST_CASE("a list notes on standard error that a plugin failed") {
    const Saved saved;
    const Outcome outcome = info({"-l", "--from", saved.write(machine())});
    CHECK(outcome.code == 0);
    CHECK(outcome.out == "first:0\tTest device\nfirst:1\tTest device\n");
    CHECK(outcome.err == "wye: note: 1 plugin failed: `third`; `wye info` says why\n");
    CHECK(info({"--strict", "--from", saved.write(machine())}).code == 5);
}

TEST_CASE("a property is one value per device") {
    const Saved saved;
    const std::string path = saved.write(machine());
    CHECK(info({"--from", path, "--prop", "memory_bytes"}).out == "8589934592\n1073741824\n");
    CHECK(info({"--from", path, "--prop", "kind"}).out == "gpu\ncpu\n");
    CHECK(info({"--from", path, "--prop", "f64"}).out == "yes\nunknown\n");
    CHECK(info({"--from", path, "--prop", "subgroup_sizes"}).out == "16 32\nunknown\n");
    const Outcome wrong = info({"--from", path, "--prop", "memory_byte"});
    CHECK(wrong.code == 2);
    CHECK(wrong.out.empty());
    CHECK(has(wrong.err, "`memory_bytes`"));
}

TEST_CASE("--require lists the devices that satisfy it, or ends with 4 and each reason") {
    const Saved saved;
    const std::string path = saved.write(machine());
    const std::map<std::string, std::string> rows = {{"f64", "0"},
                                                     {"!f64", "1"},
                                                     {"kind=cpu", "1"},
                                                     {"kind!=cpu", "0"},
                                                     {"memory>=8GiB", "0"},
                                                     {"memory>8GiB", ""},
                                                     {"memory<8GiB", "1"},
                                                     {"memory<=8GiB", "01"},
                                                     {"memory=1048576KiB", "1"},
                                                     {"subgroup_sizes=32", "0"},
                                                     {"kind=gpu, f64 , memory >= 1.5GiB", "0"},
                                                     {"max_workgroup_size>1x1x1", ""}};
    for (const auto& row : rows) {
        const auto& [expression, fitting] = row;
        CAPTURE(row.first);
        const Outcome outcome = info({"--from", path, "--require", expression});
        CHECK(outcome.code == (fitting.empty() ? 4 : 0));
        std::string expected;
        for (const char index : fitting)
            expected += std::string("first:") + index + "\tTest device\n";
        CHECK(outcome.out == expected);
    }
    const Outcome unmet = info({"--from", path, "--require", "memory>=64GiB"});
    CHECK(has(unmet.err, "first:0: needs memory_bytes>=64GiB, has 8589934592"));
    CHECK(has(unmet.err, "Fix: "));
    for (const char* wrong : {",", "f64,", "memory>=", "memory>=8XiB", "!kind=gpu", ">=3",
                              "memori>=3", "kind<gpu", "f64!3", "f64],*[!f64"}) {
        CAPTURE(std::string(wrong));
        CHECK(info({"--from", path, "--require", wrong}).code == 2);
    }
}

TEST_CASE("--explain gives each device's reasons, and what would be picked") {
    const Saved saved;
    json report = machine();
    json& first = report["devices"][0];
    first["facts"].merge_patch({{"f64", false},
                                {"ieee_f64", true},
                                {"max_workgroup_size", {1024, 1024, 64}},
                                {"max_workgroup_invocations", 1024}});
    json& second = report["devices"][1];
    second["facts"] = first["facts"];
    second["facts"]["f64"] = true;
    json third = second;
    third["selector"] = "first:2";
    report["devices"].push_back(third);
    report["order"] = {"first:0", "first:2", "first:1"};
    const std::string program =
        saved.folder.write("p.wye",
                           "wye 1; program p; workgroup 64; param x: f64; output r: f64[64];\n"
                           "main { r[local_index] = x; }\n");
    const auto explain = [&] {
        return info({"--explain", program, "--from", saved.write(report)});
    };
    Outcome outcome = explain();
    CAPTURE(outcome.out);
    CHECK(outcome.code == 0);
    const std::vector<std::string> lines = lines_of(outcome.out);
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].starts_with("- first:0   needs f64 yes, has no ("));
    CHECK(lines[1].starts_with("+ first:1   fits"));
    CHECK(lines[2].starts_with("+ first:2   fits"));
    CHECK(lines[3] == "picked: first:2");
    for (json& device : report["devices"]) device["facts"]["max_workgroup_invocations"] = 32;
    outcome = explain();
    CHECK(outcome.code == 3);
    CHECK(has(outcome.out, "needs max_workgroup_invocations 64, has 32"));
    CHECK(has(outcome.out, "no device fits\n"));
    CHECK(info({"--explain", saved.folder.path("absent"), "--from", saved.write(report)}).code ==
          2);
}

TEST_CASE(
    "--explain says which native variant would run on each device, and why others would not") {
    const Saved saved;
    json report = machine();
    report["devices"][0]["formats"] = {"opencl-c"};
    report["devices"][1]["formats"] = {"org.example.own"};
    report["devices"][0]["facts"]["memory_bytes"] = 1U << 30U;
    for (json& device : report["devices"]) device["facts"]["max_workgroup_invocations"] = 1024;
    for (json& device : report["devices"]) device["facts"]["max_workgroup_size"] = {1024, 1024, 64};
    const auto program = [&](const std::string& variants) {
        return saved.folder.write("v.wye", "wye 1; program v; workgroup 64; output r: u32[64];\n" +
                                               variants + "main { r[local_index] = 1u; }\n");
    };
    const auto explain = [&](const std::string& variants) {
        return info({"--explain", program(variants), "--from", saved.write(report)});
    };
    const auto variant = [](const char* format, const char* entry, const char* filter) {
        return std::string("variant \"") + format + "\" entry \"" + entry + "\" " +
               (*filter == 0 ? "" : std::string("for \"") + filter + "\" ") +
               "text \"\"\"x\"\"\";\n";
    };
    Outcome outcome =
        explain(variant("opencl-c", "large", "first[memory>=4GiB]") +
                variant("opencl-c", "none", "-first") + variant("opencl-c", "any", ""));
    CAPTURE(outcome.out);
    CHECK(outcome.code == 0);
    std::vector<std::string> lines = lines_of(outcome.out);
    REQUIRE(lines.size() == 10);
    CHECK(lines[0].starts_with("+ first:0   fits"));
    CHECK(lines[1].ends_with("with --variants: variant 2, `any` (opencl-c) runs"));
    CHECK(
        lines[2].ends_with("not variant 0, `large` (opencl-c): its filter `first[memory>=4GiB]` "
                           "needs memory_bytes>=4GiB, has 1073741824"));
    CHECK(lines[3].ends_with(
        "not variant 1, `none` (opencl-c): its filter `-first` leaves the device out"));
    CHECK(lines[4].starts_with("- first:1   runs native variants only"));
    CHECK(lines[5].ends_with("with --variants: no variant matches"));
    CHECK(
        lines[8].ends_with("not variant 2, `any` (opencl-c): its format is not among those of the "
                           "device (org.example.own)"));
    CHECK(lines[9] == "picked: first:0");
    // A device that accepts only its own format can run the program's variant in that format.
    outcome = explain(variant("org.example.own", "own", ""));
    lines = lines_of(outcome.out);
    REQUIRE(lines.size() == 6);
    CHECK(lines[1].ends_with("with --variants: no variant matches, the portable body runs"));
    CHECK(lines[3].starts_with("+ first:1   fits only if variants are allowed"));
    CHECK(lines[4].ends_with("with --variants: variant 0, `own` (org.example.own) runs"));
    // If a filter is not a selector, the dispatch fails.
    outcome = explain(variant("opencl-c", "wrong", "first[memori>=4]"));
    CHECK(has(outcome.out,
              "a dispatch that allows variants fails: variant `wrong` of program `v` "
              "has a device filter that is no selector"));
}

TEST_CASE("details have each fact with its source, or why it is not known if a device knows it") {
    const Saved saved;
    json report = machine();
    report["devices"][0]["fact_sources"] = {{"driver", "CL_DRIVER_VERSION"}};
    report["devices"][0]["facts"]["uuid"] = nullptr;
    report["devices"][0]["fact_reasons"] = {{"uuid", "unknown"}, {"driver", nullptr}};
    report["devices"][1]["facts"]["uuid"] = "x";
    report["devices"][1]["facts"]["max_workgroup_size"] = {64, 64, 64};
    report["devices"][0]["facts"]["max_buffers"] = nullptr;
    report["devices"][1]["facts"]["luid"] = nullptr;
    const Outcome outcome = info({"-v", "--from", saved.write(report)});
    CHECK(outcome.code == 0);
    CHECK_FALSE(has(outcome.out, "luid"));
    CHECK_FALSE(has(outcome.out, "max_buffers"));
    CHECK(has(outcome.out, "\n  2 facts that no device here reports are left out; "));
    const auto shows = [&](const std::string& name, const std::string& value) {
        return std::ranges::any_of(lines_of(outcome.out), [&](const std::string& line) {
            return line.starts_with("  " + name + " ") && has(line, value);
        });
    };
    CHECK(shows("driver", "9.1  [CL_DRIVER_VERSION]"));
    CHECK(shows("memory_bytes", "8589934592 (8.0 GiB)"));
    CHECK(shows("unknown", "not reported by the driver; counts as 1: max_workgroup_size"));
    CHECK(shows("unknown", "the plugin is older than this fact: uuid"));
    CHECK(shows("message", "the driver is not installed"));
}

TEST_CASE("a saved report that is wrong is refused with its place") {
    const TempFolder folder;
    const auto refused = [&](const std::string& bytes, const std::string& place) {
        const Outcome outcome = info({"--from", folder.write("r", bytes)});
        CAPTURE(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(outcome.out.empty());
        CHECK(has(outcome.err, folder.path("r") + place));
        CHECK(has(outcome.err, "Fix: "));
    };
    refused("", ":1:");
    refused("{\n \"schema_version\": 1,\n  oops}", ":3:3: the text is not JSON");
    refused("{\"schema_version\": \"1\"}", ":1:");
    refused("{\n\"schema_version\": 1,\n\"host\": {\"version\":\n 7}}", ":4:");
    refused(machine().dump().replace(0, 1, "{\"devices\": 3,"), ":1:");
    refused("{\"x\": " + std::string(100000, '['), ":1:38: brackets nest");
    json report = machine();
    report["devices"][1]["selector"] = 5;
    refused(report.dump(), ":1:");
    CHECK(has(info({"--from", folder.write("r", report.dump())}).err, "`devices[1].selector`"));
    report = machine();
    report.erase("plugins");
    CHECK(has(info({"--from", folder.write("r", report.dump())}).err, "has no member `plugins`"));
    report = machine();
    report["schema_version"] = 2;
    CHECK(has(info({"--from", folder.write("r", report.dump())}).err, "schema version 2"));
    CHECK(info({"--from", folder.path("absent")}).code == 2);
    CHECK(info({"--from", "/dev/zero"}).code == 2);
    CHECK(info({"--from", "/"}).code == 2);
}

TEST_CASE("two views at once are refused by name, but for a list of properties") {
    const Saved saved;
    const std::string path = saved.write(machine());
    struct Row {
        std::vector<std::string> words;
        const char* part;
    };
    const Row rows[] = {
        {{"--json", "--html"}, "`--json` and `--html`"},
        {{"--html", "-l"}, "`--html` and `--list`"},
        {{"-v", "-l"}, "`--verbose` and `--list`"},
        {{"--prop", "name", "-v"}, "`--prop`"},
        {{"--require", "f64", "--json"}, "`--json`"},
        {{"doctor", "--json"}, "`doctor`"},
        {{"env", "--html"}, "`env` and `--html`"},
    };
    for (const Row& row : rows) {
        std::vector<std::string> words = {"--from", path};
        words.insert(words.begin(), row.words.begin(), row.words.end());
        const Outcome outcome = info(words);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(outcome.out.empty());
        CHECK(has(outcome.err, row.part));
    }
    CHECK(info({"--from", path, "-l", "--prop", "kind"}).out == "first:0\tgpu\nfirst:1\tcpu\n");
    CHECK(info({"--from", path, "-l", "--require", "kind=GPU"}).out == "first:0\tTest device\n");
}

TEST_CASE("a plugin without hardware is not applicable, and no fault") {
    const Saved saved;
    json report = machine();
    json& plugin = report["plugins"][2];
    plugin["id"] = "cuda";
    plugin["reason"]["code"] = "MISSING_DEPENDENCY";
    const auto outcomes = [&](const char* part, bool fault) {
        const std::string path = saved.write(report);
        const Outcome doctor = info({"doctor", "--from", path});
        const Outcome screen = info({"--strict", "--from", path});
        CAPTURE(doctor.out);
        CAPTURE(screen.out);
        CHECK(doctor.code == (fault ? 1 : 0));
        CHECK(screen.code == (fault ? 5 : 0));
        CHECK(has(doctor.out, part));
        CHECK(has(screen.out, "not applicable: cuda (this machine has no device of NVIDIA)") ==
              !fault);
        CHECK(info({"-l", "--from", path}).err.empty() == !fault);
    };
    outcomes("install the driver", true);  // older reports do not list the hardware
    report["hardware"] = {{"vendors", nullptr}};
    outcomes("install the driver", true);
    report["hardware"] = {{"vendors", {"0x1002", "0x10de"}}};
    outcomes("install the driver", true);
    report["hardware"] = {{"vendors", {"0x1002", "0x8086"}}};
    outcomes("not applicable: plugin `cuda`: this machine has no device of NVIDIA\n", false);
    report["plugins"][1]["reason"] = nullptr;
    plugin["reason"]["plugin"] = "cuda";
    report["records"] = json::array({plugin["reason"]});
    const std::string saved_path = saved.write(report);
    for (const char* view : {"-v", "--html"}) {
        const std::string out = info({view, "--from", saved_path}).out;
        CHECK(has(out, "not applicable: this machine has no device of NVIDIA"));
        CHECK_FALSE(has(out, "install the driver"));
        CHECK_FALSE(has(out, "refused"));
    }
    report["records"] = json::array();
    json alone = report;
    alone["devices"] = json::array();
    alone["filters"][0]["value"] = "cuda";
    const Outcome named = info({"--from", saved.write(alone, "alone")});
    CHECK(named.code == 3);
    CHECK(has(named.err, "this machine has no device of NVIDIA. Fix: name another device"));
    plugin["reason"]["code"] = "PLUGIN_FAULT";
    outcomes("install the driver", true);
    plugin["id"] = "third";
    plugin["reason"]["code"] = "MISSING_DEPENDENCY";
    outcomes("install the driver", true);
}

TEST_CASE("what a report brings reaches the terminal without its control characters") {
    const Saved saved;
    json report = machine();
    report["devices"][0]["name"] = "\x1b]0;owned\x07 \x7f \u202e \u009b31m end";
    report["plugins"][2]["id"] = "\x1b[2J";
    report["plugins"][2]["reason"]["message"] = "line\nbreak\r";
    const std::string path = saved.write(report);
    for (const std::vector<std::string>& view :
         std::vector<std::vector<std::string>>{{},
                                               {"-l"},
                                               {"-v"},
                                               {"--prop", "name"},
                                               {"doctor"},
                                               {"--html"},
                                               {"--require", "f64"}}) {
        std::vector<std::string> words = {"--from", path};
        words.insert(words.end(), view.begin(), view.end());
        const Outcome outcome = info(words);
        for (const std::string& text : {outcome.out, outcome.err}) {
            CHECK(text.find_first_of("\x1b\x07\x7f\r") == std::string::npos);
            CHECK_FALSE(has(text, "\u202e"));
            CHECK_FALSE(has(text, "\u009b"));
        }
        CHECK((has(outcome.out, "end") || !view.empty()));
    }
}

TEST_CASE("the live views agree with each other") {
    const Outcome document = info({"--json"});
    REQUIRE(document.code == 0);
    const json report = json::parse(document.out);
    const TempFolder folder;
    const std::string path = folder.write("live", document.out);
    CHECK(info({"--from", path}).out == info({"--from", path}).out);
    std::string selectors;
    for (const auto& device : report["devices"]) {
        selectors += device["selector"].get<std::string>() + "\n";
        CHECK(has(info({"--from", path}).out, device["selector"].get<std::string>()));
    }
    CHECK(info({"--prop", "selector"}).out == selectors);
    CHECK(report["picks"].is_string());
    // A run uses the device that `auto` picks.
    const Outcome chosen = info({"-l"}, {{"WYE_DEVICE", report["picks"].get<std::string>()}});
    CHECK(chosen.code == 0);
    CHECK(chosen.out.starts_with(report["picks"].get<std::string>() + "\t"));
    CHECK(lines_of(chosen.out).size() == 1);
    for (const std::vector<std::string>& view : std::vector<std::vector<std::string>>{
             {}, {"-l"}, {"--require", "f64"}, {"--explain", WYE_PROGRAMS "/saxpy.wye"}}) {
        check_complaint(info(view, {{"WYE_DEVICE", "warp:0"}}), 3,
                        "WYE_DEVICE names `warp:0`: there is no plugin `warp`");
    }
    CHECK(has(info({"-d", "gpu"}).err, "Fix: write `*[kind=gpu]`"));
    CHECK(has(info({"-d", "gpu", "--from", path}).err, "`*[kind=gpu]`"));
}

}  // namespace wye::test::info_test
