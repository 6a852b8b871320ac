// SPDX-License-Identifier: Apache-2.0
//
// Transfers of host bytes through staging memory, on a driver that makes its copies as late as
// possible. The results are compared with the host's own arithmetic.
#include <algorithm>
#include <cstring>
#include <thread>

#include "../rig.hpp"
#include "exec/device/copiers.hpp"

namespace wye::exec::test::test_transfers {
namespace {

using Bytes = std::vector<std::byte>;
using Words = std::vector<std::uint32_t>;
constexpr std::uint64_t kKiB = 1 << 10;
constexpr std::uint64_t kMiB = 1 << 20;

// Smaller transfers use no staging memory; larger ones go in chunks of at most kChunk.
constexpr std::uint64_t kThreshold = 128 * kKiB;
constexpr std::uint64_t kChunk = 4 * kMiB;

Bytes noise(std::size_t size, std::uint64_t seed) {
    Bytes out(size);
    for (std::byte& byte : out) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        byte = static_cast<std::byte>(seed >> 56U);
    }
    return out;
}

registry::Config with(registry::Config more) {
    more.emplace("transfer.threads", "3");
    return more;
}

struct Ready {
    explicit Ready(registry::Config config = {}, std::uint64_t queues = 3)
        : rig(with(std::move(config))) {
        rig.driver.kernel = add_kernel;
        rig.driver.stages = true;
        rig.driver.facts[WYE_FACT_KEY_MAX_QUEUES] = queues;
        rig.driver.facts[WYE_FACT_KEY_MAX_BUFFER_BYTES] = 1 << 30;
    }
    // Opened at first use, so that a test may change the facts before.
    wye_device device() {
        if (opened == 0) opened = rig.device();
        return opened;
    }
    Rig rig;
    wye_device opened = 0;

    Outcome upload(wye_buffer buffer, std::uint64_t offset, const std::byte* from,
                   std::uint64_t size) {
        return attempt([&](wye_error** e) {
            return wye_buffer_upload_range(rig.context, buffer, offset, {from, size}, e);
        });
    }
    Outcome download(wye_buffer buffer, std::uint64_t offset, std::byte* to, std::uint64_t size) {
        return attempt([&](wye_error** e) {
            return wye_buffer_download_range(rig.context, buffer, offset, to, size, e);
        });
    }
    // What `count` found in the operations since its last call.
    struct Count {
        std::uint64_t copies = 0, copied = 0, largest_copy = 0, transfers = 0;
    };
    Count count() {
        Count out;
        for (const wye_operation& operation : rig.driver.operations) {
            if (operation.kind == WYE_OPERATION_COPY) {
                ++out.copies;
                out.copied += operation.u.copy.size;
                out.largest_copy = std::max(out.largest_copy, operation.u.copy.size);
            }
            out.transfers +=
                operation.kind == WYE_OPERATION_UPLOAD || operation.kind == WYE_OPERATION_DOWNLOAD;
        }
        rig.driver.operations.clear();
        return out;
    }
};

constexpr std::uint64_t kSizes[] = {0,
                                    1,
                                    kThreshold - 1,
                                    kThreshold,
                                    kThreshold + 1,
                                    512 * kKiB - 1,
                                    512 * kKiB,
                                    512 * kKiB + 1,
                                    2 * kMiB - 1,
                                    2 * kMiB + 1,
                                    kChunk - 1,
                                    kChunk,
                                    kChunk + 1,
                                    4 * kChunk + 1,
                                    11 * kChunk - 3};

TEST_CASE("transfers of every size move their bytes and no others, in chunks") {
    for (const std::uint64_t queues : {1, 3}) {
        Ready t({}, queues);
        constexpr std::uint64_t kAll = 11 * kChunk + 64;
        const wye_buffer buffer = t.rig.buffer(t.device(), kAll);
        Bytes expected = noise(kAll, 1);
        check_ok(t.upload(buffer, 0, expected.data(), kAll));
        const Bytes source = noise(kAll, 2);
        for (const std::uint64_t size : kSizes)
            for (const std::uint64_t skip : {0, 5}) {  // unaligned on the host and the device
                CAPTURE(size);
                CAPTURE(skip);
                (void)t.count();
                check_ok(t.upload(buffer, 2 * skip, source.data() + skip, size));
                const Ready::Count up = t.count();
                Bytes found(skip + size + 1, std::byte{0x5a});
                check_ok(t.download(buffer, 2 * skip, found.data() + skip, size));
                const Ready::Count down = t.count();
                CHECK((std::equal(source.begin() + static_cast<std::ptrdiff_t>(skip),
                                  source.begin() + static_cast<std::ptrdiff_t>(skip + size),
                                  found.begin() + static_cast<std::ptrdiff_t>(skip))));
                // The bytes beside the range are unchanged.
                CHECK((skip == 0 || found[skip - 1] == std::byte{0x5a}));
                CHECK(found[skip + size] == std::byte{0x5a});
                const bool staged = size >= kThreshold;
                for (const Ready::Count& one : {up, down}) {
                    CHECK(one.copied == (staged ? size : 0));
                    CHECK(one.largest_copy <= kChunk);
                    CHECK(one.transfers == (staged || size == 0 ? 0 : 1));
                }
                if (size >= 2 * kMiB) CHECK(up.copies >= 4);
                std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(skip), size,
                            expected.begin() + static_cast<std::ptrdiff_t>(2 * skip));
            }
        Bytes all(kAll);
        check_ok(t.download(buffer, 0, all.data(), kAll));
        CHECK((all == expected));
    }
}

