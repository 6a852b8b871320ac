/* SPDX-License-Identifier: Apache-2.0
 *
 * The Wye C API: load a portable compute program, pick a device at run time, dispatch.
 * Exported by libwye.so; C11, also clean as C++20. `wye/wye.hpp` wraps it for C++.
 *
 * Conventions
 *  - Every call that can fail returns a wye_status and takes a `wye_error** error` sink, which may
 *    be null. On failure outputs are untouched and *error is set; the caller frees it with
 *    wye_error_free. Each error has a code, a sentence and a remedy that begins with "Fix: ".
 *  - Devices, queues, programs and buffers are 64-bit handles of one context. Stale, foreign and
 * wrong-kind handles are refused before any driver is entered. 0 is never a valid handle.
 *  - Every function may be called from any thread at any time, for the same objects too. One call
 *    at a time runs on a device's queue; calls for different devices run in parallel.
 *  - External synchronisation. The caller keeps other threads away from the following, unchecked;
 *    the library synchronises every other parameter.
 *      Memory that a call writes (`out`, `report`, `error`, ...), and the structures, host bytes
 *        and strings that it reads: until the call returns.
 *      `error` of wye_error_free, `blob` of wye_blob_free: no other call may use that object.
 *      `context` of wye_context_destroy and wye_context_destroy_within: no call may begin after
 *        either returned. Both wait for calls in progress; calls that begin meanwhile return
 *        WYE_SHUTTING_DOWN.
 *    Two calls on two threads that use one resident buffer run one after the other, in either
 *    order.
 *  - Callbacks (the log, `resolve`) run inside calls. They may call functions that take no context
 *    or another context; a call with the callback's own context returns WYE_INVALID_ARGUMENT. They
 *    must not throw, and must not wait for another thread that is in a call with that context.
 *  - After `fork`, the child has its parent's contexts but neither their threads nor their drivers:
 *    in the child every call with such a context returns WYE_WRONG_OWNER at once, destroying it
 *    returns at once, and its memory is not freed. The child may create contexts of its own; if the
 *    parent had opened plugins, they have the built-in CPU only. Children made by a raw `clone`
 *    system call are not detected.
 *  - A thread inside a call must not be ended by pthread_cancel: that ends the process.
 *  - Calls need 256 KiB of stack. Deeply nested programs and drivers' compilers need more: they run
 *    on threads of the library with 16 MiB, signals blocked, while the caller waits.
 *  - Structures begin with wye_header: set `size` to sizeof, the rest to zero (WYE_INIT does both).
 *    A size that this version does not know is refused.
 *    Reserved and unknown members must be zero. Strings are {pointer, size}, UTF-8; use wye_str for
 *    literals. Calls borrow pointers until they return.
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
#define WYE_API
#endif

#define WYE_VERSION_MAJOR 0
#define WYE_VERSION_MINOR 1
#define WYE_VERSION_PATCH 0

/* Zeroes a structure and sets its size. */
#define WYE_INIT(object) \
    (memset(&(object), 0, sizeof(object)), (object).header.size = sizeof(object))

static inline wye_string wye_str(const char* text) {
    wye_string s;
    s.data = text;
    s.size = text ? strlen(text) : 0;
    return s;
}

/* The library's version, "0.1.0". Static. */
WYE_API const char* wye_version(void);

/* ---- Errors ------------------------------------------------------------------------------ */

/* The fixed text of a code ("wrong owner"). Static; never null. */
WYE_API const char* wye_status_text(wye_status status);

/* Members of an error. Strings are null-terminated and live as long as the error. All accept null:
 * the status is then WYE_OUT_OF_MEMORY, the one error that may come without an object. */
WYE_API wye_status wye_error_status(const wye_error* error);
WYE_API wye_string wye_error_message(const wye_error* error);
WYE_API wye_string wye_error_fix(const wye_error* error);
WYE_API wye_string wye_error_subject(const wye_error* error);
WYE_API wye_string wye_error_native_domain(const wye_error* error);
WYE_API int32_t wye_error_native_code(const wye_error* error);
WYE_API const wye_error* wye_error_cause(const wye_error* error); /* borrowed; null: none */
/* The whole error as text of one or more lines, causes included. */
WYE_API wye_string wye_error_text(const wye_error* error);
WYE_API void wye_error_free(wye_error* error);

/* ---- Blobs: bytes made by the library ---------------------------------------------------- */

typedef struct wye_blob wye_blob;
WYE_API wye_bytes wye_blob_bytes(const wye_blob* blob); /* a null byte follows the last one */
WYE_API void wye_blob_free(wye_blob* blob);             /* null is fine */

/* ---- Context ----------------------------------------------------------------------------- */

typedef struct wye_context wye_context;

/* Receives one log message; `level` is enum wye_log_level. Strings are borrowed for the call. */
typedef void (*wye_log_fn)(void* user, uint32_t level, wye_string area, wye_string text);

typedef struct wye_key_value {
    wye_string key;
    wye_string value;
} wye_key_value;

