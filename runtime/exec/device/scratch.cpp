// SPDX-License-Identifier: Apache-2.0
#include "exec/device/scratch.hpp"

#include <algorithm>

#include "exec/device/reuse.hpp"

namespace wye::exec {
namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

Result<wye_buffer_object*> ScratchPool::take(const registry::DeviceRef& device, std::uint64_t size,
                                             std::uint32_t alignment) {
    Entry* best = nullptr;
    for (Entry& entry : buffers_)
        if (!entry.taken && entry.alignment >= alignment &&
            may_reuse(entry.buffer.size(), size, kPage) &&
            (best == nullptr || entry.buffer.size() < best->buffer.size()))
            best = &entry;
    if (best == nullptr) {
        const std::uint64_t capacity = std::max((size + kPage - 1) / kPage * kPage, kPage);
        const std::uint32_t aligned = std::max(alignment, 64U);
        const auto create = [&] {
            return registry::NativeBuffer::create(device, capacity, aligned, "host argument");
        };
        auto made = create();
        if (!made.ok() && made.error().code == Code::DEVICE_MEMORY && drop_free()) made = create();
        if (!made.ok()) return std::move(made).error();
        buffers_.push_back({std::move(made).value(), aligned, false, round_});
        ++created_;
        best = &buffers_.back();
    }
    best->taken = true;
    best->round = round_;
    return best->buffer.object();
}

bool ScratchPool::drop_free() {
    return std::erase_if(buffers_, [](const Entry& e) { return !e.taken; }) != 0;
}

void ScratchPool::end_round() {
    for (Entry& entry : buffers_) entry.taken = false;
    ++round_;
    std::erase_if(buffers_, [&](const Entry& e) { return round_ - e.round > kKeepRounds; });
}

}  // namespace wye::exec
