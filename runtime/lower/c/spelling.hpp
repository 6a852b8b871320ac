// SPDX-License-Identifier: Apache-2.0
//
// Spelling: the differences between the C dialects. The writer decides the structure; a spelling
// provides the words: types, qualifiers, ids, intrinsics, atomics. Immutable, pure, thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lower/lower.hpp"
#include "lower/middle/forms.hpp"
#include "wye/sdk/program.hpp"

namespace wye::lower {

using middle::Space;

// Operations that the dialect has a word for. Operands and result have the C value type of one kind
// (see Spelling::value_type) unless stated otherwise.
enum class Intrinsic : std::uint8_t {
    PopCount,
    Clz,    // returns the width for 0
    MulHi,  // signed or unsigned, as the kind
    Sqrt,   // correctly rounded if exact()
    Fma,    // rounds once if exact()
    Floor,
    Ceil,
    Trunc,
    Rint,       // rounds ties to even
    FloatBits,  // converts a float to the unsigned integer of its width
    BitsFloat,  // the reverse of FloatBits
};

using middle::Rounded;

// Features that the text uses, which determine pragmas, includes and compiler options.
struct Used {
    bool f64 = false;
    bool atomic64 = false;
    bool rounded[6] = {};  // by Rounded: whether the text contains the native form
    bool native = false;   // whether the text contains a native math function
};

class Spelling {
  public:
    Spelling() = default;
    Spelling(const Spelling&) = delete;
    Spelling& operator=(const Spelling&) = delete;
    virtual ~Spelling() = default;

    // Integers are held unsigned in all dialects (i32 as u32), so arithmetic wraps; f16 is held as
    // f32.
    [[nodiscard]] std::string_view value_type(ir::Kind kind) const;

    // The C type of a kind in memory and as a signed operand. For I32 it is the signed 32-bit type;
    // for F16 and BF16 it is the unsigned 16-bit integer.
    [[nodiscard]] virtual std::string_view type(ir::Kind kind) const = 0;
    // A vector of 2 or 4 components in memory, and the expression that builds one.
    [[nodiscard]] virtual std::string vector_type(ir::Type type) const = 0;
    [[nodiscard]] virtual std::string make_vector(ir::Type type,
                                                  std::span<const std::string> parts) const = 0;
    [[nodiscard]] virtual std::string_view u64_suffix() const = 0;

    // The artifact format of the dialect.
    [[nodiscard]] virtual std::string_view format() const = 0;
    // The text at the start of the source, given what the rest of the text uses.
    [[nodiscard]] virtual std::string prologue(const Used& used) const = 0;
    // The compiler flags that the text needs, separated by spaces.
    [[nodiscard]] virtual std::string options(const Used& used) const = 0;

    // The prefix of a helper function, such as "static " or "static __device__ ".
    [[nodiscard]] virtual std::string_view function_prefix() const = 0;
    // The kernel's declaration up to its name.
    [[nodiscard]] virtual std::string kernel_head(std::string_view entry,
                                                  std::array<std::uint32_t, 3> workgroup) const = 0;
    // The type of a pointer to `element`s, such as "__global const float* restrict".
    // volatile_pointer() is the type for atomics.
    [[nodiscard]] virtual std::string pointer(Space space, std::string_view element, bool readonly,
                                              bool restrict_) const = 0;
    [[nodiscard]] virtual std::string volatile_pointer(Space space,
                                                       std::string_view element) const = 0;
    // Declarations without initializer, such as "__local uint s3[64]" and "__constant uint c0[4]".
    [[nodiscard]] virtual std::string shared_array(std::string_view element, std::string_view name,
                                                   std::uint64_t count,
                                                   unsigned alignment) const = 0;
    [[nodiscard]] virtual std::string constant_array(std::string_view element,
                                                     std::string_view name,
                                                     std::uint64_t count) const = 0;
    // Whether an instruction can read an element of a constant array as an operand, at no cost,
    // while a literal f64 takes two more instructions.
    [[nodiscard]] virtual bool addresses_constants() const { return false; }

    // u32 expressions for the ids that the hardware provides. Axes are 0 to 2.
    [[nodiscard]] virtual std::string group_id(unsigned axis) const = 0;
    [[nodiscard]] virtual std::string local_id(unsigned axis) const = 0;
    [[nodiscard]] virtual std::string num_groups(unsigned axis) const = 0;
    // `buffers`: whether the barrier orders buffers besides workgroup memory.
    [[nodiscard]] virtual std::string_view barrier(bool buffers) const = 0;
    // The body of a function that waits for all workgroups of a cooperative launch. Its argument
    // `words` points at the two u32 of WYE_SLOT_GRID_BARRIER. Empty: the dialect has no such wait.
    [[nodiscard]] virtual std::string_view grid_barrier() const { return {}; }
    // A wait for all lanes of the subgroup. Used only for the quirk `ptxas-early-lanes`.
    [[nodiscard]] virtual std::string_view subgroup_wait() const { return ""; }
    // The quirk that asks for `done_together`.
    [[nodiscard]] virtual Quirk spinning_atomic() const { return Quirk::PtxasSpinningAtomic; }
    // Returns `statement` with a wait after it: the lanes that began it together wait for each
    // other.
    [[nodiscard]] virtual std::string done_together(const std::string& statement) const {
        return statement;
    }