#define WYE_CONTEXT_IGNORE_ENVIRONMENT UINT32_C(1) /* WYE_* variables are not read */
#define WYE_CONTEXT_NO_PLUGINS UINT32_C(2)         /* the built-in CPU plugin only */
/* Plugin files are opened in processes of their own only, for reports: their devices are listed
 * with facts, but cannot be opened. Verdicts of earlier probes serve as well. */
#define WYE_CONTEXT_DESCRIBE UINT32_C(4)

typedef struct wye_context_desc {
    wye_header header;
    uint32_t flags; /* WYE_CONTEXT_* */
    uint32_t reserved;
    const wye_string* plugin_paths; /* files or folders, searched first */
    uint64_t plugin_path_count;
    /* For plugins and library: "cpu.threads", "quirks.with", "trace.file", ...; CONFIGURATION.md,
     * installed with the documents, has the list. A key that only the library could read, and does
     * not know, is refused. */
    const wye_key_value* config;
    uint64_t config_count;
    /* May be null; gets all messages, from any thread, until the context is destroyed. The variable
     * WYE_LOG sends messages to standard error as well. */
    wye_log_fn log;
    void* log_user;
} wye_context_desc;

/* Searches for plugins and reads their manifests; opens none. `desc` may be null. */
WYE_API wye_status wye_context_create(const wye_context_desc* desc, wye_context** out,
                                      wye_error** error);

/* Waits for the context's calls and device work, without a time limit, and closes everything in
 * reverse order. Null is allowed. Does nothing in one of the context's own callbacks. */
WYE_API void wye_context_destroy(wye_context* context);

/* As wye_context_destroy, but waits at most `timeout_ns` (UINT64_MAX: no limit; 0: does not wait)
 * and abandons work that is still running then. Except after the last three errors below, no call
 * may begin with the context afterwards, and its log callback is not called any more.
 *
 * WYE_TIMEOUT: work was abandoned. A thread of the library waits for it and frees everything once
 * it ends; until then the context's memory, buffers, programs and devices stay, and the driver may
 * use them. The caller's memory is no longer used, except by calls that are still in progress on
 * other threads, until they return. The library stays loaded. If a driver waits for its work at
 * the end of the process, `exit` hangs with it: call `_exit` then.
 * WYE_OUT_OF_MEMORY: no thread can be made; everything stays until the process ends.
 * These leave the context as it was: WYE_INVALID_ARGUMENT (called in its own callback),
 * WYE_SHUTTING_DOWN (another thread destroys it), WYE_WRONG_OWNER (called in a forked child). */
WYE_API wye_status wye_context_destroy_within(wye_context* context, uint64_t timeout_ns,
                                              wye_error** error);

/* The catalogue as one JSON document (schema_version, host, filters, plugins, devices): every
 * plugin candidate with its state and the reason it was passed over, every device with facts, the
 * physical devices, and the entries of `selector` that name nothing. Opens the plugins that
 * `selector` can mean. Empty: $WYE_DEVICE, else all. */
WYE_API wye_status wye_context_report(wye_context* context, wye_string selector, wye_blob** out,
                                      wye_error** error);

/* ---- Devices ----------------------------------------------------------------------------- */

typedef uint64_t wye_device;

/* Opens the device that a selector names: "cpu", "opencl:0", "auto", a comma list of preferences;
 * wye(1) has the grammar.
 * Empty: $WYE_DEVICE, else "auto". Only plugins that the selector can mean are opened. With a
 * `program` (may be 0), devices that cannot run it are passed over; if none is left, the error is
 * WYE_NO_DEVICE with the reasons against each as causes. Opening a device again returns the same
 * handle; after its loss, a new one, while calls with the old one keep returning WYE_DEVICE_LOST.
 * The context closes its devices. */
WYE_API wye_status wye_device_open(wye_context* context, wye_string selector, uint64_t program,
                                   wye_device* out, wye_error** error);

typedef struct wye_device_description {
    wye_header header;
    wye_string selector; /* as accepted by wye_device_open */
    wye_string name;
    wye_string plugin;
    wye_string format; /* of the artifacts that this context gives it; empty: variants only */
    wye_string reason; /* why it was chosen when it was first opened */
} wye_device_description;

/* Describes an opened device. Strings live until it is closed (wye_device_close), or the context
 * destroyed. */
WYE_API wye_status wye_device_describe(wye_context* context, wye_device device,
                                       wye_device_description* out, wye_error** error);

/* One fact by its JSON name ("int64", "max_workgroup_size"). WYE_UNSUPPORTED: the device does not
 * report it. */
WYE_API wye_status wye_device_fact(wye_context* context, wye_device device, wye_string name,
                                   wye_fact* out, wye_error** error);

/* Waits until nothing runs on the device and no compile that timed out is in progress. */
WYE_API wye_status wye_device_flush(wye_context* context, wye_device device, wye_error** error);

/* What a device has done for a context since it was opened. Counting has no switch and costs next
 * to nothing. Calls that other threads are in may be counted in part. */
