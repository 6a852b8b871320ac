// SPDX-License-Identifier: Apache-2.0
//
// Suggests the words nearest to a mistyped word.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace wye::tool {

// The words that a command line may have. `flags`: the flags before a verb. `verbs`: for each verb,
// its flags, then the verbs below it.
struct Words {
    std::vector<std::string> flags;
    std::map<std::string, std::vector<std::string>> verbs;
};

// For the first unknown word in argv, the nearest known word; empty if no known word is near.
[[nodiscard]] std::string suggest(const Words& words, int argc, char** argv);

// The known words nearest to a mistyped word: at most three, all at the same distance; empty if no
// known word is near.
[[nodiscard]] std::vector<std::string> nearest(const std::string& word,
                                               const std::vector<std::string>& known);

}  // namespace wye::tool
