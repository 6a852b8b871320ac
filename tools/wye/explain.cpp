// SPDX-License-Identifier: Apache-2.0
//
// `wye explain`: prints entries of the language reference, which is embedded at build time.
#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command/plain_text.hpp"
#include "language_text.hpp"
#include "suggest.hpp"
#include "verbs.hpp"
#include "wye/sdk/ascii.hpp"

namespace wye::tool {
namespace {

// A chapter or an entry of the reference: the lines between two headings.
struct ReferencePart {
    std::string_view heading;
    std::vector<std::string> words;  // the words in an entry's heading; empty: a chapter
    std::vector<std::string_view> lines;
};

std::vector<std::string> marked_words(std::string_view heading) {
    std::vector<std::string> words;
    for (std::size_t at = heading.find('`'); at != std::string_view::npos;) {
        const std::size_t end = heading.find('`', at + 1);
        if (end == std::string_view::npos) break;
        words.emplace_back(heading.substr(at + 1, end - at - 1));
        at = heading.find('`', end + 1);
    }
    return words;
}

std::vector<ReferencePart> reference_parts() {
    std::vector<ReferencePart> parts(1);
    for (std::size_t at = 0; at < kLanguage.size();) {
        const std::size_t end = std::min(kLanguage.find('\n', at), kLanguage.size());
        const std::string_view line = kLanguage.substr(at, end - at);
        at = end + 1;
        if (line.starts_with("## "))
            parts.push_back({line.substr(3), {}, {}});
        else if (line.starts_with("### "))
            parts.push_back({line.substr(4), marked_words(line), {}});
        else
            parts.back().lines.push_back(line);
    }
    return parts;
}

// Writes the words of an entry or the heading of a chapter, then the text.
void print_part(const ReferencePart& part, std::size_t width) {
    if (part.words.empty())
        fmt::print("{}\n", part.heading);
    else
        fmt::print("{}\n", fmt::join(part.words, ", "));
    print_blocks(part.lines, width);
}

// "f32" for "f32x4", since a vector type is explained by its component's entry.
std::string without_width(const std::string& word) {
    const std::size_t at = word.size() < 3 ? 0 : word.size() - 2;
    const bool vector = at > 0 && word[at] == 'x' && word.back() >= '2' && word.back() <= '4';
    return vector && std::isdigit(static_cast<unsigned char>(word[at - 1])) != 0
               ? word.substr(0, at)
               : word;
}

const ReferencePart* part_of(const std::vector<ReferencePart>& parts, const std::string& word) {
    for (const std::string& name : {word, without_width(word)})
        for (const ReferencePart& part : parts)
            if (std::ranges::find(part.words, name) != part.words.end()) return &part;
    for (const ReferencePart& part : parts)
        if (part.words.empty() && !part.heading.empty() &&
            sdk::ascii::same_but_case(part.heading, word))
            return &part;
    return nullptr;
}

void print_contents(const std::vector<ReferencePart>& parts, std::size_t width) {
    std::string words;
    std::string_view chapter;
    const auto finish = [&] {
        if (words.empty()) return;
        fmt::print("{}\n", chapter);
        print_wrapped(words, "  ", width);
        words.clear();
    };
    for (const ReferencePart& part : parts) {
        if (part.words.empty()) {
            finish();
            chapter = part.heading;
        }
        for (const std::string& word : part.words) words += word + ' ';
    }
    finish();
}

ExitCode unknown_word(const std::vector<ReferencePart>& parts, const std::string& word) {
    std::vector<std::string> known;
    for (const ReferencePart& part : parts)
        known.insert(known.end(), part.words.begin(), part.words.end());
    const std::vector<std::string> near = nearest(word, known);
    const std::string shown = word.substr(0, 64);
    return fail(
        Error(Code::NOT_FOUND, fmt::format("the language has no word or operator `{}`", shown),
              near.empty() ? "Fix: `wye explain` lists all"
                           : fmt::format("Fix: did you mean `{}`?", fmt::join(near, "`, `")),
              shown));
}

}  // namespace

ExitCode explain(const ExplainOptions& options) {
    const std::vector<ReferencePart> parts = reference_parts();
    std::vector<const ReferencePart*> found;
    for (const std::string& word : options.words) {
        const ReferencePart* const part = part_of(parts, word);
        if (part == nullptr) return unknown_word(parts, word);
        if (std::ranges::find(found, part) == found.end()) found.push_back(part);
    }
    const std::size_t width = page_width();
    if (found.empty()) print_contents(parts, width);
    for (const ReferencePart* part : found) {
        if (part != found.front()) fmt::print("\n");
        print_part(*part, width);
    }
    return kOk;
}

}  // namespace wye::tool
