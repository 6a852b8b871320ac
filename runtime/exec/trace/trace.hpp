// SPDX-License-Identifier: Apache-2.0
//
// Trace: records what the threads and devices of a context do and when (WYE_TRACE), in the Chrome
// trace event format, which Perfetto and chrome://tracing open.
//
// Events are kept in memory, up to a limit above which the oldest events are dropped. The file is
// written when the context is destroyed, and appears complete or not at all. The begin and end of
// device work come only from the driver's timestamps. Work without timestamps is shown on a
// separate track, whose name says so, from its submit until the host saw its end.
//
// Owned by the context and shared with its sessions. Free-threaded. A null pointer means that
// tracing is off; Span (span.hpp) accepts null. Recording never fails: if memory runs out, events
// are dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "registry/open/host_services.hpp"
#include "wye/abi.h"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/new_file.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// Nanoseconds of CLOCK_MONOTONIC.
struct TraceTimes {
    std::uint64_t begin_ns = 0, end_ns = 0;
};

// Optional details of a step on the host. Borrowed for the call.
struct TraceStep {
    std::string_view subject = {};  // a program's name
    std::string_view label = {};
    std::uint64_t bytes = 0;
    std::uint64_t submit = 0;  // the value of a submit to this queue of this device; 0: none
    std::uint32_t device = 0, queue = 0;
};

class Trace {
  public:
    // Opens the file that the setting `trace.file` names; null: the setting is missing or empty.
    // "%p" in the name becomes the process id, and a `number` of the context above 1 is appended.
    // The setting `trace.events` limits the kept events. IO: the file cannot be created.
    // INVALID_ARGUMENT: the limit is invalid.
    [[nodiscard]] static Result<std::shared_ptr<Trace>> open(const registry::Config& config,
                                                             std::uint32_t number);

    [[nodiscard]] static std::uint64_t now_ns() noexcept;

    // Records a step of the calling thread.
    void span(const char* name, const TraceStep& step, TraceTimes times) noexcept;

    // Returns the device's number for the calls below.
    [[nodiscard]] std::uint32_t add_device(std::string_view name);
    // Sets the label of a native queue's track for later events.
    void name_queue(std::uint32_t device, std::uint32_t queue, std::string_view label) noexcept;
    // Sets the name that the trace shows for later work of this native program or command.
    void name_object(const void* object, std::string_view name) noexcept;
    // Sets whether a buffer is a staging buffer. Copies from and to such a buffer are shown as
    // uploads and downloads.
    void set_staging(const wye_buffer_object* buffer, bool staging) noexcept;
    // Records a native submit that began at `begin_ns`.
    void submitted(std::uint32_t device, std::uint32_t queue, std::uint64_t value,
                   std::span<const wye_operation> operations, std::uint64_t begin_ns) noexcept;
    // Records that the host saw the end of a submit. `timing`: the driver's timestamps; 0: unknown.
    void ended(std::uint32_t device, std::uint32_t queue, std::uint64_t value, bool ok,
               TraceTimes timing) noexcept;

    // Writes the file; later calls do nothing. Fails with IO.
    [[nodiscard]] Result<void> save();

  private:
    using Name = std::uint32_t;  // an index in names_
    enum class Kind : std::uint8_t {
        Host,
        Device,
        Seen
    };  // Seen: work of a device, timed by the host's clock

    struct Bytes {
        std::uint64_t up = 0, down = 0, moved = 0;  // moved: copied or filled
    };
    struct Event {
        TraceTimes times;
        Kind kind = Kind::Host;
        bool ok = true;
        bool submits = false;  // Host: an arrow leads from this event to the device's event
        Name name = 0, label = 0;
        std::uint32_t thread = 0;  // Host: the id of the thread
        std::uint32_t queue = 0;   // an index in queues_; Host: only if `value` is not 0
        std::uint64_t value = 0;   // the value of the submit; 0: none
        Bytes bytes;
    };
    struct Queue {
        std::uint32_t device = 0, index = 0;
        Name label = 0;
    };
    struct Submit {
        Name name = 0;
        Bytes bytes;
        std::uint64_t begin_ns = 0;
    };
    class Output;
    class Writer;

    Trace(sdk::NewFile file, std::string path, std::size_t limit);

    [[nodiscard]] Name name(std::string_view text) WYE_REQUIRES(mutex_);
    [[nodiscard]] std::uint32_t queue(std::uint32_t device, std::uint32_t index)
        WYE_REQUIRES(mutex_);
    void keep(const Event& event) WYE_REQUIRES(mutex_);
    // Adds the bytes that an operation moves.
    void add(const wye_operation& operation, Bytes& bytes) const WYE_REQUIRES(mutex_);
    void keep_step(std::string_view name, const TraceStep& step, TraceTimes times,
                   bool submits = false) WYE_REQUIRES(mutex_);

    const std::string path_;
    const std::size_t limit_;

    sdk::Mutex mutex_;
    sdk::NewFile file_ WYE_GUARDED_BY(mutex_);
    bool saved_ WYE_GUARDED_BY(mutex_) = false;
    std::deque<Event> events_ WYE_GUARDED_BY(mutex_);
    std::uint64_t dropped_ WYE_GUARDED_BY(mutex_) = 0;
    std::vector<std::string> names_ WYE_GUARDED_BY(mutex_);  // the first two names are fixed
    std::unordered_map<std::string, Name> known_names_ WYE_GUARDED_BY(mutex_);
    std::unordered_map<std::uint32_t, std::string> threads_ WYE_GUARDED_BY(mutex_);
    std::vector<std::string> devices_ WYE_GUARDED_BY(mutex_);
    std::vector<Queue> queues_ WYE_GUARDED_BY(mutex_);
    std::unordered_map<const void*, Name> objects_ WYE_GUARDED_BY(mutex_);
    std::unordered_set<const wye_buffer_object*> staging_ WYE_GUARDED_BY(mutex_);
    // The submits that have not ended, by queue and value.
    std::map<std::pair<std::uint32_t, std::uint64_t>, Submit> in_flight_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::exec
