// SPDX-License-Identifier: Apache-2.0
//
// Tests artifacts: formats, slots, sizes, options and refusals.
#include <doctest/doctest.h>

#include <algorithm>

#include "lower/c/places.hpp"
#include "lower/lower.hpp"
#include "program/wire/encode.hpp"
#include "programs.hpp"
#include "support/examples.hpp"

namespace test_lower {

using wye::lower::Artifact;
using wye::lower::lower;
using wye::lower::TargetFacts;

namespace {

Artifact lowered(const std::string& text, const TargetFacts& facts = {},
                 const wye::lower::Options& options = {}) {
    auto result = lower(valid_program(text), WYE_FORMAT_OPENCL_C, facts, options);
    if (!result.ok()) throw std::runtime_error(result.error().text());
    return *std::move(result);
}

std::string refusal(const std::string& text, const TargetFacts& facts = {}) {
    const auto result = lower(valid_program(text), WYE_FORMAT_OPENCL_C, facts);
    if (result.ok()) return "";
    CHECK(result.error().fix.rfind("Fix: ", 0) == 0);
    CHECK(result.error().code == wye::Code::UNSUPPORTED);
    return result.error().message;
}

std::vector<std::uint32_t> kinds(const Artifact& artifact) {
    std::vector<std::uint32_t> out;
    for (const wye_slot& slot : artifact.slots) out.push_back(slot.kind);
    return out;
}

bool has(const Artifact& artifact, std::string_view text) {
    return artifact.text().find(text) != std::string_view::npos;
}

constexpr const char* kDivide = R"(wye 1; program divide; workgroup 64;
input x: f32[]; output r: f32[len(x)];
main { let i = global_id.x; if i < len(x) { r[i] = sqrt(1.0 / x[i]); } })";

}  // namespace

TEST_CASE("formats are listed, and others refused with the list") {
    CHECK(wye::lower::formats() ==
          std::vector<std::string_view>{WYE_FORMAT_PROGRAM, WYE_FORMAT_OPENCL_C, WYE_FORMAT_CUDA_C,
                                        WYE_FORMAT_SPIRV});
    const auto result = lower(valid_program(kDivide), "ptx", {});
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().code == wye::Code::UNSUPPORTED);
    CHECK(result.error().message.find("`ptx`") != std::string::npos);
    CHECK(result.error().fix.find("`opencl-c`") != std::string::npos);
}

TEST_CASE("wye-program is the encoding without notes, with every slot") {
    const auto program = valid_program(R"(wye 1; program p; workgroup 8; param a: f64; param b: u32;
input x: u32[]; shared s: f32[3]; output r: u32[len(x)];
main { let named = global_id.x; if named == b { trap 3; } r[named] = x[named]; })");
    const auto result = lower(program, WYE_FORMAT_PROGRAM, {});
    REQUIRE(result.ok());
    CHECK(result->code == *wye::ir::encode(program, wye::ir::Notes::Drop));
    CHECK(kinds(*result) == std::vector<std::uint32_t>{WYE_SLOT_BUFFER, WYE_SLOT_BUFFER,
                                                       WYE_SLOT_LENGTH, WYE_SLOT_LENGTH,
                                                       WYE_SLOT_PARAMS, WYE_SLOT_TRAP});
    CHECK(result->binding_count == 2);
    CHECK(result->params_size == 16);
    CHECK(result->shared_bytes == 12);
    CHECK(result->uses_trap);
    CHECK(result->options.empty());
}

TEST_CASE("hints change no artifact, so that a plugin need not know them") {
    const char* const kFormats[] = {WYE_FORMAT_PROGRAM, WYE_FORMAT_OPENCL_C, WYE_FORMAT_CUDA_C,
                                    WYE_FORMAT_SPIRV};
    const auto with = [](const std::string& hints) {
        return valid_program("wye 1; program p; workgroup 8; input x: u32[]" + hints +
                             "; output r: u32[len(x)]; main { r[global_id.x] = x[global_id.x]; }");
    };
    const auto plain = with("");
    const auto hinted = with(" coalesce x prefer_align 512 locality streaming");
    CHECK(*wye::ir::encode(plain) != *wye::ir::encode(hinted));
    for (const char* format : kFormats) {
        CAPTURE(format);
        const auto expected = lower(plain, format, {});
        const auto result = lower(hinted, format, {});
        REQUIRE(expected.ok());
        REQUIRE(result.ok());
        CHECK(result->code == expected->code);
    }
}

