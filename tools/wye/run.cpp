// SPDX-License-Identifier: Apache-2.0
//
// `wye run`: one dispatch from files to files. Reads and checks all inputs before anything runs;
// outputs appear only when all of them are complete.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "files.hpp"
#include "load.hpp"
#include "memory.hpp"
#include "output.hpp"
#include "run_repeat.hpp"
#include "run_report.hpp"
#include "verbs.hpp"
#include "wye/program_format.h"

namespace wye::tool {
namespace {

constexpr std::uint64_t kCloseWithin = 2'000'000'000;  // ns, after a time-out

Error bad_value(const std::string& name, const std::string& text, std::string_view type,
                std::string_view range) {
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("`--param {}={}` is not a {} value: {}", name, text, type, range),
                 fmt::format("Fix: write --param {}=NUMBER within that range", name), name);
}

// Parses a whole text as a decimal or 0x hexadecimal number in range.
template <typename T>
Result<std::uint64_t> integer_bits(const std::string& name, const std::string& text,
                                   std::string_view type) {
    std::string_view digits = text;
    const bool negative = !digits.empty() && digits.front() == '-';
    if (negative) digits.remove_prefix(1);
    const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
    if (hex) digits.remove_prefix(2);
    std::uint64_t magnitude = 0;
    const auto [end, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, hex ? 16 : 10);
    const std::uint64_t limit =
        static_cast<std::uint64_t>(std::numeric_limits<T>::max()) + (negative ? 1U : 0U);
    if (status != std::errc{} || end != digits.data() + digits.size() || magnitude > limit ||
        (negative && std::is_unsigned_v<T> && magnitude != 0))
        return bad_value(name, text, type,
                         fmt::format("{} to {}, or 0x and hexadecimal digits",
                                     std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    const std::uint64_t bits = negative ? 0 - magnitude : magnitude;
    return sizeof(T) == 4 ? (bits & 0xffffffffU) : bits;
}

template <typename T, typename Bits>
Result<std::uint64_t> float_bits(const std::string& name, const std::string& text,
                                 std::string_view type) {
    T value{};
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size())
        return bad_value(
            name, text, type,
            fmt::format("0, {} to {} of either sign, inf or nan",
                        std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max()));
    if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
    return static_cast<std::uint64_t>(std::bit_cast<Bits>(value));
}

Result<std::uint64_t> param_bits(const std::string& name, const std::string& text,
                                 std::string_view type) {
    if (type == "u32") return integer_bits<std::uint32_t>(name, text, type);
    if (type == "i32") return integer_bits<std::int32_t>(name, text, type);
    if (type == "u64") return integer_bits<std::uint64_t>(name, text, type);
    if (type == "i64") return integer_bits<std::int64_t>(name, text, type);
    if (type == "f32") return float_bits<float, std::uint32_t>(name, text, type);
    return float_bits<double, std::uint64_t>(name, text, type);
}

using NamedFiles = std::map<std::string, std::string>;

Result<NamedFiles> parse_names(const std::vector<std::string>& items, const char* flag) {
    NamedFiles names;
    for (const std::string& item : items) {
        WYE_ASSIGN(auto assignment, parse_assignment(item, flag));
        if (!names.emplace(assignment.name, assignment.value).second)
            return Error(Code::DUPLICATE,
                         fmt::format("`{} {}=` is given twice", flag, assignment.name),
                         "Fix: give each name once", assignment.name);
    }
    return names;
}

// Checks that the program has every given name.
Result<void> check_names(const NamedFiles& names, const std::vector<std::string>& known,
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

// The bytes of an input whose count the program computes from the slots that are filled; empty if
// they do not determine it.
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
            dispatch.discard(slot.name, 0);
    }
    const auto sizes = dispatch.sizes();
    return sizes.ok() ? std::optional((*sizes)[wanted]) : std::nullopt;
}

// Reads the file of an input: at most the bytes that can be used, by the program's literal or
// computed count, else by the device's limit.
Result<std::vector<std::byte>> read_input(const wye_buffer_description& buffer,
                                          const std::string& path,
                                          std::optional<std::uint64_t> computed,
                                          const Device& device) {
    const std::string name(detail::view(buffer.name));
    std::uint64_t most = UINT64_MAX;
    if (buffer.count_kind == WYE_COUNT_LITERAL)
        most = buffer.count * buffer.element_bytes;
    else if (computed)
        most = *computed;
    else if (const auto largest = device.fact("max_buffer_bytes"); largest.ok())
        most = largest->u;
    WYE_ASSIGN(auto bytes, read_file(path, fmt::format("input `{}`", name), most));
    if (buffer.element_bytes != 0 && bytes.size() % buffer.element_bytes != 0)
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("`{}` has {} bytes, not a multiple of the {} bytes of {} `{}`", path,
                        bytes.size(), buffer.element_bytes, detail::view(buffer.type), name),
            "Fix: give whole elements", name);
    return bytes;
}

