// SPDX-License-Identifier: Apache-2.0
//
// The end of a context: destroyed during calls, with a time limit and from callbacks, and inherited
// by a forked child. A watchdog ends a test that hangs.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "take.hpp"
#include "wye/buffer.h"
#include "wye/wye.hpp"

namespace {

using wye::Code;
using namespace std::chrono_literals;

struct Watchdog {
    Watchdog() { alarm(600); }
    ~Watchdog() { alarm(0); }
};

using api_test::take;

wye_context* create(wye_log_fn log = nullptr, void* user = nullptr, const char* plugin = nullptr) {
    wye_context_desc desc;
    WYE_INIT(desc);
    desc.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT;
    if (plugin == nullptr) desc.flags |= WYE_CONTEXT_NO_PLUGINS;
    desc.log = log;
    desc.log_user = user;
    const wye_string path = wye_str(plugin);
    desc.plugin_paths = &path;
    desc.plugin_path_count = plugin == nullptr ? 0 : 1;
    const wye_key_value unprobed = {wye_str("probe.mode"), wye_str("off")};
    desc.config = &unprobed;
    desc.config_count = 1;
    wye_context* out = nullptr;
    REQUIRE(wye_context_create(&desc, &out, nullptr) == WYE_OK);
    return out;
}

wye_device open_cpu(wye_context* context) {
    wye_device device = 0;
    REQUIRE(wye_device_open(context, wye_str("cpu"), 0, &device, nullptr) == WYE_OK);
    return device;
}

constexpr const char* kSpin = R"(wye 1; program spin; workgroup 64; param rounds: u32;
output r: u32[64]; grid elements 64;
main { let i = global_id.x; var v = i;
for k in 0u..rounds { v ^= v << 13u; v ^= v >> 17u; v ^= v << 5u; } r[i] = v; })";

wye_program load_spin(wye_context* context) {
    wye_program_source source;
    WYE_INIT(source);
    source.text = wye_str(kSpin);
    wye_program program = 0;
    REQUIRE(wye_program_create(context, &source, &program, nullptr) == WYE_OK);
    return program;
}

wye_status spin(wye_context* context, wye_program program, wye_device device, std::uint64_t rounds,
                wye_error** error = nullptr) {
    std::vector<std::uint32_t> out(64);
    wye_argument argument{};
    argument.kind = WYE_ARGUMENT_HOST;
    argument.output = out.data();
    argument.output_size = 256;
    wye_dispatch_desc desc;
    WYE_INIT(desc);
    desc.program = program;
    desc.device = device;
    desc.arguments = &argument;
    desc.argument_count = 1;
    desc.params = &rounds;
    desc.param_count = 1;
    return wye_dispatch(context, &desc, nullptr, error);
}

// ---- Calls that race with the end -----------------------------------------------------------

TEST_CASE("destroying waits for a dispatch on another thread, which ends as usual") {
    const Watchdog watchdog;
    wye_context* const context = create();
    const wye_device device = open_cpu(context);
    const wye_program program = load_spin(context);
    REQUIRE(spin(context, program, device, 1) == WYE_OK);
    const auto submits = [&] {
        wye_counters counters;
        WYE_INIT(counters);
        REQUIRE(wye_context_counters(context, &counters, nullptr) == WYE_OK);
        return counters.submits;
    };
    const std::uint64_t before = submits();
    wye_status status = WYE_INTERNAL;
    std::thread other([&] { status = spin(context, program, device, 20'000'000); });
    while (submits() == before) std::this_thread::yield();
    wye_context_destroy(context);
    other.join();
    CHECK(status == WYE_OK);
}

struct Resolving {
    std::atomic<bool> inside = false, go_on = false;
    wye_context* context = nullptr;
    wye_status own = WYE_OK, other = WYE_INTERNAL, destroyed = WYE_OK;
};

// Creates a program with a variant in a file. The call returns only after the callback `resolve`,
// which loads that file.
wye_status create_with(Resolving& state, wye_resolve_fn resolve) {
    wye_program_source source;
    WYE_INIT(source);
    source.text = wye_str(
        "wye 1; program v; workgroup 1; output r: u32[1]; grid elements 1;\n"
        "variant \"opencl-c\" entry \"main\" file \"code.cl\";\n"
        "main { r[0] = 1u; }");
    source.resolve = resolve;
    source.resolve_user = &state;
    wye_program program = 0;
    return wye_program_create(state.context, &source, &program, nullptr);
}

