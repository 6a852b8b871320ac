// SPDX-License-Identifier: Apache-2.0
#include "support/examples.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "support/random.hpp"
#include "support/sha256.hpp"
#include "support/texts.hpp"
#include "wye/program_format.h"

namespace support {
namespace {

using Words = std::vector<std::uint32_t>;
using Floats = std::vector<float>;
using Bytes = std::vector<std::byte>;

template <typename T>
Bytes bytes(const std::vector<T>& values) {
    Bytes out(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
    return out;
}

template <typename T>
std::vector<T> values(const Bytes& from) {
    std::vector<T> out(from.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), from.data(), from.size());
    return out;
}

ExampleBuffer input(std::string name, Bytes before) {
    return {std::move(name), true, false, std::move(before), {}};
}
ExampleBuffer output(std::string name, Bytes expected) {
    Bytes zero(expected.size());
    return {std::move(name), false, true, std::move(zero), std::move(expected)};
}
ExampleBuffer changed(std::string name, Bytes before, Bytes expected) {
    return {std::move(name), true, true, std::move(before), std::move(expected)};
}

Words random_words(Random& random, std::size_t n) {
    return values<std::uint32_t>(random_scalars(random, WYE_KIND_U32, n));
}

// Makes NaNs canonical, as a store of a device does.
void canonical(Floats& floats) {
    for (float& f : floats)
        if (f != f) f = std::bit_cast<float>(std::uint32_t{0x7fc00000});
}

std::string elements(std::size_t n) { return std::to_string(n) + " elements"; }

// `wide`: the number of elements that one invocation computes.
std::vector<Example> saxpy_of(const std::string& program, std::size_t wide, Random& random,
                              std::size_t scale) {
    std::vector<Example> out;
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{255},
                                    std::size_t{256}, std::size_t{257}, 10007 * scale}) {
        const std::size_t n = count * wide;
        const auto factor =
            static_cast<std::uint32_t>(count == 256 ? random_scalar(random, WYE_KIND_F32)
                                                    : std::bit_cast<std::uint32_t>(2.5F));
        const Bytes x = random_scalars(random, WYE_KIND_F32, n);
        const Bytes y = random_scalars(random, WYE_KIND_F32, n);
        const Floats fx = values<float>(x);
        const Floats fy = values<float>(y);
        Floats r(n);
        for (std::size_t i = 0; i < n; ++i) {
            const float product = std::bit_cast<float>(factor) * fx[i];
            r[i] = product + fy[i];
        }
        canonical(r);
        out.push_back({program,
                       elements(n),
                       {input("x", x), input("y", y), output("r", bytes(r))},
                       {{factor}},
                       {"a"}});
    }
    return out;
}
std::vector<Example> saxpy(Random& random, std::size_t scale) {
    return saxpy_of("saxpy", 1, random, scale);
}
std::vector<Example> saxpy4(Random& random, std::size_t scale) {
    return saxpy_of("saxpy4", 4, random, scale);
}

std::vector<Example> nbody(Random& random, std::size_t scale) {
    constexpr float kStep = 0.125F;
    constexpr float kSoftening = 0.01F;
    std::vector<Example> out;
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{256}, 300 * scale}) {
        Floats position(n * 4);
        Floats velocity(n * 4);
        for (Floats* floats : {&position, &velocity})
            for (float& f : *floats)
                f = static_cast<float>(random_scalar(random, WYE_KIND_U32) % 4096) * 0x1p-10F - 2;
        Floats next_position = position;
        Floats next_velocity = velocity;
        for (std::size_t i = 0; i < n; ++i) {
            float pulled[3] = {};
            for (std::size_t j = 0; j < n; ++j) {
                float d[3];
                for (std::size_t c = 0; c < 3; ++c)
                    d[c] = position[j * 4 + c] - position[i * 4 + c];
                const float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + kSoftening;
                const float pull = position[j * 4 + 3] / (square * std::sqrt(square));
                for (std::size_t c = 0; c < 3; ++c) pulled[c] += d[c] * pull;
            }
            for (std::size_t c = 0; c < 3; ++c) {
                next_velocity[i * 4 + c] += pulled[c] * kStep;
                next_position[i * 4 + c] += next_velocity[i * 4 + c] * kStep;
            }
        }
        out.push_back(
            {"nbody",
             elements(n),
             {input("position", bytes(position)), input("velocity", bytes(velocity)),
              output("next_position", bytes(next_position)),
              output("next_velocity", bytes(next_velocity))},
             {{std::bit_cast<std::uint32_t>(kStep), std::bit_cast<std::uint32_t>(kSoftening)}},
             {"dt", "softening"}});
    }
    return out;
}

