// SPDX-License-Identifier: Apache-2.0
#include "exec/device/buffer.hpp"

#include <fmt/format.h>

#include "exec/device/transfer.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

using registry::Handle;
using registry::HandleKind;
using registry::HandleTable;
using registry::Pin;

Result<void> check_range(const Pin& pin, std::string_view what, std::uint64_t offset,
                         std::uint64_t size) {
    const BufferObject& buffer = pin.as<BufferObject>();
    if (offset <= buffer.size && size <= buffer.size - offset) return {};
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("{} of {} bytes at offset {} exceeds buffer `{}`, which has {} bytes",
                             what, size, offset, pin.label(), buffer.size),
                 "Fix: keep the range inside the buffer", pin.label());
}

Result<void> check_pointer(const Pin& pin, const void* pointer, std::uint64_t size) {
    if (pointer != nullptr || size == 0) return {};
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("cannot transfer {} bytes of buffer `{}`: the host pointer is null",
                             size, pin.label()),
                 "Fix: pass the memory, or size 0", pin.label());
}

// Marks the buffers in flight, runs the operation alone, and waits.
Result<void> run(const HandleTable& handles, std::span<const Handle> used,
                 std::span<const BufferUse> uses, DeviceSession& session,
                 const wye_operation& operation) {
    WYE_TRY(session.ready());
    WYE_ASSIGN(const registry::InFlight in_flight, handles.begin_use(used));
    return session.run({&operation, 1}, uses);
}

// Moves host bytes to or from the buffer and waits: large ones through staging memory, if there is
// some, small ones by one operation.
Result<void> transfer(const HandleTable& handles, Handle handle, BufferObject& buffer,
                      const wye_operation& operation) {
    using Direction = ChunkedTransfer::Direction;
    DeviceSession& session = buffer.session;
    const bool up = operation.kind == WYE_OPERATION_UPLOAD;
    const wye_transfer_op& op = operation.u.transfer;
    const BufferUse use{&buffer.history, up};
    if (!session.stages(op.size)) return run(handles, {&handle, 1}, {&use, 1}, session, operation);
    WYE_TRY(session.ready());
    WYE_ASSIGN(const registry::InFlight in_flight, handles.begin_use({&handle, 1}));
    RunTimes times;
    ChunkedTransfer chunks(session, up ? Direction::Up : Direction::Down, false, times);
    void* host = up ? const_cast<void*>(op.source) : op.target;
    chunks.add({op.buffer, op.offset, static_cast<std::byte*>(host), op.size});
    if (!chunks.reserve()) return session.run({&operation, 1}, {&use, 1});
    WYE_TRY(chunks.start({&use, 1}));
    return chunks.finish();
}

}  // namespace

Result<void> upload(const HandleTable& handles, Handle handle, std::uint64_t offset,
                    const void* source, std::uint64_t size) {
    WYE_ASSIGN(const Pin pin, handles.find(handle, HandleKind::buffer));
    WYE_TRY(check_range(pin, "an upload", offset, size));
    WYE_TRY(check_pointer(pin, source, size));
    if (size == 0) return {};
    BufferObject& buffer = pin.as<BufferObject>();
    wye_operation operation = sdk::new_operation(WYE_OPERATION_UPLOAD);
    operation.u.transfer = {buffer.native.object(), offset, size, source, nullptr};
    const Span span(buffer.session.trace(), "upload", {.bytes = size});
    return buffer.session.counters().uploaded(transfer(handles, handle, buffer, operation), size);
}

Result<void> download(const HandleTable& handles, Handle handle, std::uint64_t offset, void* target,
                      std::uint64_t size) {
    WYE_ASSIGN(const Pin pin, handles.find(handle, HandleKind::buffer));
    WYE_TRY(check_range(pin, "a download", offset, size));
    WYE_TRY(check_pointer(pin, target, size));
    if (size == 0) return {};
    BufferObject& buffer = pin.as<BufferObject>();
    wye_operation operation = sdk::new_operation(WYE_OPERATION_DOWNLOAD);
    operation.u.transfer = {buffer.native.object(), offset, size, nullptr, target};
    const Span span(buffer.session.trace(), "download", {.bytes = size});
    return buffer.session.counters().downloaded(transfer(handles, handle, buffer, operation), size);
}

Result<void> copy(const HandleTable& handles, Handle source, std::uint64_t source_offset,
                  Handle target, std::uint64_t target_offset, std::uint64_t size) {
    WYE_ASSIGN(const Pin from, handles.find(source, HandleKind::buffer, {"input", 0, "source"}));
    WYE_ASSIGN(const Pin to, handles.find_owned(target, HandleKind::buffer, from.owner(),
                                                {"output", 0, "target"}));
    WYE_TRY(check_range(from, "a copy", source_offset, size));
    WYE_TRY(check_range(to, "a copy", target_offset, size));
    if (size == 0) return {};
    if (source == target && source_offset < target_offset + size &&
        target_offset < source_offset + size)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("a copy of {} bytes within buffer `{}` from offset {} to {} "
                                 "overlaps itself",
                                 size, from.label(), source_offset, target_offset),
                     "Fix: copy through another buffer", from.label());
    wye_operation operation = sdk::new_operation(WYE_OPERATION_COPY);
    operation.u.copy = {from.as<BufferObject>().native.object(),
                        to.as<BufferObject>().native.object(),
                        source_offset,
                        target_offset,
                        size,
                        0,
                        0};
    const Handle used[] = {source, target};
    const std::size_t count = source == target ? 1 : 2;
    const BufferUse uses[] = {{&to.as<BufferObject>().history, true},
                              {&from.as<BufferObject>().history, false}};
    DeviceSession& session = from.as<BufferObject>().session;
    const Span span(session.trace(), "copy", {.bytes = size});
    return session.counters().copied(run(handles, {used, count}, {uses, count}, session, operation),
                                     size);
}

Result<void> fill(const HandleTable& handles, Handle handle, std::uint64_t offset,
                  std::uint64_t size, std::uint64_t pattern, std::uint32_t pattern_size) {
    WYE_ASSIGN(const Pin pin, handles.find(handle, HandleKind::buffer));
    WYE_TRY(check_range(pin, "a fill", offset, size));
    if (pattern_size != 1 && pattern_size != 2 && pattern_size != 4 && pattern_size != 8)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("a fill pattern of {} bytes is not valid", pattern_size),
                     "Fix: use a pattern of 1, 2, 4 or 8 bytes", pin.label());
    if (offset % pattern_size != 0 || size % pattern_size != 0)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("a fill of {} bytes at offset {} is not a multiple of its {}-byte "
                                 "pattern",
                                 size, offset, pattern_size),
                     "Fix: fill whole patterns", pin.label());
    if (size == 0) return {};
    BufferObject& buffer = pin.as<BufferObject>();
    wye_operation operation = sdk::new_operation(WYE_OPERATION_FILL);
    operation.u.fill = {buffer.native.object(), offset, size, pattern, pattern_size, 0};
    const BufferUse use{&buffer.history, true};
    const Span span(buffer.session.trace(), "fill", {.bytes = size});
    return buffer.session.counters().filled(
        run(handles, {&handle, 1}, {&use, 1}, buffer.session, operation), size);
}

}  // namespace wye::exec
