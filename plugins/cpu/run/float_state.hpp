// SPDX-License-Identifier: Apache-2.0
//
// FloatState: sets the floating-point state that programs are defined for: round to nearest even,
// subnormals kept, exceptions masked. Its destructor restores the thread's own state.
#pragma once

#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace wye::cpu {

class FloatState {
  public:
#if defined(__SSE2__)
    // Writing the register takes much longer than reading it, and most threads have the state.
    FloatState() : saved_(_mm_getcsr()) {
        if ((saved_ & ~kRaised) != kState) _mm_setcsr(kState);
    }
    ~FloatState() {
        if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
    }

  private:
    static constexpr unsigned kState = 0x1f80;
    static constexpr unsigned kRaised = 0x3f;  // exceptions raised so far, which change no result
    unsigned saved_;
#else
    FloatState() {
        std::fegetenv(&saved_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~FloatState() { std::fesetenv(&saved_); }

  private:
    std::fenv_t saved_;
#endif

  public:
    FloatState(const FloatState&) = delete;
    FloatState& operator=(const FloatState&) = delete;
};

}  // namespace wye::cpu
