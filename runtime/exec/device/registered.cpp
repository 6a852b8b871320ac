// SPDX-License-Identifier: Apache-2.0
#include "exec/device/registered.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "exec/device/session.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

using registry::Handle;
using registry::HandleKind;
using registry::HandleTable;

// Whether all pages of a range are mapped. `msync` with MS_ASYNC does nothing except to report an
// unmapped page.
bool is_mapped(const std::byte* memory, std::uint64_t size) {
    const auto page = static_cast<std::uintptr_t>(std::max(sysconf(_SC_PAGESIZE), 1L));
    const auto first = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t begin = first / page * page;
    return msync(reinterpret_cast<void*>(begin), first - begin + size, MS_ASYNC) == 0 ||
           errno != ENOMEM;
}

// Whether no page of a mapped range is protected against writes, as far as /proc/self/maps tells.
bool is_writable(const std::byte* memory, std::uint64_t size) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                               &std::fclose);
    const auto first = reinterpret_cast<std::uintptr_t>(memory);
    unsigned long begin = 0;
    unsigned long end = 0;
    char write = 0;
    while (maps && std::fscanf(maps.get(), "%lx-%lx %*c%c%*[^\n]", &begin, &end, &write) == 3)
        if (begin < first + size && end > first && write != 'w') return false;
    return true;
}

Result<void> check_memory(const DeviceSession& session, const std::byte* memory,
                          std::uint64_t size) {
    const std::string& device = session.info().selector;
    const auto alignment = session.info().facts.number(WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT);
    if (!alignment || *alignment == 0)
        return Error(Code::UNSUPPORTED,
                     fmt::format("{} cannot register memory: it does not report "
                                 "`host_memory_alignment`",
                                 device),
                     "Fix: leave the memory unregistered; transfers go through staging memory",
                     device);
    const auto refused = [&](std::string message, std::string fix) {
        return Error(Code::INVALID_ARGUMENT, std::move(message), std::move(fix), "memory");
    };
    if (memory == nullptr)
        return refused(fmt::format("cannot register {} bytes: `memory` is null", size),
                       "Fix: pass the memory");
    const auto first = reinterpret_cast<std::uintptr_t>(memory);
    if (size == 0 || size > UINTPTR_MAX - first)
        return refused(
            fmt::format("cannot register {} bytes at {}", size, static_cast<const void*>(memory)),
            "Fix: pass the size of the memory, at least 1");
    if (first % *alignment != 0 || size % *alignment != 0)
        return refused(
            fmt::format(
                "{} registers memory only if its address and size are multiples of {} bytes; "
                "{} bytes at {} do not fit",
                device, *alignment, size, static_cast<const void*>(memory)),
            fmt::format("Fix: allocate with that alignment (`aligned_alloc({}, size)`), and round "
                        "the size up to a multiple of it",
                        *alignment));
    if (!is_mapped(memory, size))
        return refused(fmt::format("not all of {} bytes at {} are mapped", size,
                                   static_cast<const void*>(memory)),
                       "Fix: pass memory that was allocated and not freed");
    if (!is_writable(memory, size))
        return refused(fmt::format("not all of {} bytes at {} can be written to", size,
                                   static_cast<const void*>(memory)),
                       "Fix: map it with PROT_WRITE, or leave it unregistered");
    return {};
}

}  // namespace

Result<Handle> register_memory(HandleTable& handles, DeviceSession& session, void* memory,
                               std::uint64_t size) {
    WYE_TRY(session.alive());
    auto* const bytes = static_cast<std::byte*>(memory);
    WYE_TRY(check_memory(session, bytes, size));
    WYE_ASSIGN(auto range, session.registered().add(session, bytes, size));
    WYE_TRY(session.give(*range));
    // Kept until the range is published: another thread may close the device, and so drop the
    // handle.
    const std::shared_ptr<RegisteredMemory> kept = range;
    WYE_ASSIGN(const Handle handle,
               handles.add(HandleKind::memory, std::move(range), session.owner(), ""));
    session.registered().publish(*kept, handle);
    return handle;
}

Result<void> unregister_memory(HandleTable& handles, Handle memory) {
    auto removed = handles.remove(memory, HandleKind::memory);
    if (removed.ok() || removed.error().code != Code::BUFFER_IN_USE) return removed;
    // Work that has ended counts as a user until it is polled.
    {
        WYE_ASSIGN(const registry::Pin pin, handles.find(memory, HandleKind::memory));
        pin.as<RegisteredMemory>().session.collect();
    }
    return handles.remove(memory, HandleKind::memory);
}

RegisteredMemory::~RegisteredMemory() {
    native_.reset();  // must happen before the range can be registered again
    session.registered().remove(*this);
}

Result<void> RegisteredMemory::give(const registry::DeviceRef& device) {
    WYE_ASSIGN(native_,
               registry::NativeBuffer::registered(device, memory_, size_, "registered memory"));
    WYE_ASSIGN(const wye_mapping mapping, native_->map());
    if (mapping.address == memory_) return {};
    return Error(Code::PLUGIN_FAULT,
                 fmt::format("the plugin mapped registered memory at {}, not at {}, where it is",
                             mapping.address, static_cast<const void*>(memory_)),
                 "Fix: update or report the plugin", device->info().selector);
}

