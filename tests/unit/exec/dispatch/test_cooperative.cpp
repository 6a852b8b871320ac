// SPDX-License-Identifier: Apache-2.0
//
// Cooperative requests of programs with grid barriers, in every form of dispatch: one launch if the
// device can wait for the whole grid and all workgroups fit on the device at once, else one launch
// for each phase. The report says which.
#include <functional>
#include <string>

#include "rig.hpp"
#include "wye/graph.h"
#include "wye/pipeline.h"

namespace wye::exec::test::test_cooperative {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kPhases = 4;  // if `rounds` is 3
constexpr std::uint32_t kAtOnce = WYE_LAUNCH_COOPERATIVE;

// A device, and how a cooperative request of two workgroups runs there.
struct Where {
    const char* name;
    const char* format;
    bool grid_sync;
    std::uint32_t resident_groups, max_groups, use;
    [[nodiscard]] std::uint32_t boxes() const { return max_groups == 1 ? 2 : 1; }
    // The flags of all launches, if the program runs `times` times.
    [[nodiscard]] Words flags(std::uint32_t times) const {
        if (use == WYE_COOPERATIVE_NATIVE) return Words(times, kAtOnce);
        return Words(std::size_t{kPhases} * boxes() * times, 0);
    }
};
constexpr Where kFits = {"CUDA C, just enough room", WYE_FORMAT_CUDA_C, true, 2, 65535,
                         WYE_COOPERATIVE_NATIVE};
constexpr Where kNoSync = {"without grid_sync",         WYE_FORMAT_CUDA_C, false, 99, 65535,
                           WYE_COOPERATIVE_SPLIT_DEVICE};
constexpr Where kWheres[] = {
    kFits,
    {"wire form, just enough room", "", true, 2, 65535, WYE_COOPERATIVE_NATIVE},
    kNoSync,
    {"OpenCL C", WYE_FORMAT_OPENCL_C, true, 99, 65535, WYE_COOPERATIVE_SPLIT_FORMAT},
    {"a folded grid", WYE_FORMAT_CUDA_C, true, 99, 1, WYE_COOPERATIVE_SPLIT_GRID},
    {"one workgroup too many", WYE_FORMAT_CUDA_C, true, 1, 65535, WYE_COOPERATIVE_SPLIT_ROOM},
    {"unknown room", WYE_FORMAT_CUDA_C, true, 0, 65535, WYE_COOPERATIVE_SPLIT_ROOM},
};

wye_report new_report() {
    wye_report out;
    WYE_INIT(out);
    return out;
}

struct Ready {
    explicit Ready(const Where& where, std::string_view text = kGridRounds) {
        rig.driver.format = where.format;
        if (where.grid_sync) rig.driver.facts[WYE_FACT_KEY_GRID_SYNC] = 1;
        rig.driver.resident_groups = where.resident_groups;
        for (std::uint32_t& most : rig.driver.max_groups) most = where.max_groups;
        device = rig.device();
        program = rig.program(text);
        two = rig.buffer(device, 400, "two workgroups");
        four = rig.buffer(device, 800, "four workgroups");
        more = rig.buffer(device, 400, "two more");
    }
    Job job(wye_buffer buffer) const {
        Job out(program, device);
        out.desc.flags = WYE_DISPATCH_COOPERATIVE;
        out.resident(0, buffer).param(3);
        return out;
    }
    wye_pipeline pipeline() const {
        return rig.pipeline(device, program, WYE_DISPATCH_COOPERATIVE);
    }
    static Job through(wye_pipeline pipeline, wye_buffer buffer) {
        Job out(0, 0);
        out.desc.pipeline = pipeline;
        out.resident(0, buffer).param(3);
        return out;
    }
    wye_graph graph(const std::vector<wye_dispatch_desc>& dispatches) const {
        return rig.graph(device, dispatches);
    }
    std::uint32_t run(wye_graph graph) const {
        wye_graph_run_desc desc;
        WYE_INIT(desc);
        wye_report report = new_report();
        check_ok(rig.run(graph, desc, &report));
        return report.cooperative;
    }
    std::uint32_t batch(wye_pipeline pipeline, std::vector<wye_dispatch_desc> items) const {
        wye_batch_desc desc;
        WYE_INIT(desc);
        desc.pipeline = pipeline;
        desc.items = items.data();
        desc.item_count = items.size();
        wye_report report = new_report();
        check_ok(rig.batch(desc, nullptr, &report));
        return report.cooperative;
    }
    std::uint32_t run(Job job) const {
        check_ok(job.run(rig));
        return job.report.cooperative;
    }
    std::uint32_t wait(wye_pending pending) const {
        wye_report report = new_report();
        check_ok(rig.wait(pending, UINT64_MAX, &report));
        check_ok(rig.free_pending(pending));
        return report.cooperative;
    }
    // The flags of all launches since the last call. Launches of no workgroups, which make drivers
    // generate code, are left out.
    Words flags() {
        Words out;
        for (const wye_operation& operation : rig.driver.operations)
            if (operation.kind == WYE_OPERATION_DISPATCH && operation.u.dispatch.groups[0] != 0)
                out.push_back(operation.u.dispatch.flags);
        rig.driver.operations.clear();
        return out;
    }

