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
 * wye_dispatch_desc takes a pipeline in its member `pipeline`; results are the same as for a
 * dispatch that names the program, device and options itself. A pipeline keeps its program alive,
 * so the program's handle may be freed. A pipeline is freed by wye_pipeline_free, or with its
 * context. Any threads may use it at the same time. */

typedef struct wye_pipeline_desc {
    wye_header header;
    wye_program program;
    wye_device device; /* 0: the library chooses it, see wye/device.h */
    /* As in wye_dispatch_desc. Dispatches through the pipeline leave these members 0. */
    uint32_t flags; /* WYE_DISPATCH_VARIANTS, WYE_DISPATCH_COOPERATIVE */
    uint32_t workgroup[3];
    uint32_t ulp_budget;
    uint32_t reserved;
    wye_string profile; /* for dispatches that name none; copied */
    /* The layouts that the caller expects, 32 hex digits each; empty: any. If the program has
     * another layout (it is then not compiled), or the compiled form another backend layout, the
     * error is WYE_INVALID_ARGUMENT and names both values. */
    wye_string layout_fingerprint;         /* as in wye_program_description */
    wye_string backend_layout_fingerprint; /* as in wye_pipeline_description */
    uint64_t timeout_ns; /* 0: none. A compile that takes longer continues, see wye_dispatch */
} wye_pipeline_desc;

/* Makes a pipeline. Compiles every form of the program that a dispatch may choose by its sizes and
 * parameters, as wye_program_prepare does. Forms that are in memory or in the disk cache are not
 * compiled again. Two things are compiled only when they are first dispatched: programs with grid
 * barriers, which each launch splits differently, and the forms for a grid beyond the device's
 * limits. With WYE_DISPATCH_COOPERATIVE a program with grid barriers is compiled as one launch if
 * the device can run it so; each dispatch decides by its workgroups.
 *
 * Errors: WYE_UNSUPPORTED with every reason if the device cannot run the program;
 * WYE_INVALID_ARGUMENT for bad options and unequal fingerprints; WYE_COMPILE_FAILED; WYE_TIMEOUT;
 * WYE_DEVICE_LOST; errors of the driver. */
WYE_API wye_status wye_pipeline_create(wye_context* context, const wye_pipeline_desc* desc,
                                       wye_pipeline* out, wye_error** error);

/* As wye_pipeline_create, but does not wait for the compile, which a thread of the library does.
 * Errors found before the compile are returned by this call, later ones by wye_pending_wait.
 * Strings of `desc` are copied. `*out` is polled, waited for, cancelled and given a callback like
 * a dispatch; its report has `compiled` and `disk_cache`. */
WYE_API wye_status wye_pipeline_create_submit(wye_context* context, const wye_pipeline_desc* desc,
                                              wye_pending* out, wye_error** error);

/* Takes the pipeline that wye_pipeline_create_submit made: the first call gets its handle, which
 * the caller then owns. Freeing `pending` frees a pipeline that nobody took. WYE_NOT_READY before
 * the end; the error of the compile if it failed; WYE_NOT_FOUND for other pending work, and once
 * the pipeline was taken. */
WYE_API wye_status wye_pending_pipeline(wye_context* context, wye_pending pending,
                                        wye_pipeline* out, wye_error** error);

/* As wye_program_prepare, but does not wait for the compile, like wye_pipeline_create_submit.
 * `timeout_ns` is as in wye_pipeline_desc. */
WYE_API wye_status wye_program_prepare_submit(wye_context* context, wye_program program,
                                              wye_device device, uint64_t timeout_ns,
                                              wye_pending* out, wye_error** error);

/* What a slot of a backend layout holds. */
enum wye_layout_class {
    WYE_LAYOUT_STORAGE = 1, /* a buffer, or the trap words */
    WYE_LAYOUT_UNIFORM = 2 /* a buffer of the role `uniform`, or values: lengths, parameters, ... */
};

/* One slot of a backend layout. */
typedef struct wye_layout_slot {
    uint32_t group; /* the number of the descriptor set; always 0 */
    /* The descriptor's binding number in the group, or the index of the kernel argument. */
    uint32_t binding;
    uint32_t layout_class; /* enum wye_layout_class */
    uint32_t read_only;
    uint32_t element_bytes; /* of a block of values: its whole size */
    uint32_t reserved;      /* 0 */
} wye_layout_slot;

