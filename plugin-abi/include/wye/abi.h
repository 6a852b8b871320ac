/* SPDX-License-Identifier: Apache-2.0
 *
 * The contract between the Wye host and a driver plugin. One file, C11, also clean as C++20.
 *
 * A plugin is a shared object that exports one function, `wye_plugin_query_1`. The rules a plugin
 * must keep are numbered (P-1, P-2, ...) in `plugin-abi/README.md`; the short form:
 *
 *  1. The query is pure: no threads, locks, driver, environment or allocation. It returns a pointer
 *     to static const data.
 *  2. Structures are append-only and begin with `wye_header`, whose first member is the size that
 *     the writer knew. A reader uses the lower of this size and its own. Reserved members are zero.
 *     They get a meaning only together with a new flag or kind, which older readers refuse with
 *     WYE_UNSUPPORTED, or with a new critical chain entry.
 *  3. Fixed-width integers only. Strings are {pointer, size}, UTF-8, not terminated. All sizes are
 *     bytes (u64), all durations nanoseconds (u64). Target: 64-bit little endian.
 *  4. The host copies a table's known slots into its own full table and fills every gap with a stub
 *     that returns WYE_UNIMPLEMENTED and names the slot. A plugin may leave optional slots null. A
 *     missing mandatory slot rejects the plugin by slot name.
 *  5. A plugin does not throw, abort, exit, longjmp, print, or let environment variables change its
 *     behaviour. It leaves signal handlers, locale, working directory and FP mode as found.
 *  6. Errors are made by the host (`error_make`) and passed through the `wye_error** error` sink,
 *     which may be null. There is no last-error state. A failed call leaves its outputs untouched.
 *     The host zeroes a structure that a slot fills in, but for its header.
 *  7. Pointers passed in are borrowed for the duration of the call unless said otherwise. Objects
 *     that a plugin returns are opaque to the host and are given back to that plugin only.
 *  8. The host validates arguments, so plugins need not: handles are live and of the right kind,
 *     ranges are inside their buffers, launches are within reported limits.
 *  9. Threads: tables and facts are immutable after `init`. Slots marked [FREE] may be called by
 *     any threads at once; slots marked [SYNC] by one thread at a time per object. The host holds
 *     no lock when it calls a slot. A plugin may call the host from any thread, and holds no lock
 *     meanwhile. The slots of the host's table call no slot of a plugin.
 * 10. The host destroys a buffer, program or command once no pending work uses it. It destroys
 *     all objects of a device before the device, devices before the plugin, and never unloads at
 *     process exit. No structure names a plugin, device or queue object: layers replace these.
 * 11. Every call ends in bounded time. A slot that creates an object may return before the device
 *     has it. A later failure then fails the first value that uses the object. A plugin that can no
 *     longer tell whether its device works counts the device as lost.
 *
 * This is version 1.0. Everything here is append-only: new members and slots go to the end, with a
 * new minor; new numbers to the end of their list; nothing is removed, moved or given another
 * meaning. README.md has a checklist for additions.
 */
#ifndef WYE_ABI_H
#define WYE_ABI_H

#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX != 0xffffffffffffffffu
#error "The Wye plugin ABI is for targets with pointers of 64 bits"
#endif
#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__)
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The Wye plugin ABI is for little-endian targets"
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions ---------------------------------------------------------------------------- */

#define WYE_ABI_MAJOR 1       /* each major has its own query function */
#define WYE_ABI_MINOR 0       /* highest minor this header describes */
#define WYE_ABI_MINOR_FLOOR 0 /* oldest plugin minor the host still accepts */

/* Members and slots of minors that are not released yet may still change. A draft is a number for
 * their present state, and no number is used twice. Two sides with different drafts use only minors
 * that both have released. Drafts 1 to 3 preceded 1.0: each works with itself only. */
#define WYE_ABI_MINOR_FROZEN 0 /* highest minor that is released */
#define WYE_ABI_MINOR_DRAFT 0  /* draft of the minors that are not released; 0: none */

/* Ownership words for readers and linters. */
#define WYE_OWNED    /* the receiver now owns it */
#define WYE_BORROWED /* valid during the call only */
#define WYE_STATIC   /* valid until the plugin's shutdown */

/* The size of a structure up to the end of a member. A reader compares a header's `size` with the
 * size that it needs, or with the size in minor 0, but not with sizeof, which later minors grow. */
#define WYE_SIZE_TO(type, last) ((uint32_t)(offsetof(type, last) + sizeof(((const type*)0)->last)))

/* In every list of numbers, those from this one to 0x7fffffff are for vendors. All chain entries of
 * vendors have the type WYE_CHAIN_NAMED. These headers assign other numbers and all flag bits. */
#define WYE_FIRST_VENDOR 0x40000000

/* ---- Scalars and strings ----------------------------------------------------------------- */

/* Text. */
typedef struct wye_string {
    const char* data; /* UTF-8, not terminated; may be null when size is 0 */
    uint64_t size;    /* bytes */
} wye_string;

/* Bytes. */
typedef struct wye_bytes {
    const void* data;
    uint64_t size;
} wye_bytes;

/* First member of every structure and table. `next` chains extension structures, each with a header
 * and a type of its own, or a name of its own (WYE_CHAIN_NAMED). `type` is 0 in a base structure.
 * Bit 31 of `type` marks a critical entry; structures that the reader fills in have none. A reader
 * skips unknown entries, and returns WYE_UNSUPPORTED_EXTENSION for an unknown critical one. */
typedef struct wye_header {
    uint32_t size;
    uint32_t type;
    const void* next;
} wye_header;
#define WYE_CHAIN_CRITICAL 0x80000000u /* in `type` of wye_header */

/* The chain entry of a vendor, of the type WYE_CHAIN_NAMED, critical or not. */
typedef struct wye_named_entry {
    wye_header header;
    wye_string name; /* "com.vendor.feature": identifies the members that follow */
} wye_named_entry;
#define WYE_CHAIN_NAMED 0x40000000u /* in `type`: a wye_named_entry */

/* ---- Status codes ------------------------------------------------------------------------ */

/* The outcome of a call: 0, or enum wye_status_code. */
typedef int32_t wye_status;

