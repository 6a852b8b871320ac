// SPDX-License-Identifier: Apache-2.0
// After a refused submit its queue refuses all later ones.
#include "base.hpp"

namespace {

wye_status submit(wye_queue_object* queue, const wye_submission* submission, wye_error** error) {
    const bool poisoned = queue->submitted == UINT64_MAX;
    const wye_status status =
        poisoned
            ? fake::fail(queue->device->plugin->host, error, WYE_UNSUPPORTED,
                         fake::text("an earlier submit failed"), fake::text("Fix: use another"))
            : fake::submit(queue, submission, error);
    if (status != WYE_OK) queue->submitted = UINT64_MAX;
    return status;
}

}  // namespace

FAKE_DEVICE("poisons_queue", q.submit = submit)
