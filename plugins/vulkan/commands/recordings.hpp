// SPDX-License-Identifier: Apache-2.0
//
// The unused recordings of a queue, most recently used last. [FREE].
#pragma once

#include <algorithm>
#include <deque>

#include "vulkan/commands/recording.hpp"

namespace wye::vulkan {

class Recordings {
  public:
    Recordings(Device& device, bool timed) : device_(device), timed_(timed) {}

    // A recording to record anew: the least recently used one, if there are many.
    [[nodiscard]] Result<std::unique_ptr<Recording>> take() {
        {
            const sdk::Lock lock(mutex_);
            if (free_.size() >= kKept) {
                std::unique_ptr<Recording> out = std::move(free_.front());
                free_.pop_front();
                return out;
            }
        }
        return Recording::create(device_, timed_);
    }
    // A recording of this recipe, or null.
    [[nodiscard]] std::unique_ptr<Recording> take_repeating(const Recipe& recipe) {
        const sdk::Lock lock(mutex_);
        const auto at = std::find_if(free_.rbegin(), free_.rend(), [&](const auto& recording) {
            return recording->repeats(recipe);
        });
        if (at == free_.rend()) return nullptr;
        std::unique_ptr<Recording> out = std::move(*at);
        free_.erase(std::next(at).base());
        return out;
    }
    void give_back(std::unique_ptr<Recording> recording) {
        const sdk::Lock lock(mutex_);
        free_.push_back(std::move(recording));
    }

  private:
    static constexpr std::size_t kKept = 8;

    Device& device_;
    const bool timed_;
    sdk::Mutex mutex_;
    std::deque<std::unique_ptr<Recording>> free_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::vulkan
