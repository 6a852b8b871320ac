// SPDX-License-Identifier: Apache-2.0
//
// Buffers, uploads, fills, copies and downloads, compared with the same operations on host memory.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>

#include "conformance/abi/rig.hpp"

using harness::binding;
using harness::bytes_of;
using harness::copy;
using harness::counting;
using harness::Device;
using harness::fill;
using harness::kUsages;
using harness::Rig;
using harness::usages_of;
using harness::values_of;

namespace {

std::vector<std::byte> noise(std::size_t size, std::uint64_t seed) {
    std::vector<std::byte> out(size);
    for (std::size_t i = 0; i < size; i += 4) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        const auto word = static_cast<std::uint32_t>(seed >> 32U);
        std::memcpy(&out[i], &word, std::min(sizeof word, size - i));
    }
    return out;
}

void fill_on_host(std::vector<std::byte>& bytes, std::uint64_t offset, std::uint64_t size,
                  std::uint64_t pattern, std::uint32_t pattern_size) {
    for (std::uint64_t i = 0; i < size; ++i)
        bytes[offset + i] = static_cast<std::byte>(pattern >> (8 * (i % pattern_size)));
}

constexpr const char* kNoMappings = "the plugin maps no buffer";

// The host's mapping of a buffer. Calls buffer_sync for all of it, if the plugin has that slot.
class Mapped {
  public:
    Mapped(Device& device, wye_buffer_object* buffer, std::uint64_t size)
        : Mapped(device, buffer, size, device.map(buffer)) {}
    Mapped(Device& device, wye_buffer_object* buffer, std::uint64_t size,
           const wye_mapping& mapping)
        : device_(device), buffer_(buffer), size_(size), mapping_(mapping) {}

    [[nodiscard]] bool ok() const { return mapping_.address != nullptr; }
    [[nodiscard]] const wye_mapping& mapping() const { return mapping_; }
    void write(std::span<const std::byte> bytes) {
        std::memcpy(mapping_.address, bytes.data(), bytes.size());
        sync(WYE_SYNC_TO_DEVICE);
    }
    void mark() {  // sets all bytes to 0x5a
        std::memset(mapping_.address, 0x5a, size_);
        sync(WYE_SYNC_TO_DEVICE);
    }
    [[nodiscard]] std::vector<std::byte> read() {
        sync(WYE_SYNC_TO_HOST);
        const auto* const first = static_cast<const std::byte*>(mapping_.address);
        return {first, first + size_};
    }

  private:
    void sync(std::uint32_t direction) {
        if (device_.table->buffer_sync == nullptr) return;
        CHECK(device_.table->buffer_sync(device_.object, buffer_, 0, size_, direction, nullptr) ==
              WYE_OK);
    }

    Device& device_;
    wye_buffer_object* buffer_;
    std::uint64_t size_;
    wye_mapping mapping_;
};

// Memory of the application for a buffer of the usage REGISTERED.
class Memory {
  public:
    Memory(std::uint64_t size, std::uint64_t alignment)
        : size_((size + alignment - 1) / alignment * alignment),
          bytes_(static_cast<std::byte*>(
              std::aligned_alloc(std::max<std::size_t>(alignment, sizeof(void*)),
                                 (size_ + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*)))) {
        std::ranges::fill(bytes(), std::byte{0x5a});
    }
    [[nodiscard]] std::span<std::byte> bytes() const { return {bytes_.get(), size_}; }

  private:
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::uint64_t size_;
    std::unique_ptr<std::byte, Free> bytes_;
};

// For each usage, copies bytes from the buffer `up` to a buffer of that usage, and from there to
// `down`: first without an offset, then with offsets in the source of the first copy and the target
// of the second. Then copies 3 bytes directly from `up` to `down`. `in` and `out` are the mappings
// of `up` and `down`.
void copy_through(Device& device, std::span<const std::uint32_t> usages, wye_buffer_object* up,
                  wye_buffer_object* down, Mapped& in, Mapped& out, std::uint64_t bytes) {
    for (const std::uint32_t usage : usages)
        for (const std::uint64_t offset : {0, 1, 4096 + 7}) {
            CAPTURE(usage);
            CAPTURE(offset);
            wye_buffer_object* middle = device.buffer(bytes, usage);
            REQUIRE(middle != nullptr);
            const auto content = noise(bytes, 10 * usage + offset);
            in.write(content);
            out.mark();
            const std::uint64_t size = bytes - offset;
            const wye_operation steps[] = {copy(up, middle, offset, 0, size),
                                           copy(middle, down, 0, offset, size)};
            REQUIRE(device.submit(steps) == WYE_OK);
            REQUIRE(device.wait() == WYE_OK);
            auto expected = content;
            std::fill_n(expected.begin(), offset, std::byte{0x5a});
            harness::check_same(out.read(), expected);
            harness::check_same(in.read(), content);
            REQUIRE(device.run(copy(up, down, 5, 1, 3)) == WYE_OK);
            std::copy_n(content.begin() + 5, 3, expected.begin() + 1);
            harness::check_same(out.read(), expected);
            device.destroy(middle);
        }
}

}  // namespace

