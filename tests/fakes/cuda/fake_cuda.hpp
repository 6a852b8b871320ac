// SPDX-License-Identifier: Apache-2.0
//
// A driver that is host memory: `libfake_cuda.so` implements what plugins/cuda calls of
// libcuda.so.1, and this is how a test steers it. Streams are real queues: work runs in order as
// soon as it may, in the thread that asks, unless it is held back. State is of the process; `reset`
// before use.
#pragma once

#include <cstdint>

namespace fake_cuda {

// One launch, with the arguments as the driver gets them. Runs in stream order.
struct Launch {
    const char* kernel;
    unsigned groups[3], workgroup[3];
    unsigned shared_bytes;
    void* const* arguments;  // points at copies of 8 bytes each
};
using Kernel = void (*)(const Launch& launch);

struct Control {
    // As after loading; with this many devices of this compute capability, all of them idle.
    void (*reset)(int devices, int architecture);
    void (*set_version)(int version);         // of cuDriverGetVersion
    void (*set_init)(int status);             // what cuInit says
    void (*set_memory)(std::uint64_t bytes);  // of each device
    void (*set_pools)(int supported);         // memory pools
    void (*set_compute_mode)(int mode);
    // What every kernel does. Null, as after `reset`: a kernel named `add` does what that of
    // conformance/abi/samples.hpp does, others nothing.
    void (*set_kernel)(Kernel kernel);
    void (*hold)(int held);                // 1: streams stand still until 0
    void (*fail_next_launch)(int status);  // cuLaunchKernel says this once
    void (*fail_next_copy)(int status);    // cuMemcpyDtoDAsync says this once
    void (*fault)(int status);             // the next work to run is this sticky error
    void (*keep_faults)(int kept);         // 1: it outlives the context, as with driver 580
    void (*refuse_images)(int status);     // cuModuleLoadDataEx says this; 0: no more
    std::uint64_t (*used_memory)();
    int (*live_objects)();  // all that is created, and contexts retained
    int (*events_recorded)();
};

}  // namespace fake_cuda

// The library's export that is not the driver's.
extern "C" const fake_cuda::Control* fake_cuda_control();
