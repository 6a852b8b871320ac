// SPDX-License-Identifier: Apache-2.0
//
// `wye help VERB`: prints the page of a verb.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command/plain_text.hpp"
#include "suggest.hpp"
#include "verb_page.hpp"
#include "verbs.hpp"

namespace wye::tool {
namespace {

Error unknown_verb(const std::string& word, const std::vector<VerbEntry>& verbs) {
    std::vector<std::string> known;
    for (const VerbEntry& verb : verbs) known.push_back(verb.name);
    const std::vector<std::string> near = nearest(word, known);
    const std::string shown = word.substr(0, 64);
    return Error(Code::NOT_FOUND, fmt::format("there is no verb `{}`", shown),
                 near.empty() ? fmt::format("Fix: name one of {}", fmt::join(known, ", "))
                              : fmt::format("Fix: did you mean `{}`?", fmt::join(near, "`, `")),
                 shown);
}

// Finds the verb of the first word, whose page also describes the verbs below it. The other words
// must name verbs below. `words` is not empty.
Result<const VerbEntry*> find_verb(const VerbEntry& table, const std::vector<std::string>& words) {
    const VerbEntry* first = nullptr;
    const VerbEntry* above = &table;
    for (const std::string& word : words) {
        const auto found = std::ranges::find(above->verbs, word, &VerbEntry::name);
        if (found == above->verbs.end()) return unknown_verb(word, above->verbs);
        above = &*found;
        if (first == nullptr) first = above;
    }
    return first;
}

}  // namespace

ExitCode help(const HelpOptions& options, const VerbEntry& table) {
    const auto verb = find_verb(table, options.words);
    if (!verb.ok()) return fail(verb.error());
    const std::string page = verb_page(**verb, verb_text((*verb)->name));
    if (options.markdown)
        fmt::print("{}", page);
    else
        print_page(page, page_width());
    return kOk;
}

}  // namespace wye::tool
