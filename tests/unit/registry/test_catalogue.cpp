// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "fake_files.hpp"
#include "fakes/base.hpp"
#include "registry/choose/catalogue.hpp"
#include "wye/sdk/facts.hpp"

namespace test_catalogue {

using namespace wye;
using namespace wye::registry;

namespace {

std::atomic<int> inits{0};
std::atomic<int> shutdowns{0};

wye_status counted_init(const wye_host_table* host, std::uint32_t minor, wye_plugin_object** out,
                        wye_error** error) {
    ++inits;
    return fake::init(host, minor, out, error);
}
void counted_shutdown(wye_plugin_object* plugin) {
    ++shutdowns;
    fake::shutdown(plugin);
}

// Built-in plugins whose devices are all of one kind.
template <char Kind>
wye_status kind_fact(wye_plugin_object* plugin, std::uint32_t index, std::uint32_t key,
                     wye_fact* out) {
    if (key != WYE_FACT_KEY_DEVICE_KIND) return fake::device_fact(plugin, index, key, out);
    out->type = WYE_FACT_TEXT;
    out->text = Kind == 'g'   ? fake::text("gpu")
                : Kind == 'a' ? fake::text("accelerator")
                              : fake::text("cpu");
    return WYE_OK;
}
template <char Kind, char First, char Second, char Third>
wye_status query(const wye_hello*, const wye_plugin_desc** out) {
    static constexpr char kId[] = {First, Second, Third, 0};
    static constexpr wye_plugin_table kTable = [] {
        auto t = fake::kPluginTable;
        t.init = counted_init;
        t.shutdown = counted_shutdown;
        t.device_fact = kind_fact<Kind>;
        return t;
    }();
    static constexpr wye_plugin_desc kDesc = fake::make_desc({kId, 3}, &kTable);
    *out = &kDesc;
    return WYE_OK;
}

constexpr wye_plugin_query_fn kCpu = query<'c', 'c', 'p', 'u'>;
constexpr wye_plugin_query_fn kGpu = query<'g', 'g', 'p', 'u'>;
constexpr wye_plugin_query_fn kAcc = query<'a', 'a', 'c', 'c'>;
constexpr wye_plugin_query_fn kOcl = query<'c', 'o', 'c', 'l'>;

using Names = std::vector<std::string>;

std::unique_ptr<Registry> make(std::vector<BuiltinPlugin> builtins,
                               std::vector<std::filesystem::path> paths = {}) {
    inits = 0;
    shutdowns = 0;
    Options options;
    options.builtins = std::move(builtins);
    options.application_paths = std::move(paths);
    options.rank = [](const DeviceInfo& device) {
        const Names order = {"ocl", "cpu", "acc", "gpu"};
        const auto at = std::find(order.begin(), order.end(), device.plugin);
        return Score{static_cast<std::uint32_t>(at - order.begin()), {device.plugin, "test"}};
    };
    auto registry = Registry::create(std::move(options));
    REQUIRE(registry.ok());
    return std::move(*registry);
}

Selector parsed(const char* text) {
    auto selector = parse_selector(text);
    REQUIRE(selector.ok());
    return *selector;
}

std::vector<std::string> opened(const Registry& registry) {
    std::vector<std::string> out;
    for (const PluginInfo& plugin : registry.plugins())
        if (plugin.state != PluginState::found) out.push_back(plugin.id);
    return out;
}

}  // namespace

TEST_CASE("nothing is opened until it is asked for") {
    const auto registry = make({{"cpu", kCpu}, {"gpu", kGpu}});
    CHECK(inits == 0);
    const auto selection = registry->select(parsed("cpu"));
    REQUIRE(selection.ok());
    CHECK(selection->device->selector == "cpu:0");
    CHECK(selection->reason.find("requested by name") != std::string::npos);
    CHECK(opened(*registry) == Names{"cpu"});
    CHECK(inits == 1);
}

TEST_CASE("later preferences are opened only when earlier ones gave nothing") {
    const auto registry = make({{"cpu", kCpu}, {"gpu", kGpu}});
    CHECK(registry->select(parsed("cpu,gpu"))->device->selector == "cpu:0");
    CHECK(opened(*registry) == Names{"cpu"});
    const auto fit = [](const DeviceInfo& device) {
        return device.plugin == "cpu" ? Names{"too small"} : Names{};
    };
    const auto second = registry->select(parsed("cpu,gpu:0"), fit);
    REQUIRE(second.ok());
    CHECK(second->device->selector == "gpu:0");
    CHECK(second->reason.find("preference 2 of 2") != std::string::npos);
    REQUIRE(second->passed_over.size() == 2);
    CHECK(second->passed_over[0].subject == "cpu:0");
    CHECK(second->passed_over[0].reason == "too small");
    CHECK(second->passed_over[1].subject == "cpu:1");
    CHECK(second->passed_over[1].reason == "the fake says so");
}

TEST_CASE("auto takes the device with the most points, and says what for") {
    const auto all = make({{"ocl", kOcl}, {"cpu", kCpu}, {"acc", kAcc}, {"gpu", kGpu}});
    const auto best = all->select(parsed("auto"));
    REQUIRE(best.ok());
    CHECK(best->device->selector == "gpu:0");
    CHECK(best->reason.find("best usable device (gpu, test)") != std::string::npos);
    CHECK(all->select(parsed("auto,-gpu"))->device->selector == "acc:0");
    CHECK(all->select(parsed("-gpu,-acc"))->device->selector == "cpu:0");
    CHECK(all->select(parsed("-gpu,-acc,-cpu"))->device->selector == "ocl:0");
    CHECK(all->select(parsed("-gpu:0,-acc,-cpu"))->device->selector == "ocl:0");
}

TEST_CASE("a discarded plugin is not opened") {
    const auto registry = make({{"cpu", kCpu}, {"gpu", kGpu}});
    CHECK(registry->select(parsed("auto,-gpu"))->device->selector == "cpu:0");
    CHECK(opened(*registry) == Names{"cpu"});
}

TEST_CASE("nothing matched is an error that lists what exists and why not") {
    const auto registry = make({{"cpu", kCpu}, {"gpu", kGpu}});
    const auto none = registry->select(parsed("cuda,cpu:1,cpu:7"));
    REQUIRE_FALSE(none.ok());
    const Error& error = none.error();
    CHECK(error.code == Code::NO_DEVICE);
    CHECK(error.message.find("cpu:0, cpu:1 (unusable)") != std::string::npos);
    CHECK(error.message.find("not opened: gpu") != std::string::npos);
    CHECK(error.fix.rfind("Fix: ", 0) == 0);
    REQUIRE(error.cause != nullptr);
    CHECK(error.cause->message == "cuda: there is no plugin `cuda`; there are cpu, gpu");
    REQUIRE(error.cause->cause != nullptr);
    CHECK(error.cause->cause->message == "cpu:1: the fake says so");
    CHECK(error.cause->cause->fix == "Fix: use fake device 0");
    REQUIRE(error.cause->cause->cause != nullptr);
    CHECK(error.cause->cause->cause->message == "cpu:7: plugin `cpu` has 2 device(s)");
    CHECK(opened(*registry) == Names{"cpu"});
}

TEST_CASE("of many devices passed over the first are named, the others counted") {
    const auto registry = make({{"cpu", kCpu}});
    std::string wanted;
    for (int i = 100; i < 200; ++i) wanted += (i == 100 ? "cpu:" : ",cpu:") + std::to_string(i);
    const auto none = registry->select(parsed(wanted.c_str()));
    REQUIRE_FALSE(none.ok());
    int causes = 0;
    const Error* last = nullptr;
    for (const Error* e = none.error().cause.get(); e != nullptr; e = e->cause.get()) {
        ++causes;
        last = e;
    }
    CHECK(causes == 64);
    CHECK(none.error().cause->message == "cpu:100: plugin `cpu` has 2 device(s)");
    CHECK(last->message == "37 more were passed over");
}

TEST_CASE("a plugin that fails is a reason, not the end") {
    const auto registry =
        make({{"cpu", kCpu}}, {std::filesystem::path(WYE_FAKES) / "init_fails.so"});
    const auto best = registry->select(parsed("init_fails,cpu"));
    REQUIRE(best.ok());
    CHECK(best->device->selector == "cpu:0");
    REQUIRE(best->passed_over.size() == 2);
    CHECK(best->passed_over[0].why == PassedOver::Why::failed);
    CHECK(best->passed_over[1].why == PassedOver::Why::outranked);  // cpu:1
    CHECK(best->passed_over[0].reason.find("libfake_driver.so.1") != std::string::npos);
    CHECK(best->passed_over[0].fix == "Fix: install fake-driver");
    const auto preferred = registry->select(parsed("init_fails"), {}, Policy::prefer);
    REQUIRE(preferred.ok());
    CHECK(std::ranges::count(preferred->passed_over, "init_fails", &PassedOver::subject) == 1);
}

namespace {

// The devices and plugins that were passed over, as "subject: why", in order.
Names losers(const Selection& selection) {
    Names out;
    for (const PassedOver& one : selection.passed_over)
        out.push_back(one.subject + ": " + std::string(why_name(one.why)));
    return out;
}

}  // namespace

TEST_CASE("a choice tells every loser, those that were not tried as well") {
    const auto all = make({{"ocl", kOcl}, {"cpu", kCpu}, {"gpu", kGpu}});
    const auto best = all->select(parsed("auto"));
    REQUIRE(best.ok());
    CHECK(losers(*best) == Names{"gpu:1: outranked", "cpu:0: outranked", "cpu:1: outranked",
                                 "ocl:0: outranked", "ocl:1: outranked"});
    CHECK(best->passed_over[1].reason == "`gpu:0` is better (gpu, test)");
    const auto registry = make({{"cpu", kCpu}, {"gpu", kGpu}});
    const auto first = registry->select(parsed("cpu:0,gpu"));
    REQUIRE(first.ok());
    CHECK(losers(*first) == Names{"gpu: not_tried"});
    CHECK(opened(*registry) == Names{"cpu"});
    const auto unfit = [](const DeviceInfo& device) {
        return device.plugin == "gpu" ? Names{"too small"} : Names{};
    };
    const auto second = all->select(parsed("gpu:0,nope,-ocl,*"), unfit);
    REQUIRE(second.ok());
    CHECK(second->device->selector == "cpu:0");
    CHECK(losers(*second) == Names{"gpu:0: unfit", "nope: unmatched", "ocl: excluded",
                                   "gpu:1: unusable", "cpu:1: outranked"});
}

TEST_CASE("a policy says how binding the selector is") {
    const auto registry = make({{"ocl", kOcl}, {"cpu", kCpu}, {"gpu", kGpu}});
    const auto no_cpu = [](const DeviceInfo& device) {
        return device.plugin == "cpu" ? Names{"too small"} : Names{};
    };
    CHECK_FALSE(registry->select(parsed("cpu"), no_cpu, Policy::require).ok());
    const auto preferred = registry->select(parsed("cpu,-gpu"), no_cpu, Policy::prefer);
    REQUIRE(preferred.ok());
    CHECK(preferred->device->selector == "ocl:0");
    CHECK(preferred->reason.starts_with("no device that `cpu,-gpu` names can be used; auto: "));
    CHECK(registry->select(parsed("cpu,gpu"), {}, Policy::prefer)->device->selector == "cpu:0");
    CHECK(registry->select(parsed("ocl,gpu:0"), {}, Policy::automatic)->device->selector ==
          "gpu:0");
    CHECK(registry->select(parsed("ocl,cpu"), {}, Policy::automatic)->device->selector == "cpu:0");
    CHECK_FALSE(registry->select(parsed("cpu"), no_cpu, Policy::automatic).ok());
}

TEST_CASE("devices are found by id, name and properties; the best of them is taken") {
    const auto registry = make({{"ocl", kOcl}, {"cpu", kCpu}, {"gpu", kGpu}});
    const auto all = registry->devices(parsed("*"));
    REQUIRE(all.size() == 6);
    CHECK(all[0]->selector == "gpu:0");
    for (const auto& device : all) {
        const auto by_id = registry->devices(parsed(("@" + device->id).c_str()));
        REQUIRE(by_id.size() == 1);
        CHECK(by_id[0]->selector == device->selector);
        CHECK(registry->devices(parsed((device->plugin + ":@" + device->id).c_str())).size() == 1);
    }
    CHECK(registry->devices(parsed("*[int64]")).size() == 6);
    CHECK(registry->devices(parsed("cpu[!int64]")).empty());
    CHECK(registry->select(parsed("*[kind=cpu]"))->device->selector == "cpu:0");
    CHECK(registry->select(parsed("*[kind=cpu],-cpu"))->device->selector == "ocl:0");
    CHECK(registry->select(parsed(("*,-@" + all[0]->id).c_str()))->device->selector == "cpu:0");
    CHECK(registry->devices(parsed("\"FAKE DEVICE\"")).size() == 3);
    for (const auto& one : registry->physical().devices)
        CHECK(registry->devices(parsed(("@" + one.id).c_str())).size() == one.devices.size());
}

TEST_CASE("an entry that names nothing is an error with the nearest spelling") {
    const auto registry = make({{"ocl", kOcl}, {"cpu", kCpu}, {"gpu", kGpu}});
    const std::string id = registry->devices(parsed("cpu:0"))[0]->id;
    std::string wrong = id;
    wrong.back() = wrong.back() == 'x' ? 'y' : 'x';
    const auto fix_of = [&](const std::string& text) {
        const auto none = registry->select(parsed(text.c_str()));
        REQUIRE_FALSE(none.ok());
        CHECK(none.error().code == Code::NO_DEVICE);
        const auto listed = registry->list(parsed(text.c_str()));
        CHECK(listed.devices.empty());
        REQUIRE(listed.unmatched.size() == 1);
        CHECK(listed.unmatched[0].fix == none.error().fix);
        return none.error().fix;
    };
    CHECK(fix_of("gpuu") == "Fix: write `gpu`, or install the plugin");
    CHECK(fix_of("cpu:7") == "Fix: write `cpu:1`");
    CHECK(fix_of("@" + wrong) == "Fix: write `@" + id + "`");
    CHECK(fix_of("\"nothing like it\"").starts_with("Fix: write a part of a name"));
    CHECK(fix_of("cpu[memory_bytes>=1TiB]").starts_with("Fix: ask for less"));
    // The remedy is a device of the plugin that was meant, also if a program limits the choice.
    const auto any = [](const DeviceInfo&) { return Names{}; };
    CHECK(registry->select(parsed("ocl:7"), any).error().fix.find("`ocl:0`") != std::string::npos);
    // If one entry of a list matches nothing, the other entries still choose a device.
    CHECK(registry->list(parsed("cpu,nope")).devices.size() == 2);
    REQUIRE(registry->list(parsed("cpu,nope")).unmatched.size() == 1);
    CHECK(registry->list(parsed("cpu,nope")).unmatched[0].subject == "nope");
    CHECK(registry->select(parsed("nope,cpu")).ok());
}

TEST_CASE("listing follows the entries, without repeats") {
    const auto registry = make({{"cpu", kCpu}, {"gpu", kGpu}});
    const auto names = [&](const char* text) {
        Names out;
        for (const auto& device : registry->devices(parsed(text))) out.push_back(device->selector);
        return out;
    };
    CHECK(names("cpu") == Names{"cpu:0", "cpu:1"});
    CHECK(names("gpu:1,gpu:*") == Names{"gpu:1", "gpu:0"});
    CHECK(names("auto,-gpu:0") == Names{"gpu:1", "cpu:0", "cpu:1"});
    CHECK(names("cpu:5").empty());
}

TEST_CASE("device ids are stable, and differ between devices") {
    const auto one = make({{"cpu", kCpu}, {"gpu", kGpu}});
    const auto two = make({{"gpu", kGpu}, {"cpu", kCpu}});
    const auto a = one->devices(parsed("cpu,gpu"));
    const auto b = two->devices(parsed("cpu,gpu"));
    REQUIRE(a.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(a[i]->id.size() == 16);
        CHECK(a[i]->id == b[i]->id);
        for (std::size_t j = 0; j < i; ++j) CHECK(a[i]->id != a[j]->id);
    }
}

TEST_CASE("many threads open a plugin once") {
    const auto registry = make({{"cpu", kCpu}});
    std::array<std::thread, 8> threads;
    std::atomic<int> good{0};
    for (auto& thread : threads)
        thread = std::thread([&] {
            if (registry->open_plugin("cpu").ok()) ++good;
        });
    for (auto& thread : threads) thread.join();
    CHECK(good == 8);
    CHECK(inits == 1);
}

TEST_CASE("a device outlives its registry, and its plugin is shut down after it") {
    auto registry = make({{"cpu", kCpu}});
    const auto info = registry->select(parsed("cpu"))->device;
    {
        auto device = registry->open_device(*info);
        REQUIRE(device.ok());
        registry.reset();
        CHECK(shutdowns == 0);
        CHECK((*device)->info().selector == "cpu:0");
        auto buffer = NativeBuffer::create(*device, 64, 16, "keys");
        REQUIRE(buffer.ok());
        *device = nullptr;
        CHECK(shutdowns == 0);  // the buffer holds the device, the device its plugin
    }
    CHECK(shutdowns == 1);
}

TEST_CASE("bytes go through a device's queue") {
    const auto registry = make({{"cpu", kCpu}});
    const auto device = registry->open_device(*registry->select(parsed("cpu"))->device);
    REQUIRE(device.ok());
    const auto buffer = NativeBuffer::create(*device, 8, 8, "");
    auto queue = NativeQueue::create(*device, "main");
    REQUIRE(buffer.ok());
    CHECK(buffer->map().error().code == Code::UNIMPLEMENTED);  // the plugin has no such slot
    CHECK(buffer->sync(0, 8, WYE_SYNC_TO_HOST).ok());          // mappings are coherent then
    REQUIRE(queue.ok());
    const std::array<char, 8> sent = {'w', 'y', 'e', '-', 't', 'e', 's', 't'};
    std::array<char, 8> got{};
    std::array<wye_operation, 2> operations{};
    operations[0].kind = WYE_OPERATION_UPLOAD;
    operations[0].u.transfer = {buffer->object(), 0, 8, sent.data(), nullptr};
    operations[1].kind = WYE_OPERATION_DOWNLOAD;
    operations[1].u.transfer = {buffer->object(), 0, 8, nullptr, got.data()};
    const auto value = queue->submit(operations);
    REQUIRE(value.ok());
    CHECK(queue->wait(*value).ok());
    CHECK(*queue->reached(*value));
    CHECK_FALSE(*queue->reached(*value + 1));
    CHECK(queue->wait(*value + 1, 0).error().code == Code::TIMEOUT);
    CHECK(queue->timing(*value).error().code == Code::UNIMPLEMENTED);
    CHECK(got == sent);
    const auto program = NativeProgram::create(*device, wye_artifact{});
    REQUIRE_FALSE(program.ok());
    CHECK(program.error().code == Code::COMPILE_FAILED);
    CHECK(program.error().subject == "cpu:0");
    CHECK((*device)->prepare().ok());
    CHECK((*device)->flush().error().code == Code::UNIMPLEMENTED);
    CHECK_FALSE((*device)->lost());
}

TEST_CASE("an unusable device is not opened") {
    const auto registry = make({{"cpu", kCpu}});
    const auto plugin = registry->open_plugin("cpu");
    REQUIRE(plugin.ok());
    const auto device = registry->open_device(*plugin->devices[1]);
    REQUIRE_FALSE(device.ok());
    CHECK(device.error().code == Code::NO_DEVICE);
    CHECK(device.error().message.find("the fake says so") != std::string::npos);
    CHECK(device.error().fix == "Fix: use fake device 0");
}

TEST_CASE("a request for built-in plugins alone looks at no file") {
    FakeFiles files;
    files.plugin("/p", "gpu");
    const auto create = [&files](Config config = {}, Environment environment = {}) {
        Options options;
        options.builtins = {{"cpu", kCpu}};
        options.application_paths = {"/p"};
        options.config = std::move(config);
        options.environment = std::move(environment);
        options.files = &files;
        return Registry::create(std::move(options));
    };
    const auto registry = *create();
    for (const char* selector : {"cpu", "cpu:0", "cpu,cpu:0", "cpu[int64]"})
        CHECK(registry->select(parsed(selector)).ok());
    CHECK(registry->open_plugin("cpu").ok());
    CHECK(files.looks == 0);
    CHECK(files.touched.empty());

    // Any other selector may mean the plugin in the file, so the search runs.
    const auto ids = [](const Registry& of) {
        Names out;
        for (const PluginInfo& plugin : of.plugins()) out.push_back(plugin.id);
        return out;
    };
    CHECK(ids(*registry) == Names{"cpu", "gpu"});
    for (const char* selector : {"cpu:7", "-cpu:0", "gpu", "auto"}) {
        const std::size_t looks = files.looks;
        const auto fresh = *create();
        CHECK(files.looks == looks);
        (void)fresh->select(parsed(selector));
        CHECK(files.looks > looks);
    }
    // One search for all threads that ask at once.
    const auto asked = *create();
    files.looks = 0;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] { wrong += ids(*asked) != Names{"cpu", "gpu"} ? 1 : 0; });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    const std::size_t once = files.looks;
    CHECK(ids(*asked).size() == 2);
    CHECK(files.looks == once);

    // The answers here are known only after a search.
    files.looks = 0;
    CHECK(ids(**create({}, {{"WYE_PLUGINS_DISABLE", "cpu"}})) == Names{"gpu"});
    CHECK(files.looks > 0);
    CHECK(create({{std::string(kLayersKey), "nothing"}}).error().code == Code::NOT_FOUND);
}

