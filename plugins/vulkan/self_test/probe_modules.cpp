// SPDX-License-Identifier: Apache-2.0
#include "vulkan/self_test/probe_modules.hpp"

#include <bit>
#include <map>
#include <optional>

#include "vulkan/self_test/assembler.hpp"

namespace wye::vulkan {
namespace {

using namespace spirv;

// Writes the parts that all modules of the self-test share, and declares arrays as storage buffers.
class Kernel {
  public:
    explicit Kernel(std::uint32_t workgroup) {
        capability(Capability::Shader);
        glsl_ = words.new_id();
        words.emit_text(Section::Imports, Op::ExtInstImport, {glsl_}, "GLSL.std.450");
        words.emit(Section::MemoryModel, Op::MemoryModel, {0, 1});  // Logical, GLSL450
        main_ = words.new_id();
        void_ = words.global(Op::TypeVoid, {});
        uint_ = words.global(Op::TypeInt, {32, 0});
        bool_ = words.global(Op::TypeBool, {});
        zero_ = constant(0);
        words.emit(Section::Modes, Op::ExecutionMode,
                   {main_, value(Mode::LocalSize), workgroup, 1, 1});
    }

    Assembler words;

    template <typename Enum>
    static std::uint32_t value(Enum e) {
        return static_cast<std::uint32_t>(e);
    }
    void capability(Capability c) { words.emit(Section::Capabilities, Op::Capability, {value(c)}); }
    void mode(Capability c, Mode m, unsigned bits) {
        capability(c);
        words.emit(Section::Modes, Op::ExecutionMode, {main_, value(m), bits});
    }
    void ask(const ProbeModes& modes, unsigned bits) {
        if (modes.denorm_preserve) mode(Capability::DenormPreserve, Mode::DenormPreserve, bits);
        if (modes.sign_nan)
            mode(Capability::SignedZeroInfNanPreserve, Mode::SignedZeroInfNanPreserve, bits);
        if (modes.nearest) mode(Capability::RoundingModeRTE, Mode::RoundingModeRTE, bits);
        if (modes.denorm_preserve || modes.sign_nan || modes.nearest)
            words.emit_text(Section::Extensions, Op::Extension, {}, "SPV_KHR_float_controls");
    }

    std::uint32_t float_type(unsigned bits) {
        std::uint32_t& type = floats_[bits];
        if (type == 0) type = words.global(Op::TypeFloat, {bits});
        return type;
    }
    std::uint32_t constant(std::uint32_t number) {
        return words.result(Section::Globals, Op::Constant, uint_, {number});
    }
    // A floating-point constant of 32 or 64 bits.
    std::uint32_t constant(std::uint32_t type, unsigned bits, double number) {
        if (bits == 32)
            return words.result(Section::Globals, Op::Constant, type,
                                {std::bit_cast<std::uint32_t>(static_cast<float>(number))});
        const auto wide = std::bit_cast<std::uint64_t>(number);
        return words.result(
            Section::Globals, Op::Constant, type,
            {static_cast<std::uint32_t>(wide), static_cast<std::uint32_t>(wide >> 32U)});
    }

    // An array in a storage buffer: the variable, and the pointer type of an element.
    struct Array {
        std::uint32_t variable, pointer;
    };
    struct ArrayType {
        std::uint32_t block_pointer, pointer;
    };
    ArrayType array_type(std::uint32_t element, std::uint32_t stride) {
        const std::uint32_t array = words.global(Op::TypeRuntimeArray, {element});
        words.emit(Section::Decorations, Op::Decorate,
                   {array, value(Decoration::ArrayStride), stride});
        const std::uint32_t block = words.global(Op::TypeStruct, {array});
        words.emit(Section::Decorations, Op::Decorate, {block, value(Decoration::Block)});
        words.emit(Section::Decorations, Op::MemberDecorate,
                   {block, 0, value(Decoration::Offset), 0});
        return {words.global(Op::TypePointer, {value(StorageClass::StorageBuffer), block}),
                words.global(Op::TypePointer, {value(StorageClass::StorageBuffer), element})};
    }
    Array array(const ArrayType& type, std::uint32_t binding) {
        const std::uint32_t variable =
            words.result(Section::Globals, Op::Variable, type.block_pointer,
                         {value(StorageClass::StorageBuffer)});
        words.emit(Section::Decorations, Op::Decorate,
                   {variable, value(Decoration::DescriptorSet), 0});
        words.emit(Section::Decorations, Op::Decorate,
                   {variable, value(Decoration::Binding), binding});
        return {variable, type.pointer};
    }