std::vector<Example> reduction(Random& random, std::size_t scale) {
    std::vector<Example> out;
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{16384}, 16385 * scale}) {
        const Words x = random_words(random, n);
        const Words total = {std::accumulate(x.begin(), x.end(), std::uint32_t{0})};
        out.push_back({"reduction",
                       elements(n),
                       {input("x", bytes(x)), output("total", bytes(total))},
                       {{}},
                       {}});
    }
    return out;
}

std::vector<Example> prefix_sum(Random& random, std::size_t scale) {
    std::vector<Example> out;
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{256},
                                std::size_t{257}, 5000 * scale}) {
        const std::size_t blocks = (n + 255) / 256;
        for (const std::size_t m : {std::size_t{0}, blocks, blocks / 2}) {
            const Words x = random_words(random, n);
            const Words offsets = random_words(random, m);
            Words scan(n);
            Words sums(blocks);
            for (std::size_t g = 0; g < blocks; ++g) {
                std::uint32_t sum = g > 0 && g - 1 < m ? offsets[g - 1] : 0;
                for (std::size_t i = g * 256; i < std::min(n, g * 256 + 256); ++i)
                    scan[i] = sum += x[i];
                sums[g] = sum;
            }
            out.push_back({"prefix_sum",
                           elements(n) + ", " + std::to_string(m) + " offsets",
                           {input("x", bytes(x)), input("offsets", bytes(offsets)),
                            output("scan", bytes(scan)), output("sums", bytes(sums))},
                           {{}},
                           {}});
        }
    }
    return out;
}

std::vector<Example> histogram(Random& random, std::size_t scale) {
    std::vector<Example> out;
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{257}, std::size_t{32768}, 33001 * scale}) {
        Bytes data = random_bytes(random, n);
        if (n == 257) std::fill(data.begin(), data.end(), std::byte{255});
        Words hist(256);
        for (const std::byte b : data) ++hist[std::to_integer<std::size_t>(b)];
        out.push_back({"histogram",
                       elements(n),
                       {input("data", data), output("hist", bytes(hist))},
                       {{}},
                       {}});
    }
    return out;
}

std::vector<Example> matmul(Random& random, std::size_t scale) {
    struct Shape {
        std::size_t rows, inner, columns;
    };
    std::vector<Example> out;
    for (const Shape s : {Shape{0, 3, 4}, Shape{3, 0, 2}, Shape{1, 1, 1}, Shape{16, 16, 16},
                          Shape{17, 5, 33}, Shape{2, 40, 1}, Shape{40 * scale, 35, 24 * scale}}) {
        // Only small matrices have special values. In a large matrix these would make every sum
        // NaN.
        const auto matrix = [&](std::size_t n) {
            if (s.inner <= 5) return values<float>(random_scalars(random, WYE_KIND_F32, n));
            Floats m(n);
            for (float& f : m) f = static_cast<float>(random.between(-1000000, 1000000)) / 65536;
            return m;
        };
        const Floats a = matrix(s.rows * s.inner);
        const Floats b = matrix(s.inner * s.columns);
        Floats c(s.rows * s.columns);
        for (std::size_t row = 0; row < s.rows; ++row)
            for (std::size_t column = 0; column < s.columns; ++column)
                for (std::size_t k = 0; k < s.inner; ++k) {
                    const float product = a[row * s.inner + k] * b[k * s.columns + column];
                    c[row * s.columns + column] += product;
                }
        canonical(c);
        out.push_back({"matmul",
                       std::to_string(s.rows) + " x " + std::to_string(s.inner) + " x " +
                           std::to_string(s.columns),
                       {input("a", bytes(a)), input("b", bytes(b)), output("c", bytes(c))},
                       {{s.rows, s.inner, s.columns}},
                       {"rows", "inner", "columns"}});
    }
    return out;
}

