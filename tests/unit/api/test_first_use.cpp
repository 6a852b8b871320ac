// SPDX-License-Identifier: Apache-2.0
//
// Opens a driver for the first time on two threads at once, in new processes, since the first-time
// set-up of drivers is often not thread-safe. The test starts its own executable with an argument.
// This new process is under test: it exits with 0, exits with 1 after a refusal, or ends by a
// signal.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <numeric>
#include <string_view>
#include <thread>
#include <vector>

#include "support/driver.hpp"
#include "wye/wye.hpp"

extern char** environ;

namespace {

constexpr int kProcesses = 10;

constexpr std::string_view kAdd = R"(wye 1; program add_one; workgroup 64;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] + 1u; } })";

bool open_and_run(std::atomic<int>& waiting, bool dispatches) {
    const auto context = wye::Context::create(
        {.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT, .plugin_paths = {support::test_driver_folder()}});
    if (!context.ok()) return false;
    --waiting;
    while (waiting.load() > 0) {
    }
    const auto device = context->open(support::test_driver());
    if (!device.ok()) return false;
    if (!dispatches) return true;
    std::vector<std::uint32_t> x(100), r(100);
    std::iota(x.begin(), x.end(), 1U);
    const auto program = context->program_from_text(kAdd);
    return program.ok() &&
           wye::Dispatch(*program, *device).input("x", x).output("r", r).run().ok() && r[99] == 101;
}

int be_the_process(bool dispatches) {
    std::atomic<int> waiting = 2;
    bool good[2] = {};
    std::thread other([&] { good[1] = open_and_run(waiting, dispatches); });
    good[0] = open_and_run(waiting, dispatches);
    other.join();
    return good[0] && good[1] ? 0 : 1;
}

// Runs this executable with the argument `what`, and returns the status that waitpid() gives.
int run_process(const char* what) {
    char name[] = "first_use";
    std::string argument = what;
    char* words[] = {name, argument.data(), nullptr};
    pid_t child = 0;
    REQUIRE(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, words, environ) == 0);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

TEST_CASE("two contexts open a driver first on two threads") {
    for (int i = 0; i < kProcesses; ++i) CHECK(run_process("open") == 0);
}

TEST_CASE("two contexts open a driver, compile and dispatch first on two threads") {
    for (int i = 0; i < 2; ++i) CHECK(run_process("dispatch") == 0);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && argv[1][0] != '-') return be_the_process(std::string_view(argv[1]) != "open");
    return doctest::Context(argc, argv).run();
}
