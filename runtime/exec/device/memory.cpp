// SPDX-License-Identifier: Apache-2.0
#include "exec/device/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

#include "exec/device/buffer.hpp"
#include "exec/device/session.hpp"

namespace wye::exec {
namespace {

bool fits(std::uint64_t bytes, std::uint64_t held, std::uint64_t limit) {
    return limit == 0 || bytes <= limit - std::min(held, limit);
}

}  // namespace

bool ContextMemory::Amounts::in_context(std::uint64_t bytes) const noexcept {
    return fits(bytes, held, limit);
}

MemoryHold ContextMemory::reserve(MemoryAccount& account, MemoryUse use, std::uint64_t bytes,
                                  Amounts& then) noexcept {
    MemoryHold out;
    const sdk::Lock lock(mutex_);
    if (!fits(bytes, account.buffers + account.scratch, account.limit) ||
        !fits(bytes, held_, limit_)) {
        then = {account, limit_, held_};
        return out;
    }
    (use == MemoryUse::Buffer ? account.buffers : account.scratch) += bytes;
    held_ += bytes;
    out.memory_ = this;
    out.account_ = &account;
    out.bytes_ = bytes;
    out.use_ = use;
    return out;
}

void ContextMemory::give_back(const MemoryHold& hold) noexcept {
    const sdk::Lock lock(mutex_);
    MemoryAccount& account = *hold.account_;
    (hold.use_ == MemoryUse::Buffer ? account.buffers : account.scratch) -= hold.bytes_;
    held_ -= hold.bytes_;
}

void ContextMemory::limit(std::uint64_t bytes) noexcept {
    const sdk::Lock lock(mutex_);
    limit_ = bytes;
}

void ContextMemory::limit(MemoryAccount& account, std::uint64_t bytes) noexcept {
    const sdk::Lock lock(mutex_);
    account.limit = bytes;
}

ContextMemory::Amounts ContextMemory::read(const MemoryAccount& account) const noexcept {
    const sdk::Lock lock(mutex_);
    return {account, limit_, held_};
}

void ContextMemory::add(DeviceSession& session) {
    const sdk::Lock lock(sessions_mutex_);
    sessions_.push_back(&session);
}

void ContextMemory::remove(DeviceSession& session) noexcept {
    const sdk::Lock lock(sessions_mutex_);
    std::erase(sessions_, &session);
}

void ContextMemory::free_idle_scratch() noexcept {
    const sdk::Lock lock(sessions_mutex_);
    for (DeviceSession* const session : sessions_) session->free_idle_scratch();
}

// Text for errors: "fake:0 holds 8192, of which 8000 are in buffers (`a` 6000, `b` 2000) and 192 in
// scratch memory"
std::string ContextMemory::holder(const DeviceSession& session, const MemoryAccount& held) const {
    constexpr std::size_t kNamed = 3;
    std::vector<std::pair<std::uint64_t, std::string>> buffers;
    for (const registry::Pin& pin : handles_->all(registry::HandleKind::buffer))
        if (const BufferObject& one = pin.as<BufferObject>(); &one.session == &session && one.hold)
            buffers.emplace_back(one.hold.bytes(), pin.label());
    std::ranges::stable_sort(buffers, std::greater{}, &decltype(buffers)::value_type::first);
    std::string largest;
    for (std::size_t i = 0; i < std::min(buffers.size(), kNamed); ++i)
        largest +=
            fmt::format("{}`{}` {}", i == 0 ? "" : ", ", buffers[i].second, buffers[i].first);
    if (buffers.size() > kNamed) largest += fmt::format(", and {} more", buffers.size() - kNamed);
    if (!largest.empty()) largest = fmt::format(" ({})", largest);
    return fmt::format("{} holds {}, of which {} are in buffers{} and {} in scratch memory",
                       session.info().selector, held.buffers + held.scratch, held.buffers, largest,
                       held.scratch);
}

Error ContextMemory::refusal(const DeviceSession& session, MemoryUse use, std::uint64_t bytes,
                             std::string_view label, const Amounts& then) const {
    const bool own = !fits(bytes, then.device.buffers + then.device.scratch, then.device.limit);
    std::string message = use == MemoryUse::Buffer
                              ? fmt::format("a buffer of {} bytes", bytes)
                              : fmt::format("{} bytes of scratch memory ({})", bytes, label);
    if (own) {
        message +=
            fmt::format(" would exceed the memory limit of {}, {} bytes: {}",
                        session.info().selector, then.device.limit, holder(session, then.device));
    } else {
        message += fmt::format(
            " on {} would exceed the memory limit of the context, {} bytes, of "
            "which {} are held",
            session.info().selector, then.limit, then.held);
        const char* before = ": ";
        const sdk::Lock lock(sessions_mutex_);
        for (const DeviceSession* const one : sessions_) {
            const MemoryAccount held = read(one->memory()).device;
            if (held.buffers + held.scratch == 0) continue;
            message += before + holder(*one, held);
            before = "; ";
        }
    }
    return {Code::DEVICE_MEMORY, std::move(message),
            fmt::format("Fix: free buffers, use smaller parts, or raise the limit: "
                        "wye_memory_limit, or {} of the configuration",
                        own ? "memory.device_limit" : "memory.context_limit"),
            use == MemoryUse::Buffer ? std::string(label) : session.info().selector};
}

}  // namespace wye::exec
