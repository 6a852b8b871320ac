// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous dispatches whose inputs and outputs are in staging memory.
#include <algorithm>

#include "../rig.hpp"

namespace wye::exec::test::test_staging {
namespace {

using Words = std::vector<std::uint32_t>;
constexpr std::size_t kCount = 200'000;  // words
constexpr std::uint64_t kBytes = 4 * kCount;

struct Ready : Calls<Ready> {
    explicit Ready(registry::Config config = {}) : rig(std::move(config)) {
        rig.driver.kernel = add_kernel;
        rig.driver.stages = true;
        rig.driver.facts[WYE_FACT_KEY_MAX_QUEUES] = 3;
        device = rig.device();
        program = rig.prepared(device, kAdd);
    }
    Rig rig;
    wye_device device = 0;
    wye_program program = 0;
    Words x = Words(kCount, 1);

    wye_pending submitted(std::uint64_t k) {
        Job job(program, device);
        job.param(k).in(0, x.data(), kBytes).out(1, nullptr, 0);
        return Calls::submitted(job);
    }
    wye_pending lent(Words& r, std::uint64_t k, wye_program of) {
        Job job(of, device);
        if (k != 0) job.param(k);
        job.in(0, x.data(), kBytes).out(1, r.data(), kBytes);
        job.desc.flags |= WYE_DISPATCH_BORROW;
        return Calls::submitted(job);
    }
    Words output(wye_pending pending) {
        const wye_bytes bytes = rig.output(pending);
        const auto* words = static_cast<const std::uint32_t*>(bytes.data);
        return {words, words + bytes.size / 4};
    }
    std::uint64_t operations(std::uint32_t kind) {
        const auto kinds = rig.driver.kinds();
        return static_cast<std::uint64_t>(std::ranges::count(kinds, kind));
    }
};

TEST_CASE("inputs are copied once, and outputs are handed out where they arrived") {
    Ready t;
    std::vector<wye_pending> pending;
    for (std::uint32_t n = 0; n < 5; ++n) {
        std::ranges::fill(t.x, 100 * n);
        pending.push_back(t.submitted(n));
    }
    std::ranges::fill(t.x, 77U);
    for (std::uint32_t n = 0; n < 5; ++n) {
        check_ok(t.wait(pending[n]));
        CHECK((t.output(pending[n]) == Words(kCount, 101 * n)));
    }
    CHECK(t.operations(WYE_OPERATION_COPY) == 10);
    CHECK(t.operations(WYE_OPERATION_UPLOAD) + t.operations(WYE_OPERATION_DOWNLOAD) == 0);
    const std::uint64_t bytes = t.rig.driver.staging_bytes;
    for (const wye_pending one : pending) check_ok(t.free(one));
    // The staging blocks are used again.
    for (std::uint32_t n = 0; n < 5; ++n) pending[n] = t.submitted(n);
    for (std::uint32_t n = 0; n < 5; ++n) {
        check_ok(t.wait(pending[n]));
        CHECK((t.output(pending[n]) == Words(kCount, 77 + n)));
    }
    CHECK(t.rig.driver.staging_bytes <= bytes);
}

TEST_CASE("the memory of work that nobody waits for is used by later work") {
    Ready t;
    check_ok(t.free(t.submitted(0)));
    const std::uint64_t bytes = t.rig.driver.staging_bytes;
    CHECK(bytes >= 2 * kBytes);
    for (std::uint32_t n = 1; n < 20; ++n) check_ok(t.free(t.submitted(n)));
    CHECK(t.rig.driver.staging_bytes == bytes);
}

TEST_CASE("above the limit of staging memory, inputs and outputs are in host memory") {
    Ready t(registry::Config{{"transfer.bytes", "2MiB"}});  // room for two blocks
    std::vector<wye_pending> pending;
    t.rig.driver.holds = true;  // all are in flight together
    for (std::uint32_t n = 0; n < 4; ++n) pending.push_back(t.submitted(n));
    t.rig.driver.holds = false;
    for (std::uint32_t n = 0; n < 4; ++n) {
        check_ok(t.wait(pending[n]));
        CHECK((t.output(pending[n]) == Words(kCount, 1 + n)));
    }
    CHECK(t.operations(WYE_OPERATION_COPY) >= 2);
    CHECK(t.operations(WYE_OPERATION_UPLOAD) + t.operations(WYE_OPERATION_DOWNLOAD) >= 4);
    CHECK(t.rig.driver.most_staging_bytes <= 2U << 20U);
}

TEST_CASE("lent outputs are written when the dispatch has ended, and not after a trap") {
    Ready t;
    Words r(kCount, 9);
    t.rig.driver.holds = true;
    const wye_pending first = t.lent(r, 4, t.program);
    CHECK((r == Words(kCount, 9)));
    t.rig.driver.holds = false;
    check_ok(t.wait(first));
    CHECK((r == Words(kCount, 5)));
    CHECK(t.operations(WYE_OPERATION_COPY) == 2);

    const wye_program traps = t.rig.prepared(t.device, kTrap);
    t.rig.driver.kernel = [](const wye_dispatch_op& op) {
        auto* words = reinterpret_cast<std::uint32_t*>(FakeDriver::memory(op.trap));
        words[0] = 7;
        words[1] = 2;
    };
    std::ranges::fill(r, 9U);
    check_refused(t.wait(t.lent(r, 0, traps)), WYE_TRAPPED, "trapped with code 7");
    CHECK((r == Words(kCount, 9)));
}

TEST_CASE("a refused submit gives its staging memory back") {
    Ready t;
    wye_pending none = 0;
    Job job(t.program, t.device);
    job.param(1).in(0, t.x.data(), kBytes).out(1, nullptr, 0);
    t.rig.driver.fail_submit = true;
    for (int n = 0; n < 3; ++n) check_refused(t.submit(job, none), WYE_DRIVER, "refuses to submit");
    const std::uint64_t bytes = t.rig.driver.staging_bytes;
    CHECK(bytes <= 4U << 20U);
    t.rig.driver.fail_submit = false;
    const wye_pending pending = t.submitted(1);
    check_ok(t.wait(pending));
    CHECK((t.output(pending) == Words(kCount, 2)));
    CHECK(t.rig.driver.staging_bytes == bytes);
}

TEST_CASE("a lost device is taken back once no output is left in its memory") {
    Ready t;
    const wye_pending pending = t.submitted(1);
    check_ok(t.wait(pending));
    t.rig.driver.lose(0);
    const wye_pending late = [&] {
        Job job(t.program, t.device);
        job.param(1).in(0, t.x.data(), kBytes).out(1, nullptr, 0);
        wye_pending out = 0;
        check_refused(t.submit(job, out), WYE_DEVICE_LOST, "");
        return out;
    }();
    CHECK(late == 0);
    wye_device again = 0;
    const auto open = [&] {
        return attempt([&](wye_error** e) {
            return wye_device_open(t.rig.context, wye_str("fake:0"), 0, &again, e);
        });
    };
    check_refused(open(), WYE_DEVICE_BUSY, "outputs of pending dispatches are still in 1 of its");
    CHECK((t.output(pending) == Words(kCount, 2)));
    check_ok(t.free(pending));
    check_ok(open());
    CHECK(t.rig.driver.recovered == 1);
    t.device = again;
    const wye_pending next = t.submitted(3);
    check_ok(t.wait(next));
    CHECK((t.output(next) == Words(kCount, 4)));
}

}  // namespace
}  // namespace wye::exec::test::test_staging
