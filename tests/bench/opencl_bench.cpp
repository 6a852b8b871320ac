// SPDX-License-Identifier: Apache-2.0
//
// The OpenCL plugin against raw OpenCL on the same device: a tiny resident dispatch with its wait,
// and saxpy throughput. For steady figures of the first, pin the process: taskset -c 0.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "programs.hpp"
#include "ratio_reporter.hpp"
#include "support.hpp"
#include "wye/graph.hpp"

namespace {

using wye::bench::must;

constexpr std::size_t kTinyWords = 64;
constexpr std::size_t kBatch = 1000, kTurns = 40;
constexpr std::size_t kSaxpyElements = std::size_t{16} << 20U;

constexpr const char* kRawSource = R"cl(
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void advance(__global uint* restrict words, ulong count) {
    const uint i = get_global_id(0);
    if (i < count) words[i] = words[i] * 1664525u + 1013904223u;
}
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void saxpy(__global const float* restrict x, __global const float* restrict y,
           __global float* restrict r, float a, ulong count) {
    const uint i = get_global_id(0);
    if (i < count) r[i] = a * x[i] + y[i];
}
)cl";

constexpr std::string_view kStep = R"wye(
wye 1;
program advance;
workgroup 64;
input_output words: u32[];
grid elements len(words);
main {
    let i = global_id.x;
    if i < len(words) { words[i] = words[i] * 1664525u + 1013904223u; }
}
)wye";

void must_cl(cl_int status, const char* call) {
    if (status == CL_SUCCESS) return;
    std::fprintf(stderr, "%s: OpenCL error %d\n", call, status);
    std::exit(1);
}

// One raw context on the first device of the first platform, which is opencl:0.
class Raw {
  public:
    Raw() {
        cl_platform_id platform = nullptr;
        must_cl(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
        must_cl(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr),
                "clGetDeviceIDs");
        cl_int status = CL_SUCCESS;
        context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
        must_cl(status, "clCreateContext");
        queue = clCreateCommandQueue(context_, device_, 0, &status);
        must_cl(status, "clCreateCommandQueue");
        program_ = clCreateProgramWithSource(context_, 1, const_cast<const char**>(&kRawSource),
                                             nullptr, &status);
        must_cl(status, "clCreateProgramWithSource");
        must_cl(clBuildProgram(program_, 1, &device_, "", nullptr, nullptr), "clBuildProgram");
    }
    Raw(const Raw&) = delete;
    Raw& operator=(const Raw&) = delete;

    [[nodiscard]] cl_kernel kernel(const char* name) const {
        cl_int status = CL_SUCCESS;
        cl_kernel kernel = clCreateKernel(program_, name, &status);
        must_cl(status, "clCreateKernel");
        return kernel;
    }
    [[nodiscard]] cl_mem buffer(std::size_t bytes) const {
        cl_int status = CL_SUCCESS;
        cl_mem memory = clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &status);
        must_cl(status, "clCreateBuffer");
        const cl_uint word = 0x3f800000U;
        must_cl(
            clEnqueueFillBuffer(queue, memory, &word, sizeof word, 0, bytes, 0, nullptr, nullptr),
            "clEnqueueFillBuffer");
        must_cl(clFinish(queue), "clFinish");
        return memory;
    }

    cl_command_queue queue = nullptr;

  private:
    cl_device_id device_ = nullptr;
    cl_context context_ = nullptr;
    cl_program program_ = nullptr;
};

Raw& raw() {
    static Raw value;
    return value;
}

struct Wye {
    wye::Context context = must(wye::Context::create());
    wye::Device device = must(context.open("opencl:0"));
    wye::Program step = must(context.program_from_text(kStep, "advance.wye"));
    wye::Program saxpy = must(context.program_from_text(wye::bench::kSaxpy, "saxpy.wye"));
};

Wye& shared() {
    static Wye value;
    return value;
}

void tiny_wye(benchmark::State& state) {
    wye::Buffer words = must(shared().device.buffer(kTinyWords * 4));
    must(words.fill(1, 0, kTinyWords * 4));
    wye::Dispatch dispatch(shared().step, shared().device);
    dispatch.bind("words", words);
    (void)must(dispatch.run());  // compiled before the clock starts
    for (auto _ : state) (void)must(dispatch.run());
}

