// SPDX-License-Identifier: Apache-2.0
//
// Workgroups larger than the driver's reported maximum for a kernel.
#include <doctest/doctest.h>

#include "conformance/abi/cases.hpp"

using harness::Device;
using harness::Plugin;

namespace {

constexpr wye_slot kSlots[] = {{WYE_SLOT_BUFFER, 0, 0, 3, 0, {}}};

std::string kernel(const std::string& name, unsigned invocations, bool sized = true) {
    const std::string size = std::to_string(invocations);
    return "__kernel " +
           (sized ? "__attribute__((reqd_work_group_size(" + size + ", 1, 1)))\n" : "") + "void " +
           name + "(__global uint* r) { r[get_global_id(0)] = (uint)get_local_size(0); }";
}

struct Stingy {
    Stingy()
        : plugin(std::map<std::string, std::string>{{"opencl.library", WYE_OPENCL_LOADER}}),
          device(plugin) {}
    wye_program_object* build(const std::string& name, unsigned invocations, bool sized = true) {
        const std::string source = kernel(name, invocations, sized);
        return device.program(harness::artifact(source, name, kSlots, 1, invocations));
    }
    // Whether every invocation of two workgroups sees the size of the workgroup.
    bool runs(wye_program_object* program, std::uint32_t invocations) {
        const std::uint32_t count = 2 * invocations;
        wye_buffer_object* r = device.buffer(std::uint64_t{4} * count);
        const wye_binding bindings[] = {harness::binding(r, 0, count)};
        if (device.run(harness::dispatch(program, bindings, {2, 1, 1})) != WYE_OK) return false;
        return harness::values_of<std::uint32_t>(device.download(r, std::uint64_t{4} * count)) ==
               std::vector<std::uint32_t>(count, invocations);
    }
    Plugin plugin;
    Device device;
};

}  // namespace

TEST_CASE("what was compiled for its very size is launched, whatever the driver says") {
    Stingy stingy;
    wye_program_object* program = stingy.build("modest", 509);
    REQUIRE_MESSAGE(program != nullptr, stingy.device.failure.message);
    CHECK(stingy.runs(program, 509));

    CHECK(stingy.build("modest", 509, false) == nullptr);
    CHECK(stingy.device.failure.code == WYE_LIMIT_EXCEEDED);
}

TEST_CASE("a launch that the driver refuses for its size says so") {
    Stingy stingy;
    wye_program_object* program = stingy.build("refuses", 509);
    REQUIRE_MESSAGE(program != nullptr, stingy.device.failure.message);
    CHECK_FALSE(stingy.runs(program, 509));
    CHECK(stingy.device.failure.code == WYE_LIMIT_EXCEEDED);
    CHECK(stingy.device.failure.message.find("workgroups of 509 invocations") != std::string::npos);
    CHECK(stingy.device.failure.message.find("it can have 256") != std::string::npos);
    CHECK(stingy.device.failure.fix.find("Fix: use a smaller workgroup") == 0);
}
