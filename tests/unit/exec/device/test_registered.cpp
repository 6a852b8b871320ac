// SPDX-License-Identifier: Apache-2.0
//
// Memory of the application that is registered with a device, on a driver that makes its copies as
// late as possible. The results are compared with the host's own arithmetic.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <thread>

#include "../rig.hpp"

namespace wye::exec::test::test_registered {
namespace {

constexpr std::uint64_t kAlignment = 4096;
constexpr std::uint64_t kMiB = 1 << 20;

// Aligned words of the application.
class Words {
  public:
    explicit Words(std::uint64_t bytes, std::uint32_t value = 0)
        : words_(static_cast<std::uint32_t*>(std::aligned_alloc(kAlignment, bytes))),
          count_(bytes / 4) {
        std::ranges::fill(all(), value);
    }
    [[nodiscard]] std::span<std::uint32_t> all() const { return {words_.get(), count_}; }
    [[nodiscard]] std::uint32_t* data() const { return words_.get(); }
    [[nodiscard]] std::uint64_t bytes() const { return count_ * 4; }

  private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::uint32_t, Free> words_;
    std::uint64_t count_;
};

struct Ready : Calls<Ready> {
    explicit Ready(bool stages = true) {
        rig.driver.kernel = add_kernel;
        rig.driver.stages = stages;
        rig.driver.facts[WYE_FACT_KEY_MAX_QUEUES] = 3;
        rig.driver.facts[WYE_FACT_KEY_MAX_BUFFER_BYTES] = 1 << 30;
        rig.driver.facts[WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT] = kAlignment;
    }
    // Opened at first use, so that a test may change the facts before.
    wye_device device() {
        if (opened == 0) opened = rig.device();
        return opened;
    }
    Rig rig{{{"transfer.threads", "2"}}};
    wye_device opened = 0;

    Outcome add(wye_device to, void* memory, std::uint64_t size, wye_memory& out) const {
        return attempt([&](wye_error** e) {
            return wye_memory_register(rig.context, to, memory, size, &out, e);
        });
    }
    wye_memory add(const Words& words) {
        wye_memory out = 0;
        check_ok(add(device(), words.data(), words.bytes(), out));
        CHECK(out != 0);
        return out;
    }
    Outcome remove(wye_memory memory) const {
        return attempt(
            [&](wye_error** e) { return wye_memory_unregister(rig.context, memory, e); });
    }
    std::uint64_t counted() {
        const wye_counters out = rig.counters(device());
        return out.bytes_registered;
    }
    // The number of operations of this kind that the driver got since `operations` was last
    // cleared.
    std::size_t count(std::uint32_t kind) const {
        const auto kinds = rig.driver.kinds();
        return static_cast<std::size_t>(std::ranges::count(kinds, kind));
    }
    std::size_t transfers() const {
        return count(WYE_OPERATION_UPLOAD) + count(WYE_OPERATION_DOWNLOAD);
    }
    Job job(wye_program program, const std::uint32_t* x, std::uint32_t* r, std::uint64_t bytes,
            std::uint32_t k) {
        Job out(program, device());
        out.param(k).in(0, x, bytes).out(1, r, bytes);
        return out;
    }
    wye_pending submit(Job job) {
        job.desc.flags |= WYE_DISPATCH_BORROW;
        return submitted(std::move(job));
    }
};

void count_up(std::span<std::uint32_t> words, std::uint32_t from) {
    for (std::uint32_t& word : words) word = from++;
}

bool is_sum(std::span<const std::uint32_t> r, std::span<const std::uint32_t> x, std::uint32_t k) {
    return std::ranges::equal(r, x, {}, {}, [k](std::uint32_t word) { return word + k; });
}

TEST_CASE("transfers of registered bytes are copies without staging memory, others as before") {
    Ready t;
    const Words memory(40 * kMiB);
    count_up(memory.all(), 1);
    const wye_memory handle = t.add(memory);
    CHECK(t.rig.driver.registered == 1);
    const wye_buffer buffer = t.rig.buffer(t.device(), memory.bytes());
    const auto bytes = std::as_writable_bytes(memory.all());
    std::uint64_t moved = 0;
    for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{5000}, kMiB, 40 * kMiB - 8}) {
        CAPTURE(size);
        t.rig.driver.operations.clear();
        check_ok(attempt([&](wye_error** e) {
            return wye_buffer_upload_range(t.rig.context, buffer, 3, {bytes.data() + 8, size}, e);
        }));
        std::vector<std::byte> back(size);
        CHECK(t.transfers() == 0);
        CHECK(t.count(WYE_OPERATION_COPY) == (size + 16 * kMiB - 1) / (16 * kMiB));
        CHECK(t.rig.driver.most_staging_bytes == 0);
        const std::vector<std::byte> sent(bytes.begin() + 8,
                                          bytes.begin() + 8 + static_cast<std::ptrdiff_t>(size));
        // Downloads to the beginning of the same memory.
        check_ok(attempt([&](wye_error** e) {
            return wye_buffer_download_range(t.rig.context, buffer, 3, bytes.data(), size, e);
        }));
        CHECK(t.transfers() == 0);
        CHECK((std::equal(sent.begin(), sent.end(), bytes.begin())));
        moved += 2 * size;
        CHECK(t.counted() == moved);
    }
    // Bytes outside the registered memory are copied as if nothing was registered.
    std::vector<std::byte> other(kMiB);
    check_ok(attempt([&](wye_error** e) {
        return wye_buffer_upload_range(t.rig.context, buffer, 0, {other.data(), other.size()}, e);
    }));
    CHECK(t.counted() == moved);
    CHECK(t.rig.driver.most_staging_bytes != 0);
    check_ok(t.remove(handle));
    CHECK(t.rig.driver.registered == 0);
    check_ok(attempt([&](wye_error** e) {
        return wye_buffer_upload_range(t.rig.context, buffer, 0, {bytes.data(), 4096}, e);
    }));
    CHECK(t.counted() == moved);
}

