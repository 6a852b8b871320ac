// SPDX-License-Identifier: Apache-2.0
#include "suggest.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace wye::tool {
namespace {

// The Levenshtein distance, computed with two rows.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

}  // namespace

std::string suggest(const Words& words, int argc, char** argv) {
    std::vector<std::string> known = words.flags;
    for (const auto& [verb, flags] : words.verbs) known.push_back(verb);
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i];
        word = word.substr(0, word.find('='));
        if (const auto verb = words.verbs.find(word); verb != words.verbs.end()) {
            known = verb->second;
            continue;
        }
        if (std::ranges::find(known, word) != known.end()) continue;
        // The word is a value, unless it follows a verb that has verbs of its own.
        if (i > 1 && !word.starts_with('-') &&
            (i > 2 || known.empty() || known.back().starts_with('-')))
            continue;
        const std::vector<std::string> near = nearest(word, known);
        return near.empty() ? std::string() : near.front();
    }
    return {};
}

std::vector<std::string> nearest(const std::string& word, const std::vector<std::string>& known) {
    constexpr std::size_t kMost = 3;
    std::vector<std::string> near;
    std::size_t least = 1 + word.size() / 4;
    for (const std::string& name : known) {
        const std::size_t apart = distance(word, name);
        if (apart > least || apart >= word.size()) continue;
        if (apart < least) near.clear();
        least = apart;
        if (near.size() < kMost) near.push_back(name);
    }
    return near;
}

}  // namespace wye::tool
