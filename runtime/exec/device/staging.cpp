// SPDX-License-Identifier: Apache-2.0
#include "exec/device/staging.hpp"

#include <algorithm>
#include <exception>
#include <iterator>

namespace wye::exec {
namespace {

constexpr std::uint64_t kStagingUnit = std::uint64_t{64} << 10U;
constexpr std::uint64_t kStagingAlignment = 64;

// Whether the code says that no call will succeed: the plugin cannot map buffers, or does not know
// the usage STAGING.
bool is_never(Code code) { return code == Code::UNIMPLEMENTED || code == Code::UNSUPPORTED; }

}  // namespace

bool StagingMemory::on() const {
    const sdk::Lock lock(mutex_);
    return !off_;
}

std::uint64_t StagingMemory::lent() const {
    const sdk::Lock lock(mutex_);
    return lent_;
}

Result<StagingBlock> StagingMemory::take(const registry::DeviceRef& device, std::uint64_t size) {
    if (size == 0 || size > limit_) return StagingBlock();
    const std::uint64_t capacity = (size + kStagingUnit - 1) / kStagingUnit * kStagingUnit;
    StagingBlock out;
    std::list<Idle> old;
    {
        const sdk::Lock lock(mutex_);
        if (off_ || reuse(size, out)) return out;
        if (!reserve(capacity, old)) return out;
    }
    old.clear();  // freed before the driver is asked for more
    Reserved reserved{*this, capacity};
    auto made = make(device, capacity);
    reserved.made = made.ok();
    if (made.ok() || !is_never(made.error().code)) return made;
    const sdk::Lock lock(mutex_);
    off_ = true;
    return out;
}

StagingMemory::Reserved::~Reserved() {
    if (made) return;
    const sdk::Lock lock(pool.mutex_);
    pool.bytes_ -= capacity;
    --pool.lent_;
}

bool StagingMemory::reuse(std::uint64_t size, StagingBlock& out) {
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const Idle& one) {
        return may_reuse(one.native.size(), size, kStagingUnit);
    });
    if (found == idle_.rend()) return false;
    out.pool_ = this;
    out.native_.emplace(std::move(found->native));
    out.bytes_ = found->bytes;
    idle_.erase(std::next(found).base());
    ++lent_;
    return true;
}

bool StagingMemory::reserve(std::uint64_t capacity, std::list<Idle>& old) {
    while (capacity > limit_ - std::min(bytes_, limit_) && !idle_.empty()) {
        bytes_ -= idle_.front().native.size();
        old.splice(old.end(), idle_, idle_.begin());
    }
    if (capacity > limit_ - std::min(bytes_, limit_)) return false;
    bytes_ += capacity;
    ++lent_;
    return true;
}

Result<StagingBlock> StagingMemory::make(const registry::DeviceRef& device,
                                         std::uint64_t capacity) {
    WYE_ASSIGN(registry::NativeBuffer native,
               registry::NativeBuffer::create(device, capacity, kStagingAlignment, "staging",
                                              WYE_BUFFER_USAGE_STAGING));
    WYE_ASSIGN(const wye_mapping mapping, native.map());
    // Host reads of uncached memory are slower than any bus, so such memory is not used.
    if ((mapping.flags & WYE_MAPPING_CACHED) == 0)
        return Error(Code::UNSUPPORTED, "the host does not cache this memory",
                     "Fix: none needed; transfers go without staging memory");
    StagingBlock out;
    out.pool_ = this;
    out.native_.emplace(std::move(native));
    out.bytes_ = static_cast<std::byte*>(mapping.address);
    return out;
}

void StagingMemory::put(registry::NativeBuffer native, std::byte* bytes) noexcept {
    std::list<Idle> old;  // freed after the lock is released
    const sdk::Lock lock(mutex_);
    --lent_;
    const std::uint64_t size = native.size();
    try {
        idle_.push_back({std::move(native), bytes, ++round_});
        while (!idle_.empty() && round_ - idle_.front().round > kKeepRounds) {
            bytes_ -= idle_.front().native.size();
            old.splice(old.end(), idle_, idle_.begin());
        }
    } catch (const std::exception&) {  // no memory: the block is freed
        bytes_ -= size;
    }
}

std::uint64_t StagingMemory::clear() noexcept {
    std::list<Idle> idle;  // freed after the lock is released
    std::uint64_t bytes = 0;
    const sdk::Lock lock(mutex_);
    idle.swap(idle_);
    for (const Idle& one : idle) bytes += one.native.size();
    bytes_ -= bytes;
    return bytes;
}

PoolBytes StagingMemory::bytes() const noexcept {
    const sdk::Lock lock(mutex_);
    PoolBytes out{bytes_, 0};
    for (const Idle& one : idle_) out.idle += one.native.size();
    return out;
}

}  // namespace wye::exec
