// SPDX-License-Identifier: Apache-2.0
//
// Queues: events, order, waits between queues, cancelling what does not end, the caller's
// floating-point state.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cfenv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <thread>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "rig.hpp"

namespace {

using U32s = std::vector<std::uint32_t>;

const char* const kAddOne =
    "wye 1; program add_one; workgroup 64; param rounds: u32; input_output a: u32[]; grid elements "
    "len(a); main { for k in 0u..rounds { a[global_id.x] = a[global_id.x] + 1u; } }";
const char* const kForever =
    "wye 1; program forever; workgroup 64; param stop: u32; input_output a: u32[]; main { var n = "
    "0u; while n != stop { n += 2u; } a[0u] = n; }";
// A short program in which some lanes return early.
const char* const kHalve =
    "wye 1; program halve; workgroup 64; param k: u32; input_output a: u32[]; grid elements "
    "len(a); main { let i = global_id.x; if i >= len(a) { return; } if (a[i] & 1u) == 1u { return; "
    "} a[i] = a[i] / 2u + k + (i & 3u); }";
constexpr std::uint64_t kDeadline = 60'000'000'000;  // ns; only a hang takes that long

struct Job {
    test::Loaded program;
    std::vector<wye_binding> bindings;
    test::Bytes params;
    wye_operation operation{};
    std::uint64_t bytes;
    test::Rig& rig;

    Job(test::Rig& with, const char* text, std::uint64_t parameter, std::uint32_t count)
        : program(with, text), bytes(std::uint64_t{count} * 4), rig(with) {
        bindings.push_back({rig.new_buffer(bytes), 0, bytes, count, 0, 0, 0});
        params = program.params_block({parameter});
        operation = program.operation(bindings, params, {(count + 63) / 64, 1, 1});
    }
    ~Job() { rig.device_table().buffer_destroy(rig.device(), bindings[0].buffer); }
    std::uint64_t submit(wye_queue_object* queue, std::vector<wye_event> waits = {}) const {
        std::uint64_t value = 0;
        REQUIRE(rig.submit(queue, operation, value, waits) == WYE_OK);
        return value;
    }
    U32s values() const {
        return test::values_of<std::uint32_t>(rig.content(bindings[0].buffer, bytes));
    }
};

// A job of kHalve, and the values that its buffer must have.
struct Halved {
    Job job;
    std::uint32_t k;
    U32s values;
    Halved(test::Rig& rig, std::uint32_t parameter, std::uint32_t count)
        : job(rig, kHalve, parameter, count), k(parameter), values(count) {}
    void step() {
        for (std::uint32_t i = 0; i < values.size(); ++i)
            if (values[i] % 2 == 0) values[i] = values[i] / 2 + k + i % 4;
    }
};

// Operations recorded as a command, and the operation that executes it.
class Recorded {
  public:
    Recorded(test::Rig& with, std::span<const wye_operation> operations) : rig_(with) {
        wye_command_desc desc{};
        desc.header.size = sizeof desc;
        desc.operations = operations.data();
        desc.operation_count = operations.size();
        REQUIRE(rig_.device_table().command_create(rig_.device(), &desc, &command_, nullptr) ==
                WYE_OK);
    }
    ~Recorded() { rig_.device_table().command_destroy(rig_.device(), command_); }
    Recorded(const Recorded&) = delete;
    Recorded& operator=(const Recorded&) = delete;

    void update(const wye_operation& operation) {
        REQUIRE(rig_.device_table().command_update(rig_.device(), command_, 0, &operation,
                                                   nullptr) == WYE_OK);
    }
    [[nodiscard]] std::uint64_t submit() const {
        wye_operation operation{};
        operation.kind = WYE_OPERATION_EXECUTE;
        operation.u.execute.command = command_;
        std::uint64_t value = 0;
        REQUIRE(rig_.submit(rig_.queue(), operation, value) == WYE_OK);
        return value;
    }

