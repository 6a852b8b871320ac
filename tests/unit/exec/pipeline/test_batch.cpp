// SPDX-License-Identifier: Apache-2.0
//
// Batches: which items are submitted together, what stops a batch, and which results are kept then.
#include <deque>
#include <string>

#include "piped.hpp"

namespace wye::exec::test::test_batch {
namespace {

// Writes trap code 7 where an input is 0.
void check_kernel(const wye_dispatch_op& op) {
    const auto* x = FakeDriver::data<std::uint32_t>(op.bindings[0]);
    auto* r = FakeDriver::data<std::uint32_t>(op.bindings[1]);
    auto* words = reinterpret_cast<std::uint32_t*>(FakeDriver::memory(op.trap));
    for (std::uint64_t i = 0; i < op.bindings[1].elements; ++i) {
        r[i] = x[i] == 0 ? 0 : 100 / x[i];
        if (x[i] != 0) continue;
        words[0] = 7;
        ++words[1];
    }
}

struct Batched : Piped {
    wye_pipeline pipe = pipeline(program);
    std::deque<Job> jobs;
    std::deque<Words> storage;
    std::uint64_t completed = 99;
    wye_report report = [] {
        wye_report out;
        WYE_INIT(out);
        return out;
    }();

    Job& item() {
        Job& out = jobs.emplace_back(0, 0);
        return out;
    }
    // Adds an item that writes x + k to a buffer of its own.
    wye_buffer resident_item(std::uint64_t k) {
        const wye_buffer out = rig.buffer(device, 16);
        rig.upload(out, Words{9, 9, 9, 9});
        item().param(k).resident(0, x).resident(1, out);
        return out;
    }
    // Adds an item from and to host memory. Its output starts as nines.
    Words& host_item(std::uint64_t k, const Words& in) {
        const Words& from = storage.emplace_back(in);
        Words& to = storage.emplace_back(in.size(), 9U);
        item().param(k).in(0, from.data(), from.size() * 4).out(1, to.data(), to.size() * 4);
        return to;
    }
    wye_batch_desc description(std::vector<wye_dispatch_desc>& items) {
        items.clear();
        for (Job& job : jobs) items.push_back(job.filled());
        wye_batch_desc out;
        WYE_INIT(out);
        out.pipeline = pipe;
        out.items = items.data();
        out.item_count = items.size();
        return out;
    }
    Outcome run() {
        std::vector<wye_dispatch_desc> items;
        const wye_batch_desc desc = description(items);
        return rig.batch(desc, &completed, &report);
    }
    Outcome run_owned(std::vector<wye_pending>& owners) {
        std::vector<wye_dispatch_desc> items;
        const wye_batch_desc desc = description(items);
        owners.assign(items.size(), 77);
        return attempt([&](wye_error** e) {
            return wye_pipeline_batch_owned(rig.context, &desc, owners.data(), &completed, &report,
                                            e);
        });
    }
    Words words(wye_pending owner) {
        const wye_bytes bytes = rig.output(owner);
        const auto* from = static_cast<const std::uint32_t*>(bytes.data);
        return {from, from + bytes.size / 4};
    }
};

TEST_CASE("resident items are one submit, and count as dispatches and launches") {
    Batched t;
    std::vector<wye_buffer> outs;
    for (std::uint64_t k = 0; k < 5; ++k) outs.push_back(t.resident_item(k));
    const int submits = t.rig.driver.submits;
    const std::uint64_t dispatches = t.counters().dispatches;
    check_ok(t.run());
    CHECK(t.rig.driver.submits == submits + 1);
    CHECK(t.completed == 5);
    CHECK(t.describe(t.pipe).launches == 5);
    CHECK(t.counters().dispatches == dispatches + 5);
    CHECK(t.report.device == t.device);
    CHECK(t.report.bytes_uploaded + t.report.bytes_downloaded == 0);
    CHECK(t.report.device_ns == WYE_TIME_UNKNOWN);
    CHECK(t.report.wall_ns >= t.report.wait_ns);
    for (std::uint32_t k = 0; k < 5; ++k)
        CHECK(t.rig.download<std::uint32_t>(outs[k], 4) == Words{1 + k, 2 + k, 3 + k, 4 + k});
}

TEST_CASE("long batches are several submits, and items of other queues or times are not mixed") {
    Batched t;
    for (int i = 0; i < 600; ++i) t.item().param(1).resident(0, t.x).resident(1, t.r);
    int submits = t.rig.driver.submits;
    check_ok(t.run());
    CHECK(t.rig.driver.submits == submits + 4);  // of 64, 128, 256 and 152 items
    CHECK(t.completed == 600);
    CHECK(t.describe(t.pipe).launches == 600);
    t.jobs.resize(4, Job(0, 0));
    t.jobs[1].desc.flags = WYE_DISPATCH_TIMED;
    t.rig.driver.has_timing = true;
    t.rig.driver.end_ns = 1234;
    submits = t.rig.driver.submits;
    check_ok(t.run());
    CHECK(t.rig.driver.submits == submits + 3);
    CHECK(t.report.device_ns == WYE_TIME_UNKNOWN);  // not every item was timed
    for (Job& job : t.jobs) job.desc.flags = WYE_DISPATCH_TIMED;
    check_ok(t.run());
    CHECK(t.report.device_ns == 1234);
}

TEST_CASE("items of a long batch that differ in their buffers are each as if alone") {
    Batched t;
    constexpr std::size_t kBuffers = 11, kItems = 100;
    std::vector<wye_buffer> buffers;
    std::vector<Words> expected;
    for (std::uint32_t i = 0; i < kBuffers; ++i) {
        // Two of the buffers are longer than the others.
        expected.push_back(Words(i == 5 || i == 6 ? 7 : 4, 100 * i));
        buffers.push_back(t.rig.buffer(t.device, expected[i].size() * 4));
        t.rig.upload(buffers[i], expected[i]);
    }
    for (std::size_t n = 0; n < kItems; ++n) {
        const std::size_t from = n % 7 == 3 ? 5 : n * 5 % kBuffers;
        std::size_t to = n % 7 == 3 ? 6 : n * 3 % kBuffers;
        while (to == from || expected[to].size() != expected[from].size()) to = (to + 1) % kBuffers;
        const std::uint32_t k = n % 10 == 9 ? 3 : 1;
        t.item().param(k).resident(0, buffers[from]).resident(1, buffers[to]);
        for (std::size_t i = 0; i < expected[to].size(); ++i)
            expected[to][i] = expected[from][i] + k;
    }
    check_ok(t.run());
    CHECK(t.completed == kItems);
    for (std::size_t i = 0; i < kBuffers; ++i)
        CHECK(t.rig.download<std::uint32_t>(buffers[i], expected[i].size()) == expected[i]);
}

TEST_CASE("an item of a long batch that differs in a wrong way is named") {
    Batched t;
    const wye_buffer gone = t.rig.buffer(t.device, 16);
    for (int i = 0; i < 60; ++i) t.item().param(1).resident(0, t.x).resident(1, t.r);
    t.jobs[40].arguments[1].buffer = gone;
    check_ok(attempt([&](wye_error** e) { return wye_buffer_free(t.rig.context, gone, e); }));
    check_refused(t.run(), WYE_STALE_HANDLE, "item 40 of the batch: ");
    CHECK(t.completed == 40);
    CHECK(t.describe(t.pipe).launches == 40);
    t.jobs[35].params = {std::uint64_t{1} << 32U};
    check_refused(t.run(), WYE_INVALID_ARGUMENT, "item 35 of the batch: ");
    CHECK(t.completed == 35);
    t.jobs[34].arguments[0].offset = 1;
    check_refused(t.run(), WYE_INVALID_ARGUMENT, "item 34 of the batch: ");
    CHECK(t.completed == 34);
}

// A batch of runs of equal items, listed in an array or by pointers.
struct Runs : Batched {
    struct Run {
        std::size_t job, count;
    };
    std::vector<std::uint64_t> ran;  // the parameter of each launch

