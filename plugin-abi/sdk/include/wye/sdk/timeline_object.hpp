// SPDX-License-Identifier: Apache-2.0
//
// TimelineObject: the object behind a wye_timeline_object: a queue's timeline (timeline.hpp), or a
// timeline that submits and the host signal (signal_timeline.hpp).
#pragma once

#include <cstdint>

#include "wye/abi.h"

namespace wye::sdk {

class TimelineObject {
  public:
    [[nodiscard]] static TimelineObject& of(wye_timeline_object* object) {
        return *reinterpret_cast<TimelineObject*>(object);
    }
    [[nodiscard]] wye_timeline_object* object() {
        return reinterpret_cast<wye_timeline_object*>(this);
    }
    [[nodiscard]] bool of_queue() const { return of_queue_; }

  protected:
    explicit TimelineObject(bool of_queue) : of_queue_(of_queue) {}
    ~TimelineObject() = default;

  private:
    const bool of_queue_;
};

// A value of a queue's timeline. Null `timeline`: nothing is left to wait for.
template <typename QueueTimeline>
struct Place {
    QueueTimeline* timeline = nullptr;
    std::uint64_t value = 0;
};

}  // namespace wye::sdk
