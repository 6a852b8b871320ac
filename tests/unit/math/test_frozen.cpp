// SPDX-License-Identifier: Apache-2.0
//
// The results of math set 1, as a hash for each function: a change of one bit needs a new set
// number. WYE_UPDATE_GOLDEN=1 rewrites the file, which is right for new functions only.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "evaluate.hpp"
#include "reference.hpp"
#include "support/random.hpp"

namespace {

// One in four has any bits; the others lie between 2^-12 and 2^9.
template <typename T, typename Bits>
std::vector<T> arguments(support::Random& random, Bits exponent_one, unsigned mantissa_bits) {
    std::vector<T> out(4096);
    for (std::size_t i = 0; i < out.size(); ++i) {
        auto bits = static_cast<Bits>(random.next());
        if (i % 4 != 0) {
            const auto exponent = static_cast<Bits>(random.below(21));
            const Bits kept = (Bits{1} << mantissa_bits) - 1 + (Bits{1} << (8 * sizeof(T) - 1));
            bits = (bits & kept) | (exponent_one + ((exponent - 12) << mantissa_bits));
        }
        std::memcpy(&out[i], &bits, sizeof(T));
    }
    return out;
}

template <typename T, typename Bits>
void add_lines(std::ostream& out, const char* type, Bits exponent_one, unsigned mantissa_bits) {
    test::Evaluator cpu;
    for (const reference::Function& f : reference::functions()) {
        support::Random random(1);
        const auto x = arguments<T>(random, exponent_one, mantissa_bits);
        auto y = arguments<T>(random, exponent_one, mantissa_bits);
        if (f.arguments == 1) y.clear();
        std::vector<T> r;
        cpu.run(f.name, x, y, r);
        std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a over the little-endian bytes
        for (const T value : r) {
            Bits bits = 0;
            std::memcpy(&bits, &value, sizeof(T));
            for (unsigned byte = 0; byte < sizeof(T); ++byte)
                hash = (hash ^ ((bits >> (8 * byte)) & 0xffU)) * 0x100000001b3U;
        }
        out << type << ' ' << f.name << ' ' << std::hex << std::setw(16) << std::setfill('0')
            << hash << std::dec << '\n';
    }
}

}  // namespace

TEST_CASE("math set 1 keeps its bits") {
    std::ostringstream now;
    add_lines<float, std::uint32_t>(now, "f32", 0x3f800000U, 23);
    add_lines<double, std::uint64_t>(now, "f64", 0x3ff0000000000000U, 52);
    if (std::getenv("WYE_UPDATE_GOLDEN") != nullptr)
        std::ofstream(WYE_GOLDEN_MATH, std::ios::binary) << now.str();
    std::ifstream file(WYE_GOLDEN_MATH, std::ios::binary);
    std::ostringstream golden;
    golden << file.rdbuf();
    CHECK(now.str() == golden.str());
}