/* X(NAME, value, text). 0 is success; codes are append-only; unknown codes are tolerated. */
#define WYE_STATUSES(X)                                   \
    X(OK, 0, "ok")                                        \
    X(INTERNAL, 1, "internal error")                      \
    X(OUT_OF_MEMORY, 2, "out of host memory")             \
    X(INVALID_ARGUMENT, 3, "invalid argument")            \
    X(INVALID_PROGRAM, 4, "invalid program")              \
    X(INVALID_TEXT, 5, "invalid program text")            \
    X(INVALID_WIRE, 6, "invalid wire form")               \
    X(LIMIT_EXCEEDED, 7, "limit exceeded")                \
    X(UNSUPPORTED, 8, "unsupported")                      \
    X(UNIMPLEMENTED, 9, "not implemented by the plugin")  \
    X(UNKNOWN_KEY, 10, "unknown key")                     \
    X(NOT_FOUND, 11, "not found")                         \
    X(DUPLICATE, 12, "duplicate")                         \
    X(WRONG_OWNER, 13, "wrong owner")                     \
    X(STALE_HANDLE, 14, "stale handle")                   \
    X(WRONG_KIND, 15, "wrong kind of handle")             \
    X(BUFFER_IN_USE, 16, "buffer in use")                 \
    X(NO_DEVICE, 17, "no usable device")                  \
    X(DEVICE_MEMORY, 18, "out of device memory")          \
    X(DEVICE_LOST, 19, "device lost")                     \
    X(DEVICE_BUSY, 20, "device busy")                     \
    X(DRIVER, 21, "driver error")                         \
    X(COMPILE_FAILED, 22, "compilation failed")           \
    X(TRAPPED, 23, "program trapped")                     \
    X(TIMEOUT, 24, "timed out")                           \
    X(CANCELLED, 25, "cancelled")                         \
    X(MISSING_DEPENDENCY, 26, "missing dependency")       \
    X(ABI_MISMATCH, 27, "ABI mismatch")                   \
    X(UNSUPPORTED_EXTENSION, 28, "unsupported extension") \
    X(BAD_MANIFEST, 29, "bad manifest")                   \
    X(BAD_PLUGIN, 30, "bad plugin")                       \
    X(PLUGIN_FAULT, 31, "plugin broke the contract")      \
    X(NOT_TRUSTED, 32, "not trusted")                     \
    X(PROBE_CRASHED, 33, "probe crashed")                 \
    X(PROBE_TIMEOUT, 34, "probe timed out")               \
    X(SHUTTING_DOWN, 35, "shutting down")                 \
    X(IO, 36, "input or output failed")                   \
    X(NOT_READY, 37, "not ready")                         \
    X(DISABLED, 38, "disabled")

/* The codes of WYE_STATUSES. */
enum wye_status_code {
#define WYE_STATUS_ENUM(name, value, text) WYE_##name = value,
    WYE_STATUSES(WYE_STATUS_ENUM)
#undef WYE_STATUS_ENUM
        WYE_STATUS_FIRST_FREE = 39 /* not part of the contract: grows with the list */
};

/* ---- Errors ------------------------------------------------------------------------------ */

/* Made and freed by the host only, so there is one allocator. Immutable. */
typedef struct wye_error wye_error;

/* The content of a new error. */
typedef struct wye_error_desc {
    wye_header header;
    wye_status code;
    uint32_t flags;             /* zero */
    int64_t native_code;        /* e.g. the cl_int, CUresult, VkResult; 0 when none */
    wye_string native_domain;   /* "opencl", "cuda", "vulkan", "errno"; empty when none */
    wye_string subject;         /* the path, device, buffer name, ... that the error concerns */
    wye_string message;         /* one sentence with the offending value */
    wye_string fix;             /* the remedy, beginning with "Fix: " */
    wye_error* WYE_OWNED cause; /* may be null; the new error takes it over */
} wye_error_desc;

/* ---- Facts and capabilities -------------------------------------------------------------- */

/* Which member of wye_fact has the value. */
enum wye_fact_type {
    WYE_FACT_NONE = 0,
    WYE_FACT_BOOL = 1,    /* u: 0 or 1 */
    WYE_FACT_U64 = 2,     /* u */
    WYE_FACT_F64 = 3,     /* f */
    WYE_FACT_TEXT = 4,    /* text, WYE_STATIC */
    WYE_FACT_U32X3 = 5,   /* xyz */
    WYE_FACT_U64_LIST = 6 /* list, WYE_STATIC, in ascending order */
};

/* The value of a fact, with its origin. */
typedef struct wye_fact {
    wye_header header;
    uint32_t type; /* enum wye_fact_type */
    uint32_t xyz[3];
    uint64_t u;
    double f;
    wye_string text;
    const uint64_t* list;
    uint64_t list_size;
    wye_string source; /* the origin of a profile figure ("CL_DEVICE_...", "measured"), or empty */
} wye_fact;

/* Device facts: X(NAME, key, json name, type). Capabilities are booleans, with the language's
 * names. For a fact that the device does not report, device_fact returns WYE_UNSUPPORTED: a
 * capability is then absent, a limit unknown (never unlimited; workgroup limits count as 1). */
