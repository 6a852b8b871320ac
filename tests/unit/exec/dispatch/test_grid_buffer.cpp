// SPDX-License-Identifier: Apache-2.0
//
// Grids from buffers on the fake driver: what is submitted, in which order and on whose memory, and
// what is refused before anything is. The fake checks a grid with arithmetic of its own; that the
// library's program does the same is tested on real devices (tests/unit/api/test_grid_buffer.cpp).
#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "rig.hpp"
#include "wye/graph.h"

namespace wye::exec::test::test_grid_buffer {
namespace {

using Words = std::vector<std::uint32_t>;

// Has no grid of its own. The fake's kernel below does something else.
constexpr std::string_view kSpread = R"(wye 1; program spread; workgroup 4;
input_output r: u32[]; main { r[global_id.x] = r[global_id.x] + 1u; })";

constexpr std::string_view kPicky = R"(wye 1; program picky; workgroup 4;
input_output r: u32[]; main { if r[global_id.x] == 9u { trap 7; } })";

bool is_check(const wye_operation& operation) {
    return operation.kind == WYE_OPERATION_DISPATCH && operation.u.dispatch.binding_count == 2;
}
bool is_indirect(const wye_operation& operation) {
    return operation.kind == WYE_OPERATION_DISPATCH &&
           (operation.u.dispatch.flags & WYE_LAUNCH_INDIRECT) != 0;
}

// The check, as the header of wye_dispatch_desc describes it.
void check_kernel(const wye_dispatch_op& op) {
    const auto* const params = static_cast<const std::uint32_t*>(op.params);
    REQUIRE(op.params_size == 20);
    REQUIRE(params[0] + 3 <= op.bindings[0].elements);
    const auto* const wanted = FakeDriver::data<std::uint32_t>(op.bindings[0]) + params[0];
    auto* const words = FakeDriver::data<std::uint32_t>(op.bindings[1]);
    REQUIRE(op.bindings[1].size == 64);
    const bool some = wanted[0] != 0 && wanted[1] != 0 && wanted[2] != 0;
    const std::uint64_t plane = std::uint64_t{wanted[0]} * wanted[1];
    bool fits = plane <= UINT32_MAX && plane * wanted[2] <= UINT32_MAX;
    for (int axis = 0; axis < 3; ++axis) fits = fits && wanted[axis] <= params[1 + axis];
    for (int axis = 0; axis < 3; ++axis) words[8 + axis] = some && fits ? wanted[axis] : 0;
    if (!some || fits) return;
    if (words[0] != 0x10001) {
        std::copy_n(wanted, 3, words + 2);
        words[5] = params[4];
    }
    words[0] = 0x10001;
    ++words[1];
}

// Writes the workgroups to r[0] to r[2], and counts the launches that had some in r[3].
void spread_kernel(const wye_dispatch_op& op) {
    if (op.binding_count == 2) return check_kernel(op);
    const bool indirect = (op.flags & WYE_LAUNCH_INDIRECT) != 0;
    const std::uint32_t* const groups =
        indirect ? FakeDriver::data<std::uint32_t>(op.indirect) : op.groups;
    auto* const r = FakeDriver::data<std::uint32_t>(op.bindings[0]);
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return;
    std::copy_n(groups, 3, r);
    ++r[3];
    if (op.trap.buffer == nullptr || r[4] != 9) return;
    auto* const trap = reinterpret_cast<std::uint32_t*>(FakeDriver::memory(op.trap));
    trap[0] = 7;
    ++trap[1];
}

struct Ready {
    explicit Ready(bool commands = false) {
        rig.driver.facts[WYE_FACT_KEY_INDIRECT_DISPATCH] = 1;
        rig.driver.facts[WYE_FACT_KEY_MAX_QUEUES] = 8;
        rig.driver.commands = commands;
        rig.driver.kernel = spread_kernel;
        device = rig.device();
        program = rig.program(kSpread);
        r = rig.buffer(device, 32, "result");
        grid = rig.buffer(device, 64, "grid words");
        rig.upload(r, Words(8, 0));
        rig.upload(grid, Words(16, 0));
    }
    ~Ready() { rig.driver.holds = false; }

    Rig rig;
    wye_device device = 0;
    wye_program program = 0;
    wye_buffer r = 0, grid = 0;

