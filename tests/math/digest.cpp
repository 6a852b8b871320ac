// SPDX-License-Identifier: Apache-2.0
//
// The results of math set 2 for all 2^32 values of f32, as digests: tests/golden/math/digests.txt
// has 16 for each function of one argument, one for each sixteenth of the values in the order of
// their bits. The device makes a hash of each 1024 results (FNV-1a over words of 32 bits, with the
// constants for 64 bits); a digest is the SHA-256 of these hashes as little-endian bytes.
//
// A run tries one sixteenth of one function on `cpu`. WYE_MATH_DEVICE=cuda:0 tries all of them on
// that device; with WYE_UPDATE_GOLDEN=1 it writes the file.
#include <doctest/doctest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "support/sha256.hpp"
#include "support/slice.hpp"
#include "wye/wye.hpp"

namespace {

constexpr const char* kFunctions[] = {
    "exp",  "exp2", "exp10", "expm1", "log",  "log2", "log10", "log1p", "sin", "cos",   "tan",
    "asin", "acos", "atan",  "sinh",  "cosh", "tanh", "rsqrt", "cbrt",  "erf", "sinpi", "cospi"};
constexpr std::uint32_t kParts = 16;
constexpr std::uint32_t kTogether = 1024;  // results of a hash
constexpr std::uint32_t kHashes = (std::uint64_t{1} << 32) / kParts / kTogether;
static_assert(std::endian::native == std::endian::little);

template <typename T>
T take(wye::Result<T> result) {
    if (!result.ok()) FAIL(result.error().text());
    return std::move(result).value();
}

std::string text(const std::string& function) {
    const std::string hashes = std::to_string(kHashes);
    const std::string together = std::to_string(kTogether) + "u";
    return "wye 1; math 2; program digest; workgroup 64; param first: u32;\n"
           "output h: u64[" +
           hashes + "]; grid elements " + hashes +
           ";\n"
           "main { let i = global_id.x; if i < len(h) {\n"
           "var hash = 0xcbf29ce484222325u64;\n"
           "for k in 0u.." +
           together +
           " {\n"
           "let r = " +
           function + "(bitcast<f32>(first + i * " + together +
           " + k));\n"
           "hash = (hash ^ u64(bitcast<u32>(r))) * 0x100000001b3u64; }\n"
           "h[i] = hash; } }\n";
}

std::string digest(const wye::Program& program, const wye::Device& device, std::uint32_t part) {
    std::vector<std::uint64_t> hashes(kHashes);
    wye::Dispatch dispatch(program, device);
    dispatch.param("first", part * kHashes * kTogether).output("h", hashes);
    (void)take(dispatch.run());
    return support::hex(support::sha256(std::as_bytes(std::span(hashes))));
}

}  // namespace

TEST_CASE("math set 2 has the published results") {
    const char* const asked = std::getenv("WYE_MATH_DEVICE");
    const std::string selector = asked != nullptr ? asked : "cpu";
    const auto slice = support::Slice::of_this_run();
    constexpr std::size_t kAll = std::size(kFunctions) * kParts;
    if (asked == nullptr)
        std::printf("slice: digests of math functions, %s\n", slice.text(kAll).c_str());

    std::map<std::string, std::vector<std::string>> published;
    {
        std::ifstream file(WYE_GOLDEN_MATH "/digests.txt");
        std::string name, word;
        while (file >> word)
            (word.size() == 64 ? published[name].push_back(word) : name.swap(word));
    }
    wye::ContextOptions options;
    if (asked == nullptr) options.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT;
    const wye::Context context = take(wye::Context::create(options));
    const wye::Device device = take(context.open(selector));
    std::string now;
    for (std::size_t f = 0; f < std::size(kFunctions); ++f) {
        const std::string name = kFunctions[f];
        const wye::Program program = take(context.program_from_text(text(name)));
        now += name + "\n";
        for (std::uint32_t part = 0; part < kParts; ++part) {
            if (asked == nullptr && !slice.has(f * kParts + part, kAll)) continue;
            const std::string found = digest(program, device, part);
            now += "    " + found + "\n";
            const auto& all = published[name];
            CHECK_MESSAGE((part < all.size() && found == all[part]), name << ", part " << part);
        }
        if (asked != nullptr) std::printf("%s on %s\n", name.c_str(), selector.c_str());
    }
    if (asked != nullptr && std::getenv("WYE_UPDATE_GOLDEN") != nullptr)
        std::ofstream(WYE_GOLDEN_MATH "/digests.txt", std::ios::binary) << now;
}
