// SPDX-License-Identifier: Apache-2.0
#include "support/caller_state.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <fpu_control.h>
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <locale>
#include <string>
#include <string_view>
#include <vector>

namespace support {
namespace {

using Work = std::function<void()>;

bool as_it_is(const Work& work) {
    work();
    return true;
}

template <int kRounding>
bool rounding(const Work& work) {
    std::fenv_t before;
    std::fegetenv(&before);
    std::fesetround(kRounding);
    work();
    const bool kept = std::fegetround() == kRounding;
    std::fesetenv(&before);
    return kept;
}

#if defined(__x86_64__)
template <unsigned kMxcsr, unsigned kX87>
bool registers(const Work& work) {
    constexpr unsigned kFlags = 0x3f;  // bits of exceptions that were raised
    fpu_control_t x87 = kX87;
    fpu_control_t x87_before, x87_after;
    const unsigned before = _mm_getcsr();
    _FPU_GETCW(x87_before);
    _FPU_SETCW(x87);
    _mm_setcsr(kMxcsr);
    work();
    const unsigned after = _mm_getcsr();
    _FPU_GETCW(x87_after);
    std::fesetenv(FE_DFL_ENV);
    _FPU_SETCW(x87_before);
    _mm_setcsr(before);
    return (after & ~kFlags) == kMxcsr && (x87_after & 0x0f3fU) == (kX87 & 0x0f3fU);
}
constexpr unsigned kMasked = 0x1f80;
#endif

struct CommaForPoint : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

bool with_locale(const Work& work) {
    const std::locale before =
        std::locale::global(std::locale(std::locale::classic(), new CommaForPoint));
    std::setlocale(LC_ALL, "C.UTF-8");
    work();
    const bool kept = std::locale() != before;
    std::locale::global(before);
    std::setlocale(LC_ALL, "C");
    return kept;
}

template <std::size_t kKiB>
bool on_small_stack(const Work& work) {
    constexpr std::size_t kBytes = kKiB << 10U;
    const auto start = [](void* argument) -> void* {
        (*static_cast<const Work*>(argument))();
        return nullptr;
    };
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_t thread{};
    const bool started = pthread_attr_setstacksize(&attributes, kBytes) == 0 &&
                         pthread_create(&thread, &attributes, start, const_cast<Work*>(&work)) == 0;
    if (started) pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    return started;
}

bool with_signals_blocked(const Work& work) {
    sigset_t all, before, after;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    work();
    pthread_sigmask(SIG_SETMASK, &before, &after);
    return sigismember(&after, SIGTERM) == 1 && sigismember(&after, SIGCHLD) == 1;
}

bool with_file_mask(const Work& work) {
    const mode_t before = ::umask(0777);
    work();
    return ::umask(before) == 0777;
}

bool in_removed_folder(const Work& work) {
    std::error_code error;
    const std::string before = std::filesystem::current_path(error).string();
    char name[] = "/tmp/wye-caller-XXXXXX";
    if (::mkdtemp(name) == nullptr || ::chdir(name) != 0 || ::rmdir(name) != 0) return false;
    work();
    return ::chdir(before.c_str()) == 0;
}

// Sets languages, a time zone and a folder that do not exist. Variables that say where drivers,
// caches and plugins are keep their values.
bool in_odd_environment(const Work& work) {
    static std::list<std::vector<char*>> kept;  // a driver's thread may still read these
    static char odd[][40] = {"LC_ALL=xx_XX.no-such", "LANG=tr_TR.UTF-8", "LC_NUMERIC=de_DE.UTF-8",
                             "LANGUAGE=de:tr",       "TZ=Nowhere/None",  "TMPDIR=/no/such/folder",
                             "POSIXLY_CORRECT=1",    "COLUMNS=-7"};
    std::vector<char*>& names = kept.emplace_back();
    for (char** at = environ; *at != nullptr; ++at) {
        const std::string_view old(*at);
        const std::string_view name = old.substr(0, old.find('='));
        if (std::ranges::none_of(odd, [&](const char* one) {
                return std::string_view(one).starts_with(name) && one[name.size()] == '=';
            }))
            names.push_back(*at);
    }
    for (char* one : odd) names.push_back(one);
    names.push_back(nullptr);
    char** const before = environ;
    environ = names.data();
    work();
    environ = before;
    return true;
}

bool with_errno(const Work& work) {
    errno = ERANGE;
    work();
    return true;
}

constexpr CallerState kStates[] = {
    {"nothing changed", &as_it_is},
    {"rounds down", &rounding<FE_DOWNWARD>},
    {"rounds up", &rounding<FE_UPWARD>},
    {"rounds toward zero", &rounding<FE_TOWARDZERO>},
#if defined(__x86_64__)
    {"flushes subnormals", &registers<kMasked | 0x8040U, _FPU_DEFAULT>},
    {"no exception masked", &registers<0, _FPU_DEFAULT & ~0x3f>},
    {"x87 in single precision", &registers<kMasked, (_FPU_DEFAULT & ~_FPU_EXTENDED) | _FPU_SINGLE>},
#endif
    {"a locale with commas", &with_locale},
    {"a stack of 256 KiB", &on_small_stack<256>},
    {"a stack of 64 KiB", &on_small_stack<64>},
    {"all signals blocked", &with_signals_blocked},
    {kFileMask, &with_file_mask},
    {"the current folder removed", &in_removed_folder},
    {"an odd environment", &in_odd_environment},
    {"errno set", &with_errno},
};

}  // namespace

std::span<const CallerState> caller_states() { return kStates; }

}  // namespace support