TEST_CASE("slots stand in argument order, and only lengths that are used") {
    const Artifact artifact = lowered(R"(wye 1; program p; workgroup 8; param a: u32;
input x: u32[]; shared s: u32[8] unset; output r: u32[]; persistent q: u32[len(x)];
main { if global_id.x == a { trap 9; } r[global_id.x] = x[global_id.y]; q[a % 3u] = 1u; })");
    CHECK(kinds(artifact) == std::vector<std::uint32_t>{
                                 WYE_SLOT_BUFFER, WYE_SLOT_BUFFER, WYE_SLOT_BUFFER, WYE_SLOT_LENGTH,
                                 WYE_SLOT_LENGTH, WYE_SLOT_LENGTH, WYE_SLOT_PARAMS, WYE_SLOT_TRAP});
    CHECK(artifact.slots[0].access == 1);
    CHECK(artifact.slots[1].access == 3);
    CHECK(artifact.slots[2].binding == 2);  // `shared` has no binding
    CHECK(artifact.binding_count == 3);
    CHECK(artifact.shared_bytes == 32);
    CHECK(artifact.uses_trap);
    CHECK_FALSE(has(artifact, "__local"));  // s is not used
}

TEST_CASE("f32 division and square root go through f64 unless the device is exact") {
    const Artifact careful = lowered(kDivide);
    CHECK(has(careful, "(double)"));
    CHECK(careful.options == "-cl-std=CL1.2 -w -DWYE_BUILTINS=1");
    TargetFacts exact;
    exact.native_f32_div = exact.native_f32_sqrt = true;
    const Artifact native = lowered(kDivide, exact);
    CHECK_FALSE(has(native, "double"));
    CHECK(native.options.find("-cl-fp32-correctly-rounded-divide-sqrt") != std::string::npos);
    TargetFacts nothing;
    nothing.f64 = false;
    CHECK(refusal(kDivide, nothing).find("f32 `") != std::string::npos);
}

TEST_CASE("a device that folds zeros gets an opaque one") {
    const std::string text = R"(wye 1; program p; workgroup 1; input x: f32[1]; output r: f32[1];
main { r[0] = x[0] + 0.0; })";
    TargetFacts folds;
    folds.quirks.set(wye::lower::Quirk::MesaLiteralZero);
    const Artifact artifact = lowered(text, folds);
    CHECK(kinds(artifact) ==
          std::vector<std::uint32_t>{WYE_SLOT_BUFFER, WYE_SLOT_BUFFER, WYE_SLOT_OPAQUE_ZERO});
    CHECK(has(artifact, "as_float((uint)oz)"));
    CHECK(kinds(lowered(text)).size() == 2);
}

TEST_CASE("CUDA C shows no constants to a minimum or maximum that ptxas would get wrong") {
    const auto hides = [](const std::string& expression) {
        const std::string text =
            "wye 1; program p; workgroup 1; input x: f32[]; param q: f32; "
            "output r: f32[1]; main { var v = q; v = 0.0; r[0] = " +
            expression + "; }";
        const auto artifact = lower(valid_program(text), WYE_FORMAT_CUDA_C, {});
        REQUIRE(artifact.ok());
        return has(*artifact, " | (u32)oz)");
    };
    for (const char* fine : {"clamp(v, 0.0, 1.0)", "max(v, 2.0)", "max(x[0], q)", "min(x[3], q)",
                             "clamp(v, -1.0, 5.0)", "max(x[0] + 1.0, x[1])"})
        CHECK_MESSAGE(!hides(fine), fine);
    for (const char* wrong :
         {"max(v, 0.0)", "max(min(q, 1.0), -0.0)", "clamp(q, -0.0, 1.0)", "max(q, nan_f32)",
          "clamp(v, q, nan_f32)", "max(v, q)", "min(q, nan_f32 - q)"})
        CHECK_MESSAGE(hides(wrong), wrong);
}

