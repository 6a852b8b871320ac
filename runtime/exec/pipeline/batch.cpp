// SPDX-License-Identifier: Apache-2.0
#include "exec/pipeline/batch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "exec/dispatch/report.hpp"
#include "exec/prepared/pending_launch.hpp"
#include "exec/prepared/repeat.hpp"

namespace wye::exec {
namespace {

// The batch waits before it returns, so the device may use inputs and storage of the caller
// directly.
constexpr RequestRules kIntoStorage = {.flags = WYE_DISPATCH_BORROW, .asynchronous = true};
// With a time limit the batch may return while the device still works, so inputs and outputs are
// copied: the device must not use memory of the caller.
constexpr RequestRules kCopied = {.flags = 0, .asynchronous = true, .copies_out = true};

Error of_item(Error error, std::uint64_t first, std::uint64_t count) {
    const std::string who = count == 1
                                ? fmt::format("item {} of the batch", first)
                                : fmt::format("items {} to {} of the batch, which are one submit",
                                              first, first + count - 1);
    error.message = fmt::format("{}: {}", who, error.message);
    return error;
}

}  // namespace

Batch::Batch(Context& context, const registry::Pin& pipeline, bool owned, std::uint64_t timeout_ns)
    : context_(context),
      handle_(pipeline.handle()),
      pipeline_(pipeline.as<Pipeline>()),
      owned_(owned),
      timeout_ns_(timeout_ns) {
    pipeline_.routed().write(report_);
}

Batch::~Batch() {
    for (const Part& part : parts_)
        if (part.work && timeout_ns_ == 0) part.work->wait_for_end();
}

Result<void> Batch::check(const wye_dispatch_desc& item) const {
    if (item.pipeline != 0 && item.pipeline != handle_) {
        WYE_ASSIGN(const registry::Pin other,
                   context_.handles().find(item.pipeline, registry::HandleKind::pipeline));
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("it names pipeline `{}`, but the batch is one of `{}`",
                                 other.as<Pipeline>().id(), pipeline_.id()),
                     "Fix: leave `pipeline` 0, or make a batch for each pipeline",
                     "wye_dispatch_desc");
    }
    constexpr std::uint32_t kOfSubmits = WYE_DISPATCH_BORROW | WYE_DISPATCH_AT_ONCE;
    if ((item.flags & kOfSubmits) != 0)
        return Error(Code::INVALID_ARGUMENT,
                     "WYE_DISPATCH_BORROW and WYE_DISPATCH_AT_ONCE are for asynchronous dispatches",
                     "Fix: leave them out, or call wye_dispatch_submit", "wye_dispatch_desc");
    if (item.timeout_ns != 0)
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("it has a time-out of {} ns, but all items of a batch share one time-out",
                        item.timeout_ns),
            "Fix: leave the item's timeout_ns 0 and set that of wye_batch_desc or wye_rows_desc, "
            "or "
            "dispatch the item alone",
            "wye_dispatch_desc");
    return {};
}

bool Batch::goes_in_list(const wye_dispatch_desc& item) const {
    if (owned_ || pipeline_.may_trap() || item.arguments == nullptr || !is_plain_request(item))
        return false;
    // A range that is not aligned needs scratch memory, which a list would hold until its end.
    const std::uint64_t alignment = pipeline_.session().limits().buffer_alignment;
    return std::all_of(item.arguments, item.arguments + item.argument_count,
                       [=](const wye_argument& a) {
                           return a.kind == WYE_ARGUMENT_RESIDENT && a.output_size == 0 &&
                                  a.offset % alignment == 0;
                       });
}

[[gnu::hot]] bool Batch::add_alike(const wye_dispatch_desc& item) {
    return list_ && last_.is_same_unchecked(item) && add_like_last(item);
}

[[gnu::hot]] bool Batch::add_like_last(const wye_dispatch_desc& item) {
    if (!list_ || failed_) return false;
    if (listed_ == most_listed_ && !submit_list()) return false;
    if (!list_->repeat(context_.handles(), item.arguments, item.params)) return false;
    ++listed_;
    ++added_;
    return true;
}

bool Batch::add_again(const wye_dispatch_desc& item, std::uint64_t count) {
    while (count != 0) {
        // If the list is not empty, its last item is the item that was added last, so copy it.
        const std::uint64_t room = listed_ == 0 ? 0 : most_listed_ - listed_;
        const std::uint64_t copies = std::min(count, room);
        if (copies == 0) {
            if (!add_alike(item) && !add(item)) return false;
            --count;
            continue;
        }
        list_->add_again(copies);
        listed_ += copies;
        added_ += copies;
        count -= copies;
    }
    return true;
}

bool Batch::add(const wye_dispatch_desc& item, Result<void> checked) {
    if (failed_) return false;
    auto taken = checked.ok() ? take(item) : std::move(checked);
    if (!taken.ok()) failed_ = of_item(std::move(taken).error(), added_, 1);
    return !failed_;
}

Result<void> Batch::take(const wye_dispatch_desc& item) {
    WYE_TRY(check(item));
    wye_dispatch_desc desc = item;
    desc.pipeline = handle_;
    if (goes_in_list(desc)) {
        WYE_TRY(add_to_list(desc));
        last_ = KeptRequest(item);
        return {};
    }
    if (!submit_list()) return {};
    const bool limited = timeout_ns_ != 0;
    if (!owned_ && !limited) desc.flags |= WYE_DISPATCH_BORROW;
    desc.timeout_ns = timeout_ns_;
    const RequestRules& rules = owned_ ? (limited ? Pending::kOwnedLimited : Pending::kOwned)
                                       : (limited ? kCopied : kIntoStorage);
    Part& part = parts_.emplace_back(Part{added_, 1, nullptr});
    auto work = [&]() -> Result<WorkPtr<Pending>> {
        WYE_ASSIGN(Target target, Target::find(context_.handles(), desc));
        return submit_dispatch(context_, target, rules, limited ? start_ : now());
    }();
    if (!work.ok()) {
        parts_.pop_back();
        return std::move(work).error();
    }
    part.work = std::move(work).value();
    ++added_;
    return {};
}

