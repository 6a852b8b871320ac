// SPDX-License-Identifier: Apache-2.0
#include "native_api.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>

#include "support/driver.hpp"
#include "take.hpp"

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#define HAS_OPENCL
#endif
#if __has_include(<vulkan/vulkan.h>)
#include <vulkan/vulkan.h>
#define HAS_VULKAN
#endif
#if __has_include(<cuda.h>)
#include <cuda.h>

#include "cuda/fake_cuda.hpp"
#define HAS_CUDA
#endif

namespace api_test {
namespace {

// Returns a value of a native handle, as the type of the driver's API.
template <typename T>
T value_of(const wye_native_handle& handle, const char* type) {
    std::uint64_t value = 0;
    REQUIRE(wye_native_get(&handle, type, &value) == 1);
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<T>(static_cast<std::uintptr_t>(value));
    else
        return static_cast<T>(value);
}

class Library {
  public:
    explicit Library(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
        REQUIRE(handle_ != nullptr);
    }
    template <typename Function>
    void find(Function*& to, const char* name) const {
        to = reinterpret_cast<Function*>(dlsym(handle_, name));
        REQUIRE(static_cast<bool>(to));
    }

  private:
    void* const handle_;  // never closed, as drivers keep threads
};

// ---- CPU ----------------------------------------------------------------------------------

class CpuMemory final : public NativeMemory {
  public:
    explicit CpuMemory(std::uint64_t bytes)
        : memory_(std::aligned_alloc(64, (bytes + 63) / 64 * 64)) {}
    ~CpuMemory() override { std::free(memory_); }
    CpuMemory(const CpuMemory&) = delete;
    CpuMemory& operator=(const CpuMemory&) = delete;
    [[nodiscard]] const char* type() const override { return "void*"; }
    [[nodiscard]] std::uint64_t value() const override {
        return reinterpret_cast<std::uintptr_t>(memory_);
    }
    [[nodiscard]] bool has_address() const override { return true; }

  private:
    void* const memory_;
};

class CpuApi final : public NativeApi {
  public:
    MemoryPtr allocate(std::uint64_t bytes) override { return std::make_unique<CpuMemory>(bytes); }
    void write(const NativeMemory& to, const void* from, std::uint64_t bytes) override {
        std::memcpy(reinterpret_cast<void*>(to.value()), from, bytes);
    }
    void read(const NativeMemory& from, void* to, std::uint64_t bytes) override {
        std::memcpy(to, reinterpret_cast<const void*>(from.value()), bytes);
    }
    [[nodiscard]] bool knows_sizes() const override { return false; }
    [[nodiscard]] bool outlives_device() const override { return true; }
};

// ---- OpenCL -------------------------------------------------------------------------------

#ifdef HAS_OPENCL
struct OpenclCalls {
    explicit OpenclCalls(const Library& library) {
#define FIND(name) library.find(name, "cl" #name)
        FIND(CreateContext);
        FIND(ReleaseContext);
        FIND(CreateCommandQueue);
        FIND(ReleaseCommandQueue);
        FIND(CreateBuffer);
        FIND(ReleaseMemObject);
        FIND(EnqueueWriteBuffer);
        FIND(EnqueueReadBuffer);
        FIND(CreateUserEvent);
        FIND(SetUserEventStatus);
        FIND(ReleaseEvent);
#undef FIND
    }
    decltype(clCreateContext)* CreateContext = nullptr;
    decltype(clReleaseContext)* ReleaseContext = nullptr;
    decltype(clCreateCommandQueue)* CreateCommandQueue = nullptr;
    decltype(clReleaseCommandQueue)* ReleaseCommandQueue = nullptr;
    decltype(clCreateBuffer)* CreateBuffer = nullptr;
    decltype(clReleaseMemObject)* ReleaseMemObject = nullptr;
    decltype(clEnqueueWriteBuffer)* EnqueueWriteBuffer = nullptr;
    decltype(clEnqueueReadBuffer)* EnqueueReadBuffer = nullptr;
    decltype(clCreateUserEvent)* CreateUserEvent = nullptr;
    decltype(clSetUserEventStatus)* SetUserEventStatus = nullptr;
    decltype(clReleaseEvent)* ReleaseEvent = nullptr;
};

class OpenclEvent final : public NativeEvent {
  public:
    OpenclEvent(const OpenclCalls& cl, cl_context context) : cl_(cl) {
        cl_int status = CL_SUCCESS;
        event_ = cl.CreateUserEvent(context, &status);
        REQUIRE(status == CL_SUCCESS);
    }
    ~OpenclEvent() override {
        happen();
        CHECK(cl_.ReleaseEvent(event_) == CL_SUCCESS);
    }
    OpenclEvent(const OpenclEvent&) = delete;
    OpenclEvent& operator=(const OpenclEvent&) = delete;
    [[nodiscard]] wye_native_handle handle() const override {
        return wye_native_of("cl_event", reinterpret_cast<std::uintptr_t>(event_));
    }
    void happen() override {
        if (std::exchange(happened_, true)) return;
        CHECK(cl_.SetUserEventStatus(event_, CL_COMPLETE) == CL_SUCCESS);
    }

