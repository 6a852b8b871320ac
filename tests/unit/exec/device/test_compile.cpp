// SPDX-License-Identifier: Apache-2.0
//
// The threads on which programs are compiled, and time limits on compiling, with the fake driver.
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <future>
#include <thread>

#include "gate.hpp"
#include "rig.hpp"
#include "wye/sdk/wide_stack.hpp"

namespace wye::exec::test::test_compile {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::uint32_t>;

constexpr std::uint64_t kShort = 30'000'000;  // ns
constexpr auto kLong = 60s;                   // only a hang takes that long

constexpr std::string_view kOther = R"(wye 1; program other; workgroup 64; param k: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] + k + 0u; } })";

// A program with a check-free form, for launches with exactly one invocation for each element.
constexpr std::string_view kUnguarded = R"(wye 1; program unguarded; workgroup 64; param k: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; r[i] = x[i] + k; })";

struct Slow {
    Rig rig;
    Gate gate;
    std::atomic<bool> closed = false;  // if true, compiles wait for the gate
    wye_device device = rig.device();
    wye_program program = rig.program(kAdd);
    wye_program other = rig.program(kOther);
    Words x = {1, 2, 3};
    Words r = {9, 9, 9};

    Slow() { rig.driver.kernel = add_kernel; }
    ~Slow() { gate.let_go(); }
    Job job(wye_program which) {
        return Job(which, device).param(1).in(0, x.data(), 12).out(1, r.data(), 12);
    }
    void close() {
        closed = true;
        rig.driver.on_compile = [this] {
            if (closed) gate.pass();
        };
    }
    Outcome timed(wye_program which, std::uint64_t limit_ns = kShort) {
        Job limited = job(which);
        limited.desc.timeout_ns = limit_ns;
        return limited.run(rig);
    }
    // Runs the program with a time limit that only a hang exceeds.
    Outcome in_time(wye_program which) {
        return timed(which, std::chrono::nanoseconds(kLong).count());
    }
    void flush() { check_ok(rig.flush(device)); }
};

}  // namespace

TEST_CASE("a time limit covers compiling: the caller goes on, and what comes of it is kept") {
    for (const bool fails : {false, true}) {
        CAPTURE(fails);
        Slow t;
        t.close();
        t.rig.driver.fail_compile = fails;
        const Outcome late = t.timed(t.program);
        check_refused(late, WYE_TIMEOUT,
                      "compiling `add` for fake:0 did not end before the time-out");
        CHECK(late.fix.find("every loop") == std::string::npos);
        CHECK(late.fix.find("wye_program_prepare") != std::string::npos);
        CHECK(t.rig.driver.submits == 0);
        CHECK(t.r == Words{9, 9, 9});
        // The same program again: the second call waits for the first one's compile.
        check_refused(t.timed(t.program), WYE_TIMEOUT, "compiling `add`");
        t.gate.let_go();
        t.flush();
        if (fails) {  // nothing of a failed compile is kept
            check_refused(t.in_time(t.program), WYE_COMPILE_FAILED, "does not compile");
            t.rig.driver.fail_compile = false;
            check_ok(t.in_time(t.program));
        } else {
            CHECK(t.rig.driver.programs == 1);
            check_ok(t.in_time(t.program));
            CHECK(t.rig.driver.programs == 1);
        }
        CHECK(t.r == Words{2, 3, 4});
    }
}

TEST_CASE("one compile a device may be overdue; programs that are compiled run beside it") {
    Slow t;
    check_ok(t.job(t.other).run(t.rig));
    t.close();
    check_refused(t.timed(t.program), WYE_TIMEOUT, "compiling `add`");
    const wye_program third = t.rig.program(kUnguarded);
    Job job = t.job(third);
    const Outcome busy = job.run(t.rig);
    check_refused(busy, WYE_DEVICE_BUSY, "fake:0 is still compiling `add`");
    CHECK(busy.fix.find("flush") != std::string::npos);
    check_ok(t.job(t.other).run(t.rig));
    // Meanwhile another device of the plugin can compile.
    t.closed = false;
    const wye_device second = t.rig.device("fake:1");
    check_ok(Job(third, second).param(1).in(0, t.x.data(), 12).out(1, t.r.data(), 12).run(t.rig));
    t.gate.let_go();
    t.flush();
    check_ok(job.run(t.rig));
    CHECK(t.r == Words{2, 3, 4});
}

TEST_CASE("a call without a limit waits for the overdue compile of its program") {
    Slow t;
    t.close();
    check_refused(t.timed(t.program), WYE_TIMEOUT, "compiling `add`");
    auto waiting = std::async(std::launch::async, [&] { return t.job(t.program).run(t.rig); });
    CHECK(waiting.wait_for(50ms) == std::future_status::timeout);
    t.gate.let_go();
    REQUIRE(waiting.wait_for(kLong) == std::future_status::ready);
    check_ok(waiting.get());
    CHECK(t.rig.driver.programs == 1);
    CHECK(t.r == Words{2, 3, 4});
}

TEST_CASE("a program may be freed, and the context destroyed, while its compile is overdue") {
    Slow t;
    t.close();
    check_refused(t.timed(t.program), WYE_TIMEOUT, "compiling `add`");
    check_ok(attempt([&](wye_error** e) { return wye_program_free(t.rig.context, t.program, e); }));
    std::atomic<bool> destroyed = false;
    auto ended = std::async(std::launch::async, [&] {
        wye_context_destroy(t.rig.context);
        destroyed = true;
    });
    CHECK(ended.wait_for(50ms) == std::future_status::timeout);  // wye_context_destroy waits
    CHECK_FALSE(destroyed);
    t.gate.let_go();
    REQUIRE(ended.wait_for(kLong) == std::future_status::ready);
    t.rig.context = nullptr;
    CHECK(t.rig.driver.programs == 1);
    CHECK(t.rig.driver.live_programs == 0);
}

