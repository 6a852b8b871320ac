// SPDX-License-Identifier: Apache-2.0
#include "../option_table.hpp"
#include "command/helper_options.hpp"
#include "info.hpp"

namespace wye::tool {

void add_info(CLI::App& app, InfoOptions& options) {
    app.option_defaults()->group(kViews);
    app.add_flag(
        "-l,--list", options.list,
        "One line per device: selector, tab, name; with --prop its value in place of the name");
    app.add_flag("-v,--verbose", options.verbose, "All facts with their sources, and all records");
    app.add_flag("--json", options.json, "The report as one JSON document");
    app.add_flag("--html", options.page, "The report as one page of HTML that loads nothing");
    app.add_option("--prop", options.property, "A fact or member of each device, a line each")
        ->type_name("NAME")
        ->check(refuse_empty);
    app.add_option("--require", options.require,
                   "List the devices that satisfy it, as in 'f64,memory>=8GiB,kind=gpu'; exit with "
                   "4 if none does")
        ->type_name("EXPR")
        ->check(refuse_empty);
    app.add_option("--explain", options.explain,
                   "Each device: whether it can run this program, or the reasons why not; exit "
                   "with 3 if none can")
        ->type_name("PROGRAM")
        ->check(refuse_empty);
    app.option_defaults()->group("Options");
    app.add_option("-d,--device", options.device,
                   "Only plugins and devices of this selector (default: $WYE_DEVICE, else all)")
        ->type_name("SELECTOR");
    app.add_option("--from", options.from, "A report that --json wrote, instead of this machine")
        ->type_name("FILE")
        ->check(refuse_empty);
    app.add_flag("--redact", options.redact,
                 "Without names of the user and the host, home folders and UUIDs");
    app.add_flag("--strict", options.strict,
                 "Exit with 5 on a warning, or if a plugin failed whose hardware is present");
    app.add_option("--color", options.color, "auto, always or never")->type_name("WHEN");

    using Verb = InfoOptions::Verb;
    const auto add = [&](const char* name, const char* about, Verb verb) {
        CLI::App* const sub = app.add_subcommand(name, about);
        sub->fallthrough();
        sub->callback([&options, verb] { options.verb = verb; });
        return sub;
    };
    CLI::App* const diff =
        add("diff", "What differs between two saved reports (exit status as diff(1))", Verb::diff);
    diff->add_option("before", options.before, "The first report")->required();
    diff->add_option("after", options.after, "The second report")->required();
    add("env", "Variables of Wye and of drivers that are in effect", Verb::environment)
        ->add_flag("--all", options.all, "Also those that are not set");
    add("doctor", "What to install or change, the most useful first (exit status 1: something)",
        Verb::doctor)
        ->add_option("--since", options.since,
                     "A report from before the change: say which advice helped")
        ->type_name("FILE")
        ->check(refuse_empty);
    app.footer(
        "Exit status: 0 ok; 1 diff found a difference, or doctor something to change; 2 bad usage "
        "or file;\n3 no usable device; 4 --require is unmet; 5 a plugin failed (with --strict).");
}

}  // namespace wye::tool
