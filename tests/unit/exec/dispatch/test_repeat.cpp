// SPDX-License-Identifier: Apache-2.0
//
// The fast path for repeated requests must notice everything that may have changed.
#include <array>
#include <thread>

#include "rig.hpp"

namespace wye::exec::test::test_repeat {
namespace {

using Words = std::vector<std::uint32_t>;

struct Ready {
    Rig rig;
    const bool commands;
    wye_device device = (rig.driver.commands = commands, rig.device());
    wye_program program = rig.program(kAdd);
    wye_buffer x = rig.buffer(device, 16, "x data");
    wye_buffer r = rig.buffer(device, 16, "results");

    explicit Ready(bool has_commands = false) : commands(has_commands) {
        rig.driver.kernel = add_kernel;
        rig.upload(x, Words{1, 2, 3, 4});
    }
    Job job(std::uint64_t k = 1) {
        return Job(program, device).param(k).resident(0, x).resident(1, r);
    }
    Words results() { return rig.download<std::uint32_t>(r, 4); }
};

TEST_CASE("a repeated request gives the same operations and the same report") {
    Ready t;
    Job first = t.job();
    check_ok(first.run(t.rig));
    const wye_operation before = t.rig.driver.operations.back();
    for (int i = 0; i < 3; ++i) {
        t.rig.upload(t.r, Words{0, 0, 0, 0});
        Job again = t.job();
        check_ok(again.run(t.rig));
        const wye_operation now = t.rig.driver.operations.back();
        CHECK(t.results() == Words{2, 3, 4, 5});
        CHECK(now.kind == before.kind);
        CHECK(now.u.dispatch.program == before.u.dispatch.program);
        CHECK(
            std::equal(now.u.dispatch.groups, now.u.dispatch.groups + 3, before.u.dispatch.groups));
        CHECK(again.report.device == t.device);
        CHECK(again.report.groups[0] == first.report.groups[0]);
        CHECK(again.report.groups[2] == 1);
        CHECK(again.report.compiled == 0);
        CHECK(again.report.variant == 0);
        CHECK(again.report.bytes_filled == first.report.bytes_filled);
        CHECK(again.report.bytes_uploaded + again.report.bytes_downloaded == 0);
        CHECK(again.report.device_ns == WYE_TIME_UNKNOWN);
        CHECK(again.report.wall_ns >= again.report.enqueue_ns + again.report.wait_ns);
    }
}

TEST_CASE("zero fills are repeated too") {
    Rig rig;
    rig.driver.kernel = [](const wye_dispatch_op& op) {
        FakeDriver::data<std::uint32_t>(op.bindings[0])[1] += 5;
    };
    const wye_device device = rig.device();
    const wye_program program = rig.program(R"(wye 1; program bump; workgroup 1;
        output r: u32[3]; grid groups 1; main { r[1] = r[1] + 5u; })");
    const wye_buffer r = rig.buffer(device, 12);
    for (int i = 0; i < 3; ++i) {
        rig.upload(r, Words{7, 7, 7});
        Job job(program, device);
        check_ok(job.resident(0, r).run(rig));
        CHECK(rig.download<std::uint32_t>(r, 3) == Words{0, 5, 0});
        CHECK(job.report.bytes_filled == 12);
    }
}

TEST_CASE("the rounds of a fixpoint are one command when the request is repeated") {
    Rig rig;
    rig.driver.commands = true;
    rig.driver.kernel = [](const wye_dispatch_op& op) {
        FakeDriver::data<std::uint32_t>(op.bindings[0])[0] += 1;
    };
    const wye_device device = rig.device();
    const wye_program program = rig.program(R"(wye 1; program bump; workgroup 1;
        input_output r: u32[3]; grid groups 1; main { r[0] = r[0] + 1u; })");
    const wye_buffer r = rig.buffer(device, 12);
    struct Run {
        std::uint32_t rounds;
        int commands;  // commands made so far
    };
    // The first request is kept. The second makes a command. Requests of too many rounds are not
    // kept.
    constexpr Run kRuns[] = {{7, 0}, {7, 1}, {7, 1}, {300, 1}, {300, 1}, {7, 1}};
    for (const Run& run : kRuns) {
        CAPTURE(run.rounds);
        rig.upload(r, Words{0, 0, 0});
        Job job(program, device);
        job.desc.flags |= WYE_DISPATCH_FIXPOINT;
        job.desc.fixpoint_iterations = run.rounds;
        check_ok(job.resident(0, r).run(rig));
        CHECK(rig.download<std::uint32_t>(r, 3) == Words{run.rounds, 0, 0});
        CHECK(rig.driver.commands_made == run.commands);
    }
}

TEST_CASE("parameters of a repeated request are its own") {
    Ready t;
    for (const std::uint32_t k : {1U, 10U, 1U, 100U}) {
        check_ok(t.job(k).run(t.rig));
        CHECK(t.results() == Words{1 + k, 2 + k, 3 + k, 4 + k});
    }
    // A value that is no u32 is refused, and leaves nothing behind.
    const int submits = t.rig.driver.submits;
    check_refused(t.job(UINT64_C(1) << 32U).run(t.rig), WYE_INVALID_ARGUMENT, "`k`");
    CHECK(t.rig.driver.submits == submits);
    check_ok(t.job(100).run(t.rig));
    CHECK(t.results() == Words{101, 102, 103, 104});
    Job none(t.program, t.device);
    check_refused(none.resident(0, t.x).resident(1, t.r).run(t.rig), WYE_INVALID_ARGUMENT,
                  "1 parameters");
}

TEST_CASE("parameters that decide sizes are looked at each time") {
    Rig rig;
    Words groups;
    rig.driver.kernel = [&](const wye_dispatch_op& op) { groups.push_back(op.groups[0]); };
    const wye_device device = rig.device();
    const wye_program grid = rig.program(R"(wye 1; program g; workgroup 1; param n: u32;
        input_output r: u32[]; grid groups n; main { r[0] = 1u; })");
    const wye_program count = rig.program(R"(wye 1; program c; workgroup 1; param n: u32;
        input_output r: u32[n]; grid groups 1; main { r[0] = 1u; })");
    const wye_buffer r = rig.buffer(device, 16);
    for (const std::uint32_t n : {3U, 5U, 3U}) {
        Job job(grid, device);
        check_ok(job.param(n).resident(0, r).run(rig));
        CHECK(job.report.groups[0] == n);
    }
    CHECK(groups == Words{3, 5, 3});
    for (int i = 0; i < 2; ++i) {
        check_ok(Job(count, device).param(4).resident(0, r).run(rig));
        check_refused(Job(count, device).param(5).resident(0, r).run(rig), WYE_INVALID_ARGUMENT,
                      "20 bytes");
    }
}

TEST_CASE("every member of a request counts") {
    Ready t;
    check_ok(t.job().run(t.rig));
    check_ok(t.job().run(t.rig));
    const int submits = t.rig.driver.submits;
    const auto refused = [&](auto change, wye_status status) {
        Job job = t.job();
        change(job);
        CHECK(job.run(t.rig).status == status);
        CHECK(t.rig.driver.submits == submits);
    };
    refused([](Job& j) { j.desc.flags = WYE_DISPATCH_COOPERATIVE; }, WYE_UNSUPPORTED);
    refused([](Job& j) { j.desc.flags = WYE_DISPATCH_SPECULATION; }, WYE_UNSUPPORTED);
    refused([](Job& j) { j.desc.grid[1] = 2; }, WYE_INVALID_ARGUMENT);
    refused([](Job& j) { j.desc.elements = 2; }, WYE_INVALID_ARGUMENT);
    refused([](Job& j) { j.desc.workgroup[0] = 32; }, WYE_INVALID_ARGUMENT);
    refused([](Job& j) { j.desc.fixpoint_iterations = 65537; }, WYE_LIMIT_EXCEEDED);
    refused([](Job& j) { j.desc.reserved = 1; }, WYE_INVALID_ARGUMENT);
    refused([&](Job& j) { j.desc.grid_buffer = t.x; }, WYE_INVALID_ARGUMENT);
    refused([](Job& j) { j.desc.grid_offset = 4; }, WYE_INVALID_ARGUMENT);
    refused([](Job& j) { j.desc.flags = WYE_DISPATCH_INDIRECT; }, WYE_STALE_HANDLE);
    refused([](Job& j) { j.desc.program = j.desc.device; }, WYE_WRONG_KIND);
    refused([](Job& j) { j.desc.device = j.desc.program; }, WYE_WRONG_KIND);
    refused([](Job& j) { j.arguments.pop_back(); }, WYE_INVALID_ARGUMENT);
    refused([](Job& j) { j.arguments[1].binding = 0; }, WYE_DUPLICATE);
    refused([](Job& j) { j.arguments[1].kind = 9; }, WYE_INVALID_ARGUMENT);
    refused([](Job& j) { j.arguments[1].size = 12; }, WYE_INVALID_ARGUMENT);
    refused([](Job& j) { j.arguments[1].offset = 16; }, WYE_INVALID_ARGUMENT);
    refused([](Job& j) { j.arguments[1].output_size = 4; }, WYE_INVALID_ARGUMENT);
    refused([&](Job& j) { j.arguments[1].buffer = t.x; }, WYE_INVALID_ARGUMENT);

    Job limited = t.job();
    limited.desc.timeout_ns = 1'000'000'000;
    check_ok(limited.run(t.rig));
    Job wider = t.job();
    wider.desc.flags = WYE_DISPATCH_GRID;
    wider.desc.grid[0] = 3;
    wider.desc.grid[1] = wider.desc.grid[2] = 1;
    check_ok(wider.run(t.rig));
    CHECK(wider.report.groups[0] == 3);
    Job plain = t.job();
    check_ok(plain.run(t.rig));
    CHECK(plain.report.groups[0] == 1);
}

TEST_CASE("a buffer that is gone is refused, and what takes its place is not taken for it") {
    Ready t;
    for (int i = 0; i < 2; ++i) check_ok(t.job().run(t.rig));
    const int submits = t.rig.driver.submits;
    Job old = t.job();
    check_ok(t.rig.free(t.x));
    check_refused(old.run(t.rig), WYE_STALE_HANDLE, "input 0");
    const wye_buffer small = t.rig.buffer(t.device, 8);  // gets the same slot of the handle table
    check_refused(old.run(t.rig), WYE_STALE_HANDLE, "input 0");
    CHECK(t.rig.driver.submits == submits);
    t.x = small;
    check_refused(t.job().run(t.rig), WYE_INVALID_ARGUMENT, "8 bytes");
    check_ok(t.rig.free(t.r));
    check_refused(t.job().run(t.rig), WYE_STALE_HANDLE, "output 0");
    CHECK(t.rig.driver.submits == submits);
}

TEST_CASE("a program that is gone is refused, and its compiled form goes with it") {
    Ready t;
    for (int i = 0; i < 2; ++i) check_ok(t.job().run(t.rig));
    check_ok(attempt([&](wye_error** e) { return wye_program_free(t.rig.context, t.program, e); }));
    CHECK(t.rig.driver.live_programs == 0);
    check_refused(t.job().run(t.rig), WYE_STALE_HANDLE, "program");
    t.program = t.rig.program(kAdd);
    check_ok(t.job(5).run(t.rig));
    CHECK(t.results() == Words{6, 7, 8, 9});
}

TEST_CASE("buffers of another device are refused after a request like it ran") {
    Ready t;
    const wye_device other = t.rig.device("fake:1");
    check_ok(t.job().run(t.rig));
    check_ok(t.job().run(t.rig));
    const int submits = t.rig.driver.submits;
    Job moved = t.job();
    moved.desc.device = other;
    check_refused(moved.run(t.rig), WYE_WRONG_OWNER, "fake:0");
    CHECK(t.rig.driver.submits == submits);
}

TEST_CASE("more requests than are remembered") {
    Ready t;
    std::vector<wye_buffer> outputs;
    for (int i = 0; i < 40; ++i) outputs.push_back(t.rig.buffer(t.device, 16));
    for (std::uint32_t round = 0; round < 3; ++round)
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            t.r = outputs[i];
            const auto k = static_cast<std::uint32_t>(i) + round;
            check_ok(t.job(k).run(t.rig));
            CHECK(t.results()[0] == 1 + k);
        }
}

TEST_CASE("repeated requests in flight are their own although others are remembered since") {
    Ready t(true);
    std::vector<wye_buffer> outputs;
    std::vector<wye_pending> pending;
    for (int i = 0; i < 40; ++i) outputs.push_back(t.rig.buffer(t.device, 16));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        t.r = outputs[i];
        Job job = t.job(i);
        check_ok(job.run(t.rig));
        check_ok(t.rig.submit(job, pending.emplace_back()));
    }
    CHECK(static_cast<int>(t.rig.driver.commands_made) == 40);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        wye_report report;
        WYE_INIT(report);
        check_ok(t.rig.wait(pending[i], UINT64_MAX, &report));
        CHECK(report.device == t.device);
        CHECK(report.groups[0] == 1);
        wye_bytes none;
        check_refused(attempt([&](wye_error** e) {
                          return wye_pending_output(t.rig.context, pending[i], 1, &none, e);
                      }),
                      WYE_NOT_FOUND, "dispatch of `add`");
        check_ok(t.rig.free_pending(pending[i]));
        t.r = outputs[i];
        CHECK(t.results()[0] == 1 + i);
    }
    CHECK(t.rig.driver.live_commands <= 16);
}

