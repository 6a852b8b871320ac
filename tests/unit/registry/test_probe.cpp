// SPDX-License-Identifier: Apache-2.0
// Plugins that end, block or change their process are found out by a probe in another process. Each
// fault has its stage and code, this process survives, and the other plugins work.
#include <doctest/doctest.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <chrono>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "registry/choose/catalogue.hpp"
#include "registry/file_system.hpp"
#include "registry/open/host_services.hpp"
#include "registry/probe/probe.hpp"
#include "registry/report/report.hpp"
#include "support/misbehaviour.hpp"
#include "temporary_folder.hpp"

namespace test_probe {

using namespace wye;
using namespace wye::registry;
using namespace wye::test;

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

// Plugins with the same fault, each in another call, and a healthy plugin.
class FaultyPlugins {
  public:
    explicit FaultyPlugins(const Fault& fault) : members_(misbehaviours_of(fault)) {
        for (const Misbehaviour& one : members_) fs::copy_file(kMisbehaves, file_of(one));
    }
    [[nodiscard]] const std::vector<Misbehaviour>& members() const { return members_; }
    [[nodiscard]] fs::path file_of(const Misbehaviour& one) const {
        return folder_.path() / (one.id() + ".so");
    }
    [[nodiscard]] std::vector<fs::path> files() const {
        std::vector<fs::path> out = {kHealthy};
        for (const Misbehaviour& one : members_) out.push_back(file_of(one));
        return out;
    }

  private:
    TemporaryFolder folder_;
    std::vector<Misbehaviour> members_;
};

// Returns a registry that has probed all plugins at once. If the fault is a hang, the time limit is
// raised until only plugins that hang exceed it: others may be slow on a busy machine.
std::unique_ptr<Registry> probe_all(const FaultyPlugins& faulty, Setup& setup) {
    const bool hangs = faulty.members()[0].fault->code == std::string_view("PROBE_TIMEOUT");
    setup.probe.limit = std::chrono::milliseconds(hangs ? 1000 : 60000);
    for (;; setup.probe.limit *= 2) {
        auto registry = setup.open();
        (void)registry->devices(*parse_selector("auto"));
        const auto is_late = [&](const Misbehaviour& one) {
            const auto records = records_of(*registry, one.id());
            return records.size() != 1 || !one.is_told_by(records[0].message);
        };
        if (!hangs || setup.probe.limit > std::chrono::seconds(30) ||
            (std::ranges::none_of(faulty.members(), is_late) &&
             registry->open_plugin("healthy").ok()))
            return registry;
    }
}

void expect_record(const Registry& registry, const FaultyPlugins& faulty, const Misbehaviour& one) {
    const auto records = records_of(registry, one.id());
    if (one.fault->effect == Fault::Effect::none) {
        CHECK(records.empty());
        return;
    }
    REQUIRE(records.size() == 1);
    const Record& record = records[0];
    CAPTURE(record.message);
    CHECK(one.is_told_by(record.message));
    CHECK(stage_name(record.stage) == one.stage());
    CHECK(code_name(record.code) == one.fault->code);
    const bool refused = one.fault->effect == Fault::Effect::refused;
    CHECK(record.severity == (refused ? Severity::refused : Severity::warning));
    CHECK(record.fix.starts_with("Fix: "));
    if (refused) CHECK(record.path == faulty.file_of(one).string());
}

// The state of this process and thread, which plugins that are probed must not change.
std::string own_state() {
    std::string out = fs::current_path().string() + " " + std::setlocale(LC_ALL, nullptr);
    const mode_t mask = ::umask(0);
    ::umask(mask);
    struct sigaction interrupt {};
    ::sigaction(SIGINT, nullptr, &interrupt);
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return out + " " + std::to_string(mask) + " " + std::to_string(std::fegetround()) + " " +
           std::to_string(interrupt.sa_handler == SIG_DFL) + " " +
           std::to_string(::sigismember(&blocked, SIGUSR1)) + " " +
           std::to_string(::fcntl(1, F_GETFD)) + " " +
           std::to_string(std::getenv("WYE_A_NEW_ONE") == nullptr);
}

}  // namespace

