// SPDX-License-Identifier: Apache-2.0
#include "info.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../load.hpp"
#include "command/files.hpp"
#include "command/output.hpp"
#include "explained.hpp"
#include "select.hpp"
#include "views.hpp"
#include "wye/wye.hpp"

namespace wye::tool {
namespace {

bool elevated() { return ::getauxval(AT_SECURE) != 0; }

bool path_exists(const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
}

Variables variables_of_process() {
    Variables out;
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
        const std::string_view entry(*at);
        const std::size_t equals = entry.find('=');
        if (equals != entry.npos) out.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
    return out;
}

// What to redact, longer texts first: the home folder before the user's name.
Secrets secrets_of_process() {
    Secrets out;
    const auto add = [&](const char* value, const char* stands_for) {
        const std::string_view text = value == nullptr ? "" : value;
        if (text.size() > 1 && text != "root") out.emplace_back(text, stands_for);
    };
    add(std::getenv("HOME"), "~");
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) == 0) add(host.data(), "HOST");
    for (const char* name : {"USER", "LOGNAME", "SUDO_USER"}) add(std::getenv(name), "USER");
    return out;
}

std::string now_text() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return time_text(static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count()));
}

Result<Report> saved(const std::string& path) {
    WYE_ASSIGN(const auto bytes, read_file(path, "report", kReportBytes + 1));
    return read_report({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

// Applies check_files to the files that the options name, before a context is made. Reads the
// program of --explain, if there is one.
Result<ProgramFile> read_files(const InfoOptions& options) {
    std::vector<FileUse> reports;
    for (const std::string* path : {&options.from, &options.since, &options.before, &options.after})
        if (!path->empty()) reports.push_back({"the report", *path});
    if (!options.explain.empty()) return read_program(options.explain, std::move(reports));
    WYE_TRY(check_files(std::move(reports)));
    return ProgramFile();
}

Report environment_now() {
    return environment_of(variables_of_process(), elevated(), &path_exists);
}

// The numbers, such as "0x10de", of the vendors of devices on the PCI bus, and of NVIDIA's devices
// on other buses. Null if the system lists no PCI devices.
Report vendors_of_hardware() {
    std::set<std::string> found;
    std::error_code error;
    for (const auto& device : std::filesystem::directory_iterator("/sys/bus/pci/devices", error)) {
        std::ifstream file(device.path() / "vendor");
        std::string number;
        if (file >> number) found.insert(number.substr(0, 64));
    }
    if (found.empty()) return nullptr;
    // Finds NVIDIA's devices that are not on the PCI bus: in a virtual machine of Windows, or
    // within the processor's chip.
    for (const char* path : {"/dev/dxg", "/dev/nvidiactl", "/dev/nvhost-gpu", "/dev/nvmap"})
        if (path_exists(path)) found.insert("0x10de");
    return std::vector<std::string>(found.begin(), found.end());
}

// Reads this machine's report. An empty selector stands for WYE_DEVICE; the library's errors then
// name this variable.
Result<Report> live(const InfoOptions& info) {
    keep_output();
    ContextOptions options{.flags = WYE_CONTEXT_DESCRIBE};
    // Asks only for the details that the view shows: the other details are two thirds of a report.
    const bool explains = info.verbose || info.page || !info.property.empty();
    if (!info.json) options.config = {{"report.details", explains ? "facts" : "brief"}};
    WYE_ASSIGN(const auto context, Context::create(options));
    WYE_ASSIGN(const std::string document, context.report(info.device));
    Report out = Report::parse(document, nullptr, false);
    if (out.is_discarded())
        return Error(Code::INTERNAL, "the library's report is not JSON", "Fix: report this");
    out["taken_at"] = now_text();
    out["environment"] = environment_now();
    out["hardware"] = {{"vendors", vendors_of_hardware()}};
    return out;
}

// For the view of variables, does not search for plugins: a wrong variable may break the search.
Result<Report> now(const InfoOptions& options) {
    if (options.verb != InfoOptions::Verb::environment) return live(options);
    Report out = Report::object();
    out["environment"] = environment_now();
    return out;
}

Result<Report> report_for(const InfoOptions& options) {
    Result<Report> out = !options.from.empty() ? saved(options.from) : now(options);
    // Only a saved report is narrowed here: the library narrows a live one, and then opens fewer
    // plugins.
    if (out.ok() && !options.from.empty() && !options.device.empty())
        out = selected(std::move(out).value(), options.device);
    if (!out.ok() || !options.redact) return out;
    return redacted(std::move(out).value(), secrets_of_process());
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), output()); }

// Bytes that are not UTF-8, which variables may contain, become U+FFFD.
std::string document_text(const Report& report) {
    return report.dump(2, ' ', true, Report::error_handler_t::replace) + '\n';
}

Result<std::string> view_of(const InfoOptions& options, const Report& report, const Style& style) {
    if (options.json) return document_text(report);
    if (options.page) return page_view(report);
    if (!options.property.empty()) return property_view(report, options.property, options.list);
    if (options.list) return list_view(report);
    return options.verbose ? detail_view(report, style) : screen_view(report, style);
}

// The names, in backticks, of failed plugins except those whose hardware is absent, and of files
// and folders that give no plugin.
struct Failures {
    std::vector<std::string> plugins, paths;

    [[nodiscard]] bool none() const { return plugins.empty() && paths.empty(); }
};

Failures failures(const Report& report) {
    Failures out;
    for (const Report& plugin : items(report, "plugins")) {
        if (!failed(plugin) || !absent_vendor(report, plugin).empty()) continue;
        const std::string id = clean(text(plugin, "id"));
        const std::string path = clean(text(plugin, "path"));
        if (!id.empty())
            out.plugins.push_back(fmt::format("`{}`", id));
        else
            out.paths.push_back(path.empty() ? "an entry without a name"
                                             : fmt::format("`{}`", path));
    }
    return out;
}

std::vector<std::string> warnings(const Report& report) {
    std::vector<std::string> out;
    for (const Report& record : items(report, "records"))
        if (text(record, "severity") == "warning") out.push_back(clean(text(record, "message")));
    return out;
}

// A text such as "failed plugins: `a`; 2 warnings, the first: ..."; empty if nothing is wrong.
std::string strict_faults(const Failures& failed, const std::vector<std::string>& warned) {
    std::string out;
    const auto add = [&](const std::string& part) { out += (out.empty() ? "" : "; ") + part; };
    if (!failed.plugins.empty())
        add(fmt::format("failed plugins: {}", fmt::join(failed.plugins, ", ")));
    if (!failed.paths.empty()) add(fmt::format("refused paths: {}", fmt::join(failed.paths, ", ")));
    if (!warned.empty())
        add(fmt::format("{}, the first: {}", count_text(warned.size(), "warning"), warned.front()));
    return out;
}

// Returns whether the report has a fault for --strict. Prints the fault as an error.
bool is_faulty(const Report& report) {
    const std::string wrong = strict_faults(failures(report), warnings(report));
    if (wrong.empty()) return false;
    (void)fail(
        Error(Code::BAD_PLUGIN, wrong, "Fix: follow the remedy that the report gives for each"));
    return true;
}

// "2 plugins failed: `a`, `b`"; empty if there are no names.
std::string some_of(const std::vector<std::string>& names, const char* one, const char* what) {
    constexpr std::size_t kMost = 4;
    if (names.empty()) return {};
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMost));
    return fmt::format("{} {}: {}{}; ", count_text(names.size(), one), what,
                       fmt::join(names.begin(), end, ", "), names.size() > kMost ? ", ..." : "");
}

