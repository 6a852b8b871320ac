// SPDX-License-Identifier: Apache-2.0
#include "exec/gate.hpp"

namespace wye::exec {

thread_local const CallbackScope* CallbackScope::innermost_ = nullptr;

bool CallbackScope::within(const void* owner) noexcept {
    for (const CallbackScope* scope = innermost_; scope != nullptr; scope = scope->outer_)
        if (owner == nullptr || scope->owner_ == owner) return true;
    return false;
}

bool CallbackScope::forbids(const void* owner) noexcept {
    for (const CallbackScope* scope = innermost_; scope != nullptr; scope = scope->outer_)
        if (scope->owner_ == owner && scope->may_ == May::Nothing) return true;
    return false;
}

}  // namespace wye::exec
