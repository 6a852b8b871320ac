// SPDX-License-Identifier: Apache-2.0
//
// Context: a device's primary context, shared with the CUDA runtime and other libraries of the
// process, and its memory pool. Free-threaded, except for `end`.
#pragma once

#include <memory>

#include "cuda/discovery.hpp"
#include "cuda/handle.hpp"
#include "wye/sdk/loss_state.hpp"
#include "wye/sdk/queue.hpp"

namespace wye::cuda {

class Context : public ContextState {
  public:
    // Error: DEVICE_LOST, with the advice to restart the process, if the driver gives the process
    // no context after an earlier fault.
    // `loss`: the loss state of the device, which outlives the context.
    [[nodiscard]] static Result<std::unique_ptr<Context>> create(const Driver& driver,
                                                                 const DeviceInfo& info,
                                                                 sdk::LossState& loss);
    ~Context() { end(); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // Returns the error of a call on a lost context.
    [[nodiscard]] Error gone(std::string_view call) const;
    // Releases the primary context. Objects left in it count as lost.
    void end();
    // Resets the primary context, for all its users in the process. Does nothing if the primary
    // context was reset since this object was made: another Device has then recovered from the same
    // loss, and is in use. Before the reset, marks all Devices on the primary context as lost, so
    // that they use none of the objects that the reset destroys.
    [[nodiscard]] CUresult reset();

    [[nodiscard]] Result<std::uint64_t> free_bytes() const;
    // Allocates at least kLeastBytes, usable on every stream at once. The context must be current
    // to allocate, but not to free.
    static constexpr std::uint64_t kLeastBytes = 64;
    static void release(const Context& context, CUdeviceptr memory);
    using Memory = sdk::Handle<const Context, CUdeviceptr, &Context::release>;
    [[nodiscard]] CUresult allocate(std::uint64_t size, Memory& out);
    // Like `allocate`, for page-locked host memory.
    [[nodiscard]] CUresult allocate_host(std::uint64_t size, HostMemoryHandle& out);
    [[nodiscard]] CUresult make_queue(const wye_queue_desc& wanted, StreamHandle& out,
                                      sdk::QueueGrant& granted);
    // Returns the memory that is bound for empty ranges, since a kernel may read element 0 of any
    // range.
    [[nodiscard]] CUdeviceptr nothing() const { return nothing_.get(); }

  private:
    Context(const Driver& driver, const DeviceInfo& info, sdk::LossState& loss)
        : ContextState{driver}, info_(info), loss_(loss) {}
    CUresult retain();
    CUresult make_pool();
    CUresult try_allocate(std::uint64_t size, CUdeviceptr& out);

    const DeviceInfo& info_;
    sdk::LossState& loss_;
    Context* next_ = nullptr;  // in the list of contexts; guarded by the list's lock
    bool was_reset_ = false;   // guarded by the list's lock
    StreamHandle pool_stream_;
    PoolHandle pool_;  // empty if the device has no pools
    Memory nothing_;
};

}  // namespace wye::cuda
