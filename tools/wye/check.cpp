// SPDX-License-Identifier: Apache-2.0
//
// `wye check` and `wye lower`: print the analysis and the lowered forms of a program.
#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "command/files.hpp"
#include "command/output.hpp"
#include "load.hpp"
#include "verbs.hpp"
#include "wye/sdk/printable.hpp"

namespace wye::tool {
namespace {

using Json = nlohmann::json;

// A text such as " at 9:12"; empty if the place is unknown.
std::string place_text(const Json& item, const char* member = "place", const char* word = "at") {
    const auto place = item.find(member);
    if (place == item.end() || !place->is_object()) return {};
    return fmt::format(" {} {}:{}", word, place->value("line", 0), place->value("column", 0));
}

// The hints of a buffer, as a program writes them: " coalesce x locality streaming".
std::string hints_text(const Json& buffer) {
    const Json hints = buffer.value("hints", Json::object());
    std::string out;
    if (const auto axis = hints.find("coalesce"); axis != hints.end() && axis->is_string())
        out += fmt::format(" coalesce {}", axis->get<std::string>());
    if (const auto align = hints.find("preferred_alignment");
        align != hints.end() && align->is_number())
        out += fmt::format(" prefer_align {}", align->get<std::uint64_t>());
    if (const std::string locality = hints.value("locality", "unspecified");
        locality != "unspecified")
        out += fmt::format(" locality {}", locality);
    return out;
}

void print_analysis(const wye_program_description& about, const Json& analysis) {
    fmt::print("program        {}\n", detail::view(about.name));
    fmt::print("fingerprint    {}\n", detail::view(about.fingerprint));
    fmt::print("workgroup      {} x {} x {}\n", about.workgroup[0], about.workgroup[1],
               about.workgroup[2]);
    for (std::uint64_t i = 0; i < about.param_count; ++i)
        fmt::print("param          {}: {}\n", detail::view(about.params[i].name),
                   detail::view(about.params[i].type));
    const Json buffers = analysis.value("buffers", Json::array());
    for (std::uint64_t i = 0; i < about.buffer_count; ++i) {
        const wye_buffer_description& buffer = about.buffers[i];
        fmt::print("buffer {:<7} {} {}: {}{}\n", buffer.binding, detail::view(buffer.role),
                   detail::view(buffer.name), detail::view(buffer.type),
                   i < buffers.size() ? hints_text(buffers[i]) : std::string());
    }
    for (const Json& need : analysis.value("needs", Json::array()))
        fmt::print("needs          {}: {}\n", need.value("capability", ""),
                   need.value("because", ""));
    const Json doubts = analysis.value("doubts", Json::array());
    const Json condition = analysis.value("deterministic_if", Json());
    const std::string when = condition.is_string() ? ", if " + condition.get<std::string>() : "";
    fmt::print("deterministic  {}\n", doubts.empty() ? "yes" + when : "not proven");
    for (const Json& doubt : doubts)
        fmt::print("  {}: {}{}{}\n", doubt.value("reason", ""), doubt.value("what", ""),
                   place_text(doubt), place_text(doubt, "other", "with the access at"));
    const Json uses = analysis.value("uses", Json::object());
    if (uses.value("grid_barrier", false)) {
        const unsigned kernels = uses.value("kernels", 0U);
        const std::string parts =
            kernels == 0 ? "one kernel for each iteration of the loops around it"
                         : fmt::format("{} kernel{}", kernels, kernels == 1 ? "" : "s");
        fmt::print("grid barrier   split into {}\n", parts);
    }
}

// Prints the warnings as a compiler does, and returns their number.
std::size_t print_warnings(const std::string& path, const Json& analysis) {
    const Json warnings = analysis.value("warnings", Json::array());
    for (const Json& one : warnings) {
        const auto place = one.find("place");
        const auto where = one.find("where");
        std::string at = sdk::one_line(path);
        if (place != one.end() && place->is_object())
            at += fmt::format(":{}:{}", place->value("line", 0), place->value("column", 0));
        else if (where != one.end() && where->is_string())
            at += ": " + where->get<std::string>();
        fmt::print(stderr, "{}: warning: {}. {}\n", at,
                   sdk::one_line(one.value("message", std::string())),
                   one.value("fix", std::string()));
    }
    return warnings.size();
}

// Checks a program and prints the result. Returns whether the program passed.
Result<bool> check_program(const CheckOptions& options) {
    WYE_ASSIGN(const auto file, read_program(options.program));
    // Checking needs no device, so no plugins are searched for.
    WYE_ASSIGN(const auto context, Context::create({.flags = WYE_CONTEXT_NO_PLUGINS}));
    WYE_ASSIGN(const auto program, load_program(context, file));
    WYE_ASSIGN(const auto text, program.analysis());
    const Json analysis = Json::parse(text, nullptr, false);
    if (analysis.is_discarded())
        return Error(Code::INTERNAL, "the library's analysis is not JSON", "Fix: report this");
    if (options.json) {
        fmt::print("{}\n", text);
    } else {
        WYE_ASSIGN(const auto about, program.describe());
        print_analysis(about, analysis);
    }
    std::fflush(stdout);
    const bool wanted =
        options.warnings || options.werror || (!options.json && ::isatty(STDERR_FILENO) != 0);
    std::size_t count = analysis.value("warnings", Json::array()).size();
    if (wanted && !options.no_warnings) count = print_warnings(file.path, analysis);
    return !options.werror || count == 0;
}

Result<void> lower_program(const LowerOptions& options) {
    keep_output();
    std::vector<FileUse> files;
    if (!options.output.empty()) files.push_back({"--output", options.output, true});
    WYE_ASSIGN(const auto file, read_program(options.program, std::move(files)));
    StagedOutputs outputs;
    if (!options.output.empty()) WYE_TRY(outputs.open(options.output));
    ContextOptions context_options;
    // Without a device, plugins are needed only for formats that a plugin's compiler makes.
    const bool compiled = options.format.starts_with("ptx") || options.format.starts_with("cubin");
    if (options.device.empty() && !compiled) context_options.flags = WYE_CONTEXT_NO_PLUGINS;
    const auto list = [](const std::vector<std::string>& names) {
        return fmt::format("{}", fmt::join(names, ","));
    };
    context_options.config = {{"quirks.with", list(options.with_quirks)},
                              {"quirks.without", list(options.without_quirks)}};
    WYE_ASSIGN(const auto context, Context::create(context_options));
    WYE_ASSIGN(const auto program, load_program(context, file));
    wye_device device = 0;
    if (!options.device.empty()) {
        WYE_ASSIGN(const auto opened, context.open(options.device));
        device = opened.get();
    }
    const std::string format = options.format == "spirv" ? WYE_FORMAT_SPIRV : options.format;
    WYE_ASSIGN(const auto lowered,
               program.lower(format, device, options.ulp_budget, options.check_free));
    const auto bytes = std::as_bytes(std::span(lowered));
    if (options.output.empty()) {  // an output file /dev/stdout would be replaced
        if (std::fwrite(bytes.data(), 1, bytes.size(), output()) != bytes.size() ||
            std::fflush(output()) != 0)
            return Error(Code::IO, "cannot write to standard output",
                         "Fix: check where standard output goes");
        return {};
    }
    WYE_TRY(outputs.write(0, bytes));
    return outputs.commit();
}

}  // namespace

ExitCode check(const CheckOptions& options) {
    const auto result = check_program(options);
    if (!result.ok()) return fail(result.error());
    return *result ? kOk : kFailed;
}

ExitCode lower(const LowerOptions& options) {
    const auto result = lower_program(options);
    return result.ok() ? kOk : fail(result.error());
}

}  // namespace wye::tool