// Writes one line about failures, which a list for scripts does not show.
void note_failures(const Failures& failed) {
    if (failed.none()) return;
    std::fprintf(stderr, "wye: note: %s%s`wye info` says why\n",
                 some_of(failed.plugins, "plugin", "failed").c_str(),
                 some_of(failed.paths, "path", "refused").c_str());
}

ExitCode show(const InfoOptions& options, const Report& report, const Style& style) {
    const auto view = view_of(options, report, style);
    if (!view.ok()) return fail(view.error());
    print(*view);
    const auto none = no_device(report);
    if (none && !items(report, "unmatched").empty()) return fail(*none);
    if (options.strict && is_faulty(report)) return kStrict;
    if (options.list) note_failures(failures(report));
    return none ? fail(*none) : kOk;
}

// The error of a view that compares devices, if there is no device to compare.
std::optional<Error> nothing_to_compare(const Report& report) {
    const bool any = !items(report, "devices").empty() && items(report, "unmatched").empty();
    return any ? std::nullopt : no_device(report);
}

ExitCode require(const InfoOptions& options, const Report& report) {
    const auto required = require_view(report, options.require);
    if (!required.ok()) return fail(required.error());
    if (const auto none = nothing_to_compare(report)) return fail(*none);
    print(required->fitting);
    if (!required->fitting.empty()) return kOk;
    std::string text =
        fmt::format("wye: error: no usable device satisfies `{}`\n", clean(options.require));
    for (const std::string& failure : required->failures) text += "  " + failure + '\n';
    text += "Fix: see `wye info doctor`, or ask for less\n";
    std::fputs(text.c_str(), stderr);
    return kUnmet;
}