// `dispatch` has the parameters and the number of elements.
Result<std::vector<Slot>> read_slots(const wye_program_description& about, const NamedFiles& inputs,
                                     const NamedFiles& outputs, const Device& device,
                                     const Dispatch& dispatch) {
    std::vector<std::string> readable;
    std::vector<std::string> writable;
    for (std::uint64_t i = 0; i < about.buffer_count; ++i) {
        const wye_buffer_description& buffer = about.buffers[i];
        if (buffer.in_inputs != 0) readable.emplace_back(detail::view(buffer.name));
        if (buffer.in_outputs != 0) writable.emplace_back(detail::view(buffer.name));
    }
    WYE_TRY(check_names(inputs, readable, "--in", "input buffer"));
    WYE_TRY(check_names(outputs, writable, "--out", "output buffer"));

    std::vector<Slot> slots;
    struct Late {
        std::size_t slot;
        const wye_buffer_description* buffer;
        const std::string* path;
    };
    std::vector<Late> late;  // inputs whose count follows from others
    for (std::uint64_t i = 0; i < about.buffer_count; ++i) {
        const wye_buffer_description& buffer = about.buffers[i];
        if (detail::view(buffer.role) == "shared") continue;
        Slot& slot = slots.emplace_back();
        slot.name = detail::view(buffer.name);
        if (const auto found = outputs.find(slot.name); found != outputs.end())
            slot.target = found->second;
        if (buffer.in_inputs == 0) continue;
        const auto found = inputs.find(slot.name);
        if (found == inputs.end())
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("{} `{}` has no file", detail::view(buffer.role), slot.name),
                         fmt::format("Fix: add --in {}=FILE", slot.name), slot.name);
        if (buffer.count_kind == WYE_COUNT_COMPUTED && buffer.in_outputs == 0) {
            late.push_back({slots.size() - 1, &buffer, &found->second});
            continue;
        }
        WYE_ASSIGN(slot.input, read_input(buffer, found->second, {}, device));
    }
    for (const Late& one : late) {
        const auto bytes = computed_bytes(dispatch, about, slots, one.slot);
        WYE_ASSIGN(slots[one.slot].input, read_input(*one.buffer, *one.path, bytes, device));
    }
    return slots;
}

void bind(Dispatch& dispatch, std::vector<Slot>& slots, const wye_program_description& about) {
    std::size_t next = 0;
    for (std::uint64_t i = 0; i < about.buffer_count; ++i) {
        const wye_buffer_description& buffer = about.buffers[i];
        if (detail::view(buffer.role) == "shared") continue;
        Slot& slot = slots[next++];
        if (buffer.in_inputs != 0) dispatch.input(slot.name, slot.input);
        if (buffer.in_outputs == 0) continue;
        if (!slot.target.empty())
            dispatch.output(slot.name, slot.output.bytes());
        else if (buffer.in_inputs == 0)
            dispatch.discard(slot.name, 0);
    }
}

// Runs one dispatch on host bytes.
Result<Repeated> run_once(const Dispatch& dispatch, std::vector<Slot>& slots,
                          const wye_program_description& about) {
    const auto request = [&] {
        Dispatch out = dispatch;
        bind(out, slots, about);
        return out;
    };
    // The first request computes the sizes; the second one has storage of these sizes.
    WYE_ASSIGN(const auto sizes, request().sizes());
    for (std::size_t i = 0; i < slots.size(); ++i)
        if (!slots[i].target.empty()) {
            WYE_ASSIGN(slots[i].output,
                       Memory::of(sizes[i], fmt::format("output `{}`", slots[i].name)));
        }
    Repeated out;
    WYE_ASSIGN(out.report, request().run());
    return out;
}

wye_device_policy policy_of(std::string_view name) {
    if (name == "prefer") return WYE_POLICY_PREFER;
    return name == "auto" ? WYE_POLICY_AUTO : WYE_POLICY_REQUIRE;
}