  private:
    const OpenclCalls& cl_;
    cl_event event_ = nullptr;
    bool happened_ = false;
};

class OpenclMemory final : public NativeMemory {
  public:
    OpenclMemory(const OpenclCalls& cl, cl_context context, cl_mem_flags flags, std::uint64_t bytes)
        : cl_(cl) {
        cl_int status = CL_SUCCESS;
        memory = cl.CreateBuffer(context, flags, bytes, nullptr, &status);
        REQUIRE(status == CL_SUCCESS);
    }
    ~OpenclMemory() override { CHECK(cl_.ReleaseMemObject(memory) == CL_SUCCESS); }
    OpenclMemory(const OpenclMemory&) = delete;
    OpenclMemory& operator=(const OpenclMemory&) = delete;
    [[nodiscard]] const char* type() const override { return "cl_mem"; }
    [[nodiscard]] std::uint64_t value() const override {
        return reinterpret_cast<std::uintptr_t>(memory);
    }
    cl_mem memory = nullptr;

  private:
    const OpenclCalls& cl_;
};

class OpenclApi final : public NativeApi {
  public:
    explicit OpenclApi(const wye_native_handle& handle) {
        context_ = value_of<cl_context>(handle, "cl_context");
        device_ = value_of<cl_device_id>(handle, "cl_device_id");
        cl_int status = CL_SUCCESS;
        queue_ = cl_.CreateCommandQueue(context_, device_, 0, &status);
        REQUIRE(status == CL_SUCCESS);
    }
    ~OpenclApi() override {
        CHECK(cl_.ReleaseCommandQueue(queue_) == CL_SUCCESS);
        foreign_.reset();
        if (other_ != nullptr) CHECK(cl_.ReleaseContext(other_) == CL_SUCCESS);
    }
    OpenclApi(const OpenclApi&) = delete;
    OpenclApi& operator=(const OpenclApi&) = delete;

    MemoryPtr allocate(std::uint64_t bytes) override { return make(context_, bytes); }
    void write(const NativeMemory& to, const void* from, std::uint64_t bytes) override {
        CHECK(cl_.EnqueueWriteBuffer(queue_, memory_of(to), CL_TRUE, 0, bytes, from, 0, nullptr,
                                     nullptr) == CL_SUCCESS);
    }
    void read(const NativeMemory& from, void* to, std::uint64_t bytes) override {
        CHECK(cl_.EnqueueReadBuffer(queue_, memory_of(from), CL_TRUE, 0, bytes, to, 0, nullptr,
                                    nullptr) == CL_SUCCESS);
    }
    [[nodiscard]] bool outlives_device() const override { return true; }
    EventPtr event() override { return std::make_unique<OpenclEvent>(cl_, context_); }
    std::vector<RefusedEvent> refused_events(const NativeEvent&) override {
        make_other();
        foreign_ = std::make_unique<OpenclEvent>(cl_, other_);
        return {{foreign_->handle(), wye::Code::WRONG_OWNER, "another device or context"}};
    }
    std::vector<Refusal> refused(std::uint64_t bytes) override {
        make_other();
        std::vector<Refusal> out;
        out.push_back(
            {make(other_, bytes), bytes, wye::Code::WRONG_OWNER, "another device or context"});
        out.push_back({make(context_, bytes, CL_MEM_READ_ONLY), bytes, wye::Code::INVALID_ARGUMENT,
                       "its flags limit who may read or write it"});
        out.push_back({make(context_, bytes, CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS), bytes,
                       wye::Code::INVALID_ARGUMENT, "its flags limit who may read or write it"});
        return out;
    }

