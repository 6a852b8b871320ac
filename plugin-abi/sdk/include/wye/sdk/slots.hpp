// SPDX-License-Identifier: Apache-2.0
//
// The slots of each table: X(name, mandatory). Code that treats all slots alike is made from these
// lists: the host's stubs, and layers. Append the slots of a later minor version here, in the order
// of the ABI header.
#pragma once

#define WYE_PLUGIN_SLOTS(X) \
    X(init, 1)              \
    X(probe_devices, 1)     \
    X(device_info, 1)       \
    X(device_fact, 1)       \
    X(open_device, 1)       \
    X(translate, 0)         \
    X(translate_release, 0) \
    X(get_extension, 0)     \
    X(shutdown, 1)

#define WYE_DEVICE_SLOTS(X) \
    X(buffer_create, 1)     \
    X(buffer_destroy, 1)    \
    X(buffer_map, 0)        \
    X(buffer_sync, 0)       \
    X(program_create, 1)    \
    X(program_destroy, 1)   \
    X(program_info, 0)      \
    X(queue_create, 1)      \
    X(query, 1)             \
    X(wait, 1)              \
    X(retire, 0)            \
    X(timeline_create, 0)   \
    X(timeline_destroy, 0)  \
    X(timeline_signal, 0)   \
    X(timeline_fail, 0)     \
    X(memory_info, 0)       \
    X(prepare, 0)           \
    X(flush, 0)             \
    X(device_lost, 0)       \
    X(try_recover, 0)       \
    X(program_save, 0)      \
    X(program_load, 0)      \
    X(command_create, 0)    \
    X(command_destroy, 0)   \
    X(command_info, 0)      \
    X(command_update, 0)    \
    X(get_extension, 0)     \
    X(close, 1)

#define WYE_QUEUE_SLOTS(X) \
    X(submit, 1)           \
    X(timing, 0)           \
    X(cancel, 0)           \
    X(destroy, 1)          \
    X(info, 0)
