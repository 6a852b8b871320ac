// SPDX-License-Identifier: Apache-2.0
//
// Finds the word nearest to a mistyped one, by edit distance. Pure; free-threaded.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace wye::sdk {

// The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
// A word of more than 64 bytes is far from all others.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    constexpr std::size_t kMax = 65;
    if (a.size() >= kMax || b.size() >= kMax) return kMax;
    std::array<std::array<std::size_t, kMax>, 3> rows{};
    for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        auto& row = rows[i % 3];
        const auto& above = rows[(i + 2) % 3];
        const auto& before = rows[(i + 1) % 3];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t same = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + same});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return rows[a.size() % 3][b.size()];
}

// Returns the candidate nearest to `text`, if it is so near that `text` may be a typing error; else
// an empty text.
[[nodiscard]] inline std::string_view nearest(std::string_view text,
                                              const std::vector<std::string_view>& candidates) {
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(1, text.size() / 3) + 1;
    for (const std::string_view candidate : candidates) {
        if (candidate == text) continue;
        const std::size_t gap = candidate.size() > text.size() ? candidate.size() - text.size()
                                                               : text.size() - candidate.size();
        if (gap >= best_distance) continue;
        const std::size_t distance = edit_distance(text, candidate);
        // Two one-letter names are always one edit apart, so suggesting one would be useless.
        if (distance >= text.size() || distance >= best_distance) continue;
        best = candidate;
        best_distance = distance;
    }
    return best;
}

}  // namespace wye::sdk