Result<void> Batch::add_to_list(const wye_dispatch_desc& item) {
    const bool timed = (item.flags & WYE_DISPATCH_TIMED) != 0;
    const bool fits = item.queue == list_queue_ && timed == list_timed_ && listed_ != most_listed_;
    if (!fits && !submit_list()) return {};
    if (!list_) {
        WYE_ASSIGN(list_, PreparedWork::begin(pipeline_.session(), pipeline_.routed(),
                                              pipeline_.program().name(), PreparedWork::Use::Once));
    }
    list_queue_ = item.queue;
    list_timed_ = timed;
    wye_dispatch_desc desc = item;
    desc.queue = 0;  // executions of a graph name the queue, not its dispatches
    auto added = list_->add(context_, desc);
    if (!added.ok()) {
        pipeline_.session().counters().failed();
        return added;
    }
    ++listed_;
    ++added_;
    return {};
}

bool Batch::submit_list() {
    if (listed_ == 0) return true;
    if (listed_ == most_listed_) most_listed_ = std::min(2 * most_listed_, kLongestList);
    auto sent = submit();
    if (!sent.ok()) failed_ = of_item(std::move(sent).error(), added_ - listed_, listed_);
    listed_ = 0;
    return !failed_;
}

Result<void> Batch::submit() {
    WYE_TRY(list_->finish());
    wye_graph_run_desc run{};
    run.queue = list_queue_;
    run.flags = list_timed_ ? WYE_DISPATCH_TIMED : 0;
    run.timeout_ns = timeout_ns_;
    Part& part = parts_.emplace_back(Part{added_ - listed_, listed_, nullptr});
    if (!list_->is_empty()) {
        registry::Pin none;
        auto work = PendingLaunch::submit(context_, list_, none, run,
                                          timeout_ns_ != 0 ? start_ : now(), false);
        if (!work.ok()) {
            parts_.pop_back();
            return std::move(work).error();
        }
        part.work = std::move(work).value();
        list_->set_warm();
    }
    pipeline_.launched(listed_);
    list_->restart();
    list_->reserve(most_listed_);
    return {};
}

void Batch::add_up(const wye_report& report) {
    report_.compiled = std::max(report_.compiled, report.compiled);
    report_.disk_cache = std::max(report_.disk_cache, report.disk_cache);
    report_.enqueue_ns += report.enqueue_ns;
    const bool known =
        report.device_ns != WYE_TIME_UNKNOWN && report_.device_ns != WYE_TIME_UNKNOWN;
    report_.device_ns = known ? report_.device_ns + report.device_ns : WYE_TIME_UNKNOWN;
    report_.bytes_uploaded += report.bytes_uploaded;
    report_.bytes_downloaded += report.bytes_downloaded;
    report_.bytes_filled += report.bytes_filled;
    report_.bytes_copied += report.bytes_copied;
    report_.native_functions |= report.native_functions;
    report_.cooperative = std::max(report_.cooperative, report.cooperative);
    report_.determinism = std::max(report_.determinism, report.determinism);
}

// Once a part has failed, later parts are waited for and their results ignored.
Result<void> Batch::finish() {
    const Clock::time_point queued = now();
    (void)submit_list();  // submits the listed items, which come before a refused item
    bool all = true;
    for (; !parts_.empty(); parts_.pop_front()) {
        const Part& part = parts_.front();
        if (part.work) part.work->wait_for_result();
        if (!all) continue;
        auto outcome = part.work ? part.work->outcome() : Result<void>();
        all = outcome.ok();
        if (all) {
            completed_ += part.count;
            if (part.work) add_up(part.work->report());
            if (part.work) part.work->copy_out();
            // The end of a list counts one dispatch; the other dispatches are counted here.
            pipeline_.session().counters().dispatched_too(part.count - (part.work ? 1 : 0));
            if (owned_) owners_.push_back(part.work);
            continue;
        }
        if (part.work->has_ended()) {
            report_.trap_code = part.work->report().trap_code;
            report_.trap_count = part.work->report().trap_count;
        }
        failed_ = of_item(std::move(outcome).error(), part.first, part.count);
    }
    const Clock::time_point end = now();
    report_.wait_ns = nanoseconds(end - queued);
    report_.wall_ns = nanoseconds(end - start_);
    if (failed_) return *failed_;
    return {};
}

Rows::Rows(const Pipeline& pipeline) {
    const plan::BindingPlan& plan = pipeline.program().plan().bindings;
    std::vector<std::size_t> place(plan.bindings.size());
    std::vector<std::uint32_t> order = plan.arguments;
    std::ranges::sort(order);  // indices into bindings, in ascending order
    for (const std::uint32_t index : order) {
        place[index] = arguments_.size();
        wye_argument argument{};
        argument.kind = WYE_ARGUMENT_RESIDENT;
        argument.binding = plan.bindings[index].binding;
        arguments_.push_back(argument);
    }
    for (const std::uint32_t index : plan.outputs) outputs_.push_back(place[index]);
}

const std::vector<wye_argument>& Rows::arguments(const wye_buffer* row) {
    for (std::size_t i = 0; i < arguments_.size(); ++i) arguments_[i].buffer = row[i];
    return arguments_;
}

std::size_t Rows::outputs(const wye_buffer* row, wye_buffer* out) const {
    for (const std::size_t place : outputs_) *out++ = row[place];
    return outputs_.size();
}

}  // namespace wye::exec
