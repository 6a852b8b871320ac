// SPDX-License-Identifier: Apache-2.0
//
// Owners of CUDA objects. An object belongs to a context, and is freed with that context current on
// the thread. The objects of a lost context no longer exist, and are not freed.
#pragma once

#include <atomic>

#include "cuda/driver.hpp"
#include "wye/sdk/handle.hpp"

namespace wye::cuda {

// The part of a Context that owners of CUDA objects refer to.
struct ContextState {
    const Driver& driver;
    CUcontext handle = nullptr;
    std::atomic<bool> lost{false};
};

// While this object exists, the context is current on this thread. The destructor makes the
// caller's context current again.
class Current {
  public:
    [[gnu::always_inline]] explicit Current(const ContextState& context) : driver_(context.driver) {
        CUcontext now = nullptr;
        if (driver_.cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == context.handle) return;
        pushed_ = driver_.cuCtxPushCurrent(context.handle) == CUDA_SUCCESS;
    }
    ~Current() {
        CUcontext mine = nullptr;
        if (pushed_) (void)driver_.cuCtxPopCurrent(&mine);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

  private:
    const Driver& driver_;
    bool pushed_ = false;
};

template <typename Object, auto Function>
void release(const ContextState& context, Object object) {
    if (context.lost.load(std::memory_order_acquire)) return;
    const Current current(context);
    (void)(context.driver.*Function)(object);
}
template <typename Object, auto Function>
using Handle = sdk::Handle<const ContextState, Object, &release<Object, Function>>;

using StreamHandle = Handle<CUstream, &Driver::cuStreamDestroy>;
using EventHandle = Handle<CUevent, &Driver::cuEventDestroy>;
using ModuleHandle = Handle<CUmodule, &Driver::cuModuleUnload>;
using PoolHandle = Handle<CUmemoryPool, &Driver::cuMemPoolDestroy>;
using GraphHandle = Handle<CUgraph, &Driver::cuGraphDestroy>;
using GraphExecHandle = Handle<CUgraphExec, &Driver::cuGraphExecDestroy>;
using HostMemoryHandle = Handle<void*, &Driver::cuMemFreeHost>;
using RegisteredHandle = Handle<void*, &Driver::cuMemHostUnregister>;

}  // namespace wye::cuda