    Job job(std::uint64_t offset = 0) const {
        Job out(program, device);
        out.resident(0, r);
        out.desc.flags = WYE_DISPATCH_INDIRECT;
        out.desc.grid_buffer = grid;
        out.desc.grid_offset = offset;
        return out;
    }
    // Writes words to the buffer of the grid, from a byte offset on.
    void write(const Words& words, std::uint64_t offset = 0) const {
        check_ok(attempt([&](wye_error** e) {
            return wye_buffer_upload_range(rig.context, grid, offset,
                                           {words.data(), words.size() * 4}, e);
        }));
    }
    // What the launches since the last call did.
    Words results() const {
        const Words out = rig.download<std::uint32_t>(r, 4);
        rig.upload(r, Words(8, 0));
        return out;
    }
    std::vector<wye_operation> newest() {
        std::vector<wye_operation> out;
        out.swap(rig.driver.operations);
        return out;
    }
    wye_pending submit(Job& job) const {
        wye_pending out = 0;
        check_ok(attempt([&](wye_error** e) {
            return wye_dispatch_submit(rig.context, &job.filled(), &out, e);
        }));
        return out;
    }
    Outcome wait(wye_pending pending) const {
        return attempt([&](wye_error** e) {
            return wye_pending_wait(rig.context, pending, UINT64_MAX, nullptr, e);
        });
    }
    Outcome record(std::vector<Job>& jobs, wye_graph& out) const {
        std::vector<wye_graph_step> steps;
        for (Job& job : jobs) steps.push_back({&job.filled(), nullptr});
        wye_graph_desc desc;
        WYE_INIT(desc);
        desc.device = device;
        desc.steps = steps.data();
        desc.step_count = steps.size();
        desc.label = wye_str("steps");
        return attempt(
            [&](wye_error** e) { return wye_graph_create(rig.context, &desc, &out, e); });
    }
    Outcome run(wye_graph graph) const {
        wye_graph_run_desc desc;
        WYE_INIT(desc);
        return attempt(
            [&](wye_error** e) { return wye_graph_run(rig.context, graph, &desc, nullptr, e); });
    }
    wye_pending submit(wye_graph graph) const {
        wye_graph_run_desc desc;
        WYE_INIT(desc);
        wye_pending out = 0;
        check_ok(attempt(
            [&](wye_error** e) { return wye_graph_submit(rig.context, graph, &desc, &out, e); }));
        return out;
    }
};

TEST_CASE("a grid in a buffer is checked on the device before the launch reads it, in one submit") {
    Ready t;
    Job job = t.job();
    t.write({3, 2, 1});
    t.newest();
    const int submits = t.rig.driver.submits;
    check_ok(job.run(t.rig));
    CHECK(t.rig.driver.submits == submits + 1);
    CHECK(Words(job.report.groups, job.report.groups + 3) == Words{0, 0, 0});
    CHECK(job.report.check_free == 0);
    const auto operations = t.newest();
    REQUIRE(operations.size() == 4);
    CHECK(operations[0].kind == WYE_OPERATION_FILL);  // of the trap words
    REQUIRE(is_check(operations[1]));
    REQUIRE(is_indirect(operations[2]));
    CHECK(operations[3].kind == WYE_OPERATION_DOWNLOAD);
    const wye_dispatch_op& check = operations[1].u.dispatch;
    const wye_dispatch_op& launch = operations[2].u.dispatch;
    CHECK(Words(check.groups, check.groups + 3) == Words{1, 1, 1});
    // The launch reads what the check has written, not the application's buffer.
    CHECK(launch.indirect.buffer == operations[0].u.fill.target);
    CHECK(launch.indirect.buffer == operations[3].u.transfer.buffer);
    CHECK(launch.indirect.offset == 32);
    CHECK(launch.indirect.size == 12);
    CHECK(launch.binding_count == 1);
    CHECK(t.results() == Words{3, 2, 1, 1});

    // Nothing is kept of the request: the words are read anew each time.
    for (const Words& words : {Words{1, 1, 1}, Words{65535, 1, 1}, Words{1, 65535, 65535}}) {
        t.write(words);
        check_ok(job.run(t.rig));
        const Words done = t.results();
        CHECK(std::equal(words.begin(), words.end(), done.begin()));
        CHECK(done[3] == 1);
    }
}