typedef struct wye_counters {
    wye_header header;
    uint64_t dispatches;          /* that succeeded */
    uint64_t dispatches_failed;   /* that were refused, or ended with an error */
    uint64_t dispatches_repeated; /* of both: equal to an earlier one, and not checked in full */
    uint64_t submits;             /* to the driver's queues, by any call */
    uint64_t waits;               /* in the driver, for submitted work */
    uint64_t polls;               /* questions to the driver whether work has ended */
    uint64_t polls_ended;         /* of these: it had */
    /* Moved by dispatches and transfers that succeeded, as their reports say. */
    uint64_t bytes_uploaded;
    uint64_t bytes_downloaded;
    uint64_t bytes_copied; /* by wye_buffer_copy */
    uint64_t bytes_filled;
    /* Device memory: buffers of the application, and of the library for host arguments. Staging
     * memory is the host's, and not counted. */
    uint64_t buffers_made;
    uint64_t buffer_bytes;      /* of the live ones, now */
    uint64_t peak_buffer_bytes; /* the most so far; of a context the sum over its devices */
    uint64_t scratch_made;      /* of buffers_made: for host arguments; they are reused */
    /* Look-ups of compiled programs, by dispatches that were checked in full and by
     * wye_program_prepare. */
    uint64_t programs_compiled;
    uint64_t programs_loaded; /* from the disk cache */
    uint64_t programs_found;  /* in memory */
    uint64_t queues_made;     /* by wye_queue_create */
    uint64_t queue_submits;   /* of submits: of work that named a queue */
    /* Of bytes_uploaded and bytes_downloaded: moved by the device itself from and to registered
     * memory; and through host memory to and from another device, by wye_buffer_copy_across. */
    uint64_t bytes_registered;
    uint64_t bytes_across;
    /* Descriptor layouts: made by the driver, and programs that were given one that was there
     * already. 0 where the driver has no such objects (all but Vulkan). */
    uint64_t layouts_made;
    uint64_t layouts_shared;
} wye_counters;

/* The counters of one opened device. `out->header` must be set. Any thread. Errors: those of a bad
 * handle or header only; the handle of a lost device keeps its counters. */
WYE_API wye_status wye_device_counters(wye_context* context, wye_device device, wye_counters* out,
                                       wye_error** error);

/* The sums over all devices that the context has opened, lost and closed ones included. Any thread.
 */
WYE_API wye_status wye_context_counters(wye_context* context, wye_counters* out, wye_error** error);

/* ---- Queues ------------------------------------------------------------------------------ */

/* A queue of one device, made by wye_queue_create and freed by wye_queue_free; 0 where a member
 * `queue` is left out. Work that names a queue (member `queue` of wye_dispatch_desc,
 * wye_graph_run_desc, wye_transfer_desc) runs on it; other work is spread over native queues of the
 * library's own. In either case results are those of the order of the calls: work that uses a
 * buffer that earlier work writes, or writes one that earlier work uses, runs after it, on whatever
 * queues they are. Work without such a conflict may run at the same time on two queues; on one
 * queue it runs in order. So queues need no events or barriers.
 * The calls of a queue may be made by any threads at once. */
typedef uint64_t wye_queue;

#define WYE_QUEUE_OWN UINT32_C(1) /* WYE_LIMIT_EXCEEDED rather than sharing a native queue */

typedef struct wye_queue_create_desc {
    wye_header header;
    wye_string label; /* for errors, logs and traces */
    uint32_t kind;    /* enum wye_queue_kind; TRANSFER: for wye_buffer_transfer only */
    int32_t priority; /* above 0: before other work, below: after it, as far as the driver can */
    uint32_t flags;   /* WYE_QUEUE_* */
    uint32_t reserved;
} wye_queue_create_desc;

/* Makes a queue. Kind and priority are wishes; wye_queue_describe says what the driver gave. At
 * most 8 queues of a device live at once (WYE_LIMIT_EXCEEDED). Each has a native queue of its own
 * while the device has some left ("max_queues" of wye_device_fact, less the at most 4 of work
 * without a queue, see "queues.count" of the configuration); the next ones share one of those 4, in
 * order with other work there. */
WYE_API wye_status wye_queue_create(wye_context* context, wye_device device,
                                    const wye_queue_create_desc* desc, wye_queue* out,
                                    wye_error** error);

typedef struct wye_queue_description {
    wye_header header;
    wye_device device;
    wye_string label; /* lives as long as the queue */
    uint32_t kind;    /* as asked for, as the next */
    int32_t priority;
    uint32_t granted_kind;    /* ANY: the native queue is like others */
    int32_t granted_priority; /* 0: the driver does not prefer its work */
    uint32_t native_index;    /* 1 and up: the driver's number of its queue; 0: it has none */
    uint32_t shared;          /* 1: its native queue runs other work too */
    uint64_t submits;         /* to the driver's queue, so far */
} wye_queue_description;

/* Describes a queue, also of a lost device. */
WYE_API wye_status wye_queue_describe(wye_context* context, wye_queue queue,
                                      wye_queue_description* out, wye_error** error);

/* Waits until all work that was given to the queue has ended. How it ended, its own calls return.
 * WYE_DEVICE_LOST for the queue of a lost device. */
