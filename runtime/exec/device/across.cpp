// SPDX-License-Identifier: Apache-2.0
#include "exec/device/across.hpp"

#include <algorithm>

namespace wye::exec {
namespace {

using registry::HandleKind;
using registry::Pin;

// The maximum size of a part: large enough that its transfers run at bus speed.
constexpr std::uint64_t kPart = std::uint64_t{64} << 20U;

Result<void> run_part(const registry::HandleTable& handles, const wye_transfer_desc& desc) {
    WYE_ASSIGN(const CheckedTransfer checked, check_transfer(handles, desc, true));
    RunTimes times;
    return run_transfer(handles, checked, false, times);
}

}  // namespace

Result<void> copy_across(const registry::HandleTable& handles, const wye_transfer_desc& copy) {
    WYE_ASSIGN(const Pin source,
               handles.find(copy.source_buffer, HandleKind::buffer, {"input", 0, "source"}));
    WYE_ASSIGN(const Pin target,
               handles.find(copy.buffer, HandleKind::buffer, {"output", 0, "target"}));
    if (source.owner() == target.owner()) return run_part(handles, copy);
    WYE_TRY(check_range(source, "a copy", copy.source_offset, copy.size));
    WYE_TRY(check_range(target, "a copy", copy.offset, copy.size));
    DeviceSession& from = source.as<BufferObject>().session;
    DeviceSession& to = target.as<BufferObject>().session;
    // Check both devices before anything moves.
    WYE_TRY(from.ready());
    WYE_TRY(to.ready());

    const HostBlock block =
        from.host_memory().take(static_cast<std::size_t>(std::min(copy.size, kPart)));
    for (std::uint64_t moved = 0; moved < copy.size;) {
        const std::uint64_t size = std::min(copy.size - moved, kPart);
        wye_transfer_desc down{};
        down.kind = WYE_TRANSFER_DOWNLOAD;
        down.buffer = copy.source_buffer;
        down.offset = copy.source_offset + moved;
        down.size = size;
        down.target = block.data();
        WYE_TRY(run_part(handles, down));
        wye_transfer_desc up{};
        up.kind = WYE_TRANSFER_UPLOAD;
        up.buffer = copy.buffer;
        up.offset = copy.offset + moved;
        up.size = size;
        up.source = block.data();
        WYE_TRY(run_part(handles, up));
        from.counters().across(size);
        to.counters().across(size);
        moved += size;
    }
    return {};
}

}  // namespace wye::exec
