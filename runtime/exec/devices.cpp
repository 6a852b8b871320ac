// SPDX-License-Identifier: Apache-2.0
//
// The part of Context that closes devices and recovers lost ones.
#include <fmt/format.h>

#include <algorithm>

#include "exec/context.hpp"
#include "exec/device/buffer.hpp"

namespace wye::exec {

using registry::Handle;
using registry::HandleKind;
using registry::Pin;

Result<Handle> Context::recover_device(Handle device) {
    std::string selector;
    {
        WYE_ASSIGN(const Pin pin, handles_.find(device, HandleKind::device));
        DeviceSession& session = pin.as<DeviceSession>();
        if (!session.ask_lost()) return device;
        selector = session.info().selector;
    }
    auto opened = open_device(selector, 0);
    if (opened.ok() || opened.error().code == Code::DEVICE_BUSY) return opened;
    return std::move(opened).error().wrapped(
        Code::UNSUPPORTED,
        fmt::format("{} was lost, and cannot be taken back in this process", selector),
        "Fix: restart the process, or use another device", selector);
}

namespace {

// Retires all buffers of a session, or none. Holds the lock of submits, like Context::free_buffer,
// so that no kept request submits work for the buffers afterwards.
Result<void> retire_buffers(registry::HandleTable& handles, DeviceSession& session) {
    std::vector<Pin> buffers = handles.all(HandleKind::buffer);  // freed without the lock
    std::erase_if(buffers, [&](const Pin& pin) { return pin.owner() != session.owner(); });
    QueuePool& queues = session.queues();
    const sdk::Lock lock(queues.mutex);
    for (const Pin& buffer : buffers) {
        BufferObject& object = buffer.as<BufferObject>();
        if (object.maps != 0)
            return Error(
                Code::BUFFER_IN_USE,
                fmt::format("buffer `{}` of {} is mapped", buffer.label(), session.info().selector),
                "Fix: call wye_buffer_unmap, then close the device", buffer.label());
        if (handles.is_used(buffer) || queues.is_used(object.history))
            return Error(Code::DEVICE_BUSY,
                         fmt::format("{} still has work pending", session.info().selector),
                         "Fix: wait for it with wye_device_flush, then close the device",
                         session.info().selector);
    }
    for (const Pin& buffer : buffers) (void)handles.retire(buffer.handle(), HandleKind::buffer);
    queues.buffer_freed();
    return {};
}

}  // namespace

Result<void> Context::close_device(Handle device) {
    {
        WYE_ASSIGN(const Pin pin, handles_.find(device, HandleKind::device));
        DeviceSession& session = pin.as<DeviceSession>();
        WYE_TRY(session.check_idle());
        WYE_TRY(retire_buffers(handles_, session));
        {
            const sdk::Lock lock(open_mutex_);
            device_changes_.fetch_add(1, std::memory_order_release);
            const auto open = std::ranges::find_if(
                open_, [&](const OpenSession& one) { return one.session.get() == &session; });
            if (open != open_.end()) {
                closed_.push_back(std::move(open->session));
                open_.erase(open);
            } else if (const auto lost = std::ranges::find_if(
                           lost_, [&](const SessionRef& one) { return one.get() == &session; });
                       lost != lost_.end()) {
                closed_.push_back(std::move(*lost));
                lost_.erase(lost);
            }  // otherwise another thread is closing the session
        }
        handles_.retire_all(session.owner());
        // Retires buffers that were made meanwhile. A buffer that work uses stays until its handle
        // is freed.
        (void)retire_buffers(handles_, session);
    }
    sweep();
    return {};
}

// Destroys closed sessions that no handle and no call refers to.
void Context::sweep() {
    // Destroying a session joins its threads, and a thread that runs a callback may be one of them.
    if (CallbackScope::within(nullptr)) return;
    std::vector<SessionRef> ended;
    {
        const sdk::Lock lock(open_mutex_);
        for (SessionRef& session : closed_)
            if (handles_.owned(session->owner()) == 0) ended.push_back(std::move(session));
        std::erase(closed_, nullptr);
        for (const SessionRef& session : ended) session->count(closed_counts_);
        closed_counts_.buffer_bytes = 0;  // the last buffers are freed with the sessions
    }
    for (const SessionRef& session : ended)
        for (const Pin& program : handles_.all(HandleKind::program))
            program.as<LoadedProgram>().forget(*session);
}

}  // namespace wye::exec
