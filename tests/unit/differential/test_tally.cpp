// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "differential/tally.hpp"

using differential::Tally;
using support::Finding;
using Kind = support::Finding::Kind;

TEST_CASE("each ending is counted once, with its reason") {
    Tally tally;
    for (int i = 0; i < 5; ++i) tally.add({});
    CHECK(tally.all_equal());
    tally.add({Kind::Bytes, wye::Code::INTERNAL, "r[0] is 0x1, should be 0x2"});
    tally.add({Kind::Bytes, wye::Code::INTERNAL, "r[1] is 0x1, should be 0x2"});
    tally.add({Kind::Trap, wye::Code::INTERNAL, "trap 1 x 1, should be 0 x 0"});
    tally.add({Kind::Error, wye::Code::DEVICE_LOST, "gone"});
    tally.add({Kind::Ended, wye::Code::DRIVER, "the process ended: signal 6 (Aborted)"});
    tally.add({Kind::Error, wye::Code::LIMIT_EXCEEDED, "too many"});
    tally.add({Kind::Error, wye::Code::UNSUPPORTED, "not here"});
    tally.add({Kind::Useless, wye::Code::INTERNAL, "a race"});
    tally.not_run = 3;
    tally.left_out = 4;
    CHECK_FALSE(tally.all_equal());
    CHECK(tally.programs() == 13);
    CHECK(tally.line(1.25).starts_with(
        "programs=13 equal=5 different=5 refused=2 useless=1 not_run=3 left_out=4 bytes=2 "
        "device_lost=1 "
        "ended=1 limit_exceeded=1 trap=1 unsupported=1 seconds=1.2 peak_MiB="));
}

TEST_CASE("a device stays busy when time-outs follow one another") {
    const Finding late = {Kind::Error, wye::Code::TIMEOUT, "late"};
    Tally tally;
    tally.add(late);
    CHECK_FALSE(tally.stays_busy());
    tally.add({});
    tally.add(late);
    CHECK_FALSE(tally.stays_busy());
    tally.add(late);
    CHECK(tally.stays_busy());
}
