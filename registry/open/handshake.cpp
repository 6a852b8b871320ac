// SPDX-License-Identifier: Apache-2.0
#include "registry/open/handshake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <type_traits>
#include <utility>

#include "registry/abi_versions.hpp"
#include "registry/find/manifest.hpp"
#include "registry/open/contain.hpp"
#include "registry/open/error_object.hpp"
#include "registry/open/plugin_text.hpp"
#include "wye/sdk/plugin.hpp"
#include "wye/sdk/slots.hpp"

namespace wye::registry {
namespace {

// A limit far above the size of any table: a larger size is garbage.
constexpr std::uint32_t kTableBytes = 64 * 1024;
constexpr std::uint32_t kChainEntries = 64;
constexpr const char* kAuthor = "Fix: ask the plugin's author for a build that keeps the contract";

Error bad_plugin(std::string what) { return Error(Code::BAD_PLUGIN, std::move(what), kAuthor); }

// ---- Stubs --------------------------------------------------------------------------------

template <typename Last>
void name_slot(const char* slot, Last last) noexcept {
    if constexpr (std::is_same_v<Last, wye_error**>) {
        if (last == nullptr) return;
        try {
            *last = make_error_object(
                Error(Code::UNIMPLEMENTED,
                      fmt::format("the plugin does not implement the slot `{}`", slot),
                      "Fix: use a plugin version that has it, or do without"));
        } catch (...) {  // no memory: the status alone is returned
        }
    }
}

template <typename Tag, typename Function>
struct Stub;

template <typename Tag, typename Return, typename... Args>
struct Stub<Tag, Return (*)(Args...)> {
    static Return call(Args... args) noexcept {
        if constexpr (std::is_same_v<Return, wye_status>) {
            (void)std::initializer_list<int>{(name_slot(Tag::kName, args), 0)...};
            return WYE_UNIMPLEMENTED;
        } else if constexpr (!std::is_void_v<Return>) {
            ((void)args, ...);
            return Return{};  // device_lost: 0; get_extension: null
        } else {
            ((void)args, ...);
        }
    }
};

// ---- Tables -------------------------------------------------------------------------------

// The size of the part of a table that hosts and plugins of a minor know. Each minor that appends
// to a table has a case of its own.
template <typename Table>
constexpr std::size_t known_in(std::uint32_t minor) {
    static_assert(WYE_ABI_MINOR <= WYE_ABI_MINOR_FROZEN + 1);
    return std::cmp_less(minor, WYE_ABI_MINOR) ? sdk::kSizeOfMinor0<Table> : sizeof(Table);
}

// Checks a table's header and returns the number of bytes that the host may read.
Result<std::uint32_t> readable(const wye_header* header, std::string_view what, std::size_t known) {
    if (header == nullptr) return bad_plugin(fmt::format("the {} is null", what));
    if (reinterpret_cast<std::uintptr_t>(header) % alignof(wye_plugin_table) != 0)
        return bad_plugin(fmt::format("the {} is not aligned to 8 bytes", what));
    if (header->size < sizeof(wye_header) || header->size > kTableBytes || header->size % 8 != 0)
        return bad_plugin(fmt::format("the {} claims a size of {} bytes", what, header->size));
    if (header->type != 0)
        return bad_plugin(fmt::format("the {} has type {}, not 0", what, header->type));
    WYE_TRY(check_chain(header->next, what));
    return std::min(header->size, static_cast<std::uint32_t>(known));
}

template <typename Table>
void copy_known(Table& to, const Table* from, std::uint32_t bytes) noexcept {
    std::memcpy(static_cast<void*>(&to), from, bytes);
    to.header = {sizeof(Table), 0, nullptr};
}

Error missing_slot(const char* table, const char* slot) {
    return bad_plugin(fmt::format("the {} lacks the mandatory slot `{}`", table, slot));
}

Error missing_half(const char* slot, const char* other) {
    return bad_plugin(fmt::format("the slot `{}` is present without `{}`", slot, other));
}

#define WYE_FILL_SLOT(name, mandatory)                                 \
    if (table.name == nullptr) {                                       \
        if (mandatory != 0) return missing_slot(kTable, #name);        \
        struct Tag {                                                   \
            static constexpr const char* kName() { return #name; }     \
        };                                                             \
        table.name = &Stub<SlotName<Tag>, decltype(table.name)>::call; \
    }

// A tag type with the slot's name as a constant; local classes cannot have static data members.
template <typename Local>
struct SlotName {
    static constexpr const char* kName = Local::kName();
};

}  // namespace

std::optional<ChainFault> chain_fault(const void* next) noexcept {
    for (std::uint32_t count = 1; next != nullptr; ++count) {
        const auto* entry = static_cast<const wye_header*>(next);
        if (count > kChainEntries) return ChainFault{ChainFault::Kind::Endless, kChainEntries};
        if (entry->size < sizeof(wye_header))
            return ChainFault{ChainFault::Kind::Short, entry->size};
        if ((entry->type & WYE_CHAIN_CRITICAL) != 0)
            return ChainFault{ChainFault::Kind::Unknown, entry->type & ~WYE_CHAIN_CRITICAL};
        next = entry->next;
    }
    return std::nullopt;
}

Result<void> check_chain(const void* next, std::string_view owner) {
    const auto fault = chain_fault(next);
    if (!fault) return {};
    switch (fault->kind) {
        case ChainFault::Kind::Endless:
            return bad_plugin(fmt::format("the extension chain of the {} has more than {} entries",
                                          owner, fault->number));
        case ChainFault::Kind::Short:
            return bad_plugin(fmt::format("an extension entry of the {} claims a size of {} bytes",
                                          owner, fault->number));
        case ChainFault::Kind::Unknown:
            break;
    }
    return Error(Code::UNSUPPORTED_EXTENSION,
                 fmt::format("the {} demands the unknown extension {}", owner, fault->number),
                 "Fix: use a newer host, or a plugin build that does not demand it");
}

Result<wye_plugin_table> adopt(const wye_plugin_table* from, std::uint32_t minor) {
    constexpr const char* kTable = "plugin table";
    WYE_ASSIGN(const auto bytes, readable(reinterpret_cast<const wye_header*>(from), kTable,
                                          known_in<wye_plugin_table>(minor)));
    wye_plugin_table table{};
    copy_known(table, from, bytes);
    if (table.translate != nullptr && table.translate_release == nullptr)
        return missing_half("translate", "translate_release");
    WYE_PLUGIN_SLOTS(WYE_FILL_SLOT)
    return table;
}

Result<wye_device_table> adopt(const wye_device_table* from, std::uint32_t minor) {
    constexpr const char* kTable = "device table";
    WYE_ASSIGN(const auto bytes, readable(reinterpret_cast<const wye_header*>(from), kTable,
                                          known_in<wye_device_table>(minor)));
    wye_device_table table{};
    copy_known(table, from, bytes);
    if (table.command_create != nullptr) {
        if (table.command_destroy == nullptr)
            return missing_half("command_create", "command_destroy");
        if (table.command_info == nullptr) return missing_half("command_create", "command_info");
    }
    if (table.timeline_create != nullptr) {
        if (table.timeline_destroy == nullptr)
            return missing_half("timeline_create", "timeline_destroy");
        if (table.timeline_signal == nullptr)
            return missing_half("timeline_create", "timeline_signal");
        if (table.timeline_fail == nullptr) return missing_half("timeline_create", "timeline_fail");
    }
    WYE_DEVICE_SLOTS(WYE_FILL_SLOT)
    return table;
}

Result<wye_queue_table> adopt(const wye_queue_table* from, std::uint32_t minor) {
    constexpr const char* kTable = "queue table";
    WYE_ASSIGN(const auto bytes, readable(reinterpret_cast<const wye_header*>(from), kTable,
                                          known_in<wye_queue_table>(minor)));
    wye_queue_table table{};
    copy_known(table, from, bytes);
    WYE_QUEUE_SLOTS(WYE_FILL_SLOT)
    return table;
}

#define WYE_SLOT_INFO(name, mandatory) {#name, mandatory != 0},
std::span<const SlotInfo> plugin_slots() {
    static constexpr SlotInfo kSlots[] = {WYE_PLUGIN_SLOTS(WYE_SLOT_INFO)};
    return kSlots;
}
std::span<const SlotInfo> device_slots() {
    static constexpr SlotInfo kSlots[] = {WYE_DEVICE_SLOTS(WYE_SLOT_INFO)};
    return kSlots;
}
std::span<const SlotInfo> queue_slots() {
    static constexpr SlotInfo kSlots[] = {WYE_QUEUE_SLOTS(WYE_SLOT_INFO)};
    return kSlots;
}

Error null_object_fault(std::string_view slot) {
    return Error(Code::PLUGIN_FAULT,
                 fmt::format("the slot `{}` reported success without an object", slot), kAuthor);
}

// ---- Negotiation --------------------------------------------------------------------------

namespace {

Result<const wye_plugin_desc*> call_query(wye_plugin_query_fn query, const wye_hello& hello,
                                          std::string_view id) {
    const wye_plugin_desc* desc = nullptr;
    wye_status status = WYE_OK;
    WYE_TRY(contain(id, WYE_PLUGIN_QUERY_SYMBOL, [&](wye_error**) {
        status = query(&hello, &desc);
        return WYE_OK;
    }));
    if (status == WYE_ABI_MISMATCH)
        return Error(Code::ABI_MISMATCH,
                     fmt::format("the plugin cannot work with this host, which has {}",
                                 abi_text(WYE_ABI_MINOR, WYE_ABI_MINOR_DRAFT)),
                     "Fix: use a plugin and a host of matching versions");
    if (status != WYE_OK) return take_error(status, nullptr, "the query");
    if (desc == nullptr) return null_object_fault(WYE_PLUGIN_QUERY_SYMBOL);
    return desc;
}

// Asks for the description. Plugins of the drafts before 1.0 answer only hosts of the same draft.
// For such a plugin, the error states the number of its draft.
Result<const wye_plugin_desc*> describe(wye_plugin_query_fn query, std::string_view id) {
    constexpr std::uint32_t kLastDraftOf1 = 3;
    wye_hello hello = sdk::hello();
    auto answer = call_query(query, hello, id);
    if (answer.ok() || answer.error().code != Code::ABI_MISMATCH) return answer;
    for (hello.draft = kLastDraftOf1; hello.draft > 1; --hello.draft)
        if (call_query(query, hello, id).ok())
            return abi_mismatch({.draft = hello.draft},
                                "Fix: build the plugin with this host's header");
    return answer;
}

Result<void> check_build(const wye_plugin_desc& desc) {
    if (desc.abi_major != WYE_ABI_MAJOR)
        return Error(Code::ABI_MISMATCH,
                     fmt::format("the plugin was built against ABI major {}, the host has {}",
                                 desc.abi_major, WYE_ABI_MAJOR),
                     "Fix: install the plugin's build for this host");
    if (desc.pointer_bytes != sizeof(void*))
        return Error(Code::ABI_MISMATCH,
                     fmt::format("the plugin was built for pointers of {} bytes, the host for {}",
                                 desc.pointer_bytes, sizeof(void*)),
                     "Fix: install the 64-bit build of the plugin");
    if (desc.host_minor_needed > desc.abi_minor || desc.minor_frozen > desc.abi_minor)
        return bad_plugin(
            fmt::format("the plugin needs ABI minor {} and counts {} as released, but was built "
                        "against {}",
                        desc.host_minor_needed, desc.minor_frozen, desc.abi_minor));
    return {};
}

Result<std::string> copy_text(wye_string text, const char* what) {
    constexpr std::uint64_t kLimit = 1024;
    auto read = read_text(text, kLimit, fmt::format("its {}", what));
    if (!read.ok()) return bad_plugin(std::move(read).error().message);
    return read;
}

}  // namespace

Result<Negotiated> negotiate(wye_plugin_query_fn query, std::string_view expected_id) {
    WYE_ASSIGN(const wye_plugin_desc* from, describe(query, expected_id));
    WYE_ASSIGN(const auto bytes, readable(&from->header, "plugin description", sizeof *from));
    wye_plugin_desc desc{};
    copy_known(desc, from, bytes);
    // Checks the build first: a description of another major may have another size. A description
    // that ends before `abi_draft` is one of the first draft.
    if (bytes >= offsetof(wye_plugin_desc, build_flags)) WYE_TRY(check_build(desc));
    if (bytes == offsetof(wye_plugin_desc, abi_draft))
        return abi_mismatch({.draft = 1}, "Fix: build the plugin with this host's header");
    if (bytes < sdk::kSizeOfMinor0<wye_plugin_desc>)
        return bad_plugin(fmt::format("the plugin description has {} bytes, ABI minor 0 has {}",
                                      bytes, sdk::kSizeOfMinor0<wye_plugin_desc>));
    WYE_ASSIGN(const std::uint32_t minor, effective_minor({.minor = desc.abi_minor,
                                                           .minor_needed = desc.host_minor_needed,
                                                           .draft = desc.abi_draft,
                                                           .minor_frozen = desc.minor_frozen}));
    Negotiated out;
    WYE_ASSIGN(out.id, copy_text(desc.id, "id"));
    WYE_ASSIGN(out.version, copy_text(desc.version, "version"));
    WYE_ASSIGN(out.vendor, copy_text(desc.vendor, "vendor"));
    if (!valid_plugin_id(out.id))
        return bad_plugin(fmt::format("its id `{}` is not a valid plugin id", out.id));
    if (!expected_id.empty() && out.id != expected_id)
        return Error(
            Code::BAD_PLUGIN,
            fmt::format("its id is `{}`, where `{}` was expected", out.id, expected_id),
            fmt::format("Fix: correct the manifest's id; without a manifest, name the file `{}.so`",
                        out.id));
    out.build_flags = desc.build_flags;
    out.minor_needed = desc.host_minor_needed;
    out.minor_built = desc.abi_minor;
    out.minor = minor;
    WYE_ASSIGN(out.table, adopt(desc.table, minor));
    return out;
}

}  // namespace wye::registry
