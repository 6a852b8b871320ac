// SPDX-License-Identifier: Apache-2.0
//
// The CUDA plugin against the raw driver API on the same GPU: a tiny resident dispatch with its
// wait, saxpy throughput, and 1 MiB up, dispatch, down. Other ways to wait raw are timed beside the
// first, to see what a wait can cost. Links no CUDA: the driver and NVRTC are opened by name. For
// steady figures of the small ones, pin the process: taskset -c 0.
#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "programs.hpp"
#include "ratio_reporter.hpp"
#include "support.hpp"
#include "wye/graph.hpp"

namespace {

using wye::bench::must;

constexpr std::size_t kTinyWords = 64;
constexpr std::size_t kBatch = 1000, kTurns = 40;
constexpr std::size_t kSaxpyElements = std::size_t{64} << 20U;
constexpr std::size_t kRoundTripWords = std::size_t{1} << 18U;

constexpr const char* kRawSource = R"cu(
extern "C" __global__ void __launch_bounds__(64) advance(unsigned* words, unsigned long long count) {
    const unsigned i = blockIdx.x * 64u + threadIdx.x;
    if (i < count) words[i] = words[i] * 1664525u + 1013904223u;
}
extern "C" __global__ void __launch_bounds__(256) saxpy(
    const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ r, float a,
    unsigned long long count) {
    const unsigned i = blockIdx.x * 256u + threadIdx.x;
    if (i < count) r[i] = a * x[i] + y[i];
}
extern "C" __global__ void __launch_bounds__(256) increment(
    const unsigned* __restrict__ x, unsigned* __restrict__ r, unsigned long long count) {
    const unsigned i = blockIdx.x * 256u + threadIdx.x;
    if (i < count) r[i] = x[i] + 1u;
}
)cu";

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

constexpr std::string_view kIncrement = R"wye(
wye 1;
program increment;
workgroup 256;
input x: u32[];
output r: u32[len(x)];
grid elements len(x);
main {
    let i = global_id.x;
    if i < len(r) { r[i] = x[i] + 1u; }
}
)wye";

// Symbols as every driver since CUDA 11 has them.
#define RAW_CUDA_SYMBOLS(X)                                      \
    X(cuInit, "cuInit")                                          \
    X(cuDeviceGet, "cuDeviceGet")                                \
    X(cuDeviceGetAttribute, "cuDeviceGetAttribute")              \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")      \
    X(cuCtxPushCurrent, "cuCtxPushCurrent_v2")                   \
    X(cuCtxPopCurrent, "cuCtxPopCurrent_v2")                     \
    X(cuStreamCreate, "cuStreamCreate")                          \
    X(cuStreamSynchronize, "cuStreamSynchronize")                \
    X(cuStreamQuery, "cuStreamQuery")                            \
    X(cuStreamWriteValue64, "cuStreamWriteValue64_v2")           \
    X(cuEventCreate, "cuEventCreate")                            \
    X(cuEventRecord, "cuEventRecord")                            \
    X(cuEventSynchronize, "cuEventSynchronize")                  \
    X(cuMemAlloc, "cuMemAlloc_v2")                               \
    X(cuMemFree, "cuMemFree_v2")                                 \
    X(cuMemHostAlloc, "cuMemHostAlloc")                          \
    X(cuMemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2") \
    X(cuMemsetD32Async, "cuMemsetD32Async")                      \
    X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")                 \
    X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")                 \
    X(cuModuleLoadData, "cuModuleLoadData")                      \
    X(cuModuleGetFunction, "cuModuleGetFunction")                \
    X(cuLaunchKernel, "cuLaunchKernel")                          \
    X(cuStreamBeginCapture, "cuStreamBeginCapture_v2")           \
    X(cuStreamEndCapture, "cuStreamEndCapture")                  \
    X(cuGraphInstantiate, "cuGraphInstantiateWithFlags")         \
    X(cuGraphLaunch, "cuGraphLaunch")

#define RAW_NVRTC_SYMBOLS(X)                      \
    X(nvrtcCreateProgram, "nvrtcCreateProgram")   \
    X(nvrtcCompileProgram, "nvrtcCompileProgram") \
    X(nvrtcGetCUBINSize, "nvrtcGetCUBINSize")     \
    X(nvrtcGetCUBIN, "nvrtcGetCUBIN")

