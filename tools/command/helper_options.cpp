// SPDX-License-Identifier: Apache-2.0
#include "command/helper_options.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "command/plain_text.hpp"
#include "wye/sdk/printable.hpp"

namespace wye::tool {
namespace {

// CLI11's help text, with long lines broken at blanks. Further lines of a description begin in the
// column of the description.
class WrappedHelp : public CLI::Formatter {
  public:
    std::string make_help(const CLI::App* app, std::string name,
                          CLI::AppFormatMode mode) const override {
        std::istringstream text(Formatter::make_help(app, std::move(name), mode));
        std::string out;
        for (std::string line; std::getline(text, line);)
            out += wrapped(line.substr(0, line.find_last_not_of(' ') + 1)) + '\n';
        return out;
    }
    std::string make_footer(const CLI::App* app) const override {
        std::string out = Formatter::make_footer(app);
        const std::size_t begin = std::min(out.find_first_not_of('\n'), out.size());
        std::replace(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), '\n', ' ');
        return out;
    }

  private:
    [[nodiscard]] std::string wrapped(const std::string& line) const {
        const std::size_t column = get_column_width();
        const bool two = line.starts_with("  ") && line.size() > column &&
                         line[column - 1] == ' ' && line[column] != ' ';
        const std::size_t width = page_width();
        std::string out;
        std::size_t used = 0;  // columns of the last line
        for (std::size_t at = 0; at < line.size();) {
            std::size_t word = std::min(line.find_first_not_of(' ', at), line.size());
            const std::size_t end = std::min(line.find(' ', word), line.size());
            if (used + (end - at) > width && word > (two ? column : 0)) {
                out += '\n' + std::string(two ? column : 2, ' ');
                used = two ? column : 2;
                at = word;
            }
            out += line.substr(at, end - at);
            used += end - at;
            at = end;
        }
        return out;
    }
};

constexpr std::string_view kEmptyValue = ": is empty";  // in CLI11's error "--json: is empty"

}  // namespace

std::string refuse_empty(const std::string& value) {
    return value.empty() ? std::string(kEmptyValue.substr(2)) : std::string();
}

void prepare_command(CLI::App& app) {
    app.formatter(std::make_shared<WrappedHelp>());
    app.option_defaults()->disable_flag_override();
}

std::string usage_fault(const CLI::ParseError& error) {
    const std::string text = sdk::one_line(error.what());
    // The part of `text` between `before` and `after`; empty: `text` does not have this form.
    const auto between = [&text](std::string_view before, std::string_view after) {
        const std::size_t end = text.find(after, before.size());
        return text.starts_with(before) && end != text.npos
                   ? text.substr(before.size(), end - before.size())
                   : std::string();
    };
    if (const std::string name = between("", " is required"); !name.empty())
        return fmt::format("{} is missing", name.starts_with('-') ? name : in_capitals(name));
    if (const std::string name = between("", ": 1 required "); !name.empty())
        return fmt::format("{} has no value", name);
    if (const std::string name = between("", kEmptyValue); !name.empty())
        return fmt::format("{} has an empty value", name);
    // The text is, for example, "--policy: never not in {require,prefer,auto}".
    constexpr std::string_view kChoices = " not in {";
    const std::size_t colon = text.find(": "), choices = text.rfind(kChoices);
    if (colon != text.npos && choices != text.npos && choices > colon && text.ends_with('}')) {
        std::string names;
        for (const char c : text.substr(choices + kChoices.size()))
            names += c == ',' ? ", " : std::string(c == '}' ? 0 : 1, c);
        const std::string name = text.starts_with('-') ? text.substr(0, colon) + ' ' : "";
        return fmt::format("`{}{}` is not one of {}", name,
                           text.substr(colon + 2, std::max(choices, colon + 2) - colon - 2), names);
    }
    if (const std::string name = between("", " was given a disallowed flag "); !name.empty())
        return fmt::format("--{} takes no value", name);
    constexpr std::string_view kOne = "The following argument was not expected: ",
                               kMore = "The following arguments were not expected: ";
    std::string word;
    if (text.starts_with(kOne)) word = text.substr(kOne.size());
    if (text.starts_with(kMore)) word = text.substr(text.rfind(' ') + 1);  // CLI11 reverses them
    if (word.starts_with('-')) return fmt::format("there is no option `{}`", word);
    if (!word.empty()) return fmt::format("`{}` is not expected here", word);
    return text.starts_with(kOne) || text.starts_with(kMore) ? "an empty word is not expected here"
                                                             : text;
}

void add_bench(CLI::App& app, BenchOptions& options) {
    app.add_option("-d,--device", options.device, "Selector (default: $WYE_DEVICE, else auto)")
        ->type_name("SELECTOR");
    app.add_flag("--against-raw", options.against_raw,
                 "The same work through CUDA, OpenCL or Vulkan beside each row");
    app.add_flag("--quick", options.quick,
                 "Small sizes and few samples: shows that it works, not how fast");
    app.add_option("--json", options.json, "All samples, as one JSON document")
        ->type_name("FILE")
        ->check(refuse_empty);
    app.add_flag("--list", options.list, "Only list the rows");
    app.add_option("row", options.names, "Rows (default: all)");
    app.footer(
        "Times are medians, ratios are Wye's time by the raw time, medians over neighbouring\n"
        "runs. A missed goal is no failure. Goals on GPUs are those of an H200.\n"
        "Exit status: 0 ok; 1 a row failed; 2 bad usage; 3 no usable device. See wye-bench(1).");
}

void add_fuzz(CLI::App& app, FuzzOptions& options) {
    app.add_option("--seed", options.seed, "The first program (default 0)")
        ->type_name("N")
        ->check(refuse_empty);
    app.add_option("--count", options.count, "How many programs (default 100)")
        ->type_name("N")
        ->check(refuse_empty);
    app.add_option("--seeds", options.seeds,
                   "These programs, as in 25,173,1000..1100 (the end of a range is left out)")
        ->type_name("LIST")
        ->check(refuse_empty);
    app.add_option("--devices", options.devices,
                   "Selectors, separated by commas (default: every usable device)")
        ->type_name("LIST");
    app.add_flag("--traps", options.traps, "Programs that may trap");
    app.add_flag("--any-state", options.any_state,
                 "Run each program in another state of thread and process: rounding mode, locale, "
                 "stack, signals and others");
    app.add_option("--keep", options.keep,
                   "Write each program that differs into this folder, as one .wye file with its "
                   "launch")
        ->type_name("FOLDER")
        ->check(refuse_empty);
    app.add_option("--limit", options.limit,
                   "How long to make one finding small (default 120; 0: leave it as it is)")
        ->type_name("SECONDS")
        ->check(refuse_empty);
    app.add_option("--timeout", options.timeout, "How long one dispatch may take (default 60)")
        ->type_name("SECONDS")
        ->check(refuse_empty);
    app.add_option("--replay", options.replay,
                   "Run such files, or all in a folder, instead of random programs (may be "
                   "repeated)")
        ->type_name("PATH");
    app.add_option("--with-quirk", options.with_quirks,
                   "Use these driver workarounds too (`wye quirks` lists them; may be repeated)")
        ->type_name("LIST");
    app.add_option("--without-quirk", options.without_quirks,
                   "Do not use these driver workarounds (may be repeated)")
        ->type_name("LIST");
    app.footer(
        "Exit status: 0 all equal; 1 something differs or a device failed; 2 wrong usage;\n"
        "3 no usable device. See wye-fuzz(1).");
}

}  // namespace wye::tool