  private:
    MemoryPtr make(cl_context context, std::uint64_t bytes,
                   cl_mem_flags flags = CL_MEM_READ_WRITE) {
        return std::make_unique<OpenclMemory>(cl_, context, flags, bytes);
    }
    void make_other() {
        cl_int status = CL_SUCCESS;
        other_ = cl_.CreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
        REQUIRE(status == CL_SUCCESS);
    }
    static cl_mem memory_of(const NativeMemory& memory) {
        return static_cast<const OpenclMemory&>(memory).memory;
    }
    const OpenclCalls cl_{Library("libOpenCL.so.1")};
    cl_context context_ = nullptr, other_ = nullptr;
    cl_device_id device_ = nullptr;
    cl_command_queue queue_ = nullptr;
    EventPtr foreign_;  // an event of another context
};
#endif

// ---- Vulkan -------------------------------------------------------------------------------

#ifdef HAS_VULKAN
struct VulkanCalls {
    VulkanCalls(const Library& library, VkInstance instance, VkDevice device) {
        decltype(vkGetInstanceProcAddr)* of_instance = nullptr;
        decltype(vkGetDeviceProcAddr)* of_device = nullptr;
        library.find(of_instance, "vkGetInstanceProcAddr");
        library.find(of_device, "vkGetDeviceProcAddr");
        GetPhysicalDeviceMemoryProperties =
            reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties>(
                of_instance(instance, "vkGetPhysicalDeviceMemoryProperties"));
        REQUIRE(static_cast<bool>(GetPhysicalDeviceMemoryProperties));
#define FIND(name)                                                        \
    name = reinterpret_cast<PFN_vk##name>(of_device(device, "vk" #name)); \
    REQUIRE(static_cast<bool>(name))
        FIND(CreateBuffer);
        FIND(DestroyBuffer);
        FIND(GetBufferMemoryRequirements);
        FIND(AllocateMemory);
        FIND(FreeMemory);
        FIND(BindBufferMemory);
        FIND(MapMemory);
        FIND(CreateSemaphore);
        FIND(DestroySemaphore);
        FIND(SignalSemaphore);
        FIND(DeviceWaitIdle);
#undef FIND
    }
    PFN_vkGetPhysicalDeviceMemoryProperties GetPhysicalDeviceMemoryProperties = nullptr;
    PFN_vkCreateBuffer CreateBuffer = nullptr;
    PFN_vkDestroyBuffer DestroyBuffer = nullptr;
    PFN_vkGetBufferMemoryRequirements GetBufferMemoryRequirements = nullptr;
    PFN_vkAllocateMemory AllocateMemory = nullptr;
    PFN_vkFreeMemory FreeMemory = nullptr;
    PFN_vkBindBufferMemory BindBufferMemory = nullptr;
    PFN_vkMapMemory MapMemory = nullptr;
    PFN_vkCreateSemaphore CreateSemaphore = nullptr;
    PFN_vkDestroySemaphore DestroySemaphore = nullptr;
    PFN_vkSignalSemaphore SignalSemaphore = nullptr;
    PFN_vkDeviceWaitIdle DeviceWaitIdle = nullptr;
};

// A timeline semaphore that the host signals.
class VulkanEvent final : public NativeEvent {
  public:
    VulkanEvent(const VulkanCalls& vk, VkDevice device) : vk_(vk), device_(device) {
        VkSemaphoreTypeCreateInfo type{};
        type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
        type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
        type.initialValue = kValue - 1;
        VkSemaphoreCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
        info.pNext = &type;
        REQUIRE(vk.CreateSemaphore(device, &info, nullptr, &semaphore) == VK_SUCCESS);
    }
    ~VulkanEvent() override {
        happen();
        // No work may still wait for the semaphore.
        CHECK(vk_.DeviceWaitIdle(device_) == VK_SUCCESS);
        vk_.DestroySemaphore(device_, semaphore, nullptr);
    }
    VulkanEvent(const VulkanEvent&) = delete;
    VulkanEvent& operator=(const VulkanEvent&) = delete;
    [[nodiscard]] wye_native_handle handle() const override {
        wye_native_handle out = bare();
        CHECK(wye_native_add(&out, "semaphore_value", kValue) == 1);
        return out;
    }
    [[nodiscard]] wye_native_handle bare() const {
        return wye_native_of("VkSemaphore", reinterpret_cast<std::uintptr_t>(semaphore));
    }
    void happen() override {
        if (std::exchange(happened_, true)) return;
        VkSemaphoreSignalInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO;
        info.semaphore = semaphore;
        info.value = kValue;
        CHECK(vk_.SignalSemaphore(device_, &info) == VK_SUCCESS);
    }
    VkSemaphore semaphore = VK_NULL_HANDLE;

