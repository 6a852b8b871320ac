// SPDX-License-Identifier: Apache-2.0
//
// wye-stress: calls the C API at random from many threads, and checks every result (README.md).
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "worker.hpp"
#include "world.hpp"

namespace {

using wye::stress::Options;

constexpr const char* kUsage =
    "usage: wye-stress [--device SELECTOR,...] [--seconds N] [--threads N] [--contexts N] [--seed "
    "N]\n"
    "                  [--variety N] [--part all|flight]\n"
    "  --device    at most three of \"cpu\" (the default), \"opencl\", \"vulkan\" and so on; each\n"
    "              context opens them all, and \"cpu\"\n"
    "  --seconds   how long (5); what a thread has begun it ends\n"
    "  --contexts  each is created, and its devices are opened, on a thread of its own, at once "
    "(2)\n"
    "  --seed      what the calls are drawn from (another one each time); printed\n"
    "  --variety   how many different programs there are (12)\n"
    "  --part      \"flight\": only work that is in flight while all is freed (\"all\")\n"
    "Exit status: 0 every call did as it should; 1 one did not; 2 wrong usage.\n";

template <typename T>
bool number(std::string_view text, T& out) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
    return status == std::errc{} && end == text.data() + text.size() && out > T{0};
}

bool split(std::string_view text, std::vector<std::string>& out) {
    out.clear();
    for (;;) {
        const std::size_t comma = text.find(',');
        if (comma == 0 || text.empty() || out.size() + 1 == wye::stress::kMostDevices) return false;
        out.emplace_back(text.substr(0, comma));
        if (comma == std::string_view::npos) return true;
        text.remove_prefix(comma + 1);
    }
}

bool part(std::string_view text, std::string& out) {
    out = text;
    return text == "all" || text == "flight";
}

// Ends the process if no call returns for a long time, since a call then hangs.
class Watch {
  public:
    explicit Watch(wye::stress::World& world)
        : thread_([this, &world](const std::stop_token& stop) { watch(world, stop); }) {}

  private:
    void watch(wye::stress::World& world, const std::stop_token& stop) {
        constexpr std::chrono::seconds kMost{120};
        std::uint64_t calls = 0;
        std::unique_lock lock(mutex_);
        while (!wake_.wait_for(lock, stop, kMost, [] { return false; }) && !stop.stop_requested()) {
            if (world.calls == calls) {
                world.fail("no call ended within " + std::to_string(kMost.count()) + " s");
                std::abort();
            }
            calls = world.calls;
        }
    }

    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread thread_;
};

bool read(int argc, char** argv, Options& options) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view name = argv[i];
        const std::string_view value = argv[i + 1];
        const bool known = name == "--device"     ? split(value, options.devices)
                           : name == "--seconds"  ? number(value, options.seconds)
                           : name == "--threads"  ? number(value, options.threads)
                           : name == "--contexts" ? number(value, options.contexts)
                           : name == "--seed"     ? number(value, options.seed)
                           : name == "--variety"  ? number(value, options.variety)
                           : name == "--part"     ? part(value, options.part)
                                                  : false;
        if (!known) return false;
    }
    return argc % 2 == 1;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    if (!read(argc, argv, options)) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    if (options.seed == 0) options.seed = 1 + std::random_device{}() % 1000000;
    std::printf("stress: %s, seed %llu, %u threads, %u contexts\n",
                wye::stress::listed(options.devices).c_str(),
                static_cast<unsigned long long>(options.seed), options.threads, options.contexts);
    std::fflush(stdout);
    bool failed = false;
    std::uint64_t calls = 0;
    {
        wye::stress::World world(options);
        const Watch watch(world);
        if (world.open()) {
            std::vector<std::jthread> threads;
            for (unsigned i = 0; i < options.threads; ++i)
                threads.emplace_back([&world, i] { wye::stress::Worker(world, i).run(); });
        }
        failed = world.failed();
        calls = world.calls;
        std::printf(
            "stress: %llu calls, %llu dispatches, %llu results compared, %llu time-outs, %llu "
            "errors\n",
            static_cast<unsigned long long>(world.calls),
            static_cast<unsigned long long>(world.dispatches),
            static_cast<unsigned long long>(world.checked),
            static_cast<unsigned long long>(world.timeouts),
            static_cast<unsigned long long>(world.refused));
        std::fflush(stdout);
    }
    if (!failed && calls == 0) failed = true;
    std::printf("%d passed, %d failed\n", failed ? 0 : 1, failed ? 1 : 0);
    return failed ? 1 : 0;
}
