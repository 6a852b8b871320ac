// SPDX-License-Identifier: Apache-2.0
//
// Assembler: writes the words of a small SPIR-V module, section by section. It supports only the
// instructions of the self-test, since the host lowers programs itself. Names are those of the
// SPIR-V specification.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace wye::vulkan::spirv {

enum class Op : std::uint32_t {
    Extension = 10,
    ExtInstImport = 11,
    ExtInst = 12,
    MemoryModel = 14,
    EntryPoint = 15,
    ExecutionMode = 16,
    Capability = 17,
    TypeVoid = 19,
    TypeBool = 20,
    TypeInt = 21,
    TypeFloat = 22,
    TypeVector = 23,
    TypeRuntimeArray = 29,
    TypeStruct = 30,
    TypePointer = 32,
    TypeFunction = 33,
    Constant = 43,
    Function = 54,
    FunctionEnd = 56,
    Variable = 59,
    Load = 61,
    Store = 62,
    AccessChain = 65,
    Decorate = 71,
    MemberDecorate = 72,
    CompositeExtract = 81,
    FConvert = 115,
    IAdd = 128,
    FAdd = 129,
    FSub = 131,
    FMul = 133,
    FDiv = 136,
    Select = 169,
    ULessThan = 176,
    FOrdLessThan = 184,
    Phi = 245,
    LoopMerge = 246,
    Label = 248,
    Branch = 249,
    BranchConditional = 250,
    Return = 253
};

enum class Capability : std::uint32_t {
    Shader = 1,
    Float64 = 10,
    StorageBuffer16BitAccess = 4433,
    DenormPreserve = 4464,
    SignedZeroInfNanPreserve = 4466,
    RoundingModeRTE = 4467
};

enum class Mode : std::uint32_t {
    LocalSize = 17,
    DenormPreserve = 4459,
    SignedZeroInfNanPreserve = 4461,
    RoundingModeRTE = 4462
};

enum class Decoration : std::uint32_t {
    Block = 2,
    ArrayStride = 6,
    BuiltIn = 11,
    Binding = 33,
    DescriptorSet = 34,
    Offset = 35,
    NoContraction = 42
};

enum class StorageClass : std::uint32_t { Input = 1, StorageBuffer = 12 };

inline constexpr std::uint32_t kGlobalInvocationId = 28;
inline constexpr std::uint32_t kGlslRoundEven = 2, kGlslTrunc = 3, kGlslFloor = 8, kGlslCeil = 9;
inline constexpr std::uint32_t kGlslSqrt = 31, kGlslFma = 50;

// The sections of a module, in their order.
enum class Section : std::uint8_t {
    Capabilities,
    Extensions,
    Imports,
    MemoryModel,
    EntryPoints,
    Modes,
    Decorations,
    Globals,  // types, constants, variables
    Code,
    Count
};

class Assembler {
  public:
    [[nodiscard]] std::uint32_t new_id() { return next_id_++; }

    void emit(Section section, Op op, std::initializer_list<std::uint32_t> operands);
    // As `emit`, with the string `text` between `operands` and `rest`.
    void emit_text(Section section, Op op, std::initializer_list<std::uint32_t> operands,
                   std::string_view text, const std::vector<std::uint32_t>& rest = {});
    // Emits an instruction with a type and a result; returns the result's id.
    std::uint32_t result(Section section, Op op, std::uint32_t type,
                         std::initializer_list<std::uint32_t> operands);
    // Emits a type, or another global whose result is the first operand; returns the result's id.
    std::uint32_t global(Op op, std::initializer_list<std::uint32_t> operands);

    // The module's words, in SPIR-V 1.3.
    [[nodiscard]] std::vector<std::uint32_t> words() const;

  private:
    std::uint32_t next_id_ = 1;
    std::array<std::vector<std::uint32_t>, static_cast<std::size_t>(Section::Count)> sections_;
};

}  // namespace wye::vulkan::spirv
