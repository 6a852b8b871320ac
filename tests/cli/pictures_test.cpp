// SPDX-License-Identifier: Apache-2.0
//
// Runs mandelbrot and imagefilter on every device, and compares each pixel with the host's
// arithmetic.
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "command.hpp"

using wye::test::read_bytes;
using wye::test::run_command;
using wye::test::TempFolder;

namespace {

struct Pixels {
    std::uint32_t width = 0, height = 0;
    std::vector<std::uint8_t> rgba;
    friend bool operator==(const Pixels&, const Pixels&) = default;
};

Pixels read(const std::string& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    REQUIRE(png_image_begin_read_from_file(&image, path.c_str()) != 0);
    image.format = PNG_FORMAT_RGBA;
    Pixels out{image.width, image.height, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(image))};
    REQUIRE(png_image_finish_read(&image, nullptr, out.rgba.data(), 0, nullptr) != 0);
    return out;
}

void write(const std::string& path, const Pixels& pixels) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = pixels.width;
    image.height = pixels.height;
    image.format = PNG_FORMAT_RGBA;
    REQUIRE(png_image_write_to_file(&image, path.c_str(), 0, pixels.rgba.data(), 0, nullptr) != 0);
}

std::uint32_t shade(std::uint32_t rounds) {
    static constexpr std::uint32_t kPalette[8] = {0x00641e07, 0x00cb6b20, 0x00ffffed, 0x0000aaff,
                                                  0x00000200, 0x00300a12, 0x00a04060, 0x00e0c0b0};
    std::uint32_t out = 0;
    for (const unsigned shift : {0U, 8U, 16U}) {
        const std::uint32_t a = kPalette[rounds / 8 % 8] >> shift & 255U;
        const std::uint32_t b = kPalette[(rounds / 8 + 1) % 8] >> shift & 255U;
        out |= (a * (8 - rounds % 8) + b * (rounds % 8)) / 8 << shift;
    }
    return out;
}

template <typename T>
Pixels mandelbrot(std::uint32_t width, std::uint32_t height, double x, double y, double view,
                  std::uint32_t limit) {
    Pixels out{width, height, {}};
    const double pitch = view / width;
    const T left = static_cast<T>(x - pitch * (width - 1) / 2);
    const T top = static_cast<T>(y + pitch * (height - 1) / 2);
    for (std::uint32_t row = 0; row < height; ++row)
        for (std::uint32_t column = 0; column < width; ++column) {
            const T cr = left + static_cast<T>(column) * static_cast<T>(pitch);
            const T ci = top - static_cast<T>(row) * static_cast<T>(pitch);
            T zr = 0;
            T zi = 0;
            std::uint32_t rounds = 0;
            for (; rounds < limit && zr * zr + zi * zi <= 4; ++rounds) {
                const T next = zr * zr - zi * zi + cr;
                zi = (zr + zr) * zi + ci;
                zr = next;
            }
            const std::uint32_t pixel = 0xff000000U | (rounds == limit ? 0 : shade(rounds));
            for (const unsigned shift : {0U, 8U, 16U, 24U})
                out.rgba.push_back(static_cast<std::uint8_t>(pixel >> shift));
        }
    return out;
}

using Plane = std::vector<std::array<float, 4>>;

Plane blurred(const Plane& from, int width, int height, bool vertical, double sigma) {
    const int radius = std::min(32, static_cast<int>(std::ceil(3 * sigma)));
    std::vector<double> taps;
    double sum = 0;
    for (int k = 0; k <= radius; ++k) {
        taps.push_back(std::exp(-0.5 * k * k / (sigma * sigma)));
        sum += k == 0 ? taps[0] : 2 * taps.back();
    }
    const auto at = [&](int x, int y) {
        return from[static_cast<std::size_t>(std::clamp(y, 0, height - 1) * width +
                                             std::clamp(x, 0, width - 1))];
    };
    Plane to(from.size());
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (std::size_t c = 0; c < 4; ++c) {
                float total = at(x, y)[c] * static_cast<float>(taps[0] / sum);
                for (int k = 1; k <= radius; ++k) {
                    const int dx = vertical ? 0 : k;
                    const int dy = vertical ? k : 0;
                    total += (at(x - dx, y - dy)[c] + at(x + dx, y + dy)[c]) *
                             static_cast<float>(taps[static_cast<std::size_t>(k)] / sum);
                }
                to[static_cast<std::size_t>(y * width + x)][c] = total;
            }
    return to;
}

