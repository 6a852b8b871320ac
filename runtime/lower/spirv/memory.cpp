// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores. An index that is not proven in range is compared with the length. If it is out
// of range, a load reads element 0 and yields zero (without a branch; plugins bind at least one
// readable element), and a store is skipped. Indices in range are 32 bits wide: no descriptor
// reaches 2^32 components.
#include <algorithm>

#include "lower/analysis/never_nan.hpp"
#include "lower/spirv/ops.hpp"
#include "lower/spirv/writer.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using spv::StorageClass;

bool wide_integer(Kind kind) { return kind == Kind::I64 || kind == Kind::U64; }
// True for components that are 8 or 16-bit integers in memory; f16 only in buffers.
bool narrow(const SpirvArray& array) {
    const Kind kind = array.type.kind;
    return array.type.storage() ||
           (kind == Kind::F16 && array.storage == StorageClass::StorageBuffer);
}
bool extends_sign(Kind kind) { return kind == Kind::I8 || kind == Kind::I16; }

}  // namespace

SpirvArray SpirvWriter::local_array(std::uint32_t local) {
    SpirvArray a;
    a.variable = locals_[local].c[0];
    a.type = code_.locals[local].type;
    a.element = module_.value_type(a.type.kind);
    a.fixed = true;
    a.count = code_.locals[local].count;
    return a;
}

Id SpirvWriter::length_of(const SpirvArray& array, Kind index) {
    return b_.leaf(middle::length_of({array.fixed, array.count, array.buffer}, index));
}

SpirvWriter::Index SpirvWriter::index(const SpirvArray& array, ir::ExprId id, bool proven,
                                      bool clamp) {
    const Kind kind = code_.exprs[id].type.kind;
    Index out;
    const Id given = value(id).c[0];
    out.raw = wide_integer(kind) ? b_.low_word(given) : given;
    out.at = out.raw;
    if (!proven) {
        out.ok = b_.less(given, length_of(array, kind), false);
        if (clamp) out.at = b_.select(out.ok, out.raw, b_.u32(0));
    }
    if (context_.quirk(Quirk::LlvmpipeDeepValue) && deep_.deep(id)) {
        out.at = b_.differing(Kind::U32, out.at);
        if (!clamp) out.raw = out.at;
    }
    return out;
}

// A pointer to a component, or to a packed element.
Id SpirvWriter::element(const SpirvArray& array, Id at, unsigned component) {
    if (!array.packed && array.type.lanes > 1) {
        at = b_.op(spv::Op::OpIMul, at, b_.u32(array.type.lanes));
        if (component != 0) at = b_.op(spv::Op::OpIAdd, at, b_.u32(component));
    }
    const Id indices[] = {b_.u32(0), at};
    return b_.pointer(array.storage, array.element, array.variable,
                      std::span(indices).subspan(array.wrapped ? 0 : 1));
}

// The value of a loaded component; narrow kinds are already 32 bits wide.
Id SpirvWriter::value_of(const SpirvArray& array, Id bits) {
    const Kind kind = array.type.kind;
    if (kind == Kind::BF16 || (kind == Kind::F16 && narrow(array)))
        return spirv_form(b_, middle::loaded(kind), bits);
    if (context_.quirk(Quirk::NvidiaVkNarrowOnes) && context_.usage.counts && !array.in_words &&
        (kind == Kind::U8 || kind == Kind::U16))
        return b_.op(
            spv::Op::OpBitwiseAnd, bits,
            b_.disguised(Quirk::NvidiaVkNarrowOnes, b_.u32(kind == Kind::U8 ? 0xffU : 0xffffU)));
    return array.as_bits ? b_.bits_float(kind, bits) : bits;
}

// Extracts narrow components from words, the first one lowest.
std::array<Id, 4> SpirvWriter::from_words(const SpirvArray& array, Id words) {
    const unsigned bits = array.type.component().bytes() * 8;
    const Id last = b_.u32(32 - bits);
    std::array<Id, 4> out{};
    for (unsigned k = 0; k < array.type.lanes; ++k) {
        const unsigned at = k * bits % 32;
        Id word = words;
        if (array.type.bytes() == 8) word = b_.extract(words, module_.int_type(32), k * bits / 32);
        if (at + bits != 32)
            word = b_.op(spv::Op::OpShiftLeftLogical, word, b_.u32(32 - bits - at));
        out[k] = b_.op(extends_sign(array.type.kind) ? spv::Op::OpShiftRightArithmetic
                                                     : spv::Op::OpShiftRightLogical,
                       word, last);
    }
    return out;
}

