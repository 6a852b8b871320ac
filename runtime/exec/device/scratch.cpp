// SPDX-License-Identifier: Apache-2.0
#include "exec/device/scratch.hpp"

#include <algorithm>

#include "exec/device/reuse.hpp"

namespace wye::exec {
namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

wye_buffer_object* ScratchPool::take(std::uint64_t size, std::uint32_t alignment) {
    Entry* best = nullptr;
    for (Entry& entry : buffers_)
        if (!entry.taken && entry.alignment >= alignment &&
            may_reuse(entry.buffer.native.size(), size, kPage) &&
            (best == nullptr || entry.buffer.native.size() < best->buffer.native.size()))
            best = &entry;
    if (best == nullptr) return nullptr;
    best->taken = true;
    best->round = round_;
    return best->buffer.native.object();
}

std::uint64_t ScratchPool::capacity(std::uint64_t size) noexcept {
    return std::max((size + kPage - 1) / kPage * kPage, kPage);
}

std::uint32_t ScratchPool::aligned(std::uint32_t alignment) noexcept {
    return std::max(alignment, 64U);
}

wye_buffer_object* ScratchPool::add(HeldBuffer buffer, std::uint32_t alignment) {
    wye_buffer_object* const object = buffer.native.object();
    buffers_.push_back({std::move(buffer), alignment, true, round_});
    return object;
}

std::uint64_t ScratchPool::drop_free() noexcept {
    const std::uint64_t before = bytes();
    std::erase_if(buffers_, [](const Entry& e) { return !e.taken; });
    return before - bytes();
}

std::uint64_t ScratchPool::bytes() const noexcept {
    std::uint64_t out = 0;
    for (const Entry& entry : buffers_) out += entry.buffer.native.size();
    return out;
}

void ScratchPool::end_round() {
    for (Entry& entry : buffers_) entry.taken = false;
    ++round_;
    std::erase_if(buffers_, [&](const Entry& e) { return round_ - e.round > kKeepRounds; });
}

}  // namespace wye::exec
