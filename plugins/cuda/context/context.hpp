// SPDX-License-Identifier: Apache-2.0
//
// A device's primary context, which it shares with the CUDA runtime and other libraries of the
// process, and the memory pool in it. [FREE], but for `end`.
#pragma once

#include <memory>

#include "cuda/discovery.hpp"
#include "cuda/handle.hpp"

namespace wye::cuda {

class Context : public ContextState {
  public:
    // DEVICE_LOST, and to restart the process, where an earlier fault outlives its context.
    [[nodiscard]] static Result<std::unique_ptr<Context>> create(const Driver& driver,
                                                                 const DeviceInfo& info);
    ~Context() { end(); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // Of a call in a context that was lost.
    [[nodiscard]] Error gone(std::string_view call) const;
    // Gives the primary context back; what is still in it counts as lost.
    void end();

    [[nodiscard]] Result<std::uint64_t> free_bytes() const;
    // Of at least kLeastBytes, usable on every stream at once. With the context current; freed
    // without it.
    static constexpr std::uint64_t kLeastBytes = 64;
    static void release(const Context& context, CUdeviceptr memory);
    using Memory = sdk::Handle<const Context, CUdeviceptr, &Context::release>;
    [[nodiscard]] CUresult allocate(std::uint64_t size, Memory& out);
    [[nodiscard]] CUresult make_queue(StreamHandle& out);
    // Where empty ranges point: a kernel may always read one element.
    [[nodiscard]] CUdeviceptr nothing() const { return nothing_.get(); }

  private:
    Context(const Driver& driver, const DeviceInfo& info) : ContextState{driver}, info_(info) {}
    CUresult make_pool();
    CUresult try_allocate(std::uint64_t size, CUdeviceptr& out);

    const DeviceInfo& info_;
    StreamHandle pool_stream_;
    PoolHandle pool_;  // empty: the device has no pools
    Memory nothing_;
};

}  // namespace wye::cuda
