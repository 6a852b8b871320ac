// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "exec/api/api.hpp"
#include "exec/forms.hpp"
#include "exec/program/analysis_json.hpp"
#include "exec/program/load.hpp"
#include "wye/sdk/plugin.hpp"

using namespace wye::exec;
namespace registry = wye::registry;
using registry::HandleKind;
using wye::Code;
using wye::Error;
using wye::Result;
using wye::sdk::from_abi;

namespace {

Result<ProgramRef> load(wye_context& context, const wye_program_source& source) {
    WYE_TRY(check_header(source.header, sizeof source, "wye_program_source"));
    WYE_TRY(check_string(source.name, "name"));
    WYE_TRY(check_string(source.text, "text"));
    if (source.wire.size != 0) WYE_NEED(source.wire.data);
    const bool text = source.text.data != nullptr;
    const bool wire = source.wire.data != nullptr;
    if (text == wire)
        return Error(Code::INVALID_ARGUMENT,
                     text ? "a program source has both text and wire form"
                          : "a program source has neither text nor wire form",
                     "Fix: give exactly one of the two", "wye_program_source");
    if (wire)
        return load_wire({static_cast<const std::byte*>(source.wire.data),
                          static_cast<std::size_t>(source.wire.size)},
                         from_abi(source.name));
    Resolve resolve;
    if (source.resolve != nullptr) {
        context.gate.watch();
        resolve = [&](std::string_view name) -> Result<std::vector<std::byte>> {
            wye_bytes bytes{nullptr, 0};
            const CallbackScope scope(&context);
            const wye_status status =
                source.resolve(source.resolve_user, wye::sdk::to_abi(name), &bytes);
            if (status != WYE_OK || (bytes.data == nullptr && bytes.size != 0))
                return Error(status == WYE_OK ? Code::INVALID_ARGUMENT : static_cast<Code>(status),
                             fmt::format("variant file `{}` could not be read", name),
                             "Fix: check the name, and that the file is readable",
                             std::string(name));
            const auto* data = static_cast<const std::byte*>(bytes.data);
            return std::vector<std::byte>(data, data + bytes.size);
        };
    }
    return load_text(from_abi(source.text), from_abi(source.name), resolve);
}

}  // namespace

wye_status wye_program_create(wye_context* context, const wye_program_source* source,
                              wye_program* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(source);
        WYE_NEED(out);
        WYE_ASSIGN(ProgramRef program, load(*context, *source));
        WYE_ASSIGN(*out, self->add_program(std::move(program)));
        return {};
    });
}

wye_status wye_program_free(wye_context* context, wye_program program, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        return self->handles().retire(program, HandleKind::program);
    });
}

wye_status wye_program_describe(wye_context* context, wye_program program,
                                wye_program_description* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_header(out->header, sizeof *out, "wye_program_description"));
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(program, HandleKind::program));
        const wye_header header = out->header;
        *out = pin.as<LoadedProgram>().description();
        out->header = header;
        return {};
    });
}

wye_status wye_program_analysis(wye_context* context, wye_program program, wye_blob** out,
                                wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(program, HandleKind::program));
        *out = make_blob(analysis_json(pin.as<LoadedProgram>()));
        return {};
    });
}

wye_status wye_program_lower(wye_context* context, wye_program program, wye_string format,
                             wye_device device, wye_blob** out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_string(format, "format"));
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(program, HandleKind::program));
        WYE_ASSIGN(std::string text, program_form(*self, pin.as<LoadedProgram>(), from_abi(format),
                                                  device, 0, false));
        *out = make_blob(std::move(text));
        return {};
    });
}

wye_status wye_program_lower_with(wye_context* context, wye_program program,
                                  const wye_lower_desc* desc, wye_blob** out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_NEED(out);
        WYE_TRY(check_header(desc->header, sizeof *desc, "wye_lower_desc"));
        WYE_TRY(check_string(desc->format, "format"));
        if (desc->check_free > 1)
            return Error(Code::INVALID_ARGUMENT, "check_free of wye_lower_desc is neither 0 nor 1",
                         "Fix: start from WYE_INIT", "wye_lower_desc");
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(program, HandleKind::program));
        WYE_ASSIGN(std::string text,
                   program_form(*self, pin.as<LoadedProgram>(), from_abi(desc->format),
                                desc->device, desc->ulp_budget, desc->check_free != 0));
        *out = make_blob(std::move(text));
        return {};
    });
}
