/* SPDX-License-Identifier: Apache-2.0
 *
 * The types and constants of the C API that the Python package uses, in the few forms of C that
 * _c.py reads: no directives, and comments that say only what the public headers do not.
 * tests/python/cdef_check.py compiles a comparison of this file with those headers.
 */
typedef int32_t wye_status;

enum wye_status_code {
    WYE_OK = 0,
    WYE_INTERNAL = 1,
    WYE_OUT_OF_MEMORY = 2,
    WYE_INVALID_ARGUMENT = 3,
    WYE_INVALID_PROGRAM = 4,
    WYE_INVALID_TEXT = 5,
    WYE_INVALID_WIRE = 6,
    WYE_LIMIT_EXCEEDED = 7,
    WYE_UNSUPPORTED = 8,
    WYE_UNIMPLEMENTED = 9,
    WYE_UNKNOWN_KEY = 10,
    WYE_NOT_FOUND = 11,
    WYE_DUPLICATE = 12,
    WYE_WRONG_OWNER = 13,
    WYE_STALE_HANDLE = 14,
    WYE_WRONG_KIND = 15,
    WYE_BUFFER_IN_USE = 16,
    WYE_NO_DEVICE = 17,
    WYE_DEVICE_MEMORY = 18,
    WYE_DEVICE_LOST = 19,
    WYE_DEVICE_BUSY = 20,
    WYE_DRIVER = 21,
    WYE_COMPILE_FAILED = 22,
    WYE_TRAPPED = 23,
    WYE_TIMEOUT = 24,
    WYE_CANCELLED = 25,
    WYE_MISSING_DEPENDENCY = 26,
    WYE_ABI_MISMATCH = 27,
    WYE_UNSUPPORTED_EXTENSION = 28,
    WYE_BAD_MANIFEST = 29,
    WYE_BAD_PLUGIN = 30,
    WYE_PLUGIN_FAULT = 31,
    WYE_NOT_TRUSTED = 32,
    WYE_PROBE_CRASHED = 33,
    WYE_PROBE_TIMEOUT = 34,
    WYE_SHUTTING_DOWN = 35,
    WYE_IO = 36,
    WYE_NOT_READY = 37,
    WYE_DISABLED = 38
};

typedef struct wye_error wye_error;
typedef struct wye_blob wye_blob;
typedef struct wye_context wye_context;
typedef uint64_t wye_device;
typedef uint64_t wye_queue;
typedef uint64_t wye_program;
typedef uint64_t wye_pipeline;
typedef uint64_t wye_buffer;
typedef uint64_t wye_pending;
typedef uint64_t wye_graph;

typedef struct wye_string {
    const char* data;
    uint64_t size;
} wye_string;

typedef struct wye_bytes {
    const void* data;
    uint64_t size;
} wye_bytes;

typedef struct wye_header {
    uint32_t size;
    uint32_t type;
    const void* next;
} wye_header;

typedef struct wye_key_value {
    wye_string key;
    wye_string value;
} wye_key_value;

typedef void (*wye_log_fn)(void* user, uint32_t level, wye_string area, wye_string text);
typedef wye_status (*wye_resolve_fn)(void* user, wye_string name, wye_bytes* out);
typedef void (*wye_pending_fn)(void* user, wye_status status);

enum {
    WYE_CONTEXT_IGNORE_ENVIRONMENT = 1,
    WYE_CONTEXT_NO_PLUGINS = 2,
};

typedef struct wye_context_desc {
    wye_header header;
    uint32_t flags;
    uint32_t reserved;
    const wye_string* plugin_paths;
    uint64_t plugin_path_count;
    const wye_key_value* config;
    uint64_t config_count;
    wye_log_fn log;
    void* log_user;
} wye_context_desc;

enum wye_device_policy { WYE_POLICY_REQUIRE = 0, WYE_POLICY_PREFER = 1, WYE_POLICY_AUTO = 2 };

typedef struct wye_device_choice {
    wye_header header;
    wye_string selector;
    uint64_t program;
    uint32_t policy;
    uint32_t reserved;
} wye_device_choice;

