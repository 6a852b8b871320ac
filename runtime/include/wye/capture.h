/* SPDX-License-Identifier: Apache-2.0
 *
 * The capture plan: how many objects a graph of dispatches needs, on any device, computed before it
 * is recorded. An addition to wye.h, whose conventions hold.
 */
#ifndef WYE_CAPTURE_H
#define WYE_CAPTURE_H

#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over the dispatches of a graph. `shared` buffers are not counted. */
typedef struct wye_capture_plan {
    wye_header header;
    uint64_t dispatches;
    uint64_t input_buffers;  /* buffers of the input list, including input_output */
    uint64_t output_buffers; /* all other buffers */
    uint64_t readbacks;      /* buffers of the output list */
    uint64_t kernel_pointers;
    uint64_t kernel_arguments; /* kernel_pointers, and one parameter block for each dispatch */
    /* 1: no dispatch has a buffer that it both reads and writes (input_output, persistent), so
     * every replay produces the same bytes from the same inputs. */
    uint32_t replay_safe;
    uint32_t reserved;
} wye_capture_plan;

/* Computes the plan of a graph that dispatches these programs in order; a program may occur several
 * times. Records nothing and needs no device. `out->header` must be set. WYE_INVALID_ARGUMENT if
 * there are no programs; WYE_LIMIT_EXCEEDED if a number reaches 2^64. Any thread. */
WYE_API wye_status wye_capture_plan_make(wye_context* context, const wye_program* programs,
                                         uint64_t program_count, wye_capture_plan* out,
                                         wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_CAPTURE_H */
