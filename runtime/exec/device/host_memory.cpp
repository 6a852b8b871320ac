// SPDX-License-Identifier: Apache-2.0
#include "exec/device/host_memory.hpp"

#include <algorithm>
#include <exception>
#include <iterator>

#include "exec/device/reuse.hpp"

namespace wye::exec {
namespace {

constexpr std::size_t kSmall = std::size_t{64} << 10U;

}  // namespace

HostBlock HostMemory::take(std::size_t size) {
    HostBlock out;
    out.pool_ = this;
    {
        const sdk::Lock lock(mutex_);
        const auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const Idle& one) {
            return may_reuse(one.capacity, size, kSmall);
        });
        if (found != idle_.rend()) {
            out.bytes_ = std::move(found->bytes);
            out.capacity_ = found->capacity;
            idle_bytes_ -= found->capacity;
            idle_.erase(std::next(found).base());
            return out;
        }
    }
    out.bytes_ = std::make_unique_for_overwrite<std::byte[]>(size);
    out.capacity_ = size;
    return out;
}

void HostMemory::put(std::unique_ptr<std::byte[]> bytes, std::size_t capacity) noexcept {
    std::deque<Idle> old;  // freed after the lock is released
    const sdk::Lock lock(mutex_);
    try {
        idle_.push_back({std::move(bytes), capacity, ++round_});
        idle_bytes_ += capacity;
        while (!idle_.empty() &&
               (idle_bytes_ > kMostIdle || round_ - idle_.front().round > kKeepRounds)) {
            idle_bytes_ -= idle_.front().capacity;
            old.push_back(std::move(idle_.front()));
            idle_.pop_front();
        }
    } catch (const std::exception&) {  // no memory: the block is freed
    }
}

}  // namespace wye::exec
