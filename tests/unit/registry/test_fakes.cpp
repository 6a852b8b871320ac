// SPDX-License-Identifier: Apache-2.0
// Each defective plugin yields exactly one refusal with its own stage and code, and other plugins
// load.
#include <doctest/doctest.h>

#include <dlfcn.h>

#include <array>
#include <cfenv>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "records.hpp"
#include "registry/choose/catalogue.hpp"
#include "registry/open/driver_objects.hpp"
#include "registry/open/process_state.hpp"
#include "registry/report/report.hpp"
#include "temporary_folder.hpp"

namespace test_fakes {

using namespace wye;
using namespace wye::registry;

namespace {

std::unique_ptr<Registry> open(std::vector<std::filesystem::path> paths) {
    Options options;
    options.application_paths = std::move(paths);
    auto registry = Registry::create(std::move(options));
    REQUIRE(registry.ok());
    return std::move(*registry);
}

std::filesystem::path fake(const std::string& name) {
    return std::filesystem::path(WYE_FAKES) / (name + ".so");
}

std::vector<Record> refusals(const Registry& registry) {
    std::vector<Record> out;
    for (Record& record : registry.records())
        if (record.severity == Severity::refused) out.push_back(std::move(record));
    return out;
}

// Opens `id` and a healthy plugin. Checks that one is refused, and that the healthy plugin works.
void expect(std::vector<std::filesystem::path> paths, const std::string& id, Stage stage, Code code,
            const std::string& text) {
    CAPTURE(id);
    paths.push_back(fake("healthy"));
    const auto registry = open(std::move(paths));
    const auto opened = registry->open_plugin(id);
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().code == code);
    const auto records = refusals(*registry);
    REQUIRE(records.size() == 1);
    CHECK(stage_name(records[0].stage) == stage_name(stage));
    CHECK(code_name(records[0].code) == code_name(code));
    CHECK(records[0].plugin == id);
    CHECK(records[0].fix.rfind("Fix: ", 0) == 0);
    CAPTURE(records[0].message);
    CHECK((records[0].message + records[0].loader_text).find(text) != std::string::npos);
    // A second call gets the same answer, without a second try.
    CHECK(registry->open_plugin(id).error().code == code);
    CHECK(refusals(*registry).size() == 1);
    const auto healthy = registry->open_plugin("healthy");
    REQUIRE(healthy.ok());
    CHECK(healthy->devices.size() == 2);
}

}  // namespace

TEST_CASE("each defect has its stage and code") {
    struct Case {
        const char* name;
        Stage stage;
        Code code;
        const char* text;
    };
    const Case cases[] = {
        {"no_export", Stage::negotiated, Code::BAD_PLUGIN, "wye_plugin_query_1"},
        {"undefined_symbol", Stage::opened, Code::BAD_PLUGIN, "wye_nobody_defines_this"},
        {"old_major", Stage::negotiated, Code::ABI_MISMATCH, "major 0"},
        {"future_minor", Stage::negotiated, Code::ABI_MISMATCH, "needs ABI 1.2"},
        {"other_draft", Stage::negotiated, Code::ABI_MISMATCH, "draft 3 of ABI 1.0"},
        {"first_draft", Stage::negotiated, Code::ABI_MISMATCH, "draft 1 of ABI 1.0"},
        {"small_pointers", Stage::negotiated, Code::ABI_MISMATCH, "4 bytes"},
        {"critical_chain", Stage::negotiated, Code::UNSUPPORTED_EXTENSION, "extension 77"},
        {"endless_chain", Stage::negotiated, Code::BAD_PLUGIN, "more than 64"},
        {"short_table", Stage::negotiated, Code::BAD_PLUGIN, "`shutdown`"},
        {"short_desc", Stage::negotiated, Code::BAD_PLUGIN, "the plugin description has"},
        {"lying_size", Stage::negotiated, Code::BAD_PLUGIN, "4294967288"},
        {"missing_slot", Stage::negotiated, Code::BAD_PLUGIN, "`probe_devices`"},
        {"half_pair", Stage::negotiated, Code::BAD_PLUGIN, "`translate_release`"},
        {"wrong_id", Stage::negotiated, Code::BAD_PLUGIN, "somebody_else"},
        {"null_desc", Stage::negotiated, Code::PLUGIN_FAULT, "without an object"},
        {"throws_query", Stage::negotiated, Code::PLUGIN_FAULT, "thrown by the query"},
        {"throws_init", Stage::initialised, Code::PLUGIN_FAULT, "thrown by init"},
        {"null_object", Stage::initialised, Code::PLUGIN_FAULT, "`init`"},
        {"init_fails", Stage::initialised, Code::MISSING_DEPENDENCY, "libfake_driver.so.1"},
        {"silent_failure", Stage::initialised, Code::DRIVER, "without details"},
        {"throws_probe", Stage::enumerated, Code::PLUGIN_FAULT, "`probe_devices` threw"},
        {"many_devices", Stage::enumerated, Code::PLUGIN_FAULT, "4294967295"},
    };
    for (const Case& c : cases) expect({fake(c.name)}, c.name, c.stage, c.code, c.text);
}

