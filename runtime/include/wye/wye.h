/* SPDX-License-Identifier: Apache-2.0
 *
 * The Wye C API: load a portable compute program, pick a device at run time, dispatch.
 * Exported by libwye.so; C11, also clean as C++20. `wye/wye.hpp` wraps it for C++.
 *
 * Conventions
 *  - Every call that can fail returns a wye_status and takes a `wye_error** error` sink, which may
 *    be null. On failure outputs are untouched and *error is set; the caller frees it with
 *    wye_error_free. Each error has a code, a sentence and a remedy that begins with "Fix: ".
 *  - Devices, queues, programs and buffers are 64-bit handles of one context. Stale handles, and
 *    those of another context or kind, are refused before any driver is entered. 0 is never a
 *    valid handle.
 *  - Every function may be called from any thread at any time, for the same objects too.
 *  - External synchronisation: the caller must keep other threads from using the following; the
 *    library does not check this. It synchronises every other parameter itself.
 *      Memory that a call writes (`out`, `report`, `error`, ...), and the structures, host bytes
 *        and strings that it reads: until the call returns.
 *      `error` of wye_error_free, `blob` of wye_blob_free: no other call may use that object.
 *      `context` of wye_context_destroy and wye_context_destroy_within: no call may begin after
 *        either has returned. Both wait for calls in progress; calls that begin meanwhile return
 *        WYE_SHUTTING_DOWN.
 *    Two calls on two threads that use the same resident buffer run one after the other, in
 *    unspecified order.
 *  - Callbacks (the log, `resolve`) run inside calls. They may call functions that take no context
 *    or a different context; a call with the callback's own context returns WYE_INVALID_ARGUMENT.
 *    They must not throw, and must not wait for another thread that is in a call with that context.
 *  - After `fork`, contexts of the parent cannot be used in the child, which has neither their
 *    threads nor their drivers: calls return WYE_WRONG_OWNER, and destroying frees no memory; both
 *    return at once. If the parent had opened plugins, new contexts of the child have only the
 *    built-in CPU plugin. Children of a raw `clone` are not detected. End a child by `_exit` or
 *    `exec`: drivers' exit handlers run in it too; NVIDIA Vulkan's crashes it, hanging the parent.
 *  - A thread inside a call must not be ended by pthread_cancel: that ends the process.
 *  - Calls need 256 KiB of stack. Deeply nested programs and drivers' compilers need more: they run
 *    on threads of the library with 16 MiB of stack and signals blocked, while the caller waits.
 *  - Structures begin with wye_header: set `size` to sizeof, the rest to zero (WYE_INIT does both).
 *    A size that this version (0.x) does not know is refused. Reserved members must be zero.
 *  - Strings are {pointer, size}, UTF-8; use wye_str for literals. Pointers passed to a call are
 *    not used after it returns.
 *  - Sizes and offsets are bytes, times are nanoseconds, buffers are little endian.
 *  - Nothing falls back silently: if a device cannot serve a request, the error says why.
 */
#ifndef WYE_WYE_H
#define WYE_WYE_H

#include <string.h>

#include "wye/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(WYE_BUILDING)
#define WYE_API __attribute__((visibility("default")))
#else
#define WYE_API /* a function that libwye.so exports */
#endif

#define WYE_VERSION_MAJOR 0 /* of this header; 0.x may change: VERSIONS.md says what is stable */
#define WYE_VERSION_MINOR 1 /* of this header */
#define WYE_VERSION_PATCH 0 /* of this header */

/* Zeroes a structure and sets its size. */
#define WYE_INIT(object) \
    (memset(&(object), 0, sizeof(object)), (object).header.size = sizeof(object))

/* A string of a literal, or of any text that ends with a null character. */
static inline wye_string wye_str(const char* text) {
    const wye_string s = {text, text ? strlen(text) : 0};
    return s;
}

/* The library's version, "0.1.0". Static. */
WYE_API const char* wye_version(void);

/* ---- Errors ------------------------------------------------------------------------------ */

/* The fixed text of a status code, such as "wrong owner". Static storage; never null. */
WYE_API const char* wye_status_text(wye_status status);

/* The members of an error. Strings are null-terminated and live as long as the error. A null error
 * has the status WYE_OUT_OF_MEMORY, the only failure that may set no error object. */
WYE_API wye_status wye_error_status(const wye_error* error);
WYE_API wye_string wye_error_message(const wye_error* error);       /* the sentence */
WYE_API wye_string wye_error_fix(const wye_error* error);           /* the remedy */
WYE_API wye_string wye_error_subject(const wye_error* error);       /* may be empty */
WYE_API wye_string wye_error_native_domain(const wye_error* error); /* "opencl"; or empty */
WYE_API int64_t wye_error_native_code(const wye_error* error);      /* of that domain; 0: none */
WYE_API const wye_error* wye_error_cause(const wye_error* error);   /* borrowed; null: none */
WYE_API wye_string wye_error_text(const wye_error* error); /* several lines, with all causes */
WYE_API void wye_error_free(wye_error* error);             /* null is fine */

/* ---- Blobs: bytes made by the library ---------------------------------------------------- */

typedef struct wye_blob wye_blob;                       /* bytes that the caller frees */
WYE_API wye_bytes wye_blob_bytes(const wye_blob* blob); /* a null byte follows the last one */
WYE_API void wye_blob_free(wye_blob* blob);             /* null is fine */

/* ---- Context ----------------------------------------------------------------------------- */

/* Everything that the library keeps for its user: plugins, devices, programs and buffers. */
typedef struct wye_context wye_context;

/* Receives a log message; `level` is enum wye_log_level. The strings are valid during the call. */
typedef void (*wye_log_fn)(void* user, uint32_t level, wye_string area, wye_string text);

