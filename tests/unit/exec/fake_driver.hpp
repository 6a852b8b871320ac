// SPDX-License-Identifier: Apache-2.0
//
// An in-process plugin for tests: two devices on host memory, whose programs are a C++ function and
// whose faults are switched on by the test. Counts every entry. One per process at a time: the
// plugin's functions use `FakeDriver::now`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "exec/context.hpp"
#include "wye/abi.h"
#include "wye/abi_native.h"
#include "wye/wye.h"

namespace wye::exec::test {

struct FakeDriver {
    FakeDriver();
    ~FakeDriver();
    FakeDriver(const FakeDriver&) = delete;
    FakeDriver& operator=(const FakeDriver&) = delete;
    static FakeDriver* now;
    std::atomic<wye_device_object*> newest[2] = {nullptr, nullptr};  // opened last, by index

    // A context with this plugin and no other; destroy it before the driver.
    [[nodiscard]] wye_context* context() const;

    registry::Config config;        // of contexts made from now on
    std::string selector = "auto";  // their default
    std::string format;             // the devices take this first; empty: wye-program
    std::string version = "0.0.1";  // of the plugin
    bool saves = false;             // programs can be saved: as "saved:" and their code
    bool saves_late = false;        // programs can be saved only after a launch
    bool refuses_saved = false;

    registry::LogSink log;  // of contexts made from now on

    // What the devices report: {key, value}; a triple for MAX_WORKGROUPS and MAX_WORKGROUP_SIZE.
    std::map<std::uint32_t, std::uint64_t> facts;
    std::map<std::uint32_t, std::uint64_t> second;  // of fake:1 alone, over `facts`
    std::uint32_t max_groups[3] = {65535, 65535, 65535};

    // The kernel of every program.
    std::function<void(const wye_dispatch_op&)> kernel = [](const wye_dispatch_op&) {};
    [[nodiscard]] static std::byte* memory(const wye_binding& binding);
    template <typename T>
    [[nodiscard]] static T* data(const wye_binding& binding) {
        return reinterpret_cast<T*>(memory(binding));
    }

    // Called by a native submit, before it does anything.
    std::function<void()> on_submit;
    // The device has commands, of which each may be pending once.
    bool commands = false;
    std::atomic<int> commands_made{0}, live_commands{0};

    // Called by program_create, on its thread.
    std::function<void()> on_compile;

    // Faults.
    bool fail_compile = false;
    // With fail_compile: the compiler's message about the code.
    std::function<std::string(std::string_view code)> compile_log;
    bool fail_program_info = false;
    std::uint32_t resident_groups = 0;  // of every program; 0: unknown
    bool fail_open = false;             // no device can be opened
    bool fail_queue = false;            // no queue can be made
    bool fail_queue_info = false;       // `info` of a queue fails
    bool fail_submit = false;
    // Submits that succeed before one fails as with fail_submit; after that all succeed again.
    std::atomic<int> submits_left{INT32_MAX};
    // Submits that the device takes (DEVICE_BUSY after these) until somebody sees the end of work.
    int room = INT32_MAX;
    std::atomic<int> unseen{0};  // submits since then
    bool fail_wait = false;      // every value that is asked for fails
    // Bytes left for buffers; freed bytes are added again.
    std::atomic<std::uint64_t> memory_left{UINT64_MAX};
    // So many of the next buffers, of any usage, and of the next programs fail for want of memory.
    std::atomic<int> refused_buffers{0}, refused_programs{0};
    Code refusal = Code::DEVICE_MEMORY;
    // From now on every call on the opened device `index` returns DEVICE_LOST, until it recovers or
    // is opened again.
    void lose(std::uint32_t index);
    bool can_recover = true;                    // try_recover works
    std::uint32_t native_values = 1;            // of each native handle; 0: there is no extension
    std::uint64_t most_alignment = UINT64_MAX;  // of buffers; more is refused
    std::atomic<std::uint64_t> last_alignment{0};  // of the last buffer of the usage DEVICE
    std::atomic<bool> hang = false;   // events are not reached while set, and waits end at once
    std::atomic<bool> holds = false;  // events are not reached while set, and waits wait
    // Buffers of the usage STAGING exist, and are mapped. Copies from and to them are made when
    // somebody sees the end of a submit, or at the next operation of another kind: so memory that
    // is reused too early has wrong bytes.
    bool stages = false;
    bool maps_none = false;  // of the usages UPLOAD, READBACK and SHARED
    // Memory of the application, whole pages, becomes a buffer, copied as staging memory.
    bool refuses_registered = false;
    bool adopts = true;        // native memory becomes a buffer, which counts as a registered one
    bool waits_native = true;  // for a native event, at a submit
    bool can_cancel = false;   // cancel ends hanging work
    bool has_timing = false;
    std::uint64_t begin_ns = 0, end_ns = 0;  // the times of every timed submit

    // Counters.
    std::atomic<int> programs{0};  // compiled
    std::atomic<int> loaded{0};    // from what was saved
    std::atomic<int> saved{0};
    std::atomic<int> asked{0};       // calls of program_info
    std::vector<std::string> codes;  // of compiled and loaded programs
    std::atomic<int> live_programs{0};
    std::atomic<int> buffers{0};  // made
    std::atomic<int> live_buffers{0};
    std::atomic<std::uint64_t> staging_bytes{0}, most_staging_bytes{0};  // of live buffers
    std::atomic<std::uint64_t> device_bytes{0}, most_device_bytes{0};    // of the others
    std::atomic<int> asked_buffers{0};                                   // calls of buffer_create
    std::atomic<int> registered{0};  // live buffers over memory of the application
    std::atomic<int> queues{0};
    std::atomic<int> submits{0};
    std::atomic<int> timed_submits{0};
    std::atomic<int> used_rooms{0};   // operations whose unused bytes were not zero
    std::atomic<int> hints{0};        // launches with `again`
    std::atomic<int> wrong_hints{0};  // of these, those that are not the operation before them
    std::atomic<int> waits{0};
    std::atomic<int> cancels{0};
    std::atomic<int> opened{0};             // devices
    std::atomic<int> recovered{0};          // by try_recover
    std::atomic<int> shutdowns{0};          // of the plugin
    std::atomic<int> in_submit{0};          // calls of submit in progress
    std::atomic<int> most_in_submit{0};     // maximum at once, of one device
    std::vector<wye_operation> operations;  // of the last submits, in order
    struct Submit {
        const wye_queue_object* queue;
        std::uint64_t value;
        std::vector<wye_event> waits;
        std::uint64_t native_event;  // first value of the handle; 0: none
    };
    std::vector<Submit> submitted;  // all, in order
    // Of the queues made, in order; `info` of each returns these.
    std::vector<wye_queue_desc> queue_wishes;
    wye_queue_info granted{};
    std::atomic<int> live_queues{0};
    std::vector<std::uint32_t> kinds() const;
    std::vector<std::string> artifact_formats;
};

}  // namespace wye::exec::test