TEST_SUITE_BEGIN("memory");

TEST_CASE(
    "a buffer of any usage but staging takes transfers and programs, and an unknown usage is "
    "refused (P-38)") {
    Rig rig;
    Device& device = rig.device;
    wye_program_object* program = rig.add_program();
    const auto content = counting(64, 7);
    const std::uint32_t by = 3;
    for (const std::uint32_t from : kUsages)
        for (const std::uint32_t to : kUsages) {
            CAPTURE(from);
            CAPTURE(to);
            wye_buffer_object* x = device.buffer(256, from);
            wye_buffer_object* r = device.buffer(256, to);
            REQUIRE(x != nullptr);
            REQUIRE(r != nullptr);
            const wye_binding bindings[] = {binding(x, 0, 64), binding(r, 0, 64)};
            const wye_operation steps[] = {
                harness::upload(x, 0, bytes_of(content)), fill(r, 0, 256, 9, 4),
                harness::dispatch(program, bindings, {1, 1, 1}, &by), copy(r, x, 0, 128, 128)};
            REQUIRE(device.submit(steps) == WYE_OK);
            REQUIRE(device.wait() == WYE_OK);
            harness::check_same(rig.words(r, 64), counting(64, 10));
            auto expected = content;
            std::iota(expected.begin() + 32, expected.end(), 10U);
            harness::check_same(rig.words(x, 64), expected);
        }
    CHECK(device.buffer(256, 99) == nullptr);
    harness::check_helpful(device.failure, WYE_UNSUPPORTED);
    CHECK(device.failure.message.find("99") != std::string::npos);
}

TEST_CASE("an alignment is kept, or refused with an error that names the value (P-38)") {
    Rig rig;
    Device& device = rig.device;
    for (const std::uint32_t usage : usages_of(device))
        for (std::uint64_t alignment = 1; alignment <= std::uint64_t{1} << 20U; alignment *= 2) {
            CAPTURE(usage);
            CAPTURE(alignment);
            wye_buffer_object* buffer = device.buffer(100, usage, alignment);
            if (buffer == nullptr) {
                harness::check_helpful(device.failure, WYE_UNSUPPORTED);
                CHECK(device.failure.message.find(std::to_string(alignment)) != std::string::npos);
                CHECK(alignment > 64);
            } else if (device.table->buffer_map != nullptr) {
                const wye_mapping mapping = device.map(buffer);
                CHECK(reinterpret_cast<std::uintptr_t>(mapping.address) % alignment == 0);
            }
        }
}

TEST_CASE("STAGING is refused only by devices without buffer_map (P-64)") {
    Rig rig;
    Device& device = rig.device;
    for (const std::uint64_t size : {0, 1, 4096}) {
        CAPTURE(size);
        if (device.buffer(size, WYE_BUFFER_USAGE_STAGING) != nullptr) continue;
        harness::check_helpful(device.failure, WYE_UNSUPPORTED);
        CHECK((device.table->buffer_map == nullptr));
    }
}

