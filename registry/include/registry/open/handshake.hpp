// SPDX-License-Identifier: Apache-2.0
//
// Handshake: calls a plugin's query function and makes full tables, whose slots the host can call
// without null checks. The version ranges of host and plugin must overlap, and need not be equal. A
// table is copied into the host's full table up to the smaller of the two sizes. Each missing
// optional slot becomes a stub that returns WYE_UNIMPLEMENTED and names the slot; if a mandatory
// slot is missing, the plugin is refused with the slot's name. Pure apart from calling the query;
// free-threaded. Catches exceptions of the plugin.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "registry/record.hpp"
#include "wye/abi.h"

namespace wye::registry {

// Result of the negotiation. Strings are copies.
struct Negotiated {
    std::string id;
    std::string version;
    std::string vendor;
    std::uint64_t build_flags = 0;
    std::uint32_t minor_needed = 0;
    std::uint32_t minor_built = 0;
    std::uint32_t minor = 0;  // the effective minor
    wye_plugin_table table{};
};

// Calls `query` and checks its result. Errors: ABI_MISMATCH (major, draft, minors, pointer size),
// UNSUPPORTED_EXTENSION (an unknown critical chain entry), BAD_PLUGIN (wrong sizes, reserved
// members, id, mandatory slot), PLUGIN_FAULT (success without a description, an exception).
// `expected_id` is the id in the manifest, and may be empty. The caller adds path and loader text.
[[nodiscard]] Result<Negotiated> negotiate(wye_plugin_query_fn query, std::string_view expected_id);

// Returns a full copy of a plugin's table. BAD_PLUGIN names a missing mandatory slot.
// Slots that were added after the effective minor are left out.
[[nodiscard]] Result<wye_device_table> adopt(const wye_device_table* from, std::uint32_t minor);
[[nodiscard]] Result<wye_queue_table> adopt(const wye_queue_table* from, std::uint32_t minor);
[[nodiscard]] Result<wye_plugin_table> adopt(const wye_plugin_table* from, std::uint32_t minor);

// The names of slots in table order, for reports and the conformance kit. `mandatory` is as in the
// ABI header.
struct SlotInfo {
    std::string_view name;
    bool mandatory;
};
[[nodiscard]] std::span<const SlotInfo> plugin_slots();
[[nodiscard]] std::span<const SlotInfo> device_slots();
[[nodiscard]] std::span<const SlotInfo> queue_slots();

// The error for a slot that reported success but left its output null.
[[nodiscard]] Error null_object_fault(std::string_view slot);

// The first fault of an extension chain. The host knows no extension, so every critical entry is a
// fault.
struct ChainFault {
    enum class Kind : std::uint8_t {
        Endless,  // more than `number` entries: a loop
        Short,    // an entry's header states a size of `number` bytes, less than the header's own
        Unknown   // a critical entry of the unknown type `number`
    };
    Kind kind;
    std::uint32_t number;
};
[[nodiscard]] std::optional<ChainFault> chain_fault(const void* next) noexcept;

// Converts a chain's fault to an error: UNSUPPORTED_EXTENSION for an unknown critical entry, else
// BAD_PLUGIN.
[[nodiscard]] Result<void> check_chain(const void* next, std::string_view owner);

}  // namespace wye::registry
