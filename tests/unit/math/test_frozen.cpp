// SPDX-License-Identifier: Apache-2.0
//
// The results of each math set, as a hash for each function. A change of one bit needs a new set
// number. WYE_UPDATE_GOLDEN=1 rewrites the files, which is right only for new functions. For set 2
// there are only the f64 results of its new functions. The f32 results of set 2 are correctly
// rounded, so they cannot change.
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

// One value in four has random bits. The others lie between 2^-12 and 2^9.
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
void add_lines(std::ostream& out, unsigned set, const char* type, Bits exponent_one,
               unsigned mantissa_bits) {
    test::Evaluator cpu;
    for (const reference::Function& f : reference::functions()) {
        if (f.set != set) continue;
        support::Random random(1);
        const auto x = arguments<T>(random, exponent_one, mantissa_bits);
        auto y = arguments<T>(random, exponent_one, mantissa_bits);
        if (f.arguments == 1) y.clear();
        std::vector<T> r;
        cpu.run(set, f.name, x, y, r);
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

void check_set(unsigned set) {
    const std::string path = WYE_GOLDEN_MATH "/set_" + std::to_string(set) + ".txt";
    std::ostringstream now;
    if (set == 1) add_lines<float, std::uint32_t>(now, set, "f32", 0x3f800000U, 23);
    add_lines<double, std::uint64_t>(now, set, "f64", 0x3ff0000000000000U, 52);
    if (std::getenv("WYE_UPDATE_GOLDEN") != nullptr)
        std::ofstream(path, std::ios::binary) << now.str();
    std::ifstream file(path, std::ios::binary);
    std::ostringstream golden;
    golden << file.rdbuf();
    CHECK(now.str() == golden.str());
}

}  // namespace

TEST_CASE("math set 1 keeps its bits") { check_set(1); }
TEST_CASE("math set 2 keeps its bits") { check_set(2); }