TEST_CASE("zero on an axis runs nothing, and more than the device launches is an error") {
    Ready t;
    Job job = t.job();
    for (const Words& words :
         {Words{0, 1, 1}, Words{1, 0, 1}, Words{1, 1, 0}, Words{0, 70000, 1}}) {
        t.write(words);
        check_ok(job.run(t.rig));
        CHECK(t.results() == Words(4, 0));
    }
    for (int axis = 0; axis < 3; ++axis) {
        Words words = {1, 1, 1};
        words[static_cast<std::size_t>(axis)] = 65536;
        t.write(words);
        const std::string what =
            std::string("more than the 65535 that fake:0 launches on axis ") + "xyz"[axis];
        job.report.groups[0] = 77;
        const Outcome refused = job.run(t.rig);
        check_refused(refused, WYE_LIMIT_EXCEEDED, what);
        CHECK(refused.says("the dispatch of `spread` on fake:0 found"));
        CHECK(refused.fix.find("none of them ran") != std::string::npos);
        CHECK(job.report.groups[0] == 77);
        CHECK(t.results() == Words(4, 0));
        check_refused(t.wait(t.submit(job)), WYE_LIMIT_EXCEEDED, what);
        CHECK(t.results() == Words(4, 0));
    }
    t.write({65535, 65535, 2});
    check_refused(job.run(t.rig), WYE_LIMIT_EXCEEDED,
                  "found 65535x65535x2 workgroups in its grid buffer, more than 4294967295 in all");
    t.write({65535, 65535, 1});
    check_ok(job.run(t.rig));  // the failures before do not count
    CHECK(t.results() == Words{65535, 65535, 1, 1});

    // Where the device has no limit of its own, workgroups of 4 leave 2^30 - 1 on an axis.
    Ready free;
    std::fill_n(free.rig.driver.max_groups, 3, UINT32_MAX);
    Rig other;
    other.driver.facts[WYE_FACT_KEY_INDIRECT_DISPATCH] = 1;
    std::fill_n(other.driver.max_groups, 3, UINT32_MAX);
    other.driver.kernel = spread_kernel;
    const wye_device device = other.device();
    const wye_buffer r = other.buffer(device, 32), grid = other.buffer(device, 12);
    other.upload(r, Words(8, 0));
    Job large(other.program(kSpread), device);
    large.resident(0, r);
    large.desc.flags = WYE_DISPATCH_INDIRECT;
    large.desc.grid_buffer = grid;
    other.upload(grid, Words{1073741823, 1, 1});
    check_ok(large.run(other));
    CHECK(other.download<std::uint32_t>(r, 4) == Words{1073741823, 1, 1, 1});
    other.upload(grid, Words{1073741824, 1, 1});
    check_refused(large.run(other), WYE_LIMIT_EXCEEDED, "more than 4294967295 invocations");
    other.upload(grid, Words{65535, 65537, 1});
    check_ok(large.run(other));
    other.upload(grid, Words{65536, 65536, 1});
    check_refused(large.run(other), WYE_LIMIT_EXCEEDED, "more than 4294967295 in all");
}

TEST_CASE("the words may be at any multiple of 4, also where the device binds none there") {
    for (const std::uint64_t alignment : {std::uint64_t{1}, std::uint64_t{4}, std::uint64_t{16}}) {
        Rig rig;
        rig.driver.facts[WYE_FACT_KEY_INDIRECT_DISPATCH] = 1;
        rig.driver.facts[WYE_FACT_KEY_BUFFER_ALIGNMENT] = alignment;
        rig.driver.kernel = spread_kernel;
        const wye_device device = rig.device();
        const wye_buffer r = rig.buffer(device, 32), grid = rig.buffer(device, 64);
        for (std::uint64_t offset = 0; offset <= 52; offset += 4) {
            CAPTURE(offset);
            Words words(16, 0);
            words[offset / 4] = 5;
            words[offset / 4 + 1] = 6;
            words[offset / 4 + 2] = 7;
            rig.upload(grid, words);
            rig.upload(r, Words(8, 0));
            Job job(rig.program(kSpread), device);
            job.resident(0, r);
            job.desc.flags = WYE_DISPATCH_INDIRECT;
            job.desc.grid_buffer = grid;
            job.desc.grid_offset = offset;
            rig.driver.operations.clear();
            check_ok(job.run(rig));
            const auto found = std::ranges::find_if(rig.driver.operations, is_check);
            REQUIRE(found != rig.driver.operations.end());
            const wye_binding& bound = found->u.dispatch.bindings[0];
            CHECK(bound.offset % std::max<std::uint64_t>(alignment, 4) == 0);
            CHECK(bound.offset + bound.size == offset + 12);
            CHECK(bound.elements * 4 == bound.size);
            CHECK(rig.download<std::uint32_t>(r, 4) == Words{5, 6, 7, 1});
        }
    }
}

TEST_CASE("the check is compiled once for a device, and kept by the disk cache like others") {
    Ready t;
    t.write({1, 1, 1});
    const int before = t.rig.driver.programs;
    Job job = t.job();
    check_ok(job.run(t.rig));
    CHECK(t.rig.driver.programs == before + 2);  // `spread` and the check
    CHECK(job.report.compiled == 1);
    Job other(t.rig.program(kPicky), t.device);
    other.resident(0, t.r);
    other.desc.flags = WYE_DISPATCH_INDIRECT;
    other.desc.grid_buffer = t.grid;
    check_ok(other.run(t.rig));
    CHECK(t.rig.driver.programs == before + 3);
    check_ok(job.run(t.rig));
    CHECK(job.report.compiled == 0);
    CHECK(t.rig.driver.programs == before + 3);
}

