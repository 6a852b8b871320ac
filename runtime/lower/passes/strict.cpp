// SPDX-License-Identifier: Apache-2.0
#include "lower/passes/strict.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lower/passes/math_library.hpp"
#include "lower/passes/native_functions.hpp"
#include "program/check/validate.hpp"

namespace wye::lower {
namespace {

using ir::Op;

// A required definition: an operation on values of one type.
using Need = std::pair<Op, std::uint32_t>;  // operation and type code
ir::Type type_of(const Need& need) { return ir::type_from_code(need.second).value_or(ir::Type{}); }

template <typename Visit>
void each_code(ir::Program& program, Visit visit) {
    for (ir::Function& f : program.functions) visit(f.code);
    visit(program.main);
}

std::uint32_t index_of(const ir::Program& library, std::string_view function) {
    const auto at = std::ranges::find(library.functions, function, &ir::Function::name);
    return at == library.functions.end()
               ? ir::kNone
               : static_cast<std::uint32_t>(at - library.functions.begin());
}

// How calls of the library's `function` are replaced: by `operation` (CALL: a call of `other`) if
// the member `native` of the device's MathWays is true, else by a call of `otherwise`.
struct Choice {
    std::string_view function;
    bool MathWays::*native;
    Op operation;  // CALL: a call of `other`
    std::string_view otherwise;
    std::string_view other = {};
};
constexpr Choice kChoices[] = {
    {"math2_mad", &MathWays::fused, Op::FMA, "math2_mad"},
    {"math2_quotient", &MathWays::divides, Op::DIV, "math2_quotient_by_steps"},
    {"math2_root", &MathWays::roots, Op::SQRT, "math2_root_by_steps"},
    {"pairs_mad", &MathWays::fused_f32, Op::FMA, "pairs_mad"},
    {"pairs_product", &MathWays::fused_f32, Op::CALL, "pairs_product", "pairs_product_fused"},
    {"pairs_onto", &MathWays::fused_f32, Op::CALL, "pairs_onto", "pairs_onto_fused"},
    {"pairs_rest", &MathWays::fused_f32, Op::CALL, "pairs_rest", "pairs_rest_fused"},
};

bool replaced(const ir::Expr& e, NativeSet stay) {
    return ir::op_math(e.op) && (native_bit(e.op, e.type.kind) & stay) == 0;
}

template <typename Predicate>
bool some(const ir::Program& program, Predicate predicate) {
    const auto in = [&](const ir::Code& code) {
        return std::ranges::any_of(code.exprs, predicate);
    };
    return in(program.main) || std::ranges::any_of(program.functions, in, &ir::Function::code);
}

class Expander {
  public:
    Expander(const ir::Program& program, NativeSet stay, const MathWays& ways)
        : library_(ways.words                            ? math_library_in_words()
                   : ways.pairs && program.math_set >= 2 ? math_library_with_pairs()
                                                         : math_library()),
          stay_(stay),
          ways_(ways),
          out_(program),
          functions_(library_.functions.size(), ir::kNone),
          tables_(library_.tables.size(), ir::kNone) {
        for (const ir::Param& p : program.params) names_.insert(p.name);
        for (const ir::Buffer& b : program.buffers) names_.insert(b.name);
        for (const ir::Table& t : program.tables) names_.insert(t.name);
        for (const ir::Function& f : program.functions) names_.insert(f.name);
    }

    Result<ir::Program> run() {
        each_code(out_, [&](const ir::Code& code) {
            for (const ir::Expr& e : code.exprs)
                if (replaced(e, stay_)) needs_.emplace(Need{e.op, e.type.code()}, ir::kNone);
        });
        for (const auto& [need, ignored] : needs_) mark(definition(need));
        definitions();
        const auto added = static_cast<std::uint16_t>(defined_.size());
        each_code(out_, [&](ir::Code& code) {
            for (ir::Expr& e : code.exprs) {
                if (e.op == Op::CALL) e.imm = static_cast<std::uint16_t>(e.imm + added);
                if (!replaced(e, stay_)) continue;
                e.imm = static_cast<std::uint16_t>(needs_.at({e.op, e.type.code()}));
                e.op = Op::CALL;
            }
        });
        out_.functions.insert(out_.functions.begin(), std::make_move_iterator(defined_.begin()),
                              std::make_move_iterator(defined_.end()));
        if (const auto broken = ir::validate(out_); !broken.empty())
            return Error(Code::LIMIT_EXCEEDED,
                         fmt::format("with the definitions of its math functions, {}",
                                     broken.front().message),
                         "Fix: use fewer math functions in one program, or fewer functions, tables "
                         "and statements beside them",
                         out_.name);
        return std::move(out_);
    }

