// SPDX-License-Identifier: Apache-2.0
#include "faults/busy.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>
#include <thread>

#include "faults/busy_calls.hpp"

namespace faults {
namespace {

// The number of a pair is that of its first call times kPair, plus that of its second call.
constexpr std::uint64_t kPair = 1'000'000;

class BusyWorker {
  public:
    BusyWorker(const Job& job, std::string cache, Progress& progress)
        : job_(job), cache_(std::move(cache)), progress_(progress) {
        for (std::uint32_t i = 0; i < std::size(kPlaces); ++i)
            if (job.target == busy_targets()[i]) place_ = static_cast<Place>(i);
        for (const Call& call : all_calls())
            if (job.subject == call.name) call_ = &call;
    }

    int run(const Range& range) {
        for (int i = 0; i < 2; ++i) run_once(0, 0);
        const std::uint64_t calls = made_;
        progress_.calls = calls;
        if (progress_.defects == 0 && range.most == 0)
            run_all(range.first);
        else if (progress_.defects == 0 && range.first != 1)
            (void)one(range.first);
        else if (progress_.defects == 0)
            run_some(range.most, calls);
        progress_.finished = true;
        return progress_.defects == 0 ? 0 : 1;
    }

  private:
    // Lets each call fail in turn. The number of calls varies, because of threads, so this ends
    // after several runs in which no call failed.
    void run_all(std::uint64_t first) {
        std::uint64_t idle = 0;
        if (!job_.twice) {
            for (std::uint64_t n = first; idle < 3; ++n) idle = one(n) ? 0 : idle + 1;
            return;
        }
        std::uint64_t j = first % kPair;
        for (std::uint64_t i = std::max<std::uint64_t>(first / kPair, 1); idle < 3; ++i) {
            std::uint64_t missed = 0, pairs = 0;
            for (j = std::max(j, i + 1); missed < 3; ++j) {
                const bool both = one(i * kPair + j);
                missed = both ? 0 : missed + 1;
                pairs += both ? 1 : 0;
                if (fired_ == 0) break;
            }
            idle = fired_ == 0 ? idle + 1 : 0;
            j = 0;
        }
    }

    // Lets some calls fail. Which ones depends on the slice of this run.
    void run_some(std::uint64_t most, std::uint64_t calls) {
        const char* seed = std::getenv("WYE_TEST_SLICE");
        std::mt19937_64 random(seed == nullptr ? 0 : std::strtoull(seed, nullptr, 10));
        for (const char c : job_.text()) random.seed(random() ^ static_cast<unsigned char>(c));
        for (std::uint64_t i = 0; i < most && calls != 0; ++i) {
            const std::uint64_t n = random() % calls + 1;
            if (!job_.twice) {
                (void)one(n);
                continue;
            }
            run_once(n, 0);
            if (made_ > n) (void)one(n * kPair + n + 1 + random() % (made_ - n));
        }
    }

    void defect(const std::string& text) {
        ++progress_.defects;
        std::printf("defect: %s, call %llu (%s): %s\n", job_.text().c_str(),
                    static_cast<unsigned long long>(progress_.at), progress_.what, text.c_str());
        std::fflush(stdout);
    }

    // Lets call `n` fail, or pair `n`. Returns whether all these calls were made.
    bool one(std::uint64_t n) {
        progress_.at = n;
        const std::uint64_t first = job_.twice ? n / kPair : n;
        const std::uint64_t second = job_.twice ? n % kPair : 0;
        const std::uint64_t before = live().blocks;
        run_once(first, second);
        const std::uint64_t fired = fired_;
        std::uint64_t leak = live().blocks - std::min(live().blocks, before);
        // A close that failed leaves objects, or a thread frees them later (wye.h): not a leak.
        if (call_->closes && (!good_ || call_->expected != WYE_OK)) leak = 0;
        // Memory that is kept only once is intended. Memory that every run keeps is a leak.
        for (int i = 0; i < 2 && leak != 0; ++i) {
            const std::uint64_t middle = live().blocks;
            run_once(first, second);
            leak = live().blocks - std::min(live().blocks, middle);
        }
        if (leak != 0) {
            defect("leaks " + std::to_string(leak) + " blocks of memory");
            print_newest_live(6);
        }
        fired_ = fired;
        const bool all = fired >= (job_.twice ? 2 : 1);
        if (all) ++progress_.injected;
        return all;
    }

    void run_once(std::uint64_t first, std::uint64_t second) {
        Pass pass;
        {
            World world(place_, cache_, pass);
            if (world.ready()) use(world, first, second);
        }
        if (fired_ == 0 && !pass.refusal.empty() && !refused_as_expected(pass))
            defect("without a fault: " + pass.refusal);
        for (const std::string& text : pass.defects) defect(text);
    }
    // A dispatch that was cancelled ends with an error, as expected.
    [[nodiscard]] bool refused_as_expected(const Pass& pass) const {
        return job_.subject.starts_with("cancel") && pass.refusal.starts_with("its work");
    }

