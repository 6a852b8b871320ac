// SPDX-License-Identifier: Apache-2.0
#include "support/random_statements.hpp"

namespace support {
namespace {

const std::vector<std::string>& atomics() {
    static const std::vector<std::string> kNames = {"atomic_add", "atomic_min", "atomic_max",
                                                    "atomic_and", "atomic_or",  "atomic_xor"};
    return kNames;
}

std::string suffix(TextType type) {  // of an integer literal
    switch (type.kind) {
        case WYE_KIND_U32:
            return "u";
        case WYE_KIND_I64:
            return "i64";
        case WYE_KIND_U64:
            return "u64";
        default:
            return "";
    }
}

std::string largest(TextType type) {
    switch (type.kind) {
        case WYE_KIND_I32:
            return "2147483647";
        case WYE_KIND_U32:
            return "4294967295u";
        case WYE_KIND_I64:
            return "9223372036854775807i64";
        default:
            return "18446744073709551615u64";
    }
}

}  // namespace

std::string Statements::indent(const Flow& flow) const {
    return std::string(4 * static_cast<std::size_t>(flow.depth + 1), ' ');
}

std::string Statements::fresh(const char* prefix) { return prefix + std::to_string(names_++); }

Memory& Statements::memory(const std::string& name) {
    for (Memory& m : scope_.memory)
        if (m.name == name) return m;
    return scope_.memory.front();
}

bool Statements::has_shared() const {
    for (const SharedMemory& s : shared_)
        if (s.shared) return true;
    return false;
}

// ---- Blocks -----------------------------------------------------------------------------------

std::string Statements::body(unsigned statements, const Flow& flow) {
    std::string out;
    for (unsigned i = 0; i < statements; ++i) {
        const std::string text = statement(flow);
        if (!text.empty()) out += indent(flow) + text + "\n";
    }
    return out;
}

std::string Statements::block(unsigned statements, Flow flow) {
    const std::size_t visible = scope_.variables.size();
    const std::string outer = indent(flow);
    ++flow.depth;
    std::string out = "{\n" + body(statements, flow);
    if (flow.leave && random_.chance(10))
        out += indent(flow) + (random_.chance(50) ? "break;\n" : "continue;\n");
    scope_.variables.resize(visible);
    return out + outer + "}";
}

std::string Statements::statement(const Flow& flow) {
    const bool deep = flow.depth >= 3;
    switch (random_.below(12)) {
        case 0:
        case 1:
        case 2:
            return declare();
        case 3:
        case 4:
            return assign();
        case 5:
            return deep ? assign() : branch(flow);
        case 6:
            return deep || flow.loops >= 2 ? assign() : counted(flow);
        case 7:
            return deep || flow.loops >= 2 || scope_.in_function ? assign() : repeated(flow);
        case 8:
            return scope_.in_function ? declare() : atomic();
        case 9:
            return scope_.in_function ? assign() : own_atomic();
        default:
            return scope_.in_function ? assign() : store();
    }
}

std::string Statements::declare() {
    const TextType type = expressions_.any_type();
    if (!type.boolean() && random_.chance(12)) {
        const std::string name = fresh("a");
        scope_.variables.push_back({name, type, false, true, false});
        return "var " + name + ": " + type.name() + "[" + std::to_string(random_.between(1, 9)) +
               "];";
    }
    const bool assignable = random_.chance(60);
    const std::string name = fresh(assignable ? "v" : "c");
    const bool zero = assignable && random_.chance(15);
    std::string out = (assignable ? "var " : "let ") + name;
    if (zero || random_.chance(20)) out += ": " + type.name();
    if (!zero) out += " = " + expressions_.expression(type, 4);
    scope_.variables.push_back({name, type, assignable, false, false});
    return out + ";";
}

std::string Statements::assign() {
    std::vector<Variable> choices;
    for (const Variable& v : scope_.variables)
        if (v.assignable || v.array) choices.push_back(v);
    if (choices.empty()) return declare();
    const Variable v = random_.pick(choices);
    if (v.array)
        return cat(
            {v.name, "[", expressions_.index(2), "] = ", expressions_.expression(v.type, 3), ";"});
    if (v.type.lanes > 1 && random_.chance(30))
        return cat({v.name, ".", std::string(1, "xyzw"[random_.below(v.type.lanes)]), " = ",
                    expressions_.expression(v.type.with_lanes(1), 3), ";"});
    if (!v.type.boolean() && random_.chance(30)) {
        static const std::vector<std::string> kFloat = {"+=", "-=", "*=", "/="};
        static const std::vector<std::string> kInteger = {
            "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
        const std::string op = random_.pick(v.type.floating() ? kFloat : kInteger);
        const bool shift = op.size() == 3;
        const TextType right = shift ? TextType{WYE_KIND_U32, v.type.lanes} : v.type;
        return v.name + " " + op + " " + expressions_.expression(right, 3) + ";";
    }
    return v.name + " = " + expressions_.expression(v.type, 4) + ";";
}

std::string Statements::store() {
    std::vector<std::string> names = own_;
    for (const SharedMemory& s : shared_)
        if (s.use == SharedMemory::Use::Own) names.push_back(s.name);
    const Memory m = memory(random_.pick(names));
    return cat({m.name, "[", random_.pick(m.own),
                "] = ", expressions_.expression(m.element.loaded(), 4), ";"});
}

std::string Statements::atomic() {
    std::vector<const SharedMemory*> choices;
    for (const SharedMemory& s : shared_)
        if (s.use == SharedMemory::Use::Atomic) choices.push_back(&s);
    if (choices.empty()) return store();
    const SharedMemory& s = *random_.pick(choices);
    return cat({atomics()[s.atomic], "(", s.name, "[", expressions_.index(2), "], ",
                expressions_.expression(memory(s.name).element, 3), ");"});
}

// On an own element the result of an atomic does not depend on any order.
std::string Statements::own_atomic() {
    std::vector<std::string> choices;
    for (const std::string& name : own_) {
        const TextType type = memory(name).element;
        if (type.lanes == 1 && type.loaded() == type && type.integer() &&
            (options_.atomic_int64 || type.scalar_bytes() == 4))
            choices.push_back(name);
    }
    if (choices.empty()) return store();
    const Memory m = memory(random_.pick(choices));
    const std::string place = m.name + "[" + random_.pick(m.own) + "]";
    const auto value = [&] { return expressions_.expression(m.element, 3); };
    std::string effect;
    switch (random_.below(4)) {
        case 0:
            effect = cat({"atomic_cas(", place, ", ", value(), ", ", value(), ")"});
            break;
        case 1:
            effect = "atomic_exchange(" + place + ", " + value() + ")";
            break;
        case 2:
            effect = "atomic_load(" + place + ")";
            break;
        default:
            effect = cat({random_.pick(atomics()), "(", place, ", ", value(), ")"});
    }
    const std::string name = fresh("c");
    scope_.variables.push_back({name, m.element, false, false, false});
    return "let " + name + " = " + effect + ";";
}

std::string Statements::branch(const Flow& flow) {
    const auto statements = [&] { return static_cast<unsigned>(random_.below(4)); };
    std::string out =
        cat({"if ", expressions_.expression(kTextBool, 3), " ", block(statements(), flow)});
    if (random_.chance(20))
        out += cat(
            {" else if ", expressions_.expression(kTextBool, 3), " ", block(statements(), flow)});
    if (random_.chance(40)) {
        // Nothing may follow an `if` whose blocks all leave, so the last one does not.
        Flow stay = flow;
        stay.leave = false;
        out += " else " + block(statements(), stay);
    }
    return out;
}

std::string Statements::counted(const Flow& flow) {
    const TextType type = expressions_.integer_type();
    const std::string s = suffix(type);
    std::string first;
    std::string end;
    if (random_.chance(15)) {  // up to the largest value
        first = largest(type) + " - " + std::to_string(random_.below(6)) + s;
        end = largest(type);
    } else {
        first = random_.chance(50) ? "0" + s : expressions_.expression(type, 2) + " & 3" + s;
        end = random_.chance(50) ? std::to_string(random_.below(5)) + s
                                 : expressions_.expression(type, 2) + " & 7" + s;
    }
    const std::string name = fresh("n");
    std::string out = "for " + name + " in " + first + ".." + end;
    if (random_.chance(30)) out += " step " + expressions_.expression(type, 1);
    const std::size_t visible = scope_.variables.size();
    scope_.variables.push_back({name, type, false, false, false});
    Flow inner = flow;
    ++inner.loops;
    inner.leave = true;
    out += " " + block(static_cast<unsigned>(random_.between(1, 3)), inner);
    scope_.variables.resize(visible);
    return out;
}

// A while that ends: it counts its rounds.
std::string Statements::repeated(const Flow& flow) {
    const std::string name = fresh("w");
    const std::size_t visible = scope_.variables.size();
    std::string out = cat({"var ", name, " = 0u;\n", indent(flow), "while ", name, " < ",
                           std::to_string(random_.between(1, 5)), "u && ",
                           expressions_.expression(kTextBool, 3), " {\n"});
    Flow inner = flow;
    ++inner.depth;
    ++inner.loops;
    inner.leave = true;
    out += indent(inner) + name + " += 1u;\n";
    scope_.variables.push_back({name, kTextU32, false, false, false});
    out += body(static_cast<unsigned>(random_.between(1, 3)), inner);
    scope_.variables.resize(visible);
    return out + indent(flow) + "}";
}

// ---- Functions and main -----------------------------------------------------------------------

std::string Statements::function() {
    const std::vector<Variable> outside = scope_.variables;
    scope_.in_function = true;
    scope_.variables.clear();
    Callable f;
    f.name = fresh("fun");
    f.type = expressions_.any_type();
    std::string out = "fn " + f.name + "(";
    const auto n = random_.below(4);
    for (std::uint64_t i = 0; i < n; ++i) {
        const TextType type = expressions_.any_type();
        const std::string name = fresh("arg");
        out += (i == 0 ? "" : ", ") + name + ": " + type.name();
        f.arguments.push_back(type);
        scope_.variables.push_back({name, type, false, false, false});
    }
    out += ") -> " + f.type.name() + " {\n";
    Flow flow;
    flow.loops = 1;  // so that at most one loop opens
    out += body(static_cast<unsigned>(random_.below(4)), flow);
    out += indent(flow) + "return " + expressions_.expression(f.type, 3) + ";\n}\n";
    scope_.functions.push_back(f);
    scope_.in_function = false;
    scope_.variables = outside;
    return out;
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

// What ends a stretch: a barrier, or a load that is one on both sides.
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
        out += indent(flow) + subgroup_operation() + "\n";
    return out;
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

// What was declared in the phase ends.
std::string Statements::grid_barrier(const Flow& flow) {
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
    const std::string s = suffix(type);
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
    out += stretch(inner);
    fixed_.resize(outside);
    scope_.variables = fixed_;
    return out + indent(flow) + "}\n";
}

std::string Statements::main() {
    std::string out = "main {\n";
    if (!options_.grid_barriers) {
        out += std::string("    let gid = ") + kNumber + ";\n";
        scope_.variables.push_back({"gid", kTextU32, false, false, false});
    }
    const Flow flow;
    Flow inner = flow;
    inner.depth = 1;
    const auto parts = has_shared() ? random_.between(2, 4) : random_.between(1, 2);
    for (std::int64_t i = 0; i < parts; ++i) {
        out += cat({stretch(flow), join(flow)});
        if (options_.grid_barriers && random_.chance(70)) out += new_phase(flow);
        if (!random_.chance(35)) continue;
        // Flow that is uniform in the workgroup may hold barriers. One stands on either side.
        const std::size_t visible = scope_.variables.size();
        scope_.uniform_only = true;
        std::string head;
        if (random_.chance(50)) {
            head = "if " + expressions_.expression(kTextBool, 3);
        } else {
            const std::string name = fresh("n");
            head = "for " + name + " in 0u.." + expressions_.expression(kTextU32, 1) + " & 3u";
            scope_.variables.push_back({name, kTextU32, false, false, true});
        }
        scope_.uniform_only = false;
        out += cat({indent(flow), head, " {\n", stretch(inner), join(inner), stretch(inner),
                    indent(inner), "barrier;\n"});
        scope_.variables.resize(visible);
        out += indent(flow) + "}\n";
    }
    // After the last barrier an invocation may leave early.
    change_use();
    if (random_.chance(20))
        out += indent(flow) + "if " + expressions_.expression(kTextBool, 3) + " {\n" +
               indent(inner) + "return;\n" + indent(flow) + "}\n";
    if (options_.traps && random_.chance(50))
        out +=
            cat({indent(flow), "if ", expressions_.expression(kTextBool, 3), " {\n", indent(inner),
                 "trap ", std::to_string(random_.between(1, 65535)), ";\n", indent(flow), "}\n"});
    out += body(static_cast<unsigned>(random_.between(1, options_.size)), flow);
    // Every variable that main still sees reaches a buffer.
    for (const std::string& name : own_) {
        const Memory m = memory(name);
        out += cat({indent(flow), m.name, "[", random_.pick(m.own),
                    "] = ", expressions_.expression(m.element.loaded(), 5), ";\n"});
    }
    return out + "}\n";
}

}  // namespace support
