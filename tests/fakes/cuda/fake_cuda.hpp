// SPDX-License-Identifier: Apache-2.0
//
// A fake CUDA driver on host memory. `libfake_cuda.so` implements the functions of libcuda.so.1
// that plugins/cuda calls, and this table lets a test control it. Each stream is a real queue: its
// work runs in order, on the calling thread, as soon as the work is ready, unless `hold` stops the
// streams. There is one state for the process; call `reset` before use.
#pragma once

#include <cstdint>

namespace fake_cuda {

// One launch, with its arguments as the driver gets them. Launches run in the order of their
// stream.
struct Launch {
    const char* kernel;
    unsigned groups[3], workgroup[3];
    unsigned shared_bytes;
    void* const* arguments;  // pointers to copies of 8 bytes each
};
using Kernel = void (*)(const Launch& launch);

struct Control {
    // Restores the initial state, with `devices` idle devices of the compute capability
    // `architecture`.
    void (*reset)(int devices, int architecture);
    void (*set_version)(int version);         // returned by cuDriverGetVersion
    void (*set_init)(int status);             // returned by cuInit
    void (*set_memory)(std::uint64_t bytes);  // of each device
    void (*set_pools)(int supported);         // whether memory pools are supported
    void (*set_compute_mode)(int mode);
    // Sets the function that runs for every kernel. Without one, as after `reset`, a kernel named
    // `add` does what the sample program of wye/sdk/samples.hpp does, and most other kernels do
    // nothing.
    void (*set_kernel)(Kernel kernel);
    void (*hold)(int held);                // 1: streams run nothing until 0
    void (*fail_next_launch)(int status);  // cuLaunchKernel returns this once
    void (*fail_next_copy)(int status);    // cuMemcpyDtoDAsync returns this once
    void (*fault)(int status);             // the next work fails with this sticky error
    void (*keep_faults)(int kept);         // 1: errors outlive the context, as in driver 580
    void (*refuse_images)(int status);     // cuModuleLoadDataEx returns this; 0: it works again
    std::uint64_t (*used_memory)();
    int (*live_objects)();  // the number of created objects and retained contexts
    int (*events_recorded)();
    int (*cooperative_launches)();  // also by nodes of graphs
};

}  // namespace fake_cuda

// The only export that the real driver does not have.
extern "C" const fake_cuda::Control* fake_cuda_control();
