// SPDX-License-Identifier: Apache-2.0
// Reports every queue as a queue for transfers with the highest priority.
#include "base.hpp"

namespace {

wye_status info(wye_queue_object*, wye_queue_info* out, wye_error**) {
    out->kind = WYE_QUEUE_TRANSFER;
    out->priority = 9;
    return WYE_OK;
}

}  // namespace

FAKE_DEVICE("boasts_queue", q.info = info)
