// SPDX-License-Identifier: Apache-2.0
//
// Compiler, part 5: statements, control flow and the whole program.
//
// Lanes move between masks: an `if` parks the lanes of its else side; a loop parks the lanes that
// left the loop (exit) and the lanes that took `continue` (again). Return and trap remove lanes
// from every mask.
#include <algorithm>

#include "cpu/compile/compiler.hpp"

namespace wye::cpu {

using ir::Op;

namespace {

constexpr std::uint64_t kLaneMemory = std::uint64_t{1} << 30;
// Limit for the registers of a block. At this size, the registers that are live at a time fit the
// first-level cache, and all registers fit the second-level cache. Smaller blocks cost more per
// instruction than they gain.
constexpr std::uint64_t kCacheBudget = 96U << 10;
constexpr std::uint32_t kMostLanes = 512;
// Short programs without loops are limited by memory and by the fixed cost of a block, so their
// blocks are larger, as long as the first-level cache holds all registers.
constexpr std::uint32_t kStreamLanes = 2048;
constexpr std::uint64_t kStreamBudget = 32U << 10;
constexpr std::size_t kStreamInstrs = 64;

bool streams(const Routine& code) {
    return code.instrs.size() <= kStreamInstrs &&
           std::none_of(code.instrs.begin(), code.instrs.end(), [](const Instr& instr) {
               return instr.step == Step::BackEdge || instr.step == Step::ForNext;
           });
}

std::uint64_t weight_of(Step step) {
    return step == Step::Lanes || step == Step::Direct || step == Step::View ? 4 : 2;
}

std::uint32_t tiles(std::uint32_t lanes) { return (lanes + kTile - 1) / kTile * kTile; }

}  // namespace

Compiler::Compiler(const ir::Program& program, const CompileOptions& options, std::uint32_t lanes)
    : program_(program),
      options_(options),
      uniformities_(program, options.geometry, options.workgroup),
      lane_room_(std::make_unique<Room>()),
      view_room_(std::make_unique<Room>(kView)),
      scalar_room_(std::make_unique<Room>()) {
    code_.geometry = options.geometry;
    code_.lanes = lanes;
}

Result<Routine> Compiler::run() {
    mask_ = new_lanes(code_.lanes);
    code_.mask = mask_->number();
    code_.uses_floats = uses_floats(program_);
    Context cx;
    cx.code = &program_.main;
    cx.uniformity = &uniformities_.main();
    cx.last_uses = &last_uses(program_.main);
    cx.locals.resize(program_.main.locals.size());
    Label end;
    block(cx, program_.main.root, end);
    bind(end);
    emit(Step::End, nullptr);
    code_.lane_bytes = lane_room_->end();
    code_.views = static_cast<std::uint32_t>(view_room_->end() - kView);
    code_.scalars = static_cast<std::uint32_t>(scalar_room_->end());
    if (code_.lane_bytes > kLaneMemory)
        fail(wye::Code::LIMIT_EXCEEDED,
             "the live values of one block of " + std::to_string(code_.lanes) + " lanes need " +
                 std::to_string(code_.lane_bytes >> 20U) + " MiB, more than 1024 MiB",
             "Fix: use a smaller workgroup or fewer variables at a time");
    for (const Instr& instr : code_.instrs) code_.weight += weight_of(instr.step);
    if (error_) return std::move(*error_);
    return std::move(code_);
}

Result<Routine> compile(const ir::Program& program, const CompileOptions& options) {
    const auto& size = options.workgroup;
    if (options.geometry == Geometry::Group)
        return Compiler(program, options, tiles(size[0] * size[1] * size[2])).run();
    // Compiles for the usual block size, and again if another size suits the registers better.
    WYE_ASSIGN(Routine code, Compiler(program, options, kMostLanes).run());
    std::uint32_t lanes = streams(code) ? kStreamLanes : kMostLanes;
    const auto bytes = [&] { return code.lane_bytes * lanes / kMostLanes; };
    while (lanes > kMostLanes && bytes() > kStreamBudget) lanes /= 2;
    while (lanes > kTile && bytes() > kCacheBudget) lanes /= 2;
    if (lanes == kMostLanes) return code;
    return Compiler(program, options, lanes).run();
}

// ---- Blocks -------------------------------------------------------------------------------------

void Compiler::block(Context& cx, ir::BlockId id, Label& end) {
    if (id == ir::kNone) return;
    deeper();
    for (const ir::StmtId stmt : cx.code->blocks[id]) {
        if (error_) break;
        statement(cx, stmt, end);
        release(cx, stmt);
    }
    --depth_;
}

// Frees the locals that are not used after this statement.
void Compiler::release(Context& cx, ir::StmtId id) {
    const auto found = cx.last_uses->find(id);
    if (found == cx.last_uses->end()) return;
    for (const std::uint32_t local : found->second) cx.locals[local] = {};
}

void Compiler::statement(Context& cx, ir::StmtId id, Label& end) {
    const ir::Stmt& s = cx.code->stmts[id];
    switch (s.op) {
        case Op::LET:
            return let(cx, s);
        case Op::VAR:
        case Op::VAR_ZERO:
            return variable(cx, s);
        case Op::VAR_ARRAY:
            return local_array(cx, s);
        case Op::ASSIGN:
        case Op::ASSIGN_COMPONENT:
            return assign(cx, s);
        case Op::STORE: {
            const Value index = expr(cx, s.args[0])[0];
            Values values = expr(cx, s.args[1]);
            release(cx, id);  // a local that holds the value would prevent a direct store
            return store(s.imm, program_.buffers[s.imm].type, index, std::move(values));
        }
        case Op::STORE_ARRAY: {
            const Value index = expr(cx, s.args[0])[0];
            return store_local(cx.locals[s.local].array, index, expr(cx, s.args[1]));
        }
        case Op::EFFECT:
            expr(cx, s.args[0]);
            return;
        case Op::IF: {
            const Value condition = expr(cx, s.args[0])[0];
            if (condition.uniform()) {
                if_uniform(cx, s, condition);
            } else {
                if_lanes(cx, s, condition);
            }
            break;
        }
        case Op::FOR: {
            std::array<Value, 3> range;
            for (std::size_t n = 0; n < 3; ++n) range[n] = lasting(expr(cx, s.args[n])[0]);
            range[2] = range[2].uniform() && !range[2].constant()
                           ? [&] {
                                 Instr operands;
                                 operands.a = scalar(range[2]);
                                 return emit_scalar(
                                     range[2].num,
                                     scalar_kernels().max_one[at(range[2].num)], operands);
                             }()
                           : binary(Binary::Max, range[2], constant(range[2].num, 1));
            const bool uniform = range[0].uniform() && range[1].uniform() && range[2].uniform();
            if (uniform) {
                for_uniform(cx, id, range);
            } else {
                for_lanes(cx, id, range);
            }
            break;
        }
        case Op::WHILE:
            while_statement(cx, id);
            break;
        case Op::BREAK:
            return mask_step(Step::Leave, loops_.back().exit);
        case Op::CONTINUE:
            return mask_step(Step::Leave, loops_.back().again);
        case Op::RETURN:
            emit(Step::Drop, nullptr);
            return;
        case Op::TRAP:
            emit(Step::Trap, nullptr).c = s.imm;
            code_.traps = true;
            return;
        case Op::BARRIER:  // each statement runs for the whole workgroup before the next one
            return;
        default:
            return fail(wye::Code::UNSUPPORTED,
                        "the cpu plugin does not run `" + std::string(ir::op_text(s.op)) + "`",
                        "Fix: use another device, or leave the statement out");
    }
    // The `if` or loop may make lanes leave the block. The block ends when no lane is left.
    const bool loop = s.op != Op::IF;
    if (leaves(*cx.code, s.body, !loop) || leaves(*cx.code, s.otherwise, !loop)) {
        emit(Step::ExitIfEmpty, nullptr);
        use(end);
    }
}

// ---- Locals -------------------------------------------------------------------------------------

void Compiler::let(Context& cx, const ir::Stmt& s) {
    Values values = expr(cx, s.args[0]);
    for (std::size_t n = 0; n < values.count; ++n) values[n] = lasting(std::move(values[n]));
    cx.locals[s.local].values = std::move(values);
    cx.locals[s.local].depth = control_.size();
}

void Compiler::variable(Context& cx, const ir::Stmt& s) {
    const ir::Type type = cx.code->locals[s.local].type;
    const Num num = num_of(type.kind);
    const Lanes varying = cx.uniformity->locals[s.local];
    const std::uint64_t bytes = std::uint64_t{code_.lanes} * bytes_of(width_of(num));
    Values variable;
    Targets targets;
    bool all_lanes = true;
    for (unsigned n = 0; n < type.lanes; ++n) {
        const bool lanes = ((varying >> n) & 1U) != 0;
        Value value = result(num, lanes ? new_lanes(bytes, true) : new_scalar(true));
        if (!lanes) value.form = Value::Form::Scalar;
        all_lanes = all_lanes && lanes;
        targets[n].held = value.held;
        variable.add(std::move(value));
    }
    Values initial;
    if (s.op == Op::VAR) {
        initial = expr(cx, s.args[0], all_lanes ? &targets : nullptr);
    } else {
        for (unsigned n = 0; n < type.lanes; ++n) initial.add(constant(num, 0));
    }
    if (s.op != Op::VAR || !all_lanes) {
        for (unsigned n = 0; n < type.lanes; ++n) {
            if (variable[n].uniform()) {
                move_scalar(initial[n], variable[n].held);
            } else {
                move(initial[n], targets[n]);
            }
        }
    }
    cx.locals[s.local].values = std::move(variable);
    cx.locals[s.local].depth = control_.size();
}

void Compiler::local_array(Context& cx, const ir::Stmt& s) {
    const ir::Local& declared = cx.code->locals[s.local];
    const std::uint64_t row =
        std::uint64_t{code_.lanes} * bytes_of(width_of(num_of(declared.type.kind)));
    LocalArray array;
    array.type = declared.type;
    array.count = declared.count;
    array.held = new_lanes(row * declared.count * declared.type.lanes, true);
    Instr& zero = emit(Step::Lanes, options_.kernels->zero_local);
    zero.d = array.held->number();
    zero.c = static_cast<std::uint32_t>(row * declared.count * declared.type.lanes);
    cx.locals[s.local].array = std::move(array);
    cx.locals[s.local].depth = control_.size();
}

void Compiler::move_scalar(const Value& value, const Held& to) {
    if (!value.uniform())
        return fail(wye::Code::INTERNAL, "the cpu plugin took a varying value for a uniform one",
                    "Fix: report this to the plugin's author with the program");
    // Makes the instruction that computes the value write directly to the variable.
    const bool fresh = value.form == Value::Form::Scalar && value.held.use_count() == 1 &&
                       !value.held->variable && value.held->room != nullptr;
    if (fresh && here() > fuse_from_ && code_.instrs.back().step == Step::Scalar &&
        code_.instrs.back().d == value.held->number()) {
        code_.instrs.back().d = to->number();
        return;
    }
    const std::uint32_t from = scalar(value);
    Instr& copy = emit(Step::Scalar, scalar_kernels().unary[at(Unary::Copy)][at(value.num)]);
    copy.a = from;
    copy.d = to->number();
}

void Compiler::assign(Context& cx, const ir::Stmt& s) {
    Local& local = cx.locals[s.local];
    const Values variable = local.values;  // keeps the registers alive
    const bool masked = divergent_since(local.depth);
    const std::size_t first = s.op == Op::ASSIGN_COMPONENT ? s.imm : 0;
    const std::size_t count = s.op == Op::ASSIGN_COMPONENT ? 1 : variable.count;
    Targets targets;
    bool all_lanes = true;
    for (std::size_t n = 0; n < count; ++n) {
        targets[n] = {variable[first + n].held, masked};
        all_lanes = all_lanes && variable[first + n].lanes();
    }
    // Components are written one by one, so the value must not read a component written earlier.
    const bool at_once = all_lanes && (count == 1 || !mentions(*cx.code, s.args[0], s.local));
    Values values = expr(cx, s.args[0], at_once ? &targets : nullptr);
    if (at_once) return;
    if (count > 1)
        for (std::size_t n = 0; n < count; ++n) values[n] = lasting(std::move(values[n]));
    for (std::size_t n = 0; n < count; ++n) {
        if (variable[first + n].uniform()) {
            const Value value = std::move(values[n]);
            move_scalar(value, variable[first + n].held);
        } else {
            move(values[n], targets[n]);
        }
    }
}

bool Compiler::mentions(const ir::Code& code, ir::ExprId id, std::uint32_t local) {
    const ir::Expr& e = code.exprs[id];
    if (e.op == Op::LOCAL) return e.extra == local;
    const auto operands = code.operands_of(e);
    return std::any_of(operands.begin(), operands.end(),
                       [&](ir::ExprId operand) { return mentions(code, operand, local); });
}

bool Compiler::divergent_since(std::size_t depth) const {
    return std::find(control_.begin() + static_cast<std::ptrdiff_t>(depth), control_.end(), true) !=
           control_.end();
}

// ---- If -----------------------------------------------------------------------------------------

Compiler::Mask Compiler::new_mask() { return {new_lanes(code_.lanes), new_scalar()}; }

void Compiler::mask_step(Step step, const Mask& mask) {
    Instr& instr = emit(step, nullptr);
    instr.d = mask.lanes->number();
    instr.array = mask.count->number();
}

void Compiler::if_uniform(Context& cx, const ir::Stmt& s, const Value& condition) {
    control_.push_back(false);
    Label otherwise;
    Label end;
    if (condition.constant()) {
        block(cx, condition.bits != 0 ? s.body : s.otherwise, end);
    } else {
        const std::uint32_t a = scalar(condition);
        emit(Step::JumpIfNot, nullptr).a = a;
        use(otherwise);
        block(cx, s.body, end);
        if (!cx.code->blocks[s.otherwise].empty()) {
            emit(Step::Jump, nullptr);
            use(end);
            bind(otherwise);
            block(cx, s.otherwise, end);
        } else {
            bind(otherwise);
        }
    }
    bind(end);
    control_.pop_back();
}

void Compiler::if_lanes(Context& cx, const ir::Stmt& s, const Value& condition) {
    const Value where = condition.ramp() ? condition : to_lanes(condition);
    const Mask waiting = new_mask();
    const bool both = !cx.code->blocks[s.otherwise].empty();
    Label skip;  // taken if no lane meets the condition
    Label join;
    Label end;
    mask_step(where.ramp() ? Step::IfRamp : Step::If, waiting);
    Instr& test = code_.instrs.back();
    test.a = where.held->number();
    if (where.ramp()) {
        test.run = options_.kernels->ramp;
        set_ramps(test, where);
    }
    use(skip);
    control_.push_back(true);
    block(cx, s.body, join);
    bind(join);
    Label second;
    if (both) {
        mask_step(Step::Else, waiting);
        use(end);
        bind(skip);
        block(cx, s.otherwise, second);
        bind(second);
    }
    mask_step(Step::EndIf, waiting);
    if (!both) bind(skip);
    bind(end);
    control_.pop_back();
}

// ---- Loops --------------------------------------------------------------------------------------

bool Compiler::leaves(const ir::Code& code, ir::BlockId id, bool loop) {
    if (id == ir::kNone) return false;
    return std::any_of(code.blocks[id].begin(), code.blocks[id].end(), [&](ir::StmtId stmt) {
        const ir::Stmt& s = code.stmts[stmt];
        switch (s.op) {
            case Op::BREAK:
            case Op::CONTINUE:
                return loop;
            case Op::RETURN:
            case Op::TRAP:
                return true;
            case Op::IF:
                return leaves(code, s.body, loop) || leaves(code, s.otherwise, loop);
            case Op::FOR:
            case Op::WHILE:
                return leaves(code, s.body, false);
            default:
                return false;
        }
    });
}

bool Compiler::holds(const ir::Code& code, ir::BlockId id, Op op) {
    if (id == ir::kNone) return false;
    return std::any_of(code.blocks[id].begin(), code.blocks[id].end(), [&](ir::StmtId stmt) {
        const ir::Stmt& s = code.stmts[stmt];
        if (s.op == op) return true;
        return s.op == Op::IF && (holds(code, s.body, op) || holds(code, s.otherwise, op));
    });
}

void Compiler::loop_begin(Context& cx, ir::StmtId id, bool tested_by_lanes) {
    const ir::Stmt& s = cx.code->stmts[id];
    Loop loop;
    if (tested_by_lanes || holds(*cx.code, s.body, Op::BREAK)) loop.exit = new_mask();
    if (holds(*cx.code, s.body, Op::CONTINUE)) loop.again = new_mask();
    if (loop.exit.lanes || loop.again.lanes) {
        Instr& begin = emit(Step::LoopBegin, nullptr);
        begin.array = loop.exit.count ? loop.exit.count->number() : kNoSlot;
        begin.b = loop.again.count ? loop.again.count->number() : kNoSlot;
    }
    loops_.push_back(std::move(loop));
    control_.push_back(tested_by_lanes || cx.uniformity->loops[id]);
}

// Compiles the body; after it, lanes that took `continue` become active again.
void Compiler::loop_body(Context& cx, ir::StmtId id) {
    const ir::Stmt& s = cx.code->stmts[id];
    Label end;
    block(cx, s.body, end);
    bind(end);
    if (loops_.back().again.lanes) mask_step(Step::LoopMerge, loops_.back().again);
}

void Compiler::loop_test(const Value& condition, Label& end) {
    if (!loops_.back().exit.lanes)
        return fail(wye::Code::INTERNAL,
                    "the cpu plugin took a varying condition for a uniform one",
                    "Fix: report this to the plugin's author with the program");
    const Value lanes = to_lanes(condition);
    mask_step(Step::LoopTest, loops_.back().exit);
    code_.instrs.back().a = lanes.held->number();
    use(end);
}

void Compiler::loop_end(Label& end) {
    bind(end);
    if (loops_.back().exit.lanes) mask_step(Step::LoopEnd, loops_.back().exit);
    loops_.pop_back();
    control_.pop_back();
}

void Compiler::while_statement(Context& cx, ir::StmtId id) {
    const ir::Stmt& s = cx.code->stmts[id];
    loop_begin(cx, id, cx.uniformity->exprs[s.args[0]] != 0);
    Label top;
    Label end;
    bind(top);
    const Value condition = expr(cx, s.args[0])[0];
    if (condition.uniform()) {
        const std::uint32_t a = scalar(condition);
        emit(Step::JumpIfNot, nullptr).a = a;
        use(end);
    } else {
        loop_test(condition, end);
    }
    loop_body(cx, id);
    if (leaves(*cx.code, s.body, true)) {
        emit(Step::ExitIfEmpty, nullptr);
        use(end);
    }
    emit(Step::BackEdge, nullptr).target = top.at;
    loop_end(end);
}

void Compiler::for_uniform(Context& cx, ir::StmtId id, const std::array<Value, 3>& range) {
    const ir::Stmt& s = cx.code->stmts[id];
    const Held counter = new_scalar();
    const Value go = binary(Binary::Lt, range[0], range[1]);
    const std::uint32_t first = scalar(range[0]);
    Instr& copy = emit(Step::Scalar, scalar_kernels().unary[at(Unary::Copy)][at(range[0].num)]);
    copy.a = first;
    copy.d = counter->number();
    loop_begin(cx, id, false);
    Label top;
    Label end;
    const std::uint32_t a = scalar(go);
    emit(Step::JumpIfNot, nullptr).a = a;
    use(end);
    bind(top);
    Value value = result(range[0].num, counter);
    value.form = Value::Form::Scalar;
    cx.locals[s.local].values = value;
    cx.locals[s.local].depth = control_.size();
    loop_body(cx, id);
    if (leaves(*cx.code, s.body, true)) {
        emit(Step::ExitIfEmpty, nullptr);
        use(end);
    }
    const std::uint32_t last = scalar(range[1]);
    const std::uint32_t step = scalar(range[2]);
    Instr& next = emit(Step::ForNext, nullptr);
    next.d = counter->number();
    next.a = last;
    next.b = step;
    next.c = 8 * bytes_of(width_of(value.num));
    next.target = top.at;
    loop_end(end);
}

void Compiler::for_lanes(Context& cx, ir::StmtId id, const std::array<Value, 3>& range) {
    const ir::Stmt& s = cx.code->stmts[id];
    const Num num = range[0].num;
    const Width width = width_of(num);
    const Value last = to_lanes(range[1]);
    const Value step = to_lanes(range[2]);
    const Value counter = result(num, new_lanes(std::uint64_t{code_.lanes} * bytes_of(width)));
    move(range[0], {counter.held, false});
    loop_begin(cx, id, true);
    Label top;
    Label end;
    loop_test(binary(Binary::Lt, counter, last), end);
    bind(top);
    cx.locals[s.local].values = counter;
    cx.locals[s.local].depth = control_.size();
    loop_body(cx, id);
    if (leaves(*cx.code, s.body, true)) {
        emit(Step::ExitIfEmpty, nullptr);
        use(end);
    }
    Instr operands;
    operands.a = last.held->number();
    operands.b = counter.held->number();
    operands.c = step.held->number();
    loop_test(
        emit_lanes(Num::Bool, options_.kernels->for_next[width == B8 ? 1 : 0], operands, nullptr),
        end);
    emit(Step::BackEdge, nullptr).target = top.at;
    loop_end(end);
}

// ---- When locals end ----------------------------------------------------------------------------

namespace {

// Walks code in text order and finds, for each local, the last statement of the local's own block
// that uses it, directly or in a nested block. After that statement the local's registers are free.
class UseWalk {
  public:
    explicit UseWalk(const ir::Code& code) : code_(code), homes_(code.locals.size()) {
        last_.assign(code.locals.size(), ir::kNone);
        // Arguments and locals used by the result live to the end.
        pinned_.assign(code.locals.size(), false);
        for (std::size_t n = 0; n < code.locals.size(); ++n)
            pinned_[n] = code.locals[n].form == ir::Local::Form::Argument;
        if (code.root != ir::kNone) block(code.root);
        if (code.result != ir::kNone) pin(code.result);
    }

