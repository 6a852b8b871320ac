// SPDX-License-Identifier: Apache-2.0
#include "exec/device/buffer.hpp"

#include <fmt/format.h>

#include "exec/device/public_queue.hpp"
#include "exec/device/transfer.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

using registry::Handle;
using registry::HandleKind;
using registry::HandleTable;
using registry::Pin;
using registry::Place;

Result<void> check_pointer(const Pin& pin, const void* pointer, std::uint64_t size) {
    if (pointer != nullptr || size == 0) return {};
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("cannot transfer {} bytes of buffer `{}`: the host pointer is null",
                             size, pin.label()),
                 "Fix: pass the memory, or size 0", pin.label());
}

// Marks the buffers of a transfer as in flight, runs the operations, and waits for their end.
Result<void> run_alone(const HandleTable& handles, const CheckedTransfer& checked,
                       std::span<const wye_operation> operations, bool timed, RunTimes& times) {
    DeviceSession& session = checked.session();
    WYE_TRY(session.ready());
    const std::size_t count = checked.count;
    WYE_ASSIGN(const registry::InFlight in_flight,
               handles.begin_use(std::span(checked.handles).first(count)));
    return session.run(operations, std::span(checked.uses).first(count),
                       {timed, checked.queue.number()}, now(), times);
}

// Moves host bytes to or from the buffer, and waits for the end. The device copies registered bytes
// itself. Large transfers go through staging memory if there is any. All other transfers are one
// operation.
Result<void> transfer(const HandleTable& handles, const CheckedTransfer& checked, bool timed,
                      RunTimes& times) {
    using Direction = ChunkedTransfer::Direction;
    DeviceSession& session = checked.session();
    const bool up = checked.kind() == WYE_OPERATION_UPLOAD;
    const wye_transfer_op& op = checked.operation.u.transfer;
    RegisteredTransfers registered;
    registered.add(session, up ? op.source : op.target, op.size);
    registered.begin(handles);
    if (!registered.empty()) {
        std::vector<wye_operation> copies;
        registered.append(checked.operation, copies);
        WYE_TRY(registered.written());
        WYE_TRY(run_alone(handles, checked, copies, timed, times));
        return registered.arrived();
    }
    if (!session.stages(op.size))
        return run_alone(handles, checked, {&checked.operation, 1}, timed, times);
    WYE_TRY(session.ready());
    WYE_ASSIGN(const registry::InFlight in_flight,
               handles.begin_use(std::span(checked.handles).first(1)));
    const SubmitOptions options(timed, checked.queue.number());
    const auto uses = std::span(checked.uses).first(1);
    ChunkedTransfer chunks(session, up ? Direction::Up : Direction::Down, options, times);
    void* host = up ? const_cast<void*>(op.source) : op.target;
    chunks.add({op.buffer, op.offset, static_cast<std::byte*>(host), op.size});
    if (!chunks.reserve()) return session.run({&checked.operation, 1}, uses, options, now(), times);
    WYE_TRY(chunks.start(uses));
    return chunks.finish();
}

constexpr const char* name_of(std::uint32_t kind) {
    return kind == WYE_TRANSFER_UPLOAD     ? "an upload"
           : kind == WYE_TRANSFER_DOWNLOAD ? "a download"
                                           : "a fill";
}

Result<void> check_copy(const HandleTable& handles, const wye_transfer_desc& desc,
                        CheckedTransfer& out) {
    const Place source{"input", 0, "source"}, target{"output", 0, "target"};
    WYE_ASSIGN(out.source, handles.find(desc.source_buffer, HandleKind::buffer, source));
    WYE_ASSIGN(out.buffer,
               handles.find_owned(desc.buffer, HandleKind::buffer, out.source.owner(), target));
    WYE_TRY(check_range(out.source, "a copy", desc.source_offset, desc.size));
    WYE_TRY(check_range(out.buffer, "a copy", desc.offset, desc.size));
    const bool one = desc.source_buffer == desc.buffer;
    if (one && desc.source_offset < desc.offset + desc.size &&
        desc.offset < desc.source_offset + desc.size)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("a copy of {} bytes within buffer `{}` from offset {} to {} "
                                 "overlaps itself",
                                 desc.size, out.buffer.label(), desc.source_offset, desc.offset),
                     "Fix: copy through another buffer", out.buffer.label());
    BufferObject& from = out.source.as<BufferObject>();
    out.operation = sdk::new_operation(WYE_OPERATION_COPY);
    out.operation.u.copy = {from.native.object(),
                            out.object().native.object(),
                            desc.source_offset,
                            desc.offset,
                            desc.size,
                            0,
                            0};
    if (!one) {
        out.handles[1] = desc.source_buffer;
        out.uses[1] = {&from.history, false};
        out.count = 2;
    }
    return {};
}

Result<void> check_fill(const wye_transfer_desc& desc, CheckedTransfer& out) {
    const std::uint32_t size = desc.pattern_size;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("a fill pattern of {} bytes is not valid", size),
                     "Fix: use a pattern of 1, 2, 4 or 8 bytes", out.buffer.label());
    // The bits above the pattern must be 0, or copies of the sign bit of a negative pattern.
    const std::uint64_t above = size == 8 ? 0 : desc.pattern >> (8 * size);
    if (above != 0 && static_cast<std::int64_t>(desc.pattern) >> (8 * size - 1) != -1)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("the fill pattern {:#x} does not fit in {} {}", desc.pattern, size,
                                 size == 1 ? "byte" : "bytes"),
                     "Fix: use a longer pattern, or leave the bits above it 0", out.buffer.label());
    if (desc.offset % size != 0 || desc.size % size != 0)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("a fill of {} bytes at offset {} is not a multiple of its {}-byte "
                                 "pattern",
                                 desc.size, desc.offset, size),
                     "Fix: fill whole patterns", out.buffer.label());
    out.operation = sdk::new_operation(WYE_OPERATION_FILL);
    out.operation.u.fill = {
        out.object().native.object(), desc.offset, desc.size, desc.pattern, size, 0};
    return {};
}