TEST_CASE("bytes written through a mapping are seen by programs, and the other way round (P-39)") {
    Rig rig;
    Device& device = rig.device;
    if (device.table->buffer_map == nullptr) {
        CHECK((device.table->buffer_sync == nullptr));
        return harness::not_applicable(kNoMappings);
    }
    wye_program_object* program = rig.add_program();
    std::vector<std::uint32_t> unmapped;
    for (const std::uint32_t usage : kUsages) {
        CAPTURE(usage);
        wye_buffer_object* x = device.buffer(256, usage);
        wye_buffer_object* r = device.buffer(256, usage);
        Mapped in(device, x, 256);
        Mapped out(device, r, 256);
        if (!in.ok()) {
            harness::check_helpful(device.failure, WYE_UNSUPPORTED);
            if (usage != WYE_BUFFER_USAGE_DEVICE) unmapped.push_back(usage);
            continue;
        }
        REQUIRE(out.ok());
        const wye_binding bindings[] = {binding(x, 0, 64), binding(r, 0, 64)};
        const wye_binding back[] = {binding(r, 0, 64), binding(x, 0, 64)};
        for (std::uint32_t by = 1; by <= 3; ++by) {
            const auto content = counting(64, 100 * by);
            in.write(bytes_of(content));
            out.mark();
            const wye_operation steps[] = {harness::dispatch(program, bindings, {1, 1, 1}, &by),
                                           harness::dispatch(program, back, {1, 1, 1}, &by)};
            REQUIRE(device.submit(steps) == WYE_OK);
            REQUIRE(device.wait() == WYE_OK);
            harness::check_same(values_of<std::uint32_t>(out.read()), counting(64, 101 * by));
            harness::check_same(values_of<std::uint32_t>(in.read()), counting(64, 102 * by));
        }
        // Transfers work on a mapped buffer too, and the mapping stays valid.
        in.write(bytes_of(counting(64, 5)));
        harness::check_same(rig.words(x, 64), counting(64, 5));
        REQUIRE(device.run(fill(x, 0, 256, 8, 4)) == WYE_OK);
        harness::check_same(values_of<std::uint32_t>(in.read()), std::vector<std::uint32_t>(64, 8));
        CHECK(device.map(x).address == in.mapping().address);
        CHECK((in.mapping().flags & ~std::uint32_t{WYE_MAPPING_CACHED}) == 0);
        CHECK(in.mapping().reserved == 0);
    }
    CHECK((unmapped.empty() || unmapped.size() == 3));  // all three can be mapped, or none
}

TEST_CASE("staging memory is mapped, and copies carry its bytes from and to all others (P-39)") {
    Rig rig;
    Device& device = rig.device;
    if (device.table->buffer_map == nullptr) return harness::not_applicable(kNoMappings);
    constexpr std::uint64_t kSize = (std::uint64_t{2} << 20U) + 13;
    wye_buffer_object* up = device.buffer(kSize, WYE_BUFFER_USAGE_STAGING);
    wye_buffer_object* down = device.buffer(kSize, WYE_BUFFER_USAGE_STAGING);
    REQUIRE(up != nullptr);
    REQUIRE(down != nullptr);
    Mapped in(device, up, kSize);
    Mapped out(device, down, kSize);
    REQUIRE(in.ok());
    REQUIRE(out.ok());
    copy_through(device, usages_of(device), up, down, in, out, kSize);
    CHECK(device.map(up).address == in.mapping().address);
    CHECK((in.mapping().flags & WYE_MAPPING_CACHED) == (out.mapping().flags & WYE_MAPPING_CACHED));
}

TEST_CASE("copies of staging memory keep their order with the submits around them (P-25)") {
    Rig rig;
    Device& device = rig.device;
    if (device.table->buffer_map == nullptr) return harness::not_applicable(kNoMappings);
    constexpr std::uint64_t kSize = 1'300'000;
    wye_program_object* program = rig.add_program();
    wye_buffer_object* x = device.buffer(kSize);
    wye_buffer_object* r = device.buffer(kSize);
    constexpr std::size_t kRounds = 8;
    std::vector<Mapped> in;
    std::vector<Mapped> out;
    // The parameter of each submit. Only the last submit is waited for.
    const std::vector<std::uint32_t> by = counting(kRounds, 1);
    for (std::size_t i = 0; i < kRounds; ++i) {
        wye_buffer_object* up = device.buffer(kSize, WYE_BUFFER_USAGE_STAGING);
        wye_buffer_object* down = device.buffer(kSize, WYE_BUFFER_USAGE_STAGING);
        in.emplace_back(device, up, kSize);
        out.emplace_back(device, down, kSize);
        REQUIRE(in.back().ok());
        REQUIRE(out.back().ok());
        in.back().write(bytes_of(counting(kSize / 4, static_cast<std::uint32_t>(1000 * i))));
        const wye_binding bindings[] = {binding(x, 0, kSize / 4), binding(r, 0, kSize / 4)};
        const std::uint32_t groups = (kSize / 4 + 63) / 64;
        const wye_operation steps[] = {copy(up, x, 0, 0, kSize),
                                       harness::dispatch(program, bindings, {groups, 1, 1}, &by[i]),
                                       copy(r, down, 0, 0, kSize)};
        REQUIRE(device.submit(steps) == WYE_OK);
    }
    REQUIRE(device.wait() == WYE_OK);
    for (std::size_t i = 0; i < kRounds; ++i)
        harness::check_same(values_of<std::uint32_t>(out[i].read()),
                            counting(kSize / 4, static_cast<std::uint32_t>(1000 * i + 1 + i)));
}