TEST_CASE("a dispatch takes registered inputs and outputs as they are, beside others") {
    for (const bool stages : {true, false})
        for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{60'000'000'000}})
            for (const bool in : {true, false})
                for (const bool out : {true, false}) {
                    CAPTURE(stages);
                    CAPTURE(limit);
                    CAPTURE(in);
                    CAPTURE(out);
                    Ready t(stages);
                    const wye_program program = t.rig.program(kAdd);
                    const Words x(20 * kMiB), r(20 * kMiB);
                    count_up(x.all(), 7);
                    if (in) t.add(x);
                    if (out) t.add(r);
                    t.rig.driver.operations.clear();
                    Job job = t.job(program, x.data(), r.data(), x.bytes(), 5);
                    job.desc.timeout_ns = limit;
                    check_ok(job.run(t.rig));
                    CHECK(is_sum(r.all(), x.all(), 5));
                    CHECK(t.counted() == x.bytes() * ((in ? 1 : 0) + (out ? 1 : 0)));
                    CHECK(job.report.bytes_uploaded == x.bytes());
                    CHECK(job.report.bytes_downloaded == x.bytes());
                    const std::size_t through_driver = stages ? 0 : (in ? 0 : 1) + (out ? 0 : 1);
                    CHECK(t.transfers() == through_driver);
                    if (in && out) CHECK(t.rig.driver.most_staging_bytes == 0);
                }
}

TEST_CASE("asynchronous dispatches that borrow registered memory copy none of it on the host") {
    Ready t;
    const wye_program program = t.rig.prepared(t.device(), kAdd);
    constexpr std::uint64_t kEach = 2 * kMiB;
    const Words x(8 * kEach), r(8 * kEach);
    count_up(x.all(), 100);
    const wye_memory first = t.add(x);
    const wye_memory second = t.add(r);
    t.rig.driver.holds = true;
    std::vector<wye_pending> pending;
    for (std::uint32_t n = 0; n < 8; ++n)
        pending.push_back(
            t.submit(t.job(program, x.data() + n * kEach / 4, r.data() + n * kEach / 4, kEach, n)));
    CHECK(t.transfers() == 0);
    CHECK(t.rig.driver.most_staging_bytes == 0);
    check_refused(t.remove(first), WYE_BUFFER_IN_USE, "is used by pending work");
    check_refused(t.remove(second), WYE_BUFFER_IN_USE, "registered memory");
    t.rig.driver.holds = false;
    check_ok(t.remove(first));  // work that has ended does not use the memory
    for (std::uint32_t n = 0; n < 8; ++n) {
        check_ok(t.wait(pending[n]));
        CHECK(is_sum(r.all().subspan(n * kEach / 4, kEach / 4),
                     x.all().subspan(n * kEach / 4, kEach / 4), n));
    }
    CHECK(t.counted() == 2 * x.bytes());
    check_ok(t.remove(second));
    CHECK(t.rig.driver.registered == 0);
}

TEST_CASE("asynchronous transfers that borrow registered memory copy none of it on the host") {
    Ready t;
    const Words memory(2 * kMiB);
    count_up(memory.all(), 5);
    const wye_memory handle = t.add(memory);
    const wye_buffer buffer = t.rig.buffer(t.device(), kMiB);
    const auto up = memory.all().first(kMiB / 4), down = memory.all().last(kMiB / 4);
    t.rig.driver.holds = true;
    t.rig.driver.operations.clear();
    std::vector<wye_pending> pending;
    for (const std::uint32_t kind : {WYE_TRANSFER_UPLOAD, WYE_TRANSFER_DOWNLOAD}) {
        wye_transfer_desc desc;
        WYE_INIT(desc);
        desc.kind = kind;
        desc.flags = WYE_DISPATCH_BORROW;
        desc.buffer = buffer;
        desc.size = kMiB;
        desc.source = up.data();
        desc.target = down.data();
        if (kind == WYE_TRANSFER_UPLOAD) desc.target = nullptr;
        if (kind == WYE_TRANSFER_DOWNLOAD) desc.source = nullptr;
        check_ok(t.rig.submit(desc, pending.emplace_back()));
    }
    CHECK(t.transfers() == 0);
    CHECK(t.rig.driver.most_staging_bytes == 0);
    check_refused(t.remove(handle), WYE_BUFFER_IN_USE, "is used by pending work");
    t.rig.driver.holds = false;
    for (const wye_pending one : pending) check_ok(t.wait(one));
    CHECK((std::ranges::equal(up, down)));
    CHECK(t.counted() == 2 * kMiB);
    check_ok(t.remove(handle));
}

TEST_CASE("an asynchronous dispatch that owns its bytes takes a copy of registered memory") {
    Ready t;
    const wye_program program = t.rig.prepared(t.device(), kAdd);
    const Words x(kMiB, 3);
    t.add(x);
    t.rig.driver.holds = true;
    Job job(program, t.device());
    job.param(1).in(0, x.data(), x.bytes()).out(1, nullptr, 0);
    const wye_pending pending = t.rig.submitted(job);
    std::ranges::fill(x.all(), 1000U);
    t.rig.driver.holds = false;
    check_ok(t.wait(pending));
    const wye_bytes bytes = t.rig.output(pending);
    CHECK(*static_cast<const std::uint32_t*>(bytes.data) == 4);
    CHECK(t.counted() == 0);
}

TEST_CASE("a trap writes nothing to registered outputs, now or later") {
    Ready t;
    const wye_program program = t.rig.prepared(t.device(), kTrap);
    t.rig.driver.kernel = [](const wye_dispatch_op& op) {
        auto* words = reinterpret_cast<std::uint32_t*>(FakeDriver::memory(op.trap));
        words[0] = 7;
        words[1] = 2;
        std::fill_n(FakeDriver::data<std::uint32_t>(op.bindings[1]), op.bindings[1].elements, 1U);
    };
    const Words x(kMiB, 1), r(kMiB, 9);
    t.add(x);
    t.add(r);
    Job job(program, t.device());
    job.in(0, x.data(), x.bytes()).out(1, r.data(), r.bytes());
    check_refused(job.run(t.rig), WYE_TRAPPED, "trapped with code 7");
    CHECK((std::ranges::count(r.all(), 9U) == std::ssize(r.all())));
    check_refused(t.wait(t.submit(job)), WYE_TRAPPED, "trapped with code 7");
    CHECK((std::ranges::count(r.all(), 9U) == std::ssize(r.all())));
    t.rig.driver.kernel = [](const wye_dispatch_op& op) {
        std::fill_n(FakeDriver::data<std::uint32_t>(op.bindings[1]), op.bindings[1].elements, 4U);
    };
    check_ok(t.wait(t.submit(job)));
    CHECK((std::ranges::count(r.all(), 4U) == std::ssize(r.all())));
}

TEST_CASE("registering wrong memory is refused by name") {
    Ready t;
    const Words words(4 * kAlignment);
    auto* const bytes = reinterpret_cast<std::byte*>(words.data());
    wye_memory out = 77;
    const auto refuse = [&](void* at, std::uint64_t size, wye_status status, const char* says) {
        check_refused(t.add(t.device(), at, size, out), status, says);
        CHECK(out == 77);
        CHECK(t.rig.driver.registered == 0);
    };
    refuse(nullptr, kAlignment, WYE_INVALID_ARGUMENT, "`memory` is null");
    refuse(bytes, 0, WYE_INVALID_ARGUMENT, "cannot register 0 bytes");
    refuse(bytes, UINT64_MAX - 4095, WYE_INVALID_ARGUMENT, "cannot register");
    refuse(bytes + 64, kAlignment, WYE_INVALID_ARGUMENT, "multiples of 4096 bytes");
    refuse(bytes, kAlignment + 1, WYE_INVALID_ARGUMENT, "4097 bytes at");
    void* const gone =
        mmap(nullptr, 2 * kAlignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(gone != MAP_FAILED);
    REQUIRE(munmap(static_cast<std::byte*>(gone) + kAlignment, kAlignment) == 0);
    refuse(gone, 2 * kAlignment, WYE_INVALID_ARGUMENT, "not all of 8192 bytes");
    REQUIRE(mprotect(gone, kAlignment, PROT_READ) == 0);
    refuse(gone, kAlignment, WYE_INVALID_ARGUMENT, "not all of 4096 bytes");
    munmap(gone, kAlignment);
    t.rig.driver.refuses_registered = true;
    refuse(bytes, kAlignment, WYE_DRIVER, "the fake cannot lock it");
    t.rig.driver.refuses_registered = false;
    check_refused(t.add(0, bytes, kAlignment, out), WYE_STALE_HANDLE, "was never made");
    check_refused(t.add(t.rig.buffer(t.device(), 16), bytes, kAlignment, out), WYE_WRONG_KIND,
                  "is a buffer, where a device is expected");
    CHECK(attempt([&](wye_error** e) {
              return wye_memory_register(t.rig.context, t.device(), bytes, kAlignment, nullptr, e);
          }).status == WYE_INVALID_ARGUMENT);
    check_ok(t.add(t.device(), bytes, kAlignment, out));  // the refused calls left nothing behind
}

TEST_CASE("overlapping ranges of one device are refused; those of two devices are not") {
    Ready t;
    t.rig.driver.second[WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT] = kAlignment;
    const Words words(8 * kAlignment);
    auto* const bytes = reinterpret_cast<std::byte*>(words.data());
    wye_memory middle = 0, out = 0;
    check_ok(t.add(t.device(), bytes + 2 * kAlignment, 3 * kAlignment, middle));
    for (const auto& range : {std::pair(2, 3), std::pair(1, 2), std::pair(4, 1), std::pair(0, 8),
                              std::pair(3, 1), std::pair(4, 4)}) {
        const int first = range.first, pages = range.second;
        CAPTURE(first);
        check_refused(t.add(t.device(), bytes + first * kAlignment, pages * kAlignment, out),
                      WYE_DUPLICATE, "the 12288 bytes registered");
    }
    check_ok(t.add(t.device(), bytes, 2 * kAlignment, out));
    check_ok(t.add(t.device(), bytes + 5 * kAlignment, 3 * kAlignment, out));
    wye_memory second = 0;
    check_ok(t.add(t.rig.device("fake:1"), bytes, 8 * kAlignment, second));
    // A range that spans two registrations is inside neither of them.
    const wye_buffer buffer = t.rig.buffer(t.device(), 8 * kAlignment);
    check_ok(attempt([&](wye_error** e) {
        return wye_buffer_upload_range(t.rig.context, buffer, 0, {bytes, 8 * kAlignment}, e);
    }));
    CHECK(t.counted() == 0);
    check_ok(t.remove(middle));
    check_ok(t.add(t.device(), bytes + 2 * kAlignment, 3 * kAlignment, middle));
}

TEST_CASE("a handle of registered memory ends once, and is of its own kind and context") {
    Ready t;
    const Words words(kAlignment);
    const wye_memory memory = t.add(words);
    CHECK(attempt([&](wye_error** e) {
              return wye_buffer_free(t.rig.context, memory, e);
          }).status == WYE_WRONG_KIND);
    wye_context* other = t.rig.driver.context();
    REQUIRE(other != nullptr);
    CHECK(attempt([&](wye_error** e) { return wye_memory_unregister(other, memory, e); }).status ==
          WYE_WRONG_OWNER);
    wye_context_destroy(other);
    check_ok(t.remove(memory));
    check_refused(t.remove(memory), WYE_STALE_HANDLE, "was freed, or never made");
    check_refused(t.remove(0), WYE_STALE_HANDLE, "was never made");
    // The context unregisters the memory that is left.
    t.add(words);
    wye_context_destroy(std::exchange(t.rig.context, nullptr));
    CHECK(t.rig.driver.registered == 0);
}

TEST_CASE("a device without the fact takes no memory") {
    Ready t;
    const Words words(kAlignment);
    wye_memory out = 0;
    t.rig.driver.facts.erase(WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT);
    check_refused(t.add(t.device(), words.data(), words.bytes(), out), WYE_UNSUPPORTED,
                  "fake:0 cannot register memory");
}

TEST_CASE("a lost device takes no memory, and lets go of what it had") {
    Ready t;
    const Words words(kAlignment);
    wye_memory out = 0;
    const wye_memory memory = t.add(words);
    t.rig.driver.lose(0);
    const wye_buffer_create_desc desc = [] {
        wye_buffer_create_desc d;
        WYE_INIT(d);
        d.size = 16;
        return d;
    }();
    wye_buffer buffer = 0;
    CHECK(t.rig.create(t.device(), desc, buffer).status == WYE_DEVICE_LOST);
    check_refused(t.add(t.device(), words.data(), words.bytes(), out), WYE_DEVICE_LOST,
                  "fake:0 was lost");
    // The newly opened device does not know what was registered with the lost device.
    const wye_device again = t.rig.device();
    check_ok(t.add(again, words.data(), words.bytes(), out));
    check_ok(t.remove(memory));
    check_ok(t.remove(out));
    CHECK(t.rig.driver.registered == 0);
}

TEST_CASE("a copy that fails counts nothing, and its memory can be unregistered") {
    Ready t;
    const wye_program program = t.rig.program(kAdd);
    const Words x(kMiB, 1), r(kMiB, 2);
    const wye_memory first = t.add(x);
    const wye_memory second = t.add(r);
    Job job = t.job(program, x.data(), r.data(), x.bytes(), 1);
    t.rig.driver.fail_wait = true;
    check_refused(job.run(t.rig), WYE_DRIVER, "the fake fails");
    check_refused(t.wait(t.submit(job)), WYE_DRIVER, "the fake fails");
    t.rig.driver.fail_wait = false;
    t.rig.driver.fail_submit = true;
    check_refused(job.run(t.rig), WYE_DRIVER, "refuses to submit");
    t.rig.driver.fail_submit = false;
    CHECK(t.counted() == 0);
    check_ok(t.remove(first));
    check_ok(t.remove(second));
}

TEST_CASE("threads register, use and unregister at once") {
    Ready t;
    const wye_program program = t.rig.program(kAdd);
    const wye_device device = t.device();
    std::vector<std::thread> threads;
    for (std::uint32_t n = 0; n < 4; ++n)
        threads.emplace_back([&t, n, device, program] {
            const Words x(kMiB), r(kMiB);
            for (std::uint32_t round = 0; round < 8; ++round) {
                count_up(x.all(), n * 1000 + round);
                wye_memory in = 0, out = 0;
                check_ok(t.add(device, x.data(), x.bytes(), in));
                check_ok(t.add(device, r.data(), r.bytes(), out));
                check_ok(t.job(program, x.data(), r.data(), x.bytes(), round).run(t.rig));
                CHECK(is_sum(r.all(), x.all(), round));
                check_ok(t.remove(in));
                check_ok(t.remove(out));
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(t.rig.driver.registered == 0);
    CHECK(t.counted() == 4 * 8 * 2 * kMiB);
}

}  // namespace
}  // namespace wye::exec::test::test_registered