struct Board {
    std::size_t width, height;
};
std::string board(Board b) { return std::to_string(b.width) + " x " + std::to_string(b.height); }

std::vector<Example> transpose(Random& random, std::size_t scale) {
    std::vector<Example> out;
    for (const Board b : {Board{0, 0}, Board{0, 5}, Board{1, 1}, Board{16, 16}, Board{17, 3},
                          Board{1, 40}, Board{100 * scale, 33 * scale}}) {
        const Words from = values<std::uint32_t>(random_bytes(random, b.width * b.height * 4));
        Words to(from.size());
        for (std::size_t y = 0; y < b.height; ++y)
            for (std::size_t x = 0; x < b.width; ++x) to[x * b.height + y] = from[y * b.width + x];
        out.push_back({"transpose",
                       board(b),
                       {input("from", bytes(from)), output("to", bytes(to))},
                       {{b.width, b.height}},
                       {"width", "height"}});
    }
    return out;
}

std::vector<Example> sha256_blocks(Random& random, std::size_t scale) {
    struct Size {
        std::size_t length, block;
    };
    std::vector<Size> sizes = {{0, 64},     {1, 1},    {3, 4294967295U}, {300, 7},
                               {1000, 100}, {300, 66}, {5000, 4096},     {8192 * scale, 4096}};
    // Lengths around those at which the padding of SHA-256 gets another block.
    for (std::size_t n = 54; n <= 66; ++n) sizes.push_back({n, 4096});
    for (std::size_t n = 118; n <= 130; n += 3) sizes.push_back({2 * n, n});
    std::vector<Example> out;
    for (const Size s : sizes) {
        // The bytes that fill the last word are not part of the message.
        const Bytes data = random_bytes(random, (s.length + 3) / 4 * 4);
        Bytes digests;
        for (std::size_t at = 0; at < s.length; at += s.block) {
            const std::size_t n = std::min(s.block, s.length - at);
            const auto digest = sha256(std::span(data).subspan(at, n));
            digests.insert(digests.end(), digest.begin(), digest.end());
        }
        out.push_back({"sha256",
                       std::to_string(s.length) + " bytes in blocks of " + std::to_string(s.block),
                       {input("data", data), output("digests", digests)},
                       {{s.length, s.block}},
                       {"length", "block"}});
    }
    return out;
}

std::vector<Example> mix(Random& random, std::size_t scale) {
    std::vector<Example> out;
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{257}, 3001 * scale}) {
        const Words before = random_words(random, n);
        Words after = before;
        for (std::uint32_t& v : after)
            for (std::uint32_t round = 0; round < 64; ++round) {
                v ^= v << 13;
                v ^= v >> 17;
                v ^= v << 5;
                v = std::rotl(v, 7) + round;
            }
        out.push_back(
            {"mix", elements(n), {changed("words", bytes(before), bytes(after))}, {{}}, {}});
    }
    return out;
}

