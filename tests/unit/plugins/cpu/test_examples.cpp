// SPDX-License-Identifier: Apache-2.0
//
// The example programs on every kernel build, one and several threads, against plain C++.
#include <doctest/doctest.h>

#include "rig.hpp"
#include "support/examples.hpp"

TEST_CASE("the example programs give what plain C++ gives, on every kernel build") {
    for (const std::string& isa : test::isas()) {
        for (const unsigned threads : {1U, 3U}) {
            test::Rig rig(isa, threads);
            for (const std::string& name : support::example_programs()) {
                test::Loaded program(rig, support::example_text(name));
                REQUIRE(program.failure().message == "");
                for (const support::Example& e : support::examples(name, 20, threads)) {
                    CAPTURE(isa);
                    CAPTURE(name);
                    CAPTURE(e.what);
                    std::vector<test::Bytes> buffers;
                    for (const auto& b : e.buffers) buffers.push_back(b.before);
                    for (const auto& params : e.dispatches) {
                        auto result = program.run(params, buffers);
                        REQUIRE(result.failure.message == "");
                        CHECK(result.trap_count == 0);
                        buffers = std::move(result.buffers);
                    }
                    for (std::size_t n = 0; n < buffers.size(); ++n) {
                        CAPTURE(e.buffers[n].name);
                        CHECK(buffers[n] ==
                              (e.buffers[n].output ? e.buffers[n].expected : e.buffers[n].before));
                    }
                }
            }
        }
    }
}
