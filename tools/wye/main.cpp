// SPDX-License-Identifier: Apache-2.0
//
// `wye`: the command line over libwye.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <sstream>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "command/helper_options.hpp"
#include "command/output.hpp"
#include "command/plain_text.hpp"
#include "conform/groups.hpp"
#include "helper.hpp"
#include "info/info.hpp"
#include "numbers.hpp"
#include "option_table.hpp"
#include "registry/open/facts.hpp"
#include "suggest.hpp"
#include "verbs.hpp"
#include "wye/sdk/numbers.hpp"
#include "wye/sdk/printable.hpp"
#include "wye/sdk/standard_files.hpp"
#include "wye/wye.h"

namespace {

using namespace wye::tool;

// The options of a verb. Options that are numbers are kept as text, since CLI11 accepts "-1" and ""
// as numbers.
struct RunWords {
    RunOptions options;
    std::string grid, elements, timeout_ms, ulp_budget, repeat;
};
struct LowerWords {
    LowerOptions options;
    std::string ulp_budget;
};

// Parses "64", "64,2" or "64,2,1".
wye::Result<std::array<std::uint32_t, 3>> parse_grid(const std::string& text) {
    std::array<std::uint32_t, 3> grid = {1, 1, 1};
    if (const auto counts = wye::sdk::parse_numbers<std::uint32_t>(text, ',', grid.size())) {
        std::ranges::copy(*counts, grid.begin());
        return grid;
    }
    return wye::Error(wye::Code::INVALID_ARGUMENT,
                      fmt::format("`--grid {}` is not X[,Y[,Z]] with workgroup counts from 0 to {}",
                                  text, UINT32_MAX),
                      "Fix: write one to three counts, as in --grid 64,2", "--grid");
}

void add_check(CLI::App& app, CheckOptions& options) {
    app.add_option("program", options.program, "Program, text or wire form")->required();
    app.add_flag("--json", options.json, "The analysis as JSON, with the warnings");
    auto* warnings =
        app.add_flag("-W,--warnings", options.warnings,
                     "Warn of what is legal but hardly meant (default: on a terminal)");
    app.add_flag("-w,--no-warnings", options.no_warnings, "Do not warn")->excludes(warnings);
    app.add_flag("--werror", options.werror, "Warn, and fail if there are warnings");
}

void add_explain(CLI::App& app, ExplainOptions& options) {
    app.add_option("word", options.words,
                   "Words and operators of the language (default: list all)");
    app.allow_extras();
}

void add_lower(CLI::App& app, LowerWords& words) {
    LowerOptions& options = words.options;
    app.add_option("program", options.program, "Program, text or wire form")->required();
    app.add_option("--to", options.format,
                   "text, wire, preconditions, wye-program, opencl-c, cuda-c, spirv, ptx or "
                   "cubin:sm_N")
        ->type_name("FORM")
        ->required();
    app.add_flag("--check-free", options.check_free,
                 "Omit range checks made redundant by the preconditions");
    app.add_option("-d,--device", options.device, "Lower with the facts of this device")
        ->type_name("SELECTOR");
    app.add_option("-o,--output", options.output, "File (default: standard output)")
        ->type_name("FILE")
        ->check(refuse_empty);
    app.add_option("--ulp-budget", words.ulp_budget, "As for run")->type_name("N");
    app.add_option("--with-quirk", options.with_quirks,
                   "Use this driver workaround too (`wye quirks` lists them; may be repeated)")
        ->type_name("ID");
    app.add_option("--without-quirk", options.without_quirks,
                   "Do not use this driver workaround (may be repeated)")
        ->type_name("ID");
}

void add_run(CLI::App& app, RunWords& words) {
    RunOptions& options = words.options;
    app.add_option("program", options.program, "Program, text or wire form")->required();
    app.add_option("-d,--device", options.device, "Selector (default: $WYE_DEVICE, else auto)")
        ->type_name("SELECTOR");
    app.add_option("--policy", options.policy,
                   "require (the default): only devices that the selector names, in its order; "
                   "prefer: else the best of all others; auto: the best of those that it names")
        ->check(CLI::IsMember({"require", "prefer", "auto"}))
        ->type_name("POLICY");
    app.add_option(
        "--in", options.inputs,
        "NAME=DATA: an input: numbers (1,2,3), @range(N), @zeros(N), @ones(N), "
        "@random(N,SEED), or a file: .npy, .csv, .txt or raw bytes; - is standard input");
    app.add_option("--out", options.outputs,
                   "NAME=FILE: the file for an output: .npy, .csv, .txt, .png or raw bytes; - is "
                   "standard output");
    app.add_option("--shape", options.shapes,
                   "NAME=ROWSxCOLUMNS: the dimensions of an output, for its table, .npy, .csv or "
                   ".png");
    app.add_option("--show", options.shown, "Print this output as a table (may be repeated)")
        ->type_name("NAME");
    app.add_option("--param", options.params, "NAME=VALUE: a parameter");
    app.add_option("--grid", words.grid, "X[,Y[,Z]]: workgroups");
    app.add_option(
           "--elements", words.elements,
           "Number of elements of run-time outputs, and of the launch unless --grid is given")
        ->type_name("N");
    app.add_option("--timeout-ms", words.timeout_ms, "Give up after this long (0: never)")
        ->type_name("N");
    app.add_option("--ulp-budget", words.ulp_budget,
                   "Let `/`, sqrt and math functions be native up to this error (0: exact)")
        ->type_name("N");
    app.add_flag("--variants", options.variants, "Run the first native variant that fits, if any");
    app.add_flag("--cooperative", options.cooperative,
                 "Run all workgroups at once; grid barriers may still split the launch");
    CLI::Option* const repeat =
        app.add_option("--repeat", words.repeat,
                       "Run N times on buffers that stay on the device; each run sees what the "
                       "previous run left")
            ->type_name("N");
    app.add_flag("--graph", options.graph, "Record the run as a graph, and replay that")
        ->needs(repeat);
    app.add_flag("-q,--quiet", options.quiet, "No report on standard error");
    app.add_flag("--counters", options.counters,
                 "Also report what the device did: submits, bytes, memory, compiles");
    app.add_flag("--json", options.json, "The report as one JSON document");
}

void add_help(CLI::App& app, HelpOptions& options) {
    app.add_option("verb", options.words, "A verb, as in `wye help run` (default: list all)");
    app.add_flag("--markdown", options.markdown)->group("");
}

void add_cache(CLI::App& app, CacheOptions& options) {
    app.add_option("action", options.action, "size (the default), list or clear")
        ->check(CLI::IsMember({"size", "list", "clear"}));
    app.add_flag("--json", options.json, "Size and list as one JSON document");
}

void add_plugins(CLI::App& app, PluginsOptions& options) {
    app.add_option("action", options.action,
                   "list (the default), trust (open them unprobed) or forget (probe them anew)")
        ->check(CLI::IsMember({"list", "trust", "forget"}));
    app.add_option("id", options.ids, "Plugins");
    app.add_flag("--json", options.json, "The list as one JSON document");
}

void add_new_plugin(CLI::App& app, NewPluginOptions& options) {
    app.add_option("name", options.name, "The plugin's id: a-z, 0-9 and _, a letter first")
        ->required();
    app.add_option("--format", options.format,
                   "What its devices take: opencl-c (the default), wye-program, or a format of "
                   "your own, as in com.example.kernel");
    app.add_option("--out", options.out, "The folder to make (default: NAME)");
}

void add_conform(CLI::App& app, ConformOptions& options) {
    app.add_option("plugin", options.plugin, "The plugin's file, as in wye_acme.so")->required();
    app.add_option("-d,--device", options.device,
                   "A selector, or an index of the plugin's devices (default: the first usable)");
    app.add_flag("--json", options.json, "The verdict as one JSON document");
    CLI::Option* const quick =
        app.add_flag("--quick", options.quick, "Fewer programs: under a minute on a fast device");
    app.add_flag("--full", options.full, "All programs, with many inputs")->excludes(quick);
    app.add_option("--only", options.only, "Groups of cases, separated by commas")->delimiter(',');
    app.add_option("--config", options.config,
                   "KEY=VALUE: the plugin's configuration (may be repeated)");
    app.add_option("--layer", options.layers,
                   "The file of a layer over the plugin, as in wye_layer_validate.so (may be "
                   "repeated)");
    app.add_option("--timeout", options.timeout,
                   "Seconds that one case may take (180; with --quick 60, with --full 600)")
        ->check(refuse_empty);
    app.add_option(
           "--random-time", options.random_time,
           "Seconds after which each of the groups random and traps begins no more programs "
           "(no limit; with --full 300)")
        ->check(refuse_empty);
    app.footer(
        "Exit status: 0 the plugin conforms; 1 it does not; 2 bad usage, or the file is no "
        "plugin;\n"
        "3 it has no such device.");
}

void add_quirks(CLI::App& app, QuirksOptions& options) {
    app.add_flag("--json", options.json, "One JSON document (with --audit: one object per line)");
    CLI::Option* const audit = app.add_flag(
        "--audit", options.audit,
        "Replay the regression of each workaround without it, in a process of its own, and say "
        "which are still needed (by the helper wye-quirks)");
    const auto add = [&](const char* flag, std::optional<std::string>& value, const char* type,
                         const char* what) {
        app.add_option(flag, value, what)->type_name(type)->needs(audit);
    };
    add("--devices", options.devices, "LIST", "Selectors or plugins, separated by commas");
    add("--only", options.only, "LIST", "These workarounds, separated by commas");
    add("--timeout", options.timeout, "SECONDS", "How long one launch may take (default 20)");
    app.footer(
        "Exit status of an audit: 0 ok; 1 a workaround is missing or does not help; 2 bad usage;\n"
        "3 no device.");
}

wye::Result<std::uint32_t> parse_budget(const std::string& text) {
    WYE_ASSIGN(const std::uint64_t budget, parse_number("--ulp-budget", text, UINT32_MAX));
    return static_cast<std::uint32_t>(budget);
}

// Converts the numbers that the command line gave.
wye::Result<void> read_numbers(const CLI::App& verb, RunWords& words) {
    const auto given = [&](const char* flag) { return verb.count(flag) != 0; };
    RunOptions& options = words.options;
    if (given("--grid")) {
        WYE_ASSIGN(options.grid, parse_grid(words.grid));
    }
    if (given("--elements")) {
        WYE_ASSIGN(options.elements, parse_number("--elements", words.elements, UINT64_MAX));
    }
    if (given("--timeout-ms")) {
        constexpr std::uint64_t kNsPerMs = 1'000'000;
        WYE_ASSIGN(options.timeout_ms,
                   parse_number("--timeout-ms", words.timeout_ms, UINT64_MAX / kNsPerMs));
    }
    if (given("--repeat")) {
        WYE_ASSIGN(options.repeat, parse_number("--repeat", words.repeat, UINT32_MAX));
        if (*options.repeat == 0)
            return wye::Error(wye::Code::INVALID_ARGUMENT, "`--repeat 0` runs nothing",
                              "Fix: give a number of at least 1, or leave --repeat out",
                              "--repeat");
    }
    if (given("--ulp-budget")) {
        WYE_ASSIGN(options.ulp_budget, parse_budget(words.ulp_budget));
    }
    return {};
}

ExitCode run_words(const CLI::App& verb, RunWords& words) {
    const auto read = read_numbers(verb, words);
    return read.ok() ? run(words.options) : fail(read.error());
}

ExitCode lower_words(const CLI::App& verb, LowerWords& words) {
    if (verb.count("--ulp-budget") != 0) {
        const auto budget = parse_budget(words.ulp_budget);
        if (!budget.ok()) return fail(budget.error());
        words.options.ulp_budget = *budget;
    }
    return lower(words.options);
}

// Adds the words that CLI11 did not parse: operators such as `-=` look like unknown flags to it.
ExitCode explain_words(const CLI::App& verb, ExplainOptions& options) {
    for (std::string& word : verb.remaining()) options.words.push_back(std::move(word));
    return explain(options);
}

ExitCode help_of(const CLI::App& verb, HelpOptions& options) {
    const CLI::App& app = *verb.get_parent();
    if (!options.words.empty()) return help(options, verb_table(app));
    // app.help() would be the help of the verb that was parsed.
    std::cout << app.get_formatter()->make_help(&app, "wye", CLI::AppFormatMode::Normal);
    return kOk;
}

// A verb of the command. `add` adds the verb's options. `run` is null for a helper program, which
// parses its options itself.
struct Verb {
    std::string name, about;
    std::function<void(CLI::App&)> add;
    std::function<ExitCode(const CLI::App&)> run;
};

template <typename Options, typename Run>
Verb verb_of(const char* name, const char* about, void (*add)(CLI::App&, Options&), Run run) {
    const auto options = std::make_shared<Options>();
    Verb out{name, about, [=](CLI::App& app) { add(app, *options); }, nullptr};
    if constexpr (std::is_invocable_v<Run, const CLI::App&, Options&>)
        out.run = [=](const CLI::App& app) { return run(app, *options); };
    else if constexpr (std::is_invocable_v<Run, Options&>)
        out.run = [=](const CLI::App&) { return run(*options); };
    return out;
}

// All verbs, in the order of --help.
std::vector<Verb> all_verbs() {
    return {
        verb_of("info", "Show plugins, devices and reasons against them", add_info, info),
        verb_of("check", "Validate a program and show its needs", add_check, check),
        verb_of("explain", "Print what the language reference says about a word", add_explain,
                explain_words),
        verb_of("lower", "Print a program in another form", add_lower, lower_words),
        verb_of("run", "Run a program on files", add_run, run_words),
        verb_of("fuzz", "Compare random programs on devices with the reference", add_fuzz, nullptr),
        verb_of("bench", "Measure a device, also beside its own API", add_bench, nullptr),
        verb_of("conform", "Judge a plugin by the conformance kits", add_conform, conform_plugin),
        verb_of("quirks", "List workarounds for drivers, and audit them", add_quirks, quirks),
        verb_of("cache", "Show or clear the cache of compiled programs", add_cache, cache),
        verb_of("plugins", "Show what probes of plugins found; trust or forget it", add_plugins,
                plugins),
        verb_of("help", "Print the page of a verb", add_help, help_of),
        verb_of("new-plugin", "Write the project of a plugin for a device of yours", add_new_plugin,
                new_plugin),
    };
}

std::vector<std::string> flags_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

Words words_of(const CLI::App& app) {
    Words words{flags_of(app), {}};
    for (const CLI::App* verb : app.get_subcommands({})) {
        std::vector<std::string>& known = words.verbs[verb->get_name()] = flags_of(*verb);
        for (const CLI::App* below : verb->get_subcommands({})) known.push_back(below->get_name());
    }
    return words;
}

// Says that the first word is no verb, or that there is no word.
std::string no_verb(int argc, char** argv) {
    if (argc < 2) return "a verb is missing";
    return fmt::format("there is no {} `{}`", argv[1][0] == '-' ? "option" : "verb",
                       wye::sdk::one_line(argv[1]));
}

// The words of the command that were understood, as in "wye info diff".
std::string command_of(const CLI::App& app) {
    const auto below = app.get_subcommands();
    return app.get_name() + (below.empty() ? "" : ' ' + command_of(*below.front()));
}

// Handles CLI11's exceptions, which it throws for both bad usage and --help.
int report_usage(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
    std::ostringstream out;
    std::ostringstream err;
    if (app.exit(error, out, err) == 0) {
        std::cout << out.str();
        return kOk;
    }
    const bool no_verb_parsed = app.get_subcommands().empty();
    std::cerr << "wye: error: " << (no_verb_parsed ? no_verb(argc, argv) : usage_fault(error))
              << '\n';
    if (const std::string hint = suggest(words_of(app), argc, argv); !hint.empty())
        std::cerr << "Fix: did you mean `" << hint << "`?\n";
    else
        std::cerr << "Fix: see `" << command_of(app) << " --help`\n";
    return kUsage;
}

// The table of the command, with the values that shells complete.
VerbEntry whole_table(const CLI::App& app) {
    VerbEntry out = verb_table(app);
    std::vector<std::string> names, facts, groups;
    for (const VerbEntry& verb : out.verbs) names.push_back(verb.name);
    for (const wye::registry::FactInfo& fact : wye::registry::fact_infos())
        facts.emplace_back(fact.name);
    for (const conform::GroupPlan& group : conform::group_plans()) groups.emplace_back(group.name);
    add_values(out, "help", "verb", names);
    add_values(out, "info", "--prop", facts);
    add_values(out, "info", "--require", facts);
    add_values(out, "info", "--color", {"auto", "always", "never"});
    add_values(out, "conform", "--only", groups);
    add_values(
        out, "lower", "--to",
        {"text", "wire", "preconditions", "wye-program", "opencl-c", "cuda-c", "spirv", "ptx"});
    add_values(out, "new-plugin", "--format", {"opencl-c", "wye-program"});
    return out;
}

int real_main(int argc, char** argv) {
    CLI::App app("Run portable compute programs on any device of this machine.", "wye");
    prepare_command(app);
    app.set_version_flag("--version", fmt::format("wye {}", wye_version()));
    app.require_subcommand(1);
    app.footer(
        "Exit status: 0 ok; 1 the work failed; 2 bad usage or input; 3 no usable device;\n"
        "4 info --require is unmet; 5 a plugin failed (with --strict). `wye help VERB` prints the\n"
        "page of a verb; see wye(1) too.");

    const std::vector<Verb> verbs = all_verbs();
    // A command line that begins with a verb needs only the options of that verb.
    const std::string first = argc > 1 ? argv[1] : "";
    const auto begins = std::ranges::find(verbs, first, &Verb::name);
    const bool needs_one = begins != verbs.end() && first != "help";
    if (needs_one && !begins->run)
        return become_helper(begins->name.c_str(), {argv + 2, argv + argc});
    for (const Verb& verb : verbs) {
        CLI::App* const added = app.add_subcommand(verb.name, verb.about);
        if (!verb.run) added->group("Helpers");
        if (!needs_one || first == verb.name) verb.add(*added);
    }

    // This option is for the build, which makes manual pages and completions from the output. It is
    // not listed in --help.
    if (argc == 2 && std::string_view(argv[1]) == "--print-options") {
        std::cout << json_of(whole_table(app));
        return kOk;
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return report_usage(app, error, argc, argv);
    }

    const CLI::App* const parsed = app.get_subcommands().front();
    return std::ranges::find(verbs, parsed->get_name(), &Verb::name)->run(*parsed);
}

}  // namespace

int main(int argc, char** argv) {
    wye::sdk::open_standard_files();
    expect_no_memory();
    try {
        const int code = real_main(argc, argv);
        // A full disk or a closed pipe on stdout is a failure.
        if (std::fflush(output()) != 0 || std::ferror(output()) != 0) {
            std::fputs(
                "wye: error: cannot write to standard output\nFix: check where standard output "
                "goes\n",
                stderr);
            return code == kOk ? static_cast<int>(kFailed) : code;
        }
        return code;
    } catch (const std::bad_alloc&) {
        std::fputs(
            "wye: error: there is no memory left\nFix: free memory, or raise the process's limit\n",
            stderr);
        return kFailed;
    } catch (const std::system_error& error) {  // {fmt} could not write
        std::fprintf(stderr, "wye: error: %s\nFix: check where standard output goes\n",
                     error.what());
        return kFailed;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "wye: internal error: %s\nFix: report this\n", error.what());
        return kFailed;
    }
}