  private:
    test::Rig& rig_;
    wye_command_object* command_ = nullptr;
};

}  // namespace

TEST_CASE("a small submit on an idle queue has ended on return") {
    test::Rig rig({}, 2);
    const Job job(rig, kAddOne, 3, 100);
    const std::uint64_t value = job.submit(rig.queue());
    CHECK(rig.query(rig.queue(), value, nullptr) == WYE_OK);
    CHECK(rig.query(rig.queue(), value + 1, nullptr) == WYE_NOT_READY);
    CHECK(rig.query(rig.queue(), 0, nullptr) == WYE_OK);
    CHECK(job.values() == U32s(100, 3));
}

TEST_CASE("a queue may be destroyed while a batch of another queue waits for a value of it") {
    test::Rig rig({}, 2);
    const Job blocks(rig, kForever, 1, 64);
    const Job job(rig, kAddOne, 50, 20000);
    for (const bool fails : {false, true}) {
        for (const std::uint32_t flags : {0U, std::uint32_t{WYE_EVENT_ORDER_ONLY}}) {
            const U32s before = job.values();
            wye_queue_object* ends = rig.new_queue();
            const std::uint64_t blocked = blocks.submit(rig.queue());
            const std::uint64_t value = fails ? blocks.submit(ends) : job.submit(ends);
            wye_event event = rig.event(ends, value);
            event.flags = flags;
            const std::uint64_t behind = job.submit(rig.queue(), {event});
            if (fails) CHECK(rig.queue_table().cancel(ends, value, value, nullptr) == WYE_OK);
            CHECK(rig.await(ends, value, kDeadline, nullptr) == (fails ? WYE_CANCELLED : WYE_OK));
            rig.queue_table().destroy(ends);
            wye_queue_object* again = rig.new_queue();  // perhaps at the same address
            CHECK(rig.queue_table().cancel(rig.queue(), blocked, blocked, nullptr) == WYE_OK);
            const bool runs = !fails || flags != 0;
            CHECK(rig.await(rig.queue(), behind, kDeadline, nullptr) ==
                  (runs ? WYE_OK : WYE_CANCELLED));
            const std::uint32_t more = 50 * ((fails ? 0U : 1U) + (runs ? 1U : 0U));
            CHECK(job.values() == U32s(20000, before[0] + more));
            rig.queue_table().destroy(again);
        }
    }
}

TEST_CASE("large and small submits keep their order") {
    test::Rig rig({}, 3);
    const Job large(rig, kAddOne, 100, 300000);
    std::uint64_t value = 0;
    for (int n = 0; n < 5; ++n) value = large.submit(rig.queue());
    CHECK(value == 6);  // value 1 was the fill of the new buffer
    CHECK(rig.wait(value).code == WYE_OK);
    CHECK(large.values() == U32s(300000, 500));
}

TEST_CASE("no signal handler of the application runs on a thread of the plugin") {
    test::Rig rig({}, 3);
    const Job large(rig, kAddOne, 100, 300000);
    CHECK(rig.wait(large.submit(rig.queue())).code == WYE_OK);
    constexpr std::uint64_t kBoth = UINT64_C(1) << (SIGINT - 1) | UINT64_C(1) << (SIGUSR1 - 1);
    std::size_t others = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        if (task.path().filename() == std::to_string(::getpid())) continue;
        std::ifstream status(task.path() / "status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("SigBlk:")) {
                CAPTURE(line);
                CHECK((std::stoull(line.substr(7), nullptr, 16) & kBoth) == kBoth);
                ++others;
            }
    }
    CHECK(others >= 2);  // the queue's thread, and at least one that helps it
}

TEST_CASE("a submit that looks small but runs long is handed over and ends right") {
    test::Rig rig({}, 2);
    wye_status soon = WYE_OK;
    for (std::uint32_t rounds = 300000; soon != WYE_NOT_READY; rounds *= 2) {
        const Job job(rig, kAddOne, rounds, 256);
        const std::uint64_t value = job.submit(rig.queue());
        soon = rig.query(rig.queue(), value, nullptr);  // OK: this thread was late
        CHECK(rig.wait(value).code == WYE_OK);
        CHECK(job.values() == U32s(256, rounds));
    }
}

