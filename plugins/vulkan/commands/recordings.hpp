// SPDX-License-Identifier: Apache-2.0
//
// The unused recordings of a queue, with timestamps and without, most recently used last. [FREE].
#pragma once

#include <algorithm>
#include <array>
#include <deque>

#include "vulkan/commands/recording.hpp"

namespace wye::vulkan {

class Recordings {
  public:
    explicit Recordings(Device& device) : device_(device) {}

    // A recording to record anew: the least recently used one, if there are many. `timed`: with
    // timestamps, which the device has.
    [[nodiscard]] Result<std::unique_ptr<Recording>> take(bool timed) {
        {
            const sdk::Lock lock(mutex_);
            Free& free = free_[timed ? 1 : 0];
            if (free.size() >= kKept) {
                std::unique_ptr<Recording> out = std::move(free.front());
                free.pop_front();
                return out;
            }
        }
        return Recording::create(device_, timed);
    }
    // A recording of this recipe, or null.
    [[nodiscard]] std::unique_ptr<Recording> take_repeating(const Recipe& recipe, bool timed) {
        const sdk::Lock lock(mutex_);
        Free& free = free_[timed ? 1 : 0];
        const auto at = std::find_if(free.rbegin(), free.rend(), [&](const auto& recording) {
            return recording->repeats(recipe);
        });
        if (at == free.rend()) return nullptr;
        std::unique_ptr<Recording> out = std::move(*at);
        free.erase(std::next(at).base());
        return out;
    }
    void give_back(std::unique_ptr<Recording> recording) {
        const sdk::Lock lock(mutex_);
        free_[recording->timed() ? 1 : 0].push_back(std::move(recording));
    }

  private:
    using Free = std::deque<std::unique_ptr<Recording>>;
    static constexpr std::size_t kKept = 8;

    Device& device_;
    sdk::Mutex mutex_;
    std::array<Free, 2> free_ WYE_GUARDED_BY(mutex_);  // by `timed`
};

}  // namespace wye::vulkan