    // Begins the function main.
    void begin() {
        const std::uint32_t vector = words.global(Op::TypeVector, {uint_, 3});
        const std::uint32_t pointer =
            words.global(Op::TypePointer, {value(StorageClass::Input), vector});
        invocation_ =
            words.result(Section::Globals, Op::Variable, pointer, {value(StorageClass::Input)});
        words.emit(Section::Decorations, Op::Decorate,
                   {invocation_, value(Decoration::BuiltIn), kGlobalInvocationId});
        const std::uint32_t type = words.global(Op::TypeFunction, {void_});
        words.emit_text(Section::EntryPoints, Op::EntryPoint, {5, main_}, "main", {invocation_});
        words.emit(Section::Code, Op::Function, {void_, main_, 0, type});
        entry_ = label();
        const std::uint32_t ids = code(Op::Load, vector, {invocation_});
        index = code(Op::CompositeExtract, uint_, {ids, 0});
    }
    void end() {
        words.emit(Section::Code, Op::Return, {});
        words.emit(Section::Code, Op::FunctionEnd, {});
    }

    std::uint32_t label() {
        const std::uint32_t id = words.new_id();
        words.emit(Section::Code, Op::Label, {id});
        return id;
    }
    std::uint32_t code(Op op, std::uint32_t type, std::initializer_list<std::uint32_t> operands) {
        return words.result(Section::Code, op, type, operands);
    }
    // Emits arithmetic that must not be contracted.
    std::uint32_t exact(Op op, std::uint32_t type, std::initializer_list<std::uint32_t> operands) {
        const std::uint32_t id = code(op, type, operands);
        words.emit(Section::Decorations, Op::Decorate, {id, value(Decoration::NoContraction)});
        return id;
    }
    std::uint32_t place(const Array& array, std::uint32_t at) {
        return code(Op::AccessChain, array.pointer, {array.variable, zero_, at});
    }
    std::uint32_t load(const Array& array, std::uint32_t type, std::uint32_t at) {
        return code(Op::Load, type, {place(array, at)});
    }
    void store(const Array& array, std::uint32_t at, std::uint32_t id) {
        words.emit(Section::Code, Op::Store, {place(array, at), id});
    }

    // Values that a loop multiplies by a factor in each iteration. Afterwards, `values` are the
    // products.
    struct Products {
        std::uint32_t type, factor;
        std::vector<std::uint32_t> values;
    };
    // Emits a loop of `rounds` iterations, and returns the id of the number of iterations that the
    // loop really made. To be called once, in main's first block.
    std::uint32_t count(std::uint32_t rounds, Products* products = nullptr) {
        const std::uint32_t one = constant(1);
        const std::uint32_t head = words.new_id();
        const std::uint32_t test = words.new_id();
        const std::uint32_t body = words.new_id();
        const std::uint32_t merge = words.new_id();
        const std::uint32_t next = words.new_id();
        const auto emit = [&](Op op, std::initializer_list<std::uint32_t> operands) {
            words.emit(Section::Code, op, operands);
        };
        emit(Op::Branch, {head});
        emit(Op::Label, {head});
        const std::uint32_t made = code(Op::Phi, uint_, {zero_, entry_, next, body});
        std::vector<std::uint32_t> after;
        if (products != nullptr)
            for (std::uint32_t& value : products->values)
                value = code(Op::Phi, products->type,
                             {value, entry_, after.emplace_back(words.new_id()), body});
        emit(Op::LoopMerge, {merge, body, 0});
        emit(Op::Branch, {test});
        emit(Op::Label, {test});
        const std::uint32_t more = code(Op::ULessThan, bool_, {made, rounds});
        emit(Op::BranchConditional, {more, body, merge});
        emit(Op::Label, {body});
        for (std::size_t i = 0; i < after.size(); ++i)
            emit(Op::FMul, {products->type, after[i], products->values[i], products->factor});
        emit(Op::IAdd, {uint_, next, made, one});
        emit(Op::Branch, {head});
        emit(Op::Label, {merge});
        return made;
    }