TEST_CASE("calls that begin while a context is being destroyed are refused, those inside end") {
    const Watchdog watchdog;
    Resolving state;
    state.context = create();
    std::thread inside([&] {
        (void)create_with(state, [](void* user, wye_string, wye_bytes* out) -> wye_status {
            auto& s = *static_cast<Resolving*>(user);
            s.inside = true;
            while (!s.go_on) std::this_thread::sleep_for(1ms);
            *out = {"x", 1};
            return WYE_OK;
        });
    });
    while (!state.inside) std::this_thread::yield();
    std::thread destroying([&] { wye_context_destroy(state.context); });
    wye_error* error = nullptr;
    wye_status status = WYE_OK;
    // A dispatch with invalid handles. The handles are the reason of the refusal until the
    // destruction begins.
    while ((status = spin(state.context, 1, 1, 1, &error)) != WYE_SHUTTING_DOWN) {
        wye_error_free(error);
        std::this_thread::sleep_for(1ms);
    }
    CHECK(std::string(wye_error_fix(error).data).rfind("Fix: ", 0) == 0);
    wye_error_free(error);
    // A second destroy is refused, and does not wait.
    CHECK(wye_context_destroy_within(state.context, 0, nullptr) == WYE_SHUTTING_DOWN);
    state.go_on = true;
    destroying.join();
    inside.join();
}

// ---- Callbacks ------------------------------------------------------------------------------

TEST_CASE("a callback may use another context, and is refused its own") {
    const Watchdog watchdog;
    Resolving state;
    state.context = create();
    (void)create_with(state, [](void* user, wye_string, wye_bytes* out) -> wye_status {
        auto& s = *static_cast<Resolving*>(user);
        wye_device device = 0;
        s.own = wye_device_open(s.context, wye_str("cpu"), 0, &device, nullptr);
        s.destroyed = wye_context_destroy_within(s.context, 0, nullptr);
        wye_context_destroy(s.context);
        wye_context* const another = create();
        s.other = wye_device_open(another, wye_str("cpu"), 0, &device, nullptr);
        wye_context_destroy(another);
        *out = {"x", 1};
        return WYE_OK;
    });
    CHECK(state.own == WYE_INVALID_ARGUMENT);
    CHECK(state.destroyed == WYE_INVALID_ARGUMENT);
    CHECK(state.other == WYE_OK);
    open_cpu(state.context);  // the context still works
    wye_context_destroy(state.context);
}

TEST_CASE("a flush from the log callback is refused, it does not wait for itself") {
    const Watchdog watchdog;
    struct State {
        wye_context* context = nullptr;
        wye_device device = 0;
        int calls = 0;
        wye_status flushed = WYE_OK;
    } state;
    state.context = create(
        [](void* user, std::uint32_t, wye_string, wye_string) {
            auto& s = *static_cast<State*>(user);
            if (s.device == 0) return;
            ++s.calls;
            s.flushed = wye_device_flush(s.context, s.device, nullptr);
        },
        &state);
    const wye_device device = open_cpu(state.context);
    const wye_program program = load_spin(state.context);
    state.device = device;
    CHECK(spin(state.context, program, device, 1) == WYE_OK);
    CHECK(state.calls > 0);
    CHECK(state.flushed == WYE_INVALID_ARGUMENT);
    wye_context_destroy(state.context);
}

// ---- With a time limit ----------------------------------------------------------------------

TEST_CASE("destroying within a limit closes what ends") {
    const Watchdog watchdog;
    wye_context* const context = create();
    const wye_device device = open_cpu(context);
    CHECK(spin(context, load_spin(context), device, 1) == WYE_OK);
    CHECK(wye_context_destroy_within(context, UINT64_MAX, nullptr) == WYE_OK);
    CHECK(wye_context_destroy_within(nullptr, 0, nullptr) == WYE_OK);
}

TEST_CASE("destroying within a limit abandons a driver that never ends, and ends the log") {
    const Watchdog watchdog;
    static std::atomic<int> logged = 0;
    wye_context* const context =
        create([](void*, std::uint32_t, wye_string, wye_string) { ++logged; }, nullptr,
               WYE_FAKES "/never_closes.so");
    wye_device device = 0;
    REQUIRE(wye_device_open(context, wye_str("never_closes:0"), 0, &device, nullptr) == WYE_OK);
    wye_error* error = nullptr;
    CHECK(wye_context_destroy_within(context, 50'000'000, &error) == WYE_TIMEOUT);
    const std::string message = wye_error_message(error).data;
    CHECK(message.find("never_closes:0") != std::string::npos);
    CHECK(message.find("50 ms") != std::string::npos);
    CHECK(std::string(wye_error_fix(error).data).rfind("Fix: ", 0) == 0);
    wye_error_free(error);
    const int then = logged;
    CHECK(then > 0);
    std::this_thread::sleep_for(30ms);
    CHECK(logged == then);
}

TEST_CASE("the C++ layer ends a context within its limit") {
    const Watchdog watchdog;
    const auto start = std::chrono::steady_clock::now();
    {
        const auto context =
            take(wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT,
                                       .plugin_paths = {WYE_FAKES "/never_closes.so"},
                                       .config = {{"probe.mode", "off"}},
                                       .close_within = 20ms}));
        take(context.open("never_closes:0"));
    }
    CHECK(std::chrono::steady_clock::now() - start > 20ms);
}

