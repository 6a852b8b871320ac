// SPDX-License-Identifier: Apache-2.0
// Makes timelines that the host can signal, but submits do not.
#include "base.hpp"

namespace {

wye_queue_object* state_of(wye_timeline_object* timeline) {
    return reinterpret_cast<wye_queue_object*>(timeline);
}

wye_status timeline_create(wye_device_object* device, const wye_timeline_desc*,
                           wye_timeline_object** out, wye_error**) {
    auto* state = static_cast<wye_queue_object*>(std::malloc(sizeof(wye_queue_object)));
    *state = {device, 0};
    *out = reinterpret_cast<wye_timeline_object*>(state);
    return WYE_OK;
}
void timeline_destroy(wye_device_object*, wye_timeline_object* timeline) {
    std::free(state_of(timeline));
}
wye_status timeline_signal(wye_device_object*, const wye_event* event, wye_error**) {
    state_of(event->timeline)->submitted = event->value;
    return WYE_OK;
}
wye_status timeline_fail(wye_device_object*, const wye_event*, const wye_error_desc*, wye_error**) {
    return WYE_UNSUPPORTED;
}

}  // namespace

FAKE_DEVICE("forgets_signals", t.timeline_create = timeline_create;
            t.timeline_destroy = timeline_destroy; t.timeline_signal = timeline_signal;
            t.timeline_fail = timeline_fail)