    std::uint32_t glsl() const { return glsl_; }
    std::uint32_t uint_type() const { return uint_; }
    std::uint32_t bool_type() const { return bool_; }
    std::uint32_t zero() const { return zero_; }
    std::uint32_t index = 0;  // global_id.x

  private:
    std::map<unsigned, std::uint32_t> floats_;  // a type must be declared only once
    std::uint32_t glsl_, main_, void_, uint_, bool_, zero_, invocation_ = 0, entry_ = 0;
};

// The operations of the self-test on one width of float.
class FloatOps {
  public:
    // To be constructed before Kernel::begin().
    FloatOps(Kernel& kernel, unsigned bits, const std::vector<ProbeOp>& ops)
        : k(kernel), type(k.float_type(bits)) {
        bool widens = false;
        for (const ProbeOp op : ops) widens = widens || op == ProbeOp::ScaleUp;
        if (bits == 64 || widens) k.capability(Capability::Float64);
        if (widens) {
            wide_ = k.float_type(64);
            up_ = k.constant(wide_, 64, 0x1p100);
            down_ = k.constant(wide_, 64, 0x1p-100);
        }
        zero_ = k.constant(type, bits, 0.0);
        minus_zero_ = k.constant(type, bits, -0.0);
        one_ = k.constant(type, bits, 1.0);
    }

    Kernel& k;
    const std::uint32_t type;

    std::uint32_t compute(ProbeOp op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        switch (op) {
            case ProbeOp::Add:
                return k.exact(Op::FAdd, type, {a, b});
            case ProbeOp::Subtract:
                return k.exact(Op::FSub, type, {a, b});
            case ProbeOp::Multiply:
                return k.exact(Op::FMul, type, {a, b});
            case ProbeOp::Less:
                return k.code(Op::Select, type,
                              {k.code(Op::FOrdLessThan, k.bool_type(), {a, b}), one_, zero_});
            case ProbeOp::ScaleUp:
                return scaled(a, up_);
            case ProbeOp::ScaleDown:
                return scaled(a, down_);
            case ProbeOp::Divide:
                return k.exact(Op::FDiv, type, {a, b});
            case ProbeOp::SquareRoot:
                return k.exact(Op::ExtInst, type, {k.glsl(), kGlslSqrt, a});
            case ProbeOp::Fma:
            case ProbeOp::FmaOfNormals:
                return k.exact(Op::ExtInst, type, {k.glsl(), kGlslFma, a, b, c});
            case ProbeOp::Floor:
                return k.exact(Op::ExtInst, type, {k.glsl(), kGlslFloor, a});
            case ProbeOp::Ceil:
                return k.exact(Op::ExtInst, type, {k.glsl(), kGlslCeil, a});
            case ProbeOp::Trunc:
                return k.exact(Op::ExtInst, type, {k.glsl(), kGlslTrunc, a});
            case ProbeOp::RoundEven:
                return k.exact(Op::ExtInst, type, {k.glsl(), kGlslRoundEven, a});
            case ProbeOp::AddZero:
                return k.exact(Op::FAdd, type, {a, zero_});
            case ProbeOp::AddMinusZero:
                return k.exact(Op::FAdd, type, {a, minus_zero_});
            case ProbeOp::SubtractMinusZero:
                return k.exact(Op::FSub, type, {a, minus_zero_});
            case ProbeOp::SubtractFromZero:
                return k.exact(Op::FSub, type, {zero_, a});
            case ProbeOp::MultiplyZero:
                return k.exact(Op::FMul, type, {a, zero_});
            case ProbeOp::MultiplyMinusZero:
                return k.exact(Op::FMul, type, {a, minus_zero_});
            case ProbeOp::DivideZero:
                return k.exact(Op::FDiv, type, {zero_, a});
            case ProbeOp::DivideByZero:
                return k.exact(Op::FDiv, type, {a, zero_});
        }
        return zero_;
    }

