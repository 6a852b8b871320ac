/* SPDX-License-Identifier: Apache-2.0
 *
 * The load report: which plugins and devices there are, and why others were passed over. It has the
 * contents of wye_context_report's JSON except the facts of devices (wye_device_fact). An addition
 * to wye.h, whose conventions hold.
 *
 *   wye_load_report* report = NULL;
 *   wye_load_device device;
 *   WYE_INIT(device);
 *   if (wye_load_report_create(context, wye_str(""), &report, &error) == WYE_OK)
 *       for (uint64_t i = 0; wye_load_report_device(report, i, &device, NULL) == WYE_OK; ++i)
 *           printf("%.*s\n", (int)device.selector.size, device.selector.data);
 *   wye_load_report_free(report);
 */
#ifndef WYE_REPORT_H
#define WYE_REPORT_H

#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An immutable load report, which may outlive its context. Its strings live until it is freed, and
 * have no control characters. */
typedef struct wye_load_report wye_load_report;

/* Makes a report. Opens every plugin that `selector` does not exclude; an empty selector excludes
 * none. */
WYE_API wye_status wye_load_report_create(wye_context* context, wye_string selector,
                                          wye_load_report** out, wye_error** error);
/* Frees a report, which no other call may be using. Null is allowed. */
WYE_API void wye_load_report_free(wye_load_report* report);

/* The stages of loading a plugin, in order. A report has the last stage that a plugin reached or,
 * if the plugin was refused, the stage that failed. */
enum wye_load_stage {
    WYE_LOAD_FOUND = 0,
    WYE_LOAD_MANIFEST = 1,     /* its manifest was read */
    WYE_LOAD_TRUST = 2,        /* owners and permissions of file and parent folders are safe */
    WYE_LOAD_ARCHITECTURE = 3, /* the file is complete and built for this machine */
    WYE_LOAD_NEEDS = 4,        /* the libraries that its manifest names were found */
    WYE_LOAD_OPENED = 5,       /* the system's loader opened it */
    WYE_LOAD_NEGOTIATED = 6,   /* entry point, ABI versions and function tables were agreed on */
    WYE_LOAD_INITIALISED = 7,
    WYE_LOAD_ENUMERATED = 8, /* its devices are known */
    WYE_LOAD_PROBED = 9      /* it was tried in a process of its own */
};

/* The consequence of a record for its plugin or device. */
enum wye_load_severity {
    WYE_LOAD_REFUSED = 0, /* is not used */
    WYE_LOAD_WARNING = 1, /* is used, but something is wrong */
    WYE_LOAD_NOTE = 2     /* is left out on purpose */
};

/* Why a plugin or device was passed over, or what is wrong with it. */
typedef struct wye_load_record {
    wye_header header;
    uint32_t stage;    /* enum wye_load_stage */
    uint32_t severity; /* enum wye_load_severity */
    wye_status code;
    uint32_t reserved;
    wye_string message;         /* one sentence with the offending value */
    wye_string fix;             /* begins with "Fix: " */
    wye_string loader_text;     /* text of the system's loader or the driver; may be empty */
    wye_string missing_library; /* soname, "libcuda.so.1"; may be empty */
    wye_string path;            /* may be empty */
    wye_string plugin;          /* the plugin's id; empty if it is not known */
} wye_load_record;

/* Returns the record at an index; records are sorted.
 * WYE_NOT_FOUND: there are only `index` records. */
WYE_API wye_status wye_load_report_record(const wye_load_report* report, uint64_t index,
                                          wye_load_record* out, wye_error** error);

/* The state of a plugin. */
enum wye_load_state {
    WYE_LOAD_STATE_FOUND = 0, /* not opened yet */
    WYE_LOAD_STATE_READY = 1,
    WYE_LOAD_STATE_FAILED = 2,    /* failed when it was opened */
    WYE_LOAD_STATE_REFUSED = 3,   /* refused before it was opened */
    WYE_LOAD_STATE_SHADOWED = 4,  /* another plugin with the same id takes precedence */
    WYE_LOAD_STATE_DISABLED = 5,  /* WYE_PLUGINS_DISABLE names it */
    WYE_LOAD_STATE_NOT_OPENED = 6 /* the selector excludes it */
};

