// SPDX-License-Identifier: Apache-2.0
//
// Counters, compared with known sizes and with the calls that the driver counted.
#include <thread>

#include "rig.hpp"
#include "support/temp_dir.hpp"

namespace wye::exec::test::test_counters {
namespace {

using Words = std::vector<std::uint32_t>;

TEST_CASE("bytes, buffers and dispatches have the sizes and numbers of the calls") {
    Rig rig;
    rig.driver.kernel = add_kernel;
    const wye_device device = rig.device();
    CHECK(rig.counters(device).submits == 0);
    const wye_program program = rig.program(kAdd);
    const wye_buffer x = rig.buffer(device, 16);
    const wye_buffer r = rig.buffer(device, 32);
    rig.upload(x, Words{1, 2, 3, 4});
    (void)rig.download<std::uint32_t>(x, 2);
    check_ok(
        attempt([&](wye_error** e) { return wye_buffer_copy(rig.context, x, 0, r, 16, 12, e); }));
    check_ok(
        attempt([&](wye_error** e) { return wye_buffer_fill(rig.context, r, 0, 20, 7, 4, e); }));
    const auto refused =
        attempt([&](wye_error** e) { return wye_buffer_fill(rig.context, r, 0, 200, 7, 4, e); });
    CHECK_FALSE(refused.ok());
    wye_counters now = rig.counters(device);
    CHECK(now.header.size == sizeof now);
    CHECK(now.bytes_uploaded == 16);
    CHECK(now.bytes_downloaded == 8);
    CHECK(now.bytes_copied == 12);
    CHECK(now.bytes_filled == 20);
    CHECK(now.buffers_made == 2);
    CHECK(now.buffer_bytes == 48);
    CHECK(now.dispatches == 0);

    const Words host = {5, 6, 7};
    Words out(3);
    for (int i = 0; i < 2; ++i)
        check_ok(
            Job(program, device).param(1).in(0, host.data(), 12).out(1, out.data(), 12).run(rig));
    now = rig.counters(device);
    CHECK(now.dispatches == 2);
    CHECK(now.bytes_uploaded == 16 + 2 * 12);
    CHECK(now.bytes_downloaded == 8 + 2 * 12);
    CHECK(now.scratch_made == 2);  // the second dispatch used the same buffers
    CHECK(now.programs_compiled == 1);
    CHECK(now.programs_found == 1);

    check_ok(rig.free(r));
    now = rig.counters(device);
    CHECK(now.submits == static_cast<std::uint64_t>(rig.driver.submits));
    CHECK(now.waits == static_cast<std::uint64_t>(rig.driver.waits));
    CHECK(now.buffers_made == static_cast<std::uint64_t>(rig.driver.buffers));
    CHECK(rig.driver.live_buffers == 3);
    CHECK(now.buffer_bytes == now.peak_buffer_bytes - 32);
    CHECK(now.peak_buffer_bytes > 48);
}

TEST_CASE("repeated requests count as dispatches, submits and waits, in success and failure") {
    Rig rig;
    rig.driver.kernel = add_kernel;
    const wye_device device = rig.device();
    const wye_program program = rig.program(kAdd);
    const wye_buffer x = rig.buffer(device, 16);
    const wye_buffer r = rig.buffer(device, 16);
    const auto job = [&] { return Job(program, device).param(1).resident(0, x).resident(1, r); };
    check_ok(job().run(rig));
    const int before = rig.driver.submits;
    for (int i = 0; i < 9; ++i) check_ok(job().run(rig));
    wye_counters now = rig.counters(device);
    CHECK(now.dispatches == 10);
    CHECK(now.dispatches_failed == 0);
    CHECK(now.dispatches_repeated == 9);
    CHECK(rig.driver.submits == before + 9);
    CHECK(now.submits == static_cast<std::uint64_t>(rig.driver.submits));
    CHECK(now.waits == static_cast<std::uint64_t>(rig.driver.waits));
    CHECK(now.programs_found + now.programs_compiled == 1);

    rig.driver.fail_submit = true;
    CHECK_FALSE(job().run(rig).ok());
    rig.driver.fail_submit = false;
    rig.driver.fail_wait = true;
    CHECK_FALSE(job().run(rig).ok());
    rig.driver.fail_wait = false;
    now = rig.counters(device);
    CHECK(now.dispatches == 10);
    CHECK(now.dispatches_failed == 2);
    CHECK(now.dispatches_repeated == 10);  // the refused submit does not count
    CHECK(now.submits == static_cast<std::uint64_t>(rig.driver.submits) - 1);
    CHECK(now.waits == static_cast<std::uint64_t>(rig.driver.waits));
}

TEST_CASE("asynchronous repeats count as dispatches when they end, and as submits") {
    Rig rig;
    rig.driver.kernel = add_kernel;
    const wye_device device = rig.device();
    const wye_program program = rig.program(kAdd);
    const wye_buffer x = rig.buffer(device, 16);
    const wye_buffer r = rig.buffer(device, 16);
    Job job = Job(program, device).param(1).resident(0, x).resident(1, r);
    for (int i = 0; i < 4; ++i) check_ok(job.run(rig));
    const wye_counters before = rig.counters(device);
    for (int i = 0; i < 5; ++i) {
        const wye_pending pending = rig.submitted(job);
        check_ok(rig.wait(pending));
    }
    wye_counters now = rig.counters(device);
    CHECK(now.dispatches == before.dispatches + 5);
    CHECK(now.dispatches_repeated == before.dispatches_repeated + 5);
    CHECK(now.submits == static_cast<std::uint64_t>(rig.driver.submits));
    CHECK(now.programs_found == before.programs_found);
    rig.driver.fail_submit = true;
    wye_pending pending = 0;
    CHECK_FALSE(rig.submit(job, pending).ok());
    CHECK(rig.counters(device).dispatches_failed == before.dispatches_failed + 1);
}

TEST_CASE("dispatches that fail at any step count as failed, with no bytes") {
    Rig rig;
    rig.driver.kernel = add_kernel;
    const wye_device device = rig.device();
    const wye_program program = rig.program(kAdd);
    const Words host = {5, 6, 7};
    Words out(3);
    const auto job = [&] {
        return Job(program, device).param(1).in(0, host.data(), 12).out(1, out.data(), 12);
    };
    CHECK_FALSE(
        Job(program, device).param(1).run(rig).ok());  // refused, since arguments are missing
    rig.driver.fail_compile = true;
    CHECK_FALSE(job().run(rig).ok());
    rig.driver.fail_compile = false;
    rig.driver.fail_submit = true;
    CHECK_FALSE(job().run(rig).ok());
    rig.driver.fail_submit = false;
    wye_counters now = rig.counters(device);
    CHECK(now.dispatches == 0);
    CHECK(now.dispatches_failed == 3);
    CHECK(now.bytes_uploaded + now.bytes_downloaded == 0);
    CHECK(now.programs_compiled == 1);

    // A dispatch of a stale program belongs to no device.
    check_ok(attempt([&](wye_error** e) { return wye_program_free(rig.context, program, e); }));
    CHECK_FALSE(job().run(rig).ok());
    CHECK(rig.counters(device).dispatches_failed == 3);
}

TEST_CASE("asynchronous dispatches count when they end; questions count with their answers") {
    Rig rig;
    rig.driver.kernel = add_kernel;
    const wye_device device = rig.device();
    const wye_program program = rig.prepared(device, kAdd);
    const Words host = {5, 6, 7};
    Job job = Job(program, device).param(1).in(0, host.data(), 12).out(1, nullptr, 0);
    rig.driver.holds = true;
    wye_pending pending = rig.submitted(job);
    const auto poll = [&] { return rig.ended(pending); };
    CHECK_FALSE(poll());
    CHECK_FALSE(poll());
    wye_counters now = rig.counters(device);
    CHECK(now.dispatches == 0);
    CHECK(now.submits == 1);
    CHECK(now.polls == 2);
    CHECK(now.polls_ended == 0);
    rig.driver.holds = false;
    CHECK(poll());
    CHECK(poll());  // the end is known, so the driver is not asked
    now = rig.counters(device);
    CHECK(now.dispatches == 1);
    CHECK(now.dispatches_failed == 0);
    CHECK(now.polls == 3);
    CHECK(now.polls_ended == 1);
    CHECK(now.waits == 0);
    CHECK(now.bytes_uploaded == 12);
    CHECK(now.bytes_downloaded == 12);

    Job wrong = Job(program, device).param(1);
    CHECK_FALSE(rig.submit(wrong, pending).ok());
    CHECK(rig.counters(device).dispatches_failed == 1);
}

TEST_CASE("programs are compiled, loaded from disk or found in memory") {
    const support::TempDir folder;
    for (const bool second : {false, true}) {
        FakeDriver driver;
        driver.format = WYE_FORMAT_OPENCL_C;
        driver.saves = true;
        driver.kernel = add_kernel;
        driver.config = {{"cache_folder", folder.path().string()}};
        wye_context* context = driver.context();
        REQUIRE(context != nullptr);
        wye_device device = 0;
        REQUIRE(wye_device_open(context, wye_str("fake:0"), 0, &device, nullptr) == WYE_OK);
        wye_program_source source;
        WYE_INIT(source);
        source.text = {kAdd.data(), kAdd.size()};
        wye_program program = 0;
        REQUIRE(wye_program_create(context, &source, &program, nullptr) == WYE_OK);
        wye_prepare_report report;
        WYE_INIT(report);
        REQUIRE(wye_program_prepare(context, program, device, &report, nullptr) == WYE_OK);
        const int made = driver.programs;
        const int loaded = driver.loaded;
        CHECK((second ? loaded : made) > 0);
        REQUIRE(wye_program_prepare(context, program, device, &report, nullptr) == WYE_OK);
        wye_counters out;
        WYE_INIT(out);
        REQUIRE(wye_device_counters(context, device, &out, nullptr) == WYE_OK);
        CHECK(out.programs_compiled == static_cast<std::uint64_t>(made));
        CHECK(out.programs_loaded == static_cast<std::uint64_t>(loaded));
        CHECK(out.programs_found == static_cast<std::uint64_t>(made + loaded));
        wye_context_destroy(context);
    }
}

TEST_CASE("bytes through staging memory count once, and it is not the device's memory") {
    Rig rig;
    rig.driver.stages = true;
    rig.driver.facts[WYE_FACT_KEY_MAX_BUFFER_BYTES] = 1 << 30;
    const wye_device device = rig.device();
    const Words words(1 << 20, 7);
    const std::uint64_t bytes = words.size() * 4;
    const wye_buffer buffer = rig.buffer(device, bytes);
    rig.upload(buffer, words);
    CHECK(rig.download<std::uint32_t>(buffer, words.size()) == words);
    CHECK(rig.driver.buffers > 1);  // staging memory was made
    const wye_counters now = rig.counters(device);
    CHECK(now.bytes_uploaded == bytes);
    CHECK(now.bytes_downloaded == bytes);
    CHECK(now.bytes_copied == 0);
    CHECK(now.buffers_made == 1);
    CHECK(now.buffer_bytes == bytes);
    CHECK(now.submits == static_cast<std::uint64_t>(rig.driver.submits));
}

TEST_CASE("a context sums up its devices, and a lost one keeps its counters") {
    Rig rig;
    const wye_device one = rig.device("fake:0");
    const wye_device two = rig.device("fake:1");
    rig.upload(rig.buffer(one, 16), Words{1, 2, 3, 4});
    rig.upload(rig.buffer(two, 8), Words{1, 2});
    CHECK(rig.counters(one).bytes_uploaded == 16);
    CHECK(rig.counters(two).bytes_uploaded == 8);
    CHECK(rig.counters().bytes_uploaded == 24);
    CHECK(rig.counters().buffer_bytes == 24);

    rig.driver.lose(0);
    const wye_buffer b = rig.buffer(two, 4);
    (void)b;
    CHECK_FALSE(attempt([&](wye_error** e) {
                    wye_buffer_create_desc desc;
                    WYE_INIT(desc);
                    desc.size = 4;
                    wye_buffer out = 0;
                    return wye_buffer_create(rig.context, one, &desc, &out, e);
                }).ok());
    const wye_device again = rig.device("fake:0");
    CHECK(again != one);
    CHECK(rig.counters(again).bytes_uploaded == 0);
    CHECK(rig.counters(one).bytes_uploaded == 16);
    CHECK(rig.counters().bytes_uploaded == 24);
}

TEST_CASE("threads lose no count") {
    Rig rig;
    rig.driver.kernel = add_kernel;
    const wye_device device = rig.device();
    const wye_program program = rig.program(kAdd);
    constexpr int kThreads = 4, kRounds = 200;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&] {
            const wye_buffer x = rig.buffer(device, 16);
            const wye_buffer r = rig.buffer(device, 16);
            for (int i = 0; i < kRounds; ++i)
                (void)Job(program, device).param(1).resident(0, x).resident(1, r).run(rig);
        });
    for (std::thread& thread : threads) thread.join();
    const wye_counters now = rig.counters(device);
    CHECK(now.dispatches + now.dispatches_failed == kThreads * kRounds);
    CHECK(now.submits == static_cast<std::uint64_t>(rig.driver.submits));
}