  private:
    std::uint32_t scaled(std::uint32_t a, std::uint32_t factor) {
        const std::uint32_t widened = k.code(Op::FConvert, wide_, {a});
        return k.code(Op::FConvert, type, {k.exact(Op::FMul, wide_, {widened, factor})});
    }

    std::uint32_t wide_ = 0, up_ = 0, down_ = 0, zero_ = 0, minus_zero_ = 0, one_ = 0;
};

// Arrays of equal length, one after the other in one buffer: a, b, c, then the results.
class FloatRows {
  public:
    FloatRows(Kernel& kernel, unsigned bits, const std::vector<ProbeOp>& ops, std::uint32_t length,
              std::uint32_t binding)
        : ops_(kernel, bits, ops),
          list_(ops),
          length_(length),
          array_(kernel.array(kernel.array_type(ops_.type, bits / 8), binding)) {}

    [[nodiscard]] std::uint32_t type() const { return ops_.type; }
    [[nodiscard]] std::uint32_t rows() const {
        return static_cast<std::uint32_t>(3 + list_.size());
    }
    void compute() {
        const std::uint32_t a = load(0);
        const std::uint32_t b = load(1);
        const std::uint32_t c = load(2);
        for (std::uint32_t i = 0; i < list_.size(); ++i)
            store(3 + i, ops_.compute(list_[i], a, b, c));
    }
    std::uint32_t load(std::uint32_t row) { return ops_.k.load(array_, ops_.type, place(row)); }
    void store(std::uint32_t row, std::uint32_t id) { ops_.k.store(array_, place(row), id); }

  private:
    std::uint32_t place(std::uint32_t row) {
        Kernel& k = ops_.k;
        return k.code(Op::IAdd, k.uint_type(), {k.index, k.constant(row * length_)});
    }

