/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled pipelines, an addition to wye.h, whose conventions hold. `wye/pipeline.hpp` wraps it for
 * C++.
 */
#ifndef WYE_PIPELINE_H
#define WYE_PIPELINE_H

#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pipeline is a program compiled for one device with fixed options. Every call that takes a
 * wye_dispatch_desc takes a pipeline in its member `pipeline`; the results are those of a dispatch
 * that names the program, the device and the options themselves. A pipeline keeps its program
 * alive, whose handle may be freed. It is freed by wye_pipeline_free, or with its context. Its
 * calls may be made by any threads at once. */

typedef struct wye_pipeline_desc {
    wye_header header;
    wye_program program;
    wye_device device;
    /* As in wye_dispatch_desc. Dispatches through the pipeline leave these members 0. */
    uint32_t flags; /* WYE_DISPATCH_VARIANTS, WYE_DISPATCH_COOPERATIVE */
    uint32_t workgroup[3];
    uint32_t ulp_budget;
    uint32_t reserved;
    wye_string profile; /* of dispatches that have none; copied */
    /* What the caller was built for, 32 hex digits each; empty: anything. WYE_INVALID_ARGUMENT,
     * with both values, for a program of another layout, which is not compiled, and for a compiled
     * form of another layout. */
    wye_string layout_fingerprint;         /* of wye_program_description */
    wye_string backend_layout_fingerprint; /* of wye_pipeline_description */
} wye_pipeline_desc;

/* Compiles a program: every form that a dispatch may choose by its sizes and parameters, as
 * wye_program_prepare does. Forms that are in memory or in the disk cache are not compiled again.
 * At their first dispatch only are compiled: programs with grid barriers, which each launch splits
 * differently, and what a grid beyond the device's limits takes. Has no time limit.
 *
 * Errors: WYE_UNSUPPORTED with every reason if the device cannot run the program;
 * WYE_INVALID_ARGUMENT for options and fingerprints; WYE_COMPILE_FAILED; WYE_DEVICE_LOST; the
 * driver's. */
WYE_API wye_status wye_pipeline_create(wye_context* context, const wye_pipeline_desc* desc,
                                       wye_pipeline* out, wye_error** error);

/* What a slot of a backend layout holds. */
enum wye_layout_class {
    WYE_LAYOUT_STORAGE = 1, /* a buffer, or the trap words */
    WYE_LAYOUT_UNIFORM = 2 /* a buffer of the role `uniform`, or values: lengths, parameters, ... */
};

/* One slot of a backend layout. */
typedef struct wye_layout_slot {
    uint32_t group; /* the descriptor set; 0 */
    /* In the group: a descriptor's number, or the place among the kernel's arguments. */
    uint32_t binding;
    uint32_t layout_class; /* enum wye_layout_class */
    uint32_t read_only;
    uint32_t element_bytes; /* of a block of values: all of it */
    uint32_t reserved;      /* 0 */
} wye_layout_slot;

/* What a pipeline binds, and how it was compiled. */
typedef struct wye_pipeline_description {
    wye_header header;
    wye_string id; /* plugin and program: "cpu:" and 32 hex digits. Lives as long as the pipeline */
    const wye_program_description* program; /* also after its handle was freed; as above */
    wye_device device;
    uint32_t bindings; /* buffers that a dispatch binds: all but `shared` */
    uint32_t outputs;  /* of these: in the output list */
    uint64_t launches; /* submitted so far */
    /* Compiled forms that it asked for, in its creation and in dispatches that were checked in
     * full: found in memory, or not; and then in the disk cache, or not. */
    uint64_t memory_hits;
    uint64_t memory_misses;
    uint64_t disk_hits;
    uint64_t disk_misses; /* 0 while the disk cache is off */
    /* The backend layout: what the compiled program binds on this device, in its form with range
     * checks; and its fingerprint, 32 hex digits, the same on every machine. Pipelines of one
     * backend layout share what the driver makes of it (`layouts_made` and `layouts_shared` of
     * wye_counters). No slots and an empty fingerprint: a program with grid barriers, which each
     * launch splits differently. Both live as long as the pipeline. */
    wye_string backend_layout_fingerprint;
    const wye_layout_slot* layout_slots; /* ascending by group and binding */
    uint64_t layout_slot_count;
} wye_pipeline_description;

/* Describes a pipeline, also of a lost device. */
WYE_API wye_status wye_pipeline_describe(wye_context* context, wye_pipeline pipeline,
                                         wye_pipeline_description* out, wye_error** error);

/* Invalidates the handle. Work in flight, and graphs that recorded it, go on. */
WYE_API wye_status wye_pipeline_free(wye_context* context, wye_pipeline pipeline,
                                     wye_error** error);

/* ---- Batches ----------------------------------------------------------------------------- */

/* Several dispatches through one pipeline, submitted in order without waiting between them. Those
 * on resident buffers of a program that cannot trap go to the driver together, at most 256 at once.
 * Results are those of dispatches one after another.
 *
 * The batch stops at the first item that fails, and returns its error, which names it by its index.
 * What the items before it wrote stays. Items after it may have run, if it failed while it ran:
 * what they write is then unspecified. `*completed` (may be null) is the number of items before the
 * first that failed, also on failure. `report` (may be null) has the times of the whole and sums;
 * it is written on success and for WYE_TRAPPED. All calls wait for everything that they submitted.
 *
 * Errors besides those of wye_dispatch: WYE_INVALID_ARGUMENT for no items, and for items of another
 * pipeline; WYE_UNSUPPORTED for time-outs. */
typedef struct wye_batch_desc {
    wye_header header;
    wye_pipeline pipeline;
    const wye_dispatch_desc* items; /* their `pipeline` is this one, or 0 */
    uint64_t item_count;
    uint32_t flags; /* 0 */
    uint32_t reserved;
} wye_batch_desc;

/* Outputs go to the storage of each item's arguments, or stay in resident buffers. */
WYE_API wye_status wye_pipeline_batch(wye_context* context, const wye_batch_desc* desc,
                                      uint64_t* completed, wye_report* report, wye_error** error);

/* As wye_pipeline_batch, with outputs as of wye_dispatch_owned: `owners` has room for `item_count`
 * handles, and gets one for each completed item, also on failure, and 0 for the others. */
WYE_API wye_status wye_pipeline_batch_owned(wye_context* context, const wye_batch_desc* desc,
                                            wye_pending* owners, uint64_t* completed,
                                            wye_report* report, wye_error** error);

/* Items that differ in their resident buffers only. */
typedef struct wye_rows_desc {
    wye_header header;
    wye_pipeline pipeline;
    const wye_dispatch_desc*
        dispatch; /* of every row, without arguments; its `pipeline` as above */
    /* Row after row, `row_size` whole buffers each: all that a dispatch binds, by ascending
     * binding number. */
    const wye_buffer* buffers;
    uint64_t row_count;
    uint32_t row_size; /* `bindings` of wye_pipeline_description */
    uint32_t flags;    /* 0 */
    /* May be null. Gets the buffers of the output list of each completed row, also on failure: row
     * after row, `outputs` of wye_pipeline_description each, in the order of the output list. They
     * are those of `buffers`, which the caller frees, and may be bound to another dispatch. */
    wye_buffer* outputs;
} wye_rows_desc;

/* As wye_pipeline_batch. WYE_INVALID_ARGUMENT: `row_size` is not that of the pipeline. */
WYE_API wye_status wye_pipeline_rows(wye_context* context, const wye_rows_desc* desc,
                                     uint64_t* completed, wye_report* report, wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_PIPELINE_H */
