// SPDX-License-Identifier: Apache-2.0
//
// Step: one step of a sequence. Its text is a letter and arguments of one character each; "!N"
// stops the call at the N-th place (a boundary of a slot) that it comes to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wye::model {

struct Step {
    char kind = 0;
    std::string arguments;  // buffers, pending work and queues by their numbers; queue n: none
    int stop = 0;           // the place to stop at; 0: none

    [[nodiscard]] int number(std::size_t at) const {
        return arguments[at] == 'n' ? -1 : arguments[at] - '0';
    }
    [[nodiscard]] std::string text() const;
};

using Sequence = std::vector<Step>;

[[nodiscard]] std::string text_of(const Sequence& steps);
// Empty if it cannot be read; `wrong` then has the part that cannot.
[[nodiscard]] Sequence parse(std::string_view text, std::string& wrong);

// The letters with the kinds of their arguments and what they stand for.
struct Letter {
    char kind;
    const char* arguments;  // q queue, r and b buffer that is used, w buffer that is written,
                            // p pending work, n native queue, f a stopped call
    const char* meaning;
};
[[nodiscard]] const std::vector<Letter>& letters();
[[nodiscard]] const Letter* letter_of(char kind);

}  // namespace wye::model
