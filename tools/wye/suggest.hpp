// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean": the verb or flag nearest to what was typed.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace wye::tool {

// The nearest known word for the first unknown one in argv, or nothing when none is near.
[[nodiscard]] std::string suggest(const CLI::App& app, int argc, char** argv);

}  // namespace wye::tool
