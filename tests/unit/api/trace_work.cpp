// SPDX-License-Identifier: Apache-2.0
//
// Work for trace_check.py, which sets the path of the trace in the environment, and reads the trace
// afterwards.
//     trace_work SELECTOR FOLDER WHAT
// WHAT: `all`: every kind of call. `killed`: the process is killed before its context is destroyed.
// `twice`: two contexts. `many`: more events than the limit, which is `trace.events` = 40.
// `ignored`: with a context that ignores the environment.
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "wye/wye.hpp"

namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::string_view kMix = R"(wye 1; program mix; workgroup 64; param rounds: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { var v = x[i];
    for n in 0u..rounds { v = (v ^ n) * 1664525u + 1013904223u; } r[i] = v; } })";

// Quotes, a backslash, control characters, bytes that are not UTF-8, and the end of a script.
constexpr std::string_view kHostile(
    "say \"hi\" \\ \n\t\x01\x7f \xff\xfe\xc0\xaf \xed\xa0\x80 </script>");

// Enough iterations for two dispatches to overlap.
constexpr std::uint32_t kRounds = 2'000;
constexpr std::size_t kCount = 4096;

wye::Result<void> work(const wye::Context& context, const std::string& selector) {
    WYE_ASSIGN(const auto device, context.open(selector));
    WYE_ASSIGN(const auto program, context.program_from_text(kMix));
    WYE_TRY(program.prepare(device.get()));
    Words x(kCount, 7);
    Words r(kCount);
    {
        wye::Dispatch dispatch(program, device);
        dispatch.desc().label = {kHostile.data(), kHostile.size()};
        WYE_TRY(dispatch.param("rounds", kRounds).input("x", x).output("r", r).run());
    }
    WYE_ASSIGN(auto in, device.buffer(kCount * 4));
    WYE_TRY(in.upload(x));
    std::vector<wye::Buffer> out;
    std::vector<wye::Pending> pending;
    for (int i = 0; i < 2; ++i) {
        WYE_ASSIGN(auto made, device.buffer(kCount * 4));
        out.push_back(std::move(made));
    }
    for (int round = 0; round < 3; ++round)  // later rounds are repeated requests
        WYE_TRY(wye::Dispatch(program, device)
                    .param("rounds", kRounds)
                    .bind("x", in)
                    .bind("r", out[0])
                    .run());
    for (const wye::Buffer& buffer : out) {
        wye::Dispatch dispatch(program, device);
        dispatch.param("rounds", 10 * kRounds).bind("x", in).bind("r", buffer);
        WYE_ASSIGN(auto one, dispatch.submit());
        pending.push_back(std::move(one));
    }
    for (const wye::Pending& one : pending) WYE_TRY(one.wait());
    WYE_TRY(in.copy_from(out[0], 0, 0, 400));
    return in.download(r);
}

wye::Result<void> many(const wye::Context& context, const std::string& selector) {
    WYE_ASSIGN(const auto device, context.open(selector));
    WYE_ASSIGN(auto buffer, device.buffer(4096));
    for (int i = 0; i < 100; ++i) WYE_TRY(buffer.fill(1, 0, 4096));
    return {};
}

wye::Result<void> run(const std::string& selector, const std::string& folder,
                      const std::string& what) {
    wye::ContextOptions options{.plugin_paths = {folder}};
    if (what == "many") options.config = {{"trace.events", "40"}};
    if (what == "ignored") options.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT;
    WYE_ASSIGN(const auto context, wye::Context::create(options));
    if (what == "many" || what == "ignored") return many(context, selector);
    WYE_TRY(work(context, selector));
    if (what == "killed") std::raise(SIGKILL);
    if (what != "twice") return {};
    WYE_ASSIGN(const auto second, wye::Context::create(options));
    return work(second, selector);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const auto result = run(argv[1], argv[2], argv[3]);
    if (!result.ok()) std::fprintf(stderr, "%s\n", result.error().text().c_str());
    return result.ok() ? 0 : 1;
}