/* A configuration key with its value. */
typedef struct wye_key_value {
    wye_string key;
    wye_string value;
} wye_key_value;

#define WYE_CONTEXT_IGNORE_ENVIRONMENT 1U /* WYE_* variables are not read */
#define WYE_CONTEXT_NO_PLUGINS 2U         /* the built-in CPU plugin only */
/* For reports: plugin files are opened in separate processes only (or not at all, if the verdict of
 * an earlier probe is known). Their devices are listed with facts, but cannot be opened. */
#define WYE_CONTEXT_DESCRIBE 4U

/* Options of wye_context_create. */
typedef struct wye_context_desc {
    wye_header header;
    uint32_t flags; /* WYE_CONTEXT_* */
    uint32_t reserved;
    const wye_string* plugin_paths; /* files or folders, searched first */
    uint64_t plugin_path_count;
    /* Settings of plugins and library: "cpu.threads", "trace.file", ...; CONFIGURATION.md, which is
     * installed, lists them. Unknown keys without a dot or in the library's areas are refused. */
    const wye_key_value* config;
    uint64_t config_count;
    /* May be null. Receives all messages, from any thread, until the context is destroyed. If the
     * variable WYE_LOG is set, messages also go to standard error. */
    wye_log_fn log;
    void* log_user;
} wye_context_desc;

/* Searches for plugins and reads their manifests; opens none. `desc` may be null. */
WYE_API wye_status wye_context_create(const wye_context_desc* desc, wye_context** out,
                                      wye_error** error);

/* Waits for the context's calls and device work, without a time limit, and closes everything in
 * reverse order of creation. `context` may be null. Does nothing in a callback of the context. */
WYE_API void wye_context_destroy(wye_context* context);

/* As wye_context_destroy, but waits at most `timeout_ns` (UINT64_MAX: no limit; 0: does not wait)
 * and then abandons work that is still running. Afterwards no call may use the context, and its log
 * callback is not called, unless the error is one of the last three below.
 *
 * WYE_TIMEOUT: work was abandoned. A thread of the library waits for it and frees everything once
 * it ends; until then the context's memory, buffers, programs and devices stay, and the driver may
 * use them. The caller's memory is no longer used, except by calls that are still in progress on
 * other threads, until they return. The library stays loaded. If a driver waits for its work at the
 * end of the process, `exit` hangs with it: call `_exit` then.
 * WYE_OUT_OF_MEMORY: that thread cannot be started; nothing is freed until the process ends.
 * Three errors leave the context unchanged: WYE_INVALID_ARGUMENT (called from the context's own
 * callback), WYE_SHUTTING_DOWN (another thread is destroying it), WYE_WRONG_OWNER (called in a
 * forked child). */
WYE_API wye_status wye_context_destroy_within(wye_context* context, uint64_t timeout_ns,
                                              wye_error** error);

/* The catalogue as one JSON document (schema_version, host, filters, plugins, devices): every
 * plugin candidate with its state and the reason it was passed over, every device with facts, the
 * physical devices, and the entries of `selector` that name nothing. Opens the plugins that
 * `selector` can mean. An empty selector stands for $WYE_DEVICE, or for all plugins if that is not
 * set. */
WYE_API wye_status wye_context_report(wye_context* context, wye_string selector, wye_blob** out,
                                      wye_error** error);

/* ---- Devices ----------------------------------------------------------------------------- */

/* The handle of an opened device. */
typedef uint64_t wye_device;

/* Opens the device that a selector names: "cpu", "opencl:0", "auto", or a comma-separated list of
 * preferences; wye(1) documents the grammar. An empty selector stands for $WYE_DEVICE, or for
 * "auto" if that is not set. Only plugins that the selector can mean are opened. With a `program`
 * (may be 0), devices that cannot run it are passed over; if no device is left, the error is
 * WYE_NO_DEVICE, with the reason against each device as a cause. Opening a device again returns the
 * same handle. After a device was lost, opening it returns a new handle; calls with the old one
 * keep returning WYE_DEVICE_LOST. The context closes its devices. */
WYE_API wye_status wye_device_open(wye_context* context, wye_string selector, uint64_t program,
                                   wye_device* out, wye_error** error);

/* The identity of an opened device, and why it was chosen. */
typedef struct wye_device_description {
    wye_header header;
    wye_string selector; /* in the form that wye_device_open accepts */
    wye_string name;
    wye_string plugin;
    wye_string format; /* of the code that it compiles, "opencl-c"; empty: native variants only */
    wye_string reason; /* why this device was chosen when it was first opened */
} wye_device_description;

/* Describes an opened device. Strings live until wye_device_close, or the end of the context. */
WYE_API wye_status wye_device_describe(wye_context* context, wye_device device,
                                       wye_device_description* out, wye_error** error);

/* Returns a fact by its JSON name, as "int64". WYE_UNSUPPORTED: the device does not report it. */
WYE_API wye_status wye_device_fact(wye_context* context, wye_device device, wye_string name,
                                   wye_fact* out, wye_error** error);

/* Waits until no work runs on the device, nor a compile whose caller timed out. */
WYE_API wye_status wye_device_flush(wye_context* context, wye_device device, wye_error** error);

/* Counts what a device has done for a context since it was opened. Counting is always on and costs
 * next to nothing. Calls in progress on other threads may be counted in part. */
