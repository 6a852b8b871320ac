// SPDX-License-Identifier: Apache-2.0
//
// The table of operations that tests share, at edge values: with both operands in lanes, with
// either operand uniform, and with the kernels of each instruction set.
#include <doctest/doctest.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <type_traits>

#include "rig.hpp"
#include "support/operations.hpp"
#include "wye/program_format.h"

namespace {

using support::kind_of;
using support::Operation;
using support::Sweep;
using Bits = std::vector<std::uint64_t>;  // of one value each, zero-extended

template <typename T>
std::vector<T> edge_values() {
    using L = std::numeric_limits<T>;
    if constexpr (std::is_integral_v<T>) {
        return {T(0),
                T(1),
                T(2),
                T(3),
                T(7),
                T(-1),
                T(-2),
                T(-7),
                L::max(),
                T(L::max() - 1),
                L::min(),
                T(L::min() + 1),
                T(L::max() / 2 + 1),
                T(0x55555555),
                T(0x80000000U),
                T(0xffffU),
                T(31),
                T(33),
                T(1000003)};
    } else {
        const T tiny = L::denorm_min();
        return {T(0),
                T(-0.0),
                T(1),
                T(-1),
                T(0.5),
                T(-0.5),
                T(1.5),
                T(2.5),
                T(-2.5),
                T(3),
                L::infinity(),
                -L::infinity(),
                L::quiet_NaN(),
                -L::quiet_NaN(),
                L::max(),
                -L::max(),
                L::min(),
                -L::min(),
                tiny,
                -tiny,
                L::min() / 2,
                T(1) / 3,
                T(0.1),
                T(2147483648.0),
                T(-2147483648.0),
                T(2147483520.0),
                T(4294967296.0),
                T(9223372036854775808.0),
                T(-9223372036854775808.0),
                T(18446744073709551616.0),
                std::nextafter(T(1), T(2)),
                T(8388607.5),
                T(-8388608.5),
                T(1e30),
                T(0.49999997)};
    }
}

template <typename T>
Bits edges_of() {
    Bits out;
    for (const T value : edge_values<T>()) {
        out.push_back(0);
        __builtin_memcpy(&out.back(), &value, sizeof value);
    }
    return out;
}

// The edge values of a type; empty: the type has none here.
Bits edges(unsigned kind) {
    switch (kind) {
        case WYE_KIND_I32:
            return edges_of<std::int32_t>();
        case WYE_KIND_U32:
            return edges_of<std::uint32_t>();
        case WYE_KIND_I64:
            return edges_of<std::int64_t>();
        case WYE_KIND_U64:
            return edges_of<std::uint64_t>();
        case WYE_KIND_F32:
            return edges_of<float>();
        case WYE_KIND_F64:
            return edges_of<double>();
        default:
            return {};
    }
}

test::Bytes bytes_of(const Bits& values, unsigned size) {
    test::Bytes out(values.size() * size);
    for (std::size_t n = 0; n < values.size(); ++n)
        __builtin_memcpy(out.data() + n * size, &values[n], size);
    return out;
}

std::uint64_t element(const test::Bytes& bytes, unsigned size, std::size_t index) {
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, bytes.data() + index * size, size);
    return bits;
}

// Replaces a name of one letter by `by`, where the name is a word and not a component.
std::string replaced(const std::string& text, char name, const std::string& by) {
    const auto word = [&](std::size_t n) {
        return n < text.size() && (std::isalnum(static_cast<unsigned char>(text[n])) != 0);
    };
    std::string out;
    for (std::size_t n = 0; n < text.size(); ++n) {
        const bool alone =
            text[n] == name && !word(n + 1) && (n == 0 || (!word(n - 1) && text[n - 1] != '.'));
        out += alone ? by : std::string(1, text[n]);
    }
    return out;
}

// The text of the operation, with `x` in place of x and z, and `y` in place of y.
std::string with(const Operation& operation, const std::string& x, const std::string& y) {
    return replaced(replaced(replaced(operation.text, 'z', x), 'x', x), 'y', y);
}

