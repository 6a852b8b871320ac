// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores. An index that is not proven in range is compared with the length. If it is out
// of range, a load reads element 0 and yields zero (without a branch; plugins bind at least one
// readable element), and a store is skipped. Indices in range are 32 bits wide: no descriptor
// reaches 2^32 components.
#include <algorithm>
#include <bit>

#include "lower/spirv/words.hpp"
#include "lower/spirv/writer.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using Check = middle::Access::Check;

}  // namespace

SpirvArray SpirvWriter::held(const middle::Array& array) {
    if (array.space != middle::Space::Private) return context_.variable(source_, array);
    return {.form = &array,
            .variable = locals_[array.number].c[0],
            .element = module_.value_type(array.cell)};
}

SpirvWriter::Index SpirvWriter::index(const middle::Access& access) {
    const Id given = value(access.index).c[0];
    Index out;
    out.at = access.kind == Kind::U64 ? b_.low_word(given) : given;
    if (access.check != Check::None) out.ok = b_.less(given, b_.leaf(access.length), false);
    if (access.check == Check::Zero) out.at = b_.select(out.ok, out.at, b_.u32(0));
    if (context_.quirk(Quirk::LlvmpipeDeepValue) && deep_.deep(access.index))
        out.at = b_.differing(Kind::U32, out.at);
    return out;
}

// Returns a pointer to a component, or to a packed element.
Id SpirvWriter::element(const SpirvArray& array, Id at, unsigned component) {
    const middle::Array& form = *array.form;
    if (!form.packed && form.lanes() > 1) {
        at = b_.op(spv::Op::OpIMul, at, b_.u32(form.lanes()));
        if (component != 0) at = b_.op(spv::Op::OpIAdd, at, b_.u32(component));
    }
    const Id indices[] = {b_.u32(0), at};
    return b_.pointer(array.storage, array.element, array.variable,
                      std::span(indices).subspan(array.wrapped ? 0 : 1));
}

// Converts a component in memory to its value. Narrow kinds are already 32 bits wide.
Id SpirvWriter::loaded(const SpirvArray& array, Id cell) {
    const middle::Array& form = *array.form;
    if (form.loaded != middle::kNoKey) return spirv_form(b_, form.loaded, cell);
    if (context_.quirk(Quirk::NvidiaVkNarrowOnes) && context_.usage.counts && !array.in_words &&
        form.narrow() && !form.extends_sign())
        return b_.op(spv::Op::OpBitwiseAnd, cell,
                     b_.disguised(Quirk::NvidiaVkNarrowOnes,
                                  b_.u32(form.cell == Kind::U8 ? 0xffU : 0xffffU)));
    return form.as_bits() ? b_.bits_float(form.type.kind, cell) : cell;
}

// Extracts narrow components from words, the first one lowest.
std::array<Id, 4> SpirvWriter::from_words(const middle::Array& form, Id words) {
    const unsigned bits = ir::Type{form.cell, 1}.bytes() * 8;
    const Id last = b_.u32(32 - bits);
    std::array<Id, 4> out{};
    for (unsigned k = 0; k < form.lanes(); ++k) {
        const unsigned at = k * bits % 32;
        Id word = words;
        if (form.element_bytes() == 8)
            word = b_.extract(words, module_.int_type(32), k * bits / 32);
        if (at + bits != 32)
            word = b_.op(spv::Op::OpShiftLeftLogical, word, b_.u32(32 - bits - at));
        out[k] = b_.op(
            form.extends_sign() ? spv::Op::OpShiftRightArithmetic : spv::Op::OpShiftRightLogical,
            word, last);
    }
    return out;
}

