// SPDX-License-Identifier: Apache-2.0
//
// The state of the calling thread and its process reaches no result, no driver, and no file that is
// kept: rounding modes, flushed subnormals, exceptions that are not masked, the precision of x87;
// locales, small stacks, blocked signals, errno, the file mode mask and the current folder. Each
// call leaves the floating-point state as it was.
#include <doctest/doctest.h>
#include <fpu_control.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <cerrno>
#include <cfenv>
#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <locale>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/driver.hpp"
#include "take.hpp"
#include "wye/wye.hpp"

namespace {

using api_test::take;
using Floats = std::vector<float>;

// Literals that are rounded in both directions, subnormals, and a function.
constexpr std::string_view kText = R"(wye 1; program literals; workgroup 64;
input x: f32[]; output r: f32[len(x)]; grid elements len(x);
main {
    let i = global_id.x;
    let a = x[i] * 0.1 + 1.1 - 3.3 / 7.7;
    let b = exp(a * 0.3) + f32(0.7f64 * f64(a)) + 16777217.7;
    r[i] = select((i & 1u) == 0u, b, x[i] * 1e-39);
})";

struct State {
    const char* name;
    unsigned mxcsr;
    fpu_control_t x87;
};
constexpr unsigned kDefault = 0x1f80;
constexpr State kStates[] = {
    {"to nearest", kDefault, _FPU_DEFAULT},
    {"down", kDefault | _MM_ROUND_DOWN, _FPU_DEFAULT | _FPU_RC_DOWN},
    {"up", kDefault | _MM_ROUND_UP, _FPU_DEFAULT | _FPU_RC_UP},
    {"toward zero", kDefault | _MM_ROUND_TOWARD_ZERO, _FPU_DEFAULT | _FPU_RC_ZERO},
    {"flushed subnormals", kDefault | 0x8040, _FPU_DEFAULT},
    {"all exceptions unmasked", 0, _FPU_DEFAULT & ~0x3f},
    {"x87 in single precision", kDefault, (_FPU_DEFAULT & ~_FPU_EXTENDED) | _FPU_SINGLE},
};

// Sets a state for a scope.
struct Under {
    explicit Under(const State& state) : mxcsr(state.mxcsr), x87(state.x87) {
        _FPU_SETCW(x87);
        _mm_setcsr(mxcsr);
    }
    ~Under() {
        kept = (_mm_getcsr() & ~0x3fU) == mxcsr;
        fpu_control_t now;
        _FPU_GETCW(now);
        kept = kept && (now & 0x0f3f) == (x87 & 0x0f3f);
        std::fesetenv(FE_DFL_ENV);
        CHECK(kept);
    }
    const unsigned mxcsr;
    fpu_control_t x87;
    bool kept = false;
};

// Everything from the search for plugins on.
wye::Result<void> run(const std::string& selector, const Floats& x, Floats& r) {
    WYE_ASSIGN(const wye::Context context,
               wye::Context::create({.plugin_paths = {support::test_driver_folder()}}));
    WYE_ASSIGN(const wye::Device device, context.open(selector));
    WYE_ASSIGN(const wye::Program program, context.program_from_text(kText));
    WYE_TRY(wye::Dispatch(program, device).input("x", x).output("r", r).run());
    return {};
}

Floats run_under(const State& state, const std::string& selector, const Floats& x) {
    Floats r(x.size());
    const Under under(state);
    wye::Result<void> done = run(selector, x, r);
    const unsigned raised = _mm_getcsr();
    std::fesetenv(FE_DFL_ENV);
    take(std::move(done));
    _FPU_SETCW(const_cast<fpu_control_t&>(under.x87));
    _mm_setcsr(raised);
    return r;
}

struct CommaForPoint : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\1"; }
};

using Work = std::function<void()>;

void with_locale(const Work& work) {
    const std::locale before =
        std::locale::global(std::locale(std::locale::classic(), new CommaForPoint));
    std::setlocale(LC_ALL, "C.UTF-8");
    work();
    std::locale::global(before);
    std::setlocale(LC_ALL, "C");
}

void on_small_stack(const Work& work) {
    constexpr std::size_t kBytes = std::size_t{256} << 10U;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    REQUIRE(pthread_attr_setstacksize(&attributes, kBytes) == 0);
    pthread_t thread{};
    const auto start = [](void* argument) -> void* {
        (*static_cast<const Work*>(argument))();
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, &attributes, start, const_cast<Work*>(&work)) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

void with_signals_blocked(const Work& work) {
    sigset_t all, before, after;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    work();
    pthread_sigmask(SIG_SETMASK, &before, &after);
    CHECK(std::memcmp(&after, &blocked, sizeof after) == 0);
}

void with_file_mask(const Work& work) {
    const mode_t before = ::umask(0777);
    work();
    CHECK(::umask(before) == 0777);
}

void in_removed_folder(const Work& work) {
    const std::string before = std::filesystem::current_path();
    char name[] = "/tmp/wye-caller-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    REQUIRE(::chdir(name) == 0);
    REQUIRE(::rmdir(name) == 0);
    work();
    REQUIRE(::chdir(before.c_str()) == 0);
}

constexpr struct {
    const char* name;
    void (*run)(const Work& work);
} kSurroundings[] = {
    {"a locale with commas", &with_locale},
    {"a stack of 256 KiB", &on_small_stack},
    {"all signals blocked", &with_signals_blocked},
    {"a file mode mask that lets nobody read", &with_file_mask},
    {"a current folder that was removed", &in_removed_folder},
    {"an error number",
     [](const Work& work) {
         errno = ERANGE;
         work();
     }},
};

}  // namespace

TEST_CASE("results do not depend on the floating-point state of the caller") {
    Floats x;
    for (int i = 0; i < 300; ++i) x.push_back(static_cast<float>(i - 150) * 0.37F);
    const Floats want = run_under(kStates[0], "cpu", x);
    for (const std::string& selector : {std::string("cpu"), support::test_driver()})
        for (const State& state : kStates) {
            CAPTURE(selector);
            CAPTURE(state.name);
            const Floats got = run_under(state, selector, x);
            CHECK(std::memcmp(got.data(), want.data(), x.size() * sizeof x[0]) == 0);
        }
}

TEST_CASE("results do not depend on the rest of the caller's state") {
    Floats x;
    for (int i = 0; i < 300; ++i) x.push_back(static_cast<float>(i - 150) * 0.37F);
    const Floats want = run_under(kStates[0], "cpu", x);
    for (const std::string& selector : {std::string("cpu"), support::test_driver()})
        for (const auto& around : kSurroundings) {
            CAPTURE(selector);
            CAPTURE(around.name);
            Floats got(x.size());
            wye::Result<void> done;
            around.run([&] { done = run(selector, x, got); });
            take(std::move(done));
            CHECK(std::memcmp(got.data(), want.data(), x.size() * sizeof x[0]) == 0);
        }
}