// Refuses a range that is not the whole buffer.
Result<void> check_whole(const Pin& pin, std::string_view what, const wye_transfer_desc& desc) {
    const std::uint64_t whole = pin.as<BufferObject>().size;
    if (desc.offset == 0 && desc.size == whole) return {};
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("{} of {} bytes at offset {} is not that of the whole buffer `{}`, "
                             "which has {} bytes",
                             what, desc.size, desc.offset, pin.label(), whole),
                 "Fix: pass exactly its bytes, or name the range: wye_buffer_upload_range, "
                 "wye_buffer_download_range",
                 pin.label());
}

}  // namespace

Result<void> check_range(const Pin& pin, std::string_view what, std::uint64_t offset,
                         std::uint64_t size) {
    const BufferObject& buffer = pin.as<BufferObject>();
    if (offset <= buffer.size && size <= buffer.size - offset) return {};
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("{} of {} bytes at offset {} exceeds buffer `{}`, which has {} bytes",
                             what, size, offset, pin.label(), buffer.size),
                 "Fix: keep the range inside the buffer", pin.label());
}

Result<CheckedTransfer> check_transfer(const HandleTable& handles, const wye_transfer_desc& desc,
                                       bool lends) {
    CheckedTransfer out;
    out.size = desc.size;
    out.count = 1;
    if (desc.kind == WYE_TRANSFER_COPY) {
        WYE_TRY(check_copy(handles, desc, out));
    } else {
        WYE_ASSIGN(out.buffer, handles.find(desc.buffer, HandleKind::buffer));
        if ((desc.flags & WYE_TRANSFER_WHOLE) != 0)
            WYE_TRY(check_whole(out.buffer, name_of(desc.kind), desc));
        WYE_TRY(check_range(out.buffer, name_of(desc.kind), desc.offset, desc.size));
    }
    const bool up = desc.kind == WYE_TRANSFER_UPLOAD;
    if (desc.kind == WYE_TRANSFER_FILL) WYE_TRY(check_fill(desc, out));
    if (up || desc.kind == WYE_TRANSFER_DOWNLOAD) {
        const void* host = up ? desc.source : desc.target;
        if (up || lends) WYE_TRY(check_pointer(out.buffer, host, desc.size));
        out.operation = sdk::new_operation(up ? WYE_OPERATION_UPLOAD : WYE_OPERATION_DOWNLOAD);
        out.operation.u.transfer = {out.object().native.object(), desc.offset, desc.size,
                                    up ? desc.source : nullptr, up ? nullptr : desc.target};
    }
    out.handles[0] = desc.buffer;
    out.uses[0] = {&out.buffer.as<BufferObject>().history, desc.kind != WYE_TRANSFER_DOWNLOAD};
    WYE_ASSIGN(out.queue, NamedQueue::find(handles, desc.queue, out.session(), false));
    return out;
}

Result<void> run_transfer(const HandleTable& handles, const CheckedTransfer& checked, bool timed,
                          RunTimes& times) {
    if (checked.size == 0) return {};
    DeviceSession& session = checked.session();
    const bool hosts =
        checked.kind() == WYE_OPERATION_UPLOAD || checked.kind() == WYE_OPERATION_DOWNLOAD;
    const Span span(session.trace(), transfer_name(checked.kind()), {.bytes = checked.size});
    return count_transfer(session, checked.kind(), checked.size,
                          hosts
                              ? transfer(handles, checked, timed, times)
                              : run_alone(handles, checked, {&checked.operation, 1}, timed, times));
}

const char* transfer_name(std::uint32_t kind) noexcept {
    switch (kind) {
        case WYE_OPERATION_UPLOAD:
            return "upload";
        case WYE_OPERATION_DOWNLOAD:
            return "download";
        case WYE_OPERATION_COPY:
            return "copy";
        default:
            return "fill";
    }
}

Result<void> count_transfer(DeviceSession& session, std::uint32_t kind, std::uint64_t size,
                            Result<void> result) {
    Counters& counters = session.counters();
    switch (kind) {
        case WYE_OPERATION_UPLOAD:
            return counters.uploaded(std::move(result), size);
        case WYE_OPERATION_DOWNLOAD:
            return counters.downloaded(std::move(result), size);
        case WYE_OPERATION_COPY:
            return counters.copied(std::move(result), size);
        default:
            return counters.filled(std::move(result), size);
    }
}

void report_transfer(std::uint32_t kind, std::uint64_t size, wye_report& report) {
    switch (kind) {
        case WYE_OPERATION_UPLOAD:
            report.bytes_uploaded += size;
            break;
        case WYE_OPERATION_DOWNLOAD:
            report.bytes_downloaded += size;
            break;
        case WYE_OPERATION_COPY:
            report.bytes_copied += size;
            break;
        default:
            report.bytes_filled += size;
    }
}

}  // namespace wye::exec