typedef struct wye_counters {
    wye_header header;
    uint64_t dispatches;          /* dispatches that succeeded */
    uint64_t dispatches_failed;   /* dispatches that were refused or ended with an error */
    uint64_t dispatches_repeated; /* of both: equal to an earlier dispatch, so not fully checked */
    uint64_t submits;             /* submits to the driver's queues, by any call */
    uint64_t waits;               /* blocking waits in the driver for submitted work */
    uint64_t polls;               /* times the driver was asked whether work has ended */
    uint64_t polls_ended;         /* of `polls`: the work had ended */
    /* Bytes moved by dispatches and transfers that succeeded, as in their reports. */
    uint64_t bytes_uploaded;
    uint64_t bytes_downloaded;
    uint64_t bytes_copied; /* by wye_buffer_copy */
    uint64_t bytes_filled;
    /* Device memory: the application's buffers, and those that the library makes for host
     * arguments. Staging memory is host memory and is not counted. */
    uint64_t buffers_made;
    uint64_t buffer_bytes;      /* size of the buffers that exist at the moment */
    uint64_t peak_buffer_bytes; /* the maximum so far; for a context the sum over its devices */
    uint64_t scratch_made;      /* of `buffers_made`: for host arguments; they are reused */
    /* Origins of compiled programs, for fully checked dispatches and wye_program_prepare. */
    uint64_t programs_compiled;
    uint64_t programs_loaded; /* from the disk cache */
    uint64_t programs_found;  /* in memory */
    uint64_t queues_made;     /* by wye_queue_create */
    uint64_t queue_submits;   /* of `submits`: of work that named a queue */
    /* Parts of bytes_uploaded and bytes_downloaded: bytes that the device itself copied from or to
     * registered memory, and bytes that wye_buffer_copy_across moved through host memory. */
    uint64_t bytes_registered;
    uint64_t bytes_across;
    /* Descriptor layouts that the driver made, and programs that reused an existing layout. 0 for
     * drivers without descriptor layouts (all but Vulkan). */
    uint64_t layouts_made;
    uint64_t layouts_shared;
} wye_counters;

/* Returns the counters of one opened device. `out->header` must be set. Any thread. Fails only for
 * a bad handle or header; the handle of a lost device keeps its counters. */
WYE_API wye_status wye_device_counters(wye_context* context, wye_device device, wye_counters* out,
                                       wye_error** error);

/* Returns the sums over all devices that the context has opened, also lost and closed ones. */
WYE_API wye_status wye_context_counters(wye_context* context, wye_counters* out, wye_error** error);

/* ---- Queues ------------------------------------------------------------------------------ */

/* A queue of one device, made by wye_queue_create and freed by wye_queue_free. Work that names a
 * queue (member `queue` of wye_dispatch_desc, wye_graph_run_desc, wye_transfer_desc) runs on it;
 * work that names none (0) is spread over native queues of the library. In either case the results
 * are as if the calls ran one after another: work that conflicts with earlier work (one of the two
 * writes a buffer that the other uses) runs after it, whatever their queues. Work without a
 * conflict may run at the same time on two queues; on one queue it runs in order. So queues need no
 * events or barriers. Any threads may use a queue at the same time. */
typedef uint64_t wye_queue;

/* Fail with WYE_LIMIT_EXCEEDED rather than share a native queue. */
#define WYE_QUEUE_OWN 1U

/* Options of wye_queue_create. */
typedef struct wye_queue_create_desc {
    wye_header header;
    wye_string label; /* for errors, logs and traces */
    uint32_t kind;    /* enum wye_queue_kind; TRANSFER: for wye_buffer_transfer only */
    int32_t priority; /* above 0: before other work, below: after it, as far as the driver can */
    uint32_t flags;   /* WYE_QUEUE_* */
    uint32_t reserved;
} wye_queue_create_desc;

/* Makes a queue. Kind and priority are hints; wye_queue_describe tells what the driver granted. A
 * device has at most 8 queues at a time (WYE_LIMIT_EXCEEDED). Up to 4 (setting "queues.count") of
 * its native queues (fact "max_queues") serve work that names no queue. Each wye_queue gets one of
 * the others while one is unused, and keeps it until its work has ended, even if it is freed. Any
 * further wye_queue shares one of those 4, in order with the other work there. */
WYE_API wye_status wye_queue_create(wye_context* context, wye_device device,
                                    const wye_queue_create_desc* desc, wye_queue* out,
                                    wye_error** error);

/* Requested and granted properties of a queue. */
typedef struct wye_queue_description {
    wye_header header;
    wye_device device;
    wye_string label; /* lives as long as the queue */
    uint32_t kind;    /* as requested, as is `priority` */
    int32_t priority;
    uint32_t granted_kind;    /* ANY: the native queue has no special kind */
    int32_t granted_priority; /* 0: the driver does not prefer its work */
    uint32_t native_index;    /* the driver's queue number, from 1; 0: it has none */
    uint32_t shared;          /* 1: its native queue runs other work too */
    uint64_t submits;         /* submits to the driver's queue so far */
} wye_queue_description;

/* Describes a queue, also of a lost device. */
WYE_API wye_status wye_queue_describe(wye_context* context, wye_queue queue,
                                      wye_queue_description* out, wye_error** error);

/* Waits until all work that was submitted to the queue has ended, with or without success; only
 * the calls that wait for that work return its errors. WYE_DEVICE_LOST: the device was lost. */
WYE_API wye_status wye_queue_flush(wye_context* context, wye_queue queue, wye_error** error);

/* Invalidates the handle. Work in flight goes on. */
WYE_API wye_status wye_queue_free(wye_context* context, wye_queue queue, wye_error** error);

/* ---- Programs ---------------------------------------------------------------------------- */

/* The handle of a checked program. */
typedef uint64_t wye_program;

/* Provides the bytes of the file that a `variant ... file "NAME"` clause names; the library opens
 * no files itself. Returns WYE_OK and sets *out, whose bytes must stay valid until
 * wye_program_create returns. Called on the thread that called wye_program_create; see the
 * conventions for the functions that it may call. */
