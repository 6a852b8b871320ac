// SPDX-License-Identifier: Apache-2.0
//
// Handles: the 64-bit names of objects that applications hold, and HandleTable, which maps them to
// objects and their owners. A handle is {kind 4, context tag 12, generation 24, slot 24} bits; 0 is
// never valid. Lookup is O(1) and takes no lock; adding and removing take one. All members are
// free-threaded.
//
// A slot counts pins (calls that keep the object alive) and uses (submitted work). Removing a
// buffer in use is refused; retiring an object makes its handle stale at once and destroys the
// object when the last pin and use are released. Objects are destroyed on the thread of the last
// release, outside locks.
//
// Errors: STALE_HANDLE (freed, or never made), WRONG_KIND, WRONG_OWNER (another context or device),
// BUFFER_IN_USE, LIMIT_EXCEEDED. Each error names the handle, its kind or owner, and the kind or
// owner that was expected.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/hold/handle_slot.hpp"
#include "registry/inplace_list.hpp"
#include "wye/program_format.h"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::registry {

using Handle = std::uint64_t;

enum class HandleKind : std::uint8_t {
    device = 1,
    program = 2,
    buffer = 3,
    queue = 4,
    pending = 5,
    graph = 6,
    pipeline = 7,
    memory = 8,
};
[[nodiscard]] std::string_view kind_name(HandleKind kind) noexcept;  // "buffer"

// The owner of objects: one for each opened device, compared by address. Opening a device twice
// gives two owners, with different `generation` in messages.
struct Owner {
    std::string plugin;
    std::uint32_t device = 0;
    std::uint64_t generation = 0;
};
using OwnerRef = std::shared_ptr<const Owner>;
[[nodiscard]] std::string to_text(const Owner& owner);  // "name:0 (generation 1)"

// A number, 1 to 4095, that is unique among the live contexts of a process. Tags are given out in a
// cycle, so that a released tag is reused as late as possible. Free-threaded; move-only.
class ContextTag {
  public:
    // LIMIT_EXCEEDED while 4095 tags are held.
    [[nodiscard]] static Result<ContextTag> take();
    ContextTag(ContextTag&& other) noexcept : value_(std::exchange(other.value_, 0)) {}
    ContextTag& operator=(ContextTag&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~ContextTag();
    [[nodiscard]] std::uint16_t value() const noexcept { return value_; }

  private:
    explicit ContextTag(std::uint16_t value) noexcept : value_(value) {}
    std::uint16_t value_;  // 0: none
};

class HandleTable;

// Keeps an object alive. Move-only.
class Pin {
  public:
    Pin() noexcept = default;  // an empty pin: may only be assigned and destroyed
    Pin(Pin&& other) noexcept
        : table_(other.table_),
          slot_(std::exchange(other.slot_, nullptr)),
          handle_(other.handle_) {}
    Pin& operator=(Pin&& other) noexcept {
        detail::HandleSlot* const slot = std::exchange(other.slot_, nullptr);
        release();
        table_ = other.table_;
        slot_ = slot;
        handle_ = other.handle_;
        return *this;
    }
    ~Pin() { release(); }
    void release() noexcept;

    template <typename T>
    [[nodiscard]] T& as() const noexcept {  // T: the type that `add` was called with
        return *static_cast<T*>(object());
    }
    // Shares ownership of the object, to keep it longer than the pin. Not for objects that were
    // added with a release function.
    template <typename T>
    [[nodiscard]] std::shared_ptr<T> share() const noexcept {
        return std::static_pointer_cast<T>(shared());
    }
    [[nodiscard]] void* object() const noexcept { return slot_->object; }
    // Null: the context owns the object.
    [[nodiscard]] const OwnerRef& owner() const noexcept { return slot_->owner; }
    [[nodiscard]] std::string label() const;
    // As `label`, but valid only until the object is freed or relabelled.
    [[nodiscard]] std::string_view label_view() const noexcept;
    [[nodiscard]] Handle handle() const noexcept { return handle_; }
    explicit operator bool() const noexcept { return slot_ != nullptr; }

  private:
    friend class HandleTable;
    [[nodiscard]] const std::shared_ptr<void>& shared() const noexcept { return slot_->shared; }
    Pin(const HandleTable* table, detail::HandleSlot* slot, Handle handle) noexcept
        : table_(table), slot_(slot), handle_(handle) {}
    const HandleTable* table_ = nullptr;
    detail::HandleSlot* slot_ = nullptr;
    Handle handle_ = 0;
};

// The uses of objects by submitted work. The InFlight must be destroyed when the work has ended.
// Move-only.
class InFlight {
  public:
    // The maximum number of uses of one submit: the buffers of a program, and the grid's buffer.
    static constexpr std::size_t kMost = WYE_LIMIT_BUFFERS + 1;

    InFlight() = default;
    InFlight(InFlight&& other) noexcept;
    InFlight& operator=(InFlight&& other) noexcept;
    ~InFlight() { release(); }
    void release() noexcept {
        if (!slots_.empty()) end_uses();  // checked inline: often there are no uses
    }

