// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda.hpp"

#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

struct CUstream_st {
    struct Work {
        std::function<bool()> ready;
        std::function<void()> run;
    };
    std::deque<Work> work;
};
struct CUevent_st {
    // Shared with the work that records it, which the event may be destroyed before.
    struct State {
        std::uint64_t recorded = 0, happened = 0;
        std::uint64_t place = 0;  // among all that happened
    };
    std::shared_ptr<State> state = std::make_shared<State>();
};
struct CUmod_st {
    std::string image;
    std::set<std::string> names;
};
struct CUfunc_st {
    std::string name;
    int dynamic_shared = 0;
};
struct CUctx_st {
    int device = 0;
    int retained = 0;
};
struct CUmemPoolHandle_st {
    int device = 0;
};
struct CUgraphNode_st {
    std::function<void()> work;
    CUfunction function = nullptr;  // of a kernel
};
struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};
struct CUgraphExec_st {
    struct Node {
        CUgraphNode of;
        CUfunction function;
        std::function<void()> work;
    };
    std::vector<Node> nodes;
};

namespace {

struct Machine {
    std::recursive_mutex mutex;
    int devices = 1, architecture = 90, version = 13000, init = CUDA_SUCCESS, pools = 1, mode = 0;
    std::uint64_t memory = std::uint64_t{1} << 30U, used = 0;
    bool held = false, keeps_faults = false;
    int sticky = CUDA_SUCCESS, next_fault = CUDA_SUCCESS, next_launch = CUDA_SUCCESS,
        next_copy = CUDA_SUCCESS;
    int image_status = CUDA_SUCCESS;
    int recorded = 0;
    fake_cuda::Kernel kernel = nullptr;
    std::map<CUdeviceptr, std::uint64_t> allocations;
    std::set<CUstream> streams;
    std::uint64_t happened = 0;  // events
    std::set<CUevent> events;
    std::set<CUmodule> modules;
    std::set<CUmemoryPool> pool_objects;
    std::set<CUgraph> graphs;
    std::set<CUgraphExec> graph_execs;
    std::set<void*> host_memory;
    std::vector<std::unique_ptr<CUfunc_st>> functions;
    CUctx_st contexts[8];
};

Machine& machine() {
    static Machine value;
    return value;
}

thread_local std::vector<CUcontext> contexts;  // of this thread, current one last

using Lock = std::lock_guard<std::recursive_mutex>;

// Runs all work that is ready, in every stream, until none is left.
void advance() {
    Machine& m = machine();
    bool moved = !m.held;
    while (moved) {
        moved = false;
        for (CUstream stream : m.streams)
            while (!stream->work.empty() && m.sticky == CUDA_SUCCESS &&
                   stream->work.front().ready()) {
                if (m.next_fault != CUDA_SUCCESS) {
                    m.sticky = m.next_fault;
                    m.next_fault = CUDA_SUCCESS;
                    break;
                }
                stream->work.front().run();
                stream->work.pop_front();
                moved = true;
            }
    }
}

// The status that every call on the context checks first.
CUresult entered() {
    if (contexts.empty() || contexts.back() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return static_cast<CUresult>(machine().sticky);
}

CUresult queue_work(
    CUstream stream, std::function<void()> run, std::function<bool()> ready = [] { return true; }) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    if (machine().streams.count(stream) == 0) return CUDA_ERROR_INVALID_HANDLE;
    stream->work.push_back({std::move(ready), std::move(run)});
    advance();
    return CUDA_SUCCESS;
}

void* host(CUdeviceptr at) { return reinterpret_cast<void*>(at); }

CUresult allocate(CUdeviceptr* out, std::size_t size) {
    Machine& m = machine();
    const Lock lock(m.mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    if (size == 0) return CUDA_ERROR_INVALID_VALUE;
    if (m.used + size > m.memory) return CUDA_ERROR_OUT_OF_MEMORY;
    void* memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
    std::memset(memory, 0xa5, size);
    *out = reinterpret_cast<CUdeviceptr>(memory);
    m.allocations[*out] = size;
    m.used += size;
    return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr at) {
    Machine& m = machine();
    const Lock lock(m.mutex);
    const auto found = m.allocations.find(at);
    if (found == m.allocations.end()) return CUDA_ERROR_INVALID_VALUE;
    m.used -= found->second;
    std::free(host(at));
    m.allocations.erase(found);
    return CUDA_SUCCESS;
}

template <typename T>
CUresult fill(CUdeviceptr at, T value, std::size_t count, CUstream stream) {
    return queue_work(stream, [=] {
        for (std::size_t i = 0; i < count; ++i)
            std::memcpy(static_cast<char*>(host(at)) + i * sizeof value, &value, sizeof value);
    });
}

void clear_objects() {
    Machine& m = machine();
    while (!m.allocations.empty()) (void)release(m.allocations.begin()->first);
    for (CUstream stream : m.streams) delete stream;
    for (CUevent event : m.events) delete event;
    for (CUmodule module : m.modules) delete module;
    for (CUmemoryPool pool : m.pool_objects) delete pool;
    for (CUgraph graph : m.graphs) delete graph;
    for (CUgraphExec exec : m.graph_execs) delete exec;
    for (void* memory : m.host_memory) std::free(memory);
    m.streams.clear();
    m.events.clear();
    m.modules.clear();
    m.pool_objects.clear();
    m.graphs.clear();
    m.graph_execs.clear();
    m.host_memory.clear();
}

// r[i] = x[i] + by for i below the count.
void add(const fake_cuda::Launch& launch) {
    std::uint64_t x = 0, r = 0, count = 0;
    std::uint32_t by = 0;
    std::memcpy(&x, launch.arguments[0], 8);
    std::memcpy(&r, launch.arguments[1], 8);
    std::memcpy(&count, launch.arguments[2], 8);
    std::memcpy(&by, launch.arguments[3], 4);
    const std::uint64_t invocations = std::uint64_t{launch.groups[0]} * launch.workgroup[0];
    for (std::uint64_t i = 0; i < invocations && i < count; ++i) {
        std::uint32_t value = 0;
        std::memcpy(&value, reinterpret_cast<const char*>(x) + 4 * i, 4);
        value += by;
        std::memcpy(reinterpret_cast<char*>(r) + 4 * i, &value, 4);
    }
}

// The status that `fail_next_launch` asked for.
CUresult launch_status() {
    const int status = std::exchange(machine().next_launch, int{CUDA_SUCCESS});
    if (status == CUDA_ERROR_ILLEGAL_ADDRESS) machine().sticky = status;
    return static_cast<CUresult>(status);
}

// What a launch does. The real driver copies the arguments, with the sizes in the kernel's code.
// Here they are four words, the pointers and counts that the tests' kernels begin with.
CUresult kernel_work(CUfunction function, std::array<unsigned, 3> groups,
                     std::array<unsigned, 3> workgroup, unsigned shared, void** arguments,
                     std::function<void()>& out) {
    if (shared > 49152 && static_cast<int>(shared) > function->dynamic_shared)
        return CUDA_ERROR_INVALID_VALUE;
    if (groups[0] * groups[1] * groups[2] == 0) return CUDA_ERROR_INVALID_VALUE;
    const auto kernel = machine().kernel != nullptr ? machine().kernel
                        : function->name == "add"   ? add
                                                    : nullptr;
    out = [] {};
    if (kernel == nullptr) return CUDA_SUCCESS;
    struct Copy {
        std::uint64_t words[4] = {};
        void* pointers[4] = {};
    };
    auto copy = std::make_shared<Copy>();
    for (unsigned i = 0; i < 4; ++i) {
        copy->pointers[i] = &copy->words[i];
        std::memcpy(&copy->words[i], arguments[i], i == 3 ? 4 : 8);
    }
    out = [=] {
        kernel({function->name.c_str(),
                {groups[0], groups[1], groups[2]},
                {workgroup[0], workgroup[1], workgroup[2]},
                shared,
                copy->pointers});
    };
    return CUDA_SUCCESS;
}

CUresult node_work(const CUDA_KERNEL_NODE_PARAMS& params, std::function<void()>& out) {
    return kernel_work(params.func, {params.gridDimX, params.gridDimY, params.gridDimZ},
                       {params.blockDimX, params.blockDimY, params.blockDimZ},
                       params.sharedMemBytes, params.kernelParams, out);
}

// The nodes of a graph run in the order of their making; a dependency is an earlier node.
CUresult add_node(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, std::size_t count,
                  std::function<void()> work, CUfunction function) {
    const Lock lock(machine().mutex);
    if (machine().graphs.count(graph) == 0) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i)
        if (std::none_of(graph->nodes.begin(), graph->nodes.end(),
                         [&](const auto& node) { return node.get() == after[i]; }))
            return CUDA_ERROR_INVALID_VALUE;
    graph->nodes.push_back(std::make_unique<CUgraphNode_st>());
    *out = graph->nodes.back().get();
    (*out)->work = std::move(work);
    (*out)->function = function;
    return CUDA_SUCCESS;
}

void reset(int devices, int architecture) {
    Machine& m = machine();
    const Lock lock(m.mutex);
    clear_objects();
    m.devices = devices;
    m.architecture = architecture;
    m.version = 13000;
    m.keeps_faults = false;
    m.init = m.sticky = m.next_fault = m.next_launch = m.next_copy = m.image_status = CUDA_SUCCESS;
    m.pools = 1;
    m.mode = 0;
    m.memory = std::uint64_t{1} << 30U;
    m.held = false;
    m.kernel = nullptr;
    m.recorded = 0;
    for (CUctx_st& context : m.contexts) context.retained = 0;
}

constexpr fake_cuda::Control kControl = {
    reset,
    [](int version) { machine().version = version; },
    [](int status) { machine().init = status; },
    [](std::uint64_t bytes) { machine().memory = bytes; },
    [](int supported) { machine().pools = supported; },
    [](int mode) { machine().mode = mode; },
    [](fake_cuda::Kernel kernel) { machine().kernel = kernel; },
    [](int held) {
        const Lock lock(machine().mutex);
        machine().held = held != 0;
        advance();
    },
    [](int status) { machine().next_launch = status; },
    [](int status) { machine().next_copy = status; },
    [](int status) { machine().next_fault = status; },
    [](int kept) { machine().keeps_faults = kept != 0; },
    [](int status) { machine().image_status = status; },
    [] { return machine().used; },
    [] {
        const Machine& m = machine();
        std::size_t out = m.streams.size() + m.events.size() + m.modules.size() +
                          m.pool_objects.size() + m.host_memory.size() + m.graphs.size() +
                          m.graph_execs.size();
        for (const CUctx_st& context : m.contexts)
            out += static_cast<std::size_t>(context.retained);
        return static_cast<int>(out);
    },
    [] {
        const Lock lock(machine().mutex);
        return machine().recorded;
    },
};

}  // namespace

