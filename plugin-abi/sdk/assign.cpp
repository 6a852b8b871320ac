// SPDX-License-Identifier: Apache-2.0
//
// assign_types: walks each body once, in text order. Uses explicit stacks, so that a program that
// has not passed the limit checks cannot exhaust the thread's stack.
#include "wye/sdk/typing.hpp"

namespace wye::ir {

namespace {

class Assigner {
  public:
    Assigner(const Program& program, Code& code, std::uint32_t function,
             const std::function<void(const TypeProblem&)>& report)
        : program_(program),
          code_(code),
          function_(function),
          report_(report),
          seen_(code.exprs.size()) {}

    bool run() {
        struct Frame {
            BlockId block;
            std::size_t next;
        };
        std::vector<Frame> open;
        const auto enter = [&](BlockId block) {
            if (block < code_.blocks.size()) open.push_back({block, 0});
        };
        enter(code_.root);
        while (!open.empty()) {
            Frame& top = open.back();
            const auto& block = code_.blocks[top.block];
            if (top.next == block.size()) {
                open.pop_back();
                continue;
            }
            const StmtId id = block[top.next++];
            if (id >= code_.stmts.size()) continue;
            const Stmt& s = code_.stmts[id];
            statement(s);
            enter(s.otherwise);  // below the body on the stack, so it is walked later
            enter(s.body);
        }
        return clean_;
    }

    void result(Type wanted, const std::string& name) {
        if (code_.result == kNone) return;
        const Type got = expression(code_.result);
        if (!got.none() && got != wanted)
            problem(
                code_.exprs[code_.result].place,
                "`" + name + "` returns " + type_name(wanted) + ", not " + type_name(got),
                conversion_fix(code_, code_.result, got, wanted) + ", or change the result type");
    }

    void problem(Place place, std::string text, std::string fix) {
        clean_ = false;
        report_({function_, place, std::move(text), std::move(fix)});
    }
    [[nodiscard]] bool clean() const { return clean_; }

  private:
    // The type of the tree under `root`; None: it has no type, or a problem was reported.
    Type expression(ExprId root) {
        if (root >= code_.exprs.size()) return {};
        if (seen_[root]) return code_.exprs[root].type;
        pending_.assign(1, root);
        while (!pending_.empty()) {
            const ExprId id = pending_.back();
            const Expr& e = code_.exprs[id];
            bool ready = true;
            if (!seen_[id]) {
                // Pushes the last operand first, so that the first is typed first. Operands have
                // smaller ids; anything else would be a cycle and is left untyped.
                for (std::uint32_t i = e.count; i-- > 0;) {
                    const ExprId operand = code_.operands[e.first + i];
                    if (operand < id && !seen_[operand]) {
                        pending_.push_back(operand);
                        ready = false;
                    }
                }
            }
            if (!ready) continue;
            pending_.pop_back();
            if (!seen_[id]) node(id);
        }
        return code_.exprs[root].type;
    }

    void node(ExprId id) {
        seen_[id] = true;
        Expr& e = code_.exprs[id];
        e.type = {};
        if (e.op == Op::None) return;  // stands for an expression whose error was reported
        types_.clear();
        for (const ExprId operand : code_.operands_of(e)) {
            const Type t = operand < id ? code_.exprs[operand].type : Type{};
            if (t.none()) return;
            types_.push_back(t);
        }
        // The local's initial value had a problem, which was reported.
        if (e.op == Op::LOCAL && code_.locals[e.extra].type.none()) return;
        Typing typing = derive_type(program_, code_, e, types_);
        if (typing.ok())
            e.type = typing.type;
        else
            problem(e.place, std::move(typing.problem), std::move(typing.fix));
    }

    // Reports a value whose type is not `wanted`. `what`: "the condition of `if`".
    void expect(ExprId id, Type wanted, const std::string& what) {
        const Type got = expression(id);
        if (got.none()) {
            no_result(id, what);
            return;
        }
        if (wanted.none() || got == wanted) return;
        problem(code_.exprs[id].place,
                what + " is " + type_name(wanted) + ", got " + type_name(got),
                conversion_fix(code_, id, got, wanted));
    }

    void no_result(ExprId id, const std::string& what) {
        if (id < code_.exprs.size() && code_.exprs[id].op == Op::ATOMIC_STORE)
            problem(code_.exprs[id].place, "`atomic_store` gives no value for " + what,
                    "Fix: use `atomic_exchange`, or make the store a statement of its own");
    }

    void index(ExprId id, const std::string& array) {
        const Type got = expression(id);
        if (got.none() || (got.integer() && got.scalar())) return;
        problem(code_.exprs[id].place,
                "the index of `" + array + "` is " + type_name(got) + ", not a scalar integer",
                "Fix: index with a u32, i32, u64 or i64 value");
    }

    std::string name(std::uint32_t local) const {
        const std::string& given = code_.locals[local].name;
        return given.empty() ? "v" + std::to_string(local) : given;
    }

    void declared(const Stmt& s, Type type) {
        if (s.local < code_.locals.size()) code_.locals[s.local].type = type;
    }

