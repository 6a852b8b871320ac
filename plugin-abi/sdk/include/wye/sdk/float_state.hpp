// SPDX-License-Identifier: Apache-2.0
//
// FloatState: sets the floating-point state that programs, literals and drivers need: round to
// nearest even, subnormals kept, exceptions masked, x87 with its full precision. The destructor
// restores the thread's own state, including the exceptions that it had raised. For one thread.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>

#include <cstdint>
#else
#include <cfenv>
#endif

namespace wye::sdk {

class FloatState {
  public:
#if defined(__x86_64__)
    // Writing a register takes much longer than reading it, and most threads already have the
    // needed state.
    FloatState() noexcept : saved_(_mm_getcsr()), saved_x87_(x87()) {
        if ((saved_ & ~kRaised) != kState) [[unlikely]]
            _mm_setcsr(kState);
        if (saved_x87_ != kX87) [[unlikely]]
            set_x87(kX87);
    }
    ~FloatState() {
        if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
        if (saved_x87_ != kX87) [[unlikely]]
            set_x87(saved_x87_);
    }

    // Whether code that ran during this object's life has left the thread in another state.
    [[nodiscard]] bool is_changed() const noexcept { return (_mm_getcsr() & ~kRaised) != kState; }

  private:
    static constexpr std::uint32_t kState = 0x1f80;
    static constexpr std::uint32_t kRaised = 0x3f;  // exceptions raised so far change no result
    static constexpr std::uint16_t kX87 = 0x37f;

    [[nodiscard]] static std::uint16_t x87() noexcept {
        std::uint16_t out;
        asm volatile("fnstcw %0" : "=m"(out));
        return out;
    }
    // The first instruction clears raised exceptions. Otherwise the second would end the process if
    // it unmasks an exception that was raised before.
    static void set_x87(std::uint16_t word) noexcept {
        asm volatile("fnclex\n\tfldcw %0" : : "m"(word));
    }

    std::uint32_t saved_;
    std::uint16_t saved_x87_;
#else
    FloatState() noexcept {
        std::fegetenv(&saved_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~FloatState() { std::fesetenv(&saved_); }
    [[nodiscard]] bool is_changed() const noexcept { return std::fegetround() != FE_TONEAREST; }

  private:
    std::fenv_t saved_;
#endif

  public:
    FloatState(const FloatState&) = delete;
    FloatState& operator=(const FloatState&) = delete;
};

}  // namespace wye::sdk
