// SPDX-License-Identifier: Apache-2.0
//
// Tests which `shared` arrays need no zero fill. The negative cases matter more: in each, an
// invocation could read an element that was never zeroed, or zero an element after another
// invocation has stored to it.
#include <doctest/doctest.h>

#include "lower/passes/shared_start.hpp"
#include "programs.hpp"

namespace test_shared_start {

namespace {

using How = wye::lower::SharedStart::How;

struct Case {
    const char* what;
    const char* body;  // of main; `s` and `wide` (17 x 16) are shared, the workgroup is 16 x 16
    How s, wide;
};

std::string program_around(const char* body) {
    return std::string(R"(wye 1; program starts; workgroup 16, 16;
param n: u32; input x: u32[]; input_output y: u32[256];
shared s: u32[256]; shared wide: u32[272];
fn look(i: u32) -> u32 { return s[i]; }
main { let lx = local_id.x; let ly = local_id.y; let li = local_index; )") +
           body + " }";
}

const Case kCases[] = {
    {"written whole, then read", "s[li] = 1u; barrier; y[li] = s[255u - li];", How::Nothing,
     How::Nothing},
    {"by another one-to-one index", "s[lx * 16u + ly] = 1u; barrier; y[li] = s[li];", How::Nothing,
     How::Nothing},
    {"in a loop", "for k in 0u..n { s[ly * 16u + lx] = x[k]; barrier; y[li] = s[k]; barrier; }",
     How::Nothing, How::Nothing},
    {"in a branch that the whole workgroup takes",
     "if n == 1u { s[li] = 1u; barrier; y[li] = s[3u]; }", How::Nothing, How::Nothing},
    {"never read", "s[n] = 1u;", How::Nothing, How::Nothing},
    {"a padded tile",
     "if n < lx { wide[ly * 17u + lx] = 1u; } barrier; y[li] = wide[lx * 17u + ly];", How::Nothing,
     How::Own},
    {"some invocations only", "if lx < 3u { s[li] = 1u; } barrier; y[li] = s[n];", How::Own,
     How::Nothing},
    {"twice the same",
     "if lx < 3u { s[li] = 1u; } if n == 1u { s[li] = 2u; } barrier; y[li] = s[n];", How::Own,
     How::Nothing},
    {"never stored", "y[li] = s[li];", How::Fill, How::Nothing},
    {"no barrier", "s[li] = 1u; y[li] = s[n];", How::Fill, How::Nothing},
    {"read before the barrier", "s[li] = 1u; let v = s[0u]; barrier; y[li] = s[n];", How::Fill,
     How::Nothing},
    {"read by a function before the barrier",
     "s[li] = 1u; let v = look(3u); barrier; y[li] = s[n];", How::Fill, How::Nothing},
    {"read by the store itself", "s[li] = s[0u] + 1u; barrier; y[li] = s[n];", How::Fill,
     How::Nothing},
    {"read before the loop writes", "for k in 0u..n { y[li] = s[k]; barrier; s[li] = k; barrier; }",
     How::Fill, How::Nothing},
    {"only after a barrier inside a loop that may not run",
     "s[li / 2u] = 1u; for k in 0u..n { barrier; } y[li] = s[n];", How::Fill, How::Nothing},
    {"not every element", "s[li & 127u] = 1u; barrier; y[li] = s[n];", How::Fill, How::Nothing},
    {"two invocations on one element", "if lx == 1u { s[lx] = 1u; } barrier; y[li] = s[lx];",
     How::Fill, How::Nothing},
    {"the padding is read", "wide[ly * 17u + lx] = 1u; barrier; y[li] = wide[16u];", How::Nothing,
     How::Fill},
    {"anything of the padded tile", "wide[ly * 17u + lx] = 1u; barrier; y[li] = wide[n];",
     How::Nothing, How::Fill},
    {"out of range in part", "wide[ly * 18u + lx] = 1u; barrier; y[li] = wide[ly * 18u + lx];",
     How::Nothing, How::Fill},
    {"another's element", "if lx == 1u { s[li] = 1u; s[li ^ 1u] = 2u; } barrier; y[li] = s[n];",
     How::Fill, How::Nothing},
    {"counted by atomics", "atomic_add(s[x[li] & 255u], 1u); barrier; y[li] = s[li];", How::Fill,
     How::Nothing},
    {"not linear", "if n == 1u { s[li ^ 5u] = 1u; } barrier; y[li] = s[n];", How::Fill,
     How::Nothing},
    {"a data index", "s[x[li]] = 1u; barrier; y[li] = s[li];", How::Fill, How::Nothing},
    {"in both branches",
     "if n == 1u { s[li] = 1u; barrier; y[li] = s[1u]; } else { y[li] = s[2u]; }", How::Fill,
     How::Nothing},
};

}  // namespace

TEST_CASE("how shared arrays start") {
    for (const Case& c : kCases) {
        const auto program = valid_program(program_around(c.body));
        const auto starts = wye::lower::shared_starts(program, program.workgroup);
        for (std::size_t b = 0; b < program.buffers.size(); ++b) {
            const std::string& name = program.buffers[b].name;
            if (name == "s") CHECK_MESSAGE(starts[b].how == c.s, std::string(c.what), ": s");
            if (name == "wide")
                CHECK_MESSAGE(starts[b].how == c.wide, std::string(c.what), ": wide");
        }
    }
}

TEST_CASE("the element that an invocation clears") {
    const auto program = valid_program(
        program_around("if n < lx { wide[ly * 17u + lx] = 1u; } barrier; y[li] = wide[ly];"));
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        if (program.buffers[b].name != "wide") continue;
        const auto start = wye::lower::shared_starts(program, program.workgroup)[b];
        CHECK(start.how == How::Own);
        CHECK(start.first == 0);
        CHECK(start.factors == std::array<std::uint32_t, 3>{1, 17, 0});
        // With another workgroup size, the elements of invocations overlap.
        CHECK(wye::lower::shared_starts(program, {32, 8, 1})[b].how == How::Fill);
    }
}

TEST_CASE("an index that names itself many times is given up") {
    std::string body = "let a0 = li; ";
    for (int i = 1; i < 40; ++i)
        body += "let a" + std::to_string(i) + " = a" + std::to_string(i - 1) + " + a" +
                std::to_string(i - 1) + "; ";
    const auto program =
        valid_program(program_around((body + "s[a39] = 1u; barrier; y[li] = s[li];").c_str()));
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
        if (program.buffers[b].name == "s")
            CHECK(wye::lower::shared_starts(program, program.workgroup)[b].how == How::Fill);
}

}  // namespace test_shared_start
