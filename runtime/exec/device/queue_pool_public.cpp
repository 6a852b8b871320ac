// SPDX-License-Identifier: Apache-2.0
//
// The part of QueuePool for public queues.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exec/device/queue_pool.hpp"

namespace wye::exec {
namespace {

// Limits the reported kind and priority to what was requested.
void limit_to(const QueueRequest& request, wye_queue_info& info) {
    if (info.kind != request.kind) info.kind = WYE_QUEUE_ANY;
    info.priority =
        std::clamp(info.priority, std::min(request.priority, 0), std::max(request.priority, 0));
}

}  // namespace

Result<std::uint32_t> QueuePool::reserve(const registry::DeviceRef& device,
                                         const QueueRequest& request, Unused& unused) {
    const std::string& selector = device->info().selector;
    std::optional<QueueRequest> kept = request;
    const sdk::Lock lock(mutex);
    const auto free = std::ranges::find(publics_, false, &Public::taken);
    if (free == publics_.end())
        return Error(
            Code::LIMIT_EXCEEDED,
            fmt::format("{} already has {} queues, the maximum", selector, kMostPublicQueues),
            "Fix: free one of them (wye_queue_free), or give its work to another", request.label);
    take_unused(unused);
    std::uint32_t own = 0, index = kNoQueue;
    for (std::uint32_t i = kMostQueues; i < kAllQueues; ++i) {
        if (queues_[i].native || queues_[i].request)
            ++own;
        else
            index = std::min(index, i);
    }
    if (own >= most_own_) index = kNoQueue;
    if (index == kNoQueue && request.own)
        return Error(
            Code::LIMIT_EXCEEDED,
            fmt::format("{} has no native queue left: {} serve work without a queue, and {} belong "
                        "to other queues, or to freed ones whose work still runs",
                        selector, limit_, own),
            "Fix: free a queue, wait for the work of freed ones (wye_device_flush), lower "
            "queues.count of the context's configuration, or leave WYE_QUEUE_OWN out to share a "
            "native queue",
            request.label);
    const auto number = static_cast<std::uint32_t>(free - publics_.begin());
    if (index == kNoQueue)
        index = number % limit_;
    else
        queues_[index].request = std::move(kept);
    *free = {true, index, 0, 0};
    return number + 1;
}

Result<QueueGrant> QueuePool::take_public(const registry::DeviceRef& device,
                                          const QueueRequest& request) {
    QueueGrant out;
    std::uint32_t index = 0;
    std::uint64_t newest = 0;
    {
        Unused unused;
        WYE_ASSIGN(out.number, reserve(device, request, unused));
        const sdk::Lock lock(mutex);
        index = publics_[out.number - 1].index;
        newest = queues_[index].newest;
    }
    out.shared = index < kMostQueues;
    publics_made_.fetch_add(1, std::memory_order_relaxed);
    if (out.shared) return out;
    struct Reserved {
        ~Reserved() {
            if (pool != nullptr) pool->release_public(number);
        }
        QueuePool* pool;
        std::uint32_t number;
    } reserved{this, out.number};
    // Made without the lock: no other thread uses this queue before the caller has its number.
    WYE_ASSIGN(auto native, registry::NativeQueue::create(device, request.label, newest,
                                                          request.kind, request.priority));
    WYE_ASSIGN(out.info, native.info());
    limit_to(request, out.info);
    if (trace_.trace != nullptr) trace_.trace->name_queue(trace_.device, index, request.label);
    auto kept = std::make_shared<registry::NativeQueue>(std::move(native));
    const sdk::Lock lock(mutex);
    WYE_TRY(check_open(device));
    queues_[index].native = std::move(kept);
    reserved.pool = nullptr;
    return out;
}

void QueuePool::release_public(std::uint32_t number) noexcept {
    Unused unused;  // destroyed after the lock is released
    const sdk::Lock lock(mutex);
    Public& queue = publics_[number - 1];
    if (queue.index >= kMostQueues) queues_[queue.index].request.reset();
    queue = {};
    take_unused(unused);
}

Ticket QueuePool::newest_of(std::uint32_t number) {
    const sdk::Lock lock(mutex);
    const Public& of = publics_[number - 1];
    if (!is_pending(of.index, of.newest)) return {};
    return {queues_[of.index].native, of.index, of.newest};
}

std::shared_ptr<const registry::NativeQueue> QueuePool::native_of(std::uint32_t number) {
    const sdk::Lock lock(mutex);
    return queues_[publics_[number - 1].index].native;
}

std::uint64_t QueuePool::submits_of(std::uint32_t number) {
    const sdk::Lock lock(mutex);
    return publics_[number - 1].submits;
}

}  // namespace wye::exec