WYE_API wye_status wye_queue_flush(wye_context* context, wye_queue queue, wye_error** error);

/* Invalidates the handle. Work in flight goes on. */
WYE_API wye_status wye_queue_free(wye_context* context, wye_queue queue, wye_error** error);

/* ---- Programs ---------------------------------------------------------------------------- */

typedef uint64_t wye_program;

/* Gives the bytes of the file that a `variant ... file "NAME"` clause names; the library opens no
 * file itself. Returns WYE_OK and *out, which is borrowed until wye_program_create returns. Called
 * on the thread of that call; the conventions say which functions it may call. */
typedef wye_status (*wye_resolve_fn)(void* user, wye_string name, wye_bytes* out);

typedef struct wye_program_source {
    wye_header header;
    wye_string name;        /* a file name for diagnostics; may be empty */
    wye_string text;        /* the text form (.wye); either this */
    wye_bytes wire;         /* or the binary form is given */
    wye_resolve_fn resolve; /* may be null: `file` clauses are then refused */
    void* resolve_user;
} wye_program_source;

/* Reads, validates and keeps a program; freed by wye_program_free. On failure the message holds
 * every diagnostic with line, column, caret and fix, on several lines. */
WYE_API wye_status wye_program_create(wye_context* context, const wye_program_source* source,
                                      wye_program* out, wye_error** error);

/* Invalidates the handle; the program is freed once no dispatch uses it. */
WYE_API wye_status wye_program_free(wye_context* context, wye_program program, wye_error** error);

typedef struct wye_param_description {
    wye_string name;
    wye_string type; /* "u32" */
} wye_param_description;

typedef struct wye_buffer_description {
    wye_string name;
    wye_string role; /* "input", ... */
    wye_string type; /* element type, "f32x4" */
    uint32_t binding;
    uint32_t element_bytes;
    uint32_t in_inputs;  /* 1: takes host bytes */
    uint32_t in_outputs; /* 1: read back */
    uint32_t count_kind; /* enum wye_count_kind: run-time, literal, computed */
    uint32_t alignment;  /* of memory that the library allocates for it; hints included */
    uint64_t count;      /* literal count */
} wye_buffer_description;

/* What a program says about its use of a buffer, in the clauses `coalesce`, `prefer_align` and
 * `locality`. No result depends on it. */
typedef struct wye_buffer_hints {
    uint32_t coalesce;            /* 0: none; 1, 2, 3: neighbours along x, y, z use neighbours */
    uint32_t preferred_alignment; /* bytes; 0: none */
    uint32_t locality;            /* enum wye_locality */
    uint32_t reserved;            /* 0 */
} wye_buffer_hints;

typedef struct wye_program_description {
    wye_header header;
    wye_string name;
    wye_string fingerprint; /* 32 hex digits */
    uint32_t workgroup[3];
    uint32_t grid_kind; /* enum wye_grid_kind */
    uint32_t deterministic;
    uint32_t reserved;
    const wye_param_description* params;
    uint64_t param_count;
    const wye_buffer_description* buffers; /* ascending binding; `shared` included */
    uint64_t buffer_count;
    const wye_buffer_hints* hints; /* of each buffer, in the same order */
    /* 32 hex digits, the same on every machine. Programs whose buffers have the same binding
     * numbers, roles and element sizes have the same layout; other properties, names and hints
     * among them, are not in it. */
    wye_string layout_fingerprint;
} wye_program_description;

/* Describes a program. Pointers live as long as the program. */
WYE_API wye_status wye_program_describe(wye_context* context, wye_program program,
                                        wye_program_description* out, wye_error** error);

/* The validator's and the analysis's results as JSON: name, fingerprint, needs (with reasons and
 * places), determinism verdict with doubts, sizes. */
WYE_API wye_status wye_program_analysis(wye_context* context, wye_program program, wye_blob** out,
                                        wye_error** error);

/* The program in another form: "text", "wire", "opencl-c", "spirv-vulkan" (raw words), ..., or
 * "preconditions": the conditions for a check-free launch, one a line.
 * The facts of `device` (may be 0) decide between native and emulated operations. The CUDA plugin
 * makes "ptx" and "cubin" with NVRTC, without a driver; without a device a target may follow:
 * "cubin:sm_90". */
WYE_API wye_status wye_program_lower(wye_context* context, wye_program program, wye_string format,
                                     wye_device device, wye_blob** out, wye_error** error);

/* Figures of one wye_program_prepare. */
typedef struct wye_prepare_report {
    wye_header header;
    uint32_t compiled;   /* as in wye_report */
    uint32_t disk_cache; /* enum wye_disk_use */
    uint64_t total_ns;
    uint64_t lower_ns;   /* making the driver's input */
    uint64_t driver_ns;  /* in the plugin: compiling or loading */
    uint64_t kept_bytes; /* size of the disk cache entries read or written; 0: none */
} wye_prepare_report;

