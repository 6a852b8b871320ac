// SPDX-License-Identifier: Apache-2.0
//
// Tests byte swaps and other moves of bytes: the move that is found must give the value of the
// expression, and so must the text of each dialect.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "lower/lower.hpp"
#include "lower/passes/byte_moves.hpp"
#include "programs.hpp"

namespace test_byte_moves {

namespace {

using u32 = std::uint32_t;

u32 rotl(u32 v, unsigned n) { return v << n | v >> (32 - n); }

struct Case {
    const char* text;
    u32 (*value)(u32);
};

const Case kMoves[] = {
    {"(rotl(v, 8u) & 0x00ff00ffu) | (rotr(v, 8u) & 0xff00ff00u)",
     [](u32 v) { return (rotl(v, 8) & 0x00ff00ffU) | (rotl(v, 24) & 0xff00ff00U); }},
    {"(v << 24u) | ((v << 8u) & 0xff0000u) | ((v >> 8u) & 0xff00u) | (v >> 24u)",
     [](u32 v) { return v << 24 | (v << 8 & 0xff0000U) | (v >> 8 & 0xff00U) | v >> 24; }},
    {"((v << 8u) & 0xff00ff00u) | ((v >> 8u) & 0xff00ffu)",
     [](u32 v) { return (v << 8 & 0xff00ff00U) | (v >> 8 & 0xff00ffU); }},
    {"(v << 16u) | (0xffu & (v >> 16u))", [](u32 v) { return v << 16 | (v >> 16 & 0xffU); }},
    {"(v << 40u) & 0xff00u | rotl(v, 48u) & 0xff0000u",
     [](u32 v) { return (v << 8 & 0xff00U) | (rotl(v, 16) & 0xff0000U); }},
};

const char* const kOthers[] = {
    "(v << 8u) | (w >> 24u)",         // two words
    "(v << 8u) | (v >> 23u)",         // not by bytes
    "(v << 8u) | (v & 0xffffu)",      // one byte comes from both sides
    "(v & 0xff0fu) | (v << 16u)",     // half a byte
    "(v << (w & 24u)) | (v >> 24u)",  // unknown count
};

wye::ir::Program program_of(const std::string& text) {
    return valid_program(
        "wye 1; program p; workgroup 1; input a: u32[4]; output r: u32[1]; main { let v = a[0u]; "
        "let w = a[1u]; r[0u] = " +
        text + "; }");
}

// Returns the expression that is stored.
wye::ir::ExprId stored(const wye::ir::Program& program) {
    for (const auto& s : program.main.stmts)
        if (s.op == wye::ir::Op::STORE) return s.args[1];
    return wye::ir::kNone;
}

std::string lowered(const wye::ir::Program& program, std::string_view format) {
    const auto artifact = wye::lower::lower(program, format, {}, {});
    REQUIRE(artifact.ok());
    return std::string(artifact->text());
}

// PTX's prmt: digit k of the selector names byte k of the result.
u32 byte_perm(u32 v, u32 selector) {
    const std::uint64_t bytes = v;  // zeros above
    u32 out = 0;
    for (unsigned k = 0; k < 4; ++k)
        out |= static_cast<u32>(bytes >> (selector >> (4 * k) & 7U) * 8 & 0xffU) << (8 * k);
    return out;
}

}  // namespace

TEST_CASE("moves of bytes are found, and mean the same") {
    for (const Case& c : kMoves) {
        INFO(c.text);
        const auto program = program_of(c.text);
        const auto moves = wye::lower::byte_moves(program.main, stored(program));
        REQUIRE(moves.has_value());
        const std::string cuda = lowered(program, WYE_FORMAT_CUDA_C);
        const std::size_t call = cuda.find("__byte_perm(v0, 0u, 0x");
        REQUIRE(call != std::string::npos);
        const u32 selector = static_cast<u32>(std::stoul(cuda.substr(call + 22, 4), nullptr, 16));
        for (const u32 v : {0x44332211U, 0U, 0xffffffffU, 0x80000001U, 0x00ff7f80U}) {
            u32 moved = 0;
            for (unsigned k = 0; k < 4; ++k)
                if (moves->from[k] >= 0) moved |= (v >> (8 * moves->from[k]) & 0xffU) << (8 * k);
            CHECK(moved == c.value(v));
            CHECK(byte_perm(v, selector) == c.value(v));
        }
    }
    const auto swap = program_of(kMoves[0].text);
    CHECK(lowered(swap, WYE_FORMAT_OPENCL_C).find("as_uint(as_uchar4(v0).wzyx)") !=
          std::string::npos);
}

TEST_CASE("other expressions are left alone") {
    for (const char* text : kOthers) {
        INFO(text);
        const auto program = program_of(text);
        CHECK_FALSE(wye::lower::byte_moves(program.main, stored(program)).has_value());
        CHECK(lowered(program, WYE_FORMAT_CUDA_C).find("__byte_perm") == std::string::npos);
    }
}

}  // namespace test_byte_moves