#define WYE_FACTS(X)                                                                            \
    /* capabilities */                                                                          \
    X(INT64, 0x001, "int64", BOOL)                                                              \
    X(F64, 0x002, "f64", BOOL)                                                                  \
    X(IEEE_F32, 0x003, "ieee_f32", BOOL)                                                        \
    X(IEEE_F64, 0x004, "ieee_f64", BOOL)                                                        \
    X(STORAGE8, 0x005, "storage8", BOOL)                                                        \
    X(STORAGE16, 0x006, "storage16", BOOL)                                                      \
    X(ATOMIC_INT64, 0x007, "atomic_int64", BOOL)                                                \
    X(ATOMIC_INT64_SHARED, 0x008, "atomic_int64_shared", BOOL)                                  \
    X(ATOMIC_F32_ADD, 0x009, "atomic_f32_add", BOOL)                                            \
    X(ATOMIC_F64_ADD, 0x00a, "atomic_f64_add", BOOL)                                            \
    X(SUBGROUP, 0x00b, "subgroup", BOOL)                                                        \
    X(GRID_SYNC, 0x00c, "grid_sync", BOOL)                                                      \
    X(NATIVE_F16, 0x00d, "native_f16", BOOL)                                                    \
    X(NATIVE_BF16, 0x00e, "native_bf16", BOOL)                                                  \
    X(TENSOR_CORES, 0x00f, "tensor_cores", BOOL)                                                \
    X(ASYNC_COMPUTE, 0x010, "async_compute", BOOL)                                              \
    X(INDIRECT_DISPATCH, 0x011, "indirect_dispatch", BOOL)                                      \
    X(SPECULATION, 0x012, "speculation", BOOL)                                                  \
    X(PERSISTENT_THREADS, 0x013, "persistent_threads", BOOL)                                    \
    X(DISTRIBUTED, 0x014, "distributed", BOOL)                                                  \
    X(UNIFIED_MEMORY, 0x015, "unified_memory", BOOL)                                            \
    X(DEVICE_TIMESTAMPS, 0x016, "device_timestamps", BOOL)                                      \
    X(ATOMIC_INT32, 0x017, "atomic_int32", BOOL)                                                \
    X(BARRIER, 0x018, "barrier", BOOL)                                                          \
    /* a queue waits for events of the driver's API: the chain entry WYE_CHAIN_NATIVE_WAIT */   \
    X(NATIVE_WAIT, 0x019, "native_wait", BOOL)                                                  \
    /* limits */                                                                                \
    X(MAX_WORKGROUP_SIZE, 0x100, "max_workgroup_size", U32X3)                                   \
    X(MAX_WORKGROUP_INVOCATIONS, 0x101, "max_workgroup_invocations", U64)                       \
    X(MAX_WORKGROUPS, 0x102, "max_workgroups", U32X3)                                           \
    X(MAX_SHARED_BYTES, 0x103, "max_shared_bytes", U64)                                         \
    X(MAX_PRIVATE_BYTES, 0x104, "max_private_bytes", U64)                                       \
    X(MAX_PARAM_BYTES, 0x105, "max_param_bytes", U64)                                           \
    X(MAX_BUFFERS, 0x106, "max_buffers", U64)                                                   \
    X(MAX_BUFFER_BYTES, 0x107, "max_buffer_bytes", U64)                                         \
    X(SUBGROUP_SIZES, 0x108, "subgroup_sizes", U64_LIST)                                        \
    X(BUFFER_ALIGNMENT, 0x109, "buffer_alignment", U64)                                         \
    X(MEMORY_BYTES, 0x10a, "memory_bytes", U64)                                                 \
    X(MAX_PUSH_BYTES, 0x10b, "max_push_bytes", U64)                                             \
    /* queues of a device whose work may overlap; unknown: 1 */                                 \
    X(MAX_QUEUES, 0x10c, "max_queues", U64)                                                     \
    /* alignment of address and size of REGISTERED buffers; unknown: no such buffers */         \
    X(HOST_MEMORY_ALIGNMENT, 0x10d, "host_memory_alignment", U64)                               \
    /* identity */                                                                              \
    X(VENDOR, 0x200, "vendor", TEXT)                                                            \
    X(DRIVER, 0x201, "driver", TEXT)                                                            \
    X(PLATFORM, 0x202, "platform", TEXT)                                                        \
    X(API_VERSION, 0x203, "api_version", TEXT)                                                  \
    X(DEVICE_KIND, 0x204, "device_kind", TEXT) /* cpu gpu accelerator other */                  \
    X(ISA, 0x205, "isa", TEXT)                                                                  \
    X(PCI_ADDRESS, 0x206, "pci_address", TEXT) /* dddd:bb:dd.f */                               \
    X(UUID, 0x207, "uuid", TEXT)               /* 32 hex digits */                              \
    X(LUID, 0x208, "luid", TEXT)               /* 16 hex digits */                              \
    X(VENDOR_ID, 0x209, "vendor_id", U64)      /* of PCI, or of the API for software */         \
    X(DEVICE_ID, 0x20a, "device_id", U64)                                                       \
    X(RENDER_NODE, 0x20b, "render_node", TEXT) /* major:minor */                                \
    /* the device's work runs on the processors of the machine that the host runs on */         \
    X(HOST_PROCESSOR, 0x20c, "host_processor", BOOL)                                            \
    X(CONFORMANCE_VERSION, 0x20d, "conformance_version", TEXT)                                  \
    /* profile: figures with a source, or absent */                                             \
    X(COMPUTE_UNITS, 0x300, "compute_units", U64)                                               \
    X(CLOCK_HZ, 0x301, "clock_hz", U64)                                                         \
    X(L1_CACHE_BYTES, 0x302, "l1_cache_bytes", U64)                                             \
    X(L2_CACHE_BYTES, 0x303, "l2_cache_bytes", U64)                                             \
    X(MEMORY_BANDWIDTH, 0x304, "memory_bytes_per_second", U64)                                  \
    X(REGISTERS_PER_THREAD, 0x305, "registers_per_thread", U64)                                 \
    X(SHARED_BANKS, 0x306, "shared_banks", U64)                                                 \
    X(SHARED_BANK_BYTES, 0x307, "shared_bank_bytes", U64)                                       \
    X(IDEAL_WORKGROUP, 0x308, "ideal_workgroup", U32X3)                                         \
    X(IDEAL_UNROLL, 0x309, "ideal_unroll", U64)                                                 \
    X(IDEAL_VECTOR_BITS, 0x30a, "ideal_vector_bits", U64)                                       \
    X(NATIVE_INT_BITS, 0x30b, "native_int_bits", U64)                                           \
    X(L3_CACHE_BYTES, 0x30c, "l3_cache_bytes", U64)                                             \
    X(NUMA_NODE, 0x30d, "numa_node", U64)                                                       \
    X(COMPUTE_QUEUES, 0x30e, "compute_queues", U64)   /* of the driver */                       \
    X(TRANSFER_QUEUES, 0x30f, "transfer_queues", U64) /* for copies only */                     \
    /* of the machine; memory_bytes may be less, by a limit of the process or its container */  \
    X(PHYSICAL_MEMORY_BYTES, 0x310, "physical_memory_bytes", U64)                               \
    /* free when the device was probed; differs between processes */                            \
    X(FREE_MEMORY_BYTES, 0x311, "free_memory_bytes", U64)                                       \
    /* of matrix instructions: MxNxK, type of factors, type of sums: "16x16x16 f16 f32, ..." */ \
    X(MATRIX_SIZES, 0x312, "matrix_sizes", TEXT)                                                \
    /* processors of the machine; the process's limit by time (by number: compute_units) */     \
    X(ONLINE_PROCESSORS, 0x313, "online_processors", U64)                                       \
    X(PROCESSOR_QUOTA, 0x314, "processor_quota", F64)                                           \
    /* lowering facts: what the start-up self-test found (absent: assume not exact, emulate) */ \
    X(NATIVE_F32_DIV, 0x400, "native_f32_div", BOOL)                                            \
    X(NATIVE_F32_SQRT, 0x401, "native_f32_sqrt", BOOL)                                          \
    X(NATIVE_F32_FMA, 0x402, "native_f32_fma", BOOL)                                            \
    X(NATIVE_F64_DIV, 0x403, "native_f64_div", BOOL)                                            \
    X(NATIVE_F64_SQRT, 0x404, "native_f64_sqrt", BOOL)                                          \
    X(NATIVE_F64_FMA, 0x405, "native_f64_fma", BOOL)                                            \
    X(FOLDS_LITERAL_ZERO, 0x406, "folds_literal_zero", BOOL)                                    \
    /* f32 subnormals are kept: always; in the float-control mode DenormPreserve */             \
    X(KEEPS_F32_DENORMALS, 0x407, "keeps_f32_denormals", BOOL)                                  \
    X(F32_DENORM_MODE, 0x408, "f32_denorm_mode", BOOL)                                          \
    /* float-control modes that may be asked for: SignedZeroInfNanPreserve, RoundingModeRTE */  \
    X(F32_SIGN_NAN_MODE, 0x409, "f32_sign_nan_mode", BOOL)                                      \
    X(F64_SIGN_NAN_MODE, 0x40a, "f64_sign_nan_mode", BOOL)                                      \
    X(F32_RTE_MODE, 0x40b, "f32_rte_mode", BOOL)                                                \
    X(F64_RTE_MODE, 0x40c, "f64_rte_mode", BOOL)                                                \
    /* f32 to f16 and back is exact; float atomic adds need no compare-and-swap loop */         \
    X(NATIVE_F16_CONVERT, 0x40d, "native_f16_convert", BOOL)                                    \
    X(NATIVE_F32_ATOMIC_ADD, 0x40e, "native_f32_atomic_add", BOOL)                              \
    X(NATIVE_F64_ATOMIC_ADD, 0x40f, "native_f64_atomic_add", BOOL)                              \
    /* the driver ends an invocation's loops after this many iterations, all together */        \
    X(LOOP_ROUNDS, 0x410, "loop_rounds", U64)                                                   \
    /* floor, ceil, trunc and round to even are exact, and keep the sign of zero */             \
    X(NATIVE_F32_ROUND, 0x411, "native_f32_round", BOOL)                                        \
    X(NATIVE_F64_ROUND, 0x412, "native_f64_round", BOOL)                                        \
    /* a workgroup runs as a loop over its invocations, on one thread */                        \
    X(WORKGROUP_LOOPS, 0x413, "workgroup_loops", BOOL)                                          \
    /* SPIR-V buffers may have elements of 8 or 16 bits; else they are parts of 32-bit words */ \
    X(NATIVE_STORAGE8, 0x414, "native_storage8", BOOL)                                          \
    X(NATIVE_STORAGE16, 0x415, "native_storage16", BOOL)