TEST_CASE("a command of small launches that takes long in all is handed over and ends right") {
    test::Rig rig({}, 2);
    const Job job(rig, kAddOne, 1000, 64);
    const Recorded many(rig, std::vector<wye_operation>(4000, job.operation));
    std::uint32_t late = 0;
    for (std::uint32_t run = 1; run <= late + 2 && run <= 60; ++run) {
        const std::uint64_t value = many.submit();
        const wye_status soon = rig.query(rig.queue(), value, nullptr);
        late += soon == WYE_OK ? 1 : 0;  // this thread was late
        CHECK((soon == WYE_OK || soon == WYE_NOT_READY));
        CHECK(rig.wait(value).code == WYE_OK);
        CHECK(job.values() == U32s(64, run * 4'000'000));
    }
    CHECK(late < 58);
}

TEST_CASE("the launches of a command may be of several programs") {
    test::Rig rig({}, 1);
    const Job five(rig, kAddOne, 5, 100), seven(rig, kAddOne, 7, 300);
    const Recorded mixed(rig, std::vector{five.operation, seven.operation, five.operation});
    for (std::uint32_t run = 1; run <= 3; ++run) {
        const std::uint64_t alone = seven.submit(rig.queue());
        CHECK(rig.query(rig.queue(), alone, nullptr) == WYE_OK);
        CHECK(rig.query(rig.queue(), mixed.submit(), nullptr) == WYE_OK);
        CHECK(five.values() == U32s(100, run * 10));
        CHECK(seven.values() == U32s(300, run * 14));
    }
}

TEST_CASE("a launch with the hint `again` runs as often as it is submitted") {
    test::Rig rig({}, 1);
    Halved even(rig, 1000, 100), other(rig, 5000, 300);
    const Job loops(rig, kAddOne, 3, 100);
    std::vector<wye_operation> list;
    const auto add = [&](const Job& job, int times) {
        for (int n = 0; n < times; ++n) {
            list.push_back(job.operation);
            list.back().u.dispatch.again = n == 0 ? 0 : 1;
        }
    };
    const auto halve = [&](Halved& halved, int times) {
        add(halved.job, times);
        for (int n = 0; n < times; ++n) halved.step();
    };
    halve(even, 5);
    add(loops, 7);
    halve(other, 2);
    halve(even, 3);
    add(loops, 1);
    wye_queue_object* const queue = rig.new_queue();
    wye_submission submission{};
    submission.header.size = sizeof submission;
    submission.operations = list.data();
    submission.operation_count = list.size();
    submission.value = 1;
    REQUIRE(rig.queue_table().submit(queue, &submission, nullptr) == WYE_OK);
    CHECK(rig.wait(queue, 1, kDeadline).code == WYE_OK);
    CHECK(even.job.values() == even.values);
    CHECK(other.job.values() == other.values);
    CHECK(loops.values() == U32s(100, 8 * 3));
    rig.queue_table().destroy(queue);
}

TEST_CASE("a short launch does the same however often it is repeated, and whatever runs between") {
    test::Rig rig({}, 1);
    Halved even(rig, 1000, 100), other(rig, 5000, 300), later(rig, 70, 100);
    Recorded first(rig, std::vector{even.job.operation});
    const Recorded second(rig, std::vector{other.job.operation});
    const auto run = [&](const Recorded& command, Halved& halved) {
        CHECK(rig.query(rig.queue(), command.submit(), nullptr) == WYE_OK);
        halved.step();
        CHECK(halved.job.values() == halved.values);
    };
    for (int round = 0; round < 4; ++round) {
        run(first, even);
        run(first, even);
        run(second, other);
        run(first, even);
        (void)other.job.submit(rig.queue());
        other.step();
        run(second, other);
    }
    first.update(later.job.operation);
    run(first, later);
    run(first, later);
    CHECK(even.job.values() == even.values);
}