TEST_CASE("drivers' compilers run on threads with a wide stack on which no signal arrives") {
    Slow t;
    t.rig.driver.format = WYE_FORMAT_SPIRV;
    wye_context_destroy(t.rig.context);
    t.rig.context = t.rig.driver.context();
    const wye_device device = t.rig.device();
    const wye_program program = t.rig.program(kAdd);
    std::size_t stack = 0;
    bool blocked = false;
    std::thread::id where;
    t.rig.driver.on_compile = [&] {
        pthread_attr_t attributes;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstacksize(&attributes, &stack);
        pthread_attr_destroy(&attributes);
        sigset_t mask;
        pthread_sigmask(SIG_BLOCK, nullptr, &mask);
        blocked = sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGUSR1) == 1;
        where = std::this_thread::get_id();
    };
    check_ok(Job(program, device).param(1).in(0, t.x.data(), 12).out(1, t.r.data(), 12).run(t.rig));
    CHECK(stack >= std::size_t{16} << 20U);
    CHECK(blocked);
    CHECK(where != std::this_thread::get_id());
    sigset_t mine;
    pthread_sigmask(SIG_BLOCK, nullptr, &mine);
    CHECK(sigismember(&mine, SIGUSR1) == 0);
}

TEST_CASE("a built-in plugin that takes programs compiles on the caller's thread, if it has room") {
    Slow t;
    std::thread::id where;
    t.rig.driver.on_compile = [&] { where = std::this_thread::get_id(); };
    check_ok(t.job(t.program).run(t.rig));
    // In sanitized builds no thread has enough room on its stack.
    CHECK((where == std::this_thread::get_id()) == sdk::has_room(sdk::kRoom));
    // A thread with a small stack has no room.
    pthread_attr_t narrow;
    pthread_attr_init(&narrow);
    pthread_attr_setstacksize(&narrow, std::size_t{512} << 10U);
    struct Call {
        Slow& t;
        bool ran = false;
        std::thread::id thread;
    } call{t, false, {}};
    pthread_t thread{};
    REQUIRE(pthread_create(
                &thread, &narrow,
                [](void* data) -> void* {
                    Call& own = *static_cast<Call*>(data);
                    own.thread = std::this_thread::get_id();
                    own.ran = own.t.job(own.t.other).run(own.t.rig).status == WYE_OK;
                    return nullptr;
                },
                &call) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&narrow);
    CHECK(call.ran);
    CHECK(where != std::this_thread::get_id());
    CHECK(where != call.thread);
}

TEST_CASE("the time-out of a first launch says that drivers may still compile in it") {
    Slow t;
    t.rig.driver.hang = true;
    t.rig.driver.can_cancel = true;
    const wye_buffer x = t.rig.buffer(t.device, 12);
    const wye_buffer r = t.rig.buffer(t.device, 12);
    Job limited = Job(t.program, t.device).param(1).resident(0, x).resident(1, r);
    limited.desc.timeout_ns = 3'600'000'000'000;
    const Outcome first = limited.run(t.rig);
    check_refused(first, WYE_TIMEOUT, "first launch, in which drivers may still compile");
    CHECK(first.fix.find("wye_program_prepare") != std::string::npos);
}

TEST_CASE("preparing makes drivers generate code: a launch of no workgroups, once") {
    Slow t;
    t.rig.driver.format = WYE_FORMAT_SPIRV;
    wye_context_destroy(t.rig.context);
    t.rig.context = t.rig.driver.context();
    const wye_device device = t.rig.device();
    const wye_program program = t.rig.program(kUnguarded);
    const auto prepare = [&] { check_ok(t.rig.prepare(device, program)); };
    prepare();
    const int forms = t.rig.driver.programs;  // one with range checks, one without
    CHECK(forms == 2);
    REQUIRE(t.rig.driver.operations.size() == 2);
    for (const wye_operation& operation : t.rig.driver.operations) {
        CHECK(operation.kind == WYE_OPERATION_DISPATCH);
        for (const std::uint32_t groups : operation.u.dispatch.groups) CHECK(groups == 0);
        for (const std::uint32_t groups : operation.u.dispatch.logical_groups) CHECK(groups == 0);
    }
    prepare();
    CHECK(t.rig.driver.operations.size() == 2);
    check_ok(Job(program, device).param(1).in(0, t.x.data(), 12).out(1, t.r.data(), 12).run(t.rig));
    CHECK(t.rig.driver.programs == forms);
}

TEST_CASE("preparing succeeds also where the driver refuses a launch of no workgroups") {
    Slow t;
    t.rig.driver.format = WYE_FORMAT_SPIRV;
    wye_context_destroy(t.rig.context);
    t.rig.context = t.rig.driver.context();
    const wye_device device = t.rig.device();
    const wye_program program = t.rig.program(kAdd);
    t.rig.driver.fail_submit = true;
    check_ok(t.rig.prepare(device, program));
    t.rig.driver.fail_submit = false;
    check_ok(Job(program, device).param(1).in(0, t.x.data(), 12).out(1, t.r.data(), 12).run(t.rig));
}

}  // namespace wye::exec::test::test_compile
