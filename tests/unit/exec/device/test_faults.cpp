// SPDX-License-Identifier: Apache-2.0
//
// Drivers that fail, hang, or change the state of the process.
#include <algorithm>

#include "rig.hpp"

namespace wye::exec::test::test_faults {
namespace {

using Words = std::vector<std::uint32_t>;

using Ready = HostWords;

TEST_CASE("driver errors reach the caller, and the device works again afterwards") {
    Ready t;
    t.rig.driver.fail_compile = true;
    check_refused(t.job().run(t.rig), WYE_COMPILE_FAILED, "does not compile");
    CHECK(t.rig.driver.submits == 0);
    t.rig.driver.fail_compile = false;
    t.rig.driver.fail_submit = true;
    check_refused(t.job().run(t.rig), WYE_DRIVER, "refuses to submit");
    CHECK(t.r == Words{9, 9, 9});
    t.rig.driver.fail_submit = false;
    t.rig.driver.fail_wait = true;
    check_refused(t.job().run(t.rig), WYE_DRIVER, "the fake fails");
    t.rig.driver.fail_wait = false;
    const int queues = t.rig.driver.queues;
    check_ok(t.job().run(t.rig));  // on a new queue, since the old one stays unusable
    CHECK(t.rig.driver.queues == queues + 1);
    CHECK(t.r == Words{2, 3, 4});
}

TEST_CASE("a variant that does not compile is named with its place; a trial without it runs") {
    Ready t;
    t.program = t.rig.program(
        "wye 1; program two; workgroup 64; param k: u32; input x: u32[]; output r: u32[len(x)];\n"
        "grid elements len(x);\n"
        "  variant \"com.fake.native\" entry \"fast\" for \"fake:*\" text \"\"\"code\"\"\";\n"
        "main { let i = global_id.x; if i < len(r) { r[i] = x[i] + k; } }");
    t.rig.driver.fail_compile = true;
    Job job = t.job();
    job.desc.flags = WYE_DISPATCH_VARIANTS;
    const Outcome refused = job.run(t.rig);
    check_refused(refused, WYE_COMPILE_FAILED, "variant `fast` (com.fake.native) at 3:");
    CHECK(refused.says("of program `two` does not compile for fake:0: the fake does not compile"));
    CHECK(refused.fix.find("without variants") != std::string::npos);
    t.rig.driver.fail_compile = false;
    check_ok(t.job().run(t.rig));
}

TEST_CASE("a complaint about lowered code names the statement of the program") {
    for (const char* format : {"opencl-c", "cuda-c"}) {
        Rig rig;
        rig.driver.format = format;
        rig.driver.fail_compile = true;
        const wye_device device = rig.device();
        const wye_program program = rig.program(
            "wye 1; program p; workgroup 64; param k: u32; output r: u32[64]; grid groups 1;\n"
            "main {\n  let a = k + 41u;\n  if local_index == 3u {\n"
            "    r[local_index] = a * 12345u;\n  }\n}");
        // The driver complains about the line of the lowered code that has this constant.
        std::string asked = "12345";
        rig.driver.compile_log = [&](std::string_view code) {
            const std::size_t at = code.find(asked);
            REQUIRE(at != std::string_view::npos);
            const auto line = 1 + std::count(code.begin(), code.begin() + at, '\n');
            return "x.c:1:1: warning: odd\nx.c:" + std::to_string(line) + ":9: error: bad";
        };
        std::vector<std::uint32_t> r(64);
        const auto run = [&] {
            return Job(program, device).param(1).out(0, r.data(), 256).run(rig);
        };
        check_refused(run(), WYE_COMPILE_FAILED, "the fake does not compile [program at 5:5]");
        asked = "41";
        check_refused(run(), WYE_COMPILE_FAILED, "[program at 3:3]");
        // A line of the lowered code that comes from no statement has no place in the program.
        rig.driver.compile_log = [](std::string_view) { return "x.c:1:1: error: bad"; };
        const Outcome first = run();
        check_refused(first, WYE_COMPILE_FAILED, "the fake does not compile");
        CHECK_FALSE(first.says("[program"));
    }
}

TEST_CASE("a complaint about code without range checks names the statement too") {
    for (const char* format : {"opencl-c", "cuda-c"}) {
        Rig rig;
        rig.driver.format = format;
        rig.driver.fail_compile = true;
        const wye_device device = rig.device();
        const wye_program program = rig.program(
            "wye 1; program p; workgroup 64; param k: u32; input x: u32[]; output r: u32[len(x)];\n"
            "grid elements len(x);\n"
            "main {\n  r[global_id.x] = x[global_id.x] * 12345u;\n}");
        rig.driver.compile_log = [](std::string_view code) {
            const std::size_t at = code.find("12345");
            REQUIRE(at != std::string_view::npos);
            const auto line = 1 + std::count(code.begin(), code.begin() + at, '\n');
            return "x.c:" + std::to_string(line) + ":9: error: bad";
        };
        // 64 elements need no range check, 65 do.
        for (const std::size_t count : {64U, 65U}) {
            std::vector<std::uint32_t> x(count), r(count);
            Job job(program, device);
            job.param(1).in(0, x.data(), count * 4).out(1, r.data(), count * 4);
            check_refused(job.run(rig), WYE_COMPILE_FAILED, "[program at 4:3]");
        }
    }
}

TEST_CASE("a time-out cancels, delivers nothing, and the next dispatch runs") {
    Ready t;
    t.rig.driver.can_cancel = true;
    Job warm = t.job();
    warm.desc.timeout_ns = 3'600'000'000'000;
    check_ok(warm.run(t.rig));
    CHECK(t.r == Words{2, 3, 4});
    t.r = {9, 9, 9};

    // Uploads read the caller's memory, so they have ended before the launch can be given up.
    t.rig.driver.operations.clear();
    t.rig.driver.kernel = [&](const wye_dispatch_op& op) {
        t.rig.driver.hang = true;
        add_kernel(op);
    };
    Job job = t.job();
    job.desc.timeout_ns = 1'000'000;
    check_refused(job.run(t.rig), WYE_TIMEOUT, "it was stopped");
    CHECK(t.rig.driver.cancels == 1);
    CHECK(t.r == Words{9, 9, 9});
    CHECK(t.rig.driver.kinds() == Words{WYE_OPERATION_UPLOAD, WYE_OPERATION_DISPATCH});

    t.rig.driver.kernel = add_kernel;
    check_ok(t.job().run(t.rig));
    CHECK(t.r == Words{2, 3, 4});
}

TEST_CASE("work that cannot be cancelled keeps its device busy and its buffers pinned") {
    Ready t;
    const wye_device second = t.rig.device("fake:1");
    const wye_buffer x = t.rig.buffer(t.device, 12, "pinned");
    const wye_buffer r = t.rig.buffer(t.device, 12);
    t.rig.upload(x, t.x);
    t.rig.driver.kernel = [&](const wye_dispatch_op&) { t.rig.driver.hang = true; };
    Job job(t.program, t.device);
    job.desc.timeout_ns = 3'600'000'000'000;
    check_refused(job.param(1).resident(0, x).resident(1, r).run(t.rig), WYE_TIMEOUT,
                  "it still runs and keeps fake:0 busy");

    check_refused(t.job().run(t.rig), WYE_DEVICE_BUSY, "fake:0 is still running");
    check_refused(t.rig.free(x), WYE_BUFFER_IN_USE, "pinned");
    std::uint32_t word = 0;
    check_refused(attempt([&](wye_error** e) {
                      return wye_buffer_download_range(t.rig.context, x, 0, &word, 4, e);
                  }),
                  WYE_DEVICE_BUSY, "");

    // Other devices go on working. The fake's switch `hang` is for all devices, so it is off
    // meanwhile.
    t.rig.driver.hang = false;
    t.rig.driver.kernel = add_kernel;
    check_ok(
        Job(t.program, second).param(1).in(0, t.x.data(), 12).out(1, t.r.data(), 12).run(t.rig));
    // The work has ended: the buffer can be freed, and the device takes work again.
    check_ok(t.rig.free(x));
    check_ok(t.job().run(t.rig));
}

TEST_CASE("a flush waits for work that was given up; so does the end of the context") {
    Ready t;
    const wye_buffer x = t.rig.buffer(t.device, 12);
    const wye_buffer r = t.rig.buffer(t.device, 12);
    t.rig.driver.kernel = [&](const wye_dispatch_op&) { t.rig.driver.hang = true; };
    Job job(t.program, t.device);
    job.desc.timeout_ns = 3'600'000'000'000;
    CHECK(job.param(1).resident(0, x).resident(1, r).run(t.rig).status == WYE_TIMEOUT);
    t.rig.driver.hang = false;
    check_ok(t.rig.flush(t.device));
    check_ok(t.rig.free(x));

    Job last(t.program, t.device);
    last.desc.timeout_ns = 3'600'000'000'000;
    CHECK(last.param(1).in(0, t.x.data(), 12).resident(1, r).run(t.rig).status == WYE_TIMEOUT);
    t.rig.driver.hang = false;
    wye_context_destroy(t.rig.context);
    t.rig.context = nullptr;
    CHECK(t.rig.driver.live_buffers == 0);
    CHECK(t.rig.driver.live_programs == 0);
}

TEST_CASE("everything is destroyed with the context") {
    Ready t;
    (void)t.rig.buffer(t.device, 100);
    check_ok(t.job().run(t.rig));
    CHECK(t.rig.driver.live_buffers > 0);
    wye_context_destroy(t.rig.context);
    t.rig.context = nullptr;
    CHECK(t.rig.driver.live_buffers == 0);
    CHECK(t.rig.driver.live_programs == 0);
}

}  // namespace
}  // namespace wye::exec::test::test_faults