/* Compiles a program for a device ahead of its first dispatch, with the program's workgroup size:
 * the form with range checks and, if launches can omit some of them, the check-free form. The
 * report sums up both. A launch of no workgroups makes drivers generate code that they would
 * otherwise generate at the first launch (not PoCL). Has no time limit. WYE_UNSUPPORTED for
 * programs with grid barriers, which each launch splits differently. `report` may be null. */
WYE_API wye_status wye_program_prepare(wye_context* context, wye_program program, wye_device device,
                                       wye_prepare_report* report, wye_error** error);

typedef struct wye_lower_desc {
    wye_header header;
    wye_string format;
    wye_device device;   /* may be 0 */
    uint32_t ulp_budget; /* as in wye_dispatch_desc */
    /* 1: omit range checks made redundant by the preconditions. */
    uint32_t check_free;
} wye_lower_desc;

/* As wye_program_lower, with the options of a dispatch. */
WYE_API wye_status wye_program_lower_with(wye_context* context, wye_program program,
                                          const wye_lower_desc* desc, wye_blob** out,
                                          wye_error** error);

/* ---- Disk cache -------------------------------------------------------------------------- */

/* Compiled programs are kept in `programs` of the cache folder (the configuration's "cache_folder",
 * else $WYE_CACHE_DIR, else `wye` in $XDG_CACHE_HOME or ~/.cache; none: off), up to $WYE_CACHE_SIZE
 * (or "cache_size"; default 512MiB; 0: off). A fault of the cache is not an error: the program is
 * compiled, and the log says why. */

/* Contents and use of the cache, by all processes, and the self-test verdicts that plugins keep in
 * the cache folder, as JSON. */
WYE_API wye_status wye_cache_report(wye_context* context, wye_blob** out, wye_error** error);

/* Removes every compiled program and the plugins' verdicts, and resets the counts. `freed_bytes`
 * may be null. */
WYE_API wye_status wye_cache_clear(wye_context* context, uint64_t* freed_bytes, wye_error** error);

/* ---- Driver workarounds ------------------------------------------------------------------ */

/* The table of workarounds for drivers that miscompile valid programs, as JSON: an array of objects
 * with `id`, `seen_on`, `fault`, `workaround`, `cost`, `found_by`, `unknown_drivers`, `formats` and
 * `regression`. The same in every context; wye_context_report has the ids of each device. The
 * caller frees the blob. Any thread. */
WYE_API wye_status wye_quirks_report(wye_blob** out, wye_error** error);

/* ---- Buffers ----------------------------------------------------------------------------- */

typedef uint64_t wye_buffer;

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
/* WYE_BUFFER_IN_USE while work that uses it is pending, or it is mapped. */
WYE_API wye_status wye_buffer_free(wye_context* context, wye_buffer buffer, wye_error** error);
WYE_API wye_status wye_buffer_size(wye_context* context, wye_buffer buffer, uint64_t* out,
                                   wye_error** error);

/* Blocking transfers. Ranges must lie inside the buffers. One of 128 KiB or more may move in
 * chunks; work that other threads submit meanwhile may then run between two of them.
 *
 * To a device with memory of its own, host bytes of transfers and dispatches go through staging
 * memory, which several threads fill and empty while the device copies. The configuration limits
 * the staging memory of a device ("transfer.bytes": 512MiB, and at most an eighth of the machine's
 * memory), and the threads of a context that copy at once, calling ones included
 * ("transfer.threads": half of the processors, and at most 8), which look for more work for 0.3 ms
 * before they sleep. "transfer.staging" is "auto", "on" (also on a device that shares the host's
 * memory) or "off". */
WYE_API wye_status wye_buffer_upload_range(wye_context* context, wye_buffer buffer, uint64_t offset,
                                           wye_bytes bytes, wye_error** error);
WYE_API wye_status wye_buffer_download_range(wye_context* context, wye_buffer buffer,
                                             uint64_t offset, void* target, uint64_t size,
                                             wye_error** error);
/* The whole buffer: WYE_INVALID_ARGUMENT for any other size. */
WYE_API wye_status wye_buffer_upload(wye_context* context, wye_buffer buffer, wye_bytes bytes,
                                     wye_error** error);
WYE_API wye_status wye_buffer_download(wye_context* context, wye_buffer buffer, void* target,
                                       uint64_t size, wye_error** error);
/* Both buffers on one device (WYE_WRONG_OWNER; see wye_buffer_copy_across in wye/buffer.h);
 * overlapping ranges of one buffer are refused. */
WYE_API wye_status wye_buffer_copy(wye_context* context, wye_buffer source, uint64_t source_offset,
                                   wye_buffer target, uint64_t target_offset, uint64_t size,
                                   wye_error** error);
/* pattern_size 1, 2, 4 or 8; offset and size are multiples of it. */
WYE_API wye_status wye_buffer_fill(wye_context* context, wye_buffer buffer, uint64_t offset,
                                   uint64_t size, uint64_t pattern, uint32_t pattern_size,
                                   wye_error** error);

/* ---- Dispatch ---------------------------------------------------------------------------- */

