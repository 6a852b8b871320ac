// SPDX-License-Identifier: Apache-2.0
//
// Program shapes that drivers have miscompiled or have not finished compiling: indices that are the
// low bits of a counter, loops with as many iterations as a table has elements, deeply nested
// calls. Also loops over a range that is read from the data: lowering emits the body of such a loop
// twice.
#include "support/random_statements.hpp"

namespace support {
namespace {

constexpr unsigned kLevels = 24;  // the greatest depth of calls

}  // namespace

// Emits a loop that adds up elements of an array in a variable. If there is no suitable array,
// emits an assignment.
std::string Statements::walk(const Flow& flow) {
    std::vector<const Memory*> choices;
    for (const Memory& m : scope_.memory)
        if (m.uniform && m.count != 0 && m.element.lanes == 1) choices.push_back(&m);
    if (choices.empty() || options_.many_groups || flow.loops > 0) return assign();
    const Memory m = *random_.pick(choices);
    static const std::vector<std::string> kSteps = {"3", "5", "6", "7", "9", "12", "4", "1"};
    static const std::vector<unsigned> kMasks = {7, 15, 31, 63, 127};
    const std::string v = fresh("v"), n = fresh("n");
    const std::string in = indent(flow) + "    ";
    const std::string step = random_.pick(kSteps) + "u";
    const unsigned mask = random_.pick(kMasks);
    std::string base = n, head = "0u.." + std::to_string(random_.between(9, 64)) + "u";
    if (random_.chance(20)) base = "(" + n + " + local_index)";
    if (random_.chance(10)) base = "(" + n + " ^ 1u)";
    std::string index = base + " * " + step;
    if (random_.chance(15)) index = "(" + base + " << 2u) + " + base;
    if (random_.chance(10)) index = "(" + index + " | " + std::to_string(mask / 2 + 1) + "u)";
    index = random_.chance(50) ? "(" + index + ") % " + std::to_string(mask + 1) + "u"
                               : "(" + index + ") & " + std::to_string(mask) + "u";
    std::string after;
    std::string out =
        cat({"var ", v, " = ", expressions_.expression(m.element.loaded(), 2), ";\n"});
    if (random_.chance(20)) {  // a variable computed from its own low bits
        const std::string at = fresh("v");
        out += cat({indent(flow), "var ", at, " = 0u;\n"});
        after = cat({in, at, " = (", at, " & ", std::to_string(mask), "u) + ", step, ";\n"});
        index = at;
        scope_.variables.push_back({at, kTextU32, true, false, false});
    } else if (random_.chance(15)) {
        head += " step " + step;
        index = n + " & " + std::to_string(mask) + "u";
    }
    const std::string a = fresh("a");
    // Keeps the values in a local array, at the same indices.
    const bool keeps = random_.chance(40);
    if (keeps) {
        out += cat({indent(flow), "var ", a, ": ", m.element.loaded().name(), "[",
                    std::to_string(mask + 1), "];\n"});
        scope_.variables.push_back({a, m.element.loaded(), false, true, false});
    }
    out += cat({indent(flow), "for ", n, " in ", head, " {\n"});
    const std::string loaded = cat({m.name, "[", index, "]"});
    if (keeps)
        out += cat({in, a, "[", index, "] = ", a, "[", random_.chance(50) ? n : index, "] + ",
                    loaded, ";\n"});
    out +=
        cat({in, v, " = ", v, m.element.loaded().floating() || random_.chance(60) ? " + " : " ^ ",
             keeps ? a + "[" + n + "]" : loaded, ";\n", after, indent(flow), "}"});
    scope_.variables.push_back({v, m.element.loaded(), true, false, false});
    return out;
}

// Emits a loop with as many iterations as a table has elements, and with loops inside.
std::string Statements::rounds(const Flow& flow) {
    std::vector<const Memory*> choices;
    for (const Memory& m : scope_.memory)
        if (m.table) choices.push_back(&m);
    if (choices.empty() || options_.many_groups || flow.loops > 0) return assign();
    const Memory m = *random_.pick(choices);
    const std::string v = fresh("v"), n = fresh("n"), inner = fresh("n"), a = fresh("a");
    const std::string in = indent(flow) + "    ", deeper = in + "    ";
    const std::string type = m.element.name();
    const std::string count = std::to_string(m.count);
    const bool keeps = random_.chance(50);
    std::string out = cat({"var ", v, " = ", expressions_.expression(m.element, 2), ";\n"});
    if (keeps) out += cat({indent(flow), "var ", a, ": ", type, "[", count, "];\n"});
    out += cat({indent(flow), "for ", n, " in 0u..", count, "u {\n"});
    for (std::int64_t loops = random_.between(1, 2); loops > 0; --loops)
        out += cat({in, "for ", inner, " in 0u..", std::to_string(random_.between(2, 5)), "u {\n",
                    deeper, v, " = ", v, " * ", v, " + ", type, "(", inner, ");\n", in, "}\n"});
    if (keeps) out += cat({in, a, "[", n, "] = ", v, ";\n"});
    out += cat({in, v, " = ", v, " + ", m.name, "[", n, "];\n", indent(flow), "}"});
    scope_.variables.push_back({v, m.element, true, false, false});
    if (keeps) scope_.variables.push_back({a, m.element, false, true, false});
    return out;
}

// Emits a loop of a few iterations whose counter runs around an array's end, around zero, or
// anywhere.
std::string Statements::span(const Flow& flow) {
    std::vector<const Memory*> choices;
    for (const Memory& m : scope_.memory)
        if (m.uniform && m.element.lanes == 1) choices.push_back(&m);
    if (choices.empty() || options_.many_groups) return assign();
    const Memory m = *random_.pick(choices);
    const TextType type = expressions_.integer_type();
    const std::string s = type.suffix();
    const std::string v = fresh("v"), n = fresh("n");
    const std::string in = indent(flow) + "    ";
    const std::string any = "(" + expressions_.expression(type, 2) + ")";
    const std::string wide = type.scalar_bytes() == 8 ? "len64(" : "len(";
    std::string first = any;
    if (random_.chance(40))
        first = cat({type.name(), "(", wide, m.name, ")) - (", any, " & 15", s, ")"});
    else if (random_.chance(60))
        first = cat({any, " % 12", s});
    std::string out =
        cat({"var ", v, " = ", expressions_.expression(m.element.loaded(), 2), ";\n"});
    const std::string from = fresh("c");
    out += cat({indent(flow), "let ", from, " = ", first, ";\n"});
    const std::string count = cat({"(", expressions_.expression(type, 2), " & 15", s, ")"});
    out += cat({indent(flow), "for ", n, " in ", from, "..", from, " + ", count});
    if (random_.chance(25)) out += " step " + std::to_string(random_.between(0, 5)) + s;
    out += " {\n";
    const std::size_t visible = scope_.variables.size();
    scope_.variables.push_back({v, m.element.loaded(), true, false, false});
    scope_.variables.push_back({n, type, false, false, false});
    Flow inner = flow;
    ++inner.depth;
    ++inner.loops;
    inner.leave = true;
    if (random_.chance(40)) out += body(static_cast<unsigned>(random_.between(1, 2)), inner);
    if (random_.chance(20))
        out += cat({in, "if ", expressions_.expression(kTextBool, 2), " {\n", in, "    ",
                    random_.chance(50) ? "break" : "continue", ";\n", in, "}\n"});
    out += cat({in, v, " = ", v, " + ", m.name, "[", n, "];\n"});
    const Memory& other = *random_.pick(choices);
    if (other.element == m.element && random_.chance(50))
        out += cat({in, v, " = ", v, " * ", other.name, "[", n, "];\n"});
    for (const SharedMemory& shared : shared_)
        if (!scope_.in_function && shared.use == SharedMemory::Use::Atomic && random_.chance(30))
            out += in + atomic_at(shared, n) + "\n";
    scope_.variables.resize(visible);
    scope_.variables.push_back({v, m.element.loaded(), true, false, false});
    return out + indent(flow) + "}";
}

// Makes a chain of functions, each of which calls the one before it.
std::string Statements::chain() {
    const TextType type = expressions_.any_type(false).with_lanes(1);
    std::string above;
    std::string out;
    const std::vector<Variable> outside = scope_.variables;
    const std::vector<Callable> callable = scope_.functions;
    scope_.in_function = true;
    for (std::uint64_t left = 4 + random_.below(kLevels - 4); left > 0; --left) {
        const std::string name = fresh("deep");
        scope_.variables = {{"x", type, false, false, false}};
        scope_.functions.clear();  // calls of other functions would double the work at each level
        const std::string with = expressions_.expression(type, 1);
        out += cat({"fn ", name, "(x: ", type.name(), ") -> ", type.name(), " {\n    return ",
                    above.empty() ? "x" : above + "(x)", random_.chance(50) ? " + " : " * ", "(",
                    with, ");\n}\n"});
        above = name;
    }
    scope_.in_function = false;
    scope_.variables = outside;
    scope_.functions = callable;
    scope_.functions.push_back({above, type, {type}});
    return out;
}

}  // namespace support
