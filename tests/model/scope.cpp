// SPDX-License-Identifier: Apache-2.0
#include "scope.hpp"

#include <algorithm>

namespace wye::model {

const std::vector<Scope>& scopes() {
    static const std::vector<Scope> kScopes = [] {
        std::vector<Scope> out;
        const auto add = [&](const char* name, const char* letters, int steps, int long_steps) {
            Scope& scope = out.emplace_back();
            scope.name = name;
            scope.letters = letters;
            scope.steps = steps;
            scope.long_steps = long_steps;
            return &scope;
        };
        // Work without public queues, which ends, fails or is cancelled.
        add("plain", "swcEFX", 5, 8);
        // Public queues that come and go while their work runs.
        add("queues", "+-swE", 6, 8);
        {
            Scope& scope = *add("failing_queues", "+-swcEFX", 5, 8);
            scope.queues = 2;
        }
        // One native queue for all work without a public queue. Public queues share it.
        {
            Scope& scope = *add("shared", "+-swE", 5, 8);
            scope.native = 1;
            scope.device.max_queues = 1;
        }
        // A device that cannot cancel work.
        {
            Scope& scope = *add("given_up", "swcEW", 5, 8);
            scope.device.cancels = false;
        }
        // Time limits.
        add("limits", "stETX", 4, 7);
        // Submits that the device refuses.
        {
            Scope& scope = *add("refused", "+-sgGdxQE", 5, 7);
            scope.pending = 2;
        }
        // Few dispatches may be pending at once.
        {
            Scope& scope = *add("room", "sahwokE", 4, 7);
            scope.pending_count = 2;
            scope.pending = 4;
        }
        // Transfers, pipelines, batches, mappings.
        add("transfers", "sulfDwE", 4, 6);
        add("kinds", "spdBmnyWE", 4, 6);
        // Graphs.
        add("graphs", "Ggjisw+E", 5, 8);
        // Opening and closing a device, and its loss.
        {
            Scope& scope = *add("life", "+-swxCOYE", 5, 8);
            scope.pending = 2;
        }
        add("loss", "swgGLREx", 5, 8);
        {
            Scope& scope = *add("reopened", "+swhLRE", 5, 7);
            scope.device.recovers = false;
        }
        // The destruction of the context.
        add("destroyed", "+-swkEZz", 4, 7);
        // Waits with a limit, and callbacks.
        add("notified", "sPNcEXFT", 4, 7);
        // Work in the line while its program is compiled, and work that must come after it.
        add("line", "SswcKJE", 5, 8);
        add("line_calls", "SdgGDxKE", 5, 7)->pending = 2;
        add("line_queues", "+-SskKE", 5, 8);
        add("line_kinds", "SeBpulfhKE", 4, 6);
        add("line_rounds", "rsdcEFX", 4, 7);
        add("line_limits", "bsvTKEX", 6, 8);
        add("line_ended", "SwmnyPNTKE", 6, 8);
        {
            Scope& scope = *add("line_refused", "+SrsQKE", 5, 7);
            scope.pending = 2;
        }
        {
            Scope& scope = *add("line_room", "SahwWKE", 5, 7);
            scope.pending_count = 2;
            scope.pending = 4;
        }
        add("line_life", "SxCOYkKE", 7, 9)->pending = 2;
        add("line_loss", "SswLRKJE", 7, 9)->pending = 2;
        add("line_destroyed", "SskKEZz", 4, 7);
        add("line_prepared", "ISvTKJwc", 6, 8);
        // Only a step `>` lets the line's thread go on. The thread also stops between the end of a
        // compilation and the submit.
        add("held", "SsdcxKE>", 5, 9)->holds_line = true;
        add("held_loss", "SLRCKJ>", 8, 10)->holds_line = true;
        add("held_limits", "bsITK>", 7, 10)->holds_line = true;
        // Two threads, with calls that stop at the begin or end of a slot.
        const auto two = [&](const char* name, const char* letters, int steps, int long_steps) {
            Scope* const scope = add(name, letters, steps, long_steps);
            scope->calls = 2;
            scope->places = 6;
            return scope;
        };
        two("two_submits", "sdE>", 4, 6);
        two("two_queues", "+-sw>E", 4, 6);
        {
            Scope& scope = *two("two_natives", "+-sE", 5, 7);
            scope.pending = scope.places = 2;
        }
        two("two_refused", "+sQ>E", 4, 6);
        {
            // A call may also stop while its native queue is made, and another native queue is
            // dropped meanwhile.
            Scope& scope = *two("two_dropped", "+-sE", 5, 7);
            scope.buffers = 1;
            scope.pending = 2;
            scope.places = 60;
        }
        two("two_room", "sHo>E", 3, 5)->pending_count = 1;
        two("two_lost", "sehLR>E", 4, 6);
        // A call may stop at any place, also at the last lock before its submit.
        two("two_late", "sdLR>", 4, 5)->places = 60;
        two("two_compiles", "vLTxR>E", 5, 7);
        two("two_line", "Sc>KE", 5, 7)->holds_line = true;
        two("two_line_submits", "SsdtT>", 4, 6);
        two("two_line_lost", "SsLRK>", 4, 6)->holds_line = true;
        two("two_line_limits", "bT>KE", 5, 7)->holds_line = true;
        return out;
    }();
    return kScopes;
}

const Scope* scope_of(const std::string& name) {
    const auto found = std::ranges::find(scopes(), name, &Scope::name);
    return found == scopes().end() ? nullptr : &*found;
}

}  // namespace wye::model
