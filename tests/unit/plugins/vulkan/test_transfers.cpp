// SPDX-License-Identifier: Apache-2.0
//
// Buffers, uploads, fills, copies and downloads, against the same done on host memory.
#include <algorithm>

#include "checked.hpp"
#include "conformance/abi/cases.hpp"

using harness::bytes_of;
using harness::counting;
using harness::Device;
using harness::values_of;

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

TEST_CASE("uploads, fills, copies and downloads move exactly their bytes") {
    CheckedPlugin plugin;
    Device device(plugin);
    harness::cases::transfers_are_exact(device);
}

TEST_CASE("fills of every size, place and pattern touch no byte beside them") {
    CheckedPlugin plugin;
    Device device(plugin);
    for (const std::uint32_t pattern_size : {1U, 2U, 4U, 8U})
        for (const std::uint64_t pattern : {0x1122334455667788U, 0x2121212121212121U})
            for (std::uint64_t offset = 0; offset <= 8; offset += pattern_size)
                for (std::uint64_t size = 0; size <= 24; size += pattern_size) {
                    auto expected = noise(48, offset + size);
                    wye_buffer_object* buffer = device.buffer(std::span(expected));
                    REQUIRE(device.run(harness::fill(buffer, offset, size, pattern,
                                                     pattern_size)) == WYE_OK);
                    fill_on_host(expected, offset, size, pattern, pattern_size);
                    CHECK(device.download(buffer, 48) == expected);
                    device.destroy(buffer);
                }
    // A pattern that does not repeat in a word, over more than is staged at once.
    std::vector<std::byte> expected(200008);
    wye_buffer_object* large = device.buffer(std::span(expected));
    REQUIRE(device.run(harness::fill(large, 8, 200000, 0x0102030405060708U, 8)) == WYE_OK);
    fill_on_host(expected, 8, 200000, 0x0102030405060708U, 8);
    CHECK(device.download(large, expected.size()) == expected);
}

TEST_CASE("transfers in the middle of a submit keep their order with the rest") {
    CheckedPlugin plugin;
    Device device(plugin);
    wye_buffer_object* a = device.buffer(4096);
    const auto first = noise(4096, 1);
    const auto second = noise(1000, 2);
    std::vector<std::byte> early(4096);
    std::vector<std::byte> late(4096);
    const wye_operation steps[] = {
        harness::upload(a, 0, first),      harness::fill(a, 100, 200, 0x5a, 1),
        harness::download(a, 0, early),    harness::upload(a, 50, second),
        harness::copy(a, a, 0, 2048, 512), harness::download(a, 0, late),
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

TEST_CASE("submits that are not waited for see one another's bytes in order") {
    CheckedPlugin plugin;
    Device device(plugin);
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

TEST_CASE("transfers larger than the staging ring go through it in pieces") {
    CheckedPlugin plugin;
    Device device(plugin);
    constexpr std::size_t kSize = (std::size_t{50} << 20U) + 12345;
    const auto content = noise(kSize, 9);
    std::vector<std::byte> middle(kSize);
    std::vector<std::byte> last(kSize);
    wye_buffer_object* a = device.buffer(kSize);
    wye_buffer_object* b = device.buffer(kSize);
    const wye_operation steps[] = {
        harness::fill(a, 0, kSize, 1, 1),  // so that the upload is staged
        harness::upload(a, 0, content),       harness::copy(a, b, 0, 0, kSize),
        harness::download(b, 0, middle),  // staged, since work comes after
        harness::fill(b, 1, kSize - 1, 7, 1), harness::download(b, 0, last),
    };
    REQUIRE(device.submit(steps) == WYE_OK);
    REQUIRE(device.wait() == WYE_OK);
    CHECK(middle == content);
    auto expected = content;
    fill_on_host(expected, 1, kSize - 1, 7, 1);
    CHECK(last == expected);
}

TEST_CASE("values count submits, and an empty submit is reached after what came before") {
    CheckedPlugin plugin;
    Device device(plugin);
    harness::cases::values_count_submits(device, 300, 1U << 16U);
}

TEST_CASE("one queue waits for another") {
    CheckedPlugin plugin;
    Device device(plugin);
    harness::cases::a_queue_waits_for_another(device, std::uint64_t{32} << 20U);
}

TEST_CASE("what one queue reads back is out before another that waits for it writes") {
    CheckedPlugin plugin;
    Device device(plugin);
    wye_queue_object* other = device.queue_create();
    constexpr std::uint64_t kSize = std::uint64_t{8} << 20U;
    wye_buffer_object* a = device.buffer(kSize);
    std::vector<std::byte> result(kSize);
    const wye_operation first[] = {harness::fill(a, 0, kSize, 1, 1),
                                   harness::download(a, 0, result)};
    REQUIRE(device.submit(first) == WYE_OK);
    const wye_event event{device.queue, device.value};
    const wye_operation second = harness::fill(a, 0, kSize, 2, 1);
    std::uint64_t value = 0;
    REQUIRE(device.queue_table->submit(other, &second, 1, &event, 1, &value, nullptr) == WYE_OK);
    REQUIRE(device.queue_table->wait(other, value, UINT64_MAX, nullptr) == WYE_OK);
    REQUIRE(device.wait() == WYE_OK);
    CHECK(result == std::vector<std::byte>(kSize, std::byte{1}));
    device.queue_table->destroy(other);
}

TEST_CASE("an unknown operation is refused, and nothing of its submit is queued") {
    CheckedPlugin plugin;
    Device device(plugin);
    const std::vector<std::byte> ones(256, std::byte{1});
    const std::vector<std::byte> twos(256, std::byte{2});
    wye_buffer_object* a = device.buffer(std::span(ones));
    wye_operation bad{};
    bad.kind = 77;
    const wye_operation steps[] = {harness::upload(a, 0, twos), harness::fill(a, 0, 256, 3, 4),
                                   bad};
    CHECK(device.submit(steps) == WYE_UNSUPPORTED);
    CHECK(device.failure.message.find("77") != std::string::npos);
    CHECK(device.failure.fix.rfind("Fix: ", 0) == 0);
    CHECK(device.download(a, 256) == ones);
}

TEST_CASE("device times are those of the submit") {
    CheckedPlugin plugin;
    Device device(plugin, true);
    harness::cases::times_are_of_the_submit(device, 100);
}

TEST_CASE("too much memory is refused with figures, and no memory at all is a buffer") {
    CheckedPlugin plugin;
    Device device(plugin);
    const std::uint64_t total = plugin.fact(WYE_FACT_KEY_MEMORY_BYTES).u;
    for (const std::uint64_t size : {UINT64_MAX, UINT64_MAX / 2, total * 4}) {
        CHECK(device.buffer(size) == nullptr);
        CHECK(device.failure.code == WYE_DEVICE_MEMORY);
        CHECK(device.failure.message.find(std::to_string(size)) != std::string::npos);
        CHECK(device.failure.message.find(std::to_string(total)) != std::string::npos);
        CHECK(device.failure.fix.rfind("Fix: ", 0) == 0);
    }
    // Everything is as usable as before.
    wye_buffer_object* none = device.buffer(0);
    REQUIRE(none != nullptr);
    CHECK(device.download(none, 0).empty());
    wye_buffer_object* some = device.buffer(bytes_of(counting(64)));
    CHECK(values_of<std::uint32_t>(device.download(some, 256)) == counting(64));
}