typedef struct wye_device_description {
    wye_header header;
    wye_string selector;
    wye_string name;
    wye_string plugin;
    wye_string format;
    wye_string reason;
} wye_device_description;

enum wye_fact_type {
    WYE_FACT_NONE = 0,
    WYE_FACT_BOOL = 1,
    WYE_FACT_U64 = 2,
    WYE_FACT_F64 = 3,
    WYE_FACT_TEXT = 4,
    WYE_FACT_U32X3 = 5,
    WYE_FACT_U64_LIST = 6
};

typedef struct wye_fact {
    wye_header header;
    uint32_t type;
    uint32_t xyz[3];
    uint64_t u;
    double f;
    wye_string text;
    const uint64_t* list;
    uint64_t list_size;
    wye_string source;
} wye_fact;

typedef struct wye_counters {
    wye_header header;
    uint64_t dispatches;
    uint64_t dispatches_failed;
    uint64_t dispatches_repeated;
    uint64_t submits;
    uint64_t waits;
    uint64_t polls;
    uint64_t polls_ended;
    uint64_t bytes_uploaded;
    uint64_t bytes_downloaded;
    uint64_t bytes_copied;
    uint64_t bytes_filled;
    uint64_t buffers_made;
    uint64_t buffer_bytes;
    uint64_t peak_buffer_bytes;
    uint64_t scratch_made;
    uint64_t programs_compiled;
    uint64_t programs_loaded;
    uint64_t programs_found;
    uint64_t queues_made;
    uint64_t queue_submits;
    uint64_t bytes_registered;
    uint64_t bytes_across;
    uint64_t layouts_made;
    uint64_t layouts_shared;
} wye_counters;

enum wye_queue_kind { WYE_QUEUE_ANY = 0, WYE_QUEUE_COMPUTE = 1, WYE_QUEUE_TRANSFER = 2 };
enum { WYE_QUEUE_OWN = 1 };

typedef struct wye_queue_create_desc {
    wye_header header;
    wye_string label;
    uint32_t kind;
    int32_t priority;
    uint32_t flags;
    uint32_t reserved;
} wye_queue_create_desc;

typedef struct wye_queue_description {
    wye_header header;
    wye_device device;
    wye_string label;
    uint32_t kind;
    int32_t priority;
    uint32_t granted_kind;
    int32_t granted_priority;
    uint32_t native_index;
    uint32_t shared;
    uint64_t submits;
} wye_queue_description;

enum wye_count_kind { WYE_COUNT_RUNTIME = 0, WYE_COUNT_LITERAL = 1, WYE_COUNT_COMPUTED = 2 };

typedef struct wye_program_source {
    wye_header header;
    wye_string name;
    wye_string text;
    wye_bytes wire;
    wye_resolve_fn resolve;
    void* resolve_user;
} wye_program_source;

typedef struct wye_param_description {
    wye_string name;
    wye_string type;
} wye_param_description;

typedef struct wye_buffer_description {
    wye_string name;
    wye_string role;
    wye_string type;
    uint32_t binding;
    uint32_t element_bytes;
    uint32_t in_inputs;
    uint32_t in_outputs;
    uint32_t count_kind;
    uint32_t alignment;
    uint64_t count;
} wye_buffer_description;

typedef struct wye_buffer_hints {
    uint32_t coalesce;
    uint32_t preferred_alignment;
    uint32_t locality;
    uint32_t reserved;
} wye_buffer_hints;

typedef struct wye_program_description {
    wye_header header;
    wye_string name;
    wye_string fingerprint;
    uint32_t workgroup[3];
    uint32_t grid_kind;
    uint32_t deterministic;
    uint32_t deterministic_if;
    const wye_param_description* params;
    uint64_t param_count;
    const wye_buffer_description* buffers;
    uint64_t buffer_count;
    const wye_buffer_hints* hints;
    wye_string layout_fingerprint;
} wye_program_description;

typedef struct wye_prepare_report {
    wye_header header;
    uint32_t compiled;
    uint32_t disk_cache;
    uint64_t total_ns;
    uint64_t lower_ns;
    uint64_t driver_ns;
    uint64_t kept_bytes;
} wye_prepare_report;