void tiny_raw(benchmark::State& state) {
    cl_kernel kernel = raw().kernel("advance");
    cl_mem words = raw().buffer(kTinyWords * 4);
    const cl_ulong count = kTinyWords;
    const std::size_t global = kTinyWords;
    const std::size_t local = 64;
    const auto launch = [&] {
        must_cl(clSetKernelArg(kernel, 0, sizeof words, &words), "clSetKernelArg");
        must_cl(clSetKernelArg(kernel, 1, sizeof count, &count), "clSetKernelArg");
        must_cl(clEnqueueNDRangeKernel(raw().queue, kernel, 1, nullptr, &global, &local, 0, nullptr,
                                       nullptr),
                "clEnqueueNDRangeKernel");
        must_cl(clFinish(raw().queue), "clFinish");
    };
    launch();
    for (auto _ : state) launch();
    clReleaseMemObject(words);
    clReleaseKernel(kernel);
}

// One graph of kBatch dependent dispatches, or kTurns graphs of one, run one after the other.
void batch_wye(benchmark::State& state) {
    wye::Buffer words = must(shared().device.buffer(kTinyWords * 4));
    must(words.fill(1, 0, kTinyWords * 4));
    wye::Dispatch dispatch(shared().step, shared().device);
    dispatch.bind("words", words);
    const std::vector<wye::Dispatch*> all(kBatch, &dispatch);
    const wye::Graph graph = must(wye::Graph::record(shared().device, all));
    (void)must(graph.run());
    for (auto _ : state) (void)must(graph.run());
}

void separate_wye(benchmark::State& state) {
    wye::Buffer words = must(shared().device.buffer(kTinyWords * 4));
    must(words.fill(1, 0, kTinyWords * 4));
    wye::Dispatch dispatch(shared().step, shared().device);
    dispatch.bind("words", words);
    (void)must(dispatch.run());
    std::vector<wye::Pending> pending;
    for (auto _ : state) {
        pending.clear();
        for (std::size_t i = 0; i < kBatch; ++i) pending.push_back(must(dispatch.submit()));
        (void)must(pending.back().wait());
    }
}

void turns_wye(benchmark::State& state) {
    std::vector<wye::Buffer> words;
    std::vector<wye::Graph> graphs;
    for (std::size_t i = 0; i < kTurns; ++i) {
        words.push_back(must(shared().device.buffer(kTinyWords * 4)));
        must(words.back().fill(1, 0, kTinyWords * 4));
        wye::Dispatch dispatch(shared().step, shared().device);
        dispatch.bind("words", words.back());
        graphs.push_back(must(wye::Graph::record(shared().device, {&dispatch})));
        (void)must(graphs.back().run());
    }
    for (auto _ : state)
        for (const wye::Graph& graph : graphs) (void)must(graph.run());
}

void batch_raw(benchmark::State& state) {
    cl_kernel kernel = raw().kernel("advance");
    cl_mem words = raw().buffer(kTinyWords * 4);
    const cl_ulong count = kTinyWords;
    const std::size_t global = kTinyWords;
    const std::size_t local = 64;
    must_cl(clSetKernelArg(kernel, 0, sizeof words, &words), "clSetKernelArg");
    must_cl(clSetKernelArg(kernel, 1, sizeof count, &count), "clSetKernelArg");
    for (auto _ : state) {
        for (std::size_t i = 0; i < kBatch; ++i)
            must_cl(clEnqueueNDRangeKernel(raw().queue, kernel, 1, nullptr, &global, &local, 0,
                                           nullptr, nullptr),
                    "clEnqueueNDRangeKernel");
        must_cl(clFinish(raw().queue), "clFinish");
    }
    clReleaseMemObject(words);
    clReleaseKernel(kernel);
}

void turns_raw(benchmark::State& state) {
    cl_kernel kernel = raw().kernel("advance");
    std::vector<cl_mem> words;
    for (std::size_t i = 0; i < kTurns; ++i) words.push_back(raw().buffer(kTinyWords * 4));
    const cl_ulong count = kTinyWords;
    const std::size_t global = kTinyWords;
    const std::size_t local = 64;
    must_cl(clSetKernelArg(kernel, 1, sizeof count, &count), "clSetKernelArg");
    for (auto _ : state)
        for (cl_mem memory : words) {
            must_cl(clSetKernelArg(kernel, 0, sizeof memory, &memory), "clSetKernelArg");
            must_cl(clEnqueueNDRangeKernel(raw().queue, kernel, 1, nullptr, &global, &local, 0,
                                           nullptr, nullptr),
                    "clEnqueueNDRangeKernel");
            must_cl(clFinish(raw().queue), "clFinish");
        }
    for (cl_mem memory : words) clReleaseMemObject(memory);
    clReleaseKernel(kernel);
}

