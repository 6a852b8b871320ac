// SPDX-License-Identifier: Apache-2.0
#include "wye/sdk/ring.hpp"

namespace wye::sdk {

std::optional<std::uint64_t> Ring::take(std::uint64_t size, std::uint64_t alignment) {
    if (begin_ == end_ && marks_.empty()) begin_ = end_ = marked_ = 0;
    std::uint64_t start = end_ + (alignment - end_ % size_ % alignment) % alignment;
    // A range that would cross the end of the buffer begins at the start of the buffer instead.
    if (start % size_ + size > size_) start = (start / size_ + 1) * size_;
    if (start + size - begin_ > size_) return std::nullopt;
    end_ = start + size;
    return start % size_;
}

void Ring::mark(std::uint64_t value) {
    if (end_ == marked_) return;
    marks_.push({value, end_});
    marked_ = end_;
}

void Ring::drop() { end_ = marked_; }

void Ring::release(std::uint64_t value) {
    while (!marks_.empty() && marks_.front().value <= value) {
        begin_ = marks_.front().end;
        (void)marks_.pop();
    }
}

std::optional<std::uint64_t> Ring::oldest() const {
    if (marks_.empty()) return std::nullopt;
    return marks_[0].value;
}

}  // namespace wye::sdk