// A call that must be refused in every form, with nothing submitted.
void refused_in_each_form(Ready& t, Job& job, wye_status status, std::string_view what) {
    INFO(what);
    const int submits = t.rig.driver.submits;
    check_refused(job.run(t.rig), status, what);
    wye_pending pending = 0;
    check_refused(attempt([&](wye_error** e) {
                      return wye_dispatch_submit(t.rig.context, &job.filled(), &pending, e);
                  }),
                  status, what);
    check_refused(attempt([&](wye_error** e) {
                      return wye_dispatch_owned(t.rig.context, &job.filled(), nullptr, &pending, e);
                  }),
                  status, what);
    std::vector<Job> jobs = {job};
    wye_graph graph = 0;
    check_refused(t.record(jobs, graph), status, what);
    wye_dispatch_desc item = job.filled();
    wye_batch_desc batch;
    WYE_INIT(batch);
    batch.pipeline =
        t.rig.pipeline(item.device, item.program, item.flags & WYE_DISPATCH_COOPERATIVE);
    item.program = item.device = 0;
    item.flags &= ~WYE_DISPATCH_COOPERATIVE;
    batch.items = &item;
    batch.item_count = 1;
    check_refused(attempt([&](wye_error** e) {
                      return wye_pipeline_batch(t.rig.context, &batch, nullptr, nullptr, e);
                  }),
                  status, what);
    CHECK(t.rig.driver.submits == submits);
}

TEST_CASE("a grid buffer that does not fit is refused in every form before anything runs") {
    Ready t;
    check_ok(t.job().run(t.rig));
    Job job = t.job(2);
    refused_in_each_form(t, job, WYE_INVALID_ARGUMENT,
                         "at offset 2 of its buffer, which is not a multiple of 4");
    job = t.job(56);
    refused_in_each_form(t, job, WYE_INVALID_ARGUMENT,
                         "12 bytes at offset 56 of a buffer of 64 bytes");
    job = t.job(UINT64_MAX - 3);
    refused_in_each_form(t, job, WYE_INVALID_ARGUMENT, "of a buffer of 64 bytes");
    const wye_buffer small = t.rig.buffer(t.device, 8);
    job = t.job();
    job.desc.grid_buffer = small;
    refused_in_each_form(t, job, WYE_INVALID_ARGUMENT, "12 bytes at offset 0 of a buffer of 8");
    job = t.job();
    job.desc.grid_buffer = 0;
    refused_in_each_form(t, job, WYE_STALE_HANDLE, "(of the grid) is 0");
    job = t.job();
    job.desc.grid_buffer = t.program;
    refused_in_each_form(t, job, WYE_WRONG_KIND, "(of the grid)");
    job = t.job();
    job.desc.flags |= WYE_DISPATCH_GRID;
    job.desc.grid[0] = 3;
    refused_in_each_form(t, job, WYE_INVALID_ARGUMENT, "a grid of 3x0x0 and a grid buffer");
    job = t.job();
    job.desc.flags = WYE_DISPATCH_GRID;
    std::fill_n(job.desc.grid, 3, 1U);
    refused_in_each_form(t, job, WYE_INVALID_ARGUMENT, "without WYE_DISPATCH_INDIRECT");
    job.desc.grid_buffer = 0;
    job.desc.grid_offset = 4;
    refused_in_each_form(t, job, WYE_INVALID_ARGUMENT, "without WYE_DISPATCH_INDIRECT");

    const wye_device second = t.rig.device("fake:1");
    const wye_buffer foreign = t.rig.buffer(second, 64, "elsewhere");
    job = t.job();
    job.desc.grid_buffer = foreign;
    for (const char* const owner :
         {"fake:0 (generation 1)", "fake:1 (generation 2)", "(of the grid)"})
        refused_in_each_form(t, job, WYE_WRONG_OWNER, owner);
    check_ok(t.rig.free(t.grid));
    job = t.job();
    refused_in_each_form(t, job, WYE_STALE_HANDLE, "(of the grid) was freed");
}

TEST_CASE("launches that must know their grid are refused by name") {
    Ready t;
    Job job = t.job();
    job.desc.program = t.rig.program(R"(wye 1; program phased; workgroup 4; input_output r: u32[];
        main { r[global_id.x] = 1u; grid_barrier; r[global_id.x + 1u] = 2u; })");
    refused_in_each_form(t, job, WYE_UNSUPPORTED, "program `phased` has grid barriers");
    t.rig.driver.facts[WYE_FACT_KEY_GRID_SYNC] = 1;
    job = t.job();
    job.desc.flags |= WYE_DISPATCH_COOPERATIVE;
    const int submits = t.rig.driver.submits;
    check_refused(job.run(t.rig), WYE_UNSUPPORTED, "a cooperative launch of `spread`");
    CHECK(t.rig.driver.submits == submits);
}

