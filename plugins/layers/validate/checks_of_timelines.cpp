// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "layers/validate/checks.hpp"
#include "layers/validate/marks.hpp"
#include "layers/validate/pending.hpp"

namespace wye::layers::validate {
namespace {

Result<void> check_events(DeviceNode& node, Frame& frame, std::span<const wye_event> events) {
    Plugin& plugin = node.plugin().state();
    const sdk::Lock lock(plugin.mutex);
    const HostChecks checks = checks_of(plugin, node.state());
    const bool of_host = plugin.breaches.looks_for(Side::host);
    for (const wye_event& event : events) {
        if (of_host) WYE_TRY(checks.event(event));
        name(plugin, node.state(), frame, event.timeline);
        const Timeline* known = node.state().objects.timelines.find(event.timeline);
        frame.reached.push_back(known == nullptr ? 0 : known->reached);
    }
    return {};
}

// Records the state that the plugin reports for a value, and compares it with earlier reports.
void learn(DeviceNode& node, std::string_view slot, const wye_event& event, wye_status status) {
    Plugin& plugin = node.plugin().state();
    wye_status before = WYE_OK;
    {
        const sdk::Lock lock(plugin.mutex);
        Timeline* known = node.state().objects.timelines.find(event.timeline);
        if (known == nullptr) return;
        if (status == WYE_OK) {
            known->reached = std::max(known->reached, event.value);
            const auto failed = known->failed.find(event.value);
            if (failed != known->failed.end()) before = failed->second;
        } else if (status != WYE_DEVICE_LOST && status != WYE_OUT_OF_MEMORY) {
            constexpr std::size_t kMost = 1024;  // failures that the layer remembers
            known->failed.emplace(event.value, status);
            if (known->failed.size() > kMost) known->failed.erase(known->failed.begin());
        }
    }
    if (before != WYE_OK)
        plugin.breaches.add(Side::plugin, "P-26", slot, event.timeline,
                            "the value " + number(event.value) +
                                " is reached, but failed before, with the status " +
                                number(static_cast<std::uint32_t>(before)));
    check_end(node, slot, event, status);
}

void turned_back(DeviceNode& node, std::string_view slot, const wye_event& event,
                 std::uint64_t reached) {
    wye_status failed = WYE_OK;
    {
        const sdk::Lock lock(node.plugin().state().mutex);
        if (const Timeline* known = node.state().objects.timelines.find(event.timeline))
            if (const auto found = known->failed.find(event.value); found != known->failed.end())
                failed = found->second;
    }
    if (failed != WYE_OK)
        node.plugin().state().breaches.add(Side::plugin, "P-26", slot, event.timeline,
                                           "the value " + number(event.value) +
                                               " is pending, but failed before, with the status " +
                                               number(static_cast<std::uint32_t>(failed)));
    if (event.value > reached) return;
    node.plugin().state().breaches.add(Side::plugin, "P-25", slot, event.timeline,
                                       "the value " + number(event.value) +
                                           " is not reached, but " + number(reached) +
                                           " was reached before");
}

Result<void> signals(DeviceNode& node, const wye_event& event) {
    Plugin& plugin = node.plugin().state();
    const sdk::Lock lock(plugin.mutex);
    WYE_TRY(checks_of(plugin, node.state()).event(event));
    const Timeline& timeline = *node.state().objects.timelines.find(event.timeline);
    const auto wrong = [](std::string text) {
        return Error(Code::INVALID_ARGUMENT, std::move(text), "Fix: correct the call");
    };
    if (timeline.of_queue) return wrong("the host signals the timeline of a queue");
    if (event.value <= timeline.signalled)
        return wrong("the host signals the value " + number(event.value) + ", which is not above " +
                     number(timeline.signalled));
    return {};
}

void note_signal(DeviceNode& node, wye_status status, const wye_event& event) {
    if (status != WYE_OK) return;
    const sdk::Lock lock(node.plugin().state().mutex);
    if (Timeline* known = node.state().objects.timelines.find(event.timeline))
        known->signalled = std::max(known->signalled, event.value);
}

}  // namespace

// ---- Values ------------------------------------------------------------------------------------

Result<void> before(slot::device::query, DeviceNode& node, Frame& frame, const wye_event* event,
                    wye_error**) {
    return check_events(node, frame, {event, 1});
}

void after(slot::device::query, DeviceNode& node, Frame& frame, wye_status status,
           const wye_event* event, wye_error** error) {
    if (status != WYE_NOT_READY) return learn(node, "query", *event, status);
    if (error != nullptr && *error != nullptr)
        node.plugin().state().breaches.add(Side::plugin, "P-11", "query", event->timeline,
                                           "NOT_READY comes with an error object");
    turned_back(node, "query", *event, frame.reached[0]);
}

Result<void> before(slot::device::wait, DeviceNode& node, Frame& frame, const wye_event* events,
                    std::uint64_t count, std::uint32_t, std::uint64_t, std::uint64_t*,
                    wye_error**) {
    if (count != 0 && events == nullptr)
        return Error(Code::INVALID_ARGUMENT, "the events are null", "Fix: correct the call");
    return check_events(node, frame, {events, count});
}

void after(slot::device::wait, DeviceNode& node, Frame& frame, wye_status status,
           const wye_event* events, std::uint64_t count, std::uint32_t any,
           std::uint64_t timeout_ns, std::uint64_t* index, wye_error**) {
    Plugin& plugin = node.plugin().state();
    const std::span all(events, count);
    const auto breach = [&](std::string_view rule, const std::string& text) {
        plugin.breaches.add(Side::plugin, rule, "wait", nullptr, text);
    };
    if (timeout_ns != UINT64_MAX && frame.spent_ns > plugin.late_ns &&
        frame.spent_ns - plugin.late_ns > timeout_ns)
        breach("P-27",
               "it took " + number(frame.spent_ns) + " ns, with a limit of " + number(timeout_ns));
    if (status == WYE_TIMEOUT) {
        constexpr std::uint64_t kClock = 1'000'000;  // ns by which clocks may differ
        if (timeout_ns == UINT64_MAX)
            breach("P-27", "it timed out without a limit");
        else if (frame.spent_ns + kClock < timeout_ns - timeout_ns / 10)
            breach("P-27", "it timed out after " + number(frame.spent_ns) +
                               " ns, with a limit of " + number(timeout_ns));
        std::size_t reached = 0;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i].value <= frame.reached[i]) ++reached;
        if (!all.empty() && (any != 0 ? reached != 0 : reached == all.size()))
            breach("P-25", "it timed out, and what it waits for was reached before");
        if (frame.spent_ns >= plugin.late_ns)
            for (const wye_event& event : all) check_hang(node, event);
        return;
    }
    const bool tells = index != nullptr && !all.empty() && (status != WYE_OK || any != 0);
    if (tells && status == WYE_OK && *index >= count)
        return breach("P-27", "it tells the event " + number(*index) + " of " + number(count));
    if (status == WYE_OK && any == 0)
        for (const wye_event& event : all) learn(node, "wait", event, status);
    else if (tells && *index < count)
        learn(node, "wait", all[*index], status);
    else if (all.size() == 1)
        learn(node, "wait", all[0], status);
}