    Runs() {
        rig.driver.kernel = [this](const wye_dispatch_op& op) {
            ran.push_back(*static_cast<const std::uint32_t*>(op.params));
            add_kernel(op);
        };
    }
    Outcome run_listed(bool pointers, const std::vector<Run>& runs, bool ends_with_null = false) {
        ran.clear();
        std::vector<wye_dispatch_desc> array;
        std::vector<const wye_dispatch_desc*> list;
        for (const Run& run : runs) {
            array.insert(array.end(), run.count, jobs[run.job].filled());
            list.insert(list.end(), run.count, &jobs[run.job].desc);
        }
        if (ends_with_null) list.push_back(nullptr);
        wye_batch_desc desc;
        WYE_INIT(desc);
        desc.pipeline = pipe;
        desc.item_count = list.size();
        if (pointers) {
            desc.flags = WYE_BATCH_POINTERS;
            desc.pointers = list.data();
        } else {
            desc.items = array.data();
        }
        return rig.batch(desc, &completed, &report);
    }
};

TEST_CASE("each of several equal items runs, in order, in an array and by pointers") {
    for (const bool pointers : {false, true}) {
        CAPTURE(pointers);
        Runs t;
        for (std::uint64_t k = 0; k < 3; ++k) t.item().param(k).resident(0, t.x).resident(1, t.r);
        const Words& host = t.host_item(7, {5, 6});
        const std::vector<Runs::Run> runs = {{0, 3}, {1, 70}, {0, 1}, {3, 2}, {2, 300}, {1, 1}};
        std::vector<std::uint64_t> want;
        for (const auto& run : runs) want.insert(want.end(), run.count, run.job == 3 ? 7 : run.job);
        const int submits = t.rig.driver.submits;
        check_ok(t.run_listed(pointers, runs));
        CHECK(t.ran == want);
        CHECK(t.completed == want.size());
        CHECK(t.describe(t.pipe).launches == want.size());
        CHECK(t.counters().dispatches == want.size());
        // Submits of 64 and 10 items, one for each of two host items, and submits of 128 and 173
        // items.
        CHECK(t.rig.driver.submits == submits + 2 + 2 + 2);
        CHECK(t.rig.driver.hints == (3 - 1) + (70 - 2) + (300 - 2));  // no hint: first of a submit
        CHECK(host == Words{12, 13});
        CHECK(t.results() == Words{2, 3, 4, 5});
    }
}

TEST_CASE("the first of several equal items that is refused is named, and none of them runs") {
    for (const bool pointers : {false, true}) {
        CAPTURE(pointers);
        Runs t;
        const wye_buffer gone = t.rig.buffer(t.device, 16);
        const wye_buffer foreign = t.rig.buffer(t.rig.device("fake:1"), 16);
        t.item().param(1).resident(0, t.x).resident(1, t.r);
        t.item().param(2).resident(0, t.x).resident(1, gone);
        t.item().param(3).resident(0, t.x).resident(1, foreign);
        check_ok(t.run_listed(pointers, {{0, 40}, {1, 5}, {0, 1}}));
        check_ok(t.rig.free(gone));
        check_refused(t.run_listed(pointers, {{0, 40}, {1, 5}, {0, 1}}), WYE_STALE_HANDLE,
                      "item 40 of the batch: ");
        CHECK(t.completed == 40);
        CHECK(t.ran == std::vector<std::uint64_t>(40, 1));
        CHECK(t.results() == Words{2, 3, 4, 5});
        check_refused(t.run_listed(pointers, {{0, 64}, {2, 5}}), WYE_WRONG_OWNER,
                      "item 64 of the batch: ");
        CHECK(t.completed == 64);
        CHECK(t.ran == std::vector<std::uint64_t>(64, 1));
    }
    Runs t;
    t.item().param(1).resident(0, t.x).resident(1, t.r);
    check_refused(t.run_listed(true, {{0, 2}}, true), WYE_INVALID_ARGUMENT,
                  "item 2 of the batch: the pointer to this item is null");
    CHECK(t.completed == 2);
    CHECK(t.ran.size() == 2);
}

TEST_CASE("host items are submitted without waiting between them") {
    Batched t;
    std::vector<int> waits;
    t.rig.driver.kernel = [&](const wye_dispatch_op& op) {
        waits.push_back(t.rig.driver.waits);
        add_kernel(op);
    };
    const Words& first = t.host_item(1, {1, 2});
    const Words& second = t.host_item(10, {5, 6, 7});
    const Words& third = t.host_item(100, {0});
    check_ok(t.run());
    REQUIRE(waits.size() == 3);
    CHECK(waits[0] == waits[2]);
    CHECK(first == Words{2, 3});
    CHECK(second == Words{15, 16, 17});
    CHECK(third == Words{100});
    CHECK(t.completed == 3);
    CHECK(t.report.bytes_uploaded == 24);
    CHECK(t.report.bytes_downloaded == 24);
}

TEST_CASE("items see what those before them wrote, resident or not") {
    Batched t;
    const wye_buffer middle = t.rig.buffer(t.device, 16);
    Words out(4, 0);
    t.item().param(1).resident(0, t.x).resident(1, middle);
    t.item().param(2).resident(0, middle).resident(1, t.r);
    t.item().param(4).resident(0, t.r).out(1, out.data(), 16);
    t.item().param(8).resident(0, t.r).resident(1, t.x);
    check_ok(t.run());
    CHECK(out == Words{8, 9, 10, 11});
    CHECK(t.rig.download<std::uint32_t>(t.x, 4) == Words{12, 13, 14, 15});
}

TEST_CASE("a refused item stops the batch: those before it are kept, those after it do not run") {
    for (const bool host : {false, true}) {
        CAPTURE(host);
        Batched t;
        std::vector<wye_buffer> outs;
        for (std::uint64_t k = 0; k < 5; ++k) {
            if (host)
                t.host_item(k, {1, 2, 3, 4});
            else
                outs.push_back(t.resident_item(k));
        }
        t.jobs[2].params.clear();
        check_refused(t.run(), WYE_INVALID_ARGUMENT, "item 2 of the batch: ");
        CHECK(t.completed == 2);
        for (std::uint32_t k = 0; k < 5; ++k) {
            const Words want = k < 2 ? Words{1 + k, 2 + k, 3 + k, 4 + k} : Words{9, 9, 9, 9};
            CHECK((host ? t.storage[2 * k + 1] : t.rig.download<std::uint32_t>(outs[k], 4)) ==
                  want);
        }
        CHECK(t.describe(t.pipe).launches == 2);
        t.jobs[2].param(2);
        t.jobs[4].desc.header.size = 8;
        check_refused(t.run(), WYE_INVALID_ARGUMENT, "item 4 of the batch: ");
        CHECK(t.completed == 4);
        t.jobs[0].desc.header.size = 8;
        check_refused(t.run(), WYE_INVALID_ARGUMENT, "item 0 of the batch: ");
        CHECK(t.completed == 0);
    }
}

TEST_CASE("an item that traps is named; outputs before it are delivered, its own are not") {
    Batched t;
    t.rig.driver.kernel = check_kernel;
    const wye_program check = t.rig.program(kTrap);
    t.pipe = t.pipeline(check);
    for (const Words& in : {Words{1, 2}, Words{5, 10}, Words{4, 0}, Words{20, 50}}) {
        t.host_item(0, in);
        t.jobs.back().params.clear();
    }
    check_refused(t.run(), WYE_TRAPPED, "item 2 of the batch: program `check` trapped with code 7");
    CHECK(t.completed == 2);
    CHECK(t.report.trap_code == 7);
    CHECK(t.report.trap_count == 1);
    CHECK(t.storage[1] == Words{100, 50});
    CHECK(t.storage[3] == Words{20, 10});
    CHECK(t.storage[5] == Words{9, 9});
    // Items with owned outputs, and resident items, run one by one, so that it is known which item
    // traps.
    for (Job& job : t.jobs) job.arguments[1].output = nullptr;
    for (Job& job : t.jobs) job.arguments[1].output_size = 0;
    std::vector<wye_pending> owners;
    check_refused(t.run_owned(owners), WYE_TRAPPED, "item 2 of the batch: ");
    CHECK(t.completed == 2);
    CHECK(t.words(owners[0]) == Words{100, 50});
    CHECK(t.words(owners[1]) == Words{20, 10});
    CHECK(owners[2] == 0);
    CHECK(owners[3] == 0);
    t.jobs.clear();
    const wye_buffer zeros = t.rig.buffer(t.device, 16);
    t.rig.upload(zeros, Words{0, 0, 0, 0});
    t.item().resident(0, t.x).resident(1, t.r);
    t.item().resident(0, zeros).resident(1, t.rig.buffer(t.device, 16));
    t.item().resident(0, t.x).resident(1, t.rig.buffer(t.device, 16));
    check_refused(t.run(), WYE_TRAPPED, "item 1 of the batch: ");
    CHECK(t.completed == 1);
    CHECK(t.report.trap_count == 4);
    CHECK(t.results() == Words{100, 50, 33, 25});
}

TEST_CASE("owned outputs live until each handle is freed") {
    Batched t;
    for (std::uint64_t k = 0; k < 3; ++k) {
        t.host_item(k, {1, 2});
        t.jobs.back().arguments[1].output = nullptr;
        t.jobs.back().arguments[1].output_size = 0;
    }
    std::vector<wye_pending> owners;
    check_ok(t.run_owned(owners));
    CHECK(t.completed == 3);
    for (std::uint32_t k = 0; k < 3; ++k) {
        CHECK(t.words(owners[k]) == Words{1 + k, 2 + k});
        check_ok(t.rig.free_pending(owners[k]));
    }
    Words out(2);
    t.jobs[1].arguments[1].output = out.data();
    check_refused(t.run_owned(owners), WYE_INVALID_ARGUMENT, "item 1 of the batch: ");
    CHECK(t.completed == 1);
    CHECK(t.words(owners[0]) == Words{1, 2});
    CHECK(owners[1] == 0);
}

TEST_CASE("wrong batches are refused by name") {
    Batched t;
    check_refused(t.run(), WYE_INVALID_ARGUMENT, "the batch has no items");
    CHECK(t.completed == 0);
    t.resident_item(1);
    Job& second = t.jobs.emplace_back(t.jobs[0]);
    second.desc.pipeline = t.pipeline(t.rig.program(kTrap));
    check_refused(t.run(), WYE_INVALID_ARGUMENT, "item 1 of the batch: it names pipeline `fake:");
    second.desc.pipeline = t.pipe;
    check_ok(t.run());
    second.desc.pipeline = t.device;
    check_refused(t.run(), WYE_WRONG_KIND, "item 1 of the batch: ");
    second.desc.pipeline = 0;
    second.desc.program = t.program;
    check_refused(t.run(), WYE_INVALID_ARGUMENT, "item 1 of the batch: ");
    second.desc.program = 0;
    second.desc.timeout_ns = 5;
    check_refused(t.run(), WYE_INVALID_ARGUMENT, "time-out of 5 ns");
    second.desc.timeout_ns = 0;
    for (const std::uint32_t flag : {WYE_DISPATCH_BORROW, WYE_DISPATCH_AT_ONCE}) {
        second.desc.flags = flag;
        check_refused(t.run(), WYE_INVALID_ARGUMENT, "item 1 of the batch: ");
    }
    second.desc.flags = 0;
    second.arguments[1].buffer = second.arguments[0].buffer;
    check_refused(t.run(), WYE_INVALID_ARGUMENT, "overlapping memory");
    second.arguments[1].buffer = t.rig.buffer(t.rig.device("fake:1"), 16);
    check_refused(t.run(), WYE_WRONG_OWNER, "output 0");
    second.arguments[1].buffer = t.rig.buffer(t.device, 16);
    check_ok(t.rig.free(second.arguments[1].buffer));
    check_refused(t.run(), WYE_STALE_HANDLE, "item 1 of the batch: ");
    CHECK(t.completed == 1);
    t.jobs.pop_back();
    check_ok(t.free(t.pipe));
    check_refused(t.run(), WYE_STALE_HANDLE, "pipeline");
    CHECK(t.completed == 0);
    std::vector<wye_dispatch_desc> items;
    wye_batch_desc desc = t.description(items);
    desc.flags = WYE_BATCH_POINTERS | 2;
    check_refused(t.rig.batch(desc, nullptr, nullptr), WYE_INVALID_ARGUMENT, "is 0x3");
}

TEST_CASE("a submit that the driver refuses, and a device that is lost in the middle") {
    Batched t;
    for (std::uint64_t k = 0; k < 3; ++k) t.host_item(k, {1, 2});
    t.rig.driver.submits_left = 1;
    const Outcome outcome = t.run();
    CHECK(!outcome.ok());
    CHECK(outcome.says("item 1 of the batch: "));
    CHECK(t.completed == 1);
    CHECK(t.storage[1] == Words{1, 2});
    check_ok(t.run());
    t.jobs.clear();
    for (std::uint64_t k = 0; k < 3; ++k) t.resident_item(k);
    t.rig.driver.submits_left = 0;
    const Outcome refused = t.run();
    CHECK(!refused.ok());
    CHECK(refused.says("items 0 to 2 of the batch, which are one submit: "));
    CHECK(t.completed == 0);
    check_ok(t.run());
    t.rig.driver.lose(0);
    check_refused(t.run(), WYE_DEVICE_LOST, "of the batch");
    CHECK(t.completed == 0);
}

struct RowsOf : Batched {
    wye_dispatch_desc shared = [] {
        wye_dispatch_desc out;
        WYE_INIT(out);
        return out;
    }();
    std::uint64_t k = 5;
    std::vector<wye_buffer> buffers, outputs;
    std::uint32_t row_size = 2;

