// SPDX-License-Identifier: Apache-2.0
//
// Grids from buffers on the fake driver: what is submitted, in which order and with which memory,
// and what is refused before any submit.
#include "dispatch/grids.hpp"

namespace wye::exec::test::test_grid_buffer {
namespace {

using grids::is_check;
using grids::is_indirect;
using grids::kPicky;
using grids::kSpread;
using grids::Ready;
using grids::spread_kernel;
using grids::Words;

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
    CHECK(operations[0].kind == WYE_OPERATION_FILL);  // fills the trap words
    REQUIRE(is_check(operations[1]));
    REQUIRE(is_indirect(operations[2]));
    CHECK(operations[3].kind == WYE_OPERATION_DOWNLOAD);
    const wye_dispatch_op& check = operations[1].u.dispatch;
    const wye_dispatch_op& launch = operations[2].u.dispatch;
    CHECK(Words(check.groups, check.groups + 3) == Words{1, 1, 1});
    // The launch reads what the check wrote, not the application's buffer.
    CHECK(launch.indirect.buffer == operations[0].u.fill.target);
    CHECK(launch.indirect.buffer == operations[3].u.transfer.buffer);
    CHECK(launch.indirect.offset == 32);
    CHECK(launch.indirect.size == 12);
    CHECK(launch.binding_count == 1);
    CHECK(t.results() == Words{3, 2, 1, 1});

    // Repeated requests read the words anew each time.
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
    check_ok(job.run(t.rig));  // earlier failures have no effect
    CHECK(t.results() == Words{65535, 65535, 1, 1});
}

TEST_CASE("where the device has no limit of its own, the language's holds") {
    Rig other;
    other.driver.facts[WYE_FACT_KEY_INDIRECT_DISPATCH] = 1;
    std::fill_n(other.driver.max_groups, 3, UINT32_MAX);
    other.driver.kernel = spread_kernel;
    const wye_device device = other.device();
    const wye_buffer r = other.buffer(device, 32), grid = other.buffer(device, 12);
    other.upload(r, Words(8, 0));
    // With workgroups of 4 invocations, an axis can have 2^30 - 1 workgroups.
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

// Checks that every form of dispatch refuses the job, and that nothing is submitted.
void refused_in_each_form(Ready& t, Job& job, wye_status status, std::string_view what) {
    INFO(what);
    const wye_pipeline pipeline = t.rig.pipeline(job.desc.device, job.desc.program);
    const int submits = t.rig.driver.submits;
    check_refused(job.run(t.rig), status, what);
    wye_pending pending = 0;
    check_refused(t.rig.submit(job, pending), status, what);
    check_refused(t.rig.owned(job, nullptr, pending), status, what);
    std::vector<Job> jobs = {job};
    wye_graph graph = 0;
    check_refused(t.record(jobs, graph), status, what);
    wye_dispatch_desc item = job.filled();
    wye_batch_desc batch;
    WYE_INIT(batch);
    batch.pipeline = pipeline;
    item.program = item.device = 0;
    batch.items = &item;
    batch.item_count = 1;
    check_refused(t.rig.batch(batch, nullptr, nullptr), status, what);
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
    job = t.job();
    job.desc.flags |= WYE_DISPATCH_COOPERATIVE;
    const int submits = t.rig.driver.submits;
    check_refused(job.run(t.rig), WYE_UNSUPPORTED, "a cooperative launch of `spread`");
    CHECK(t.rig.driver.submits == submits);
}

TEST_CASE("a device that takes no grid from a buffer is named, with what can be done") {
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
    // A request that names no device runs on the owner of the grid buffer.
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
    job.desc.elements = 0;
    std::uint64_t sizes[2] = {};
    std::uint32_t groups[3] = {};
    check_refused(attempt([&](wye_error** e) {
                      return wye_dispatch_sizes(t.rig.context, &job.filled(), sizes, groups, e);
                  }),
                  WYE_INVALID_ARGUMENT, "element count of run-time output `r`");
}

TEST_CASE("no form and no verdict of the launch relies on a grid") {
    Rig rig;
    rig.driver.facts[WYE_FACT_KEY_INDIRECT_DISPATCH] = 1;
    rig.driver.format = "opencl-c";
    const wye_device device = rig.device();
    // With a known grid, this program needs no range checks and no zero fill, and is deterministic.
    const wye_program program = rig.program(R"(wye 1; program plain; workgroup 64;
        input a: u32[]; output r: u32[];
        main { let i = global_id.x; if i < len(r) { r[i] = a[i]; } })");
    const wye_buffer a = rig.buffer(device, 256), r = rig.buffer(device, 256);
    const wye_buffer grid = rig.buffer(device, 12);
    Job known(program, device);
    known.resident(0, a).resident(1, r);
    known.desc.flags = WYE_DISPATCH_GRID;
    std::fill_n(known.desc.grid, 3, 1U);
    check_ok(known.run(rig));
    CHECK(known.report.check_free == 1);
    CHECK(known.report.bytes_filled == 0);
    CHECK(known.report.determinism == WYE_DETERMINISM_YES);
    Job job(program, device);
    job.resident(0, a).resident(1, r);
    job.desc.flags = WYE_DISPATCH_INDIRECT;
    job.desc.grid_buffer = grid;
    rig.upload(grid, Words{1, 1, 1});
    check_ok(job.run(rig));
    CHECK(job.report.check_free == 0);
    CHECK(job.report.bytes_filled == 256);
    CHECK(job.report.determinism == WYE_DETERMINISM_BEYOND);
    // This program writes nothing, so it is deterministic with any grid.
    const wye_program always = rig.program(R"(wye 1; program always; workgroup 1;
        input_output r: u32[64]; main { let v = r[0]; })");
    job.desc.program = always;
    job.arguments.pop_back();
    check_ok(job.run(rig));
    CHECK(job.report.determinism == WYE_DETERMINISM_YES);
}

}  // namespace
}  // namespace wye::exec::test::test_grid_buffer
