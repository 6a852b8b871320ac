// SPDX-License-Identifier: Apache-2.0
#include "cuda/context/context.hpp"

#include <algorithm>
#include <utility>

#include "cuda/status.hpp"
#include "wye/sdk/errors.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::cuda {
namespace {

// The pool keeps up to 1/kKeptShare of the device's memory for reuse.
constexpr std::uint64_t kKeptShare = 8;

// The list of all living Contexts in the process, since primary contexts are shared in the process.
struct Living {
    sdk::Mutex mutex;
    Context* first WYE_GUARDED_BY(mutex) = nullptr;
};
constinit Living living;

}  // namespace

Result<std::unique_ptr<Context>> Context::create(const Driver& driver, const DeviceInfo& info,
                                                 sdk::LossState& loss) {
    std::unique_ptr<Context> context(new Context(driver, info, loss));
    CUresult status = context->retain();
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

CUresult Context::retain() {
    const sdk::Lock lock(living.mutex);
    const CUresult status = driver.cuDevicePrimaryCtxRetain(&handle, info_.id);
    if (status == CUDA_SUCCESS) next_ = std::exchange(living.first, this);
    return status;
}

void Context::end() {
    if (handle == nullptr) return;
    nothing_ = {};
    pool_ = {};
    pool_stream_ = {};
    lost.store(true);
    const sdk::Lock lock(living.mutex);
    Context** at = &living.first;
    while (*at != this) at = &(*at)->next_;
    *at = next_;
    (void)driver.cuDevicePrimaryCtxRelease(info_.id);
    handle = nullptr;
}

CUresult Context::reset() {
    const sdk::Lock lock(living.mutex);
    if (was_reset_) return CUDA_SUCCESS;
    for (Context* one = living.first; one != nullptr; one = one->next_) {
        if (one->info_.id != info_.id || one->was_reset_) continue;
        one->loss_.record(one->gone("cuDevicePrimaryCtxReset"));
        one->lost.store(true, std::memory_order_release);
        one->was_reset_ = true;
    }
    return driver.cuDevicePrimaryCtxReset(info_.id);
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
    // The wait is short, since the pool's stream runs only allocations and frees.
    return status == CUDA_SUCCESS ? driver.cuStreamSynchronize(pool_stream_.get()) : status;
}

CUresult Context::allocate(std::uint64_t size, Memory& out) {
    const std::uint64_t bytes = std::max(size, kLeastBytes);
    CUdeviceptr memory = 0;
    CUresult status = try_allocate(bytes, memory);
    if (status == CUDA_ERROR_OUT_OF_MEMORY && pool_) {
        // Releases the memory that the pool keeps, which may be fragmented, and tries again.
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

// No pending operation uses the memory, so freeing it need not be ordered after work on other
// streams.
void Context::release(const Context& context, CUdeviceptr memory) {
    if (context.lost.load(std::memory_order_acquire)) return;
    const Current current(context);
    if (context.pool_)
        (void)context.driver.cuMemFreeAsync(memory, context.pool_stream_.get());
    else
        (void)context.driver.cuMemFree(memory);
}

}  // namespace wye::cuda
