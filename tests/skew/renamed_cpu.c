/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the CPU plugin from the file wye_cpu.so beside this one and gives it the id `cpu_file`,
 * since the host's own CPU device would take precedence over a plugin with the id `cpu`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "wye/abi.h"

WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                const wye_plugin_desc** out);
WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                const wye_plugin_desc** out) {
    static union {
        wye_plugin_desc desc;
        unsigned char bytes[4096]; /* larger than the description of any later version */
    } renamed;
    static const char id[] = "cpu_file";
    char path[4096];
    wye_plugin_query_fn query;
    const wye_plugin_desc* found;
    Dl_info self;
    void* library;
    char* slash;
    wye_status status;
    if (dladdr((void*)&renamed, &self) == 0) return WYE_INTERNAL;
    snprintf(path, sizeof path, "%s", self.dli_fname);
    slash = strrchr(path, '/');
    snprintf(slash == NULL ? path : slash + 1,
             sizeof path - (slash == NULL ? 0 : (size_t)(slash + 1 - path)), "wye_cpu.so");
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return WYE_MISSING_DEPENDENCY;
    *(void**)&query = dlsym(library, WYE_PLUGIN_QUERY_SYMBOL);
    if (query == NULL) return WYE_BAD_PLUGIN;
    status = query(hello, &found);
    if (status != WYE_OK) return status;
    if (found->header.size > sizeof renamed) return WYE_BAD_PLUGIN;
    memcpy(renamed.bytes, found, found->header.size);
    renamed.desc.id.data = id;
    renamed.desc.id.size = sizeof id - 1;
    *out = &renamed.desc;
    return WYE_OK;
}