TEST_CASE("a fault of the driver in a repeated request is reported, and the next one runs") {
    Ready t;
    for (int i = 0; i < 2; ++i) check_ok(t.job().run(t.rig));
    t.rig.driver.fail_submit = true;
    CHECK_FALSE(t.job().run(t.rig).ok());
    t.rig.driver.fail_submit = false;
    check_ok(t.job(2).run(t.rig));
    t.rig.driver.fail_wait = true;
    CHECK_FALSE(t.job().run(t.rig).ok());
    t.rig.driver.fail_wait = false;
    check_ok(t.job(3).run(t.rig));
    CHECK(t.results() == Words{4, 5, 6, 7});
}

TEST_CASE("a busy device refuses a repeated request") {
    Ready t;
    for (int i = 0; i < 2; ++i) check_ok(t.job().run(t.rig));
    t.rig.driver.kernel = [&](const wye_dispatch_op&) { t.rig.driver.hang = true; };
    Job slow = t.job();
    slow.desc.timeout_ns = 1'000'000;
    CHECK(slow.run(t.rig).status == WYE_TIMEOUT);
    const int submits = t.rig.driver.submits;
    check_refused(t.job().run(t.rig), WYE_DEVICE_BUSY, "fake:0");
    CHECK(t.rig.driver.submits == submits);
    t.rig.driver.hang = false;
    t.rig.driver.kernel = add_kernel;
    check_ok(t.job(4).run(t.rig));
    CHECK(t.results() == Words{5, 6, 7, 8});
}

