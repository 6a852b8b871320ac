// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>

#include "exec/api/api.hpp"
#include "exec/device/buffer.hpp"
#include "wye/sdk/plugin.hpp"

using namespace wye::exec;
namespace registry = wye::registry;
using wye::Code;
using wye::Error;
using wye::Result;
using wye::sdk::from_abi;

wye_status wye_buffer_create(wye_context* context, wye_device device,
                             const wye_buffer_create_desc* desc, wye_buffer* out,
                             wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_NEED(out);
        WYE_TRY(check_header(desc->header, sizeof *desc, "wye_buffer_create_desc"));
        WYE_TRY(check_string(desc->label, "label"));
        constexpr std::uint64_t kMaxAlignment = UINT64_C(1) << 20U;
        if (desc->alignment != 0 &&
            (!std::has_single_bit(desc->alignment) || desc->alignment > kMaxAlignment))
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("the buffer alignment {} is not valid", desc->alignment),
                         "Fix: use 0 or a power of two up to 1048576",
                         std::string(from_abi(desc->label)));
        if (desc->usage > WYE_BUFFER_USAGE_SHARED || desc->reserved != 0)
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("`usage` of the buffer is {}, and `reserved` is {}",
                                     desc->usage, desc->reserved),
                         "Fix: use WYE_BUFFER_USAGE_DEVICE, _UPLOAD, _READBACK or _SHARED, and "
                         "leave `reserved` 0",
                         std::string(from_abi(desc->label)));
        WYE_ASSIGN(*out, self->create_buffer(device, desc->size,
                                             static_cast<std::uint32_t>(desc->alignment),
                                             desc->usage, from_abi(desc->label)));
        return {};
    });
}

wye_status wye_buffer_free(wye_context* context, wye_buffer buffer, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        return self->free_buffer(buffer);
    });
}

wye_status wye_buffer_size(wye_context* context, wye_buffer buffer, uint64_t* out,
                           wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_ASSIGN(const registry::Pin pin,
                   self->handles().find(buffer, registry::HandleKind::buffer));
        *out = pin.as<BufferObject>().size;
        return {};
    });
}

namespace {

// The description of a transfer without a queue or times.
wye_transfer_desc plain(std::uint32_t kind, wye_buffer buffer, std::uint64_t offset,
                        std::uint64_t size) {
    wye_transfer_desc out{};
    out.kind = kind;
    out.buffer = buffer;
    out.offset = offset;
    out.size = size;
    return out;
}

Result<void> run(Context& context, const wye_transfer_desc& desc) {
    WYE_ASSIGN(const CheckedTransfer checked, check_transfer(context.handles(), desc, true));
    RunTimes times;
    return run_transfer(context.handles(), checked, false, times);
}

}  // namespace

wye_status wye_buffer_upload(wye_context* context, wye_buffer buffer, wye_bytes bytes,
                             wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        wye_transfer_desc desc = plain(WYE_TRANSFER_UPLOAD, buffer, 0, bytes.size);
        desc.flags = WYE_TRANSFER_WHOLE;
        desc.source = bytes.data;
        return run(*self, desc);
    });
}

wye_status wye_buffer_upload_range(wye_context* context, wye_buffer buffer, uint64_t offset,
                                   wye_bytes bytes, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        wye_transfer_desc desc = plain(WYE_TRANSFER_UPLOAD, buffer, offset, bytes.size);
        desc.source = bytes.data;
        return run(*self, desc);
    });
}

wye_status wye_buffer_download(wye_context* context, wye_buffer buffer, void* target, uint64_t size,
                               wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        wye_transfer_desc desc = plain(WYE_TRANSFER_DOWNLOAD, buffer, 0, size);
        desc.flags = WYE_TRANSFER_WHOLE;
        desc.target = target;
        return run(*self, desc);
    });
}

wye_status wye_buffer_download_range(wye_context* context, wye_buffer buffer, uint64_t offset,
                                     void* target, uint64_t size, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        wye_transfer_desc desc = plain(WYE_TRANSFER_DOWNLOAD, buffer, offset, size);
        desc.target = target;
        return run(*self, desc);
    });
}

wye_status wye_buffer_copy(wye_context* context, wye_buffer source, uint64_t source_offset,
                           wye_buffer target, uint64_t target_offset, uint64_t size,
                           wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        wye_transfer_desc desc = plain(WYE_TRANSFER_COPY, target, target_offset, size);
        desc.source_buffer = source;
        desc.source_offset = source_offset;
        return run(*self, desc);
    });
}

wye_status wye_buffer_fill(wye_context* context, wye_buffer buffer, uint64_t offset, uint64_t size,
                           uint64_t pattern, uint32_t pattern_size, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        wye_transfer_desc desc = plain(WYE_TRANSFER_FILL, buffer, offset, size);
        desc.pattern = pattern;
        desc.pattern_size = pattern_size;
        return run(*self, desc);
    });
}
