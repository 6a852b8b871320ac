// SPDX-License-Identifier: Apache-2.0
//
// Errors and their causes.
#include <doctest/doctest.h>

#include <string>

#include "wye/sdk/result.hpp"

namespace test_result {

namespace {

using wye::Code;
using wye::Error;

// "0" is the cause of "1", and so on.
Error chain_of(unsigned causes) {
    Error out(Code::DRIVER, "0", "Fix: none");
    for (unsigned n = 1; n <= causes; ++n)
        out = std::move(out).wrapped(Code::DRIVER, std::to_string(n), "Fix: none");
    return out;
}

unsigned causes_of(const Error& error) {
    unsigned count = 0;
    for (const Error* e = error.cause.get(); e != nullptr; e = e->cause.get()) ++count;
    return count;
}

}  // namespace

// Freed recursively, these causes would take more than the usual stack of 8 MiB.
TEST_CASE("a chain of 200,000 causes is freed, assigned over and moved on") {
    constexpr unsigned kLong = 200'000;
    { const Error freed = chain_of(kLong); }
    Error other = chain_of(kLong);
    other = Error(Code::DRIVER, "another", "Fix: none");
    CHECK(other.cause == nullptr);
    Error taken = chain_of(kLong);
    const Error moved = std::move(taken);
    CHECK(causes_of(moved) == kLong);
}

TEST_CASE("causes that several errors share stay while one of them does") {
    Error first = chain_of(3);
    const Error second = first;
    std::shared_ptr<const Error> inner = first.cause->cause;
    first = Error();
    CHECK(causes_of(second) == 3);
    CHECK(causes_of(*inner) == 1);
    CHECK(second.text().find("because: 0") != std::string::npos);
}

TEST_CASE("the text of an error keeps its own lines, and escapes what it quotes") {
    const auto text = [](Code code, const std::string& message) {
        return Error(code, message, "Fix: none").text();
    };
    CHECK(text(Code::NOT_FOUND, "no `\x1b[2J\xff\nwye: well`") ==
          "no `\\x1b[2J\\xff\\nwye: well`. Fix: none");
    CHECK(text(Code::NOT_FOUND, "no `\xc3\xa9`") == "no `\xc3\xa9`. Fix: none");
    // A caret below a text, and a list of faults.
    CHECK(text(Code::INVALID_ARGUMENT, "column 2\n  ab\n   ^\n") ==
          "column 2\n  ab\n   ^\nFix: none");
    CHECK(text(Code::INVALID_TEXT, "p:1:1\np:2:1\x1b") == "p:1:1\np:2:1\\x1b. Fix: none");
    const Error outer =
        Error(Code::COMPILE_FAILED, "one\ntwo\x7f", "").wrapped(Code::DRIVER, "a\nb", "Fix: c\nd");
    CHECK(outer.text() == "a\\nb. Fix: c\\nd\n  because: one\ntwo\\x7f");
}

}  // namespace test_result