enum wye_argument_kind {
    WYE_ARGUMENT_HOST = 1,     /* bytes of the caller */
    WYE_ARGUMENT_RESIDENT = 2, /* a buffer, or a range of one */
    WYE_ARGUMENT_DISCARD = 3   /* an output to throw away; size from the program or `size` */
};

/* The argument for one buffer of the program. */
typedef struct wye_argument {
    uint32_t kind;    /* enum wye_argument_kind */
    uint32_t binding; /* its binding number: 0, 1, ... in declared order, unless the program says */
    wye_bytes input;  /* HOST: for input, uniform and input_output */
    void* output;     /* HOST: destination for read-back of the output list; may be null: none */
    uint64_t output_size; /* HOST: exact bytes of the read-back; 0: not given */
    wye_buffer buffer;    /* RESIDENT */
    uint64_t offset;      /* RESIDENT */
    uint64_t size;        /* RESIDENT: 0: to the end. DISCARD: bytes of a run-time output */
} wye_argument;

/* If both are given, `grid` is the number of workgroups, and `elements` only the length of run-time
 * outputs. */
#define WYE_DISPATCH_GRID UINT32_C(1)     /* `grid` is given */
#define WYE_DISPATCH_ELEMENTS UINT32_C(2) /* `elements` is given */
/* All workgroups run at once. Refused unless the device has grid_sync; WYE_LIMIT_EXCEEDED if fewer
 * fit. Programs with grid barriers are not split then, which no lowering takes yet. */
#define WYE_DISPATCH_COOPERATIVE UINT32_C(4)
#define WYE_DISPATCH_VARIANTS UINT32_C(8)     /* the first native variant that fits is used */
#define WYE_DISPATCH_SPECULATION UINT32_C(16) /* reserved: always refused */
#define WYE_DISPATCH_PERSISTENT UINT32_C(32)  /* reserved: always refused */
#define WYE_DISPATCH_TIMED UINT32_C(64)       /* ask the driver for device time */
#define WYE_DISPATCH_BORROW UINT32_C(128)     /* asynchronous: host bytes stay the caller's */
#define WYE_DISPATCH_AT_ONCE UINT32_C(256)    /* asynchronous: WYE_DEVICE_BUSY, not a wait */
#define WYE_DISPATCH_FIXPOINT UINT32_C(512)   /* `fixpoint_iterations` is given, and not 0 */

/* A program compiled for a device with fixed options: see wye/pipeline.h. */
typedef uint64_t wye_pipeline;

typedef struct wye_dispatch_desc {
    wye_header header;
    wye_program program;
    wye_device device;
    wye_pipeline pipeline; /* 0, or in place of program, device and compile options, then 0 */
    uint32_t flags;        /* WYE_DISPATCH_* */
    uint32_t grid[3];
    uint64_t elements;
    uint32_t workgroup[3]; /* override; all 0: none; refused unless the program says adjustable */
    /* N: N launches on the same bindings as one; outputs start at zero before the first only. A
     * program that can trap stops after the first that does; that takes wye_dispatch without a time
     * limit, and other threads' work on its buffers may run between two. 1: once. 0: not given, and
     * once; with WYE_DISPATCH_FIXPOINT WYE_INVALID_ARGUMENT, since no iterations are no dispatch.
     */
    uint32_t fixpoint_iterations;
    const wye_argument* arguments; /* every buffer but `shared`, any order */
    uint64_t argument_count;
    const uint64_t*
        params; /* in declared order: each value's bits in its own word, zero-extended */
    uint64_t param_count;
    uint64_t timeout_ns;       /* 0: none */
    uint64_t max_output_bytes; /* 0: no limit */
    uint32_t ulp_budget;       /* 0: strict; N: native forms up to a stated error of N ulp */
    uint32_t reserved;
    wye_string label; /* for the log */
    /* A name for how the program is used: each profile has compiled programs of its own, in memory
     * and on disk. For the log, and in the report by its fingerprint. */
    wye_string profile;
    wye_queue queue; /* of the same device; 0: none */
} wye_dispatch_desc;

/* How a call that needed a compiled program used the disk cache. */
enum wye_disk_use {
    WYE_DISK_UNUSED = 0, /* compiled earlier in this context, or no disk cache for this device */
    WYE_DISK_HIT = 1,    /* loaded, not compiled */
    WYE_DISK_MISS = 2    /* not found; compiled, and saved if possible */
};

#define WYE_TIME_UNKNOWN UINT64_MAX

/* How an execution of a graph was sent to the driver. */
enum wye_graph_use {
    WYE_GRAPH_NONE = 0,    /* it is no graph */
    WYE_GRAPH_NATIVE = 1,  /* as objects of the driver: see wye_graph_info.native */
    WYE_GRAPH_REPLAYED = 2 /* its operations one by one */
};

