// SPDX-License-Identifier: Apache-2.0
//
// BufferObject: a buffer that is resident on one device. The handle table owns the buffer, and the
// session outlives it. Also: the checks of transfers, and blocking transfers. Free-threaded.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "exec/device/buffer_use.hpp"
#include "exec/device/memory.hpp"
#include "exec/device/public_queue.hpp"
#include "exec/device/session.hpp"
#include "registry/hold/ownership.hpp"
#include "registry/open/device.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct BufferObject {
    // `s`: the requested size in bytes.
    BufferObject(DeviceSession& owner, HeldBuffer b, std::uint64_t s, registry::Handle d)
        : session(owner),
          hold(std::move(b.hold)),
          native(std::move(b.native)),
          size(s),
          device(d) {}

    DeviceSession& session;
    MemoryHold hold;  // given back after the buffer is freed
    registry::NativeBuffer native;
    const std::uint64_t size;
    const registry::Handle device;
    std::uint32_t alignment = 0;
    std::uint32_t usage = WYE_BUFFER_USAGE_DEVICE;
    BufferHistory history = {};
    std::atomic<std::uint32_t> maps = 0;  // number of mappings that still exist
};

// A transfer after its checks: its buffers and its operation.
struct CheckedTransfer {
    registry::Pin buffer, source;  // source: only for a copy
    NamedQueue queue;
    wye_operation operation{};
    std::array<registry::Handle, 2> handles{};  // the buffers, each once
    std::array<BufferUse, 2> uses{};            // uses of `handles`
    std::size_t count = 0;                      // number of valid `handles` and `uses`
    std::uint64_t size = 0;

    [[nodiscard]] const BufferObject& object() const { return buffer.as<BufferObject>(); }
    [[nodiscard]] DeviceSession& session() const { return object().session; }
    [[nodiscard]] std::uint32_t kind() const { return operation.kind; }  // enum wye_op_kind
};

// INVALID_ARGUMENT unless the range is inside the buffer of the pin. `what` names the operation in
// the message: "an upload".
[[nodiscard]] Result<void> check_range(const registry::Pin& pin, std::string_view what,
                                       std::uint64_t offset, std::uint64_t size);

// Checks a transfer. INVALID_ARGUMENT for a range outside its buffer or an invalid pattern;
// WRONG_OWNER if the two buffers of a copy, or a buffer and the queue, are on different devices.
// `lends`: the caller lends the host memory of a download, so a null pointer is an error.
[[nodiscard]] Result<CheckedTransfer> check_transfer(const registry::HandleTable& handles,
                                                     const wye_transfer_desc& desc, bool lends);

// Runs a transfer and waits for its end.
[[nodiscard]] Result<void> run_transfer(const registry::HandleTable& handles,
                                        const CheckedTransfer& checked, bool timed,
                                        RunTimes& times);

// The name of a kind, for traces and messages: "upload".
[[nodiscard]] const char* transfer_name(std::uint32_t kind) noexcept;
// Counts the bytes of a transfer that has ended, if `result` is a success. Returns `result`.
[[nodiscard]] Result<void> count_transfer(DeviceSession& session, std::uint32_t kind,
                                          std::uint64_t size, Result<void> result);
// Adds the bytes of a transfer to a report.
void report_transfer(std::uint32_t kind, std::uint64_t size, wye_report& report);

}  // namespace wye::exec
