// SPDX-License-Identifier: Apache-2.0
#include "layers/validate/pending.hpp"

#include <algorithm>

namespace wye::layers::validate {

bool is_pending(DeviceNode& node, const wye_event& event) {
    return node.next.query(node.object, &event, nullptr) == WYE_NOT_READY;
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
