/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: dispatches and transfers that are recorded once and executed many times. An addition to
 * wye.h, whose conventions hold.
 */
#ifndef WYE_GRAPH_H
#define WYE_GRAPH_H

#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Steps on buffers of one device, recorded once and executed many times as one submit; freed by
 * wye_graph_free. Where the driver supports it, the graph is recorded as a native object (a CUDA
 * graph, a Vulkan command buffer). Any threads may use a graph at the same time. */
typedef uint64_t wye_graph;

/* How an execution of a graph was sent to the driver: `graph` of wye_report. */
enum wye_graph_use {
    WYE_GRAPH_NONE = 0,    /* not a graph */
    WYE_GRAPH_NATIVE = 1,  /* as native objects of the driver: see wye_graph_info.native */
    WYE_GRAPH_REPLAYED = 2 /* operation by operation */
};

/* One step of a graph: a dispatch or a transfer; the other pointer is null. A dispatch has resident
 * buffers only, and no time limit. Each execution reads or writes the caller's host memory of
 * uploads, downloads and read-backs until it ends, also if a program traps. */
typedef struct wye_graph_step {
    const wye_dispatch_desc* dispatch;
    const wye_transfer_desc* transfer;
} wye_graph_step;

/* Steps and options of wye_graph_create. */
typedef struct wye_graph_desc {
    wye_header header;
    wye_device device; /* 0: the library chooses it, see wye/device.h */
    /* The steps, run in order; each may use what earlier ones wrote. Not used after
     * wye_graph_create returns. */
    const wye_graph_step* steps;
    uint64_t step_count;
    wye_string label; /* for the log and for errors */
    uint32_t flags;   /* 0 */
    uint32_t reserved;
} wye_graph_desc;

/* Records a graph: checks and compiles every step as wye_dispatch and wye_buffer_transfer would,
 * and runs none. Errors name the index of the step. WYE_UNSUPPORTED for dispatches with host
 * arguments. Programs and buffers may be freed afterwards; but running a graph that names a freed
 * buffer returns WYE_STALE_HANDLE until wye_graph_rebind replaces the buffer. */
WYE_API wye_status wye_graph_create(wye_context* context, const wye_graph_desc* desc,
                                    wye_graph* out, wye_error** error);

/* One execution of a graph. */
typedef struct wye_graph_run_desc {
    wye_header header;
    /* New values for the parameters of all dispatches, in order, which apply until they are changed
     * again. Null and 0: unchanged. WYE_UNSUPPORTED if a changed parameter decides sizes, which
     * form of a kernel runs, or whether a launch is deterministic. */
    const uint64_t* params;
    uint64_t param_count;
    uint32_t flags; /* WYE_DISPATCH_TIMED; for wye_graph_submit also WYE_DISPATCH_AT_ONCE */
    uint32_t reserved;
    wye_queue queue;     /* of the same device; 0: none. Recorded steps name no queue */
    uint64_t timeout_ns; /* of the whole execution, as in wye_dispatch_desc; 0: none */
} wye_graph_run_desc;

/* Runs all steps and waits. `report` may be null; its `groups` are set only if the graph has a
 * single dispatch. WYE_TRAPPED if any dispatch trapped; the steps after it run nevertheless. */
WYE_API wye_status wye_graph_run(wye_context* context, wye_graph graph,
                                 const wye_graph_run_desc* run, wye_report* report,
                                 wye_error** error);
/* As wye_graph_run, but does not wait. `*out` has no outputs. The limits of wye_dispatch_submit
 * apply. */
WYE_API wye_status wye_graph_submit(wye_context* context, wye_graph graph,
                                    const wye_graph_run_desc* run, wye_pending* out,
                                    wye_error** error);

/* Replaces `recorded`, a buffer that the steps name (it may have been freed), by `buffer`. */
typedef struct wye_graph_rebinding {
    wye_buffer recorded;
    wye_buffer buffer;
} wye_graph_rebinding;

/* Replaces buffers for all later executions. Each step that names a `recorded` buffer is checked
 * and recorded again with `buffer`, which may have any size that fits the step. All replacements
 * take effect together, so two buffers can change places. Parameters keep their values.
 * WYE_DEVICE_BUSY while an execution is in flight, or if its dispatches can trap and it has not
 * been waited for; WYE_NOT_FOUND for a buffer that no step names; WYE_DUPLICATE for one that is
 * given twice; otherwise the errors of wye_graph_create. On an error the graph is unchanged. */
WYE_API wye_status wye_graph_rebind(wye_context* context, wye_graph graph,
                                    const wye_graph_rebinding* rebindings, uint64_t rebinding_count,
                                    wye_error** error);

/* The size of a graph, and how the driver recorded it. */
typedef struct wye_graph_info {
    wye_header header;
    uint64_t dispatches; /* as recorded */
    uint64_t operations; /* operations on the device: launches, transfers and fills of outputs */
    uint64_t recordings; /* number of times that the native object was recorded */
    /* 1: successive launches, copies and fills are one native object of the driver; 0: they are
     * submitted one by one. */
    uint32_t native;
    uint32_t reserved;
    uint64_t transfers; /* as recorded */
    wye_device device;
    uint32_t routed; /* as in wye_report, as is `choice` */
    uint32_t choice;
} wye_graph_info;

/* Describes a graph, also of a lost device. */
WYE_API wye_status wye_graph_describe(wye_context* context, wye_graph graph, wye_graph_info* out,
                                      wye_error** error);
/* Frees a graph. Executions in flight end as usual. */
WYE_API wye_status wye_graph_free(wye_context* context, wye_graph graph, wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_GRAPH_H */
