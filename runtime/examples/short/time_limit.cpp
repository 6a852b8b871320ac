// SPDX-License-Identifier: Apache-2.0
//
// time_limit [SELECTOR]: gives a dispatch a time limit that it exceeds, and uses the device again.
// A device that cannot stop work runs it to its end, and refuses other work until then.
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "wye/wye.hpp"

namespace {

constexpr std::string_view kSpin = R"wye(
wye 1; program spin; workgroup 64;
param rounds: u32;
output r: u32[64];
grid groups 1;
main {
    var v = global_id.x;
    for n in 0u..rounds { v = (v ^ (v >> 7u)) * 1664525u + n; }
    r[global_id.x] = v;
}
)wye";

wye::Result<void> run(std::string_view selector) {
    WYE_ASSIGN(const wye::Context context, wye::Context::create());
    WYE_ASSIGN(const wye::Program program, context.program_from_text(kSpin, "spin"));
    WYE_ASSIGN(const wye::Device device, context.open(selector, &program));
    WYE_TRY(program.prepare(device.get()));  // otherwise the time limit would include the compile
    std::vector<std::uint32_t> r(64);

    const auto limited = wye::Dispatch(program, device)
                             .param("rounds", 10'000'000U)
                             .timeout_ns(1'000'000)  // a millisecond
                             .output("r", r)
                             .run();
    if (limited.ok()) std::puts("the device was done within the limit");
    if (!limited.ok() && limited.error().code != wye::Code::TIMEOUT) return limited.error();
    if (!limited.ok()) std::puts("timed out, and `r` was not written");

    WYE_TRY(device.flush());  // waits until work that could not be stopped has ended
    WYE_TRY(wye::Dispatch(program, device).param("rounds", 3U).output("r", r).run());
    std::printf("three rounds: %u %u\n", r[0], r[63]);
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto done = run(argc > 1 ? argv[1] : "");
    if (done.ok()) return 0;
    std::fprintf(stderr, "time_limit: %s\n", done.error().text().c_str());
    return 1;
}
