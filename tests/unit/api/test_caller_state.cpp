// SPDX-License-Identifier: Apache-2.0
//
// The state of the calling thread and of the process changes no result, and reaches no driver and
// no file that is kept. The tests set the state before the search for plugins. Each call leaves the
// state as it was. If a device cannot work in a state, the error names the state. Prints a table of
// the example programs, by state and device.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "support/caller_state.hpp"
#include "support/device.hpp"
#include "support/driver.hpp"
#include "support/examples.hpp"
#include "take.hpp"
#include "wye/pipeline.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_caller_state {
namespace {

using api_test::take;

using Floats = std::vector<float>;

// Literals that need rounding in both directions, subnormal literals, and a function.
constexpr std::string_view kText = R"(wye 1; program literals; workgroup 64;
input x: f32[]; output r: f32[len(x)]; grid elements len(x);
main {
    let i = global_id.x;
    let a = x[i] * 0.1 + 1.1 - 3.3 / 7.7;
    let b = exp(a * 0.3) + f32(0.7f64 * f64(a)) + 16777217.7;
    r[i] = select((i & 1u) == 0u, b, x[i] * 1e-39);
})";

wye::Result<void> run(const std::string& selector, const Floats& x, Floats& r) {
    WYE_ASSIGN(const wye::Context context,
               wye::Context::create({.plugin_paths = {support::test_driver_folder()}}));
    WYE_ASSIGN(const wye::Device device, context.open(selector));
    WYE_ASSIGN(const wye::Program program, context.program_from_text(kText));
    WYE_TRY(wye::Dispatch(program, device).input("x", x).output("r", r).run());
    return {};
}

bool is_pocl(const std::string& selector) {
    if (!selector.starts_with("opencl")) return false;
    const auto context =
        take(wye::Context::create({.plugin_paths = {support::test_driver_folder()}}));
    const auto device = take(context.open(selector));
    const wye_string platform = take(device.fact("platform")).text;
    return std::string_view(platform.data, platform.size) == "Portable Computing Language";
}

// Whether the device may refuse to work in this state: with this file mask, PoCL could not read
// files that it wrote.
bool refuses(const std::string& selector, const support::CallerState& state) {
    return std::string_view(state.name) == support::kFileMask && is_pocl(selector);
}

bool names_the_mask(const std::string& text) {
    return text.find("the file mode mask (umask) of this process is 0777") != std::string::npos &&
           text.find("Fix: set a mask") != std::string::npos;
}

// The results of the example programs in one state on one device.
struct Outcome {
    std::vector<std::string> code;  // of each program, lowered to the device's format
    std::size_t equal = 0;          // the number of programs whose outputs equal plain C++
    std::vector<std::string> faults;
};

// Called before any state is set: the host computes the expected results, and its floats depend on
// the state.
std::vector<support::Example> small_examples() {
    std::vector<support::Example> out;
    for (const std::string& name : support::example_programs())
        out.push_back(support::small_example(name));
    return out;
}

wye::Result<std::string> run_example(const support::Device& device, const support::Example& example,
                                     const char* format, std::string& code) {
    const std::string& name = example.program;
    WYE_ASSIGN(const wye::Program program,
               device.context().program_from_text(support::example_text(name), name));
    WYE_ASSIGN(code, program.lower(format));
    std::vector<support::Launch> launches;
    for (const auto& params : example.dispatches) {
        support::Launch& launch = launches.emplace_back();
        launch.params = params;
        for (const auto& b : example.buffers)
            launch.buffers.push_back({b.name, b.input, b.output, b.before});
    }
    WYE_ASSIGN(const auto bytes, device.run(program, launches, false));
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (example.buffers[i].output && bytes[i] != example.buffers[i].expected)
            return name + ": the bytes of `" + example.buffers[i].name + "` are wrong";
    return std::string();
}

// Opens the device anew. The library keeps nothing on disk here, so each state lowers each program.
void run_examples(const std::string& selector, const std::vector<support::Example>& examples,
                  Outcome& out) {
    const auto device = support::Device::open(selector, {}, support::test_driver_folder());
    if (!device.ok()) return out.faults.push_back(device.error().text());
    const char* const format = selector.starts_with("vulkan")   ? "spirv-vulkan"
                               : selector.starts_with("opencl") ? "opencl-c"
                               : selector.starts_with("cuda")   ? "cuda-c"
                                                                : "wye-program";
    for (const support::Example& example : examples) {
        std::string code;
        const auto fault = run_example(*device, example, format, code);
        out.code.push_back(std::move(code));
        if (fault.ok() && fault->empty())
            ++out.equal;
        else
            out.faults.push_back(fault.ok() ? *fault
                                            : example.program + ": " + fault.error().text());
    }
}

}  // namespace

