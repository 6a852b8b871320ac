// SPDX-License-Identifier: Apache-2.0
//
// The results of math set 2 for all 2^32 values of f32, as digests: tests/golden/math/digests.txt
// has 16 for each function of one argument, one for each sixteenth of the values in the order of
// their bits. A digest is the SHA-256 of the SHA-256s of 2^20 results each, as little-endian bytes.
// A run tries one sixteenth of one function on `cpu`. WYE_MATH_DEVICE=cuda:0 tries all of them on
// that device; with WYE_UPDATE_GOLDEN=1 it writes the file.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
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
#include <string_view>
#include <thread>
#include <vector>

#include "support/sha256.hpp"
#include "support/slice.hpp"
#include "wye/wye.hpp"

namespace {

constexpr const char* kFunctions[] = {
    "exp",  "exp2", "exp10", "expm1", "log",  "log2", "log10", "log1p", "sin", "cos",   "tan",
    "asin", "acos", "atan",  "sinh",  "cosh", "tanh", "rsqrt", "cbrt",  "erf", "sinpi", "cospi"};
constexpr std::uint32_t kParts = 16;
constexpr std::uint32_t kPiece = std::uint32_t{1} << 20;
constexpr std::uint32_t kPieces = 256;   // of a part
constexpr std::uint32_t kTogether = 16;  // in one dispatch
static_assert(std::uint64_t{kParts} * kPieces * kPiece == std::uint64_t{1} << 32);
static_assert(std::endian::native == std::endian::little);

using Digest = std::array<std::byte, 32>;

template <typename T>
T take(wye::Result<T> result) {
    if (!result.ok()) FAIL(result.error().text());
    return std::move(result).value();
}

// Hashes pieces on all processors while the device computes the next ones.
class Hasher {
  public:
    ~Hasher() { wait(); }
    // Waits for the work before, and takes the results over.
    void begin(std::vector<float>& results, std::span<Digest> out) {
        wait();
        results_.swap(results);
        next_ = 0;
        const unsigned count = std::max(1U, std::thread::hardware_concurrency());
        for (unsigned k = 0; k < count; ++k)
            threads_.emplace_back([this, out] {
                for (std::size_t piece; (piece = next_++) < out.size();)
                    out[piece] = support::sha256(
                        std::as_bytes(std::span(results_).subspan(piece * kPiece, kPiece)));
            });
    }
    void wait() {
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }

  private:
    std::vector<float> results_;
    std::atomic<std::size_t> next_ = 0;
    std::vector<std::thread> threads_;
};

std::string digest(const wye::Program& program, const wye::Device& device, std::uint32_t part) {
    std::vector<Digest> pieces(kPieces);
    std::vector<float> results;
    Hasher hasher;
    for (std::uint32_t k = 0; k < kPieces; k += kTogether) {
        results.resize(std::size_t{kTogether} * kPiece);
        wye::Dispatch dispatch(program, device);
        dispatch.param("first", (part * kPieces + k) * kPiece).output("r", results);
        (void)take(dispatch.run());
        hasher.begin(results, std::span(pieces).subspan(k, kTogether));
    }
    hasher.wait();
    return support::hex(support::sha256(std::as_bytes(std::span(pieces))));
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
        const std::string count = std::to_string(kTogether * kPiece);
        const wye::Program program = take(context.program_from_text(
            "wye 1; math 2; program digest; workgroup 256; param first: u32; output r: f32[" +
            count + "]; grid elements " + count +
            ";\nmain { let i = global_id.x; if i < len(r) { r[i] = " + name +
            "(bitcast<f32>(first + i)); } }\n"));
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
