// SPDX-License-Identifier: Apache-2.0
//
// Buffers, uploads, fills, copies and downloads, compared with the same operations on host memory.
#include <algorithm>

#include "conformance/abi/rig.hpp"

using harness::bytes_of;
using harness::copy;
using harness::counting;
using harness::Device;
using harness::fill;
using harness::Rig;

namespace {

std::vector<std::byte> noise(std::size_t size, std::uint64_t seed) {
    std::vector<std::byte> out(size);
    for (std::byte& byte : out) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        byte = static_cast<std::byte>(seed >> 56U);
    }
    return out;
}

void fill_on_host(std::vector<std::byte>& bytes, std::uint64_t offset, std::uint64_t size,
                  std::uint64_t pattern, std::uint32_t pattern_size) {
    for (std::uint64_t i = 0; i < size; ++i)
        bytes[offset + i] = static_cast<std::byte>(pattern >> (8 * (i % pattern_size)));
}

}  // namespace

TEST_SUITE_BEGIN("memory");

TEST_CASE("uploads, fills, copies and downloads move exactly their bytes (P-28)") {
    Rig rig;
    Device& device = rig.device;
    const auto content = counting(256);
    wye_buffer_object* a = device.buffer(bytes_of(content));
    wye_buffer_object* b = device.buffer(1024);
    REQUIRE(a != nullptr);
    REQUIRE(b != nullptr);
    const wye_operation steps[] = {
        fill(b, 0, 1024, 0xabU, 1),
        copy(a, b, 16, 32, 64),
        fill(b, 512, 16, 0x1122U, 2),
        fill(b, 528, 16, 0x11223344U, 4),
        fill(b, 544, 40, 0x1122334455667788U, 8),
        fill(b, 584, 16, 0x5566778855667788U, 8),
        fill(b, 0, 0, 1, 4),  // 0 bytes: no effect
        copy(a, b, 0, 0, 0),
    };
    REQUIRE(device.submit(steps) == WYE_OK);
    REQUIRE(device.wait() == WYE_OK);
    std::vector<std::byte> expected(1024, std::byte{0xab});
    std::copy_n(bytes_of(content).begin() + 16, 64, expected.begin() + 32);
    fill_on_host(expected, 512, 16, 0x1122U, 2);
    fill_on_host(expected, 528, 16, 0x11223344U, 4);
    fill_on_host(expected, 544, 40, 0x1122334455667788U, 8);
    fill_on_host(expected, 584, 16, 0x55667788U, 4);
    CHECK(device.download(b, 1024) == expected);
    CHECK(rig.words(a, 256) == content);
}

TEST_CASE("fills of every size, place and pattern touch no byte beside them (P-28)") {
    Rig rig;
    Device& device = rig.device;
    for (const std::uint32_t pattern_size : {1U, 2U, 4U, 8U})
        for (const std::uint64_t pattern : {0x1122334455667788U, 0x2121212121212121U})
            for (std::uint64_t offset = 0; offset <= 8; offset += pattern_size)
                for (std::uint64_t size = 0; size <= 24; size += pattern_size) {
                    auto expected = noise(48, offset + size);
                    wye_buffer_object* buffer = device.buffer(std::span(expected));
                    REQUIRE(device.run(fill(buffer, offset, size, pattern, pattern_size)) ==
                            WYE_OK);
                    fill_on_host(expected, offset, size, pattern, pattern_size);
                    CHECK(device.download(buffer, 48) == expected);
                    device.destroy(buffer);
                }
    // A pattern longer than a word, over more bytes than are staged at once.
    std::vector<std::byte> expected(200008);
    wye_buffer_object* large = device.buffer(std::span(expected));
    REQUIRE(device.run(fill(large, 8, 200000, 0x0102030405060708U, 8)) == WYE_OK);
    fill_on_host(expected, 8, 200000, 0x0102030405060708U, 8);
    CHECK(device.download(large, expected.size()) == expected);
}