TEST_CASE("a list of built-in plugins that makes no sense is refused") {
    for (const std::vector<BuiltinPlugin>& builtins : {std::vector<BuiltinPlugin>{{"cpu", nullptr}},
                                                       {{"CPU", kCpu}},
                                                       {{"cpu", kCpu}, {"cpu", kCpu}}}) {
        Options options;
        options.builtins = builtins;
        CHECK(Registry::create(std::move(options)).error().code == Code::INVALID_ARGUMENT);
    }
}

TEST_CASE("facts are read as the header types them, and go back to the C form") {
    const auto registry = make({{"cpu", kCpu}});
    const Facts& facts = registry->select(parsed("cpu"))->device->facts;
    CHECK(facts.has(WYE_FACT_KEY_INT64));
    CHECK_FALSE(facts.has(WYE_FACT_KEY_F64));        // reported as false
    CHECK_FALSE(facts.has(WYE_FACT_KEY_STORAGE16));  // not reported
    CHECK(facts.number(WYE_FACT_KEY_L1_CACHE_BYTES) == 32768);
    CHECK_FALSE(facts.number(WYE_FACT_KEY_MAX_SHARED_BYTES).has_value());
    CHECK(facts.list(WYE_FACT_KEY_SUBGROUP_SIZES).size() == 2);
    CHECK(facts.text(WYE_FACT_KEY_DEVICE_KIND) == "cpu");
    wye_fact raw = wye::sdk::facts::empty();
    REQUIRE(facts.to_abi(WYE_FACT_KEY_MAX_WORKGROUP_SIZE, &raw));
    CHECK(raw.type == WYE_FACT_U32X3);
    CHECK(raw.xyz[2] == 4);
    REQUIRE(facts.to_abi(WYE_FACT_KEY_L1_CACHE_BYTES, &raw));
    CHECK(std::string(raw.source.data, raw.source.size) == "invented");
    CHECK_FALSE(facts.to_abi(WYE_FACT_KEY_UUID, &raw));
    CHECK(find_fact("max_workgroup_size")->key == WYE_FACT_KEY_MAX_WORKGROUP_SIZE);
    CHECK(find_fact("nonsense") == nullptr);
}

}  // namespace test_catalogue
