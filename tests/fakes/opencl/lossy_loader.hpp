// SPDX-License-Identifier: Apache-2.0
//
// An OpenCL loader in front of the real one that loses devices as NVIDIA's driver 580 does after an
// illegal memory access. One state per process.
//
// A test controls the loader in its own process through `Control`. For another process, such as an
// example program, preload the library (LD_PRELOAD) and set LOSSY_OPENCL: the first kernel then
// loses the device, which can be opened again (`once`) or not (`always`).
#pragma once

#include <cstdint>

namespace lossy_opencl {

struct Control {
    void (*reset)();
    // From now on work fails: clFinish returns CL_INVALID_COMMAND_QUEUE, other calls -9999. No new
    // object can be created.
    void (*lose)();
    // clFinish returns CL_INVALID_COMMAND_QUEUE once, although nothing is lost.
    void (*fail_next_finish)();
    // Fills return CL_OUT_OF_RESOURCES while set.
    void (*memory_full)(bool full);
    // Since a reset: kernels and fills that were queued with an event, markers, and flushes; queued
    // kernels, arguments of kernels that were set, and questions after events.
    std::uint64_t (*events)();
    std::uint64_t (*markers)();
    std::uint64_t (*flushes)();
    std::uint64_t (*kernels)();
    std::uint64_t (*arguments)();
    std::uint64_t (*questions)();
    // An event (cl_event) of the application, of a cl_context, or null; lets it happen, and
    // releases it.
    void* (*make_event)(void* context);
    void (*let_happen)(void* event);
};

}  // namespace lossy_opencl

extern "C" const lossy_opencl::Control* lossy_opencl_control();