    Rig rig;
    wye_device device = 0;
    wye_program program = 0;
    wye_buffer two = 0, four = 0, more = 0;
};

// A form of dispatch for two workgroups, and how many times this form runs the program.
struct Form {
    const char* name;
    std::uint32_t times;
    std::function<std::uint32_t(Ready&)> run;  // returns `cooperative` of the report
};

const Form kForms[] = {
    {"host arguments", 1,
     [](Ready& t) {
         Words a(100);
         Job job(t.program, t.device);
         job.desc.flags = WYE_DISPATCH_COOPERATIVE;
         job.in(0, a.data(), 400).param(3);
         job.arguments.back().output = a.data();
         job.arguments.back().output_size = 400;
         return t.run(job);
     }},
    {"a resident buffer", 1, [](Ready& t) { return t.run(t.job(t.two)); }},
    {"a time limit", 1,
     [](Ready& t) {
         Job job = t.job(t.two);
         job.desc.timeout_ns = 60'000'000'000;
         return t.run(job);
     }},
    {"fixpoint iterations", 3,
     [](Ready& t) {
         Job job = t.job(t.two);
         job.desc.fixpoint_iterations = 3;
         return t.run(job);
     }},
    {"asynchronous", 1,
     [](Ready& t) {
         Job job = t.job(t.two);
         const wye_pending pending = t.rig.submitted(job);
         return t.wait(pending);
     }},
    {"owned", 1,
     [](Ready& t) {
         Job job = t.job(t.two);
         wye_pending pending = 0;
         wye_report report = new_report();
         check_ok(t.rig.owned(job, &report, pending));
         CHECK(t.wait(pending) == report.cooperative);
         return report.cooperative;
     }},
    {"a pipeline", 1, [](Ready& t) { return t.run(t.through(t.pipeline(), t.two)); }},
    {"a batch", 3,
     [](Ready& t) {
         const wye_pipeline pipeline = t.pipeline();
         Job one = t.through(pipeline, t.two), other = t.through(pipeline, t.more);
         return t.batch(pipeline, {one.filled(), other.filled(), one.filled()});
     }},
    {"a graph", 2,
     [](Ready& t) {
         Job one = t.job(t.two), other = t.job(t.more);
         return t.run(t.graph({one.filled(), other.filled()}));
     }},
};

TEST_CASE("a cooperative program with grid barriers is one launch where it can be, else split") {
    for (const Where& where : kWheres) {
        for (const Form& form : kForms) {
            const std::string on = where.name, by = form.name;
            CAPTURE(on);
            CAPTURE(by);
            Ready t(where);
            for (int again = 0; again < 3; ++again) {
                CHECK(form.run(t) == where.use);
                CHECK(t.flags() == where.flags(form.times));
            }
            // Without the flag the program is split, and the report says NONE.
            Job plain = t.job(t.two);
            plain.desc.flags = 0;
            CHECK(t.run(plain) == WYE_COOPERATIVE_NONE);
            CHECK(t.flags() == Words(std::size_t{kPhases} * where.boxes(), 0));
        }
    }
}

TEST_CASE("each dispatch through a cooperative pipeline decides by its own workgroups") {
    Ready t(kFits);
    const wye_pipeline pipeline = t.pipeline();
    const wye_pipeline_description about = t.rig.describe(pipeline);
    CHECK(about.resident_groups == 2);
    CHECK(about.layout_slot_count != 0);
    for (int round = 0; round < 2; ++round) {
        CHECK(t.run(t.through(pipeline, t.two)) == WYE_COOPERATIVE_NATIVE);
        CHECK(t.flags() == Words{kAtOnce});
        CHECK(t.run(t.through(pipeline, t.four)) == WYE_COOPERATIVE_SPLIT_ROOM);
        CHECK(t.flags() == Words(kPhases, 0));
    }
    // The report of a batch has the largest value of its items.
    Job fits = t.through(pipeline, t.two), split = t.through(pipeline, t.four);
    CHECK(t.batch(pipeline, {fits.filled(), split.filled(), fits.filled()}) ==
          WYE_COOPERATIVE_SPLIT_ROOM);
    CHECK(t.flags() == Words{kAtOnce, 0, 0, 0, 0, kAtOnce});
}

TEST_CASE("a cooperative pipeline counts each compiled form of a split launch once") {
    Ready t(kFits);
    const wye_pipeline pipeline = t.pipeline();
    (void)t.run(t.through(pipeline, t.four));
    const wye_pipeline_description about = t.rig.describe(pipeline);
    CHECK(t.rig.driver.programs == 4);  // the whole program; the first, middle and last phases
    CHECK(about.memory_misses == 4);
    CHECK(about.memory_hits == 1);  // the dispatch finds the whole program
}

TEST_CASE("a cooperative pipeline on a device without grid_sync has no compiled form of its own") {
    Ready t(kNoSync);
    const wye_pipeline pipeline = t.pipeline();
    CHECK(t.rig.driver.programs == 0);
    const wye_pipeline_description about = t.rig.describe(pipeline);
    CHECK(about.layout_slot_count == 0);
    CHECK(t.run(t.through(pipeline, t.two)) == WYE_COOPERATIVE_SPLIT_DEVICE);
}

TEST_CASE("a graph decides for each dispatch, and again when it gets other buffers") {
    Ready t(kFits);
    Job fits = t.job(t.two), split = t.job(t.four);
    const wye_graph both = t.graph({fits.filled(), split.filled()});
    CHECK(t.run(both) == WYE_COOPERATIVE_SPLIT_ROOM);
    CHECK(t.flags() == Words{kAtOnce, 0, 0, 0, 0});

    const wye_graph one = t.graph({fits.filled()});
    CHECK(t.run(one) == WYE_COOPERATIVE_NATIVE);
    CHECK(t.flags() == Words{kAtOnce});
    const auto rebind = [&](wye_buffer from, wye_buffer to) {
        const wye_graph_rebinding change{from, to};
        check_ok(t.rig.rebind(one, &change, 1));
    };
    rebind(t.two, t.four);
    CHECK(t.run(one) == WYE_COOPERATIVE_SPLIT_ROOM);
    CHECK(t.flags() == Words(kPhases, 0));
    rebind(t.four, t.more);
    CHECK(t.run(one) == WYE_COOPERATIVE_NATIVE);
    CHECK(t.flags() == Words{kAtOnce});
}

TEST_CASE("one launch may have other parameters, and the driver says once how many fit") {
    Ready t(kFits);
    for (const std::uint64_t rounds : {3, 5, 0, 5}) {
        Job job(t.program, t.device);
        job.desc.flags = WYE_DISPATCH_COOPERATIVE;
        job.resident(0, t.two).param(rounds);
        CHECK(t.run(job) == WYE_COOPERATIVE_NATIVE);
    }
    (void)t.run(t.job(t.four));
    CHECK(t.rig.driver.asked == 1);
    CHECK(t.flags() == Words{kAtOnce, kAtOnce, kAtOnce, kAtOnce, 0, 0, 0, 0});
}

TEST_CASE("a driver that fails to say how many workgroups fit fails the dispatch") {
    Ready t(kFits);
    t.rig.driver.fail_program_info = true;
    check_refused(t.job(t.two).run(t.rig), WYE_DRIVER, "the fake says nothing");
    t.rig.driver.fail_program_info = false;
    CHECK(t.run(t.job(t.two)) == WYE_COOPERATIVE_NATIVE);
}

TEST_CASE("a native variant cannot be split, so it needs grid_sync") {
    for (const std::string device : {"fake:*", "other:*"}) {
        const bool matches = device == "fake:*";
        const std::string text =
            "wye 1; program rounds; workgroup 64; param rounds: u32; input_output a: u32[];\n"
            "grid elements len(a); variant \"com.fake.native\" entry \"fast\" for \"" +
            device +
            "\" text \"\"\"code\"\"\";\n"
            "main { a[global_id.x] = 1u; grid_barrier; a[global_id.x] = 2u; }";
        CAPTURE(device);
        for (const bool grid_sync : {true, false}) {
            CAPTURE(grid_sync);
            // Only the driver can refuse too many workgroups: the runtime does not know the
            // variant's code.
            Ready t({"", WYE_FORMAT_CUDA_C, grid_sync, 1, 65535, 0}, text);
            Job job = t.job(t.two);
            job.desc.flags |= WYE_DISPATCH_VARIANTS;
            if (matches && !grid_sync) {
                check_refused(job.run(t.rig), WYE_UNSUPPORTED, "grid_sync");
                CHECK(t.rig.driver.programs == 0);
            } else {
                check_ok(job.run(t.rig));
                CHECK(job.report.variant == (matches ? 1 : 0));
                CHECK(job.report.cooperative == (matches     ? WYE_COOPERATIVE_NATIVE
                                                 : grid_sync ? WYE_COOPERATIVE_SPLIT_ROOM
                                                             : WYE_COOPERATIVE_SPLIT_DEVICE));
                CHECK(t.flags() == (matches ? Words{kAtOnce} : Words{0, 0}));
            }
            CHECK(t.run(t.job(t.two)) ==
                  (grid_sync ? WYE_COOPERATIVE_SPLIT_ROOM : WYE_COOPERATIVE_SPLIT_DEVICE));
        }
    }
}

}  // namespace
}  // namespace wye::exec::test::test_cooperative
