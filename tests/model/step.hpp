// SPDX-License-Identifier: Apache-2.0
//
// Step: one step of a sequence. Its text is a letter and arguments of one character each. With "!N"
// the step's call stops at the N-th place where it can stop, such as the begin of a slot.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wye::model {

struct Step {
    char kind = 0;
    std::string arguments;  // numbers of buffers, pending work and queues; queue n: none
    int stop = 0;           // number of the place to stop at; 0: none

    [[nodiscard]] int number(std::size_t at) const {
        return arguments[at] == 'n' ? -1 : arguments[at] - '0';
    }
    [[nodiscard]] std::string text() const;
};

using Sequence = std::vector<Step>;

[[nodiscard]] std::string text_of(const Sequence& steps);
// Parses a sequence. Empty if `text` is wrong; `wrong` is then the part that cannot be parsed.
[[nodiscard]] Sequence parse(std::string_view text, std::string& wrong);

// The letters, with the kinds of their arguments and their meaning.
struct Letter {
    char kind;
    const char* arguments;  // q queue, r buffer to read, b any buffer, w buffer to write,
                            // p pending work, n native queue, f stopped call
    const char* meaning;
};
[[nodiscard]] const std::vector<Letter>& letters();
[[nodiscard]] const Letter* letter_of(char kind);

}  // namespace wye::model