Result<void> before(slot::device::retire, DeviceNode& node, Frame& frame, const wye_event* event,
                    wye_error**) {
    WYE_TRY(check_events(node, frame, {event, 1}));
    const sdk::Lock lock(node.plugin().state().mutex);
    if (Timeline* known = node.state().objects.timelines.find(event->timeline))
        known->failed.erase(event->value);
    return {};
}

// ---- Timelines of the host ---------------------------------------------------------------------

void after(slot::device::timeline_create, DeviceNode& node, Frame&, wye_status status,
           const wye_timeline_desc*, wye_timeline_object** out, wye_error**) {
    if (status != WYE_OK || *out == nullptr) return;
    Plugin& plugin = node.plugin().state();
    bool added = true;
    {
        const sdk::Lock lock(plugin.mutex);
        added = node.state().objects.timelines.add(*out, Timeline());
    }
    if (!added)
        plugin.breaches.add(Side::plugin, "P-12", "timeline_create", *out,
                            "the new timeline is one that is alive already");
}

Result<void> before(slot::device::timeline_destroy, DeviceNode& node, Frame&,
                    wye_timeline_object* timeline) {
    Plugin& plugin = node.plugin().state();
    Uses uses;
    {
        const sdk::Lock lock(plugin.mutex);
        WYE_TRY(checks_of(plugin, node.state()).usable(timeline, true));
        Timeline& known = *node.state().objects.timelines.find(timeline);
        if (known.of_queue)
            return Error(Code::INVALID_ARGUMENT, "the timeline is that of a queue",
                         "Fix: destroy the queue");
        uses = known.uses;
    }
    end_timeline(node, "timeline_destroy", timeline);
    for (const auto& [queue, value] : uses)
        if (is_pending(node, {queue, value, 0, 0}))
            plugin.breaches.add(Side::host, "P-54", "timeline_destroy", timeline,
                                "the timeline is destroyed while a pending submit signals it");
    return {};
}

Result<void> before(slot::device::timeline_signal, DeviceNode& node, Frame&, const wye_event* event,
                    wye_error**) {
    return signals(node, *event);
}

void after(slot::device::timeline_signal, DeviceNode& node, Frame&, wye_status status,
           const wye_event* event, wye_error**) {
    note_signal(node, status, *event);
}

Result<void> before(slot::device::timeline_fail, DeviceNode& node, Frame&, const wye_event* event,
                    const wye_error_desc* failure, wye_error**) {
    if (failure->cause != nullptr || failure->code == WYE_OK)
        return Error(Code::INVALID_ARGUMENT, "the failure has a cause, or its code is OK",
                     "Fix: correct the call");
    return signals(node, *event);
}

void after(slot::device::timeline_fail, DeviceNode& node, Frame&, wye_status status,
           const wye_event* event, const wye_error_desc*, wye_error**) {
    note_signal(node, status, *event);
}

// ---- The device --------------------------------------------------------------------------------

void after(slot::device::memory_info, DeviceNode& node, Frame&, wye_status status,
           wye_memory_info* out, wye_error**) {
    if (status == WYE_OK && out->free_bytes != UINT64_MAX && out->free_bytes > out->total_bytes)
        node.plugin().state().breaches.add(
            Side::plugin, "P-19", "memory_info", nullptr,
            number(out->free_bytes) + " bytes are free of " + number(out->total_bytes));
}

void after(slot::device::try_recover, DeviceNode& node, Frame&, wye_status status, wye_error**) {
    if (status != WYE_OK) return;
    const sdk::Lock lock(node.plugin().state().mutex);
    node.state().objects.lose();
}

Result<void> before(slot::device::close, DeviceNode& node, Frame&) {
    Plugin& plugin = node.plugin().state();
    std::string left;
    {
        const sdk::Lock lock(plugin.mutex);
        left = node.state().objects.left(node.state().queues);
        plugin.open.erase(&node.state());
    }
    if (!left.empty())
        plugin.breaches.add(Side::host, "P-56", "close", nullptr,
                            left + ": not destroyed before their device");
    return {};
}

}  // namespace wye::layers::validate
