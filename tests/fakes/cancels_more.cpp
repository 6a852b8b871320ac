// SPDX-License-Identifier: Apache-2.0
// Cancelling values ends those before them too.
#include "base.hpp"

namespace {

std::uint64_t cancelled = 0;  // up to this value, on any queue

wye_status cancel(wye_queue_object*, std::uint64_t, std::uint64_t last, wye_error**) {
    cancelled = last;
    return WYE_OK;
}

wye_status wait(wye_queue_object* queue, std::uint64_t value, std::uint64_t timeout_ns,
                wye_error** error) {
    if (value > cancelled) return fake::wait(queue, value, timeout_ns, error);
    return fake::fail(queue->device->plugin->host, error, WYE_CANCELLED, fake::text("cancelled"),
                      fake::text("Fix: submit it again"));
}

}  // namespace

FAKE_QUEUE("cancels_more", t.cancel = cancel; t.wait = wait)
