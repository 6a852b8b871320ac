// SPDX-License-Identifier: Apache-2.0
//
// A small dispatch that has run before allocates nothing, alone or behind another dispatch. The
// test replaces the allocation functions of this executable, into which the plugin is linked, and
// counts their calls. Allocations can also be made to fail: then a refused submit leaves nothing
// behind, and the values of accepted submits still end.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

#include "rig.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

constexpr std::uint64_t kNever = UINT64_MAX;
// The number of allocations of this thread that succeed before one fails or, with `from_then_on`,
// before all fail.
thread_local std::uint64_t left = kNever;
thread_local bool from_then_on = false;
std::atomic<bool> no_threads{false};

bool allowed() {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (left == kNever) return true;
    if (left != 0) return --left, true;
    if (!from_then_on) left = kNever;
    return false;
}

}  // namespace

// Replaces the function of the C library, so that the start of threads can be made to fail.
extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread,
                                                             const pthread_attr_t* attributes,
                                                             void* (*run)(void*),
                                                             void* argument) noexcept {
    if (no_threads) return EAGAIN;
    static const auto real =
        reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return real(thread, attributes, run, argument);
}

// Not inlined, since compilers would report an inlined `new` or `delete` as mismatched.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (allowed())
        if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return allowed() ? std::malloc(size == 0 ? 1 : size) : nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("a small dispatch that has run before allocates nothing") {
    test::Rig rig({}, 1);
    test::Loaded program(
        rig,
        "wye 1; program small; workgroup 64; param k: u32; input a: u32[]; output r: u32[len(a)]; "
        "grid elements len(a); main { let i = global_id.x; if i < len(a) { r[i] = a[i] * k; } }");
    const std::vector<std::uint32_t> a(640, 7);
    const std::vector<wye_binding> bindings = {
        {rig.new_buffer(2560, a.data()), 0, 2560, 640, 0, 0, 0},
        {rig.new_buffer(2560), 0, 2560, 640, 0, 0, 0}};
    const test::Bytes params = program.params_block({3});
    const wye_operation op = program.operation(bindings, params, {10, 1, 1});
    const auto run = [&] {
        std::uint64_t value = 0;
        const wye_status submitted = rig.submit(rig.queue(), op, value);
        const wye_status waited = rig.await(rig.queue(), value, 1'000'000'000, nullptr);
        return submitted == WYE_OK && waited == WYE_OK;
    };
    REQUIRE(run());
    const std::uint64_t before = allocations.load();
    CHECK(before > 0);  // else nothing was counted
    bool good = true;
    for (int n = 0; n < 100; ++n) good = run() && good;
    CHECK(allocations.load() == before);
    CHECK(good);
    CHECK(test::values_of<std::uint32_t>(rig.content(bindings[1].buffer, 2560)) ==
          std::vector<std::uint32_t>(640, 21));
    for (const wye_binding& binding : bindings)
        rig.device_table().buffer_destroy(rig.device(), binding.buffer);
}

TEST_CASE("a dispatch behind another allocates nothing if some have ended before") {
    test::Rig rig({}, 1);
    test::Loaded endless(rig,
                         "wye 1; program endless; workgroup 64; input_output a: u32[]; main { var "
                         "n = 0u; while n != 1u { n += 2u; } a[0u] = n; }");
    test::Loaded small(rig,
                       "wye 1; program small; workgroup 64; param k: u32; input_output a: u32[]; "
                       "grid elements len(a); main { a[global_id.x] = a[global_id.x] + k; }");
    const std::vector<wye_binding> bindings = {{rig.new_buffer(256), 0, 256, 64, 0, 0, 0}};
    const test::Bytes params = small.params_block({3});
    const wye_operation blocks = endless.operation(bindings, {}, {1, 1, 1});
    const wye_operation adds = small.operation(bindings, params, {1, 1, 1});
    // Returns the number of allocations of submits behind work that blocks the queue.
    const auto round = [&](int submits) {
        std::uint64_t blocked = 0, value = 0;
        REQUIRE(rig.submit(rig.queue(), blocks, blocked) == WYE_OK);
        const std::uint64_t before = allocations.load();
        bool good = true;
        for (int n = 0; n < submits; ++n)
            good = rig.submit(rig.queue(), adds, value) == WYE_OK && good;
        const std::uint64_t after = allocations.load();
        CHECK(good);
        CHECK(rig.query(rig.queue(), value, nullptr) == WYE_NOT_READY);
        CHECK(rig.queue_table().cancel(rig.queue(), blocked, blocked, nullptr) == WYE_OK);
        CHECK(rig.await(rig.queue(), value, UINT64_MAX, nullptr) == WYE_OK);
        return after - before;
    };
    // The first round makes more batches than the later rounds need: some batches may not have come
    // back when a wait ends.
    CHECK(round(200) > 0);
    for (int n = 0; n < 10; ++n) CHECK(round(100) == 0);
    CHECK(test::values_of<std::uint32_t>(rig.content(bindings[0].buffer, 256)) ==
          std::vector<std::uint32_t>(64, 3 * 1200));
    rig.device_table().buffer_destroy(rig.device(), bindings[0].buffer);
}

namespace {

const char* const kEndless =
    "wye 1; program endless; workgroup 64; input_output a: u32[]; main { var n = 0u; while n != 1u "
    "{ n += 2u; } a[0u] = n; }";
const char* const kAdds =
    "wye 1; program small; workgroup 64; param k: u32; input_output a: u32[]; grid elements "
    "len(a); main { a[global_id.x] = a[global_id.x] + k; }";

}  // namespace

TEST_CASE("nothing of a refused submit runs with a later one, whatever allocation fails") {
    test::Rig rig({}, 1);
    test::Loaded endless(rig, kEndless), small(rig, kAdds);
    const std::vector<wye_binding> refused = {{rig.new_buffer(256), 0, 256, 64, 0, 0, 0}};
    const std::vector<wye_binding> bindings = {{rig.new_buffer(256), 0, 256, 64, 0, 0, 0}};
    const test::Bytes params = small.params_block({1});
    const wye_operation blocks = endless.operation(bindings, {}, {1, 1, 1});
    const wye_operation adds = small.operation(bindings, params, {1, 1, 1});
    wye_operation bad[] = {small.operation(refused, params, {1, 1, 1}), {}};
    bad[1].kind = 77;
    wye_queue_object* other = rig.new_queue();
    std::uint32_t done = 0;
    for (const bool all : {false, true}) {
        bool failed = true;  // whether an allocation failed
        for (std::uint64_t n = 0; failed; ++n) {
            REQUIRE(n < 1000);
            std::uint64_t blocked = 0, value = 0, waited = 0;
            REQUIRE(rig.submit(other, blocks, waited) == WYE_OK);
            REQUIRE(rig.submit(rig.queue(), blocks, blocked) == WYE_OK);
            const wye_event event = rig.event(other, waited);
            wye_submission submission{};
            submission.header.size = sizeof submission;
            submission.operations = bad;
            submission.operation_count = 2;
            submission.waits = &event;
            submission.wait_count = 1;
            submission.value = blocked + 1;
            from_then_on = all;
            left = n;
            // The call gets no pointer for the error, since the test's host would allocate it.
            const wye_status status = rig.queue_table().submit(rig.queue(), &submission, nullptr);
            failed = all ? left == 0 : left == kNever;
            left = kNever;
            CHECK((status == WYE_UNSUPPORTED || (failed && status == WYE_OUT_OF_MEMORY)));
            REQUIRE(rig.submit(rig.queue(), adds, value) == WYE_OK);
            CHECK(rig.queue_table().cancel(rig.queue(), blocked, blocked, nullptr) == WYE_OK);
            CHECK(rig.await(rig.queue(), value, 10'000'000'000, nullptr) == WYE_OK);
            CHECK(rig.queue_table().cancel(other, waited, waited, nullptr) == WYE_OK);
            CHECK(rig.await(other, waited, 10'000'000'000, nullptr) == WYE_CANCELLED);
            ++done;
        }
    }
    CHECK(test::values_of<std::uint32_t>(rig.content(bindings[0].buffer, 256))[1] == done);
    CHECK(test::values_of<std::uint32_t>(rig.content(refused[0].buffer, 256)) ==
          std::vector<std::uint32_t>(64));
    rig.queue_table().destroy(other);
    for (const auto* one : {&refused, &bindings})
        rig.device_table().buffer_destroy(rig.device(), one->front().buffer);
}

TEST_CASE("the values of a queue end, whose thread cannot be started") {
    test::Rig rig({}, 1);
    test::Loaded small(rig, kAdds);
    constexpr std::uint64_t kCount = 1U << 20U;  // more than the calling thread runs itself
    const std::vector<wye_binding> bindings = {
        {rig.new_buffer(kCount * 4), 0, kCount * 4, kCount, 0, 0, 0}};
    const test::Bytes params = small.params_block({3});
    const wye_operation adds = small.operation(bindings, params, {kCount / 64, 1, 1});
    for (const bool memory : {true, false}) {
        wye_queue_object* queue = rig.new_queue();
        std::uint64_t value = 0;
        no_threads = true;
        from_then_on = true;
        wye_status status = rig.submit(queue, adds, value);  // makes everything but the thread
        CHECK(status == WYE_OK);
        CHECK(rig.await(queue, value, 10'000'000'000, nullptr) == WYE_OUT_OF_MEMORY);
        if (!memory) {
            left = 0;
            status = rig.submit(queue, adds, value);
            left = kNever;
            CHECK(status == WYE_OK);
            CHECK(rig.await(queue, value, 10'000'000'000, nullptr) == WYE_OUT_OF_MEMORY);
        }
        no_threads = false;
        CHECK(rig.submit(queue, adds, value) == WYE_OK);
        CHECK(rig.await(queue, value, 10'000'000'000, nullptr) == WYE_OK);
        rig.queue_table().destroy(queue);
    }
    CHECK(test::values_of<std::uint32_t>(rig.content(bindings[0].buffer, 4)) ==
          std::vector<std::uint32_t>(1, 6));
    rig.device_table().buffer_destroy(rig.device(), bindings[0].buffer);
}