TEST_CASE("a device that takes no grid from a buffer is named, with what can be done") {
    Ready t;
    Rig rig;
    rig.driver.second[WYE_FACT_KEY_INDIRECT_DISPATCH] = 1;
    rig.driver.kernel = spread_kernel;
    const wye_device first = rig.device(), second = rig.device("fake:1");
    const wye_program program = rig.program(kSpread);
    for (const wye_device named : {first, wye_device{0}}) {
        const wye_buffer grid = rig.buffer(first, 12);
        std::array<std::uint32_t, 8> r{};
        Job job(program, named);
        job.in(0, r.data(), 32);
        job.desc.flags = WYE_DISPATCH_INDIRECT;
        job.desc.grid_buffer = grid;
        const Outcome refused = job.run(rig);
        check_refused(refused, WYE_UNSUPPORTED,
                      "fake:0 cannot run program `spread`: needs indirect_dispatch yes, has");
        CHECK(
            refused.fix ==
            "Fix: read the three words back, and give them as `grid` (WYE_DISPATCH_GRID); or copy "
            "the buffers to `fake:1`, which can run it (wye_buffer_copy_across)");
    }
    // The owner of the grid runs a request that names no device.
    const wye_buffer grid = rig.buffer(second, 12);
    rig.upload(grid, Words{4, 5, 6});
    std::array<std::uint32_t, 8> r{};
    Job job(program, 0);
    job.in(0, r.data(), 32);
    job.arguments[0].output = r.data();
    job.arguments[0].output_size = 32;
    job.desc.flags = WYE_DISPATCH_INDIRECT;
    job.desc.grid_buffer = grid;
    check_ok(job.run(rig));
    CHECK(job.report.device == second);
    CHECK(job.report.routed == WYE_ROUTED_OWNER);
    CHECK(Words(r.begin(), r.begin() + 4) == Words{4, 5, 6, 1});
}

TEST_CASE("sizes are those of the other members, and the groups are not known") {
    Ready t;
    const wye_program sized = t.rig.program(R"(wye 1; program sized; workgroup 4;
        input x: u32[]; output r: u32[]; main { r[global_id.x] = x[global_id.x]; })");
    Job job(sized, t.device);
    std::array<std::uint32_t, 4> x{};
    job.in(0, x.data(), 16).out(1, nullptr, 0);
    job.desc.flags = WYE_DISPATCH_INDIRECT | WYE_DISPATCH_ELEMENTS;
    job.desc.elements = 10;
    for (const wye_buffer grid : {t.grid, wye_buffer{0}}) {
        job.desc.grid_buffer = grid;
        std::uint64_t sizes[2] = {};
        std::uint32_t groups[3] = {7, 7, 7};
        check_ok(attempt([&](wye_error** e) {
            return wye_dispatch_sizes(t.rig.context, &job.filled(), sizes, groups, e);
        }));
        CHECK(sizes[1] == 40);
        CHECK(Words(groups, groups + 3) == Words{0, 0, 0});
    }
    job.desc.flags = WYE_DISPATCH_INDIRECT;
    std::uint64_t sizes[2] = {};
    std::uint32_t groups[3] = {};
    check_refused(attempt([&](wye_error** e) {
                      return wye_dispatch_sizes(t.rig.context, &job.filled(), sizes, groups, e);
                  }),
                  WYE_INVALID_ARGUMENT, "element count of run-time output `r`");
}

TEST_CASE("no form and no verdict of the launch relies on a grid") {
    Ready t;
    t.rig.driver.format = "opencl-c";
    Rig rig;
    rig.driver.facts[WYE_FACT_KEY_INDIRECT_DISPATCH] = 1;
    rig.driver.format = "opencl-c";
    const wye_device device = rig.device();
    // With a known grid it runs without range checks, needs no zeros, and is deterministic.
    const wye_program program = rig.program(R"(wye 1; program plain; workgroup 64;
        output r: u32[64]; main { r[global_id.x] = 1u; })");
    const wye_buffer r = rig.buffer(device, 256), grid = rig.buffer(device, 12);
    Job known(program, device);
    known.resident(0, r);
    known.desc.flags = WYE_DISPATCH_GRID;
    std::fill_n(known.desc.grid, 3, 1U);
    check_ok(known.run(rig));
    CHECK(known.report.check_free == 1);
    CHECK(known.report.bytes_filled == 0);
    CHECK(known.report.determinism == WYE_DETERMINISM_YES);
    Job job(program, device);
    job.resident(0, r);
    job.desc.flags = WYE_DISPATCH_INDIRECT;
    job.desc.grid_buffer = grid;
    rig.upload(grid, Words{1, 1, 1});
    check_ok(job.run(rig));
    CHECK(job.report.check_free == 0);
    CHECK(job.report.bytes_filled == 256);
    CHECK(job.report.determinism == WYE_DETERMINISM_BEYOND);
    // Its indices repeat only on axes that it does not read.
    const wye_program always = rig.program(R"(wye 1; program always; workgroup 1;
        input_output r: u32[64]; main { let v = r[0]; })");
    job.desc.program = always;
    check_ok(job.run(rig));
    CHECK(job.report.determinism == WYE_DETERMINISM_YES);
}

