// SPDX-License-Identifier: Apache-2.0
#include "slots.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <list>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../load.hpp"
#include "command/output.hpp"
#include "command/plain_text.hpp"
#include "input.hpp"
#include "wye/program_format.h"

namespace wye::tool {
namespace {

Result<void> check_once(const Named& names, const char* flag, const char* stream) {
    const auto uses = [](const auto& one) { return one.second == "-"; };
    if (std::ranges::count_if(names, uses) <= 1) return {};
    return Error(Code::DUPLICATE, fmt::format("{} is used twice, by `{} NAME=-`", stream, flag),
                 "Fix: keep one `-`, and name files for the others", "-");
}

// The size in bytes of an input whose element count follows from other inputs, which the slots have
// already; nullopt: these inputs do not determine the count.
std::optional<std::uint64_t> computed_bytes(Dispatch dispatch, const wye_program_description& about,
                                            const std::vector<Slot>& slots, std::size_t wanted) {
    std::size_t next = 0;
    for (std::uint64_t i = 0; i < about.buffer_count; ++i) {
        const wye_buffer_description& buffer = about.buffers[i];
        if (detail::view(buffer.role) == "shared") continue;
        const Slot& slot = slots[next++];
        if (buffer.in_inputs != 0)
            dispatch.input(slot.name, slot.input);
        else
            dispatch.discard(slot.name, slot.input.size());
    }
    const auto sizes = dispatch.sizes();
    return sizes.ok() ? std::optional((*sizes)[wanted]) : std::nullopt;
}

// Reads an input. The size must be that of the program's literal count, or else `computed` bytes.
// If neither is given, the size may be at most that of the device's largest buffer.
Result<void> read_input(const wye_buffer_description& buffer, const std::string& data,
                        std::optional<std::uint64_t> computed, const Device& device, Slot& slot) {
    Wanted wanted{slot.name, slot.type, slot.element, UINT64_MAX, false};
    if (buffer.count_kind == WYE_COUNT_LITERAL) computed = buffer.count * buffer.element_bytes;
    if (computed) {
        wanted.most = *computed;
        wanted.exact = true;
    } else if (const auto largest = device.fact("max_buffer_bytes"); largest.ok()) {
        wanted.most = largest->u;
    }
    WYE_ASSIGN(Values values, read_values(wanted, data));
    slot.input = std::move(values.bytes);
    // A buffer that is both input and output keeps the shape of its input.
    if (slot.wanted() && slot.shape.empty()) slot.shape = std::move(values.shape);
    return {};
}

}  // namespace

Result<Named> parse_names(const std::vector<std::string>& items, const char* flag) {
    Named names;
    for (const std::string& item : items) {
        WYE_ASSIGN(auto assignment, parse_assignment(item, flag));
        if (!names.emplace(assignment.name, assignment.value).second)
            return Error(Code::DUPLICATE,
                         fmt::format("`{} {}=` is given twice", flag, assignment.name),
                         "Fix: give each name once", assignment.name);
    }
    return names;
}

Result<void> check_names(const Named& names, const std::vector<std::string>& known,
                         const char* flag, const char* noun) {
    for (const auto& [name, value] : names) {
        if (std::ranges::find(known, name) != known.end()) continue;
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("the program has no {} named `{}` ({})", noun, name, flag),
                     known.empty() ? fmt::format("Fix: leave {} out", flag)
                                   : fmt::format("Fix: use one of: {}", fmt::join(known, ", ")),
                     name);
    }
    return {};
}

Result<SlotOptions> slot_options(const RunOptions& options) {
    SlotOptions out;
    WYE_ASSIGN(out.inputs, parse_names(options.inputs, "--in"));
    WYE_ASSIGN(out.outputs, parse_names(options.outputs, "--out"));
    WYE_ASSIGN(out.shapes, parse_names(options.shapes, "--shape"));
    out.shown = options.shown;
    WYE_TRY(check_once(out.inputs, "--in", "standard input"));
    WYE_TRY(check_once(out.outputs, "--out", "standard output"));
    const bool taken =
        std::ranges::any_of(out.outputs, [](const auto& one) { return one.second == "-"; });
    if (taken && (options.json || !out.shown.empty()))
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`--out NAME=-` and `{}` both write to standard output",
                                 options.json ? "--json" : "--show"),
                     "Fix: name a file for the output", "--out");
    if (options.json && !out.shown.empty())
        return Error(Code::INVALID_ARGUMENT, "`--json` and `--show` both write to standard output",
                     "Fix: leave one of them out", "--show");
    out.show_others = !taken && !options.json && !options.quiet && out.shown.empty() &&
                      ::isatty(::fileno(output())) == 1;
    return out;
}

std::vector<FileUse> files_of(const SlotOptions& options) {
    std::vector<FileUse> out;
    for (const auto& [name, data] : options.inputs)
        if (const std::string path = input_file(data); !path.empty())
            out.push_back({fmt::format("input `{}`", name), path, false, name});
    for (const auto& [name, path] : options.outputs)
        if (path != "-") out.push_back({fmt::format("output `{}`", name), path, true, name});
    return out;
}

