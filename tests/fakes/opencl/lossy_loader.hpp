// SPDX-License-Identifier: Apache-2.0
//
// An OpenCL loader that calls the real one, and can lose devices. A lost device behaves as with
// NVIDIA's driver 580 after an illegal memory access. There is one state for the process.
//
// A test controls the loader in its own process through `Control`. For another process, such as an
// example program, preload the library (LD_PRELOAD) and set LOSSY_OPENCL: the first kernel then
// loses the device, which can be opened again (`once`) or not (`always`).
#pragma once

#include <cstdint>

namespace lossy_opencl {

struct Control {
    void (*reset)();
    // Loses the devices: from now on clFinish returns CL_INVALID_COMMAND_QUEUE, and other calls
    // return -9999. No new object can be created.
    void (*lose)();
    // Lets clFinish return CL_INVALID_COMMAND_QUEUE once, although no device is lost.
    void (*fail_next_finish)();
    // Lets fills return CL_OUT_OF_RESOURCES while `full` is true.
    void (*memory_full)(bool full);
    // Counters since a reset: kernels and fills that were queued with an event, markers, flushes,
    // queued kernels, kernel arguments that were set, and queries of events.
    std::uint64_t (*events)();
    std::uint64_t (*markers)();
    std::uint64_t (*flushes)();
    std::uint64_t (*kernels)();
    std::uint64_t (*arguments)();
    std::uint64_t (*questions)();
    // Makes an event (cl_event) of the application in a cl_context; null: failed. `let_happen`
    // completes the event and releases it.
    void* (*make_event)(void* context);
    void (*let_happen)(void* event);
};

}  // namespace lossy_opencl

extern "C" const lossy_opencl::Control* lossy_opencl_control();