TEST_CASE("host arguments of every size go through staging memory, in the order of the dispatch") {
    for (const std::uint64_t queues : {1, 3}) {
        Ready t({}, queues);
        const wye_program program = t.rig.program(kAdd);
        std::uint32_t k = 0;
        for (const std::uint64_t size : kSizes)
            for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{60'000'000'000}}) {
                CAPTURE(size);
                CAPTURE(limit);
                Words x(size / 4), r(size / 4, 7);
                for (std::size_t i = 0; i < x.size(); ++i)
                    x[i] = static_cast<std::uint32_t>(i * 2654435761U);
                (void)t.count();
                Job job(program, t.device());
                job.desc.timeout_ns = limit;
                job.param(++k).in(0, x.data(), 4 * x.size()).out(1, r.data(), 4 * r.size());
                check_ok(job.run(t.rig));
                for (std::uint32_t& word : x) word += k;
                CHECK((r == x));
                CHECK(job.report.bytes_uploaded == 4 * x.size());
                CHECK(job.report.bytes_downloaded == 4 * x.size());
                const Ready::Count count = t.count();
                const bool staged = 4 * x.size() >= kThreshold;
                CHECK(count.copied == (staged ? 8 * x.size() : 0));
                CHECK(count.transfers == (staged || x.empty() ? 0 : 2));
            }
    }
}