TEST_CASE("many submits behind another end in order, and each only once it ran") {
    test::Rig rig({}, 1);
    const Job endless(rig, kForever, 1, 64), one(rig, kAddOne, 1, 64);
    for (std::uint32_t round = 1; round <= 3; ++round) {
        const std::uint64_t blocked = endless.submit(rig.queue());
        std::vector<std::uint64_t> values;
        for (int n = 0; n < 2000; ++n) values.push_back(one.submit(rig.queue()));
        CHECK(rig.wait(values.front(), 1'000'000).code == WYE_TIMEOUT);
        const std::uint64_t middle = values[values.size() / 2];
        wye_status early = WYE_NOT_READY;
        std::thread waiter([&] { early = rig.await(rig.queue(), middle, kDeadline, nullptr); });
        CHECK(rig.queue_table().cancel(rig.queue(), blocked, blocked, nullptr) == WYE_OK);
        CHECK(rig.wait(values.back(), kDeadline).code == WYE_OK);
        waiter.join();
        CHECK(early == WYE_OK);
        for (const std::uint64_t value : values)
            CHECK(rig.query(rig.queue(), value, nullptr) == WYE_OK);
        CHECK(rig.wait(blocked, 0).code == WYE_CANCELLED);
        CHECK(one.values() == U32s(64, round * 2000));
    }
}

// The new program may have the address of the freed one. What a thread keeps about the freed
// program must not be used for the new program.
TEST_CASE("a program made after another was freed runs as itself") {
    test::Rig rig({}, 1);
    for (std::uint32_t n = 1; n <= 20; ++n) {
        const std::string text =
            "wye 1; program p; workgroup 64; param k: u32; input_output a: u32[]; grid elements "
            "len(a); main { a[global_id.x] = k + " +
            std::to_string(n * 1000) + "u; }";
        const Job job(rig, text.c_str(), 1, 64);
        CHECK(rig.query(rig.queue(), job.submit(rig.queue()), nullptr) == WYE_OK);
        CHECK(job.values() == U32s(64, n * 1000 + 1));
    }
}

TEST_CASE("what never ends can be cancelled, and only that") {
    using namespace std::chrono_literals;
    for (const unsigned threads : {1U, 3U}) {
        test::Rig rig({}, threads);
        for (const std::uint32_t count : {64U, 1000000U}) {
            wye_queue_object* queue = rig.new_queue();
            const Job job(rig, kForever, 1, count), good(rig, kAddOne, 1, count);
            const std::uint64_t before = good.submit(queue);
            const std::uint64_t value = job.submit(queue);
            CHECK(rig.wait(queue, value, 20'000'000).code == WYE_TIMEOUT);
            const std::uint64_t queued[] = {job.submit(queue), job.submit(queue)};
            const std::uint64_t later = good.submit(queue);
            const std::uint64_t waits = good.submit(queue, {rig.event(queue, value)});
            wye_queue_object* other = rig.new_queue();
            const std::uint64_t waits_too = good.submit(other, {rig.event(queue, value)});
            CHECK(rig.queue_table().cancel(queue, queued[0], queued[1], nullptr) == WYE_OK);
            CHECK(rig.wait(queue, value, 20'000'000).code == WYE_TIMEOUT);
            CHECK(rig.queue_table().cancel(queue, value, value, nullptr) == WYE_OK);
            const test::Failure failure = rig.wait(queue, value, kDeadline);
            CHECK(failure.code == WYE_CANCELLED);
            CHECK(failure.fix.substr(0, 5) == "Fix: ");
            for (const std::uint64_t one : queued)
                CHECK(rig.wait(queue, one, kDeadline).code == WYE_CANCELLED);
            CHECK(rig.wait(queue, before, kDeadline).code == WYE_OK);
            CHECK(rig.wait(queue, later, kDeadline).code == WYE_OK);
            CHECK(rig.wait(queue, waits, kDeadline).code == WYE_CANCELLED);
            CHECK(rig.wait(other, waits_too, kDeadline).code == WYE_CANCELLED);
            std::uint64_t after = 0;
            CHECK(rig.submit(queue, good.operation, after) == WYE_OK);
            CHECK(rig.wait(queue, after, kDeadline).code == WYE_OK);
            CHECK(good.values() == U32s(count, 3));
            rig.queue_table().destroy(other);
            rig.queue_table().destroy(queue);
        }
    }
}