  private:
    friend class HandleTable;
    void end_uses() noexcept;

    const HandleTable* table_ = nullptr;
    InplaceList<detail::HandleSlot*, kMost> slots_;
};

// The place of a handle in a request, for messages: "input 2 (binding 5, `keys`)".
struct Place {
    static constexpr std::uint32_t kNone = UINT32_MAX;
    std::string_view role;    // "input", "output", "binding", "grid"; empty: not given
    std::uint32_t index = 0;  // in the list, or the binding number; kNone: no index
    std::string_view name;    // its name in the program; may be empty
};

class HandleTable {
  public:
    explicit HandleTable(std::uint16_t context_tag);
    ~HandleTable();  // destroys the remaining objects, users before used objects
    HandleTable(const HandleTable&) = delete;
    HandleTable& operator=(const HandleTable&) = delete;

    // Makes sure that there is a slot for the next object, for callers whose `add` must not fail.
    // Another thread may still take that slot. LIMIT_EXCEEDED: there are too many objects.
    [[nodiscard]] Result<void> make_room();
    // Adds an object and shares its ownership. `label` is for messages.
    [[nodiscard]] Result<Handle> add(HandleKind kind, std::shared_ptr<void> object,
                                     const OwnerRef& owner, std::string_view label);
    // Adds an object that is not shared, without a label. Calls `release` with the object once
    // nothing uses it, but not if `add` fails.
    using Release = void (*)(void* object) noexcept;
    [[nodiscard]] Result<Handle> add(HandleKind kind, void* object, Release release,
                                     const OwnerRef& owner);
    // As `add` above, but takes only a slot that was used before, so that nothing is allocated. 0:
    // there is no such slot; call `add` instead.
    [[nodiscard]] Handle try_add(HandleKind kind, void* object, Release release,
                                 const OwnerRef& owner) noexcept;

    [[nodiscard]] Result<Pin> find(Handle handle, HandleKind kind, const Place& place = {}) const;
    // Like `find`; WRONG_OWNER unless `expected` owns the object.
    [[nodiscard]] Result<Pin> find_owned(Handle handle, HandleKind kind, const OwnerRef& expected,
                                         const Place& place = {}) const;
    // Makes another pin of the same object, even if its handle was freed meanwhile. Error:
    // LIMIT_EXCEEDED.
    [[nodiscard]] Result<Pin> pin_again(const Pin& pin) const;

    // Checks that all handles are live, and adds a use to each of them; after a failure, to none.
    // At most InFlight::kMost handles.
    [[nodiscard]] Result<InFlight> begin_use(std::span<const Handle> handles) const;

    // The error BUFFER_IN_USE for a pinned object.
    [[nodiscard]] static Error in_use(const Pin& pin, HandleKind kind);

    // Frees a handle. BUFFER_IN_USE while submitted work uses the object. Concurrent calls that
    // already hold a pin end normally.
    [[nodiscard]] Result<void> remove(Handle handle, HandleKind kind);
    // Frees a handle at once; the object is destroyed when nothing uses it any more.
    [[nodiscard]] Result<void> retire(Handle handle, HandleKind kind);
    // As `retire` above, for the object of a pin. Releases the pin.
    [[nodiscard]] Result<void> retire(Pin pin);

    // As `find` and `begin_use`, but without an error: a failure returns an empty pin, or false.
    // Call `find` or `begin_use` for the error.
    [[nodiscard]] Pin try_find(Handle handle, HandleKind kind) const noexcept;
    [[nodiscard]] bool try_use(std::span<const Handle> handles, InFlight& out) const noexcept;

    // Replaces an object's label.
    [[nodiscard]] Result<void> relabel(Handle handle, HandleKind kind, std::string label);

    // All live objects of a kind.
    [[nodiscard]] std::vector<Pin> all(HandleKind kind) const;
    // The number of an owner's objects that still exist, retired ones included.
    [[nodiscard]] std::size_t owned(const OwnerRef& owner) const;
    // Retires every live handle of an owner, except those of buffers; users before the objects that
    // they use. The caller retires the buffers: graphs use buffers without a pin, and only the
    // caller knows the graphs.
    void retire_all(const OwnerRef& owner);

    // Whether submitted work uses the object of a pin.
    [[nodiscard]] bool is_used(const Pin& pin) const noexcept;

    [[nodiscard]] std::size_t live(HandleKind kind) const;
    [[nodiscard]] std::uint16_t tag() const noexcept { return tag_; }

