// SPDX-License-Identifier: Apache-2.0
#include "exec/program/load.hpp"

#include <fmt/format.h>

#include "program/check/validate.hpp"
#include "program/diagnostic.hpp"
#include "program/text/text.hpp"
#include "wye/sdk/wide_stack.hpp"
#include "wye/sdk/wire.hpp"

namespace wye::exec {
namespace {

// Combines all diagnostics in one error: the message reads like a compiler's output, the fix is
// that of the last diagnostic.
Error to_error(Code code, const std::vector<ir::Diagnostic>& diagnostics, std::string_view name,
               std::string_view text) {
    std::string message;
    for (const ir::Diagnostic& diagnostic : diagnostics) {
        if (!message.empty() && message.back() != '\n') message += '\n';
        message += ir::render(diagnostic, name, text);
    }
    while (!message.empty() && (message.back() == '\n' || message.back() == ' '))
        message.pop_back();
    std::string fix = diagnostics.back().fix;
    if (!fix.empty() && message.ends_with(fix)) message.resize(message.size() - fix.size());
    if (fix.empty()) fix = "Fix: correct what is listed above";
    return {code, std::move(message), std::move(fix), std::string(name)};
}

Result<void> resolve_variants(ir::Program& program, const Resolve& resolve) {
    for (ir::Variant& variant : program.variants) {
        if (!variant.file) continue;
        if (!resolve)
            return Error(Code::INVALID_PROGRAM,
                         fmt::format("variant `{}` names the file `{}`, but there is no "
                                     "`resolve` function",
                                     variant.entry, *variant.file),
                         "Fix: give wye_program_source a `resolve` function, or put the code in "
                         "the program with `text`",
                         program.name);
        WYE_ASSIGN(variant.bytes, resolve(*variant.file));
        if (variant.bytes.size() > WYE_LIMIT_VARIANT_BYTES)
            return Error(Code::LIMIT_EXCEEDED,
                         fmt::format("variant file `{}` has {} bytes; the limit is {}",
                                     *variant.file, variant.bytes.size(), WYE_LIMIT_VARIANT_BYTES),
                         "Fix: use a smaller file", *variant.file);
        variant.file.reset();
    }
    return {};
}

Result<ProgramRef> check_and_load(ir::Program program, std::string_view name,
                                  std::string_view text) {
    const std::vector<ir::Diagnostic> problems = ir::validate(program);
    if (!problems.empty()) return to_error(Code::INVALID_PROGRAM, problems, name, text);
    auto object = std::make_shared<LoadedProgram>(std::move(program));
    WYE_TRY(object->finish());
    return object;
}

}  // namespace

Result<ProgramRef> load_text(std::string_view text, std::string_view name, const Resolve& resolve) {
    if (name.empty()) name = "program";
    if (text.size() > WYE_LIMIT_TEXT_BYTES)
        return Error(Code::LIMIT_EXCEEDED,
                     fmt::format("`{}` has {} bytes of text; the limit is {}", name, text.size(),
                                 WYE_LIMIT_TEXT_BYTES),
                     "Fix: split the program", std::string(name));
    // resolve_variants calls the caller's function, so it must run on the caller's thread; only the
    // steps before and after it may run on a thread with more stack.
    WYE_ASSIGN(ir::Program program, sdk::with_room([&]() -> Result<ir::Program> {
                   ir::ParseResult parsed = ir::parse(text);
                   if (!parsed.ok())
                       return to_error(Code::INVALID_TEXT, parsed.diagnostics, name, text);
                   return std::move(parsed.program);
               }));
    WYE_TRY(resolve_variants(program, resolve));
    return sdk::with_room([&] { return check_and_load(std::move(program), name, text); });
}

Result<ProgramRef> load_wire(std::span<const std::byte> wire, std::string_view name) {
    return sdk::with_room([&]() -> Result<ProgramRef> {
        WYE_ASSIGN(ir::Program program, ir::decode(wire));
        const std::string shown(name.empty() ? std::string_view(program.name) : name);
        return check_and_load(std::move(program), shown, {});
    });
}

}  // namespace wye::exec
