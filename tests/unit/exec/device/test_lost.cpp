// SPDX-License-Identifier: Apache-2.0
//
// Lost devices, and exhausted memory.
#include "rig.hpp"

namespace wye::exec::test::test_lost {
namespace {

using Words = std::vector<std::uint32_t>;

struct Ready : HostWords {
    Outcome run(wye_device on) {
        r = {9, 9, 9};
        return Job(program, on).param(1).in(0, x.data(), 12).out(1, r.data(), 12).run(rig);
    }
    Outcome create(wye_device on, std::uint64_t size) const {
        wye_buffer_create_desc desc;
        WYE_INIT(desc);
        desc.size = size;
        wye_buffer out = 0;
        return rig.create(on, desc, out);
    }
};

// Every call on the handles of a lost device returns DEVICE_LOST without entering the driver.
void check_lost(Ready& t, wye_device device, wye_buffer buffer, wye_buffer target) {
    const int submits = t.rig.driver.submits;
    const int made = t.rig.driver.buffers;
    wye_context* context = t.rig.context;
    std::uint32_t word = 0;
    const Outcome outcomes[] = {
        t.run(device),
        Job(t.program, device).param(1).resident(0, buffer).out(1, t.r.data(), 12).run(t.rig),
        Job(t.program, device).param(1).resident(0, buffer).resident(1, target).run(t.rig),
        t.create(device, 16),
        attempt([&](wye_error** e) {
            return wye_buffer_upload_range(context, buffer, 0, {&word, 4}, e);
        }),
        attempt([&](wye_error** e) {
            return wye_buffer_download_range(context, buffer, 0, &word, 4, e);
        }),
        attempt([&](wye_error** e) { return wye_buffer_fill(context, buffer, 0, 4, 0, 4, e); }),
        attempt(
            [&](wye_error** e) { return wye_buffer_copy(context, buffer, 0, buffer, 4, 4, e); }),
        attempt([&](wye_error** e) { return wye_device_flush(context, device, e); }),
    };
    for (const Outcome& outcome : outcomes) {
        check_refused(outcome, WYE_DEVICE_LOST, "fake:0 was lost");
        CHECK(outcome.text.find("fell off the bus") != std::string::npos);
        CHECK(outcome.fix.find("open the device again") != std::string::npos);
    }
    CHECK(t.rig.driver.submits == submits);
    CHECK(t.rig.driver.buffers == made);
}

TEST_CASE("a lost device is lost on every handle, and opening it again gives a working one") {
    for (const bool can_recover : {true, false}) {
        Ready t;
        t.rig.driver.can_recover = can_recover;
        const wye_device second = t.rig.device("fake:1");
        const wye_buffer buffer = t.rig.buffer(t.device, 12, "old");
        const wye_buffer other = t.rig.buffer(second, 12, "other");
        const wye_buffer target = t.rig.buffer(t.device, 12, "target");
        t.rig.upload(buffer, t.x);
        check_ok(t.run(t.device));
        Job resident = Job(t.program, t.device).param(1).resident(0, buffer).resident(1, target);
        for (int round = 0; round < 3; ++round) check_ok(resident.run(t.rig));

        t.rig.driver.lose(0);
        check_refused(t.run(t.device), WYE_DEVICE_LOST, "fell off the bus");
        CHECK(t.r == Words{9, 9, 9});
        check_lost(t, t.device, buffer, target);
        // Another device still works.
        t.rig.upload(other, t.x);
        check_ok(t.run(second));
        CHECK(t.r == Words{2, 3, 4});

        const wye_device again = t.rig.device();
        CHECK(again != t.device);
        CHECK(t.rig.device() == again);
        CHECK(t.rig.driver.recovered == (can_recover ? 1 : 0));
        CHECK(t.rig.driver.opened == 3);  // two devices, and the first again
        check_ok(t.run(again));
        CHECK(t.r == Words{2, 3, 4});
        const wye_buffer fresh = t.rig.buffer(again, 12);
        t.rig.upload(fresh, t.x);
        CHECK(t.rig.download<std::uint32_t>(fresh, 3) == t.x);

        // The old handles stay lost, and can be freed. A request with an old handle on the new
        // device gets the same error.
        check_lost(t, t.device, buffer, target);
        check_refused(
            Job(t.program, again).param(1).resident(0, buffer).resident(1, fresh).run(t.rig),
            WYE_DEVICE_LOST, "fake:0 was lost");
        check_ok(t.rig.free(buffer));
    }
}

TEST_CASE("a loss is reported by the first call that enters the driver, whichever it is") {
    for (const int way : {0, 1, 2}) {
        Ready t;
        t.rig.driver.lose(0);
        if (way == 0) check_refused(t.create(t.device, 16), WYE_DEVICE_LOST, "fell off the bus");
        if (way == 1) check_refused(t.run(t.device), WYE_DEVICE_LOST, "fell off the bus");
        if (way == 2) {  // the wait for a dispatch meets the loss
            const wye_device again = t.rig.device();
            CHECK(again == t.device);  // the loss is not known yet
            check_refused(t.run(again), WYE_DEVICE_LOST, "fell off the bus");
        }
        check_refused(t.run(t.device), WYE_DEVICE_LOST, "fake:0 was lost");
        check_ok(t.run(t.rig.device()));
    }
}

TEST_CASE("a loss in the middle of a dispatch delivers nothing") {
    Ready t;
    t.rig.driver.kernel = [&](const wye_dispatch_op& op) {
        add_kernel(op);
        t.rig.driver.lose(0);
    };
    check_refused(t.run(t.device), WYE_DEVICE_LOST, "fell off the bus");
    check_refused(t.run(t.device), WYE_DEVICE_LOST, "fake:0 was lost");
    t.rig.driver.kernel = add_kernel;
    check_ok(t.run(t.rig.device()));
}

TEST_CASE("work that was given up on a device that is then lost lets its buffers go") {
    Ready t;
    const wye_buffer x = t.rig.buffer(t.device, 12);
    const wye_buffer r = t.rig.buffer(t.device, 12);
    t.rig.driver.kernel = [&](const wye_dispatch_op&) { t.rig.driver.hang = true; };
    Job job(t.program, t.device);
    job.desc.timeout_ns = 3'600'000'000'000;
    CHECK(job.param(1).resident(0, x).resident(1, r).run(t.rig).status == WYE_TIMEOUT);
    t.rig.driver.hang = false;
    t.rig.driver.lose(0);
    check_ok(t.rig.free(x));
    check_refused(t.run(t.device), WYE_DEVICE_LOST, "fake:0 was lost");
}

TEST_CASE("when memory is full, scratch that nobody uses makes room; then it is an error") {
    Ready t;
    t.rig.driver.memory_left = 20000;
    check_ok(t.run(t.device));  // leaves two scratch buffers of 4096 bytes
    const int live = t.rig.driver.live_buffers;
    CHECK(live == 2);
    check_ok(t.create(t.device, 19000));
    CHECK(t.rig.driver.live_buffers == 1);
    check_refused(t.create(t.device, 19000), WYE_DEVICE_MEMORY, "memory is full");
    check_refused(t.run(t.device), WYE_DEVICE_MEMORY, "memory is full");
    CHECK(t.r == Words{9, 9, 9});
    t.rig.driver.memory_left = 10000;
    check_ok(t.run(t.device));
    CHECK(t.r == Words{2, 3, 4});
}

}  // namespace
}  // namespace wye::exec::test::test_lost
