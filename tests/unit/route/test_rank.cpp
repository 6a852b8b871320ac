// SPDX-License-Identifier: Apache-2.0
// How `auto` ranks the devices that Wye knows.
#include <doctest/doctest.h>

#include <algorithm>

#include "route/rank.hpp"

namespace wye::route {
namespace {

registry::DeviceInfo device(const char* selector, const char* kind, const char* format) {
    registry::DeviceInfo out;
    out.selector = selector;
    out.formats = {format};
    if (*kind != 0) out.facts.set(WYE_FACT_KEY_DEVICE_KIND, {std::string(kind), ""});
    return out;
}

registry::Score ranked(const registry::DeviceInfo& one) {
    static constexpr std::string_view kFormats[] = {WYE_FORMAT_PROGRAM, WYE_FORMAT_OPENCL_C,
                                                    WYE_FORMAT_CUDA_C, WYE_FORMAT_SPIRV};
    return rank(one, kFormats);
}

TEST_CASE(
    "GPUs come first, then accelerators, the processor itself, drivers for it, and last own "
    "formats") {
    std::vector<registry::DeviceInfo> devices = {
        device("null:0", "", WYE_FORMAT_OPENCL_C),
        device("own:0", "gpu", "com.vendor.own"),
        device("llvmpipe:0", "cpu", WYE_FORMAT_SPIRV),
        device("pocl:0", "cpu", WYE_FORMAT_OPENCL_C),
        device("cpu:0", "cpu", WYE_FORMAT_PROGRAM),
        device("fpga:0", "accelerator", WYE_FORMAT_OPENCL_C),
        device("cuda:0", "gpu", WYE_FORMAT_CUDA_C),
        device("vulkan:0", "gpu", WYE_FORMAT_SPIRV),
    };
    std::ranges::stable_sort(
        devices, [](const auto& a, const auto& b) { return ranked(a).points > ranked(b).points; });
    std::string order;
    for (const registry::DeviceInfo& one : devices) order += one.selector + " ";
    CHECK(order == "cuda:0 vulkan:0 fpga:0 cpu:0 llvmpipe:0 pocl:0 null:0 own:0 ");
}

TEST_CASE("the name of a plugin says nothing: what the device is and takes decides") {
    registry::DeviceInfo other = device("vendor:0", "cpu", WYE_FORMAT_PROGRAM);
    other.plugin = "vendor";
    registry::DeviceInfo ours = other;
    ours.plugin = "cpu";
    CHECK(ranked(other).points == ranked(ours).points);
    // A device that prefers another format runs programs through a compiler.
    other.formats = {WYE_FORMAT_OPENCL_C, WYE_FORMAT_PROGRAM};
    CHECK(ranked(other).points < ranked(ours).points);
}

TEST_CASE("the reasons are named") {
    using Reasons = std::vector<std::string>;
    CHECK(ranked(device("a:0", "gpu", WYE_FORMAT_SPIRV)).reasons == Reasons{"gpu"});
    CHECK(ranked(device("a:0", "cpu", WYE_FORMAT_PROGRAM)).reasons ==
          Reasons{"cpu", "runs programs without a driver"});
    CHECK(ranked(device("a:0", "", WYE_FORMAT_SPIRV)).reasons == Reasons{"device of unknown kind"});
    CHECK(ranked(device("a:0", "gpu", "com.vendor.own")).reasons ==
          Reasons{"runs native variants only"});
}

}  // namespace
}  // namespace wye::route