TEST_CASE("files that are no plugin for this machine") {
    const TemporaryFolder folder;
    const std::string healthy = TemporaryFolder::read(fake("healthy"));
    REQUIRE(healthy.size() > 64);

    std::string other_machine = healthy;
    other_machine[18] = 40;  // e_machine: 32-bit ARM
    expect({folder.write("other_machine.so", other_machine)}, "other_machine", Stage::architecture,
           Code::ABI_MISMATCH, "machine 40");

    std::string other_class = healthy;
    other_class[4] = 1;  // ELFCLASS32
    expect({folder.write("other_class.so", other_class)}, "other_class", Stage::architecture,
           Code::ABI_MISMATCH, "ELF class 1");

    expect({folder.write("text.so", "this is no shared object, only text\n")}, "text",
           Stage::architecture, Code::BAD_PLUGIN, "not a shared object");
    expect({folder.write("empty.so", "")}, "empty", Stage::architecture, Code::BAD_PLUGIN,
           "not a shared object");
    for (const std::size_t keep :
         {std::size_t{40}, std::size_t{200}, std::size_t{900}, std::size_t{5000}}) {
        const std::string name = "cut" + std::to_string(keep);
        expect({folder.write(name + ".so", healthy.substr(0, keep))}, name, Stage::architecture,
               Code::BAD_PLUGIN, name + ".so");
    }

    // The plugin links to a library. The library's name is changed to one that no folder has.
    std::string needs = TemporaryFolder::read(fake("needs_gone"));
    const std::size_t name = needs.find("libwye_gone.so");
    REQUIRE(name != std::string::npos);
    needs.replace(name, 14, "libwye_none.so");
    expect({folder.write("needs_gone.so", needs)}, "needs_gone", Stage::opened,
           Code::MISSING_DEPENDENCY, "libwye_none.so");
}

TEST_CASE("bad manifests and open folders are refused, their neighbours load") {
    const TemporaryFolder folder;
    folder.plugin("healthy");
    folder.write("huge.wye.json", std::string(kManifestBytes + 1, ' '));
    folder.write("deep.wye.json", std::string(20000, '['));
    folder.write("bad.wye.json", "{\"schema\": 1,");
    folder.write("binary.wye.json", std::string("\x7f\x45\x4c\x46\0\0", 6));
    folder.plugin("plain_chain");
    using std::filesystem::perms;
    std::filesystem::permissions(folder.path() / "plain_chain.so", perms::others_write,
                                 std::filesystem::perm_options::add);
    Options options;
    options.environment = {{"WYE_PLUGIN_PATH", folder.path().string()}};
    auto created = Registry::create(std::move(options));
    REQUIRE(created.ok());
    Registry& registry = **created;
    const auto records = refusals(registry);
    REQUIRE(records.size() == 5);
    int manifests = 0;
    int trust = 0;
    for (const Record& record : records) {
        if (record.code == Code::BAD_MANIFEST && record.stage == Stage::manifest) ++manifests;
        if (record.code == Code::NOT_TRUSTED && record.stage == Stage::trust) ++trust;
    }
    CHECK(manifests == 4);
    CHECK(trust == 1);
    REQUIRE(registry.plugins().size() == 1);
    CHECK(registry.open_plugin("healthy").ok());
    CHECK(registry.open_plugin("plain_chain").error().code == Code::NOT_FOUND);
}

TEST_CASE("plugins of later minors and with plain extensions load") {
    const auto registry = open({fake("newer_minor"), fake("plain_chain")});
    const auto newer = registry->open_plugin("newer_minor");
    REQUIRE(newer.ok());
    CHECK(newer->abi_minor == WYE_ABI_MINOR + 3);
    CHECK(registry->open_plugin("plain_chain").ok());
    CHECK(records_of(*registry).empty());
}

TEST_CASE("of two plugins of one id the higher version is opened") {
    const TemporaryFolder one;
    const TemporaryFolder two;
    one.plugin("healthy", "healthy", "0.9");
    two.plugin("healthy", "healthy", "0.10");
    const auto registry = open({one.path(), two.path()});
    REQUIRE(registry->plugins().size() == 1);
    CHECK(registry->plugins()[0].path == (two.path() / "healthy.so").string());
    REQUIRE(registry->records().size() == 1);
    CHECK(registry->records()[0].code == Code::DUPLICATE);
}

