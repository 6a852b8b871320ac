// SPDX-License-Identifier: Apache-2.0
//
// Loads, stores and atomics. An index that is not proven in range is compared with the length. If
// it is out of range, a load reads element 0 and yields zero (without a branch; plugins bind at
// least one readable element), and a store or atomic is skipped.
#include "lower/analysis/never_nan.hpp"
#include "lower/c/writer.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

bool narrow(Kind kind) {
    return kind == Kind::I8 || kind == Kind::U8 || kind == Kind::I16 || kind == Kind::U16;
}

}  // namespace

CWriter::Array CWriter::buffer_array(std::uint32_t buffer) {
    const ir::Buffer& b = program_.buffers[buffer];
    Array a;
    a.space = b.shared() ? Space::Shared : Space::Global;
    a.type = b.type;
    a.buffer = buffer;
    a.name = outer(b.shared() ? Outer::Kind::Shared : Outer::Kind::Buffer, buffer);
    a.packed = !b.shared() && (b.type.lanes == 2 || b.type.lanes == 4);
    a.fixed = b.count_kind == ir::Buffer::Count::Literal;
    a.count = b.count;
    module_.use_type(b.type.kind);
    return a;
}

CWriter::Array CWriter::table_array(std::uint32_t table) {
    const ir::Table& t = program_.tables[table];
    Array a;
    a.space = Space::Constant;
    a.type = t.type;
    a.name = "c" + std::to_string(table);
    a.fixed = true;
    a.count = t.bits.size();
    a.as_bits = module_.table_as_bits(t);
    return a;
}

CWriter::Array CWriter::local_array(std::uint32_t local) {
    Array a;
    a.space = Space::Private;
    a.type = code_.locals[local].type;
    a.name = "v" + std::to_string(local);
    a.fixed = true;
    a.count = code_.locals[local].count;
    if (regions_.kept(local) && region_)
        a.name = "(" + a.name + " + " + outer(Outer::Kind::LocalIndex) + " * " +
                 std::to_string(a.count * a.type.lanes) + "u)";
    return a;
}

std::string CWriter::length_of(const Array& array, Kind index) {
    return text_of(middle::length_of({array.fixed, array.count, array.buffer}, index));
}

CWriter::Index CWriter::index(const Array& array, ir::ExprId id, bool proven, bool clamp) {
    const Kind kind = code_.exprs[id].type.kind;
    const bool wide = kind == Kind::I64 || kind == Kind::U64;
    const Kind held = wide ? Kind::U64 : Kind::U32;
    const std::string text = value(id).c[0];
    Index out;
    const bool reused = !proven || array.type.lanes > 1;
    out.raw = reused ? atom(held, text) : text;
    out.at = out.raw;
    if (proven) return out;
    out.ok = out.raw + " < " + length_of(array, kind);
    if (clamp) {
        out.ok = temporary(Kind::BOOL, out.ok);
        out.at = out.ok + " ? " + out.raw + " : " + module_.literal(held, 0);
        if (array.type.lanes > 1) out.at = temporary(held, out.at);
    }
    return out;
}

// One component of an element as an lvalue; packed elements are addressed as a whole.
std::string CWriter::element(const Array& array, const std::string& at, unsigned component) const {
    if (array.type.lanes == 1 || array.packed) return array.name + "[" + bare(at) + "]";
    const std::string u64(module_.value_type(Kind::U64));
    const std::string lanes = std::to_string(array.type.lanes);
    const bool large = array.space == Space::Global;  // a 32-bit product may wrap
    std::string text = array.name + "[" + (large ? "(" + u64 + ")" : "") + at + " * " + lanes + "u";
    if (component != 0) text += " + " + std::to_string(component) + "u";
    return text + "]";
}

// The value of a loaded component: narrow signed integers are sign-extended.
std::string CWriter::widened(const Array& array, const std::string& loaded) {
    const Kind kind = array.type.kind;
    if (kind == Kind::F16 && array.space == Space::Global)
        return c_form(module_, middle::loaded(kind), loaded);
    if (kind == Kind::BF16)
        return c_form(module_, middle::loaded(kind),
                      "(" + std::string(module_.value_type(Kind::U32)) + ")" + loaded);
    if (!narrow(kind)) return loaded;
    const bool is_signed = kind == Kind::I8 || kind == Kind::I16;
    return "(" + std::string(module_.value_type(Kind::U32)) + ")" +
           (is_signed ? "(" + std::string(module_.spelling.type(Kind::I32)) + ")" : "") + loaded;
}

