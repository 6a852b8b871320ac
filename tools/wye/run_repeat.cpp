// SPDX-License-Identifier: Apache-2.0
#include "run_repeat.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace wye::tool {
namespace {

// An argument of the dispatch.
struct Resident {
    Slot* slot = nullptr;
    std::uint64_t read_offset = 0;  // of the bytes in the output list, as is the next member
    std::uint64_t read_size = 0;
};

// For each buffer, in the program's order, the first byte that is read back: 0 unless it has a
// `bytes` clause.
Result<std::vector<std::uint64_t>> read_offsets(const Program& program) {
    WYE_ASSIGN(const std::string text, program.analysis());
    std::vector<std::uint64_t> out;
    const auto analysis = nlohmann::json::parse(text);
    for (const auto& buffer : analysis.at("buffers")) {
        const auto& range = buffer.at("read_back");
        out.push_back(range.is_null() ? 0 : range.at(0).get<std::uint64_t>());
    }
    return out;
}

// Binds the slots as host arguments. Outputs have storage of no stated size, or are discarded.
Result<std::vector<std::uint64_t>> sizes_of(Dispatch dispatch, const wye_program_description& about,
                                            std::vector<Slot>& slots, bool whole) {
    std::size_t next = 0;
    for (std::uint64_t i = 0; i < about.buffer_count; ++i) {
        const wye_buffer_description& buffer = about.buffers[i];
        if (detail::view(buffer.role) == "shared") continue;
        Slot& slot = slots[next++];
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
    WYE_ASSIGN(const auto offsets, read_offsets(program));
    WYE_ASSIGN(const auto wholes, sizes_of(dispatch, about, slots, true));
    WYE_ASSIGN(const auto reads, sizes_of(dispatch, about, slots, false));

    Repeated out;
    out.how = how;
    Dispatch resident = dispatch;
    std::vector<Buffer> buffers;
    std::uint64_t uploaded = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        WYE_ASSIGN(Buffer made, device.buffer(wholes[i], slots[i].name));
        buffers.push_back(std::move(made));
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

    std::size_t place = 0;
    for (std::uint64_t i = 0; i < about.buffer_count; ++i) {
        if (detail::view(about.buffers[i].role) == "shared") continue;
        Slot& slot = slots[place];
        const std::uint64_t size = reads[place];
        const Buffer& buffer = buffers[place++];
        if (slot.target.empty()) continue;
        WYE_ASSIGN(slot.output, Memory::of(size, fmt::format("output `{}`", slot.name)));
        WYE_TRY(buffer.download_range(slot.output.bytes(), offsets[i]));
        out.report.bytes_downloaded += size;
    }
    return out;
}

}  // namespace wye::tool