Id SpirvWriter::in_words(const SpirvArray& array, std::span<const Id> parts) {
    const unsigned bits = ir::Type{array.form->cell, 1}.bytes() * 8;
    std::array<Id, 2> words{};
    for (unsigned k = 0; k < array.form->lanes(); ++k) {
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

// Returns the word that contains a component of element `at`, and the position of the component's
// bits in the word.
SpirvWriter::Part SpirvWriter::part(const SpirvArray& array, Id at, unsigned component) {
    const middle::Array& form = *array.form;
    const bool bytes = ir::Type{form.cell, 1}.bytes() == 1;
    if (form.lanes() > 1) at = b_.op(spv::Op::OpIMul, at, b_.u32(form.lanes()));
    if (component != 0) at = b_.op(spv::Op::OpIAdd, at, b_.u32(component));
    const Id indices[] = {b_.u32(0),
                          b_.op(spv::Op::OpShiftRightLogical, at, b_.u32(bytes ? 2 : 1))};
    const Id place = b_.op(spv::Op::OpBitwiseAnd, at, b_.u32(bytes ? 3 : 1));
    return {b_.pointer(array.storage, array.element, array.variable, indices),
            b_.op(spv::Op::OpShiftLeftLogical, place, b_.u32(bytes ? 3 : 4)),
            bytes ? 0xffU : 0xffffU};
}

// If the program stores to the buffer, the load is atomic: other invocations may write the rest of
// the word at the same time.
Id SpirvWriter::read_part(const SpirvArray& array, Id at, unsigned component) {
    const Part from = part(array, at, component);
    const bool stored = context_.usage.buffers[array.form->number].stored;
    const Id word = stored ? b_.make(spv::Op::OpAtomicLoad, array.element,
                                     {from.word, b_.u32(code(spv::Scope::Device)), b_.u32(0)})
                           : b_.load(array.element, from.word);
    const Id low = b_.op(spv::Op::OpShiftRightLogical, word, from.shift);
    if (!array.form->extends_sign()) return b_.op(spv::Op::OpBitwiseAnd, low, b_.u32(from.mask));
    const Id left = b_.u32(static_cast<std::uint32_t>(std::countl_zero(from.mask)));
    return b_.op(spv::Op::OpShiftRightArithmetic, b_.op(spv::Op::OpShiftLeftLogical, low, left),
                 left);
}

void SpirvWriter::write_part(const SpirvArray& array, Id at, unsigned component, Id bits) {
    const Part to = part(array, at, component);
    const auto modify = [&](spv::Op how, Id operand) {
        (void)b_.make(how, array.element,
                      {to.word, b_.u32(code(spv::Scope::Device)), b_.u32(0), operand});
    };
    const Id mask = b_.op(spv::Op::OpShiftLeftLogical, b_.u32(to.mask), to.shift);
    modify(spv::Op::OpAtomicAnd, b_.op(spv::Op::OpNot, mask));
    modify(spv::Op::OpAtomicOr,
           b_.op(spv::Op::OpShiftLeftLogical, b_.op(spv::Op::OpBitwiseAnd, bits, b_.u32(to.mask)),
                 to.shift));
}

std::array<Id, 4> SpirvWriter::read(const SpirvArray& array, Id at) {
    const middle::Array& form = *array.form;
    const unsigned lanes = form.lanes();
    const Id component = form.narrow() ? module_.int_type(32) : module_.value_type(form.type.kind);
    const auto get = [&](unsigned k, Id type) {
        const Id raw = b_.load(array.element, element(array, at, k));
        if (!form.narrow()) return raw;
        return b_.make(form.extends_sign() ? spv::Op::OpSConvert : spv::Op::OpUConvert, type,
                       {raw});
    };
    std::array<Id, 4> out{};
    if (array.in_shared_words) {
        for (unsigned k = 0; k < lanes; ++k) out[k] = loaded(array, read_part(array, at, k));
        return out;
    }
    if (array.in_words) {
        out = from_words(form, b_.load(array.element, element(array, at, 0)));
        for (unsigned k = 0; k < lanes; ++k) out[k] = loaded(array, out[k]);
        return out;
    }
    const Id whole = form.packed ? get(0, module_.vector_type(component, lanes)) : 0;
    for (unsigned k = 0; k < lanes; ++k)
        out[k] = loaded(array, form.packed ? b_.extract(whole, component, k) : get(k, component));
    return out;
}

SpirvValue SpirvWriter::load(const middle::Access& access) {
    const SpirvArray array = held(access.array);
    const Index at = index(access);
    SpirvValue v;
    v.lanes = access.array.type.lanes;
    v.c = read(array, at.at);
    const ir::Type type = access.array.type.loaded();
    // The compiler never knows the result of a load from a read-only buffer that needs no check.
    // The compiler may know the result of any other load.
    const bool hidden = type.floating() && access.array.space == middle::Space::Global &&
                        !ir::role_writable(context_.program.buffers[access.array.number].role);
    for (unsigned k = 0; k < v.lanes; ++k) {
        if (access.check != Check::None)
            v.c[k] = b_.select(at.ok, v.c[k], zero(type.kind));
        else if (hidden)
            b_.mark_hidden(v.c[k]);
    }
    return v;
}

// Stores a value. `stored` is the form to apply to each component first.
void SpirvWriter::write(const SpirvArray& array, Id at, const SpirvValue& v,
                        middle::FormKey stored) {
    const middle::Array& form = *array.form;
    std::array<Id, 4> parts{};
    for (unsigned k = 0; k < v.lanes; ++k) {
        parts[k] = stored == middle::kNoKey ? v.c[k] : spirv_form(b_, stored, v.c[k]);
        if (form.as_bits()) parts[k] = b_.float_bits(form.type.kind, parts[k]);
    }
    if (array.in_shared_words) {
        for (unsigned k = 0; k < v.lanes; ++k) write_part(array, at, k, parts[k]);
        return;
    }
    if (array.in_words) return b_.store(element(array, at, 0), in_words(array, parts));
    const auto put = [&](unsigned k, Id bits) {
        if (form.narrow()) bits = b_.make(spv::Op::OpUConvert, array.element, {bits});
        b_.store(element(array, at, k), bits);
    };
    if (!form.packed) {
        for (unsigned k = 0; k < v.lanes; ++k) put(k, parts[k]);
        return;
    }
    const Id whole = module_.vector_type(module_.type_of(parts[0]), v.lanes);
    put(0,
        b_.make(spv::Op::OpCompositeConstruct, whole, std::span<const Id>(parts.data(), v.lanes)));
}

// For the quirk `vk-literal-arithmetic`: hides literals that are stored, since arithmetic on a
// later load would be folded too.
void SpirvWriter::hide_literals(Kind kind, SpirvValue& v) {
    const bool floats = ir::Type{kind, 1}.floating() || context_.usage.floats_of_integers;
    if (!floats || kind == Kind::BOOL || !context_.quirk(Quirk::VkLiteralArithmetic)) return;
    for (unsigned k = 0; k < v.lanes; ++k)
        if (module_.constant(v.c[k]) && module_.known(v.c[k]) != 0)
            v.c[k] = b_.differing(kind, v.c[k]);
}

void SpirvWriter::store(const middle::Access& access, ir::ExprId value_id) {
    const SpirvArray array = held(access.array);
    const Index at = index(access);
    // A compiler may replace a later load by the stored value, and then search that value as well.
    const bool known = access.array.space != middle::Space::Private && deep_.same(value_id);
    SpirvValue v = stored_value(value_id, known);
    hide_literals(code_.exprs[value_id].type.kind, v);
    if (access.check == Check::None) return write(array, at.at, v, access.stored());
    when(at.ok, [&] { write(array, at.at, v, access.stored()); });
}

}  // namespace wye::lower
