// SPDX-License-Identifier: Apache-2.0
//
// The operations that a dispatch submits to the driver, and their order.
#include "rig.hpp"
#include "wye/pipeline.h"

namespace wye::exec::test::test_dispatch {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kDispatch = WYE_OPERATION_DISPATCH;
constexpr std::uint32_t kFill = WYE_OPERATION_FILL;
constexpr std::uint32_t kUpload = WYE_OPERATION_UPLOAD;
constexpr std::uint32_t kDownload = WYE_OPERATION_DOWNLOAD;

TEST_CASE("host bytes: one submit with upload, dispatch and read-back") {
    Rig rig;
    rig.driver.kernel = add_kernel;
    const Words x = {1, 2, 3};
    Words r(3, 0);
    Job job(rig.program(kAdd), rig.device());
    check_ok(job.param(10).in(0, x.data(), 12).out(1, r.data(), 12).run(rig));
    CHECK(r == Words{11, 12, 13});
    // Every element is stored, so the zero fill is left out.
    CHECK(rig.driver.kinds() == Words{kUpload, kDispatch, kDownload});
    CHECK(rig.driver.submits == 1);
    CHECK(rig.driver.artifact_formats == std::vector<std::string>{"wye-program"});
    CHECK(job.report.bytes_uploaded == 12);
    CHECK(job.report.bytes_downloaded == 12);
    CHECK(job.report.bytes_filled == 0);
    CHECK(job.report.compiled == 1);
    CHECK(job.report.groups[0] == 1);
    CHECK(job.report.device == job.desc.device);
    CHECK(job.report.wall_ns >= job.report.enqueue_ns + job.report.wait_ns);
    CHECK(job.report.device_ns == WYE_TIME_UNKNOWN);
    CHECK(job.report.trap_count == 0);
}

TEST_CASE("what the plugin receives: bindings, elements, parameters, counts") {
    Rig rig;
    wye_dispatch_op seen{};
    std::vector<wye_binding> bindings;
    std::uint32_t param = 0;
    rig.driver.kernel = [&](const wye_dispatch_op& op) {
        seen = op;
        bindings.assign(op.bindings, op.bindings + 2);
        param = *static_cast<const std::uint32_t*>(op.params);
    };
    const wye_device device = rig.device();
    const wye_buffer x = rig.buffer(device, 1024);
    const wye_buffer r = rig.buffer(device, 1024);
    Job job(rig.program(kAdd), device);
    check_ok(job.param(7).resident(0, x, 16, 512).resident(1, r, 256, 512).run(rig));
    REQUIRE(bindings.size() == 2);
    CHECK(bindings[0].offset == 16);
    CHECK(bindings[0].size == 512);
    CHECK(bindings[0].elements == 128);
    CHECK(bindings[1].offset == 256);
    CHECK(param == 7);
    CHECK(seen.groups[0] == 2);
    CHECK(seen.groups[1] == 1);
    CHECK(seen.logical_groups[0] == 2);
    CHECK(seen.group_offset[0] == 0);
    CHECK(seen.trap.buffer == nullptr);
}

TEST_CASE("resident dispatch moves no host bytes, makes no buffer and compiles once") {
    Rig rig;
    rig.driver.kernel = add_kernel;
    const wye_device device = rig.device();
    const wye_program program = rig.program(kAdd);
    const wye_buffer a = rig.buffer(device, 16);
    const wye_buffer b = rig.buffer(device, 16);
    rig.upload(a, Words{1, 2, 3, 4});
    const int buffers = rig.driver.buffers;
    for (int i = 0; i < 5; ++i) {
        Job job(program, device);
        check_ok(
            job.param(1).resident(0, i % 2 == 0 ? a : b).resident(1, i % 2 == 0 ? b : a).run(rig));
        CHECK(job.report.bytes_uploaded + job.report.bytes_downloaded == 0);
        CHECK(job.report.compiled == (i == 0 ? 1U : 0U));
    }
    CHECK(rig.download<std::uint32_t>(b, 4) == Words{6, 7, 8, 9});
    CHECK(rig.driver.programs == 1);
    CHECK(rig.driver.buffers == buffers);
}

TEST_CASE("scratch buffers for host arguments are reused") {
    Rig rig;
    rig.driver.kernel = add_kernel;
    const wye_device device = rig.device();
    const wye_program program = rig.program(kAdd);
    const Words x(1000, 5);
    Words r(1000);
    for (int i = 0; i < 10; ++i) {
        Job job(program, device);
        const std::size_t bytes = 4 * (900 + static_cast<std::size_t>(i) * 10);
        check_ok(job.param(1).in(0, x.data(), bytes).out(1, r.data(), bytes).run(rig));
    }
    CHECK(rig.driver.buffers == 2);
    CHECK(r[0] == 6);
}

TEST_CASE("outputs start at zero unless the launch stores every element") {
    Rig rig;
    rig.driver.kernel = [](const wye_dispatch_op& op) {
        FakeDriver::data<std::uint32_t>(op.bindings[0])[1] += 5;
    };
    const wye_program program = rig.program(R"(wye 1; program bump; workgroup 1;
        output r: u32[3]; grid groups 1; main { r[1] = r[1] + 5u; })");
    Words r(3, 99);
    Job job(program, rig.device());
    check_ok(job.out(0, r.data(), 12).run(rig));
    CHECK(r == Words{0, 5, 0});
    CHECK(job.report.bytes_filled == 12);
    CHECK(rig.driver.kinds() == Words{kFill, kDispatch, kDownload});
}

TEST_CASE("an empty launch runs no kernel and compiles nothing, and still delivers") {
    Rig rig;
    int ran = 0;
    rig.driver.kernel = [&](const wye_dispatch_op&) { ++ran; };
    const Words x = {1, 2};
    Words r = {9, 9};
    Job job(rig.program(kAdd), rig.device());
    job.desc.flags = WYE_DISPATCH_GRID;
    job.desc.grid[1] = 4;
    check_ok(job.param(1).in(0, x.data(), 8).out(1, r.data(), 8).run(rig));
    CHECK(ran == 0);
    CHECK(rig.driver.programs == 0);
    CHECK(r == Words{0, 0});
}

TEST_CASE("a grid above the device's limit is cut into boxes") {
    Rig rig;
    rig.driver.max_groups[0] = 4;
    std::vector<Words> boxes;
    rig.driver.kernel = [&](const wye_dispatch_op& op) {
        boxes.push_back({op.group_offset[0], op.groups[0], op.logical_groups[0]});
    };
    const wye_device device = rig.device();
    const wye_buffer x = rig.buffer(device, 2560);
    const wye_buffer r = rig.buffer(device, 2560);
    Job job(rig.program(kAdd), device);
    check_ok(job.param(1).resident(0, x).resident(1, r).run(rig));
    CHECK(boxes == std::vector<Words>{{0, 4, 10}, {4, 4, 10}, {8, 2, 10}});
    CHECK(job.report.groups[0] == 10);
    CHECK(rig.driver.submits == 1);
}

TEST_CASE("programs with equal bytes share their compiled form; others do not") {
    Rig rig;
    rig.driver.kernel = add_kernel;
    const wye_device first = rig.device("fake:0");
    const wye_device second = rig.device("fake:1");
    CHECK(first != second);
    const Words x = {1};
    Words r(1);
    const auto run = [&](wye_program program, wye_device device) {
        Job job(program, device);
        check_ok(job.param(1).in(0, x.data(), 4).out(1, r.data(), 4).run(rig));
        return job.report.compiled;
    };
    const wye_program a = rig.program(kAdd);
    const wye_program b = rig.program(kAdd);
    CHECK(run(a, first) == 1);
    CHECK(run(b, first) == 0);
    CHECK(run(a, second) == 1);
    std::string other(kAdd);
    other.replace(other.find("x[i] + k"), 8, "x[i] - k");
    CHECK(run(rig.program(other), first) == 1);
    CHECK(rig.driver.programs == 3);
    for (const wye_program program : {a, b})
        check_ok(attempt([&](wye_error** e) { return wye_program_free(rig.context, program, e); }));
    CHECK(rig.driver.live_programs == 1);
}

TEST_CASE("a trap fails the dispatch, delivers no host output and keeps the device usable") {
    Rig rig;
    rig.driver.kernel = [](const wye_dispatch_op& op) {
        const auto* x = FakeDriver::data<std::uint32_t>(op.bindings[0]);
        auto* r = FakeDriver::data<std::uint32_t>(op.bindings[1]);
        auto* trap = FakeDriver::data<std::uint32_t>(op.trap);
        for (std::uint64_t i = 0; i < op.bindings[0].elements; ++i) {
            if (x[i] != 0) {
                r[i] = 100 / x[i];
                continue;
            }
            trap[0] = 7;
            trap[1] += 1;
        }
    };
    const wye_device device = rig.device();
    const wye_program program = rig.program(kTrap);
    const Words bad = {5, 0, 0};
    Words r(3, 42);
    Job job(program, device);
    check_refused(job.in(0, bad.data(), 12).out(1, r.data(), 12).run(rig), WYE_TRAPPED,
                  "trapped with code 7 on fake:0 (2 traps)");
    CHECK(r == Words{42, 42, 42});
    CHECK(job.report.trap_code == 7);
    CHECK(job.report.trap_count == 2);
    CHECK(job.report.bytes_downloaded == 0);

    // Resident buffers keep what was written before the trap.
    const wye_buffer kept = rig.buffer(device, 12);
    Job resident(program, device);
    check_refused(resident.in(0, bad.data(), 12).resident(1, kept).run(rig), WYE_TRAPPED, "code 7");
    CHECK(rig.download<std::uint32_t>(kept, 3)[0] == 20);

    const Words good = {5, 4, 2};
    Job again(program, device);
    check_ok(again.in(0, good.data(), 12).out(1, r.data(), 12).run(rig));
    CHECK(r == Words{20, 25, 50});
}

TEST_CASE("a persistent buffer keeps its contents from dispatch to dispatch") {
    Rig rig;
    rig.driver.kernel = [](const wye_dispatch_op& op) {
        FakeDriver::data<std::uint32_t>(op.bindings[0])[0] += 1;
    };
    const wye_device device = rig.device();
    const wye_program program = rig.program(R"(wye 1; program count; workgroup 1;
        persistent n: u32[1]; grid groups 1; main { n[0] = n[0] + 1u; })");
    const wye_buffer n = rig.buffer(device, 4);
    rig.upload(n, Words{40});
    for (int i = 0; i < 2; ++i) {
        Job job(program, device);
        check_ok(job.resident(0, n).run(rig));
        CHECK(job.report.bytes_filled == 0);
    }
    CHECK(rig.download<std::uint32_t>(n, 1) == Words{42});
}

TEST_CASE("device time is reported when asked for and known") {
    Rig rig;
    rig.driver.has_timing = true;
    const wye_device device = rig.device();
    const wye_buffer x = rig.buffer(device, 64);
    const wye_buffer r = rig.buffer(device, 64);
    const wye_program program = rig.program(kAdd);
    int asked = 0;
    for (const bool timed : {false, true, false, false, true}) {
        Job job(program, device);
        job.desc.flags = timed ? WYE_DISPATCH_TIMED : 0;
        check_ok(job.param(1).resident(0, x).resident(1, r).run(rig));
        CHECK(job.report.device_ns == (timed ? 1234 : WYE_TIME_UNKNOWN));
        // Timing costs some drivers time, so submits are timed only if the call asks for times.
        asked += timed ? 1 : 0;
        CHECK(rig.driver.timed_submits == asked);
    }
}

TEST_CASE("sizes of a dispatch, without running it") {
    Rig rig;
    Job job(rig.program(kAdd), 0);
    const Words x(100);
    job.param(1).in(0, x.data(), 400).out(1, nullptr, 0);
    job.desc.arguments = job.arguments.data();
    job.desc.argument_count = 2;
    job.desc.params = job.params.data();
    job.desc.param_count = 1;
    std::uint64_t sizes[2] = {0, 0};
    std::uint32_t groups[3] = {0, 0, 0};
    check_ok(attempt([&](wye_error** e) {
        return wye_dispatch_sizes(rig.context, &job.desc, sizes, groups, e);
    }));
    CHECK(sizes[0] == 400);
    CHECK(sizes[1] == 400);
    CHECK(groups[0] == 2);
    CHECK(groups[2] == 1);
    CHECK(rig.driver.programs == 0);
}

TEST_CASE("a preferred alignment is given where the device can, and decides nothing else") {
    const auto run = [](std::uint64_t most) {
        Rig rig;
        rig.driver.most_alignment = most;
        Words r(4);
        Job job(rig.program("wye 1; program hinted; workgroup 2; "
                            "output r: u32[4] align 128 coalesce x prefer_align 4096 locality "
                            "streaming; grid groups 2; main { r[global_id.x] = 1u; }"),
                rig.device());
        const Outcome outcome = job.out(0, r.data(), 16).run(rig);
        return std::pair(outcome.ok(), rig.driver.last_alignment.load());
    };
    using Ran = std::pair<bool, std::uint64_t>;
    CHECK(run(UINT64_MAX) == Ran{true, 4096});
    CHECK(run(1024) == Ran{true, 128});
    CHECK(run(64) == Ran{false, 0});  // `align` is a demand, `prefer_align` only a wish
}

TEST_CASE("label and profile of a dispatch stand in the log") {
    Rig rig;
    std::string seen;
    rig.driver.log = [&](std::uint32_t level, std::string_view area, std::string_view text) {
        if (area == "dispatch" && level == WYE_LOG_DEBUG) seen += text;
    };
    wye_context_destroy(rig.context);
    rig.context = rig.driver.context();
    const std::vector<std::uint32_t> x(10);
    std::vector<std::uint32_t> r(10);
    Job job(rig.program(kAdd), rig.device());
    job.desc.label = wye_str("frame 7");
    job.desc.profile = wye_str("fast");
    check_ok(job.param(1).in(0, x.data(), 40).out(1, r.data(), 40).run(rig));
    for (const char* part : {"frame 7", "fast", "`add` on fake:0", "40 bytes up", ": ok"})
        CHECK(seen.find(part) != std::string::npos);
}

TEST_CASE("a profile has compiled programs of its own, and stands in the report") {
    Rig rig;
    const wye_device device = rig.device();
    const wye_program program = rig.program(kAdd);
    const wye_buffer x = rig.buffer(device, 64), r = rig.buffer(device, 64);
    const auto run = [&](const char* profile) {
        Job job(program, device);
        job.desc.profile = wye_str(profile);
        check_ok(job.param(1).resident(0, x).resident(1, r).run(rig));
        return job.report;
    };
    const wye_report none = run("");
    CHECK(none.profile == 0);
    const wye_report fast = run("fast"), small = run("small");
    CHECK(none.compiled == 1);
    CHECK(fast.compiled == 1);
    CHECK(small.compiled == 1);
    CHECK(fast.profile != 0);
    CHECK(fast.profile != small.profile);
    for (int repeat = 0; repeat < 2; ++repeat) {
        CHECK(run("").profile == 0);
        CHECK(run("fast").profile == fast.profile);
        CHECK(run("fast").compiled == 0);
        CHECK(run("small").profile == small.profile);
    }
    // The profile of the pipeline applies, unless the dispatch names another profile.
    wye_pipeline_desc desc;
    WYE_INIT(desc);
    desc.program = program;
    desc.device = device;
    desc.profile = wye_str("small");
    wye_pipeline pipeline = 0;
    check_ok(attempt(
        [&](wye_error** e) { return wye_pipeline_create(rig.context, &desc, &pipeline, e); }));
    const auto through = [&](const char* profile) {
        Job job(0, 0);
        job.desc.pipeline = pipeline;
        job.desc.profile = wye_str(profile);
        check_ok(job.param(1).resident(0, x).resident(1, r).run(rig));
        return job.report.profile;
    };
    for (int repeat = 0; repeat < 2; ++repeat) {
        CHECK(through("") == small.profile);
        CHECK(through("fast") == fast.profile);
    }
}

TEST_CASE("a log does not slow a repeated request down") {
    Rig rig;
    std::vector<std::string> seen;
    rig.driver.log = [&](std::uint32_t, std::string_view area, std::string_view text) {
        if (area == "dispatch") seen.emplace_back(text);
    };
    wye_context_destroy(rig.context);
    rig.context = rig.driver.context();
    const wye_device device = rig.device();
    const wye_buffer x = rig.buffer(device, 64);
    const wye_buffer r = rig.buffer(device, 64);
    const wye_program program = rig.program(kAdd);
    std::vector<const wye_binding*> tables;
    for (int i = 0; i < 3; ++i) {
        Job job(program, device);
        job.desc.label = wye_str(i == 2 ? "the third" : "");
        check_ok(job.param(1).resident(0, x).resident(1, r).run(rig));
        tables.push_back(rig.driver.operations.back().u.dispatch.bindings);
    }
    // The address of the bindings shows which path ran: the fast path has its own table of
    // bindings.
    CHECK(tables[1] != tables[0]);
    CHECK(tables[2] == tables[1]);
    REQUIRE(seen.size() == 3);
    CHECK(seen[2].find("label `the third`, profile ``: `add` on fake:0, 1x1x1") == 0);
    CHECK(seen[2].find(": ok") != std::string::npos);
}

}  // namespace
}  // namespace wye::exec::test::test_dispatch
