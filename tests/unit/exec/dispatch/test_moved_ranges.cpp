// SPDX-License-Identifier: Apache-2.0
//
// Ranges that begin where the device cannot bind a buffer. In every form of dispatch the program
// gets a copy of the range, the bytes around the range stay, and the report counts the copied
// bytes.
#include <functional>

#include "rig.hpp"
#include "wye/graph.h"
#include "wye/pipeline.h"

namespace wye::exec::test::test_moved_ranges {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kAlignment = 64;
constexpr std::uint32_t kWords = 4;  // the size of the range
constexpr std::uint64_t kBytes = kWords * 4;

constexpr std::string_view kStep = R"(wye 1; program advance; workgroup 64;
input_output a: u32[]; grid elements len(a);
main { let i = global_id.x; if i < len(a) { a[i] = a[i] * 2u + 1u; } })";

void step_kernel(const wye_dispatch_op& op) {
    const wye_binding& a = op.bindings[0];
    CHECK(a.offset % kAlignment == 0);
    CHECK(a.size == a.elements * 4);
    for (std::uint64_t i = 0; i < a.elements; ++i)
        FakeDriver::data<std::uint32_t>(a)[i] = FakeDriver::data<std::uint32_t>(a)[i] * 2 + 1;
}

struct Ready {
    Ready() {
        rig.driver.facts[WYE_FACT_KEY_BUFFER_ALIGNMENT] = kAlignment;
        rig.driver.kernel = step_kernel;
        device = rig.device();
        program = rig.program(kStep);
        a = rig.buffer(device, 40 * 4);
        for (std::uint32_t i = 0; i < 40; ++i) words.push_back(i * 1000);
        rig.upload(a, words);
    }
    Job job(std::uint64_t offset) { return Job(program, device).resident(0, a, offset, kBytes); }
    wye_pipeline pipeline() const { return rig.pipeline(device, program); }

    Rig rig;
    wye_device device = 0;
    wye_program program = 0;
    wye_buffer a = 0;
    Words words;
};

// A form of dispatch. `run` runs the program on the range at `offset`, and returns the number of
// copied bytes in the report.
struct Form {
    const char* name;
    std::uint32_t steps;   // runs of the program
    std::uint32_t copies;  // copies into scratch memory; equally many go out of it
    std::function<std::uint64_t(Ready&, std::uint64_t offset)> run;
};

std::uint64_t run(Ready& t, Job job) {
    check_ok(job.run(t.rig));
    return job.report.bytes_copied;
}

const Form kForms[] = {
    {"a dispatch", 1, 1, [](Ready& t, std::uint64_t at) { return run(t, t.job(at)); }},
    {"repeated dispatches", 3, 3,
     [](Ready& t, std::uint64_t at) {
         return run(t, t.job(at)) + run(t, t.job(at)) + run(t, t.job(at));
     }},
    {"a time limit", 1, 1,
     [](Ready& t, std::uint64_t at) {
         Job job = t.job(at);
         job.desc.timeout_ns = 60'000'000'000;
         return run(t, job);
     }},
    {"fixpoint iterations", 3, 1,
     [](Ready& t, std::uint64_t at) {
         Job job = t.job(at);
         job.desc.fixpoint_iterations = 3;
         return run(t, job);
     }},
    {"asynchronous, twice in flight", 2, 2,
     [](Ready& t, std::uint64_t at) {
         Job job = t.job(at);
         wye_pending pending[2] = {};
         std::uint64_t copied = 0;
         for (wye_pending& one : pending) check_ok(t.rig.submit(job, one));
         for (const wye_pending one : pending) {
             check_ok(t.rig.wait(one, UINT64_MAX, &job.report));
             copied += job.report.bytes_copied;
             check_ok(t.rig.free_pending(one));
         }
         return copied;
     }},
    {"a batch", 3, 3,
     [](Ready& t, std::uint64_t at) {
         wye_batch_desc desc;
         WYE_INIT(desc);
         desc.pipeline = t.pipeline();
         Job job = t.job(at);
         job.desc.program = 0;
         job.desc.device = 0;
         const std::vector<wye_dispatch_desc> items(3, job.filled());
         desc.items = items.data();
         desc.item_count = items.size();
         check_ok(t.rig.batch(desc, nullptr, &job.report));
         return job.report.bytes_copied;
     }},
    {"a graph of two steps, run twice", 4, 4,
     [](Ready& t, std::uint64_t at) {
         Job job = t.job(at);
         const wye_graph graph = t.rig.graph(t.device, {job.filled(), job.filled()});
         std::uint64_t copied = 0;
         for (int again = 0; again < 2; ++again) {
             wye_graph_run_desc run;
             WYE_INIT(run);
             check_ok(t.rig.run(graph, run, &job.report));
             copied += job.report.bytes_copied;
         }
         return copied;
     }},
};