  private:
    static constexpr std::uint64_t kValue = 5;
    const VulkanCalls& vk_;
    const VkDevice device_;
    bool happened_ = false;
};

// Memory that is mapped and coherent.
class VulkanMemory final : public NativeMemory {
  public:
    VulkanMemory(const VulkanCalls& vk, VkPhysicalDevice physical, VkDevice device,
                 std::uint64_t bytes, VkDevice named = VK_NULL_HANDLE)
        : vk_(vk), device_(device), named_(named) {
        VkBufferCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
        info.size = bytes;
        info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                     VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
        REQUIRE(vk.CreateBuffer(device, &info, nullptr, &buffer_) == VK_SUCCESS);
        VkMemoryRequirements needs{};
        vk.GetBufferMemoryRequirements(device, buffer_, &needs);
        VkPhysicalDeviceMemoryProperties types{};
        vk.GetPhysicalDeviceMemoryProperties(physical, &types);
        constexpr VkMemoryPropertyFlags kWanted =
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
        VkMemoryAllocateInfo allocate{};
        allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        allocate.allocationSize = needs.size;
        std::uint32_t type = 0;
        while (type < types.memoryTypeCount &&
               ((needs.memoryTypeBits >> type & 1U) == 0 ||
                (types.memoryTypes[type].propertyFlags & kWanted) != kWanted))
            ++type;
        REQUIRE(type < types.memoryTypeCount);
        allocate.memoryTypeIndex = type;
        REQUIRE(vk.AllocateMemory(device, &allocate, nullptr, &memory_) == VK_SUCCESS);
        REQUIRE(vk.BindBufferMemory(device, buffer_, memory_, 0) == VK_SUCCESS);
        REQUIRE(vk.MapMemory(device, memory_, 0, VK_WHOLE_SIZE, 0, &mapped) == VK_SUCCESS);
    }
    ~VulkanMemory() override {
        vk_.DestroyBuffer(device_, buffer_, nullptr);
        vk_.FreeMemory(device_, memory_, nullptr);
    }
    VulkanMemory(const VulkanMemory&) = delete;
    VulkanMemory& operator=(const VulkanMemory&) = delete;
    [[nodiscard]] const char* type() const override { return "VkBuffer"; }
    [[nodiscard]] std::uint64_t value() const override {
        return reinterpret_cast<std::uintptr_t>(buffer_);
    }
    [[nodiscard]] wye_native_handle handle() const override {
        wye_native_handle out = NativeMemory::handle();
        const wye_native_handle device = wye_native_of(
            "VkDevice",
            reinterpret_cast<std::uintptr_t>(named_ != VK_NULL_HANDLE ? named_ : device_));
        out.values[out.count++] = device.values[0];
        return out;
    }
    void* mapped = nullptr;

  private:
    const VulkanCalls& vk_;
    const VkDevice device_, named_;
    VkBuffer buffer_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
};

class VulkanApi final : public NativeApi {
  public:
    explicit VulkanApi(const wye_native_handle& handle)
        : physical_(value_of<VkPhysicalDevice>(handle, "VkPhysicalDevice")),
          device_(value_of<VkDevice>(handle, "VkDevice")),
          vk_(Library("libvulkan.so.1"), value_of<VkInstance>(handle, "VkInstance"), device_) {}

