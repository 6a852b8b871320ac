// SPDX-License-Identifier: Apache-2.0
//
// TimelineSlots: implements the slots of an opened device that concern timelines: those of its
// queues (timeline.hpp), and those that submits and the host signal (signal_timeline.hpp). Threads
// as in abi.h.
#pragma once

#include <chrono>
#include <span>
#include <thread>
#include <type_traits>

#include "wye/sdk/errors.hpp"
#include "wye/sdk/queue_slots.hpp"
#include "wye/sdk/signal_timeline.hpp"

namespace wye::sdk {

template <typename Device>
struct TimelineSlots {
    using QueueTimeline =
        std::remove_reference_t<decltype(std::declval<typename Device::Queue&>().timeline())>;
    using Signals = SignalTimeline<QueueTimeline>;

    // Calls `body` with the timeline of an event: a QueueTimeline or a SignalTimeline.
    template <typename Body>
    [[gnu::always_inline]] static decltype(auto) visit(const wye_event& event, Body&& body) {
        TimelineObject& timeline = TimelineObject::of(event.timeline);
        if (timeline.of_queue()) return body(static_cast<QueueTimeline&>(timeline));
        return body(static_cast<Signals&>(timeline));
    }
    [[nodiscard]] static bool reached(const wye_event& event) {
        return visit(event, [&](auto& timeline) { return timeline.reached(event.value); });
    }
    [[nodiscard]] static Result<bool> poll(const wye_event& event) {
        return visit(event, [&](auto& timeline) { return timeline.poll(event.value); });
    }
    [[nodiscard]] static Result<void> wait_one(const wye_event& event, std::uint64_t timeout_ns) {
        return visit(event, [&](auto& timeline) { return timeline.wait(event.value, timeout_ns); });
    }

    static wye_status query(wye_device_object* object, const wye_event* event, wye_error** error) {
        if (reached(*event)) return WYE_OK;
        bool yes = false;
        const wye_status status = run_on(of(object), error, [&]() -> Result<void> {
            WYE_ASSIGN(yes, poll(*event));
            return {};
        });
        return status == WYE_OK && !yes ? WYE_NOT_READY : status;
    }

    static wye_status wait(wye_device_object* object, const wye_event* events, std::uint64_t count,
                           std::uint32_t any, std::uint64_t timeout_ns, std::uint64_t* index,
                           wye_error** error) {
        std::uint64_t at = 0;
        wye_status status = WYE_OK;
        if (count != 1 || any > 1 || !reached(*events))
            status = run_on(of(object), error, [&] {
                const std::span all(events, count);
                if (any > 1) return refuse_any(any);
                if (count == 0) return Result<void>();
                if (count == 1) return wait_one(*events, timeout_ns);
                return any == 0 ? wait_all(all, timeout_ns, at) : wait_any(all, timeout_ns, at);
            });
        if (index != nullptr && status != WYE_TIMEOUT) *index = at;
        return status;
    }

    static wye_status retire(wye_device_object* object, const wye_event* event, wye_error** error) {
        return run_on(of(object), error, [&]() -> Result<void> {
            visit(*event, [&](auto& timeline) { timeline.retire(event->value); });
            return {};
        });
    }

    static wye_status timeline_create(wye_device_object* object, const wye_timeline_desc* desc,
                                      wye_timeline_object** out, wye_error** error) {
        Device& device = of(object);
        return run_unless_lost(device, error, [&]() -> Result<void> {
            WYE_TRY(known_parts(desc->header, desc->flags, Device::Queue::kPlugin,
                                "a timeline's description"));
            *out = (new Signals(device.loss))->object();
            return {};
        });
    }

    static void timeline_destroy(wye_device_object*, wye_timeline_object* timeline) {
        delete static_cast<Signals*>(&TimelineObject::of(timeline));
    }

    static wye_status timeline_signal(wye_device_object* object, const wye_event* event,
                                      wye_error** error) {
        return run_on(of(object), error, [&]() -> Result<void> {
            made(*event).signal(event->value);
            return {};
        });
    }

    static wye_status timeline_fail(wye_device_object* object, const wye_event* event,
                                    const wye_error_desc* failure, wye_error** error) {
        return run_on(of(object), error, [&]() -> Result<void> {
            WYE_TRY(known_parts(failure->header, failure->flags, Device::Queue::kPlugin,
                                "the description of a failure"));
            made(*event).fail(event->value, error_of(*failure));
            return {};
        });
    }

    static constexpr void fill(wye_device_table& table) {
        table.query = query;
        table.wait = wait;
        table.retire = retire;
        table.timeline_create = timeline_create;
        table.timeline_destroy = timeline_destroy;
        table.timeline_signal = timeline_signal;
        table.timeline_fail = timeline_fail;
    }

  private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] static Device& of(wye_device_object* object) {
        return *reinterpret_cast<Device*>(object);
    }
    [[nodiscard]] static Signals& made(const wye_event& event) {
        return static_cast<Signals&>(TimelineObject::of(event.timeline));
    }
    [[nodiscard]] static Error error_of(const wye_error_desc& desc) {
        const auto text = [](wye_string s) { return std::string(from_abi(s)); };
        Error out(static_cast<Code>(desc.code), text(desc.message), text(desc.fix),
                  text(desc.subject));
        out.native_domain = text(desc.native_domain);
        out.native_code = desc.native_code;
        return out;
    }
    [[nodiscard]] static Result<void> refuse_any(std::uint32_t any) {
        return errors::unknown_flags(Device::Queue::kPlugin, "a wait", any);
    }
    // The rest of a time limit that began at `start`.
    [[nodiscard]] static std::uint64_t left_of(std::uint64_t timeout_ns, Clock::time_point start) {
        if (timeout_ns == UINT64_MAX) return timeout_ns;
        const std::chrono::nanoseconds spent = Clock::now() - start;
        const auto ns = static_cast<std::uint64_t>(spent.count());
        return ns < timeout_ns ? timeout_ns - ns : 0;
    }
    [[nodiscard]] static Result<void> wait_all(std::span<const wye_event> events,
                                               std::uint64_t timeout_ns, std::uint64_t& at) {
        const Clock::time_point start = Clock::now();
        for (at = 0; at < events.size(); ++at) {
            WYE_TRY(wait_one(events[at], left_of(timeout_ns, start)));
        }
        at = 0;
        return {};
    }
    // Polls with growing pauses.
    [[nodiscard]] static Result<void> wait_any(std::span<const wye_event> events,
                                               std::uint64_t timeout_ns, std::uint64_t& at) {
        constexpr std::uint64_t kFirst = 2000, kLongest = 500000;
        const Clock::time_point start = Clock::now();
        for (std::uint64_t pause = kFirst;; pause = std::min(pause * 2, kLongest)) {
            for (at = 0; at < events.size(); ++at) {
                WYE_ASSIGN(const bool yes, poll(events[at]));
                if (yes) return {};
            }
            const std::uint64_t left = left_of(timeout_ns, start);
            if (left == 0) return errors::none_reached(events.size(), timeout_ns);
            std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(pause, left)));
        }
    }
};

}  // namespace wye::sdk