Result<std::vector<Slot>> read_slots(const wye_program_description& about,
                                     const SlotOptions& options, const Device& device,
                                     const Dispatch& dispatch) {
    std::vector<std::string> readable;
    std::vector<std::string> writable;
    for (std::uint64_t i = 0; i < about.buffer_count; ++i) {
        const wye_buffer_description& buffer = about.buffers[i];
        const bool persistent = detail::view(buffer.role) == "persistent";
        if (buffer.in_inputs != 0 || persistent) readable.emplace_back(detail::view(buffer.name));
        if (buffer.in_outputs != 0 || persistent) writable.emplace_back(detail::view(buffer.name));
    }
    Named shown;
    for (const std::string& name : options.shown) shown.emplace(name, "");
    WYE_TRY(check_names(options.inputs, readable, "--in", "input buffer"));
    WYE_TRY(check_names(options.outputs, writable, "--out", "output buffer"));
    WYE_TRY(check_names(options.shapes, writable, "--shape", "output buffer"));
    WYE_TRY(check_names(shown, writable, "--show", "output buffer"));

    std::vector<Slot> slots;
    struct Late {
        std::size_t slot;
        const wye_buffer_description* buffer;
        const std::string* data;
    };
    std::vector<Late> late;  // inputs whose count follows from other inputs
    for (std::uint64_t i = 0; i < about.buffer_count; ++i) {
        const wye_buffer_description& buffer = about.buffers[i];
        if (detail::view(buffer.role) == "shared") continue;
        Slot& slot = slots.emplace_back();
        slot.name = detail::view(buffer.name);
        slot.type = detail::view(buffer.type);
        slot.element = element_of(slot.type);
        slot.persistent = detail::view(buffer.role) == "persistent";
        if (const auto found = options.outputs.find(slot.name); found != options.outputs.end())
            slot.target = found->second;
        if (const auto found = options.shapes.find(slot.name); found != options.shapes.end()) {
            WYE_ASSIGN(slot.shape, parse_shape(slot.name, found->second));
        }
        const bool output = buffer.in_outputs != 0 || slot.persistent;
        slot.shown =
            shown.contains(slot.name) || (options.show_others && output && slot.target.empty());
        const auto found = options.inputs.find(slot.name);
        if (found == options.inputs.end()) {
            if (buffer.in_inputs == 0) continue;
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("{} `{}` has no value", detail::view(buffer.role), slot.name),
                         fmt::format("Fix: add --in {}=FILE, or numbers as in --in {}=1,2,3",
                                     slot.name, slot.name),
                         slot.name);
        }
        // If the buffer is also an output, only a part of it may be read back, so the computed size
        // limits generated numbers only.
        const bool made = found->second.starts_with('@');
        if (buffer.count_kind == WYE_COUNT_COMPUTED && (buffer.in_outputs == 0 || made)) {
            late.push_back({slots.size() - 1, &buffer, &found->second});
            continue;
        }
        WYE_TRY(read_input(buffer, found->second, {}, device, slot));
    }
    for (const Late& one : late) {
        const auto bytes = computed_bytes(dispatch, about, slots, one.slot);
        WYE_TRY(read_input(*one.buffer, *one.data, bytes, device, slots[one.slot]));
    }
    return slots;
}

Result<void> make_room(Slot& slot, std::uint64_t bytes) {
    WYE_ASSIGN(slot.output, Memory::of(bytes, fmt::format("output `{}`", slot.name)));
    const OutputForm form = output_form(slot.target);
    // A table needs whole elements, as a .csv file does.
    return check_table(slot.table(),
                       slot.shown && form == OutputForm::Raw ? OutputForm::Csv : form);
}

Result<void> open_outputs(std::vector<Slot>& slots, StagedOutputs& staged) {
    for (Slot& slot : slots)
        if (!slot.target.empty() && slot.target != "-") {
            WYE_ASSIGN(slot.staged, staged.open(slot.target));
        }
    return {};
}

Result<void> write_outputs(const std::vector<Slot>& slots, StagedOutputs& staged) {
    std::list<std::vector<std::byte>> contents;  // kept until the files are in place
    for (const Slot& slot : slots) {
        if (slot.target.empty() || slot.target == "-") continue;
        std::span<const std::byte> bytes = slot.output.bytes();
        if (const OutputForm form = output_form(slot.target); form != OutputForm::Raw)
            bytes = contents.emplace_back(encoded(slot.table(), form));
        WYE_TRY(staged.write(slot.staged, bytes));
    }
    WYE_TRY(staged.commit());
    for (const Slot& slot : slots) {
        // A failure to write is reported at the end of the command.
        if (slot.target == "-")
            std::fwrite(slot.output.bytes().data(), 1, slot.output.bytes().size(), output());
        if (slot.shown) fmt::print(output(), "{}", shown_table(slot.table(), page_width()));
    }
    return {};
}

}  // namespace wye::tool
