// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda.hpp"

#include <cuda.h>
#include <atomic>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>

#include "machine.hpp"

using namespace fake_cuda;

namespace {

CUresult allocate(CUdeviceptr* out, std::size_t size) {
    Machine& m = machine();
    const Lock lock(m.mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    if (size == 0) return CUDA_ERROR_INVALID_VALUE;
    if (size > m.memory - m.used) return CUDA_ERROR_OUT_OF_MEMORY;
    void* memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
    std::memset(memory, 0xa5, size);
    *out = reinterpret_cast<CUdeviceptr>(memory);
    m.allocations[*out] = size;
    m.owners[*out] = contexts.back()->device;
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
    m.owners.erase(at);
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
    m.registered.clear();
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
    m.recorded = m.cooperative_launches = 0;
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
                          m.pool_objects.size() + m.host_memory.size() + m.registered.size() +
                          m.graphs.size() + m.graph_execs.size();
        for (const CUctx_st& context : m.contexts)
            out += static_cast<std::size_t>(context.retained);
        return static_cast<int>(out);
    },
    [] {
        const Lock lock(machine().mutex);
        return machine().recorded;
    },
    [] {
        const Lock lock(machine().mutex);
        return machine().cooperative_launches;
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
// NVML: half of the first device's memory is free. The second device is a part of a larger device.
extern "C" {
unsigned nvmlInitWithFlags(unsigned flags) { return flags == 1 ? 0 : 2; }
unsigned nvmlShutdown() { return 0; }
unsigned nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** out) {
    static int parts[2];
    const std::string_view text(address);
    if (text != "0000:18:00.0" && text != "0000:19:00.0") return 6;  // not found
    *out = &parts[text == "0000:18:00.0" ? 0 : 1];
    parts[1] = 1;
    return 0;
}
unsigned nvmlDeviceGetMemoryInfo(void* device, unsigned long long* out) {
    const bool whole = *static_cast<int*>(device) == 0;
    out[0] = whole ? machine().memory + (32U << 20U) : machine().memory * 7;
    out[1] = machine().memory / 2;
    out[2] = out[0] - out[1];
    return 0;
}
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
            *out = kUnits;
            break;
        case CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO:
            *out = 2;
            break;
        case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
            *out = 1980000;
            break;
        case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
            *out = 0x18 + device;
            break;
        case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
            *out = 1;
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
    constexpr std::size_t kPage = 4096;  // the real driver's alignment
    if (size > SIZE_MAX / 2) return CUDA_ERROR_OUT_OF_MEMORY;
    void* const memory = std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage);
    if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = memory;
    machine().host_memory.insert(*out);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemFreeHost(void* memory) {
    const Lock lock(machine().mutex);
    if (machine().host_memory.erase(memory) == 0) return CUDA_ERROR_INVALID_VALUE;
    std::free(memory);
    return CUDA_SUCCESS;
}
// Each allocation belongs to the device whose context was current.
CUresult CUDAAPI cuPointerGetAttribute(void* out, CUpointer_attribute key, CUdeviceptr at) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    const auto put = [out](auto value) {
        std::memcpy(out, &value, sizeof value);
        return CUDA_SUCCESS;
    };
    const auto after = machine().allocations.upper_bound(at);
    const bool on_host = machine().host_memory.count(host(at)) != 0;
    if (on_host && key == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
        return put(unsigned{CU_MEMORYTYPE_HOST});
    if (after == machine().allocations.begin()) return CUDA_ERROR_INVALID_VALUE;
    const auto found = std::prev(after);
    if (at - found->first >= found->second) return CUDA_ERROR_INVALID_VALUE;
    switch (key) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            return put(unsigned{CU_MEMORYTYPE_DEVICE});
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return put(machine().owners[found->first]);
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            return put(found->first);
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            return put(std::size_t{found->second});
        default:
            return CUDA_ERROR_NOT_SUPPORTED;
    }
}
// Page-locks whole pages. A page can be locked only once in the process, as with the real driver.
CUresult CUDAAPI cuMemHostRegister_v2(void* memory, std::size_t size, unsigned) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    if (memory == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
    constexpr std::uintptr_t kPage = 4096;
    const auto first = reinterpret_cast<std::uintptr_t>(memory) / kPage * kPage;
    const auto end = (reinterpret_cast<std::uintptr_t>(memory) + size + kPage - 1) / kPage * kPage;
    for (const auto& [at, bytes] : machine().registered) {
        const auto begun = reinterpret_cast<std::uintptr_t>(at) / kPage * kPage;
        const auto ended =
            (reinterpret_cast<std::uintptr_t>(at) + bytes + kPage - 1) / kPage * kPage;
        if (first < ended && begun < end) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    machine().registered.emplace(static_cast<char*>(memory), size);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemHostUnregister(void* memory) {
    const Lock lock(machine().mutex);
    return machine().registered.erase(static_cast<char*>(memory)) == 1
               ? CUDA_SUCCESS
               : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
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
// Device memory is host memory, so a plain copy is enough.
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

// The range of priorities that NVIDIA's devices have.
CUresult CUDAAPI cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    *least = 0;
    *greatest = -5;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuStreamCreateWithPriority(CUstream* out, unsigned, int priority) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    *out = *machine().streams.insert(new CUstream_st).first;
    (*out)->priority = std::clamp(priority, -5, 0);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuStreamGetPriority(CUstream stream, int* out) {
    *out = stream->priority;
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
CUresult CUDAAPI cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr target, cuuint32_t value,
                                         unsigned) {
    const Lock lock(machine().mutex);
    return queue_work(stream, [target, value] {
        std::atomic_ref(*reinterpret_cast<std::uint32_t*>(target)).store(value);
    });
}
CUresult CUDAAPI cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                        unsigned) {
    const Lock lock(machine().mutex);
    return queue_work(
        stream, [] {},
        [address, value] {
            return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(address)).load() >= value;
        });
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
// Pretends that events happen 0.25 ms apart.
extern "C" CUresult CUDAAPI cuEventElapsedTime(float* out, CUevent first, CUevent last) {
    const Lock lock(machine().mutex);
    *out = 0.25F *
           static_cast<float>(static_cast<std::int64_t>(last->state->place - first->state->place));
    return CUDA_SUCCESS;
}

// Accepts any bytes as an image. The names of its kernels are the words after "kernel:".
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
    // Of a real cubin only the kernel's name is used. The name is searched for, since its place
    // varies.
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
    *out = kUnitInvocations / invocations;
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
CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy,
                                           unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                           unsigned shared, CUstream stream, void** arguments) {
    const Lock lock(machine().mutex);
    if (const CUresult status = launch_status(); status != CUDA_SUCCESS) return status;
    std::function<void()> work;
    CUresult status = kernel_work(function, {gx, gy, gz}, {bx, by, bz}, shared, arguments, work);
    if (status == CUDA_SUCCESS) status = cooperative_status(function);
    return status == CUDA_SUCCESS ? queue_work(stream, at_once(std::move(work))) : status;
}