// ---- Signals of plugins -----------------------------------------------------------------------

void application_handler(int) {}

TEST_CASE("a driver that takes over a signal at its first launch gives it back") {
    const auto context = take(wye::Context::create(
        {.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT,
         .plugin_paths = {WYE_FAKES "/breaks_rules.so"},
         .config = {{"breaks_rules.how", "takes_signal"}, {"probe.mode", "off"}}}));
    const auto device = take(context.open("breaks_rules:0"));
    const auto program = take(context.program_from_text(
        "wye 1; program p; workgroup 1; output r: u32[1]; grid elements 1; main { r[0] = 1u; }"));
    struct sigaction mine {};
    struct sigaction before {};
    struct sigaction after {};
    mine.sa_handler = application_handler;
    REQUIRE(::sigaction(SIGUSR2, &mine, &before) == 0);
    std::vector<std::uint32_t> r(1);
    take(wye::Dispatch(program, device).output("r", r).run());
    REQUIRE(::sigaction(SIGUSR2, &before, &after) == 0);
    const bool given_back = after.sa_handler == application_handler;
    CHECK(given_back);
}

// ---- Plugins that end the process --------------------------------------------------------------

std::string open_one(const char* how) {
    const std::string command =
        "'" WYE_OPEN_ONE "' '" WYE_FAKES "/breaks_rules.so' " + std::string(how) + " 2>&1";
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string out;
    char part[256];
    while (const std::size_t size = fread(part, 1, sizeof part, pipe)) out.append(part, size);
    pclose(pipe);
    return out;
}

TEST_CASE("a plugin that ends the process or the thread in a slot is named on stderr") {
    CHECK(open_one("nothing") == "closed\n");
    for (const char* how : {"exits", "ends_thread"}) {
        const std::string text = open_one(how);
        CAPTURE(text);
        CHECK(text.find("inside the slot `init` of the plugin `breaks_rules`. Fix: ") !=
              std::string::npos);
    }
}

// ---- fork -----------------------------------------------------------------------------------

bool refused_here(wye_status status, wye_error* error) {
    const bool out = status == WYE_WRONG_OWNER && wye_error_fix(error).size > 5;
    wye_error_free(error);
    return out;
}

// Returns the number of the first failed check, for the child's exit status; 0: none failed.
int use_in_child(wye_context* context, wye_program program, wye_device device, wye_buffer buffer) {
    alarm(300);
    wye_error* error = nullptr;
    if (!refused_here(spin(context, program, device, 1, &error), error)) return 1;
    std::uint64_t size = 0;
    if (!refused_here(wye_buffer_size(context, buffer, &size, &error), error)) return 2;
    if (!refused_here(wye_buffer_free(context, buffer, &error), error)) return 3;
    if (!refused_here(wye_device_flush(context, device, &error), error)) return 4;
    if (!refused_here(wye_context_destroy_within(context, UINT64_MAX, &error), error)) return 5;
    wye_context_destroy(context);
    // A new context of the child works, on the CPU.
    wye_context_desc desc;
    WYE_INIT(desc);
    desc.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT | WYE_CONTEXT_NO_PLUGINS;
    wye_context* own = nullptr;
    if (wye_context_create(&desc, &own, nullptr) != WYE_OK) return 6;
    wye_device cpu = 0;
    if (wye_device_open(own, wye_str("cpu"), 0, &cpu, nullptr) != WYE_OK) return 7;
    wye_program_source source;
    WYE_INIT(source);
    source.text = wye_str(kSpin);
    wye_program copy = 0;
    if (wye_program_create(own, &source, &copy, nullptr) != WYE_OK) return 8;
    if (spin(own, copy, cpu, 10) != WYE_OK) return 9;
    wye_context_destroy(own);
    return 0;
}

TEST_CASE("in a forked child calls with the parent's context fail at once, also during a call") {
    const Watchdog watchdog;
    wye_context* const context = create();
    const wye_device device = open_cpu(context);
    const wye_program program = load_spin(context);
    wye_buffer_create_desc desc;
    WYE_INIT(desc);
    desc.size = 64;
    wye_buffer buffer = 0;
    REQUIRE(wye_buffer_create(context, device, &desc, &buffer, nullptr) == WYE_OK);
    REQUIRE(spin(context, program, device, 1) == WYE_OK);
    // The thread that holds the queue does not exist in the child.
    std::thread other([&] { (void)spin(context, program, device, 50'000'000); });
    std::this_thread::sleep_for(20ms);
    const pid_t child = fork();
    if (child == 0) _exit(use_in_child(context, program, device, buffer));
    REQUIRE(child > 0);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    other.join();
    CHECK(spin(context, program, device, 1) == WYE_OK);  // the parent goes on
    wye_context_destroy(context);
}

