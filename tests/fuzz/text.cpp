// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the text form. The printed text of a parsed program must parse to the same program,
// and its wire form must decode to the same program.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "examine.hpp"
#include "program/diagnostic.hpp"
#include "program/text/text.hpp"
#include "program/wire/encode.hpp"
#include "wye/sdk/wire.hpp"

using namespace wye::ir;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const ParseResult parsed = parse(text);
    for (const Diagnostic& diagnostic : parsed.diagnostics) {
        if (render(diagnostic, "input.wye", text).empty()) std::abort();
        if (diagnostic.fix.rfind("Fix: ", 0) != 0) std::abort();
    }
    if (!parsed.ok()) return 0;

    const std::string printed = print(parsed.program);
    const ParseResult again = parse(printed);
    if (!again.ok() || print(again.program) != printed) std::abort();
    Program checked = parsed.program;
    const bool valid = validate(checked).empty();
    // The print of an invalid program may lack information that only the types determine.
    if (valid && !same_program(parsed.program, again.program)) std::abort();

    const auto wire = encode(parsed.program);
    if (!wire) return 0;
    auto decoded = decode(*wire);
    if (!decoded) std::abort();
    const auto encoded = encode(*decoded);
    if (!encoded || *encoded != *wire) std::abort();
    if (valid && (!validate(*decoded).empty() || print(*decoded) != printed)) std::abort();
    examine(parsed.program);
    return 0;
}
