// SPDX-License-Identifier: Apache-2.0
#include "repeat.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command/progress.hpp"
#include "slots.hpp"

namespace wye::tool {
namespace {

// An argument of the dispatch.
struct Resident {
    Slot* slot = nullptr;
    std::uint64_t read_offset = 0;  // where the bytes that are read begin in the list of outputs
    std::uint64_t read_size = 0;
};

// The bytes of a buffer that are read back, as its `bytes` clause says.
struct Range {
    std::uint64_t begin = 0, end = 0;  // both 0: the whole buffer
};
// Returns a range for each buffer, in the program's order.
Result<std::vector<Range>> read_ranges(const Program& program) {
    WYE_ASSIGN(const std::string text, program.analysis());
    std::vector<Range> out;
    const auto analysis = nlohmann::json::parse(text);
    for (const auto& buffer : analysis.at("buffers")) {
        Range& one = out.emplace_back();
        if (const auto& range = buffer.at("read_back"); !range.is_null())
            one = {range.at(0).get<std::uint64_t>(), range.at(1).get<std::uint64_t>()};
    }
    return out;
}

// Returns a size for each buffer: if `whole`, of the whole buffer, else of the bytes that are read
// back. Binds the slots to a copy of the dispatch as host arguments, but no outputs if `whole`.
Result<std::vector<std::uint64_t>> sizes_of(Dispatch dispatch, const wye_program_description& about,
                                            std::vector<Slot>& slots, bool whole) {
    std::size_t next = 0;
    for (std::uint64_t i = 0; i < about.buffer_count; ++i) {
        const wye_buffer_description& buffer = about.buffers[i];
        if (detail::view(buffer.role) == "shared") continue;
        Slot& slot = slots[next++];
        if (slot.persistent) {
            dispatch.discard(slot.name, slot.input.size());
            continue;
        }
        if (buffer.in_inputs != 0) dispatch.input(slot.name, slot.input);
        if (buffer.in_inputs == 0 && (whole || buffer.in_outputs == 0))
            dispatch.discard(slot.name, 0);
        else if (buffer.in_outputs != 0 && !whole)
            dispatch.output(slot.name, slot.output.bytes());
    }
    return dispatch.sizes();
}

void add(wye_report& sum, const wye_report& one) {
    const auto plus = [](std::uint64_t& to, std::uint64_t value) {
        to = to == WYE_TIME_UNKNOWN || value == WYE_TIME_UNKNOWN ? WYE_TIME_UNKNOWN : to + value;
    };
    plus(sum.wall_ns, one.wall_ns);
    plus(sum.device_ns, one.device_ns);
    plus(sum.enqueue_ns, one.enqueue_ns);
    plus(sum.wait_ns, one.wait_ns);
    sum.bytes_filled += one.bytes_filled;
    sum.bytes_copied += one.bytes_copied;
}

Result<void> run_all(const std::function<Result<wye_report>()>& run, Repeated& out) {
    Progress progress(out.how.count == 1 ? "running" : "repetitions",
                      out.how.count == 1 ? 0 : out.how.count);
    for (std::uint64_t i = 0; i < out.how.count; ++i) {
        auto one = run();
        if (!one.ok()) {
            Error error = std::move(one).error();
            error.message =
                fmt::format("repetition {} of {}: {}", i + 1, out.how.count, error.message);
            return error;
        }
        if (i == 0)
            out.report = *one;
        else
            add(out.report, *one);
        progress.at(out.how.count == 1 ? 0 : i + 1);
    }
    return {};
}

Result<void> run_graph(const Device& device, Dispatch& dispatch, std::string_view name,
                       Repeated& out) {
    const auto begun = std::chrono::steady_clock::now();
    WYE_ASSIGN(const Graph graph, Graph::record(device, {&dispatch}, name));
    out.record_ns = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - begun).count());
    WYE_TRY(run_all(
        [&]() -> Result<wye_report> {
            if (out.how.timeout_ns == 0) return graph.run();
            WYE_ASSIGN(const Pending pending, graph.submit());
            constexpr auto kMost = static_cast<std::uint64_t>(INT64_MAX);
            auto done = pending.wait(std::chrono::nanoseconds(std::min(out.how.timeout_ns, kMost)));
            if (!done.ok() && done.error().code == Code::TIMEOUT) (void)pending.cancel();
            return done;
        },
        out));
    WYE_ASSIGN(out.info, graph.describe());
    return {};
}

}  // namespace

Result<Repeated> run_repeatedly(const Dispatch& dispatch, const Program& program,
                                const Device& device, std::vector<Slot>& slots, const Repeat& how) {
    WYE_ASSIGN(const auto about, program.describe());
    WYE_ASSIGN(const auto ranges, read_ranges(program));
    WYE_ASSIGN(const auto wholes, sizes_of(dispatch, about, slots, true));
    WYE_ASSIGN(const auto reads, sizes_of(dispatch, about, slots, false));

    std::vector<std::uint64_t> offsets;  // of the bytes that are read, by slot
    for (std::uint64_t i = 0; i < about.buffer_count; ++i) {
        if (detail::view(about.buffers[i].role) == "shared") continue;
        const Range& range = ranges[i];
        Slot& slot = slots[offsets.size()];
        const bool part = slot.persistent && range.end != 0;
        const std::uint64_t bytes = part ? range.end - range.begin : reads[offsets.size()];
        offsets.push_back(range.begin);
        if (slot.wanted()) WYE_TRY(make_room(slot, bytes));
    }

    Repeated out;
    out.how = how;
    Dispatch resident = dispatch;
    std::vector<Buffer> buffers;
    std::uint64_t uploaded = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        WYE_ASSIGN(Buffer made, device.buffer(wholes[i], slots[i].name));
        buffers.push_back(std::move(made));
        // Device memory has unspecified contents, and persistent buffers start with zeros.
        if (slots[i].persistent && slots[i].input.empty()) slots[i].input.resize(wholes[i]);
        if (!slots[i].input.empty()) WYE_TRY(buffers[i].upload(slots[i].input));
        uploaded += slots[i].input.size();
        resident.bind(slots[i].name, buffers[i]);
    }
    if (how.graph) {
        WYE_TRY(run_graph(device, resident, detail::view(about.name), out));
    } else {
        resident.timeout_ns(how.timeout_ns);
        WYE_TRY(run_all([&] { return resident.run(); }, out));
    }
    out.report.bytes_uploaded = uploaded;

    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (!slots[i].wanted()) continue;
        const std::span<std::byte> bytes = slots[i].output.bytes();
        WYE_TRY(buffers[i].download_range(bytes, offsets[i]));
        out.report.bytes_downloaded += bytes.size();
    }
    return out;
}

}  // namespace wye::tool
