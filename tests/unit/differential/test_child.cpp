// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <signal.h>
#include <unistd.h>

#include "differential/child.hpp"

using differential::Child;

namespace {

// Answers with the question, twice. Some words make the child end itself.
Child::Answer parrot() {
    return [](const std::string& said) {
        if (said == "end") _exit(3);
        if (said == "die") (void)raise(SIGKILL);
        return said + said;
    };
}

}  // namespace

TEST_CASE("a child answers messages of any size and content") {
    auto child = Child::start(parrot);
    REQUIRE(child.ok());
    CHECK(child->ask("") == "");
    CHECK(child->ask(std::string("a\0b", 3)) == std::string("a\0ba\0b", 6));
    const std::string large(1 << 20, 'x');
    CHECK(child->ask(large) == large + large);
    CHECK(child->stop() == "exit status 0");
}

TEST_CASE("a child's end is told from an answer") {
    for (const auto& [word, how] :
         {std::pair{"end", "exit status 3"}, {"die", "signal 9 (Killed)"}}) {
        auto child = Child::start(parrot);
        REQUIRE(child.ok());
        CHECK_FALSE(child->ask(word).has_value());
        CHECK_FALSE(child->ask("again").has_value());
        CHECK(child->stop() == how);
    }
}

TEST_CASE("a child that does not end is killed, and another takes its place") {
    auto child = Child::start([] {
        return [](const std::string&) -> std::string {
            while (true) pause();
        };
    });
    REQUIRE(child.ok());
    child->kill();
    CHECK_FALSE(child->ask("anybody?").has_value());
    auto next = Child::start(parrot);
    REQUIRE(next.ok());
    *child = std::move(*next);
    CHECK(child->ask("a") == "aa");
}
