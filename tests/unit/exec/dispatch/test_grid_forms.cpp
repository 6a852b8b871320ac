// SPDX-License-Identifier: Apache-2.0
//
// Grids from buffers on the fake driver, in every form of dispatch: fixpoint iterations, time
// limits, read-backs, queues, repeated requests, batches, rows and graphs.
#include <set>

#include "dispatch/grids.hpp"

namespace wye::exec::test::test_grid_forms {
namespace {

using grids::is_check;
using grids::is_indirect;
using grids::kPicky;
using grids::Ready;
using grids::spread_kernel;
using grids::Words;

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

    // If the program can trap, the host looks for a trap between the iterations.
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
    check_ok(t.rig.owned(owned, nullptr, pending));
    wye_bytes bytes = t.rig.output(pending, 0);
    REQUIRE(bytes.size == 32);
    CHECK(static_cast<const std::uint32_t*>(bytes.data)[2] == 4);

    // If the grid is refused, no output is delivered.
    t.write({70000, 1, 1});
    for (Job* const one : {&host, &resident}) {
        out.fill(5);
        check_refused(one->run(t.rig), WYE_LIMIT_EXCEEDED, "70000x1x1");
        CHECK(out == std::array<std::uint32_t, 8>{5, 5, 5, 5, 5, 5, 5, 5});
    }
    check_ok(t.rig.submit(owned, pending));
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
        desc.kind = WYE_QUEUE_ANY;
        wye_queue out = 0;
        check_ok(t.rig.create(t.device, desc, out));
        return out;
    };
    const wye_queue one = queue(), two = queue();
    check_ok(t.job().run(t.rig));
    t.rig.driver.holds = true;
    // A launch on the first queue writes the grid buffer. A launch on the second queue takes its
    // grid from that buffer.
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
    // A second launch that takes its grid from the buffer does not wait for the first.
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
        return t.rig.batch(batch, &completed, nullptr);
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

TEST_CASE(
    "a graph reads grids anew in each execution; errors name the dispatch with too many groups") {
    for (const bool commands : {false, true}) {
        CAPTURE(commands);
        Ready t(commands);
        // The first launch writes its own number of workgroups as the grid of the second launch.
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
        CHECK(t.results() == Words{4, 2, 1, 1});  // the earlier steps ran
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
        // A recording has fewer than kTimes instances. An execution without an instance consists of
        // plain operations with trap words of their own.
        constexpr std::size_t kTimes = 20;
        for (std::size_t i = 0; i < kTimes; ++i) pending.push_back(t.submit(graph));
        t.rig.driver.holds = false;
        for (const wye_pending one : pending) check_ok(t.wait(one));
        CHECK(places.size() == kTimes);
        CHECK(places == checked);
        CHECK(t.results() == Words{2, 1, 1, kTimes});
        for (const wye_pending one : pending) check_ok(t.rig.free_pending(one));
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
        return t.rig.rebind(graph, &change, 1);
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
}  // namespace wye::exec::test::test_grid_forms
