// SPDX-License-Identifier: Apache-2.0
//
// The plugin declares every builtin that lowered programs call, for drivers whose own declarations
// compile slowly.
#include <doctest/doctest.h>

#include <cctype>
#include <set>

#include "conformance/language/lowered.hpp"
#include "opencl/pocl/builtins.hpp"
#include "support/random_program.hpp"

namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Whether the text itself defines the function: `wye_...`, or `f` and a number.
bool own(std::string_view name) {
    return name.starts_with("wye_") ||
           (name.starts_with("f") && name.find_first_not_of("0123456789", 1) == name.npos);
}

// The names before a parenthesis, except keywords and functions that the text defines.
std::set<std::string> called(std::string_view text) {
    std::set<std::string> out;
    for (std::size_t at = text.find('('); at != text.npos; at = text.find('(', at + 1)) {
        std::size_t start = at;
        while (start > 0 && in_name(text[start - 1])) --start;
        out.emplace(text.substr(start, at - start));
    }
    for (const char* word :
         {"", "if", "while", "for", "switch", "__attribute__", "aligned", "reqd_work_group_size"})
        out.erase(word);
    std::erase_if(out,
                  [](const std::string& name) { return own(name) || name.starts_with("as_"); });
    return out;
}

// Whether the plugin declares the builtin. Atomics are declared by the end of their names.
bool declared(const std::string& name) {
    const bool atomic = name.starts_with("atom_") || name.starts_with("atomic_");
    const std::string words = atomic ? "##" + name.substr(name.find('_')) : " " + name;
    return wye::opencl::kBuiltins.find(words + "(") != std::string_view::npos;
}

wye::lower::Artifact lowered(const wye::ir::Program& program, std::uint32_t ulp_budget = 0) {
    wye::lower::Options options;
    options.ulp_budget = ulp_budget;
    auto artifact = wye::lower::lower(program, WYE_FORMAT_OPENCL_C, {}, options);
    REQUIRE_MESSAGE(artifact.ok(), artifact.error().text());
    return *std::move(artifact);
}

}  // namespace

TEST_CASE("all that random programs call is declared") {
    std::set<std::string> all;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        support::RandomProgramOptions options;
        options.size = 16;
        options.traps = seed % 4 == 0;
        options.math = seed % 6 == 5 ? 1 + static_cast<unsigned>(seed / 6 % 2) : 0;
        options.subgroups = {};
        const auto artifact =
            lowered(harness::valid_program(support::random_program(seed, options).text));
        CHECK(artifact.options.find(wye::opencl::kOwnBuiltins) != std::string::npos);
        all.merge(
            called({reinterpret_cast<const char*>(artifact.code.data()), artifact.code.size()}));
    }
    for (const std::string& name : all) CHECK_MESSAGE(declared(name), name);
    // The programs do call builtins.
    for (const char* name : {"barrier", "get_local_id", "clz", "mul_hi", "fma", "rint",
                             "atomic_add", "atomic_cmpxchg", "atom_max"})
        CHECK_MESSAGE(all.count(name) == 1, name);
}

TEST_CASE("math functions of the device are not among them") {
    const auto program = harness::valid_program(
        "wye 1; program p; workgroup 64; input_output x: f32[]; grid elements len(x);\n"
        "main { let i = global_id.x; if i < len(x) { x[i] = exp(x[i]); } }");
    CHECK(lowered(program).options.find(wye::opencl::kOwnBuiltins) != std::string::npos);
    CHECK(lowered(program, 8).options.find(wye::opencl::kOwnBuiltins) == std::string::npos);
}

TEST_CASE("a text that calls others all the same is compiled with the driver's headers") {
    harness::Plugin plugin;
    harness::Device device(plugin);
    const wye_slot slots[] = {{WYE_SLOT_BUFFER, 0, 0, 3, 0, {}}};
    const std::string source =
        "__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void plain(__global uint* r) {\n"
        "    r[get_local_id(0)] = abs_diff((uint)get_local_id(0), 10u);\n}\n";
    wye_artifact artifact = harness::artifact(source, "plain", slots, 1, 4);
    artifact.options = {wye::opencl::kOwnBuiltins.data(), wye::opencl::kOwnBuiltins.size()};
    wye_program_object* program = device.program(artifact);
    REQUIRE_MESSAGE(program != nullptr, device.failure.message);
    wye_buffer_object* r = device.buffer(16);
    const wye_binding bindings[] = {harness::binding(r, 0, 4)};
    REQUIRE(device.run(harness::dispatch(program, bindings, {1, 1, 1})) == WYE_OK);
    CHECK(harness::values_of<std::uint32_t>(device.download(r, 16)) ==
          std::vector<std::uint32_t>{10, 9, 8, 7});
}
