// SPDX-License-Identifier: Apache-2.0
#include "layers/validate/pending.hpp"

#include <algorithm>
#include <iterator>

#include "layers/validate/marks.hpp"

namespace wye::layers::validate {

namespace {

// Whether the failure of a submit may have a cause other than the work that it waits for.
bool has_own_reason(wye_status status) {
    return status == WYE_DEVICE_LOST || status == WYE_CANCELLED || status == WYE_OUT_OF_MEMORY ||
           status == WYE_TIMEOUT;
}

bool are_reached(DeviceNode& node, const std::vector<wye_event>& waits) {
    return std::ranges::all_of(
        waits, [&](const wye_event& one) { return ask(node, one).value_or(WYE_OK) == WYE_OK; });
}

}  // namespace

std::optional<wye_status> ask(DeviceNode& node, const wye_event& event) {
    Plugin& plugin = node.plugin().state();
    const sdk::SharedLock alive(plugin.ends);
    {
        const sdk::Lock lock(plugin.mutex);
        const Timeline* known = node.state().objects.timelines.find(event.timeline);
        if (known == nullptr || known->lost) return std::nullopt;
    }
    const wye_event plain = {event.timeline, event.value, 0, 0};
    return node.next.query(node.object, &plain, nullptr);
}

bool is_pending(DeviceNode& node, const wye_event& event) {
    return ask(node, event) == WYE_NOT_READY;
}

void end_timeline(DeviceNode& node, std::string_view slot, wye_timeline_object* timeline) {
    Plugin& plugin = node.plugin().state();
    auto& timelines = node.state().objects.timelines;
    // The values of this timeline that submits wait for, and their statuses.
    std::map<std::uint64_t, wye_status> values;
    const auto each_wait = [&](auto&& visit) WYE_REQUIRES(plugin.mutex) {
        for (auto& [pointer, other] : timelines.all())
            for (auto& one : other.submits)
                std::erase_if(one.second.waits, [&](const wye_event& wait) {
                    return wait.timeline == timeline && visit(one.second, wait);
                });
    };
    {
        const sdk::Lock lock(plugin.mutex);
        each_wait([&](Submit&, const wye_event& wait) {
            values.emplace(wait.value, WYE_NOT_READY);
            return false;
        });
    }
    for (auto& [value, status] : values)
        status = ask(node, {timeline, value, 0, 0}).value_or(WYE_NOT_READY);
    int calls = 0;
    {
        const sdk::Lock none(plugin.ends);
        const sdk::Lock lock(plugin.mutex);
        each_wait([&](Submit& submit, const wye_event& wait) {
            const auto found = values.find(wait.value);
            const wye_status status = found == values.end() ? WYE_NOT_READY : found->second;
            const bool only_order = (wait.flags & WYE_EVENT_ORDER_ONLY) != 0;
            const bool ended = status == WYE_OK || (only_order && status != WYE_NOT_READY);
            (ended ? submit.outlived : submit.excused) = true;
            return true;
        });
        if (const Timeline* known = timelines.find(timeline)) calls = known->calls;
        timelines.remove(timeline);
    }
    if (calls != 0)
        plugin.breaches.add(Side::host, "P-54", slot, timeline,
                            number(static_cast<std::uint64_t>(calls)) +
                                " calls that name the timeline are inside of the plugin");
}

void check_end(DeviceNode& node, std::string_view slot, const wye_event& event, wye_status status) {
    Plugin& plugin = node.plugin().state();
    std::uint64_t before = 0;
    Submit submit;
    Written bytes = Written::yes;
    {
        const sdk::Lock lock(plugin.mutex);
        Timeline* known = node.state().objects.timelines.find(event.timeline);
        if (known == nullptr) return;
        const auto at = known->submits.find(event.value);
        if (at == known->submits.end()) return;
        if (at != known->submits.begin()) before = std::prev(at)->first;
        submit = std::move(at->second);
        // Handles the marks first: once the host learns that the submit has ended, the host may
        // free the marked memory.
        if (status != WYE_OK) unmark(submit);
        if (status == WYE_OK) bytes = written(submit, plugin.late_ns);
        // If a value was reached, all submits before it have ended, too.
        known->submits.erase(status == WYE_OK ? known->submits.begin() : at, std::next(at));
    }
    const auto breach = [&](std::string_view rule, const std::string& text) {
        plugin.breaches.add(Side::plugin, rule, slot, event.timeline, text);
    };
    const std::string value = "the value " + number(event.value);
    if (status != WYE_OK) {
        if (submit.small && submit.outlived && !submit.excused && !has_own_reason(status) &&
            are_reached(node, submit.waits))
            breach("P-54", value + " fails with the status " +
                               number(static_cast<std::uint32_t>(status)) +
                               ", and all that it waits for was reached, in part on a timeline "
                               "that was destroyed since");
        return;
    }
    if (bytes == Written::late)
        breach("P-25", value + " is reached, and a download of it ended only afterwards");
    if (bytes == Written::no)
        breach("P-55", value +
                           " is reached, and the last bytes of a download of it were not "
                           "written");
    if (before != 0 && is_pending(node, {event.timeline, before, 0, 0}))
        breach("P-25",
               value + " is reached, and " + number(before) + ", submitted before it, is pending");
    for (const wye_event& wait : submit.waits) {
        const wye_status outcome = ask(node, wait).value_or(WYE_OK);
        if (outcome == WYE_OK || outcome == WYE_DEVICE_LOST) continue;
        const std::string text =
            value + " is reached, and the value " + number(wait.value) + ", which it waits for, ";
        if (outcome == WYE_NOT_READY)
            breach("P-37", text + "is pending");
        else if ((wait.flags & WYE_EVENT_ORDER_ONLY) == 0)
            breach("P-26", text + "failed");
    }
}

void check_hang(DeviceNode& node, const wye_event& event) {
    Plugin& plugin = node.plugin().state();
    std::uint64_t before = 0;
    Submit submit;
    {
        const sdk::Lock lock(plugin.mutex);
        Timeline* known = node.state().objects.timelines.find(event.timeline);
        if (known == nullptr) return;
        const auto at = known->submits.find(event.value);
        if (at == known->submits.end()) return;
        if (at != known->submits.begin()) before = std::prev(at)->first;
        submit = at->second;
    }
    if (!submit.small || !submit.outlived || submit.excused) return;
    if (before != 0 && is_pending(node, {event.timeline, before, 0, 0})) return;
    if (are_reached(node, submit.waits) && is_pending(node, event))
        plugin.breaches.add(Side::plugin, "P-54", "wait", event.timeline,
                            "the value " + number(event.value) +
                                " does not end, and all that it waits for was reached, in part on "
                                "a timeline that was destroyed since");
}

void settle(DeviceNode& node, std::span<wye_command_object* const> commands) {
    Plugin& plugin = node.plugin().state();
    for (wye_command_object* command : commands) {
        std::vector<wye_event> pending;
        {
            const sdk::Lock lock(plugin.mutex);
            if (const Command* known = node.state().objects.commands.find(command))
                pending = known->pending;
        }
        std::erase_if(pending, [&](const wye_event& event) { return is_pending(node, event); });
        const sdk::Lock lock(plugin.mutex);
        Command* known = node.state().objects.commands.find(command);
        if (known == nullptr) continue;
        for (const wye_event& ended : pending)
            std::erase_if(known->pending, [&](const wye_event& one) {
                return one.timeline == ended.timeline && one.value == ended.value;
            });
    }
}

void enter(DeviceNode& node, Frame& frame, std::string_view slot,
           std::span<wye_command_object* const> commands) {
    Plugin& plugin = node.plugin().state();
    const std::thread::id self = std::this_thread::get_id();
    for (wye_command_object* command : commands) {
        bool shared = false;
        {
            const sdk::Lock lock(plugin.mutex);
            Command* known = node.state().objects.commands.find(command);
            if (known == nullptr || known->busy == self) continue;
            shared = known->busy != std::thread::id();
            if (!shared) {
                known->busy = self;
                frame.busy.emplace_back(&node.state(), command);
            }
        }
        if (shared)
            plugin.breaches.add(Side::host, "P-15", slot, command,
                                "two threads submit or update one command at once");
    }
}

}  // namespace wye::layers::validate
