// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the wire form. A decoded program must encode to the same bytes, and must not crash
// the validator. A valid program must come back unchanged from its text form.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "examine.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"
#include "program/wire/encode.hpp"
#include "wye/sdk/wire.hpp"

namespace {

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "broken promise: %s\n", what);
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wye::ir;
    const auto* bytes = reinterpret_cast<const std::byte*>(data);
    const auto read = decode({bytes, size});
    if (!read.ok()) {
        require(!read.error().message.empty(), "an error has a sentence");
        require(read.error().fix.rfind("Fix: ", 0) == 0, "an error has a remedy");
        return 0;
    }
    const auto again = encode(*read);
    require(again.ok(), "what was read can be encoded");
    require(*again == std::vector<std::byte>(bytes, bytes + size), "one program, one encoding");

    examine(*read);
    Program program = *read;
    if (!validate(program).empty()) return 0;
    ParseResult parsed = parse(print(program));
    require(parsed.ok(), "the text of a valid program parses");
    require(same_program(parsed.program, program), "the text says the same program");
    return 0;
}