    std::map<ir::StmtId, std::vector<std::uint32_t>> result() const {
        std::map<ir::StmtId, std::vector<std::uint32_t>> out;
        for (std::uint32_t local = 0; local < last_.size(); ++local)
            if (!pinned_[local] && last_[local] != ir::kNone) out[last_[local]].push_back(local);
        return out;
    }

  private:
    void block(ir::BlockId id) {
        path_.push_back(ir::kNone);
        for (const ir::StmtId stmt : code_.blocks[id]) {
            path_.back() = stmt;
            statement(code_.stmts[stmt]);
        }
        path_.pop_back();
    }

    void statement(const ir::Stmt& s) {
        for (const ir::ExprId arg : s.args)
            if (arg != ir::kNone) expr(arg);
        switch (s.op) {
            case Op::LET:
            case Op::VAR:
            case Op::VAR_ZERO:
            case Op::VAR_ARRAY:
                homes_[s.local] = path_.size();
                use(s.local);
                break;
            case Op::ASSIGN:
            case Op::ASSIGN_COMPONENT:
            case Op::STORE_ARRAY:
                use(s.local);
                break;
            case Op::FOR:  // the counter belongs to the loop: freed after the loop
                homes_[s.local] = path_.size();
                use(s.local);
                break;
            default:
                break;
        }
        if (s.body != ir::kNone) block(s.body);
        if (s.otherwise != ir::kNone) block(s.otherwise);
    }

