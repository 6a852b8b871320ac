// SPDX-License-Identifier: Apache-2.0
//
// What the command shows about a plugin that crashes, hangs, ends its process or prints.
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "support/misbehaviour.hpp"
#include "wye/abi.h"

namespace wye::test::probe_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

void write_manifest(const TempFolder& folder, const std::string& id) {
    utsname machine{};
    REQUIRE(::uname(&machine) == 0);
    const Json manifest = {{"schema", 1},
                           {"id", id},
                           {"library", id + ".so"},
                           {"arch", machine.machine},
                           {"abi",
                            {{"major", WYE_ABI_MAJOR},
                             {"draft", WYE_ABI_MINOR_DRAFT},
                             {"minor_needed", 0},
                             {"minor_built", WYE_ABI_MINOR}}},
                           {"backend", "fake"},
                           {"version", "0.1.0"}};
    (void)folder.write("plugins/" + id + ".wye.json", manifest.dump());
}

// A folder with the fake plugin `misbehaves`, and a cache folder for this test alone.
class Place {
  public:
    Place() {
        fs::create_directory(folder_.path("plugins"));
        fs::copy_file(WYE_MISBEHAVES, folder_.path("plugins/misbehaves.so"));
        write_manifest(folder_, "misbehaves");
        (void)folder_.write("words", std::string(4096, 'x'));
    }

    [[nodiscard]] Outcome wye(std::vector<std::string> words, const std::string& how,
                              const std::string& mode = "auto") const {
        words.insert(words.begin(), WYE_TOOL);
        return run_command(words, {{"WYE_PLUGIN_PATH", folder_.path("plugins")},
                                   {"WYE_CACHE_DIR", folder_.path("cache")},
                                   {"WYE_PROBE", mode},
                                   {"WYE_MISBEHAVES", how}});
    }
    [[nodiscard]] Outcome run(const std::string& how, const std::string& mode = "auto",
                              std::vector<std::string> more = {}) const {
        std::vector<std::string> words = {
            "run",  std::string(WYE_PROGRAMS) + "/mix.wye", "-d",    "misbehaves",
            "--in", "words=" + folder_.path("words"),       "--out", "words=" + result()};
        words.insert(words.end(), more.begin(), more.end());
        return wye(words, how, mode);
    }
    [[nodiscard]] std::string result() const { return folder_.path("result"); }
    [[nodiscard]] std::string verdict_file() const {
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(folder_.path("cache"), none))
            if (entry.path().filename().string().starts_with("plugin-probe-")) return entry.path();
        return {};
    }

  private:
    TempFolder folder_;
};

// A folder with copies of the fake plugin, whose names say what each copy does. The copy `good`
// does nothing wrong.
class FaultyPlugins {
  public:
    FaultyPlugins() {
        fs::create_directory(folder_.path("plugins"));
        add("good");
        (void)folder_.write("words", std::string(4096, 'x'));
    }
    void add(const Misbehaviour& one) {
        members_.push_back(one);
        add(one.id());
    }
    [[nodiscard]] const std::vector<Misbehaviour>& members() const { return members_; }
    [[nodiscard]] Outcome wye(std::vector<std::string> words, int probe_ms) const {
        words.insert(words.begin(), WYE_TOOL);
        return run_command(words, {{"WYE_PLUGIN_PATH", folder_.path("plugins")},
                                   {"WYE_CACHE_DIR", ""},
                                   {"WYE_PROBE", "child"},
                                   {"WYE_PROBE_TIMEOUT_MS", std::to_string(probe_ms)},
                                   {"WYE_PROBE_MEMORY", std::to_string(kProbeMemory)}});
    }
    // Runs a program on the device.
    [[nodiscard]] Outcome run(const std::string& device, int probe_ms) const {
        return wye({"run", std::string(WYE_PROGRAMS) + "/mix.wye", "-d", device, "--in",
                    "words=" + folder_.path("words"), "--out", "words=" + folder_.path("result")},
                   probe_ms);
    }
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
        return folder_.write(name, text);
    }

  private:
    void add(const std::string& id) {
        fs::copy_file(WYE_MISBEHAVES, folder_.path("plugins/" + id + ".so"));
        write_manifest(folder_, id);
    }

    TempFolder folder_;
    std::vector<Misbehaviour> members_;
};

// The records about a plugin in a report.
std::vector<Json> records_of(const Json& report, const std::string& id) {
    std::vector<Json> out;
    for (const Json& record : report["records"])
        if (record["plugin"] == id && record["stage"] != "trust") out.push_back(record);
    return out;
}
Json plugin_of(const Json& report, const std::string& id) {
    for (const Json& plugin : report["plugins"])
        if (plugin["id"] == id) return plugin;
    return {};
}

