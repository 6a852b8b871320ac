// SPDX-License-Identifier: Apache-2.0
//
// Checks that refuse what a plugin does not know: flags, types and critical extensions in the
// structures that the host passes. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "wye/sdk/errors.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::sdk {

// Refuses the critical extensions of a chain, except the extension `known`. `subject`: "a buffer's
// description".
[[nodiscard]] inline Result<void> known_extensions(const void* next, std::string_view subject,
                                                   std::uint32_t known = 0) {
    const wye_header* entry = critical_entry(next);
    while (entry != nullptr && known != 0 && entry->type == (known | WYE_CHAIN_CRITICAL))
        entry = critical_entry(entry->next);
    if (entry == nullptr) return {};
    return errors::unknown_extension(subject, *entry);
}

// Refuses a structure with unknown flags, or with a type or a critical extension that such a
// structure cannot have.
[[nodiscard]] inline Result<void> known_parts(const wye_header& header, std::uint32_t unknown_flags,
                                              std::string_view plugin, std::string_view subject,
                                              std::uint32_t known = 0) {
    if ((header.type | unknown_flags) != 0) [[unlikely]]
        return errors::unknown_flags(plugin, subject, unknown_flags, header.type);
    return known_extensions(header.next, subject, known);
}

// The flags of the first binding that has flags; 0: no binding has flags.
[[nodiscard, gnu::always_inline]] inline std::uint32_t flags_of(const wye_binding* bindings,
                                                                std::uint32_t count) {
    for (const wye_binding& binding : std::span(bindings, count))
        if (binding.flags != 0) [[unlikely]]
            return binding.flags;
    return 0;
}

// Refuses an operation if it or one of its bindings has unknown flags, or if it has a critical
// extension. `launch`: the flags that dispatches may have.
[[nodiscard, gnu::always_inline]] inline Result<void> known_parts_of(const wye_operation& op,
                                                                     std::string_view plugin,
                                                                     std::uint32_t launch) {
    std::uint32_t flags = op.flags;
    if (op.kind == WYE_OPERATION_DISPATCH) {
        const wye_dispatch_op& dispatch = op.u.dispatch;
        if (dispatch.again == 0)  // else it repeats the previous dispatch, which was checked
            flags |= (dispatch.flags & ~launch) | dispatch.trap.flags | dispatch.indirect.flags |
                     flags_of(dispatch.bindings, dispatch.binding_count);
    } else if (op.kind == WYE_OPERATION_EXECUTE) {
        flags |= flags_of(op.u.execute.slots, op.u.execute.slot_count);
    }
    if (flags == 0 && critical_entry(op.next) == nullptr) [[likely]]
        return {};
    return errors::unknown_part(plugin, op, launch);
}

}  // namespace wye::sdk
