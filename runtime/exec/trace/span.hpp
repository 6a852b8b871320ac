// SPDX-License-Identifier: Apache-2.0
//
// Span: records its own lifetime in the trace, as a step of the calling thread. If tracing is off,
// a span costs only one branch.
#pragma once

#include <cstdint>
#include <string_view>

#include "exec/device/clock.hpp"
#include "exec/trace/trace.hpp"
#include "wye/wye.h"

namespace wye::exec {

[[nodiscard]] inline std::uint64_t trace_ns(Clock::time_point time) noexcept {
    return nanoseconds(time.time_since_epoch());
}

// The label of a request.
[[nodiscard]] inline std::string_view label_of(const wye_dispatch_desc& desc) noexcept {
    return desc.label.data == nullptr ? std::string_view()
                                      : std::string_view(desc.label.data, desc.label.size);
}

class Span {
  public:
    // `trace` may be null. `name` is a literal; the texts of `step` must outlive the span.
    Span(Trace* trace, const char* name, const TraceStep& step = {})
        : trace_(trace), name_(name), step_(step) {
        if (trace_ != nullptr) [[unlikely]]
            begin_ns_ = Trace::now_ns();
    }
    // A span that began at `start`.
    Span(Trace* trace, const char* name, const TraceStep& step, Clock::time_point start)
        : trace_(trace), name_(name), step_(step), begin_ns_(trace_ns(start)) {}
    ~Span() {
        if (trace_ != nullptr) [[unlikely]]
            trace_->span(name_, step_, {begin_ns_, Trace::now_ns()});
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

  private:
    Trace* const trace_;
    const char* const name_;
    const TraceStep step_;
    std::uint64_t begin_ns_ = 0;
};

}  // namespace wye::exec
