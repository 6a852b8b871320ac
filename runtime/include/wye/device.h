/* SPDX-License-Identifier: Apache-2.0
 *
 * Choosing devices by a policy (and why others were passed over), or for a request that names none;
 * preparing, recovering and closing them; shutting down a context; the verdicts of plugin probes.
 * An addition to wye.h, whose conventions hold.
 */
#ifndef WYE_DEVICE_H
#define WYE_DEVICE_H

#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How strictly a selector is followed. */
enum wye_device_policy {
    WYE_POLICY_REQUIRE = 0, /* only devices that it names, in the order of its entries */
    WYE_POLICY_PREFER = 1,  /* these first, then the best other device that it does not exclude */
    WYE_POLICY_AUTO = 2     /* the best device that it names, whatever the order of its entries */
};

/* How a device is chosen. */
typedef struct wye_device_choice {
    wye_header header;
    wye_string selector; /* as in wye_device_open */
    uint64_t program;    /* as in wye_device_open; may be 0 */
    uint32_t policy;     /* enum wye_device_policy */
    uint32_t reserved;   /* 0 */
} wye_device_choice;

/* As wye_device_open (whose policy is WYE_POLICY_REQUIRE), with any policy. */
WYE_API wye_status wye_device_choose(wye_context* context, const wye_device_choice* choice,
                                     wye_device* out, wye_error** error);

/* Why a device, a plugin or an entry of the selector was passed over. */
enum wye_passed_over_why {
    WYE_PASSED_UNMATCHED = 0, /* an entry of the selector names nothing that exists */
    WYE_PASSED_EXCLUDED = 1,  /* an entry with "-" excludes it */
    WYE_PASSED_FAILED = 2,    /* the plugin offers no devices */
    WYE_PASSED_UNUSABLE = 3,  /* the plugin reports the device as unusable */
    WYE_PASSED_UNFIT = 4,     /* the device lacks a requested property or cannot run the program */
    WYE_PASSED_OUTRANKED = 5, /* the chosen device is better, or comes first */
    WYE_PASSED_NOT_TRIED = 6  /* the entry comes after the chosen one in the selector */
};

/* A device or a plugin that was not taken, with the reason. */
typedef struct wye_passed_over {
    wye_header header;
    wye_string selector; /* a device, a plugin, or an entry of the selector */
    wye_string reason;
    wye_string fix; /* begins with "Fix: "; may be empty */
    uint32_t why;   /* enum wye_passed_over_why */
    uint32_t reserved;
} wye_passed_over;

/* Returns what was passed over when the device was first opened, in order of preference. `index`
 * counts from 0; WYE_NOT_FOUND: there are no more. Strings live as long as those of
 * wye_device_describe. */
WYE_API wye_status wye_device_passed_over(wye_context* context, wye_device device, uint64_t index,
                                          wye_passed_over* out, wye_error** error);

/* ---- Requests that name no device --------------------------------------------------------- */

/* A dispatch, a pipeline and a graph may leave `device` 0. The device is then
 *   1. the owner of the resident buffers or the queue that the request names. Of a graph, the first
 *      step that names any decides. If the owner cannot run the program, that is an error, whose
 *      remedy names a device that can;
 *   2. else the device that wye_device_open opens for an empty selector. Here the sizes of the
 *      launch count too: a device that cannot run the program, hold the sizes or be opened is
 *      passed over, with the reason. WYE_NO_DEVICE has the reasons against all.
 * Pipelines and graphs keep the device for which they were made. The sizes of launches do not count
 * in its choice.
 *
 * A choice is made once: equal requests have the same device, until another device is opened or
 * closed, or the chosen one is lost. If a device fails while it runs a request, the request fails
 * and is not tried on another device. The devices are those of wye_device_open, and close with the
 * context. */

/* Who named the device of a request. */
enum wye_routed {
    WYE_ROUTED_NAMED = 0, /* the request or its pipeline, or the buffer of a transfer */
    WYE_ROUTED_OWNER = 1, /* none did: the device owns the resident buffers or the queue */
    WYE_ROUTED_CHOSEN = 2 /* the library chose it: see `choice` */
};

/* Why a device was chosen, and the others were not. Immutable; it may outlive its context. Its
 * strings live until it is freed. */
typedef struct wye_choice wye_choice;

/* Finds a choice by its number, from the member `choice` of wye_report, wye_pipeline_description or
 * wye_graph_info. WYE_NOT_FOUND: a context keeps the newest 256. */
WYE_API wye_status wye_choice_find(wye_context* context, uint32_t number, wye_choice** out,
                                   wye_error** error);
/* The device that was chosen, in the form that wye_device_open accepts. */
WYE_API wye_string wye_choice_selector(const wye_choice* choice);
/* Why it was chosen, as in wye_device_description. */
WYE_API wye_string wye_choice_reason(const wye_choice* choice);
/* Returns the passed-over item at an index, by preference. WYE_NOT_FOUND: there are no more. */
WYE_API wye_status wye_choice_passed_over(const wye_choice* choice, uint64_t index,
                                          wye_passed_over* out, wye_error** error);
/* Frees a choice, which no other call may be using. Null is allowed. */
WYE_API void wye_choice_free(wye_choice* choice);

/* ---- The life of a device ------------------------------------------------------------------ */

/* Does the set-up that the first dispatch on a device would do: makes a native queue and scratch
 * memory, and triggers work that the driver postpones. Compiles nothing; see wye_program_prepare.
 */
