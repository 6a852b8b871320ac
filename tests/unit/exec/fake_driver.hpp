// SPDX-License-Identifier: Apache-2.0
//
// An in-process plugin for tests: two devices on host memory, whose programs are a C++ function,
// and whose faults are switched on by the test. Counts calls of its functions. Only one may exist
// at a time in a process: the plugin's functions use `FakeDriver::now`.
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
    std::atomic<wye_device_object*> newest[2] = {nullptr, nullptr};  // last opened device, by index

    // A context with this plugin and no other; destroy it before the driver.
    [[nodiscard]] wye_context* context() const;

    registry::Config config;        // of contexts made from now on
    std::string selector = "auto";  // the default selector of these contexts
    std::string format;             // the artifact format that the devices take; empty: wye-program
    std::string version = "0.0.1";  // of the plugin
    bool saves = false;             // programs can be saved, as "saved:" and their code
    bool saves_late = false;        // programs can be saved only after a launch
    bool refuses_saved = false;

    registry::LogSink log;  // of contexts made from now on

    // The facts of the devices, by key. Not here: MAX_WORKGROUPS, which is `max_groups`, and
    // MAX_WORKGROUP_SIZE, which is 1024 on each axis.
    std::map<std::uint32_t, std::uint64_t> facts;
    std::map<std::uint32_t, std::uint64_t> second;  // for fake:1, instead of those in `facts`
    std::uint32_t max_groups[3] = {65535, 65535, 65535};

    // The kernel of every program.
    std::function<void(const wye_dispatch_op&)> kernel = [](const wye_dispatch_op&) {};
    [[nodiscard]] static std::byte* memory(const wye_binding& binding);
    template <typename T>
    [[nodiscard]] static T* data(const wye_binding& binding) {
        return reinterpret_cast<T*>(memory(binding));
    }

    // Called at the start of each submit to the driver.
    std::function<void()> on_submit;
    // Whether the device has command objects. Each may be pending only once at a time.
    bool commands = false;
    std::atomic<int> commands_made{0}, live_commands{0};

    // Called by program_create, by cancel, and by try_recover, on the calling thread.
    std::function<void()> on_compile, on_cancel, on_recover;

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
    // The number of submits that succeed before one fails as with `fail_submit`. Later submits
    // succeed.
    std::atomic<int> submits_left{INT32_MAX};
    // The number of submits after which a submit returns DEVICE_BUSY. The count starts anew when a
    // query or wait sees the end of work.
    int room = INT32_MAX;
    std::atomic<int> unseen{0};  // the submits counted so far
    bool fail_wait = false;      // every query of an event and every wait for an event fails
    // The number of bytes left for buffers. A freed buffer gives its bytes back.
    std::atomic<std::uint64_t> memory_left{UINT64_MAX};
    // How many of the next buffers, of any usage, and of the next programs fail with `refusal`.
    std::atomic<int> refused_buffers{0}, refused_programs{0};
    Code refusal = Code::DEVICE_MEMORY;
    // From now on every call on the opened device `index` returns DEVICE_LOST, until it recovers or
    // is opened again.
    void lose(std::uint32_t index);
    bool can_recover = true;                    // try_recover works
    std::uint32_t native_values = 1;            // in each native handle; 0: there is no extension
    std::uint64_t most_alignment = UINT64_MAX;  // the maximum alignment of a buffer
    std::atomic<std::uint64_t> last_alignment{0};  // of the last buffer of the usage DEVICE
    std::atomic<bool> hang = false;   // while set, no event is reached; waits time out at once
    std::atomic<bool> holds = false;  // while set, no event is reached, and a wait blocks
    // Whether buffers of the usage STAGING exist. They are mapped. A copy from or to such a buffer
    // is made late: when a query or wait sees the end of a submit, or at the next operation that is
    // no such copy. So a test finds wrong bytes if staging memory is reused too early.
    bool stages = false;
    bool maps_none = false;  // buffers of UPLOAD, READBACK and SHARED cannot be mapped
    // If false, a buffer of the usage REGISTERED can be made of memory of the application, in whole
    // pages. Copies from and to such a buffer are made late, as with STAGING.
    bool refuses_registered = false;
    bool adopts = true;         // native memory can become a buffer, which `registered` counts
    bool waits_native = true;   // a submit can wait for a native event
    bool can_cancel = false;    // cancel ends hanging work
    bool fail_cancel = false;   // without can_cancel: cancel fails
    bool cancels_late = false;  // with can_cancel: all work has ended before the cancel
    bool has_timing = false;
    std::uint64_t begin_ns = 0, end_ns = 0;  // the times of every timed submit

    // Counters.
    std::atomic<int> programs{0};  // compiled
    std::atomic<int> loaded{0};    // programs made of saved bytes
    std::atomic<int> saved{0};
    std::atomic<int> asked{0};       // calls of program_info
    std::vector<std::string> codes;  // of compiled and loaded programs
    std::atomic<int> live_programs{0};
    std::atomic<int> buffers{0};  // made
    std::atomic<int> live_buffers{0};
    std::atomic<std::uint64_t> staging_bytes{0}, most_staging_bytes{0};  // live STAGING buffers
    std::atomic<std::uint64_t> device_bytes{0}, most_device_bytes{0};    // all other live buffers
    std::atomic<int> asked_buffers{0};                                   // calls of buffer_create
    std::atomic<int> registered{0};  // live buffers over memory of the application
    std::atomic<int> queues{0};
    std::atomic<int> submits{0};
    std::atomic<int> timed_submits{0};
    std::atomic<int> used_rooms{0};   // operations whose unused bytes were not zero
    std::atomic<int> hints{0};        // launches with `again`
    std::atomic<int> wrong_hints{0};  // of these, those that differ from the previous operation
    std::atomic<int> waits{0};
    std::atomic<int> cancels{0};
    std::atomic<int> opened{0};             // devices
    std::atomic<int> recovered{0};          // by try_recover
    std::atomic<bool> recovers = false;     // a try_recover is in progress
    std::atomic<int> meanwhile{0};          // buffers destroyed while `recovers`
    std::atomic<int> shutdowns{0};          // of the plugin
    std::atomic<int> in_submit{0};          // calls of submit in progress
    std::atomic<int> most_in_submit{0};     // the maximum of `in_submit`
    std::vector<wye_operation> operations;  // of all submits since a test last cleared this
    struct Submit {
        const wye_queue_object* queue;
        std::uint64_t value;
        std::vector<wye_event> waits;
        std::uint64_t native_event;  // first value of the handle; 0: none
    };
    std::vector<Submit> submitted;  // the submits that succeeded, in order
    // The descriptions of the queues made, in order. `info` of every queue returns `granted`.
    std::vector<wye_queue_desc> queue_wishes;
    wye_queue_info granted{};
    std::atomic<int> live_queues{0};
    std::vector<std::uint32_t> kinds() const;
    std::vector<std::string> artifact_formats;
};

}  // namespace wye::exec::test