TEST_CASE("faults of devices stay with the device") {
    const auto registry = open(
        {fake("null_device"), fake("bad_device_table"), fake("null_buffer"), fake("lying_facts")});

    const auto null_device = registry->open_plugin("null_device");
    REQUIRE(null_device.ok());
    const auto opened = registry->open_device(*null_device->devices[0]);
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().code == Code::PLUGIN_FAULT);
    CHECK(opened.error().message.find("`open_device`") != std::string::npos);

    const auto bad_table = registry->open_plugin("bad_device_table");
    REQUIRE(bad_table.ok());
    const auto refused = registry->open_device(*bad_table->devices[0]);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Code::BAD_PLUGIN);
    CHECK(refused.error().message.find("`buffer_destroy`") != std::string::npos);

    const auto null_buffer = registry->open_plugin("null_buffer");
    REQUIRE(null_buffer.ok());
    const auto device = registry->open_device(*null_buffer->devices[0]);
    REQUIRE(device.ok());
    CHECK(NativeBuffer::create(*device, 16, 16, "").error().code == Code::PLUGIN_FAULT);
    CHECK(NativeQueue::create(*device, "").error().code == Code::PLUGIN_FAULT);
    const auto program = NativeProgram::create(*device, wye_artifact{});
    CHECK(program.error().code == Code::PLUGIN_FAULT);
    CHECK(program.error().message.find("`program_create`") != std::string::npos);

    const auto facts = registry->open_plugin("lying_facts");
    REQUIRE(facts.ok());
    CHECK(facts->devices[0]->facts.all().empty());  // absent, rather than wrong
    int warnings = 0;
    for (const Record& record : records_of(*registry)) {
        CHECK(record.severity == Severity::warning);
        CHECK(record.code == Code::PLUGIN_FAULT);
        ++warnings;
    }
    CHECK(warnings == 6);  // three facts of two devices
}

TEST_CASE("a device that is described badly is listed, with a warning for each oddity") {
    const auto registry = open({fake("vague_devices")});
    const auto plugin = registry->open_plugin("vague_devices");
    REQUIRE(plugin.ok());
    REQUIRE(plugin->devices.size() == 3);
    CHECK(plugin->devices[0]->usable);
    CHECK_FALSE(plugin->devices[1]->usable);
    std::vector<std::string> told;
    for (const Record& record : records_of(*registry)) {
        CHECK(record.severity == Severity::warning);
        CHECK(record.stage == Stage::enumerated);
        CHECK(record.code == Code::PLUGIN_FAULT);
        CHECK(record.fix.rfind("Fix: ", 0) == 0);
        told.push_back(record.message);
    }
    const std::string head = "device `vague_devices:";
    CHECK(told == std::vector<std::string>{
                      head + "0` is described wrongly: it has no name",
                      head + "0` is described wrongly: it is usable, but takes no artifact format, "
                             "so no program runs on it",
                      head + "1` is described wrongly: its state is 7, neither usable (0) nor "
                             "unusable (1), and counts as unusable",
                      head + "2` is described wrongly: it is unusable without a reason"});
}

TEST_CASE("the records of one plugin are bounded, and say how many are left out") {
    const auto registry = open({fake("lies_often")});
    const auto opened = registry->open_plugin("lies_often");
    REQUIRE(opened.ok());
    CHECK(opened->devices.size() == 300);
    const std::vector<Record> records = records_of(*registry);
    REQUIRE(records.size() == 64);
    CHECK(records[62].code == Code::LIMIT_EXCEEDED);
    CHECK(records[62].message == "537 more records of the plugin are left out");
    CHECK(records[62].plugin == "lies_often");
    CHECK(records[63].message.find("lies_often:299") != std::string::npos);
}

// The state of the process and the calling thread that a plugin may disturb.
struct Surroundings {
    Surroundings() {
        for (int signal = 1; signal < 32; ++signal)
            ::sigaction(signal, nullptr, &actions[static_cast<std::size_t>(signal)]);
        ::sigaltstack(nullptr, &stack);
        ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        rounding = std::fegetround();
    }
    void check_same(const Surroundings& now) const {
        for (int signal = 1; signal < 32; ++signal) {
            CAPTURE(signal);
            const auto at = static_cast<std::size_t>(signal);
            const bool same = actions[at].sa_sigaction == now.actions[at].sa_sigaction;
            CHECK(same);
            CHECK(sigismember(&mask, signal) == sigismember(&now.mask, signal));
        }
        CHECK(now.stack.ss_sp == stack.ss_sp);
        CHECK(now.rounding == rounding);
    }
    std::array<struct sigaction, 32> actions{};
    stack_t stack{};
    sigset_t mask{};
    int rounding = 0;
};