TEST_CASE("whatever a plugin does, its probe finds it, and the others work") {
    const std::string before = own_state();
    Setup alone;
    alone.paths = {kHealthy};
    alone.probe.mode = ProbeMode::child;
    const auto calm = alone.open();
    REQUIRE(calm->open_plugin("healthy").ok());
    const std::size_t records_when_alone = records_of(*calm, "healthy").size();
    for (const Fault& fault : kFaults) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        // A sanitizer reports a crash, and then ends the process itself.
        if (fault.name == std::string_view("crash")) continue;
#endif
        CAPTURE(std::string(fault.name));
        const FaultyPlugins faulty(fault);
        Setup setup;
        setup.paths = faulty.files();
        setup.probe.mode = ProbeMode::child;
        setup.probe.memory = kProbeMemory;
        setup.keeps = false;
        // A plugin with a warning is described by its probe, so that it does not change this
        // process.
        setup.probe.describe = fault.effect != Fault::Effect::refused;
        const auto registry = probe_all(faulty, setup);
        for (const Misbehaviour& one : faulty.members()) {
            CAPTURE(std::string(one.place->name));
            const auto opened = registry->open_plugin(one.id());
            if (fault.effect == Fault::Effect::refused) {
                REQUIRE_FALSE(opened.ok());
                CHECK(code_name(opened.error().code) == fault.code);
            } else {
                REQUIRE(opened.ok());
                REQUIRE(opened->devices.size() == 1);
                const bool usable = fault.effect != Fault::Effect::unusable;
                CHECK(opened->devices[0]->usable == usable);
                CHECK(registry->select(*parse_selector(one.id())).ok() == usable);
            }
            expect_record(*registry, faulty, one);
        }
        const auto healthy = registry->open_plugin("healthy");
        REQUIRE(healthy.ok());
        CHECK(std::ranges::any_of(healthy->devices, [](const auto& one) { return one->usable; }));
        CHECK(records_of(*registry, "healthy").size() == records_when_alone);
    }
    CHECK(own_state() == before);
}

TEST_CASE("the tables of the fakes say what is tested") {
    const std::string text = TemporaryFolder::read(WYE_FAKES_README);
    CHECK(contains(text,
                   "| where | stage | `SLOT` |\n| --- | --- | --- |\n" + rows_of_places() + "\n"));
    CHECK(contains(text,
                   "| what `misbehaves` does | where | effect | stage | code | message |\n"
                   "| --- | --- | --- | --- | --- | --- |\n" +
                       rows_of_faults() + "\n"));
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
    // Listing devices does not open any.
    CHECK(registry->open_device(b).error().code == Code::UNSUPPORTED);
}

TEST_CASE("a plugin is told which facts its probe found, and otherwise that there was none") {
    Setup setup;
    setup.paths = {fs::path(WYE_FAKES) / "tells_findings.so"};
    using Lines = std::vector<std::string>;
    const auto told = [&] {
        Lines lines;
        Options options;
        options.application_paths = setup.paths;
        options.probe = setup.probe;
        options.config["cache_folder"] = setup.cache.path().string();
        options.log = [&](std::uint32_t, std::string_view area, std::string_view text) {
            if (area.starts_with("probed"))
                lines.push_back(std::string(area) + "=" + std::string(text));
        };
        auto registry = Registry::create(std::move(options));
        REQUIRE(registry.ok());
        CHECK((*registry)->open_plugin("tells_findings").ok());
        return lines;
    };
    const Lines none = {"probed=nothing", "probed.0=nothing", "probed.1=nothing"};
    const Lines found = {"probed=1", "probed.0=int64 ", "probed.1=int64 "};
    CHECK(told() == found);  // from a probe in a child process
    CHECK(told() == found);  // from the remembered verdict
    setup.probe.mode = ProbeMode::off;
    CHECK(told() == none);
}

