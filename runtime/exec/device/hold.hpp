// SPDX-License-Identifier: Apache-2.0
//
// Hold: reserves a place in the order of submits for work that is submitted only after its call has
// returned. A later submit must come after this work if it uses the same public queue, or one of
// the work's buffers in conflict. Holds: all holds of a session, in that order. Guarded by the lock
// of the session's queues. Nothing here allocates.
#pragma once

#include <cstdint>
#include <span>

#include "exec/device/buffer_use.hpp"

namespace wye::exec {

struct Hold {
    std::span<const BufferUse> uses;          // of live buffers
    std::uint32_t queue = 0;                  // the number of the public queue; 0: none
    Hold *older = nullptr, *newer = nullptr;  // null: not among the holds of the session
};

class Holds {
  public:
    Holds() { ends_.older = ends_.newer = &ends_; }
    Holds(const Holds&) = delete;
    Holds& operator=(const Holds&) = delete;

    [[nodiscard]] bool empty() const noexcept { return ends_.newer == &ends_; }
    void add(Hold& hold) noexcept {
        hold.older = ends_.older;
        hold.newer = &ends_;
        ends_.older->newer = &hold;
        ends_.older = &hold;
    }
    // Does nothing for a hold that was not added.
    void remove(Hold& hold) noexcept {
        if (hold.older == nullptr) return;
        hold.older->newer = hold.newer;
        hold.newer->older = hold.older;
        hold.older = hold.newer = nullptr;
    }
    // Whether a submit with these uses, on this public queue (0: none), must come after a hold.
    [[nodiscard]] bool concern(std::span<const BufferUse> uses, std::uint32_t queue) const {
        for (const Hold* one = ends_.newer; one != &ends_; one = one->newer) {
            if (queue != 0 && one->queue == queue) return true;
            for (const BufferUse& theirs : one->uses)
                for (const BufferUse& ours : uses)
                    if (ours.history == theirs.history && (ours.writes || theirs.writes))
                        return true;
        }
        return false;
    }

  private:
    Hold ends_;  // sentinel of the circular list
};

}  // namespace wye::exec