    void use(World& world, std::uint64_t first, std::uint64_t second) {
        const Call& call = *call_;
        const bool on_caller = job_.flavour == 0;
        Expected expected = call.before;
        fired_ = 0;
        if ((call.prepare != nullptr && !call.prepare(world)) ||
            (call.state != Call::kIdle && !world.begin(call.state == Call::kBehind)) ||
            (call.submit != nullptr && !call.submit(world)))
            return;
        const bool submitted = call.submit != nullptr;
        Plan plan{kAllocation, first, job_.persistent, 0, progress_.what};
        plan.second = second;
        plan.threads = on_caller ? Threads::kCaller : Threads::kOthers;
        std::thread opener;
        if (call.state == Call::kEnds)
            opener = std::thread([&world] {
                std::this_thread::sleep_for(std::chrono::microseconds(200));
                world.open();
            });
        arm(plan);
        const bool good = good_ = make(world, call, expected);
        if (on_caller) stop();
        if (opener.joinable()) opener.join();
        if (!on_caller) {
            world.open();
            if (!call.closes) settle(world, call, submitted, expected);
            stop();
        }
        if (good)
            ++progress_.unaffected;
        else if (fired_ != 0)
            ++progress_.refused;
        if (call.closes) return;
        // If other threads' calls failed, the pending work has ended: a call that needs it is not
        // repeated.
        const bool repeats = on_caller || (!submitted && call.expected == WYE_OK);
        // The pending work for which the call waits may have failed, for the same lack of memory.
        const bool may_fail = call.effect == Effect::kWaits || job_.subject == "output";
        if (!good && fired_ != 0 && repeats && !make(world, call, expected) &&
            !(may_fail && status_ == WYE_OUT_OF_MEMORY))
            world.calls.defect("the same call without a fault",
                               "fails with status " + std::to_string(status_));
        world.open();
        settle(world, call, submitted, expected);
        if (job_.subject == "notify") await_notification(world);
        check(world, expected);
    }

    void stop() {
        made_ = counts().calls;
        disarm();
        const Counts now = counts();
        fired_ = now.fired;
        Dl_info info{};
        std::ostringstream text;
        text << (now.fired == 0 ? "none" : now.first);
        if (now.caller != nullptr && dladdr(now.caller, &info) != 0 && info.dli_fname != nullptr)
            text << " from " << info.dli_fname + std::string_view(info.dli_fname).rfind('/') + 1
                 << "+0x" << std::hex
                 << reinterpret_cast<std::uintptr_t>(now.caller) -
                        reinterpret_cast<std::uintptr_t>(info.dli_fbase);
        std::snprintf(progress_.what, sizeof progress_.what, "%s", text.str().c_str());
    }

    // Makes the call, and widens `expected` by what the call may have done.
    bool make(World& world, const Call& call, Expected& expected) {
        wye_error** const sink = world.calls.sink();
        faults_set_clock(world.clock());
        const wye_status status = status_ = call.run(world, sink);
        faults_set_clock(kFaultsRealClock);
        const bool good = world.calls.ok(call.name, status, call.expected);
        if (call.effect == Effect::kAdds) {
            expected.least += good ? call.adds : 0;
            expected.most += call.adds;
        } else if (call.effect == Effect::kSets) {
            expected.least = good ? 1 : expected.least;
            expected.most = 1;
        }
        return good;
    }

    // Waits for the call's work and for the pending work.
    void settle(World& world, const Call& call, bool submitted, Expected& expected) {
        const bool sets = call.effect == Effect::kSubmitsSet;
        const bool adds = call.effect == Effect::kSubmitsAdd || (submitted && !sets);
        for (const wye_pending pending : world.mine) {
            wye_context* const context = world.context;
            const bool good = world.calls.ok(
                "its work",
                wye_pending_wait(context, pending, UINT64_MAX, nullptr, world.calls.sink()));
            if (!world.calls.ok("wye_pending_free",
                                wye_pending_free(context, pending, world.calls.sink())))
                world.calls.defect("wye_pending_free", "fails afterwards");
            if (sets)
                expected =
                    good ? Expected{1, 1}
                         : Expected{std::min(expected.least, 1U), std::max(expected.most, 1U)};
            if (!adds) continue;
            expected.least += good ? call.adds : 0;
            expected.most += call.adds;
        }
        world.mine.clear();
        // If memory is lacking in the threads that run the work, other work may fail, too.
        if (!world.settle(job_.flavour == 0)) expected.least = 0;
    }

    static void await_notification(World& world) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (world.notified == 0 && std::chrono::steady_clock::now() < limit)
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        if (!world.calls.ok("wye_device_flush",
                            wye_device_flush(world.context, world.device, world.calls.sink())) ||
            world.notified != 1)
            world.calls.defect("a notification",
                               "came " + std::to_string(world.notified) + " times");
    }

    // Checks that later work succeeds, and that the call's work ran as often as it was accepted.
    void check(World& world, Expected expected) {
        const wye_argument argument = World::resident(world.other);
        const wye_dispatch_desc desc = world.add(argument);
        for (int i = 0; i < 2; ++i)
            if (!world.calls.ok("later work",
                                wye_dispatch(world.context, &desc, nullptr, world.calls.sink())))
                world.calls.defect("later work", "fails");
        world.check("later work", world.other, {2, 2});
        world.check("the call", world.target, expected);
    }

    const Job& job_;
    const std::string cache_;
    Progress& progress_;
    Place place_ = Place::kCaller;
    const Call* call_ = nullptr;
    // Of the last run: how many calls were made, how many failed, and whether the API's call
    // succeeded.
    std::uint64_t made_ = 0, fired_ = 0;
    bool good_ = false;
    wye_status status_ = WYE_OK;
};

}  // namespace

std::vector<std::string> busy_targets() {
    std::vector<std::string> out;
    for (const char* place : kPlaces) out.push_back(std::string("busy-") + place);
    return out;
}

std::vector<std::string> busy_calls() {
    std::vector<std::string> out;
    for (const Call& call : all_calls()) out.emplace_back(call.name);
    return out;
}

int run_busy_job(const Job& job, const Range& range, const std::string& cache, Progress& progress) {
    return BusyWorker(job, cache, progress).run(range);
}

}  // namespace faults
