// SPDX-License-Identifier: Apache-2.0
//
// The page of a verb, as `wye help` prints it. The same text in Markdown becomes the manual page.
#pragma once

#include <string>
#include <string_view>

#include "option_table.hpp"

namespace wye::tool {

// The text that is written by hand about a verb: a description, then sections such as "## Exit
// status". Empty: there is no such text.
[[nodiscard]] std::string_view verb_text(std::string_view verb);

// The whole page in Markdown: name, synopsis, description, options, and the other sections of
// `text`. Options are a list of "- `-d`, `--device` SELECTOR: what it does.".
[[nodiscard]] std::string verb_page(const VerbEntry& verb, std::string_view text);

}  // namespace wye::tool