// Checks the operation on lanes and lanes, lanes and a parameter, a parameter and lanes, and a
// parameter alone.
void check(test::Rig& rig, unsigned kind, const Operation& operation) {
    const std::string t = kind_of(kind).name;
    const std::string r = kind_of(operation.result).name;
    CAPTURE(t);
    CAPTURE(operation.text);
    const Bits values = edges(kind);
    Bits a;
    Bits b;
    for (const std::uint64_t x : values)
        for (const std::uint64_t y : values) {
            a.push_back(x);
            b.push_back(y);
        }
    test::Loaded program(
        rig, "wye 1; program op; workgroup 64; param P: " + t + "; input A: " + t +
                 "[]; input B: " + t + "[len(A)]; output R: " + r + "[len(A)]; output S: " + r +
                 "[len(A)]; output U: " + r + "[len(A)]; output V: " + r +
                 "[len(A)]; grid elements len(A); main {"
                 " let I = global_id.x; if I < len(A) { let X = A[I]; let Y = B[I]; R[I] = " +
                 with(operation, "X", "Y") + "; S[I] = " + with(operation, "X", "P") + "; U[I] = " +
                 with(operation, "P", "Y") + "; V[I] = " + with(operation, "P", "P") + "; } }");
    REQUIRE(program.failure().message == "");
    const unsigned size = kind_of(kind).bytes;
    const unsigned result_size = kind_of(operation.result).bytes;
    const test::Bytes empty(a.size() * result_size);
    for (const std::uint64_t p : values) {
        const auto result =
            program.run({p}, {bytes_of(a, size), bytes_of(b, size), empty, empty, empty, empty});
        REQUIRE(result.failure.message == "");
        const auto wrong = [&](std::size_t buffer, std::size_t n, std::uint64_t x,
                               std::uint64_t y) {
            const std::uint64_t got = element(result.buffers[buffer], result_size, n);
            const std::uint64_t want = operation.expected(x, y, x);
            if (got == want) return 0;
            MESSAGE("x " << x << ", y " << y << ": " << got << " is not " << want << " (bits)");
            return 1;
        };
        int differences = 0;
        for (std::size_t n = 0; n < a.size() && differences == 0; ++n)
            differences = wrong(2, n, a[n], b[n]) + wrong(3, n, a[n], p) + wrong(4, n, p, b[n]) +
                          wrong(5, n, p, p);
        CHECK(differences == 0);
    }
}

// Returns the number of operations that were checked.
std::size_t check_all(const std::vector<Sweep>& sweeps) {
    std::size_t count = 0;
    for (const std::string& isa : test::isas()) {
        CAPTURE(isa);
        test::Rig rig(isa);
        for (const Sweep& sweep : sweeps) {
            if (edges(sweep.kind).empty()) continue;
            for (const Operation& operation : sweep.operations) check(rig, sweep.kind, operation);
            count += sweep.operations.size();
        }
    }
    return count / test::isas().size();
}

}  // namespace

TEST_CASE("operations give what the host's arithmetic gives, to the bit") {
    CHECK(check_all(support::operations()) > 200);
}

TEST_CASE("chains of operations, which the plugin runs as one, give the same as each by itself") {
    CHECK(check_all(support::chains()) == 36);
}

TEST_CASE("u64 and u32x2 are the same bits, low half first") {
    test::Rig rig;
    test::Loaded program(rig,
                         "wye 1; program halves; workgroup 64; input a: u64[]; output r: "
                         "u64[len(a)]; output s: u32[len(a)]; grid elements len(a); main { let i = "
                         "global_id.x; if i < len(a) { let h = bitcast<u32x2>(a[i]); r[i] = "
                         "bitcast<u64>(u32x2(h.y, h.x)); s[i] = h.x; } }");
    const std::vector<std::uint64_t> a = {0x0123456789abcdefU, 1, ~std::uint64_t{0}};
    const auto result = program.run({}, {test::bytes_of(a), test::Bytes(24), test::Bytes(12)});
    CHECK(test::values_of<std::uint64_t>(result.buffers[1]) ==
          std::vector<std::uint64_t>{0x89abcdef01234567U, 0x100000000U, ~std::uint64_t{0}});
    CHECK(test::values_of<std::uint32_t>(result.buffers[2]) ==
          std::vector<std::uint32_t>{0x89abcdefU, 1, 0xffffffffU});
}
