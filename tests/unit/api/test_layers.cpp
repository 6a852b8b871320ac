// SPDX-License-Identifier: Apache-2.0
//
// Tests layers through the public API: the loss of a device and its recovery, without a driver that
// fails; errors of calls; and that the library keeps the contract meanwhile.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "log_lines.hpp"
#include "take.hpp"
#include "wye/wye.hpp"

namespace {

using api_test::take;
using Words = std::vector<std::uint32_t>;

constexpr const char* kAdd = R"(wye 1; program add; workgroup 64; param k: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] + k; } })";
using Log = api_test::LogLines;

// `rules`: the rules of the layer `faults`. The layer `validate` watches the library and the
// plugin.
wye::Context context_with(const std::string& rules, Log& log) {
    wye::ContextOptions options;
    options.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT;
    options.plugin_paths = {WYE_LAYERS_FOLDER};
    options.config = {{"layers", "validate,faults"}, {"layer.faults.rules", rules}};
    options.log = &Log::add;
    options.log_user = &log;
    return take(wye::Context::create(options));
}

wye::Result<wye_report> add(const wye::Program& program, const wye::Device& device, Words& r) {
    const Words x = {1, 2, 3};
    r.assign(3, 0);
    return wye::Dispatch(program, device).param("k", 3U).input("x", x).output("r", r).run();
}

}  // namespace

TEST_CASE("an error of a slot reaches the application with its remedy, and the next try works") {
    // A submit that returns DEVICE_BUSY has queued nothing (H-1), so the caller may repeat the
    // call.
    for (const auto& [rule, code] :
         {std::pair{"program_create:1:COMPILE_FAILED", wye::Code::COMPILE_FAILED},
          std::pair{"submit:1:DEVICE_BUSY", wye::Code::DEVICE_BUSY}}) {
        Log log;
        {
            const wye::Context context = context_with(rule, log);
            const wye::Program program = take(context.program_from_text(kAdd));
            const wye::Device device = take(context.open("cpu"));
            Words r;
            const auto failed = add(program, device, r);
            REQUIRE_FALSE(failed.ok());
            CHECK(failed.error().code == code);
            CHECK(failed.error().text().find(rule) != std::string::npos);
            CHECK(r == Words{0, 0, 0});
            (void)take(add(program, device, r));
            CHECK(r == Words{4, 5, 6});
        }
        CHECK(log.count(": 0 breaches in ") == 1);
    }
}

TEST_CASE("an unknown layer is an error of the context") {
    wye::ContextOptions options;
    options.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT;
    options.plugin_paths = {WYE_LAYERS_FOLDER};
    options.config = {{"layers", "vaildate"}};
    const auto context = wye::Context::create(options);
    REQUIRE_FALSE(context.ok());
    CHECK(context.error().code == wye::Code::NOT_FOUND);
    CHECK(context.error().fix.find("`validate`") != std::string::npos);
}