TEST_CASE("a few rounds of loops between literals are written out") {
    const auto unrolls = [](const std::string& body, bool cpu = false) {
        TargetFacts facts;
        facts.workgroup_loops = cpu;
        if (cpu) facts.quirks = wye::lower::QuirkSet::of_unknown_driver(true);
        return has(lowered("wye 1; program p; workgroup 4; param n: u32; input_output r: u32[]; "
                           "shared s: u32[4]; main { var v = 0u; " +
                               body + " r[global_id.x] = v; }",
                           facts),
                   "#pragma unroll");
    };
    const std::string inner = "for j in 0u..4u { v = rotl(v, 3u) + i + j; }";
    CHECK(unrolls("for i in 0u..8u { " + inner + " }"));
    CHECK(unrolls("for i in 0u..9u step 4u { if v == n { " + inner + " } }"));
    CHECK_FALSE(unrolls("for i in 0u..8u { " + inner + " }", true));
    for (const char* kept :
         {"for i in 0u..9u { for j in 0u..4u { v = v + i + j; } }",
          "for i in 0u..n { for j in 0u..4u { v = v + i + j; } }", "for i in 0u..4u { v = v + i; }",
          "for i in 0u..4u { for j in 0u..n { v = v + i + j; } }",
          "for i in 0u..4u { for j in 0u..9999u { v = v + i + j; } }",
          "for i in 0u..4u { barrier; for j in 0u..4u { v = v + i + j; } }",
          "for i in 0u..4u { for j in 0u..4u { if v == n { break; } } }"})
        CHECK_MESSAGE(!unrolls(kept), kept);
}

TEST_CASE("a folded grid has its slot, the override its size") {
    const std::string text = R"(wye 1; program p; workgroup 8 adjustable; output r: u32[];
main { r[global_id.x] = num_workgroups.x; })";
    wye::lower::Options options;
    options.folded_grid = true;
    options.workgroup = {{32, 2, 1}};
    const Artifact artifact = lowered(text, {}, options);
    CHECK(kinds(artifact).back() == WYE_SLOT_GRID);
    CHECK(artifact.workgroup == std::array<std::uint32_t, 3>{32, 2, 1});
    CHECK(has(artifact, "reqd_work_group_size(32, 2, 1)"));
    CHECK_FALSE(has(artifact, "get_num_groups(0));"));
}

TEST_CASE("CUDA has more than 48 KiB of workgroup memory only as one block of the launch") {
    const auto cuda = [](const std::string& count) {
        const auto program =
            valid_program("wye 1; program p; workgroup 64; shared a: f32[3]; shared b: f64[" +
                          count + R"(]; output r: f64[64];
main { a[local_id.x % 3u] = 1.0; b[local_index] = 1.0f64; barrier;
    r[local_index] = b[63u - local_index] + f64(a[0]); })");
        auto result = lower(program, WYE_FORMAT_CUDA_C, {});
        REQUIRE(result.ok());
        return *std::move(result);
    };
    const Artifact small = cuda("6142");  // 12 + 49,136 bytes: 48 KiB less 4
    CHECK(has(small, "__shared__ double s1[6142];"));
    CHECK_FALSE(has(small, "extern __shared__"));
    CHECK(small.shared_bytes == 49148);
    const Artifact large = cuda("6143");
    CHECK(has(large, "extern __shared__ __align__(16) u8 shared_block[];"));
    CHECK(has(large, "float* const s0 = (float*)(shared_block + 0);"));
    CHECK(has(large, "double* const s1 = (double*)(shared_block + 16);"));
    CHECK(large.shared_bytes == 16 + 8 * 6143);  // with padding before the second array
}

