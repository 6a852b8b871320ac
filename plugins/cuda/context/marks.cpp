// SPDX-License-Identifier: Apache-2.0
#include "cuda/context/marks.hpp"

#include <algorithm>

namespace wye::cuda {

Result<EventRef> Marks::record() {
    const Driver& driver = device_.driver;
    EventRef event;
    if (!free_.empty()) {
        event = std::move(free_.back());
        free_.pop_back();
    } else {
        CUevent raw = nullptr;
        const unsigned untimed = timing_ ? 0 : CU_EVENT_DISABLE_TIMING;
        const CUresult status = driver.cuEventCreate(&raw, CU_EVENT_BLOCKING_SYNC | untimed);
        WYE_TRY(device_.check(status, "cuEventCreate"));
        event = std::make_shared<EventHandle>(device_.context(), raw);
    }
    WYE_TRY(device_.check(driver.cuEventRecord(event->get(), stream_), "cuEventRecord"));
    return event;
}

void Marks::add(Mark mark) {
    if (marks_.size() == kKept) recycle(take_up_to(UINT64_MAX));
    marks_.push_back(std::move(mark));
}

const Mark* Marks::find(std::uint64_t value) const {
    const auto at = std::lower_bound(marks_.begin(), marks_.end(), value,
                                     [](const Mark& m, std::uint64_t v) { return m.value < v; });
    return at == marks_.end() ? nullptr : &*at;
}

Mark Marks::take_up_to(std::uint64_t value) {
    if (marks_.empty() || marks_.front().value > value) return {};
    Mark out = std::move(marks_.front());
    marks_.pop_front();
    return out;
}

void Marks::recycle(Mark mark) {
    recycle(std::move(mark.first));
    recycle(std::move(mark.last));
}

void Marks::recycle(EventRef event) {
    if (event && event.use_count() == 1) free_.push_back(std::move(event));
}

}  // namespace wye::cuda