CValue CWriter::load(const Array& array, ir::ExprId index_id, bool proven) {
    const Index at = index(array, index_id, proven, true);
    const ir::Type loaded = array.type.loaded();
    CValue v;
    v.lanes = loaded.lanes;
    v.depth = 1;
    if (array.packed) {
        const std::string whole = "t" + std::to_string(temporaries_++);
        line("const " + module_.element_type(program_.buffers[array.buffer]) + " " + whole + " = " +
             element(array, at.at, 0) + ";");
        for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = widened(array, whole + "." + "xyzw"[k]);
    } else {
        for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = widened(array, element(array, at.at, k));
        if (array.as_bits)
            v.c[0] = module_.intrinsic(
                Intrinsic::BitsFloat, array.type.kind == Kind::F64 ? Kind::F64 : Kind::F32, v.c[0]);
    }
    if (at.ok.empty()) {
        if (v.lanes > 1 && !array.packed) settle(v, loaded);
        return v;
    }
    for (unsigned k = 0; k < v.lanes; ++k) {
        // Named before, so that the load stays outside of the select.
        if (!array.packed) v.c[k] = temporary(loaded.kind, v.c[k]);
        v.c[k] = "(" + at.ok + " ? " + v.c[k] + " : " + module_.literal(loaded.kind, 0) + ")";
    }
    return v;
}

// The stored form of a value: narrow kinds keep the low bits, NaNs become canonical unless `clean`.
std::string CWriter::stored(const Array& array, const std::string& text, bool clean) {
    const Kind kind = array.type.kind;
    const std::string narrowed = "(" + std::string(module_.storage_type(kind)) + ")";
    if (kind == Kind::BF16 || (kind == Kind::F16 && array.space == Space::Global))
        return narrowed + c_form(module_, middle::stored(kind), text);
    if (narrow(kind)) return narrowed + text;
    if ((kind == Kind::F32 || kind == Kind::F64) && !clean)
        return c_form(module_, middle::stored(kind), text);
    return text;
}

void CWriter::store(const Array& array, ir::ExprId index_id, ir::ExprId value_id, bool proven) {
    Index at = index(array, index_id, proven, false);
    const bool is_effect = ir::op_effect(code_.exprs[value_id].op);
    if (is_effect) at.at = atom(code_.exprs[index_id].type.kind, at.at);  // precedes it
    CValue v = right_side(value_id);
    // NaNs are made canonical only in buffers, where hosts can see their bits.
    const bool clean = array.space != Space::Global || never_nan(code_, value_id);
    std::vector<std::string> parts;
    for (unsigned k = 0; k < v.lanes; ++k) parts.push_back(stored(array, v.c[k], clean));
    if (v.lanes > 1 && !array.packed) {  // all components are computed before any is written
        settle(v, array.type.loaded());
        for (unsigned k = 0; k < v.lanes; ++k) parts[k] = stored(array, v.c[k], clean);
    }
    std::vector<std::string> writes;
    if (array.packed) {
        ir::Type stored_type = array.type;
        if (stored_type.kind == Kind::I32) stored_type.kind = Kind::U32;
        if (stored_type.kind == Kind::I64) stored_type.kind = Kind::U64;
        writes.push_back(element(array, at.at, 0) + " = " +
                         module_.spelling.make_vector(stored_type, parts) + ";");
    } else {
        for (unsigned k = 0; k < v.lanes; ++k)
            writes.push_back(element(array, at.at, k) + " = " + bare(parts[k]) + ";");
    }
    if (!at.ok.empty() && writes.size() == 1) {
        line("if (" + at.ok + ") " + writes[0]);
        return;
    }
    if (!at.ok.empty()) line("if (" + at.ok + ") {");
    if (!at.ok.empty()) ++indent_;
    for (const std::string& write : writes) line(write);
    if (!at.ok.empty()) --indent_;
    if (!at.ok.empty()) line("}");
}