typedef wye_status (*wye_resolve_fn)(void* user, wye_string name, wye_bytes* out);

/* The source of a program, in one of two forms. */
typedef struct wye_program_source {
    wye_header header;
    wye_string name;        /* a file name for diagnostics; may be empty */
    wye_string text;        /* the text form (.wye); empty if `wire` is given */
    wye_bytes wire;         /* the binary form; empty if `text` is given */
    wye_resolve_fn resolve; /* may be null: `file` clauses are then refused */
    void* resolve_user;
} wye_program_source;

/* Reads and validates a program; wye_program_free frees it. On failure the error's message has
 * several lines, with line, column, caret and fix of every diagnostic. */
WYE_API wye_status wye_program_create(wye_context* context, const wye_program_source* source,
                                      wye_program* out, wye_error** error);

/* Invalidates the handle; the program is freed once no dispatch uses it. */
WYE_API wye_status wye_program_free(wye_context* context, wye_program program, wye_error** error);

/* A parameter of a program. */
typedef struct wye_param_description {
    wye_string name;
    wye_string type; /* "u32" */
} wye_param_description;

/* A buffer of a program. */
typedef struct wye_buffer_description {
    wye_string name;
    wye_string role; /* "input", ... */
    wye_string type; /* element type, "f32x4" */
    uint32_t binding;
    uint32_t element_bytes;
    uint32_t in_inputs;  /* 1: takes host bytes */
    uint32_t in_outputs; /* 1: read back */
    uint32_t count_kind; /* enum wye_count_kind: run-time, literal, computed */
    uint32_t alignment;  /* of memory that the library allocates for it, with hints applied */
    uint64_t count;      /* literal count */
} wye_buffer_description;

/* Hints for one buffer, from `coalesce`, `prefer_align` and `locality`. They change no results. */
typedef struct wye_buffer_hints {
    uint32_t coalesce; /* 1, 2, 3: invocations adjacent in x, y, z use adjacent elements; 0: none */
    uint32_t preferred_alignment; /* bytes; 0: none */
    uint32_t locality;            /* enum wye_locality */
    uint32_t reserved;            /* 0 */
} wye_buffer_hints;

/* What a program declares and needs. */
typedef struct wye_program_description {
    wye_header header;
    wye_string name;
    wye_string fingerprint; /* 32 hex digits */
    uint32_t workgroup[3];
    uint32_t grid_kind;        /* enum wye_grid_kind */
    uint32_t deterministic;    /* 1: launches with its own grid give the same bytes each time */
    uint32_t deterministic_if; /* 1: the same under a condition: see wye_program_analysis */
    const wye_param_description* params;
    uint64_t param_count;
    const wye_buffer_description* buffers; /* ascending binding; `shared` included */
    uint64_t buffer_count;
    const wye_buffer_hints* hints; /* of each buffer, in the same order */
    /* 32 hex digits, the same on every machine and for all programs whose buffers have equal
     * binding numbers, roles and element sizes, whatever their names and hints are. */
    wye_string layout_fingerprint;
} wye_program_description;

/* Describes a program. Pointers stay valid as long as the program. */
WYE_API wye_status wye_program_describe(wye_context* context, wye_program program,
                                        wye_program_description* out, wye_error** error);

/* Returns validation and analysis as JSON: name, fingerprint, needs (with reasons and positions),
 * whether the program is deterministic (with the condition, or the doubts), sizes, warnings. */
WYE_API wye_status wye_program_analysis(wye_context* context, wye_program program, wye_blob** out,
                                        wye_error** error);

/* Converts the program to another form: "text", "wire", "opencl-c", "spirv-vulkan" (raw words),
 * ..., or "preconditions": the conditions for a check-free launch, one per line. The facts of
 * `device` (may be 0) decide between native and emulated operations. The CUDA plugin makes "ptx"
 * and "cubin" with NVRTC, for which it needs no driver; without a device the format may name a
 * target, as in "cubin:sm_90". */
WYE_API wye_status wye_program_lower(wye_context* context, wye_program program, wye_string format,
                                     wye_device device, wye_blob** out, wye_error** error);

/* Result of one wye_program_prepare. */
typedef struct wye_prepare_report {
    wye_header header;
    uint32_t compiled;   /* as in wye_report */
    uint32_t disk_cache; /* enum wye_disk_use */
    uint64_t total_ns;
    uint64_t lower_ns;   /* time to make the driver's input */
    uint64_t driver_ns;  /* time in the plugin, which compiles or loads */
    uint64_t kept_bytes; /* size of the disk cache entries read or written; 0: none */
} wye_prepare_report;

/* Compiles a program for a device ahead of its first dispatch, with the program's workgroup size:
 * the form with range checks and, if launches can omit some of them, the check-free form. The
 * report sums up both. Drivers that generate code at the first launch do it here, at a launch of no
 * workgroups (PoCL does not). Has no time limit. WYE_UNSUPPORTED for programs with grid barriers,
 * which each launch splits differently. `report` may be null. */
WYE_API wye_status wye_program_prepare(wye_context* context, wye_program program, wye_device device,
                                       wye_prepare_report* report, wye_error** error);

/* Which form a program is lowered to, and for which device. */
typedef struct wye_lower_desc {
    wye_header header;
    wye_string format;
    wye_device device;   /* may be 0 */
    uint32_t ulp_budget; /* as in wye_dispatch_desc */
    /* 1: leave out the range checks that the preconditions make redundant */
    uint32_t check_free;
} wye_lower_desc;

/* As wye_program_lower, with the options of a dispatch. */
WYE_API wye_status wye_program_lower_with(wye_context* context, wye_program program,
                                          const wye_lower_desc* desc, wye_blob** out,
                                          wye_error** error);

/* ---- Disk cache -------------------------------------------------------------------------- */