    MemoryPtr allocate(std::uint64_t bytes) override {
        return std::make_unique<VulkanMemory>(vk_, physical_, device_, bytes);
    }
    void write(const NativeMemory& to, const void* from, std::uint64_t bytes) override {
        std::memcpy(static_cast<const VulkanMemory&>(to).mapped, from, bytes);
    }
    void read(const NativeMemory& from, void* to, std::uint64_t bytes) override {
        std::memcpy(to, static_cast<const VulkanMemory&>(from).mapped, bytes);
    }
    EventPtr event() override { return std::make_unique<VulkanEvent>(vk_, device_); }
    // A wait blocks the VkQueue, which several native queues of the library may share.
    [[nodiscard]] bool has_queues() const override { return false; }
    std::vector<RefusedEvent> refused_events(const NativeEvent& event) override {
        wye_native_handle foreign = event.handle();
        CHECK(wye_native_add(&foreign, "VkDevice", reinterpret_cast<std::uintptr_t>(physical_)) ==
              1);
        return {{static_cast<const VulkanEvent&>(event).bare(), wye::Code::INVALID_ARGUMENT,
                 "no `semaphore_value`"},
                {foreign, wye::Code::WRONG_OWNER, "another device or context"}};
    }
    std::vector<Refusal> refused(std::uint64_t bytes) override {
        std::vector<Refusal> out;
        out.push_back({std::make_unique<VulkanMemory>(vk_, physical_, device_, bytes,
                                                      reinterpret_cast<VkDevice>(physical_)),
                       bytes, wye::Code::WRONG_OWNER, "another device or context"});
        out.push_back(
            {allocate(bytes), bytes - 2, wye::Code::INVALID_ARGUMENT, "whole words of 4 bytes"});
        return out;
    }

  private:
    const VkPhysicalDevice physical_;
    const VkDevice device_;
    const VulkanCalls vk_;
};
#endif

// ---- CUDA ---------------------------------------------------------------------------------

#ifdef HAS_CUDA
const char* cuda_library() {
    const char* const library = std::getenv("WYE_TEST_DRIVER_LIBRARY");
    return library != nullptr ? library : "libcuda.so.1";
}

struct CudaCalls {
    explicit CudaCalls(const Library& library) {
        library.find(push, "cuCtxPushCurrent_v2");
        library.find(pop, "cuCtxPopCurrent_v2");
        library.find(retain, "cuDevicePrimaryCtxRetain");
        library.find(release, "cuDevicePrimaryCtxRelease_v2");
        library.find(count, "cuDeviceGetCount");
        library.find(alloc, "cuMemAlloc_v2");
        library.find(free, "cuMemFree_v2");
        library.find(alloc_host, "cuMemAllocHost_v2");
        library.find(free_host, "cuMemFreeHost");
        library.find(stream_create, "cuStreamCreateWithPriority");
        library.find(stream_destroy, "cuStreamDestroy_v2");
        library.find(stream_synchronize, "cuStreamSynchronize");
        library.find(to_device, "cuMemcpyHtoDAsync_v2");
        library.find(to_host, "cuMemcpyDtoHAsync_v2");
        library.find(event_create, "cuEventCreate");
        library.find(event_destroy, "cuEventDestroy_v2");
        library.find(event_record, "cuEventRecord");
        library.find(wait_value, "cuStreamWaitValue32_v2");
    }
    decltype(cuCtxPushCurrent)* push = nullptr;
    decltype(cuCtxPopCurrent)* pop = nullptr;
    decltype(cuDevicePrimaryCtxRetain)* retain = nullptr;
    decltype(cuDevicePrimaryCtxRelease)* release = nullptr;
    decltype(cuDeviceGetCount)* count = nullptr;
    decltype(cuMemAlloc)* alloc = nullptr;
    decltype(cuMemFree)* free = nullptr;
    decltype(cuMemAllocHost)* alloc_host = nullptr;
    decltype(cuMemFreeHost)* free_host = nullptr;
    decltype(cuStreamCreateWithPriority)* stream_create = nullptr;
    decltype(cuStreamDestroy)* stream_destroy = nullptr;
    decltype(cuStreamSynchronize)* stream_synchronize = nullptr;
    decltype(cuMemcpyHtoDAsync)* to_device = nullptr;
    decltype(cuMemcpyDtoHAsync)* to_host = nullptr;
    decltype(cuEventCreate)* event_create = nullptr;
    decltype(cuEventDestroy)* event_destroy = nullptr;
    decltype(cuEventRecord)* event_record = nullptr;
    decltype(cuStreamWaitValue32)* wait_value = nullptr;
};

// Makes a context current while this object exists.
class CudaCurrent {
  public:
    CudaCurrent(const CudaCalls& cu, CUcontext context) : cu_(cu) {
        REQUIRE(cu.push(context) == CUDA_SUCCESS);
    }
    ~CudaCurrent() {
        CUcontext popped = nullptr;
        CHECK(cu_.pop(&popped) == CUDA_SUCCESS);
    }
    CudaCurrent(const CudaCurrent&) = delete;
    CudaCurrent& operator=(const CudaCurrent&) = delete;