TEST_CASE("CUDA C is compiled without contraction, flushing or approximation") {
    const auto result = lower(valid_program(kDivide), WYE_FORMAT_CUDA_C, {});
    REQUIRE(result.ok());
    CHECK(result->options ==
          "--std=c++17 --fmad=false --ftz=false --prec-div=true --prec-sqrt=true -w --minimal");
    CHECK_FALSE(has(*result, "double"));  // f32 division is exact in CUDA
    CHECK_FALSE(has(*result, "#include"));
}

TEST_CASE("names of the program stay in comments") {
    const Artifact artifact = lowered(R"(wye 1; program kernel; workgroup 1; param uint: u32;
input_output float: u32[]; fn get_global_id(if_: u32) -> u32 { return if_ + 1u; }
main { let barrier_ = get_global_id(uint); float[barrier_] = barrier_; })");
    CHECK(artifact.entry == "wye_main");
    CHECK(has(artifact, "// kernel\n"));
    CHECK(has(artifact, "/* float */"));
    CHECK(has(artifact, "// barrier_"));
    CHECK_FALSE(has(artifact, "uint float"));
}

TEST_CASE("constructs of later versions are refused by name and place") {
    const std::string head = "wye 1; program p; workgroup 32; input x: f32[]; output r: f32[32];\n";
    const std::string barrier = refusal(head + "main { grid_barrier; r[0] = 1.0; }");
    CHECK(barrier.find("`grid_barrier`") != std::string::npos);
    CHECK(barrier.find("2:") != std::string::npos);
    // OpenCL C 1.2 has no subgroups.
    CHECK(refusal(head + "main { r[0] = f32(subgroup_lane); }").find("subgroups of 32") !=
          std::string::npos);
}

TEST_CASE("a grid barrier is a wait for all workgroups in CUDA C, with words of the plugin") {
    const auto program = valid_program(R"(wye 1; program p; workgroup 64;
input_output a: u32[]; shared s: u32[64];
main {
    s[local_index] = a[global_id.x];
    barrier;
    a[global_id.x] = s[63u - local_index];
    grid_barrier;
    a[global_id.x] = a[0] + s[local_index];
})");
    const auto result = lower(program, WYE_FORMAT_CUDA_C, {});
    REQUIRE(result.ok());
    CHECK(kinds(*result).back() == WYE_SLOT_GRID_BARRIER);
    const std::string_view text = result->text();
    const std::size_t barrier = text.find("    wye_grid_barrier(gb);\n");
    REQUIRE(barrier != text.npos);
    // `shared` arrays are zeroed at the start, and again behind the barrier.
    const std::string_view zero = "s1[li] = 0u;";
    CHECK(text.find(zero) < barrier);
    CHECK(text.find(zero, barrier) != text.npos);
    CHECK(text.find('@') == text.npos);
    // Callers ask has_grid_barriers() first. Formats without grid barriers refuse the program.
    for (const std::string_view format : wye::lower::formats()) {
        CAPTURE(format);
        CHECK(lower(program, format, {}).ok() == wye::lower::has_grid_barriers(format));
    }
    CHECK_FALSE(wye::lower::has_grid_barriers("com.example.kernel"));
    // Programs without grid barriers have no such slot.
    const auto other = lower(valid_program(kDivide), WYE_FORMAT_CUDA_C, {});
    REQUIRE(other.ok());
    CHECK(std::ranges::count(kinds(*other), std::uint32_t{WYE_SLOT_GRID_BARRIER}) == 0);
    wye::lower::Options folded;
    folded.folded_grid = true;
    const auto refused = lower(program, WYE_FORMAT_CUDA_C, {}, folded);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == wye::Code::UNSUPPORTED);
    CHECK(refused.error().message.find("folded grid") != std::string::npos);
}

TEST_CASE("every example lowers, always to the same text") {
    for (const std::string& name : support::example_programs()) {
        const std::string text = support::example_text(name);
        CHECK(lowered(text).text() == lowered(text).text());
        CHECK(lowered(text).text().size() > 100);
    }
}

