// SPDX-License-Identifier: Apache-2.0
//
// Several iterations of a launch as one dispatch: what is submitted, what starts at zero, and what
// stops the iterations.
#include "rig.hpp"
#include "wye/graph.h"

namespace wye::exec::test::test_fixpoint {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::string_view kGrow = R"(wye 1; program grow; workgroup 1;
output r: u32[3]; grid groups 1;
main { r[1] = r[1] + 5u; })";

constexpr std::string_view kLimit = R"(wye 1; program limited; workgroup 1;
output r: u32[3]; grid groups 1;
main { r[1] = r[1] + 1u; if r[1] == 3u { trap 7; } })";

struct Ready {
    Rig rig;
    wye_device device = rig.device();
    wye_buffer r = rig.buffer(device, 12);

    Job job(wye_program program, std::uint32_t rounds) const {
        Job out(program, device);
        out.resident(0, r);
        out.desc.fixpoint_iterations = rounds;
        return out;
    }
    Words results() const { return rig.download<std::uint32_t>(r, 3); }
    // Makes the fake driver run what kLimit says.
    void limit() {
        rig.driver.kernel = [](const wye_dispatch_op& op) {
            auto* words = FakeDriver::data<std::uint32_t>(op.bindings[0]);
            auto* trap = reinterpret_cast<std::uint32_t*>(FakeDriver::memory(op.trap));
            if (++words[1] != 3) return;
            trap[0] = 7;
            ++trap[1];
        };
    }
};

TEST_CASE("rounds are launches of one submit, and outputs start at zero before the first") {
    Ready t;
    t.rig.driver.kernel = [](const wye_dispatch_op& op) {
        FakeDriver::data<std::uint32_t>(op.bindings[0])[1] += 5;
    };
    const wye_program program = t.rig.program(kGrow);
    for (const std::uint32_t rounds : {0U, 1U, 3U, 3U, 3U, 200U}) {
        CAPTURE(rounds);
        t.rig.upload(t.r, Words{7, 7, 7});
        const int submits = t.rig.driver.submits;
        Job job = t.job(program, rounds);
        check_ok(job.run(t.rig));
        CHECK(t.rig.driver.submits == submits + 1);
        CHECK(job.report.bytes_filled == 12);
        CHECK(t.results() == Words{0, std::max(rounds, 1U) * 5, 0});
    }
    check_refused(t.job(program, 65537).run(t.rig), WYE_LIMIT_EXCEEDED,
                  "65537 fixpoint iterations would take 65537 launches");
}

TEST_CASE("no iterations are refused in every form, and by a graph") {
    Ready t;
    const wye_program program = t.rig.program(kGrow);
    Job job = t.job(program, 0);
    job.desc.flags |= WYE_DISPATCH_FIXPOINT;
    const int submits = t.rig.driver.submits;
    constexpr const char* kWhat = "0 fixpoint iterations of program `grow` are asked for";
    check_refused(job.run(t.rig), WYE_INVALID_ARGUMENT, kWhat);
    check_refused(job.run(t.rig), WYE_INVALID_ARGUMENT, kWhat);  // the refused request was not kept
    wye_pending pending = 0;
    check_refused(t.rig.submit(job, pending), WYE_INVALID_ARGUMENT, kWhat);
    wye_graph_desc desc;
    WYE_INIT(desc);
    desc.device = t.device;
    wye_graph_step step{&job.filled(), nullptr};
    desc.steps = &step;
    desc.step_count = 1;
    wye_graph graph = 0;
    check_refused(
        attempt([&](wye_error** e) { return wye_graph_create(t.rig.context, &desc, &graph, e); }),
        WYE_INVALID_ARGUMENT, kWhat);
    CHECK(t.rig.driver.submits == submits);
    job.desc.fixpoint_iterations = 1;
    check_ok(job.run(t.rig));
    check_ok(job.run(t.rig));
    job.desc.fixpoint_iterations = 0;  // even though the request was repeated before
    check_refused(job.run(t.rig), WYE_INVALID_ARGUMENT, kWhat);
}

TEST_CASE("a program that can trap stops after the round that does") {
    Ready t;
    t.limit();
    const wye_program program = t.rig.program(kLimit);
    Job two = t.job(program, 2);
    check_ok(two.run(t.rig));
    CHECK(t.results() == Words{0, 2, 0});
    Job ten = t.job(program, 10);
    check_refused(ten.run(t.rig), WYE_TRAPPED, "trapped with code 7");
    CHECK(ten.report.trap_count == 1);
    CHECK(t.results() == Words{0, 3, 0});
    Words out = {9, 9, 9};
    Job host(program, t.device);
    host.desc.fixpoint_iterations = 2;
    check_ok(host.out(0, out.data(), 12).run(t.rig));
    CHECK(out == Words{0, 2, 0});
    out = {9, 9, 9};
    host.desc.fixpoint_iterations = 5;
    check_refused(host.run(t.rig), WYE_TRAPPED, "code 7");
    CHECK(out == Words{9, 9, 9});
}

TEST_CASE("graphs refuse rounds of programs that can trap, which need the host") {
    Ready t;
    t.limit();
    Job job = t.job(t.rig.program(kLimit), 2);
    wye_graph_desc desc;
    WYE_INIT(desc);
    desc.device = t.device;
    wye_graph_step recorded_step{&job.filled(), nullptr};
    desc.steps = &recorded_step;
    desc.step_count = 1;
    wye_graph graph = 0;
    const int submits = t.rig.driver.submits;
    const auto record = [&] {
        return attempt(
            [&](wye_error** e) { return wye_graph_create(t.rig.context, &desc, &graph, e); });
    };
    check_refused(record(), WYE_UNSUPPORTED,
                  "`limited` can trap, so the host must check between its 2 fixpoint iterations, "
                  "but a graph is one submit");
    CHECK(t.rig.driver.submits == submits);
    job.desc.fixpoint_iterations = 1;
    recorded_step.dispatch = &job.filled();
    check_ok(record());
}

}  // namespace
}  // namespace wye::exec::test::test_fixpoint
