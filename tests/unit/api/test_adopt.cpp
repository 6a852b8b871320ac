// SPDX-License-Identifier: Apache-2.0
//
// Memory that the application allocates with the driver's own API is used as buffers of the
// library, on the CPU and on the driver of this test.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "native_api.hpp"
#include "support/driver.hpp"
#include "take.hpp"
#include "wye/graph.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_adopt {
namespace {

using Words = std::vector<std::uint32_t>;

using api_test::Beside;
using api_test::counting;
using api_test::kBytes;
using api_test::kCount;
using api_test::NativeApi;
using api_test::need;
using api_test::take;

void check_refused(const wye::Result<wye::Buffer>& result, wye::Code code, std::string_view says) {
    REQUIRE_FALSE(result.ok());
    CAPTURE(result.error().message);
    CHECK(result.error().code == code);
    CHECK(result.error().message.find(says) != std::string::npos);
    CHECK(result.error().fix.starts_with("Fix: "));
    CHECK(result.error().subject == "mine");
}

}  // namespace

TEST_CASE("memory of the driver's API is used in place, and is the application's afterwards") {
    const Beside t;
    const auto x = t.api->allocate(kBytes), r = t.api->allocate(kBytes + 400);
    const Words in = counting(7);
    t.api->write(*x, in.data(), kBytes);
    const auto before = take(t.device.counters());
    {
        auto from = take(t.device.adopt(x->handle(), kBytes, "x"));
        auto to = take(t.device.adopt(r->handle(), kBytes, "r"));
        CHECK(take(from.describe()).size == kBytes);
        std::uint64_t native = 0;
        const wye_native_handle told = take(from.native());
        CHECK(wye_native_get(&told, x->type(), &native) == 1);
        CHECK(native == x->value());
        wye::Dispatch dispatch(t.program, t.device);
        dispatch.bind("x", from).bind("r", to);
        take(dispatch.run());
        Words found(kCount);
        need(to.download(found));
        if (t.computes()) CHECK(found[999] == in[999] * 3 + 1);
        const auto graph = take(wye::Graph::record(
            t.device, {wye::Step::copy(from, 0, to, 0, kBytes), wye::Step::fill(to, 5, 0, 8)}));
        (void)take(graph.run());
        need(from.download(found));
        CHECK(found == in);
    }
    const auto after = take(t.device.counters());
    CHECK(after.peak_buffer_bytes < before.peak_buffer_bytes + kBytes);
    CHECK(after.bytes_uploaded == before.bytes_uploaded);
    // The buffers were freed. The memory that they had adopted was not.
    Words kept(kCount), written(kCount);
    t.api->read(*x, kept.data(), kBytes);
    CHECK(kept == in);
    t.api->read(*r, written.data(), kBytes);
    Words want = in;
    want[0] = want[1] = 5;
    CHECK(written == want);
}

TEST_CASE("an adopted buffer is busy while work uses it, and gone with its device") {
    const Beside t;
    const auto x = t.api->allocate(kBytes);
    auto buffer = take(t.device.adopt(x->handle(), kBytes, "x"));
    need(buffer.upload(counting(1)));
    const wye::Pending pending = take(buffer.submit_download(kBytes));
    (void)take(pending.wait());
    need(buffer.free());
    if (!t.api->outlives_device()) return;
    auto again = take(t.device.adopt(x->handle(), kBytes, "x"));
    need(t.device.close());
    CHECK(again.upload(counting(1)).error().code == wye::Code::STALE_HANDLE);
    Words kept(kCount);
    t.api->read(*x, kept.data(), kBytes);
    CHECK(kept == counting(1));
}

TEST_CASE("wrong native memory is refused by name: null, type, size, alignment, owner") {
    const Beside t;
    const auto x = t.api->allocate(kBytes);
    const auto adopt = [&](const wye_native_handle& handle, std::uint64_t size) {
        return t.device.adopt(handle, size, "mine");
    };
    const std::string type(x->type());
    check_refused(adopt(wye_native_of(x->type(), 0), kBytes), wye::Code::INVALID_ARGUMENT,
                  "null `" + type + "`");
    check_refused(adopt(wye_native_of("HGLOBAL", 77), kBytes), wye::Code::INVALID_ARGUMENT,
                  "adopts a `" + type + "`; the native memory is `HGLOBAL`");
    check_refused(adopt(x->handle(), 0), wye::Code::INVALID_ARGUMENT, "0 bytes");
    if (t.api->knows_sizes())
        check_refused(adopt(x->handle(), kBytes * 64), wye::Code::INVALID_ARGUMENT,
                      std::to_string(kBytes * 64));
    if (x->has_address())
        check_refused(adopt(wye_native_of(x->type(), x->value() + 4), kBytes - 16),
                      wye::Code::INVALID_ARGUMENT, "multiple of 16");
    for (const NativeApi::Refusal& wrong : t.api->refused(kBytes)) {
        CAPTURE(wrong.says);
        check_refused(adopt(wrong.memory->handle(), wrong.bytes), wrong.code, wrong.says);
    }
    need(take(adopt(x->handle(), kBytes)).free());
}

}  // namespace wye::test::test_adopt
