// SPDX-License-Identifier: Apache-2.0
//
// Ends submits in wrong orders: whether a value is reached, pending or failed depends only on its
// number, and not on what its submit waits for.
#include "base.hpp"

namespace {

wye_status outcome(wye_device_object* device, const wye_event& event, wye_error** error) {
    const auto failed = [&] {
        return fake::fail(device->plugin->host, error, WYE_INTERNAL, fake::text("no"),
                          fake::text("Fix: none"));
    };
    static int turn = 0;
    switch (event.value % 10) {
        case 1:
            return WYE_NOT_READY;
        case 4:
        case 7:
            return failed();
        case 6:  // first failed, then pending
            return turn++ == 0 ? failed() : WYE_NOT_READY;
        default:
            return WYE_OK;
    }
}
wye_status query(wye_device_object* device, const wye_event* event, wye_error** error) {
    return outcome(device, *event, error);
}
wye_status wait(wye_device_object* device, const wye_event* events, std::uint64_t count,
                std::uint32_t, std::uint64_t, std::uint64_t*, wye_error** error) {
    for (std::uint64_t i = 0; i < count; ++i)
        if (const wye_status status = outcome(device, events[i], error); status != WYE_OK)
            return status == WYE_NOT_READY ? WYE_TIMEOUT : status;
    return WYE_OK;
}

}  // namespace

FAKE_DEVICE("breaks_flight", t.query = query; t.wait = wait)
