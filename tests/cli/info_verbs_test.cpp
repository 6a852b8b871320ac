// SPDX-License-Identifier: Apache-2.0
//
// `wye info diff`, `env` and `doctor`, and redacted reports.
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

namespace wye::test::info_verbs_test {

namespace {

// Puts the fake plugin `misbehaves` into a folder, with a manifest that also has the members of
// `more`.
void plugin_in(const TempFolder& folder, const std::string& name, const json& more) {
    std::filesystem::copy_file(WYE_MISBEHAVES, folder.path(name + "/misbehaves.so"));
    utsname machine{};
    REQUIRE(::uname(&machine) == 0);
    const json abi = {{"major", WYE_ABI_MAJOR},
                      {"draft", WYE_ABI_MINOR_DRAFT},
                      {"minor_needed", 0},
                      {"minor_built", WYE_ABI_MINOR}};
    json manifest = {{"schema", 1},        {"id", "misbehaves"},
                     {"abi", abi},         {"library", "misbehaves.so"},
                     {"version", "0.1.0"}, {"arch", machine.machine},
                     {"backend", "fake"}};
    manifest.update(more);
    (void)folder.write(name + "/misbehaves.wye.json", manifest.dump());
}

}  // namespace

TEST_CASE("diff says what differs between two machines, and exits as diff(1)") {
    const Saved saved;
    json after = machine();
    after["devices"][0]["facts"]["driver"] = "9.2";
    after["devices"].erase(1);
    after["plugins"][2]["state"] = "ready";
    const std::string first = saved.write(machine(), "a");
    const std::string second = saved.write(after, "b");
    const Outcome same = info({"diff", first, first});
    CHECK(same.code == 0);
    CHECK(same.out.empty());
    const Outcome differ = info({"diff", first, second});
    CHECK(differ.code == 1);
    CHECK(differ.out ==
          "~ devices first:0.facts.driver: 9.1 -> 9.2\n"
          "- devices first:1: Test device\n"
          "~ plugins third.state: failed -> ready\n");
    CHECK(info({"diff", first}).code == 2);
    CHECK(info({"diff", first, saved.folder.path("absent")}).code == 2);
}

TEST_CASE("env shows the variables in effect, and the nearest name of a misspelt one") {
    const TempFolder folder;
    const Outcome outcome = info({"env"}, {{"WYE_PLUGIN_PAHT", "/x"},
                                           {"VK_DRIVER_FILES", folder.path("none")},
                                           {"VK_LOADER_DEBUG", ""},
                                           {"OCL_ICD_VENDORS", folder.path("")},
                                           {"UNRELATED", "secret"}});
    CHECK(outcome.code == 0);
    CHECK(has(outcome.out,
              "WYE_PLUGIN_PAHT=/x\n    no effect: there is no such variable; did you "
              "mean WYE_PLUGIN_PATH?\n"));
    CHECK(has(outcome.out, "VK_DRIVER_FILES=" + folder.path("none")));
    CHECK(has(outcome.out, "note: this does not exist: " + folder.path("none")));
    CHECK(has(outcome.out, "VK_LOADER_DEBUG=\n"));
    CHECK(has(outcome.out, "OCL_ICD_VENDORS="));
    CHECK_FALSE(has(outcome.out, "UNRELATED"));
    CHECK_FALSE(has(outcome.out, "CUDA_DEVICE_ORDER"));
    CHECK(has(info({"env", "--all"}).out, "CUDA_DEVICE_ORDER  not set; "));
    // Drivers have more variables than `wye info env` lists. Another variable gets a note only if
    // its name is nearly equal to a listed name.
    const Outcome drivers =
        info({"env"}, {{"VK_ICD_FILENAME", "/x"}, {"CUDA_HOME", "/usr"}, {"VK_SDK_PATH", "/y"}});
    CHECK(has(drivers.out,
              "VK_ICD_FILENAME=/x\n"
              "    no effect: there is no such variable; did you mean VK_ICD_FILENAMES?\n"));
    CHECK_FALSE(has(drivers.out, "CUDA_HOME"));
    CHECK_FALSE(has(drivers.out, "VK_SDK_PATH"));
}

TEST_CASE("env enters no plugin") {
    const TempFolder folder;
    std::filesystem::copy_file(WYE_MISBEHAVES, folder.path("misbehaves.so"));
    const Outcome outcome = info({"env"}, {{"WYE_PLUGIN_PATH", folder.path("misbehaves.so")},
                                           {"WYE_MISBEHAVES", "abort@constructor"},
                                           {"WYE_PROBE", "off"}});
    CHECK(outcome.code == 0);
    CHECK(has(outcome.out, "WYE_PLUGIN_PATH="));
}

TEST_CASE("env knows the variables of the manual page") {
    const std::string all = info({"env", "--all"}).out;
    std::size_t count = 0;
    for (const std::string& line : lines_of(read_bytes(WYE_MAN_PAGE)))
        if (line.starts_with(".B WYE_")) {
            CAPTURE(line);
            CHECK(has("\n" + all, "\n" + line.substr(3)));
            ++count;
        }
    CHECK(count >= 8);
}

TEST_CASE("redact leaves nothing of the owner, and the rest as it was") {
    const Saved saved;
    json report = machine();
    report["plugins"][2]["path"] = "/home/ann/lib/wye.so";
    report["plugins"][2]["reason"]["message"] =
        "user bob on box: /srv/bob/x, GPU-00112233-4455-6677-8899-aabbccddeeff, bobsleigh";
    report["environment"] = {{{"name", "LD_LIBRARY_PATH"},
                              {"value", "/data/bob/lib:/home/ann"},
                              {"owner", "system"},
                              {"in_effect", true},
                              {"about", nullptr},
                              {"note", nullptr},
                              {"missing", json::array()}}};
    const Outcome outcome = info({"--redact", "--json", "--from", saved.write(report)},
                                 {{"HOME", "/data/bob"}, {"USER", "bob"}});
    REQUIRE(outcome.code == 0);
    const json out = json::parse(outcome.out);
    for (const char* secret : {"ann", "/data/bob", "user bob", "/srv/bob", "00112233"})
        CHECK_FALSE(has(outcome.out, secret));
    CHECK(out["plugins"][2]["path"] == "/home/USER/lib/wye.so");
    CHECK(has(out["plugins"][2]["reason"]["message"], "/srv/USER/x, GPU-UUID, bobsleigh"));
    CHECK(out["environment"][0]["value"] == "~/lib:/home/USER");
    CHECK(out["devices"][0]["facts"]["uuid"] == "redacted");
    CHECK(out["devices"][1] == report["devices"][1]);
    // The reason why a fact is unknown is kept, and a redacted value does not count as a change.
    report["devices"][1]["facts"]["uuid"] = nullptr;
    report["devices"][1]["fact_reasons"] = {{"uuid", "unreported"}, {"luid", "unreported"}};
    const std::string whole = saved.write(report, "whole");
    const Outcome again = info({"--redact", "--json", "--from", whole});
    CHECK(json::parse(again.out)["devices"][1] == report["devices"][1]);
    report["plugins"] = json::parse(again.out)["plugins"];
    report["environment"] = json::parse(again.out)["environment"];
    CHECK(info({"diff", saved.write(report, "unredacted"), saved.folder.write("r", again.out)})
              .code == 0);
}

TEST_CASE("a library that a manifest needs is not taken from a relative folder") {
    namespace fs = std::filesystem;
    const TempFolder folder;
    fs::create_directory(folder.path("plugins"));
    fs::create_directory(folder.path("libraries"));
    fs::copy_file(WYE_MISBEHAVES, folder.path("libraries/libwye_strange.so"));
    plugin_in(folder, "plugins",
              {{"needs", {{{"soname", "libwye_strange.so"}}}},
               {"watches", {{{"variable", "STRANGE_*"}}}}});
    const auto report = [&](const std::string& libraries) {
        const Outcome outcome = run_command({WYE_TOOL, "info", "--json", "-d", "misbehaves"},
                                            {{"WYE_PLUGIN_PATH", folder.path("plugins")},
                                             {"WYE_CACHE_DIR", folder.path("cache")},
                                             {"LD_LIBRARY_PATH", libraries}});
        return json::parse(outcome.out);
    };
    const std::string there = folder.path("libraries");
    CHECK(report(there)["plugins"][1]["state"] == "ready");
    const std::string relative = fs::relative(there).string();
    const json record = report(relative)["plugins"][1]["reason"];
    REQUIRE(record.is_object());
    CHECK(record["code"] == "NOT_TRUSTED");
    CHECK(record["stage"] == "needs");
    CHECK(has(record["message"], "`" + relative + "/libwye_strange.so`"));
    CHECK(has(record["fix"], "LD_LIBRARY_PATH"));
    // A library that cannot be loaded is not called absent. The advice names the variables that may
    // hide an installed one.
    (void)folder.write("libwye_strange.so", "");
    const Variables hiding = {{"WYE_PLUGIN_PATH", folder.path("plugins")},
                              {"WYE_CACHE_DIR", folder.path("cache")},
                              {"LD_LIBRARY_PATH", folder.path("")},
                              {"STRANGE_FILES", ""},
                              {"STRANGE_DEBUG", "all"}};
    const std::string doctor = info({"doctor", "-d", "misbehaves"}, hiding).out;
    CAPTURE(doctor);
    CHECK(has(doctor, "`libwye_strange.so`, which cannot be loaded ["));
    CHECK(has(doctor, "file too short]"));
    CHECK(has(doctor, "Fix: correct or unset LD_LIBRARY_PATH, STRANGE_FILES, which may hide"));
}

TEST_CASE("a limit that is too low for the helper is named") {
    const TempFolder folder;
    std::filesystem::create_directory(folder.path("plugins"));
    plugin_in(folder, "plugins", json::object());
    const Outcome few = run_command({"/bin/sh", "-c", "ulimit -n 16; exec \"$0\" \"$@\"", WYE_TOOL,
                                     "info", "doctor", "-d", "misbehaves"},
                                    {{"WYE_PLUGIN_PATH", folder.path("plugins")},
                                     {"WYE_CACHE_DIR", folder.path("cache")},
                                     {"WYE_PROBE", "auto"}});
    CAPTURE(few.out);
    CHECK(few.code == 1);
    CHECK(has(few.out, "with RLIMIT_NOFILE at 16\n"));
    CHECK(has(few.out, "Fix: raise RLIMIT_NOFILE (`ulimit -n`), or"));
}

TEST_CASE("doctor ranks what to change, and says afterwards what helped") {
    const Saved saved;
    json before = machine();
    before["environment"] = {{{"name", "VK_DRIVER_FILES"},
                              {"value", "/x"},
                              {"owner", "vulkan"},
                              {"in_effect", true},
                              {"about", nullptr},
                              {"note", "gone"},
                              {"missing", {"/x"}}}};
    const std::string first = saved.write(before, "before");
    const Outcome ill = info({"doctor", "--from", first});
    CHECK(ill.code == 1);
    CHECK(ill.out ==
          "1.  variable `VK_DRIVER_FILES`: it names `/x`, which does not exist\n"
          "    Fix: unset VK_DRIVER_FILES, or correct its path\n"
          "    Check: wye info -l -d vulkan\n"
          "2.  plugin `third`: the driver is not installed\n"
          "    Fix: install the driver\n"
          "    Check: wye info -l -d third\n");
    const Outcome half =
        info({"doctor", "--from", saved.write(machine(), "now"), "--since", first});
    CHECK(half.code == 1);
    CHECK(half.out ==
          "helped: variable `VK_DRIVER_FILES`\n"
          "not yet: plugin `third`: the driver is not installed\n");
    json healthy = machine();
    healthy["plugins"][2]["state"] = "ready";
    const std::string last = saved.write(healthy, "healthy");
    CHECK(info({"doctor", "--from", last}).out == "nothing to change\n");
    CHECK(info({"doctor", "--from", last}).code == 0);
    CHECK(info({"doctor", "--from", last, "--since", first}).code == 0);
}

TEST_CASE("doctor names the selector or variable by which there is no device") {
    const auto doctor = [](const std::vector<std::string>& more, const Variables& variables) {
        std::vector<std::string> words = {"doctor"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = info(words, variables);
        CHECK(outcome.code == 1);
        return outcome.out;
    };
    CHECK(has(doctor({}, {{"WYE_DEVICE", "cpuu"}}),
              "variable `WYE_DEVICE`: it names `cpuu`: there is no plugin `cpuu`; there are "));
    CHECK(has(doctor({"-d", "cpuu"}, {}), "selector `cpuu`: there is no plugin `cpuu`"));
    const std::string all = doctor({}, {{"WYE_PLUGINS_DISABLE", "*"}});
    CHECK(has(all, "plugin `cpu`: WYE_PLUGINS_DISABLE names `cpu` by `*`\n"));
    CHECK(has(all, "Fix: take it out of WYE_PLUGINS_DISABLE\n"));
    CHECK(has(doctor({"-d", "cpu"}, {{"WYE_PLUGINS_DISABLE", "*"}}),
              "selector `cpu`: the plugin `cpu` is disabled: WYE_PLUGINS_DISABLE names `cpu`"));
    const TempFolder folder;
    CHECK(has(doctor({}, {{"WYE_TRACE", folder.path("no/trace")}}), "no trace can be written to"));
}

TEST_CASE("messages name a file or folder without a plugin once, and do not call it a plugin") {
    namespace fs = std::filesystem;
    const TempFolder folder;
    const Variables missing = {{"WYE_PLUGIN_PATH", folder.path("none")}};
    const std::string out = info({"doctor"}, missing).out;
    CHECK(out.find(folder.path("none")) == out.rfind(folder.path("none")));
    CHECK_FALSE(has(out, "plugin `" + folder.path("none")));
    CHECK(info({"-l"}, {{"WYE_PLUGIN_PATH", "rel"}}).err ==
          "wye: note: 1 path refused: `rel`; `wye info` says why\n");
    // A refused plugin is reported as refused, and not as absent.
    (void)folder.write("wye_acme.wye.json", "{}");
    fs::permissions(folder.path("wye_acme.wye.json"), fs::perms::all);
    const Outcome refused = info({"-d", "acme"}, {{"WYE_PLUGIN_PATH", folder.path("")}});
    CHECK(refused.code == 3);
    CHECK(has(refused.err, "the plugin `acme` is refused: "));
    CHECK(has(refused.err, "wye_acme.wye.json`"));
}

TEST_CASE("doctor names what is wrong with plugins that are used all the same") {
    const Saved saved;
    json report = machine();
    report["plugins"][2]["state"] = "ready";
    report["plugins"][2]["probe_state"] = "off";
    const json record = {{"stage", "probed"},      {"severity", "warning"},
                         {"code", "BAD_MANIFEST"}, {"message", "its manifest lies"},
                         {"loader_text", nullptr}, {"fix", "Fix: reinstall the plugin"},
                         {"path", "/home/p.so"},   {"plugin", "third"}};
    json note = record;
    note["severity"] = "note";
    json authors = record;
    authors["fix"] = "Fix: report this to the plugin's author";
    json own = authors;
    own["plugin"] = "first";
    report["plugins"][0]["vendor"] = "the Wye project";
    report["records"] = json::array({record, note, authors, own});
    CHECK(has(info({"--from", saved.write(report)}).out, "Fix: report this to the Wye project"));
    json doubt;
    doubt["devices"] = json::array({"first:0", "third:0"});
    doubt["reason"] = "one UUID, two PCI addresses";
    report["doubts"] = json::array({doubt});
    const Outcome found = info({"doctor", "--from", saved.write(report, "report")});
    CHECK(found.code == 1);
    CHECK(found.out ==
          "1.  plugin `third`: its manifest lies\n"
          "    Fix: reinstall the plugin\n"
          "    Check: wye info doctor\n"
          "2.  plugin `third`: it is opened without a probe, so that a fault in it ends the "
          "application\n"
          "    Fix: unset WYE_PROBE and install wye-probe beside libwye\n"
          "    Check: wye info doctor\n"
          "3.  devices `first:0` and `third:0`: they may be the same device: one UUID, two PCI "
          "addresses\n"
          "    Fix: update the drivers of both\n"
          "    Check: wye info -v\n");
}

}  // namespace wye::test::info_verbs_test