/* Programs are kept in `programs` of the cache folder: "cache_folder", else $WYE_CACHE_DIR, else
 * `wye` in $XDG_CACHE_HOME or ~/.cache. Its limit is $WYE_CACHE_SIZE (or "cache_size"; 512MiB; 0:
 * off). A cache fault is no error: programs are compiled again, and the log says why. A relative
 * folder, or one that others may write to, turns the cache off; the two functions below fail. */

/* Returns as JSON the contents of the cache, its use by all processes, and the self-test verdicts
 * that plugins keep in the cache folder. */
WYE_API wye_status wye_cache_report(wye_context* context, wye_blob** out, wye_error** error);

/* Removes all compiled programs, verdicts of plugins and counts. `freed_bytes` may be null. */
WYE_API wye_status wye_cache_clear(wye_context* context, uint64_t* freed_bytes, wye_error** error);

/* ---- Driver workarounds ------------------------------------------------------------------ */

/* Returns the table of workarounds for drivers that miscompile valid programs, as JSON: an array of
 * objects with `id`, `seen_on`, `fault`, `workaround`, `cost`, `found_by`, `unknown_drivers`,
 * `formats` and `regression`. The table is the same in every context; wye_context_report lists the
 * ids that apply to each device. The caller frees the blob. Any thread. */
WYE_API wye_status wye_quirks_report(wye_blob** out, wye_error** error);

/* ---- Buffers ----------------------------------------------------------------------------- */

/* The handle of a buffer that is resident on a device. */
typedef uint64_t wye_buffer;

/* Options of wye_buffer_create. */
typedef struct wye_buffer_create_desc {
    wye_header header;
    uint64_t size;
    uint64_t alignment; /* power of two; 0: 16 */
    wye_string label;   /* for errors and logs */
    uint32_t usage;     /* enum wye_buffer_usage: DEVICE (0), UPLOAD, READBACK or SHARED */
    uint32_t reserved;
} wye_buffer_create_desc;

/* Creates a buffer resident on one device, with unspecified contents; freed by wye_buffer_free. */
WYE_API wye_status wye_buffer_create(wye_context* context, wye_device device,
                                     const wye_buffer_create_desc* desc, wye_buffer* out,
                                     wye_error** error);
/* Frees a buffer. WYE_BUFFER_IN_USE while it is mapped or used by pending work. */
WYE_API wye_status wye_buffer_free(wye_context* context, wye_buffer buffer, wye_error** error);
/* Returns the size of a buffer in bytes. */
WYE_API wye_status wye_buffer_size(wye_context* context, wye_buffer buffer, uint64_t* out,
                                   wye_error** error);

/* Blocking transfers. Ranges must lie inside the buffers. A transfer of 128 KiB or more may move in
 * chunks; work that other threads submit meanwhile may then run between two chunks.
 *
 * For a device with memory of its own, host bytes of transfers and dispatches go through staging
 * memory, which several threads fill and empty while the device copies. Settings: "transfer.bytes"
 * limits the staging memory of a device (default 512MiB, at most an eighth of the machine's
 * memory); "transfer.threads" limits the threads of a context that copy at once, including calling
 * threads (default half of the processors, at most 8); copying threads look for more work for 0.3
 * ms before they sleep; "transfer.staging" is "auto", "on" (also for a device that shares the
 * host's memory) or "off". */
WYE_API wye_status wye_buffer_upload_range(wye_context* context, wye_buffer buffer, uint64_t offset,
                                           wye_bytes bytes, wye_error** error);
/* Copies a range of a buffer to the host. */
WYE_API wye_status wye_buffer_download_range(wye_context* context, wye_buffer buffer,
                                             uint64_t offset, void* target, uint64_t size,
                                             wye_error** error);
/* Uploads the whole buffer; WYE_INVALID_ARGUMENT if the sizes differ. */
WYE_API wye_status wye_buffer_upload(wye_context* context, wye_buffer buffer, wye_bytes bytes,
                                     wye_error** error);
/* Downloads the whole buffer; WYE_INVALID_ARGUMENT if the sizes differ. */
WYE_API wye_status wye_buffer_download(wye_context* context, wye_buffer buffer, void* target,
                                       uint64_t size, wye_error** error);
/* Copies between buffers of one device. WYE_WRONG_OWNER for two devices (see wye_buffer_copy_across
 * in wye/buffer.h); overlapping ranges of one buffer are refused. */
WYE_API wye_status wye_buffer_copy(wye_context* context, wye_buffer source, uint64_t source_offset,
                                   wye_buffer target, uint64_t target_offset, uint64_t size,
                                   wye_error** error);
/* Repeats a pattern of pattern_size (1, 2, 4, 8) bytes, which divides offset and size. */
WYE_API wye_status wye_buffer_fill(wye_context* context, wye_buffer buffer, uint64_t offset,
                                   uint64_t size, uint64_t pattern, uint32_t pattern_size,
                                   wye_error** error);

/* ---- Dispatch ---------------------------------------------------------------------------- */

/* Where the bytes of an argument are. */
enum wye_argument_kind {
    WYE_ARGUMENT_HOST = 1,     /* bytes of the caller */
    WYE_ARGUMENT_RESIDENT = 2, /* a buffer, or a range of one */
    WYE_ARGUMENT_DISCARD = 3   /* an output to throw away; size from the program or `size` */
};

/* The argument for one buffer of the program. */
typedef struct wye_argument {
    uint32_t kind;    /* enum wye_argument_kind */
    uint32_t binding; /* of the buffer: 0, 1, ... in declared order unless the program sets it */
    wye_bytes input;  /* HOST: for input, uniform and input_output */
    void* output; /* HOST, RESIDENT: memory to which an output's bytes are read back; null: none */
    uint64_t output_size; /* HOST, RESIDENT: exact bytes of the read-back; 0: not given */
    wye_buffer buffer;    /* RESIDENT */
    uint64_t offset;      /* RESIDENT: a multiple of the alignment of an element's components */
    uint64_t size;        /* RESIDENT: 0: to the end. DISCARD: bytes, if the program sets no size */
} wye_argument;