TEST_CASE("a compiler of another version in this process is a warning with both files") {
    const TemporaryFolder place;
    for (const char* folder : {"application", "driver"})
        fs::create_directory(place.path() / folder);
    const fs::path ours = place.path() / "application/libLLVM-98.so";
    const fs::path own = place.path() / "driver/libLLVM-99.so";
    fs::copy_file(kHealthy, ours);
    fs::copy_file(kHealthy, own);
    Setup setup;
    setup.paths = {fs::path(WYE_FAKES) / "tells_findings.so"};
    const Variable loads("WYE_FAKE_LOADS", own.string());
    const auto warnings = [&] {
        std::vector<Record> out;
        const auto registry = setup.open();
        CHECK(registry->open_plugin("tells_findings").ok());
        for (Record& record : records_of(*registry, "tells_findings"))
            if (contains(record.message, "the driver may crash")) out.push_back(std::move(record));
        return out;
    };
    CHECK(warnings().empty());
    void* const library = ::dlopen(ours.c_str(), RTLD_NOW);
    REQUIRE(library != nullptr);
    const auto told = warnings();
    ::dlclose(library);
    REQUIRE(told.size() == 1);
    CHECK(told[0].severity == Severity::warning);
    CHECK(contains(told[0].message, ours.string()));
    CHECK(contains(told[0].message, own.string()));
    CHECK(told[0].fix.starts_with("Fix: "));
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
        now = verdict();  // the first crash may be an accident
        CHECK(now.times == 2);
        CHECK_FALSE(now.remembered);
    }
    // The plugin would pass now, but it is not probed again.
    Verdict now = verdict();
    CHECK(now.end == ProbeEnd::exited);
    CHECK(now.remembered);
    CHECK(now.times == 2);
    // The same content with another file time is the same plugin. Other content is not.
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
    // The new verdict decides whether the plugin is used.
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

TEST_CASE("a timed-out probe is repeated; the user decides on trust and forgetting") {
    Setup setup;
    setup.paths = {kMisbehaves};
    setup.probe.limit = std::chrono::milliseconds(1500);
    const auto host = HostServices::create({{"cache_folder", setup.cache.path().string()}}, {});
    const Prober hasty(setup.probe, host);
    setup.probe.limit = std::chrono::milliseconds(60000);
    const Prober prober(setup.probe, host);
    Candidate candidate;
    candidate.id = "misbehaves";
    candidate.library = kMisbehaves;
    const auto end = [&](const Prober& by) {
        const Candidate* const one[] = {&candidate};
        const Probed probed = by.probe(one).front();
        return probed.verdict ? std::string(end_name(probed.verdict->end)) : "none";
    };
    {
        const Variable variable("WYE_MISBEHAVES", "hang@init");
        for (int i = 0; i < 3; ++i) CHECK(end(hasty) == "timed_out");
    }
    CHECK(prober.recall(candidate)->times == 3);
    CHECK(end(prober) == "good");
    {
        const Variable variable("WYE_MISBEHAVES", "_exit@init");
        prober.forget(candidate);
        CHECK_FALSE(prober.recall(candidate).has_value());
        CHECK(end(prober) == "exited");
        CHECK(end(prober) == "exited");
        REQUIRE(prober.trust(candidate).ok());
        CHECK(end(prober) == "none");  // opened without a probe
        CHECK(prober.recall(candidate)->trusted);
    }
    prober.forget(candidate);
    CHECK(end(prober) == "good");
}