TEST_CASE("wrong calls are refused") {
    Rig rig;
    const wye_device device = rig.device();
    wye_counters out;
    WYE_INIT(out);
    const auto of_device = [&](wye_context* context, wye_device handle, wye_counters* target) {
        return attempt(
            [&](wye_error** e) { return wye_device_counters(context, handle, target, e); });
    };
    check_refused(of_device(rig.context, device, nullptr), WYE_INVALID_ARGUMENT, "`out` is null");
    check_refused(of_device(nullptr, device, &out), WYE_INVALID_ARGUMENT, "`context` is null");
    CHECK_FALSE(of_device(rig.context, 0, &out).ok());
    CHECK_FALSE(of_device(rig.context, rig.program(kAdd), &out).ok());
    out.header.size = 8;
    check_refused(of_device(rig.context, device, &out), WYE_INVALID_ARGUMENT, "wye_counters");
    check_refused(
        attempt([&](wye_error** e) { return wye_context_counters(rig.context, &out, e); }),
        WYE_INVALID_ARGUMENT, "wye_counters");
    check_refused(
        attempt([&](wye_error** e) { return wye_context_counters(rig.context, nullptr, e); }),
        WYE_INVALID_ARGUMENT, "`out` is null");
}

}  // namespace
}  // namespace wye::exec::test::test_counters