#define WYE_READ_BACK UINT64_MAX /* an output_size: read back all; the result owns the memory */

/* Flags of wye_dispatch_desc. If `grid` and `elements` are both given, `grid` is the number of
 * workgroups, and `elements` only sets the length of run-time outputs. */
#define WYE_DISPATCH_GRID 1U     /* `grid` is given */
#define WYE_DISPATCH_ELEMENTS 2U /* `elements` is given */
/* All workgroups run at the same time. Refused unless the device has the fact grid_sync;
 * WYE_LIMIT_EXCEEDED if the grid has more workgroups than fit. Programs with grid barriers are not
 * refused, unless a native variant runs: they run as one launch if possible, else split at the
 * barriers as without this flag. The results are equal; `cooperative` of wye_report says which. */
#define WYE_DISPATCH_COOPERATIVE 4U
#define WYE_DISPATCH_VARIANTS 8U     /* the first native variant that fits is used */
#define WYE_DISPATCH_SPECULATION 16U /* reserved: always refused */
#define WYE_DISPATCH_PERSISTENT 32U  /* reserved: always refused */
#define WYE_DISPATCH_TIMED 64U       /* measure the device time with the driver's timestamps */
#define WYE_DISPATCH_BORROW 128U     /* asynchronous: use the caller's memory, do not copy */
#define WYE_DISPATCH_AT_ONCE 256U    /* asynchronous: WYE_DEVICE_BUSY rather than a wait */
#define WYE_DISPATCH_FIXPOINT 512U   /* `fixpoint_iterations` is given, and not 0 */
#define WYE_DISPATCH_INDIRECT 1024U  /* `grid_buffer` has the number of workgroups */

/* A program compiled for a device with fixed options: see wye/pipeline.h. */
typedef uint64_t wye_pipeline;

/* One dispatch. */
typedef struct wye_dispatch_desc {
    wye_header header;
    wye_program program;
    wye_device device; /* 0: the library chooses it, see wye/device.h */
    /* 0, or a pipeline that replaces program, device and compile options, which are then 0. */
    wye_pipeline pipeline;
    uint32_t flags; /* WYE_DISPATCH_* */
    uint32_t grid[3];
    uint64_t elements;
    uint32_t workgroup[3]; /* override; all 0: none; refused unless the program says adjustable */
    /* N: the dispatch consists of N launches with the same bindings; outputs are zeroed before the
     * first one only. If the program can trap, the host looks for a trap after each launch, and
     * stops there; work of other threads may run in between, and graphs refuse the dispatch. 0:
     * one launch, but WYE_INVALID_ARGUMENT with WYE_DISPATCH_FIXPOINT. */
    uint32_t fixpoint_iterations;
    const wye_argument* arguments; /* one for every buffer except `shared` ones, in any order */
    uint64_t argument_count;
    const uint64_t* params; /* in declared order: bits of each in its own word, zero-extended */
    uint64_t param_count;
    uint64_t timeout_ns;       /* 0: none */
    uint64_t max_output_bytes; /* 0: no limit */
    uint32_t ulp_budget;       /* 0: strict; N: native or fast functions, error up to N ulp */
    uint32_t reserved;
    wye_string label; /* for the log */
    /* Tells uses of one program apart. Each profile has its own compiled programs, in memory and
     * on disk. The log shows the name, the report its hash. */
    wye_string profile;
    wye_queue queue; /* a queue of the same device; 0: none */
    /* INDIRECT: the grid, three u32 at a multiple of 4, read when the dispatch begins on the
     * device. WYE_LIMIT_EXCEEDED, and nothing runs, if it exceeds a limit of the device or the
     * language. WYE_UNSUPPORTED on devices without the fact indirect_dispatch. */
    wye_buffer grid_buffer;
    uint64_t grid_offset;
} wye_dispatch_desc;

/* How a call that needed a compiled program used the disk cache. */
enum wye_disk_use {
    WYE_DISK_UNUSED = 0, /* compiled earlier in this context, or the device has no disk cache */
    WYE_DISK_HIT = 1,    /* loaded from the disk cache */
    WYE_DISK_MISS = 2    /* not found; compiled, and saved if possible */
};

#define WYE_TIME_UNKNOWN UINT64_MAX /* a time that nothing measured */

/* How a dispatch with WYE_DISPATCH_COOPERATIVE ran. SPLIT: at grid barriers, for this reason. */
enum wye_cooperative_use {
    WYE_COOPERATIVE_NONE = 0,         /* not asked for, or nothing ran */
    WYE_COOPERATIVE_NATIVE = 1,       /* all workgroups ran at once; each iteration is one launch */
    WYE_COOPERATIVE_SPLIT_DEVICE = 2, /* the device has no grid_sync */
    WYE_COOPERATIVE_SPLIT_FORMAT = 3, /* the code that the device takes has no grid barriers */
    WYE_COOPERATIVE_SPLIT_GRID = 4,   /* the grid exceeds max_workgroups */
    WYE_COOPERATIVE_SPLIT_ROOM = 5    /* the driver cannot run all the workgroups at once */
};

/* Whether a launch is proven to give the same bytes each time and on every device. */
enum wye_determinism {
    WYE_DETERMINISM_NONE = 0,       /* nothing ran */
    WYE_DETERMINISM_YES = 1,        /* proven */
    WYE_DETERMINISM_NOT_PROVEN = 2, /* see wye_program_analysis, or native code or functions ran */
    WYE_DETERMINISM_BEYOND = 3      /* not proven for this grid, parameters and lengths */
};

