// SPDX-License-Identifier: Apache-2.0
#include "cuda/context/context.hpp"

#include <algorithm>
#include <array>

#include "cuda/status.hpp"
#include "wye/sdk/errors.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::cuda {
namespace {

// The pool keeps up to 1/kKeptShare of the device's memory for reuse.
constexpr std::uint64_t kKeptShare = 8;

// How often this plugin has reset the primary context of each device. Process-wide, as primary
// contexts are.
class Resets {
  public:
    // Calls `reset` if the count of the device is still `known`.
    template <typename Reset>
    CUresult reset(CUdevice device, std::uint64_t known, Reset&& reset) {
        const sdk::Lock lock(mutex_);
        std::uint64_t& count = count_of(device);
        if (count != known) return CUDA_SUCCESS;
        const CUresult status = reset();
        if (status == CUDA_SUCCESS) ++count;
        return status;
    }
    // Calls `retain`, and sets `known` to the device's count.
    template <typename Retain>
    CUresult retain(CUdevice device, std::uint64_t& known, Retain&& retain) {
        const sdk::Lock lock(mutex_);
        known = count_of(device);
        return retain();
    }

  private:
    // Devices may share a count: then one is not reset where it would be, and fails as lost again.
    static constexpr std::size_t kCounts = 64;
    std::uint64_t& count_of(CUdevice device) WYE_REQUIRES(mutex_) {
        return counts_[static_cast<std::size_t>(device) % kCounts];
    }

    sdk::Mutex mutex_;
    std::array<std::uint64_t, kCounts> counts_ WYE_GUARDED_BY(mutex_) = {};
};
constinit Resets resets;

}  // namespace

Result<std::unique_ptr<Context>> Context::create(const Driver& driver, const DeviceInfo& info) {
    std::unique_ptr<Context> context(new Context(driver, info));
    CUresult status = resets.retain(info.id, context->resets_, [&] {
        return driver.cuDevicePrimaryCtxRetain(&context->handle, info.id);
    });
    if (status != CUDA_SUCCESS) {
        context->handle = nullptr;
        Error error = native_error(driver, status, "cuDevicePrimaryCtxRetain", info.name);
        // quirk cuda-fault-outlives-context.
        if (sticky(status)) error.fix = sdk::errors::kRestart;
        return error;
    }
    const Current current(*context);
    status = context->make_pool();
    if (status != CUDA_SUCCESS)
        return native_error(driver, status, "cuStreamCreateWithPriority", info.name);
    status = context->allocate(kLeastBytes, context->nothing_);
    if (status != CUDA_SUCCESS) return native_error(driver, status, "cuMemAlloc", info.name);
    return context;
}

Error Context::gone(std::string_view call) const {
    return native_error(driver, CUDA_ERROR_CONTEXT_IS_DESTROYED, call, info_.name);
}

void Context::end() {
    if (handle == nullptr) return;
    nothing_ = {};
    pool_ = {};
    pool_stream_ = {};
    lost.store(true);
    (void)driver.cuDevicePrimaryCtxRelease(info_.id);
    handle = nullptr;
}

CUresult Context::reset() {
    return resets.reset(info_.id, resets_,
                        [&] { return driver.cuDevicePrimaryCtxReset(info_.id); });
}

Result<std::uint64_t> Context::free_bytes() const {
    const Current current(*this);
    std::size_t free = 0;
    std::size_t total = 0;
    const CUresult status = driver.cuMemGetInfo(&free, &total);
    if (status != CUDA_SUCCESS) return native_error(driver, status, "cuMemGetInfo", info_.name);
    return std::uint64_t{free};
}

// quirk cuda-free-waits: freeing memory of a pool does not wait.
CUresult Context::make_pool() {
    sdk::QueueGrant granted;
    const CUresult status = make_queue({}, pool_stream_, granted);
    if (status != CUDA_SUCCESS) return status;
    if (!info_.memory_pools) return CUDA_SUCCESS;
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    props.location.id = info_.id;
    CUmemoryPool pool = nullptr;
    if (driver.cuMemPoolCreate(&pool, &props) != CUDA_SUCCESS) return CUDA_SUCCESS;
    pool_ = PoolHandle(*this, pool);
    cuuint64_t kept = info_.memory_bytes / kKeptShare;
    (void)driver.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept);
    return CUDA_SUCCESS;
}

// In CUDA a lower number is a more urgent priority, and 0 is the default. Streams have no kind:
// copies go to the copy engines, whatever stream they are on.
CUresult Context::make_queue(const wye_queue_desc& wanted, StreamHandle& out,
                             sdk::QueueGrant& granted) {
    const Current current(*this);
    int least = 0, greatest = 0;
    CUresult status = driver.cuCtxGetStreamPriorityRange(&least, &greatest);
    if (status != CUDA_SUCCESS) return status;
    int priority = -std::clamp(wanted.priority, -least, -greatest);
    status =
        driver.cuStreamCreateWithPriority(out.receive(*this), CU_STREAM_NON_BLOCKING, priority);
    if (status != CUDA_SUCCESS) return status;
    status = driver.cuStreamGetPriority(out.get(), &priority);
    granted.priority = -priority;
    return status;
}

CUresult Context::try_allocate(std::uint64_t size, CUdeviceptr& out) {
    if (!pool_) return driver.cuMemAlloc(&out, size);
    const CUresult status =
        driver.cuMemAllocFromPoolAsync(&out, size, pool_.get(), pool_stream_.get());
    // The pool's stream runs only allocations and frees.
    return status == CUDA_SUCCESS ? driver.cuStreamSynchronize(pool_stream_.get()) : status;
}

CUresult Context::allocate(std::uint64_t size, Memory& out) {
    const std::uint64_t bytes = std::max(size, kLeastBytes);
    CUdeviceptr memory = 0;
    CUresult status = try_allocate(bytes, memory);
    if (status == CUDA_ERROR_OUT_OF_MEMORY && pool_) {
        // Releases what the pool keeps, which may be fragmented, and tries again.
        (void)driver.cuStreamSynchronize(pool_stream_.get());
        (void)driver.cuMemPoolTrimTo(pool_.get(), 0);
        status = try_allocate(bytes, memory);
    }
    if (status == CUDA_SUCCESS) out = Memory(*this, memory);
    return status;
}

CUresult Context::allocate_host(std::uint64_t size, HostMemoryHandle& out) {
    void* memory = nullptr;
    const CUresult status = driver.cuMemAllocHost(&memory, std::max(size, kLeastBytes));
    if (status == CUDA_SUCCESS) out = HostMemoryHandle(*this, memory);
    return status;
}

// No pending operation uses the memory, so the order of streams does not matter.
void Context::release(const Context& context, CUdeviceptr memory) {
    if (context.lost.load(std::memory_order_acquire)) return;
    const Current current(context);
    if (context.pool_)
        (void)context.driver.cuMemFreeAsync(memory, context.pool_stream_.get());
    else
        (void)context.driver.cuMemFree(memory);
}

}  // namespace wye::cuda
