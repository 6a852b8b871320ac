// SPDX-License-Identifier: Apache-2.0
//
// lost_device [SELECTOR]: continues after the loss of a device. The data on the device is lost, so
// the work begins again from host data: on the same device if it can be reopened, else on another
// one.
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "wye/wye.hpp"

namespace {

constexpr std::string_view kDouble = R"wye(
wye 1; program double; workgroup 64;
input x: u32[]; output r: u32[len(x)];
grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] * 2u; } }
)wye";
using Words = std::vector<std::uint32_t>;

// All buffers are made here, so that a second call does not use those of a lost device.
wye::Result<void> work(const wye::Program& program, const wye::Device& device, const Words& x,
                       Words& r) {
    WYE_ASSIGN(wye::Buffer input, device.buffer(x.size() * sizeof x[0], "input"));
    WYE_TRY(input.upload(x));
    WYE_TRY(wye::Dispatch(program, device).bind("x", input).output("r", r).run());
    return {};
}

wye::Result<void> run(std::string_view selector) {
    WYE_ASSIGN(const wye::Context context, wye::Context::create());
    WYE_ASSIGN(const wye::Program program, context.program_from_text(kDouble, "double"));
    WYE_ASSIGN(wye::Device device, context.open(selector, &program));
    const Words x = {1, 2, 3};
    Words r(x.size());
    auto done = work(program, device, x, r);
    for (int tries = 1; !done.ok() && tries < 4; ++tries) {
        if (done.error().code != wye::Code::DEVICE_LOST) return done.error();
        std::fprintf(stderr, "lost: %s\n", done.error().message.c_str());
        auto again = device.recover();
        if (!again.ok() || tries > 1) {  // it cannot be reopened, or was lost a second time
            WYE_ASSIGN(const wye_device_description lost, device.describe());
            again =
                context.open("-" + std::string(lost.selector.data, lost.selector.size), &program);
        }
        WYE_ASSIGN(device, std::move(again));
        done = work(program, device, x, r);
    }
    WYE_TRY(std::move(done));
    WYE_ASSIGN(const wye_device_description used, device.describe());
    std::printf("doubled on %s: %u %u %u\n", used.selector.data, r[0], r[1], r[2]);
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto done = run(argc > 1 ? argv[1] : "");
    if (done.ok()) return 0;
    std::fprintf(stderr, "lost_device: %s\n", done.error().text().c_str());
    return 1;
}
