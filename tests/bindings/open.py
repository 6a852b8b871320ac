# SPDX-License-Identifier: Apache-2.0
"""Opens the plugins that the arguments name, through bindings that cffi made of the plugin headers. Prints each plugin, then for
each device a buffer or the error. Then prints the numbers of the headers.

usage: open.py DECLARATIONS NUMBERS PLUGIN...
"""
import pathlib
import sys

import cffi

ffi = cffi.FFI()
ffi.cdef(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8'))
abi = ffi.dlopen(None)


class Host:
    """The host: makes each error from the texts of its description, and counts the errors."""

    def __init__(self):
        self.made, self.released, self.errors = 0, 0, {}
        table = self.table = ffi.new('wye_host_table*')
        self.kept = [ffi.callback('wye_error*(wye_host_object*, const wye_error_desc*)', self.make),
                     ffi.callback('void(wye_host_object*, wye_error*)', self.release),
                     ffi.callback('void(wye_host_object*, uint32_t, wye_string, wye_string)', lambda *_: None),
                     ffi.callback('wye_status(wye_host_object*, wye_string, wye_string*)', lambda *_: abi.WYE_NOT_FOUND),
                     ffi.callback('const void*(wye_host_object*, wye_string, uint32_t)', lambda *_: ffi.NULL)]
        table.header.size = ffi.sizeof('wye_host_table')
        table.error_make, table.error_release, table.log, table.config_get, table.get_extension = self.kept

    def make(self, _, desc):
        self.made += 1
        self.errors[self.made] = f'{text(desc.message)}; {text(desc.fix)}'
        return ffi.cast('wye_error*', self.made)

    def release(self, _, error):
        self.released += 1
        del self.errors[int(ffi.cast('uintptr_t', error))]

    def report(self, what, status, error):
        """Prints the status and the error text of a failed call."""
        print(f'{what}: {status}: ' + (self.errors[int(ffi.cast('uintptr_t', error[0]))] if error[0] else 'no error'))
        if error[0]:
            self.table.error_release(self.table.self, error[0])
            error[0] = ffi.NULL


def text(string):
    return ffi.unpack(string.data, string.size).decode() if string.size else ''


def new(structure):
    out = ffi.new(structure + '*')
    out.header.size = ffi.sizeof(structure)
    return out


def open_device(host, table, plugin, index):
    what, error = f'device {index}', ffi.new('wye_error**')
    info = new('wye_device_info')
    status = table.device_info(plugin, index, info, error)
    if status != abi.WYE_OK:
        host.report(what, status, error)
        return

    desc = new('wye_open_desc')
    desc.index = index
    device, slots = ffi.new('wye_device_object**'), ffi.new('wye_device_table const**')
    status = table.open_device(plugin, desc, device, slots, error)
    if status != abi.WYE_OK:
        host.report(what, status, error)
        return

    wanted, buffer = new('wye_buffer_desc'), ffi.new('wye_buffer_object**')
    wanted.size, wanted.alignment = 256, 64
    for wanted.usage in abi.WYE_BUFFER_USAGE_REGISTERED, abi.WYE_BUFFER_USAGE_DEVICE:
        status = slots[0].buffer_create(device[0], wanted, buffer, error)
        if status != abi.WYE_OK:
            host.report(what, status, error)
    print(f'{what}: {text(info.name)}, {text(info.formats[0])}, a buffer: {str(buffer[0] != ffi.NULL).lower()}')
    slots[0].buffer_destroy(device[0], buffer[0])
    slots[0].close(device[0])


def try_plugin(path):
    query = ffi.cast('wye_plugin_query_fn', ffi.dlopen(path).wye_plugin_query_1)
    hello = new('wye_hello')
    hello.minor_max, hello.minor_floor = abi.WYE_ABI_MINOR, abi.WYE_ABI_MINOR_FLOOR
    hello.minor_frozen, hello.draft = abi.WYE_ABI_MINOR_FROZEN, abi.WYE_ABI_MINOR_DRAFT
    about = ffi.new('wye_plugin_desc const**')
    status = query(hello, about)
    if status != abi.WYE_OK:
        print(f'query: {status}')
        return

    host, about = Host(), about[0]
    table = about.table
    plugin, count = ffi.new('wye_plugin_object**'), ffi.new('uint32_t*')
    status = table.init(host.table, min(about.abi_minor, abi.WYE_ABI_MINOR), plugin, ffi.NULL)
    counted = table.probe_devices(plugin[0], count, ffi.NULL)
    print(f'{text(about.id)} {text(about.version)} of {text(about.vendor)}, ABI {about.abi_major}.{about.abi_minor}, '
          f'{8 * about.pointer_bytes} bits: {status} {counted}, {count[0]} devices')
    for index in range(max(count[0], 1)):
        open_device(host, table, plugin[0], index)
    table.shutdown(plugin[0])
    print(f'{host.made} errors made, {host.released} released')


for plugin_path in sys.argv[3:]:
    try_plugin(plugin_path)
for name in pathlib.Path(sys.argv[2]).read_text(encoding='utf-8').split():
    print(name, getattr(abi, name) if name.startswith('WYE_') else ffi.sizeof(name))