TEST_CASE("what happens without a helper, without a cache folder, and without probes") {
    const TemporaryFolder plugins;  // this process has not probed the copy in this folder
    Setup setup;
    setup.paths = {plugins.path() / "healthy.so"};
    fs::copy_file(kHealthy, setup.paths[0]);
    const auto codes = [&] {
        std::vector<std::string> out;
        const auto registry = setup.open();
        out.push_back(registry->open_plugin("healthy").ok() ? "open" : "refused");
        for (const Record& record : records_of(*registry, "healthy"))
            // The plugin compiles nothing, which the dispatch of a probe finds.
            if (!record.message.starts_with("device ")) out.emplace_back(code_name(record.code));
        return out;
    };
    using Codes = std::vector<std::string>;
    setup.keeps = false;
    CHECK(codes() == Codes{"open", "DISABLED"});
    setup.keeps = true;
    setup.probe.helper.clear();
    CHECK(codes() == Codes{"open", "MISSING_DEPENDENCY"});
    setup.probe.helper = "/nowhere/wye-probe";
    CHECK(codes() == Codes{"refused", "MISSING_DEPENDENCY"});
    setup.probe.helper = "/bin/true";  // it starts, and reports nothing
    CHECK(codes() == Codes{"refused", "MISSING_DEPENDENCY"});
    setup.probe.mode = ProbeMode::child;
    CHECK(codes() == Codes{"refused", "MISSING_DEPENDENCY"});
    setup.probe.mode = ProbeMode::inside;
    CHECK(codes() == Codes{"open"});
    setup.probe.mode = ProbeMode::off;
    CHECK(codes() == Codes{"open"});
}

TEST_CASE("where no folder keeps verdicts, plugins are probed, once in a process") {
    const TemporaryFolder place;
    place.write("a file", "");
    fs::create_directory(place.path() / "others may write");
    fs::permissions(place.path() / "others may write", fs::perms(0777));
    const std::string folders[] = {"", (place.path() / "a file").string(), "/proc/no/folder",
                                   (place.path() / "others may write").string()};
    for (const std::string& folder : folders) {
        CAPTURE(folder);
        const TemporaryFolder plugins;
        Setup setup;
        setup.paths = {plugins.path() / "misbehaves.so"};
        fs::copy_file(kMisbehaves, setup.paths[0]);
        const auto open = [&] {
            Options options;
            options.application_paths = setup.paths;
            options.probe = setup.probe;
            if (!folder.empty()) options.config["cache_folder"] = folder;
            auto registry = Registry::create(std::move(options));
            REQUIRE(registry.ok());
            return std::move(*registry);
        };
        {
            const Variable variable("WYE_MISBEHAVES", "abort@init");
            const auto first = open();
            CHECK(first->open_plugin("misbehaves").error().code == Code::PROBE_CRASHED);
        }
        const auto second = open();
        CHECK(second->open_plugin("misbehaves")->probe == ProbeState::child);
        const auto records = records_of(*second, "misbehaves");
        REQUIRE(records.size() == 1);
        CHECK(records[0].severity == Severity::note);
        CHECK(contains(records[0].message, "each process probes the plugin again"));
        CHECK(records[0].fix.starts_with("Fix: "));
        CHECK(open()->open_plugin("misbehaves")->probe == ProbeState::remembered);
    }
}

TEST_CASE("a plugin in a folder whose name is not UTF-8 is probed and remembered") {
    const TemporaryFolder place;
    const fs::path folder = place.path() / "caf\xe9";
    fs::create_directory(folder);
    fs::copy_file(kMisbehaves, folder / "misbehaves.so");
    Setup setup;
    setup.paths = {folder / "misbehaves.so"};
    const auto first = setup.open()->open_plugin("misbehaves");
    REQUIRE(first.ok());
    CHECK(first->probe == ProbeState::child);
    CHECK(contains(first->path, "caf\\xe9"));
    CHECK(setup.open()->open_plugin("misbehaves")->probe == ProbeState::remembered);
}

