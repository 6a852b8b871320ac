// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>

#include "plan/backend_layout.hpp"
#include "plan/binding.hpp"

namespace wye::plan {
namespace {

ir::Buffer buffer(std::string name, std::uint32_t binding, ir::Role role, ir::Type type) {
    ir::Buffer out;
    out.name = std::move(name);
    out.binding = binding;
    out.role = role;
    out.type = type;
    return out;
}

ir::Program program_of(std::vector<ir::Buffer> buffers) {
    ir::Program program;
    program.name = "p";
    program.buffers = std::move(buffers);
    return program;
}

TEST_CASE("bindings are in the order of their numbers, with input and output lists") {
    ir::Buffer live = buffer("keep", 9, ir::Role::PERSISTENT, ir::kU32);
    live.live = true;
    const auto plan = binding_plan(program_of({
        buffer("out", 7, ir::Role::OUTPUT, ir::kF32),
        buffer("in", 3, ir::Role::INPUT, {ir::Kind::U8, 1}),
        buffer("scratch", 5, ir::Role::SHARED, ir::kU32),
        buffer("both", 0, ir::Role::INPUT_OUTPUT, ir::kF64),
        live,
        buffer("hidden", 8, ir::Role::PERSISTENT, ir::kU32),
        buffer("constants", 1, ir::Role::UNIFORM, ir::kU32),
    }));
    REQUIRE(plan.ok());
    const auto names = [&](const std::vector<std::uint32_t>& list) {
        std::string out;
        for (const std::uint32_t i : list) out += plan->bindings[i].name + " ";
        return out;
    };
    CHECK(names(plan->inputs) == "both constants in ");
    CHECK(names(plan->outputs) == "both out keep ");
    CHECK(names(plan->shared) == "scratch ");
    CHECK(names(plan->arguments) == "both constants in out hidden keep ");
    CHECK(plan->bindings[0].input_index == 0U);
    CHECK(plan->bindings[0].output_index == 0U);
    CHECK(plan->bindings[2].input_index == 2U);
    CHECK(!plan->bindings[2].output_index);
}

TEST_CASE(
    "alignment: natural is the element, of the scalar when three wide; preferred the larger") {
    ir::Buffer wide = buffer("wide", 0, ir::Role::INPUT, {ir::Kind::F32, 3});
    ir::Buffer hinted = buffer("hinted", 1, ir::Role::INPUT, ir::kF32);
    hinted.align = 64;
    ir::Buffer low = buffer("low", 2, ir::Role::INPUT, {ir::Kind::F64, 2});
    low.align = 4;
    ir::Buffer wished = buffer("wished", 3, ir::Role::INPUT, ir::kF32);
    wished.align = 16;
    wished.hints = {2, 256, ir::Locality::STREAMING};
    const auto plan = binding_plan(program_of({wide, hinted, low, wished}));
    REQUIRE(plan.ok());
    CHECK(plan->bindings[0].natural_alignment == 4);
    CHECK(plan->bindings[0].element_size == 12);
    CHECK(plan->bindings[1].natural_alignment == 4);
    CHECK(plan->bindings[1].preferred_alignment == 64);
    CHECK(plan->bindings[2].natural_alignment == 16);
    CHECK(plan->bindings[2].preferred_alignment == 16);
    CHECK(plan->bindings[2].required_alignment == 16);
    CHECK(plan->bindings[3].required_alignment == 16);
    CHECK(plan->bindings[3].preferred_alignment == 256);
    CHECK(plan->bindings[3].hints == wished.hints);
}

TEST_CASE("static lengths") {
    ir::Buffer literal = buffer("literal", 0, ir::Role::INPUT, {ir::Kind::U16, 3});
    literal.count_kind = ir::Buffer::Count::Literal;
    literal.count = 100;
    const auto plan =
        binding_plan(program_of({literal, buffer("open", 1, ir::Role::INPUT, ir::kF32)}));
    REQUIRE(plan.ok());
    CHECK(plan->bindings[0].static_bytes == 600U);
    CHECK(!plan->bindings[1].static_bytes);
}

TEST_CASE("refusals name the buffer and the value") {
    ir::Buffer odd = buffer("odd", 0, ir::Role::OUTPUT, ir::kU32);
    odd.align = 48;
    ir::Buffer wished = buffer("wished", 0, ir::Role::OUTPUT, ir::kU32);
    wished.hints.prefer_align = 48;
    ir::Buffer hinted = buffer("hinted", 0, ir::Role::SHARED, ir::kU32);
    hinted.hints.locality = ir::Locality::TEMPORAL;
    ir::Buffer kept = buffer("kept", 0, ir::Role::SHARED, ir::kU32);
    kept.live = true;
    ir::Buffer vast = buffer("vast", 0, ir::Role::INPUT, ir::kU64);
    vast.count_kind = ir::Buffer::Count::Literal;
    vast.count = UINT64_C(1) << 62U;
    const struct {
        std::vector<ir::Buffer> buffers;
        Code code;
        const char* fragment;
    } cases[] = {
        {{odd}, Code::INVALID_PROGRAM, "`odd` asks for alignment 48"},
        {{wished}, Code::INVALID_PROGRAM, "`wished` prefers alignment 48"},
        {{hinted}, Code::INVALID_PROGRAM, "`hinted` is workgroup memory"},
        {{kept}, Code::INVALID_PROGRAM, "`kept` is workgroup memory"},
        {{vast}, Code::LIMIT_EXCEEDED, "`vast` has 4611686018427387904 elements"},
        {{buffer("a", 4, ir::Role::INPUT, ir::kU32), buffer("b", 4, ir::Role::OUTPUT, ir::kU32)},
         Code::INVALID_PROGRAM,
         "binding 4 is used by both `a` and `b`"},
    };
    for (const auto& c : cases) {
        const auto plan = binding_plan(program_of(c.buffers));
        REQUIRE(!plan.ok());
        CHECK(plan.error().code == c.code);
        CHECK(plan.error().message.find(c.fragment) != std::string::npos);
        CHECK(plan.error().fix.starts_with("Fix: "));
    }
}

TEST_CASE("layout fingerprints depend on binding, role and element size, and on nothing else") {
    const auto base = [] {
        return std::vector{buffer("in", 0, ir::Role::INPUT, ir::kU32),
                           buffer("out", 1, ir::Role::OUTPUT, ir::kU32)};
    };
    const auto plan_of = [](std::vector<ir::Buffer> buffers) {
        auto plan = binding_plan(program_of(std::move(buffers)));
        REQUIRE(plan.ok());
        return std::move(plan).value();
    };
    const BindingPlan first = plan_of(base());

    auto same = base();
    same[0].name = "another";
    same[0].type = ir::kF32;  // another type of the same size
    same[1].count_kind = ir::Buffer::Count::Literal;
    same[1].count = 64;
    same[1].align = 128;
    same[1].hints = {1, 512, ir::Locality::STREAMING};
    CHECK(share_layout(first, plan_of(same)));
    CHECK(layout_fingerprint(first) == layout_fingerprint(plan_of(same)));

    auto other_binding = base();
    other_binding[1].binding = 2;
    auto other_role = base();
    other_role[1].role = ir::Role::INPUT_OUTPUT;
    auto other_size = base();
    other_size[0].type = ir::kU64;
    auto one_more = base();
    one_more.push_back(buffer("more", 2, ir::Role::INPUT, ir::kU32));
    for (const auto& different : {other_binding, other_role, other_size, one_more}) {
        CHECK(!share_layout(first, plan_of(different)));
        CHECK(layout_fingerprint(first) != layout_fingerprint(plan_of(different)));
    }
}

TEST_CASE("the text of a fingerprint is its bytes, most significant first") {
    LayoutFingerprint bytes{};
    bytes[0] = 0x0f;
    bytes[15] = 0xa1;
    CHECK(hex(bytes) == "0f0000000000000000000000000000a1");
}

TEST_CASE("a backend layout has the buffers, the trap words and one block of values") {
    ir::Buffer constants = buffer("constants", 4, ir::Role::UNIFORM, {ir::Kind::F32, 4});
    const auto plan =
        binding_plan(program_of({buffer("in", 1, ir::Role::INPUT, ir::kU64), constants,
                                 buffer("memory", 6, ir::Role::SHARED, ir::kU32),
                                 buffer("out", 9, ir::Role::OUTPUT, ir::kU32)}));
    REQUIRE(plan.ok());
    const wye_slot slots[] = {
        {WYE_SLOT_BUFFER, 0, 0, 1, 0, {}}, {WYE_SLOT_BUFFER, 1, 0, 1, 0, {}},
        {WYE_SLOT_BUFFER, 2, 0, 3, 0, {}}, {WYE_SLOT_LENGTH, 2, 0, 0, 0, {}},
        {WYE_SLOT_PARAMS, 0, 8, 0, 0, {}}, {WYE_SLOT_GRID, 0, 20, 0, 0, {}},
        {WYE_SLOT_TRAP, 0, 0, 0, 0, {}},   {WYE_SLOT_OPAQUE_ZERO, 0, 48, 0, 0, {}}};
    constexpr auto kStorage = LayoutClass::Storage, kUniform = LayoutClass::Uniform;
    const BackendLayout pushed = backend_layout(*plan, slots, 12, true);
    CHECK(pushed == BackendLayout{{0, 0, kStorage, true, 8},
                                  {0, 1, kUniform, true, 16},
                                  {0, 2, kStorage, false, 4},
                                  {0, 3, kStorage, false, 4},
                                  {0, 4, kUniform, true, 56}});
    const BackendLayout arguments = backend_layout(*plan, slots, 12, false);
    CHECK(arguments == BackendLayout{{0, 0, kStorage, true, 8},
                                     {0, 1, kUniform, true, 16},
                                     {0, 2, kStorage, false, 4},
                                     {0, 3, kUniform, true, 8},
                                     {0, 4, kUniform, true, 12},
                                     {0, 5, kUniform, true, 24},
                                     {0, 6, kStorage, false, 4},
                                     {0, 7, kUniform, true, 8}});

    // If the layout has binding numbers of its own, the order of the slots does not matter.
    // Everything else changes the fingerprint.
    wye_slot turned[std::size(slots)];
    std::reverse_copy(std::begin(slots), std::end(slots), turned);
    CHECK(backend_layout(*plan, turned, 12, true) == pushed);
    CHECK(layout_fingerprint(pushed) != layout_fingerprint(arguments));
    for (std::size_t i = 0; i < pushed.size(); ++i) {
        for (int member = 0; member < 5; ++member) {
            BackendLayout other = pushed;
            LayoutSlot& slot = other[i];
            if (member == 0) slot.group = 1;
            if (member == 1) slot.binding += 10;
            if (member == 2) slot.kind = slot.kind == kStorage ? kUniform : kStorage;
            if (member == 3) slot.read_only = !slot.read_only;
            if (member == 4) slot.element_size += 4;
            CHECK(layout_fingerprint(other) != layout_fingerprint(pushed));
        }
    }
}

}  // namespace
}  // namespace wye::plan