TEST_CASE("all rounds of a fixpoint have the grid of the first") {
    Ready t;
    t.write({2, 1, 1});
    Job job = t.job();
    job.desc.fixpoint_iterations = 5;
    t.newest();
    check_ok(job.run(t.rig));
    auto operations = t.newest();
    CHECK(std::ranges::count_if(operations, is_check) == 1);
    CHECK(std::ranges::count_if(operations, is_indirect) == 5);
    CHECK(t.results() == Words{2, 1, 1, 5});
    check_ok(t.wait(t.submit(job)));
    CHECK(t.results() == Words{2, 1, 1, 5});

    // With a program that can trap the host looks between the rounds.
    job.desc.program = t.rig.program(kPicky);
    t.newest();
    check_ok(job.run(t.rig));
    operations = t.newest();
    CHECK(std::ranges::count_if(operations, is_check) == 1);
    CHECK(std::ranges::count_if(operations, is_indirect) == 5);
    CHECK(t.results() == Words{2, 1, 1, 5});
    t.rig.upload(t.r, Words{0, 0, 0, 0, 9, 0, 0, 0});
    check_refused(job.run(t.rig), WYE_TRAPPED, "trapped with code 7");
    CHECK(t.results() == Words{2, 1, 1, 1});
    t.write({65536, 1, 1});
    check_refused(job.run(t.rig), WYE_LIMIT_EXCEEDED, "65536x1x1");
    CHECK(t.results() == Words(4, 0));
}

TEST_CASE("a time limit, host arguments, owned outputs and read-backs work with it") {
    Ready t;
    t.write({2, 3, 4});
    std::array<std::uint32_t, 8> in{}, out{};
    const auto job = [&] {
        Job made(t.program, t.device);
        made.in(0, in.data(), 32);
        made.desc.flags = WYE_DISPATCH_INDIRECT;
        made.desc.grid_buffer = t.grid;
        return made;
    };
    Job host = job();
    host.arguments[0].output = out.data();
    host.arguments[0].output_size = 32;
    check_ok(host.run(t.rig));
    CHECK(Words(out.begin(), out.begin() + 4) == Words{2, 3, 4, 1});
    host.desc.timeout_ns = 60'000'000'000;
    out.fill(0);
    check_ok(host.run(t.rig));
    CHECK(Words(out.begin(), out.begin() + 4) == Words{2, 3, 4, 1});
    Job resident = t.job();
    resident.arguments[0].output = out.data();
    resident.arguments[0].output_size = 32;
    out.fill(0);
    check_ok(resident.run(t.rig));
    CHECK(Words(out.begin(), out.begin() + 4) == Words{2, 3, 4, 1});
    Job owned = job();
    wye_pending pending = 0;
    check_ok(attempt([&](wye_error** e) {
        return wye_dispatch_owned(t.rig.context, &owned.filled(), nullptr, &pending, e);
    }));
    wye_bytes bytes{};
    check_ok(attempt(
        [&](wye_error** e) { return wye_pending_output(t.rig.context, pending, 0, &bytes, e); }));
    REQUIRE(bytes.size == 32);
    CHECK(static_cast<const std::uint32_t*>(bytes.data)[2] == 4);

    // No output is delivered of a grid that was refused.
    t.write({70000, 1, 1});
    for (Job* const one : {&host, &resident}) {
        out.fill(5);
        check_refused(one->run(t.rig), WYE_LIMIT_EXCEEDED, "70000x1x1");
        CHECK(out == std::array<std::uint32_t, 8>{5, 5, 5, 5, 5, 5, 5, 5});
    }
    check_ok(attempt([&](wye_error** e) {
        return wye_dispatch_submit(t.rig.context, &owned.filled(), &pending, e);
    }));
    check_refused(t.wait(pending), WYE_LIMIT_EXCEEDED, "70000x1x1");
    check_refused(attempt([&](wye_error** e) {
                      return wye_pending_output(t.rig.context, pending, 0, &bytes, e);
                  }),
                  WYE_LIMIT_EXCEEDED, "70000x1x1");
}

TEST_CASE("the grid buffer is in use until the end, and work that writes it comes before") {
    Ready t;
    const auto queue = [&] {
        wye_queue_create_desc desc;
        WYE_INIT(desc);
        wye_queue out = 0;
        check_ok(attempt([&](wye_error** e) {
            return wye_queue_create(t.rig.context, t.device, &desc, &out, e);
        }));
        return out;
    };
    const wye_queue one = queue(), two = queue();
    check_ok(t.job().run(t.rig));
    t.rig.driver.holds = true;
    // `grid` is the argument of a launch on the first queue, and the grid of one on the second.
    Job writes(t.program, t.device);
    writes.resident(0, t.grid);
    writes.desc.flags = WYE_DISPATCH_GRID;
    std::fill_n(writes.desc.grid, 3, 1U);
    writes.desc.queue = one;
    const wye_pending first = t.submit(writes);
    const FakeDriver::Submit writer = t.rig.driver.submitted.back();
    Job reads = t.job();
    reads.desc.queue = two;
    const wye_pending second = t.submit(reads);
    const FakeDriver::Submit reader = t.rig.driver.submitted.back();
    REQUIRE(reader.waits.size() == 1);
    const bool behind = static_cast<const void*>(reader.waits[0].timeline) ==
                        static_cast<const void*>(writer.queue);
    CHECK(behind);
    CHECK(reader.waits[0].value == writer.value);
    // Two that read it do not wait for each other, and one that writes it waits for both.
    const wye_buffer other = t.rig.buffer(t.device, 32);
    Job also(t.program, t.device);
    also.resident(0, other);
    also.desc = t.job().desc;
    also.desc.queue = one;
    const wye_pending third = t.submit(also);
    CHECK(t.rig.driver.submitted.back().waits.empty());
    check_refused(t.rig.free(t.grid), WYE_BUFFER_IN_USE, "pending work");
    t.rig.driver.holds = false;
    for (const wye_pending pending : {first, second, third}) check_ok(t.wait(pending));
    check_ok(t.rig.free(t.grid));
}