Id SpirvWriter::in_words(const SpirvArray& array, std::span<const Id> parts) {
    const unsigned bits = array.type.component().bytes() * 8;
    std::array<Id, 2> words{};
    for (unsigned k = 0; k < array.type.lanes; ++k) {
        const unsigned at = k * bits % 32;
        Id part = parts[k];
        if (at + bits != 32) part = b_.op(spv::Op::OpBitwiseAnd, part, b_.u32((1U << bits) - 1));
        if (at != 0) part = b_.op(spv::Op::OpShiftLeftLogical, part, b_.u32(at));
        Id& word = words[k * bits / 32];
        word = word == 0 ? part : b_.op(spv::Op::OpBitwiseOr, word, part);
    }
    if (words[1] == 0) return words[0];
    return b_.make(spv::Op::OpCompositeConstruct, array.element, {words[0], words[1]});
}

std::array<Id, 4> SpirvWriter::loaded(const SpirvArray& array, Id at) {
    const unsigned lanes = array.type.lanes;
    const Id component = narrow(array) ? module_.int_type(32) : module_.value_type(array.type.kind);
    const auto read = [&](unsigned k, Id type) {
        const Id raw = b_.load(array.element, element(array, at, k));
        if (!narrow(array)) return raw;
        return b_.make(extends_sign(array.type.kind) ? spv::Op::OpSConvert : spv::Op::OpUConvert,
                       type, {raw});
    };
    std::array<Id, 4> out{};
    if (array.in_words) {
        out = from_words(array, b_.load(array.element, element(array, at, 0)));
        for (unsigned k = 0; k < lanes; ++k) out[k] = value_of(array, out[k]);
        return out;
    }
    const Id whole = array.packed ? read(0, module_.vector_type(component, lanes)) : 0;
    for (unsigned k = 0; k < lanes; ++k)
        out[k] =
            value_of(array, array.packed ? b_.extract(whole, component, k) : read(k, component));
    return out;
}

SpirvValue SpirvWriter::load(const SpirvArray& array, ir::ExprId index_id, bool proven) {
    const Index at = index(array, index_id, proven, true);
    SpirvValue v;
    v.lanes = array.type.lanes;
    v.c = loaded(array, at.at);
    const Kind kind = array.type.loaded().kind;
    // Proven loads from read-only buffers are never constant; elsewhere a compiler may know the
    // value.
    const bool hidden = array.type.loaded().floating() &&
                        array.storage == StorageClass::StorageBuffer &&
                        !ir::role_writable(context_.program.buffers[array.buffer].role);
    for (unsigned k = 0; k < v.lanes; ++k) {
        if (at.ok != 0)
            v.c[k] = b_.select(at.ok, v.c[k], zero(kind));
        else if (hidden)
            b_.mark_hidden(v.c[k]);
    }
    return v;
}

// A component as it is in memory, narrow kinds still in 32 bits. NaNs become canonical unless
// `clean`.
Id SpirvWriter::bits_of(const SpirvArray& array, Id value, bool clean) {
    const Kind kind = array.type.kind;
    if (kind == Kind::BF16 || (kind == Kind::F16 && narrow(array)))
        return spirv_form(b_, middle::stored(kind), value);
    if (array.type.floating() && !clean) value = spirv_form(b_, middle::stored(kind), value);
    return array.as_bits ? b_.float_bits(kind, value) : value;
}

void SpirvWriter::write(const SpirvArray& array, Id at, const SpirvValue& v, bool clean) {
    std::array<Id, 4> parts{};
    for (unsigned k = 0; k < v.lanes; ++k) parts[k] = bits_of(array, v.c[k], clean);
    if (array.in_words) return b_.store(element(array, at, 0), in_words(array, parts));
    const auto put = [&](unsigned k, Id bits) {  // narrow kinds keep the low bits
        if (narrow(array)) bits = b_.make(spv::Op::OpUConvert, array.element, {bits});
        b_.store(element(array, at, k), bits);
    };
    if (!array.packed) {
        for (unsigned k = 0; k < v.lanes; ++k) put(k, parts[k]);
        return;
    }
    const Id whole = module_.vector_type(module_.type_of(parts[0]), v.lanes);
    put(0,
        b_.make(spv::Op::OpCompositeConstruct, whole, std::span<const Id>(parts.data(), v.lanes)));
}

void SpirvWriter::store(const SpirvArray& array, ir::ExprId index_id, ir::ExprId value_id,
                        bool proven) {
    const Index at = index(array, index_id, proven, false);
    // A compiler may use the stored value in place of a later load.
    const bool known = array.storage != StorageClass::Function && deep_.same(value_id);
    const SpirvValue v = stored_value(value_id, known);
    // NaNs are made canonical only in buffers, where hosts can see their bits.
    const bool clean = array.storage != StorageClass::StorageBuffer || never_nan(code_, value_id);
    if (at.ok == 0) return write(array, at.raw, v, clean);
    const Id inside = module_.fresh();
    const Id after = module_.fresh();
    b_.selection(at.ok, inside, after, after);
    b_.open(inside);
    write(array, at.raw, v, clean);
    b_.branch(after);
    b_.open(after);
}

}  // namespace wye::lower