TEST_CASE("transfers in the middle of a submit keep their order with the rest (P-25)") {
    Rig rig;
    Device& device = rig.device;
    wye_buffer_object* a = device.buffer(4096);
    const auto first = noise(4096, 1);
    const auto second = noise(1000, 2);
    std::vector<std::byte> early(4096);
    std::vector<std::byte> late(4096);
    const wye_operation steps[] = {
        harness::upload(a, 0, first),   fill(a, 100, 200, 0x5a, 1), harness::download(a, 0, early),
        harness::upload(a, 50, second), copy(a, a, 0, 2048, 512),   harness::download(a, 0, late),
    };
    REQUIRE(device.submit(steps) == WYE_OK);
    REQUIRE(device.wait() == WYE_OK);
    auto expected = first;
    fill_on_host(expected, 100, 200, 0x5a, 1);
    CHECK(early == expected);
    std::copy(second.begin(), second.end(), expected.begin() + 50);
    std::copy_n(expected.begin(), 512, expected.begin() + 2048);
    CHECK(late == expected);
}

TEST_CASE("submits that are not waited for see one another's bytes in order (P-25)") {
    Rig rig;
    Device& device = rig.device;
    wye_buffer_object* a = device.buffer(1 << 20);
    std::vector<std::vector<std::byte>> contents;
    std::vector<std::vector<std::byte>> results(16, std::vector<std::byte>(1 << 20));
    for (std::size_t i = 0; i < results.size(); ++i) contents.push_back(noise(1 << 20, i));
    for (std::size_t i = 0; i < results.size(); ++i) {
        const wye_operation up = harness::upload(a, 0, contents[i]);
        const wye_operation down = harness::download(a, 0, results[i]);
        REQUIRE(device.submit({&up, 1}) == WYE_OK);
        REQUIRE(device.submit({&down, 1}) == WYE_OK);
    }
    REQUIRE(device.wait() == WYE_OK);
    for (std::size_t i = 0; i < results.size(); ++i) CHECK(results[i] == contents[i]);
}

TEST_CASE("transfers that are larger than any staging memory arrive whole") {
    Rig rig;
    Device& device = rig.device;
    constexpr std::size_t kSize = (std::size_t{50} << 20U) + 12345;
    const auto content = noise(kSize, 9);
    std::vector<std::byte> middle(kSize);
    std::vector<std::byte> last(kSize);
    wye_buffer_object* a = device.buffer(kSize);
    wye_buffer_object* b = device.buffer(kSize);
    const wye_operation steps[] = {
        fill(a, 0, kSize, 1, 1),     harness::upload(a, 0, content),
        copy(a, b, 0, 0, kSize),     harness::download(b, 0, middle),
        fill(b, 1, kSize - 1, 7, 1), harness::download(b, 0, last),
    };
    REQUIRE(device.submit(steps) == WYE_OK);
    REQUIRE(device.wait() == WYE_OK);
    CHECK((middle == content));
    auto expected = content;
    fill_on_host(expected, 1, kSize - 1, 7, 1);
    CHECK((last == expected));
}

TEST_CASE("too much memory is refused with figures, and no memory at all is a buffer (P-24)") {
    Rig rig;
    Device& device = rig.device;
    const auto content = counting(64);
    wye_buffer_object* kept = device.buffer(bytes_of(content));
    for (const std::uint64_t size : {UINT64_MAX / 2, std::uint64_t{1} << 50U}) {
        CHECK(device.buffer(size) == nullptr);
        harness::check_helpful(device.failure, WYE_DEVICE_MEMORY);
        CHECK(device.failure.message.find(std::to_string(size)) != std::string::npos);
    }
    // After that everything is still usable.
    wye_buffer_object* none = device.buffer(0);
    REQUIRE(none != nullptr);
    CHECK(device.download(none, 0).empty());
    CHECK(rig.words(kept, 64) == content);
    CHECK(rig.words(device.buffer(bytes_of(content)), 64) == content);
}

TEST_SUITE_END();