TEST_CASE("handlers, signal mask, alternate stack and rounding survive a plugin's init and end") {
    const Surroundings before;
    auto registry = open({fake("disturbs_process")});
    REQUIRE(registry->open_plugin("disturbs_process").ok());
    before.check_same(Surroundings());
    registry.reset();
    before.check_same(Surroundings());
}

void of_the_application(int) {}

TEST_CASE("a handler that the application installs while a plugin is called stays") {
    struct sigaction before {};
    struct sigaction mine {};
    struct sigaction after {};
    mine.sa_handler = of_the_application;
    {
        const ProcessStateGuard guard;
        REQUIRE(::sigaction(SIGUSR1, &mine, &before) == 0);
    }
    REQUIRE(::sigaction(SIGUSR1, nullptr, &after) == 0);
    const bool stayed = after.sa_handler == of_the_application;
    CHECK(stayed);
    ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("code of plugins and of what they link is a driver's, of the executable it is not") {
    DriverObjects objects;
    objects.look(false);
    CHECK_FALSE(objects.has(reinterpret_cast<const void*>(&of_the_application)));
    void* const library = ::dlopen(fake("turns_wrong").c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    const void* const code = ::dlsym(library, WYE_PLUGIN_QUERY_SYMBOL);
    REQUIRE(code != nullptr);
    objects.look(false);
    CHECK_FALSE(objects.has(code));  // loaded while no plugin was called
    objects.add(code);
    CHECK(objects.has(code));
    // libstdc++, to which the fake plugin links, counts as a driver's. libc does not.
    CHECK(objects.has(reinterpret_cast<const void*>(::dlsym(RTLD_DEFAULT, "_ZSt9terminatev"))));
    CHECK_FALSE(objects.has(reinterpret_cast<const void*>(::dlsym(RTLD_DEFAULT, "qsort"))));
    objects.add(reinterpret_cast<const void*>(&of_the_application));
    CHECK_FALSE(objects.has(reinterpret_cast<const void*>(&of_the_application)));
    ::dlclose(library);
}

TEST_CASE("a system library that the manifest needs is looked for before the plugin is opened") {
    const TemporaryFolder folder;
    folder.plugin("healthy", "healthy");
    const auto manifest = folder.path() / "healthy.wye.json";
    const std::string plain = TemporaryFolder::read(manifest);
    REQUIRE(plain.rfind('}') != std::string::npos);
    const auto need = [&](const std::string& needs) {
        folder.write("healthy.wye.json",
                     plain.substr(0, plain.rfind('}')) + ", \"needs\": [" + needs + "]}");
    };
    const auto opened = [&](Config config) {
        Options options;
        options.application_paths = {manifest};
        options.config = std::move(config);
        auto registry = Registry::create(std::move(options));
        REQUIRE(registry.ok());
        const auto plugin = (*registry)->open_plugin("healthy");
        const auto records = refusals(**registry);
        CHECK(records.empty() == plugin.ok());
        return records.empty() ? Record{} : records.front();
    };
    need("{\"soname\": \"libm.so.6\"}");
    CHECK(opened({}).message.empty());
    need(
        "{\"soname\": \"libm.so.6\"}, {\"soname\": \"libwye-nowhere.so.7\", "
        "\"min_version\": \"7.1\", \"package\": \"libwye-nowhere7\"}");
    const Record record = opened({});
    CHECK(stage_name(record.stage) == "needs");
    CHECK(record.code == Code::MISSING_DEPENDENCY);
    CHECK(record.plugin == "healthy");
    CHECK(record.message.find("`libwye-nowhere.so.7` (7.1 or newer)") != std::string::npos);
    CHECK(record.loader_text.find("libwye-nowhere.so.7") != std::string::npos);
    CHECK(record.fix.rfind("Fix: install it (Debian: `libwye-nowhere7`)", 0) == 0);
    CHECK(record.fix.find("`healthy.library`") != std::string::npos);
    // The configuration names another library, so the manifest's needs do not matter.
    CHECK(opened({{"healthy.library", "libother.so"}}).message.empty());
}

TEST_CASE("the null plugin loads and has no devices") {
    const auto registry = open({std::filesystem::path(WYE_NULL_PLUGIN) / "wye_null.wye.json"});
    const auto null = registry->open_plugin("null");
    REQUIRE(null.ok());
    CHECK(null->devices.empty());
    CHECK(null->version == "0.1.0");
    CHECK(null->backend == "null");
    CHECK(records_of(*registry).empty());
}

}  // namespace test_fakes
