// SPDX-License-Identifier: Apache-2.0
//
// A device of the fake driver whose work ends when the test says so.
#pragma once

#include "rig.hpp"

namespace wye::exec::test {

// A device with several queues, on which work does not end by itself.
struct Ready {
    explicit Ready(std::uint64_t queues, registry::Config config = {}) : rig(std::move(config)) {
        rig.driver.facts[WYE_FACT_KEY_MAX_QUEUES] = queues;
        device = rig.device();
        program = rig.prepared(device, kAdd);
        for (wye_buffer& buffer : buffers) buffer = rig.buffer(device, 12);
        rig.driver.holds = true;
    }
    ~Ready() { rig.driver.holds = false; }

    Rig rig;
    wye_device device = 0;
    wye_program program = 0;
    wye_buffer buffers[8] = {};

    wye_pending newest = 0;

    // Submits r = x + 1 on a public queue (0: on none), and returns the submit that the driver got.
    FakeDriver::Submit add(std::size_t x, std::size_t r, wye_queue queue = 0) {
        Job job(program, device);
        job.desc.queue = queue;
        job.param(1).resident(0, buffers[x]).resident(1, buffers[r]);
        newest = rig.submitted(job);
        return rig.driver.submitted.back();
    }
};

}  // namespace wye::exec::test
