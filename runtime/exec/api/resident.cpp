// SPDX-License-Identifier: Apache-2.0
//
// The C functions that describe and map buffers, and copy between devices.
#include "exec/api/api.hpp"
#include "exec/device/across.hpp"
#include "exec/device/mapping.hpp"
#include "wye/buffer.h"
#include "wye/sdk/plugin.hpp"

using namespace wye::exec;
namespace registry = wye::registry;
using registry::HandleKind;
using wye::Result;
using wye::sdk::from_abi;
using wye::sdk::to_abi;

wye_status wye_buffer_describe(wye_context* context, wye_buffer buffer, wye_buffer_info* out,
                               wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_header(out->header, sizeof *out, "wye_buffer_info"));
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(buffer, HandleKind::buffer));
        BufferObject& object = pin.as<BufferObject>();
        out->in_use = is_in_use(self->handles(), pin) ? 1 : 0;
        out->device = object.device;
        out->selector = to_abi(object.session.info().selector);
        out->plugin = to_abi(object.session.info().plugin);
        out->label = to_abi(pin.label_view());
        out->size = object.size;
        out->alignment = object.alignment;
        out->usage = object.usage;
        out->maps = object.maps;
        out->reserved = 0;
        return {};
    });
}

wye_status wye_buffer_set_label(wye_context* context, wye_buffer buffer, wye_string label,
                                wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_TRY(check_string(label, "label"));
        return self->handles().relabel(buffer, HandleKind::buffer, std::string(from_abi(label)));
    });
}

wye_status wye_buffer_map(wye_context* context, wye_buffer buffer, wye_buffer_mapping* out,
                          wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_header(out->header, sizeof *out, "wye_buffer_mapping"));
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(buffer, HandleKind::buffer));
        WYE_ASSIGN(const wye_mapping mapping, map_buffer(self->handles(), pin));
        out->address = mapping.address;
        out->size = pin.as<BufferObject>().size;
        out->cached = (mapping.flags & WYE_MAPPING_CACHED) != 0 ? 1 : 0;
        out->reserved = 0;
        return {};
    });
}

wye_status wye_buffer_unmap(wye_context* context, wye_buffer buffer, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(buffer, HandleKind::buffer));
        return unmap_buffer(pin);
    });
}

wye_status wye_buffer_sync(wye_context* context, wye_buffer buffer, uint64_t offset, uint64_t size,
                           uint32_t direction, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(buffer, HandleKind::buffer));
        return sync_buffer(pin, offset, size, direction);
    });
}

wye_status wye_buffer_copy_across(wye_context* context, wye_buffer source, uint64_t source_offset,
                                  wye_buffer target, uint64_t target_offset, uint64_t size,
                                  wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        wye_transfer_desc copy{};
        copy.kind = WYE_TRANSFER_COPY;
        copy.buffer = target;
        copy.offset = target_offset;
        copy.size = size;
        copy.source_buffer = source;
        copy.source_offset = source_offset;
        return copy_across(self->handles(), copy);
    });
}