TEST_CASE("one buffer may be the grid and an argument, which is written after it was read") {
    Ready t;
    t.write({7, 1, 1, 0});
    Job job = t.job();
    job.arguments[0].buffer = t.grid;
    check_ok(job.run(t.rig));
    CHECK(t.rig.download<std::uint32_t>(t.grid, 4) == Words{7, 1, 1, 1});
    check_ok(t.rig.free(t.grid));
}

TEST_CASE("repeated requests and those with a grid buffer are not taken for each other") {
    Ready t(true);
    Job plain(t.program, t.device);
    plain.resident(0, t.r);
    plain.desc.flags = WYE_DISPATCH_GRID;
    std::fill_n(plain.desc.grid, 3, 1U);
    t.write({5, 1, 1});
    const wye_buffer other = t.rig.buffer(t.device, 64);
    t.rig.upload(other, Words{6, 1, 1});
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 3; ++i) check_ok(plain.run(t.rig));
        CHECK(t.results() == Words{1, 1, 1, 3});
        Job job = t.job();
        for (int i = 0; i < 3; ++i) check_ok(job.run(t.rig));
        CHECK(t.results() == Words{5, 1, 1, 3});
        job.desc.grid_buffer = other;
        check_ok(job.run(t.rig));
        CHECK(t.results() == Words{6, 1, 1, 1});
        job.desc.grid_buffer = t.grid;
        job.desc.grid_offset = 4;
        t.write({9}, 12);
        check_ok(job.run(t.rig));
        CHECK(t.results() == Words{1, 1, 9, 1});
        Job stray = plain;
        stray.desc.grid_buffer = t.grid;
        check_refused(stray.run(t.rig), WYE_INVALID_ARGUMENT, "without WYE_DISPATCH_INDIRECT");
        stray = plain;
        stray.desc.grid_offset = 4;
        check_refused(stray.run(t.rig), WYE_INVALID_ARGUMENT, "without WYE_DISPATCH_INDIRECT");
        CHECK(t.results() == Words(4, 0));
    }
}

TEST_CASE("batches and rows take grids from buffers, among other items") {
    Ready t;
    t.write({2, 1, 1, 3, 1, 1, 65536, 1, 1});
    const wye_pipeline pipeline = t.rig.pipeline(t.device, t.program);
    const auto item = [&](std::uint64_t offset) {
        Job out = t.job(offset);
        out.desc.program = out.desc.device = 0;
        return out;
    };
    const auto plain = [&] {
        Job out(0, 0);
        out.resident(0, t.r);
        out.desc.flags = WYE_DISPATCH_GRID;
        std::fill_n(out.desc.grid, 3, 1U);
        return out;
    };
    const auto run = [&](std::vector<Job>& jobs, std::uint64_t& completed) {
        std::vector<wye_dispatch_desc> items;
        for (Job& job : jobs) items.push_back(job.filled());
        wye_batch_desc batch;
        WYE_INIT(batch);
        batch.pipeline = pipeline;
        batch.items = items.data();
        batch.item_count = items.size();
        return attempt([&](wye_error** e) {
            return wye_pipeline_batch(t.rig.context, &batch, &completed, nullptr, e);
        });
    };
    std::uint64_t completed = 0;
    std::vector<Job> jobs = {plain(), plain(), item(0), item(0), plain(), item(12)};
    check_ok(run(jobs, completed));
    CHECK(completed == 6);
    CHECK(t.results() == Words{3, 1, 1, 6});
    jobs = {item(0), plain(), item(24), plain()};
    const Outcome refused = run(jobs, completed);
    check_refused(refused, WYE_LIMIT_EXCEEDED, "item 2 of the batch: the dispatch of `spread`");
    CHECK(completed == 2);
    t.results();

    wye_rows_desc rows;
    WYE_INIT(rows);
    rows.pipeline = pipeline;
    const wye_buffer other = t.rig.buffer(t.device, 32);
    t.rig.upload(other, Words(8, 0));
    const wye_buffer buffers[] = {t.r, other, t.r};
    wye_dispatch_desc of_all = item(12).desc;
    rows.dispatch = &of_all;
    rows.buffers = buffers;
    rows.row_count = 3;
    rows.row_size = 1;
    check_ok(attempt([&](wye_error** e) {
        return wye_pipeline_rows(t.rig.context, &rows, &completed, nullptr, e);
    }));
    CHECK(completed == 3);
    CHECK(t.results() == Words{3, 1, 1, 2});
    CHECK(t.rig.download<std::uint32_t>(other, 4) == Words{3, 1, 1, 1});
}