/* The keys of WYE_FACTS. */
enum wye_fact_key {
#define WYE_FACT_ENUM(name, key, json, type) WYE_FACT_KEY_##name = key,
    WYE_FACTS(WYE_FACT_ENUM)
#undef WYE_FACT_ENUM
        WYE_FACT_KEY_FIRST_VENDOR = WYE_FIRST_VENDOR
};

/* ---- Artifacts --------------------------------------------------------------------------- */

/* Format names known to the host's lowering. A name never changes its meaning. A plugin may declare
 * others (reverse-DNS); such artifacts come from a program's variants only. */
#define WYE_FORMAT_PROGRAM "wye-program" /* the wire form, wye/program_format.h */
#define WYE_FORMAT_OPENCL_C "opencl-c"   /* source */
#define WYE_FORMAT_CUDA_C "cuda-c"       /* source, as NVRTC takes it */
#define WYE_FORMAT_PTX "ptx"             /* text */
#define WYE_FORMAT_CUBIN "cubin"         /* for one architecture */
#define WYE_FORMAT_SPIRV "spirv-vulkan"  /* words of SPIR-V */

/* The kinds of kernel arguments. */
enum wye_slot_kind {
    WYE_SLOT_BUFFER = 1,      /* binding index: the buffer's address or descriptor */
    WYE_SLOT_LENGTH = 2,      /* binding index: its element count, u64 */
    WYE_SLOT_PARAMS = 3,      /* the parameter block, `params_size` bytes */
    WYE_SLOT_GRID = 4,        /* u32[6]: workgroup offset x y z, logical workgroup counts x y z */
    WYE_SLOT_OPAQUE_ZERO = 5, /* u64 zero, a value that no compiler may know */
    WYE_SLOT_TRAP = 6,        /* the trap words: 8 bytes, {u32 largest code, u32 count} */
    WYE_SLOT_GRID_BARRIER = 7 /* u32[2] that the plugin provides, for COOPERATIVE launches */
};

/* One kernel argument; slots are in kernel-argument order.
 *
 * Kernel parameters of the formats cuda-c, ptx and cubin: BUFFER is a pointer, LENGTH an unsigned
 * long long, PARAMS a struct by value (natural alignment, declared order), GRID a struct of six u32
 * by value, OPAQUE_ZERO an unsigned long long, TRAP a pointer to two u32, GRID_BARRIER a pointer to
 * two u32 in device memory. The barrier's words are 0 at first, and each launch leaves them ready
 * for the next. Launches that may run at the same time have different words. A launch gives dynamic
 * shared memory only if the artifact's shared_bytes is above 48 KiB: one block of shared_bytes.
 *
 * This structure never grows. */
typedef struct wye_slot {
    uint32_t kind;    /* enum wye_slot_kind */
    uint32_t binding; /* index into wye_dispatch_op.bindings (BUFFER, LENGTH); else 0 */
    uint32_t offset;  /* bytes within push constants, if the format uses them; else 0 */
    uint32_t access;  /* BUFFER: 1 read, 2 write, 3 both; else 0 */
    uint32_t flags;   /* zero */
    uint32_t reserved[3];
} wye_slot;

/* One kernel, ready for `program_create`. All borrowed for the call. */
typedef struct wye_artifact {
    wye_header header;
    wye_string format;
    wye_bytes code; /* text formats are not terminated */
    wye_string entry;
    const wye_slot* slots;
    uint32_t slot_count;
    uint32_t binding_count;     /* buffers, in ascending binding order, `shared` left out */
    uint32_t workgroup_size[3]; /* of launches; 1 each if the code itself loops over invocations */
    uint32_t subgroup_size;     /* 0: no demand */
    uint32_t shared_bytes;      /* workgroup memory of the code (CUDA: see wye_slot) */
    uint32_t params_size;       /* bytes */
    wye_string label;           /* for logs and profilers */
    wye_string options;         /* compiler flags that strictness relies on; space separated */
    uint32_t flags;             /* zero */
    uint32_t reserved;
} wye_artifact;

/* ---- Opaque plugin objects --------------------------------------------------------------- */

typedef struct wye_plugin_object wye_plugin_object;     /* made by init */
typedef struct wye_device_object wye_device_object;     /* an opened device */
typedef struct wye_buffer_object wye_buffer_object;     /* memory of a device */
typedef struct wye_program_object wye_program_object;   /* a compiled artifact */
typedef struct wye_queue_object wye_queue_object;       /* runs submissions as if in order */
typedef struct wye_timeline_object wye_timeline_object; /* its values are reached in order */
typedef struct wye_command_object wye_command_object; /* operations that are executed many times */

/* An event is a point on a timeline. The host chooses the values: they grow, and may leave gaps; 0
 * is always reached. Outside submissions, only `timeline` and `value` are read. This structure
 * never grows.
 *
 * Each queue has a timeline of its own: a value of it is reached when every operation submitted to
 * the queue up to that value has ended. A value of a timeline made by `timeline_create` is reached
 * when this or a later value was signalled: by a submit that has ended, or by the host. No two of
 * them signal a timeline at the same time.
 *
 * Values fail singly. A failed operation fails the value of its submit. A failed value fails the
 * values that its submit signals, and the submits that wait for it, unless the wait is ORDER_ONLY.
 * All other values go on. Only a lost device fails every value that has not ended.
 *
 * Work in any queue that waits for a value sees every byte that work up to the value has written.
 * So does the host once `query` or `wait` has reported the value. */
typedef struct wye_event {
    wye_timeline_object* timeline;
    uint64_t value;
    uint32_t flags; /* enum wye_event_flags, in the waits of a submission; elsewhere 0 */
    uint32_t reserved;
} wye_event;

/* Flags of the waits of a submission. */
enum wye_event_flags {
    WYE_EVENT_ORDER_ONLY = 1 /* the wait ends when the value was reached or has failed */
};

/* ---- Operations -------------------------------------------------------------------------- */

/* The kinds of operations. */
enum wye_op_kind {
    WYE_OPERATION_DISPATCH = 1,
    WYE_OPERATION_COPY = 2, /* between buffers of one device; ranges never overlap */
    WYE_OPERATION_FILL = 3,
    WYE_OPERATION_UPLOAD = 4,   /* host to buffer */
    WYE_OPERATION_DOWNLOAD = 5, /* buffer to host */
    WYE_OPERATION_EXECUTE = 6   /* runs a command */
};

/* A buffer range bound to a program. `elements` is its element count as the program sees it. Within
 * a command, a null buffer stands for the binding `slot` of an execution: `offset` counts from that
 * binding's offset; the size WYE_WHOLE_SLOT, with `offset` 0, stands for its size and elements.
 * This structure never grows. */
typedef struct wye_binding {
    wye_buffer_object* buffer;
    uint64_t offset; /* bytes */
    uint64_t size;   /* bytes; may be 0, which does not make `buffer` null */
    uint64_t elements;
    uint32_t slot;  /* index of a binding of an execution, if `buffer` is null; else 0 */
    uint32_t flags; /* zero */
    uint64_t reserved;
} wye_binding;
#define WYE_WHOLE_SLOT 0xffffffffffffffffu /* as the size of a wye_binding */

