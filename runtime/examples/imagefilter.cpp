// SPDX-License-Identifier: Apache-2.0
//
// imagefilter: blurs a picture (a Gaussian, row pass and column pass) and finds its edges (Sobel),
// with portable programs on any device and the same bytes on each. The data stays on the device
// between the four dispatches.
//
//   imagefilter [--device SEL] [--sigma S] IN.png OUT.png
#include <array>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "blur_program.hpp"
#include "command_line.hpp"
#include "picture.hpp"
#include "sobel_program.hpp"
#include "unpack_program.hpp"
#include "wye/wye.hpp"

namespace {

using wye::examples::Picture;

constexpr std::uint32_t kMostTaps = 32;  // on each side, as in blur.wye

struct Weights {
    std::array<float, kMostTaps + 1> taps{};
    std::uint32_t radius = 0;
};

// Returns exp(-k^2 / 2 sigma^2) out to three sigma, scaled to a sum of 1.
Weights gaussian(double sigma) {
    Weights out;
    out.radius = std::min(kMostTaps, static_cast<std::uint32_t>(std::ceil(3 * sigma)));
    std::array<double, kMostTaps + 1> raw{};
    double sum = 0;
    for (std::uint32_t k = 0; k <= out.radius; ++k) {
        raw[k] = std::exp(-0.5 * k * k / (sigma * sigma));
        sum += k == 0 ? raw[k] : 2 * raw[k];
    }
    for (std::uint32_t k = 0; k <= out.radius; ++k) out.taps[k] = static_cast<float>(raw[k] / sum);
    return out;
}

wye::Result<std::uint64_t> filter(const wye::Context& context, const wye::Device& device,
                                  double sigma, Picture& picture) {
    WYE_ASSIGN(const auto unpack, context.program_from_text(wye::examples::kUnpack, "unpack.wye"));
    WYE_ASSIGN(const auto blur, context.program_from_text(wye::examples::kBlur, "blur.wye"));
    WYE_ASSIGN(const auto sobel, context.program_from_text(wye::examples::kSobel, "sobel.wye"));
    const std::uint64_t bytes = std::uint64_t{picture.width} * picture.height * 16;
    WYE_ASSIGN(const auto one, device.buffer(bytes));
    WYE_ASSIGN(const auto other, device.buffer(bytes));
    const Weights weights = gaussian(sigma);

    WYE_ASSIGN(const auto first,
               wye::Dispatch(unpack, device).input("from", picture.rgba).bind("to", one).run());
    std::uint64_t wall_ns = first.wall_ns;
    for (const std::uint32_t vertical : {0U, 1U}) {
        WYE_ASSIGN(const auto pass, wye::Dispatch(blur, device)
                                        .param("width", picture.width)
                                        .param("height", picture.height)
                                        .param("vertical", vertical)
                                        .param("radius", weights.radius)
                                        .input("weights", weights.taps)
                                        .bind("from", vertical == 0 ? one : other)
                                        .bind("to", vertical == 0 ? other : one)
                                        .run());
        wall_ns += pass.wall_ns;
    }
    WYE_ASSIGN(const auto last, wye::Dispatch(sobel, device)
                                    .param("width", picture.width)
                                    .param("height", picture.height)
                                    .bind("from", one)
                                    .output("to", picture.rgba)
                                    .run());
    return wall_ns + last.wall_ns;
}

int fail(const wye::Error& error, int code) {
    std::fprintf(stderr, "imagefilter: error: %s\n", error.text().c_str());
    return code;
}

int run(const std::string& selector, double sigma, const std::string& in, const std::string& out) {
    auto picture = wye::examples::read_png(in);
    if (!picture.ok()) return fail(picture.error(), 2);
    const auto context = wye::Context::create();
    if (!context.ok()) return fail(context.error(), 1);
    const auto device = context->open(selector);
    if (!device.ok())
        return fail(device.error(), device.error().code == wye::Code::NO_DEVICE ? 3 : 2);
    const auto where = device->describe();
    if (!where.ok()) return fail(where.error(), 1);
    const auto wall_ns = filter(*context, *device, sigma, *picture);
    if (!wall_ns.ok()) return fail(wall_ns.error(), 1);
    if (const auto written = wye::examples::write_png(out, *picture); !written.ok())
        return fail(written.error(), 1);
    fmt::print(stderr, "imagefilter: {} x {} pixels, 4 dispatches in {:.1f} ms on {} ({})\n",
               picture->width, picture->height, static_cast<double>(*wall_ns) / 1e6,
               wye::detail::view(where->selector), wye::detail::view(where->name));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::string selector;
    std::string in;
    std::string out;
    double sigma = 2;
    return wye::examples::command(
        argc, argv, "imagefilter", "Gaussian blur, then Sobel edges, on any device.",
        [&](wye::examples::Options& options) {
            options.text("--device", selector, "Selector (default: $WYE_DEVICE, else auto)");
            options.number("--sigma", sigma, 0.1, 10.0, "Of the blur, in pixels (default 2)");
            options.file("in", in, "PNG file to read");
            options.file("out", out, "PNG file to write");
        },
        [&] { return run(selector, sigma, in, out); });
}
