// SPDX-License-Identifier: Apache-2.0
//
// The table of workarounds.
#include "lower/quirks/drivers.hpp"
#include "lower/quirks/quirks.hpp"

namespace wye::lower {
namespace {

using Found = QuirkEntry::Found;

constexpr std::uint32_t kC = kFormatOpenClC | kFormatCudaC;
constexpr std::uint32_t kNvidia = kDriverNvidia;
// NVIDIA's text was only ever tested with these workarounds in it. An audit on such a device says
// which of them it needs.
constexpr std::uint32_t kMesaAndNvidia = kDriverMesa | kDriverNvidia;
constexpr std::uint32_t kPoclAndNvidia = kDriverPocl | kDriverNvidia;
constexpr std::uint32_t kAll = kDriverNvidia | kDriverMesa | kDriverLlvmpipe | kDriverPocl;

constexpr std::string_view kZero = "One more instruction for each; its time is not measured.";
constexpr std::string_view kNvcc = "NVRTC and ptxas 13.0 (V13.0.88), H200 with driver 580.159";
constexpr std::string_view kVk580 = "NVIDIA 580.159 (Vulkan), H200";
constexpr std::string_view kLavapipe = "lavapipe of Mesa 22.3.6 with LLVM 15";
constexpr std::string_view kPocl = "PoCL 3.1 with LLVM 15";

constexpr QuirkEntry kEntries[] = {
    {Quirk::LlvmMaskedAffineIndex, "llvm-masked-affine-index", "PoCL 3.1 with LLVM 14 and 15",
     "The loop vectoriser takes the low bits of a value that a loop steps through for the value "
     "itself (LLVM issue 156849).",
     "The low bits are joined with a zero that comes with the launch.",
     "One more instruction for each such index; its time is not measured.", "low_bits_of_steps.wye",
     kFormatOpenClC, kDriverPocl, 0, kAnyVersion, Found::Driver, true, true},
    {Quirk::PoclBarriers, "pocl-barriers", kPocl,
     "A kernel with barriers becomes loops over the invocations. In some shapes of branches and "
     "loops all invocations follow the first one, or the process ends.",
     "One invocation of the device runs the whole workgroup, in loops that the lowering writes.",
     "None: reductions and tiled products take a half to a quarter of the time.",
     "branch_behind_a_loop_that_may_be_passed.wye", kFormatOpenClC, kDriverPocl, 0, kAnyVersion,
     Found::Driver, true, true},
    {Quirk::PoclConstantRounding, "pocl-constant-rounding", kPocl,
     "`rint` of a constant that is NaN, infinite or from 2^31 on, and `floor`, `ceil` and `trunc` "
     "of a constant NaN, are undefined inside: the value is wrong, or the rest of the kernel "
     "vanishes.",
     "Arguments that are whole already, and NaNs, are kept away from them.",
     "A comparison and two selects for each; their time is not measured.", "rounded_constants.wye",
     kFormatOpenClC, kPoclAndNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::PoclNanInTable, "pocl-nan-in-table", kPocl,
     "A table of floats with `as_float(...)` in it is not a constant, and is refused.",
     "Tables with a NaN or an infinity are stored as the bits of their elements.", "None.",
     "table_of_nans.wye", kC, kPoclAndNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::PtxasAbsMin, "ptxas-abs-min", kNvcc,
     "What is seen to be an absolute value is taken for positive, which that of the least integer "
     "is not: a division behind it loses its sign.",
     "The sign is asked of the value joined with a zero that comes with the launch.", kZero,
     "absolute_value_divided.wye", kC, kNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::PtxasLostMinus, "ptxas-lost-minus", kNvcc,
     "Of two minima or maxima of i32 in a row one instruction is made, which loses the minus of an "
     "operand.",
     "Operands that may turn out to be negations are joined with a zero that comes with the "
     "launch.",
     kZero, "minima_of_a_negation.wye", kC, kNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::PtxasLateShift, "ptxas-late-shift", kNvcc,
     "A shift of 64 bits by 64 that the compiler comes to know late is taken for one by 0: a "
     "rotation by 0 gives twice its operand.",
     "The second shift of a rotation is one step and the rest, so that none is by the width.",
     kZero, "rotation_by_a_late_zero.wye", kC, kNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::PtxasHalfOfAChoice, "ptxas-half-of-a-choice", kNvcc,
     "A choice between the integers 1 and 0 that is taken for the bits of a half, and widened, "
     "becomes the choice between 1.0 and 0.0.",
     "An integer that becomes two halves is joined with a zero that comes with the launch.",
     "One more instruction for each such bitcast; its time is not measured.",
     "choice_as_the_bits_of_a_half.wye", kFormatCudaC, kNvidia, 0, kAnyVersion, Found::Driver,
     false, false},
    {Quirk::PtxasSaturate, "ptxas-saturate", kNvcc,
     "A minimum and a maximum around 0 and 1 become `.sat`, which takes -0 and NaN to 0; the "
     "maximum of a value and NaN is taken for positive.",
     "Operands of `min`, `max` and `clamp` that may turn out to be constant, and are not plain "
     "literals, are joined with a zero that comes with the launch.",
     kZero, "limits_of_one.wye", kFormatCudaC, kNvidia, 0, kAnyVersion, Found::Driver, false,
     false},
    {Quirk::NvvmZeroExtremes, "nvvm-zero-extremes", kNvcc,
     "`fminf(0, -0)` of constants is folded to the wrong sign.",
     "PTX's `min` and `max` are written instead.", "None.", "clamp_from_negative_zero.wye",
     kFormatCudaC, kNvidia, 0, kAnyVersion, Found::Driver, false, false},

    {Quirk::MesaLiteralZero, "mesa-literal-zero", kLavapipe,
     "Literal zero operands of float `+ - * /` are folded: signs and NaNs are lost.",
     "Operands of float arithmetic that may be constant are joined with a zero that comes with the "
     "launch.",
     kZero, "zeros_that_were_folded.wye", kFormatOpenClC | kFormatCudaC | kFormatSpirv, 0, 0,
     kAnyVersion, Found::SelfTest, false, false},
    {Quirk::MesaOneBesideZero, "mesa-one-beside-zero", kLavapipe,
     "A choice between a constant 1.0 or -1.0 and a zero loses the zero's sign, however late the "
     "compiler finds the constant.",
     "Such a literal, what becomes a float from integers that the compiler may know, and a rounded "
     "f64 are joined with a zero that comes with the launch.",
     kZero, "converted_one_beside_zero.wye", kFormatSpirv, kDriverMesa | kDriverLlvmpipe, 0,
     kAnyVersion, Found::Driver, true, true},
    {Quirk::MesaSextCompare, "mesa-sext-compare", kLavapipe,
     "Comparisons of a sign-extended i32 with a 64-bit constant are taken for decided.",
     "Signs are extended by a shift, and the words joined.",
     "Three instructions in place of one; their time is not measured.", "extended_signs.wye",
     kFormatSpirv, kMesaAndNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::MesaInexactCompare, "mesa-inexact-compare", kLavapipe,
     "Comparisons and conversions that are not marked exact are rewritten as if there were no "
     "NaNs.",
     "They are marked `NoContraction`, as arithmetic is.", "None.", "comparisons_with_nan.wye",
     kFormatSpirv, kMesaAndNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::MesaUnrollTableLoop, "mesa-unroll-table-loop", kLavapipe,
     "A loop of N rounds that indexes an array of N elements by its counter is unrolled whatever "
     "its size.",
     "Large ones are marked not to be unrolled.", "Not measured.", "rounds_over_a_table.wye",
     kFormatSpirv, kDriverMesa | kDriverLlvmpipe, 0, kAnyVersion, Found::Driver, true, true},
    {Quirk::LlvmIntegerThroughHalf, "llvm-integer-through-half", kLavapipe,
     "The way of an integer through f16 is left out where it has few significant bits, which "
     "forgets that f16 ends at 65504.",
     "The value is joined with a zero that comes with the launch, where `mesa-literal-zero` has "
     "one.",
     kZero, "integer_through_half.wye", kFormatSpirv, kMesaAndNvidia, 0, kAnyVersion, Found::Driver,
     true, false},
    {Quirk::LlvmpipeEndOfRow, "llvmpipe-end-of-row", kLavapipe,
     "Lanes of a vector behind the end of a row of a workgroup run loops too: their rounds are "
     "counted as the others', or leave the others at a barrier.",
     "They leave main before its first statement.",
     "A comparison and a branch for each invocation.", "rounds_behind_the_end_of_a_row.wye",
     kFormatSpirv, kDriverLlvmpipe, 0, kAnyVersion, Found::Driver, true, true},
    {Quirk::LlvmpipeDeepValue, "llvmpipe-deep-value", kLavapipe,
     "An index, and what a loop starts and steps with, is gone through once for every way to a "
     "part of it: of values that use themselves twice, again and again, compiling has no end.",
     "A zero that the compiler takes for each invocation's own stands before such values.", kZero,
     "values_with_many_ways_to_their_parts.wye", kFormatSpirv, kDriverLlvmpipe, 0, kAnyVersion,
     Found::Driver, true, true},
    {Quirk::LlvmpipeWayOut, "llvmpipe-way-out", kLavapipe,
     "A loop is taken to end at once where a way out asks for a value that its variable has before "
     "the first round.",
     "The condition of such an `if` is joined with a zero that the compiler takes for each "
     "invocation's own.",
     kZero, "way_out_that_was_true_before.wye", kFormatSpirv, kDriverLlvmpipe, 0, kAnyVersion,
     Found::Driver, true, true},
    {Quirk::LlvmpipeWideShift, "llvmpipe-wide-shift", kLavapipe,
     "A 64-bit shift by -32, where the compiler finds that number late, does nothing, though the "
     "amount is masked.",
     "Amounts that are no literals are joined with a zero that the compiler takes for each "
     "invocation's own.",
     kZero, "shift_by_a_late_number.wye", kFormatSpirv, kDriverLlvmpipe, 0, kAnyVersion,
     Found::Driver, true, true},
    {Quirk::LlvmpipeRoundedZero, "llvmpipe-rounded-zero", kLavapipe,
     "Rounding loses the sign of a zero that comes from an f16 and a choice.",
     "What is rounded is joined with a zero that the compiler takes for each invocation's own.",
     kZero, "rounded_half_beside_zero.wye", kFormatSpirv, kDriverLlvmpipe, 0, kAnyVersion,
     Found::Driver, true, true},
    {Quirk::VkLiteralArithmetic, "vk-literal-arithmetic",
     "NVIDIA 580.159 (Vulkan), H200; lavapipe of Mesa 22.3.6",
     "Arithmetic on literals is done with another rounding (NVIDIA), or loses signs and NaNs "
     "(lavapipe).",
     "The lowering computes it; where only the driver finds all operands to be constant, one is "
     "joined with a zero that the compiler takes for each invocation's own.",
     kZero, "sum_of_a_chosen_literal.wye", kFormatSpirv, kNvidia | kDriverLlvmpipe, 0, kAnyVersion,
     Found::Driver, true, false},
    {Quirk::NvidiaVkSignedWords, "nvidia-vk-signed-words", kVk580,
     "Signed operations on unsigned types lose the sign: OpSRem always, comparisons where "
     "constants meet.",
     "Operands of signed operations are cast to signed types; remainders are multiplied back.",
     "A multiplication and a subtraction for each remainder.", "signed_remainders.wye",
     kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::NvidiaVkWideCompare, "nvidia-vk-wide-compare", kVk580,
     "64-bit choices that look like a minimum, a maximum or a saturating operation become a wrong "
     "one; then loops may never end.",
     "Wide comparisons are made by words, one of them joined with a zero that comes with the "
     "launch.",
     "Six instructions in place of one; their time is not measured.", "wide_saturating_one.wye",
     kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::NvidiaVkAbsMin, "nvidia-vk-abs-min", kVk580,
     "What is seen to be an absolute value is taken for positive, which that of the least integer "
     "is not.",
     "The sign is asked of the value joined with a zero that comes with the launch.", kZero,
     "absolute_least_integer.wye", kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, true,
     false},
    {Quirk::NvidiaVkOverflowByDivision, "nvidia-vk-overflow-by-division", kVk580,
     "What asks by a division whether a product overflows cannot be compiled.",
     "Quotients are joined with a zero that comes with the launch.", kZero,
     "overflow_by_division.wye", kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, false,
     false},
    {Quirk::NvidiaVkWideDivision, "nvidia-vk-wide-division", kVk580,
     "64-bit divisions are calls; the results of two of them are taken for one another, and "
     "predicates are lost over them.",
     "64-bit integers are divided by words.",
     "Not measured; some hundred instructions, as the driver's own.",
     "quotients_beside_each_other.wye", kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, false,
     false},
    {Quirk::NvidiaVkLiteralDivision, "nvidia-vk-literal-division", kVk580,
     "Some programs that divide by literals end the process in the compiler.",
     "A division by a literal is a multiplication and a shift, as compilers make it themselves.",
     "None.", "crash_by_a_wide_divisor.wye", kFormatSpirv, kAll, 0, kAnyVersion, Found::Driver,
     true, false},
    {Quirk::NvidiaVkDivisionCall, "nvidia-vk-division-call", kVk580,
     "f32 and f64 divisions and roots are calls, over which predicates and elements of 16 bits are "
     "lost.",
     "They are fused steps from the inverse square root, where f64 has an exact fma.",
     "None: about as many instructions as the driver's own.", "store_before_a_division.wye",
     kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, false, false},
    {Quirk::NvidiaVkNarrowOnes, "nvidia-vk-narrow-ones", kVk580,
     "Counting the ones of an unsigned element of 8 or 16 bits may extend its sign.",
     "Such elements are masked again where a program counts ones.", kZero,
     "narrow_element_across_a_division.wye", kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver,
     false, false},
    {Quirk::NvidiaVkLastComponent, "nvidia-vk-last-component", kVk580,
     "A bit too many is counted in the last of four 16-bit components.",
     "Vectors of narrow components are loaded and stored in words.", "A shift for each component.",
     "ones_of_the_last_component.wye", kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, false,
     false},
    {Quirk::NvidiaVkReadBack, "nvidia-vk-read-back", kVk580,
     "A load after a write of the same invocation gives what an earlier load gave.",
     "Buffers that are read back are `Coherent`.",
     "Loads and stores of such buffers go past the first cache; their time is not measured.",
     "wide_remainder_read_back.wye", kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, true,
     false},
};
static_assert(std::size(kEntries) == kQuirkCount);

}  // namespace

std::span<const QuirkEntry> quirk_entries() { return kEntries; }

}  // namespace wye::lower
