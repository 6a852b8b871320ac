// SPDX-License-Identifier: Apache-2.0
//
// The C functions for batches.
#include "exec/pipeline/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/api/api.hpp"

using namespace wye::exec;
using wye::Code;
using wye::Error;
using wye::Result;
using wye::registry::HandleKind;
using wye::registry::Pin;

namespace {

Error no_items(const char* name) {
    return {Code::INVALID_ARGUMENT, fmt::format("the batch has no {}", name),
            "Fix: pass at least one", name};
}

Result<void> check_batch(const wye_batch_desc& desc) {
    WYE_TRY(check_header(desc.header, sizeof desc, "wye_batch_desc"));
    if ((desc.flags & ~WYE_BATCH_POINTERS) != 0 || desc.reserved != 0)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`flags` of wye_batch_desc is {:#x}, and `reserved` is {}",
                                 desc.flags, desc.reserved),
                     "Fix: use WYE_BATCH_POINTERS only; other flags belong to the items", "flags");
    if (desc.item_count == 0) return no_items("items");
    WYE_NEED(desc.items);
    return {};
}

Result<void> check_rows(const wye_rows_desc& desc) {
    WYE_TRY(check_header(desc.header, sizeof desc, "wye_rows_desc"));
    if (desc.flags != 0)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`flags` of wye_rows_desc is {:#x}", desc.flags),
                     "Fix: set them to 0; flags belong to the dispatch", "flags");
    WYE_NEED(desc.dispatch);
    WYE_TRY(check_dispatch(*desc.dispatch));
    if (desc.dispatch->argument_count != 0)
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("the dispatch of the rows has {} arguments", desc.dispatch->argument_count),
            "Fix: leave them out: the buffers of each row are its arguments", "wye_rows_desc");
    if (desc.row_count == 0) return no_items("rows");
    WYE_NEED(desc.buffers);
    return {};
}

// The out pointers of a call; each may be null.
struct Sinks {
    std::uint64_t* completed;
    wye_report* report;

    [[nodiscard]] Result<void> check() const {
        if (completed != nullptr) *completed = 0;
        if (report == nullptr) return {};
        return check_header(report->header, sizeof *report, "wye_report");
    }
    // Writes the results of a batch; returns `result`.
    [[nodiscard]] Result<void> write(const Batch& batch, Result<void> result) const {
        if (completed != nullptr) *completed = batch.completed();
        if (report != nullptr && (result.ok() || result.error().code == Code::TRAPPED)) {
            const wye_header header = report->header;
            *report = batch.report();
            report->header = header;
        }
        return result;
    }
};

// Whether two items are equal in all bytes. Then they also share arguments and parameters.
bool are_same(const wye_dispatch_desc& a, const wye_dispatch_desc& b) {
    return &a == &b || (a.arguments == b.arguments && a.params == b.params &&
                        std::memcmp(&a, &b, sizeof a) == 0);
}

// Adds the items to the batch. `at(i)` returns a pointer to item i.
template <typename At>
void add_items(std::uint64_t count, const At& at, Batch& batch) {
    for (std::uint64_t i = 0; i < count;) {
        const wye_dispatch_desc* const item = at(i);
        if (item == nullptr) {
            (void)batch.add({}, Error(Code::INVALID_ARGUMENT, "the pointer to this item is null",
                                      "Fix: point to an item, or count fewer", "pointers"));
            return;
        }
        if (!batch.add_alike(*item) && !batch.add(*item, check_dispatch(*item))) return;
        const std::uint64_t first = ++i;
        while (i < count && at(i) != nullptr && are_same(*at(i), *item)) ++i;
        if (!batch.add_again(*item, i - first)) return;
    }
}

void add_items(const wye_batch_desc& desc, Batch& batch) {
    if ((desc.flags & WYE_BATCH_POINTERS) != 0)
        add_items(
            desc.item_count, [&](std::uint64_t i) { return desc.pointers[i]; }, batch);
    else
        add_items(
            desc.item_count, [&](std::uint64_t i) { return desc.items + i; }, batch);
}

}  // namespace

wye_status wye_pipeline_batch(wye_context* context, const wye_batch_desc* desc, uint64_t* completed,
                              wye_report* report, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        const Sinks sinks{completed, report};
        WYE_TRY(sinks.check());
        WYE_TRY(check_batch(*desc));
        WYE_ASSIGN(const Pin pin, self->handles().find(desc->pipeline, HandleKind::pipeline));
        Batch batch(*self, pin, false, desc->timeout_ns);
        add_items(*desc, batch);
        return sinks.write(batch, batch.finish());
    });
}

wye_status wye_pipeline_batch_owned(wye_context* context, const wye_batch_desc* desc,
                                    wye_pending* owners, uint64_t* completed, wye_report* report,
                                    wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_NEED(owners);
        const Sinks sinks{completed, report};
        WYE_TRY(sinks.check());
        WYE_TRY(check_batch(*desc));
        WYE_ASSIGN(const Pin pin, self->handles().find(desc->pipeline, HandleKind::pipeline));
        std::fill_n(owners, desc->item_count, 0);
        Batch batch(*self, pin, true, desc->timeout_ns);
        add_items(*desc, batch);
        auto result = batch.finish();
        for (const auto& owner : batch.owners()) {
            WYE_ASSIGN(*owners, Pending::add(owner, self->handles()));
            ++owners;
        }
        return sinks.write(batch, std::move(result));
    });
}

wye_status wye_pipeline_rows(wye_context* context, const wye_rows_desc* desc, uint64_t* completed,
                             wye_report* report, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        const Sinks sinks{completed, report};
        WYE_TRY(sinks.check());
        WYE_TRY(check_rows(*desc));
        WYE_ASSIGN(const Pin pin, self->handles().find(desc->pipeline, HandleKind::pipeline));
        const Pipeline& pipeline = pin.as<Pipeline>();
        Rows rows(pipeline);
        if (desc->row_size != rows.row_size())
            return Error(
                Code::INVALID_ARGUMENT,
                fmt::format("a row has {} buffers, but a dispatch through `{}` binds {}",
                            desc->row_size, pipeline.id(), rows.row_size()),
                "Fix: give all buffers except `shared` ones, in ascending order of binding",
                "row_size");
        Batch batch(*self, pin, false, desc->timeout_ns);
        wye_dispatch_desc item = *desc->dispatch;
        for (std::uint64_t i = 0; i < desc->row_count; ++i) {
            const auto& arguments = rows.arguments(desc->buffers + i * desc->row_size);
            item.arguments = arguments.data();
            item.argument_count = arguments.size();
            if ((i == 0 || !batch.add_like_last(item)) && !batch.add(item)) break;
        }
        auto result = batch.finish();
        wye_buffer* out = desc->outputs;
        for (std::uint64_t i = 0; out != nullptr && i < batch.completed(); ++i)
            out += rows.outputs(desc->buffers + i * desc->row_size, out);
        return sinks.write(batch, std::move(result));
    });
}
