// SPDX-License-Identifier: Apache-2.0
//
// BlockedSignals: blocks all signals of the calling thread as long as the object exists. A thread
// that is started meanwhile inherits the blocked signals, so that the application's handlers never
// run on it.
#pragma once

#include <signal.h>

namespace wye::sdk {

class BlockedSignals {
  public:
    BlockedSignals() noexcept {
        sigset_t all;
        sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

  private:
    sigset_t before_{};
};

}  // namespace wye::sdk