/* How the workgroups of a dispatch are run. */
enum wye_launch_flags {
    /* All workgroups run at once, so that they may wait for each other. For devices with GRID_SYNC.
     * A dispatch of more workgroups than fit is refused before it is queued, with
     * WYE_LIMIT_EXCEEDED and both numbers. */
    WYE_LAUNCH_COOPERATIVE = 1,
    /* The numbers of workgroups are u32[3] in the range `indirect`, read when the dispatch begins;
     * `groups` is ignored. The program sees `logical_groups` or, without a grid slot, the numbers
     * read. For devices with INDIRECT_DISPATCH. If one of the numbers is 0, nothing runs. Their
     * writer keeps them within MAX_WORKGROUPS. If one is above, a plugin that sees the numbers
     * fails the value with WYE_LIMIT_EXCEEDED; with other plugins, the driver may do anything, up
     * to losing the device. */
    WYE_LAUNCH_INDIRECT = 2,
    WYE_LAUNCH_LATE_GRID = 4 /* commands: see grid_offset */
};

/* A launch of one kernel. */
typedef struct wye_dispatch_op {
    wye_program_object* program;
    const wye_binding* bindings; /* as many as the artifact's binding_count */
    const void* params;          /* as many bytes as the artifact's params_size */
    uint32_t groups[3];          /* workgroups to run; either none or all axes are zero (P-34) */
    uint32_t group_offset[3];    /* added to the workgroup id (folded or split grids) */
    uint32_t logical_groups[3];  /* num_workgroups as the program sees it */
    uint32_t flags;              /* enum wye_launch_flags */
    /* Commands: the first late_size bytes of the parameters are those of the execution's block from
     * late_offset on. With LATE_GRID, nine words of the block from grid_offset on replace `groups`,
     * `group_offset` and `logical_groups`. Outside commands, the next three members are 0. */
    uint32_t late_offset, late_size, grid_offset;
    uint32_t binding_count, params_size; /* of the artifact */
    /* Submissions: 1 if the preceding operation is a dispatch with the same other members and the
     * same data behind their pointers, and neither operation has a chain. A plugin may ignore this
     * hint. Otherwise, and in commands, 0. */
    uint32_t again;
    wye_binding trap;     /* used when the slot map has WYE_SLOT_TRAP; else its buffer is null */
    wye_binding indirect; /* of INDIRECT: 12 bytes at a multiple of 4; else its buffer is null */
} wye_dispatch_op;

/* A copy between buffers. */
typedef struct wye_copy_op {
    wye_buffer_object* source;
    wye_buffer_object* target;
    uint64_t source_offset, target_offset, size;
    uint32_t source_slot, target_slot; /* as in wye_binding, for null buffers */
} wye_copy_op;

/* A range of a buffer that a pattern fills. */
typedef struct wye_fill_op {
    wye_buffer_object* target;
    uint64_t offset, size; /* multiples of pattern_size */
    uint64_t pattern;      /* low pattern_size bytes repeat, little endian */
    uint32_t pattern_size; /* 1, 2, 4 or 8 */
    uint32_t target_slot;  /* as in wye_binding, if `target` is null */
} wye_fill_op;

/* A transfer; its host memory stays valid until the event of its submit is reached. */
typedef struct wye_transfer_op {
    wye_buffer_object* buffer;
    uint64_t offset, size;
    const void* source; /* UPLOAD */
    void* target;       /* DOWNLOAD */
} wye_transfer_op;

/* One execution of a command, with its bindings and its block of parameters. */
typedef struct wye_execute_op {
    wye_command_object* command;
    const wye_binding* slots;         /* as many as the command's slot_count; no buffer is null */
    const void* params;               /* the command's params_size bytes, aligned to 8 bytes */
    uint32_t slot_count, params_size; /* of the command */
} wye_execute_op;

/* The host zeroes all of `room`, so that members can be appended to the structures in the union.
 * This structure itself never grows. */
typedef struct wye_operation {
    uint32_t kind;    /* enum wye_op_kind */
    uint32_t flags;   /* zero */
    const void* next; /* a chain, as in wye_header */
    union {
        uint64_t room[30]; /* fixes the size; the first member, so that {0} clears all of it */
        wye_dispatch_op dispatch;
        wye_copy_op copy;
        wye_fill_op fill;
        wye_transfer_op transfer;
        wye_execute_op execute;
    } u;
} wye_operation;

/* Operation `after` of a command begins once operation `before`, an earlier one, has ended. This
 * structure never grows. */
typedef struct wye_edge {
    uint32_t before, after; /* indices */
} wye_edge;

/* How the operations of a command are ordered. */
enum wye_command_flags {
    WYE_COMMAND_EDGES = 1 /* only `edges` order the operations; else each waits for all before it */
};

/* Operations that are executed many times: dispatches, copies and fills. */
typedef struct wye_command_desc {
    wye_header header;
    const wye_operation* operations;
    uint64_t operation_count;
    const wye_edge* edges; /* ascending by `after`, then `before` */
    uint64_t edge_count;
    uint32_t slot_count;  /* bindings of an execution */
    uint32_t params_size; /* bytes of an execution's block */
    uint32_t flags;       /* enum wye_command_flags */
    uint32_t reserved;
    wye_string label;
} wye_command_desc;

/* How a command takes the values that each execution gives, the cheapest first. */
enum wye_late {
    WYE_LATE_ARGUMENT = 1, /* handed to each launch */
    WYE_LATE_MEMORY = 2,   /* written to memory that the kernel reads */
    WYE_LATE_PATCH = 3,    /* written into the native object */
    WYE_LATE_RECORD = 4    /* the native object is made again */
};

/* How a plugin implements a command. */
typedef struct wye_command_info {
    wye_header header;
    uint32_t native;       /* 1: one object of the driver; 0: operations are sent one by one */
    uint32_t late_params;  /* enum wye_late */
    uint32_t late_slots;   /* enum wye_late */
    uint32_t late_grid;    /* enum wye_late */
    uint32_t most_pending; /* executions that may be pending at once; 0: any number */
    uint32_t reserved;
    uint64_t bytes;      /* of memory that the command keeps; 0: unknown */
    uint64_t recordings; /* times that the native object was made */
} wye_command_info;

/* What a submission asks for besides its work. */
enum wye_submission_flags {
    WYE_SUBMISSION_TIMED = 1 /* the `timing` slot will be called for the value */
};

/* One submit. Everything is borrowed for the call, except the host memory of transfers, which stays
 * valid until the event of the submit is reached. Each wait names a value that was submitted, or
 * that a submit or the host has signalled. Until then, the host holds the submit back. */
typedef struct wye_submission {
    wye_header header;
    const wye_operation* operations; /* executed as if in order */
    uint64_t operation_count;
    const wye_event* waits; /* of this device; a null timeline is ignored */
    uint64_t wait_count;
    const wye_event* signals; /* values of timelines made by timeline_create, of this device */
    uint64_t signal_count;
    uint64_t value; /* above the values of all earlier submits of the queue */
    uint32_t flags; /* enum wye_submission_flags */
    uint32_t reserved;
} wye_submission;

/* ---- Descriptions ------------------------------------------------------------------------ */

/* Whether a device that was found can be opened. */
enum wye_device_state {
    WYE_DEVICE_USABLE = 0,
    WYE_DEVICE_UNUSABLE = 1 /* listed with a reason, cannot be opened */
};

