// SPDX-License-Identifier: Apache-2.0
#include "opencl/self_test/f64_rate.hpp"

#include <algorithm>

#include "opencl/device.hpp"
#include "wye/sdk/f64_rate.hpp"
#include "wye/sdk/kept_text.hpp"
#include "wye/sdk/numbers.hpp"

namespace wye::opencl {
namespace {

constexpr std::string_view kKind = "opencl-f64-rate";
constexpr std::size_t kMostInvocations = 128;

// Each invocation multiplies 16 numbers by a factor, `rounds` times, and writes their sum. Element
// 0 of `values` is the factor.
constexpr const char* kSource = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define PRODUCTS(name, one, sixteen)                                                         \
    __kernel void name(__global one* values, uint rounds) {                                  \
        const one by = values[0];                                                            \
        sixteen v = (sixteen)(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);        \
        for (uint k = 0; k < rounds; ++k) v *= by;                                           \
        v.s01234567 += v.s89abcdef;                                                          \
        v.s0123 += v.s4567;                                                                  \
        values[1 + get_global_id(0)] = v.s0 + v.s1 + v.s2 + v.s3;                            \
    }
PRODUCTS(narrow, float, float16)
PRODUCTS(wide, double, double16)
)";

// Measures the time of products on one device.
class Products {
  public:
    [[nodiscard]] static Result<Products> create(Device& device) {
        Products out(device);
        cl_int status = CL_SUCCESS;
        const Driver& driver = device.driver;
        WYE_TRY(
            device.check(device.context().make_queue(true, out.queue_), "clCreateCommandQueue"));
        const char* source = kSource;
        out.program_ = ProgramHandle(
            driver,
            driver.clCreateProgramWithSource(device.context().get(), 1, &source, nullptr, &status));
        WYE_TRY(device.check(status, "clCreateProgramWithSource"));
        // quirk pocl-prints: `-w`.
        WYE_TRY(device.check(
            driver.clBuildProgram(out.program_.get(), 1, &device.info.id, "-w", nullptr, nullptr),
            "clBuildProgram"));
        return out;
    }

    // The shortest of three times, in nanoseconds.
    template <typename Float>
    [[nodiscard]] Result<double> time(const char* name, cl_uint rounds) const {
        const Driver& driver = device_.driver;
        cl_int status = CL_SUCCESS;
        const KernelHandle kernel(driver, driver.clCreateKernel(program_.get(), name, &status));
        WYE_TRY(device_.check(status, "clCreateKernel"));
        MemoryHandle values;
        WYE_TRY(device_.check(
            device_.context().allocate((1 + invocations_) * sizeof(Float), false, values),
            "clCreateBuffer"));
        const Float factor = 1;
        cl_mem memory = values.get();
        WYE_TRY(
            device_.check(driver.clEnqueueWriteBuffer(queue_.get(), memory, CL_TRUE, 0,
                                                      sizeof factor, &factor, 0, nullptr, nullptr),
                          "clEnqueueWriteBuffer"));
        WYE_TRY(device_.check(driver.clSetKernelArg(kernel.get(), 0, sizeof memory, &memory),
                              "clSetKernelArg"));
        WYE_TRY(device_.check(driver.clSetKernelArg(kernel.get(), 1, sizeof rounds, &rounds),
                              "clSetKernelArg"));
        cl_ulong least = UINT64_MAX;
        for (unsigned k = 0; k < 3; ++k) {
            EventHandle done;
            WYE_TRY(device_.check(
                driver.clEnqueueNDRangeKernel(queue_.get(), kernel.get(), 1, nullptr, &invocations_,
                                              &invocations_, 0, nullptr, done.receive(driver)),
                "clEnqueueNDRangeKernel"));
            WYE_TRY(device_.check(device_.context().finish(queue_.get()), "clFinish"));
            cl_ulong times[2] = {};
            for (const cl_uint end : {0U, 1U})
                WYE_TRY(device_.check(
                    driver.clGetEventProfilingInfo(
                        done.get(),
                        end != 0 ? CL_PROFILING_COMMAND_END : CL_PROFILING_COMMAND_START,
                        sizeof times[end], &times[end], nullptr),
                    "clGetEventProfilingInfo"));
            least = std::min(least, times[1] - std::min(times[0], times[1]));
        }
        return static_cast<double>(least);
    }

  private:
    explicit Products(Device& device)
        : device_(device), invocations_(std::min(device.info.max_invocations, kMostInvocations)) {}

    Device& device_;
    std::size_t invocations_;
    QueueHandle queue_;
    ProgramHandle program_;
};

Result<std::uint64_t> measure(Plugin& plugin, const DeviceInfo& info) {
    WYE_ASSIGN(const auto device, Device::create(plugin, info));
    WYE_ASSIGN(const Products products, Products::create(*device));
    return sdk::f32_to_f64_rate([&](bool wide, std::uint32_t rounds) {
        return wide ? products.time<double>("wide", rounds)
                    : products.time<float>("narrow", rounds);
    });
}

std::string key_of(const DeviceInfo& info) {
    return "driver=" + info.driver_version + " on " + info.platform_name + ", " + info.version +
           ", " + info.name;
}

}  // namespace

std::uint64_t F64Rate::of(const DeviceInfo& info) {
    if (!info.usable() || !info.has_f64() || info.kind == "cpu") return 0;
    std::call_once(once_, [&] { rate_ = find(info); });
    return rate_;
}

std::uint64_t F64Rate::find(const DeviceInfo& info) const {
    const std::string folder = sdk::config(plugin_.host, "cache_folder").value_or("");
    const std::string key = key_of(info);
    if (!folder.empty())
        if (const auto kept = sdk::read_kept(folder, kKind, key))
            if (const auto rate = sdk::parse_number<std::uint64_t>(*kept); rate.value_or(0) != 0)
                return *rate;
    const auto log = [&](const std::string& text) {
        plugin_.host.log(plugin_.host.self, WYE_LOG_INFO, sdk::to_abi(Plugin::kDomain),
                         sdk::to_abi(text));
    };
    const auto found = measure(plugin_, info);
    if (!found.ok()) {
        log("how fast f64 is on " + info.name + " was not measured: " + found.error().text());
        return 0;
    }
    if (*found == 0 || folder.empty()) return *found;
    const auto saved = sdk::keep_text(folder, kKind, key, std::to_string(*found));
    if (!saved.ok()) log(saved.error().text());
    return *found;
}

}  // namespace wye::opencl
