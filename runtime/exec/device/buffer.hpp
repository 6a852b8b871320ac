// SPDX-License-Identifier: Apache-2.0
//
// A buffer resident on one device, owned by the handle table, and transfers of buffers. The session
// outlives it. Free-threaded.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "exec/device/buffer_use.hpp"
#include "exec/device/public_queue.hpp"
#include "exec/device/session.hpp"
#include "registry/device.hpp"
#include "registry/ownership.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct BufferObject {
    // `s`: bytes, as requested.
    BufferObject(DeviceSession& owner, registry::NativeBuffer n, std::uint64_t s,
                 registry::Handle d)
        : session(owner), native(std::move(n)), size(s), device(d) {}

    DeviceSession& session;
    registry::NativeBuffer native;
    const std::uint64_t size;
    const registry::Handle device;
    std::uint32_t alignment = 0;
    std::uint32_t usage = WYE_BUFFER_USAGE_DEVICE;
    BufferHistory history = {};
    std::atomic<std::uint32_t> maps = 0;  // that were not undone
};

// A transfer that was checked: its buffers, and the one operation that it is.
struct CheckedTransfer {
    registry::Pin buffer, source;  // source: of a copy
    NamedQueue queue;
    wye_operation operation{};
    std::array<registry::Handle, 2> handles{};  // of the buffers, each once
    std::array<BufferUse, 2> uses{};            // of these
    std::size_t count = 0;                      // of buffers
    std::uint64_t size = 0;

    [[nodiscard]] const BufferObject& object() const { return buffer.as<BufferObject>(); }
    [[nodiscard]] DeviceSession& session() const { return object().session; }
    [[nodiscard]] std::uint32_t kind() const { return operation.kind; }  // enum wye_operation_kind
};

// INVALID_ARGUMENT unless the range is inside the buffer of the pin. `what`: "an upload".
[[nodiscard]] Result<void> check_range(const registry::Pin& pin, std::string_view what,
                                       std::uint64_t offset, std::uint64_t size);

// INVALID_ARGUMENT for a range outside its buffer or an invalid pattern; WRONG_OWNER if the two
// buffers of a copy, or a buffer and the queue, are on different devices. `lends`: the host's
// memory must be there.
[[nodiscard]] Result<CheckedTransfer> check_transfer(const registry::HandleTable& handles,
                                                     const wye_transfer_desc& desc, bool lends);

// Runs a transfer and waits for its end.
[[nodiscard]] Result<void> run_transfer(const registry::HandleTable& handles,
                                        const CheckedTransfer& checked, bool timed,
                                        RunTimes& times);

// "upload"; for traces and messages.
[[nodiscard]] const char* transfer_name(std::uint32_t kind) noexcept;
// Counts the bytes of a transfer that has ended, if it succeeded; the result again.
[[nodiscard]] Result<void> count_transfer(DeviceSession& session, std::uint32_t kind,
                                          std::uint64_t size, Result<void> result);
// Adds them to a report.
void report_transfer(std::uint32_t kind, std::uint64_t size, wye_report& report);

}  // namespace wye::exec
