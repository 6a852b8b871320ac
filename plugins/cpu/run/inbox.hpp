// SPDX-License-Identifier: Apache-2.0
//
// LinkStack and Inbox pass batches between the submitting thread and the queue's thread without a
// lock: new batches to the queue's thread, and ended batches back for reuse. One thread at a time
// puts links in. One thread takes links out, always all at once.
#pragma once

#include <atomic>

namespace wye::cpu {

// An element of a linked list; the list's owner writes `next`.
struct Link {
    Link* next = nullptr;
};

class LinkStack {
  public:
    // Puts in all links of the list from `first` to `last`.
    void put(Link& first, Link& last) {
        last.next = newest_.load(std::memory_order_relaxed);
        while (!newest_.compare_exchange_weak(last.next, &first, std::memory_order_release,
                                              std::memory_order_relaxed)) {
        }
    }
    // Takes all links out, the newest first; null: there is none.
    [[nodiscard]] Link* take_all() {
        if (newest_.load(std::memory_order_relaxed) == nullptr) return nullptr;
        return newest_.exchange(nullptr, std::memory_order_acquire);
    }

  private:
    std::atomic<Link*> newest_{nullptr};
};

// Like a LinkStack, but for a taker that sleeps while there is nothing to take.
class Inbox {
  public:
    // Returns whether the taker was asleep; then the caller must wake it.
    [[nodiscard]] bool put(Link& link) {
        Link* newest = newest_.load(std::memory_order_relaxed);
        do {
            link.next = newest == &asleep_ ? nullptr : newest;
        } while (!newest_.compare_exchange_weak(newest, &link, std::memory_order_acq_rel,
                                                std::memory_order_relaxed));
        return newest == &asleep_;
    }
    // Takes all links out, the oldest first; null: there is none.
    [[nodiscard]] Link* take_all() {
        Link* left = newest_.exchange(nullptr, std::memory_order_acquire);
        if (left == &asleep_) return nullptr;
        Link* oldest = nullptr;
        while (left != nullptr) {
            Link* const next = left->next;
            left->next = oldest;
            oldest = left;
            left = next;
        }
        return oldest;
    }
    // Called by the taker before it sleeps until it is woken. False: there is something to take, so
    // the taker must not sleep.
    [[nodiscard]] bool fall_asleep() {
        Link* none = nullptr;
        return newest_.compare_exchange_strong(none, &asleep_, std::memory_order_acq_rel,
                                               std::memory_order_relaxed);
    }

  private:
    Link asleep_;  // its address means that the taker is asleep
    std::atomic<Link*> newest_{nullptr};
};

}  // namespace wye::cpu
