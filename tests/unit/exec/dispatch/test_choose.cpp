// SPDX-License-Identifier: Apache-2.0
//
// Requests that name no device. The owner of their buffers runs them, or else the best device that
// can. The receipt says which device runs, and why.
#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "rig.hpp"
#include "wye/device.h"
#include "wye/graph.h"

namespace wye::exec::test::test_choose {
namespace {

using Words = std::vector<std::uint32_t>;

std::string text_of(wye_string text) { return {text.data, text.size}; }

// What wye_choice_find says of a choice.
struct Receipt {
    std::string selector, reason;
    std::map<std::string, std::string> losers;  // reasons, by selector
};

Receipt receipt_of(wye_context* context, std::uint32_t number) {
    wye_choice* choice = nullptr;
    check_ok(attempt([&](wye_error** e) { return wye_choice_find(context, number, &choice, e); }));
    Receipt out{text_of(wye_choice_selector(choice)), text_of(wye_choice_reason(choice)), {}};
    wye_passed_over loser;
    WYE_INIT(loser);
    for (std::uint64_t i = 0; wye_choice_passed_over(choice, i, &loser, nullptr) == WYE_OK; ++i)
        out.losers.emplace(text_of(loser.selector), text_of(loser.reason));
    wye_choice_free(choice);
    return out;
}

// fake:0 takes buffers of at most 64 bytes, fake:1 of at most 256. Of the two, fake:0 is preferred.
struct Ready {
    Rig rig;
    wye_program program = rig.program(kAdd);