WYE_API wye_status wye_device_prepare(wye_context* context, wye_device device, wye_error** error);

/* Sets *lost to 1 if the device was lost since it was opened, else to 0. Asks the driver, which may
 * learn of a loss only when it is given work. */
WYE_API wye_status wye_device_is_lost(wye_context* context, wye_device device, uint32_t* lost,
                                      wye_error** error);

/* Opens a lost device again, as wye_device_open with its selector does. *out is its new handle, or
 * `device` if it is not lost. Buffers, queues and graphs of the old handle stay lost.
 * WYE_UNSUPPORTED: the device cannot be recovered in this process; the cause says why.
 * WYE_DEVICE_BUSY: objects of the old handle must be freed first; the error names them. */
WYE_API wye_status wye_device_recover(wye_context* context, wye_device device, wye_device* out,
                                      wye_error** error);

/* Closes a device before the end of the context. Frees its buffers, queues, graphs, registered
 * memory, pending dispatches and compiled programs; their handles and that of the device become
 * stale immediately. Calls in progress on other threads end as usual, and the driver's device is
 * closed after the last of them. Opening the device again returns a new handle. The context's
 * counters still include it.
 *
 * WYE_DEVICE_BUSY while work of the device is pending; WYE_BUFFER_IN_USE while one of its buffers
 * is mapped. On an error nothing is closed. */
WYE_API wye_status wye_device_close(wye_context* context, wye_device device, wye_error** error);

/* ---- Memory of a device -------------------------------------------------------------------- */

/* Memory that a device holds for a context, by use; bytes of device memory unless stated. */
typedef struct wye_memory_use {
    wye_header header;
    uint64_t limit;         /* of `buffers` + `scratch`; 0: none */
    uint64_t context_limit; /* of the same sum over all devices of the context; 0: none */
    uint64_t total;         /* the fact memory_bytes; 0: unknown */
    uint64_t buffers;       /* that the application made; adopted ones do not count */
    uint64_t scratch;       /* for host arguments and traps: kept for later dispatches, or in use */
    uint64_t scratch_idle;  /* of `scratch`: not in use; wye_device_trim frees it */
    uint64_t staging;       /* host memory that transfers and pending dispatches use */
    uint64_t staging_idle;  /* of `staging`: not in use; wye_device_trim frees it */
    uint64_t registered;    /* host memory of the caller, registered with the driver */
    uint64_t programs;      /* compiled programs in memory (a number) */
    uint64_t trims;         /* times that memory was trimmed: by calls, at a limit, when short */
} wye_memory_use;

/* Returns the memory use of a device. `out->header` must be set. */
WYE_API wye_status wye_device_memory(wye_context* context, wye_device device, wye_memory_use* out,
                                     wye_error** error);

/* Frees the scratch and staging memory that the library keeps for later use and that is not in use
 * now. `freed_bytes`, of device and host together, may be null. When an allocation of the driver
 * fails, the library itself trims the device once and tries the allocation again. */
WYE_API wye_status wye_device_trim(wye_context* context, wye_device device, uint64_t* freed_bytes,
                                   wye_error** error);

/* Limits the device memory that a device, or with `device` 0 the whole context, holds for buffers
 * and scratch memory (0: no limit). An allocation that exceeds the limit, even after idle scratch
 * memory is freed, fails with WYE_DEVICE_MEMORY; the error says how much each device holds. A limit
 * below the memory in use frees no buffer. The settings "memory.device_limit" and
 * "memory.context_limit" are the limits at the start. */
WYE_API wye_status wye_memory_limit(wye_context* context, wye_device device, uint64_t bytes,
                                    wye_error** error);

/* ---- The end ------------------------------------------------------------------------------- */

/* As wye_context_destroy_within, but the context itself stays: calls that begin during the shutdown
 * or afterwards return WYE_SHUTTING_DOWN. wye_context_destroy then frees it. */
WYE_API wye_status wye_context_shutdown(wye_context* context, uint64_t timeout_ns,
                                        wye_error** error);

/* ---- Probes of plugins -------------------------------------------------------------------- */

/* Before a plugin file is opened, the helper program wye-probe opens it in a separate process (see
 * WYE_PROBE and the setting "probe.mode"); the verdict is kept in the cache folder. These functions
 * open no plugin and start no process. */

/* Returns the verdicts of earlier probes as JSON: an array of objects with `id`, `path`, `verdict`
 * ("good", "refused", "crashed", "exited", "timed_out", "flooded", "garbled", "out_of_memory",
 * "trusted"; null: none), `quarantined`, `times`, `slot`, `how`, `printed`, `made_unix_ns`,
 * `took_ns`, `device_count` and `reason` (a record as in the report; null: nothing is wrong). */
WYE_API wye_status wye_verdicts_report(wye_context* context, wye_blob** out, wye_error** error);

/* Marks a plugin as trusted: contexts created later open it without a probe, as long as its file
 * does not change. WYE_NOT_FOUND: there is no plugin with this id; WYE_IO: the verdict cannot be
 * saved. */
WYE_API wye_status wye_verdict_trust(wye_context* context, wye_string plugin, wye_error** error);

/* Deletes the verdict on a plugin, and its trust: contexts created later probe it again.
 * WYE_NOT_FOUND: there is no plugin with this id. */
WYE_API wye_status wye_verdict_forget(wye_context* context, wye_string plugin, wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_DEVICE_H */
