// SPDX-License-Identifier: Apache-2.0
// Plugins that end, block or change their process are found out in a process of their own: each way
// has its stage and code, this process survives, and the other plugins work.
#include <doctest/doctest.h>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "registry/catalogue.hpp"
#include "registry/report.hpp"
#include "temporary_folder.hpp"

namespace test_probe {

using namespace wye;
using namespace wye::registry;

namespace {

namespace fs = std::filesystem;

const fs::path kMisbehaves = fs::path(WYE_FAKES) / "misbehaves.so";
const fs::path kHealthy = fs::path(WYE_FAKES) / "healthy.so";

// Sets a variable of this process, which its children inherit.
class Variable {
  public:
    Variable(const char* name, const std::string& value) : name_(name) {
        ::setenv(name, value.c_str(), 1);
    }
    ~Variable() { ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

struct Setup {
    TemporaryFolder cache;
    ProbeOptions probe;
    std::vector<fs::path> paths = {kMisbehaves, kHealthy};
    bool keeps = true;

    Setup() {
        probe.mode = ProbeMode::automatic;
        probe.helper = WYE_PROBE_HELPER;
        probe.limit = std::chrono::milliseconds(20000);
    }
    [[nodiscard]] std::unique_ptr<Registry> open() const {
        Options options;
        options.application_paths = paths;
        options.probe = probe;
        if (keeps) options.config["cache_folder"] = cache.path().string();
        auto registry = Registry::create(std::move(options));
        REQUIRE(registry.ok());
        return std::move(*registry);
    }
};

std::vector<Record> records_of(const Registry& registry, const std::string& plugin) {
    std::vector<Record> out;
    for (Record& record : registry.records())
        if (record.plugin == plugin && record.stage != Stage::trust)
            out.push_back(std::move(record));
    return out;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

void expect_refusal(const Setup& setup, const std::string& how, Stage stage, Code code,
                    const std::string& text) {
    CAPTURE(how);
    const Variable variable("WYE_MISBEHAVES", how);
    const auto registry = setup.open();
    const auto opened = registry->open_plugin("misbehaves");
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().code == code);
    const auto records = records_of(*registry, "misbehaves");
    REQUIRE(records.size() == 1);
    CHECK(stage_name(records[0].stage) == stage_name(stage));
    CHECK(code_name(records[0].code) == code_name(code));
    CHECK(records[0].severity == Severity::refused);
    CAPTURE(records[0].message);
    CHECK(contains(records[0].message, text));
    CHECK(records[0].fix.starts_with("Fix: "));
    CHECK(records[0].path == kMisbehaves.string());
    CHECK(registry->open_plugin("healthy").ok());
}

struct Place {
    const char* name;
    Stage stage;
    const char* slot;
};
constexpr Place kPlaces[] = {
    {"constructor", Stage::opened, "the loading of its library"},
    {"query", Stage::negotiated, "wye_plugin_query_1"},
    {"init", Stage::initialised, "init"},
    {"probe", Stage::enumerated, "probe_devices"},
    {"facts", Stage::enumerated, "device_fact"},
    {"open", Stage::probed, "open_device"},
    {"build", Stage::probed, "program_create"},
    {"dispatch", Stage::probed, "a dispatch"},
    {"wait", Stage::probed, "a dispatch"},
};

}  // namespace

TEST_CASE("a plugin that ends its process is refused, with the slot that did it") {
    struct Way {
        const char* name;
        Code code;
        const char* text;
    };
    const Way ways[] = {
        {"crash", Code::PROBE_CRASHED, "crashed (SIGSEGV)"},
        {"abort", Code::PROBE_CRASHED, "crashed (SIGABRT)"},
        {"exit", Code::PLUGIN_FAULT, "ended its process (status 1)"},
        {"_exit", Code::PLUGIN_FAULT, "ended its process (status 0)"},
        {"quick_exit", Code::PLUGIN_FAULT, "ended its process (status 1)"},
        {"endless", Code::LIMIT_EXCEEDED, "printed more than 1 MiB"},
    };
    Setup setup;
    setup.probe.mode = ProbeMode::child;  // each is the first of its kind
    setup.keeps = false;
    for (const Way& way : ways)
        for (const Place& place : kPlaces) {
            CAPTURE(place.name);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
            // A sanitizer reports a crash, and then ends the process itself.
            if (way.name == std::string("crash")) continue;
#endif
            expect_refusal(setup, way.name + std::string("@") + place.name, place.stage, way.code,
                           way.text + std::string(" in `") + place.slot + "`");
        }
}

TEST_CASE("a plugin that damages the result of its probe is refused, and not opened here") {
    for (const ProbeMode mode : {ProbeMode::child, ProbeMode::automatic}) {
        Setup closed;
        closed.probe.mode = mode;
        expect_refusal(closed, "closes_message@init", Stage::initialised, Code::BAD_PLUGIN,
                       "closed or garbled the result of its probe in `init`");
        Setup scribbled;
        scribbled.probe.mode = mode;
        expect_refusal(scribbled, "scribbles@init", Stage::probed, Code::BAD_PLUGIN,
                       "closed or garbled the result of its probe");
    }
}

TEST_CASE("a plugin that hangs is killed after its time") {
    Setup setup;
    setup.probe.mode = ProbeMode::child;
    setup.keeps = false;
    setup.probe.limit = std::chrono::milliseconds(1500);
    setup.paths = {kMisbehaves};
    for (const Place& place : {kPlaces[0], kPlaces[2], kPlaces[7]}) {
        CAPTURE(place.name);
        const Variable variable("WYE_MISBEHAVES", std::string("hang@") + place.name);
        const auto begun = std::chrono::steady_clock::now();
        const auto registry = setup.open();
        CHECK(registry->open_plugin("misbehaves").error().code == Code::PROBE_TIMEOUT);
        CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(15));
        const auto records = records_of(*registry, "misbehaves");
        REQUIRE(records.size() == 1);
        CHECK(stage_name(records[0].stage) == stage_name(place.stage));
        CHECK(contains(records[0].message, "1500 ms"));
        CHECK(contains(records[0].message, place.slot));
    }
}

TEST_CASE("wrong results make a device unusable, disorder is a warning") {
    struct Case {
        const char* how;
        Severity severity;
        const char* text;
        bool usable;
    };
    const Case cases[] = {
        {"wrong_bytes", Severity::warning, "gave 0x", false},
        {"wrong_capabilities", Severity::warning, "claims int64 and f64, but", true},
        {"thread@init", Severity::warning, "leaves 1 thread(s) running", true},
        {"locale@init", Severity::warning, "changes the locale", true},
        {"folder@open", Severity::warning, "changes the current folder", true},
        {"environment@build", Severity::warning, "changes the environment", true},
        {"mask@dispatch", Severity::warning, "changes the file mode mask", true},
        {"descriptor@init", Severity::warning, "closes or replaces descriptor 1", true},
    };
    Setup setup;
    setup.probe.describe = true;  // so that none of this happens here
    setup.probe.mode = ProbeMode::child;
    setup.keeps = false;
    for (const Case& c : cases) {
        CAPTURE(c.how);
        const Variable variable("WYE_MISBEHAVES", c.how);
        const auto registry = setup.open();
        const auto opened = registry->open_plugin("misbehaves");
        REQUIRE(opened.ok());
        REQUIRE(opened->devices.size() == 1);
        CHECK(opened->devices[0]->usable == c.usable);
        const auto records = records_of(*registry, "misbehaves");
        REQUIRE(records.size() == 1);
        CHECK(records[0].severity == c.severity);
        CHECK(records[0].code == Code::PLUGIN_FAULT);
        CHECK(records[0].stage == Stage::probed);
        CAPTURE(records[0].message);
        CHECK(contains(records[0].message, c.text));
        const auto selected = registry->select(*parse_selector("misbehaves"));
        CHECK(selected.ok() == c.usable);
    }
}

TEST_CASE("what a plugin prints goes nowhere, and it works") {
    Setup setup;
    const Variable variable("WYE_MISBEHAVES", "prints@init");
    setup.probe.describe = true;
    const auto registry = setup.open();
    CHECK(registry->open_plugin("misbehaves").ok());
    CHECK(records_of(*registry, "misbehaves").empty());
}

TEST_CASE("a description has the facts that opening the plugin has") {
    Setup setup;
    const auto opened = setup.open()->open_plugin("misbehaves");
    setup.probe.describe = true;
    const auto registry = setup.open();
    const auto described = registry->open_plugin("misbehaves");
    REQUIRE(opened.ok());
    REQUIRE(described.ok());
    CHECK(described->version == opened->version);
    CHECK(described->abi_minor == opened->abi_minor);
    REQUIRE(described->devices.size() == 1);
    const DeviceInfo& a = *opened->devices[0];
    const DeviceInfo& b = *described->devices[0];
    CHECK(a.id == b.id);
    CHECK(a.name == b.name);
    CHECK(a.formats == b.formats);
    for (const FactInfo& info : fact_infos()) {
        CAPTURE(std::string(info.name));
        const Fact* x = a.facts.find(info.key);
        const Fact* y = b.facts.find(info.key);
        REQUIRE((x == nullptr) == (y == nullptr));
        if (x == nullptr) continue;
        // Free memory differs from one moment to the next.
        if (info.key != WYE_FACT_KEY_FREE_MEMORY_BYTES) CHECK(x->value == y->value);
        CHECK(x->source == y->source);
    }
    // It lists, and opens nothing.
    CHECK(registry->open_device(b).error().code == Code::UNSUPPORTED);
}

TEST_CASE("a verdict is remembered, a crash tried twice, and a changed plugin probed again") {
    Setup setup;
    const TemporaryFolder folder;
    const fs::path plugin = folder.path() / "misbehaves.so";
    fs::copy_file(kMisbehaves, plugin);
    setup.paths = {plugin};
    const auto verdict = [&] {
        const auto registry = setup.open();
        (void)registry->open_plugin("misbehaves");
        const auto all = registry->plugins();
        REQUIRE(all.size() == 1);
        REQUIRE(all[0].verdict.has_value());
        return *all[0].verdict;
    };
    {
        const Variable variable("WYE_MISBEHAVES", "_exit@init");
        Verdict now = verdict();
        CHECK(now.end == ProbeEnd::exited);
        CHECK(now.times == 1);
        CHECK_FALSE(now.remembered);
        now = verdict();  // once may be an accident
        CHECK(now.times == 2);
        CHECK_FALSE(now.remembered);
    }
    // The plugin is well now, and nobody asks it.
    Verdict now = verdict();
    CHECK(now.end == ProbeEnd::exited);
    CHECK(now.remembered);
    CHECK(now.times == 2);
    // The same content under another time is the same plugin; another content is not.
    fs::last_write_time(plugin, fs::last_write_time(plugin) + std::chrono::seconds(5));
    CHECK(verdict().remembered);
    fs::remove(plugin);
    std::string bytes = TemporaryFolder::read(kMisbehaves) + "\n";
    folder.write("misbehaves.so", bytes);
    now = verdict();
    CHECK(now.end == ProbeEnd::good);
    CHECK_FALSE(now.remembered);
    CHECK(verdict().remembered);
}

TEST_CASE("a verdict that the plugin contradicts is renewed, with a record of both values") {
    struct Case {
        const char* how;
        const char* text;
    };
    const Case cases[] = {
        {"new_version@query", "the probe says version `0.1.0`, the plugin says `7.0`"},
        {"new_driver@facts", "the plugin says `driver 2.0`"},
        {"new_device@probe", "the probe found 1 device(s), the plugin says 0"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.how);
        Setup setup;
        setup.paths = {kMisbehaves};
        REQUIRE(setup.open()->open_plugin("misbehaves").ok());
        const Variable variable("WYE_MISBEHAVES", c.how);
        const auto registry = setup.open();
        const auto opened = registry->open_plugin("misbehaves");
        REQUIRE(opened.ok());
        const auto records = records_of(*registry, "misbehaves");
        REQUIRE(records.size() == 1);
        CHECK(records[0].stage == Stage::probed);
        CHECK(records[0].severity == Severity::warning);
        CHECK(records[0].code == Code::PLUGIN_FAULT);
        CAPTURE(records[0].message);
        CHECK(contains(records[0].message, c.text));
        CHECK(records[0].fix.starts_with("Fix: "));
        CHECK(opened->probe == ProbeState::child);
        REQUIRE(opened->verdict.has_value());
        CHECK(opened->verdict->message.version == opened->version);
        // The new verdict is the one that is remembered.
        const auto later = setup.open();
        CHECK(later->open_plugin("misbehaves")->probe == ProbeState::remembered);
        CHECK(records_of(*later, "misbehaves").empty());
    }
    // The new verdict counts.
    Setup setup;
    setup.paths = {kMisbehaves};
    {
        const Variable variable("WYE_MISBEHAVES", "new_version@query");
        REQUIRE(setup.open()->open_plugin("misbehaves").ok());
    }
    const Variable variable("WYE_MISBEHAVES", "wrong_bytes@dispatch");
    const auto registry = setup.open();
    const auto opened = registry->open_plugin("misbehaves");
    REQUIRE(opened.ok());
    REQUIRE(opened->devices.size() == 1);
    CHECK_FALSE(opened->devices[0]->usable);
    CHECK(records_of(*registry, "misbehaves").size() == 2);
}

TEST_CASE("a watched value counts, and the paths in it only where the manifest says so") {
    for (const bool paths : {true, false}) {
        CAPTURE(paths);
        const TemporaryFolder verdicts;
        const TemporaryFolder place;
        const TemporaryFolder named;
        place.plugin("misbehaves");
        std::string manifest = TemporaryFolder::read(place.path() / "misbehaves.wye.json");
        manifest.pop_back();
        place.write("misbehaves.wye.json", manifest + R"(, "watches": [{")" +
                                               (paths ? "variable" : "value_of") +
                                               R"(": "WYE_TEST_*"}]})");
        const auto remembered = [&](const std::string& value) {
            Setup setup;
            Options options;
            options.application_paths = {place.path()};
            options.probe = setup.probe;
            options.config["cache_folder"] = verdicts.path().string();
            options.config["env.WYE_TEST_FOLDER"] = value;
            auto registry = Registry::create(std::move(options));
            REQUIRE(registry.ok());
            const auto opened = (*registry)->open_plugin("misbehaves");
            REQUIRE(opened.ok());
            REQUIRE(opened->verdict.has_value());
            return opened->verdict->remembered;
        };
        const std::string value = named.path().string();
        CHECK_FALSE(remembered(value));
        CHECK(remembered(value));
        named.write("a file", "of a cache");
        CHECK(remembered(value) == !paths);
        CHECK(remembered(value));
        CHECK_FALSE(remembered(value + "/.."));
    }
}

