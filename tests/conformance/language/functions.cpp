// SPDX-License-Identifier: Apache-2.0
//
// The results of math set 2 for all 2^32 values of f32, compared with published digests. The file
// tests/golden/math/digests.txt has 16 digests for each function of one argument, one for each
// sixteenth of the values in the order of their bits. The device computes a hash of each 1024
// results: FNV-1a over words of 32 bits, with the constants for 64 bits. A digest is the SHA-256 of
// these hashes as little-endian bytes.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/language/judge.hpp"
#include "conformance/language/suites.hpp"
#include "support/sha256.hpp"
#include "support/texts.hpp"

namespace conformance {
namespace {

constexpr std::uint32_t kParts = 16;
constexpr std::uint32_t kTogether = 1024;  // results in one hash
constexpr std::uint32_t kHashes = (std::uint64_t{1} << 32) / kParts / kTogether;
static_assert(std::endian::native == std::endian::little);

struct Published {
    std::string function;
    std::vector<std::string> digests;  // kParts of them
};
std::vector<Published> published() {
    std::vector<Published> out;
    std::istringstream lines{std::string(support::digests_text())};
    for (std::string word; lines >> word;) {
        if (word.size() == 64)
            out.back().digests.push_back(word);
        else
            out.push_back({word, {}});
    }
    return out;
}

std::string text_for(const std::string& function) {
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

}  // namespace

void run_functions(const Device& device, const Seeds& cases, Tally& tally) {
    const std::vector<Published> all = published();
    const auto begun = std::chrono::steady_clock::now();
    std::optional<wye::Result<wye::Program>> program;
    std::size_t of = all.size();  // the index of the function that `program` computes
    const std::uint64_t end = std::min<std::uint64_t>(cases.last, all.size() * kParts);
    for (std::uint64_t i = cases.first; i < end; ++i) {
        if (!tally.skips() && std::chrono::steady_clock::now() - begun >= cases.time)
            return tally.stop(end - i);
        const std::size_t function = i / kParts;
        const auto part = static_cast<std::uint32_t>(i % kParts);
        const std::string& name = all[function].function;
        if (!tally.begin("all results of " + name + ", part " + std::to_string(part + 1) + " of " +
                         std::to_string(kParts)))
            continue;
        if (of != function) program = device.context().program_from_text(text_for(name), name);
        of = function;
        if (!program->ok()) {
            tally.end(program->error().text());
            continue;
        }
        Launch launch;
        launch.params = {part * kHashes * kTogether};
        launch.buffers = {{"h", false, true, std::vector<std::byte>(kHashes * 8)}};
        const auto got = device.run(**program, {launch}, false);
        if (!got.ok()) {
            tally.end(got.error().text(), refused_for_lack(device, **program, got.error()));
            continue;
        }
        const std::string digest = support::hex(support::sha256(got->at(0)));
        const std::string& right = all[function].digests.at(part);
        tally.end(digest == right ? "" : "the digest is " + digest + ", should be " + right);
    }
}

}  // namespace conformance