CValue CWriter::effect(ir::ExprId id, bool wanted) {
    const ir::Expr& e = code_.exprs[id];
    if (ir::op_atomic(e.op)) return atomic(e, ranges_.accesses[id], wanted);
    if (e.op == Op::WORKGROUP_UNIFORM_LOAD) {
        barrier();
        CValue v = load(buffer_array(e.imm), code_.operands_of(e)[0], ranges_.accesses[id]);
        settle(v, e.type);
        barrier();
        return v;
    }
    return subgroup(e);
}

// A loop around compare and swap.
std::string CWriter::add_float(const Array& array, const std::string& pointer,
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
        module_.add_helper(
            name,
            type + " " + name + "(" + to + " p, const " + type + " v) {\n    " + bits +
                " old = *p;\n    for (;;) {\n        const " + bits + " next = " +
                module_.intrinsic(
                    Intrinsic::FloatBits, array.type.kind,
                    module_.intrinsic(Intrinsic::BitsFloat, array.type.kind, "old") + " + v") +
                ";\n        const " + bits + " seen = " +
                module_.spelling.atomic(Op::ATOMIC_CAS, bits_kind, array.space, "p", swapped) +
                ";\n        if (seen == old) break;\n        old = seen;\n    }\n    return " +
                module_.intrinsic(Intrinsic::BitsFloat, array.type.kind, "old") + ";\n}\n");
    }
    return name + "((" + to + ")(" + pointer + "), " + value + ")";
}

CValue CWriter::subgroup(const ir::Expr& e) {
    const Kind kind = code_.exprs[code_.operands_of(e)[0]].type.kind;
    std::vector<std::string> operands;
    for (const ir::ExprId id : code_.operands_of(e))
        operands.push_back(atom(code_.exprs[id].type.kind, value(id).c[0]));
    CValue v;
    v.lanes = e.type.lanes;
    if (e.op == Op::SUBGROUP_BALLOT) {
        for (unsigned k = 0; k < v.lanes; ++k)
            v.c[k] = k * 32 < module_.subgroup
                         ? temporary(Kind::U32,
                                     module_.spelling.ballot(module_.subgroup, k, operands[0]))
                         : module_.literal(Kind::U32, 0);
        return v;
    }
    if (e.op == Op::SUBGROUP_INCLUSIVE_ADD || e.op == Op::SUBGROUP_EXCLUSIVE_ADD)
        operands.push_back(outer(Outer::Kind::SubgroupLane));
    v.c[0] = temporary(e.type.kind, c_form(module_, middle::subgroup(e.op, kind), operands));
    return v;
}

CValue CWriter::atomic(const ir::Expr& e, bool proven, bool wanted) {
    const Array array = buffer_array(e.imm);
    const auto ids = code_.operands_of(e);
    const Kind kind = array.type.kind;
    if (array.type.bits() == 64) module_.used.atomic64 = true;
    const Index at = index(array, ids[0], proven, false);
    std::vector<std::string> operands;
    for (std::size_t i = 1; i < ids.size(); ++i) operands.push_back(atom(kind, value(ids[i]).c[0]));
    const std::string pointer = "&" + array.name + "[" + bare(at.at) + "]";
    const bool in_a_loop =
        array.type.floating() && !module_.spelling.adds_floats(kind, array.space);
    const std::string text =
        in_a_loop ? add_float(array, pointer, operands[0])
                  : module_.spelling.atomic(e.op, kind, array.space, pointer, operands);
    CValue v;
    if (e.op == Op::ATOMIC_STORE || !wanted) {
        line((at.ok.empty() ? "" : "if (" + at.ok + ") ") + text + ";");
        return v;
    }
    if (at.ok.empty()) {
        v.c[0] = temporary(kind, text);
        return v;
    }
    v.c[0] = "t" + std::to_string(temporaries_++);
    line(std::string(module_.value_type(kind)) + " " + v.c[0] + " = " + module_.literal(kind, 0) +
         ";");
    line("if (" + at.ok + ") " + v.c[0] + " = " + text + ";");
    return v;
}

}  // namespace wye::lower
