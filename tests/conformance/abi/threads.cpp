// SPDX-License-Identifier: Apache-2.0
//
// Slots marked [FREE], called by several threads at once.
#include <atomic>
#include <thread>

#include "conformance/abi/rig.hpp"

using harness::binding;
using harness::bytes_of;
using harness::counting;
using harness::Rig;

namespace {

constexpr int kThreads = 4;

// Calls `body` with a thread's number in several threads at once. Returns the number of failures;
// an exception counts as one.
template <typename Body>
int failures_of(const Body& body) {
    std::atomic<int> ready = 0;
    std::atomic<int> failures = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            ++ready;
            while (ready < kThreads) std::this_thread::yield();
            try {
                failures += body(t);
            } catch (...) {
                ++failures;
            }
        });
    for (std::thread& thread : threads) thread.join();
    return failures;
}

// Works as one thread with a queue, buffers and a program of its own. Returns the number of
// failures.
int work_alone(Rig& rig, const wye_artifact& sample, int thread) {
    const wye_device_table& table = *rig.device.table;
    wye_device_object* const device = rig.device.object;
    int failures = 0;
    const auto expect = [&](bool good) { failures += good ? 0 : 1; };
    wye_queue_desc description{};
    description.header.size = sizeof description;
    wye_queue_object* queue = nullptr;
    wye_timeline_object* timeline = nullptr;
    const wye_queue_table* queues = nullptr;
    if (table.queue_create(device, &description, &queue, &timeline, &queues, nullptr) != WYE_OK)
        return 1;
    constexpr int kRounds = 20;
    for (int round = 1; round <= kRounds; ++round) {
        wye_buffer_desc desc{};
        desc.header.size = sizeof desc;
        desc.size = 256;
        desc.alignment = 16;
        wye_buffer_object* buffers[2] = {};
        wye_program_object* program = nullptr;
        for (wye_buffer_object*& buffer : buffers)
            expect(table.buffer_create(device, &desc, &buffer, nullptr) == WYE_OK);
        expect(table.program_create(device, &sample, &program, nullptr) == WYE_OK);
        if (failures != 0) break;
        const auto by = static_cast<std::uint32_t>(1000 * thread + round);
        const auto words = counting(64, by);
        std::vector<std::uint32_t> got(64);
        const wye_binding bindings[] = {binding(buffers[0], 0, 64), binding(buffers[1], 0, 64)};
        const wye_operation work[] = {
            harness::upload(buffers[0], 0, bytes_of(words)),
            harness::dispatch(program, bindings, {1, 1, 1}, &by),
            harness::download(buffers[1], 0, std::as_writable_bytes(std::span(got)))};
        wye_submission submission{};
        submission.header.size = sizeof submission;
        submission.operations = work;
        submission.operation_count = std::size(work);
        submission.value = static_cast<std::uint64_t>(round);
        expect(queues->submit(queue, &submission, nullptr) == WYE_OK);
        const wye_event event = {timeline, submission.value, 0, 0};
        expect(table.wait(device, &event, 1, 0, harness::kDeadline, nullptr, nullptr) == WYE_OK);
        expect(table.query(device, &event, nullptr) == WYE_OK);
        expect(got == counting(64, 2 * by));
        table.program_destroy(device, program);
        for (wye_buffer_object* buffer : buffers) table.buffer_destroy(device, buffer);
    }
    queues->destroy(queue);
    return failures;
}

}  // namespace

TEST_SUITE_BEGIN("threads");

TEST_CASE("facts and descriptions are read by several threads at once (P-15, P-21)") {
    const harness::QuietPlugin plugin;
    const std::string name = harness::text_of(plugin.info().name);
    const std::uint64_t most = plugin.fact(WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS).u;
    CHECK(failures_of([&](int) {
              int failures = 0;
              for (int round = 0; round < 500; ++round) {
                  wye_device_info info{};
                  info.header.size = sizeof info;
                  const wye_status status = plugin.table->device_info(
                      plugin.object, harness::subject().device, &info, nullptr);
                  failures += status != WYE_OK || harness::text_of(info.name) != name;
                  failures += plugin.fact(WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS).u != most;
              }
              return failures;
          }) == 0);
}

TEST_CASE("several threads open and close devices at once (P-15)") {
    harness::QuietPlugin plugin;
    CHECK(failures_of([&](int thread) {
              int failures = 0;
              for (int round = 0; round < 3; ++round) {
                  harness::Device device(plugin);
                  const auto words = counting(64, static_cast<std::uint32_t>(thread));
                  wye_buffer_object* buffer = device.buffer(bytes_of(words));
                  failures +=
                      harness::values_of<std::uint32_t>(device.download(buffer, 256)) != words;
              }
              return failures;
          }) == 0);
}

TEST_CASE("several threads make and use their own objects of one device at once (P-15)") {
    Rig rig;
    const wye_artifact sample = rig.sample();
    CHECK(failures_of([&](int thread) { return work_alone(rig, sample, thread); }) == 0);
}

TEST_SUITE_END();
