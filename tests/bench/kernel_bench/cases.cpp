// SPDX-License-Identifier: Apache-2.0
#include "kernel_bench/cases.hpp"

#include <bit>
#include <cstring>

namespace wye::bench {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t ceil_div(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint32_t>((a + b - 1) / b);
}
std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

Case saxpy(std::uint32_t n) {
    const std::uint64_t bytes = std::uint64_t{n} * 4;
    return {"saxpy",
            "saxpy",
            {{"x", bytes, Content::Floats},
             {"y", bytes, Content::Floats},
             {"r", bytes, Content::Output, true}},
            {{"a", bits(1.5F)}},
            false,
            {"saxpy", {ceil_div(n, 256), 1, 1}, {256, 1, 1}, {bits(1.5F), n}},
            {"saxpy4", {ceil_div(n / 4, 256), 1, 1}, {256, 1, 1}, {bits(1.5F), n / 4}}};
}

Case saxpy4(std::uint32_t n) {
    Case out = saxpy(n);
    out.name = out.program = "saxpy4";
    out.strict = out.fast;
    return out;
}

Case reduction(std::uint32_t n, std::uint32_t groups) {
    return {"reduction",
            "reduction",
            {{"x", std::uint64_t{n} * 4, Content::Words}, {"total", 4, Content::Sum}},
            {},
            true,
            {"reduction", {groups, 1, 1}, {256, 1, 1}, {n}},
            {"reduction_fast", {groups, 1, 1}, {256, 1, 1}, {n}}};
}

Case transpose(std::uint32_t width, std::uint32_t height) {
    const std::uint64_t bytes = std::uint64_t{width} * height * 4;
    return {
        "transpose",
        "transpose",
        {{"from", bytes, Content::Words}, {"to", bytes, Content::Output}},
        {{"width", width}, {"height", height}},
        false,
        {"transpose", {ceil_div(width, 16), ceil_div(height, 16), 1}, {16, 16, 1}, {width, height}},
        {"transpose_fast",
         {ceil_div(width, 32), ceil_div(height, 32), 1},
         {32, 8, 1},
         {width, height}}};
}

Case matmul(std::string name, std::uint32_t n) {
    const std::uint64_t bytes = std::uint64_t{n} * n * 4;
    return {std::move(name),
            "matmul",
            {{"a", bytes, Content::Floats},
             {"b", bytes, Content::Floats},
             {"c", bytes, Content::Output, true}},
            {{"rows", n}, {"inner", n}, {"columns", n}},
            false,
            {"matmul", {ceil_div(n, 16), ceil_div(n, 16), 1}, {16, 16, 1}, {n, n, n}},
            {"matmul_fast", {ceil_div(n, 128), ceil_div(n, 128), 1}, {16, 16, 1}, {n, n, n}}};
}

Case sha256(std::uint32_t blocks, std::uint32_t block) {
    const std::uint32_t length = blocks * block;
    const Launch launch = {"sha256", {ceil_div(blocks, 64), 1, 1}, {64, 1, 1}, {length, block}};
    return {"sha256",
            "sha256",
            {{"data", (std::uint64_t{length} + 3) / 4 * 4, Content::Words},
             {"digests", std::uint64_t{blocks} * 32, Content::Output}},
            {{"length", length}, {"block", block}},
            false,
            launch,
            launch};
}

Case mandelbrot(std::uint32_t side, std::uint32_t limit) {
    const float width = 0.002F;
    const float pitch = width / static_cast<float>(side);
    const float left = -0.744643887F, top = 0.132825904F;
    const Words arguments = {side, side, limit, bits(left), bits(top), bits(pitch)};
    return {"mandelbrot",
            "mandelbrot_f32",
            {{"pixels", std::uint64_t{side} * side * 4, Content::Output}},
            {{"width", side},
             {"height", side},
             {"limit", limit},
             {"left", bits(left)},
             {"top", bits(top)},
             {"pitch", bits(pitch)}},
            false,
            {"mandelbrot", {ceil_div(side, 16), ceil_div(side, 16), 1}, {16, 16, 1}, arguments},
            {"mandelbrot", {ceil_div(side, 16), ceil_div(side, 16), 1}, {16, 16, 1}, arguments}};
}

Case nbody(std::uint32_t n) {
    const std::uint64_t bytes = std::uint64_t{n} * 16;
    const Words arguments = {bits(0.001F), bits(0.01F), n};
    return {"nbody",
            "nbody",
            {{"position", bytes, Content::Floats},
             {"velocity", bytes, Content::Floats},
             {"next_position", bytes, Content::Output, true},
             {"next_velocity", bytes, Content::Output, true}},
            {{"dt", bits(0.001F)}, {"softening", bits(0.01F)}},
            false,
            {"nbody", {ceil_div(n, 256), 1, 1}, {256, 1, 1}, arguments},
            {"nbody", {ceil_div(n, 256), 1, 1}, {256, 1, 1}, arguments}};
}

Case histogram(std::uint32_t n, std::uint32_t groups) {
    return {"histogram",
            "histogram",
            {{"data", n, Content::Words}, {"hist", 1024, Content::Sum}},
            {},
            true,
            {"histogram", {groups, 1, 1}, {256, 1, 1}, {n}},
            {"histogram_fast", {groups, 1, 1}, {256, 1, 1}, {n}}};
}

// Counts the traffic of a case in which each byte is moved once.
Case streaming(Case c) {
    for (const CaseBuffer& b : c.buffers) c.traffic += b.bytes;
    return c;
}

std::vector<Case> small(Case sha256, Case nbody) {
    return {saxpy(5000),        saxpy4(5000),         reduction(5000, 3),
            transpose(70, 45),  matmul("matmul", 40), std::move(sha256),
            mandelbrot(60, 50), std::move(nbody),     histogram(4992, 3)};
}

}  // namespace

std::vector<Case> check_free_cases() { return small(sha256(64, 128), nbody(512)); }

std::vector<Case> cases(bool tiny) {
    if (tiny) return small(sha256(37, 150), nbody(300));
    return {streaming(saxpy(64U << 20U)),
            streaming(saxpy4(64U << 20U)),
            streaming(reduction(256U << 20U, 1056)),
            streaming(transpose(16384, 8192)),
            matmul("matmul 1024", 1024),
            matmul("matmul 4096", 4096),
            sha256(1U << 18U, 1024),
            mandelbrot(4096, 1000),
            nbody(65536),
            streaming(histogram(512U << 20U, 1056))};
}

void fill(Content content, std::uint64_t offset, std::vector<std::byte>& out) {
    for (std::size_t at = 0; at + 4 <= out.size(); at += 4) {
        // The word is a multiplicative hash of its index.
        std::uint64_t h = ((offset + at) / 4 + 1) * 0x9e3779b97f4a7c15U;
        auto word = static_cast<std::uint32_t>((h ^ (h >> 29U)) >> 16U);
        if (content == Content::Floats)
            word = bits(0.5F + static_cast<float>(word >> 8U) * 0x1p-24F);
        std::memcpy(out.data() + at, &word, 4);
    }
}

}  // namespace wye::bench
