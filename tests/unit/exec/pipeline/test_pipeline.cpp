// SPDX-License-Identifier: Apache-2.0
//
// Pipelines: every form of dispatch takes a pipeline, gives what the program itself gives, and
// refuses members that the pipeline decides.
#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "piped.hpp"
#include "wye/graph.h"

namespace wye::exec::test::test_pipeline {
namespace {

constexpr std::string_view kAdjustable = R"(wye 1; program wide; workgroup 64 adjustable;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] + 1u; } })";

std::string text_of(wye_string text) { return {text.data, text.size}; }

TEST_CASE("a pipeline has an id, its program, and the number of its launches") {
    Piped t;
    const wye_pipeline pipeline = t.pipeline(t.program);
    CHECK(t.rig.driver.programs == 1);
    wye_program_description program;
    WYE_INIT(program);
    check_ok(attempt([&](wye_error** e) {
        return wye_program_describe(t.rig.context, t.program, &program, e);
    }));
    const wye_pipeline_description made = t.describe(pipeline);
    CHECK(text_of(made.id) == "fake:" + text_of(program.fingerprint));
    CHECK(text_of(made.program->name) == "add");
    CHECK(made.program->header.size == sizeof(wye_program_description));
    CHECK(made.device == t.device);
    CHECK(made.bindings == 2);
    CHECK(made.outputs == 1);
    CHECK(made.launches == 0);
    for (std::uint64_t k = 0; k < 5; ++k) {
        check_ok(t.job(pipeline, k).run(t.rig));
        CHECK(t.describe(pipeline).launches == k + 1);
    }
    Job bad = t.job(pipeline);
    bad.params.clear();
    check_refused(bad.run(t.rig), WYE_INVALID_ARGUMENT, "parameters");
    CHECK(t.describe(pipeline).launches == 5);
    CHECK(t.rig.driver.programs == 1);
}

// The slots of `description`, as "binding:class:access:bytes".
std::string slots_of(const wye_pipeline_description& description) {
    std::string out;
    for (std::uint64_t i = 0; i < description.layout_slot_count; ++i) {
        const wye_layout_slot& slot = description.layout_slots[i];
        CHECK(slot.group == 0);
        CHECK(slot.reserved == 0);
        out += std::to_string(slot.binding);
        out += slot.layout_class == WYE_LAYOUT_UNIFORM ? ":uniform" : ":storage";
        out += slot.read_only != 0 ? ":read:" : ":write:";
        out += std::to_string(slot.element_bytes) + " ";
    }
    return out;
}

TEST_CASE("a pipeline says what it binds, and programs of one layout have the same fingerprints") {
    Piped t;
    const wye_pipeline_description first = t.describe(t.pipeline(t.program));
    // Two buffers, their lengths and the parameters.
    CHECK(slots_of(first) ==
          "0:storage:read:4 1:storage:write:4 2:uniform:read:8 3:uniform:read:8 4:uniform:read:4 ");
    CHECK(first.backend_layout_fingerprint.size == 32);
    CHECK(first.program->layout_fingerprint.size == 32);
    // The same layout: other code, counts, names and hints, and other types of the same size.
    const wye_pipeline_description same = t.describe(t.pipeline(t.rig.program(
        R"(wye 1; program other; workgroup 8; param s: f32;
input a: f32[4] coalesce x prefer_align 256; output b: i32[4] locality streaming;
main { b[global_id.x] = i32(a[0] * s); })")));
    CHECK(text_of(same.program->fingerprint) != text_of(first.program->fingerprint));
    CHECK(text_of(same.program->layout_fingerprint) == text_of(first.program->layout_fingerprint));
    CHECK(text_of(same.backend_layout_fingerprint) == text_of(first.backend_layout_fingerprint));
    CHECK(same.program->hints[0].coalesce == 1);
    CHECK(same.program->hints[0].preferred_alignment == 256);
    CHECK(same.program->buffers[0].alignment == 256);
    CHECK(same.program->hints[1].coalesce == 0);
    CHECK(same.program->hints[1].locality == WYE_LOCALITY_STREAMING);
    // The same buffers, but no parameter.
    const wye_pipeline_description fewer = t.describe(t.pipeline(t.rig.program(
        R"(wye 1; program fewer; workgroup 8; input a: f32[4]; output b: i32[4]; main { })")));
    CHECK(text_of(fewer.program->layout_fingerprint) == text_of(first.program->layout_fingerprint));
    CHECK(text_of(fewer.backend_layout_fingerprint) != text_of(first.backend_layout_fingerprint));
    // A program with grid barriers is split anew at each launch, so its pipeline has no layout.
    const wye_pipeline_description split = t.describe(t.pipeline(t.rig.program(
        R"(wye 1; program split; workgroup 1; output r: u32[1]; grid groups 1;
main { r[0] = 1u; grid_barrier; r[0] = r[0] + 1u; })")));
    CHECK(split.backend_layout_fingerprint.size == 0);
    CHECK(split.layout_slot_count == 0);
}

TEST_CASE("a pipeline of another layout than the caller expects is refused by name") {
    Piped t;
    const wye_pipeline_description made = t.describe(t.pipeline(t.program));
    const std::string program = text_of(made.program->layout_fingerprint);
    const std::string backend = text_of(made.backend_layout_fingerprint);
    const auto view = [](const std::string& text) { return wye_string{text.data(), text.size()}; };
    const std::string zeros(32, '0'), cut = program.substr(1);
    wye_pipeline out = 0;
    wye_pipeline_desc desc = t.description(t.program);
    desc.layout_fingerprint = view(program);
    desc.backend_layout_fingerprint = view(backend);
    check_ok(t.create(desc, out));
    const int programs = t.rig.driver.programs;
    for (const std::string& wrong : {zeros, cut, backend}) {
        desc.layout_fingerprint = view(wrong);
        const Outcome refused = t.create(desc, out);
        check_refused(refused, WYE_INVALID_ARGUMENT,
                      "the layout_fingerprint of program `add` is " + program);
        CHECK(refused.says("expects `" + wrong + "`"));
    }
    CHECK(t.rig.driver.programs == programs);  // nothing was compiled
    desc.layout_fingerprint = view(program);
    desc.backend_layout_fingerprint = view(zeros);
    check_refused(t.create(desc, out), WYE_INVALID_ARGUMENT,
                  "the backend_layout_fingerprint of program `add` is " + backend);
    desc.backend_layout_fingerprint = {nullptr, 3};
    check_refused(t.create(desc, out), WYE_INVALID_ARGUMENT, "backend_layout_fingerprint");
}

TEST_CASE("a dispatch through a pipeline is that of its program, first and repeated") {
    Piped t;
    const wye_pipeline pipeline = t.pipeline(t.program);
    for (const std::uint64_t k : {7U, 7U, 7U, 8U}) {
        t.rig.upload(t.r, Words{0, 0, 0, 0});
        Job through = t.job(pipeline, k);
        check_ok(through.run(t.rig));
        const Words got = t.results();
        const wye_operation work = t.rig.driver.operations.back();
        CHECK(got == Words{1 + static_cast<std::uint32_t>(k), 2 + static_cast<std::uint32_t>(k),
                           3 + static_cast<std::uint32_t>(k), 4 + static_cast<std::uint32_t>(k)});
        Job plain = t.job(0, k);
        plain.desc.program = t.program;
        plain.desc.device = t.device;
        check_ok(plain.run(t.rig));
        CHECK(t.results() == got);
        CHECK(t.rig.driver.operations.back().kind == work.kind);
        CHECK(t.rig.driver.operations.back().u.dispatch.program == work.u.dispatch.program);
        CHECK(through.report.device == t.device);
        CHECK(through.report.groups[0] == plain.report.groups[0]);
        CHECK(through.report.bytes_filled == plain.report.bytes_filled);
        CHECK(through.report.compiled == 0);
    }
    CHECK(t.counters().dispatches == 8);
    CHECK(t.counters().dispatches_repeated == 6);
}

TEST_CASE("a pipeline works on after its program was freed, but not after it was freed itself") {
    Piped t;
    const wye_pipeline pipeline = t.pipeline(t.program);
    check_ok(t.job(pipeline).run(t.rig));
    check_ok(t.free_program());
    check_ok(t.job(pipeline).run(t.rig));
    CHECK(t.rig.driver.live_programs == 1);
    Job host(0, 0);
    host.desc.pipeline = pipeline;
    Words in = {5, 6}, out = {0, 0};
    check_ok(host.param(2).in(0, in.data(), 8).out(1, out.data(), 8).run(t.rig));
    CHECK(out == Words{7, 8});
    CHECK(text_of(t.describe(pipeline).program->name) == "add");
    check_ok(t.free(pipeline));
    CHECK(t.rig.driver.live_programs == 0);
    check_refused(t.job(pipeline).run(t.rig), WYE_STALE_HANDLE, "pipeline");
    check_refused(host.run(t.rig), WYE_STALE_HANDLE, "pipeline");
    check_refused(t.free(pipeline), WYE_STALE_HANDLE, "pipeline");
}

TEST_CASE("a dispatch that states again what its pipeline decides is refused, in every form") {
    Piped t;
    const wye_pipeline pipeline = t.pipeline(t.program);
    struct Wrong {
        const char* what;
        std::function<void(wye_dispatch_desc&)> set;
    };
    const Wrong wrongs[] = {
        {"`program`", [&](auto& d) { d.program = t.program; }},
        {"`device`", [&](auto& d) { d.device = t.device; }},
        {"`WYE_DISPATCH_VARIANTS`", [](auto& d) { d.flags = WYE_DISPATCH_VARIANTS; }},
        {"`WYE_DISPATCH_COOPERATIVE`", [](auto& d) { d.flags = WYE_DISPATCH_COOPERATIVE; }},
        {"`workgroup`", [](auto& d) { d.workgroup[2] = 1; }},
        {"`ulp_budget`", [](auto& d) { d.ulp_budget = 4; }},
    };
    check_ok(t.job(pipeline).run(t.rig));
    const int submits = t.rig.driver.submits;
    for (const Wrong& wrong : wrongs) {
        CAPTURE(wrong.what);
        Job job = t.job(pipeline);
        wrong.set(job.desc);
        check_refused(job.run(t.rig), WYE_INVALID_ARGUMENT, wrong.what);
        wye_pending pending = 0;
        const wye_dispatch_desc& desc = job.filled();
        check_refused(attempt([&](wye_error** e) {
                          return wye_dispatch_submit(t.rig.context, &desc, &pending, e);
                      }),
                      WYE_INVALID_ARGUMENT, wrong.what);
        check_refused(attempt([&](wye_error** e) {
                          return wye_dispatch_owned(t.rig.context, &desc, nullptr, &pending, e);
                      }),
                      WYE_INVALID_ARGUMENT, wrong.what);
        std::uint64_t sizes[2];
        std::uint32_t groups[3];
        check_refused(attempt([&](wye_error** e) {
                          return wye_dispatch_sizes(t.rig.context, &desc, sizes, groups, e);
                      }),
                      WYE_INVALID_ARGUMENT, wrong.what);
    }
    Job both = t.job(pipeline);
    both.desc.program = t.program;
    both.desc.device = t.device;
    check_refused(both.run(t.rig), WYE_INVALID_ARGUMENT, "`program`");
    CHECK(t.rig.driver.submits == submits);
    Job as_program = t.job(0);
    as_program.desc.program = pipeline;
    as_program.desc.device = t.device;
    check_refused(as_program.run(t.rig), WYE_WRONG_KIND, "program");
}

TEST_CASE("sizes, owned outputs, submits and graphs take pipelines") {
    Piped t;
    const wye_pipeline pipeline = t.pipeline(t.program);
    check_ok(t.free_program());
    Words in = {1, 2, 3};
    Job host(0, 0);
    host.desc.pipeline = pipeline;
    host.param(5).in(0, in.data(), 12).out(1, nullptr, 0);
    std::uint64_t sizes[2];
    std::uint32_t groups[3];
    check_ok(attempt([&](wye_error** e) {
        return wye_dispatch_sizes(t.rig.context, &host.filled(), sizes, groups, e);
    }));
    CHECK(sizes[1] == 12);
    const auto check_outputs = [&](wye_pending pending) {
        const wye_bytes bytes = t.rig.output(pending);
        const auto* words = static_cast<const std::uint32_t*>(bytes.data);
        CHECK(Words(words, words + bytes.size / 4) == Words{6, 7, 8});
    };
    wye_pending owned = 0, submitted = 0;
    check_ok(t.rig.owned(host, nullptr, owned));
    check_outputs(owned);
    check_ok(t.rig.submit(host, submitted));
    check_ok(t.rig.wait(submitted));
    check_outputs(submitted);
    // Resident buffers. The second and third submit are repeated requests.
    for (int round = 0; round < 3; ++round) {
        wye_pending pending = 0;
        wye_report report;
        WYE_INIT(report);
        check_ok(t.rig.submit(t.job(pipeline), pending));
        check_ok(t.rig.wait(pending, UINT64_MAX, &report));
        CHECK(report.device == t.device);
    }
    CHECK(t.results() == Words{2, 3, 4, 5});
    CHECK(t.describe(pipeline).launches == 5);
    Job step = t.job(pipeline, 9);
    const wye_graph graph = t.rig.graph(t.device, {step.filled()});
    check_ok(t.free(pipeline));
    wye_graph_run_desc run;
    WYE_INIT(run);
    check_ok(t.rig.run(graph, run));
    CHECK(t.results() == Words{10, 11, 12, 13});
}

TEST_CASE("pipelines on the same buffers are not taken for one another") {
    Piped t;
    const wye_program other = t.rig.program(
        R"(wye 1; program sub; workgroup 64; param k: u32;
           input x: u32[]; output r: u32[len(x)]; grid elements len(x);
           main { let i = global_id.x; if i < len(r) { r[i] = x[i] - k; } })");
    const wye_pipeline first = t.pipeline(t.program), second = t.pipeline(other);
    const wye_program_object* programs[2] = {};
    for (int round = 0; round < 3; ++round) {
        for (const int i : {0, 1}) {
            check_ok(t.job(i == 0 ? first : second).run(t.rig));
            const auto* now = t.rig.driver.operations.back().u.dispatch.program;
            if (round == 0) programs[i] = now;
            CHECK(now == programs[i]);
        }
    }
    CHECK(programs[0] != programs[1]);
}

TEST_CASE("compiled forms are found in memory by later pipelines and dispatches") {
    Piped t;
    const wye_pipeline first = t.pipeline(t.program);
    CHECK(t.describe(first).memory_misses == 1);
    CHECK(t.describe(first).memory_hits == 0);
    const wye_pipeline second = t.pipeline(t.rig.program(kAdd));  // a program of equal bytes
    CHECK(t.describe(second).memory_misses == 0);
    CHECK(t.describe(second).memory_hits == 1);
    check_ok(t.job(second).run(t.rig));
    CHECK(t.describe(second).memory_hits == 2);
    check_ok(t.job(second).run(t.rig));  // a repeated request looks up no form
    CHECK(t.describe(second).memory_hits == 2);
    CHECK(t.describe(second).disk_hits + t.describe(second).disk_misses == 0);
    CHECK(t.rig.driver.programs == 1);
}

TEST_CASE("options of a pipeline are those of its dispatches, or refused by name") {
    Piped t;
    const wye_program wide = t.rig.program(kAdjustable);
    wye_pipeline_desc desc = t.description(wide);
    desc.workgroup[0] = 2;
    desc.workgroup[1] = desc.workgroup[2] = 1;
    wye_pipeline pipeline = 0;
    check_ok(t.create(desc, pipeline));
    Job job(0, 0);
    job.desc.pipeline = pipeline;
    t.rig.driver.kernel = [](const wye_dispatch_op&) {};
    for (int round = 0; round < 2; ++round) {
        check_ok(job.resident(0, t.x).resident(1, t.r).run(t.rig));
        CHECK(job.report.groups[0] == 2);  // 4 elements in workgroups of 2
        CHECK(job.report.compiled == 0);
        job.arguments.clear();
    }
    desc.program = t.program;
    wye_pipeline none = 0;
    check_refused(t.create(desc, none), WYE_INVALID_ARGUMENT, "not adjustable");
    desc = t.description(t.program);
    desc.flags = WYE_DISPATCH_GRID;
    check_refused(t.create(desc, none), WYE_INVALID_ARGUMENT, "is 0x1");
    desc = t.description(t.program);
    desc.reserved = 3;
    check_refused(t.create(desc, none), WYE_INVALID_ARGUMENT, "`reserved` is 3");
    desc = t.description(t.program);
    desc.flags = WYE_DISPATCH_COOPERATIVE;
    check_refused(t.create(desc, none), WYE_UNSUPPORTED, "grid_sync");
    desc = t.description(t.program);
    desc.profile = {nullptr, 4};
    check_refused(t.create(desc, none), WYE_INVALID_ARGUMENT, "profile");
    t.rig.driver.fail_compile = true;
    check_refused(t.create(t.description(t.rig.program(kTrap)), none), WYE_COMPILE_FAILED, "");
    CHECK(none == 0);
}

TEST_CASE("a pipeline refuses buffers of another device, and everything once its device is lost") {
    Piped t;
    const wye_pipeline pipeline = t.pipeline(t.program);
    const wye_device second = t.rig.device("fake:1");
    Job job(0, 0);
    job.desc.pipeline = pipeline;
    job.param(1).resident(0, t.x).resident(1, t.rig.buffer(second, 16, "elsewhere"));
    check_refused(job.run(t.rig), WYE_WRONG_OWNER, "output 0");
    check_ok(t.job(pipeline).run(t.rig));
    t.rig.driver.lose(0);
    check_refused(t.job(pipeline).run(t.rig), WYE_DEVICE_LOST, "");
    check_refused(t.job(pipeline).run(t.rig), WYE_DEVICE_LOST, "");
    CHECK(t.describe(pipeline).launches >= 1);
    check_ok(t.free(pipeline));
}

TEST_CASE("a pipeline may be freed while other threads use it") {
    Piped t;
    t.rig.driver.kernel = [](const wye_dispatch_op&) {};
    for (int round = 0; round < 20; ++round) {
        const wye_pipeline pipeline = t.pipeline(t.program);
        std::atomic<int> succeeded{0}, refused{0};
        std::vector<std::thread> threads;
        for (int n = 0; n < 3; ++n)
            threads.emplace_back([&] {
                Job job = t.job(pipeline);
                for (;;) {
                    const wye_status status =
                        wye_dispatch(t.rig.context, &job.filled(), nullptr, nullptr);
                    if (status == WYE_OK) ++succeeded;
                    if (status != WYE_OK && status != WYE_STALE_HANDLE) return;
                    if (status == WYE_OK) continue;
                    ++refused;
                    return;
                }
            });
        while (succeeded < 30) std::this_thread::yield();
        CHECK(t.describe(pipeline).launches >= 1);
        check_ok(t.free(pipeline));
        for (std::thread& thread : threads) thread.join();
        CHECK(refused == 3);
    }
    CHECK(t.rig.driver.live_programs == 1);
}

TEST_CASE("any number of pipelines leaves their program and device to other calls") {
    Piped t;
    for (int i = 0; i < 20000; ++i) {
        wye_pipeline pipeline = 0;
        if (!t.create(t.description(t.program), pipeline).ok()) FAIL("pipeline " << i);
    }
    Job plain = t.job(0);
    plain.desc.program = t.program;
    plain.desc.device = t.device;
    check_ok(plain.run(t.rig));
    CHECK(t.results() == Words{2, 3, 4, 5});
}

}  // namespace
}  // namespace wye::exec::test::test_pipeline