void saxpy_wye(benchmark::State& state) {
    auto& device = shared().device;
    wye::Buffer x = must(device.buffer(kSaxpyElements * 4));
    wye::Buffer y = must(device.buffer(kSaxpyElements * 4));
    wye::Buffer r = must(device.buffer(kSaxpyElements * 4));
    must(x.fill(0x3f800000U, 0, kSaxpyElements * 4));
    must(y.fill(0x3f800000U, 0, kSaxpyElements * 4));
    wye::Dispatch dispatch(shared().saxpy, device);
    dispatch.param("a", 3.0F).bind("x", x).bind("y", y).bind("r", r);
    (void)must(dispatch.run());
    for (auto _ : state) (void)must(dispatch.run());
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kSaxpyElements) * 12);
}

void saxpy_raw(benchmark::State& state) {
    cl_kernel kernel = raw().kernel("saxpy");
    cl_mem x = raw().buffer(kSaxpyElements * 4);
    cl_mem y = raw().buffer(kSaxpyElements * 4);
    cl_mem r = raw().buffer(kSaxpyElements * 4);
    const float a = 3.0F;
    const cl_ulong count = kSaxpyElements;
    const std::size_t local = 256;
    must_cl(clSetKernelArg(kernel, 0, sizeof x, &x), "clSetKernelArg");
    must_cl(clSetKernelArg(kernel, 1, sizeof y, &y), "clSetKernelArg");
    must_cl(clSetKernelArg(kernel, 2, sizeof r, &r), "clSetKernelArg");
    must_cl(clSetKernelArg(kernel, 3, sizeof a, &a), "clSetKernelArg");
    must_cl(clSetKernelArg(kernel, 4, sizeof count, &count), "clSetKernelArg");
    const auto launch = [&] {
        must_cl(clEnqueueNDRangeKernel(raw().queue, kernel, 1, nullptr, &kSaxpyElements, &local, 0,
                                       nullptr, nullptr),
                "clEnqueueNDRangeKernel");
        must_cl(clFinish(raw().queue), "clFinish");
    };
    launch();
    for (auto _ : state) launch();
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kSaxpyElements) * 12);
    for (cl_mem memory : {x, y, r}) clReleaseMemObject(memory);
    clReleaseKernel(kernel);
}

}  // namespace

BENCHMARK(tiny_wye)->Name("opencl_tiny_dispatch/wye")->UseRealTime();
BENCHMARK(tiny_raw)->Name("opencl_tiny_dispatch/raw")->UseRealTime();
BENCHMARK(turns_wye)->Name("opencl_40_in_turn/wye")->UseRealTime();
BENCHMARK(turns_raw)->Name("opencl_40_in_turn/raw")->UseRealTime();
BENCHMARK(batch_wye)->Name("opencl_1000_as_graph/wye")->UseRealTime();
BENCHMARK(batch_raw)->Name("opencl_1000_as_graph/raw")->UseRealTime();
BENCHMARK(separate_wye)->Name("opencl_1000_launches/wye")->UseRealTime();
BENCHMARK(batch_raw)->Name("opencl_1000_launches/raw")->UseRealTime();
BENCHMARK(saxpy_wye)->Name("opencl_saxpy_16Mi/wye")->UseRealTime();
BENCHMARK(saxpy_raw)->Name("opencl_saxpy_16Mi/raw")->UseRealTime();

int main(int argc, char** argv) {
    return wye::bench::run_benchmarks(argc, argv,
                                      {{"opencl_tiny_dispatch", 1.05, 0},
                                       {"opencl_40_in_turn", 1.10, 0},
                                       {"opencl_1000_as_graph", 1.05, 0},
                                       {"opencl_1000_launches", 1.05, 0},
                                       {"opencl_saxpy_16Mi", 1.05, 0}});
}