typedef struct wye_report {
    wye_header header;
    wye_device device;
    uint32_t groups[3];
    uint32_t compiled; /* 1: the driver compiled the program in this call; 0: it was cached */
    uint64_t wall_ns;
    uint64_t device_ns;      /* WYE_TIME_UNKNOWN without driver timestamps */
    uint64_t enqueue_ns;     /* time to submit the work */
    uint64_t wait_ns;        /* from then until the work ended */
    uint64_t bytes_uploaded; /* host to device */
    uint64_t bytes_downloaded;
    uint64_t bytes_filled; /* zeroed by the runtime before the launch */
    uint32_t trap_code;    /* WYE_TRAPPED: the largest code; else 0 */
    uint32_t trap_count;
    uint32_t variant;    /* 0: the program's own body ran; else 1 + the index of a native variant */
    uint32_t disk_cache; /* enum wye_disk_use */
    /* Functions that ran in the device's native form, within the ulp_budget: one bit for each, see
     * wye_native_function_name. 0: the result is exact by definition. */
    uint64_t native_functions;
    uint32_t check_free;   /* 1: the form without range checks that are redundant for this launch */
    uint32_t graph;        /* enum wye_graph_use */
    uint64_t bytes_copied; /* within the device, by wye_buffer_transfer and copies of a graph */
    uint64_t profile;      /* XXH3 (64 bits) of the profile's text; 0: none */
} wye_report;

/* A transfer with a queue, and with times. */
enum wye_transfer_kind {
    WYE_TRANSFER_UPLOAD = 1,
    WYE_TRANSFER_DOWNLOAD = 2,
    WYE_TRANSFER_COPY = 3,
    WYE_TRANSFER_FILL = 4
};

#define WYE_TRANSFER_WHOLE UINT32_C(65536) /* refused unless it is an upload or download of all */

/* Members of other kinds are zero. */
typedef struct wye_transfer_desc {
    wye_header header;
    uint32_t kind; /* enum wye_transfer_kind */
    uint32_t
        flags; /* WYE_TRANSFER_WHOLE, WYE_DISPATCH_TIMED; to submit it also _BORROW, _AT_ONCE */
    wye_queue queue;   /* of the buffers' device; 0: none */
    wye_buffer buffer; /* read by a download, written by all others */
    uint64_t offset;   /* in `buffer` */
    uint64_t size;
    const void* source;       /* UPLOAD */
    void* target;             /* DOWNLOAD */
    wye_buffer source_buffer; /* COPY, as the next */
    uint64_t source_offset;
    uint64_t pattern; /* FILL, as the next */
    uint32_t pattern_size;
    uint32_t reserved;
} wye_transfer_desc;

/* As wye_buffer_upload, _download, _copy and _fill. `report` may be null; it is written on success:
 * device, times and bytes. */
WYE_API wye_status wye_buffer_transfer(wye_context* context, const wye_transfer_desc* desc,
                                       wye_report* report, wye_error** error);

/* The function behind a bit (0 to 63) of wye_report.native_functions: "sin (f32)"; "" for unused
 * bits. Static. */
WYE_API const char* wye_native_function_name(uint32_t bit);

/* Checks the request, launches, waits, delivers outputs. `report` may be null; it is written on
 * success and for WYE_TRAPPED. Order of checks: live handles, arguments and shapes, ownership
 * (inputs, then outputs), capabilities, then the driver. On an error host outputs are not written
 * (unless the driver fails in the middle of the read-back). WYE_TRAPPED: the program trapped;
 * resident buffers keep what it wrote. WYE_TIMEOUT: outputs are not delivered, resident buffers
 * that the program writes are unspecified; while work that cannot be stopped runs, the device is
 * WYE_DEVICE_BUSY. If the time limit ends during a compile, nothing has run; the compile continues
 * and serves a later dispatch, and until it ends, calls that would compile another program return
 * WYE_DEVICE_BUSY. */
WYE_API wye_status wye_dispatch(wye_context* context, const wye_dispatch_desc* desc,
                                wye_report* report, wye_error** error);

/* Computes the sizes of a dispatch: `sizes[i]` is the exact bytes of desc->arguments[i], `groups`
 * (three words) the workgroups. Nothing runs; `device` may be 0. Arguments need their kinds and
 * inputs; the output_size of an output may be 0, so a caller can ask how much storage an output
 * needs (if a `bytes` clause limits the read-back, the bytes of that range). Outputs may be left
 * out. Checks shapes and values as wye_dispatch does. */
WYE_API wye_status wye_dispatch_sizes(wye_context* context, const wye_dispatch_desc* desc,
                                      uint64_t* sizes, uint32_t* groups, wye_error** error);

/* ---- Asynchronous dispatch --------------------------------------------------------------- */

/* A dispatch, transfer or execution of a graph in flight, or one that has ended, made by
 * wye_dispatch_submit, wye_dispatch_owned, wye_buffer_transfer_submit and wye_graph_submit, and
 * freed by wye_pending_free. Its calls may be made by any threads at once. */
typedef uint64_t wye_pending;

