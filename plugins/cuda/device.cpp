// SPDX-License-Identifier: Apache-2.0
#include "cuda/device.hpp"

#include <algorithm>

#include "cuda/status.hpp"

namespace wye::cuda {
namespace {

// Freed memory that the pool keeps for the next allocation, rather than giving it back to the
// system: this share of the device's.
constexpr std::uint64_t kKeptShare = 8;

}  // namespace

Result<std::unique_ptr<OpenDevice>> OpenDevice::open(Plugin& plugin, std::uint32_t index) {
    const Device& info = plugin.devices[index];
    if (!info.usable()) {
        Error error(Code::NO_DEVICE, info.reason, info.fix, info.name);
        error.native_domain = "cuda";
        error.native_code = info.native_code;
        return error;
    }
    std::unique_ptr<OpenDevice> device(new OpenDevice(plugin, info));
    WYE_TRY(device->acquire());
    return device;
}

OpenDevice::~OpenDevice() { let_go(); }

Result<void> OpenDevice::acquire() {
    CUresult status = driver.cuDevicePrimaryCtxRetain(&context_, info.id);
    if (status != CUDA_SUCCESS) {
        context_ = nullptr;
        Error error = cuda_error(driver, status, "cuDevicePrimaryCtxRetain", info.name);
        if (sticky(status))
            error.fix =
                "Fix: restart the process: after such a fault its driver gives it no new context";
        return error;
    }
    const Current current(*this);
    status = driver.cuStreamCreate(&pool_stream_, CU_STREAM_NON_BLOCKING);
    if (status != CUDA_SUCCESS) return cuda_error(driver, status, "cuStreamCreate", info.name);
    if (info.memory_pools) {
        CUmemPoolProps props{};
        props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        props.location.id = info.id;
        if (driver.cuMemPoolCreate(&pool_, &props) == CUDA_SUCCESS) {
            cuuint64_t kept = info.memory_bytes / kKeptShare;
            (void)driver.cuMemPoolSetAttribute(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept);
        } else {
            pool_ = nullptr;
        }
    }
    WYE_ASSIGN(nothing_, allocate(kLeastBytes, "the empty range"));
    return {};
}

void OpenDevice::let_go() {
    if (context_ == nullptr) return;
    {
        const Current current(*this);
        if (nothing_ != 0) release(nothing_);
        if (pool_ != nullptr) (void)driver.cuMemPoolDestroy(pool_);
        if (pool_stream_ != nullptr) (void)driver.cuStreamDestroy(pool_stream_);
    }
    (void)driver.cuDevicePrimaryCtxRelease(info.id);
    context_ = nullptr;
    pool_ = nullptr;
    pool_stream_ = nullptr;
    nothing_ = 0;
}

Result<void> OpenDevice::recover() {
    if (!lost()) return {};
    epoch_.fetch_add(1);
    const CUresult status = driver.cuDevicePrimaryCtxReset(info.id);
    nothing_ = 0;  // all of these died with the context
    pool_ = nullptr;
    pool_stream_ = nullptr;
    let_go();
    if (status != CUDA_SUCCESS) {
        Error error = cuda_error(driver, status, "cuDevicePrimaryCtxReset", info.name);
        error.fix = "Fix: restart the process";
        return error;
    }
    WYE_TRY(acquire());
    const std::lock_guard lock(mutex_);
    loss_.reset();
    lost_.store(false, std::memory_order_release);
    return {};
}

Error OpenDevice::failed(CUresult status, std::string_view call, std::string_view subject) {
    Error error = cuda_error(driver, status, call, subject.empty() ? info.name : subject);
    if (!sticky(status)) return error;
    const std::lock_guard lock(mutex_);
    if (!loss_) {
        loss_ = error;
        lost_.store(true, std::memory_order_release);
    }
    return error;
}

std::optional<Error> OpenDevice::loss() const {
    if (!lost()) return std::nullopt;
    const std::lock_guard lock(mutex_);
    return loss_;
}

CUresult OpenDevice::try_allocate(std::uint64_t size, CUdeviceptr& out) {
    if (pool_ == nullptr) return driver.cuMemAlloc(&out, size);
    const CUresult status = driver.cuMemAllocFromPoolAsync(&out, size, pool_, pool_stream_);
    // Nothing but frees is ever before it on this stream.
    return status == CUDA_SUCCESS ? driver.cuStreamSynchronize(pool_stream_) : status;
}

Result<CUdeviceptr> OpenDevice::allocate(std::uint64_t size, std::string_view label) {
    const std::uint64_t bytes = std::max(size, kLeastBytes);
    CUdeviceptr out = 0;
    CUresult status = try_allocate(bytes, out);
    if (status == CUDA_ERROR_OUT_OF_MEMORY && pool_ != nullptr) {
        // What the pool keeps may be in pieces that are too small.
        (void)driver.cuStreamSynchronize(pool_stream_);
        (void)driver.cuMemPoolTrimTo(pool_, 0);
        status = try_allocate(bytes, out);
    }
    if (status == CUDA_SUCCESS) return out;
    const std::string subject(label.empty() ? std::string_view(info.name) : label);
    Error error = failed(status, "allocating " + std::to_string(size) + " bytes", subject);
    if (status != CUDA_ERROR_OUT_OF_MEMORY) return error;
    std::size_t free = 0;
    std::size_t total = 0;
    if (driver.cuMemGetInfo(&free, &total) == CUDA_SUCCESS)
        error.message = "a buffer of " + std::to_string(size) +
                        " bytes does not fit: " + std::to_string(free) + " of " +
                        std::to_string(total) + " bytes are free on " + info.name;
    return error;
}

// No operation that uses it is pending, so the order of streams does not matter. cuMemFree would
// wait for all that runs on the device.
void OpenDevice::release(CUdeviceptr memory) {
    if (pool_ != nullptr)
        (void)driver.cuMemFreeAsync(memory, pool_stream_);
    else
        (void)driver.cuMemFree(memory);
}

Buffer::~Buffer() {
    // In this order: a recovery in between has counted the epoch before the loss is over.
    if (device.lost() || epoch != device.epoch()) return;
    const Current current(device);
    device.release(memory);
}

}  // namespace wye::cuda
