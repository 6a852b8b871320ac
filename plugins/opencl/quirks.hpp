// SPDX-License-Identifier: Apache-2.0
//
// Workarounds for quirks of OpenCL loaders and drivers, except those of the host's lowering. Pure.
#pragma once

#include "opencl/discovery.hpp"
#include "wye/sdk/quirk.hpp"

namespace wye::opencl {

inline constexpr sdk::Quirk kQuirks[] = {
    {"pocl-first-query", "PoCL", "3.1", "always",
     "initialises itself without a lock in the first device query of a process: two threads that "
     "query first at the same time crash in it (16 of 20 runs of raw OpenCL)",
     "one discovery at a time in a process; regression: test `first_use_opencl`"},
    {"pocl-empty-cache-dir", "PoCL", "3.1", "platform name, and POCL_CACHE_DIR set and empty",
     "ends the process in clGetDeviceIDs", "the platform is not queried; the error says so"},
    {"pocl-needs-ld", "PoCL", "3.1", "platform name, and no `ld` in PATH",
     "the first enqueue ends the process", "its devices are listed as unusable"},
    {"pocl-cache-folder", "PoCL", "3.1", "platform name",
     "a cache folder that cannot be made gives CL_DEVICE_NOT_FOUND; with one that cannot be "
     "written each build fails",
     "the remedy names the folder; devices are listed as unusable; regression: test `rooms`"},
    {"pocl-file-mask", "PoCL", "3.1", "platform name, and a umask that takes rights from the owner",
     "its cache folder and the files there, which it makes with the process's mask, cannot be "
     "read: builds fail, those of later processes too, and a first launch ends the process",
     "the platform is not queried; builds and first launches are refused; regression: test "
     "`caller_state_opencl`"},
    {"pocl-slow-headers", "PoCL", "3", "platform name and version",
     "each build reads Clang's header of all built-in functions: 90 ms of 105 for a small kernel",
     "a program that calls only a few common ones (-DWYE_BUILTINS=1) gets declarations of these "
     "instead (pocl/builtins.hpp); if that does not compile, the header is read"},
    {"pocl-compiles-at-launch", "PoCL", "3.1", "platform name",
     "machine code is made at the first enqueue, and once more if a binary is requested",
     "programs are saved after they ran, when the device is closed"},
    {"pocl-empty-launch", "PoCL", "3.1", "always",
     "a launch of no workgroups compiles the kernel for a workgroup size that no other launch has",
     "nothing is enqueued for such a launch"},
    {"pocl-one-queue", "PoCL", "3.1", "platform name",
     "two queues that run one kernel with two grid widths, one shortly after the other, release "
     "the kernel's code twice, and the process ends (`pocl_release_dlhandle_cache`; 2 of 22 runs)",
     "from its first timed submit on, a queue uses a native queue with profiling for all submits, "
     "and its first native queue no more; a device has one queue"},
    {"pocl-shared-code", "PoCL", "3.1", "platform name",
     "as pocl-one-queue, for queues of three or more contexts that run programs of equal source "
     "and options: PoCL has one copy of their machine code for the whole process",
     "each context that lives at the same time as others compiles with a number of its own "
     "(pocl/context_number.hpp), and only contexts of number 0 load and save programs"},
    {"pocl-finish-joins", "PoCL", "3.1", "platform name",
     "clFinish waits until its queue is empty, so for all that other threads enqueue meanwhile: "
     "while one enqueued a kernel of 18 ms every 5 ms, it did not return",
     "waits use the event of their own submit; regression: test `opencl_queue`"},
    {"pocl-prints", "PoCL", "3.1", "always",
     "a compile also prints the number of errors or warnings on stderr (\"1 error generated.\")",
     "lowered programs ask for no warnings (`-w`)"},
    {"pocl-signal-handlers", "PoCL", "3.1", "always",
     "the first device query installs signal handlers and an alternate stack",
     "the host restores those of the application, as after every plugin"},
    {"rusticl-finish", "rusticl", "Mesa 22.3", "platform name",
     "clFinish does not wait for commands that were flushed before it: test dispatches left the "
     "old bytes",
     "a marker is enqueued, and its event is waited for"},
    {"rusticl-loops", "rusticl", "Mesa 22.3", "platform name and version",
     "the last store of a loop is lost if the loop follows other loops inside an outer loop: 2 of "
     "100 random programs give wrong bytes",
     "its devices are listed as unusable"},
    {"nvidia-cl-workgroup-limit", "NVIDIA", "580", "the kernel was compiled for its workgroup",
     "CL_KERNEL_WORK_GROUP_SIZE is 256 for every kernel, even if reqd_work_group_size is larger "
     "and launches of that size work",
     "such a kernel is launched nevertheless; if it is too large, the driver refuses the launch"},
    {"nvidia-cl-costly-events", "NVIDIA", "580", "platform name",
     "an event takes 1.7 of the 10.5 us of a launch and its wait (H200); clFinish reports failures "
     "too, each of which loses the device",
     "a submit to an idle queue has no event; a marker becomes its event if something polls it or "
     "waits for it, or before the next submit, which then has an event of its own; with eight or "
     "more submits pending, up to 64 share the event of the last of them"},
    {"nvidia-cl-costly-flush", "NVIDIA", "580", "platform name",
     "clFlush takes 1.3 of the 6.2 us of each of 1000 launches (H100), and does nothing: the "
     "driver gives the device each command when it is enqueued",
     "submits are not flushed, except markers and commands that another queue waits for"},
    {"nvidia-cl-costly-status", "NVIDIA", "580", "platform name",
     "clGetEventInfo takes 1.3 of the 9.4 us of each of 1000 submits (H100), and tells nothing "
     "new: a command that fails loses the device, which every later wait and poll reports",
     "an event is queried for the error of its submit only after a wait or a poll saw a failure"},
    {"nvidia-cl-loss", "NVIDIA", "580", "a new queue does not answer",
     "after a kernel accessed an invalid address, clFinish returns CL_INVALID_COMMAND_QUEUE and "
     "other calls -9999, and the process gets no context any more",
     "the device is lost; the error of opening it again says to restart the process"},
};

// pocl-*: detected by the platform's name.
[[nodiscard]] inline bool is_pocl(std::string_view platform_name) {
    return platform_name == "Portable Computing Language";
}
[[nodiscard]] inline bool pocl_compiles_at_launch(const DeviceInfo& info) {
    return is_pocl(info.platform_name);
}
[[nodiscard]] inline bool pocl_shared_code(const DeviceInfo& info) {
    return is_pocl(info.platform_name);
}
[[nodiscard]] inline bool pocl_finish_joins(const DeviceInfo& info) {
    return is_pocl(info.platform_name);
}
[[nodiscard]] inline bool pocl_one_queue(const DeviceInfo& info) {
    return is_pocl(info.platform_name);
}
[[nodiscard]] inline bool rusticl_finish(const DeviceInfo& info) {
    return info.platform_name == "rusticl";
}
// `driver`: the driver's version, such as "22.3.6".
[[nodiscard]] inline bool rusticl_loops(std::string_view platform_name, std::string_view driver) {
    return platform_name == "rusticl" && driver.starts_with("22.");
}
[[nodiscard]] inline bool nvidia_cl_costly_events(const DeviceInfo& info) {
    return info.platform_name == "NVIDIA CUDA";
}
[[nodiscard]] inline bool nvidia_cl_costly_status(const DeviceInfo& info) {
    return info.platform_name == "NVIDIA CUDA";
}
[[nodiscard]] inline bool nvidia_cl_costly_flush(const DeviceInfo& info) {
    return info.platform_name == "NVIDIA CUDA";
}
[[nodiscard]] inline bool pocl_slow_headers(const DeviceInfo& info) {
    return is_pocl(info.platform_name) && info.driver_version.starts_with("3.");
}

}  // namespace wye::opencl
