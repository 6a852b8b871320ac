// SPDX-License-Identifier: Apache-2.0
#include "exec/device/mapping.hpp"

#include <fmt/format.h>

namespace wye::exec {
namespace {

using registry::Pin;

Error not_mapped(const Pin& buffer) {
    return {Code::INVALID_ARGUMENT, fmt::format("buffer `{}` is not mapped", buffer.label()),
            "Fix: call wye_buffer_map first, and wye_buffer_unmap once for each", buffer.label()};
}

}  // namespace

bool is_in_use(const registry::HandleTable& handles, const Pin& buffer) {
    BufferObject& object = buffer.as<BufferObject>();
    const auto look = [&] {
        QueuePool& queues = object.session.queues();
        const sdk::Lock lock(queues.mutex);
        return handles.is_used(buffer) || queues.is_used(object.history);
    };
    if (!look()) return false;
    object.session.collect();  // work that has ended counts as a user until it is polled
    return look();
}

Result<wye_mapping> map_buffer(const registry::HandleTable& handles, const Pin& buffer) {
    BufferObject& object = buffer.as<BufferObject>();
    DeviceSession& session = object.session;
    WYE_TRY(session.alive());
    auto mapped = object.native.map();
    if (!mapped.ok()) {
        const Code code = mapped.error().code;
        if (code != Code::UNSUPPORTED && code != Code::UNIMPLEMENTED)
            return session.noted(std::move(mapped).error());
        // A device maps either all buffers of the usages UPLOAD, READBACK and SHARED, or none of
        // them (rule P-39).
        return std::move(mapped).error().wrapped(
            Code::UNSUPPORTED,
            fmt::format("{} cannot map buffer `{}`", session.info().selector, buffer.label()),
            object.usage == WYE_BUFFER_USAGE_DEVICE
                ? "Fix: create it with the usage UPLOAD, READBACK or SHARED; if the device maps "
                  "none of those, use wye_buffer_upload and wye_buffer_download"
                : "Fix: use wye_buffer_upload and wye_buffer_download: the device maps no buffer",
            buffer.label());
    }
    // A call that frees the buffer takes this lock too, and is refused once the buffer is mapped.
    const registry::Handle handle = buffer.handle();
    const sdk::Lock lock(session.queues().mutex);
    WYE_TRY(handles.begin_use({&handle, 1}));
    ++object.maps;
    return mapped;
}

Result<void> unmap_buffer(const Pin& buffer) {
    std::atomic<std::uint32_t>& maps = buffer.as<BufferObject>().maps;
    std::uint32_t before = maps;
    do {
        if (before == 0) return not_mapped(buffer);
    } while (!maps.compare_exchange_weak(before, before - 1));
    return {};
}

Result<void> sync_buffer(const Pin& buffer, std::uint64_t offset, std::uint64_t size,
                         std::uint32_t direction) {
    BufferObject& object = buffer.as<BufferObject>();
    WYE_TRY(object.session.alive());
    if (direction != WYE_SYNC_TO_DEVICE && direction != WYE_SYNC_TO_HOST)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("a mapping has no sync direction {}", direction),
                     "Fix: use WYE_SYNC_TO_DEVICE or WYE_SYNC_TO_HOST", buffer.label());
    WYE_TRY(check_range(buffer, "a sync", offset, size));
    if (object.maps == 0) return not_mapped(buffer);
    if (direction == WYE_SYNC_TO_HOST) {
        object.session.await_use(object.history);
        WYE_TRY(object.session.alive());  // after a loss, work may not have ended
    }
    auto synced = object.native.sync(offset, size, direction);
    if (!synced.ok()) return object.session.noted(std::move(synced).error());
    return {};
}

}  // namespace wye::exec