/* A device as the probe sees it, without opening it. Strings WYE_STATIC. */
typedef struct wye_device_info {
    wye_header header;
    wye_string name;
    uint32_t state; /* enum wye_device_state */
    uint32_t reserved;
    int64_t native_code;       /* the driver's code behind `reason`; 0: none */
    wye_string reason;         /* UNUSABLE: why, one sentence */
    wye_string fix;            /* UNUSABLE: "Fix: ..." */
    const wye_string* formats; /* accepted artifact formats, most preferred first */
    uint64_t format_count;
} wye_device_info;

/* The device to open. */
typedef struct wye_open_desc {
    wye_header header;
    uint32_t index; /* below the count of the probe */
    uint32_t flags; /* zero */
    wye_string label;
} wye_open_desc;

/* Where a buffer's memory is best placed. Only copies use buffers of the usages STAGING and
 * REGISTERED, and the host writes and reads these through their mappings. All operations may use
 * buffers of the other usages. */
enum wye_buffer_usage {
    WYE_BUFFER_USAGE_DEVICE = 0,    /* for programs; need not be mappable */
    WYE_BUFFER_USAGE_UPLOAD = 1,    /* written by the host, read by the device */
    WYE_BUFFER_USAGE_READBACK = 2,  /* written by the device, read by the host */
    WYE_BUFFER_USAGE_SHARED = 3,    /* read and written by both */
    WYE_BUFFER_USAGE_STAGING = 4,   /* host memory that only copies use, at the bus's speed */
    WYE_BUFFER_USAGE_REGISTERED = 5 /* as STAGING, but memory of the application: `memory` */
};

/* The description of a new buffer. */
typedef struct wye_buffer_desc {
    wye_header header;
    uint64_t size;      /* bytes; 0 is allowed, and still gives at least one readable element */
    uint64_t alignment; /* power of two; honoured, or refused with WYE_UNSUPPORTED */
    uint32_t usage;     /* enum wye_buffer_usage */
    uint32_t flags;     /* zero */
    wye_string label;
    /* REGISTERED: `size` bytes, at least one. They stay mapped and writable until the buffer is
     * destroyed, and no other buffer of the device has them. Address and size are multiples of the
     * fact HOST_MEMORY_ALIGNMENT. Other usages: null. */
    void* memory;
} wye_buffer_desc;

/* Properties of a mapping. */
enum wye_mapping_flags {
    WYE_MAPPING_CACHED = 1 /* the host reads it as fast as its own memory */
};

/* A buffer's bytes in the host's address space. */
typedef struct wye_mapping {
    wye_header header;
    void* address;  /* of the first byte, aligned as the description asked */
    uint32_t flags; /* enum wye_mapping_flags */
    uint32_t reserved;
} wye_mapping;

/* The side that is to see the bytes that the other side wrote. */
enum wye_sync_direction {
    WYE_SYNC_TO_DEVICE = 1, /* after the host wrote, before the submit that reads */
    WYE_SYNC_TO_HOST = 2    /* after the value that wrote was reached, before the host reads */
};

/* What the driver says about a compiled program; 0: unknown. */
typedef struct wye_program_info {
    wye_header header;
    uint64_t private_bytes;   /* of memory that one invocation spills to */
    uint64_t shared_bytes;    /* of one workgroup */
    uint32_t max_invocations; /* of one workgroup */
    uint32_t registers;       /* of one invocation */
    uint32_t resident_groups; /* workgroups that run at once on the whole device */
    uint32_t reserved;
} wye_program_info;

/* The main use of a queue. */
enum wye_queue_kind { WYE_QUEUE_ANY = 0, WYE_QUEUE_COMPUTE = 1, WYE_QUEUE_TRANSFER = 2 };

/* Kind, priority and index are hints, which a plugin may ignore; `info` of the queue says what the
 * driver gave. */
typedef struct wye_queue_desc {
    wye_header header;
    wye_string label;
    uint32_t kind;         /* enum wye_queue_kind: the main use of the queue */
    int32_t priority;      /* 0 is normal, above it is more urgent */
    uint32_t native_index; /* 1 and up: which of the driver's queues; 0: the plugin's choice */
    uint32_t flags;        /* zero */
} wye_queue_desc;

/* What the driver gave a queue: as in wye_queue_desc, or less. */
typedef struct wye_queue_info {
    wye_header header;
    uint32_t kind;         /* the kind asked for if the native queue is made for it; else ANY */
    int32_t priority;      /* 0 unless the driver ranks the queue above or below others */
    uint32_t native_index; /* 1 and up: which of the driver's queues; 0: these have no numbers */
    uint32_t reserved;
} wye_queue_info;

/* The description of a new timeline. */
typedef struct wye_timeline_desc {
    wye_header header;
    wye_string label;
    uint32_t flags; /* zero */
    uint32_t reserved;
} wye_timeline_desc;

/* Types of chain entries: 3 is in abi_layer.h, 4 and 5 are in abi_native.h. No structure has the
 * types 1 and 2 yet. They are reserved for timelines and memory of other processes and APIs. */
enum wye_chain_type {
    WYE_CHAIN_TIMELINE_IMPORT = 1, /* in wye_timeline_desc */
    WYE_CHAIN_BUFFER_IMPORT = 2    /* in wye_buffer_desc */
};

/* Times of one submit, from the driver's own timestamps; 0 where unknown. Nanoseconds. The host's
 * clock is CLOCK_MONOTONIC (macOS: mach_absolute_time; Windows: QueryPerformanceCounter). */
typedef struct wye_timing {
    wye_header header;
    uint64_t device_ns; /* from the start of the first to the end of the last operation */
    uint64_t begin_ns;  /* of the first operation, on the host's clock, as near as can be told */
    uint64_t end_ns;    /* of the last operation, likewise */
} wye_timing;

/* The memory of a device, in bytes. */
typedef struct wye_memory_info {
    wye_header header;
    uint64_t total_bytes;
    uint64_t free_bytes; /* UINT64_MAX: unknown */
} wye_memory_info;

/* ---- Host services ----------------------------------------------------------------------- */

/* An object of the host, which plugins only hand back. */
typedef struct wye_host_object wye_host_object;

/* How important a message is; a lower number is more important. */
enum wye_log_level { WYE_LOG_ERROR = 1, WYE_LOG_WARNING = 2, WYE_LOG_INFO = 3, WYE_LOG_DEBUG = 4 };

/* Handed to `init`; valid until `shutdown` returns. All slots [FREE]. */
typedef struct wye_host_table {
    wye_header header;
    wye_host_object* self; /* first argument of every slot */

    /* Never fails: without memory it returns a static error. Takes ownership of `desc->cause`. */
    wye_error* (*error_make)(wye_host_object* self, const wye_error_desc* desc);
    void (*error_release)(wye_host_object* self, wye_error* WYE_OWNED error);

    void (*log)(wye_host_object* self, uint32_t level, wye_string area, wye_string text);

    /* The value of a key in this context's configuration. WYE_NOT_FOUND: not set. `out` is
     * WYE_STATIC. */
    wye_status (*config_get)(wye_host_object* self, wye_string key, wye_string* out);

    /* A named table of the host, or null. */
    const void* (*get_extension)(wye_host_object* self, wye_string name, uint32_t version);
} wye_host_table;