TEST_CASE("drivers that loop over a workgroup ask its guards once") {
    TargetFacts facts;
    const auto at = [&](const char* main) {
        return lowered(std::string("wye 1; program p; workgroup 16, 4; param h: u32;\n"
                                   "input x: u32[]; output r: u32[len(x)]; input_output c: u32[];\n"
                                   "main { let i = global_id.x; ") +
                           main + " }",
                       facts);
    };
    const char* const plain = "if i < len(x) && h > global_id.y { r[i] = x[i]; }";
    CHECK_FALSE(has(at(plain), "wg0 * 16u + 15u"));
    facts.workgroup_loops = true;
    facts.quirks = wye::lower::QuirkSet::of_unknown_driver(true);
    CHECK(has(at(plain), "if (wg0 * 16u + 15u < n0 && wg1 * 4u + 3u < p0) {"));
    CHECK(has(at(plain), "} else if ("));
    for (const char* other :
         {"if i < x[0] { r[i] = 1u; }", "if i <= len(x) { r[i] = 1u; }",
          "if local_id.x < 4u { r[i] = 1u; }", "if i < len(x) || i < 9u { r[i] = 1u; }",
          "if i < len(x) { trap 1; }", "if i < len(x) { atomic_add(c[0], 1u); }",
          "if i < len(x) { for k in 0u..9u { r[k] = k; } }",
          "if i < len(x) { r[i] = 1u; } barrier;"})
        CHECK_FALSE(has(at(other), "wg0 * 16u + 15u"));
}

TEST_CASE("drivers that loop over a workgroup get its barriers as ends of loops") {
    const auto whole = [](const std::string& main, const std::string& size = "4, 8",
                          bool cpu = true) {
        TargetFacts facts;
        facts.workgroup_loops = cpu;
        if (cpu) facts.quirks = wye::lower::QuirkSet::of_unknown_driver(true);
        return lowered("wye 1; program p; workgroup " + size +
                           "; param n: u32; input_output r: u32[]; shared s: u32[32];\n"
                           "main { let i = local_index; var v = i; " +
                           main + " r[i] = v; }",
                       facts);
    };
    const auto count = [](const Artifact& artifact, std::string_view word) {
        std::size_t found = 0;
        for (std::size_t at = 0; (at = artifact.text().find(word, at)) != std::string_view::npos;
             at += word.size())
            ++found;
        return found;
    };
    const std::string loop = "for (uint lid0 = 0u; lid0 < 4u; ++lid0) {";
    const Artifact parted = whole("s[i] = v; barrier; v = s[31u - i];");
    CHECK(parted.workgroup == std::array<std::uint32_t, 3>{1, 1, 1});
    CHECK(has(parted, "reqd_work_group_size(1, 1, 1)"));
    CHECK_FALSE(has(parted, "barrier("));
    CHECK(count(parted, loop) == 2);
    CHECK(has(parted, "uint v1[32];"));   // v is used in both regions
    CHECK_FALSE(has(parted, "v0[32];"));  // i is computed again
    CHECK(count(parted, "const uint v0 = li;") == 2);

    // Conditions and jumps of the whole workgroup stand outside of the loops over invocations.
    CHECK(count(whole("for k in 0u..n { barrier; if k == n { break; } v = v + k; }"), loop) == 3);
    CHECK(has(whole("if n == 3u { return; } barrier;"), "\n        return;\n"));
    CHECK(has(whole("while n > workgroup_id.x { barrier; if n == 3u { continue; } v += 1u; }"),
              "\n            continue;\n"));
    CHECK(has(whole("let q = workgroup_uniform_load(s[1]); if q == 3u { barrier; }"),
              "\n    if (v2 == 3u) {\n"));
    CHECK(
        has(whole("let m = n * 2u; for k in 0u..m { barrier; }"), "\n    const uint v2 = p0 * 2u"));
    // A return under another condition ends one invocation, which then skips the rest.
    const Artifact ended = whole("barrier; if v == 3u { return; }");
    CHECK(has(ended, "goto next1;"));
    CHECK_FALSE(has(ended, "ended["));
    CHECK(has(whole("if n == 1u { barrier; if v == 3u { return; } }"), "if (ended[li]) continue;"));
    // place_of_line finds the statement of a line in a region.
    const std::string source =
        "wye 1; program p; workgroup 4; output r: u32[4]; shared s: u32[4];\n"
        "main {\n  s[local_index] = 5u;\n  barrier;\n  r[local_index] = s[0] + 9u;\n}";
    TargetFacts cpu;
    cpu.workgroup_loops = true;
    cpu.quirks = wye::lower::QuirkSet::of_unknown_driver(true);
    const Artifact placed = lowered(source, cpu);
    const std::size_t at = placed.text().find("+ 9u");
    REQUIRE(at != std::string_view::npos);
    const auto line = std::ranges::count(placed.text().substr(0, at), '\n') + 1;
    CHECK(wye::lower::place_of_line(valid_program(source), WYE_FORMAT_OPENCL_C, cpu, {},
                                    placed.text(), static_cast<std::size_t>(line)) == "5:3");
    // If the whole workgroup traps, each of its invocations is counted.
    CHECK(count(whole("if n == 3u { trap 1; } barrier;"), loop) == 3);

    CHECK(count(whole("v += 1u;"), loop) == 0);
    CHECK(count(whole("barrier;", "1, 1"), "for (uint lid") == 0);
    CHECK(has(whole("barrier;", "4, 8", false), "barrier("));
}

