// SPDX-License-Identifier: Apache-2.0
//
// Events that mark how far a stream is: the end of a submit, made only where somebody asks for it,
// and of a queue with timing also its beginning. Not synchronised: its timeline locks.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "cuda/device.hpp"

namespace wye::cuda {

using EventRef = std::shared_ptr<EventHandle>;

struct Mark {
    std::uint64_t value = 0;
    EventRef first, last;  // first: with timing
};

class Marks {
  public:
    Marks(Device& device, CUstream stream, bool timing)
        : device_(device), stream_(stream), timing_(timing) {}

    // An event at the end of what the stream has now. With the context current.
    [[nodiscard]] Result<EventRef> record();
    // Of the newest kKept values.
    void add(Mark mark);
    // The first from `value` on; null: none.
    [[nodiscard]] const Mark* find(std::uint64_t value) const;
    // The oldest one up to `value`, which goes; none: empty.
    [[nodiscard]] Mark take_up_to(std::uint64_t value);
    // To be used again, unless somebody still waits for it.
    void recycle(Mark mark);

  private:
    static constexpr std::size_t kKept = 256;

    void recycle(EventRef event);

    Device& device_;
    const CUstream stream_;
    const bool timing_;
    std::deque<Mark> marks_;      // ascending values
    std::vector<EventRef> free_;  // used by nobody
};

}  // namespace wye::cuda
