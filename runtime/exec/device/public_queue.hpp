// SPDX-License-Identifier: Apache-2.0
//
// PublicQueue: the object behind a wye_queue handle. It owns a number in its session's queue pool,
// by which submits name the queue. Its destructor releases the number; work in flight continues.
// Free-threaded. The session outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "exec/device/session.hpp"
#include "registry/hold/ownership.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class PublicQueue : public std::enable_shared_from_this<PublicQueue> {
  public:
    // Errors: LIMIT_EXCEEDED; DEVICE_LOST; errors of the driver.
    [[nodiscard]] static Result<std::shared_ptr<PublicQueue>> create(registry::Handle device,
                                                                     DeviceSession& session,
                                                                     QueueRequest request);
    PublicQueue(registry::Handle device, DeviceSession& session, QueueRequest request,
                const QueueGrant& grant)
        : device_(device), session_(session), request_(std::move(request)), grant_(grant) {}
    ~PublicQueue() { session_.queues().release_public(grant_.number); }
    PublicQueue(const PublicQueue&) = delete;
    PublicQueue& operator=(const PublicQueue&) = delete;

    [[nodiscard]] registry::Handle device() const noexcept { return device_; }
    [[nodiscard]] DeviceSession& session() const noexcept { return session_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return grant_.number; }
    [[nodiscard]] const std::string& label() const noexcept { return request_.label; }
    [[nodiscard]] bool takes_dispatches() const noexcept {
        return request_.kind != WYE_QUEUE_TRANSFER;
    }
    // Fills all members except the header.
    void describe(wye_queue_description& out) const;

  private:
    const registry::Handle device_;
    DeviceSession& session_;
    const QueueRequest request_;
    const QueueGrant grant_;
};

// NamedQueue: the public queue that a request names, pinned for a call. Empty for the handle 0.
class NamedQueue {
  public:
    NamedQueue() noexcept = default;
    // STALE_HANDLE, WRONG_KIND; WRONG_OWNER for a queue of another device; INVALID_ARGUMENT for a
    // dispatch on a queue for transfers.
    [[nodiscard]] static Result<NamedQueue> find(const registry::HandleTable& handles,
                                                 registry::Handle queue,
                                                 const DeviceSession& session, bool dispatches);
    // Like `find`, for a dispatch. If it returns false, call `find` for the error.
    [[nodiscard]] bool try_find(const registry::HandleTable& handles, registry::Handle queue,
                                const DeviceSession& session) noexcept;

    // The queue number for SubmitOptions; 0: no public queue.
    [[nodiscard]] std::uint32_t number() const {
        return pin_ ? pin_.as<PublicQueue>().number() : 0;
    }
    // Shares ownership, to keep the queue after the call; null: none.
    [[nodiscard]] std::shared_ptr<PublicQueue> share() const {
        return pin_ ? pin_.as<PublicQueue>().shared_from_this() : nullptr;
    }

  private:
    registry::Pin pin_;
};

}  // namespace wye::exec