TEST_CASE("what invocations keep across a barrier has to fit a thread") {
    const std::string text =
        "wye 1; program p; workgroup 256; output r: u32[];\n"
        "main { var a: u32[%]; a[local_index] = 1u; barrier; r[global_id.x] = a[3]; }";
    TargetFacts cpu;
    cpu.workgroup_loops = true;
    cpu.quirks = wye::lower::QuirkSet::of_unknown_driver(true);
    std::string most = text, more = text;
    most.replace(most.find('%'), 1, "1024");
    more.replace(more.find('%'), 1, "1025");
    CHECK(has(lowered(most, cpu), "uint v0[262144];"));
    const auto refused = lower(valid_program(more), WYE_FORMAT_OPENCL_C, cpu);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == wye::Code::LIMIT_EXCEEDED);
    CHECK(refused.error().message.find("1049600 bytes") != std::string::npos);
    CHECK(refused.error().message.find("1048576") != std::string::npos);
    CHECK(has(lowered(more), "uint v0[1025];"));
}

TEST_CASE(
    "what a workgroup keeps fits the stack of a driver's thread, or is refused with both sizes") {
    const wye::ir::Program program = valid_program(
        "wye 1; program p; workgroup 64; input x: u32[64]; output r: u32[64]; "
        "shared s: u32[64];\ngrid groups 1;\n"
        "main { let i = local_id.x; var v = x[i]; s[i] = v; barrier; "
        "r[i] = v + s[63u - i]; }");
    TargetFacts facts;
    facts.workgroup_loops = true;
    facts.quirks = wye::lower::QuirkSet::of_unknown_driver(true);
    facts.stack_bytes = 64 * 4;
    CHECK(lower(program, WYE_FORMAT_OPENCL_C, facts).ok());
    facts.stack_bytes -= 1;
    const auto refused = lower(program, WYE_FORMAT_OPENCL_C, facts);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == wye::Code::LIMIT_EXCEEDED);
    CHECK(refused.error().message.find("keeps 256 bytes") != std::string::npos);
    CHECK(refused.error().message.find("exceed the 255 bytes") != std::string::npos);
    facts.workgroup_loops = false;  // a device that is not a CPU
    facts.quirks = wye::lower::QuirkSet::of_no_device();
    CHECK(lower(program, WYE_FORMAT_OPENCL_C, facts).ok());
}

TEST_CASE("a workgroup of one invocation has no barriers") {
    const char* const text =
        "wye 1; program p; workgroup %; shared s: u32[4]; output r: u32[];\n"
        "main { s[3u - local_index] = 1u; barrier; r[local_index] = s[0]; }";
    std::string one = text;
    std::string two = text;
    one.replace(one.find('%'), 1, "1");
    two.replace(two.find('%'), 1, "2");
    CHECK_FALSE(has(lowered(one), "barrier("));
    CHECK(has(lowered(two), "barrier("));
}

}  // namespace test_lower