  private:
    friend class Pin;
    friend class InFlight;
    using Slot = detail::HandleSlot;
    void unpin(Slot* slot) const noexcept { release(slot, detail::kPin); }
    // Releases pins or uses. Releasing the last pin or use of a closing slot empties the slot.
    void release(Slot* slot, std::uint64_t amount) const noexcept {
        const std::uint64_t now = slot->word.fetch_sub(amount, std::memory_order_acq_rel) - amount;
        if ((now & detail::kClosing) != 0) [[unlikely]]
            if ((now & detail::kCountMask) == 0) finish(slot);
    }
    // Empties a closing slot without pins and uses.
    void finish(Slot* slot) const noexcept;
    // The slot with this index; null: there is none.
    [[nodiscard]] Slot* slot(std::uint32_t index) const noexcept {
        const detail::ChunkPlace at = detail::place_of(index);
        Slot* chunk = chunks_[at.chunk].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr : chunk + at.offset;
    }
    // Takes an empty slot, or makes one; null if none is left.
    [[nodiscard]] Slot* take() WYE_REQUIRES(mutex_);
    // Makes a slot live. `take` returned the slot, and its object is already set.
    [[nodiscard]] Handle publish(Slot& slot, HandleKind kind, const OwnerRef& owner) noexcept
        WYE_REQUIRES(mutex_);
    // The handle of a live slot; 0 for any other slot.
    [[nodiscard]] Handle handle(const Slot& slot) const WYE_REQUIRES(mutex_);
    // Adds a pin or a use. Null on failure; `full` is set if there are already too many pins or
    // uses.
    [[nodiscard]] Slot* acquire(Handle handle, HandleKind kind, std::uint64_t amount,
                                bool& full) const noexcept;
    // Adds a use to each handle. Returns the index of the first refused handle, or the number of
    // handles if none is refused.
    [[nodiscard]] std::size_t use(std::span<const Handle> handles, InFlight& out,
                                  bool& full) const noexcept;
    [[nodiscard]] Error refusal(Handle handle, HandleKind kind, bool full,
                                const Place& place) const;
    // Starts to close a live slot. False: the slot was not live, or submitted work uses its object
    // and `even_in_use` is false.
    [[nodiscard]] static bool close(Slot& slot, bool even_in_use) noexcept;

    const std::uint16_t tag_;
    std::array<std::atomic<Slot*>, detail::kChunks + 1> chunks_{};  // the last stays null
    mutable sdk::Mutex mutex_;  // also guards the allocation of chunks
    mutable Slot* empty_ WYE_GUARDED_BY(mutex_) = nullptr;
    std::uint32_t made_ WYE_GUARDED_BY(mutex_) = 0;
    std::array<std::unique_ptr<Slot[]>, detail::kChunks> owned_ WYE_GUARDED_BY(mutex_);
};

inline void Pin::release() noexcept {
    if (detail::HandleSlot* const slot = std::exchange(slot_, nullptr); slot != nullptr)
        table_->unpin(slot);
}

[[gnu::always_inline]] inline detail::HandleSlot* HandleTable::acquire(Handle handle,
                                                                       HandleKind kind,
                                                                       std::uint64_t amount,
                                                                       bool& full) const noexcept {
    using namespace detail;
    full = false;
    if (handle >> 48 != kind_and_tag(kind, tag_)) return nullptr;
    Slot* const slot = this->slot(static_cast<std::uint32_t>(handle & kSlotMask));
    if (slot == nullptr) return nullptr;
    const std::uint64_t generation = handle >> 24 & kLastGeneration;
    const std::uint64_t wanted = generation << kGenerationShift | kLive;
    const std::uint64_t most = amount == kPin ? kPinMask : kUseMask;
    std::uint64_t word = slot->word.load(std::memory_order_acquire);
    do {
        if ((word & ~kCountMask) != wanted) return nullptr;
        full = (word & most) == most;
        if (full) return nullptr;
    } while (!slot->word.compare_exchange_weak(word, word + amount, std::memory_order_acq_rel,
                                               std::memory_order_acquire));
    if (slot->kind == kind) [[likely]]
        return slot;
    release(slot, amount);  // a forged handle that hit a live slot
    return nullptr;
}

[[gnu::always_inline]] inline Pin HandleTable::try_find(Handle handle,
                                                        HandleKind kind) const noexcept {
    bool full = false;
    return Pin(this, acquire(handle, kind, detail::kPin, full), handle);
}

[[gnu::always_inline]] inline Handle HandleTable::publish(Slot& slot, HandleKind kind,
                                                          const OwnerRef& owner) noexcept {
    using namespace detail;
    slot.kind = kind;
    if (slot.owner != owner) [[unlikely]]
        slot.owner = owner;
    const std::uint64_t generation =
        (slot.word.load(std::memory_order_relaxed) >> kGenerationShift) + 1;
    slot.word.store(generation << kGenerationShift | kLive, std::memory_order_release);
    return kind_and_tag(kind, tag_) << 48 | generation << 24 | slot.index;
}

[[gnu::always_inline]] inline Handle HandleTable::try_add(HandleKind kind, void* object,
                                                          Release release,
                                                          const OwnerRef& owner) noexcept {
    const sdk::Lock lock(mutex_);
    Slot* const slot = empty_;
    if (slot == nullptr) [[unlikely]]
        return 0;
    empty_ = slot->next_empty;
    slot->object = object;
    slot->release = release;
    return publish(*slot, kind, owner);
}

}  // namespace wye::registry