    void bounds(const Stmt& s) {
        static constexpr const char* kParts[] = {"first value", "end", "step"};
        std::vector<ExprId> ids;
        std::vector<Type> types;
        for (std::size_t i = 0; i < 3; ++i) {
            const Type got = expression(s.args[i]);
            if (got.none()) continue;
            if (!got.integer() || !got.scalar()) {
                problem(code_.exprs[s.args[i]].place,
                        std::string("the ") + kParts[i] + " of `for` is " + type_name(got) +
                            ", not a scalar integer",
                        "Fix: count with i32, u32, i64 or u64");
                continue;
            }
            ids.push_back(s.args[i]);
            types.push_back(got);
            if (got != types[0])
                problem(code_.exprs[s.args[i]].place,
                        "`for` counts in " + type_name(types[0]) + ", but its " + kParts[i] +
                            " is " + type_name(got),
                        agreement_fix(code_, ids, types));
        }
        declared(s, types.empty() ? Type{} : types[0]);
    }

    void zeroed(const Stmt& s) {
        const std::optional<Type> type = type_from_code(s.imm);
        const bool array = s.op == Op::VAR_ARRAY;
        if (type && !type->storage() && !(array && type->boolean())) {
            declared(s, *type);
            return;
        }
        problem(
            s.place,
            std::string(array ? "an array in a function cannot hold " : "no variable has type ") +
                type_name(type.value_or(Type{})),
            "Fix: use i32, u32, i64, u64, f16, f32 or f64, or a vector of them");
    }

    void statement(const Stmt& s) {
        const bool has_local = s.local < code_.locals.size();
        switch (s.op) {
            case Op::LET:
            case Op::VAR:
                declared(s, expression(s.args[0]));
                if (expression(s.args[0]).none()) no_result(s.args[0], "`" + name_of(s) + "`");
                break;
            case Op::VAR_ZERO:
            case Op::VAR_ARRAY:
                zeroed(s);
                break;
            case Op::ASSIGN:
                if (!has_local) break;
                if (code_.locals[s.local].form == Local::Form::Array)
                    problem(s.place, "`" + name(s.local) + "` is an array, not a variable",
                            "Fix: assign one element, as in `" + name(s.local) + "[i] = v`");
                else
                    expect(s.args[0], code_.locals[s.local].type, "`" + name(s.local) + "`");
                break;
            case Op::ASSIGN_COMPONENT:
                if (has_local) component(s);
                break;
            case Op::STORE:
                if (s.imm >= program_.buffers.size()) break;
                index(s.args[0], program_.buffers[s.imm].name);
                expect(s.args[1], program_.buffers[s.imm].type.loaded(),
                       "an element of `" + program_.buffers[s.imm].name + "`");
                break;
            case Op::STORE_ARRAY:
                if (!has_local) break;
                if (code_.locals[s.local].form != Local::Form::Array) {
                    problem(s.place, "`" + name(s.local) + "` is not an array",
                            "Fix: assign to the name alone, or declare it with `[count]`");
                    break;
                }
                index(s.args[0], name(s.local));
                expect(s.args[1], code_.locals[s.local].type,
                       "an element of `" + name(s.local) + "`");
                break;
            case Op::EFFECT:
                expression(s.args[0]);
                break;
            case Op::IF:
            case Op::WHILE:
                expect(s.args[0], kBool, "the condition of `" + std::string(op_text(s.op)) + "`");
                break;
            case Op::FOR:
                bounds(s);
                break;
            default:
                break;
        }
    }

    void component(const Stmt& s) {
        const Local& local = code_.locals[s.local];
        if (local.type.none()) {
            expression(s.args[0]);
        } else if (local.form == Local::Form::Array || local.type.lanes <= s.imm ||
                   local.type.scalar()) {
            problem(s.place,
                    "`" + name(s.local) + "` has no component `." +
                        std::string(1, "xyzw"[s.imm & 3U]) + "`",
                    "Fix: assign a component that the vector has");
        } else {
            expect(s.args[0], local.type.component(), "a component of `" + name(s.local) + "`");
        }
    }

    std::string name_of(const Stmt& s) const {
        return s.local < code_.locals.size() ? name(s.local) : std::string("a value");
    }

    const Program& program_;
    Code& code_;
    std::uint32_t function_;
    const std::function<void(const TypeProblem&)>& report_;
    std::vector<bool> seen_;
    std::vector<ExprId> pending_;
    std::vector<Type> types_;
    bool clean_ = true;
};

}  // namespace

bool assign_types(Program& program, const std::function<void(const TypeProblem&)>& report) {
    bool clean = true;
    for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
        Function& f = program.functions[i];
        Assigner walk(program, f.code, i, report);
        for (std::uint32_t k = 0; k < f.arguments; ++k)
            if (const Local& a = f.code.locals[k]; a.type.storage())
                walk.problem(a.place,
                             "argument " + std::to_string(k + 1) + " of `" + f.name +
                                 "` has the storage type " + type_name(a.type),
                             "Fix: pass the loaded value's type, " + type_name(a.type.loaded()));
        if (f.type.storage())
            walk.problem(f.place, "`" + f.name + "` returns the storage type " + type_name(f.type),
                         "Fix: return " + type_name(f.type.loaded()));
        walk.run();
        walk.result(f.type, f.name);
        clean = walk.clean() && clean;
    }
    Assigner walk(program, program.main, kNone, report);
    return walk.run() && clean;
}

}  // namespace wye::ir