/* What a dispatch did. */
typedef struct wye_report {
    wye_header header;
    wye_device device;
    uint32_t groups[3]; /* number of workgroups; zeros if it was in `grid_buffer` */
    uint32_t compiled;  /* 1: the driver compiled the program in this call; 0: it was cached */
    uint64_t wall_ns;
    uint64_t device_ns;      /* WYE_TIME_UNKNOWN without driver timestamps */
    uint64_t enqueue_ns;     /* time to submit the work */
    uint64_t wait_ns;        /* time from the submit until the work ended */
    uint64_t bytes_uploaded; /* host to device */
    uint64_t bytes_downloaded;
    uint64_t bytes_filled; /* zeroed by the runtime before the launch */
    uint32_t trap_code;    /* after WYE_TRAPPED the largest trap code, else 0 */
    uint32_t trap_count;
    uint32_t variant;    /* 0: the program's own body ran; else 1 + the index of a native variant */
    uint32_t disk_cache; /* enum wye_disk_use */
    /* Functions that ran in a native or fast form, within the ulp_budget: one bit each, see
     * wye_native_function_name. 0: results are bit-exact as the language defines them. */
    uint64_t native_functions;
    uint32_t check_free; /* 1: ran without the range checks that are redundant for this launch */
    uint32_t graph;      /* enum wye_graph_use */
    /* Within the device, by transfers, by graphs, or to align a range to `buffer_alignment`. */
    uint64_t bytes_copied;
    uint64_t profile;     /* XXH3 (64 bits) of the profile's text; 0: none */
    uint32_t cooperative; /* enum wye_cooperative_use; of a graph or batch the largest value */
    uint32_t determinism; /* enum wye_determinism; of a graph or batch the largest value */
    uint32_t routed;      /* enum wye_routed: who named the device */
    uint32_t choice;      /* the number of the choice, for wye_choice_find; 0: none */
} wye_report;

/* Kinds of wye_transfer_desc. */
enum wye_transfer_kind {
    WYE_TRANSFER_UPLOAD = 1,
    WYE_TRANSFER_DOWNLOAD = 2,
    WYE_TRANSFER_COPY = 3,
    WYE_TRANSFER_FILL = 4
};

/* A flag: refuse a transfer unless it uploads or downloads the whole buffer. */
#define WYE_TRANSFER_WHOLE 65536U

/* A transfer, which can name a queue and measure times. Members of other kinds are zero. */
typedef struct wye_transfer_desc {
    wye_header header;
    uint32_t kind;     /* enum wye_transfer_kind */
    uint32_t flags;    /* WYE_TRANSFER_WHOLE, WYE_DISPATCH_TIMED; submitted: _BORROW, _AT_ONCE */
    wye_queue queue;   /* of the buffers' device; 0: none */
    wye_buffer buffer; /* read by a download, written by every other kind */
    uint64_t offset;   /* in `buffer` */
    uint64_t size;
    const void* source;       /* UPLOAD */
    void* target;             /* DOWNLOAD */
    wye_buffer source_buffer; /* COPY, as is `source_offset` */
    uint64_t source_offset;
    uint64_t pattern; /* FILL, as is `pattern_size` */
    uint32_t pattern_size;
    uint32_t reserved;
} wye_transfer_desc;

/* Does what wye_buffer_upload, _download, _copy or _fill does. `report` may be null; on success it
 * gets device, times and bytes. */
WYE_API wye_status wye_buffer_transfer(wye_context* context, const wye_transfer_desc* desc,
                                       wye_report* report, wye_error** error);

/* Returns the function that a bit (0 to 63) of wye_report.native_functions stands for, such as "sin
 * (f32)"; "" for unused bits. Static storage. */
WYE_API const char* wye_native_function_name(uint32_t bit);

/* Checks a request, launches it, waits for its end and delivers the outputs. `report` may be null;
 * it is written on success and for WYE_TRAPPED. Order of checks: live handles, arguments and
 * shapes, ownership (inputs, then outputs), capabilities, then the driver. On an error host outputs
 * are not written (unless the driver fails in the middle of the read-back). WYE_TRAPPED: the
 * program trapped; resident buffers keep what it wrote. WYE_TIMEOUT: outputs are not delivered, and
 * the contents of resident buffers that the program writes are unspecified; while work that cannot
 * be stopped still runs, other calls for the device return WYE_DEVICE_BUSY. If the time limit ends
 * during a compile, nothing has run; the compile continues and serves a later dispatch, and until
 * it ends, calls that would compile another program return WYE_DEVICE_BUSY. */
WYE_API wye_status wye_dispatch(wye_context* context, const wye_dispatch_desc* desc,
                                wye_report* report, wye_error** error);

/* Computes the sizes of a dispatch without running it: `sizes[i]` is set to the exact bytes of
 * desc->arguments[i], `groups` (three words) to the number of workgroups. `device` may be 0.
 * Arguments need their kinds and inputs, but an input of a computed count may be null, persistent
 * buffers may be discarded, and outputs may be left out or have an output_size of 0. So a caller
 * learns what storage they need (of a `bytes` clause, its range). Other checks: as wye_dispatch. */
WYE_API wye_status wye_dispatch_sizes(wye_context* context, const wye_dispatch_desc* desc,
                                      uint64_t* sizes, uint32_t* groups, wye_error** error);

/* ---- Asynchronous dispatch --------------------------------------------------------------- */

/* A dispatch, transfer or graph execution that is in flight or has ended. Made by
 * wye_dispatch_submit, wye_dispatch_owned, wye_buffer_transfer_submit and wye_graph_submit; freed
 * by wye_pending_free. Any threads may use it at the same time. */