/* What a pipeline binds, and how it was compiled. */
typedef struct wye_pipeline_description {
    wye_header header;
    wye_string id; /* plugin and program: "cpu:" and 32 hex digits. Lives as long as the pipeline */
    /* valid as long as `id`, even if the program's handle is freed */
    const wye_program_description* program;
    wye_device device;
    uint32_t bindings; /* buffers that a dispatch binds: all except `shared` ones */
    uint32_t outputs;  /* of `bindings`: those in the output list */
    uint64_t launches; /* launches submitted so far */
    /* Look-ups of compiled forms, at creation and by dispatches that were checked in full: found in
     * memory or not; if not, found in the disk cache or not. */
    uint64_t memory_hits;
    uint64_t memory_misses;
    uint64_t disk_hits;
    uint64_t disk_misses; /* 0 while the disk cache is off */
    /* The backend layout: the slots that the compiled program (its form with range checks) binds on
     * this device, and their fingerprint, 32 hex digits, the same on every machine. Pipelines with
     * the same backend layout share the driver's layout objects (`layouts_made` and
     * `layouts_shared` of wye_counters). A program with grid barriers that is not compiled as one
     * launch, since each launch splits it differently, has no slots and an empty fingerprint. Slots
     * and fingerprint live as long as the pipeline. */
    wye_string backend_layout_fingerprint;
    const wye_layout_slot* layout_slots; /* ascending by group and binding */
    uint64_t layout_slot_count;
    /* What the driver says about the compiled program (its form with range checks). 0: unknown. */
    uint64_t private_bytes;   /* of memory that one invocation spills to */
    uint64_t shared_bytes;    /* of one workgroup */
    uint32_t max_invocations; /* of one workgroup */
    uint32_t registers;       /* of one invocation */
    uint32_t resident_groups; /* workgroups that run at once on the whole device */
    uint32_t reserved;        /* 0 */
    uint32_t routed;          /* as in wye_report, as is `choice` */
    uint32_t choice;
} wye_pipeline_description;

/* Describes a pipeline, even if its device is lost. */
WYE_API wye_status wye_pipeline_describe(wye_context* context, wye_pipeline pipeline,
                                         wye_pipeline_description* out, wye_error** error);

/* Invalidates the handle. Work in flight continues, and graphs that recorded the pipeline stay
 * valid. */
WYE_API wye_status wye_pipeline_free(wye_context* context, wye_pipeline pipeline,
                                     wye_error** error);

/* ---- Batches ----------------------------------------------------------------------------- */

/* Flags of wye_batch_desc. */
#define WYE_BATCH_POINTERS 1U /* `pointers` is given in place of `items` */

/* A batch is several dispatches through one pipeline, submitted in order without waiting between
 * them. If the program cannot trap, dispatches on resident buffers without a read-back go to the
 * driver together, up to 512 at once. Results are the same as for dispatches one after another.
 *
 * The batch stops at the first item that fails and returns its error, which names the item's index.
 * What earlier items wrote stays. If the item failed while it ran, later items may have run too;
 * what they write is unspecified. `completed` may be null; on success and failure it is set to the
 * number of items before the first one that failed. `report` may be null; it gets the times of the
 * whole batch and sums over the items, on success and for WYE_TRAPPED. All calls wait for
 * everything that they submitted.
 *
 * Errors besides those of wye_dispatch: WYE_INVALID_ARGUMENT if there are no items, or an item
 * names another pipeline or has a time limit of its own. */
typedef struct wye_batch_desc {
    wye_header header;
    wye_pipeline pipeline;
    union {
        const wye_dispatch_desc* items; /* the `pipeline` of each is this one or 0 */
        /* Pointers to the items. A repeated pointer costs less than another equal item. */
        const wye_dispatch_desc* const* pointers;
    };
    uint64_t item_count;
    uint32_t flags; /* WYE_BATCH_* */
    uint32_t reserved;
    uint64_t timeout_ns; /* of the whole batch, as in wye_dispatch_desc; 0: none */
} wye_batch_desc;

/* Runs a batch. Outputs go to the storage that each item's arguments name, or stay in resident
 * buffers. */
WYE_API wye_status wye_pipeline_batch(wye_context* context, const wye_batch_desc* desc,
                                      uint64_t* completed, wye_report* report, wye_error** error);

/* As wye_pipeline_batch, with outputs as in wye_dispatch_owned: `owners` has room for `item_count`
 * handles; on success and failure each completed item gets a handle, the others get 0. */
WYE_API wye_status wye_pipeline_batch_owned(wye_context* context, const wye_batch_desc* desc,
                                            wye_pending* owners, uint64_t* completed,
                                            wye_report* report, wye_error** error);

/* A batch whose items differ only in their resident buffers; each item is a row of buffers. */
typedef struct wye_rows_desc {
    wye_header header;
    wye_pipeline pipeline;
    const wye_dispatch_desc*
        dispatch; /* the request of every row, without arguments; its `pipeline` is this one or 0 */
    /* The rows one after another. Each has `row_size` whole buffers: all that a dispatch binds, in
     * ascending order of binding numbers. */
    const wye_buffer* buffers;
    uint64_t row_count;
    uint32_t row_size; /* `bindings` of wye_pipeline_description */
    uint32_t flags;    /* 0 */
    /* May be null. On success and failure it gets the buffers in the output list of each completed
     * row, row after row, in the order of the output list; their number per row is `outputs` of
     * wye_pipeline_description. They are handles from `buffers`, so the caller owns them. */
    wye_buffer* outputs;
    uint64_t timeout_ns; /* as in wye_batch_desc */
} wye_rows_desc;

/* Runs a batch of rows, as wye_pipeline_batch does. WYE_INVALID_ARGUMENT: `row_size` is not that of
 * the pipeline. */
WYE_API wye_status wye_pipeline_rows(wye_context* context, const wye_rows_desc* desc,
                                     uint64_t* completed, wye_report* report, wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_PIPELINE_H */
