/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs, an addition to wye.h, whose conventions hold: dispatches and transfers that are recorded
 * once and executed many times.
 */
#ifndef WYE_GRAPH_H
#define WYE_GRAPH_H

#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Steps on buffers of one device, recorded once and executed many times as one submit; freed by
 * wye_graph_free. The driver keeps them in its own form where it can (a CUDA graph, a Vulkan
 * command buffer). Its calls may be made by any threads at once. */
typedef uint64_t wye_graph;

/* What a graph does at one point: one of the two, the other is null.
 * A dispatch has resident buffers only, and no time-out. A transfer is an upload, a download, a
 * copy or a fill; the host memory of uploads and downloads is the caller's, and is read or written
 * by each execution until its end. */
typedef struct wye_graph_step {
    const wye_dispatch_desc* dispatch;
    const wye_transfer_desc* transfer;
} wye_graph_step;

/* What a graph is made of. */
typedef struct wye_graph_desc {
    wye_header header;
    wye_device device;
    /* Run in order; each may use what those before it wrote. Read by wye_graph_create only. */
    const wye_graph_step* steps;
    uint64_t step_count;
    wye_string label; /* for the log and for errors */
    uint32_t flags;   /* 0 */
    uint32_t reserved;
} wye_graph_desc;

/* Checks and compiles every step as wye_dispatch and wye_buffer_transfer would, and runs none.
 * Errors name the step by its index. WYE_UNSUPPORTED for dispatches of host bytes. Programs may be
 * freed afterwards, buffers too: a graph that names a freed buffer does not run any more
 * (WYE_STALE_HANDLE) until wye_graph_rebind gives it another one. */
WYE_API wye_status wye_graph_create(wye_context* context, const wye_graph_desc* desc,
                                    wye_graph* out, wye_error** error);

/* One execution of a graph. */
typedef struct wye_graph_run_desc {
    wye_header header;
    /* The parameters of all dispatches, in order; each keeps its values until others are given.
     * Null and 0: as before. WYE_UNSUPPORTED where they decide sizes, or which form of a kernel
     * runs. */
    const uint64_t* params;
    uint64_t param_count;
    uint32_t flags; /* WYE_DISPATCH_TIMED; for wye_graph_submit also WYE_DISPATCH_AT_ONCE */
    uint32_t reserved;
    wye_queue queue; /* of the same device; 0: none. That of the recorded steps is 0 */
} wye_graph_run_desc;

/* Runs all steps and waits. `report` may be null; `groups` is that of a lone dispatch, else 0.
 * WYE_TRAPPED if any dispatch trapped; the steps after it run all the same. */
WYE_API wye_status wye_graph_run(wye_context* context, wye_graph graph,
                                 const wye_graph_run_desc* run, wye_report* report,
                                 wye_error** error);
/* As above, but does not wait: `*out` has no outputs. Limits as of wye_dispatch_submit. */
WYE_API wye_status wye_graph_submit(wye_context* context, wye_graph graph,
                                    const wye_graph_run_desc* run, wye_pending* out,
                                    wye_error** error);

/* A buffer takes the place of one that the steps name, freed or not. */
typedef struct wye_graph_rebinding {
    wye_buffer recorded;
    wye_buffer buffer;
} wye_graph_rebinding;

/* Gives a graph other buffers, for all later executions: each step that names a `recorded` buffer
 * is checked again with `buffer` in its place, of any size that fits it, and recorded again.
 * Changes are made at once, so two buffers can change places. Parameters keep their values.
 * WYE_DEVICE_BUSY while an execution is in flight, or was not waited for although its dispatches
 * can trap; WYE_NOT_FOUND for a buffer that no step names, WYE_DUPLICATE for one that is named
 * twice; else as wye_graph_create. On an error the graph stays as it was. */
WYE_API wye_status wye_graph_rebind(wye_context* context, wye_graph graph,
                                    const wye_graph_rebinding* rebindings, uint64_t rebinding_count,
                                    wye_error** error);

/* What a graph has, and what the driver made of it. */
typedef struct wye_graph_info {
    wye_header header;
    uint64_t dispatches; /* as recorded */
    uint64_t operations; /* of the device: launches, transfers, and fills of outputs */
    uint64_t recordings; /* times that the driver's own form was made */
    /* 1: launches, copies and fills that follow one another are one object of the driver; 0: they
     * are sent one by one. */
    uint32_t native;
    uint32_t reserved;
    uint64_t transfers; /* as recorded */
} wye_graph_info;

/* Describes a graph, also of a lost device. */
WYE_API wye_status wye_graph_describe(wye_context* context, wye_graph graph, wye_graph_info* out,
                                      wye_error** error);
/* Executions in flight end as usual. */
WYE_API wye_status wye_graph_free(wye_context* context, wye_graph graph, wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_GRAPH_H */
