// SPDX-License-Identifier: Apache-2.0
//
// Limits of device memory, who holds how much, and what is given up when memory is short. The
// numbers are compared with what the driver itself counts.
#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../rig.hpp"
#include "wye/device.h"
#include "wye/native.h"

namespace wye::exec::test::test_memory {
namespace {

using Words = std::vector<std::uint32_t>;

// Scratch memory comes in pages, and a dispatch of kAdd with host arguments needs two buffers.
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kScratch = 2 * kPage;

struct Ready : Calls<Ready> {
    explicit Ready(registry::Config config = {}) : rig(std::move(config)) {
        rig.driver.kernel = add_kernel;
        rig.driver.facts[WYE_FACT_KEY_MAX_QUEUES] = 3;
        rig.driver.facts[WYE_FACT_KEY_MEMORY_BYTES] = 1'000'000;
        rig.driver.facts[WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT] = kPage;
    }
    Rig rig;
    wye_program kept_program = 0;
    Words x = {1, 2, 3}, r = {9, 9, 9};

    wye_device device(const char* selector = "fake:0") const { return rig.device(selector); }
    wye_program program() {
        if (kept_program == 0) kept_program = rig.program(kAdd);
        return kept_program;
    }
    Outcome create(wye_device device, std::uint64_t size, const char* label = "b",
                   wye_buffer* made = nullptr) const {
        wye_buffer_create_desc desc;
        WYE_INIT(desc);
        desc.size = size;
        desc.label = wye_str(label);
        wye_buffer out = 0;
        Outcome outcome = rig.create(device, desc, out);
        CHECK((out != 0) == outcome.ok());
        if (made != nullptr) *made = out;
        return outcome;
    }
    wye_buffer made(wye_device device, std::uint64_t size, const char* label = "b") const {
        wye_buffer out = 0;
        check_ok(create(device, size, label, &out));
        return out;
    }
    // Adds 1 to three host words.
    Outcome run(wye_device device) {
        r = {9, 9, 9};
        return Job(program(), device).param(1).in(0, x.data(), 12).out(1, r.data(), 12).run(rig);
    }
    // The program is compiled first, so the dispatch is submitted when the call returns.
    wye_pending submitted(wye_device device, const Words& words) {
        check_ok(rig.prepare(device, program()));
        Job job(program(), device);
        job.param(1).in(0, words.data(), 4 * words.size()).out(1, nullptr, 0);
        return Calls::submitted(job);
    }
    void free(wye_pending pending) const { check_ok(rig.free_pending(pending)); }
    wye_memory_use use(wye_device device) const {
        wye_memory_use out;
        WYE_INIT(out);
        check_ok(attempt(
            [&](wye_error** e) { return wye_device_memory(rig.context, device, &out, e); }));
        return out;
    }
    std::uint64_t trim(wye_device device) const {
        std::uint64_t out = 0;
        check_ok(
            attempt([&](wye_error** e) { return wye_device_trim(rig.context, device, &out, e); }));
        return out;
    }
    void limit(wye_device device, std::uint64_t bytes) const {
        check_ok(attempt(
            [&](wye_error** e) { return wye_memory_limit(rig.context, device, bytes, e); }));
    }
};

// ---- Limits --------------------------------------------------------------------------------

TEST_CASE("a buffer that would exceed the device's limit is refused before the driver, by name") {
    Ready t(registry::Config{{"memory.device_limit", "10000"}});
    const wye_device device = t.device();
    CHECK(t.use(device).limit == 10000);
    CHECK(t.use(device).context_limit == 0);
    const wye_buffer a = t.made(device, 6000, "weights");
    t.made(device, 3000, "image");
    const int asked = t.rig.driver.asked_buffers;
    const Outcome refused = t.create(device, 1001, "more");
    check_refused(refused, WYE_DEVICE_MEMORY, "a buffer of 1001 bytes");
    CHECK(refused.says("limit of fake:0, 10000 bytes"));
    CHECK(refused.says("holds 9000, of which 9000 are in buffers (`weights` 6000, `image` 3000)"));
    CHECK(refused.fix.find("memory.device_limit") != std::string::npos);
    CHECK(refused.fix.find("wye_memory_limit") != std::string::npos);
    CHECK(t.rig.driver.asked_buffers == asked);
    check_ok(t.create(device, 1000));  // exactly the limit
    CHECK(t.use(device).buffers == 10000);
    check_refused(t.create(device, 1), WYE_DEVICE_MEMORY, "holds 10000");
    check_ok(t.rig.free(a));
    check_ok(t.create(device, 6000));
    // Each device has a limit of its own.
    check_ok(t.create(t.device("fake:1"), 10000));
    CHECK(t.rig.driver.device_bytes == 20000);
}

TEST_CASE("only the largest buffers are named, by their present labels") {
    Ready t;
    const wye_device device = t.device();
    const wye_buffer first = t.made(device, 500, "old");
    for (const std::uint64_t size : {10, 20, 30}) t.made(device, size, "small");
    check_ok(attempt([&](wye_error** e) {
        return wye_buffer_set_label(t.rig.context, first, wye_str("new"), e);
    }));
    t.limit(device, 600);
    check_refused(t.create(device, 41), WYE_DEVICE_MEMORY,
                  "(`new` 500, `small` 30, `small` 20, and 1 more)");
}

TEST_CASE("host arguments count, and idle scratch memory gives way before anything is refused") {
    Ready t(registry::Config{{"memory.device_limit", "12KiB"}});
    const wye_device device = t.device();
    check_ok(t.run(device));
    CHECK(t.use(device).scratch == kScratch);
    CHECK(t.use(device).scratch_idle == kScratch);
    const wye_buffer one = t.made(device, kPage);
    CHECK(t.use(device).trims == 0);
    const wye_buffer two = t.made(device, 2 * kPage);  // replaces the scratch memory
    CHECK(t.use(device).trims == 1);
    CHECK(t.use(device).scratch == 0);
    CHECK(t.rig.driver.device_bytes == 3 * kPage);

    const int asked = t.rig.driver.asked_buffers, submits = t.rig.driver.submits;
    const Outcome refused = t.run(device);
    check_refused(refused, WYE_DEVICE_MEMORY, "4096 bytes of scratch memory (host argument)");
    CHECK(refused.says("limit of fake:0, 12288 bytes"));
    CHECK(t.r == Words{9, 9, 9});
    CHECK(t.rig.driver.asked_buffers == asked);
    CHECK(t.rig.driver.submits == submits);
    check_ok(t.rig.free(one));
    // There is room for only one of the two scratch buffers.
    check_refused(t.run(device), WYE_DEVICE_MEMORY, "4096 bytes of scratch memory");
    check_ok(t.rig.free(two));
    check_ok(t.run(device));
    CHECK(t.r == Words{2, 3, 4});
    CHECK(t.rig.driver.most_device_bytes == 3 * kPage);
}

TEST_CASE("scratch memory of one dispatch that does not fit the next one gives way too") {
    Ready t(registry::Config{{"memory.device_limit", "64KiB"}});
    const wye_device device = t.device();
    for (const std::size_t count : {std::size_t{7000}, std::size_t{3}, std::size_t{8000}}) {
        const Words in(count, 5);
        Words out(count);
        check_ok(Job(t.program(), device)
                     .param(1)
                     .in(0, in.data(), 4 * count)
                     .out(1, out.data(), 4 * count)
                     .run(t.rig));
        CHECK(out == Words(count, 6));
    }
    CHECK(t.rig.driver.most_device_bytes <= 64U << 10U);
}

TEST_CASE("the context's limit is on all devices, and idle scratch of the others gives way") {
    Ready t(registry::Config{{"memory.context_limit", "16KiB"}});
    const wye_device first = t.device(), second = t.device("fake:1");
    check_ok(t.run(second));
    const wye_buffer big = t.made(first, 3 * kPage, "big");
    CHECK(t.use(second).scratch == 0);
    CHECK(t.use(first).context_limit == 4 * kPage);
    t.made(second, 100, "tiny");
    const int asked = t.rig.driver.asked_buffers;
    const Outcome refused = t.create(second, kPage);
    check_refused(refused, WYE_DEVICE_MEMORY, "a buffer of 4096 bytes on fake:1");
    CHECK(refused.says("limit of the context, 16384 bytes, of which 12388 are held"));
    CHECK(refused.says("fake:0 holds 12288, of which 12288 are in buffers (`big` 12288)"));
    CHECK(refused.says("fake:1 holds 100"));
    CHECK(refused.fix.find("memory.context_limit") != std::string::npos);
    CHECK(t.rig.driver.asked_buffers == asked);
    CHECK(t.rig.driver.most_device_bytes <= 4 * kPage);
    check_ok(t.rig.free(big));
    check_ok(t.create(second, kPage));
}

TEST_CASE("a limit may be set at any time; one below what is held frees no buffer") {
    Ready t;
    const wye_device device = t.device();
    const wye_buffer held = t.made(device, 8000);
    t.limit(device, 5000);
    CHECK(t.use(device).limit == 5000);
    CHECK(t.rig.driver.live_buffers == 1);
    check_refused(t.create(device, 1), WYE_DEVICE_MEMORY, "limit of fake:0, 5000 bytes");
    t.limit(device, 0);
    check_ok(t.create(device, 8000));
    t.limit(0, 20000);
    check_refused(t.create(device, 4001), WYE_DEVICE_MEMORY, "limit of the context, 20000 bytes");
    check_ok(t.rig.free(held));
    check_ok(t.create(device, 12000));
    t.limit(0, 0);
    check_ok(t.create(device, 100'000));
}

TEST_CASE("memory of the application counts against no limit") {
    Ready t(registry::Config{{"memory.device_limit", "1000"}});
    const wye_device device = t.device();
    alignas(kPage) static std::byte memory[kPage];
    const wye_native_handle handle =
        wye_native_of("void*", reinterpret_cast<std::uintptr_t>(memory));
    wye_buffer_adopt_desc desc;
    WYE_INIT(desc);
    desc.memory = &handle;
    desc.size = sizeof memory;
    wye_buffer adopted = 0;
    check_ok(attempt([&](wye_error** e) {
        return wye_buffer_adopt(t.rig.context, device, &desc, &adopted, e);
    }));
    check_ok(t.rig.free(adopted));
    wye_memory registered = 0;
    check_ok(attempt([&](wye_error** e) {
        return wye_memory_register(t.rig.context, device, memory, sizeof memory, &registered, e);
    }));
    const wye_memory_use now = t.use(device);
    CHECK(now.buffers + now.scratch == 0);
    CHECK(now.registered == sizeof memory);
    CHECK(now.total == 1'000'000);
}

TEST_CASE("under many threads, and with a driver that fails, the sum never exceeds the limits") {
    constexpr std::uint64_t kLimit = 64U << 10U;
    constexpr std::uint64_t kContext = 96U << 10U;
    Ready t(registry::Config{{"memory.device_limit", "64KiB"}, {"memory.context_limit", "96KiB"}});
    const wye_device devices[] = {t.device(), t.device("fake:1")};
    const wye_program program = t.program();
    check_ok(t.run(devices[0]));
    std::atomic<int> made{0}, refused{0}, ran{0}, wrong{0};
    t.rig.driver.refused_buffers = 200;
    std::vector<std::thread> threads;
    for (unsigned n = 0; n < 6; ++n)
        threads.emplace_back([&, n] {
            std::minstd_rand random(n + 1);
            std::vector<wye_buffer> mine;
            for (int round = 0; round < 400; ++round) {
                const wye_device device = devices[random() % 2];
                if (random() % 4 == 0) {
                    const Words x(3, n);
                    Words r(3);
                    wye_argument arguments[2] = {};
                    arguments[0].kind = arguments[1].kind = WYE_ARGUMENT_HOST;
                    arguments[0].input = {x.data(), 12};
                    arguments[1].binding = 1;
                    arguments[1].output = r.data();
                    arguments[1].output_size = 12;
                    const std::uint64_t k = 7;
                    wye_dispatch_desc desc;
                    WYE_INIT(desc);
                    desc.program = program;
                    desc.device = device;
                    desc.arguments = arguments;
                    desc.argument_count = 2;
                    desc.params = &k;
                    desc.param_count = 1;
                    const wye_status status = wye_dispatch(t.rig.context, &desc, nullptr, nullptr);
                    if (status == WYE_OK) ++ran;
                    if (status == WYE_OK ? r != Words(3, n + 7) : status != WYE_DEVICE_MEMORY)
                        ++wrong;
                    continue;
                }
                wye_buffer_create_desc desc;
                WYE_INIT(desc);
                desc.size = 1 + random() % (16U << 10U);
                wye_buffer buffer = 0;
                const wye_status status =
                    wye_buffer_create(t.rig.context, device, &desc, &buffer, nullptr);
                if (status == WYE_OK) {
                    ++made;
                    mine.push_back(buffer);
                } else {
                    ++(status == WYE_DEVICE_MEMORY ? refused : wrong);
                }
                if (mine.empty() || random() % 3 == 0) continue;
                if (wye_buffer_free(t.rig.context, mine.back(), nullptr) != WYE_OK) ++wrong;
                mine.pop_back();
            }
            for (const wye_buffer one : mine)
                if (wye_buffer_free(t.rig.context, one, nullptr) != WYE_OK) ++wrong;
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(made > 0);
    CHECK(refused > 0);
    CHECK(ran > 0);
    CHECK(t.rig.driver.most_device_bytes <= kContext);
    CHECK(t.rig.driver.most_device_bytes > kLimit / 2);
    for (const wye_device device : devices) {
        CHECK(t.use(device).buffers == 0);
        (void)t.trim(device);
        CHECK(t.use(device).scratch == 0);
    }
    CHECK(t.rig.driver.device_bytes == 0);
    // No memory was lost: exactly the limits can be allocated.
    t.made(devices[0], kLimit);
    check_refused(t.create(devices[0], 1), WYE_DEVICE_MEMORY, "limit of fake:0");
    t.made(devices[1], kContext - kLimit);
    check_refused(t.create(devices[1], 1), WYE_DEVICE_MEMORY, "limit of the context");
}

// ---- Short of memory -----------------------------------------------------------------------

TEST_CASE("a buffer that the driver has no memory for is tried once more, after a trim") {
    for (const Code code : {Code::DEVICE_MEMORY, Code::OUT_OF_MEMORY}) {
        Ready t;
        t.rig.driver.refusal = code;
        const wye_device device = t.device();
        check_ok(t.run(device));
        t.rig.driver.refused_buffers = 1;
        check_ok(t.create(device, 100));
        CHECK(t.rig.driver.live_buffers == 1);  // the scratch memory was freed
        CHECK(t.use(device).trims == 1);
        t.rig.driver.refused_buffers = 2;
        check_refused(t.create(device, 100), static_cast<wye_status>(code), "no memory now");
        CHECK(t.rig.driver.refused_buffers == 0);
        CHECK(t.use(device).trims == 2);
        CHECK(t.use(device).buffers == 100);
        check_ok(t.create(device, 100));
    }
}

TEST_CASE(
    "scratch, trap words, staging and registered memory, and programs also get a second try") {
    Ready t;
    t.rig.driver.stages = true;
    const wye_device device = t.device();
    std::uint64_t trims = 0;
    const auto trimmed = [&] {
        CHECK(t.rig.driver.refused_buffers == 0);
        CHECK(t.rig.driver.refused_programs == 0);
        return t.use(device).trims == ++trims;
    };
    t.rig.driver.refused_programs = 1;
    check_ok(t.run(device));
    CHECK(t.r == Words{2, 3, 4});
    CHECK(t.rig.driver.programs == 1);
    CHECK(trimmed());

    (void)t.trim(device);
    ++trims;
    t.rig.driver.refused_buffers = 1;
    check_ok(t.run(device));
    CHECK(t.r == Words{2, 3, 4});
    CHECK(trimmed());

    t.rig.driver.kernel = [](const wye_dispatch_op&) {};
    const wye_program traps = t.rig.program(kTrap);
    const wye_buffer a = t.made(device, 12), b = t.made(device, 12);
    (void)t.trim(device);
    ++trims;
    t.rig.driver.refused_buffers = 1;  // resident arguments: only the trap words need memory
    check_ok(Job(traps, device).resident(0, a).resident(1, b).run(t.rig));
    CHECK(trimmed());

    const Words large(1U << 18U, 3);
    const wye_buffer to = t.made(device, 4 * large.size());
    t.rig.driver.refused_buffers = 1;
    t.rig.upload(to, large);
    CHECK(t.rig.download<std::uint32_t>(to, large.size()) == large);
    const auto kinds = t.rig.driver.kinds();
    CHECK(std::ranges::count(kinds, std::uint32_t{WYE_OPERATION_COPY}) > 0);
    CHECK(t.use(device).staging > 0);
    CHECK(trimmed());

    alignas(kPage) static std::byte memory[kPage];
    wye_memory registered = 0;
    t.rig.driver.refused_buffers = 1;
    check_ok(attempt([&](wye_error** e) {
        return wye_memory_register(t.rig.context, device, memory, sizeof memory, &registered, e);
    }));
    CHECK(trimmed());
    check_ok(attempt(
        [&](wye_error** e) { return wye_memory_unregister(t.rig.context, registered, e); }));
}

TEST_CASE("work goes on without staging memory if the driver has none, even after a trim") {
    Ready t;
    t.rig.driver.stages = true;
    const wye_device device = t.device();
    const Words large(1U << 18U, 3);
    const wye_buffer to = t.made(device, 4 * large.size());
    t.rig.driver.refused_buffers = 2;
    t.rig.upload(to, large);
    CHECK(t.rig.driver.refused_buffers == 0);
    CHECK(t.rig.driver.staging_bytes == 0);
    CHECK(t.use(device).staging == 0);  // staging memory reserves no bytes of the limit
    t.rig.upload(to, large);
    CHECK(t.use(device).staging == t.rig.driver.staging_bytes);
    CHECK(t.rig.driver.staging_bytes > 0);
    CHECK(t.rig.download<std::uint32_t>(to, large.size()) == large);
}

// ---- Trim ----------------------------------------------------------------------------------

TEST_CASE("a trim frees what nobody uses, says how much, and the next work makes it anew") {
    Ready t;
    t.rig.driver.stages = true;
    const wye_device device = t.device();
    CHECK(t.trim(device) == 0);
    const Words large(1U << 18U, 3);
    const wye_buffer kept = t.made(device, 4 * large.size());
    t.rig.upload(kept, large);
    check_ok(t.run(device));
    const wye_memory_use before = t.use(device);
    CHECK(before.buffers == 4 * large.size());
    CHECK(before.scratch == kScratch);
    CHECK(before.scratch_idle == kScratch);
    CHECK(before.staging == t.rig.driver.staging_bytes);
    CHECK(before.staging_idle == before.staging);
    CHECK(before.programs == 1);
    CHECK(t.rig.driver.device_bytes == before.buffers + before.scratch);
    CHECK(t.trim(device) >= before.scratch_idle + before.staging_idle);
    const wye_memory_use after = t.use(device);
    CHECK(after.buffers == before.buffers);
    CHECK(after.scratch + after.staging == 0);
    CHECK(after.trims == before.trims + 1);
    CHECK(t.rig.driver.live_buffers == 1);
    CHECK(t.trim(device) == 0);
    check_ok(t.run(device));
    CHECK(t.r == Words{2, 3, 4});
    CHECK(t.rig.download<std::uint32_t>(kept, large.size()) == large);
    check_ok(
        attempt([&](wye_error** e) { return wye_device_trim(t.rig.context, device, nullptr, e); }));
}

TEST_CASE("work in flight keeps its memory when it is trimmed, and its result is right") {
    Ready t;
    t.rig.driver.stages = true;
    const wye_device device = t.device();
    const Words in(60'000, 4);
    t.free(t.submitted(device, in));
    check_ok(t.run(device));
    t.rig.driver.holds = true;
    const wye_pending pending = t.submitted(device, in);
    const wye_memory_use before = t.use(device);
    CHECK(before.scratch > before.scratch_idle);
    const std::uint64_t freed = t.trim(device);
    CHECK(freed >= before.scratch_idle + before.staging_idle);
    const wye_memory_use flying = t.use(device);
    CHECK(flying.scratch == before.scratch - before.scratch_idle);
    CHECK(flying.scratch_idle == 0);
    CHECK(flying.staging == before.staging - before.staging_idle);
    CHECK(flying.staging > 0);
    t.rig.driver.holds = false;
    check_ok(t.wait(pending));
    const wye_bytes out = t.rig.output(pending);
    REQUIRE(out.size == 4 * in.size());
    const auto* words = static_cast<const std::uint32_t*>(out.data);
    CHECK(Words(words, words + in.size()) == Words(in.size(), 5));
    t.free(pending);
    (void)t.trim(device);
    CHECK(t.use(device).scratch + t.use(device).staging == 0);
    CHECK(t.rig.driver.live_buffers == 0);
}

TEST_CASE("work that has ended unseen gives its memory to a trim, and to a buffer that needs it") {
    Ready t(registry::Config{{"memory.device_limit", "12KiB"}});
    const wye_device device = t.device();
    t.free(t.submitted(device, t.x));
    CHECK(t.use(device).scratch == kScratch);
    (void)t.trim(device);
    CHECK(t.use(device).scratch == 0);
    t.free(t.submitted(device, t.x));
    check_ok(t.create(device, 3 * kPage));
}

TEST_CASE("threads trim, dispatch and allocate at once") {
    Ready t(registry::Config{{"memory.context_limit", "256KiB"}});
    t.rig.driver.stages = true;
    const wye_device devices[] = {t.device(), t.device("fake:1")};
    (void)t.program();
    std::atomic<bool> ends = false;
    std::atomic<int> wrong{0};
    std::thread trims([&] {
        while (!ends)
            for (const wye_device device : devices)
                if (wye_device_trim(t.rig.context, device, nullptr, nullptr) != WYE_OK) ++wrong;
    });
    std::vector<std::thread> threads;
    for (std::uint32_t n = 0; n < 3; ++n)
        threads.emplace_back([&, n] {
            for (std::uint32_t round = 0; round < 60; ++round) {
                const Words in(40'000 - 100 * n, round);
                Words out(in.size());
                wye_argument arguments[2] = {};
                arguments[0].kind = arguments[1].kind = WYE_ARGUMENT_HOST;
                arguments[0].input = {in.data(), 4 * in.size()};
                arguments[1].binding = 1;
                arguments[1].output = out.data();
                arguments[1].output_size = 4 * out.size();
                const std::uint64_t k = n;
                wye_dispatch_desc desc;
                WYE_INIT(desc);
                desc.program = t.program();
                desc.device = devices[round % 2];
                desc.arguments = arguments;
                desc.argument_count = 2;
                desc.params = &k;
                desc.param_count = 1;
                const wye_status status = wye_dispatch(t.rig.context, &desc, nullptr, nullptr);
                if (status == WYE_OK ? out != Words(in.size(), round + n)
                                     : status != WYE_DEVICE_MEMORY)
                    ++wrong;
            }
        });
    for (std::thread& thread : threads) thread.join();
    ends = true;
    trims.join();
    CHECK(wrong == 0);
    CHECK(t.rig.driver.most_device_bytes <= 256U << 10U);
    for (const wye_device device : devices) {
        (void)t.trim(device);
        CHECK(t.use(device).scratch + t.use(device).staging == 0);
    }
}

TEST_CASE("a trim stands in the log") {
    std::vector<std::string> said;
    Ready t;
    wye_context_destroy(t.rig.context);
    t.rig.driver.log = [&](std::uint32_t level, std::string_view area, std::string_view text) {
        if (level == WYE_LOG_DEBUG && area == "memory") said.emplace_back(text);
    };
    t.rig.context = t.rig.driver.context();
    const wye_device device = t.device();
    t.made(device, 100);
    t.rig.driver.refused_buffers = 1;
    check_ok(t.run(device));
    REQUIRE(said.size() == 1);
    CHECK(said[0].starts_with("fake:0: trimmed "));
    CHECK(said[0].find("100 are held in buffers") != std::string::npos);
}

TEST_CASE("a device that is taken back, or closed, holds nothing of the context's limit") {
    Ready t(registry::Config{{"memory.context_limit", "20KiB"}});
    const wye_device device = t.device();
    const wye_buffer lost = t.made(device, 4 * kPage);
    t.rig.driver.lose(0);
    check_ok(t.rig.free(lost));
    wye_device again = 0;
    check_ok(attempt(
        [&](wye_error** e) { return wye_device_recover(t.rig.context, device, &again, e); }));
    t.made(again, 4 * kPage);
    check_ok(attempt([&](wye_error** e) { return wye_device_close(t.rig.context, again, e); }));
    const wye_device anew = t.device();
    CHECK(t.use(anew).buffers == 0);
    t.made(anew, 4 * kPage);
}

}  // namespace
}  // namespace wye::exec::test::test_memory
