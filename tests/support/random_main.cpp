// SPDX-License-Identifier: Apache-2.0
//
// Makes random bodies of main: stretches of statements between barriers, subgroup operations,
// phases between grid barriers.
#include "support/random_statements.hpp"

namespace support {

bool Statements::has_shared() const {
    for (const SharedMemory& s : shared_)
        if (s.shared) return true;
    return false;
}

void Statements::change_use() {
    for (SharedMemory& s : shared_) {
        if (!s.shared) continue;
        Memory& m = memory(s.name);
        const bool can_be_atomic = m.element.lanes == 1 && m.element.integer() &&
                                   (options_.atomic_int64_shared || m.element.scalar_bytes() == 4);
        const auto choice = random_.below(can_be_atomic ? 3 : 2);
        s.use = choice == 0   ? SharedMemory::Use::Own
                : choice == 1 ? SharedMemory::Use::Read
                              : SharedMemory::Use::Atomic;
        s.atomic = random_.below(6);
        m.readable = s.use != SharedMemory::Use::Atomic;
        m.own = s.use == SharedMemory::Use::Own ? s.own : std::vector<std::string>{};
    }
}

// Ends a stretch with a barrier, or with a workgroup_uniform_load, which acts as a barrier before
// and after the load.
std::string Statements::join(const Flow& flow) {
    std::vector<const SharedMemory*> choices;
    for (const SharedMemory& s : shared_)
        if (s.shared) choices.push_back(&s);
    if (choices.empty() || random_.chance(75)) return indent(flow) + "barrier;\n";
    const SharedMemory& s = *random_.pick(choices);
    scope_.uniform_only = true;
    const std::string index = expressions_.index(1);
    scope_.uniform_only = false;
    const std::string name = fresh("uni");
    scope_.variables.push_back({name, memory(s.name).element, false, false, true});
    return indent(flow) + "let " + name + " = workgroup_uniform_load(" + s.name + "[" + index +
           "]);\n";
}

std::string Statements::stretch(const Flow& flow) {
    change_use();
    std::string out = body(static_cast<unsigned>(random_.between(1, 1 + options_.size / 3)), flow);
    for (std::uint64_t n = subgroups_ ? random_.below(4) : 0; n > 0; --n)
        out +=
            indent(flow) + (random_.chance(30) ? subgroup_flow(flow) : subgroup_operation()) + "\n";
    return out;
}

// Emits control flow that is uniform in each subgroup, but may differ between subgroups.
std::string Statements::subgroup_flow(const Flow& flow) {
    scope_.uniform_only = true;
    const std::string value = expressions_.expression(kTextU32, 1);
    scope_.uniform_only = false;
    Flow inner = flow;
    ++inner.depth;
    std::string head;
    const std::size_t visible = scope_.variables.size();
    if (random_.chance(60)) {
        head = cat({"if ((subgroup_id ^ ", value, ") & 1u) == 0u {\n"});
    } else {
        const std::string name = fresh("n");
        head = cat({"for ", name, " in 0u..(subgroup_id + ", value, ") & 3u {\n"});
        scope_.variables.push_back({name, kTextU32, false, false, false});
        ++inner.loops;
    }
    std::string out = head + body(static_cast<unsigned>(random_.below(3)), inner);
    for (std::int64_t n = random_.between(1, 2); n > 0; --n)
        out += indent(inner) + subgroup_operation() + "\n";
    out += body(static_cast<unsigned>(random_.below(2)), inner);
    scope_.variables.resize(visible);
    return out + indent(flow) + "}";
}

std::string Statements::subgroup_operation() {
    static const std::vector<std::string> kReductions = {"subgroup_add", "subgroup_min",
                                                         "subgroup_max", "subgroup_inclusive_add",
                                                         "subgroup_exclusive_add"};
    static const std::vector<std::string> kBits = {"subgroup_and", "subgroup_or", "subgroup_xor"};
    TextType type = expressions_.any_type(false).with_lanes(1);
    if (type.kind == WYE_KIND_F16) type.kind = WYE_KIND_F32;
    TextType result = type;
    std::string operation;
    switch (random_.below(6)) {
        case 0:
            result = kTextBool;
            operation = cat({random_.chance(50) ? "subgroup_any(" : "subgroup_all(",
                             expressions_.expression(kTextBool, 3), ")"});
            break;
        case 1:
            result = {WYE_KIND_U32, 4};
            operation = cat({"subgroup_ballot(", expressions_.expression(kTextBool, 3), ")"});
            break;
        case 2: {
            scope_.uniform_only = true;
            const std::string lane = expressions_.expression(kTextU32, 2);
            scope_.uniform_only = false;
            operation =
                cat({"subgroup_broadcast(", expressions_.expression(type, 3), ", ", lane, ")"});
            break;
        }
        case 3:
            operation = cat({random_.chance(50) ? "subgroup_shuffle(" : "subgroup_shuffle_xor(",
                             expressions_.expression(type, 3), ", ",
                             expressions_.expression(kTextU32, 2), ")"});
            break;
        default: {
            const bool bits = type.integer() && random_.chance(40);
            operation = cat({random_.pick(bits ? kBits : kReductions), "(",
                             expressions_.expression(type, 3), ")"});
        }
    }
    const std::string name = fresh("s");
    scope_.variables.push_back({name, result, false, false, false});
    return "let " + name + " = " + operation + ";";
}

namespace {

constexpr const char* kNumber =
    "global_id.x + num_workgroups.x * workgroup_size.x * ("
    "global_id.y + num_workgroups.y * workgroup_size.y * global_id.z)";

}  // namespace

std::string Statements::number_function() {
    return std::string("fn number() -> u32 {\n    return ") + kNumber + ";\n}\n";
}

std::string Statements::fixed_value() {
    std::vector<std::string> choices = {"num_workgroups.x", "workgroup_size.y",
                                        std::to_string(random_.below(9)) + "u"};
    for (const Memory& m : scope_.memory) choices.push_back("len(" + m.name + ")");
    for (const Variable& p : scope_.params)
        if (p.type.integer()) choices.push_back("u32(" + p.name + ")");
    for (const Variable& v : fixed_) choices.push_back("u32(" + v.name + ")");
    static const std::vector<std::string> kOperators = {"+", "-", "*", "/", "%", "^", "<<", ">>"};
    if (random_.chance(40)) return random_.pick(choices);
    return cat({"(", random_.pick(choices), " ", random_.pick(kOperators), " ",
                random_.pick(choices), ")"});
}

// Emits a grid barrier. The declarations of main are not valid after it.
std::string Statements::grid_barrier(const Flow& flow) {
    for (const Variable& v : scope_.variables)
        if (v.assignable || v.array) ended_.push_back(v.name);
    scope_.variables = fixed_;
    return indent(flow) + "grid_barrier;\n";
}

std::string Statements::new_phase(const Flow& flow) {
    std::string out;
    if (random_.chance(50)) {
        const std::string name = fresh("z");
        out += cat({indent(flow), "let ", name, " = ", fixed_value(), ";\n"});
        fixed_.push_back({name, kTextU32, false, false, true});
        scope_.variables.push_back(fixed_.back());
    }
    if (flow.depth >= 2 || random_.chance(40)) return out + grid_barrier(flow);
    const std::size_t outside = fixed_.size();
    const TextType type = expressions_.integer_type();
    const std::string name = fresh("n");
    const std::string s = type.suffix();
    const std::string first =
        random_.chance(60) ? "0" + s : cat({type.name(), "(", fixed_value(), ") & 3", s});
    out += cat({indent(flow), "for ", name, " in ", first, "..", type.name(), "(", fixed_value(),
                ") & ", flow.depth == 0 ? "3" : "1", s});
    if (random_.chance(30)) out += cat({" step ", type.name(), "(", fixed_value(), ")"});
    out += " {\n";
    fixed_.push_back({name, type, false, false, true});
    scope_.variables = fixed_;
    Flow inner = flow;
    ++inner.depth;
    out += stretch(inner);
    out +=
        random_.chance(25) ? new_phase(inner) + indent(inner) + "barrier;\n" : grid_barrier(inner);
    // A barrier, since the use of `shared` may change in the next iteration and after the loop.
    out += stretch(inner) + indent(inner) + "barrier;\n";
    fixed_.resize(outside);
    scope_.variables = fixed_;
    return out + indent(flow) + "}\n";
}

// Emits control flow that is uniform in the workgroup and may contain barriers. A barrier comes
// before and after that code, and before each exit from it, since the use of `shared` may change
// there.
std::string Statements::together(const Flow& flow, bool in_loop) {
    const std::size_t visible = scope_.variables.size();
    Flow inner = flow;
    ++inner.depth;
    std::string out, head, first;
    scope_.uniform_only = true;
    const auto choice = random_.below(10);
    const bool loop = choice >= 5;
    if (loop) {
        const bool counted = choice < 8;
        const std::string name = fresh(counted ? "n" : "w");
        const std::string count = expressions_.expression(kTextU32, 1);
        if (counted) {
            head = cat({"for ", name, " in 0u..(", count, ") & 3u"});
        } else {
            out = cat({indent(flow), "var ", name, " = 0u;\n"});
            head = cat({"while ", name, " < (", count, ") & 3u"});
            first = cat({indent(inner), name, " += 1u;\n"});
        }
        scope_.variables.push_back({name, kTextU32, false, false, true});
    } else {
        head = "if " + expressions_.expression(kTextBool, 3);
    }
    scope_.uniform_only = false;
    in_loop = in_loop || loop;
    const std::string end = indent(inner) + "barrier;\n";
    out += cat({indent(flow), head, " {\n", first, stretch(inner), join(inner)});
    if (random_.chance(30)) out += way_out(inner, in_loop);
    if (inner.depth < 3 && random_.chance(25)) out += together(inner, in_loop);
    out += stretch(inner) + end;
    scope_.variables.resize(visible);
    if (!loop && random_.chance(30)) {
        out += cat({indent(flow), "} else {\n", stretch(inner)});
        if (random_.chance(50)) {
            out += join(inner);
            out += stretch(inner);
        }
        out += end;
        scope_.variables.resize(visible);
    }
    return out + indent(flow) + "}\n";
}

// Emits an exit (return, break or continue) that either the whole workgroup takes or no invocation.
std::string Statements::way_out(const Flow& flow, bool in_loop) {
    std::string what = "return";
    if (in_loop && random_.chance(90)) what = random_.chance(50) ? "break" : "continue";
    if (what == "return" && options_.grid_barriers) return {};
    scope_.uniform_only = true;
    const std::string condition = expressions_.expression(kTextBool, 2);
    scope_.uniform_only = false;
    Flow inner = flow;
    ++inner.depth;
    return cat(
        {indent(flow), "if ", condition, " {\n", indent(inner), what, ";\n", indent(flow), "}\n"});
}

std::string Statements::main() {
    std::string out = "main {\n";
    if (!options_.grid_barriers) {
        out += std::string("    let gid = ") + kNumber + ";\n";
        scope_.variables.push_back({"gid", kTextU32, false, false, false});
        number_ = "gid";
        total_ = "num_workgroups.x * workgroup_size.x";
        if (!line_)
            total_ +=
                " * num_workgroups.y * workgroup_size.y * num_workgroups.z * workgroup_size.z";
    }
    const Flow flow;
    Flow inner = flow;
    inner.depth = 1;
    const auto parts = has_shared() ? random_.between(2, 4) : random_.between(1, 2);
    for (std::int64_t i = 0; i < parts; ++i) {
        out += cat({stretch(flow), join(flow)});
        if (options_.grid_barriers && random_.chance(70)) out += new_phase(flow);
        if (random_.chance(45)) out += together(flow, false);
    }
    // No barrier follows, so a single invocation may return early.
    change_use();
    if (random_.chance(20))
        out += indent(flow) + "if " + expressions_.expression(kTextBool, 3) + " {\n" +
               indent(inner) + "return;\n" + indent(flow) + "}\n";
    if (options_.traps && random_.chance(50))
        out +=
            cat({indent(flow), "if ", expressions_.expression(kTextBool, 3), " {\n", indent(inner),
                 "trap ", std::to_string(random_.between(1, 65535)), ";\n", indent(flow), "}\n"});
    out += body(static_cast<unsigned>(random_.between(1, options_.size)), flow);
    // Stores an expression to each buffer with own elements, so that the values of main have an
    // effect.
    for (const std::string& name : own_) {
        const Memory m = memory(name);
        const int depth = random_.chance(3) ? 9 : 5;
        out += cat({indent(flow), m.name, "[", random_.pick(m.own),
                    "] = ", expressions_.expression(m.element.loaded(), depth), ";\n"});
    }
    return out + "}\n";
}

}  // namespace support
