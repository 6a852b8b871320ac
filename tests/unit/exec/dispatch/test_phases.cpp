// SPDX-License-Identifier: Apache-2.0
//
// Programs with grid barriers: one launch for each phase, in one submit. The loop counters of the
// phases follow the program's own parameters.
#include <array>
#include <cstring>

#include "rig.hpp"

namespace wye::exec::test::test_phases {
namespace {

using Words = std::vector<std::uint32_t>;

// Runs the program. Returns the first two parameters of each launch: `rounds`, and the first loop
// counter.
std::vector<Words> launches(Rig& rig, wye_program program, wye_device device, std::uint32_t rounds,
                            std::uint32_t& compiled) {
    std::vector<Words> seen;
    rig.driver.kernel = [&](const wye_dispatch_op& op) {
        std::array<std::uint32_t, 2> first{};
        std::memcpy(first.data(), op.params, sizeof first);
        seen.push_back({first.begin(), first.end()});
    };
    Words a(100, 0);
    Job job(program, device);
    job.in(0, a.data(), 400).param(rounds);
    job.arguments.back().output = a.data();
    job.arguments.back().output_size = 400;
    check_ok(job.run(rig));
    compiled = job.report.compiled;
    return seen;
}

TEST_CASE("grid barriers become launches in one submit, compiled once for each path") {
    Rig rig;
    const wye_device device = rig.device();
    const wye_program program = rig.program(kGridRounds);
    std::uint32_t compiled = 0;
    CHECK(launches(rig, program, device, 3, compiled) ==
          std::vector<Words>{{3, 0}, {3, 0}, {3, 1}, {3, 2}});
    CHECK(compiled == 1);
    CHECK(rig.driver.submits == 1);
    CHECK(rig.driver.programs == 3);  // the first phase, the middle ones, the last
    CHECK(launches(rig, program, device, 5, compiled).size() == 6);
    CHECK(compiled == 0);
    CHECK(rig.driver.programs == 3);
    CHECK(launches(rig, program, device, 0, compiled).empty());
}

TEST_CASE("a cooperative launch reaches the plugin as one, again and again") {
    for (const bool claimed : {true, false}) {
        CAPTURE(claimed);
        Rig rig;
        rig.driver.kernel = add_kernel;
        if (claimed) rig.driver.facts[WYE_FACT_KEY_GRID_SYNC] = 1;
        const wye_program program = rig.program(kAdd);
        const wye_device device = rig.device();
        const wye_buffer x = rig.buffer(device, 400);
        const wye_buffer r = rig.buffer(device, 400);
        rig.upload(x, Words(100, 3));
        rig.driver.operations.clear();
        Job job(program, device);
        job.desc.flags = WYE_DISPATCH_COOPERATIVE;
        job.param(4).resident(0, x).resident(1, r);
        if (!claimed) {
            check_refused(job.run(rig), WYE_UNSUPPORTED, "grid_sync");
            continue;
        }
        for (int round = 0; round < 3; ++round) {
            check_ok(job.run(rig));
            CHECK(job.report.cooperative == WYE_COOPERATIVE_NATIVE);
        }
        job.desc.flags = 0;
        check_ok(job.run(rig));
        CHECK(job.report.cooperative == WYE_COOPERATIVE_NONE);
        REQUIRE(rig.driver.operations.size() == 4);
        for (std::size_t i = 0; i < 4; ++i)
            CHECK(rig.driver.operations[i].u.dispatch.flags ==
                  (i < 3 ? std::uint32_t{WYE_LAUNCH_COOPERATIVE} : 0U));
        CHECK(rig.download<std::uint32_t>(r, 100) == Words(100, 7));
    }
}

TEST_CASE("a cooperative launch that would be split over several is refused") {
    Rig rig;
    rig.driver.facts[WYE_FACT_KEY_GRID_SYNC] = 1;
    for (std::uint32_t& most : rig.driver.max_groups) most = 2;
    const Words x(64 * 64, 3);
    Words r(64 * 64);
    Job job(rig.program(kAdd), rig.device());
    job.desc.flags = WYE_DISPATCH_COOPERATIVE;
    job.param(4).in(0, x.data(), 4 * x.size()).out(1, r.data(), 4 * r.size());
    check_refused(job.run(rig), WYE_LIMIT_EXCEEDED, "at most 2 by 2 by 2");
    CHECK(rig.driver.submits == 0);
}

}  // namespace
}  // namespace wye::exec::test::test_phases