    void expr(ir::ExprId id) {
        const ir::Expr& e = code_.exprs[id];
        if (e.op == Op::LOCAL || e.op == Op::LOAD_ARRAY || e.op == Op::LEN_ARRAY ||
            e.op == Op::LEN64_ARRAY)
            use(static_cast<std::uint32_t>(e.extra));
        for (const ir::ExprId operand : code_.operands_of(e)) expr(operand);
    }

    void pin(ir::ExprId id) {
        const ir::Expr& e = code_.exprs[id];
        if (e.op == Op::LOCAL || e.op == Op::LOAD_ARRAY || e.op == Op::LEN_ARRAY ||
            e.op == Op::LEN64_ARRAY)
            pinned_[static_cast<std::size_t>(e.extra)] = true;
        for (const ir::ExprId operand : code_.operands_of(e)) pin(operand);
    }

    void use(std::uint32_t local) {
        if (!pinned_[local] && homes_[local] != 0) last_[local] = path_[homes_[local] - 1];
    }

    const ir::Code& code_;
    std::vector<std::size_t> homes_;  // nesting level of the block that declares the local
    std::vector<ir::StmtId> last_;
    std::vector<bool> pinned_;
    std::vector<ir::StmtId> path_;  // for each enclosing block: its current statement
};

}  // namespace

const Compiler::LastUses& Compiler::last_uses(const ir::Code& code) {
    const auto found = last_uses_.find(&code);
    if (found != last_uses_.end()) return found->second;
    return last_uses_.emplace(&code, UseWalk(code).result()).first->second;
}

}  // namespace wye::cpu