/* As wye_dispatch, but does not wait for the device: all checks, and the compile if there is one,
 * are done when it returns; wye_pending_wait returns what happens later (WYE_TRAPPED,
 * WYE_DEVICE_LOST, the driver's errors). `timeout_ns` must be 0.
 *
 * It takes a copy of all inputs before it returns, and the pending dispatch owns its outputs: each
 * host argument of the output list has a null `output`, and its bytes come from
 * wye_pending_output. So the caller's memory is not used any more. With WYE_DISPATCH_BORROW inputs
 * and outputs are as in wye_dispatch, and stay with the caller until the dispatch has ended.
 * Resident buffers are in use until then.
 *
 * Dispatches and transfers of a device have the effects of running in the order of their submits.
 * At most "pending.count" of the configuration (1024) are in flight on a device, which own at most
 * "pending.bytes" (1GiB) of host memory; above that the call waits for the oldest, or with
 * WYE_DISPATCH_AT_ONCE returns WYE_DEVICE_BUSY. What they own is staging memory (see
 * wye_buffer_upload) while there is some left, outputs until the handle is freed. While a handle
 * has outputs of a device that was lost, opening that device again may return WYE_DEVICE_BUSY. */
WYE_API wye_status wye_dispatch_submit(wye_context* context, const wye_dispatch_desc* desc,
                                       wye_pending* out, wye_error** error);

/* As wye_dispatch, but the result owns the outputs, so that no storage has to be sized for them:
 * each host argument of the output list has a null `output`, and after success its bytes come from
 * wye_pending_output of `*out`, a dispatch that has ended, until that is freed. `report` may be
 * null. `timeout_ns` as in wye_dispatch; it also limits the wait for room. BORROW and AT_ONCE are
 * for wye_dispatch_submit. */
WYE_API wye_status wye_dispatch_owned(wye_context* context, const wye_dispatch_desc* desc,
                                      wye_report* report, wye_pending* out, wye_error** error);

/* As wye_buffer_transfer, but does not wait: wye_pending_wait returns the result and the report. It
 * takes a copy of an upload's bytes before it returns, and the pending transfer owns those of a
 * download: `target` is null, and they come from wye_pending_output with the binding 0. With
 * WYE_DISPATCH_BORROW, source and target are the caller's, and stay with it until the end. Limits,
 * and WYE_DISPATCH_AT_ONCE, as of wye_dispatch_submit. */
WYE_API wye_status wye_buffer_transfer_submit(wye_context* context, const wye_transfer_desc* desc,
                                              wye_pending* out, wye_error** error);

/* Sets *ended to 1 if the dispatch has ended, in success or failure, else to 0. Does not wait. */
WYE_API wye_status wye_pending_poll(wye_context* context, wye_pending pending, uint32_t* ended,
                                    wye_error** error);

/* Waits until the dispatch has ended and returns its result, as wye_dispatch does; again if it is
 * called again. WYE_TIMEOUT: it has not ended within `timeout_ns` (UINT64_MAX: no limit) and goes
 * on. `report` may be null. */
WYE_API wye_status wye_pending_wait(wye_context* context, wye_pending pending, uint64_t timeout_ns,
                                    wye_report* report, wye_error** error);

/* Waits until one of `count` dispatches has ended, on any devices of the context, and sets *index
 * to it. WYE_TIMEOUT as for wye_pending_wait, which then returns the result. */
WYE_API wye_status wye_pending_wait_any(wye_context* context, const wye_pending* pending,
                                        uint64_t count, uint64_t timeout_ns, uint64_t* index,
                                        wye_error** error);

/* The bytes of the output with a binding number, owned by the pending dispatch until it is freed;
 * the caller may write to them. WYE_NOT_READY before its end; after a failure, the failure;
 * WYE_NOT_FOUND for a binding that it does not own. */
WYE_API wye_status wye_pending_output(wye_context* context, wye_pending pending, uint32_t binding,
                                      wye_bytes* out, wye_error** error);

/* Called once, when the dispatch has ended, with the status that wye_pending_wait returns. */
typedef void (*wye_pending_fn)(void* user, wye_status status);

/* Calls `fn` on a thread of the library once the dispatch has ended; of one device, one at a time.
 * It may call any function of the context but those that destroy it, and should be short.
 * Destroying the context waits for it. After an abandoned destruction it is not called any more. */
WYE_API wye_status wye_pending_notify(wye_context* context, wye_pending pending, wye_pending_fn fn,
                                      void* user, wye_error** error);

/* Cancels one dispatch, which ends with WYE_CANCELLED, or as usual if it was quicker; resident
 * buffers that it writes are unspecified, and dispatches in flight that use them may end so too.
 * Other dispatches are not touched. A device that cannot stop work (a GPU) runs it to its end, in
 * use of its buffers, but its result is WYE_CANCELLED at once for calls that begin later, callbacks
 * and waits with a time limit; at its end for WYE_DISPATCH_BORROW and for waits in progress without
 * a limit. What the host has not submitted yet never runs. Success if it has ended. */
WYE_API wye_status wye_pending_cancel(wye_context* context, wye_pending pending, wye_error** error);

/* Invalidates the handle and frees the outputs. Work in flight goes on, unobserved; if it borrows
 * the caller's memory, the call waits for its end first. */
WYE_API wye_status wye_pending_free(wye_context* context, wye_pending pending, wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_WYE_H */
