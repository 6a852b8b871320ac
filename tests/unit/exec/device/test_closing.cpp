// SPDX-License-Identifier: Apache-2.0
//
// Closing and preparing devices, recovering lost devices, and shutting a context down.
#include <atomic>
#include <chrono>
#include <thread>

#include "gate.hpp"
#include "rig.hpp"
#include "wye/device.h"
#include "wye/graph.h"

namespace wye::exec::test::test_closing {
namespace {

using Words = std::vector<std::uint32_t>;

struct Opened {
    Opened() { rig.driver.kernel = add_kernel; }
    Rig rig;
    wye_device device = rig.device("fake:0");
    wye_device second = rig.device("fake:1");
    wye_program program = rig.prepared(device, kAdd);

    Outcome close(wye_device one) const {
        return attempt([&](wye_error** e) { return wye_device_close(rig.context, one, e); });
    }
    Outcome prepare(wye_device one) const {
        return attempt([&](wye_error** e) { return wye_device_prepare(rig.context, one, e); });
    }
    std::uint32_t lost(wye_device one) const {
        std::uint32_t out = 7;
        check_ok(
            attempt([&](wye_error** e) { return wye_device_is_lost(rig.context, one, &out, e); }));
        return out;
    }
    Outcome recover(wye_device one, wye_device& out) const {
        return attempt(
            [&](wye_error** e) { return wye_device_recover(rig.context, one, &out, e); });
    }
    Outcome run(wye_device on) {
        return Job(program, on).param(1).in(0, x.data(), 12).out(1, r.data(), 12).run(rig);
    }
    Words x = {1, 2, 3};
    Words r = {0, 0, 0};
};

TEST_CASE("closing a device frees all that it has, and its handles become stale") {
    Opened t;
    FakeDriver& driver = t.rig.driver;
    check_ok(t.run(t.device));
    check_ok(t.run(t.second));
    const int there = driver.live_buffers;
    const int programs = driver.live_programs;
    const wye_buffer a = t.rig.buffer(t.device, 12), b = t.rig.buffer(t.device, 12);
    const wye_buffer other = t.rig.buffer(t.second, 12);
    t.rig.upload(a, t.x);
    t.rig.upload(other, t.x);
    Job job = Job(t.program, t.device).param(1).resident(0, a).resident(1, b);
    for (int i = 0; i < 3; ++i) check_ok(job.run(t.rig));
    const wye_graph graph = t.rig.graph(t.device, {job.filled()});
    const wye_pending ended = t.rig.submitted(job);
    check_ok(t.rig.flush(t.device));
    const wye_counters before = t.rig.counters();

    check_ok(t.close(t.device));
    CHECK(driver.newest[0] == nullptr);  // the driver has closed t.device
    CHECK(driver.newest[1] != nullptr);
    CHECK(driver.live_buffers == there / 2 + 1);  // scratch memory of t.second, and `other`
    CHECK(driver.live_programs < programs);
    const wye_counters after = t.rig.counters();
    CHECK(after.dispatches == before.dispatches);
    CHECK(after.submits == before.submits);
    CHECK(after.bytes_uploaded == before.bytes_uploaded);
    const wye_counters there_now = t.rig.counters(t.second);
    CHECK(after.buffer_bytes == there_now.buffer_bytes);

    check_refused(t.close(t.device), WYE_STALE_HANDLE, "freed");
    check_refused(t.run(t.device), WYE_STALE_HANDLE, "device");
    check_refused(t.rig.free(a), WYE_STALE_HANDLE, "buffer");
    wye_graph_run_desc how;
    WYE_INIT(how);
    check_refused(t.rig.run(graph, how), WYE_STALE_HANDLE, "graph");
    check_refused(t.rig.wait(ended, 0), WYE_STALE_HANDLE, "pending");
    // Buffers of the other device keep their contents.
    CHECK(t.rig.download<std::uint32_t>(other, 3) == t.x);
    check_ok(t.run(t.second));

    const wye_device again = t.rig.device("fake:0");
    CHECK(again != t.device);
    const int compiled = driver.programs;
    check_ok(t.run(again));
    CHECK(t.r == Words{2, 3, 4});
    CHECK(driver.programs == compiled + 1);  // what the closed device compiled is not used
    check_ok(t.close(again));
    check_ok(t.close(t.second));
}

TEST_CASE("a device with pending work or a mapped buffer is not closed, and stays as it was") {
    Opened t;
    const wye_buffer a = t.rig.buffer(t.device, 12), b = t.rig.buffer(t.device, 12);
    t.rig.upload(a, t.x);
    Job job = Job(t.program, t.device).param(1).resident(0, a).resident(1, b);
    for (const bool freed : {false, true}) {
        t.rig.driver.holds = true;
        const wye_pending pending = t.rig.submitted(job);
        const auto free_pending = [&] { check_ok(t.rig.free_pending(pending)); };
        if (freed) free_pending();
        check_refused(t.close(t.device), WYE_DEVICE_BUSY, "fake:0 still has work pending");
        t.rig.driver.holds = false;
        if (!freed) free_pending();
        check_ok(t.rig.flush(t.device));
    }
    CHECK(t.rig.download<std::uint32_t>(b, 3) == Words{2, 3, 4});

    wye_buffer_create_desc desc;
    WYE_INIT(desc);
    desc.size = 16;
    desc.usage = WYE_BUFFER_USAGE_SHARED;
    desc.label = wye_str("window");
    wye_buffer window = 0;
    check_ok(t.rig.create(t.device, desc, window));
    wye_buffer_mapping mapping;
    WYE_INIT(mapping);
    check_ok(
        attempt([&](wye_error** e) { return wye_buffer_map(t.rig.context, window, &mapping, e); }));
    check_refused(t.close(t.device), WYE_BUFFER_IN_USE, "`window` of fake:0 is mapped");
    check_ok(attempt([&](wye_error** e) { return wye_buffer_unmap(t.rig.context, window, e); }));
    check_ok(t.close(t.device));
}

TEST_CASE("calls on a device and its buffers while another thread closes it end as usual") {
    for (int round = 0; round < 20; ++round) {
        Opened t;
        const wye_buffer a = t.rig.buffer(t.device, 12), b = t.rig.buffer(t.device, 12);
        std::atomic<bool> began = false;
        int odd = 0;
        std::thread other([&] {
            Words words(3);
            for (int i = 0; i < 200; ++i) {
                const auto count = [&](wye_status status) {
                    odd += status != WYE_OK && status != WYE_STALE_HANDLE;
                };
                Job job = Job(t.program, t.device).param(1).resident(0, a).resident(1, b);
                count(wye_dispatch(t.rig.context, &job.filled(), nullptr, nullptr));
                count(wye_buffer_upload(t.rig.context, a, {words.data(), 12}, nullptr));
                wye_buffer more = 0;
                wye_buffer_create_desc desc;
                WYE_INIT(desc);
                desc.size = 8;
                count(wye_buffer_create(t.rig.context, t.device, &desc, &more, nullptr));
                began = true;
            }
        });
        while (!began) std::this_thread::yield();
        Outcome closed;
        do closed = t.close(t.device);
        while (closed.status == WYE_DEVICE_BUSY);
        check_ok(closed);
        other.join();
        CHECK(odd == 0);
        check_ok(t.run(t.rig.device("fake:0")));
        CHECK(t.r == Words{2, 3, 4});
    }
}

TEST_CASE("what threads make while another one closes the device keeps it until it has a handle") {
    Opened t;
    wye_context* const context = t.rig.context;
    std::atomic<bool> ends = false;
    std::atomic<int> odd = 0, made = 0;
    const auto makes = [&](bool named, auto make) {
        return std::thread([&, named, make] {
            while (!ends) {
                wye_device device = 0;
                if (named &&
                    wye_device_open(context, wye_str("fake:0"), 0, &device, nullptr) != WYE_OK)
                    continue;
                const wye_status status = make(device);
                made += status == WYE_OK;
                odd += status != WYE_OK && status != WYE_STALE_HANDLE;
            }
        });
    };
    const auto dispatch = [&](wye_device device, auto submit) {
        Words x = {1, 2, 3}, r(3);
        Job job = Job(t.program, device).param(1).in(0, x.data(), 12).out(1, nullptr, 0);
        wye_pending pending = 0;
        const wye_status status = submit(job.filled(), pending);
        if (pending != 0) (void)wye_pending_free(context, pending, nullptr);
        return status;
    };
    const auto owned = [&](wye_device device) {
        return dispatch(device, [&](const wye_dispatch_desc& desc, wye_pending& out) {
            return wye_dispatch_owned(context, &desc, nullptr, &out, nullptr);
        });
    };
    const auto submitted = [&](wye_device device) {
        return dispatch(device, [&](const wye_dispatch_desc& desc, wye_pending& out) {
            const wye_status status = wye_dispatch_submit(context, &desc, &out, nullptr);
            if (status == WYE_OK)
                (void)wye_pending_wait(context, out, UINT64_MAX, nullptr, nullptr);
            return status;
        });
    };
    const auto pipeline = [&](wye_device device) {
        wye_pipeline_desc desc;
        WYE_INIT(desc);
        desc.program = t.program;
        desc.device = device;
        wye_pipeline out = 0;
        const wye_status status = wye_pipeline_create(context, &desc, &out, nullptr);
        if (out != 0) (void)wye_pipeline_free(context, out, nullptr);
        return status;
    };
    const auto graph = [&](wye_device device) {
        wye_graph_desc desc;
        WYE_INIT(desc);
        desc.device = device;
        wye_graph out = 0;
        const wye_status status = wye_graph_create(context, &desc, &out, nullptr);
        if (out != 0) (void)wye_graph_free(context, out, nullptr);
        return status;
    };
    const auto graph_on_buffers = [&](wye_device device) {
        wye_buffer x = 0, r = 0;
        wye_buffer_create_desc desc;
        WYE_INIT(desc);
        desc.size = 12;
        wye_status status = wye_buffer_create(context, device, &desc, &x, nullptr);
        if (status == WYE_OK) status = wye_buffer_create(context, device, &desc, &r, nullptr);
        Job job = Job(t.program, device).param(1).resident(0, x).resident(1, r);
        const wye_graph_step step = {&job.filled(), nullptr};
        wye_graph_desc graph_desc;
        WYE_INIT(graph_desc);
        graph_desc.device = device;
        graph_desc.steps = &step;
        graph_desc.step_count = 1;
        wye_graph out = 0;
        if (status == WYE_OK) status = wye_graph_create(context, &graph_desc, &out, nullptr);
        wye_graph_run_desc run;
        WYE_INIT(run);
        for (int i = 0; i < 6 && status == WYE_OK; ++i) {
            wye_pending pending = 0;
            status = i % 2 == 0 ? wye_graph_run(context, out, &run, nullptr, nullptr)
                                : wye_graph_submit(context, out, &run, &pending, nullptr);
            if (pending == 0) continue;
            status = wye_pending_wait(context, pending, UINT64_MAX, nullptr, nullptr);
            (void)wye_pending_free(context, pending, nullptr);
        }
        (void)wye_graph_free(context, out, nullptr);
        (void)wye_buffer_free(context, x, nullptr);
        (void)wye_buffer_free(context, r, nullptr);
        return status;
    };
    std::thread makers[] = {
        makes(true, graph_on_buffers), makes(true, graph_on_buffers), makes(true, owned),
        makes(true, submitted),        makes(true, pipeline),         makes(true, graph),
        makes(false, owned),           makes(false, submitted),       makes(false, pipeline)};
    for (int closed = 0; closed < 300 || made == 0;) {
        wye_device device = 0;
        if (wye_device_open(context, wye_str("fake:0"), 0, &device, nullptr) == WYE_OK)
            closed += wye_device_close(context, device, nullptr) == WYE_OK;
    }
    ends = true;
    for (std::thread& one : makers) one.join();
    CHECK(odd == 0);
    CHECK(made > 0);
}

TEST_CASE("a device is closed in a callback of its own work, and freed later") {
    Opened t;
    struct Seen {
        wye_context* context;
        wye_device device;
        std::atomic<int> closed = -1;
    } seen{t.rig.context, t.device};
    const wye_buffer a = t.rig.buffer(t.device, 12), b = t.rig.buffer(t.device, 12);
    Job job = Job(t.program, t.device).param(1).resident(0, a).resident(1, b);
    t.rig.driver.holds = true;
    const wye_pending pending = t.rig.submitted(job);
    check_ok(attempt([&](wye_error** e) {
        return wye_pending_notify(
            t.rig.context, pending,
            [](void* user, wye_status) {
                auto& s = *static_cast<Seen*>(user);
                wye_device again = 0;
                const wye_status closed = wye_device_close(s.context, s.device, nullptr);
                const wye_status opened =
                    wye_device_open(s.context, wye_str("fake:0"), 0, &again, nullptr);
                s.closed = closed * 100 + opened;
            },
            &seen, e);
    }));
    t.rig.driver.holds = false;
    while (seen.closed == -1) std::this_thread::yield();
    CHECK(seen.closed == 0);
    check_refused(t.run(t.device), WYE_STALE_HANDLE, "");
    check_ok(t.close(t.second));  // this also frees the device closed above
    check_ok(t.run(t.rig.device("fake:0")));
    CHECK(t.r == Words{2, 3, 4});
}

TEST_CASE("preparing a device makes what the first dispatch would make") {
    Opened t;
    const int programs = t.rig.driver.programs;
    CHECK(t.rig.driver.queues == 0);
    check_ok(t.prepare(t.device));
    const int queues = t.rig.driver.queues;
    CHECK(queues == 1);
    CHECK(t.rig.driver.programs == programs);
    check_ok(t.prepare(t.device));
    check_ok(t.run(t.device));
    CHECK(t.rig.driver.queues == queues);
    t.rig.driver.lose(0);
    check_refused(t.prepare(t.device), WYE_DEVICE_LOST, "fell off the bus");
}

TEST_CASE(
    "a loss is seen when the driver knows of it, and a device is taken back where it can be") {
    for (const bool can_recover : {true, false}) {
        Opened t;
        t.rig.driver.can_recover = can_recover;
        wye_device out = 0;
        check_ok(t.recover(t.device, out));
        CHECK(out == t.device);  // not lost, so nothing changes
        CHECK(t.lost(t.device) == 0);
        const wye_buffer old = t.rig.buffer(t.device, 12);
        t.rig.driver.lose(0);
        CHECK(t.lost(t.device) == 1);  // before any call has failed
        CHECK(t.lost(t.second) == 0);
        check_refused(t.run(t.device), WYE_DEVICE_LOST, "fake:0 was lost");
        check_ok(t.recover(t.device, out));
        CHECK(out != t.device);
        CHECK(t.lost(t.device) == 1);
        CHECK(t.lost(out) == 0);
        check_ok(t.run(out));
        CHECK(t.r == Words{2, 3, 4});
        wye_device same = 0;
        check_ok(t.recover(t.device, same));  // already recovered: the same new device
        CHECK(same == out);
        check_refused(t.rig.free(0), WYE_STALE_HANDLE, "");
        check_ok(t.close(t.device));  // a lost device can be closed
        check_refused(t.rig.free(old), WYE_STALE_HANDLE, "");
        check_ok(t.run(out));
    }
}

TEST_CASE("buffers of a lost device are not destroyed while it is taken back") {
    Opened t;
    const wye_buffer old = t.rig.buffer(t.device, 12);
    Gate gate;
    t.rig.driver.on_recover = [&] { gate.pass(); };
    t.rig.driver.lose(0);
    wye_device out = 0;
    std::thread taking([&] { check_ok(t.recover(t.device, out)); });
    gate.await_entry();
    std::atomic<bool> freed = false;
    std::thread freeing([&] {
        (void)t.rig.free(old);
        freed = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // else little is tested
    gate.let_go();
    taking.join();
    freeing.join();
    CHECK(freed);
    CHECK(t.rig.driver.meanwhile == 0);
    check_ok(t.run(out));
}

TEST_CASE("a device that cannot be opened again says that the process must be restarted") {
    Opened t;
    t.rig.driver.lose(0);
    CHECK(t.lost(t.device) == 1);
    t.rig.driver.fail_open = true;
    wye_device out = 0;
    const Outcome refused = t.recover(t.device, out);
    check_refused(refused, WYE_UNSUPPORTED, "fake:0 was lost, and cannot be taken back");
    CHECK(refused.fix.starts_with("Fix: restart the process"));
    CHECK(refused.text.find("the fake does not open") != std::string::npos);
    CHECK(out == 0);
    t.rig.driver.fail_open = false;
    check_ok(t.recover(t.device, out));
    check_ok(t.run(out));
}

TEST_CASE("a context that was shut down refuses calls, until it is destroyed") {
    for (const bool in_time : {true, false}) {
        FakeDriver driver;
        wye_context* const context = driver.context();
        wye_device device = 0;
        check_ok(attempt([&](wye_error** e) {
            return wye_device_open(context, wye_str("fake:0"), 0, &device, e);
        }));
        check_ok(attempt([&](wye_error** e) { return wye_device_prepare(context, device, e); }));
        std::uint32_t word = 0;
        wye_buffer_create_desc desc;
        WYE_INIT(desc);
        desc.size = 4;
        wye_buffer buffer = 0;
        check_ok(attempt(
            [&](wye_error** e) { return wye_buffer_create(context, device, &desc, &buffer, e); }));
        driver.holds = !in_time;
        wye_transfer_desc fill;
        WYE_INIT(fill);
        fill.kind = WYE_TRANSFER_FILL;
        fill.buffer = buffer;
        fill.size = 4;
        fill.pattern_size = 4;
        wye_pending pending = 0;
        check_ok(attempt([&](wye_error** e) {
            return wye_buffer_transfer_submit(context, &fill, &pending, e);
        }));
        const Outcome down = attempt([&](wye_error** e) {
            return wye_context_shutdown(context, in_time ? UINT64_MAX : 1'000'000, e);
        });
        CHECK(down.status == (in_time ? WYE_OK : WYE_TIMEOUT));
        CHECK(driver.shutdowns == (in_time ? 1 : 0));
        const auto refused = [&] {
            check_refused(attempt([&](wye_error** e) {
                              return wye_buffer_download(context, buffer, &word, 4, e);
                          }),
                          WYE_SHUTTING_DOWN, "shut down");
            check_refused(
                attempt([&](wye_error** e) { return wye_device_close(context, device, e); }),
                WYE_SHUTTING_DOWN, "shut down");
            check_refused(
                attempt([&](wye_error** e) { return wye_context_shutdown(context, 0, e); }),
                WYE_SHUTTING_DOWN, "shut down");
        };
        refused();
        if (in_time) {
            wye_context_destroy(context);
            continue;
        }
        wye_context_destroy(context);  // the closing thread frees the rest
        driver.holds = false;
        while (driver.shutdowns == 0) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

}  // namespace
}  // namespace wye::exec::test::test_closing
