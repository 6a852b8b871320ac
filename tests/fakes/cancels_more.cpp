// SPDX-License-Identifier: Apache-2.0
// Cancelling values ends those before them too.
#include "base.hpp"

namespace {

std::uint64_t cancelled = 0;  // up to this value, on any queue

wye_status cancel(wye_queue_object*, std::uint64_t, std::uint64_t last, wye_error**) {
    cancelled = last;
    return WYE_OK;
}

wye_status wait(wye_device_object* device, const wye_event* events, std::uint64_t count,
                std::uint32_t any, std::uint64_t timeout_ns, std::uint64_t* index,
                wye_error** error) {
    if (events->value > cancelled)
        return fake::wait(device, events, count, any, timeout_ns, index, error);
    return fake::fail(device->plugin->host, error, WYE_CANCELLED, fake::text("cancelled"),
                      fake::text("Fix: submit it again"));
}

}  // namespace

FAKE_DEVICE("cancels_more", q.cancel = cancel; t.wait = wait)
