// SPDX-License-Identifier: Apache-2.0
//
// Batch: dispatches through one pipeline, submitted without waiting between them. If the program
// cannot trap, dispatches on resident buffers are collected in lists, and each list is one native
// submit. All other dispatches are submitted separately, since each needs an end of its own, and
// perhaps trap words or memory. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "exec/context.hpp"
#include "exec/dispatch/pending.hpp"
#include "exec/dispatch/pipeline.hpp"
#include "exec/prepared/kept_request.hpp"
#include "exec/prepared/work.hpp"
#include "registry/hold/ownership.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class Batch {
  public:
    // `owned`: each item owns its outputs; otherwise the outputs go to the memory that the item's
    // arguments name. `timeout_ns`: the time limit of the whole batch, from now on; 0: none. With a
    // time limit, items use no memory of the caller while they are in flight, since some may
    // outlive the call.
    Batch(Context& context, const registry::Pin& pipeline, bool owned, std::uint64_t timeout_ns);
    // Waits for the items in flight, which may use the caller's memory. Does not wait if there is a
    // time limit.
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    // Checks the next item, and submits it now or together with later items. `item` is not used
    // after the call. `checked`: the result of the caller's own checks of the item. False: this
    // item or an earlier item failed, and no more items may be added.
    [[nodiscard]] bool add(const wye_dispatch_desc& item, Result<void> checked = {});
    // Adds an item without the checks of `add`. Compared with the last listed item, only its label,
    // parameters and buffers may differ, and PreparedWork::repeat must accept these. False: nothing
    // was added; use `add`.
    [[nodiscard]] bool add_alike(const wye_dispatch_desc& item);
    // Like `add_alike`, but unchecked: the caller knows that only the items' arguments differ.
    [[nodiscard]] bool add_like_last(const wye_dispatch_desc& item);
    // Adds the last added item again, `count` times. False: as in `add`.
    [[nodiscard]] bool add_again(const wye_dispatch_desc& item, std::uint64_t count);
    // Submits the remaining items and waits until all have ended. Returns the error of the first
    // item that failed, which names its index.
    [[nodiscard]] Result<void> finish();

    // The functions below may be called after `finish`.
    [[nodiscard]] std::uint64_t completed() const noexcept { return completed_; }
    // Times of the whole batch and sums over the items; without header.
    [[nodiscard]] const wye_report& report() const noexcept { return report_; }
    // The completed items if they own their outputs, else empty.
    [[nodiscard]] const std::vector<WorkPtr<Pending>>& owners() const noexcept { return owners_; }

  private:
    // Items that were submitted together.
    struct Part {
        std::uint64_t first = 0, count = 0;
        WorkPtr<Pending> work;  // null: nothing had to be submitted
    };
    // A large batch is several submits, so that the device starts before all items are checked.
    // Each list may be twice as long as the previous list: a short first list starts the device
    // early, and keeps it busy while the next list is checked.
    static constexpr std::uint64_t kFirstList = 64, kLongestList = 512;

    [[nodiscard]] Result<void> check(const wye_dispatch_desc& item) const;
    [[nodiscard]] bool goes_in_list(const wye_dispatch_desc& item) const;
    [[nodiscard]] Result<void> take(const wye_dispatch_desc& item);
    [[nodiscard]] Result<void> add_to_list(const wye_dispatch_desc& item);
    // False: the submit failed.
    [[nodiscard]] bool submit_list();
    // Submits the list and empties it.
    [[nodiscard]] Result<void> submit();
    void add_up(const wye_report& report);

    Context& context_;
    const wye_pipeline handle_;
    Pipeline& pipeline_;
    const bool owned_;
    const std::uint64_t timeout_ns_;
    const Clock::time_point start_ = now();
    PreparedRef list_;          // items not submitted yet; null: no item was listed so far
    std::uint64_t listed_ = 0;  // number of items in `list_`
    std::uint64_t most_listed_ = kFirstList;
    wye_queue list_queue_ = 0;  // public queue of the items in `list_`
    bool list_timed_ = false;
    KeptRequest last_;  // the last item that went into a list, as the caller wrote it
    std::uint64_t added_ = 0, completed_ = 0;
    std::deque<Part> parts_;  // submitted parts that have not been waited for
    std::vector<WorkPtr<Pending>> owners_;
    wye_report report_{};
    std::optional<Error> failed_;  // error of the first item that has failed so far
};

// Rows: makes arguments from rows of whole resident buffers. The buffers of a row are in the order
// of the pipeline's bindings.
class Rows {
  public:
    explicit Rows(const Pipeline& pipeline);

    [[nodiscard]] std::size_t row_size() const noexcept { return arguments_.size(); }
    // The arguments of a row, valid until the next call.
    [[nodiscard]] const std::vector<wye_argument>& arguments(const wye_buffer* row);
    // Writes the output buffers of a row, in the order of the output list; returns their number.
    std::size_t outputs(const wye_buffer* row, wye_buffer* out) const;

  private:
    std::vector<wye_argument> arguments_;
    std::vector<std::size_t> outputs_;  // indices in a row, in output order
};

}  // namespace wye::exec
