/* SPDX-License-Identifier: Apache-2.0
 *
 * What an opened device can run, and how it is made, an addition to wye.h, whose conventions hold.
 */
#ifndef WYE_PROFILE_H
#define WYE_PROFILE_H

#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operations of the language as a JSON array of objects: `name` ("+", "fma", "atomic_add"),
 * `memory` (of atomics: "storage" or "shared"; else null), `types` (of the operands that the device
 * runs it with; "" for what takes none), and `missing`: an object for each other type that the
 * language has for it, with `type` and `needs`, the facts that the device lacks. A program may also
 * need limits, and facts for how it is stored; see wye_device_open. wye_context_report has the same
 * as `operations` of each usable device. The caller frees the blob. Any thread; also of a lost
 * device. */
WYE_API wye_status wye_device_operations(wye_context* context, wye_device device, wye_blob** out,
                                         wye_error** error);

/* The profile as one JSON object: each field has `value` (null: unknown, and never a guess) and
 * `source`, which says where the value is from, or why there is none. The same fields for all
 * devices; sizes are bytes, bandwidth is bytes per second. The caller frees the blob. Any thread;
 * also of a lost device. */
WYE_API wye_status wye_device_profile(wye_context* context, wye_device device, wye_blob** out,
                                      wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_PROFILE_H */
