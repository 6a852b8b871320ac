// SPDX-License-Identifier: Apache-2.0
#include "verb_page.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command/plain_text.hpp"
#include "verb_texts.hpp"

namespace wye::tool {
namespace {

constexpr std::size_t kSynopsisColumns = 70;

// "[-d SELECTOR]", "[--in NAME=FILE]...".
std::string usage_of(const OptionEntry& option) {
    const std::string words =
        option.flags.front() + (option.value.empty() ? "" : " ") + option.value;
    return (option.required ? words : "[" + words + "]") + (option.repeats ? "..." : "");
}

std::string usage_of(const PositionalEntry& place) {
    return fmt::format(fmt::runtime(place.required ? "{}{}" : "[{}]{}"), in_capitals(place.name),
                       place.repeats ? "..." : "");
}

// Adds the usage of a verb and of the verbs below it, as a block of code. A long line continues
// under the first word after the verb.
void add_synopsis(const VerbEntry& verb, const std::string& command, std::string& out) {
    std::vector<std::string> parts;
    for (const OptionEntry& option : verb.options) parts.push_back(usage_of(option));
    for (const PositionalEntry& place : verb.positionals) parts.push_back(usage_of(place));
    std::string line = command;
    for (const std::string& part : parts) {
        if (line.size() + 1 + part.size() > kSynopsisColumns) {
            out += "    " + line + '\n';
            line.assign(command.size(), ' ');
        }
        line += ' ' + part;
    }
    out += "    " + line + '\n';
    for (const VerbEntry& below : verb.verbs) add_synopsis(below, command + ' ' + below.name, out);
}

std::string sentence(const std::string& about) { return about + (about.ends_with('.') ? "" : "."); }

// Adds the arguments and options of a verb, then those of each verb below it, under a heading.
void add_options(const VerbEntry& verb, const std::string& command, bool heading,
                 std::string& out) {
    if (heading && !(verb.positionals.empty() && verb.options.empty()))
        out += fmt::format("### {}\n\n", command);
    for (const PositionalEntry& place : verb.positionals)
        out += fmt::format("- {}: {}\n", in_capitals(place.name), sentence(place.about));
    for (const OptionEntry& option : verb.options)
        out += fmt::format("- `{}`{}{}: {}\n", fmt::join(option.flags, "`, `"),
                           option.value.empty() ? "" : " ", option.value, sentence(option.about));
    if (!(verb.positionals.empty() && verb.options.empty())) out += '\n';
    for (const VerbEntry& below : verb.verbs)
        add_options(below, command + ' ' + below.name, true, out);
}

}  // namespace

std::string_view verb_text(std::string_view verb) {
    const auto* const found = std::ranges::find(kVerbTexts, verb, &VerbText::verb);
    return found == std::end(kVerbTexts) ? std::string_view() : found->text;
}

std::string verb_page(const VerbEntry& verb, std::string_view text) {
    const std::size_t sections = std::min(text.find("## "), text.size());
    std::string out = fmt::format("# wye-{}\n\n{}\n\n## Synopsis\n\n", verb.name, verb.about);
    add_synopsis(verb, "wye " + verb.name, out);
    out += "\n## Description\n\n";
    out += text.substr(0, sections);
    std::string options;
    add_options(verb, "wye " + verb.name, false, options);
    if (!options.empty()) out += "## Options\n\n" + options;
    out += text.substr(sections);
    return out;
}

}  // namespace wye::tool