void expect(const Json& report, const Misbehaviour& one) {
    CAPTURE(one.how());
    const bool refused = one.fault->effect == Fault::Effect::refused;
    const Json plugin = plugin_of(report, one.id());
    CHECK(plugin["state"] == (refused ? "failed" : "ready"));
    const std::vector<Json> records = records_of(report, one.id());
    if (one.fault->effect == Fault::Effect::none) {
        CHECK(records.empty());
        return;
    }
    REQUIRE(records.size() == 1);
    const Json& record = records[0];
    CAPTURE(record.dump());
    CHECK(record["code"] == one.fault->code);
    CHECK(record["stage"] == one.stage());
    CHECK(record["severity"] == (refused ? "refused" : "warning"));
    CHECK(one.is_told_by(record["message"]));
    if (refused) CHECK(plugin["reason"] == record);
    int devices = 0;
    for (const Json& device : report["devices"]) {
        if (device["plugin"] != one.id()) continue;
        ++devices;
        CHECK(device["usable"] == (one.fault->effect != Fault::Effect::unusable));
    }
    CHECK(devices == (refused ? 0 : 1));
}

// Adds each wanted fault in every `step`th of its places. The unit test of the probe tests all
// places.
template <typename Wanted>
void fill(FaultyPlugins& faulty, std::size_t step, Wanted&& wanted) {
    std::size_t turn = 0;
    for (const Fault& fault : kFaults) {
        ++turn;
        if (!wanted(fault)) continue;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        // A sanitizer reports a crash, and then ends the process itself.
        if (fault.name == std::string_view("crash")) continue;
#endif
        const std::vector<Misbehaviour> all = misbehaviours_of(fault);
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all.size() == 1 || (i + turn) % step == 0) faulty.add(all[i]);
    }
}

bool hangs(const Fault& fault) { return fault.code == std::string_view("PROBE_TIMEOUT"); }

}  // namespace

TEST_CASE("info names whatever a plugin does, and the others work") {
    FaultyPlugins faulty;
    fill(faulty, 3, [](const Fault& fault) { return !hangs(fault); });
    const Outcome outcome = faulty.wye({"info", "--json"}, 60000);
    CHECK(outcome.code == 0);
    const Json report = Json::parse(outcome.out, nullptr, false);
    REQUIRE(report.is_object());
    CHECK(report["devices"][0]["selector"] == "cpu:0");
    CHECK(plugin_of(report, "good")["state"] == "ready");
    CHECK(records_of(report, "good").empty());
    // The screen shows the first record, and -v shows all.
    const std::string saved = faulty.write("report", outcome.out);
    const Outcome screen = run_command({WYE_TOOL, "info", "--from", saved});
    CHECK(screen.code == 0);
    CHECK(contains(screen.out, faulty.members()[0].id()));
    CHECK(contains(screen.out, "`wye info -v`"));
    const Outcome page = run_command({WYE_TOOL, "info", "--from", saved, "-v"});
    CHECK(page.code == 0);
    for (const Misbehaviour& one : faulty.members()) {
        expect(report, one);
        if (one.fault->effect == Fault::Effect::refused) CHECK(contains(page.out, one.id()));
    }
}

TEST_CASE("info waits for a plugin that hangs, and then names it") {
    FaultyPlugins faulty;
    fill(faulty, 3, hangs);
    REQUIRE(faulty.members().size() == 3);
    Json report;
    // A plugin that is only slow, since the machine is busy, gets more time.
    for (int ms = 1000; ms < 60000; ms *= 2) {
        report = Json::parse(faulty.wye({"info", "--json"}, ms).out, nullptr, false);
        REQUIRE(report.is_object());
        const auto is_late = [&](const Misbehaviour& one) {
            return !one.is_told_by(records_of(report, one.id()).at(0)["message"]);
        };
        if (std::ranges::none_of(faulty.members(), is_late) && records_of(report, "good").empty())
            break;
    }
    for (const Misbehaviour& one : faulty.members()) expect(report, one);
    CHECK(plugin_of(report, "good")["state"] == "ready");
}

TEST_CASE("programs run beside plugins that end their process") {
    FaultyPlugins faulty;
    fill(faulty, 9, [](const Fault& fault) {
        return fault.effect == Fault::Effect::refused && !hangs(fault);
    });
    const Outcome automatic = faulty.run("auto", 60000);
    CAPTURE(automatic.err);
    CHECK(automatic.code == 0);
    CHECK(faulty.run("good", 60000).code == 0);
    const Misbehaviour& first = faulty.members()[0];
    const Outcome refused = faulty.run(first.id(), 60000);
    CHECK(refused.code == 3);
    CHECK(first.is_told_by(refused.err));
    CHECK(faulty.wye({"info", "--strict"}, 60000).code == 5);
}