/* ---- Queue table ------------------------------------------------------------------------- */

/* The slots of a queue. */
typedef struct wye_queue_table {
    wye_header header;

    /* Mandatory [SYNC]. Queues all operations of the submission or none, and never waits for the
     * device. After a failure nothing was queued, and the value may be used again; after
     * WYE_DEVICE_BUSY the host may try again once a value of the device was reached. If an
     * operation is refused after others of the submission were queued, those end first, the call
     * succeeds, and the value fails. A wait for a failed value fails the call, or later the value,
     * unless the wait is ORDER_ONLY. */
    wye_status (*submit)(wye_queue_object* queue, const wye_submission* submission,
                         wye_error** error);

    /* Optional [FREE]. Times of a submit that was TIMED and is reached. The plugin keeps the
     * times of at least the newest 256 such submits. Without it: no device time in reports. */
    wye_status (*timing)(wye_queue_object* queue, uint64_t value, wye_timing* out,
                         wye_error** error);

    /* Optional [FREE]. Asks to stop the submits with values from `first` to `last`, and no others.
     * Each ends with WYE_CANCELLED, or as usual if it was quicker; values that were not submitted
     * are not affected. Without it: a timeout leaves the device busy. */
    wye_status (*cancel)(wye_queue_object* queue, uint64_t first, uint64_t last, wye_error** error);

    /* Mandatory [SYNC]. Blocks until everything submitted has ended, then frees the queue and its
     * timeline. No other call concerns its values, or values that it signals, meanwhile or
     * afterwards. Accepted submits of other queues may still wait for its values. They go on with
     * the outcome, and need nothing of this queue once the call has returned. */
    void (*destroy)(wye_queue_object* WYE_OWNED queue);

    /* Optional [FREE]. What the driver gave; the same in every call. Without it: a queue of kind
     * ANY and priority 0. */
    wye_status (*info)(wye_queue_object* queue, wye_queue_info* out, wye_error** error);
} wye_queue_table;

/* ---- Device table ------------------------------------------------------------------------ */

/* The slots of a device. */
typedef struct wye_device_table {
    wye_header header;

    /* Mandatory [FREE]. Contents of a new buffer are unspecified. A device without buffer_map may
     * refuse the usage STAGING. */
    wye_status (*buffer_create)(wye_device_object* device, const wye_buffer_desc* desc,
                                wye_buffer_object** WYE_OWNED out, wye_error** error);
    /* Mandatory [FREE]. Called when no pending operation uses the buffer. */
    void (*buffer_destroy)(wye_device_object* device, wye_buffer_object* WYE_OWNED buffer);
    /* Optional [FREE]. The mapping lasts until the buffer is destroyed or the device recovered, and
     * is the same in every call. WYE_UNSUPPORTED: this buffer is not mapped. A plugin maps all
     * buffers of the usage STAGING and, at the application's address, REGISTERED. Of the usages
     * UPLOAD, READBACK and SHARED it maps all or none. Without it: no buffer is mapped. */
    wye_status (*buffer_map)(wye_device_object* device, wye_buffer_object* buffer, wye_mapping* out,
                             wye_error** error);
    /* Optional [FREE]. Makes bytes of a mapped buffer, written on one side, visible on the other
     * (enum wye_sync_direction). Without it: mappings are coherent. */
    wye_status (*buffer_sync)(wye_device_object* device, wye_buffer_object* buffer, uint64_t offset,
                              uint64_t size, uint32_t direction, wye_error** error);

    /* Mandatory [FREE]. Compiles; may take long. WYE_COMPILE_FAILED carries the compiler's log. */
    wye_status (*program_create)(wye_device_object* device, const wye_artifact* artifact,
                                 wye_program_object** WYE_OWNED out, wye_error** error);
    /* Mandatory [FREE]. Called when no pending operation uses the program. */
    void (*program_destroy)(wye_device_object* device, wye_program_object* WYE_OWNED program);
    /* Optional [FREE]. Without it: nothing is known. */
    wye_status (*program_info)(wye_device_object* device, wye_program_object* program,
                               wye_program_info* out, wye_error** error);

    /* Mandatory [FREE]. `*timeline` belongs to the queue. `*table` is WYE_STATIC. */
    wye_status (*queue_create)(wye_device_object* device, const wye_queue_desc* desc,
                               wye_queue_object** WYE_OWNED out, wye_timeline_object** timeline,
                               const wye_queue_table** table, wye_error** error);

    /* Mandatory [FREE]. Never blocks. WYE_OK: reached. WYE_NOT_READY: not yet, without an error
     * object. Else: the error by which the value failed. */
    wye_status (*query)(wye_device_object* device, const wye_event* event, wye_error** error);

    /* Mandatory [FREE]. Like query, but blocks until all `count` events were reached, or one if
     * `any` is 1; values of `any` above 1 are refused. WYE_TIMEOUT after timeout_ns (UINT64_MAX: no
     * limit). Without events WYE_OK. `*index`, if `index` is not null, is that of an event that has
     * failed or else, if `any` is 1, of one that was reached. Ends at the first failure. */
    wye_status (*wait)(wye_device_object* device, const wye_event* events, uint64_t count,
                       uint32_t any, uint64_t timeout_ns, uint64_t* index, wye_error** error);

    /* Optional [FREE]. The host asks no more for the outcome of the event's value, which has ended.
     * The plugin may forget its failure: the value then reads as reached. Other failures stay. */
    wye_status (*retire)(wye_device_object* device, const wye_event* event, wye_error** error);

    /* Optional [FREE], the four together. Timelines that submits and the host signal. A timeline is
     * destroyed when no pending submit signals it and no call concerns it. Accepted submits may
     * still wait for its values, as in `destroy` of a queue. Without these slots, the host holds
     * back work that waits for such a timeline. */
    wye_status (*timeline_create)(wye_device_object* device, const wye_timeline_desc* desc,
                                  wye_timeline_object** WYE_OWNED out, wye_error** error);
    void (*timeline_destroy)(wye_device_object* device, wye_timeline_object* WYE_OWNED timeline);
    /* The host signals a value, or fails it with the described error, whose cause is null. */
    wye_status (*timeline_signal)(wye_device_object* device, const wye_event* event,
                                  wye_error** error);
    wye_status (*timeline_fail)(wye_device_object* device, const wye_event* event,
                                const wye_error_desc* failure, wye_error** error);

    /* Optional [FREE]. Total and currently free memory. Without it: unknown. */
    wye_status (*memory_info)(wye_device_object* device, wye_memory_info* out, wye_error** error);

    /* Optional [FREE]. Does ahead of time the set-up that the first dispatch would do. */
    wye_status (*prepare)(wye_device_object* device, wye_error** error);

    /* Optional [FREE]. Waits until all queues of the device are idle. Without it: the host waits on
     * each queue. */
    wye_status (*flush)(wye_device_object* device, wye_error** error);

    /* Optional [FREE]. 1 if the device was lost since it was opened or recovered. Without it: 0. */
    uint32_t (*device_lost)(wye_device_object* device);

    /* Optional [SYNC]. Reacquires a lost device; all its earlier objects are invalid. Meanwhile no
     * other call concerns the device. Without it: WYE_UNSUPPORTED. */
    wye_status (*try_recover)(wye_device_object* device, wye_error** error);

    /* Optional [FREE]. Bytes that `program_load` accepts later, for the host's cache. The host
     * copies them before any other call on this program. Without it: no disk cache. */
    wye_status (*program_save)(wye_device_object* device, wye_program_object* program,
                               wye_bytes* out, wye_error** error);
    /* Optional [FREE]. As program_create from saved bytes. WYE_UNSUPPORTED: compile again.
     * WYE_NOT_READY: compile again, and keep the bytes for another time. */
    wye_status (*program_load)(wye_device_object* device, const wye_artifact* artifact,
                               wye_bytes saved, wye_program_object** WYE_OWNED out,
                               wye_error** error);

    /* Optional [FREE], the first three together. Prepares operations for many executions. Once a
     * program or a buffer that a command names was destroyed, the command may only be destroyed.
     * Without these slots: the host submits the operations each time. */
    wye_status (*command_create)(wye_device_object* device, const wye_command_desc* desc,
                                 wye_command_object** WYE_OWNED out, wye_error** error);
    /* Called when no execution is pending. */
    void (*command_destroy)(wye_device_object* device, wye_command_object* WYE_OWNED command);
    wye_status (*command_info)(wye_device_object* device, wye_command_object* command,
                               wye_command_info* out, wye_error** error);
    /* Optional [SYNC]: one thread at a time updates a command or submits it. Replaces operation
     * `index` by one of the same kind and, for a dispatch, of the same program. Called when no
     * execution is pending. Without it: the host makes the command anew. */
    wye_status (*command_update)(wye_device_object* device, wye_command_object* command,
                                 uint64_t index, const wye_operation* operation, wye_error** error);

    /* Optional [FREE]. A named table of this device, or null. It begins with wye_header, lives
     * until `close` and grows by its size; `version` changes only with its meaning. */
    const void* (*get_extension)(wye_device_object* device, wye_string name, uint32_t version);

    /* Mandatory [SYNC]. Called after every object of the device was destroyed. */
    void (*close)(wye_device_object* WYE_OWNED device);
} wye_device_table;

