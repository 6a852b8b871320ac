// SPDX-License-Identifier: Apache-2.0
#include "layers/validate/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <locale.h>
#include <cfenv>
#include <clocale>
#include <cstring>
#include <filesystem>
#include <system_error>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace wye::layers::validate {
namespace {

// Returns the modes of floating-point arithmetic, without the flags that operations leave behind.
std::uint32_t float_modes() noexcept {
    auto out = static_cast<std::uint32_t>(std::fegetround());
#if defined(__SSE__)
    constexpr std::uint32_t kFlags = 0x3f;
    out = out << 16U | (_mm_getcsr() & ~kFlags);
#endif
    return out;
}

const void* handler_of(int signal) noexcept {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0) return nullptr;
    // The union's wider member covers both forms of handler.
    return reinterpret_cast<const void*>(action.sa_sigaction);
}

std::string folder_now() {
    std::error_code ignored;
    return std::filesystem::current_path(ignored).string();
}

std::string locale_now() {
    const char* name = std::setlocale(LC_ALL, nullptr);
    return name == nullptr ? std::string() : name;
}

bool equal(const sigset_t& a, const sigset_t& b) noexcept {
    for (int signal = 1; signal < NSIG; ++signal)
        if (sigismember(&a, signal) != sigismember(&b, signal)) return false;
    return true;
}

}  // namespace

ThreadState::ThreadState() noexcept
    : floats_(float_modes()), locale_(::uselocale(static_cast<locale_t>(nullptr))) {
    sigemptyset(&mask_);
    (void)::pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
    (void)::sigaltstack(nullptr, &stack_);
}

std::vector<const char*> ThreadState::changes() const {
    const ThreadState now;
    std::vector<const char*> out;
    if (!equal(now.mask_, mask_)) out.push_back("the thread's signal mask");
    if (now.floats_ != floats_) out.push_back("the thread's floating-point mode");
    if (now.locale_ != locale_) out.push_back("the thread's locale");
    return out;
}

bool ThreadState::has_other_stack() const {
    const ThreadState now;
    return now.stack_.ss_sp != stack_.ss_sp || now.stack_.ss_size != stack_.ss_size;
}

ProcessState::ProcessState() : folder_(folder_now()), locale_(locale_now()) {
    for (int signal = 1; signal <= kSignals; ++signal)
        handlers_[static_cast<std::size_t>(signal)] = handler_of(signal);
}

std::vector<const char*> ProcessState::changes() const {
    std::vector<const char*> out;
    if (folder_now() != folder_) out.push_back("the working folder");
    if (locale_now() != locale_) out.push_back("the locale");
    return out;
}

std::vector<int> ProcessState::changed_handlers() const {
    std::vector<int> out;
    for (int signal = 1; signal <= kSignals; ++signal)
        if (handler_of(signal) != handlers_[static_cast<std::size_t>(signal)])
            out.push_back(signal);
    return out;
}

}  // namespace wye::layers::validate
