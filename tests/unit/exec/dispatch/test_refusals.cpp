// SPDX-License-Identifier: Apache-2.0
//
// Refusals have a code, a sentence and a remedy, and happen before any driver is entered.
#include "rig.hpp"

namespace wye::exec::test::test_refusals {
namespace {

// Checks that the driver is not entered as long as this object exists.
struct Quiet {
    explicit Quiet(const FakeDriver& d) : driver(d), before(now()) {}
    ~Quiet() { CHECK(now() == before); }
    [[nodiscard]] std::vector<int> now() const {
        return {driver.submits, driver.programs, driver.buffers, driver.queues, driver.waits};
    }
    const FakeDriver& driver;
    std::vector<int> before;
};

struct Ready {
    Rig rig;
    wye_device device = rig.device("fake:0");
    wye_device other = rig.device("fake:1");
    wye_program program = rig.program(kAdd);
    wye_buffer x = rig.buffer(device, 64, "x data");
    wye_buffer r = rig.buffer(device, 64, "results");
    wye_buffer foreign = rig.buffer(other, 64, "over there");

    Job job() { return Job(program, device).param(1); }
};

TEST_CASE("handles: foreign, stale and of the wrong kind") {
    Ready t;
    const wye_buffer stale = t.rig.buffer(t.device, 64, "gone");
    check_ok(t.rig.free(stale));
    const wye_buffer also_foreign = t.rig.buffer(t.other, 64);
    const wye_program freed = t.rig.program(kAdd);
    check_ok(attempt([&](wye_error** e) { return wye_program_free(t.rig.context, freed, e); }));

    const Quiet quiet(t.rig.driver);
    check_refused(t.job().resident(0, t.foreign).resident(1, t.r).run(t.rig), WYE_WRONG_OWNER,
                  "fake:1");
    check_refused(t.job().resident(0, t.foreign).resident(1, t.r).run(t.rig), WYE_WRONG_OWNER,
                  "fake:0");
    check_refused(t.job().resident(0, t.foreign).resident(1, t.r).run(t.rig), WYE_WRONG_OWNER,
                  "input 0");
    check_refused(t.job().resident(0, t.x).resident(1, t.foreign).run(t.rig), WYE_WRONG_OWNER,
                  "output 0");
    check_refused(t.job().resident(0, stale).resident(1, t.r).run(t.rig), WYE_STALE_HANDLE,
                  "input 0");
    check_refused(t.job().resident(0, t.program).resident(1, t.r).run(t.rig), WYE_WRONG_KIND,
                  "program");
    check_refused(t.job().resident(0, 0).resident(1, t.r).run(t.rig), WYE_STALE_HANDLE, "");
    // Inputs are checked before outputs, whatever their order in the request.
    check_refused(t.job().resident(1, t.foreign).resident(0, also_foreign).run(t.rig),
                  WYE_WRONG_OWNER, "input 0");

    check_refused(Job(freed, t.device).param(1).resident(0, t.x).resident(1, t.r).run(t.rig),
                  WYE_STALE_HANDLE, "");
    check_refused(Job(t.program, t.x).param(1).resident(0, t.x).resident(1, t.r).run(t.rig),
                  WYE_WRONG_KIND, "");
    check_refused(Job(0, t.device).run(t.rig), WYE_STALE_HANDLE, "");
}

TEST_CASE("handles of another context are named as such") {
    Ready t;
    wye_context* second = t.rig.driver.context();
    REQUIRE(second != nullptr);
    wye_device device = 0;
    check_ok(attempt(
        [&](wye_error** e) { return wye_device_open(second, wye_str("fake:0"), 0, &device, e); }));
    {
        const Quiet quiet(t.rig.driver);
        check_refused(Job(t.program, device).run(t.rig), WYE_WRONG_OWNER, "context");
        std::uint64_t size = 0;
        check_refused(
            attempt([&](wye_error** e) { return wye_buffer_size(second, t.x, &size, e); }),
            WYE_WRONG_OWNER, "context");
    }
    wye_context_destroy(second);
    check_ok(t.job().resident(0, t.x).resident(1, t.r).run(t.rig));
}

TEST_CASE("shapes come first, then ownership, then capabilities") {
    Ready t;
    const wye_program wide = t.rig.program(R"(wye 1; program wide; workgroup 64;
        input x: i16[]; output r: u32[len(x)]; grid elements len(x);
        main { if global_id.x < len(r) { r[global_id.x] = u32(x[global_id.x]); } })");
    const Quiet quiet(t.rig.driver);
    // First the range, the owner and the capability are wrong, then the owner and the capability,
    // then only the capability.
    check_refused(Job(wide, t.device).resident(0, t.foreign, 1).resident(1, t.r).run(t.rig),
                  WYE_INVALID_ARGUMENT, "multiple");
    check_refused(Job(wide, t.device).resident(0, t.foreign, 0, 32).resident(1, t.r).run(t.rig),
                  WYE_WRONG_OWNER, "fake:1");
    check_refused(Job(wide, t.device).resident(0, t.x, 0, 32).resident(1, t.r).run(t.rig),
                  WYE_UNSUPPORTED, "storage16");
}

TEST_CASE("each unmet need is named with what there is, and a device that has them all") {
    Rig rig;
    rig.driver.second = {{WYE_FACT_KEY_STORAGE16, 1}, {WYE_FACT_KEY_MAX_SHARED_BYTES, 1 << 17}};
    rig.driver.facts.erase(WYE_FACT_KEY_F64);
    rig.driver.facts[WYE_FACT_KEY_INT64] = 0;
    rig.driver.second[WYE_FACT_KEY_F64] = 1;
    rig.driver.second[WYE_FACT_KEY_INT64] = 1;
    const wye_device poor = rig.device("fake:0");
    const wye_program program = rig.program(R"(wye 1; program wants; workgroup 64;
        input x: i16[]; output r: f64[len(x)]; shared s: u32[16384]; grid elements len(x);
        main { s[local_index] = 1u; barrier; r[global_id.x] = f64(len64(x)); })");
    std::vector<std::uint16_t> x(4);
    std::vector<double> r(4);
    const auto job = [&](wye_device device) {
        return Job(program, device).in(0, x.data(), 8).out(1, r.data(), 32);
    };
    const Outcome refused = job(poor).run(rig);
    check_refused(refused, WYE_UNSUPPORTED, "fake:0 cannot run program `wants`");
    for (const char* need : {"needs storage16 yes, has not reported", "needs f64 yes, has not",
                             "needs int64 yes, has no", "needs max_shared_bytes 65536, has 32768"})
        CHECK_MESSAGE(refused.says(need), need, ": ", refused.message);
    CHECK(refused.says("at 2:"));
    CHECK(refused.fix.find("`fake:1`, which can run it") != std::string::npos);
    CHECK(rig.driver.programs == 0);
    check_ok(job(rig.device("fake:1")).run(rig));

    // The same error when a device is opened for a program.
    wye_device none = 0;
    const Outcome chosen = attempt([&](wye_error** e) {
        return wye_device_open(rig.context, wye_str("fake:0"), program, &none, e);
    });
    check_refused(chosen, WYE_NO_DEVICE, "fake:0");
    CHECK(chosen.text.find("needs storage16 yes") != std::string::npos);
    CHECK(chosen.text.find("needs max_shared_bytes 65536, has 32768") != std::string::npos);
    CHECK(chosen.fix.find("choose `fake:1`") != std::string::npos);
}

TEST_CASE("math functions of f32 need nothing that has 64 bits, those of f64 do") {
    Rig rig;
    rig.driver.facts[WYE_FACT_KEY_F64] = rig.driver.facts[WYE_FACT_KEY_INT64] = 0;
    const wye_device poor = rig.device("fake:0");
    const auto of_type = [&](const std::string& type) {
        return rig.program("wye 1; math 2; program one; workgroup 64; output r: " + type +
                           "[64]; grid elements 64; main { let x = " + type +
                           "(global_id.x); r[global_id.x] = pow(x, sin(x)); }");
    };
    std::vector<std::uint64_t> r(64);
    check_ok(Job(of_type("f32"), poor).out(0, r.data(), 256).run(rig));
    check_refused(Job(of_type("f64"), poor).out(0, r.data(), 512).run(rig), WYE_UNSUPPORTED,
                  "needs f64 yes");
}

TEST_CASE("limits of the device") {
    Ready t;
    const wye_program large = t.rig.program(R"(wye 1; program large; workgroup 2048;
        output r: u32[1]; grid groups 1; main { })");
    const wye_program cave = t.rig.program(R"(wye 1; program cave; workgroup 64;
        output r: u32[1]; shared s: u32[16384]; grid groups 1;
        main { s[local_index] = 1u; barrier; r[0] = s[0]; })");
    std::vector<std::uint32_t> data(1 << 19);
    const Quiet quiet(t.rig.driver);
    check_refused(Job(large, t.device).out(0, data.data(), 4).run(t.rig), WYE_UNSUPPORTED, "2048");
    check_refused(Job(cave, t.device).out(0, data.data(), 4).run(t.rig), WYE_UNSUPPORTED,
                  "max_shared_bytes");
    const std::uint64_t bytes = data.size() * 4;
    check_refused(t.job().in(0, data.data(), bytes).out(1, data.data(), bytes).run(t.rig),
                  WYE_UNSUPPORTED, "max_buffer_bytes");
    Job cooperative = t.job().resident(0, t.x).resident(1, t.r);
    cooperative.desc.flags = WYE_DISPATCH_COOPERATIVE;
    check_refused(cooperative.run(t.rig), WYE_UNSUPPORTED, "grid_sync");
}

TEST_CASE("C structures: headers, reserved members, null pointers, unknown flags") {
    Ready t;
    const Quiet quiet(t.rig.driver);
    const auto with = [&](auto change) {
        Job job = t.job().resident(0, t.x).resident(1, t.r);
        change(job.desc);
        return job.run(t.rig);
    };
    check_refused(with([](auto& d) { d.header.size = 0; }), WYE_INVALID_ARGUMENT, "size 0");
    check_refused(with([](auto& d) { d.header.size += 8; }), WYE_INVALID_ARGUMENT,
                  "wye_dispatch_desc");
    check_refused(with([](auto& d) { d.header.size -= 8; }), WYE_INVALID_ARGUMENT,
                  "wye_dispatch_desc");
    check_refused(with([](auto& d) { d.header.type = 3; }), WYE_INVALID_ARGUMENT, "type 0x3");
    const wye_header critical = {sizeof(wye_header), WYE_CHAIN_CRITICAL | 1U, nullptr};
    check_refused(with([&](auto& d) { d.header.next = &critical; }), WYE_UNSUPPORTED_EXTENSION,
                  "`next` chain of wye_dispatch_desc");
    // The caller made this structure, so the remedy is not for the author of a plugin.
    wye_header loop = {sizeof loop, 5, nullptr};
    loop.next = &loop;
    check_refused(with([&](auto& d) { d.header.next = &loop; }), WYE_INVALID_ARGUMENT,
                  "probably a cycle");
    const wye_header tiny = {4, 5, nullptr};
    check_refused(with([&](auto& d) { d.header.next = &tiny; }), WYE_INVALID_ARGUMENT,
                  "`next` chain of wye_dispatch_desc");
    check_refused(with([](auto& d) { d.reserved = 1; }), WYE_INVALID_ARGUMENT, "reserved");
    check_refused(with([](auto& d) { d.flags = 1U << 30U; }), WYE_INVALID_ARGUMENT, "0x40000000");
    check_refused(with([](auto& d) { d.label.size = 3; }), WYE_INVALID_ARGUMENT, "label");

    Job mixed = t.job().resident(0, t.x).resident(1, t.r);
    mixed.arguments[0].input = {&mixed, 4};
    check_refused(mixed.run(t.rig), WYE_INVALID_ARGUMENT, "has host bytes");
    mixed = t.job().resident(0, t.x).resident(1, t.r);
    mixed.arguments[1].kind = 9;
    check_refused(mixed.run(t.rig), WYE_INVALID_ARGUMENT, "kind 9");

    Job report = t.job().resident(0, t.x).resident(1, t.r);
    report.report.header.size = 0;
    check_refused(report.run(t.rig), WYE_INVALID_ARGUMENT, "wye_report");

    check_refused(
        attempt([&](wye_error** e) { return wye_dispatch(nullptr, &report.desc, nullptr, e); }),
        WYE_INVALID_ARGUMENT, "`context` is null");
    check_refused(
        attempt([&](wye_error** e) { return wye_dispatch(t.rig.context, nullptr, nullptr, e); }),
        WYE_INVALID_ARGUMENT, "`desc` is null");
    // Without a pointer for the error, only the status is returned.
    CHECK(wye_dispatch(t.rig.context, nullptr, nullptr, nullptr) == WYE_INVALID_ARGUMENT);
}

TEST_CASE("an unknown plain chain entry is skipped") {
    Ready t;
    const wye_header plain = {sizeof(wye_header), 77, nullptr};
    Job job = t.job().resident(0, t.x).resident(1, t.r);
    job.desc.header.next = &plain;
    check_ok(job.run(t.rig));
}

TEST_CASE("devices that cannot run a program are passed over with their reasons") {
    Ready t;
    const wye_program wide = t.rig.program(R"(wye 1; program wide; workgroup 64;
        input x: i16[]; output r: u32[len(x)]; grid elements len(x);
        main { if global_id.x < len(r) { r[global_id.x] = u32(x[global_id.x]); } })");
    wye_device device = 0;
    const Outcome outcome = attempt([&](wye_error** e) {
        return wye_device_open(t.rig.context, wye_str("auto"), wide, &device, e);
    });
    CHECK(outcome.status == WYE_NO_DEVICE);
    CHECK(outcome.text.find("fake:0") != std::string::npos);
    CHECK(outcome.text.find("fake:1") != std::string::npos);
    CHECK(outcome.text.find("storage16") != std::string::npos);
    CHECK(device == 0);
    // Opening the same device again gives the same handle.
    CHECK(t.rig.device("fake:0") == t.device);
    check_refused(attempt([&](wye_error** e) {
                      return wye_device_open(t.rig.context, wye_str("fake:9"), 0, &device, e);
                  }),
                  WYE_NO_DEVICE, "fake:9");
}

TEST_CASE("transfers: ranges, patterns, pointers, owners") {
    Ready t;
    const Quiet quiet(t.rig.driver);
    char bytes[128] = {};
    const auto ctx = t.rig.context;
    const auto upload = [&](wye_buffer b, std::uint64_t offset, const void* p, std::uint64_t n) {
        return attempt([&](wye_error** e) {
            return wye_buffer_upload_range(ctx, b, offset, {p, n}, e);
        });
    };
    check_refused(upload(t.x, 1, bytes, 64), WYE_INVALID_ARGUMENT, "64 bytes at offset 1");
    check_refused(upload(t.x, UINT64_MAX, bytes, 2), WYE_INVALID_ARGUMENT, "`x data`");
    check_refused(upload(t.x, 0, nullptr, 2), WYE_INVALID_ARGUMENT, "host pointer is null");
    check_refused(upload(t.program, 0, bytes, 2), WYE_WRONG_KIND, "");
    check_ok(upload(t.x, 64, nullptr, 0));
    check_refused(attempt([&](wye_error** e) {
                      return wye_buffer_download_range(ctx, t.x, 60, bytes, 5, e);
                  }),
                  WYE_INVALID_ARGUMENT, "5 bytes at offset 60");
    const auto fill = [&](std::uint64_t offset, std::uint64_t size, std::uint32_t pattern) {
        return attempt(
            [&](wye_error** e) { return wye_buffer_fill(ctx, t.x, offset, size, 0, pattern, e); });
    };
    check_refused(fill(0, 64, 3), WYE_INVALID_ARGUMENT, "pattern of 3 bytes");
    check_refused(fill(2, 60, 4), WYE_INVALID_ARGUMENT, "offset 2");
    check_refused(fill(0, 66, 2), WYE_INVALID_ARGUMENT, "66 bytes");
    const auto put = [&](std::uint64_t pattern, std::uint32_t size) {
        return attempt(
            [&](wye_error** e) { return wye_buffer_fill(ctx, t.x, 0, 64, pattern, size, e); });
    };
    check_refused(put(0x100, 1), WYE_INVALID_ARGUMENT, "pattern 0x100 does not fit in 1 byte");
    check_refused(put(0x10000, 2), WYE_INVALID_ARGUMENT, "0x10000 does not fit in 2 bytes");
    check_refused(put(UINT64_C(0xffffffff00000000), 4), WYE_INVALID_ARGUMENT, "in 4 bytes");
    wye_transfer_desc late;
    WYE_INIT(late);
    late.kind = WYE_TRANSFER_FILL;
    late.buffer = t.x;
    late.size = 64;
    late.pattern = UINT64_C(1) << 63;
    late.pattern_size = 4;
    check_refused(attempt([&](wye_error** e) {
                      wye_pending never = 0;
                      return wye_buffer_transfer_submit(ctx, &late, &never, e);
                  }),
                  WYE_INVALID_ARGUMENT, "0x8000000000000000 does not fit");
    const auto copy = [&](wye_buffer from, std::uint64_t a, wye_buffer to, std::uint64_t b,
                          std::uint64_t n) {
        return attempt([&](wye_error** e) { return wye_buffer_copy(ctx, from, a, to, b, n, e); });
    };
    check_refused(copy(t.x, 0, t.foreign, 0, 4), WYE_WRONG_OWNER, "fake:1");
    check_refused(copy(t.x, 0, t.x, 8, 16), WYE_INVALID_ARGUMENT, "overlaps itself");
    check_refused(copy(t.x, 0, t.r, 60, 8), WYE_INVALID_ARGUMENT, "`results`");
}

TEST_CASE("buffers: bad alignments and sizes") {
    Ready t;
    const Quiet quiet(t.rig.driver);
    wye_buffer out = 0;
    wye_buffer_create_desc desc;
    WYE_INIT(desc);
    const auto create = [&] { return t.rig.create(t.device, desc, out); };
    desc.alignment = 24;
    check_refused(create(), WYE_INVALID_ARGUMENT, "alignment 24");
    desc.alignment = 0;
    desc.size = (1 << 20) + 1;
    check_refused(create(), WYE_LIMIT_EXCEEDED, "at most 1048576");
    desc.header.size = 0;
    check_refused(create(), WYE_INVALID_ARGUMENT, "size 0");
    CHECK(out == 0);
}

}  // namespace
}  // namespace wye::exec::test::test_refusals