// Opens the plugin, whose verdict is good, in a child process that dies inside the plugin.
void die_inside(const Setup& setup) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::setenv("WYE_MISBEHAVES", "_exit@init", 1);
        (void)setup.open()->open_plugin("misbehaves");
        ::_exit(1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);  // the status with which the plugin exits
}

TEST_CASE("a good verdict is doubted by the next process when one died inside the plugin") {
    Setup setup;
    setup.paths = {kMisbehaves};
    const auto state = [&] { return setup.open()->open_plugin("misbehaves")->probe; };
    CHECK(state() == ProbeState::child);
    CHECK(state() == ProbeState::remembered);
    die_inside(setup);
    CHECK(state() == ProbeState::child);
    CHECK(state() == ProbeState::remembered);
    // After three deaths in a row inside the plugin, this program may not open the plugin.
    {
        const auto host = HostServices::create({{"cache_folder", setup.cache.path().string()}}, {});
        const Prober prober(setup.probe, host);
        Candidate candidate;
        candidate.id = "misbehaves";
        candidate.library = kMisbehaves;
        const Candidate* const one[] = {&candidate};
        for (int i = 0; i < 3; ++i) {
            die_inside(setup);
            CHECK(prober.probe(one).front().verdict.has_value() == (i < 2));
        }
        const auto refused = setup.open()->open_plugin("misbehaves");
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().code == Code::PROBE_CRASHED);
        CHECK(contains(refused.error().message, "this program ended 3 times in a row"));
        prober.forget(candidate);
    }
    CHECK(state() == ProbeState::child);
}

TEST_CASE("a file that replaces the one that was found is not probed in its place") {
    const TemporaryFolder place;
    const fs::path file = place.path() / "misbehaves.so";
    fs::copy_file(kMisbehaves, file);
    Setup setup;
    const auto host = HostServices::create({{"cache_folder", setup.cache.path().string()}}, {});
    const Prober prober(setup.probe, host);
    Candidate candidate;
    candidate.id = "misbehaves";
    candidate.library = file;
    candidate.file = *native_file_system().status(file);
    const Candidate* const one[] = {&candidate};
    CHECK(prober.probe(one).front().verdict.has_value());
    prober.forget(candidate);
    fs::copy_file(kMisbehaves, place.path() / "other");
    fs::rename(place.path() / "other", file);
    const Probed probed = prober.probe(one).front();
    CHECK_FALSE(probed.verdict.has_value());
    REQUIRE(probed.records.size() == 1);
    CHECK(probed.records[0].severity == Severity::refused);
    CHECK(probed.records[0].code == wye::Code::NOT_TRUSTED);
    CHECK_FALSE(prober.recall(candidate).has_value());
}

TEST_CASE("what a plugin started ends with its probe, in whatever session it is") {
    const TemporaryFolder folder;
    Setup setup;
    setup.paths = {kMisbehaves};
    {
        const Variable meeting("WYE_MEETING", folder.path().string());
        const Variable variable("WYE_MISBEHAVES", "daemon@build");
        CHECK(setup.open()->open_plugin("misbehaves").ok());
    }
    const std::vector<fs::path> files(fs::directory_iterator(folder.path()), {});
    REQUIRE(files.size() == 1);
    const int process = std::stoi(files[0].filename().string());
    // A killed process is a zombie (Z) until its parent takes the exit status.
    const auto is_alive = [&] {
        std::ifstream status("/proc/" + std::to_string(process) + "/stat");
        std::string number, name, state;
        return static_cast<bool>(status >> number >> name >> state) && state != "Z" && state != "X";
    };
    for (int i = 0; i < 1000 && is_alive(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK_FALSE(is_alive());
}

TEST_CASE("a verdict does not count under other limits of the process") {
    Setup setup;
    setup.paths = {kMisbehaves};
    const auto state = [&] { return setup.open()->open_plugin("misbehaves")->probe; };
    CHECK(state() == ProbeState::child);
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit less = before;
    less.rlim_cur = before.rlim_cur - 1;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &less) == 0);
    const ProbeState other = state();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(other == ProbeState::child);
    CHECK(state() == ProbeState::remembered);
    // Another memory limit of the probe does not matter to a good verdict.
    setup.probe.memory = std::uint64_t{1} << 30U;
    CHECK(state() == ProbeState::remembered);
}

