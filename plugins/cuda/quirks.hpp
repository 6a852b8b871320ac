// SPDX-License-Identifier: Apache-2.0
//
// Workarounds for quirks of the CUDA driver, its header and NVRTC, except those of the host's
// lowering. Pure.
#pragma once

#include "wye/sdk/quirk.hpp"

namespace wye::cuda {

inline constexpr sdk::Quirk kQuirks[] = {
    {"cuda-stub-library", "CUDA toolkit", "all", "cuInit says 34",
     "`lib64/stubs/libcuda.so` loads as a driver", "the error calls it a stub"},
    {"cuda-header-renames", "cuda.h", "12.8 and later", "always",
     "cuEventElapsedTime means a revision `_v2`, which older drivers lack",
     "symbols are named one by one (driver.hpp)"},
    {"cuda-module-version", "CUDA driver", "all", "always",
     "the interface does not tell the version of the kernel module",
     "it is read from /proc/driver/nvidia/version"},
    {"cuda-pageable-copies", "CUDA driver", "all", "always",
     "copies from and to pageable memory may wait for the stream",
     "small ones go through page-locked memory (context/staging.hpp)"},
    {"cuda-free-waits", "CUDA driver", "all", "the device has memory pools",
     "cuMemFree waits for everything that runs on the device",
     "memory comes from a pool of the device's own"},
    {"cuda-fill-8", "CUDA driver", "all", "always", "8-byte patterns cannot be filled",
     "the first element is written and doubled (Queue::fill_words)"},
    {"cuda-fault-outlives-context", "CUDA driver", "580", "cuDevicePrimaryCtxRetain fails stickily",
     "after an illegal address or a trap the process gets no context any more",
     "opening the device says so, and to restart the process"},
    {"nvrtc-old-devices", "NVRTC", "13", "its list of architectures", "knows nothing below sm_75",
     "such a device takes `cubin` and `ptx` only; NVRTC 12 serves it"},
    {"nvrtc-newer-than-driver", "CUDA driver", "12", "the driver's version",
     "the code of NVRTC 13 may be refused", "NVRTC 12 is tried first"},
    {"nvrtc-minimal", "NVRTC", "before 12.4", "its version",
     "refuses `--minimal`, which saves nine tenths of the time of a small program",
     "it is left out there"},
};

}  // namespace wye::cuda
