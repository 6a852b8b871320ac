// SPDX-License-Identifier: Apache-2.0
//
// Pipelines are made, and programs are prepared, in calls that do not wait for the compilation. The
// compiler waits until the test lets it go on.
#include <atomic>
#include <string>
#include <thread>

#include "gate.hpp"
#include "rig.hpp"
#include "wye/device.h"

namespace wye::exec::test::test_pending_compile {
namespace {

using Words = std::vector<std::uint32_t>;
constexpr std::uint64_t kShort = 5'000'000;

struct Slow : Gate, Calls<Slow> {
    Slow() {
        rig.driver.kernel = add_kernel;
        rig.driver.on_compile = [this] { pass(); };
    }
    ~Slow() {
        let_go();
        wye_context_destroy(std::exchange(rig.context, nullptr));
        CHECK(rig.driver.live_programs == 0);
    }
    Rig rig;
    wye_device device = rig.device();
    wye_program program = rig.program(kAdd);

    wye_pipeline_desc description(std::uint64_t timeout_ns = 0) const {
        wye_pipeline_desc out;
        WYE_INIT(out);
        out.program = program;
        out.device = device;
        out.timeout_ns = timeout_ns;
        return out;
    }
    Outcome create(const wye_pipeline_desc& desc, wye_pending& out) const {
        return attempt(
            [&](wye_error** e) { return wye_pipeline_create_submit(rig.context, &desc, &out, e); });
    }
    Outcome prepare(wye_pending& out, std::uint64_t timeout_ns = 0) const {
        return attempt([&](wye_error** e) {
            return wye_program_prepare_submit(rig.context, program, device, timeout_ns, &out, e);
        });
    }
    Outcome take(wye_pending pending, wye_pipeline& out) const {
        return attempt(
            [&](wye_error** e) { return wye_pending_pipeline(rig.context, pending, &out, e); });
    }
    void check_runs(wye_pipeline pipeline) {
        Words x = {1, 2, 3}, r(3);
        Job job(0, 0);
        job.desc.pipeline = pipeline;
        job.param(1).in(0, x.data(), 12).out(1, r.data(), 12);
        check_ok(job.run(rig));
        CHECK(r == Words{2, 3, 4});
        CHECK(job.report.compiled == 0);
    }
};

TEST_CASE("a pipeline is made while the caller goes on, and is taken once") {
    for (const bool routed : {false, true}) {
        CAPTURE(routed);
        Slow t;
        wye_pipeline_desc desc = t.description();
        std::string profile = "mine";
        desc.profile = {profile.data(), profile.size()};
        if (routed) desc.device = 0;
        wye_pending pending = 0;
        check_ok(t.create(desc, pending));
        profile = "none";  // the profile was copied
        t.await_entry();
        CHECK_FALSE(t.ended(pending));
        wye_pipeline pipeline = 0;
        check_refused(t.take(pending, pipeline), WYE_NOT_READY,
                      "the compile of pipeline `add` has not ended");
        check_refused(t.wait(pending, kShort), WYE_TIMEOUT, "still in progress");
        std::atomic<int> told{-1};
        check_ok(attempt([&](wye_error** e) {
            return wye_pending_notify(
                t.rig.context, pending,
                [](void* user, wye_status status) {
                    *static_cast<std::atomic<int>*>(user) = status;
                },
                &told, e);
        }));
        t.let_go();
        std::uint64_t index = 7;
        check_ok(attempt([&](wye_error** e) {
            return wye_pending_wait_any(t.rig.context, &pending, 1, UINT64_MAX, &index, e);
        }));
        CHECK(index == 0);
        wye_report report;
        WYE_INIT(report);
        check_ok(t.wait(pending, UINT64_MAX, &report));
        CHECK(report.compiled == 1);
        CHECK(report.disk_cache == WYE_DISK_UNUSED);
        CHECK(report.device == t.device);
        CHECK(report.routed == (routed ? WYE_ROUTED_CHOSEN : WYE_ROUTED_NAMED));
        while (told == -1) std::this_thread::yield();
        CHECK(told == WYE_OK);
        check_ok(t.take(pending, pipeline));
        wye_pipeline again = 0;
        check_refused(t.take(pending, again), WYE_NOT_FOUND, "was taken already");
        wye_bytes bytes{};
        CHECK(attempt([&](wye_error** e) {
                  return wye_pending_output(t.rig.context, pending, 0, &bytes, e);
              }).status == WYE_NOT_FOUND);
        check_ok(t.free(pending));
        t.check_runs(pipeline);
        CHECK(t.rig.driver.programs == 1);
    }
}

TEST_CASE("a pipeline that nobody takes is freed with the handle, also before its end") {
    for (const bool early : {true, false}) {
        CAPTURE(early);
        Slow t;
        wye_pending pending = 0;
        check_ok(t.create(t.description(), pending));
        t.await_entry();
        if (early) check_ok(t.free(pending));
        t.let_go();
        if (!early) {
            check_ok(t.wait(pending));
            check_ok(t.free(pending));
        }
        check_ok(t.rig.flush(t.device));
        check_ok(
            attempt([&](wye_error** e) { return wye_program_free(t.rig.context, t.program, e); }));
        CHECK(t.rig.driver.live_programs == 0);
    }
}

TEST_CASE("what can be refused before is refused by the call, and the rest by the wait") {
    Slow t;
    t.let_go();
    wye_pending pending = 0;
    wye_pipeline_desc desc = t.description();
    desc.flags = WYE_DISPATCH_TIMED;
    check_refused(t.create(desc, pending), WYE_INVALID_ARGUMENT, "`flags` of wye_pipeline_desc is");
    desc = t.description();
    desc.workgroup[0] = 32;
    CHECK(t.create(desc, pending).status != WYE_OK);
    desc = t.description();
    desc.layout_fingerprint = wye_str("00000000000000000000000000000000");
    check_refused(t.create(desc, pending), WYE_INVALID_ARGUMENT, "layout_fingerprint");
    CHECK(t.rig.driver.programs == 0);
    desc = t.description();
    desc.backend_layout_fingerprint = wye_str("00000000000000000000000000000000");
    check_ok(t.create(desc, pending));
    check_refused(t.wait(pending), WYE_INVALID_ARGUMENT, "backend_layout_fingerprint");
    wye_pipeline pipeline = 0;
    check_refused(t.take(pending, pipeline), WYE_INVALID_ARGUMENT, "backend_layout_fingerprint");
    t.rig.driver.fail_compile = true;
    const wye_program bad = t.rig.program(kTrap);
    desc = t.description();
    desc.program = bad;
    check_ok(t.create(desc, pending));
    check_refused(t.wait(pending), WYE_COMPILE_FAILED, "does not compile");
    check_refused(t.take(pending, pipeline), WYE_COMPILE_FAILED, "does not compile");
    const wye_program barriers = t.rig.program(kGridRounds);
    check_refused(attempt([&](wye_error** e) {
                      return wye_program_prepare_submit(t.rig.context, barriers, t.device, 0,
                                                        &pending, e);
                  }),
                  WYE_UNSUPPORTED, "has grid barriers");
}

TEST_CASE("a program is prepared while the caller goes on, and its dispatches find it compiled") {
    Slow t;
    wye_pending pending = 0;
    check_ok(t.prepare(pending));
    t.await_entry();
    CHECK_FALSE(t.ended(pending));
    t.let_go();
    wye_report report;
    WYE_INIT(report);
    check_ok(t.wait(pending, UINT64_MAX, &report));
    CHECK(report.compiled == 1);
    CHECK(report.device == t.device);
    wye_pipeline pipeline = 0;
    check_refused(t.take(pending, pipeline), WYE_NOT_FOUND, "makes no pipeline");
    const wye_pipeline plain = t.rig.pipeline(t.device, t.program);
    t.check_runs(plain);
    CHECK(t.rig.driver.programs == 1);
    // Once more, on a device that the library chooses.
    check_ok(attempt([&](wye_error** e) {
        return wye_program_prepare_submit(t.rig.context, t.program, 0, 0, &pending, e);
    }));
    check_ok(t.wait(pending, UINT64_MAX, &report));
    CHECK(report.compiled == 0);
    CHECK(report.routed == WYE_ROUTED_CHOSEN);
}

TEST_CASE("a cancel and a time limit end it at once; what was begun is kept") {
    // Returns false if the limit passed before the compile began.
    const auto ends = [](bool pipes, std::uint64_t limit_ns) {
        const bool cancels = limit_ns == 0;
        CAPTURE(cancels);
        CAPTURE(pipes);
        Slow t;
        wye_pending pending = 0;
        check_ok(pipes ? t.create(t.description(limit_ns), pending) : t.prepare(pending, limit_ns));
        if (cancels) {
            t.await_entry();
            check_ok(t.rig.cancel(pending));
        }
        const Outcome result = t.wait(pending);
        CHECK(result.status == (cancels ? WYE_CANCELLED : WYE_TIMEOUT));
        CHECK_MESSAGE(result.says("the compile of"), result.message);
        if (!t.compiles()) return false;
        wye_pipeline none = 0;
        if (pipes) CHECK(t.take(pending, none).status == result.status);
        t.let_go();
        check_ok(t.rig.flush(t.device));
        t.check_runs(t.rig.pipeline(t.device, t.program));
        CHECK(t.rig.driver.programs == 1);
        return true;
    };
    for (const bool pipes : {true, false}) {
        CHECK(ends(pipes, 0));
        std::uint64_t limit = kShort;
        while (!ends(pipes, limit)) limit *= 4;
    }
}

TEST_CASE("a pipeline that is waited for has a time limit, and its compile continues") {
    Slow t;
    const wye_pipeline_desc desc = t.description(kShort);
    wye_pipeline pipeline = 0;
    const auto create = [&] {
        return attempt(
            [&](wye_error** e) { return wye_pipeline_create(t.rig.context, &desc, &pipeline, e); });
    };
    check_refused(create(), WYE_TIMEOUT, "compiling `add` for fake:0 did not end");
    t.let_go();
    check_ok(t.rig.flush(t.device));
    check_ok(create());
    t.check_runs(pipeline);
    CHECK(t.rig.driver.programs == 1);
}

}  // namespace
}  // namespace wye::exec::test::test_pending_compile
