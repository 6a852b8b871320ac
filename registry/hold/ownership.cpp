// SPDX-License-Identifier: Apache-2.0
#include "registry/hold/ownership.hpp"

#include <fmt/format.h>

#include <array>
#include <cassert>

#include "wye/sdk/words.hpp"

namespace wye::registry {

namespace {

using namespace detail;

struct Parts {
    std::uint8_t kind;
    std::uint16_t tag;
    std::uint32_t generation;
    std::uint32_t slot;
};
constexpr Parts parts_of(Handle handle) noexcept {
    return {static_cast<std::uint8_t>(handle >> 60),
            static_cast<std::uint16_t>(handle >> 48 & 0xfff),
            static_cast<std::uint32_t>(handle >> 24 & 0xffffff),
            static_cast<std::uint32_t>(handle & 0xffffff)};
}
bool known_kind(std::uint8_t kind) noexcept { return kind >= 1 && kind <= 8; }

std::string hex(Handle handle) { return fmt::format("{:#018x}", handle); }

std::string subject_of(Handle handle, HandleKind kind, const Place& place) {
    const std::string out = fmt::format("{} {}", kind_name(kind), hex(handle));
    if (place.role.empty()) return out;
    if (place.index == Place::kNone) return fmt::format("{} (of the {})", out, place.role);
    if (place.name.empty()) return fmt::format("{} ({} {})", out, place.role, place.index);
    return fmt::format("{} ({} {}, `{}`)", out, place.role, place.index, place.name);
}

// The object's label in brackets, unless the place already has the same name.
std::string label_of(const Pin& pin, const Place& place) {
    const std::string label = pin.label();
    if (label.empty() || label == place.name) return {};
    return fmt::format(" (`{}`)", label);
}

Error stale(Handle handle, HandleKind kind, const Place& place) {
    const std::string subject = subject_of(handle, kind, place);
    if (handle == 0)
        return Error(Code::STALE_HANDLE,
                     fmt::format("{0} is 0: the {1} was never made, or in C++ its object was freed "
                                 "or moved from",
                                 subject, kind_name(kind)),
                     fmt::format("Fix: make the {}, and use it before it is freed or moved",
                                 kind_name(kind)),
                     subject);
    return Error(Code::STALE_HANDLE, fmt::format("{} was freed, or never made", subject),
                 "Fix: pass a live handle; do not keep a handle after freeing it", subject);
}

}  // namespace

std::string_view kind_name(HandleKind kind) noexcept {
    constexpr std::string_view kNames[] = {"object", "device",   "program",
                                           "buffer", "queue",    "pending dispatch",
                                           "graph",  "pipeline", "registered memory"};
    return sdk::name_in(kNames, kind);
}

std::string to_text(const Owner& owner) {
    return fmt::format("{}:{} (generation {})", owner.plugin, owner.device, owner.generation);
}

namespace {

// The context tags in use, shared by all contexts of the process, so that each recognises its own
// handles. Never destroyed, since exit handlers may close contexts.
constexpr std::uint16_t kTags = 4095;
constinit sdk::Mutex tags_mutex;
constinit std::array<bool, kTags + 1> tag_held WYE_GUARDED_BY(tags_mutex){};
constinit std::uint16_t last_tag WYE_GUARDED_BY(tags_mutex) = 0;

}  // namespace

Result<ContextTag> ContextTag::take() {
    const sdk::Lock lock(tags_mutex);
    for (std::uint16_t tried = 0; tried < kTags; ++tried) {
        last_tag = static_cast<std::uint16_t>(last_tag % kTags + 1);
        if (std::exchange(tag_held[last_tag], true)) continue;
        return ContextTag(last_tag);
    }
    return Error(Code::LIMIT_EXCEEDED,
                 fmt::format("the process has {} contexts, which is the limit", kTags),
                 "Fix: destroy contexts that are not used");
}

ContextTag::~ContextTag() {
    if (value_ == 0) return;
    const sdk::Lock lock(tags_mutex);
    tag_held[value_] = false;
}

detail::HandleSlot* HandleTable::take() {
    if (Slot* const out = empty_; out != nullptr) {
        empty_ = out->next_empty;
        return out;
    }
    if (made_ == kMaxSlots) return nullptr;
    const ChunkPlace at = place_of(made_);
    if (!owned_[at.chunk]) {
        owned_[at.chunk] = std::make_unique<Slot[]>(std::size_t{kFirstChunk} << at.chunk);
        chunks_[at.chunk].store(owned_[at.chunk].get(), std::memory_order_release);
    }
    Slot* out = owned_[at.chunk].get() + at.offset;
    out->index = made_++;
    return out;
}

// Destroys the object first, outside the lock.
[[gnu::noinline]] void HandleTable::finish(Slot* slot) const noexcept {
    if (slot->release != nullptr)
        slot->release(slot->object);
    else
        slot->shared.reset();
    const std::uint64_t generation = slot->word.load(std::memory_order_relaxed) >> kGenerationShift;
    const sdk::Lock lock(mutex_);
    slot->label.clear();
    slot->word.store(generation << kGenerationShift, std::memory_order_release);
    // A slot whose generations are used up is never used again, so that no handle is reused.
    if (generation == kLastGeneration) [[unlikely]]
        return;
    slot->next_empty = empty_;
    empty_ = slot;
}

Handle HandleTable::handle(const Slot& slot) const {
    const std::uint64_t word = slot.word.load(std::memory_order_acquire);
    if ((word & kStateMask) != kLive) return 0;
    return kind_and_tag(slot.kind, tag_) << 48 | (word >> kGenerationShift) << 24 | slot.index;
}

HandleTable::HandleTable(std::uint16_t context_tag) : tag_(context_tag & 0xfff) {}

namespace {

// The order in which objects are destroyed: users before the objects that they use.
constexpr HandleKind kOrder[] = {HandleKind::pending, HandleKind::graph,  HandleKind::pipeline,
                                 HandleKind::program, HandleKind::buffer, HandleKind::memory,
                                 HandleKind::queue,   HandleKind::device};

}  // namespace

HandleTable::~HandleTable() {
    for (const HandleKind kind : kOrder) {
        for (std::uint32_t i = 0; i < made_; ++i) {
            Slot* slot = this->slot(i);
            const std::uint64_t word = slot->word.load(std::memory_order_acquire);
            if ((word & kStateMask) == kLive && slot->kind == kind) {
                assert((word & kCountMask) == 0 && "the table must outlive pins and uses");
                if (slot->release != nullptr)
                    slot->release(slot->object);
                else
                    slot->shared.reset();
            }
        }
    }
}

namespace {

Error all_taken(std::string_view label) {
    return {Code::LIMIT_EXCEEDED, fmt::format("all {} handles of the context are taken", kMaxSlots),
            "Fix: free unused objects", std::string(label)};
}

}  // namespace

Result<void> HandleTable::make_room() {
    const sdk::Lock lock(mutex_);
    Slot* const slot = take();
    if (slot == nullptr) return all_taken({});
    slot->next_empty = empty_;
    empty_ = slot;
    return {};
}

Result<Handle> HandleTable::add(HandleKind kind, std::shared_ptr<void> object,
                                const OwnerRef& owner, std::string_view label) {
    const sdk::Lock lock(mutex_);
    Slot* slot = take();
    if (slot == nullptr) return all_taken(label);
    try {
        // The label of an empty slot is empty, but keeps the memory of earlier labels.
        if (!label.empty()) slot->label.assign(label);
    } catch (...) {
        slot->next_empty = empty_;
        empty_ = slot;
        throw;
    }
    slot->object = object.get();
    slot->release = nullptr;
    slot->shared = std::move(object);
    return publish(*slot, kind, owner);
}

Result<Handle> HandleTable::add(HandleKind kind, void* object, Release release,
                                const OwnerRef& owner) {
    const sdk::Lock lock(mutex_);
    Slot* slot = take();
    if (slot == nullptr) return all_taken({});
    slot->object = object;
    slot->release = release;
    return publish(*slot, kind, owner);
}

Error HandleTable::refusal(Handle handle, HandleKind kind, bool full, const Place& place) const {
    const Parts parts = parts_of(handle);
    if (handle == 0 || !known_kind(parts.kind)) return stale(handle, kind, place);
    if (parts.tag != tag_) {
        const std::string subject = subject_of(handle, kind, place);
        return Error(Code::WRONG_OWNER,
                     fmt::format("{} belongs to context {}, but was passed to context {}", subject,
                                 parts.tag, tag_),
                     "Fix: use it with the context that made it, or copy its contents through host "
                     "memory",
                     subject);
    }
    if (parts.kind != static_cast<std::uint8_t>(kind)) {
        const std::string subject = subject_of(handle, kind, place);
        return Error(Code::WRONG_KIND,
                     fmt::format("{} is a {}, where a {} is expected{}{}", hex(handle),
                                 kind_name(static_cast<HandleKind>(parts.kind)), kind_name(kind),
                                 place.role.empty() ? "" : ": ", place.role.empty() ? "" : subject),
                     fmt::format("Fix: pass the handle of a {}", kind_name(kind)), subject);
    }
    if (!full) return stale(handle, kind, place);
    return Error(
        Code::LIMIT_EXCEEDED,
        fmt::format("{} is in use too many times at once", subject_of(handle, kind, place)),
        "Fix: wait for submitted work before submitting more");
}

Result<Pin> HandleTable::find(Handle handle, HandleKind kind, const Place& place) const {
    bool full = false;
    HandleSlot* slot = acquire(handle, kind, kPin, full);
    if (slot == nullptr) return refusal(handle, kind, full, place);
    return Pin(this, slot, handle);
}

Result<Pin> HandleTable::pin_again(const Pin& pin) const {
    std::uint64_t word = pin.slot_->word.load(std::memory_order_acquire);
    do {
        if ((word & kPinMask) == kPinMask)
            return Error(
                Code::LIMIT_EXCEEDED,
                fmt::format("handle {} is in use too many times at once", hex(pin.handle())),
                "Fix: free graphs and pipelines that are not needed any more");
    } while (!pin.slot_->word.compare_exchange_weak(word, word + kPin, std::memory_order_acq_rel,
                                                    std::memory_order_acquire));
    return Pin(this, pin.slot_, pin.handle());
}

Result<Pin> HandleTable::find_owned(Handle handle, HandleKind kind, const OwnerRef& expected,
                                    const Place& place) const {
    WYE_ASSIGN(Pin pin, find(handle, kind, place));
    if (pin.owner() == expected) return pin;
    const std::string subject = subject_of(handle, kind, place);
    const auto owner_text = [](const OwnerRef& owner) {
        return owner ? to_text(*owner) : std::string("the context");
    };
    return Error(
        Code::WRONG_OWNER,
        fmt::format("{}{} belongs to {}, where {} is expected", subject, label_of(pin, place),
                    owner_text(pin.owner()), owner_text(expected)),
        fmt::format("Fix: use a {} of that device{}", kind_name(kind),
                    kind == HandleKind::buffer ? ", or copy the contents through host memory" : ""),
        subject);
}

[[gnu::hot]] std::size_t HandleTable::use(std::span<const Handle> handles, InFlight& out,
                                          bool& full) const noexcept {
    out.release();
    out.table_ = this;
    for (std::size_t i = 0; i < handles.size(); ++i) {
        // Accepts any kind; a handle of an invalid kind matches no slot.
        const auto kind = static_cast<HandleKind>(parts_of(handles[i]).kind);
        HandleSlot* slot = acquire(handles[i], kind, kUse, full);
        if (slot == nullptr) {
            out.release();
            return i;
        }
        out.slots_.push_back(slot);
    }
    return handles.size();
}

[[gnu::hot]] bool HandleTable::try_use(std::span<const Handle> handles,
                                       InFlight& out) const noexcept {
    bool full = false;
    return handles.size() <= out.slots_.capacity() && use(handles, out, full) == handles.size();
}

Result<InFlight> HandleTable::begin_use(std::span<const Handle> handles) const {
    InFlight out;
    if (handles.size() > out.slots_.capacity())
        return Error(Code::LIMIT_EXCEEDED,
                     fmt::format("{} handles in one submit; the limit is {}", handles.size(),
                                 out.slots_.capacity()),
                     "Fix: submit in parts");
    bool full = false;
    const std::size_t refused = use(handles, out, full);
    if (refused == handles.size()) return out;
    const std::uint8_t kind = parts_of(handles[refused]).kind;
    return refusal(handles[refused],
                   known_kind(kind) ? static_cast<HandleKind>(kind) : HandleKind::buffer, full, {});
}

Error HandleTable::in_use(const Pin& pin, HandleKind kind) {
    const std::string subject = subject_of(pin.handle(), kind, {});
    return {Code::BUFFER_IN_USE,
            fmt::format("{}{} is used by pending work", subject, label_of(pin, {})),
            "Fix: wait for the work that uses it, then free it", subject};
}

// If nothing else holds a pin or a use of the slot, releasing the caller's pin empties the slot.
bool HandleTable::close(HandleSlot& slot, bool even_in_use) noexcept {
    std::uint64_t word = slot.word.load(std::memory_order_acquire);
    do {
        if ((word & kStateMask) != kLive) return false;  // another thread removed it first
        if (!even_in_use && (word & kUseMask) != 0) return false;
    } while (!slot.word.compare_exchange_weak(word, (word & ~kStateMask) | kClosing,
                                              std::memory_order_acq_rel,
                                              std::memory_order_acquire));
    return true;
}

Result<void> HandleTable::remove(Handle handle, HandleKind kind) {
    WYE_ASSIGN(const Pin pin, find(handle, kind));
    if (close(*pin.slot_, false)) return {};
    const std::uint64_t word = pin.slot_->word.load(std::memory_order_acquire);
    if ((word & kStateMask) == kLive) return in_use(pin, kind);
    return stale(handle, kind, {});
}
Result<void> HandleTable::retire(Handle handle, HandleKind kind) {
    WYE_ASSIGN(Pin pin, find(handle, kind));
    return retire(std::move(pin));
}
[[gnu::hot]] Result<void> HandleTable::retire(Pin pin) {
    if (close(*pin.slot_, true)) [[likely]]
        return {};
    return stale(pin.handle(), static_cast<HandleKind>(parts_of(pin.handle()).kind), {});
}

Result<void> HandleTable::relabel(Handle handle, HandleKind kind, std::string label) {
    WYE_ASSIGN(const Pin pin, find(handle, kind));
    const sdk::Lock lock(mutex_);
    pin.slot_->label.swap(label);
    return {};
}

std::vector<Pin> HandleTable::all(HandleKind kind) const {
    std::vector<Handle> handles;
    {
        const sdk::Lock lock(mutex_);
        for (std::uint32_t i = 0; i < made_; ++i)
            if (const Slot& slot = *this->slot(i); slot.kind == kind)
                if (const Handle handle = this->handle(slot); handle != 0)
                    handles.push_back(handle);
    }
    std::vector<Pin> out;
    for (const Handle handle : handles)
        if (Pin pin = try_find(handle, kind)) out.push_back(std::move(pin));
    return out;
}

namespace {

// Whether a slot has an object. Called with the table's mutex locked, so that no slot is filled or
// emptied meanwhile.
bool exists(const HandleSlot& slot) {
    return (slot.word.load(std::memory_order_acquire) & kStateMask) != 0;
}

}  // namespace

std::size_t HandleTable::owned(const OwnerRef& owner) const {
    const sdk::Lock lock(mutex_);
    std::size_t out = 0;
    for (std::uint32_t i = 0; i < made_; ++i) {
        const Slot& slot = *this->slot(i);
        out += exists(slot) && slot.owner == owner ? 1 : 0;
    }
    return out;
}

void HandleTable::retire_all(const OwnerRef& owner) {
    for (const HandleKind kind : kOrder) {
        if (kind == HandleKind::buffer) continue;
        for (const Pin& pin : all(kind))
            if (pin.owner() == owner) (void)retire(pin.handle(), kind);
    }
}

bool HandleTable::is_used(const Pin& pin) const noexcept {
    return (pin.slot_->word.load(std::memory_order_acquire) & kUseMask) != 0;
}

std::size_t HandleTable::live(HandleKind kind) const {
    const sdk::Lock lock(mutex_);
    std::size_t out = 0;
    for (std::uint32_t i = 0; i < made_; ++i) {
        const Slot& slot = *this->slot(i);
        out += exists(slot) && slot.kind == kind ? 1 : 0;
    }
    return out;
}

// ---- Pin and InFlight ---------------------------------------------------------------------

std::string Pin::label() const {
    const sdk::Lock lock(table_->mutex_);
    return slot_->label;
}
std::string_view Pin::label_view() const noexcept {
    const sdk::Lock lock(table_->mutex_);
    return slot_->label;
}

InFlight::InFlight(InFlight&& other) noexcept
    : table_(other.table_), slots_(std::move(other.slots_)) {}
InFlight& InFlight::operator=(InFlight&& other) noexcept {
    if (this == &other) return *this;
    release();
    table_ = other.table_;
    slots_ = std::move(other.slots_);
    return *this;
}
[[gnu::hot]] void InFlight::end_uses() noexcept {
    for (HandleSlot* slot : slots_) table_->release(slot, kUse);
    slots_.clear();
}

}  // namespace wye::registry