#if defined(__SSE2__)
TEST_CASE("the caller's rounding and flush modes neither matter nor change") {
    const char* const text =
        "wye 1; program modes; workgroup 64; input a: f32[]; input b: f64[len(a)]; output r: "
        "f32[len(a)]; output s: f64[len(a)]; output t: i32[len(a)]; grid elements len(a); main { "
        "let "
        "i = global_id.x; r[i] = a[i] * 0.5 + a[i] / 3.0; s[i] = b[i] * 0.5f64; t[i] = "
        "i32(round(a[i])) + i32(a[i] * 1.00000011920928955); }";
    const std::vector<float> a = {1e-39F, -3e-45F, 0.1F, 1.5F, 2.5F, 1e20F, -7.7F, 1.17549435e-38F};
    const std::vector<double> b = {5e-324, 1e-310, 0.1, 1, -2.2250738585072014e-308, 3, 4, 5};
    for (const unsigned threads : {1U, 2U}) {
        for (const std::size_t copies : {1U, 40000U}) {  // on this thread, and on others
            std::vector<float> x;
            std::vector<double> y;
            for (std::size_t n = 0; n < copies; ++n) {
                x.insert(x.end(), a.begin(), a.end());
                y.insert(y.end(), b.begin(), b.end());
            }
            const std::size_t count = x.size();
            test::Rig rig({}, threads);
            test::Loaded program(rig, text);
            const auto run = [&] {
                return program
                    .run({}, {test::bytes_of(x), test::bytes_of(y), test::Bytes(count * 4),
                              test::Bytes(count * 8), test::Bytes(count * 4)})
                    .buffers;
            };
            const auto plain = run();
            const unsigned before = _mm_getcsr();
            // Flush to zero, denormals are zero, round up. Exceptions only set flags.
            _mm_setcsr((before & ~0x6000U) | 0x8040U | 0x4000U);
            const unsigned odd = _mm_getcsr();
            const auto bent = run();
            CHECK((_mm_getcsr() & ~0x3fU) == (odd & ~0x3fU));
            _mm_setcsr(before);
            CHECK(bent[2] == plain[2]);
            CHECK(bent[3] == plain[3]);
            CHECK(bent[4] == plain[4]);
            CHECK(test::values_of<double>(plain[3])[1] == 5e-311);  // subnormals are kept
        }
    }
}

TEST_CASE("the caller's rounding modes do not change a short launch of floats") {
    test::Rig rig({}, 1);
    test::Loaded program(rig,
                         "wye 1; program modes; workgroup 64; input_output a: f64[]; grid elements "
                         "len(a); main { a[global_id.x] = a[global_id.x] * 0.5f64; }");
    const std::vector<double> values(64, 1e-310);
    const std::vector<wye_binding> bindings = {
        {rig.new_buffer(512, values.data()), 0, 512, 64, 0, 0, 0}};
    const Recorded half(rig, std::vector{program.operation(bindings, {}, {1, 1, 1})});
    const unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~0x6000U) | 0x8040U | 0x4000U);
    const unsigned odd = _mm_getcsr();
    const std::uint64_t value = half.submit();
    CHECK((_mm_getcsr() & ~0x3fU) == (odd & ~0x3fU));
    _mm_setcsr(before);
    CHECK(rig.query(rig.queue(), value, nullptr) == WYE_OK);
    CHECK(test::values_of<double>(rig.content(bindings[0].buffer, 512)) ==
          std::vector<double>(64, 5e-311));
    rig.device_table().buffer_destroy(rig.device(), bindings[0].buffer);
}
#endif