TEST_CASE("a trap delivers none of the outputs, however large") {
    Ready t;
    const wye_program program = t.rig.program(kTrap);
    t.rig.driver.kernel = [](const wye_dispatch_op& op) {
        auto* words = reinterpret_cast<std::uint32_t*>(FakeDriver::memory(op.trap));
        words[0] = 7;
        words[1] = 2;
    };
    for (const std::size_t count : {100'000, 3'000'000}) {
        const Words x(count, 1);
        Words r(count, 9);
        Job job(program, t.device());
        check_refused(job.in(0, x.data(), 4 * count).out(1, r.data(), 4 * count).run(t.rig),
                      WYE_TRAPPED, "trapped with code 7");
        CHECK((r == Words(count, 9)));
    }
}

TEST_CASE("a chunk that the driver refuses fails the call, which waits for the others") {
    Ready t;
    const wye_program program = t.rig.program(kAdd);
    constexpr std::uint64_t kSize = 11 * kChunk;
    const wye_buffer buffer = t.rig.buffer(t.device(), kSize);
    const Bytes source = noise(kSize, 3);
    Bytes found(kSize);
    const Words x(kSize / 4, 5);
    Words r(kSize / 4, 9);
    for (int before : {0, 1, 4, 10}) {
        CAPTURE(before);
        t.rig.driver.submits_left = before;
        check_refused(t.upload(buffer, 0, source.data(), kSize), WYE_DRIVER, "refuses to submit");
        t.rig.driver.submits_left = before;
        check_refused(t.download(buffer, 0, found.data(), kSize), WYE_DRIVER, "refuses to submit");
        // A dispatch fails, too, when a chunk of its input or of its output is refused.
        for (const int submits : {before, before + 12}) {
            t.rig.driver.submits_left = submits;
            Job job(program, t.device());
            job.param(1).in(0, x.data(), kSize).out(1, r.data(), kSize);
            check_refused(job.run(t.rig), WYE_DRIVER, "refuses to submit");
        }
        t.rig.driver.submits_left = INT32_MAX;
        check_ok(t.upload(buffer, 0, source.data(), kSize));
        check_ok(t.download(buffer, 0, found.data(), kSize));
        CHECK((found == source));
    }
    t.rig.driver.fail_wait = true;
    check_refused(t.upload(buffer, 0, source.data(), kSize), WYE_DRIVER, "the fake fails");
    check_refused(t.download(buffer, 0, found.data(), kSize), WYE_DRIVER, "the fake fails");
    Job job(program, t.device());
    std::ranges::fill(r, 9U);
    job.param(1).in(0, x.data(), kSize).out(1, r.data(), kSize);
    check_refused(job.run(t.rig), WYE_DRIVER, "the fake fails");
    CHECK((r == Words(kSize / 4, 9)));
    t.rig.driver.fail_wait = false;
    check_ok(job.run(t.rig));
    CHECK((r == Words(kSize / 4, 6)));
    // No staging block was lost: there were never more than the largest upload and the largest
    // download need.
    CHECK(t.rig.driver.most_staging_bytes <= 16 * kChunk);
}

TEST_CASE("staging memory has a limit, and transfers work without any") {
    constexpr std::uint64_t kSize = 5 * kChunk + 4;
    const Words x(kSize / 4, 5);
    for (const auto& one : {std::pair("4MiB", true), std::pair("9MiB", true),
                            std::pair("1MiB", false), std::pair("1", false)}) {
        CAPTURE(one.first);
        Ready t(registry::Config{{"transfer.bytes", one.first}});
        const wye_program program = t.rig.program(kAdd);
        Words r(x.size());
        Job job(program, t.device());
        job.param(2).in(0, x.data(), kSize).out(1, r.data(), kSize);
        check_ok(job.run(t.rig));
        CHECK((r == Words(x.size(), 7)));
        CHECK((t.count().copied != 0) == one.second);
        CHECK(t.rig.driver.most_staging_bytes <= 9 * kMiB);
    }
    // Cases without staging memory: the driver has none or is out of memory, the device shares the
    // host's memory, or the configuration says so.
    const auto transfers = [&](registry::Config config, auto&& change) {
        Ready t(std::move(config));
        change(t.rig.driver);
        const wye_program program = t.rig.program(kAdd);
        Words r(x.size());
        Job job(program, t.device());
        job.param(2).in(0, x.data(), kSize).out(1, r.data(), kSize);
        check_ok(job.run(t.rig));
        CHECK((r == Words(x.size(), 7)));
        return t.count().transfers;
    };
    CHECK(transfers({}, [](FakeDriver&) {}) == 0);
    CHECK(transfers({}, [](FakeDriver& d) { d.stages = false; }) == 2);
    CHECK(transfers({}, [](FakeDriver& d) { d.memory_left = 2 * kSize + 100'000; }) == 2);
    const auto share = [](FakeDriver& d) { d.facts[WYE_FACT_KEY_UNIFIED_MEMORY] = 1; };
    CHECK(transfers({}, share) == 2);
    CHECK(transfers({{"transfer.staging", "on"}}, share) == 0);
    CHECK(transfers({{"transfer.staging", "off"}}, [](FakeDriver&) {}) == 2);
}

TEST_CASE("settings of transfers are checked") {
    for (const auto& [key, value] :
         {std::pair("transfer.staging", "maybe"), std::pair("transfer.threads", "0"),
          std::pair("transfer.bytes", "much")}) {
        FakeDriver driver;
        driver.config[key] = value;
        CHECK(driver.context() == nullptr);
    }
}

TEST_CASE("many threads transfer at once, each its own bytes") {
    Ready t(registry::Config{{"transfer.bytes", "20MiB"}});
    const wye_program program = t.rig.program(kAdd);
    std::vector<std::thread> threads;
    for (std::uint64_t n = 0; n < 4; ++n)
        threads.emplace_back([&t, program, n, device = t.device()] {
            const std::uint64_t size = 3 * kMiB + n * 100'001;
            const wye_buffer buffer = t.rig.buffer(device, size);
            for (std::uint32_t round = 0; round < 4; ++round) {
                const Bytes source = noise(size, 100 * n + round);
                Bytes found(size);
                check_ok(t.upload(buffer, 0, source.data(), size));
                check_ok(t.download(buffer, 0, found.data(), size));
                CHECK((found == source));
                const Words x(size / 4, round);
                Words r(size / 4);
                Job job(program, device);
                job.param(n).in(0, x.data(), 4 * x.size()).out(1, r.data(), 4 * r.size());
                check_ok(job.run(t.rig));
                CHECK((r == Words(x.size(), round + static_cast<std::uint32_t>(n))));
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(t.rig.driver.most_staging_bytes <= 20 * kMiB);
}

TEST_CASE("copying threads copy every byte once, for several callers") {
    for (const std::uint64_t limit : {1, 2, 5}) {
        Copiers copiers(limit);
        std::vector<std::thread> callers;
        for (std::uint64_t n = 0; n < 3; ++n)
            callers.emplace_back([&copiers, n] {
                for (const std::size_t size :
                     {std::size_t{0}, std::size_t{1}, 256 * kKiB, 256 * kKiB + 1, 5 * kMiB + n}) {
                    const Bytes source = noise(size, n + size);
                    Bytes one(size + 1, std::byte{0x5a}), two = one;
                    copiers.copy(one.data(), source.data(), size);
                    HostCopyJob job;
                    job.target = two.data();
                    job.source = source.data();
                    job.size = size;
                    copiers.start(job);
                    copiers.wait(job);
                    CHECK((std::equal(source.begin(), source.end(), one.begin())));
                    CHECK((one == two));
                    CHECK(one[size] == std::byte{0x5a});
                }
            });
        for (std::thread& caller : callers) caller.join();
    }
}

}  // namespace
}  // namespace wye::exec::test::test_transfers