/* ---- Plugin table ------------------------------------------------------------------------ */

/* The slots of a plugin. */
typedef struct wye_plugin_table {
    wye_header header;

    /* Mandatory [FREE]. Called after negotiation, before any other slot. May be called again while
     * earlier objects live, for another context or by another host in the process, so a plugin
     * keeps nothing of a host in a global variable. May open vendor libraries.
     * WYE_MISSING_DEPENDENCY names the absent library. `host` is valid until shutdown. `minor` is
     * the effective minor: neither side uses members and slots that were added later. */
    wye_status (*init)(const wye_host_table* host, uint32_t minor,
                       wye_plugin_object** WYE_OWNED out, wye_error** error);

    /* Mandatory [SYNC]. Counts devices, unusable ones included; opens none. The first call fixes
     * the list. WYE_OK with 0 is allowed. */
    wye_status (*probe_devices)(wye_plugin_object* plugin, uint32_t* out_count, wye_error** error);

    /* Mandatory [FREE]. index < count. The host sets out->header.size. */
    wye_status (*device_info)(wye_plugin_object* plugin, uint32_t index, wye_device_info* out,
                              wye_error** error);

    /* Mandatory [FREE]. WYE_OK, WYE_UNSUPPORTED (not reported) or WYE_UNKNOWN_KEY. No error object.
     */
    wye_status (*device_fact)(wye_plugin_object* plugin, uint32_t index, uint32_t key,
                              wye_fact* out);

    /* Mandatory [FREE]. `*table` is WYE_STATIC. Opening twice gives two independent devices. */
    wye_status (*open_device)(wye_plugin_object* plugin, const wye_open_desc* desc,
                              wye_device_object** WYE_OWNED out, const wye_device_table** table,
                              wye_error** error);

    /* Optional [FREE]. Translates an artifact to another accepted format without any driver (CUDA C
     * to cubin), for a device or, with the index UINT32_MAX, for none. The result is WYE_OWNED by
     * the plugin until `translate_release`. */
    wye_status (*translate)(wye_plugin_object* plugin, uint32_t index, const wye_artifact* artifact,
                            wye_string format, wye_bytes* out, wye_error** error);
    void (*translate_release)(wye_plugin_object* plugin, wye_bytes WYE_OWNED bytes);

    /* Optional [FREE]. A named table, or null ("wye.native_handle", "com.vendor.feature"). */
    const void* (*get_extension)(wye_plugin_object* plugin, wye_string name, uint32_t version);

    /* Mandatory [SYNC]. Called after every device was closed. Joins all threads. A later `init` is
     * allowed. */
    void (*shutdown)(wye_plugin_object* WYE_OWNED plugin);
} wye_plugin_table;

/* ---- The export -------------------------------------------------------------------------- */

/* The host's versions. */
typedef struct wye_hello {
    wye_header header;
    uint32_t minor_max;    /* highest minor the host knows */
    uint32_t minor_floor;  /* oldest plugin minor it accepts */
    uint32_t draft;        /* WYE_ABI_MINOR_DRAFT */
    uint32_t minor_frozen; /* WYE_ABI_MINOR_FROZEN */
} wye_hello;

/* Bits of build_flags. */
#define WYE_BUILD_ASAN 0x1u        /* built with AddressSanitizer */
#define WYE_BUILD_TSAN 0x2u        /* built with ThreadSanitizer */
#define WYE_BUILD_UBSAN 0x4u       /* built with UndefinedBehaviorSanitizer */
#define WYE_BUILD_DEBUG 0x8u       /* without optimisation, or with assertions */
#define WYE_BUILD_UNLOADABLE 0x10u /* dlclose after shutdown is safe */

/* The plugin's description. Static const data. */
typedef struct wye_plugin_desc {
    wye_header header;
    uint32_t abi_major;         /* WYE_ABI_MAJOR it was built against */
    uint32_t abi_minor;         /* WYE_ABI_MINOR it was built against */
    uint32_t host_minor_needed; /* oldest host minor it can work with */
    uint32_t pointer_bytes;     /* sizeof(void*) */
    uint64_t build_flags;       /* WYE_BUILD_* */
    wye_string id;              /* selector name: [a-z][a-z0-9_]*, e.g. "opencl" */
    wye_string version;         /* of the plugin, e.g. "0.1.0" */
    wye_string vendor;
    const wye_plugin_table* table;
    uint32_t abi_draft;    /* WYE_ABI_MINOR_DRAFT it was built against */
    uint32_t minor_frozen; /* WYE_ABI_MINOR_FROZEN it was built against */
} wye_plugin_desc;

/* The effective minor is the lower of hello.minor_max and desc.abi_minor or, where the two drafts
 * differ, of the two minor_frozen. The host accepts when desc.host_minor_needed <= the effective
 * minor and hello.minor_floor <= desc.abi_minor. Only the host compares these; the plugin returns
 * its description to every host, or WYE_ABI_MISMATCH if it cannot work with this host for another
 * reason. */
typedef wye_status (*wye_plugin_query_fn)(const wye_hello* hello, const wye_plugin_desc** out);
#define WYE_PLUGIN_QUERY_SYMBOL "wye_plugin_query_1" /* the name of the export */

/* Marks the query in the plugin's source, so that it is visible. */
#if defined(_WIN32)
#define WYE_PLUGIN_EXPORT __declspec(dllexport)
#else
#define WYE_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
}
#endif

#endif /* WYE_ABI_H */
