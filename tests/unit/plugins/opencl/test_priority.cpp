// SPDX-License-Identifier: Apache-2.0
//
// Queues with priorities, on a driver that has cl_khr_priority_hints, and on one that has not.
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <doctest/doctest.h>

#include "conformance/abi/cases.hpp"

using harness::Device;
using harness::Plugin;

TEST_CASE("a queue has the priority that was asked for, of the three that there are") {
    Plugin plugin(std::map<std::string, std::string>{{"opencl.library", WYE_OPENCL_LOADER}});
    Device device(plugin);
    const auto newest =
        reinterpret_cast<cl_ulong (*)()>(harness::export_of(WYE_OPENCL_LOADER, "urgent_newest"));
    struct Row {
        std::int32_t asked, granted;
        cl_ulong made_with;
    };
    for (const Row& row :
         {Row{0, 0, 0}, Row{1, 1, CL_QUEUE_PRIORITY_HIGH_KHR},
          Row{7, 1, CL_QUEUE_PRIORITY_HIGH_KHR}, Row{-7, -1, CL_QUEUE_PRIORITY_LOW_KHR}}) {
        CAPTURE(row.asked);
        wye_queue_object* queue = device.queue_create(WYE_QUEUE_COMPUTE, row.asked);
        CHECK(newest() == row.made_with);
        const wye_queue_info info = device.queue_info(queue);
        CHECK(info.priority == row.granted);
        CHECK(info.kind == WYE_QUEUE_ANY);
        device.queue_table->destroy(queue);
    }
}

TEST_CASE("without the extension no priority is granted") {
    Plugin plugin;
    Device device(plugin);
    wye_queue_object* queue = device.queue_create(WYE_QUEUE_ANY, 5);
    CHECK(device.queue_info(queue).priority == 0);
    device.queue_table->destroy(queue);
}
