// SPDX-License-Identifier: Apache-2.0
//
// A fake CUDA driver on host memory: `libfake_cuda.so` implements the functions of libcuda.so.1
// that plugins/cuda calls, and this table lets a test control it. Streams are real queues: work
// runs in order as soon as it is ready, on the calling thread, unless held back. One state per
// process; call `reset` before use.
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
    // Restores the state after loading, with this many idle devices of this compute capability.
    void (*reset)(int devices, int architecture);
    void (*set_version)(int version);         // returned by cuDriverGetVersion
    void (*set_init)(int status);             // returned by cuInit
    void (*set_memory)(std::uint64_t bytes);  // of each device
    void (*set_pools)(int supported);         // memory pools
    void (*set_compute_mode)(int mode);
    // Sets the work of every kernel. If it is null, as after `reset`, a kernel named `add` does
    // what the one of wye/sdk/samples.hpp does, and others do nothing.
    void (*set_kernel)(Kernel kernel);
    void (*hold)(int held);                // 1: streams stand still until 0
    void (*fail_next_launch)(int status);  // cuLaunchKernel returns this once
    void (*fail_next_copy)(int status);    // cuMemcpyDtoDAsync returns this once
    void (*fault)(int status);             // the next work to run is this sticky error
    void (*keep_faults)(int kept);         // 1: it outlives the context, as with driver 580
    void (*refuse_images)(int status);     // cuModuleLoadDataEx returns this; 0: works again
    std::uint64_t (*used_memory)();
    int (*live_objects)();  // the number of created objects and retained contexts
    int (*events_recorded)();
    int (*cooperative_launches)();  // graph nodes included
};

}  // namespace fake_cuda

// The only export that the real driver does not have.
extern "C" const fake_cuda::Control* fake_cuda_control();
