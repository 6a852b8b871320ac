// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean": the verb or flag nearest to what was typed.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace wye::tool {

// The words that a command line may have: "--help", and the flags that follow each verb.
struct Words {
    std::vector<std::string> flags;
    std::map<std::string, std::vector<std::string>> verbs;
};

// The nearest known word for the first unknown one in argv, or nothing when none is near.
[[nodiscard]] std::string suggest(const Words& words, int argc, char** argv);

}  // namespace wye::tool