extern "C" const fake_cuda::Control* fake_cuda_control() { return &kControl; }

// ---- The driver's functions, as cuda.h declares them --------------------------------------------

CUresult CUDAAPI cuInit(unsigned) { return static_cast<CUresult>(machine().init); }
CUresult CUDAAPI cuDriverGetVersion(int* out) {
    *out = machine().version;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuGetErrorName(CUresult status, const char** out) {
    static const std::map<int, const char*> kNames = {
        {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
        {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
        {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    };
    const auto found = kNames.find(status);
    if (found == kNames.end()) return CUDA_ERROR_INVALID_VALUE;
    *out = found->second;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuGetErrorString(CUresult, const char** out) {
    *out = "as the test wanted";
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetCount(int* out) {
    *out = machine().devices;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGet(CUdevice* out, int ordinal) {
    if (ordinal >= machine().devices) return CUDA_ERROR_INVALID_DEVICE;
    *out = ordinal;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetName(char* name, int size, CUdevice device) {
    const std::string text = "Fake GPU " + std::to_string(device);
    std::strncpy(name, text.c_str(), static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid* out, CUdevice device) {
    for (int i = 0; i < 16; ++i) out->bytes[i] = static_cast<char>(i * 16 + device);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceTotalMem_v2(std::size_t* out, CUdevice) {
    *out = machine().memory;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetAttribute(int* out, CUdevice_attribute what, CUdevice device) {
    switch (what) {
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
            *out = machine().architecture / 10;
            break;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
            *out = machine().architecture % 10;
            break;
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            *out = 1024;
            break;
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
            *out = 64;
            break;
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
            *out = 0x7fffffff;
            break;
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
            *out = 65535;
            break;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
            *out = 232448;
            break;
        case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
            *out = 32;
            break;
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
            *out = 132;
            break;
        case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
            *out = 1980000;
            break;
        case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
            *out = 0x18 + device;
            break;
        case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
            *out = machine().pools;
            break;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
            *out = machine().mode;
            break;
        case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
        case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
            *out = 0;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
    const Lock lock(machine().mutex);
    *out = &machine().contexts[device];
    (*out)->device = device;
    ++(*out)->retained;
    return static_cast<CUresult>(machine().sticky);
}
CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    const Lock lock(machine().mutex);
    --machine().contexts[device].retained;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDevicePrimaryCtxReset_v2(CUdevice) {
    const Lock lock(machine().mutex);
    clear_objects();
    if (!machine().keeps_faults) machine().sticky = CUDA_SUCCESS;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxGetCurrent(CUcontext* out) {
    *out = contexts.empty() ? nullptr : contexts.back();
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext context) {
    contexts.push_back(context);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext* out) {
    if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    *out = contexts.back();
    contexts.pop_back();
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    *free = machine().memory - machine().used;
    *total = machine().memory;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr* out, std::size_t size) { return allocate(out, size); }
CUresult CUDAAPI cuMemFree_v2(CUdeviceptr at) { return release(at); }
CUresult CUDAAPI cuMemAllocHost_v2(void** out, std::size_t size) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    constexpr std::size_t kPage = 4096;  // as the real driver aligns it
    *out = std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage);
    machine().host_memory.insert(*out);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemFreeHost(void* memory) {
    const Lock lock(machine().mutex);
    if (machine().host_memory.erase(memory) == 0) return CUDA_ERROR_INVALID_VALUE;
    std::free(memory);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* props) {
    if (machine().pools == 0) return CUDA_ERROR_NOT_SUPPORTED;
    const Lock lock(machine().mutex);
    *out = *machine().pool_objects.insert(new CUmemPoolHandle_st{props->location.id}).first;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool pool) {
    const Lock lock(machine().mutex);
    if (machine().pool_objects.erase(pool) == 0) return CUDA_ERROR_INVALID_HANDLE;
    delete pool;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void*) {
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool, std::size_t) { return CUDA_SUCCESS; }
CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr* out, std::size_t size, CUmemoryPool,
                                         CUstream) {
    return allocate(out, size);
}
CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr at, CUstream) { return release(at); }

CUresult CUDAAPI cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t size,
                                      CUstream stream) {
    return queue_work(stream, [=] { std::memcpy(host(to), from, size); });
}
CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t size,
                                      CUstream stream) {
    return queue_work(stream, [=] { std::memcpy(to, host(from), size); });
}
CUresult CUDAAPI cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t size,
                                      CUstream stream) {
    if (const int status = machine().next_copy; status != CUDA_SUCCESS) {
        machine().next_copy = CUDA_SUCCESS;
        return static_cast<CUresult>(status);
    }
    return queue_work(stream, [=] { std::memcpy(host(to), host(from), size); });
}
// The fake's device memory is host memory.
CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t size,
                               CUstream stream) {
    return queue_work(stream, [=] { std::memcpy(host(to), host(from), size); });
}
CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr at, unsigned char value, std::size_t count,
                                 CUstream stream) {
    return fill(at, value, count, stream);
}
CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr at, unsigned short value, std::size_t count,
                                  CUstream stream) {
    return fill(at, value, count, stream);
}
CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr at, unsigned value, std::size_t count,
                                  CUstream stream) {
    return fill(at, value, count, stream);
}

CUresult CUDAAPI cuStreamCreate(CUstream* out, unsigned) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    *out = *machine().streams.insert(new CUstream_st).first;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuStreamDestroy_v2(CUstream stream) {
    const Lock lock(machine().mutex);
    if (machine().streams.erase(stream) == 0) return CUDA_ERROR_INVALID_HANDLE;
    delete stream;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuStreamQuery(CUstream stream) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    advance();
    if (machine().sticky != CUDA_SUCCESS) return static_cast<CUresult>(machine().sticky);
    return stream->work.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult CUDAAPI cuStreamSynchronize(CUstream stream) {
    for (;;) {
        const CUresult status = cuStreamQuery(stream);
        if (status != CUDA_ERROR_NOT_READY) return status;
        std::this_thread::yield();
    }
}
CUresult CUDAAPI cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
    const Lock lock(machine().mutex);
    if (machine().events.count(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
    const std::uint64_t wanted = event->state->recorded;
    return queue_work(
        stream, [] {}, [state = event->state, wanted] { return state->happened >= wanted; });
}
CUresult CUDAAPI cuEventCreate(CUevent* out, unsigned) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    *out = *machine().events.insert(new CUevent_st).first;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventDestroy_v2(CUevent event) {
    const Lock lock(machine().mutex);
    if (machine().events.erase(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
    delete event;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream) {
    const Lock lock(machine().mutex);
    if (machine().events.count(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
    const std::uint64_t number = ++event->state->recorded;
    ++machine().recorded;
    return queue_work(stream, [state = event->state, number] {
        state->happened = number;
        state->place = ++machine().happened;
    });
}
CUresult CUDAAPI cuEventQuery(CUevent event) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    if (machine().events.count(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
    advance();
    if (machine().sticky != CUDA_SUCCESS) return static_cast<CUresult>(machine().sticky);
    return event->state->happened == event->state->recorded ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult CUDAAPI cuEventSynchronize(CUevent event) {
    for (;;) {
        const CUresult status = cuEventQuery(event);
        if (status != CUDA_ERROR_NOT_READY) return status;
        std::this_thread::yield();
    }
}
#undef cuEventElapsedTime
// Events happen 0.25 ms apart.
extern "C" CUresult CUDAAPI cuEventElapsedTime(float* out, CUevent first, CUevent last) {
    const Lock lock(machine().mutex);
    *out = 0.25F *
           static_cast<float>(static_cast<std::int64_t>(last->state->place - first->state->place));
    return CUDA_SUCCESS;
}

// Any bytes are an image; its kernels are the words after "kernel:".
CUresult CUDAAPI cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned count,
                                    CUjit_option* options, void** values) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    if (machine().image_status != CUDA_SUCCESS) {
        for (unsigned i = 0; i < count; ++i)
            if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
                std::strcpy(static_cast<char*>(values[i]),
                            "ptxas application ptx input, line 2; error   : not to its liking");
        return static_cast<CUresult>(machine().image_status);
    }
    auto* module = new CUmod_st;
    // In a real cubin, only the kernel's name matters; it is searched for, since its place varies.
    module->image.assign(static_cast<const char*>(image),
                         std::strncmp(static_cast<const char*>(image),
                                      "\x7f"
                                      "ELF",
                                      4) == 0
                             ? 4
                             : std::strlen(static_cast<const char*>(image)));
    *out = *machine().modules.insert(module).first;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuModuleUnload(CUmodule module) {
    const Lock lock(machine().mutex);
    if (machine().modules.erase(module) == 0) return CUDA_ERROR_INVALID_HANDLE;
    delete module;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuModuleGetFunction(CUfunction* out, CUmodule module, const char* name) {
    const Lock lock(machine().mutex);
    const bool machine_code = module->image.compare(0, 4,
                                                    "\x7f"
                                                    "ELF") == 0;
    if (!machine_code && module->image.find(name) == std::string::npos) return CUDA_ERROR_NOT_FOUND;
    machine().functions.push_back(std::make_unique<CUfunc_st>(CUfunc_st{name, 0}));
    *out = machine().functions.back().get();
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuFuncGetAttribute(int* out, CUfunction_attribute what, CUfunction) {
    switch (what) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            *out = 512;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_NUM_REGS:
            *out = 24;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
            *out = 0;
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}
CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int* out, CUfunction, int invocations,
                                                             std::size_t) {
    *out = 2048 / invocations;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuFuncSetAttribute(CUfunction function, CUfunction_attribute what, int value) {
    if (what != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > 232448)
        return CUDA_ERROR_INVALID_VALUE;
    function->dynamic_shared = value;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                CUstream stream, void** arguments, void**) {
    const Lock lock(machine().mutex);
    if (const CUresult status = launch_status(); status != CUDA_SUCCESS) return status;
    std::function<void()> work;
    const CUresult status =
        kernel_work(function, {gx, gy, gz}, {bx, by, bz}, shared, arguments, work);
    return status == CUDA_SUCCESS ? queue_work(stream, std::move(work)) : status;
}

CUresult CUDAAPI cuGraphCreate(CUgraph* out, unsigned) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    *out = *machine().graphs.insert(new CUgraph_st).first;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuGraphDestroy(CUgraph graph) {
    const Lock lock(machine().mutex);
    if (machine().graphs.erase(graph) == 0) return CUDA_ERROR_INVALID_VALUE;
    delete graph;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                     std::size_t count) {
    return add_node(
        out, graph, after, count, [] {}, nullptr);
}
#undef cuGraphAddKernelNode
#undef cuGraphExecKernelNodeSetParams
extern "C" CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph,
                                                 const CUgraphNode* after, std::size_t count,
                                                 const CUDA_KERNEL_NODE_PARAMS* params) {
    std::function<void()> work;
    const CUresult status = node_work(*params, work);
    if (status != CUDA_SUCCESS) return status;
    return add_node(out, graph, after, count, std::move(work), params->func);
}
CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                      std::size_t count, const CUDA_MEMCPY3D* params, CUcontext) {
    if (params->srcMemoryType != CU_MEMORYTYPE_UNIFIED || params->Height != 1 ||
        params->Depth != 1 || params->dstMemoryType != CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    return add_node(
        out, graph, after, count,
        [to = params->dstDevice, from = params->srcDevice, size = params->WidthInBytes] {
            std::memcpy(host(to), host(from), size);
        },
        nullptr);
}
CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                      std::size_t count, const CUDA_MEMSET_NODE_PARAMS* params,
                                      CUcontext) {
    const unsigned size = params->elementSize;
    if ((size != 1 && size != 2 && size != 4) || params->height != 1)
        return CUDA_ERROR_INVALID_VALUE;
    return add_node(
        out, graph, after, count,
        [=, at = params->dst, value = params->value, elements = params->width] {
            for (std::size_t i = 0; i < elements; ++i)
                std::memcpy(static_cast<char*>(host(at)) + i * size, &value, size);
        },
        nullptr);
}
CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph,
                                             unsigned long long flags) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    if (flags != 0 || machine().graphs.count(graph) == 0) return CUDA_ERROR_INVALID_VALUE;
    auto exec = std::make_unique<CUgraphExec_st>();
    for (const auto& node : graph->nodes)
        exec->nodes.push_back({node.get(), node->function, node->work});
    *out = *machine().graph_execs.insert(exec.release()).first;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec exec) {
    const Lock lock(machine().mutex);
    if (machine().graph_execs.erase(exec) == 0) return CUDA_ERROR_INVALID_VALUE;
    delete exec;
    return CUDA_SUCCESS;
}
extern "C" CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                           const CUDA_KERNEL_NODE_PARAMS* params) {
    const Lock lock(machine().mutex);
    if (machine().graph_execs.count(exec) == 0) return CUDA_ERROR_INVALID_VALUE;
    for (CUgraphExec_st::Node& one : exec->nodes)
        if (one.of == node && one.function == params->func) return node_work(*params, one.work);
    return CUDA_ERROR_INVALID_VALUE;
}
CUresult CUDAAPI cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    const Lock lock(machine().mutex);
    if (machine().graph_execs.count(exec) == 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult status = launch_status(); status != CUDA_SUCCESS) return status;
    for (const CUgraphExec_st::Node& node : exec->nodes)
        if (const CUresult status = queue_work(stream, node.work); status != CUDA_SUCCESS)
            return status;
    return queue_work(stream, [] {});
}