TEST_CASE("a time-out is tried again, and trust and forgetting are the user's") {
    Setup setup;
    setup.paths = {kMisbehaves};
    setup.probe.limit = std::chrono::milliseconds(1500);
    const auto host = HostServices::create({{"cache_folder", setup.cache.path().string()}}, {});
    const Prober prober(setup.probe, host);
    Candidate candidate;
    candidate.id = "misbehaves";
    candidate.library = kMisbehaves;
    const auto end = [&] {
        const Candidate* const one[] = {&candidate};
        const Probed probed = prober.probe(one).front();
        return probed.verdict ? std::string(end_name(probed.verdict->end)) : "none";
    };
    {
        const Variable variable("WYE_MISBEHAVES", "hang@init");
        for (int i = 0; i < 3; ++i) CHECK(end() == "timed_out");
    }
    CHECK(prober.recall(candidate)->times == 3);
    setup.probe.limit = std::chrono::milliseconds(20000);
    const Prober patient(setup.probe, host);
    const Candidate* const one[] = {&candidate};
    CHECK(patient.probe(one).front().verdict->end == ProbeEnd::good);
    {
        const Variable variable("WYE_MISBEHAVES", "_exit@init");
        prober.forget(candidate);
        CHECK_FALSE(prober.recall(candidate).has_value());
        CHECK(end() == "exited");
        CHECK(end() == "exited");
        REQUIRE(prober.trust(candidate).ok());
        CHECK(end() == "none");  // opened unprobed
        CHECK(prober.recall(candidate)->trusted);
    }
    prober.forget(candidate);
    CHECK(patient.probe(one).front().verdict->end == ProbeEnd::good);
}

