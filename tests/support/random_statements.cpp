// SPDX-License-Identifier: Apache-2.0
#include "support/random_statements.hpp"

namespace support {
namespace {

const std::vector<std::string>& atomics() {
    static const std::vector<std::string> kNames = {"atomic_add", "atomic_min", "atomic_max",
                                                    "atomic_and", "atomic_or",  "atomic_xor"};
    return kNames;
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

// A new name or, after a grid barrier, sometimes the name of a variable that has ended there.
std::string Statements::fresh(const char* prefix) {
    if (!ended_.empty() && random_.chance(50)) {
        const std::string name = ended_.back();
        ended_.pop_back();
        return name;
    }
    return prefix + std::to_string(names_++);
}

Memory& Statements::memory(const std::string& name) {
    for (Memory& m : scope_.memory)
        if (m.name == name) return m;
    return scope_.memory.front();
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
    switch (random_.below(14)) {
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
            if (deep || flow.loops >= 2) return assign();
            return random_.chance(70) ? counted(flow) : span(flow);
        case 7:
            return deep || flow.loops >= 2 || scope_.in_function ? assign() : repeated(flow);
        case 8:
            return scope_.in_function ? declare() : atomic();
        case 9:
            return scope_.in_function ? assign() : own_atomic();
        case 10:
            if (scope_.in_function || deep || flow.loops >= 2) return assign();
            return random_.chance(60) ? stride(flow) : plane(flow);
        case 11:
            if (random_.chance(60)) return scope_.in_function ? assign() : store();
            return random_.chance(60) ? walk(flow) : rounds(flow);
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

// Emits a loop in which an invocation steps by the number of invocations in the grid, so that no
// two invocations access the same element.
std::string Statements::stride(const Flow& flow) {
    std::vector<std::string> choices;
    for (const std::string& name : own_)
        if (memory(name).single) choices.push_back(name);
    if (choices.empty() || number_.empty()) return store();
    const std::string array = random_.pick(choices);
    const std::string name = fresh("k");
    const std::string head =
        cat({"for ", name, " in ", number_, "..len(", array, ") step ", total_, " "});
    const std::size_t visible = scope_.variables.size();
    scope_.variables.push_back({name, kTextU32, false, false, false});
    Memory& m = memory(array);
    m.own.push_back(name);
    Flow inner = flow;
    ++inner.depth;
    ++inner.loops;
    inner.leave = true;
    std::string out = head + "{\n" + body(static_cast<unsigned>(random_.below(3)), inner);
    out += cat({indent(inner), array, "[", name,
                "] = ", expressions_.expression(m.element.loaded(), 3), ";\n"});
    m.own.pop_back();
    scope_.variables.resize(visible);
    return out + indent(flow) + "}";
}

// Emits accesses to the plane. An invocation accesses its own element, if the plane has its column.
std::string Statements::plane(const Flow& flow) {
    if (plane_.empty()) return store();
    Memory& m = memory(plane_);
    const std::string width = std::to_string(plane_width_) + "u";
    const std::string place = "global_id.y * " + width + " + global_id.x";
    const std::size_t visible = scope_.variables.size();
    m.readable = true;
    m.own = {place};
    Flow inner = flow;
    ++inner.depth;
    std::string out =
        "if global_id.x < " + width + " {\n" + body(static_cast<unsigned>(random_.below(3)), inner);
    out += cat({indent(inner), plane_, "[", place,
                "] = ", expressions_.expression(m.element.loaded(), 3), ";\n"});
    m.readable = false;
    m.own.clear();
    scope_.variables.resize(visible);
    return out + indent(flow) + "}";
}

std::string Statements::atomic() {
    std::vector<const SharedMemory*> choices;
    for (const SharedMemory& s : shared_)
        if (s.use == SharedMemory::Use::Atomic) choices.push_back(&s);
    if (choices.empty()) return store();
    const SharedMemory& s = *random_.pick(choices);
    return atomic_at(s, expressions_.index(2));
}

std::string Statements::atomic_at(const SharedMemory& s, const std::string& index) {
    return cat({atomics()[s.atomic], "(", s.name, "[", index, "], ",
                expressions_.expression(memory(s.name).element, 3), ");"});
}

// Emits an atomic on an element that only this invocation uses, so that the result is always the
// same.
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
    switch (random_.below(5)) {
        case 4:
            return cat({"atomic_store(", place, ", ", value(), ");"});
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
        // No statement may follow an `if` in which every block ends with an exit, so the last block
        // has none.
        Flow stay = flow;
        stay.leave = false;
        out += " else " + block(statements(), stay);
    }
    return out;
}

std::string Statements::counted(const Flow& flow) {
    const TextType type = expressions_.integer_type();
    const std::string s = type.suffix();
    std::string first;
    std::string end;
    if (random_.chance(15)) {  // the end is the largest value
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

// Emits a `while` loop that counts its iterations, so that the loop ends.
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
    flow.loops = 1;  // allow at most one more loop inside
    out += body(static_cast<unsigned>(random_.below(4)), flow);
    out += indent(flow) + "return " + expressions_.expression(f.type, 3) + ";\n}\n";
    scope_.functions.push_back(f);
    scope_.in_function = false;
    scope_.variables = outside;
    return out;
}

}  // namespace support
