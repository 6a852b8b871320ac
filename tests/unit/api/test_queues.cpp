// SPDX-License-Identifier: Apache-2.0
//
// Public queues through wye.hpp, on the CPU or a real driver. The results are those of the calls in
// their order, whichever queue each call uses.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "opened.hpp"
#include "wye/graph.hpp"

namespace wye::test::test_queues {
namespace {

using api_test::need;
using api_test::take;

constexpr std::string_view kMix = R"(wye 1; program mix; workgroup 64; param k: u32;
input x: u32[]; input_output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = r[i] * 3u + x[i] + k; } })";

constexpr std::uint32_t kCount = 2000;

void mix(const Words& x, Words& r, std::uint32_t k) {
    for (std::uint32_t i = 0; i < kCount; ++i) r[i] = r[i] * 3 + x[i] + k;
}

struct Opened : test::Opened {
    Opened() : program(take(context.program_from_text(kMix))) {}
    wye::Program program;
};

}  // namespace

TEST_CASE("random work on random queues has the results of its order") {
    const Opened t;
    constexpr std::size_t kBuffers = 5;
    std::vector<wye::Queue> queues;
    queues.push_back(take(t.device.queue({.label = "urgent", .priority = 9})));
    queues.push_back(take(t.device.queue({.kind = wye::QueueKind::Compute, .priority = -1})));
    queues.push_back(take(t.device.queue()));
    const wye::Queue copies = take(t.device.queue({.kind = wye::QueueKind::Transfer}));
    std::vector<wye::Buffer> buffers;
    std::vector<Words> want;
    for (std::size_t i = 0; i < kBuffers; ++i) {
        buffers.push_back(take(t.device.buffer(kCount * 4)));
        want.push_back(Words(kCount, static_cast<std::uint32_t>(i)));
        need(buffers[i].upload(want[i]));
    }
    wye::Dispatch recorded(t.program, t.device);
    recorded.param("k", 11U).bind("x", buffers[0]).bind("r", buffers[1]);
    const wye::Graph graph = take(wye::Graph::record(t.device, {&recorded}));

    std::mt19937 random(7);
    const auto any = [&](std::size_t below) { return random() % below; };
    std::vector<wye::Pending> pending, downloads;
    std::vector<Words> wanted;
    for (int step = 0; step < 200; ++step) {
        // About one call in four names no queue.
        const std::size_t on = any(queues.size() + 1);
        const wye::Queue* queue = on == queues.size() ? nullptr : &queues[on];
        const std::size_t x = any(kBuffers);
        const std::size_t r = (x + 1 + any(kBuffers - 1)) % kBuffers;
        const auto k = static_cast<std::uint32_t>(any(3));
        switch (any(8)) {
            case 0:
                pending.push_back(take(graph.submit({}, {.queue = queue})));
                mix(want[0], want[1], 11);
                break;
            case 1:
                if (any(2) == 0)
                    need(buffers[r].copy_from(buffers[x], 0, 400, 4000, &copies));
                else
                    pending.push_back(
                        take(buffers[r].submit_copy_from(buffers[x], 0, 400, 4000, &copies)));
                std::copy_n(want[x].begin(), 1000, want[r].begin() + 100);
                break;
            case 2:
                need(buffers[r].fill(k, 40, 400, &copies));
                std::fill_n(want[r].begin() + 10, 100, k);
                break;
            case 3: {
                const Words words(50, k);
                if (any(2) == 0)
                    need(buffers[r].upload_range(words, 4, &copies));
                else
                    pending.push_back(take(buffers[r].submit_upload(words, 4, queue)));
                std::ranges::copy(words, want[r].begin() + 1);
                break;
            }
            default: {
                wye::Dispatch dispatch(t.program, t.device);
                dispatch.param("k", k).bind("x", buffers[x]).bind("r", buffers[r]);
                if (queue != nullptr) dispatch.on(*queue);
                if (any(2) == 0)
                    pending.push_back(take(dispatch.submit()));
                else
                    take(dispatch.run());
                mix(want[x], want[r], k);
            }
        }
        if (step % 20 == 7) {
            downloads.push_back(take(buffers[x].submit_download(kCount * 4, 0, &copies)));
            wanted.push_back(want[x]);
        }
        if (step == 100) queues[2] = take(t.device.queue());  // with work in flight
    }
    for (const wye::Queue& queue : queues) need(queue.flush());
    for (std::size_t i = 0; i < kBuffers; ++i) {
        Words got(kCount);
        need(buffers[i].download(got, &copies));
        CHECK(got == want[i]);
    }
    for (const wye::Pending& one : pending) take(one.wait());
    for (std::size_t i = 0; i < downloads.size(); ++i) {
        take(downloads[i].wait());
        const auto bytes = take(downloads[i].output<std::byte>("bytes"));
        REQUIRE(bytes.size() == kCount * 4);
        CHECK(std::memcmp(bytes.data(), wanted[i].data(), bytes.size()) == 0);
    }
    const wye_counters counters = take(t.device.counters());
    CHECK(counters.queues_made == 5);
    CHECK(counters.queue_submits > 0);
    CHECK(counters.queue_submits <= counters.submits);
}