TEST_CASE("a range that the device cannot bind is copied, in every form of dispatch") {
    for (const Form& form : kForms) {
        for (const bool commands : {false, true}) {
            for (const std::uint64_t offset : {4U, 60U, 64U}) {
                const std::string by = form.name;
                CAPTURE(by);
                CAPTURE(commands);
                CAPTURE(offset);
                Ready t;
                t.rig.driver.commands = commands;
                const bool moved = offset % kAlignment != 0;
                CHECK(form.run(t, offset) == (moved ? 2 * kBytes * form.copies : 0));
                for (std::uint32_t step = 0; step < form.steps; ++step)
                    for (std::uint64_t i = 0; i < kWords; ++i) {
                        std::uint32_t& word = t.words[offset / 4 + i];
                        word = word * 2 + 1;
                    }
                CHECK(t.rig.download<std::uint32_t>(t.a, 40) == t.words);
            }
        }
    }
}

TEST_CASE("a moved input is not copied back, and a moved output that is filled not copied in") {
    Ready t;
    t.rig.driver.kernel = [](const wye_dispatch_op& op) {
        FakeDriver::data<std::uint32_t>(op.bindings[1])[0] =
            FakeDriver::data<std::uint32_t>(op.bindings[0])[1];
    };
    const wye_program first = t.rig.program(R"(wye 1; program first; workgroup 1;
input x: u32[]; output r: u32[]; grid groups 1; main { r[0] = x[1]; })");
    const wye_buffer r = t.rig.buffer(t.device, 40 * 4);
    t.rig.upload(r, Words(40, 5));
    t.rig.driver.operations.clear();
    Job job(first, t.device);
    check_ok(job.resident(0, t.a, 8, kBytes).resident(1, r, 12, kBytes).run(t.rig));
    CHECK(t.rig.driver.kinds() == Words{WYE_OPERATION_COPY, WYE_OPERATION_FILL,
                                        WYE_OPERATION_DISPATCH, WYE_OPERATION_COPY});
    CHECK(job.report.bytes_copied == 2 * kBytes);
    Words expected(40, 5);
    expected[3] = 3000;
    expected[4] = expected[5] = expected[6] = 0;
    CHECK(t.rig.download<std::uint32_t>(r, 40) == expected);
    CHECK(t.rig.download<std::uint32_t>(t.a, 40) == t.words);
}

TEST_CASE("a moved range keeps what a program wrote before it trapped") {
    Ready t;
    t.rig.driver.kernel = [](const wye_dispatch_op& op) {
        step_kernel(op);
        auto* const trap = FakeDriver::data<std::uint32_t>(op.trap);
        trap[0] = 7;
        trap[1] = 1;
    };
    const wye_program traps = t.rig.program(R"(wye 1; program traps; workgroup 64;
input_output a: u32[]; grid elements len(a);
main { let i = global_id.x; if i < len(a) { a[i] = a[i] * 2u + 1u; trap 7; } })");
    Job job(traps, t.device);
    CHECK(job.resident(0, t.a, 4, kBytes).run(t.rig).status == WYE_TRAPPED);
    for (std::uint64_t i = 1; i <= kWords; ++i) t.words[i] = t.words[i] * 2 + 1;
    CHECK(t.rig.download<std::uint32_t>(t.a, 40) == t.words);
}

}  // namespace
}  // namespace wye::exec::test::test_moved_ranges