TEST_CASE("registered memory is the application's own, and copies carry its bytes (P-48)") {
    Rig rig;
    Device& device = rig.device;
    wye_status known = WYE_OK;
    const std::uint64_t alignment = rig.plugin.fact(WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT, &known).u;
    if (known != WYE_OK) {
        const Memory memory(4096, 4096);
        CHECK(device.registered(memory.bytes()) == nullptr);
        harness::check_helpful(device.failure, WYE_UNSUPPORTED);
        return;
    }
    REQUIRE(alignment != 0);
    CHECK((alignment & (alignment - 1)) == 0);
    const auto mapped = [&device](wye_buffer_object* buffer, std::span<std::byte> memory) {
        wye_mapping mapping{};
        mapping.address = memory.data();
        if (device.table->buffer_map != nullptr) mapping = device.map(buffer);
        CHECK(mapping.address == memory.data());
        return Mapped(device, buffer, memory.size(), mapping);
    };
    constexpr std::uint64_t kSize = std::uint64_t{2} << 20U;
    const Memory from(kSize, alignment);
    const Memory to(kSize, alignment);
    // The memory is registered twice: the second time after the first buffer was destroyed.
    for (const auto& usages :
         {usages_of(device), std::vector<std::uint32_t>{WYE_BUFFER_USAGE_DEVICE}}) {
        wye_buffer_object* up = device.registered(from.bytes());
        REQUIRE_MESSAGE(up != nullptr, device.failure.message);
        wye_buffer_object* down = device.registered(to.bytes());
        REQUIRE_MESSAGE(down != nullptr, device.failure.message);
        Mapped in = mapped(up, from.bytes());
        Mapped out = mapped(down, to.bytes());
        copy_through(device, usages, up, down, in, out, kSize);
        const std::vector<std::byte> last(to.bytes().begin(), to.bytes().end());
        device.destroy(up);
        device.destroy(down);
        harness::check_same(std::vector(to.bytes().begin(), to.bytes().end()), last);
    }
}

TEST_CASE("fills of every size, place and pattern write no byte outside their range (P-28)") {
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
                    harness::check_same(device.download(buffer, 48), expected);
                    device.destroy(buffer);
                }
    // A pattern of 8 bytes, over more bytes than a plugin stages at once.
    std::vector<std::byte> expected(200008);
    wye_buffer_object* large = device.buffer(std::span(expected));
    REQUIRE(device.run(fill(large, 8, 200000, 0x0102030405060708U, 8)) == WYE_OK);
    fill_on_host(expected, 8, 200000, 0x0102030405060708U, 8);
    harness::check_same(device.download(large, expected.size()), expected);
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
    harness::check_same(early, expected);
    std::copy(second.begin(), second.end(), expected.begin() + 50);
    std::copy_n(expected.begin(), 512, expected.begin() + 2048);
    harness::check_same(late, expected);
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
    for (std::size_t i = 0; i < results.size(); ++i) harness::check_same(results[i], contents[i]);
}

TEST_CASE("transfers that are larger than any staging memory arrive whole (P-25)") {
    Rig rig;
    Device& device = rig.device;
    constexpr std::size_t kSize = (std::size_t{36} << 20U) + 12345;
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
    harness::check_same(middle, content);
    std::fill(middle.begin() + 1, middle.end(), std::byte{7});
    harness::check_same(last, middle);
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
    // After the refusals all objects are still usable.
    wye_buffer_object* none = device.buffer(0);
    REQUIRE(none != nullptr);
    CHECK(device.download(none, 0).empty());
    harness::check_same(rig.words(kept, 64), content);
    harness::check_same(rig.words(device.buffer(bytes_of(content)), 64), content);
}

TEST_SUITE_END();
