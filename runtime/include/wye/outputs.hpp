// SPDX-License-Identifier: Apache-2.0
//
// The results of a dispatch: Times, Outputs owned by the result, and OutputSlots owned by the
// caller. Part of wye.hpp, which includes it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wye/element.hpp"
#include "wye/handle.hpp"
#include "wye/pending.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye {

// The times of a report.
struct Times {
    // Takes the times from a report.
    explicit Times(const wye_report& report)
        : wall(report.wall_ns),
          enqueue(report.enqueue_ns),
          wait(report.wait_ns),
          device(report.device_ns == WYE_TIME_UNKNOWN
                     ? std::nullopt
                     : std::optional<std::chrono::nanoseconds>(report.device_ns)) {}

    std::chrono::nanoseconds wall;     // of the call; if asynchronous, from the submit to the end
    std::chrono::nanoseconds enqueue;  // to submit the work
    std::chrono::nanoseconds wait;     // from the submit until the work ended
    // From the driver's timestamps; empty unless requested (Dispatch::timed) and supported by the
    // driver.
    std::optional<std::chrono::nanoseconds> device;
};

// Owns the outputs of a dispatch that has ended.
class Outputs {
  public:
    // Owns what a dispatch that has ended wrote.
    Outputs(Pending pending, const wye_report& of) : report(of), pending_(std::move(pending)) {}

    // The elements of an output, valid while this object lives; not callable on a temporary. T must
    // be the declared type or std::byte.
    template <Element T>
    [[nodiscard]] Result<std::span<const T>> get(std::string_view name) const& {
        return pending_.output<T>(name);
    }
    template <Element T>
    Result<std::span<const T>> get(std::string_view name) const&& = delete;
    // The times of its report.
    [[nodiscard]] Times times() const { return Times(report); }

    wye_report report;

  private:
    Pending pending_;
};

// Storage for the outputs of dispatches, reused from one dispatch to the next: one slot for each
// output of the program, which grows if it is too small. For Dispatch::run_into; used by one thread
// at a time.
class OutputSlots {
  public:
    // The elements of an output of the last dispatch; valid until the next dispatch, while this
    // object lives.
    template <Element T>
    [[nodiscard]] Result<std::span<const T>> get(std::string_view name) const& {
        const auto found = std::ranges::find(slots_, name, &Slot::name);
        if (found == slots_.end() || !is_element<T>(found->type))
            return detail::no_such_output(name, slots_);
        return std::span<const T>(reinterpret_cast<const T*>(found->bytes.get()),
                                  found->size / sizeof(T));
    }
    template <Element T>
    Result<std::span<const T>> get(std::string_view name) const&& = delete;
    // Bytes of all outputs of the last dispatch.
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        std::uint64_t sum = 0;
        for (const Slot& slot : slots_) sum += slot.size;
        return sum;
    }
    // Bytes of the allocated storage.
    [[nodiscard]] std::uint64_t capacity() const noexcept {
        std::uint64_t sum = 0;
        for (const Slot& slot : slots_) sum += slot.capacity;
        return sum;
    }
    // How often a slot was too small for its output and grew, since construction.
    [[nodiscard]] std::uint64_t grown() const noexcept { return grown_; }
    // How often a slot was large enough for its output, since construction.
    [[nodiscard]] std::uint64_t reused() const noexcept { return reused_; }

  private:
    friend class Dispatch;
    struct Slot {
        std::string name, type;
        std::uint32_t binding = 0;
        std::unique_ptr<std::byte[]> bytes;  // not initialised
        std::size_t size = 0, capacity = 0;
    };
    // Makes room for the slot's output.
    void reserve(Slot& slot, std::size_t size) {
        slot.size = size;
        if (size <= slot.capacity) {
            ++reused_;
            return;
        }
        slot.capacity = 0;
        slot.bytes.reset(new std::byte[size]);
        slot.capacity = size;
        ++grown_;
    }

    std::vector<Slot> slots_;
    std::uint64_t grown_ = 0, reused_ = 0;
};

}  // namespace wye