TEST_CASE("the example programs have the same code and bytes in every state of the caller") {
    const std::string selectors[] = {"cpu", support::test_driver()};
    const std::vector<support::Example> examples = small_examples();
    const std::size_t programs = examples.size();
    Outcome plain[2];
    std::printf("programs with the same code, and with right bytes, of %zu:\n%-28s", programs, "");
    for (const std::string& selector : selectors) std::printf("%10s", selector.c_str());
    std::printf("\n");
    for (const support::CallerState& state : support::caller_states()) {
        CAPTURE(state.name);
        std::printf("%-28s", state.name);
        for (std::size_t d = 0; d < 2; ++d) {
            CAPTURE(selectors[d]);
            Outcome found;
            CHECK(state.run([&] { run_examples(selectors[d], examples, found); }));
            if (&state == &support::caller_states().front()) plain[d] = found;
            std::size_t same = 0;
            for (std::size_t i = 0; i < found.code.size(); ++i)
                same += !found.code[i].empty() && found.code[i] == plain[d].code[i] ? 1 : 0;
            std::printf("%5zu %4zu", same, found.equal);
            if (refuses(selectors[d], state)) {
                REQUIRE(found.faults.size() == 1);
                CHECK(names_the_mask(found.faults[0]));
                continue;
            }
            CHECK(found.faults == std::vector<std::string>());
            CHECK(same == programs);
            CHECK(found.equal == programs);
        }
        std::printf("\n");
    }
}

TEST_CASE("results do not depend on the state of the caller") {
    Floats x;
    for (int i = 0; i < 300; ++i) x.push_back(static_cast<float>(i - 150) * 0.37F);
    Floats want(x.size());
    take(run("cpu", x, want));
    for (const std::string& selector : {std::string("cpu"), support::test_driver()})
        for (const support::CallerState& state : support::caller_states()) {
            CAPTURE(selector);
            CAPTURE(state.name);
            Floats got(x.size());
            wye::Result<void> done;
            CHECK(state.run([&] { done = run(selector, x, got); }));
            if (refuses(selector, state)) {
                REQUIRE(!done.ok());
                CHECK(names_the_mask(done.error().text()));
                continue;
            }
            take(std::move(done));
            CHECK(std::memcmp(got.data(), want.data(), x.size() * sizeof x[0]) == 0);
        }
}

TEST_CASE("PoCL makes no file with a mask that takes rights from the owner") {
    if (!is_pocl(support::test_driver())) return;
    const auto context =
        take(wye::Context::create({.plugin_paths = {support::test_driver_folder()}}));
    const auto device = take(context.open(support::test_driver()));
    const auto known = take(context.program_from_text(kText));
    std::string text(kText);
    const auto fresh = take(context.program_from_text(text.replace(text.find("0.3"), 3, "0.4")));
    const auto built = take(context.program_from_text(text.replace(text.find("0.4"), 3, "0.6")));
    const wye::Pipeline pipeline = take(wye::Pipeline::create(built, device));
    const Floats x(64, 1.0F);
    Floats r(x.size());
    // Returns the text of the error, or nothing if the dispatch ran.
    const auto run = [&](wye::Dispatch dispatch) {
        const auto done = dispatch.input("x", x).output("r", r).run();
        return done.ok() ? std::string() : done.error().text();
    };
    CHECK(run(wye::Dispatch(known, device)).empty());
    const support::CallerState* masked = nullptr;
    for (const support::CallerState& state : support::caller_states())
        if (std::string_view(state.name) == support::kFileMask) masked = &state;
    REQUIRE(masked != nullptr);
    std::string runs, builds, launches;
    CHECK(masked->run([&] {
        runs = run(wye::Dispatch(known, device));
        builds = run(wye::Dispatch(fresh, device));
        launches = run(wye::Dispatch(pipeline));
    }));
    CHECK(runs.empty());
    CHECK(names_the_mask(builds));
    CHECK(names_the_mask(launches));
    CHECK(run(wye::Dispatch(fresh, device)).empty());
    CHECK(run(wye::Dispatch(pipeline)).empty());
}

}  // namespace wye::test::test_caller_state