  private:
    // Returns the definition in the program's math set. Set 2 has the definitions of set 1 except
    // those that it redefines.
    std::uint32_t definition(const Need& need) const {
        if ((native_bit(need.first, type_of(need).kind) & ways_.fast) != 0)
            return index_of(library_, "fast_" + std::string(ir::op_text(need.first)) + "_f32");
        std::string name = "_" + std::string(ir::op_text(need.first)) + "_" +
                           ir::type_name(type_of(need).component());
        if (need.first == Op::RSQRT && type_of(need).kind == ir::Kind::F32) {
            if (ways_.root == RootWay::InWords) name += "_in_words";
            if (ways_.root == RootWay::FromStart) name += "_from_start";
        }
        std::uint32_t out = ir::kNone;
        if (out_.math_set >= 2 && ways_.pairs) out = index_of(library_, "pairs" + name);
        if (out_.math_set >= 2 && out == ir::kNone) out = index_of(library_, "math2" + name);
        return out != ir::kNone ? out : index_of(library_, "math" + name);
    }

    // Changes a call in the library as kChoices says: into an operation, or into a call of another
    // function. In words, calls of f64 functions stay: there is no operation on words to replace
    // them.
    void choose(ir::Expr& call) const {
        for (const Choice& choice : kChoices) {
            const ir::Function& function = library_.functions[call.imm];
            if (function.name != choice.function) continue;
            const bool native = ways_.*choice.native;
            if (!native || choice.operation == Op::CALL) {
                call.imm = static_cast<std::uint16_t>(
                    index_of(library_, native ? choice.other : choice.otherwise));
            } else if (function.type.floating()) {
                call.op = choice.operation;
                call.imm = 0;
            }
            return;
        }
    }

    // Marks a library function and its callees. The new program keeps the library's order.
    void mark(std::uint32_t function) {
        if (!reached_.insert(function).second) return;
        for (ir::Expr e : library_.functions[function].code.exprs) {
            if (e.op == Op::CALL) choose(e);
            if (e.op == Op::CALL) mark(e.imm);
        }
    }

    std::string fresh(const std::string& wanted) {
        std::string name = wanted;
        for (unsigned n = 2; !names_.insert(name).second; ++n)
            name = wanted + "_" + std::to_string(n);
        return name;
    }

    std::uint16_t table(std::uint32_t index) {
        if (tables_[index] == ir::kNone) {
            tables_[index] = static_cast<std::uint32_t>(out_.tables.size());
            out_.tables.push_back(library_.tables[index]);
            out_.tables.back().name = fresh(out_.tables.back().name);
        }
        return static_cast<std::uint16_t>(tables_[index]);
    }

    void definitions() {
        for (const std::uint32_t index : reached_) {
            ir::Function f = library_.functions[index];
            f.code.math_definition = f.name.starts_with("math2_") || f.name.starts_with("fast_") ||
                                     f.name.starts_with("pairs_");
            f.name = fresh(f.name);
            for (ir::Expr& e : f.code.exprs) {
                if (e.op == Op::CALL) choose(e);
                if (e.op == Op::CALL) e.imm = static_cast<std::uint16_t>(functions_[e.imm]);
                if (e.op == Op::LOAD_TABLE) e.imm = table(e.imm);
            }
            functions_[index] = static_cast<std::uint32_t>(defined_.size());
            defined_.push_back(std::move(f));
        }
        for (auto& [need, function] : needs_) {
            function = functions_[definition(need)];
            if (type_of(need).scalar()) continue;
            defined_.push_back(by_component(need, function));
            function = static_cast<std::uint32_t>(defined_.size() - 1);
        }
    }

    // Makes the function of a vector type, which calls the scalar one for each component:
    // fn math_sin_f32x2(a: f32x2) -> f32x2 { return f32x2(math_sin_f32(a.x), math_sin_f32(a.y)); }
    ir::Function by_component(const Need& need, std::uint32_t scalar) {
        const ir::Type type = type_of(need);
        ir::Function f;
        f.name = fresh("math_" + std::string(ir::op_text(need.first)) + "_" + ir::type_name(type));
        f.type = type;
        f.arguments = static_cast<std::uint32_t>(ir::op_operands(need.first));
        for (std::uint32_t a = 0; a < f.arguments; ++a)
            f.code.locals.push_back({ir::Local::Form::Argument, type, 0, a == 0 ? "a" : "b", {}});
        f.code.blocks.emplace_back();
        f.code.root = 0;
        std::vector<ir::ExprId> components;
        for (std::uint16_t lane = 0; lane < type.lanes; ++lane) {
            std::vector<ir::ExprId> arguments;
            for (std::uint32_t a = 0; a < f.arguments; ++a) {
                const ir::ExprId whole = node(f.code, Op::LOCAL, 0, a, {});
                arguments.push_back(node(f.code, Op::COMPONENT, lane, 0, {whole}));
            }
            components.push_back(
                node(f.code, Op::CALL, static_cast<std::uint16_t>(scalar), 0, arguments));
        }
        f.code.result =
            node(f.code, Op::CONSTRUCT, static_cast<std::uint16_t>(type.code()), 0, components);
        return f;
    }

