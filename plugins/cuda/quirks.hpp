// SPDX-License-Identifier: Apache-2.0
//
// Workarounds for quirks of the CUDA driver, its header and NVRTC, except those of the host's
// lowering. Pure.
#pragma once

#include "wye/sdk/quirk.hpp"

namespace wye::cuda {

inline constexpr sdk::Quirk kQuirks[] = {
    {"cuda-stub-library", "CUDA toolkit", "all", "cuInit returns 34",
     "`lib64/stubs/libcuda.so` loads as a driver", "the error says that it is a stub"},
    {"cuda-header-renames", "cuda.h", "12.8 and later", "always",
     "cuEventElapsedTime is a macro for a revision `_v2`, which older drivers lack",
     "each function's symbol is named explicitly (driver.hpp)"},
    {"cuda-module-version", "CUDA driver", "all", "always",
     "no function reports the version of the kernel module",
     "the version is read from /proc/driver/nvidia/version"},
    {"cuda-pageable-copies", "CUDA driver", "all", "always",
     "copies from and to pageable memory may wait for the stream",
     "small copies go through page-locked memory (context/staging.hpp)"},
    {"cuda-free-waits", "CUDA driver", "all", "the device has memory pools",
     "cuMemFree waits for everything that runs on the device",
     "memory comes from a pool of the device's own"},
    {"cuda-fill-8", "CUDA driver", "all", "always", "8-byte patterns cannot be filled",
     "the first element is written and doubled (Queue::fill_words)"},
    {"cuda-fault-outlives-context", "CUDA driver", "580", "cuDevicePrimaryCtxRetain's status",
     "after an illegal address or a trap the process gets no context any more",
     "the error of opening the device says so, and that the process must be restarted"},
    {"nvrtc-old-devices", "NVRTC", "13", "its list of architectures", "compiles only for sm_75 on",
     "older devices take `cubin` and `ptx` only, unless NVRTC 12 is used"},
    {"nvrtc-newer-than-driver", "CUDA driver", "12", "the driver's version",
     "may refuse the code of NVRTC 13", "NVRTC 12 is tried first"},
    {"nvrtc-minimal", "NVRTC", "before 12.4", "its version",
     "refuses `--minimal`, which saves nine tenths of the compile time of a small program",
     "the option is left out"},
};

}  // namespace wye::cuda
