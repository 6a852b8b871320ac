// SPDX-License-Identifier: Apache-2.0
//
// Runs the example stream on every device. The example itself checks each number on the host.
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "command.hpp"

namespace wye::test::stream_test {

TEST_CASE("stream gives the host's numbers on every device, with and without overlap") {
    int ran = 0;
    for (const std::string& device : listed_devices()) {
        CAPTURE(device);
        for (const std::string chunks : {"1", "2", "7"}) {
            const Outcome outcome = run_command({WYE_STREAM, "--device", device, "--chunks", chunks,
                                                 "--mebibytes", "1", "--rounds", "3"});
            CAPTURE(outcome.err);
            CHECK(outcome.code == 0);
            CHECK(outcome.out.starts_with("stream: " + chunks + " chunks of 1 MiB in "));
            CHECK(outcome.out.find("three in flight, on " + device) != std::string::npos);
        }
        const Outcome apart = run_command({WYE_STREAM, "--device", device, "--chunks", "2",
                                           "--mebibytes", "1", "--rounds", "0", "--in-turn"});
        CAPTURE(apart.err);
        CHECK(apart.code == 0);
        CHECK(apart.out.find("one step at a time") != std::string::npos);
        ++ran;
    }
    CHECK(ran > 0);
}

TEST_CASE("stream refuses what it cannot do") {
    CHECK(run_command({WYE_STREAM, "--chunks", "0"}).code == 2);
    CHECK(run_command({WYE_STREAM, "--mebibytes", "1025"}).code == 2);
    CHECK(run_command({WYE_STREAM, "--device", "warp"}).code == 3);
}

}  // namespace wye::test::stream_test