    // Adds a node without a type, which the validator sets later.
    static ir::ExprId node(ir::Code& code, Op op, std::uint16_t imm, std::uint64_t extra,
                           const std::vector<ir::ExprId>& operands) {
        ir::Expr e;
        e.op = op;
        e.imm = imm;
        e.extra = extra;
        e.first = static_cast<std::uint32_t>(code.operands.size());
        e.count = static_cast<std::uint32_t>(operands.size());
        code.operands.insert(code.operands.end(), operands.begin(), operands.end());
        code.exprs.push_back(e);
        return static_cast<ir::ExprId>(code.exprs.size() - 1);
    }

    const ir::Program& library_;
    NativeSet stay_;
    MathWays ways_;
    ir::Program out_;
    std::set<std::string> names_;
    std::map<Need, std::uint32_t> needs_;   // index of the function in the new program
    std::set<std::uint32_t> reached_;       // functions of the library that are needed
    std::vector<std::uint32_t> functions_;  // from library index to index in the new program
    std::vector<std::uint32_t> tables_;
    std::vector<ir::Function> defined_;
};

RootWay root_way(std::string_view format, const TargetFacts& facts) {
    // On a CPU, vectors of f64 are faster than the steps in f32 that avoid f64.
    const bool wide = facts.workgroup_loops && facts.f64;
    if (format == WYE_FORMAT_CUDA_C) return RootWay::FromStart;
    if (format == WYE_FORMAT_OPENCL_C) return wide ? RootWay::ThroughF64 : RootWay::FromStart;
    if (format == WYE_FORMAT_SPIRV)
        return wide && facts.native_f64_div && facts.native_f64_sqrt ? RootWay::ThroughF64
                                                                     : RootWay::Form;
    return facts.f64 ? RootWay::ThroughF64 : RootWay::InWords;
}

// The least f32_to_f64_rate for which pairs are used. At a rate of 2, pairs of f32 take about twice
// the time of f64.
constexpr std::uint64_t kSlowF64 = 4;

}  // namespace

bool uses_math(const ir::Program& program, NativeSet stay) {
    return some(program, [stay](const ir::Expr& e) { return replaced(e, stay); });
}

MathWays math_ways(std::string_view format, const TargetFacts& facts) {
    const RootWay root = root_way(format, facts);
    // An fma that treats subnormal numbers as zero is good enough for pairs.
    const bool fused_f32 = format == WYE_FORMAT_CUDA_C ||
                           (format != WYE_FORMAT_PROGRAM && facts.native_f32_fma) ||
                           (format == WYE_FORMAT_SPIRV && facts.native_normal_f32_fma);
    if (!facts.f64 || !facts.int64)
        return {.root = root, .words = true, .pairs = true, .fused_f32 = fused_f32};
    // A plugin that runs the wire form may have to call a library for an fma, and joins a product
    // and a sum into one step anyway. A GPU's own f64 division takes about as many steps as
    // `math2_quotient_by_steps`, or far more; its square root is slow in Vulkan alone.
    const bool divides = facts.workgroup_loops && facts.native_f64_div && facts.native_f64_sqrt;
    return {.root = root,
            .fused = facts.native_f64_fma && format != WYE_FORMAT_PROGRAM,
            .pairs = fused_f32 && facts.f32_to_f64_rate >= kSlowF64,
            .fused_f32 = fused_f32,
            .divides = divides,
            .roots = divides || format != WYE_FORMAT_SPIRV};
}

bool expands_for(std::string_view format, const ir::Program& program, NativeSet natives) {
    return uses_math(program, native_in(format, natives));
}

Result<ir::Program> expand_for(std::string_view format, const TargetFacts& facts,
                               const ir::Program& program, NativeSet natives) {
    const NativeSet stay = native_in(format, natives);
    MathWays ways = math_ways(format, facts);
    ways.fast = natives & ~stay;
    return expand_math(program, stay, ways);
}

Result<ir::Program> expand_math(const ir::Program& program, NativeSet stay, const MathWays& ways) {
    if (ways.root == RootWay::Form) stay |= native_bit(Op::RSQRT, ir::Kind::F32);
    MathWays chosen = ways;
    // Words serve only f32 functions. A device that needs words cannot run f64 functions anyway.
    chosen.words = ways.words && !some(program, [stay](const ir::Expr& e) {
                       return replaced(e, stay) && e.type.kind == ir::Kind::F64;
                   });
    auto out = Expander(program, stay, chosen).run();
    if (out.ok() || !chosen.pairs || out.error().code != Code::LIMIT_EXCEEDED) return out;
    // The definitions without pairs are shorter. Pairs only save time, so they must not be the
    // reason to refuse a program.
    chosen.pairs = false;
    return Expander(program, stay, chosen).run();
}

}  // namespace wye::lower