Pixels edges(const Pixels& picture, double sigma) {
    const int width = static_cast<int>(picture.width);
    const int height = static_cast<int>(picture.height);
    Plane plane(picture.rgba.size() / 4);
    for (std::size_t i = 0; i < picture.rgba.size(); ++i)
        plane[i / 4][i % 4] = static_cast<float>(picture.rgba[i]);
    plane = blurred(blurred(plane, width, height, false, sigma), width, height, true, sigma);
    const auto grey = [&](int x, int y) {
        const auto& p = plane[static_cast<std::size_t>(std::clamp(y, 0, height - 1) * width +
                                                       std::clamp(x, 0, width - 1))];
        return 0.2126F * p[0] + 0.7152F * p[1] + 0.0722F * p[2];
    };
    Pixels out{picture.width, picture.height, {}};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const float a = grey(x - 1, y - 1), b = grey(x, y - 1), c = grey(x + 1, y - 1);
            const float d = grey(x - 1, y), f = grey(x + 1, y);
            const float g = grey(x - 1, y + 1), h = grey(x, y + 1), i = grey(x + 1, y + 1);
            const float across = c - a + 2.0F * (f - d) + (i - g);
            const float down = g - a + 2.0F * (h - b) + (i - c);
            const float strength = std::sqrt(across * across + down * down);
            const auto level =
                static_cast<std::uint8_t>(std::min(std::nearbyint(strength), 255.0F));
            const float alpha = plane[static_cast<std::size_t>(y * width + x)][3];
            out.rgba.insert(out.rgba.end(), {level, level, level,
                                             static_cast<std::uint8_t>(std::nearbyint(alpha))});
        }
    return out;
}

}  // namespace

TEST_CASE("mandelbrot draws the host's own picture on every device") {
    const TempFolder folder;
    const std::string out = folder.path("out.png");
    for (const std::string& device : wye::test::listed_devices()) {
        for (const bool f64 : {false, true}) {
            CAPTURE(device);
            CAPTURE(f64);
            std::vector<std::string> words = {WYE_MANDELBROT, "--device", device,     "--size",
                                              "123x77",       "--at",     "-0.7,0.1", "--width",
                                              "2.5",          "--rounds", "100",      out};
            if (f64) words.insert(words.end() - 1, "--f64");
            const auto outcome = run_command(words);
            CAPTURE(outcome.err);
            REQUIRE(outcome.code == 0);
            const Pixels expected = f64 ? mandelbrot<double>(123, 77, -0.7, 0.1, 2.5, 100)
                                        : mandelbrot<float>(123, 77, -0.7, 0.1, 2.5, 100);
            CHECK(read(out) == expected);
        }
    }
}

TEST_CASE("imagefilter finds the host's own edges on every device") {
    const TempFolder folder;
    std::mt19937 generator(11);
    Pixels picture{61, 37, {}};
    for (std::uint32_t i = 0; i < 61 * 37 * 4; ++i)
        picture.rgba.push_back(
            i % 4 == 3 ? 255
                       : static_cast<std::uint8_t>((i / 4 % 61 / 10 * 40) ^ (generator() & 31U)));
    const std::string in = folder.path("in.png");
    write(in, picture);
    for (const std::string& device : wye::test::listed_devices()) {
        for (const double sigma : {0.5, 3.0}) {
            CAPTURE(device);
            CAPTURE(sigma);
            const std::string out = folder.path("out.png");
            const auto outcome = run_command(
                {WYE_IMAGEFILTER, "--device", device, "--sigma", std::to_string(sigma), in, out});
            CAPTURE(outcome.err);
            REQUIRE(outcome.code == 0);
            CHECK(read(out) == edges(picture, sigma));
        }
    }
}

TEST_CASE("bad pictures and sizes are refused, and no file appears") {
    const TempFolder folder;
    const std::string out = folder.path("out.png");
    const std::string text = folder.write("text.png", "this is no picture");
    const auto bad = run_command({WYE_IMAGEFILTER, "--device", "cpu", text, out});
    CHECK(bad.code == 2);
    CHECK(bad.err.find("Fix: ") != std::string::npos);
    CHECK(run_command({WYE_IMAGEFILTER, "--device", "cpu", folder.path("none"), out}).code == 2);
    for (const char* size : {"0x4", "12", "axb", "99999x99999", "4x4x4"})
        CHECK(run_command({WYE_MANDELBROT, "--device", "cpu", "--size", size, out}).code == 2);
    CHECK(run_command(
              {WYE_MANDELBROT, "--device", "cpu", "--size", "4x4", folder.path("none/out.png")})
              .code == 1);
    CHECK(folder.names() == std::vector<std::string>{"text.png"});
}

TEST_CASE("a picture follows links, keeps permissions, and no limit on sizes ends the command") {
    const TempFolder folder;
    const std::string out = folder.write("out.png", "old");
    std::filesystem::permissions(
        out, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    std::filesystem::create_symlink("out.png", folder.path("link.png"));
    CHECK(run_command({WYE_MANDELBROT, "--device", "cpu", "--size", "4x4", folder.path("link.png")})
              .code == 0);
    CHECK(std::filesystem::is_symlink(folder.path("link.png")));
    CHECK(read_bytes(out).starts_with("\x89PNG"));
    CHECK(std::filesystem::status(out).permissions() ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    const auto limited =
        run_command({"/bin/sh", "-c", "ulimit -f 1; exec \"$0\" \"$@\"", WYE_MANDELBROT, "--device",
                     "cpu", "--size", "400x400", folder.path("large.png")});
    CHECK(limited.code == 1);
    CHECK(limited.err.find("File too large") != std::string::npos);
    CHECK(folder.names() == std::vector<std::string>{"link.png", "out.png"});
}
