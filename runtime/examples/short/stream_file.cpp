// SPDX-License-Identifier: Apache-2.0
//
// stream_file IN OUT [SELECTOR]: sends a file through a device in chunks, and writes every byte
// inverted. While the device works on a chunk, the host reads the next chunk and writes the
// previous one.
#include <cstdint>
#include <deque>
#include <fstream>
#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

#include "wye/wye.hpp"

namespace {

constexpr std::string_view kInvert = R"wye(
wye 1; program invert; workgroup 256;
input x: u32[]; output r: u32[len(x)];
grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] ^ 0xffffffffu; } }
)wye";
constexpr std::size_t kChunkWords = 1 << 18, kInFlight = 3;

// A chunk in flight, and how many of its bytes belong to the file, since the last word may be
// padded.
using Chunk = std::pair<wye::Pending, std::streamsize>;

wye::Result<void> write_oldest(std::deque<Chunk>& chunks, std::ostream& out) {
    const auto& [pending, bytes] = chunks.front();
    WYE_TRY(pending.wait());
    WYE_ASSIGN(const auto words, pending.output<std::uint32_t>("r"));
    out.write(reinterpret_cast<const char*>(words.data()), bytes);
    chunks.pop_front();
    return {};
}

wye::Result<void> run(std::istream& in, std::ostream& out, std::string_view selector) {
    WYE_ASSIGN(const wye::Context context, wye::Context::create());
    WYE_ASSIGN(const wye::Program program, context.program_from_text(kInvert, "invert"));
    WYE_ASSIGN(const wye::Device device, context.open(selector, &program));
    std::vector<std::uint32_t> words(kChunkWords);
    std::deque<Chunk> chunks;
    while (in.read(reinterpret_cast<char*>(words.data()), kChunkWords * 4), in.gcount() > 0) {
        const std::size_t count = (static_cast<std::size_t>(in.gcount()) + 3) / 4;
        if (chunks.size() == kInFlight) WYE_TRY(write_oldest(chunks, out));
        // submit() takes a copy of the input, so that `words` can be filled again at once.
        WYE_ASSIGN(
            auto pending,
            wye::Dispatch(program, device).input("x", std::span(words).first(count)).submit());
        chunks.emplace_back(std::move(pending), in.gcount());
    }
    while (!chunks.empty()) WYE_TRY(write_oldest(chunks, out));
    if (in.bad() || !out.flush())
        return wye::Error(wye::Code::IO, "a file cannot be read or written",
                          "Fix: check the disk and the permissions");
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return std::cerr << "usage: stream_file IN OUT [SELECTOR]\n", 2;
    std::ifstream in(argv[1], std::ios::binary);
    std::ofstream out(argv[2], std::ios::binary);
    if (!in || !out) return std::cerr << "stream_file: a file cannot be opened\n", 2;
    const auto done = run(in, out, argc > 3 ? argv[3] : "");
    if (!done.ok()) std::cerr << "stream_file: " << done.error().text() << '\n';
    return done.ok() ? 0 : 1;
}
