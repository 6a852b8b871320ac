// SPDX-License-Identifier: Apache-2.0
//
// The report says whether the launch that ran is deterministic. Launches of this test's program are
// deterministic, unless the grid has a second layer or the rows reach index 2^32.
#include <functional>

#include "rig.hpp"
#include "wye/graph.h"
#include "wye/pipeline.h"

namespace wye::exec::test::test_determinism {
namespace {

constexpr std::uint32_t kYes = WYE_DETERMINISM_YES;
constexpr std::uint32_t kBeyond = WYE_DETERMINISM_BEYOND;
constexpr std::uint64_t kPitch = 1U << 20U;  // deterministic up to 4096 rows

constexpr std::string_view kRows = R"(wye 1; program rows; workgroup 64; param pitch: u32;
input_output a: u32[];
main { if global_id.x < pitch { a[global_id.y * pitch + global_id.x] = 1u; } })";

struct Ready {
    Rig rig;
    wye_device device = rig.device();
    wye_program program = rig.program(kRows);
    wye_buffer a = rig.buffer(device, 256);

    Job job(std::uint64_t pitch, std::uint32_t rows, std::uint32_t layers = 1) {
        Job out(program, device);
        out.resident(0, a).param(pitch);
        out.desc.flags = WYE_DISPATCH_GRID;
        out.desc.grid[0] = 1;
        out.desc.grid[1] = rows;
        out.desc.grid[2] = layers;
        return out;
    }
    wye_pipeline pipeline() const { return rig.pipeline(device, program); }
    wye_graph graph(Job& job) const { return rig.graph(device, {job.filled()}); }
    Outcome run(wye_graph graph, std::uint64_t pitch, wye_report& report) const {
        wye_graph_run_desc desc;
        WYE_INIT(desc);
        desc.params = &pitch;
        desc.param_count = 1;
        return rig.run(graph, desc, &report);
    }
};

// A way to run a job. Returns `determinism` of the report.
struct Form {
    const char* name;
    std::function<std::uint32_t(Ready&, Job)> run;
};

const Form kForms[] = {
    {"a dispatch",
     [](Ready& t, Job job) {
         check_ok(job.run(t.rig));
         return job.report.determinism;
     }},
    {"the second of two",
     [](Ready& t, Job job) {
         check_ok(job.run(t.rig));
         check_ok(job.run(t.rig));
         return job.report.determinism;
     }},
    {"fixpoint iterations",
     [](Ready& t, Job job) {
         job.desc.fixpoint_iterations = 3;
         check_ok(job.run(t.rig));
         return job.report.determinism;
     }},
    {"asynchronous",
     [](Ready& t, Job job) {
         const wye_pending pending = t.rig.submitted(job);
         check_ok(t.rig.wait(pending, UINT64_MAX, &job.report));
         check_ok(t.rig.free_pending(pending));
         return job.report.determinism;
     }},
    {"a pipeline",
     [](Ready& t, Job job) {
         job.desc.pipeline = t.pipeline();
         job.desc.program = 0;
         job.desc.device = 0;
         check_ok(job.run(t.rig));
         return job.report.determinism;
     }},
    {"the middle one of a batch",
     [](Ready& t, Job job) {
         Job safe = t.job(1, 1);
         std::vector<wye_dispatch_desc> items = {safe.filled(), job.filled(), safe.filled()};
         for (wye_dispatch_desc& item : items) item.program = item.device = 0;
         wye_batch_desc desc;
         WYE_INIT(desc);
         desc.pipeline = t.pipeline();
         desc.items = items.data();
         desc.item_count = items.size();
         check_ok(t.rig.batch(desc, nullptr, &job.report));
         return job.report.determinism;
     }},
    {"a graph",
     [](Ready& t, Job job) {
         const std::uint64_t pitch = job.params[0];
         check_ok(t.run(t.graph(job), pitch, job.report));
         return job.report.determinism;
     }},
};

TEST_CASE("every form of dispatch says whether its launch is deterministic") {
    struct Row {
        std::uint64_t pitch;
        std::uint32_t rows, layers, verdict;
    };
    for (const Form& form : kForms) {
        const std::string by = form.name;
        CAPTURE(by);
        Ready t;
        for (const Row& row : {Row{kPitch, 4096, 1, kYes}, Row{kPitch, 4097, 1, kBeyond},
                               Row{kPitch + 1, 4096, 1, kBeyond}, Row{kPitch - 1, 4097, 1, kBeyond},
                               Row{kPitch - 256, 4096, 1, kYes}, Row{1, 1, 2, kBeyond},
                               Row{kPitch, 4096, 1, kYes}}) {
            CAPTURE(row.pitch);
            CAPTURE(row.rows);
            CHECK(form.run(t, t.job(row.pitch, row.rows, row.layers)) == row.verdict);
        }
    }
}

TEST_CASE("a repeated request with other parameters gets their verdict") {
    Ready t;
    for (const std::uint64_t pitch : {kPitch, kPitch + 1, kPitch + 1, kPitch - 1, kPitch}) {
        Job job = t.job(pitch, 4096);
        check_ok(job.run(t.rig));
        CHECK(job.report.determinism == (pitch > kPitch ? kBeyond : kYes));
    }
}

TEST_CASE("the parameters of a graph may not change the verdict that it was recorded with") {
    Ready t;
    Job job = t.job(kPitch, 4096);
    const wye_graph graph = t.graph(job);
    for (const std::uint64_t pitch : {kPitch, kPitch - 1, std::uint64_t{0}}) {
        check_ok(t.run(graph, pitch, job.report));
        CHECK(job.report.determinism == kYes);
    }
    check_refused(t.run(graph, kPitch + 1, job.report), WYE_UNSUPPORTED,
                  "whether it is deterministic");
    check_ok(t.run(graph, kPitch, job.report));
}

TEST_CASE("a program with doubts, a launch of nothing and a transfer have their own words") {
    Ready t;
    Job empty = t.job(1, 0);
    check_ok(empty.run(t.rig));
    CHECK(empty.report.determinism == WYE_DETERMINISM_NONE);
    const wye_program race = t.rig.program(
        "wye 1; program race; workgroup 64; input_output a: u32[]; grid groups 1; "
        "main { a[0] = global_id.x; }");
    for (int again = 0; again < 2; ++again) {
        Job job(race, t.device);
        check_ok(job.resident(0, t.a).run(t.rig));
        CHECK(job.report.determinism == WYE_DETERMINISM_NOT_PROVEN);
    }
    wye_transfer_desc fill;
    WYE_INIT(fill);
    fill.kind = WYE_TRANSFER_FILL;
    fill.buffer = t.a;
    fill.size = 256;
    fill.pattern_size = 4;
    check_ok(t.rig.transfer(fill, &empty.report));
    CHECK(empty.report.determinism == WYE_DETERMINISM_NONE);
}

}  // namespace
}  // namespace wye::exec::test::test_determinism