void must_cuda(int status, const char* call) {
    if (status == 0) return;
    std::fprintf(stderr, "%s gives %d\n", call, status);
    std::exit(1);
}
#define MUST(call) must_cuda(call, #call)

void* open_any(std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
}

// The raw side: the first GPU, which is cuda:0, and its primary context.
class Raw {
  public:
#define RAW_MEMBER(name, symbol) decltype(&::name) name = nullptr;
    RAW_CUDA_SYMBOLS(RAW_MEMBER)
    RAW_NVRTC_SYMBOLS(RAW_MEMBER)
#undef RAW_MEMBER

    Raw() {
        void* library = open_any({"libcuda.so.1"});
#define RAW_FIND(name, symbol)                                       \
    name = reinterpret_cast<decltype(name)>(dlsym(library, symbol)); \
    must_cuda(name == nullptr ? 1 : 0, "looking up " symbol);
        RAW_CUDA_SYMBOLS(RAW_FIND)
        library =
            open_any({"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"});
        RAW_NVRTC_SYMBOLS(RAW_FIND)
#undef RAW_FIND
        CUdevice device = 0;
        MUST(cuInit(0));
        MUST(cuDeviceGet(&device, 0));
        int major = 0, minor = 0;
        MUST(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
        MUST(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
        MUST(cuDevicePrimaryCtxRetain(&context, device));
        MUST(cuCtxPushCurrent(context));
        MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        nvrtcProgram program = nullptr;
        const std::string architecture =
            "--gpu-architecture=sm_" + std::to_string(major) + std::to_string(minor);
        const char* options[] = {architecture.c_str(), "--fmad=false"};
        MUST(nvrtcCreateProgram(&program, kRawSource, "raw.cu", 0, nullptr, nullptr));
        MUST(nvrtcCompileProgram(program, 2, options));
        std::size_t size = 0;
        MUST(nvrtcGetCUBINSize(program, &size));
        std::vector<char> image(size);
        MUST(nvrtcGetCUBIN(program, image.data()));
        MUST(cuModuleLoadData(&module, image.data()));
        CUcontext popped = nullptr;
        MUST(cuCtxPopCurrent(&popped));
    }
    Raw(const Raw&) = delete;
    Raw& operator=(const Raw&) = delete;

    [[nodiscard]] CUfunction kernel(const char* name) const {
        CUfunction function = nullptr;
        MUST(cuModuleGetFunction(&function, module, name));
        return function;
    }
    [[nodiscard]] CUdeviceptr buffer(std::size_t words) const {
        CUdeviceptr memory = 0;
        MUST(cuMemAlloc(&memory, words * 4));
        MUST(cuMemsetD32Async(memory, 0x3f800000U, words, stream));
        MUST(cuStreamSynchronize(stream));
        return memory;
    }
    void launch(CUfunction function, std::size_t groups, unsigned workgroup, void** arguments) {
        MUST(cuLaunchKernel(function, static_cast<unsigned>(groups), 1, 1, workgroup, 1, 1, 0,
                            stream, arguments, nullptr));
    }

    CUcontext context = nullptr;
    CUstream stream = nullptr;
    CUmodule module = nullptr;
};

Raw& raw() {
    static Raw value;
    return value;
}

// Makes the context current only while the raw side runs, since the plugin must not rely on it.
struct Entered {
    Entered() { MUST(raw().cuCtxPushCurrent(raw().context)); }
    ~Entered() {
        CUcontext popped = nullptr;
        MUST(raw().cuCtxPopCurrent(&popped));
    }
};

struct Wye {
    wye::Context context = must(wye::Context::create());
    wye::Device device = must(context.open("cuda:0"));
    wye::Program step = must(context.program_from_text(kStep, "advance.wye"));
    wye::Program saxpy = must(context.program_from_text(wye::bench::kSaxpy, "saxpy.wye"));
    wye::Program increment = must(context.program_from_text(kIncrement, "increment.wye"));
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
    const Entered entered;
    CUfunction function = raw().kernel("advance");
    CUdeviceptr words = raw().buffer(kTinyWords);
    std::uint64_t count = kTinyWords;
    void* arguments[] = {&words, &count};
    for (auto _ : state) {
        for (std::size_t i = 0; i < kBatch; ++i) raw().launch(function, 1, 64, arguments);
        MUST(raw().cuStreamSynchronize(raw().stream));
    }
    MUST(raw().cuMemFree(words));
}

// The same launches, captured as a graph.
void batch_graph_raw(benchmark::State& state) {
    const Entered entered;
    CUfunction function = raw().kernel("advance");
    CUdeviceptr words = raw().buffer(kTinyWords);
    std::uint64_t count = kTinyWords;
    void* arguments[] = {&words, &count};
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    MUST(raw().cuStreamBeginCapture(raw().stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (std::size_t i = 0; i < kBatch; ++i) raw().launch(function, 1, 64, arguments);
    MUST(raw().cuStreamEndCapture(raw().stream, &graph));
    MUST(raw().cuGraphInstantiate(&exec, graph, 0));
    for (auto _ : state) {
        MUST(raw().cuGraphLaunch(exec, raw().stream));
        MUST(raw().cuStreamSynchronize(raw().stream));
    }
    MUST(raw().cuMemFree(words));
}

void turns_raw(benchmark::State& state) {
    const Entered entered;
    CUfunction function = raw().kernel("advance");
    std::vector<CUdeviceptr> words;
    for (std::size_t i = 0; i < kTurns; ++i) words.push_back(raw().buffer(kTinyWords));
    std::uint64_t count = kTinyWords;
    for (auto _ : state)
        for (CUdeviceptr& memory : words) {
            void* arguments[] = {&memory, &count};
            raw().launch(function, 1, 64, arguments);
            MUST(raw().cuStreamSynchronize(raw().stream));
        }
    for (const CUdeviceptr memory : words) MUST(raw().cuMemFree(memory));
}

// Times one launch followed by `wait`.
template <typename Wait>
void tiny_with(benchmark::State& state, Wait&& wait) {
    CUfunction function = raw().kernel("advance");
    CUdeviceptr words = raw().buffer(kTinyWords);
    std::uint64_t count = kTinyWords;
    void* arguments[] = {&words, &count};
    const auto run = [&] {
        raw().launch(function, 1, 64, arguments);
        wait();
    };
    run();
    for (auto _ : state) run();
    MUST(raw().cuMemFree(words));
}

void tiny_raw(benchmark::State& state) {
    const Entered entered;
    tiny_with(state, [] { MUST(raw().cuStreamSynchronize(raw().stream)); });
}

void tiny_query(benchmark::State& state) {
    const Entered entered;
    tiny_with(state, [] {
        for (CUresult status = CUDA_ERROR_NOT_READY; status == CUDA_ERROR_NOT_READY;)
            status = raw().cuStreamQuery(raw().stream);
    });
}

void tiny_event(benchmark::State& state) {
    const Entered entered;
    static CUevent event = nullptr;
    if (event == nullptr) MUST(raw().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    tiny_with(state, [] {
        MUST(raw().cuEventRecord(event, raw().stream));
        MUST(raw().cuEventSynchronize(event));
    });
}

void tiny_write_value(benchmark::State& state) {
    const Entered entered;
    static volatile std::uint64_t* word = nullptr;
    static CUdeviceptr address = 0;
    static std::uint64_t next = 0;
    if (word == nullptr) {
        void* memory = nullptr;
        MUST(raw().cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP));
        MUST(raw().cuMemHostGetDevicePointer(&address, memory, 0));
        word = static_cast<volatile std::uint64_t*>(memory);
        *word = 0;
    }
    tiny_with(state, [] {
        MUST(raw().cuStreamWriteValue64(raw().stream, address, ++next, 0));
        while (*word != next) {
        }
    });
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
    const Entered entered;
    CUfunction function = raw().kernel("saxpy");
    CUdeviceptr x = raw().buffer(kSaxpyElements);
    CUdeviceptr y = raw().buffer(kSaxpyElements);
    CUdeviceptr r = raw().buffer(kSaxpyElements);
    float a = 3.0F;
    std::uint64_t count = kSaxpyElements;
    void* arguments[] = {&x, &y, &r, &a, &count};
    const auto run = [&] {
        raw().launch(function, kSaxpyElements / 256, 256, arguments);
        MUST(raw().cuStreamSynchronize(raw().stream));
    };
    run();
    for (auto _ : state) run();
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kSaxpyElements) * 12);
    for (const CUdeviceptr memory : {x, y, r}) MUST(raw().cuMemFree(memory));
}

std::vector<std::uint32_t> numbers() {
    std::vector<std::uint32_t> out(kRoundTripWords);
    std::iota(out.begin(), out.end(), 0U);
    return out;
}

void round_trip_wye(benchmark::State& state) {
    const std::vector<std::uint32_t> x = numbers();
    std::vector<std::uint32_t> r(kRoundTripWords);
    wye::Dispatch dispatch(shared().increment, shared().device);
    dispatch.input("x", x).output("r", r);
    (void)must(dispatch.run());
    for (auto _ : state) (void)must(dispatch.run());
    if (r.back() != kRoundTripWords) state.SkipWithError("wrong result");
}

void round_trip_raw(benchmark::State& state) {
    const Entered entered;
    const std::vector<std::uint32_t> x = numbers();
    std::vector<std::uint32_t> r(kRoundTripWords);
    CUfunction function = raw().kernel("increment");
    CUdeviceptr from = raw().buffer(kRoundTripWords);
    CUdeviceptr to = raw().buffer(kRoundTripWords);
    std::uint64_t count = kRoundTripWords;
    void* arguments[] = {&from, &to, &count};
    const auto run = [&] {
        MUST(raw().cuMemcpyHtoDAsync(from, x.data(), kRoundTripWords * 4, raw().stream));
        raw().launch(function, kRoundTripWords / 256, 256, arguments);
        MUST(raw().cuMemcpyDtoHAsync(r.data(), to, kRoundTripWords * 4, raw().stream));
        MUST(raw().cuStreamSynchronize(raw().stream));
    };
    run();
    for (auto _ : state) run();
    if (r.back() != kRoundTripWords) state.SkipWithError("wrong result");
    for (const CUdeviceptr memory : {from, to}) MUST(raw().cuMemFree(memory));
}

}  // namespace

BENCHMARK(tiny_wye)->Name("cuda_tiny_dispatch/wye")->UseRealTime();
BENCHMARK(tiny_raw)->Name("cuda_tiny_dispatch/raw")->UseRealTime();
BENCHMARK(turns_wye)->Name("cuda_40_in_turn/wye")->UseRealTime();
BENCHMARK(turns_raw)->Name("cuda_40_in_turn/raw")->UseRealTime();
BENCHMARK(batch_wye)->Name("cuda_1000_as_graph/wye")->UseRealTime();
BENCHMARK(batch_graph_raw)->Name("cuda_1000_as_graph/raw")->UseRealTime();
BENCHMARK(separate_wye)->Name("cuda_1000_launches/wye")->UseRealTime();
BENCHMARK(batch_raw)->Name("cuda_1000_launches/raw")->UseRealTime();
BENCHMARK(tiny_query)->Name("cuda_tiny_raw_stream_query")->UseRealTime();
BENCHMARK(tiny_event)->Name("cuda_tiny_raw_event")->UseRealTime();
BENCHMARK(tiny_write_value)->Name("cuda_tiny_raw_write_value")->UseRealTime();
BENCHMARK(saxpy_wye)->Name("cuda_saxpy_64Mi/wye")->UseRealTime();
BENCHMARK(saxpy_raw)->Name("cuda_saxpy_64Mi/raw")->UseRealTime();
BENCHMARK(round_trip_wye)->Name("cuda_round_trip_1MiB/wye")->UseRealTime();
BENCHMARK(round_trip_raw)->Name("cuda_round_trip_1MiB/raw")->UseRealTime();

int main(int argc, char** argv) {
    return wye::bench::run_benchmarks(argc, argv,
                                      {{"cuda_tiny_dispatch", 0.75, 0},
                                       {"cuda_40_in_turn", 0.85, 0},
                                       {"cuda_1000_as_graph", 1.05, 1'000'000},
                                       {"cuda_1000_launches", 1.05, 0},
                                       {"cuda_saxpy_64Mi", 1.05, 0},
                                       {"cuda_round_trip_1MiB", 1.05, 0}});
}
