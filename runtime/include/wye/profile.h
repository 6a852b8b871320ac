/* SPDX-License-Identifier: Apache-2.0
 *
 * What an opened device can run (its operations), and its properties (its profile). An addition to
 * wye.h, whose conventions hold.
 */
#ifndef WYE_PROFILE_H
#define WYE_PROFILE_H

#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the operations of the language as a JSON array of objects: `name` ("+", "fma",
 * "atomic_add"), `memory` (for atomics "storage" or "shared", else null), `types` (the operand
 * types that the device supports; "" for operations without operands), and `missing`: for each
 * other operand type of the language an object with `type` and `needs`, the facts that the device
 * lacks. A program may also need limits, and facts about its storage formats; see wye_device_open.
 * wye_context_report has the same array as `operations` of each usable device. The caller frees the
 * blob. Any thread; works for lost devices too. */
WYE_API wye_status wye_device_operations(wye_context* context, wye_device device, wye_blob** out,
                                         wye_error** error);

/* Returns the profile as one JSON object. Each field has a `value` (null if unknown; values are
 * never guessed) and a `source`, which says where the value comes from or why there is none. All
 * devices have the same fields; sizes are in bytes, bandwidth in bytes per second. The caller frees
 * the blob. Any thread; works for lost devices too. */
WYE_API wye_status wye_device_profile(wye_context* context, wye_device device, wye_blob** out,
                                      wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_PROFILE_H */