Result<std::shared_ptr<RegisteredMemory>> RegisteredRanges::add(DeviceSession& session,
                                                                std::byte* memory,
                                                                std::uint64_t size) {
    // Declared before the lock, so that on failure it is destroyed after the lock is released.
    auto out = std::make_shared<RegisteredMemory>(session, memory, size);
    const sdk::Lock lock(mutex_);
    // The first range that ends after the new range begins.
    const auto next = ranges_.upper_bound(memory);
    if (next != ranges_.end() && next->second.memory->begin() < memory + size) {
        const RegisteredMemory& other = *next->second.memory;
        return Error(Code::DUPLICATE,
                     fmt::format("{} bytes at {} overlap the {} bytes registered at {}", size,
                                 static_cast<const void*>(memory), other.end() - other.begin(),
                                 static_cast<const void*>(other.begin())),
                     "Fix: register each byte once, or unregister the other range first", "memory");
    }
    ranges_.emplace_hint(next, out->end(), Range{out.get()});
    return out;
}

void RegisteredRanges::publish(const RegisteredMemory& memory, registry::Handle handle) {
    const sdk::Lock lock(mutex_);
    ranges_.at(memory.end()).handle = handle;
    published_.fetch_add(1, std::memory_order_release);
}

registry::Handle RegisteredRanges::find(const std::byte* at, std::uint64_t size) const {
    const sdk::Lock lock(mutex_);
    const auto found = ranges_.upper_bound(at);
    if (found == ranges_.end() || !found->second.memory->has(at, size)) return 0;
    return found->second.handle;
}

std::uint64_t RegisteredRanges::bytes() const noexcept {
    const sdk::Lock lock(mutex_);
    std::uint64_t out = 0;
    for (const auto& [end, range] : ranges_)
        out += static_cast<std::uint64_t>(end - range.memory->begin());
    return out;
}

void RegisteredRanges::remove(const RegisteredMemory& memory) noexcept {
    const sdk::Lock lock(mutex_);
    const auto found = ranges_.find(memory.end());
    if (found == ranges_.end() || found->second.memory != &memory) return;
    if (found->second.handle != 0) published_.fetch_sub(1, std::memory_order_release);
    ranges_.erase(found);
}

// ---- Transfers ----------------------------------------------------------------------------

void RegisteredTransfers::add(const DeviceSession& session, const void* at, std::uint64_t size) {
    if (!session.registered().any() || at == nullptr || size == 0) return;
    const Handle handle = session.registered().find(static_cast<const std::byte*>(at), size);
    if (handle == 0 || handles_.size() == WYE_LIMIT_BUFFERS ||
        std::ranges::find(handles_, handle) != handles_.end())
        return;
    handles_.push_back(handle);
}

void RegisteredTransfers::begin(const HandleTable& handles) {
    if (handles_.empty() || !handles.try_use(handles_, uses_)) return;
    for (const Handle handle : handles_)
        if (const registry::Pin pin = handles.try_find(handle, HandleKind::memory))
            ranges_.push_back(&pin.as<RegisteredMemory>());  // `uses_` keeps the memory alive
}

const RegisteredMemory* RegisteredTransfers::find(const std::byte* at, std::uint64_t size) const {
    const auto found = std::ranges::find_if(
        ranges_, [&](const RegisteredMemory* range) { return range->has(at, size); });
    return found == ranges_.end() ? nullptr : *found;
}

void RegisteredTransfers::append(const wye_operation& operation, std::vector<wye_operation>& out) {
    const bool up = operation.kind == WYE_OPERATION_UPLOAD;
    const wye_transfer_op& op = operation.u.transfer;
    const RegisteredMemory* range = nullptr;
    const std::byte* host = nullptr;
    if (up || operation.kind == WYE_OPERATION_DOWNLOAD) {
        host = static_cast<const std::byte*>(up ? op.source : op.target);
        range = find(host, op.size);
    }
    if (range == nullptr) {
        out.push_back(operation);
        return;
    }
    const std::uint64_t offset = range->offset_of(host);
    for (std::uint64_t at = 0; at < op.size; at += kLargestCopy) {
        wye_operation& piece = out.emplace_back(sdk::new_operation(WYE_OPERATION_COPY));
        wye_copy_op& copy = piece.u.copy;
        copy.source = up ? range->native().object() : op.buffer;
        copy.target = up ? op.buffer : range->native().object();
        copy.source_offset = (up ? offset : op.offset) + at;
        copy.target_offset = (up ? op.offset : offset) + at;
        copy.size = std::min(op.size - at, kLargestCopy);
    }
    parts_.push_back({range, offset, op.size, up});
}

bool RegisteredTransfers::reads_back() const noexcept {
    return std::ranges::any_of(parts_, [](const Part& part) { return !part.up; });
}

Result<void> RegisteredTransfers::written() const {
    for (const Part& part : parts_)
        if (part.up) WYE_TRY(part.range->native().sync(part.offset, part.size, WYE_SYNC_TO_DEVICE));
    return {};
}

Result<void> RegisteredTransfers::arrived() const {
    for (const Part& part : parts_) {
        if (!part.up) WYE_TRY(part.range->native().sync(part.offset, part.size, WYE_SYNC_TO_HOST));
        part.range->session.counters().registered(part.size);
    }
    return {};
}

void RegisteredTransfers::release() noexcept {
    parts_.clear();
    ranges_.clear();
    handles_.clear();
    uses_.release();
}

}  // namespace wye::exec