    [[nodiscard]] virtual std::string intrinsic(Intrinsic what, ir::Kind kind,
                                                std::span<const std::string> operands) const = 0;
    // True if the dialect or the device guarantees that the native form is correctly rounded.
    [[nodiscard]] virtual bool exact(Rounded what, const TargetFacts& facts) const = 0;
    // The function, or the instruction of PTX, for the inverse square root of a normal f32 with an
    // error of at most 2 ulp.
    [[nodiscard]] virtual std::string_view near_inverse_root() const = 0;

    // An atomic operation, ATOMIC_LOAD to ATOMIC_CAS, on the element of `kind` in `space` that
    // `pointer` points at. The expression yields the old value. ATOMIC_STORE gives a statement
    // without a value.
    [[nodiscard]] virtual std::string atomic(ir::Op op, ir::Kind kind, Space space,
                                             const std::string& pointer,
                                             std::span<const std::string> operands) const = 0;

    // Whether `atomic` supports ATOMIC_ADD on F32 and F64. If not, the writer uses ATOMIC_CAS in a
    // loop.
    [[nodiscard]] virtual bool adds_floats() const { return false; }

    // Whether the dialect has the operations of subgroups of `width` lanes. If not, programs that
    // use this width are refused. Control flow around these operations is uniform in the subgroup.
    // Lane k of subgroup s has local_index s * width + k.
    [[nodiscard]] virtual bool subgroups(unsigned width) const {
        static_cast<void>(width);
        return false;
    }
    // shuffle() reads the lane with the number `lane`, a u32 below the width. shuffle_xor() reads
    // the lane with the number (current lane xor `mask`). Kinds: I32 and U32 (held as u32), I64 and
    // U64, F32, F64.
    [[nodiscard]] virtual std::string shuffle(ir::Kind, unsigned width, const std::string& value,
                                              const std::string& lane) const {
        static_cast<void>(width), static_cast<void>(lane);
        return value;
    }
    [[nodiscard]] virtual std::string shuffle_xor(ir::Kind, unsigned width,
                                                  const std::string& value,
                                                  const std::string& mask) const {
        static_cast<void>(width), static_cast<void>(mask);
        return value;
    }
    // A u32 whose bit k is the condition of lane 32 * component + k. Bits beyond the width are 0.
    [[nodiscard]] virtual std::string ballot(unsigned width, unsigned component,
                                             const std::string& condition) const {
        static_cast<void>(width), static_cast<void>(component);
        return condition;
    }

    // The u32 made of the bytes `from` of `word`, lowest first; -1 stands for a zero byte. Empty if
    // the dialect has no such instruction.
    [[nodiscard]] virtual std::string move_bytes(const std::string& word,
                                                 const std::array<int, 4>& from) const {
        static_cast<void>(word), static_cast<void>(from);
        return {};
    }

    // The dialect's own implementation of a middle form: the body of a helper function with
    // arguments a, b, c. If empty, the form's steps are written. f16 values are held as f32.
    [[nodiscard]] virtual std::string own(middle::FormKey, QuirkSet) const { return {}; }

    // Workgroup memory above this size, in bytes, becomes one dynamic block that contains the
    // arrays and is sized at launch.
    [[nodiscard]] virtual std::uint64_t max_static_shared() const { return UINT64_MAX; }
    [[nodiscard]] virtual std::string shared_block() const { return {}; }
    [[nodiscard]] virtual std::string shared_part(std::string_view /*element*/,
                                                  std::string_view /*name*/,
                                                  std::uint64_t /*offset*/) const {
        return {};
    }

    // Text for the start of a loop body, which keeps the compiler from assuming that the loop
    // terminates; may be empty.
    [[nodiscard]] virtual std::string_view endless_mark() const { return {}; }
};

// OpenCL C 1.2 and the extensions it needs. A static object.
[[nodiscard]] const Spelling& opencl_c();
// CUDA C++17 without headers, for NVRTC. A static object.
[[nodiscard]] const Spelling& cuda_c();

// Returns "name(a, b)".
[[nodiscard]] std::string call(std::string_view name, std::span<const std::string> operands);

}  // namespace wye::lower