enum wye_buffer_usage {
    WYE_BUFFER_USAGE_DEVICE = 0,
    WYE_BUFFER_USAGE_UPLOAD = 1,
    WYE_BUFFER_USAGE_READBACK = 2,
    WYE_BUFFER_USAGE_SHARED = 3
};

typedef struct wye_buffer_create_desc {
    wye_header header;
    uint64_t size;
    uint64_t alignment;
    wye_string label;
    uint32_t usage;
    uint32_t reserved;
} wye_buffer_create_desc;

typedef struct wye_buffer_mapping {
    wye_header header;
    void* address;
    uint64_t size;
    uint32_t cached;
    uint32_t reserved;
} wye_buffer_mapping;

enum wye_sync_direction { WYE_SYNC_TO_DEVICE = 1, WYE_SYNC_TO_HOST = 2 };

typedef struct wye_native_value {
    wye_string type;
    uint64_t value;
    uint64_t more[7];
} wye_native_value;

typedef struct wye_native_handle {
    wye_header header;
    uint32_t count;
    uint32_t reserved;
    wye_native_value values[6];
} wye_native_handle;

typedef struct wye_buffer_adopt_desc {
    wye_header header;
    const wye_native_handle* memory;
    uint64_t size;
    wye_string label;
    uint32_t flags;
    uint32_t reserved;
} wye_buffer_adopt_desc;

enum wye_argument_kind {
    WYE_ARGUMENT_HOST = 1,
    WYE_ARGUMENT_RESIDENT = 2,
    WYE_ARGUMENT_DISCARD = 3
};

typedef struct wye_argument {
    uint32_t kind;
    uint32_t binding;
    wye_bytes input;
    void* output;
    uint64_t output_size;
    wye_buffer buffer;
    uint64_t offset;
    uint64_t size;
} wye_argument;

enum {
    WYE_DISPATCH_GRID = 1,
    WYE_DISPATCH_ELEMENTS = 2,
    WYE_DISPATCH_COOPERATIVE = 4,
    WYE_DISPATCH_VARIANTS = 8,
    WYE_DISPATCH_TIMED = 64,
    WYE_DISPATCH_BORROW = 128,
    WYE_DISPATCH_AT_ONCE = 256,
};

typedef struct wye_dispatch_desc {
    wye_header header;
    wye_program program;
    wye_device device;
    wye_pipeline pipeline;
    uint32_t flags;
    uint32_t grid[3];
    uint64_t elements;
    uint32_t workgroup[3];
    uint32_t fixpoint_iterations;
    const wye_argument* arguments;
    uint64_t argument_count;
    const uint64_t* params;
    uint64_t param_count;
    uint64_t timeout_ns;
    uint64_t max_output_bytes;
    uint32_t ulp_budget;
    uint32_t reserved;
    wye_string label;
    wye_string profile;
    wye_queue queue;
    wye_buffer grid_buffer;
    uint64_t grid_offset;
} wye_dispatch_desc;

enum wye_disk_use { WYE_DISK_UNUSED = 0, WYE_DISK_HIT = 1, WYE_DISK_MISS = 2 };
enum wye_cooperative_use {
    WYE_COOPERATIVE_NONE = 0,
    WYE_COOPERATIVE_NATIVE = 1,
    WYE_COOPERATIVE_SPLIT_DEVICE = 2,
    WYE_COOPERATIVE_SPLIT_FORMAT = 3,
    WYE_COOPERATIVE_SPLIT_GRID = 4,
    WYE_COOPERATIVE_SPLIT_ROOM = 5
};

typedef struct wye_report {
    wye_header header;
    wye_device device;
    uint32_t groups[3];
    uint32_t compiled;
    uint64_t wall_ns;
    uint64_t device_ns;
    uint64_t enqueue_ns;
    uint64_t wait_ns;
    uint64_t bytes_uploaded;
    uint64_t bytes_downloaded;
    uint64_t bytes_filled;
    uint32_t trap_code;
    uint32_t trap_count;
    uint32_t variant;
    uint32_t disk_cache;
    uint64_t native_functions;
    uint32_t check_free;
    uint32_t graph;
    uint64_t bytes_copied;
    uint64_t profile;
    uint32_t cooperative;
    uint32_t determinism;
    uint32_t routed;
    uint32_t choice;
} wye_report;

