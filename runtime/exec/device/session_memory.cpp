// SPDX-License-Identifier: Apache-2.0
//
// The part of DeviceSession that makes buffers, scratch and staging memory, enforces the limits,
// and frees memory that nobody uses.
#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "exec/device/session.hpp"
#include "registry/open/host_services.hpp"

namespace wye::exec {

// ---- Memory that nobody uses ----------------------------------------------------------------

std::uint64_t DeviceSession::free_idle_scratch(const MemoryAsker& asker) noexcept {
    if (asker.settles) {
        try {
            collect();
        } catch (const std::exception&) {  // no memory to settle work, which keeps its memory
        }
    }
    // A recovery closes the gate, waits until this call has left, and frees the memory itself.
    const registry::Gate::Stay stay(device_->gate());
    if (stay.flags != 0) return 0;
    const std::uint64_t own = asker.workspace != nullptr ? asker.workspace->scratch.drop_free() : 0;
    return own + workspaces_.clear();
}

void DeviceSession::free_idle_scratch() noexcept { (void)free_idle_scratch(MemoryAsker()); }

std::uint64_t DeviceSession::free_idle(const MemoryAsker& asker) noexcept {
    trims_.fetch_add(1, std::memory_order_relaxed);
    std::uint64_t freed = free_idle_scratch(asker);
    {
        const registry::Gate::Stay stay(device_->gate());
        if (stay.flags == 0) freed += staging_.clear();
    }
    freed += host_memory_.clear() + recycler_.clear();
    try {
        const MemoryAccount held = memory_->read(account_).device;
        device_->host().log(WYE_LOG_DEBUG, "memory",
                            fmt::format("{}: trimmed {} bytes; {} are held in buffers and {} in "
                                        "scratch memory",
                                        info().selector, freed, held.buffers, held.scratch));
    } catch (const std::exception&) {  // no memory for the message
    }
    return freed;
}

std::uint64_t DeviceSession::trim() {
    const std::uint64_t freed = free_idle({.workspace = nullptr, .settles = true});
    pending_.drop_idle();  // small objects, which are not counted
    return freed;
}

wye_memory_use DeviceSession::memory_use() {
    const ContextMemory::Amounts now = memory_->read(account_);
    const PoolBytes staged = staging_.bytes();
    const PoolBytes host = host_memory_.bytes();
    wye_memory_use out{};
    out.limit = now.device.limit;
    out.context_limit = now.limit;
    out.total = info().facts.number(WYE_FACT_KEY_MEMORY_BYTES).value_or(0);
    out.buffers = now.device.buffers;
    out.scratch = now.device.scratch;
    out.scratch_idle = std::min(out.scratch, workspaces_.idle_bytes());
    out.staging = staged.all + host.all;
    out.staging_idle = staged.idle + host.idle;
    out.registered = registered_.bytes();
    out.trims = trims_.load(std::memory_order_relaxed);
    const sdk::Lock lock(compile_mutex_);
    out.programs = static_cast<std::uint64_t>(std::ranges::count_if(
        by_fingerprint_, [](const auto& entry) { return !entry.second.expired(); }));
    return out;
}

// ---- Device memory --------------------------------------------------------------------------

Result<MemoryHold> DeviceSession::reserve(MemoryUse use, std::uint64_t bytes,
                                          std::string_view label, const MemoryAsker& asker) {
    ContextMemory::Amounts then;
    MemoryHold hold = memory_->reserve(account_, use, bytes, then);
    if (hold) return hold;
    trims_.fetch_add(1, std::memory_order_relaxed);
    (void)free_idle_scratch(asker);
    hold = memory_->reserve(account_, use, bytes, then);
    if (!hold && !then.in_context(bytes)) {
        memory_->free_idle_scratch();  // of all devices
        hold = memory_->reserve(account_, use, bytes, then);
    }
    if (!hold) return memory_->refusal(*this, use, bytes, label, then);
    return hold;
}

Result<HeldBuffer> DeviceSession::make_buffer(MemoryUse use, std::uint64_t size,
                                              std::uint32_t alignment, std::string_view label,
                                              std::uint32_t usage, const MemoryAsker& asker) {
    WYE_ASSIGN(MemoryHold hold, reserve(use, size, label, asker));
    auto made = try_twice(
        [&] { return registry::NativeBuffer::create(device_, size, alignment, label, usage); },
        asker);
    if (!made.ok()) return noted(std::move(made).error());
    if (trace_) trace_->set_staging(made->object(), false);
    return HeldBuffer{std::move(hold), std::move(made).value()};
}

Result<HeldBuffer> DeviceSession::buffer(std::uint64_t size, std::uint32_t alignment,
                                         std::string_view label, std::uint32_t usage) {
    WYE_TRY(alive());
    return make_buffer(MemoryUse::Buffer, size, alignment, label, usage,
                       {.workspace = nullptr, .settles = true});
}

Result<HeldBuffer> DeviceSession::adopt(const wye_native_handle& memory, std::uint64_t size,
                                        std::uint32_t alignment, std::string_view label) {
    WYE_TRY(alive());
    auto made = registry::NativeBuffer::adopt(device_, memory, size, alignment, label);
    if (!made.ok()) return noted(std::move(made).error());
    if (trace_) trace_->set_staging(made->object(), false);
    return HeldBuffer{MemoryHold(), std::move(made).value()};
}

[[gnu::hot]] Result<wye_buffer_object*> DeviceSession::scratch(Workspace& workspace,
                                                               std::uint64_t size,
                                                               std::uint32_t alignment) {
    wye_buffer_object* taken = workspace.scratch.take(size, alignment);
    if (taken == nullptr) [[unlikely]] {
        const std::uint32_t aligned = ScratchPool::aligned(alignment);
        WYE_ASSIGN(HeldBuffer made, make_buffer(MemoryUse::Scratch, ScratchPool::capacity(size),
                                                aligned, "host argument", WYE_BUFFER_USAGE_DEVICE,
                                                {.workspace = &workspace, .settles = false}));
        taken = workspace.scratch.add(std::move(made), aligned);
        counters_.made_scratch(1);
    }
    if (trace_) trace_->set_staging(taken, false);
    return taken;
}

Result<wye_buffer_object*> DeviceSession::trap_buffer(Workspace& workspace) {
    if (!workspace.trap_memory) {
        constexpr std::uint32_t kAlignment = 64;
        WYE_ASSIGN(HeldBuffer made, make_buffer(MemoryUse::Scratch, kTrapMemory, kAlignment,
                                                "trap words", WYE_BUFFER_USAGE_DEVICE,
                                                {.workspace = &workspace, .settles = false}));
        workspace.trap_hold = std::move(made.hold);
        workspace.trap_memory = std::move(made.native);
    }
    return workspace.trap_memory->object();
}

// ---- Host memory ----------------------------------------------------------------------------

Result<void> DeviceSession::give(RegisteredMemory& memory) {
    WYE_TRY(alive());
    auto given = try_twice([&] { return memory.give(device_); });
    if (!given.ok()) return noted(std::move(given).error());
    if (trace_) trace_->set_staging(memory.native().object(), true);
    return {};
}

StagingBlock DeviceSession::stage(std::uint64_t size) {
    try {
        auto taken = try_twice([&] { return staging_.take(device_, size); });
        if (!taken.ok()) return {};
        if (trace_ && *taken) trace_->set_staging(taken->object(), true);
        return std::move(taken).value();
    } catch (const std::exception&) {  // no memory: there is no block
        return {};
    }
}

}  // namespace wye::exec