  private:
    const CudaCalls& cu_;
};

class CudaMemory final : public NativeMemory {
  public:
    CudaMemory(const CudaCalls& cu, CUcontext context, std::uint64_t bytes, bool on_host = false)
        : cu_(cu), context_(context) {
        const CudaCurrent current(cu, context);
        if (on_host) {
            REQUIRE(cu.alloc_host(&host_, bytes) == CUDA_SUCCESS);
            at = reinterpret_cast<CUdeviceptr>(host_);
        } else {
            REQUIRE(cu.alloc(&at, bytes) == CUDA_SUCCESS);
        }
    }
    ~CudaMemory() override {
        const CudaCurrent current(cu_, context_);
        CHECK((host_ != nullptr ? cu_.free_host(host_) : cu_.free(at)) == CUDA_SUCCESS);
    }
    CudaMemory(const CudaMemory&) = delete;
    CudaMemory& operator=(const CudaMemory&) = delete;
    [[nodiscard]] const char* type() const override { return "CUdeviceptr"; }
    [[nodiscard]] std::uint64_t value() const override { return at; }
    [[nodiscard]] bool has_address() const override { return true; }
    CUdeviceptr at = 0;

  private:
    const CudaCalls& cu_;
    const CUcontext context_;
    void* host_ = nullptr;
};

// An event on a stream that waits until the host writes a word.
class CudaEvent final : public NativeEvent {
  public:
    CudaEvent(const CudaCalls& cu, CUcontext context) : cu_(cu), context_(context) {
        const CudaCurrent current(cu, context);
        void* word = nullptr;
        REQUIRE(cu.alloc_host(&word, sizeof(std::uint32_t)) == CUDA_SUCCESS);
        word_ = static_cast<std::uint32_t*>(word);
        *word_ = 0;
        REQUIRE(cu.stream_create(&stream_, CU_STREAM_NON_BLOCKING, 0) == CUDA_SUCCESS);
        REQUIRE(cu.event_create(&event_, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
        // Pinned memory has the same address on the device.
        REQUIRE(cu.wait_value(stream_, reinterpret_cast<CUdeviceptr>(word), 1,
                              CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
        REQUIRE(cu.event_record(event_, stream_) == CUDA_SUCCESS);
    }
    ~CudaEvent() override {
        happen();
        const CudaCurrent current(cu_, context_);
        CHECK(cu_.stream_synchronize(stream_) == CUDA_SUCCESS);
        CHECK(cu_.stream_destroy(stream_) == CUDA_SUCCESS);
        CHECK(cu_.event_destroy(event_) == CUDA_SUCCESS);
        CHECK(cu_.free_host(word_) == CUDA_SUCCESS);
    }
    CudaEvent(const CudaEvent&) = delete;
    CudaEvent& operator=(const CudaEvent&) = delete;
    [[nodiscard]] wye_native_handle handle() const override {
        return wye_native_of("CUevent", reinterpret_cast<std::uintptr_t>(event_));
    }
    void happen() override { std::atomic_ref(*word_).store(1); }

  private:
    const CudaCalls& cu_;
    const CUcontext context_;
    std::uint32_t* word_ = nullptr;
    CUstream stream_ = nullptr;
    CUevent event_ = nullptr;
};

// An address that CUDA does not know.
class NoMemory final : public NativeMemory {
  public:
    [[nodiscard]] const char* type() const override { return "CUdeviceptr"; }
    [[nodiscard]] std::uint64_t value() const override { return 4096; }
};

class CudaApi final : public NativeApi {
  public:
    explicit CudaApi(const wye_native_handle& handle)
        : context_(value_of<CUcontext>(handle, "CUcontext")) {
        const CudaCurrent current(cu_, context_);
        REQUIRE(cu_.stream_create(&stream_, CU_STREAM_NON_BLOCKING, 0) == CUDA_SUCCESS);
    }
    ~CudaApi() override {
        const CudaCurrent current(cu_, context_);
        CHECK(cu_.stream_destroy(stream_) == CUDA_SUCCESS);
        if (second_ != nullptr) CHECK(cu_.release(1) == CUDA_SUCCESS);
    }
    CudaApi(const CudaApi&) = delete;
    CudaApi& operator=(const CudaApi&) = delete;

    MemoryPtr allocate(std::uint64_t bytes) override {
        return std::make_unique<CudaMemory>(cu_, context_, bytes);
    }
    void write(const NativeMemory& to, const void* from, std::uint64_t bytes) override {
        const CudaCurrent current(cu_, context_);
        CHECK(cu_.to_device(at(to), from, bytes, stream_) == CUDA_SUCCESS);
        CHECK(cu_.stream_synchronize(stream_) == CUDA_SUCCESS);
    }
    void read(const NativeMemory& from, void* to, std::uint64_t bytes) override {
        const CudaCurrent current(cu_, context_);
        CHECK(cu_.to_host(to, at(from), bytes, stream_) == CUDA_SUCCESS);
        CHECK(cu_.stream_synchronize(stream_) == CUDA_SUCCESS);
    }
    EventPtr event() override { return std::make_unique<CudaEvent>(cu_, context_); }
    std::vector<RefusedEvent> refused_events(const NativeEvent&) override {
        if (support::test_driver_computes()) return {};  // a real driver may end the process
        const CudaCurrent current(cu_, context_);
        CUevent gone = nullptr;
        REQUIRE(cu_.event_create(&gone, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
        CHECK(cu_.event_destroy(gone) == CUDA_SUCCESS);
        return {{wye_native_of("CUevent", reinterpret_cast<std::uintptr_t>(gone)),
                 wye::Code::INVALID_ARGUMENT, "CUDA does not know it"}};
    }
    std::vector<Refusal> refused(std::uint64_t bytes) override {
        std::vector<Refusal> out;
        out.push_back({std::make_unique<CudaMemory>(cu_, context_, bytes, true), bytes,
                       wye::Code::INVALID_ARGUMENT, "no memory of a device"});
        out.push_back({std::make_unique<NoMemory>(), bytes, wye::Code::INVALID_ARGUMENT,
                       "CUDA does not know the address"});
        int devices = 0;
        REQUIRE(cu_.count(&devices) == CUDA_SUCCESS);
        if (devices < 2) return out;
        REQUIRE(cu_.retain(&second_, 1) == CUDA_SUCCESS);
        out.push_back({std::make_unique<CudaMemory>(cu_, second_, bytes), bytes,
                       wye::Code::WRONG_OWNER, "another device or context"});
        return out;
    }

  private:
    static CUdeviceptr at(const NativeMemory& memory) {
        return static_cast<const CudaMemory&>(memory).at;
    }
    const CudaCalls cu_{Library(cuda_library())};
    const CUcontext context_;
    CUcontext second_ = nullptr;
    CUstream stream_ = nullptr;
};
#endif

}  // namespace

void NativeApi::begin() {
#ifdef HAS_CUDA
    if (std::getenv("WYE_TEST_DRIVER_LIBRARY") == nullptr) return;
    decltype(fake_cuda_control)* control = nullptr;
    Library(cuda_library()).find(control, "fake_cuda_control");
    control()->reset(2, 90);
#endif
}

std::unique_ptr<NativeApi> NativeApi::open(const wye::Device& device) {
    const std::string_view plugin = wye::detail::view(take(device.describe()).plugin);
#ifdef HAS_OPENCL
    if (plugin == "opencl") return std::make_unique<OpenclApi>(take(device.native()));
#endif
#ifdef HAS_VULKAN
    if (plugin == "vulkan") return std::make_unique<VulkanApi>(take(device.native()));
#endif
#ifdef HAS_CUDA
    if (plugin == "cuda") return std::make_unique<CudaApi>(take(device.native()));
#endif
    REQUIRE(plugin == "cpu");
    return std::make_unique<CpuApi>();
}

Beside::Beside(const std::string& selector)
    : context((NativeApi::begin(),
               take(wye::Context::create({.plugin_paths = {support::test_driver_folder()},
                                          .config = support::test_driver_config()})))),
      device(take(context.open(selector))),
      api(NativeApi::open(device)),
      program(take(context.program_from_text(R"(wye 1; program advance; workgroup 64;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] * 3u + 1u; } })"))) {}

bool Beside::computes() const {
    return support::test_driver_computes() ||
           wye::detail::view(take(device.describe()).plugin) == "cpu";
}

std::vector<std::uint32_t> counting(std::uint32_t first) {
    std::vector<std::uint32_t> out(kCount);
    std::iota(out.begin(), out.end(), first);
    return out;
}

}  // namespace api_test