typedef struct wye_choice wye_choice;

typedef struct wye_passed_over {
    wye_header header;
    wye_string selector;
    wye_string reason;
    wye_string fix;
    uint32_t why;
    uint32_t reserved;
} wye_passed_over;

typedef struct wye_pipeline_desc {
    wye_header header;
    wye_program program;
    wye_device device;
    uint32_t flags;
    uint32_t workgroup[3];
    uint32_t ulp_budget;
    uint32_t reserved;
    wye_string profile;
    wye_string layout_fingerprint;
    wye_string backend_layout_fingerprint;
    uint64_t timeout_ns;
} wye_pipeline_desc;

typedef struct wye_layout_slot {
    uint32_t group;
    uint32_t binding;
    uint32_t layout_class;
    uint32_t read_only;
    uint32_t element_bytes;
    uint32_t reserved;
} wye_layout_slot;

typedef struct wye_pipeline_description {
    wye_header header;
    wye_string id;
    const wye_program_description* program;
    wye_device device;
    uint32_t bindings;
    uint32_t outputs;
    uint64_t launches;
    uint64_t memory_hits;
    uint64_t memory_misses;
    uint64_t disk_hits;
    uint64_t disk_misses;
    wye_string backend_layout_fingerprint;
    const wye_layout_slot* layout_slots;
    uint64_t layout_slot_count;
    uint64_t private_bytes;
    uint64_t shared_bytes;
    uint32_t max_invocations;
    uint32_t registers;
    uint32_t resident_groups;
    uint32_t reserved;
    uint32_t routed;
    uint32_t choice;
} wye_pipeline_description;

/* Of the union, the member that this package uses. */
typedef struct wye_batch_desc {
    wye_header header;
    wye_pipeline pipeline;
    const wye_dispatch_desc* items;
    uint64_t item_count;
    uint32_t flags;
    uint32_t reserved;
    uint64_t timeout_ns;
} wye_batch_desc;

enum wye_transfer_kind {
    WYE_TRANSFER_UPLOAD = 1,
    WYE_TRANSFER_DOWNLOAD = 2,
    WYE_TRANSFER_COPY = 3,
    WYE_TRANSFER_FILL = 4
};

typedef struct wye_transfer_desc {
    wye_header header;
    uint32_t kind;
    uint32_t flags;
    wye_queue queue;
    wye_buffer buffer;
    uint64_t offset;
    uint64_t size;
    const void* source;
    void* target;
    wye_buffer source_buffer;
    uint64_t source_offset;
    uint64_t pattern;
    uint32_t pattern_size;
    uint32_t reserved;
} wye_transfer_desc;

typedef struct wye_graph_step {
    const wye_dispatch_desc* dispatch;
    const wye_transfer_desc* transfer;
} wye_graph_step;

typedef struct wye_graph_desc {
    wye_header header;
    wye_device device;
    const wye_graph_step* steps;
    uint64_t step_count;
    wye_string label;
    uint32_t flags;
    uint32_t reserved;
} wye_graph_desc;

typedef struct wye_graph_run_desc {
    wye_header header;
    const uint64_t* params;
    uint64_t param_count;
    uint32_t flags;
    uint32_t reserved;
    wye_queue queue;
    uint64_t timeout_ns;
} wye_graph_run_desc;

typedef struct wye_graph_rebinding {
    wye_buffer recorded;
    wye_buffer buffer;
} wye_graph_rebinding;

typedef struct wye_graph_info {
    wye_header header;
    uint64_t dispatches;
    uint64_t operations;
    uint64_t recordings;
    uint32_t native;
    uint32_t reserved;
    uint64_t transfers;
    wye_device device;
    uint32_t routed;
    uint32_t choice;
} wye_graph_info;
