// SPDX-License-Identifier: Apache-2.0
#include "exec/device/host_memory.hpp"

#include <algorithm>
#include <iterator>

namespace wye::exec {
namespace {

constexpr std::size_t kSmall = std::size_t{64} << 10U;

}  // namespace

HostBlock HostMemory::take(std::size_t size) {
    HostBlock out;
    out.pool_ = this;
    {
        const sdk::Lock lock(mutex_);
        const auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const Memory& one) {
            return may_reuse(one.capacity, size, kSmall);
        });
        if (found != idle_.rend()) {
            idle_bytes_ -= found->capacity;
            out.held_.splice(out.held_.end(), idle_, std::next(found).base());
            return out;
        }
    }
    out.held_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size, 0});
    const sdk::Lock lock(mutex_);
    bytes_ += size;
    return out;
}

void HostMemory::put(std::list<Memory>& held) noexcept {
    std::list<Memory> old;  // freed after the lock is released
    const sdk::Lock lock(mutex_);
    held.front().round = ++round_;
    idle_bytes_ += held.front().capacity;
    idle_.splice(idle_.end(), held);
    while (!idle_.empty() &&
           (idle_bytes_ > kMostIdle || round_ - idle_.front().round > kKeepRounds)) {
        idle_bytes_ -= idle_.front().capacity;
        bytes_ -= idle_.front().capacity;
        old.splice(old.end(), idle_, idle_.begin());
    }
}

std::uint64_t HostMemory::clear() noexcept {
    std::list<Memory> idle;  // freed after the lock is released
    const sdk::Lock lock(mutex_);
    idle.swap(idle_);
    const std::size_t freed = std::exchange(idle_bytes_, 0);
    bytes_ -= freed;
    return freed;
}

PoolBytes HostMemory::bytes() const noexcept {
    const sdk::Lock lock(mutex_);
    return {bytes_, idle_bytes_};
}

}  // namespace wye::exec
