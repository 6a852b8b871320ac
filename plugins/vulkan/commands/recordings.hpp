// SPDX-License-Identifier: Apache-2.0
//
// Recordings: the unused recordings of a queue for one lane, most recently used last, and the
// lane's unused timestamps. Free-threaded.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <vector>

#include "vulkan/commands/recording.hpp"
#include "vulkan/commands/stamps.hpp"

namespace wye::vulkan {

class Recordings {
  public:
    Recordings(Device& device, Lane lane) : device_(device), lane_(lane) {}

    // Takes a recording to record anew: the least recently used one if kKept or more are unused,
    // else a new one.
    [[nodiscard]] Result<std::unique_ptr<Recording>> take() {
        {
            const sdk::Lock lock(mutex_);
            if (free_.size() >= kKept) {
                std::unique_ptr<Recording> out = std::move(free_.front());
                free_.erase(free_.begin());
                return out;
            }
        }
        return Recording::create(device_, lane_);
    }
    // Takes a recording of this recipe; null if there is none.
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
    // Adds an unused recording; frees it if there is no memory to keep it.
    void give_back(std::unique_ptr<Recording> recording) noexcept {
        const sdk::Lock lock(mutex_);
        keep(free_, std::move(recording));
    }

    [[nodiscard]] Result<std::unique_ptr<Stamps>> take_stamps() {
        {
            const sdk::Lock lock(mutex_);
            if (!stamps_.empty()) {
                std::unique_ptr<Stamps> out = std::move(stamps_.back());
                stamps_.pop_back();
                return out;
            }
        }
        return Stamps::create(device_, lane_);
    }
    void give_back(std::unique_ptr<Stamps> stamps) noexcept {
        const sdk::Lock lock(mutex_);
        keep(stamps_, std::move(stamps));
    }

  private:
    static constexpr std::size_t kKept = 8;

    template <typename T>
    static void keep(std::vector<std::unique_ptr<T>>& list, std::unique_ptr<T> one) noexcept {
        try {
            list.push_back(std::move(one));
        } catch (const std::bad_alloc&) {
        }
    }

    Device& device_;
    const Lane lane_;
    sdk::Mutex mutex_;
    std::vector<std::unique_ptr<Recording>> free_ WYE_GUARDED_BY(mutex_);
    std::vector<std::unique_ptr<Stamps>> stamps_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::vulkan
