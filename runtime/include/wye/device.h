/* SPDX-License-Identifier: Apache-2.0
 *
 * The choice and life of devices, and the life of contexts, an addition to wye.h, whose conventions
 * hold: policies and their losers, set-up ahead of time, loss and recovery, closing a device,
 * shutting a context down; and what probes of plugins found.
 */
#ifndef WYE_DEVICE_H
#define WYE_DEVICE_H

#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How binding a selector is. */
enum wye_device_policy {
    WYE_POLICY_REQUIRE = 0, /* only devices that it names, in the order of its entries */
    WYE_POLICY_PREFER = 1,  /* these first; then the best of all that it does not exclude */
    WYE_POLICY_AUTO = 2     /* the best of those that it names, whatever their order */
};

/* How a device is chosen. */
typedef struct wye_device_choice {
    wye_header header;
    wye_string selector; /* as of wye_device_open */
    uint64_t program;    /* as of wye_device_open; may be 0 */
    uint32_t policy;     /* enum wye_device_policy */
    uint32_t reserved;   /* 0 */
} wye_device_choice;

/* As wye_device_open, which requires, by a policy. */
WYE_API wye_status wye_device_choose(wye_context* context, const wye_device_choice* choice,
                                     wye_device* out, wye_error** error);

/* Why something was passed over. */
enum wye_passed_over_why {
    WYE_PASSED_UNMATCHED = 0, /* an entry of the selector names nothing that exists */
    WYE_PASSED_EXCLUDED = 1,  /* an entry with "-" names it */
    WYE_PASSED_FAILED = 2,    /* a plugin has no devices */
    WYE_PASSED_UNUSABLE = 3,  /* its plugin says so */
    WYE_PASSED_UNFIT = 4,     /* it has not the properties asked for, or cannot run the program */
    WYE_PASSED_OUTRANKED = 5, /* the chosen one is better, or comes first */
    WYE_PASSED_NOT_TRIED = 6  /* a later entry of the selector */
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

/* What was passed over when the device was first opened, the better choices first. `index` counts
 * from 0; WYE_NOT_FOUND: there are no more. Strings live as those of wye_device_describe. */
WYE_API wye_status wye_device_passed_over(wye_context* context, wye_device device, uint64_t index,
                                          wye_passed_over* out, wye_error** error);

/* Does the set-up that the first dispatch on a device would do: a native queue, scratch memory, and
 * what the driver postpones. Compiles nothing; see wye_program_prepare. */
WYE_API wye_status wye_device_prepare(wye_context* context, wye_device device, wye_error** error);

/* Sets *lost to 1 if the device was lost since it was opened, else to 0. Asks the driver, which may
 * learn of a loss only when it is given work. */
WYE_API wye_status wye_device_is_lost(wye_context* context, wye_device device, uint32_t* lost,
                                      wye_error** error);

/* Takes a lost device back and opens it again: *out is its new handle, or `device` if it is not
 * lost. As wye_device_open of its selector; buffers, queues and graphs of the old handle stay lost.
 * WYE_UNSUPPORTED: it cannot be taken back in this process; the cause says why. WYE_DEVICE_BUSY:
 * what belongs to the old handle must be freed first, as the error says. */
WYE_API wye_status wye_device_recover(wye_context* context, wye_device device, wye_device* out,
                                      wye_error** error);

/* Closes a device before the end of the context: frees its buffers, queues, graphs, registered
 * memory, pending dispatches and compiled programs, whose handles become stale at once, as that of
 * the device. Calls that are in progress on other threads end as usual, and the driver's device is
 * closed after the last of them. Opening it again gives a new handle. The counters of the context
 * keep what it did.
 *
 * WYE_DEVICE_BUSY while its work is pending; WYE_BUFFER_IN_USE while one of its buffers is mapped.
 * Then nothing is closed. */
WYE_API wye_status wye_device_close(wye_context* context, wye_device device, wye_error** error);

/* As wye_context_destroy_within, but calls that begin with the context meanwhile and afterwards
 * return WYE_SHUTTING_DOWN, until wye_context_destroy frees what is left of it. */
WYE_API wye_status wye_context_shutdown(wye_context* context, uint64_t timeout_ns,
                                        wye_error** error);

/* ---- Probes of plugins -------------------------------------------------------------------- */

/* Before a plugin file is opened, the helper program wye-probe opens it in a process of its own
 * (WYE_PROBE, or "probe.mode" of the configuration); the verdict is kept in the cache folder. These
 * functions open no plugin and start no process. */

/* What earlier probes found, as JSON: an array of objects with `id`, `path`, `verdict` ("good",
 * "refused", "crashed", "exited", "timed_out", "flooded", "garbled", "out_of_memory", "trusted";
 * null: none), `quarantined`, `times`, `slot`, `how`, `printed`, `made_unix_ns`, `took_ns` and
 * `device_count`. */
WYE_API wye_status wye_verdicts_report(wye_context* context, wye_blob** out, wye_error** error);

/* Contexts made from now on open the plugin unprobed, as long as its file does not change.
 * WYE_NOT_FOUND: there is no plugin of this id; WYE_IO: it cannot be kept. */
WYE_API wye_status wye_verdict_trust(wye_context* context, wye_string plugin, wye_error** error);

/* Contexts made from now on probe the plugin anew; ends its trust. WYE_NOT_FOUND as above. */
WYE_API wye_status wye_verdict_forget(wye_context* context, wye_string plugin, wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_DEVICE_H */
