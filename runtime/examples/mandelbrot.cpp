// SPDX-License-Identifier: Apache-2.0
//
// mandelbrot: draws the Mandelbrot set with a portable program on any device, with the same bytes
// on each.
//
//   mandelbrot [--device SEL] [--size WxH] [--at X,Y] [--width W] [--rounds N] [--f64] OUT.png
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "command_line.hpp"
#include "mandelbrot_f32_program.hpp"
#include "mandelbrot_f64_program.hpp"
#include "picture.hpp"
#include "wye/wye.hpp"

namespace {

struct View {
    std::string selector;
    std::string out;
    std::string size = "1920x1080";
    std::vector<double> at = {-0.743643887, 0.131825904};
    double width = 0.002;
    std::uint32_t rounds = 1000;
    bool f64 = false;
};

int fail(const wye::Error& error, int code) {
    std::fprintf(stderr, "mandelbrot: error: %s\n", error.text().c_str());
    return code;
}

// Parses a size such as "1920x1080", of at most 2^28 pixels.
std::optional<wye::examples::Picture> sized(const std::string& text) {
    unsigned width = 0;
    unsigned height = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%7ux%7u%c", &width, &height, &rest) != 2) return std::nullopt;
    const std::uint64_t pixels = std::uint64_t{width} * height;
    if (pixels == 0 || pixels > std::uint64_t{1} << 28U) return std::nullopt;
    wye::examples::Picture picture{width, height, {}};
    picture.rgba.resize(pixels * 4);
    return picture;
}

template <typename T>
wye::Result<wye_report> draw(const wye::Program& program, const wye::Device& device,
                             const View& view, wye::examples::Picture& picture) {
    const double pitch = view.width / picture.width;
    const double left = view.at[0] - pitch * (picture.width - 1) / 2;
    const double top = view.at[1] + pitch * (picture.height - 1) / 2;
    return wye::Dispatch(program, device)
        .param("width", picture.width)
        .param("height", picture.height)
        .param("limit", view.rounds)
        .param("left", static_cast<T>(left))
        .param("top", static_cast<T>(top))
        .param("pitch", static_cast<T>(pitch))
        .output("pixels", std::as_writable_bytes(std::span(picture.rgba)))
        .run();
}

int run(const View& view) {
    auto picture = sized(view.size);
    if (!picture)
        return fail(
            wye::Error(wye::Code::INVALID_ARGUMENT,
                       fmt::format("`{}` is no size of a picture", view.size),
                       "Fix: write WIDTHxHEIGHT, such as 1920x1080, of at most 2^28 pixels"),
            2);
    const auto context = wye::Context::create();
    if (!context.ok()) return fail(context.error(), 1);
    const auto program =
        view.f64 ? context->program_from_text(wye::examples::kMandelbrotF64, "mandelbrot_f64.wye")
                 : context->program_from_text(wye::examples::kMandelbrotF32, "mandelbrot_f32.wye");
    if (!program.ok()) return fail(program.error(), 1);
    const auto device = context->open(view.selector, &*program);
    if (!device.ok())
        return fail(device.error(), device.error().code == wye::Code::NO_DEVICE ? 3 : 2);
    const auto where = device->describe();
    if (!where.ok()) return fail(where.error(), 1);
    const auto report = view.f64 ? draw<double>(*program, *device, view, *picture)
                                 : draw<float>(*program, *device, view, *picture);
    if (!report.ok()) return fail(report.error(), 1);
    if (const auto written = wye::examples::write_png(view.out, *picture); !written.ok())
        return fail(written.error(), 1);
    fmt::print(stderr, "mandelbrot: {} x {} pixels in {:.1f} ms on {} ({})\n", picture->width,
               picture->height, static_cast<double>(report->wall_ns) / 1e6,
               wye::detail::view(where->selector), wye::detail::view(where->name));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    View view;
    return wye::examples::command(
        argc, argv, "mandelbrot", "A picture of the Mandelbrot set, on any device.",
        [&](wye::examples::Options& options) {
            options.text("--device", view.selector, "Selector (default: $WYE_DEVICE, else auto)");
            options.text("--size", view.size, "Pixels, WIDTHxHEIGHT (default 1920x1080)");
            options.numbers("--at", view.at, "X,Y: the centre");
            options.positive("--width", view.width, "Of the view, in the plane (default 0.002)");
            options.number("--rounds", view.rounds, 1, 1000000,
                           "Iterations after which a point counts as inside (default 1000)");
            options.flag("--f64", view.f64, "64-bit floats, for deeper views");
            options.file("out", view.out, "PNG file to write");
        },
        [&] { return run(view); });
}