TEST_CASE("run refuses a plugin that the probe found harmful, and leaves no file") {
    const Place place;
    for (const char* how : {"abort@init", "abort@init", "none"}) {
        const Outcome outcome = place.run(how);
        CHECK(outcome.code == 3);
        CHECK(contains(outcome.err, "misbehaves"));
        CHECK(contains(outcome.err, "crashed (SIGABRT) in `init`"));
        CHECK(outcome.out.empty());
        CHECK_FALSE(fs::exists(place.result()));
    }
    // The user's decision counts more than the probe's.
    const Outcome list = place.wye({"plugins"}, "none");
    CHECK(list.code == 0);
    CHECK(contains(list.out, "crashed, quarantined"));
    CHECK(contains(list.out, "SIGABRT in `init`, 2 time(s)"));
    CHECK(place.wye({"plugins", "forget", "misbehaves"}, "none").code == 0);
    CHECK(contains(place.wye({"plugins"}, "none").out, "not probed"));
    CHECK(place.run("none").code == 0);
    CHECK(contains(place.wye({"plugins"}, "none").out, "good"));
    CHECK(place.wye({"plugins", "trust", "misbehaves"}, "none").code == 0);
    CHECK(contains(place.wye({"plugins"}, "none").out, "trusted"));
    CHECK(place.run("none", "child").code == 0);
    CHECK(place.wye({"plugins", "trust", "nobody"}, "none").code == 2);
    CHECK(place.wye({"plugins", "trust"}, "none").code == 2);
}

TEST_CASE("the user's trust counts in every verb") {
    const Place place;
    const auto info = [&](const char* how) {
        const Outcome outcome = place.wye({"info", "--json"}, how);
        CHECK(outcome.code == 0);
        return Json::parse(outcome.out, nullptr, false);
    };
    const auto plugin_in = [](const Json& report) {
        for (const Json& plugin : report["plugins"])
            if (plugin["id"] == "misbehaves") return plugin;
        return Json();
    };
    // The probe has listed the devices before the dispatch crashes.
    for (int i = 0; i < 2; ++i) CHECK(plugin_in(info("abort@dispatch"))["state"] == "failed");
    CHECK(place.run("none").code == 3);  // quarantined
    REQUIRE(place.wye({"plugins", "trust", "misbehaves"}, "none").code == 0);
    Json report = info("none");
    CHECK(plugin_in(report)["state"] == "ready");
    CHECK(report["devices"].size() == 2);
    int warnings = 0;
    for (const Json& record : report["records"])
        if (record["code"] == "PROBE_CRASHED") {
            ++warnings;
            CHECK(record["severity"] == "warning");
            CHECK(contains(record["fix"], "wye plugins forget misbehaves"));
        }
    CHECK(warnings == 1);
    CHECK(place.run("none").code == 0);
    CHECK(place.run("none", "child").code == 0);
    CHECK(contains(place.wye({"info", "-d", "misbehaves", "-l"}, "none").out, "misbehaves:0"));
    // Trust also overrides a probe that found wrong bytes.
    REQUIRE(place.wye({"plugins", "forget", "misbehaves"}, "none").code == 0);
    CHECK_FALSE(info("wrong_bytes@dispatch")["devices"][1]["usable"]);
    REQUIRE(place.wye({"plugins", "trust", "misbehaves"}, "none").code == 0);
    CHECK(info("wrong_bytes@dispatch")["devices"][1]["usable"]);
    CHECK(place.run("none").code == 0);
    // If the devices are not known, `info` does not open the plugin even if it is trusted, and says
    // what trust means.
    REQUIRE(place.wye({"plugins", "forget", "misbehaves"}, "none").code == 0);
    REQUIRE(place.wye({"plugins", "trust", "misbehaves"}, "none").code == 0);
    const Json plugin = plugin_in(info("abort@init"));
    CHECK(plugin["state"] == "failed");
    CHECK(plugin["reason"]["code"] == "PROBE_CRASHED");
    CHECK(contains(plugin["reason"]["fix"], "the plugin is trusted"));
    CHECK(place.run("none").code == 0);
}

TEST_CASE("a plugin that ends the process after a good verdict makes it fail by name") {
    for (const char* how : {"exit@init", "quick_exit@open", "exit@build", "exit@dispatch",
                            "quick_exit@dispatch", "exit@wait", "quick_exit@wait"}) {
        CAPTURE(how);
        const Place place;
        REQUIRE(place.run("none").code == 0);  // gives a good verdict, which is kept
        fs::remove(place.result());
        const Outcome outcome = place.run(how);
        CHECK(outcome.code == 1);
        CHECK(contains(outcome.err, "`misbehaves`"));
        CHECK(contains(outcome.err, "the process was ended"));
        CHECK_FALSE(fs::exists(place.result()));
    }
}

