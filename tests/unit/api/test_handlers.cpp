// SPDX-License-Identifier: Apache-2.0
//
// The application installs signal handlers on one thread while another thread compiles and
// dispatches. No handler may be removed.
#include <doctest/doctest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "support/driver.hpp"
#include "take.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_handlers {
namespace {

constexpr int kPrograms = 6;

void first(int) {}
void second(int) {}

using api_test::take;

struct Counts {
    std::atomic<std::uint64_t> installed = 0, lost = 0;
};

// Installs one handler after the other, each for a short time, and checks that each stays
// installed.
void install_all_the_time(int signal, const std::atomic<bool>& stop, Counts& out) {
    struct sigaction action {
    }, now{};
    const timespec pause{0, 200'000};
    while (!stop.load()) {
        action.sa_handler = out.installed % 2 == 0 ? first : second;
        if (::sigaction(signal, &action, nullptr) != 0) break;
        ++out.installed;
        nanosleep(&pause, nullptr);
        if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != action.sa_handler)
            ++out.lost;
    }
}

std::string program_text(int number) {
    return "wye 1; program p" + std::to_string(number) +
           "; workgroup 64;\ninput x: u32[]; output r: u32[len(x)]; grid elements len(x);\n"
           "main { let i = global_id.x; if i < len(r) { r[i] = x[i] * " +
           std::to_string(number + 3) + "u; } }";
}

TEST_CASE("handlers that a thread installs during compiles and first dispatches stay") {
    const auto context =
        take(wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT,
                                   .plugin_paths = {support::test_driver_folder()}}));
    const auto device = take(context.open(support::test_driver()));
    struct sigaction before {};
    REQUIRE(::sigaction(SIGUSR1, nullptr, &before) == 0);
    sigset_t mask{}, mask_after{};
    REQUIRE(pthread_sigmask(SIG_SETMASK, nullptr, &mask) == 0);

    std::atomic<bool> stop = false;
    Counts counts;
    std::thread other([&] { install_all_the_time(SIGUSR1, stop, counts); });
    std::vector<std::uint32_t> x(256, 5), r(256);
    for (int i = 0; i < kPrograms; ++i) {
        const auto program = take(context.program_from_text(program_text(i)));
        take(wye::Dispatch(program, device).input("x", x).output("r", r).run());
        CHECK(r[255] == static_cast<std::uint32_t>(5 * (i + 3)));
    }
    // Many repetitions on the CPU, whose calls are short.
    for (int i = 0; i < 200 || counts.installed <= 20; ++i) {
        const auto again = take(wye::Context::create(
            {.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT | WYE_CONTEXT_NO_PLUGINS}));
        const auto cpu = take(again.open("cpu"));
        const auto program = take(again.program_from_text(program_text(i)));
        take(wye::Dispatch(program, cpu).input("x", x).output("r", r).run());
    }
    stop = true;
    other.join();
    MESSAGE(counts.installed.load(), " handlers installed, ", counts.lost.load(), " lost");
    CHECK(counts.lost == 0);
    REQUIRE(pthread_sigmask(SIG_SETMASK, nullptr, &mask_after) == 0);
    for (int signal = 1; signal < 32; ++signal)
        CHECK(sigismember(&mask, signal) == sigismember(&mask_after, signal));
    ::sigaction(SIGUSR1, &before, nullptr);
}

// No handler of a driver stays installed (PoCL installs LLVM's).
TEST_CASE("opening a driver and compiling leaves the handlers of the process as they were") {
    struct sigaction before[32] = {};
    struct sigaction mine {};
    mine.sa_handler = first;
    for (const int signal : {SIGSEGV, SIGFPE, SIGTERM, SIGUSR2})
        REQUIRE(::sigaction(signal, &mine, nullptr) == 0);
    for (int signal = 1; signal < 32; ++signal) ::sigaction(signal, nullptr, &before[signal]);
    {
        const auto context =
            take(wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT,
                                       .plugin_paths = {support::test_driver_folder()}}));
        const auto device = take(context.open(support::test_driver()));
        const auto program = take(context.program_from_text(program_text(100)));
        std::vector<std::uint32_t> x(256, 5), r(256);
        take(wye::Dispatch(program, device).input("x", x).output("r", r).run());
    }
    for (int signal = 1; signal < 32; ++signal) {
        struct sigaction now {};
        ::sigaction(signal, nullptr, &now);
        CAPTURE(signal);
        const bool same = now.sa_sigaction == before[signal].sa_sigaction;
        CHECK(same);
    }
}

}  // namespace

}  // namespace wye::test::test_handlers