/* Where the verdict on a plugin comes from. A plugin is tried in a separate process before it is
 * used. */
enum wye_load_probe {
    WYE_LOAD_PROBE_NONE = 0,    /* not needed: built in, or not opened */
    WYE_LOAD_PROBE_OFF = 1,     /* probes are switched off, or there is no helper program */
    WYE_LOAD_PROBE_TRUSTED = 2, /* the user trusts it (`wye plugins trust`) */
    WYE_LOAD_PROBE_REMEMBERED = 3,
    WYE_LOAD_PROBE_NOW = 4
};

/* A plugin that was found. */
typedef struct wye_load_plugin {
    wye_header header;
    uint32_t state; /* enum wye_load_state */
    uint32_t stage; /* enum wye_load_stage */
    uint32_t device_count;
    uint32_t has_reason; /* 1: `reason` is filled in */
    wye_string id;       /* empty if it is not known, as are the strings below */
    wye_string version;
    wye_string vendor;
    wye_string backend; /* the driver's interface */
    wye_string path;    /* empty: built in or not known */
    wye_string
        source; /* "builtin", "application", "environment", "user", "system", "beside_host" */
    wye_load_record reason; /* why it is not ready; the call sets its header */
    uint32_t probe;         /* enum wye_load_probe */
    uint32_t reserved;
    int64_t probed_unix_ns; /* time of its verdict, since 1970; 0: there is none */
} wye_load_plugin;

/* Returns a plugin, or a file that might have been one; sorted by id. WYE_NOT_FOUND: there are only
 * `index` entries. */
WYE_API wye_status wye_load_report_plugin(const wye_load_report* report, uint64_t index,
                                          wye_load_plugin* out, wye_error** error);

/* A device that was found. */
typedef struct wye_load_device {
    wye_header header;
    uint32_t usable; /* 1: it can be opened */
    uint32_t reserved;
    wye_string selector; /* as accepted by wye_device_open */
    wye_string id;
    wye_string name;
    wye_string kind; /* "cpu", "gpu", "accelerator", "other"; empty if it is not known */
    wye_string plugin;
    wye_string reason; /* why it is not usable */
    wye_string fix;
    wye_string physical;  /* id of the physical device, which selectors take as "@id" */
    uint64_t alias_count; /* number of other devices that are the same physical device */
} wye_load_device;

/* Returns a device that the selector names, usable or not; sorted by plugin and index.
 * WYE_NOT_FOUND: there are only `index` devices. */
WYE_API wye_status wye_load_report_device(const wye_load_report* report, uint64_t index,
                                          wye_load_device* out, wye_error** error);

/* Another device that is the same physical device. */
typedef struct wye_load_alias {
    wye_header header;
    wye_string selector;
    wye_string evidence;   /* "PCI address 0000:01:00.0" */
    wye_string confidence; /* "certain", "likely" */
} wye_load_alias;

/* Returns an alias of the device at index `device`. WYE_NOT_FOUND: there is no such device, or it
 * has only `index` aliases. */
WYE_API wye_status wye_load_report_alias(const wye_load_report* report, uint64_t device,
                                         uint64_t index, wye_load_alias* out, wye_error** error);

/* An entry of the report's selector that names nothing. */
typedef struct wye_load_unmatched {
    wye_header header;
    wye_string entry;
    wye_string reason;
    wye_string fix;
} wye_load_unmatched;

/* Returns an unmatched entry. WYE_NOT_FOUND: there are only `index` of them. */
WYE_API wye_status wye_load_report_unmatched(const wye_load_report* report, uint64_t index,
                                             wye_load_unmatched* out, wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_REPORT_H */