TEST_CASE("threads repeat their requests on one queue") {
    Ready t;
    constexpr std::size_t kThreads = 4;
    constexpr int kRounds = 200;
    std::array<wye_buffer, kThreads> outputs{};
    for (wye_buffer& output : outputs) output = t.rig.buffer(t.device, 16);
    std::array<int, kThreads> wrong{};
    std::vector<std::thread> threads;
    for (std::size_t n = 0; n < kThreads; ++n)
        threads.emplace_back([&, n] {
            for (int i = 0; i < kRounds; ++i) {
                wye_argument arguments[2] = {};
                arguments[0].kind = arguments[1].kind = WYE_ARGUMENT_RESIDENT;
                arguments[0].buffer = t.x;
                arguments[1].binding = 1;
                arguments[1].buffer = outputs[n];
                const std::uint64_t k = n * 1000 + static_cast<std::uint64_t>(i);
                wye_dispatch_desc desc;
                WYE_INIT(desc);
                desc.program = t.program;
                desc.device = t.device;
                desc.arguments = arguments;
                desc.argument_count = 2;
                desc.params = &k;
                desc.param_count = 1;
                std::uint32_t first = 0;
                if (wye_dispatch(t.rig.context, &desc, nullptr, nullptr) != WYE_OK ||
                    wye_buffer_download_range(t.rig.context, outputs[n], 0, &first, 4, nullptr) !=
                        WYE_OK ||
                    first != 1 + k)
                    ++wrong[n];
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::array<int, kThreads>{});
    CHECK(t.rig.driver.most_in_submit == 1);
}

}  // namespace
}  // namespace wye::exec::test::test_repeat
