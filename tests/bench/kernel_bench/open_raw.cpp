// SPDX-License-Identifier: Apache-2.0
#include "kernel_bench/open_raw.hpp"

namespace wye::bench {

Result<std::unique_ptr<RawApi>> open_raw(const std::string& selector, const std::string& name) {
    const std::string plugin = selector.substr(0, selector.find(':'));
#ifdef KERNEL_BENCH_CUDA
    if (plugin == "cuda") return open_raw_cuda(name);
#endif
#ifdef KERNEL_BENCH_OPENCL
    if (plugin == "opencl") return open_raw_opencl(name);
#endif
#ifdef KERNEL_BENCH_VULKAN
    if (plugin == "vulkan") return open_raw_vulkan(name);
#endif
    return Error(Code::INVALID_ARGUMENT,
                 "`" + selector + "` (" + name + ") has no hand-written side in this build",
                 "Fix: name devices of cuda, vulkan or opencl, and build with their headers");
}

}  // namespace wye::bench
