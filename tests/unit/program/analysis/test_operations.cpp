// SPDX-License-Identifier: Apache-2.0
//
// The table of operations, compared with what the parser, the validator and the analysis say about
// a program for each operation and type.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "program/analysis/analysis.hpp"
#include "program/analysis/operations.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"
#include "wye/program_format.h"

namespace test_operations {

using namespace wye::ir;

namespace {

constexpr std::array<std::string_view, 8> kScalars = {"bool", "i32", "u32", "i64",
                                                      "u64",  "f16", "f32", "f64"};

enum class Group { Operator, Math, Effect };

struct Entry {
    std::string_view text;
    int operands;
    Group group;
};

constexpr Entry kEntries[] = {
#define WYE_OPERATION_ENTRY(name, code, text, operands) {text, operands, Group::Operator},
    WYE_OPERATORS(WYE_OPERATION_ENTRY)
#undef WYE_OPERATION_ENTRY
#define WYE_OPERATION_ENTRY(name, code, text, operands) {text, operands, Group::Math},
        WYE_MATH(WYE_OPERATION_ENTRY)
#undef WYE_OPERATION_ENTRY
#define WYE_OPERATION_ENTRY(name, code, text, operands) {text, operands, Group::Effect},
            WYE_EFFECTS(WYE_OPERATION_ENTRY)
#undef WYE_OPERATION_ENTRY
};

// The capabilities that a program needs; nothing if the program is not valid.
std::optional<std::vector<std::string>> needs_of(const std::string& text) {
    ParseResult parsed = parse(text);
    if (!parsed.ok() || !validate(parsed.program).empty()) return std::nullopt;
    std::vector<std::string> out;
    for (const Need& need : analyse(parsed.program).needs) out.push_back(need.capability);
    return out;
}

// A program with one statement, for a scalar `x` of this type. `memory`: where an array `s` is;
// empty: no array.
std::string program_around(std::string_view type, std::string_view memory,
                           const std::string& statement) {
    const bool is_bool = type == "bool";  // no buffer holds bool
    const std::string_view held = is_bool ? "u32" : type;
    std::string array;
    if (memory == "storage") array = fmt::format("input_output s: {}[4]; ", held);
    if (memory == "shared") array = fmt::format("shared s: {}[4]; ", held);
    return fmt::format(
        "wye 1; math 2; program p; workgroup 4; input a: {}[4]; output r: u32[4]; {}grid groups "
        "1;\n"
        "main {{ let x = a[0]{}; {} }}\n",
        held, array, is_bool ? " != 0u" : "", statement);
}

// Ways to write an operation: with operands of one type, or with a number of bits or a lane at the
// end. The first valid way counts.
std::vector<std::string> statements(const Entry& entry, bool array) {
    const std::string name(entry.text);
    if (std::isalpha(static_cast<unsigned char>(name[0])) == 0) {
        if (entry.operands == 1) return {fmt::format("let v = {}x;", name)};
        return {fmt::format("let v = x {} x;", name), fmt::format("let v = x {} 1u;", name)};
    }
    std::string same = array ? "s[0]" : "x";
    for (int i = 1; i < entry.operands; ++i) same += ", x";
    std::vector<std::string> out = {fmt::format("let v = {}({});", name, same),
                                    fmt::format("{}({});", name, same)};
    if (entry.operands == 2) out.push_back(fmt::format("let v = {}(x, 1u);", name));
    // For an operation that takes only vectors of bool.
    if (entry.operands == 1 && !array) {
        out.push_back(
            fmt::format("let p = u32x2(u32(x), 1u) == u32x2(0u, 1u); let v = {}(p);", name));
    }
    return out;
}

void add(const Entry& entry, std::string_view memory, std::vector<Operation>& out) {
    Operation operation{std::string(entry.text), std::string(memory), {}};
    const bool of_bools = entry.text == "any" || entry.text == "all";
    for (const std::string_view type : kScalars) {
        // No array holds bools.
        if (type == "bool" ? !memory.empty() : of_bools) continue;
        for (const std::string& statement : statements(entry, !memory.empty())) {
            auto needs = needs_of(program_around(type, memory, statement));
            if (!needs) continue;
            operation.forms.push_back({std::string(type), std::move(*needs)});
            break;
        }
    }
    if (!operation.forms.empty()) out.push_back(std::move(operation));
}

std::vector<Operation> asked() {
    std::vector<Operation> out;
    for (const std::string_view word : {"barrier", "grid_barrier", "trap"}) {
        const std::string statement = word == "trap" ? "trap 1;" : std::string(word) + ";";
        if (auto needs = needs_of(program_around("u32", "", statement)))
            out.push_back({std::string(word), "", {{"", std::move(*needs)}}});
    }
    for (const Entry& entry : kEntries) {
        // One operator may have two codes: `-` of one and of two operands.
        const bool atomic = entry.text.starts_with("atomic_");
        if (atomic) add(entry, "storage", out);
        if (atomic || entry.text == "workgroup_uniform_load") add(entry, "shared", out);
        if (!atomic && entry.text != "workgroup_uniform_load") add(entry, "", out);
    }
    return out;
}

std::string text_of(const Operation& operation) {
    std::string out = operation.name + "|" + operation.memory + "|";
    for (const OperationForm& form : operation.forms) {
        out += " " + form.type + "(";
        for (const std::string& need : form.needs) out += need + ",";
        out += ")";
    }
    return out;
}

}  // namespace

TEST_CASE("the table of operations is what the analysis says of a program for each") {
    const std::vector<Operation> want = asked();
    const std::vector<Operation>& have = operations();
    REQUIRE(have.size() == want.size());
    for (std::size_t i = 0; i < want.size(); ++i) CHECK(text_of(have[i]) == text_of(want[i]));
}

}  // namespace test_operations
