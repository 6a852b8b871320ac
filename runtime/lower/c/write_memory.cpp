// SPDX-License-Identifier: Apache-2.0
//
// Loads, stores and atomics. An index that is not proven in range is compared with the length. If
// it is out of range, a load reads element 0 and yields zero (without a branch; plugins bind at
// least one readable element), and a store or atomic is skipped.
#include "lower/c/writer.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;
using Check = middle::Access::Check;

}  // namespace

// Returns a pointer to the first component, or to the first packed element.
std::string CWriter::name_of_array(const middle::Array& array) {
    module_.use_type(array.type.kind);
    switch (array.space) {
        case Space::Global:
            return outer(Outer::Kind::Buffer, array.number);
        case Space::Shared:
            return outer(Outer::Kind::Shared, array.number);
        case Space::Constant:
            return "c" + std::to_string(array.number);
        case Space::Private:
            break;
    }
    const std::string name = "v" + std::to_string(array.number);
    if (!regions_.kept(array.number) || !region_) return name;
    return "(" + name + " + " + outer(Outer::Kind::LocalIndex) + " * " +
           std::to_string(array.components()) + "u)";
}

CWriter::Index CWriter::index(const middle::Access& access) {
    Index out;
    out.array = name_of_array(access.array);
    out.at = value(access.index).c[0];
    const bool reused = access.check != Check::None || access.array.lanes() > 1;
    if (reused) out.at = atom(access.kind, out.at);
    if (access.check == Check::None) return out;
    out.ok = out.at + " < " + leaf(access.length);
    if (access.check == Check::Skip) return out;
    out.ok = temporary(Kind::BOOL, out.ok);
    out.at = out.ok + " ? " + out.at + " : " + module_.literal(access.kind, 0);
    if (access.array.lanes() > 1) out.at = temporary(access.kind, out.at);
    return out;
}

// Returns one component of an element as an lvalue. Packed elements are addressed as a whole.
std::string CWriter::element(const middle::Array& array, const Index& index,
                             unsigned component) const {
    if (array.lanes() == 1 || array.packed) return index.array + "[" + bare(index.at) + "]";
    const std::string u64(module_.value_type(Kind::U64));
    const std::string lanes = std::to_string(array.lanes());
    const bool large = array.space == Space::Global;  // a 32-bit product may wrap
    std::string text =
        index.array + "[" + (large ? "(" + u64 + ")" : "") + index.at + " * " + lanes + "u";
    if (component != 0) text += " + " + std::to_string(component) + "u";
    return text + "]";
}

// Converts a component in memory to its value.
std::string CWriter::loaded(const middle::Array& array, const std::string& cell) {
    if (array.as_bits())
        return module_.intrinsic(Intrinsic::BitsFloat,
                                 array.cell == Kind::U64 ? Kind::F64 : Kind::F32, cell);
    if (!array.narrow()) return cell;
    if (array.type.kind == Kind::F16) return c_form(module_, array.loaded, cell);  // takes a u32
    const std::string word =
        "(" + std::string(module_.value_type(Kind::U32)) + ")" +
        (array.extends_sign() ? "(" + std::string(module_.spelling.type(Kind::I32)) + ")" : "") +
        cell;
    return array.loaded == middle::kNoKey ? word : c_form(module_, array.loaded, word);
}

CValue CWriter::load(const middle::Access& access) {
    const middle::Array& array = access.array;
    const Index at = index(access);
    const ir::Type type = array.type.loaded();
    CValue v;
    v.lanes = type.lanes;
    v.depth = 1;
    if (array.packed) {
        const std::string whole = "t" + std::to_string(temporaries_++);
        line("const " + module_.element_type(array) + " " + whole + " = " + element(array, at, 0) +
             ";");
        for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = loaded(array, whole + "." + "xyzw"[k]);
    } else {
        for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = loaded(array, element(array, at, k));
    }
    if (access.check == Check::None) {
        if (v.lanes > 1 && !array.packed) settle(v, type);
        return v;
    }
    for (unsigned k = 0; k < v.lanes; ++k) {
        // The load gets a name first, so that it stays outside of the select.
        if (!array.packed) v.c[k] = temporary(type.kind, v.c[k]);
        v.c[k] = "(" + at.ok + " ? " + v.c[k] + " : " + module_.literal(type.kind, 0) + ")";
    }
    return v;
}

// Converts a value to a component in memory.
std::string CWriter::stored(const middle::Access& access, const std::string& text) {
    const middle::FormKey key = access.stored();
    const std::string cell = key == middle::kNoKey ? text : c_form(module_, key, text);
    if (!access.array.narrow()) return cell;
    return "(" + std::string(module_.spelling.type(access.array.cell)) + ")" + cell;
}

