// SPDX-License-Identifier: Apache-2.0
//
// Opens the plugins that the arguments name, through bindings that cgo made of the plugin headers. Prints
// each plugin, then for each device a buffer or the error. Then prints the numbers of the headers.
package main

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
#include "all.h"

// Go implements the host's services. C passes them to the plugin, and calls slots (function pointers).
wye_error* goErrorMake(wye_host_object*, wye_error_desc*);
void goErrorRelease(wye_host_object*, wye_error*);
void goLog(wye_host_object*, uint32_t, wye_string, wye_string);
wye_status goConfigGet(wye_host_object*, wye_string, wye_string*);
void* goGetExtension(wye_host_object*, wye_string, uint32_t);

static void set_services(wye_host_table* host) {
    host->error_make = (wye_error * (*)(wye_host_object*, const wye_error_desc*)) goErrorMake;
    host->error_release = goErrorRelease;
    host->log = goLog;
    host->config_get = goConfigGet;
    host->get_extension = (const void* (*)(wye_host_object*, wye_string, uint32_t))goGetExtension;
}
static wye_status query(void* symbol, const wye_hello* hello, const wye_plugin_desc** out) {
    return ((wye_plugin_query_fn)symbol)(hello, out);
}
static wye_status init(const wye_plugin_table* t, const wye_host_table* host, uint32_t minor, wye_plugin_object** out) {
    return t->init(host, minor, out, NULL);
}
static wye_status probe(const wye_plugin_table* t, wye_plugin_object* p, uint32_t* count) {
    return t->probe_devices(p, count, NULL);
}
static wye_status device_info(const wye_plugin_table* t, wye_plugin_object* p, uint32_t index, wye_device_info* out, wye_error** error) {
    return t->device_info(p, index, out, error);
}
static wye_status open_device(const wye_plugin_table* t, wye_plugin_object* p, const wye_open_desc* desc, wye_device_object** out,
                              const wye_device_table** table, wye_error** error) {
    return t->open_device(p, desc, out, table, error);
}
static void shut_down(const wye_plugin_table* t, wye_plugin_object* p) { t->shutdown(p); }
static wye_status buffer_create(const wye_device_table* t, wye_device_object* d, const wye_buffer_desc* desc, wye_buffer_object** out,
                                wye_error** error) {
    return t->buffer_create(d, desc, out, error);
}
static void buffer_destroy(const wye_device_table* t, wye_device_object* d, wye_buffer_object* b) { t->buffer_destroy(d, b); }
static void close_device(const wye_device_table* t, wye_device_object* d) { t->close(d); }
*/
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

// The host counts its errors. An error is a C string: the text and the fix of its description.
var made, released int

func text(s C.wye_string) string { return C.GoStringN(s.data, C.int(s.size)) }

//export goErrorMake
func goErrorMake(host *C.wye_host_object, desc *C.wye_error_desc) *C.wye_error {
	made++
	return (*C.wye_error)(unsafe.Pointer(C.CString(text(desc.message) + "; " + text(desc.fix))))
}

//export goErrorRelease
func goErrorRelease(host *C.wye_host_object, e *C.wye_error) {
	released++
	C.free(unsafe.Pointer(e))
}

//export goLog
func goLog(host *C.wye_host_object, level C.uint32_t, area, words C.wye_string) {}

//export goConfigGet
func goConfigGet(host *C.wye_host_object, key C.wye_string, out *C.wye_string) C.wye_status {
	return C.WYE_NOT_FOUND
}

//export goGetExtension
func goGetExtension(host *C.wye_host_object, name C.wye_string, version C.uint32_t) unsafe.Pointer {
	return nil
}

// Returns C memory, since a plugin may keep no pointer to Go memory. The memory is never freed.
func zeroed(size C.size_t) unsafe.Pointer {
	made := C.calloc(1, size)
	(*C.wye_header)(made).size = C.uint32_t(size)
	return made
}

// Prints the status and the error text of a failed call.
func report(what string, status C.wye_status, e **C.wye_error) {
	words := "no error"
	if *e != nil {
		words = C.GoString((*C.char)(unsafe.Pointer(*e)))
		goErrorRelease(nil, *e)
		*e = nil
	}
	fmt.Printf("%s: %d: %s\n", what, status, words)
}

func open(table *C.wye_plugin_table, plugin *C.wye_plugin_object, index C.uint32_t) {
	what := fmt.Sprintf("device %d", index)
	var e *C.wye_error
	info := (*C.wye_device_info)(zeroed(C.sizeof_wye_device_info))
	if status := C.device_info(table, plugin, index, info, &e); status != C.WYE_OK {
		report(what, status, &e)
		return
	}

	desc := (*C.wye_open_desc)(zeroed(C.sizeof_wye_open_desc))
	desc.index = index
	var device *C.wye_device_object
	var slots *C.wye_device_table
	if status := C.open_device(table, plugin, desc, &device, &slots, &e); status != C.WYE_OK {
		report(what, status, &e)
		return
	}

	wanted := (*C.wye_buffer_desc)(zeroed(C.sizeof_wye_buffer_desc))
	wanted.size = 256
	wanted.alignment = 64
	var buffer *C.wye_buffer_object
	for _, usage := range []C.uint32_t{C.WYE_BUFFER_USAGE_REGISTERED, C.WYE_BUFFER_USAGE_DEVICE} {
		wanted.usage = usage
		if status := C.buffer_create(slots, device, wanted, &buffer, &e); status != C.WYE_OK {
			report(what, status, &e)
		}
	}
	fmt.Printf("%s: %s, %s, a buffer: %t\n", what, text(info.name), text(*info.formats), buffer != nil)
	C.buffer_destroy(slots, device, buffer)
	C.close_device(slots, device)
}

func tryPlugin(path string) {
	library := C.dlopen(C.CString(path), C.RTLD_NOW)
	symbol := C.dlsym(library, C.CString(C.WYE_PLUGIN_QUERY_SYMBOL))

	hello := (*C.wye_hello)(zeroed(C.sizeof_wye_hello))
	hello.minor_max = C.WYE_ABI_MINOR
	hello.minor_floor = C.WYE_ABI_MINOR_FLOOR
	hello.minor_frozen = C.WYE_ABI_MINOR_FROZEN
	hello.draft = C.WYE_ABI_MINOR_DRAFT
	var about *C.wye_plugin_desc
	if status := C.query(symbol, hello, &about); status != C.WYE_OK {
		fmt.Printf("query: %d\n", status)
		return
	}

	made, released = 0, 0
	host := (*C.wye_host_table)(zeroed(C.sizeof_wye_host_table))
	C.set_services(host)
	minor := about.abi_minor
	if minor > C.WYE_ABI_MINOR {
		minor = C.WYE_ABI_MINOR
	}
	var plugin *C.wye_plugin_object
	status := C.init(about.table, host, minor, &plugin)
	var count C.uint32_t
	counted := C.probe(about.table, plugin, &count)
	fmt.Printf("%s %s of %s, ABI %d.%d, %d bits: %d %d, %d devices\n", text(about.id), text(about.version), text(about.vendor),
		about.abi_major, about.abi_minor, 8*about.pointer_bytes, status, counted, count)
	for index := C.uint32_t(0); index == 0 || index < count; index++ {
		open(about.table, plugin, index)
	}
	C.shut_down(about.table, plugin)
	fmt.Printf("%d errors made, %d released\n", made, released)
}

func main() {
	for _, path := range os.Args[1:] {
		tryPlugin(path)
	}
	printNumbers()
}