TEST_CASE("what a plugin prints is not in the output") {
    const Place place;
    for (const char* how : {"prints@constructor", "prints@init", "prints@dispatch"}) {
        const Outcome outcome = place.run(how, "off", {"--json"});
        CHECK(outcome.code == 0);
        CHECK(Json::parse(outcome.out, nullptr, false).is_object());
        CHECK(contains(outcome.err, "the plugin prints this"));
        CHECK(Json::parse(place.wye({"info", "--json"}, how).out, nullptr, false).is_object());
    }
    // An output may also go to /dev/stdout.
    const Outcome named =
        place.wye({"run", std::string(WYE_PROGRAMS) + "/mix.wye", "-d", "misbehaves", "--in",
                   "words=/dev/null", "--out", "words=/dev/stdout", "-q"},
                  "prints@init", "off");
    CHECK_FALSE(contains(named.out, "the plugin prints this"));
    const std::vector<std::vector<std::string>> verbs = {
        {"bench", "--device", "misbehaves", "--quick", "one-command"},
        {"fuzz", "--devices", "misbehaves", "--count", "2", "--seed", "1"},
        {"quirks", "--audit", "--devices", "misbehaves", "--json"},
    };
    for (const std::vector<std::string>& verb : verbs) {
        const Outcome outcome = place.wye(verb, "prints@init", "off");
        CAPTURE(verb[0]);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 0);
        CHECK_FALSE(contains(outcome.out, "the plugin prints this"));
        CHECK(contains(outcome.err, "the plugin prints this"));
    }
}

TEST_CASE("info from remembered verdicts enters no plugin") {
    const Place place;
    const Outcome first = place.wye({"info", "--json"}, "none");
    REQUIRE(first.code == 0);
    const Outcome second = place.wye({"info", "--json"}, "abort@constructor");
    REQUIRE(second.code == 0);
    Json a = Json::parse(first.out);
    Json b = Json::parse(second.out);
    CHECK(a["devices"].size() == 2);
    for (Json* report : {&a, &b})  // the free memory changes all the time
        for (Json& device : (*report)["devices"]) {
            device["facts"].erase("free_memory_bytes");
            device.erase("free_memory_age_ms");
        }
    CHECK(a["devices"] == b["devices"]);
    CHECK_FALSE(a["plugins"][1]["probe"]["remembered"]);
    CHECK(b["plugins"][1]["probe"]["remembered"]);
    // A report with a live probe and one with a kept verdict are equal in the same environment.
    const TempFolder folder;
    const Outcome third = place.wye({"info", "--json"}, "none");
    const Outcome diff = run_command(
        {WYE_TOOL, "info", "diff", folder.write("a", first.out), folder.write("b", third.out)});
    CAPTURE(diff.out);
    CHECK(diff.code == 0);
}

TEST_CASE("a file that is no verdict, or a pipe, is ignored") {
    const Place place;
    REQUIRE(place.wye({"info", "-l"}, "none").code == 0);
    const std::string file = place.verdict_file();
    REQUIRE(!file.empty());
    const std::string whole = read_bytes(file);
    for (const std::string& content : {std::string(), whole.substr(0, whole.size() / 2),
                                       std::string(1 << 20, '{'), std::string("\0\0\0", 3)}) {
        std::ofstream(file, std::ios::binary) << content;
        CHECK(contains(place.wye({"info", "-l"}, "none").out, "misbehaves:0"));
    }
    fs::remove(file);
    REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    CHECK(contains(place.wye({"info", "-l"}, "none").out, "misbehaves:0"));
    // A verdict file that another user may write is not used.
    fs::remove(file);
    REQUIRE(place.wye({"info", "-l"}, "none").code == 0);
    fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
    CHECK(contains(place.wye({"plugins"}, "none").out, "not probed"));
}

TEST_CASE("plugins lists those that are named") {
    const Place place;
    REQUIRE(place.wye({"info", "-l"}, "none").code == 0);
    const Outcome one = place.wye({"plugins", "list", "misbehaves"}, "none");
    CHECK(one.code == 0);
    CHECK(one.out.starts_with("misbehaves good "));
    const Outcome none = place.wye({"plugins", "list", "nobody"}, "none");
    CHECK(none.code == 2);
    CHECK(none.out.empty());
    CHECK(contains(none.err, "`nobody`"));
    const Outcome document = place.wye({"plugins", "list", "misbehaves", "--json"}, "none");
    CHECK(Json::parse(document.out).size() == 1);
}

TEST_CASE("the processor needs no probe") {
    const Place place;
    const Outcome outcome =
        place.wye({"run", std::string(WYE_PROGRAMS) + "/mix.wye", "-d", "cpu", "--in",
                   "words=/dev/null", "--out", "words=" + place.result()},
                  "abort@constructor");
    CHECK_FALSE(contains(outcome.err, "misbehaves"));
    CHECK(place.verdict_file().empty());
}

}  // namespace wye::test::probe_test