    FloatOps ops_;
    const std::vector<ProbeOp>& list_;
    std::uint32_t length_;
    Kernel::Array array_;
};

}  // namespace

std::vector<std::uint32_t> float_module(std::uint32_t workgroup, unsigned bits,
                                        const ProbeModes& modes, const std::vector<ProbeOp>& ops) {
    Kernel k(workgroup);
    k.ask(modes, bits);
    FloatOps made(k, bits, ops);
    const std::uint32_t type = made.type;
    const Kernel::ArrayType array = k.array_type(type, bits / 8);
    const Kernel::Array inputs[] = {k.array(array, 0), k.array(array, 1), k.array(array, 2)};
    const Kernel::Array results = k.array(array, 3);
    std::vector<std::uint32_t> starts;
    for (std::uint32_t i = 0; i < ops.size(); ++i) starts.push_back(k.constant(i * kProbeCount));
    k.begin();
    const std::uint32_t a = k.load(inputs[0], type, k.index);
    const std::uint32_t b = k.load(inputs[1], type, k.index);
    const std::uint32_t c = k.load(inputs[2], type, k.index);

    for (std::size_t i = 0; i < ops.size(); ++i) {
        const std::uint32_t result = made.compute(ops[i], a, b, c);
        k.store(results, k.code(Op::IAdd, k.uint_type(), {k.index, starts[i]}), result);
    }
    k.end();
    return k.words.words();
}

std::vector<std::uint32_t> convert_module(std::uint32_t workgroup, const ProbeModes& modes) {
    Kernel k(workgroup);
    k.ask(modes, 32);
    k.capability(Capability::StorageBuffer16BitAccess);
    const std::uint32_t single = k.float_type(32);
    const std::uint32_t half = k.float_type(16);
    const Kernel::ArrayType singles = k.array_type(single, 4);
    const Kernel::ArrayType halves = k.array_type(half, 2);
    const Kernel::Array from_single = k.array(singles, 0);
    const Kernel::Array to_half = k.array(halves, 1);
    const Kernel::Array from_half = k.array(halves, 2);
    const Kernel::Array to_single = k.array(singles, 3);
    const Kernel::Array rounded = k.array(singles, 4);
    k.begin();
    const std::uint32_t narrow = k.code(Op::FConvert, half, {k.load(from_single, single, k.index)});
    k.store(to_half, k.index, narrow);
    k.store(rounded, k.index, k.code(Op::FConvert, single, {narrow}));
    k.store(to_single, k.index, k.code(Op::FConvert, single, {k.load(from_half, half, k.index)}));
    k.end();
    return k.words.words();
}

std::vector<std::uint32_t> loop_module(std::uint32_t workgroup) {
    Kernel k(workgroup);
    const Kernel::Array words = k.array(k.array_type(k.uint_type(), 4), 0);
    k.begin();
    const std::uint32_t rounds = k.load(words, k.uint_type(), k.zero());
    k.store(words, k.constant(1), k.count(rounds));
    k.end();
    return k.words.words();
}

std::vector<std::uint32_t> product_module(std::uint32_t workgroup, unsigned bits) {
    Kernel k(workgroup);
    if (bits == 64) k.capability(Capability::Float64);
    const std::uint32_t type = k.float_type(bits);
    const Kernel::Array words = k.array(k.array_type(k.uint_type(), 4), 0);
    const Kernel::Array floats = k.array(k.array_type(type, bits / 8), 1);
    Kernel::Products products{type, 0, {}};
    for (std::uint32_t i = 1; i <= kChains; ++i)
        products.values.push_back(k.constant(type, bits, i));
    k.begin();
    products.factor = k.load(floats, type, k.zero());
    k.count(k.load(words, k.uint_type(), k.zero()), &products);
    std::uint32_t sum = products.values[0];
    for (std::uint32_t i = 1; i < kChains; ++i)
        sum = k.code(Op::FAdd, type, {sum, products.values[i]});
    k.store(floats, k.code(Op::IAdd, k.uint_type(), {k.index, k.constant(1)}), sum);
    k.end();
    return k.words.words();
}

std::vector<std::uint32_t> spot_module(std::uint32_t workgroup, const SpotPlan& plan) {
    Kernel k(workgroup);
    std::uint32_t binding = 0;
    std::optional<FloatRows> f32, f64;
    if (!plan.f32_ops.empty() || plan.f16) {
        k.ask(plan.f32_modes, 32);
        f32.emplace(k, 32, plan.f32_ops, kSpotCount, binding++);
    }
    if (!plan.f64_ops.empty()) {
        k.ask(plan.f64_modes, 64);
        f64.emplace(k, 64, plan.f64_ops, kSpotCount, binding++);
    }
    const std::uint32_t half = plan.f16 ? k.float_type(16) : 0;
    Kernel::Array halves{};
    if (plan.f16) {
        k.capability(Capability::StorageBuffer16BitAccess);
        halves = k.array(k.array_type(half, 2), binding++);
    }
    const Kernel::Array loop = k.array(k.array_type(k.uint_type(), 4), binding);
    k.begin();
    for (std::optional<FloatRows>* rows : {&f32, &f64})
        if (*rows) (*rows)->compute();
    if (plan.f16) {
        const std::uint32_t single = f32->type();
        const std::uint32_t narrow = k.code(Op::FConvert, half, {f32->load(0)});
        const std::uint32_t given = k.load(halves, half, k.index);
        k.store(halves, k.code(Op::IAdd, k.uint_type(), {k.index, k.constant(kSpotCount)}), narrow);
        f32->store(f32->rows(), k.code(Op::FConvert, single, {given}));
        f32->store(f32->rows() + 1, k.code(Op::FConvert, single, {narrow}));
    }
    const std::uint32_t made = k.count(k.load(loop, k.uint_type(), k.index));
    k.store(loop, k.code(Op::IAdd, k.uint_type(), {k.index, k.constant(kSpotCount)}), made);
    k.end();
    return k.words.words();
}

}  // namespace wye::vulkan