// Needs no device: analyses the program, and compares its needs with the report.
Result<Explained> explained(const ProgramFile& file, const Report& report, const Style& style) {
    WYE_ASSIGN(const auto context, Context::create({.flags = WYE_CONTEXT_NO_PLUGINS}));
    WYE_ASSIGN(const auto program, load_program(context, file));
    WYE_ASSIGN(const std::string text, program.analysis());
    const Report analysis = Report::parse(text, nullptr, false);
    return explain_view(report, analysis, style);
}

ExitCode explain_devices(const ProgramFile& file, const Report& report, const Style& style) {
    const auto out = explained(file, report, style);
    if (!out.ok()) return fail(out.error());
    print(out->text);
    if (const auto none = nothing_to_compare(report)) return fail(*none);
    return out->fits ? kOk : kNoDevice;
}

ExitCode compare(const InfoOptions& options, const Style& style) {
    std::array<Report, 2> reports;
    for (const std::size_t i : {0, 1}) {
        auto report = saved(i == 0 ? options.before : options.after);
        if (!report.ok()) return fail(report.error());
        reports[i] = options.redact ? redacted(std::move(report).value(), secrets_of_process())
                                    : std::move(report).value();
    }
    const std::string text = diff_view(reports[0], reports[1], style);
    print(text);
    return text.empty() ? kOk : kFailed;
}

ExitCode doctor(const InfoOptions& options, const Report& report, const Style& style) {
    if (options.since.empty()) {
        const std::vector<Advice> found = advice(report);
        print(advice_view(report, found, style));
        return found.empty() ? kOk : kFailed;
    }
    const auto before = saved(options.since);
    if (!before.ok()) return fail(before.error());
    std::size_t left = 0;
    print(progress_view(*before, report, style, left));
    return left == 0 ? kOk : kFailed;
}

// Refuses options of which only one would have an effect.
Result<void> check_views(const InfoOptions& options) {
    using Verb = InfoOptions::Verb;
    std::vector<std::string> given;
    const auto add = [&](bool is_given, const char* flag) {
        if (is_given) given.emplace_back(flag);
    };
    add(options.verb == Verb::diff, "diff");
    add(options.verb == Verb::environment, "env");
    add(options.verb == Verb::doctor, "doctor");
    add(!options.require.empty(), "--require");
    add(!options.explain.empty(), "--explain");
    add(options.json, "--json");
    add(options.page, "--html");
    add(options.verbose, "--verbose");
    add(!options.property.empty(), "--prop");
    // --list with --prop or --require is one view, a list of properties or of devices.
    if (given.empty() || (given.front() != "--prop" && given.front() != "--require"))
        add(options.list, "--list");
    if (given.size() < 2) return {};
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("`{}` and `{}` each ask for another view", given[0], given[1]),
                 fmt::format("Fix: leave `{}` out", given[1]), given[1]);
}

}  // namespace

ExitCode info(const InfoOptions& options) {
    if (const auto checked = check_views(options); !checked.ok()) return fail(checked.error());
    const auto style = style_of(options.color);
    if (!style.ok()) return fail(style.error());
    const auto program = read_files(options);
    if (!program.ok()) return fail(program.error());
    if (options.verb == InfoOptions::Verb::diff) return compare(options, *style);
    const auto report = report_for(options);
    if (!report.ok()) return fail(report.error());
    // If several checks fail, the exit status is the verb's own failure, else that of --strict.
    const auto strictly = [&](ExitCode own) {
        return own == kOk && options.strict && is_faulty(*report) ? kStrict : own;
    };
    if (options.verb == InfoOptions::Verb::doctor)
        return strictly(doctor(options, *report, *style));
    if (options.verb == InfoOptions::Verb::environment) {
        print(environment_view(*report, options.all, *style));
        return kOk;
    }
    if (!options.explain.empty()) return strictly(explain_devices(*program, *report, *style));
    if (!options.require.empty()) return strictly(require(options, *report));
    return show(options, *report, *style);
}

}  // namespace wye::tool
