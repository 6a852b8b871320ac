// SPDX-License-Identifier: Apache-2.0
//
// Which of a program's two forms a request runs: with range checks, or check-free. The fake's
// kernel records the form that it receives.
#include "rig.hpp"

namespace wye::exec::test::test_forms {
namespace {

// This program needs no range checks if index i + s of the last invocation is inside a.
constexpr std::string_view kLook = R"(wye 1; program look; workgroup 4 adjustable; param s: u32;
input a: u32[]; output r: u32[];
main { let i = global_id.x; if i < len(r) { r[i] = a[i + s]; } })";

struct Forms {
    Rig rig;
    wye_device device = 0;
    wye_program program = 0;
    wye_buffer a = 0, r = 0;
    const void* ran = nullptr;  // the form that the last dispatch ran

    explicit Forms(const char* format = WYE_FORMAT_OPENCL_C) {
        rig.driver.format = format;
        rig.driver.kernel = [this](const wye_dispatch_op& op) { ran = op.program; };
        device = rig.device();
        program = rig.program(kLook);
        a = rig.buffer(device, 48);
        r = rig.buffer(device, 32);
    }
    Job job(std::uint64_t s, std::uint32_t groups = 2) const {
        Job out(program, device);
        out.param(s).resident(0, a).resident(1, r);
        out.desc.flags = WYE_DISPATCH_GRID;
        out.desc.grid[0] = groups;
        out.desc.grid[1] = out.desc.grid[2] = 1;
        return out;
    }
    // Runs the job and returns `check_free` of the report. Checks that one form runs whenever
    // `check_free` is 0, and the other form otherwise.
    std::uint32_t run(Job job) {
        check_ok(job.run(rig));
        const bool free = job.report.check_free != 0;
        const void*& form = forms[free ? 1 : 0];
        if (form == nullptr) form = ran;
        CHECK(form == ran);
        CHECK(forms[0] != forms[1]);
        return job.report.check_free;
    }
    const void* forms[2] = {nullptr, nullptr};
};

TEST_CASE("each launch is judged by its own sizes, also a repeated one") {
    Forms f;
    CHECK(f.run(f.job(4)) == 1);
    CHECK(f.run(f.job(5)) == 0);
    CHECK(f.run(f.job(4)) == 1);
    CHECK(f.run(f.job(4)) == 1);
    CHECK(f.run(f.job(3)) == 1);
    CHECK(f.run(f.job(0xffffffff)) == 0);
    CHECK(f.run(f.job(0xfffffffe)) == 0);
    CHECK(f.run(f.job(0)) == 1);
    CHECK(f.run(f.job(8, 1)) == 1);
    CHECK(f.run(f.job(8, 2)) == 0);
    CHECK(f.run(f.job(8, 1)) == 1);
    CHECK(f.run(f.job(4)) == 1);
    f.a = f.rig.buffer(f.device, 44);
    CHECK(f.run(f.job(4)) == 0);
    CHECK(f.run(f.job(3)) == 1);
    Job part = f.job(3);
    part.arguments[0].size = 40;
    CHECK(f.run(part) == 0);
    CHECK(f.rig.driver.programs == 2);
}

TEST_CASE("a program that has one form runs with range checks") {
    Forms f;
    Job other = f.job(0);
    other.desc.workgroup[0] = 2;
    other.desc.workgroup[1] = other.desc.workgroup[2] = 1;
    check_ok(other.run(f.rig));
    CHECK(other.report.check_free == 0);
    Job none = f.job(0, 0);
    check_ok(none.run(f.rig));
    CHECK(none.report.check_free == 0);
}

TEST_CASE("a device that runs the program itself has one form") {
    Forms f(WYE_FORMAT_PROGRAM);
    CHECK(f.run(f.job(0)) == 0);
}

TEST_CASE("an error budget has its own forms, where it opens something") {
    Forms f;
    CHECK(f.run(f.job(0)) == 1);
    Job same = f.job(0);
    same.desc.ulp_budget = 4096;
    CHECK(f.run(same) == 1);
    CHECK(f.rig.driver.programs == 1);
    f.program = f.rig.program(R"(wye 1; program waves; workgroup 4; param s: u32;
        input a: f32[]; output r: f32[];
        main { let i = global_id.x; if i < len(r) { r[i] = sin(a[i + s]); } })");
    for (const std::uint32_t budget : {0U, 4096U})
        for (const std::uint32_t s : {4U, 5U, 4U}) {
            Job job = f.job(s);
            job.desc.ulp_budget = budget;
            check_ok(job.run(f.rig));
            CHECK(job.report.check_free == (s == 4 ? 1 : 0));
            CHECK((job.report.native_functions != 0) == (budget != 0));
        }
    CHECK(f.rig.driver.programs == 5);
}

TEST_CASE("after preparing no launch waits for a compiler") {
    Forms f;
    wye_prepare_report report;
    WYE_INIT(report);
    check_ok(attempt([&](wye_error** e) {
        return wye_program_prepare(f.rig.context, f.program, f.device, &report, e);
    }));
    CHECK(report.compiled == 1);
    CHECK(f.rig.driver.programs == 2);
    for (const std::uint32_t s : {0U, 100U}) {
        Job job = f.job(s);
        check_ok(job.run(f.rig));
        CHECK(job.report.check_free == (s == 0 ? 1 : 0));
        CHECK(job.report.compiled == 0);
    }
    CHECK(f.rig.driver.programs == 2);
    CHECK(f.rig.driver.codes[0] != f.rig.driver.codes[1]);
}

}  // namespace
}  // namespace wye::exec::test::test_forms