std::vector<Example> bitonic(Random& random, std::size_t scale) {
    std::vector<Example> out;
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{511},
          std::size_t{512}, std::size_t{513}, std::size_t{1000}, std::size_t{1025}, 2500 * scale}) {
        const Words before = random_words(random, n);
        Words after = before;
        std::sort(after.begin(), after.end());
        std::vector<std::vector<std::uint64_t>> dispatches = {{512, 256}};
        for (std::uint64_t size = 1024; size < 2 * n; size *= 2) {
            for (std::uint64_t stride = size / 2; stride >= 512; stride /= 2)
                dispatches.push_back({size, stride});
            dispatches.push_back({size, 256});
        }
        out.push_back({"bitonic",
                       elements(n),
                       {changed("keys", bytes(before), bytes(after))},
                       dispatches,
                       {"size", "stride"}});
    }
    return out;
}

std::vector<Example> life(Random& random, std::size_t scale) {
    std::vector<Example> out;
    for (const Board b : {Board{0, 0}, Board{1, 1}, Board{2, 2}, Board{1, 5}, Board{3, 1},
                          Board{16, 16}, Board{17, 33}, Board{60 * scale, 50 * scale}}) {
        Bytes cells(b.width * b.height);
        for (std::byte& c : cells)
            c = static_cast<std::byte>(random.chance(40) ? random.next() : 0);
        Bytes next(cells.size());
        for (std::size_t y = 0; y < b.height; ++y)
            for (std::size_t x = 0; x < b.width; ++x) {
                int around = 0;
                for (std::size_t dy = 0; dy < 3; ++dy)
                    for (std::size_t dx = 0; dx < 3; ++dx) {
                        if (dx == 1 && dy == 1) continue;
                        const std::size_t nx = (x + dx + b.width - 1) % b.width;
                        const std::size_t ny = (y + dy + b.height - 1) % b.height;
                        around += cells[ny * b.width + nx] != std::byte{0} ? 1 : 0;
                    }
                const bool self = cells[y * b.width + x] != std::byte{0};
                next[y * b.width + x] = std::byte{around == 3 || (around == 2 && self)};
            }
        out.push_back({"life",
                       board(b),
                       {input("cells", cells), output("next", next)},
                       {{b.width, b.height}},
                       {"width", "height"}});
    }
    return out;
}

struct Entry {
    std::string name;
    std::vector<Example> (*make)(Random&, std::size_t);
};
const std::vector<Entry>& entries() {
    static const std::vector<Entry> kEntries = {
        {"bitonic", bitonic},
        {"histogram", histogram},
        {"life", life},
        {"matmul", matmul},
        {"mix", mix},
        {"nbody", nbody},
        {"prefix_sum", prefix_sum},
        {"reduction", reduction},
        {"saxpy", saxpy},
        {"saxpy4", saxpy4},
        {"sha256", sha256_blocks},
        {"transpose", transpose},
    };
    return kEntries;
}

}  // namespace

const std::vector<std::string>& example_programs() {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> names;
        for (const Entry& e : entries()) names.push_back(e.name);
        return names;
    }();
    return kNames;
}

std::string example_text(const std::string& program) {
    const std::string_view text = program_text(program);
    if (text.empty()) throw std::runtime_error("there is no example program " + program);
    return std::string(text);
}

std::vector<Example> examples(const std::string& program, std::uint64_t seed, std::size_t scale) {
    Random random(seed);
    for (const Entry& e : entries())
        if (e.name == program) return e.make(random, scale);
    return {};
}

Example small_example(const std::string& program) {
    constexpr std::size_t kMost = 4096;
    const std::vector<Example> all = examples(program, 1);
    const Example* best = nullptr;
    std::size_t best_size = 0;
    for (const Example& e : all) {
        std::size_t size = 0;
        bool empty = false;
        for (const auto& buffer : e.buffers) {
            size += buffer.before.size();
            empty |= buffer.before.empty();
        }
        if (empty || e.dispatches.size() > 3) continue;
        if (best == nullptr || (size <= kMost && (size > best_size || best_size > kMost))) {
            best = &e;
            best_size = size;
        }
    }
    return best == nullptr ? all.back() : *best;
}

}  // namespace support
