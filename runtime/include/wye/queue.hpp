// SPDX-License-Identifier: Apache-2.0
//
// wye::Queue: a queue of one device. Part of wye.hpp, which includes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "wye/handle.hpp"
#include "wye/native.h"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye {

// What a queue is mostly used for: a hint.
enum class QueueKind : std::uint32_t {
    Any = WYE_QUEUE_ANY,
    Compute = WYE_QUEUE_COMPUTE,
    Transfer = WYE_QUEUE_TRANSFER  // for transfers of buffers only
};

// Options of Device::queue.
struct QueueOptions {
    std::string_view label = {};  // for errors, logs and traces
    QueueKind kind = QueueKind::Any;
    std::int32_t priority = 0;  // above 0: before other work, as far as the driver can
    bool own = false;           // fail with LIMIT_EXCEEDED rather than share a native queue
};

// A queue, made by Device::queue. Work that names it runs on it in order; conflicts with work on
// other queues are ordered too, so results are as if the calls ran one after another. Its work
// continues after it is destroyed. Any threads may use it at the same time.
class Queue {
  public:
    // Owns a handle of the C API.
    Queue(std::shared_ptr<wye_context> context, wye_queue handle)
        : handle_(std::move(context), handle) {}

    // The handle of the C API.
    [[nodiscard]] wye_queue get() const noexcept { return handle_.get(); }

    // Returns what was requested and what the driver granted. The label is valid while the queue
    // lives.
    [[nodiscard]] Result<wye_queue_description> describe() const& {
        wye_queue_description out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_queue_describe(handle_.context(), get(), &out, e); }));
        return out;
    }
    Result<wye_queue_description> describe() const&& = delete;
    // The driver's own handle: see wye/native.h.
    [[nodiscard]] Result<wye_native_handle> native() const {
        wye_native_handle out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_queue_native(handle_.context(), get(), &out, e); }));
        return out;
    }
    // Work that is submitted to it from now on begins after an event of the driver's API. No thread
    // waits for the event. See wye_queue_wait_native.
    [[nodiscard]] Result<void> wait(const wye_native_handle& event) const {
        return detail::call([&](wye_error** e) {
            return wye_queue_wait_native(handle_.context(), get(), &event, e);
        });
    }
    // Waits until all work submitted to it so far has ended.
    [[nodiscard]] Result<void> flush() const {
        return detail::call(
            [&](wye_error** e) { return wye_queue_flush(handle_.context(), get(), e); });
    }

  private:
    detail::Handle<&wye_queue_free> handle_;
};

namespace detail {
// The handle of an optional queue; 0 for null.
[[nodiscard]] inline wye_queue handle_of(const Queue* queue) noexcept {
    return queue == nullptr ? 0 : queue->get();
}
}  // namespace detail

}  // namespace wye
