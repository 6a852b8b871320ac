// SPDX-License-Identifier: Apache-2.0
//
// Context: a device's primary context, shared with the CUDA runtime and other libraries of the
// process, and its memory pool. [FREE], except for `end`.
#pragma once

#include <memory>

#include "cuda/discovery.hpp"
#include "cuda/handle.hpp"
#include "wye/sdk/loss_state.hpp"
#include "wye/sdk/queue.hpp"

namespace wye::cuda {

class Context : public ContextState {
  public:
    // Error: DEVICE_LOST, with the advice to restart the process, if the effect of an earlier fault
    // outlived its context.
    // `loss`: of the device, which outlives the context.
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
    // Resets the primary context, for all its users in the process, unless that was done since this
    // object was made: another device has then recovered from the same loss, and is in use. Devices
    // on that primary context are lost first, so that they do not use what no longer exists.
    [[nodiscard]] CUresult reset();

    [[nodiscard]] Result<std::uint64_t> free_bytes() const;
    // Allocates at least kLeastBytes, usable on every stream at once. The context must be current
    // to allocate, but not to free.
    static constexpr std::uint64_t kLeastBytes = 64;
    static void release(const Context& context, CUdeviceptr memory);
    using Memory = sdk::Handle<const Context, CUdeviceptr, &Context::release>;
    [[nodiscard]] CUresult allocate(std::uint64_t size, Memory& out);
    // The same for page-locked host memory.
    [[nodiscard]] CUresult allocate_host(std::uint64_t size, HostMemoryHandle& out);
    [[nodiscard]] CUresult make_queue(const wye_queue_desc& wanted, StreamHandle& out,
                                      sdk::QueueGrant& granted);
    // Returns memory to bind for empty ranges, since a kernel may always read one element.
    [[nodiscard]] CUdeviceptr nothing() const { return nothing_.get(); }

  private:
    Context(const Driver& driver, const DeviceInfo& info, sdk::LossState& loss)
        : ContextState{driver}, info_(info), loss_(loss) {}
    CUresult retain();
    CUresult make_pool();
    CUresult try_allocate(std::uint64_t size, CUdeviceptr& out);

    const DeviceInfo& info_;
    sdk::LossState& loss_;
    Context* next_ = nullptr;  // in the list of contexts; guarded by its lock
    bool was_reset_ = false;   // the same
    StreamHandle pool_stream_;
    PoolHandle pool_;  // empty if the device has no pools
    Memory nothing_;
};

}  // namespace wye::cuda
