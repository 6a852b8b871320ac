// SPDX-License-Identifier: Apache-2.0
//
// `wye run`: one dispatch on files and numbers. Reads and checks all inputs before anything runs;
// outputs appear only when all of them are complete.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "../load.hpp"
#include "../verbs.hpp"
#include "command/output.hpp"
#include "command/progress.hpp"
#include "repeat.hpp"
#include "report.hpp"
#include "slots.hpp"
#include "wye/program_format.h"

namespace wye::tool {
namespace {

constexpr std::uint64_t kCloseWithin = 2'000'000'000;  // ns, to close the context after a time-out

Result<std::uint64_t> param_bits(const std::string& name, const std::string& text,
                                 std::string_view type) {
    const Scalar& scalar = *element_of(type).scalar;
    if (const auto bits = bits_of(scalar, text)) return *bits;
    const std::string_view bare = without_suffix(text);
    return Error(
        Code::INVALID_ARGUMENT,
        fmt::format("`--param {}={}` is not a {} value: {}", name, text, type, range_of(scalar)),
        bare != text && bits_of(scalar, bare)
            ? fmt::format("Fix: write --param {}={}, since the program declares the type", name,
                          bare)
            : fmt::format("Fix: write --param {}=NUMBER within that range", name),
        name);
}

void bind(Dispatch& dispatch, std::vector<Slot>& slots, const wye_program_description& about) {
    std::size_t next = 0;
    for (std::uint64_t i = 0; i < about.buffer_count; ++i) {
        const wye_buffer_description& buffer = about.buffers[i];
        if (detail::view(buffer.role) == "shared") continue;
        Slot& slot = slots[next++];
        if (buffer.in_inputs != 0) dispatch.input(slot.name, slot.input);
        if (buffer.in_outputs == 0) continue;
        if (slot.wanted())
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
        if (slots[i].wanted()) WYE_TRY(make_room(slots[i], sizes[i]));
    Repeated out;
    const Progress progress("running");
    WYE_ASSIGN(out.report, request().run());
    return out;
}

// Checks that --elements gives the element count of run-time outputs: `wye run` passes no storage
// for outputs, so nothing else determines this count.
Result<void> check_counts(const wye_program_description& about, const RunOptions& options) {
    if (options.elements) return {};
    for (std::uint64_t i = 0; i < about.buffer_count; ++i) {
        const wye_buffer_description& buffer = about.buffers[i];
        if (buffer.count_kind != WYE_COUNT_RUNTIME || detail::view(buffer.role) != "output")
            continue;
        const std::string name(detail::view(buffer.name));
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("the element count of run-time output `{}` is not given", name),
                     "Fix: add --elements N", name);
    }
    return {};
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
    WYE_ASSIGN(const auto buffers, slot_options(options));
    WYE_ASSIGN(const auto params, parse_names(options.params, "--param"));
    WYE_ASSIGN(const auto file, read_program(options.program, files_of(buffers)));
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
    WYE_TRY(check_counts(about, options));
    WYE_ASSIGN(const auto device,
               context.choose(options.device, policy_of(options.policy), &program));
    Dispatch dispatch(program, device);
    for (std::size_t i = 0; i < bits.size(); ++i) dispatch.param_bits(i, bits[i]);
    if (options.grid) dispatch.grid((*options.grid)[0], (*options.grid)[1], (*options.grid)[2]);
    if (options.elements) dispatch.elements(*options.elements);
    dispatch.ulp_budget(options.ulp_budget);
    if (options.variants) dispatch.variants();
    if (options.cooperative) dispatch.cooperative();
    WYE_ASSIGN(auto slots, read_slots(about, buffers, device, dispatch));
    StagedOutputs staged;
    WYE_TRY(open_outputs(slots, staged));
    const std::uint64_t timeout_ns = options.timeout_ms * 1'000'000U;
    // run_repeatedly binds buffers that stay on the device.
    const bool resident = options.repeat || std::ranges::any_of(slots, &Slot::persistent);
    const auto ran = resident
                         ? run_repeatedly(dispatch, program, device, slots,
                                          {options.repeat.value_or(1), options.graph, timeout_ns})
                         : run_once(dispatch.timeout_ns(timeout_ns), slots, about);
    if (!ran.ok() && ran.error().code == Code::TIMEOUT) {
        staged.discard();
        end_late(context.get(), ran.error());
    }
    WYE_ASSIGN(const Repeated done, ran);
    const wye_report& report = done.report;

    WYE_TRY(write_outputs(slots, staged));
    WYE_ASSIGN(const auto where, device.describe());
    WYE_ASSIGN(const auto passed_over, device.passed_over());
    const Repeated* const repeated = options.repeat ? &done : nullptr;
    std::optional<Counted> counted;
    if (options.counters) {
        WYE_ASSIGN(const wye_counters counters, device.counters());
        WYE_ASSIGN(const wye_memory_use memory, device.memory());
        counted = Counted{counters, memory};
    }
    if (options.json)
        print_json(about, where, passed_over, report, repeated, counted ? &*counted : nullptr);
    else if (counted)
        print_counters(*counted);
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