TEST_CASE("without a helper, without a cache folder, and without probes") {
    Setup setup;
    setup.paths = {kHealthy};
    const auto codes = [&] {
        std::vector<std::string> out;
        const auto registry = setup.open();
        out.push_back(registry->open_plugin("healthy").ok() ? "open" : "refused");
        for (const Record& record : records_of(*registry, "healthy"))
            out.emplace_back(code_name(record.code));
        return out;
    };
    using Codes = std::vector<std::string>;
    setup.keeps = false;
    CHECK(codes() == Codes{"open", "DISABLED"});
    setup.keeps = true;
    setup.probe.helper.clear();
    CHECK(codes() == Codes{"open", "MISSING_DEPENDENCY"});
    setup.probe.helper = "/nowhere/wye-probe";
    CHECK(codes() == Codes{"open", "MISSING_DEPENDENCY"});
    setup.probe.helper = "/bin/true";  // starts, and says nothing
    CHECK(codes() == Codes{"open", "MISSING_DEPENDENCY"});
    setup.probe.mode = ProbeMode::child;
    CHECK(codes() == Codes{"refused", "MISSING_DEPENDENCY"});
    setup.probe.mode = ProbeMode::inside;
    CHECK(codes() == Codes{"open"});
    setup.probe.mode = ProbeMode::off;
    CHECK(codes() == Codes{"open"});
}