    Ready() {
        rig.driver.kernel = add_kernel;
        rig.driver.facts[WYE_FACT_KEY_MAX_BUFFER_BYTES] = 64;
        rig.driver.second[WYE_FACT_KEY_MAX_BUFFER_BYTES] = 256;
    }
    // Runs r = x + 1 on `count` words, and checks them.
    wye_report run(std::size_t count) {
        Words x(count, 7), r(count);
        Job job(program, 0);
        check_ok(job.param(1).in(0, x.data(), count * 4).out(1, r.data(), count * 4).run(rig));
        CHECK(r == Words(count, 8));
        return job.report;
    }
    std::string selector(wye_device device) const {
        wye_device_description out;
        WYE_INIT(out);
        check_ok(attempt(
            [&](wye_error** e) { return wye_device_describe(rig.context, device, &out, e); }));
        return text_of(out.selector);
    }
};

TEST_CASE(
    "the best device that holds the sizes runs a request without one, and all losers are named") {
    Ready t;
    const wye_report small = t.run(4);
    CHECK(t.selector(small.device) == "fake:0");
    CHECK(small.routed == WYE_ROUTED_CHOSEN);
    const Receipt first = receipt_of(t.rig.context, small.choice);
    CHECK(first.selector == "fake:0");
    CHECK(first.reason.starts_with("auto: the best usable device"));
    CHECK(first.losers == std::map<std::string, std::string>{
                              {"fake:1", "`fake:0` is of the same rank, and comes first"}});
    CHECK(t.rig.driver.opened == 1);  // losers are not opened

    const wye_report large = t.run(32);
    CHECK(t.selector(large.device) == "fake:1");
    const Receipt second = receipt_of(t.rig.context, large.choice);
    CHECK(second.selector == "fake:1");
    CHECK(second.losers ==
          std::map<std::string, std::string>{{"fake:0", "needs max_buffer_bytes 128, has 64"}});
    CHECK(receipt_of(t.rig.context, small.choice).selector == "fake:0");  // old receipt is kept

    Words x(128, 7), r(128);
    const Outcome none =
        Job(t.program, 0).param(1).in(0, x.data(), 512).out(1, r.data(), 512).run(t.rig);
    check_refused(none, WYE_NO_DEVICE, "auto");
    CHECK(none.text.find("fake:0: needs max_buffer_bytes 512, has 64") != std::string::npos);
    CHECK(none.text.find("fake:1: needs max_buffer_bytes 512, has 256") != std::string::npos);
    wye_choice* choice = nullptr;
    check_refused(
        attempt([&](wye_error** e) { return wye_choice_find(t.rig.context, 1000, &choice, e); }),
        WYE_NOT_FOUND, "no choice 1000");
    CHECK(choice == nullptr);
}

TEST_CASE("the default selector decides which devices a request without one may have") {
    FakeDriver driver;
    driver.kernel = add_kernel;
    driver.facts[WYE_FACT_KEY_MAX_BUFFER_BYTES] = 256;
    driver.second[WYE_FACT_KEY_MAX_BUFFER_BYTES] = 64;
    for (const char* const selector : {"fake:1,fake:0", "fake:1"}) {
        driver.selector = selector;
        const struct { wye_context* context; } on{driver.context()};
        wye_program_source source;
        WYE_INIT(source);
        source.text = {kAdd.data(), kAdd.size()};
        wye_program program = 0;
        check_ok(attempt(
            [&](wye_error** e) { return wye_program_create(on.context, &source, &program, e); }));
        Words x(32, 7), r(32);
        const auto run = [&](std::uint64_t bytes) {
            Job job(program, 0);
            Outcome out = job.param(1).in(0, x.data(), bytes).out(1, r.data(), bytes).run(on);
            return std::pair(std::move(out), job.report);
        };
        const auto [small, report] = run(64);
        check_ok(small);
        CHECK(receipt_of(on.context, report.choice).selector == "fake:1");
        const auto [large, other] = run(128);
        if (driver.selector == "fake:1") {
            check_refused(large, WYE_NO_DEVICE, "no usable device matches `fake:1`");
            CHECK(large.text.find("needs max_buffer_bytes 128, has 64") != std::string::npos);
        } else {
            check_ok(large);
            const Receipt why = receipt_of(on.context, other.choice);
            CHECK(why.selector == "fake:0");
            CHECK(why.reason == "requested by name, preference 2 of 2");
        }
        wye_context_destroy(on.context);
    }
}

TEST_CASE("equal requests do not choose again, until a device is opened or closed") {
    Ready t;
    const std::uint32_t first = t.run(4).choice;
    CHECK(t.run(4).choice == first);
    // Sizes ruled no device out, so the choice stays as long as the chosen device can hold the
    // sizes.
    CHECK(t.run(8).choice == first);
    CHECK(t.run(16).choice == first);
    CHECK(t.run(4).choice == first);
    const wye_report large = t.run(32);  // opens fake:1
    CHECK(t.run(32).choice == large.choice);
    const std::uint32_t second = t.run(4).choice;
    CHECK(second != first);
    CHECK(t.run(4).choice == second);
    CHECK(t.run(32).choice == large.choice);
    // The sizes ruled fake:0 out. It may be able to hold other sizes, so a request with other sizes
    // is a new choice.
    CHECK(t.run(31).choice != large.choice);

    check_ok(
        attempt([&](wye_error** e) { return wye_device_close(t.rig.context, large.device, e); }));
    const wye_report again = t.run(32);
    CHECK(again.device != large.device);
    CHECK(t.selector(again.device) == "fake:1");
    CHECK(t.run(32).choice == again.choice);
    // Another program has a choice of its own.
    Words x(4), r(4);
    Job job(t.rig.program(kAdd), 0);
    check_ok(job.param(1).in(0, x.data(), 16).out(1, r.data(), 16).run(t.rig));
    CHECK(job.report.choice > again.choice);
}

TEST_CASE("every form of dispatch is routed, and its report says so") {
    Ready t;
    const Words x(32, 7);
    Words r(32);
    const std::uint32_t number = t.run(32).choice;
    const auto check = [&](const wye_report& report) {
        CHECK(t.selector(report.device) == "fake:1");
        CHECK(report.routed == WYE_ROUTED_CHOSEN);
        CHECK(receipt_of(t.rig.context, report.choice).selector == "fake:1");
    };
    wye_pending pending = 0;
    const auto outputs = [&] {
        const wye_bytes bytes = t.rig.output(pending);
        REQUIRE(bytes.size == 128);
        CHECK(static_cast<const std::uint32_t*>(bytes.data)[31] == 8);
    };
    for (const std::uint32_t flags : {0U, WYE_DISPATCH_TIMED}) {
        for (const std::uint64_t limit : {UINT64_C(0), UINT64_C(1000000000)}) {
            Job owned(t.program, 0);
            owned.desc.flags = flags;
            owned.desc.timeout_ns = limit;
            owned.param(1).in(0, x.data(), 128).out(1, nullptr, 0);
            check_ok(t.rig.owned(owned, &owned.report, pending));
            check(owned.report);
            outputs();
        }
        Job submitted(t.program, 0);
        submitted.desc.flags = flags | WYE_DISPATCH_BORROW;
        r.assign(32, 0);
        submitted.param(1).in(0, x.data(), 128).out(1, r.data(), 128);
        check_ok(t.rig.submit(submitted, pending));
        check_ok(t.rig.wait(pending, UINT64_MAX, &submitted.report));
        check(submitted.report);
        CHECK(submitted.report.choice == number);
        CHECK(r == Words(32, 8));
    }
}

TEST_CASE("the owner of resident buffers runs a request without a device, also a repeated one") {
    Ready t;
    const wye_device second = t.rig.device("fake:1");
    const wye_buffer x = t.rig.buffer(second, 16, "x data"), r = t.rig.buffer(second, 16, "sums");
    t.rig.upload(x, Words{1, 2, 3, 4});
    const auto check = [&](const wye_report& report) {
        CHECK(report.device == second);
        CHECK(report.routed == WYE_ROUTED_OWNER);
        CHECK(report.choice == 0);
    };
    for (std::uint64_t k = 1; k < 4; ++k) {
        Job job(t.program, 0);
        check_ok(job.param(k).resident(0, x).resident(1, r).run(t.rig));
        check(job.report);
        CHECK(t.rig.download<std::uint32_t>(r, 4)[3] == 4 + k);
        const wye_pending pending = t.rig.submitted(job);
        check_ok(t.rig.wait(pending, UINT64_MAX, &job.report));
        check(job.report);
    }
    const wye_counters counters = t.rig.counters(second);
    CHECK(counters.dispatches == 6);
    CHECK(counters.dispatches_repeated == 5);
    CHECK(t.rig.driver.opened == 1);
    // One resident buffer suffices to choose its owner, and so does a queue.
    Words host(4);
    Job mixed(t.program, 0);
    check_ok(mixed.param(1).resident(0, x).out(1, host.data(), 16).run(t.rig));
    check(mixed.report);
    wye_queue_create_desc desc;
    WYE_INIT(desc);
    Job queued(t.program, 0);
    check_ok(t.rig.create(second, desc, queued.desc.queue));
    check_ok(queued.param(1).in(0, host.data(), 16).out(1, host.data(), 16).run(t.rig));
    check(queued.report);
}

TEST_CASE("an owner that cannot run a request is an error that names who can, as are two owners") {
    Ready t;
    t.rig.driver.second[WYE_FACT_KEY_F64] = 0;
    const wye_device first = t.rig.device("fake:0"), second = t.rig.device("fake:1");
    const wye_program halves = t.rig.program(R"(wye 1; program halves; workgroup 64;
        input_output a: f64[]; grid elements len(a);
        main { let i = global_id.x; if i < len(a) { a[i] = a[i] * a[i]; } })");
    const wye_buffer a = t.rig.buffer(second, 16, "values");
    const int submits = t.rig.driver.submits;
    const Outcome cannot = Job(halves, 0).resident(0, a).run(t.rig);
    check_refused(cannot, WYE_UNSUPPORTED, "fake:1 cannot run program `halves`: needs f64");
    CHECK(cannot.fix.find("`fake:0`") != std::string::npos);

    const wye_buffer x = t.rig.buffer(first, 16, "x data"), r = t.rig.buffer(second, 16, "sums");
    const Outcome two = Job(t.program, 0).param(1).resident(0, x).resident(1, r).run(t.rig);
    check_refused(two, WYE_WRONG_OWNER, "`sums`) belongs to fake:1");
    CHECK(two.says("fake:0"));
    CHECK(two.says("is expected, the device of `x`"));
    check_ok(t.rig.free(x));
    check_refused(Job(t.program, 0).param(1).resident(0, x).resident(1, r).run(t.rig),
                  WYE_STALE_HANDLE, "input 0");
    Job queued(t.program, 0);
    queued.desc.queue = x;
    check_refused(queued.param(1).in(0, &x, 8).out(1, nullptr, 0).run(t.rig), WYE_WRONG_KIND,
                  "queue");
    CHECK(t.rig.driver.submits == submits);
}

TEST_CASE("a pipeline and a graph are made for a device that they keep") {
    Ready t;
    t.rig.driver.facts[WYE_FACT_KEY_MAX_BUFFERS] = 1;  // kAdd has two buffers
    t.rig.driver.second[WYE_FACT_KEY_MAX_BUFFERS] = 8;
    const wye_pipeline pipeline = t.rig.pipeline(0, t.program);
    const wye_pipeline_description made = t.rig.describe(pipeline);
    const wye_device second = made.device;
    CHECK(t.selector(second) == "fake:1");
    CHECK(made.routed == WYE_ROUTED_CHOSEN);
    const Receipt why = receipt_of(t.rig.context, made.choice);
    CHECK(why.losers.at("fake:0") == "needs max_buffers 2, has 1");

    const wye_buffer x = t.rig.buffer(second, 16), r = t.rig.buffer(second, 16);
    t.rig.upload(x, Words{1, 2, 3, 4});
    for (int i = 0; i < 3; ++i) {
        Job job(0, 0);
        job.desc.pipeline = pipeline;
        check_ok(job.param(1).resident(0, x).resident(1, r).run(t.rig));
        CHECK(job.report.device == second);
        CHECK(job.report.routed == WYE_ROUTED_CHOSEN);
        CHECK(job.report.choice == made.choice);
    }

    // The owner of the buffers runs a graph that names no device. All its steps must have that
    // owner.
    Job step = Job(t.program, 0).param(5).resident(0, x).resident(1, r);
    const wye_graph_step steps[] = {{&step.filled(), nullptr}, {&step.filled(), nullptr}};
    wye_graph_desc desc;
    WYE_INIT(desc);
    desc.steps = steps;
    desc.step_count = 2;
    wye_graph graph = 0;
    check_ok(
        attempt([&](wye_error** e) { return wye_graph_create(t.rig.context, &desc, &graph, e); }));
    wye_graph_info info;
    WYE_INIT(info);
    check_ok(
        attempt([&](wye_error** e) { return wye_graph_describe(t.rig.context, graph, &info, e); }));
    CHECK(info.device == second);
    CHECK(info.routed == WYE_ROUTED_OWNER);
    wye_graph_run_desc run;
    WYE_INIT(run);
    for (int i = 0; i < 2; ++i) {
        wye_report report;
        WYE_INIT(report);
        check_ok(t.rig.run(graph, run, &report));
        CHECK(report.device == second);
        CHECK(report.routed == WYE_ROUTED_OWNER);
        CHECK(t.rig.download<std::uint32_t>(r, 4) == Words{6, 7, 8, 9});
    }
    const wye_buffer other = t.rig.buffer(second, 16);
    t.rig.upload(other, Words{10, 20, 30, 40});
    const wye_graph_rebinding change{x, other};
    check_ok(t.rig.rebind(graph, &change, 1));
    check_ok(t.rig.run(graph, run));
    CHECK(t.rig.download<std::uint32_t>(r, 4) == Words{15, 25, 35, 45});

    const wye_device first = t.rig.device("fake:0");
    const wye_buffer foreign = t.rig.buffer(first, 16, "over there");
    Job wrong = Job(t.program, 0).param(5).resident(0, foreign).resident(1, r);
    const wye_graph_step mixed[] = {{&step.filled(), nullptr}, {&wrong.filled(), nullptr}};
    desc.steps = mixed;
    const Outcome refused =
        attempt([&](wye_error** e) { return wye_graph_create(t.rig.context, &desc, &graph, e); });
    check_refused(refused, WYE_WRONG_OWNER, "step 1");
    CHECK(refused.says("fake:0"));
    CHECK(refused.says("fake:1"));
    desc.step_count = 0;
    check_refused(
        attempt([&](wye_error** e) { return wye_graph_create(t.rig.context, &desc, &graph, e); }),
        WYE_INVALID_ARGUMENT, "names no device");
}

TEST_CASE("a device that fails while it runs is an error, and the request goes nowhere else") {
    Ready t;
    (void)t.rig.device("fake:1");
    const std::uint32_t before = t.run(4).choice;
    const int submits = t.rig.driver.submits;
    Words x(4), r(4, 9);
    const auto run = [&] {
        return Job(t.program, 0).param(1).in(0, x.data(), 16).out(1, r.data(), 16).run(t.rig);
    };
    t.rig.driver.fail_submit = true;
    const Outcome failed = run();
    CHECK(failed.status == WYE_DRIVER);
    CHECK(r == Words(4, 9));
    t.rig.driver.fail_submit = false;
    CHECK(t.rig.driver.submits <= submits + 1);
    CHECK(t.run(4).choice == before);

    // After a loss the next request makes a new choice: the same device, if that can be opened
    // again.
    t.rig.driver.lose(0);
    check_refused(run(), WYE_DEVICE_LOST, "fell off the bus");
    const wye_report back = t.run(4);
    CHECK(t.selector(back.device) == "fake:0");
    CHECK(back.choice != before);
    // If the device cannot be opened, another device is chosen, and the receipt says why.
    t.rig.driver.lose(0);
    check_refused(run(), WYE_DEVICE_LOST, "fell off the bus");
    t.rig.driver.fail_open = true;
    const wye_report other = t.run(4);
    CHECK(t.selector(other.device) == "fake:1");
    CHECK(receipt_of(t.rig.context, other.choice)
              .losers.at("fake:0")
              .starts_with("cannot be opened: "));
    CHECK(t.run(4).choice == other.choice);
    // fake:1 stays chosen until the application opens fake:0 again.
    t.rig.driver.fail_open = false;
    CHECK(t.run(4).choice == other.choice);
    (void)t.rig.device("fake:0");
    CHECK(t.selector(t.run(4).device) == "fake:0");
}

TEST_CASE("threads that choose at once get the right devices, and agree in the end") {
    Ready t;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            const std::size_t count = i % 2 == 0 ? 4 : 32;
            const Words x(count, 7);
            for (int round = 0; round < 50; ++round) {
                Words r(count);
                Job job(t.program, 0);
                job.param(1).in(0, x.data(), count * 4).out(1, r.data(), count * 4);
                job.filled();
                const wye_status status =
                    wye_dispatch(t.rig.context, &job.desc, &job.report, nullptr);
                if (status != WYE_OK || r != Words(count, 8) ||
                    job.report.routed != WYE_ROUTED_CHOSEN)
                    ++wrong;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(t.rig.driver.opened >= 2);
    const wye_report small = t.run(4), large = t.run(32);
    CHECK(t.selector(small.device) == "fake:0");
    CHECK(t.selector(large.device) == "fake:1");
    CHECK(t.run(4).choice == small.choice);
    CHECK(t.run(32).choice == large.choice);
}

}  // namespace
}  // namespace wye::exec::test::test_choose
