// SPDX-License-Identifier: Apache-2.0
#include "lower/spirv/module.hpp"

#include <algorithm>
#include <bit>

#include "lower/half.hpp"

namespace wye::lower {
namespace {

constexpr std::uint32_t kVersion = 0x00010300;  // version 1.3, for Vulkan 1.1

// Returns the FNV-1a hash, by words.
std::uint64_t hash_of(spv::Op op, std::span<const std::uint32_t> operands) {
    std::uint64_t hash = (0xcbf29ce484222325U ^ code(op)) * 0x100000001b3U;
    for (const std::uint32_t each : operands) hash = (hash ^ each) * 0x100000001b3U;
    return hash;
}

void append(Words& to, const Words& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

Words string_words(std::string_view text) {
    Words out(text.size() / 4 + 1);
    for (std::size_t i = 0; i < text.size(); ++i)
        out[i / 4] |= std::uint32_t{static_cast<unsigned char>(text[i])} << (i % 4 * 8);
    return out;
}

void SpirvCode::add(spv::Op op, std::initializer_list<std::uint32_t> first,
                    std::span<const std::uint32_t> rest) {
    words_.push_back(static_cast<std::uint32_t>(first.size() + rest.size() + 1) << 16U | code(op));
    words_.insert(words_.end(), first);
    words_.insert(words_.end(), rest.begin(), rest.end());
}

void SpirvModule::capability(spv::Capability capability, std::string_view extension) {
    capabilities_.insert(capability);
    if (!extension.empty()) extensions_.emplace(extension);
}

Id SpirvModule::glsl() {
    if (glsl_ == 0) glsl_ = fresh();
    return glsl_;
}

// Returns the result of an instruction, which is written only at the first call with these
// operands. `operands` do not include the result. If `typed_`, the first operand is the result's
// type.
Id SpirvModule::once(spv::Op op, std::span<const std::uint32_t> operands, bool typed_) {
    const auto before = operands.first(typed_ ? 1 : 0), behind = operands.subspan(before.size());
    const auto same = [&](const Known& known) {
        const std::uint32_t* const words = globals_.words().data() + known.at;
        return words[0] == (static_cast<std::uint32_t>(operands.size() + 2) << 16U | code(op)) &&
               std::ranges::equal(before, std::span(words + 1, before.size())) &&
               std::ranges::equal(behind, std::span(words + 2 + before.size(), behind.size()));
    };
    const std::uint64_t hash = hash_of(op, operands);
    const auto [first, last] = known_.equal_range(hash);
    for (auto each = first; each != last; ++each)
        if (same(each->second)) return each->second.id;
    const Id id = fresh();
    known_.emplace(hash, Known{globals_.words().size(), id});
    if (!typed_) {
        globals_.add(op, {id}, operands);
        return id;
    }
    globals_.add(op, {operands[0], id}, behind);
    mark_constant(id);
    return typed(id, operands[0]);
}

Id SpirvModule::typed(Id value, Id type) {
    if (value >= types_.size()) types_.resize(value + 1 + types_.size() / 2);
    types_[value] = type;
    return value;
}

Id SpirvModule::void_type() { return once(spv::Op::OpTypeVoid, {}); }
Id SpirvModule::bool_type() { return once(spv::Op::OpTypeBool, {}); }

Id SpirvModule::int_type(unsigned bits) {
    Id& id = ints_[static_cast<std::size_t>(std::countr_zero(bits)) - 3];
    if (id != 0) return id;
    if (bits == 8)
        capability(spv::Capability::StorageBuffer8BitAccess, "SPV_KHR_8bit_storage");
    else if (bits == 16)
        capability(spv::Capability::StorageBuffer16BitAccess);
    else if (bits == 64)
        capability(spv::Capability::Int64);
    return id = once(spv::Op::OpTypeInt, {bits, 0});
}

Id SpirvModule::signed_type(Id unsigned_type) {
    return once(spv::Op::OpTypeInt, {unsigned_type == int_type(32) ? 32U : 64U, 1});
}

Id SpirvModule::float_type(unsigned bits) {
    if (bits == 16) capability(spv::Capability::StorageBuffer16BitAccess);
    if (bits == 64) capability(spv::Capability::Float64);
    floats_.insert(bits);
    return once(spv::Op::OpTypeFloat, {bits});
}

Id SpirvModule::vector_type(Id component, unsigned lanes) {
    return once(spv::Op::OpTypeVector, {component, lanes});
}

Id SpirvModule::array_type(Id element, std::uint64_t count) {
    return once(spv::Op::OpTypeArray, {element, number(32, count)});
}

Id SpirvModule::struct_type(std::span<const Id> members) {
    return once(spv::Op::OpTypeStruct, members);
}

Id SpirvModule::pointer_type(spv::StorageClass storage, Id to) {
    return once(spv::Op::OpTypePointer, {code(storage), to});
}

Id SpirvModule::function_type(Id result, std::span<const Id> arguments) {
    Words operands{result};
    operands.insert(operands.end(), arguments.begin(), arguments.end());
    return once(spv::Op::OpTypeFunction, operands);
}

Id SpirvModule::value_type(ir::Kind kind) {
    const ir::Type type{kind, 1};
    if (type.boolean()) return bool_type();
    if (type.floating()) return float_type(kind == ir::Kind::F64 ? 64 : 32);
    return int_type(type.bits());
}

Id SpirvModule::constant_bits(Id type, bool wide, std::uint64_t bits) {
    const auto low = static_cast<std::uint32_t>(bits),
               high = static_cast<std::uint32_t>(bits >> 32U);
    if (wide) return once(spv::Op::OpConstant, {type, low, high}, true);
    return once(spv::Op::OpConstant, {type, low}, true);
}

Id SpirvModule::number(unsigned bits, std::uint64_t value) {
    const Id type = int_type(bits);
    if (bits != 64) value &= 0xffffffffU;
    const Id id = constant_bits(type, bits == 64, value);
    numbers_.emplace(id, Number{value, bits == 64, false});
    return id;
}

Id SpirvModule::signed_number(Id type, std::uint64_t bits) {
    return constant_bits(type, type != signed_type(int_type(32)), bits);
}

Id SpirvModule::truth(bool value) {
    return once(value ? spv::Op::OpConstantTrue : spv::Op::OpConstantFalse, {bool_type()}, true);
}

Id SpirvModule::float_number(unsigned bits, std::uint64_t pattern) {
    const Id id = constant_bits(float_type(bits), bits == 64, pattern);
    numbers_.emplace(id, Number{pattern, bits == 64, true});
    return id;
}

Id SpirvModule::literal(ir::Kind kind, std::uint64_t bits) {
    const ir::Type type{kind, 1};
    if (type.boolean()) return truth(bits != 0);
    if (kind == ir::Kind::F16) return float_number(32, f32_of_f16(bits));
    if (type.floating()) return float_number(kind == ir::Kind::F64 ? 64 : 32, bits);
    return number(type.bits(), bits);
}

Id SpirvModule::null(Id type) { return once(spv::Op::OpConstantNull, {type}, true); }

Id SpirvModule::composite(Id type, std::span<const Id> parts) {
    Words operands{type};
    operands.insert(operands.end(), parts.begin(), parts.end());
    return once(spv::Op::OpConstantComposite, operands, true);
}

std::optional<std::uint64_t> SpirvModule::known(Id id) const {
    const auto found = numbers_.find(id);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second.bits);
}

std::optional<SpirvModule::Number> SpirvModule::number_of(Id id) const {
    const auto found = numbers_.find(id);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

void SpirvModule::decorate(Id id, spv::Decoration decoration,
                           std::initializer_list<std::uint32_t> operands) {
    decorations_.add(spv::Op::OpDecorate, {id, code(decoration)}, operands);
}

void SpirvModule::decorate_member(Id type, std::uint32_t member, spv::Decoration decoration,
                                  std::initializer_list<std::uint32_t> operands) {
    decorations_.add(spv::Op::OpMemberDecorate, {type, member, code(decoration)}, operands);
}

void SpirvModule::name(Id id, std::string_view text) {
    names_.add(spv::Op::OpName, {id}, string_words(text));
}

Id SpirvModule::variable(spv::StorageClass storage, Id type, Id initializer) {
    Words operands{pointer_type(storage, type), fresh(), code(storage)};
    if (initializer != 0) operands.push_back(initializer);
    globals_.add(spv::Op::OpVariable, operands);
    return operands[1];
}

Id SpirvModule::global(spv::Op op, std::span<const std::uint32_t> operands) {
    const Id id = fresh();
    globals_.add(op, {id}, operands);
    return id;
}

void SpirvModule::execution_mode(spv::ExecutionMode mode,
                                 std::initializer_list<std::uint32_t> operands) {
    Words all{code(mode)};
    all.insert(all.end(), operands.begin(), operands.end());
    modes_.push_back(std::move(all));
}

Words SpirvModule::finish(Id main, std::string_view entry, std::array<std::uint32_t, 3> workgroup,
                          std::span<const Id> interface) const {
    SpirvCode head;
    head.add(spv::Op::OpCapability, {code(spv::Capability::Shader)});
    for (const spv::Capability each : capabilities_) head.add(spv::Op::OpCapability, {code(each)});
    for (const std::string& each : extensions_) head.add(spv::Op::OpExtension, string_words(each));
    if (glsl_ != 0) {
        head.add(spv::Op::OpExtInstImport, {glsl_}, string_words("GLSL.std.450"));
    }
    head.add(spv::Op::OpMemoryModel,
             {code(spv::AddressingModel::Logical), code(spv::MemoryModel::GLSL450)});
    Words point{code(spv::ExecutionModel::GLCompute), main};
    append(point, string_words(entry));
    point.insert(point.end(), interface.begin(), interface.end());
    head.add(spv::Op::OpEntryPoint, point);
    head.add(spv::Op::OpExecutionMode,
             {main, code(spv::ExecutionMode::LocalSize), workgroup[0], workgroup[1], workgroup[2]});
    for (const Words& mode : modes_) head.add(spv::Op::OpExecutionMode, {main}, mode);

    Words out{spv::MagicNumber, kVersion, 0, next_, 0};
    append(out, head.words());
    append(out, names_.words());
    append(out, decorations_.words());
    append(out, globals_.words());
    append(out, functions_);
    return out;
}

}  // namespace wye::lower