TEST_CASE(
    "plugins are probed if the application ignores SIGCHLD or closed its standard descriptors") {
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

TEST_CASE("no helper outlives its registry, well or badly ended") {
    for (const char* fault : {"", "crash@query", "thread@init"}) {
        CAPTURE(fault);
        const Variable variable("WYE_MISBEHAVES", fault);
        Setup setup;
        setup.paths = {kMisbehaves};
        setup.probe.mode = ProbeMode::child;
        (void)setup.open()->open_plugin("misbehaves");
        CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
        CHECK(errno == ECHILD);  // neither a process nor a zombie
    }
}

TEST_CASE("plugins are probed side by side") {
    Setup setup;
    const TemporaryFolder plugins;
    const TemporaryFolder meeting;
    setup.paths.clear();
    for (const char* name : {"one", "two", "three", "four"}) {
        setup.paths.push_back(plugins.path() / (std::string(name) + ".so"));
        fs::copy_file(kMisbehaves, setup.paths.back());
    }
    setup.probe.mode = ProbeMode::child;
    setup.probe.describe = true;
    // Each plugin waits in `init` until all four are there.
    const Variable variable("WYE_MISBEHAVES", "meets@init");
    const Variable place("WYE_MEETING", meeting.path().string());
    const auto registry = setup.open();
    (void)registry->devices(*parse_selector("auto"));
    for (const char* name : {"one", "two", "three", "four"}) {
        CAPTURE(name);
        CHECK(registry->open_plugin(name).ok());
        CHECK(fs::exists(meeting.path() / name));
    }
}

// Keeps one processor busy with threads of this process; the calling thread and what it starts run
// on that processor only.
class BusyProcessor {
  public:
    explicit BusyProcessor(int threads) {
        ::sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        int processor = 0;
        while (!CPU_ISSET(processor, &before_)) ++processor;
        CPU_SET(processor, &one);
        ::sched_setaffinity(0, sizeof one, &one);
        for (int i = 0; i < threads; ++i)
            threads_.emplace_back([](const std::stop_token& stop) {
                while (!stop.stop_requested()) {
                }
            });
    }
    ~BusyProcessor() { ::sched_setaffinity(0, sizeof before_, &before_); }
    BusyProcessor(const BusyProcessor&) = delete;
    BusyProcessor& operator=(const BusyProcessor&) = delete;

  private:
    cpu_set_t before_;
    std::vector<std::jthread> threads_;
};

TEST_CASE("the time for which a probe waits for a processor does not count as the plugin's") {
    const Variable variable("WYE_MISBEHAVES", "works@init");
    Candidate candidate;
    candidate.id = "misbehaves";
    candidate.library = kMisbehaves;
    const Candidate* const one[] = {&candidate};
    std::string_view end;
    for (int seconds = 2; end != "good" && seconds <= 8; seconds *= 2) {
        Setup setup;
        setup.probe.limit = std::chrono::seconds(seconds);
        const auto host = HostServices::create({{"cache_folder", setup.cache.path().string()}}, {});
        // Half a second of work takes over twice the limit on a processor that so many share.
        const BusyProcessor busy(5 * seconds);
        const Probed probed = Prober(setup.probe, host).probe(one).front();
        REQUIRE(probed.verdict.has_value());
        end = end_name(probed.verdict->end);  // a slow disk counts as the plugin's time
        if (end == "good") CHECK(probed.verdict->took_ns > seconds * std::uint64_t{1'000'000'000});
    }
    CHECK(end == "good");
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
