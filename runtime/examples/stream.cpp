// SPDX-License-Identifier: Apache-2.0
//
// stream: sends a stream of numbers through a device. Three queues keep three chunks in flight, so
// that one is uploaded while a kernel runs on another and a third is downloaded. Each result is
// compared with the host's own arithmetic. WYE_TRACE=FILE shows the overlap.
//
//   stream [--device SEL] [--chunks N] [--mebibytes N] [--rounds N] [--in-turn]
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "command_line.hpp"
#include "wye/wye.hpp"

namespace {

// Does `rounds` steps of a linear congruential generator for each number.
constexpr std::string_view kAdvance = R"wye(
wye 1;
program advance;
workgroup 256;
param rounds: u32;
input_output words: u32[];
grid elements len(words);
main {
    let i = global_id.x;
    if i < len(words) {
        var v = words[i];
        for n in 0u..rounds { v = v * 1664525u + 1013904223u; }
        words[i] = v;
    }
}
)wye";

struct Options {
    std::string selector;
    std::uint32_t chunks = 32;
    std::uint32_t mebibytes = 8;
    std::uint32_t rounds = 256;
    bool in_turn = false;
};

using Words = std::vector<std::uint32_t>;

int fail(const wye::Error& error, int code) {
    std::fprintf(stderr, "stream: error: %s\n", error.text().c_str());
    return code;
}

// All steps combined: x -> factor * x + offset.
struct Steps {
    explicit Steps(std::uint32_t rounds) {
        for (std::uint32_t i = 0; i < rounds; ++i) {
            factor *= 1664525U;
            offset = offset * 1664525U + 1013904223U;
        }
    }
    std::uint32_t factor = 1, offset = 0;
};

// The first number of a chunk. The numbers of a chunk are consecutive, and each chunk begins at
// another multiple of a large odd number.
std::uint32_t first_of(std::uint32_t chunk) { return chunk * 2654435761U; }

class Stream {
  public:
    static constexpr std::size_t kInFlight = 3;

    Stream(const wye::Device& device, const wye::Program& program, const Options& options)
        : device_(device), program_(program), options_(options), steps_(options.rounds) {}

    wye::Result<void> open() {
        WYE_ASSIGN(up_, device_.queue({"up", wye::QueueKind::Transfer}));
        WYE_ASSIGN(compute_, device_.queue({"compute", wye::QueueKind::Compute}));
        WYE_ASSIGN(down_, device_.queue({"down", wye::QueueKind::Transfer}));
        words_.resize(std::size_t{options_.mebibytes} << 18U);
        for (std::optional<wye::Buffer>& buffer : buffers_) {
            WYE_ASSIGN(buffer, device_.buffer(words_.size() * sizeof words_[0]));
        }
        return {};
    }

    wye::Result<void> run() {
        for (std::uint32_t chunk = 0; chunk < options_.chunks; ++chunk) {
            if (chunk >= kInFlight) WYE_TRY(take(chunk - kInFlight));
            WYE_TRY(send(chunk));
        }
        for (std::size_t left = kInFlight; left > 0; --left)
            if (options_.chunks >= left)
                WYE_TRY(take(options_.chunks - static_cast<std::uint32_t>(left)));
        return {};
    }

  private:
    // Submits all work of a chunk. The three steps run in order, since they use the same buffer.
    wye::Result<void> send(std::uint32_t chunk) {
        const std::size_t place = chunk % kInFlight;
        wye::Buffer& buffer = *buffers_[place];
        for (std::size_t i = 0; i < words_.size(); ++i)
            words_[i] = first_of(chunk) + static_cast<std::uint32_t>(i);
        WYE_ASSIGN(const wye::Pending sent, buffer.submit_upload(words_, 0, &*up_));
        if (options_.in_turn) WYE_TRY(sent.wait());
        WYE_ASSIGN(const wye::Pending ran, wye::Dispatch(program_, device_)
                                               .param("rounds", options_.rounds)
                                               .bind("words", buffer)
                                               .on(*compute_)
                                               .submit());
        if (options_.in_turn) WYE_TRY(ran.wait());
        WYE_ASSIGN(results_[place],
                   buffer.submit_download(words_.size() * sizeof words_[0], 0, &*down_));
        if (options_.in_turn) WYE_TRY(results_[place]->wait());
        return {};
    }

    // Waits for a chunk, and checks it.
    wye::Result<void> take(std::uint32_t chunk) {
        const std::optional<wye::Pending> result =
            std::exchange(results_[chunk % kInFlight], std::nullopt);
        WYE_TRY(result->wait());
        WYE_ASSIGN(const auto bytes, result->output<std::byte>("bytes"));
        const auto* const words = reinterpret_cast<const std::uint32_t*>(bytes.data());
        for (std::size_t i = 0; i < words_.size(); ++i) {
            const std::uint32_t from = first_of(chunk) + static_cast<std::uint32_t>(i);
            const std::uint32_t expected = from * steps_.factor + steps_.offset;
            if (words[i] != expected)
                return wye::Error(wye::Code::INTERNAL,
                                  fmt::format("number {} of chunk {} is {}, where the host has {}",
                                              i, chunk, words[i], expected),
                                  "Fix: report this, with the device");
        }
        return {};
    }

    const wye::Device& device_;
    const wye::Program& program_;
    const Options& options_;
    const Steps steps_;
    std::optional<wye::Queue> up_, compute_, down_;
    std::array<std::optional<wye::Buffer>, kInFlight> buffers_;
    std::array<std::optional<wye::Pending>, kInFlight> results_;
    Words words_;
};

int run(const Options& options) {
    const auto context = wye::Context::create();
    if (!context.ok()) return fail(context.error(), 1);
    const auto program = context->program_from_text(kAdvance, "advance.wye");
    if (!program.ok()) return fail(program.error(), 1);
    const auto device = context->open(options.selector, &*program);
    if (!device.ok())
        return fail(device.error(), device.error().code == wye::Code::NO_DEVICE ? 3 : 2);
    const auto where = device->describe();
    if (!where.ok()) return fail(where.error(), 1);
    if (const auto ready = program->prepare(device->get()); !ready.ok())
        return fail(ready.error(), 1);
    Stream stream(*device, *program, options);
    if (const auto opened = stream.open(); !opened.ok()) return fail(opened.error(), 1);
    const auto start = std::chrono::steady_clock::now();
    if (const auto done = stream.run(); !done.ok()) return fail(done.error(), 1);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const double bytes = double{1 << 20} * options.mebibytes * options.chunks;
    fmt::print("stream: {} chunks of {} MiB in {:.1f} ms, {:.2f} GB/s each way, {}, on {} ({})\n",
               options.chunks, options.mebibytes, took.count() * 1e3, bytes / took.count() / 1e9,
               options.in_turn ? "one step at a time" : "three in flight",
               wye::detail::view(where->selector), wye::detail::view(where->name));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options chosen;
    return wye::examples::command(
        argc, argv, "stream", "Upload, compute and download at the same time, on any device.",
        [&](wye::examples::Options& options) {
            options.text("--device", chosen.selector, "Selector (default: $WYE_DEVICE, else auto)");
            options.number("--chunks", chosen.chunks, 1, 1000000, "Of the stream (default 32)");
            options.number("--mebibytes", chosen.mebibytes, 1, 1024, "Of a chunk (default 8)");
            options.number("--rounds", chosen.rounds, 0, 1000000,
                           "Of work for each number (default 256)");
            options.flag("--in-turn", chosen.in_turn, "Wait for each step, for comparison");
        },
        [&] { return run(chosen); });
}
