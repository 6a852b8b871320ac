// SPDX-License-Identifier: Apache-2.0
//
// Host bytes through staging memory, on the CPU or a real driver (Vulkan with the validation
// layer), compared with the host's own arithmetic.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/driver.hpp"
#include "take.hpp"
#include "wye/memory.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_transfers {
namespace {

using Words = std::vector<std::uint32_t>;

using api_test::take;

constexpr std::string_view kMix = R"(wye 1; program mix; workgroup 64; param k: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = (x[i] ^ k) * 1664525u + i; } })";

std::uint32_t mixed(std::uint32_t x, std::uint32_t k, std::size_t i) {
    return (x ^ k) * 1664525U + static_cast<std::uint32_t>(i);
}

// Messages of the validation layer.
struct Messages {
    std::mutex mutex;
    std::vector<std::string> lines;
    static void add(void* user, std::uint32_t, wye_string area, wye_string text) {
        const std::string_view name(area.data, area.size);
        if (name != "vulkan.validation") return;
        auto& self = *static_cast<Messages*>(user);
        const std::lock_guard lock(self.mutex);
        self.lines.emplace_back(text.data, text.size);
    }
};

struct Opened {
    explicit Opened(const std::string& staging = "on")
        : context(take(wye::Context::create({.plugin_paths = {support::test_driver_folder()},
                                             .config = {{"transfer.staging", staging},
                                                        {"transfer.threads", "3"},
                                                        {"transfer.bytes", "24MiB"},
                                                        {"vulkan.validation", "1"}},
                                             .log = Messages::add,
                                             .log_user = &messages}))),
          device(take(context.open(support::test_driver()))) {}
    ~Opened() {
        for (const std::string& line : messages.lines) FAIL_CHECK(line);
    }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

    Messages messages;
    wye::Context context;
    wye::Device device;
};

Words counting(std::size_t count, std::uint32_t first) {
    Words out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = first + static_cast<std::uint32_t>(i) * 7U;
    return out;
}

constexpr std::size_t kChunk = std::size_t{1} << 20U;  // words
constexpr std::size_t kCounts[] = {0,          1,          kChunk / 32 - 1, kChunk / 32,
                                   kChunk / 2, kChunk - 1, kChunk + 1,      3 * kChunk + 5};

TEST_CASE("dispatches of host arguments of every size have the bytes of the host's arithmetic") {
    const Opened t;
    const auto program = take(t.context.program_from_text(kMix));
    std::uint32_t k = 1;
    for (const std::size_t count : kCounts) {
        CAPTURE(count);
        const Words x = counting(count, ++k);
        Words r(count, 7);
        take(wye::Dispatch(program, t.device).param("k", k).input("x", x).output("r", r).run());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < count; ++i) wrong += r[i] != mixed(x[i], k, i);
        CHECK(wrong == 0);
    }
}

TEST_CASE("uploads and downloads of resident buffers move their bytes, wherever these are") {
    const Opened t;
    const std::size_t all = 13 * kChunk;  // bytes: more than three chunks of the largest size
    auto buffer = take(t.device.buffer(all));
    std::vector<std::byte> source(all), found(all), expected(all);
    for (std::size_t i = 0; i < all; ++i)
        expected[i] = source[i] = static_cast<std::byte>(i * 2654435761U >> 13U);
    take(buffer.upload(std::span<const std::byte>(source)));
    for (const std::size_t offset : {std::size_t{3}, kChunk + 1}) {
        const std::size_t size = all - offset - 1001;
        take(buffer.upload_range(std::span<const std::byte>(source.data() + 1000, size), offset));
        std::copy_n(source.begin() + 1000, size,
                    expected.begin() + static_cast<std::ptrdiff_t>(offset));
        take(buffer.download(std::span<std::byte>(found)));
        CHECK((found == expected));
    }
}