// The buffers are so large that a fill or copy on one thread takes a good part of a second. Only
// pages that are written before the stop take memory.
TEST_CASE("fills and transfers of large buffers can be cancelled") {
    constexpr std::uint64_t kBytes = std::uint64_t{2} << 30;
    test::Rig rig;
    const std::unique_ptr<void, void (*)(void*)> host(std::calloc(kBytes, 1), &std::free);
    REQUIRE(host != nullptr);
    wye_operation fill{};
    fill.kind = WYE_OPERATION_FILL;
    fill.u.fill.size = kBytes;
    fill.u.fill.pattern_size = 1;
    wye_operation pattern = fill;
    pattern.u.fill.pattern = 0x0102030405060708U;
    pattern.u.fill.pattern_size = 8;
    wye_operation upload{};
    upload.kind = WYE_OPERATION_UPLOAD;
    upload.u.transfer.size = kBytes;
    upload.u.transfer.source = host.get();
    for (wye_operation operation : {fill, pattern, upload}) {
        wye_buffer_desc desc{};
        desc.header.size = sizeof desc;
        desc.size = kBytes;
        wye_buffer_object* buffer = nullptr;
        REQUIRE(rig.device_table().buffer_create(rig.device(), &desc, &buffer, nullptr) == WYE_OK);
        if (operation.kind == WYE_OPERATION_FILL)
            operation.u.fill.target = buffer;
        else
            operation.u.transfer.buffer = buffer;
        wye_queue_object* queue = rig.new_queue();
        // After 20 ms the work has begun. If this thread gets a processor only after the end of the
        // work, it tries again with less time.
        wye_status ended = WYE_OK;
        for (int ms = 20; ended == WYE_OK && ms >= 0; ms -= 5) {
            std::uint64_t value = 0;
            REQUIRE(rig.submit(queue, operation, value) == WYE_OK);
            std::this_thread::sleep_for(std::chrono::milliseconds(ms));
            CHECK(rig.queue_table().cancel(queue, value, value, nullptr) == WYE_OK);
            ended = rig.wait(queue, value, UINT64_MAX).code;
        }
        CHECK(ended == WYE_CANCELLED);
        rig.queue_table().destroy(queue);
        rig.device_table().buffer_destroy(rig.device(), buffer);
    }
}

TEST_CASE("overlapping copies longer than a slice keep every byte, in both directions") {
    constexpr std::uint64_t kBytes = std::uint64_t{40} << 20;
    constexpr std::uint64_t kShift = 12345;
    test::Rig rig;
    std::vector<std::uint32_t> words(kBytes / 4);
    for (std::size_t n = 0; n < words.size(); ++n) words[n] = static_cast<std::uint32_t>(n * 7919);
    const test::Bytes before = test::bytes_of(words);
    for (const bool up : {false, true}) {
        wye_buffer_object* buffer = rig.new_buffer(kBytes, before.data());
        wye_operation copy{};
        copy.kind = WYE_OPERATION_COPY;
        copy.u.copy = {buffer, buffer, up ? 0 : kShift, up ? kShift : 0, kBytes - kShift, 0, 0};
        std::uint64_t value = 0;
        REQUIRE(rig.submit(rig.queue(), copy, value) == WYE_OK);
        CHECK(rig.wait(value).code == WYE_OK);
        const test::Bytes after = rig.content(buffer, kBytes);
        CHECK(std::memcmp(after.data() + (up ? kShift : 0), before.data() + (up ? 0 : kShift),
                          kBytes - kShift) == 0);
        rig.device_table().buffer_destroy(rig.device(), buffer);
    }
}
