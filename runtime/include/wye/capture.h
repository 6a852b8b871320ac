/* SPDX-License-Identifier: Apache-2.0
 *
 * The capture plan, an addition to wye.h, whose conventions hold: how much a graph of dispatches
 * takes to record, on any device, before it is recorded.
 */
#ifndef WYE_CAPTURE_H
#define WYE_CAPTURE_H

#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over the dispatches. `shared` buffers count nowhere. */
typedef struct wye_capture_plan {
    wye_header header;
    uint64_t dispatches;
    uint64_t input_buffers;  /* of the input list; an input_output counts here only */
    uint64_t output_buffers; /* the others */
    uint64_t readbacks;      /* of the output list */
    uint64_t kernel_pointers;
    uint64_t kernel_arguments; /* the pointers, and the block of parameters of each dispatch */
    /* 1: no dispatch has a buffer that it both reads and writes (input_output, persistent), so that
     * each replay leaves the same bytes while the inputs stay as they are. */
    uint32_t replay_safe;
    uint32_t reserved;
} wye_capture_plan;

/* The plan of a graph that dispatches these programs, in order; a program may be named often.
 * Nothing is recorded, and no device is needed. `out->header` must be set. WYE_INVALID_ARGUMENT for
 * no programs; WYE_LIMIT_EXCEEDED names the table that is too large. Any thread. */
WYE_API wye_status wye_capture_plan_make(wye_context* context, const wye_program* programs,
                                         uint64_t program_count, wye_capture_plan* out,
                                         wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_CAPTURE_H */
