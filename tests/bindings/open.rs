// SPDX-License-Identifier: Apache-2.0
//
// Opens the plugins that the arguments name, through bindings that bindgen made of the plugin headers.
// Prints each plugin, then for each device a buffer or the error, then the numbers of the headers.
#![allow(non_camel_case_types, non_upper_case_globals, dead_code)]

use std::ffi::CString;
use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};

include!("abi.rs");
include!("numbers.rs");

#[link(name = "dl")]
extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}
const RTLD_NOW: c_int = 2;

/// The host: makes each error from the texts of its description, and counts the errors.
struct Host {
    made: u32,
    released: u32,
}

unsafe fn text(string: wye_string) -> String {
    if string.size == 0 {
        return String::new();
    }
    let bytes = std::slice::from_raw_parts(string.data as *const u8, string.size as usize);
    String::from_utf8_lossy(bytes).into_owned()
}

unsafe fn host_of<'a>(host: *mut wye_host_object) -> &'a mut Host {
    &mut *(host as *mut Host)
}

unsafe extern "C" fn error_make(
    host: *mut wye_host_object,
    desc: *const wye_error_desc,
) -> *mut wye_error {
    host_of(host).made += 1;
    let words = format!("{}; {}", text((*desc).message), text((*desc).fix));
    Box::into_raw(Box::new(words)) as *mut wye_error
}

unsafe extern "C" fn error_release(host: *mut wye_host_object, error: *mut wye_error) {
    host_of(host).released += 1;
    drop(Box::from_raw(error as *mut String));
}

unsafe extern "C" fn log(_: *mut wye_host_object, _: u32, _: wye_string, _: wye_string) {}

unsafe extern "C" fn config_get(
    _: *mut wye_host_object,
    _: wye_string,
    _: *mut wye_string,
) -> wye_status {
    WYE_NOT_FOUND as wye_status
}

unsafe extern "C" fn get_extension(
    _: *mut wye_host_object,
    _: wye_string,
    _: u32,
) -> *const c_void {
    null()
}

fn header<T>() -> wye_header {
    wye_header { size: size_of::<T>() as u32, type_: 0, next: null() }
}

/// Prints the status and the error text of a failed call.
unsafe fn report(host: &wye_host_table, what: &str, status: wye_status, error: *mut wye_error) {
    let words = if error.is_null() { "no error" } else { &*(error as *mut String) };
    println!("{}: {}: {}", what, status, words);
    if !error.is_null() {
        host.error_release.unwrap()(host.self_, error);
    }
}

unsafe fn open(host: &wye_host_table, table: &wye_plugin_table, plugin: *mut wye_plugin_object, index: u32) {
    let what = format!("device {}", index);
    let mut error: *mut wye_error = null_mut();
    let mut info: wye_device_info = zeroed();
    info.header = header::<wye_device_info>();
    let status = table.device_info.unwrap()(plugin, index, &mut info, &mut error);
    if status != WYE_OK as wye_status {
        return report(host, &what, status, error);
    }

    let mut desc: wye_open_desc = zeroed();
    desc.header = header::<wye_open_desc>();
    desc.index = index;
    let mut device: *mut wye_device_object = null_mut();
    let mut slots: *const wye_device_table = null();
    let status = table.open_device.unwrap()(plugin, &desc, &mut device, &mut slots, &mut error);
    if status != WYE_OK as wye_status {
        return report(host, &what, status, error);
    }

    let mut wanted: wye_buffer_desc = zeroed();
    wanted.header = header::<wye_buffer_desc>();
    wanted.size = 256;
    wanted.alignment = 64;
    let mut buffer: *mut wye_buffer_object = null_mut();
    for usage in [WYE_BUFFER_USAGE_REGISTERED, WYE_BUFFER_USAGE_DEVICE] {
        wanted.usage = usage as u32;
        let status = (*slots).buffer_create.unwrap()(device, &wanted, &mut buffer, &mut error);
        if status != WYE_OK as wye_status {
            report(host, &what, status, error);
            error = null_mut();
        }
    }
    println!("{}: {}, {}, a buffer: {}", what, text(info.name), text(*info.formats), !buffer.is_null());
    (*slots).buffer_destroy.unwrap()(device, buffer);
    (*slots).close.unwrap()(device);
}

unsafe fn try_plugin(path: &str) {
    let path = CString::new(path).unwrap();
    let library = dlopen(path.as_ptr(), RTLD_NOW);
    let symbol = dlsym(library, WYE_PLUGIN_QUERY_SYMBOL.as_ptr() as *const c_char);
    let query: wye_plugin_query_fn = std::mem::transmute(symbol);

    let mut hello: wye_hello = zeroed();
    hello.header = header::<wye_hello>();
    hello.minor_max = WYE_ABI_MINOR;
    hello.minor_floor = WYE_ABI_MINOR_FLOOR;
    hello.minor_frozen = WYE_ABI_MINOR_FROZEN;
    hello.draft = WYE_ABI_MINOR_DRAFT;
    let mut desc: *const wye_plugin_desc = null();
    let status = query.unwrap()(&hello, &mut desc);
    if status != WYE_OK as wye_status {
        return println!("query: {}", status);
    }

    let mut services = Host { made: 0, released: 0 };
    let mut host: wye_host_table = zeroed();
    host.header = header::<wye_host_table>();
    host.self_ = &mut services as *mut Host as *mut wye_host_object;
    host.error_make = Some(error_make);
    host.error_release = Some(error_release);
    host.log = Some(log);
    host.config_get = Some(config_get);
    host.get_extension = Some(get_extension);
    let about = &*desc;
    let table = &*about.table;
    let mut plugin: *mut wye_plugin_object = null_mut();
    let status = table.init.unwrap()(&host, about.abi_minor.min(WYE_ABI_MINOR), &mut plugin, null_mut());
    let mut count = 0;
    let counted = table.probe_devices.unwrap()(plugin, &mut count, null_mut());
    println!(
        "{} {} of {}, ABI {}.{}, {} bits: {} {}, {} devices",
        text(about.id), text(about.version), text(about.vendor), about.abi_major, about.abi_minor,
        8 * about.pointer_bytes, status, counted, count
    );
    for index in 0..count.max(1) {
        open(&host, table, plugin, index);
    }
    table.shutdown.unwrap()(plugin);
    println!("{} errors made, {} released", services.made, services.released);
}

fn main() {
    for path in std::env::args().skip(1) {
        unsafe { try_plugin(&path) };
    }
    print_numbers();
}