TEST_CASE("asynchronous dispatches keep their bytes in staging memory, and beyond its limit") {
    for (const char* staging : {"on", "off"}) {
        CAPTURE(staging);
        const Opened t(staging);
        const auto program = take(t.context.program_from_text(kMix));
        constexpr std::size_t kCount = kChunk / 2 + 3;
        constexpr std::uint32_t kWork = 12;  // 48 MiB in all
        std::vector<wye::Pending> pending;
        Words x;
        for (std::uint32_t n = 0; n < kWork; ++n) {
            x = counting(kCount, n);
            pending.push_back(
                take(wye::Dispatch(program, t.device).param("k", n).input("x", x).submit()));
        }
        for (std::uint32_t n = 0; n < kWork; ++n) {
            take(pending[n].wait());
            const auto r = take(pending[n].output<std::uint32_t>("r"));
            REQUIRE(r.size() == kCount);
            x = counting(kCount, n);
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < kCount; ++i) wrong += r[i] != mixed(x[i], n, i);
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("registered memory is used as it is by every call that may, or refused by name") {
    const std::string selector = support::test_driver();
    const Opened t;
    const auto program = take(t.context.program_from_text(kMix));
    constexpr std::size_t kPage = 4096, kCount = kChunk;
    const std::unique_ptr<void, decltype(&std::free)> memory(
        std::aligned_alloc(kPage, 2 * kCount * 4), &std::free);
    const std::span all(static_cast<std::uint32_t*>(memory.get()), 2 * kCount);
    const auto x = all.first(kCount), r = all.subspan(kCount);
    if (!t.device.fact("host_memory_alignment").ok()) {
        const auto refused = wye::RegisteredMemory::add(t.device, all);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().code == wye::Code::UNSUPPORTED);
        CHECK(selector != "cpu");
        return;
    }
    CHECK(kPage % take(t.device.fact("host_memory_alignment")).u == 0);
    std::uint64_t moved = 0;
    const auto check_result = [&](std::uint32_t k, bool registered) {
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < kCount; ++i) wrong += r[i] != mixed(x[i], k, i);
        CHECK(wrong == 0);
        moved += registered ? 2 * kCount * 4 : 0;
        CHECK(take(t.device.counters()).bytes_registered == moved);
    };
    for (const bool registered : {true, false}) {
        CAPTURE(registered);
        std::optional<wye::RegisteredMemory> scope;
        if (registered) scope.emplace(take(wye::RegisteredMemory::add(t.device, all)));
        for (std::uint32_t k = 1; k < 4; ++k) {
            std::ranges::copy(counting(kCount, k), x.begin());
            wye::Dispatch dispatch(program, t.device);
            dispatch.param("k", k).input("x", x).output("r", r);
            take(dispatch.run());
            check_result(k, registered);
            std::ranges::copy(counting(kCount, 50 + k), x.begin());
            const auto pending = take(dispatch.submit_borrowing());
            take(pending.wait());
            check_result(k, registered);
        }
        auto buffer = take(t.device.buffer(kCount * 4 + 16));
        take(buffer.upload_range(x, 5));
        take(buffer.download_range(r, 5));
        CHECK((std::ranges::equal(x, r)));
        moved += registered ? 2 * kCount * 4 : 0;
        // The end of `scope` waits for work that nobody waited for.
        wye::Dispatch last(program, t.device);
        last.param("k", 9U).input("x", x).output("r", r);
        const auto unobserved = take(last.submit_borrowing());
        scope.reset();
        take(unobserved.wait());
        check_result(9, registered);
    }
}

TEST_CASE("several threads dispatch host bytes at once") {
    const Opened t;
    const auto program = take(t.context.program_from_text(kMix));
    std::vector<std::thread> threads;
    for (std::uint32_t n = 0; n < 3; ++n)
        threads.emplace_back([&, n] {
            const Words x = counting(kChunk + n, n);
            Words r(x.size());
            for (std::uint32_t k = 0; k < 3; ++k) {
                const auto ran = wye::Dispatch(program, t.device)
                                     .param("k", k)
                                     .input("x", x)
                                     .output("r", r)
                                     .run();
                CHECK(ran.ok());
                std::size_t wrong = 0;
                for (std::size_t i = 0; i < r.size(); ++i) wrong += r[i] != mixed(x[i], k, i);
                CHECK(wrong == 0);
            }
        });
    for (std::thread& thread : threads) thread.join();
}

}  // namespace

}  // namespace wye::test::test_transfers