typedef uint64_t wye_pending;

/* As wye_dispatch, but waits neither for the device nor for a compile. All checks are done when it
 * returns; wye_pending_wait reports what fails later (also WYE_COMPILE_FAILED and WYE_DEVICE_BUSY).
 * Work that has not ended `timeout_ns` after the call is cancelled and returns WYE_TIMEOUT.
 *
 * It copies all inputs before it returns, and the pending dispatch owns its outputs: host arguments
 * of the output list have a null `output`. wye_pending_output returns their bytes, and those of
 * resident arguments with an output_size (WYE_READ_BACK). With WYE_DISPATCH_BORROW inputs and
 * outputs are as in wye_dispatch, and the caller keeps them valid until the dispatch has ended.
 * Resident buffers are in use until then.
 *
 * Dispatches and transfers of a device take effect in the order of their submits. At most
 * "pending.count" (setting; default 1024) of them are in flight on a device, and these own at most
 * "pending.bytes" (default 1GiB) of host memory. Above these limits the call waits for the oldest
 * to end, or with WYE_DISPATCH_AT_ONCE returns WYE_DEVICE_BUSY. The owned memory is staging memory
 * (see wye_buffer_upload) while there is some left; outputs are owned until the handle is freed.
 * Until then, opening their device again after a loss may return WYE_DEVICE_BUSY. */
WYE_API wye_status wye_dispatch_submit(wye_context* context, const wye_dispatch_desc* desc,
                                       wye_pending* out, wye_error** error);

/* As wye_dispatch, but the result owns the outputs as in wye_dispatch_submit, so the caller need
 * not know their sizes. On success `*out` is a dispatch that has ended; wye_pending_output returns
 * its outputs until it is freed. `report` may be null. `timeout_ns` also limits the wait for room
 * under the limits of wye_dispatch_submit. The flags BORROW and AT_ONCE are not allowed. */
WYE_API wye_status wye_dispatch_owned(wye_context* context, const wye_dispatch_desc* desc,
                                      wye_report* report, wye_pending* out, wye_error** error);

/* As wye_buffer_transfer, but does not wait: wye_pending_wait returns the result and the report. It
 * copies an upload's bytes before it returns, and the pending transfer owns the bytes of a
 * download: `target` is null, and wye_pending_output returns them for the binding 0. With
 * WYE_DISPATCH_BORROW the caller's `source` and `target` are used directly, and must stay valid
 * until the transfer has ended. Limits and WYE_DISPATCH_AT_ONCE are as in wye_dispatch_submit. */
WYE_API wye_status wye_buffer_transfer_submit(wye_context* context, const wye_transfer_desc* desc,
                                              wye_pending* out, wye_error** error);

/* Sets *ended to 1 if the dispatch has ended, in success or failure, else to 0. Does not wait. */
WYE_API wye_status wye_pending_poll(wye_context* context, wye_pending pending, uint32_t* ended,
                                    wye_error** error);

/* Waits until the dispatch has ended and returns its result, as wye_dispatch does; later calls
 * return the same result. WYE_TIMEOUT: it has not ended within `timeout_ns` (UINT64_MAX: no limit)
 * and continues. `report` may be null. */
WYE_API wye_status wye_pending_wait(wye_context* context, wye_pending pending, uint64_t timeout_ns,
                                    wye_report* report, wye_error** error);

/* Waits until one of `count` dispatches, on any devices of the context, has ended and sets *index
 * to its index; wye_pending_wait then returns its result. WYE_TIMEOUT is as in wye_pending_wait. */
WYE_API wye_status wye_pending_wait_any(wye_context* context, const wye_pending* pending,
                                        uint64_t count, uint64_t timeout_ns, uint64_t* index,
                                        wye_error** error);

/* Returns the bytes of the output with a binding number. The pending dispatch owns them until it is
 * freed; the caller may write to them. WYE_NOT_READY before the dispatch has ended; if it failed,
 * its error; WYE_NOT_FOUND for a binding without an owned output. */
WYE_API wye_status wye_pending_output(wye_context* context, wye_pending pending, uint32_t binding,
                                      wye_bytes* out, wye_error** error);

/* Called once when a dispatch has ended, with the status that wye_pending_wait returns. */
typedef void (*wye_pending_fn)(void* user, wye_status status);

/* Calls `fn` on a thread of the library once the dispatch has ended. Callbacks of one device run
 * one at a time. `fn` may call any function with the context except those that destroy it, and
 * should be short. Destroying the context waits for running callbacks; after
 * wye_context_destroy_within returned WYE_TIMEOUT none is called. */
WYE_API wye_status wye_pending_notify(wye_context* context, wye_pending pending, wye_pending_fn fn,
                                      void* user, wye_error** error);

/* Cancels one dispatch. It ends with WYE_CANCELLED, or as usual if it ends first. The contents of
 * resident buffers that it writes are unspecified; other dispatches are not affected, and those
 * that use these buffers run after it. On a device that cannot stop work (a GPU) the work runs to
 * its end and uses its buffers until then. Callbacks, waits with a time limit and later calls get
 * WYE_CANCELLED immediately. Waits without a limit that are in progress, and everything with
 * WYE_DISPATCH_BORROW, get it only at the work's end. Work that the host has not submitted yet
 * never runs. Succeeds if the dispatch has already ended. */
WYE_API wye_status wye_pending_cancel(wye_context* context, wye_pending pending, wye_error** error);

/* Invalidates the handle and frees the outputs. Work in flight continues, and its result is lost;
 * if it borrows the caller's memory, the call waits for its end first. */
WYE_API wye_status wye_pending_free(wye_context* context, wye_pending pending, wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_WYE_H */