// The first of two iterations waits for the flag. Between the iterations, the host looks for a
// trap.
constexpr const char* kRounds = R"(wye 1; program rounds; workgroup 1;
input_output flag: u32[]; input_output r: u32[]; grid groups 1;
main {
    var open = 0u;
    while open == 0u { let now = atomic_load(flag[0]); open = now; }
    if open != 1u { trap 1; }
    r[0] = r[0] + 1u;
})";

TEST_CASE(
    "a child that is forked while work is in the line cannot touch it, and the parent goes on") {
    const Watchdog watchdog;
    wye_context* const context = create();
    const wye_device device = open_cpu(context);
    wye_program_source source;
    WYE_INIT(source);
    source.text = wye_str(kRounds);
    wye_program rounds = 0;
    REQUIRE(wye_program_create(context, &source, &rounds, nullptr) == WYE_OK);
    const wye_program other = load_spin(context);
    wye_buffer buffers[2] = {};
    wye_argument arguments[2] = {};
    for (std::uint32_t i = 0; i < 2; ++i) {
        wye_buffer_create_desc desc;
        WYE_INIT(desc);
        desc.size = 4;
        desc.usage = WYE_BUFFER_USAGE_SHARED;
        REQUIRE(wye_buffer_create(context, device, &desc, &buffers[i], nullptr) == WYE_OK);
        REQUIRE(wye_buffer_fill(context, buffers[i], 0, 4, 0, 4, nullptr) == WYE_OK);
        arguments[i].kind = WYE_ARGUMENT_RESIDENT;
        arguments[i].binding = i;
        arguments[i].buffer = buffers[i];
    }
    wye_buffer_mapping flag;
    WYE_INIT(flag);
    REQUIRE(wye_buffer_map(context, buffers[0], &flag, nullptr) == WYE_OK);
    wye_dispatch_desc desc;
    WYE_INIT(desc);
    desc.program = rounds;
    desc.device = device;
    desc.arguments = arguments;
    desc.argument_count = 2;
    desc.fixpoint_iterations = 2;
    // The first dispatch runs. The second waits in the line behind the first.
    wye_pending first = 0, second = 0;
    REQUIRE(wye_dispatch_submit(context, &desc, &first, nullptr) == WYE_OK);
    REQUIRE(wye_dispatch_submit(context, &desc, &second, nullptr) == WYE_OK);
    const pid_t child = fork();
    if (child == 0) {
        wye_error* error = nullptr;
        std::uint32_t ended = 0;
        if (!refused_here(wye_pending_poll(context, second, &ended, &error), error)) _exit(11);
        if (!refused_here(wye_pending_wait(context, second, UINT64_MAX, nullptr, &error), error))
            _exit(12);
        if (!refused_here(wye_pending_cancel(context, first, &error), error)) _exit(13);
        if (!refused_here(wye_pending_free(context, first, &error), error)) _exit(14);
        if (!refused_here(wye_dispatch_submit(context, &desc, &first, &error), error)) _exit(15);
        _exit(use_in_child(context, other, device, buffers[1]));
    }
    REQUIRE(child > 0);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    std::atomic_ref(*static_cast<std::uint32_t*>(flag.address)).store(1);
    for (const wye_pending one : {first, second})
        CHECK(wye_pending_wait(context, one, UINT64_MAX, nullptr, nullptr) == WYE_OK);
    std::uint32_t sum = 0;
    CHECK(wye_buffer_download(context, buffers[1], &sum, 4, nullptr) == WYE_OK);
    CHECK(sum == 4);
    wye_context_destroy(context);
}

TEST_CASE("in a child of a process that opened plugins no plugin is opened") {
    const Watchdog watchdog;
    wye_context* const context = create(nullptr, nullptr, WYE_FAKES "/healthy.so");
    wye_device device = 0;
    REQUIRE(wye_device_open(context, wye_str("healthy:0"), 0, &device, nullptr) == WYE_OK);
    const pid_t child = fork();
    if (child == 0) {
        alarm(300);
        wye_context* const own = create(nullptr, nullptr, WYE_FAKES "/healthy.so");
        wye_error* error = nullptr;
        if (wye_device_open(own, wye_str("healthy:0"), 0, &device, &error) != WYE_NO_DEVICE)
            _exit(1);
        if (std::string(wye_error_text(error).data).find("forked") == std::string::npos) _exit(2);
        if (wye_device_open(own, wye_str("cpu"), 0, &device, nullptr) != WYE_OK) _exit(3);
        _exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(wye_device_open(context, wye_str("healthy:0"), 0, &device, nullptr) == WYE_OK);
    wye_context_destroy(context);
}

}  // namespace