    RowsOf() {
        shared.params = &k;
        shared.param_count = 1;
    }
    Outcome run_rows() {
        wye_rows_desc desc;
        WYE_INIT(desc);
        desc.pipeline = pipe;
        desc.dispatch = &shared;
        desc.buffers = buffers.data();
        desc.row_size = row_size;
        desc.row_count = buffers.size() / row_size;
        outputs.assign(buffers.size(), 0);
        desc.outputs = outputs.data();
        return attempt([&](wye_error** e) {
            return wye_pipeline_rows(rig.context, &desc, &completed, &report, e);
        });
    }
};

TEST_CASE("rows differ in their buffers, and give those of the output list") {
    RowsOf t;
    const wye_buffer second = t.rig.buffer(t.device, 16);
    t.buffers = {t.x, t.r, t.r, second};
    const int submits = t.rig.driver.submits;
    check_ok(t.run_rows());
    CHECK(t.rig.driver.submits == submits + 1);
    CHECK(t.completed == 2);
    CHECK(t.outputs == std::vector<wye_buffer>{t.r, second, 0, 0});
    CHECK(t.rig.download<std::uint32_t>(second, 4) == Words{11, 12, 13, 14});
}

TEST_CASE("rows bind by ascending binding number, and outputs come in the order of their list") {
    RowsOf t;
    t.rig.driver.kernel = [](const wye_dispatch_op&) {};
    t.pipe = t.pipeline(t.rig.program(R"(wye 1; program many; workgroup 1;
        output late: u32[4] binding 7; input_output early: u32[4] binding 2;
        input x: u32[4] binding 4; shared s: u32[4] binding 5; grid groups 1;
        main { late[0] = x[0]; early[0] = x[1]; })"));
    CHECK(t.describe(t.pipe).bindings == 3);
    CHECK(t.describe(t.pipe).outputs == 2);
    t.shared.param_count = 0;
    t.shared.params = nullptr;
    t.row_size = 3;
    const wye_buffer late = t.rig.buffer(t.device, 16);
    t.buffers = {t.r, t.x, late};  // for the bindings 2, 4 and 7
    check_ok(t.run_rows());
    CHECK(t.outputs == std::vector<wye_buffer>{t.r, late, 0});
}

TEST_CASE("wrong rows are refused by name, and by their index") {
    RowsOf t;
    const wye_buffer other = t.rig.buffer(t.rig.device("fake:1"), 16);
    const wye_buffer third = t.rig.buffer(t.device, 16);
    check_refused(t.run_rows(), WYE_INVALID_ARGUMENT, "the batch has no rows");
    t.buffers = {t.x, t.r, third};
    t.row_size = 3;
    check_refused(t.run_rows(), WYE_INVALID_ARGUMENT, "a row has 3 buffers");
    t.row_size = 2;
    t.buffers = {t.x, t.r, t.x, t.x};
    check_refused(t.run_rows(), WYE_INVALID_ARGUMENT, "item 1 of the batch: ");
    CHECK(t.completed == 1);
    CHECK(t.outputs == std::vector<wye_buffer>{t.r, 0, 0, 0});
    t.buffers = {t.x, t.r, t.x, other};
    check_refused(t.run_rows(), WYE_WRONG_OWNER, "item 1 of the batch: ");
    t.buffers = {t.x, t.r, t.x, 0};
    check_refused(t.run_rows(), WYE_STALE_HANDLE, "item 1 of the batch: ");
    t.buffers = {t.x, t.program};
    check_refused(t.run_rows(), WYE_WRONG_KIND, "item 0 of the batch: ");
    CHECK(t.completed == 0);
    CHECK(t.outputs[0] == 0);
    t.buffers = {t.x, t.rig.buffer(t.device, 8)};  // too small for the output
    check_refused(t.run_rows(), WYE_INVALID_ARGUMENT, "item 0 of the batch: ");
    t.buffers = {t.x, t.r};
    t.shared.argument_count = 2;
    check_refused(t.run_rows(), WYE_INVALID_ARGUMENT, "the dispatch of the rows has 2 arguments");
    t.shared.argument_count = 0;
    t.shared.pipeline = t.pipe;
    check_ok(t.run_rows());
}

}  // namespace
}  // namespace wye::exec::test::test_batch
