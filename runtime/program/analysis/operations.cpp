// SPDX-License-Identifier: Apache-2.0
#include "program/analysis/operations.hpp"
#include "wye/sdk/lasting.hpp"

#include <algorithm>
#include <utility>

namespace wye::ir {
namespace {

// The types that an operation takes, each with the capabilities that it needs in brackets.
constexpr std::string_view kMath = "f32(ieee_f32) f64(f64,ieee_f64,int64)";
constexpr std::string_view kIntegers = "i32 u32 i64(int64) u64(int64)";
constexpr std::string_view kNumbers =
    "i32 u32 i64(int64) u64(int64) f16(storage16,ieee_f32) f32(ieee_f32) f64(f64,ieee_f64)";
constexpr std::string_view kFloats = "f16(storage16,ieee_f32) f32(ieee_f32) f64(f64,ieee_f64)";
constexpr std::string_view kAtomics = "i32 u32 i64(int64,atomic_int64) u64(int64,atomic_int64)";
constexpr std::string_view kSharedAtomics =
    "i32 u32 i64(int64,atomic_int64_shared) u64(int64,atomic_int64_shared)";
constexpr std::string_view kSubgroupNumbers =
    "i32(subgroup) u32(subgroup) i64(int64,subgroup) u64(int64,subgroup) f32(subgroup,ieee_f32) "
    "f64(f64,subgroup,ieee_f64)";
constexpr std::string_view kSubgroupIntegers =
    "i32(subgroup) u32(subgroup) i64(int64,subgroup) u64(int64,subgroup)";
constexpr std::string_view kSubgroupBool = "bool(subgroup)";
// The types of operations on the bits of floats.
constexpr std::string_view kFloatBits = "f16(storage16) f32 f64(f64)";
constexpr std::string_view kSigned = "i32 i64(int64) f16(storage16) f32 f64(f64)";
constexpr std::string_view kAllTypes =
    "bool i32 u32 i64(int64) u64(int64) f16(storage16,ieee_f32) f32(ieee_f32) f64(f64,ieee_f64)";
constexpr std::string_view kUnsigned = "u32 u64(int64)";
constexpr std::string_view kBools = "bool";
constexpr std::string_view kNoType = "";

struct Row {
    std::string_view name, memory, forms;
};

// The needs that the analysis reports for each operation and type. They are kept in a table, since
// running the analysis takes longer than the rest of a report.
constexpr Row kRows[] = {
    {"barrier", "", kNoType},
    {"grid_barrier", "", kNoType},
    {"trap", "", kNoType},
    {"-", "", kSigned},
    {"~", "", kIntegers},
    {"!", "", kBools},
    {"+", "", kNumbers},
    {"-", "", kNumbers},
    {"*", "", kNumbers},
    {"/", "", kNumbers},
    {"%", "", kIntegers},
    {"&", "", kIntegers},
    {"|", "", kIntegers},
    {"^", "", kIntegers},
    {"<<", "", kIntegers},
    {">>", "", kIntegers},
    {"&&", "", kBools},
    {"||", "", kBools},
    {"==", "", kAllTypes},
    {"!=", "", kAllTypes},
    {"<", "", kNumbers},
    {"<=", "", kNumbers},
    {">", "", kNumbers},
    {">=", "", kNumbers},
    {"rotl", "", kUnsigned},
    {"rotr", "", kUnsigned},
    {"popcount", "", kIntegers},
    {"clz", "", kIntegers},
    {"ctz", "", kIntegers},
    {"reverse_bits", "", kIntegers},
    {"mul_hi", "", kIntegers},
    {"add_sat", "", kIntegers},
    {"sub_sat", "", kIntegers},
    {"abs", "", kSigned},
    {"min", "", kNumbers},
    {"max", "", kNumbers},
    {"clamp", "", kNumbers},
    {"sqrt", "", kFloats},
    {"fma", "", kFloats},
    {"copysign", "", kFloatBits},
    {"floor", "", kFloats},
    {"ceil", "", kFloats},
    {"trunc", "", kFloats},
    {"round", "", kFloats},
    {"isnan", "", kFloatBits},
    {"isinf", "", kFloatBits},
    {"any", "", kBools},
    {"all", "", kBools},
    {"exp", "", kMath},
    {"exp2", "", kMath},
    {"exp10", "", kMath},
    {"log", "", kMath},
    {"log2", "", kMath},
    {"log10", "", kMath},
    {"sin", "", kMath},
    {"cos", "", kMath},
    {"tan", "", kMath},
    {"asin", "", kMath},
    {"acos", "", kMath},
    {"atan", "", kMath},
    {"atan2", "", kMath},
    {"sinh", "", kMath},
    {"cosh", "", kMath},
    {"tanh", "", kMath},
    {"pow", "", kMath},
    {"rsqrt", "", kMath},
    {"cbrt", "", kMath},
    {"hypot", "", kMath},
    {"erf", "", kMath},
    {"expm1", "", kMath},
    {"log1p", "", kMath},
    {"sinpi", "", kMath},
    {"cospi", "", kMath},
    {"atomic_load", "storage", kAtomics},
    {"atomic_load", "shared", kSharedAtomics},
    {"atomic_store", "storage", kAtomics},
    {"atomic_store", "shared", kSharedAtomics},
    {"atomic_exchange", "storage", kAtomics},
    {"atomic_exchange", "shared", kSharedAtomics},
    {"atomic_add", "storage",
     "i32 u32 i64(int64,atomic_int64) u64(int64,atomic_int64) f32(atomic_f32_add) "
     "f64(f64,atomic_f64_add)"},
    {"atomic_add", "shared",
     "i32 u32 i64(int64,atomic_int64_shared) u64(int64,atomic_int64_shared) f32(atomic_f32_add) "
     "f64(f64,atomic_f64_add)"},
    {"atomic_min", "storage", kAtomics},
    {"atomic_min", "shared", kSharedAtomics},
    {"atomic_max", "storage", kAtomics},
    {"atomic_max", "shared", kSharedAtomics},
    {"atomic_and", "storage", kAtomics},
    {"atomic_and", "shared", kSharedAtomics},
    {"atomic_or", "storage", kAtomics},
    {"atomic_or", "shared", kSharedAtomics},
    {"atomic_xor", "storage", kAtomics},
    {"atomic_xor", "shared", kSharedAtomics},
    {"atomic_cas", "storage", kAtomics},
    {"atomic_cas", "shared", kSharedAtomics},
    {"subgroup_broadcast", "", kSubgroupNumbers},
    {"subgroup_shuffle", "", kSubgroupNumbers},
    {"subgroup_shuffle_xor", "", kSubgroupNumbers},
    {"subgroup_any", "", kSubgroupBool},
    {"subgroup_all", "", kSubgroupBool},
    {"subgroup_ballot", "", kSubgroupBool},
    {"subgroup_add", "", kSubgroupNumbers},
    {"subgroup_min", "", kSubgroupNumbers},
    {"subgroup_max", "", kSubgroupNumbers},
    {"subgroup_inclusive_add", "", kSubgroupNumbers},
    {"subgroup_exclusive_add", "", kSubgroupNumbers},
    {"subgroup_and", "", kSubgroupIntegers},
    {"subgroup_or", "", kSubgroupIntegers},
    {"subgroup_xor", "", kSubgroupIntegers},
    {"workgroup_uniform_load", "shared",
     "i32 u32 i64(int64) u64(int64) f16(storage16) f32 f64(f64)"},
};

// Returns the text before the separator, and removes both from `text`.
std::string_view next_part(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view out = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return out;
}

// Reads one form, such as "i64(int64,subgroup)".
OperationForm form_of(std::string_view text) {
    OperationForm out{std::string(next_part(text, '(')), {}};
    std::string_view needs = next_part(text, ')');
    while (!needs.empty()) out.needs.emplace_back(next_part(needs, ','));
    return out;
}

std::vector<Operation> all() {
    std::vector<Operation> out;
    for (const Row& row : kRows) {
        Operation operation{std::string(row.name), std::string(row.memory), {}};
        std::string_view forms = row.forms;
        do operation.forms.push_back(form_of(next_part(forms, ' ')));
        while (!forms.empty());
        out.push_back(std::move(operation));
    }
    return out;
}

}  // namespace

const std::vector<Operation>& operations() {
    static const sdk::Lasting<const std::vector<Operation>> list(all);
    return *list;
}

}  // namespace wye::ir