TEST_CASE("an application that ignores its children, or closed its standard descriptors") {
    Setup setup;
    setup.paths = {kMisbehaves};
    struct sigaction before {};
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    REQUIRE(::sigaction(SIGCHLD, &ignore, &before) == 0);
    const int output = ::dup(1);
    ::close(0);
    ::close(1);
    const auto good = setup.open()->open_plugin("misbehaves");
    setup.probe.mode = ProbeMode::child;
    const Variable variable("WYE_MISBEHAVES", "crash@query");
    const auto bad = setup.open()->open_plugin("misbehaves");
    ::dup2(output, 1);
    ::dup2(output, 0);
    ::close(output);
    ::sigaction(SIGCHLD, &before, nullptr);
    CHECK(good.ok());
    REQUIRE_FALSE(bad.ok());
    CHECK(bad.error().code == Code::PROBE_CRASHED);
}

TEST_CASE("plugins are probed side by side") {
    Setup setup;
    const TemporaryFolder folder;
    setup.paths.clear();
    for (const char* name : {"one", "two", "three", "four"}) {
        // Their id is another, so none loads: the probe of each hangs before that.
        fs::copy_file(kMisbehaves, folder.path() / (std::string(name) + ".so"));
        setup.paths.push_back(folder.path() / (std::string(name) + ".so"));
    }
    setup.probe.limit = std::chrono::milliseconds(2000);
    const Variable variable("WYE_MISBEHAVES", "hang@constructor");
    const auto begun = std::chrono::steady_clock::now();
    const auto registry = setup.open();
    CHECK(registry->devices(*parse_selector("auto")).empty());
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(6000));
    CHECK(registry->records().size() == 4);
    // Nothing is left of them.
    for (const Record& record : registry->records()) CHECK(record.code == Code::PROBE_TIMEOUT);
}

TEST_CASE("many threads ask at once, and each plugin is probed once") {
    Setup setup;
    const auto registry = setup.open();
    std::vector<std::thread> threads;
    std::atomic<int> usable = 0;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            for (const auto& device : registry->devices(*parse_selector("auto")))
                if (device->usable) ++usable;
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(usable == 8 * 2);  // one of each plugin
    int kept = 0;
    for (const auto& entry : fs::directory_iterator(setup.cache.path()))
        if (entry.path().filename().string().starts_with("plugin-probe-")) ++kept;
    CHECK(kept == 2);
}

}  // namespace test_probe