// Ends the command after a time-out, while the program may still run: neither the context nor
// `exit` may wait for a device that never stops.
[[noreturn]] void end_late(wye_context* context, const Error& error) {
    const ExitCode code = fail(error);
    const auto closed = detail::call(
        [&](wye_error** e) { return wye_context_destroy_within(context, kCloseWithin, e); });
    if (!closed.ok()) fmt::print(stderr, "wye: {}\n", closed.error().text());
    std::fflush(nullptr);
    std::_Exit(code);
}

Result<void> run_program(const RunOptions& options) {
    keep_output();
    WYE_ASSIGN(const auto inputs, parse_names(options.inputs, "--in"));
    WYE_ASSIGN(const auto outputs, parse_names(options.outputs, "--out"));
    WYE_ASSIGN(const auto params, parse_names(options.params, "--param"));
    std::vector<FileUse> files;
    for (const auto& [name, path] : inputs)
        files.push_back({fmt::format("input `{}`", name), path, false, name});
    for (const auto& [name, path] : outputs)
        files.push_back({fmt::format("output `{}`", name), path, true, name});
    WYE_ASSIGN(const auto file, read_program(options.program, std::move(files)));
    WYE_ASSIGN(const auto context, Context::create());
    WYE_ASSIGN(const auto program, load_program(context, file));
    WYE_ASSIGN(const auto about, program.describe());

    std::vector<std::string> declared;
    for (std::uint64_t i = 0; i < about.param_count; ++i)
        declared.emplace_back(detail::view(about.params[i].name));
    WYE_TRY(check_names(params, declared, "--param", "parameter"));
    std::vector<std::uint64_t> bits;
    for (std::uint64_t i = 0; i < about.param_count; ++i) {
        const auto found = params.find(declared[i]);
        const std::string_view type = detail::view(about.params[i].type);
        if (found == params.end())
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("parameter `{}` ({}) has no value", declared[i], type),
                         fmt::format("Fix: add --param {}=VALUE", declared[i]), declared[i]);
        WYE_ASSIGN(bits.emplace_back(), param_bits(declared[i], found->second, type));
    }
    WYE_ASSIGN(const auto device,
               context.choose(options.device, policy_of(options.policy), &program));
    Dispatch dispatch(program, device);
    for (std::size_t i = 0; i < bits.size(); ++i) dispatch.param_bits(i, bits[i]);
    if (options.grid) dispatch.grid((*options.grid)[0], (*options.grid)[1], (*options.grid)[2]);
    if (options.elements) dispatch.elements(*options.elements);
    dispatch.ulp_budget(options.ulp_budget);
    if (options.variants) dispatch.variants();
    if (options.cooperative) dispatch.cooperative();
    WYE_ASSIGN(auto slots, read_slots(about, inputs, outputs, device, dispatch));
    StagedOutputs staged;
    for (Slot& slot : slots)
        if (!slot.target.empty()) {
            WYE_ASSIGN(slot.staged, staged.open(slot.target));
        }
    const std::uint64_t timeout_ns = options.timeout_ms * 1'000'000U;
    const auto ran = options.repeat ? run_repeatedly(dispatch, program, device, slots,
                                                     {*options.repeat, options.graph, timeout_ns})
                                    : run_once(dispatch.timeout_ns(timeout_ns), slots, about);
    if (!ran.ok() && ran.error().code == Code::TIMEOUT) {
        staged.discard();
        end_late(context.get(), ran.error());
    }
    WYE_ASSIGN(const Repeated done, ran);
    const wye_report& report = done.report;

    for (const Slot& slot : slots)
        if (!slot.target.empty()) WYE_TRY(staged.write(slot.staged, slot.output.bytes()));
    WYE_TRY(staged.commit());
    WYE_ASSIGN(const auto where, device.describe());
    WYE_ASSIGN(const auto passed_over, device.passed_over());
    const Repeated* const repeated = options.repeat ? &done : nullptr;
    std::optional<wye_counters> counters;
    if (options.counters) {
        WYE_ASSIGN(counters, device.counters());
    }
    if (options.json)
        print_json(about, where, passed_over, report, repeated, counters ? &*counters : nullptr);
    else if (counters)
        print_counters(*counters);
    if (!options.quiet && !options.json) {
        const char* const variable = std::getenv("WYE_DEVICE");
        print_choice(where, passed_over,
                     !options.device.empty() ? options.device
                     : variable != nullptr   ? std::string_view(variable)
                                             : std::string_view());
        print_line(about, where, report, repeated);
    }
    return {};
}

}  // namespace

ExitCode run(const RunOptions& options) {
    const auto result = run_program(options);
    return result.ok() ? kOk : fail(result.error());
}

}  // namespace wye::tool
