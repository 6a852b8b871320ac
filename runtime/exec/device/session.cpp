// SPDX-License-Identifier: Apache-2.0
#include "exec/device/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "exec/device/compile_job.hpp"
#include "exec/device/queue_lease.hpp"
#include "exec/program/artifact.hpp"
#include "exec/program/cache_key.hpp"
#include "exec/program/compile.hpp"
#include "exec/program/loaded_program.hpp"
#include "route/route.hpp"

namespace wye::exec {
namespace {

// How long closing a device may save programs, which may cost as much as compiling them. Later
// processes save the rest.
constexpr std::chrono::seconds kSaveTime{2};

}  // namespace

Result<SessionRef> DeviceSession::open(registry::Registry& registry,
                                       const registry::Selection& selection,
                                       std::uint64_t generation, const lower::QuirkChoice& quirks,
                                       std::shared_ptr<DiskCache> cache) {
    WYE_ASSIGN(registry::DeviceRef device, registry.open_device(*selection.device));
    return std::make_shared<DeviceSession>(std::move(device), selection.reason, generation, quirks,
                                           std::move(cache));
}

DeviceSession::DeviceSession(registry::DeviceRef device, std::string reason,
                             std::uint64_t generation, const lower::QuirkChoice& quirks,
                             std::shared_ptr<DiskCache> cache)
    : device_(std::move(device)),
      reason_(std::move(reason)),
      disk_(std::move(cache)),
      facts_(target_facts(device_->info().facts, quirks)) {
    const registry::DeviceInfo& info = device_->info();
    if (disk_->store.on()) lines_ = device_lines(info, facts_.quirks);
    owner_ = std::make_shared<const registry::Owner>(
        registry::Owner{info.plugin, info.index, generation});
    format_ = route::choose_format(info, lower::formats());
    limits_ = route::limits(info);
}

DeviceSession::~DeviceSession() {
    try {
        (void)flush();
        const Clock::time_point start = Clock::now();
        for (const CompiledRef& compiled : unsaved_)
            if (!lost() && Clock::now() - start < kSaveTime)
                if (const auto entry = entry_of(*compiled))
                    disk_->store.put(entry->key, entry->value);
    } catch (const std::exception&) {  // no memory: the next process compiles again
    }
}

void DeviceSession::save(CompileStats& stats) noexcept { save_entries(stats, *disk_); }

Result<QueueLease> DeviceSession::lease(std::optional<Clock::time_point> deadline) {
    sdk::TimedHold hold = deadline ? sdk::TimedHold::until(queue_mutex_, *deadline)
                                   : sdk::TimedHold::now(queue_mutex_);
    if (!hold)
        return Error(Code::TIMEOUT,
                     fmt::format("{} did not become free before the time-out", info().selector),
                     "Fix: give a longer time-out, or dispatch from fewer threads",
                     info().selector);
    queue_mutex_.assert_held();
    WYE_TRY(settle());
    return QueueLease(*this, std::move(hold));
}

Result<void> DeviceSession::settle() {
    if (!abandoned_) return alive();
    const auto reached = queue_->reached(abandoned_->value);
    if (reached.ok() && !*reached)
        return Error(Code::DEVICE_BUSY,
                     fmt::format("{} is still running {}, which timed out and cannot be cancelled",
                                 info().selector, abandoned_->what),
                     "Fix: wait for it with a flush, or use another device", info().selector);
    if (!reached.ok()) {
        (void)noted(reached.error());
        queue_.reset();  // a poisoned queue stays poisoned
    }
    let_go();
    return alive();
}

void DeviceSession::let_go() noexcept {
    abandoned_.reset();
    scratch_.release_all();
}

bool DeviceSession::try_drain() {
    const sdk::TimedHold hold = sdk::TimedHold::if_free(queue_mutex_);
    if (!hold) return false;
    queue_mutex_.assert_held();
    return settle().ok() || !abandoned_;
}

Result<void> DeviceSession::flush() {
    await_overdue();
    const sdk::Lock lock(queue_mutex_);
    if (!abandoned_) return alive();
    auto waited = queue_->wait(abandoned_->value);
    if (!waited.ok()) {
        (void)noted(std::move(waited).error());
        queue_.reset();
    }
    let_go();
    return alive();
}

Result<void> DeviceSession::alive() const {
    if (!lost()) return {};
    const sdk::Lock lock(loss_mutex_);
    return Error(*loss_).wrapped(
        Code::DEVICE_LOST, fmt::format("{} was lost", info().selector),
        "Fix: open the device again, and make its buffers anew: what was on it is gone",
        info().selector);
}

Error DeviceSession::noted(Error error) {
    if (error.code != Code::DEVICE_LOST && !device_->lost()) return error;
    const sdk::Lock lock(loss_mutex_);
    if (!loss_) loss_ = error;
    lost_.store(true, std::memory_order_release);
    return error;
}

Result<void> DeviceSession::recover() {
    const sdk::Lock queue(queue_mutex_);
    const sdk::Lock alone(entering_);
    if (!lost() || recovered_) return {};
    queue_.reset();
    let_go();
    auto result = device_->recover();
    if (!result.ok() && result.error().code != Code::UNIMPLEMENTED &&
        result.error().code != Code::UNSUPPORTED)
        return result;
    recovered_ = true;
    return {};
}

Result<registry::NativeBuffer> DeviceSession::buffer(std::uint64_t size, std::uint32_t alignment,
                                                     std::string_view label) {
    const sdk::SharedLock entering(entering_);
    WYE_TRY(alive());
    auto made = registry::NativeBuffer::create(device_, size, alignment, label);
    if (!made.ok() && made.error().code == Code::DEVICE_MEMORY) {
        if (drop_free_scratch())
            made = registry::NativeBuffer::create(device_, size, alignment, label);
    }
    if (!made.ok()) return noted(std::move(made).error());
    return made;
}

bool DeviceSession::drop_free_scratch() {
    const sdk::TimedHold hold = sdk::TimedHold::if_free(queue_mutex_);
    if (!hold) return false;
    queue_mutex_.assert_held();
    return scratch_.drop_free();
}

std::uint64_t DeviceSession::scratch_created() {
    const sdk::Lock lock(queue_mutex_);
    return scratch_.created();
}

Result<void> DeviceSession::make_queue() {
    WYE_ASSIGN(queue_, registry::NativeQueue::create(device_, "wye"));
    return {};
}

}  // namespace wye::exec