TEST_CASE("what a driver grants is never more than was asked for") {
    const std::string selector = support::test_driver();
    const Opened t;
    const wye::Queue urgent = take(t.device.queue({.label = "urgent", .priority = 3}));
    const wye_queue_description told = take(urgent.describe());
    CHECK(std::string_view(told.label.data, told.label.size) == "urgent");
    CHECK(told.priority == 3);
    CHECK(told.granted_priority >= 0);
    CHECK(told.granted_priority <= 3);
    CHECK(told.granted_kind == WYE_QUEUE_ANY);
    CHECK(told.device == t.device.get());
    for (const auto kind : {wye::QueueKind::Compute, wye::QueueKind::Transfer}) {
        const wye::Queue queue = take(t.device.queue({.kind = kind, .priority = -2}));
        const wye_queue_description of = take(queue.describe());
        CHECK((of.granted_kind == of.kind || of.granted_kind == WYE_QUEUE_ANY));
        CHECK(of.granted_priority <= 0);
        CHECK(of.granted_priority >= -2);
        MESSAGE(selector << ": kind " << of.kind << " granted " << of.granted_kind
                         << ", priorities 3 and -2 granted " << told.granted_priority << " and "
                         << of.granted_priority << ", driver's queue " << of.native_index
                         << std::string(of.shared != 0 ? ", shared" : ""));
    }
}

TEST_CASE("threads with a queue each, on one device") {
    const Opened t;
    std::vector<std::thread> threads;
    std::vector<Words> got(3, Words(kCount));
    for (std::uint32_t n = 0; n < 3; ++n)
        threads.emplace_back([&t, &got, n] {
            const auto queue = t.device.queue({.priority = static_cast<int>(n)});
            auto x = t.device.buffer(kCount * 4);
            auto r = t.device.buffer(kCount * 4);
            if (!queue.ok() || !x.ok() || !r.ok()) return;
            const Words ones(kCount, 1);
            bool ok = x->upload(ones).ok() && r->upload(ones, &*queue).ok();
            for (std::uint32_t i = 0; i < 20; ++i) {
                wye::Dispatch dispatch(t.program, t.device);
                dispatch.param("k", n).bind("x", *x).bind("r", *r).on(*queue);
                const auto pending = dispatch.submit();
                ok = ok && pending.ok();
            }
            ok = ok && queue->flush().ok() && r->download(got[n], &*queue).ok();
            if (!ok) got[n].clear();
        });
    for (std::thread& thread : threads) thread.join();
    for (std::uint32_t n = 0; n < 3; ++n) {
        Words want(kCount, 1);
        for (int i = 0; i < 20; ++i) mix(Words(kCount, 1), want, n);
        CHECK(got[n] == want);
    }
}

}  // namespace wye::test::test_queues