TEST_CASE("a graph reads the words anew in each execution, and names the dispatch of too many") {
    for (const bool commands : {false, true}) {
        CAPTURE(commands);
        Ready t(commands);
        // The first launch writes the grid of the second: its own workgroups.
        Job writes(t.program, t.device);
        writes.resident(0, t.grid);
        writes.desc.flags = WYE_DISPATCH_GRID;
        writes.desc.grid[0] = 4;
        writes.desc.grid[1] = 2;
        writes.desc.grid[2] = 1;
        std::vector<Job> jobs = {writes, t.job(), t.job(16)};
        t.write({3, 3, 3}, 16);
        wye_graph graph = 0;
        check_ok(t.record(jobs, graph));
        t.newest();
        check_ok(t.run(graph));
        CHECK(t.results() == Words{3, 3, 3, 2});
        t.write({1, 0, 1}, 16);
        check_ok(t.run(graph));
        CHECK(t.results() == Words{4, 2, 1, 1});
        t.write({1, 1, 65536}, 16);
        const Outcome refused = t.run(graph);
        check_refused(refused, WYE_LIMIT_EXCEEDED,
                      "dispatch 2 of graph `steps` on fake:0 found 1x1x65536 workgroups");
        CHECK(t.results() == Words{4, 2, 1, 1});  // the steps before it ran
        t.write({1, 1, 2}, 16);
        check_ok(t.run(graph));
        CHECK(t.results() == Words{1, 1, 2, 2});
    }
}

TEST_CASE("executions of a graph that overlap have memory of their own for their grids") {
    for (const bool commands : {false, true}) {
        CAPTURE(commands);
        Ready t(commands);
        t.write({2, 1, 1});
        std::vector<Job> jobs = {t.job()};
        wye_graph graph = 0;
        check_ok(t.record(jobs, graph));
        std::set<const void*> places, checked;
        std::vector<wye_pending> pending;
        t.rig.driver.holds = true;
        const auto look = [&](const wye_operation& operation) {
            if (is_indirect(operation)) places.insert(operation.u.dispatch.indirect.buffer);
        };
        t.rig.driver.kernel = [&](const wye_dispatch_op& op) {
            wye_operation operation{};
            operation.kind = WYE_OPERATION_DISPATCH;
            operation.u.dispatch = op;
            if (is_check(operation)) checked.insert(op.bindings[1].buffer);
            look(operation);
            spread_kernel(op);
        };
        // More than a recording has instances: the rest are operations with trap words of their
        // own.
        constexpr std::size_t kTimes = 20;
        for (std::size_t i = 0; i < kTimes; ++i) pending.push_back(t.submit(graph));
        t.rig.driver.holds = false;
        for (const wye_pending one : pending) check_ok(t.wait(one));
        CHECK(places.size() == kTimes);
        CHECK(places == checked);
        CHECK(t.results() == Words{2, 1, 1, kTimes});
        for (const wye_pending one : pending)
            check_ok(
                attempt([&](wye_error** e) { return wye_pending_free(t.rig.context, one, e); }));
        t.rig.driver.kernel = spread_kernel;
    }
}

TEST_CASE("a graph takes another grid buffer, and is stale without its own") {
    Ready t;
    t.write({2, 1, 1});
    std::vector<Job> jobs = {t.job(), t.job()};
    wye_graph graph = 0;
    check_ok(t.record(jobs, graph));
    check_ok(t.run(graph));
    const wye_buffer other = t.rig.buffer(t.device, 64), small = t.rig.buffer(t.device, 8);
    t.rig.upload(other, Words{6, 1, 1});
    const auto rebind = [&](wye_buffer from, wye_buffer to) {
        const wye_graph_rebinding change{from, to};
        return attempt(
            [&](wye_error** e) { return wye_graph_rebind(t.rig.context, graph, &change, 1, e); });
    };
    check_refused(rebind(t.grid, small), WYE_INVALID_ARGUMENT, "of a buffer of 8 bytes");
    t.rig.driver.holds = true;
    const wye_pending pending = t.submit(graph);
    check_refused(t.rig.free(t.grid), WYE_BUFFER_IN_USE, "pending work");
    check_refused(rebind(t.grid, other), WYE_DEVICE_BUSY, "has an execution in flight");
    t.rig.driver.holds = false;
    check_ok(t.wait(pending));
    t.results();
    check_ok(t.rig.free(t.grid));
    check_refused(t.run(graph), WYE_STALE_HANDLE, "was freed");
    check_ok(rebind(t.grid, other));
    check_ok(t.run(graph));
    CHECK(t.results() == Words{6, 1, 1, 2});
}

}  // namespace
}  // namespace wye::exec::test::test_grid_buffer
