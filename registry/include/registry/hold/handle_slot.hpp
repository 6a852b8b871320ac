// SPDX-License-Identifier: Apache-2.0
//
// HandleSlot: the place of one object in a HandleTable, and the layout of handles and of a slot's
// state. In a header so that look-ups are inlined, since every submit looks handles up. Internal to
// HandleTable.
//
// A slot's state is one word, changed by atomic read-modify-write operations, or by a store that
// fills or empties the slot:
// bits 0-23 uses, 24-37 pins, 38-39 state, 40-63 generation.
// A handle resolves while the state is live and the generation is the handle's. Pins and uses can
// be added only to a live slot; only `pin_again` adds a pin to a closing slot too. The thread that
// removes the last pin or use of a closing slot empties it.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace wye::registry {

enum class HandleKind : std::uint8_t;
struct Owner;

namespace detail {

// The size of a slot is two cache lines, a power of two, so that a slot's address is found with a
// shift.
struct alignas(64) HandleSlot {
    std::atomic<std::uint64_t> word{0};
    // Written while the slot is empty, published by storing a word whose state is live, and read
    // under a pin.
    HandleKind kind{1};
    std::uint32_t index = 0;
    void* object = nullptr;
    void (*release)(void*) noexcept = nullptr;  // null: `shared` owns the object
    std::shared_ptr<void> shared;
    // An empty slot keeps its last owner, since the next owner is mostly the same.
    std::shared_ptr<const Owner> owner;
    std::string label;                 // guarded by the table's mutex, as objects may be relabelled
    HandleSlot* next_empty = nullptr;  // guarded by the table's mutex
};

inline constexpr std::uint64_t kUse = 1;
inline constexpr std::uint64_t kUseMask = 0xffffff;
inline constexpr std::uint64_t kPin = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kPinMask = std::uint64_t{0x3fff} << 24;
inline constexpr std::uint64_t kCountMask = kUseMask | kPinMask;
inline constexpr std::uint64_t kStateMask = std::uint64_t{3} << 38;
inline constexpr std::uint64_t kLive = std::uint64_t{1} << 38;
inline constexpr std::uint64_t kClosing = std::uint64_t{2} << 38;
inline constexpr int kGenerationShift = 40;
inline constexpr std::uint32_t kLastGeneration = 0xffffff;
inline constexpr std::uint32_t kSlotMask = 0xffffff;

// Chunk n holds 64 << n slots: no slot ever moves, and a small context stays small.
inline constexpr std::uint32_t kFirstChunk = 64;
inline constexpr std::size_t kChunks = 18;
inline constexpr std::uint32_t kMaxSlots = kFirstChunk * ((1U << kChunks) - 1);
static_assert(kMaxSlots <= kSlotMask);

struct ChunkPlace {
    std::size_t chunk;  // kChunks for indices that are too large
    std::uint32_t offset;
};
[[nodiscard]] constexpr ChunkPlace place_of(std::uint32_t index) noexcept {
    const std::uint32_t scaled = index + kFirstChunk;
    const auto top = 31U ^ static_cast<std::uint32_t>(std::countl_zero(scaled));
    return {top - std::countr_zero(kFirstChunk), scaled ^ (1U << top)};
}
static_assert(place_of(kSlotMask).chunk == kChunks);

// The upper 16 bits of a handle: its kind and its context tag.
[[nodiscard]] constexpr std::uint64_t kind_and_tag(HandleKind kind, std::uint16_t tag) noexcept {
    return std::uint64_t{static_cast<std::uint8_t>(kind)} << 12 | tag;
}

}  // namespace detail
}  // namespace wye::registry