void CWriter::store(const middle::Access& access, ir::ExprId value_id) {
    const middle::Array& array = access.array;
    Index at = index(access);
    // The index is evaluated before an effect in the value.
    if (ir::op_effect(code_.exprs[value_id].op)) at.at = atom(access.kind, at.at);
    CValue v = right_side(value_id);
    if (v.lanes > 1 && !array.packed)  // all components are computed before any is written
        settle(v, array.type.loaded());
    std::vector<std::string> parts;
    for (unsigned k = 0; k < v.lanes; ++k) parts.push_back(stored(access, v.c[k]));
    std::vector<std::string> writes;
    if (array.packed)
        writes.push_back(element(array, at, 0) + " = " +
                         module_.spelling.make_vector({array.cell, array.type.lanes}, parts) + ";");
    else
        for (unsigned k = 0; k < v.lanes; ++k)
            writes.push_back(element(array, at, k) + " = " + bare(parts[k]) + ";");
    const std::string test = at.ok.empty() ? std::string() : "if (" + at.ok + ") ";
    if (writes.size() == 1 || test.empty()) {
        for (const std::string& write : writes) line(test + write);
        return;
    }
    line(test + "{");
    ++indent_;
    for (const std::string& write : writes) line(write);
    --indent_;
    line("}");
}

// Writes a compare-and-swap loop.
std::string CWriter::add_float(const middle::Array& array, const std::string& pointer,
                               const std::string& value) {
    const bool wide = array.type.kind == Kind::F64;
    const Kind bits_kind = wide ? Kind::U64 : Kind::U32;
    const std::string type(module_.use_type(array.type.kind));
    const std::string bits(module_.value_type(bits_kind));
    const std::string to = module_.spelling.volatile_pointer(array.space, bits);
    const std::string name = std::string("wye_atomic_add_") + (wide ? "f64" : "f32") +
                             (array.space == Space::Shared ? "_shared" : "");
    if (!module_.has_helper(name)) {
        const std::string swapped[] = {"old", "next"};
        const std::string sum[] = {"old", "v"};
        module_.add_helper(
            name,
            type + " " + name + "(" + to + " p, const " + type + " v) {\n    " + bits +
                " old = *p;\n    for (;;) {\n        const " + bits +
                " next = " + c_form(module_, middle::added_bits(array.type.kind), sum) +
                ";\n        const " + bits + " seen = " +
                module_.spelling.atomic(Op::ATOMIC_CAS, bits_kind, array.space, "p", swapped) +
                ";\n        if (seen == old) break;\n        old = seen;\n    }\n    return " +
                module_.intrinsic(Intrinsic::BitsFloat, array.type.kind, "old") + ";\n}\n");
    }
    return name + "((" + to + ")(" + pointer + "), " + value + ")";
}

void CWriter::ballot(CValue& v, const std::string& condition) {
    for (unsigned k = 0; k < v.lanes; ++k)
        v.c[k] = k * 32 < module_.subgroup
                     ? temporary(Kind::U32, module_.spelling.ballot(module_.subgroup, k, condition))
                     : module_.literal(Kind::U32, 0);
}

std::string CWriter::atomic(ir::ExprId id, bool wanted) {
    const ir::Expr& e = code_.exprs[id];
    const middle::Access access = form_.access(id);
    const middle::Array& array = access.array;
    const auto ids = code_.operands_of(e);
    const Kind kind = array.type.kind;
    if (array.type.bits() == 64) module_.used.atomic64 = true;
    const Index at = index(access);
    std::vector<std::string> operands;
    for (std::size_t i = 1; i < ids.size(); ++i) operands.push_back(atom(kind, value(ids[i]).c[0]));
    const std::string pointer = "&" + element(array, at, 0);
    const std::string text =
        array.adds_in_loop ? add_float(array, pointer, operands[0])
                           : module_.spelling.atomic(e.op, kind, array.space, pointer, operands);
    const bool spins = module_.facts.quirks.has(module_.spelling.spinning_atomic()) &&
                       array.space == Space::Shared && spins_in_shared(e.op, kind);
    const auto run = [&](const std::string& statement) {
        line((at.ok.empty() ? "" : "if (" + at.ok + ") ") +
             (spins ? module_.spelling.done_together(statement) : statement));
    };
    if (e.op == Op::ATOMIC_STORE || !wanted) {
        run(text + ";");
        return {};
    }
    if (at.ok.empty() && !spins) return temporary(kind, text);
    std::string old = "t" + std::to_string(temporaries_++);
    line(std::string(module_.value_type(kind)) + " " + old + " = " + module_.literal(kind, 0) +
         ";");
    run(old + " = " + text + ";");
    return old;
}

}  // namespace wye::lower
