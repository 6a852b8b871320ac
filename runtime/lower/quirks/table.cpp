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
// The drivers that get workarounds found on Mesa or PoCL. NVIDIA's drivers are included, since
// lowered text was tested there only with these workarounds. An audit on such a driver shows which
// workarounds are needed.
constexpr std::uint32_t kMesaAndNvidia = kDriverMesa | kDriverNvidia;
constexpr std::uint32_t kPoclAndNvidia = kDriverPocl | kDriverNvidia;
constexpr std::uint32_t kAll = kDriverNvidia | kDriverMesa | kDriverLlvmpipe | kDriverPocl;

constexpr std::string_view kZero = "One more instruction for each; its time is not measured.";
constexpr std::string_view kNvcc = "NVRTC and ptxas 13.0 (V13.0.88), H200 with driver 580.159";
constexpr std::string_view kCl580 = "NVIDIA 580.159 (OpenCL), H200";
constexpr std::string_view kVk580 = "NVIDIA 580.159 (Vulkan), H200";
constexpr std::string_view kLavapipe = "lavapipe of Mesa 22.3.6 with LLVM 15";
constexpr std::string_view kPocl = "PoCL 3.1 with LLVM 15";

constexpr QuirkEntry kEntries[] = {
    {Quirk::LlvmMaskedAffineIndex, "llvm-masked-affine-index", "PoCL 3.1 with LLVM 14 and 15",
     "The loop vectoriser treats the masked low bits of a loop's counter as if they never wrapped "
     "(LLVM issue 156849).",
     "The masked index is combined with a zero passed at launch.",
     "One more instruction for each such index; its time is not measured.", "low_bits_of_steps.wye",
     kFormatOpenClC, kDriverPocl, 0, kAnyVersion, Found::Driver, true, true},
    {Quirk::PoclBarriers, "pocl-barriers", kPocl,
     "The compiler turns a kernel with barriers into loops over the invocations. With some "
     "branches and loops all invocations then take the first one's path, or the compiler crashes.",
     "One invocation of the device runs the whole workgroup, in loops that the lowering writes.",
     "None: reductions and tiled products take a half to a quarter of the time.",
     "branch_behind_a_loop_that_may_be_passed.wye", kFormatOpenClC, kDriverPocl, 0, kAnyVersion,
     Found::Driver, true, true},
    {Quirk::PoclConstantRounding, "pocl-constant-rounding", kPocl,
     "`rint` of a constant NaN, infinity or number of at least 2^31, and `floor`, `ceil` and "
     "`trunc` of a constant NaN, have undefined behaviour: the value is wrong, or the rest of the "
     "kernel is removed.",
     "Selects pass whole numbers and NaNs around these functions.",
     "A comparison and two selects for each; their time is not measured.", "rounded_constants.wye",
     kFormatOpenClC, kPoclAndNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::PoclNanInTable, "pocl-nan-in-table", kPocl,
     "A constant table of floats that contains `as_float(...)` is refused as not constant.",
     "Tables with a NaN or an infinity are stored as the bits of their elements.", "None.",
     "table_of_nans.wye", kC, kPoclAndNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::PtxasAbsMin, "ptxas-abs-min", kNvcc,
     "The compiler assumes that an absolute value is never negative, but the absolute value of the "
     "least integer is negative: a later division loses its sign.",
     "The sign test reads the value combined with a zero passed at launch.", kZero,
     "absolute_value_divided.wye", kC, kNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::PtxasLostMinus, "ptxas-lost-minus", kNvcc,
     "Two nested i32 minima or maxima become one instruction, which drops the negation of an "
     "operand.",
     "Operands that may be negations are combined with a zero passed at launch.", kZero,
     "minima_of_a_negation.wye", kC, kNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::PtxasLostNot, "ptxas-lost-not", kNvcc,
     "Behind a branch that is taken only if `x` equals a constant, `~x & y`, `~x | y` and `~x ^ y` "
     "lose the `~`.",
     "An operand of a bitwise not (also for `ctz` and 64-bit rotations) is combined with a zero "
     "passed at launch.",
     kZero, "bits_of_a_known_value.wye", kC, kNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::PtxasLateShift, "ptxas-late-shift", kNvcc,
     "A 64-bit shift by 64 that the compiler finds late is done as a shift by 0: a rotation by 0 "
     "returns its operand twice over.",
     "The second shift of a rotation is done in two, by 1 and by the rest, so neither is by the "
     "full width.",
     kZero, "rotation_by_a_late_zero.wye", kC, kNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::PtxasHalfOfAChoice, "ptxas-half-of-a-choice", kNvcc,
     "A select of the integers 1 and 0 whose bits are read as an f16 and widened becomes a select "
     "of 1.0 and 0.0.",
     "An integer that is bitcast to two f16 is combined with a zero passed at launch.",
     "One more instruction for each such bitcast; its time is not measured.",
     "choice_as_the_bits_of_a_half.wye", kFormatCudaC, kNvidia, 0, kAnyVersion, Found::Driver,
     false, false},
    {Quirk::PtxasSaturate, "ptxas-saturate", kNvcc,
     "A clamp to 0 and 1 becomes `.sat`, which turns -0 and NaN into 0; the maximum of a value and "
     "NaN is assumed to be positive.",
     "Operands of `min`, `max` and `clamp` that may become constant, but are not literals, are "
     "combined with a zero passed at launch.",
     kZero, "limits_of_one.wye", kFormatCudaC, kNvidia, 0, kAnyVersion, Found::Driver, false,
     false},
    {Quirk::PtxasEarlyLanes, "ptxas-early-lanes", kNvcc,
     "Lanes that have left a loop with atomics run ahead of the others and overwrite uniform "
     "registers that the loop still reads: an illegal instruction or a misaligned address.",
     "The subgroup waits for all its lanes behind such a loop (`__syncwarp`).",
     "One more instruction for each such loop; its time is not measured.",
     "lanes_that_leave_a_loop.wye", kFormatCudaC, kNvidia, 0, kAnyVersion, Found::Driver, false,
     false},
    {Quirk::PtxasSpinningAtomic, "ptxas-spinning-atomic", kNvcc,
     "An atomic operation on `shared` that the device lacks becomes a loop around "
     "compare-and-swap. "
     "Lanes that leave it early run ahead of the others and overwrite uniform registers that these "
     "still read: wrong elements, or an illegal address.",
     "The lanes that began the operation together wait for each other behind it (`bar.warp.sync`).",
     "Three more instructions for each 64-bit or float operation in `shared`; their time is not "
     "measured.",
     "atomic_operations_that_spin.wye", kFormatCudaC, kNvidia, 0, kAnyVersion, Found::Driver, false,
     false},
    {Quirk::PtxasUnrolledStep, "ptxas-unrolled-step", kNvcc,
     "A loop `i < end` is unrolled behind a test of `end - i` against several steps, whose product "
     "wraps if the literal step is large: it runs 32 iterations in place of one.",
     "The iterations of loops with such steps are counted.", "A division before each such loop.",
     "steps_that_wrap_together.wye", kC, kNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::NvvmZeroExtremes, "nvvm-zero-extremes", kNvcc,
     "`fminf(0, -0)` of constants is folded to the zero of the wrong sign.",
     "PTX's `min` and `max` are written instead.", "None.", "clamp_from_negative_zero.wye",
     kFormatCudaC, kNvidia, 0, kAnyVersion, Found::Driver, false, false},
    {Quirk::NvvmPowers, "nvvm-powers", kNvcc,
     "A variable that loops square again and again is written as a polynomial, whose terms double "
     "with each product: the compiler does not finish.",
     "Integer products of a variable with itself are combined with a zero passed at launch.", kZero,
     "squares_of_squares.wye", kFormatCudaC, kNvidia, 0, kAnyVersion, Found::Driver, false, false},
    {Quirk::NvvmLiteralCompare, "nvvm-literal-compare", kNvcc,
     "The bits of a float that is computed from literals are compared with an integer constant as "
     "floats: a NaN equals every constant.",
     "Floats that may be constants are combined with a zero passed at launch before their bits are "
     "used.",
     kZero, "bits_of_a_literal_sum.wye", kC, kNvidia, 0, kAnyVersion, Found::Driver, false, false},
    {Quirk::NvidiaClFusedDivision, "nvidia-cl-fused-division", kCl580,
     "A division by a power of two becomes a multiplication that is fused with an addition, "
     "although "
     "FP_CONTRACT is off: a quotient that overflows is finite in the sum.",
     "A division by such a literal is written as a multiplication; other divisors that may become "
     "constant are combined with a zero passed at launch.",
     kZero, "quotients_in_sums.wye", kFormatOpenClC, kNvidia, 0, kAnyVersion, Found::Driver, true,
     false},
    {Quirk::NvidiaClSpinningAtomic, "nvidia-cl-spinning-atomic", kCl580,
     "As `ptxas-spinning-atomic`.",
     "The same wait, in PTX (`bar.warp.sync`). Text that is lowered without a device lacks it.",
     "Three more instructions for each 64-bit or float operation in `shared`; their time is not "
     "measured.",
     "atomic_operations_that_spin.wye", kFormatOpenClC, kNvidia, 0, kAnyVersion, Found::Driver,
     false, false, true},

    {Quirk::MesaLiteralZero, "mesa-literal-zero", kLavapipe,
     "Float `+ - * /` with a literal zero is folded as if there were no NaNs and no negative zero.",
     "Operands of float arithmetic that may be constant are combined with a zero passed at launch.",
     kZero, "zeros_that_were_folded.wye", kFormatOpenClC | kFormatCudaC | kFormatSpirv, 0, 0,
     kAnyVersion, Found::SelfTest, false, false},
    {Quirk::MesaOneBesideZero, "mesa-one-beside-zero", kLavapipe,
     "A select between the constant 1.0 or -1.0 and a zero loses the zero's sign, even if the "
     "compiler finds the constant only in a late pass.",
     "Such literals, floats converted from integers that may be constant, and rounded f64 are "
     "combined with a zero passed at launch.",
     kZero, "converted_one_beside_zero.wye", kFormatSpirv, kDriverMesa | kDriverLlvmpipe, 0,
     kAnyVersion, Found::Driver, true, true},
    {Quirk::MesaSextCompare, "mesa-sext-compare", kLavapipe,
     "Comparisons of a sign-extended i32 with a 64-bit constant are folded to a wrong result.",
     "The upper word is made by a shift, and the two words are joined.",
     "Three instructions in place of one; their time is not measured.", "extended_signs.wye",
     kFormatSpirv, kMesaAndNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::MesaUnrollTableLoop, "mesa-unroll-table-loop", kLavapipe,
     "A loop of N iterations whose counter indexes an array of N elements is unrolled, even if the "
     "loop is large.",
     "Large loops of this kind are marked `DontUnroll`.", "Not measured.",
     "rounds_over_a_table.wye", kFormatSpirv, kDriverMesa | kDriverLlvmpipe, 0, kAnyVersion,
     Found::Driver, true, true},
    {Quirk::LlvmIntegerThroughHalf, "llvm-integer-through-half", kLavapipe,
     "A conversion of an integer to f16 and back is removed if the integer has few significant "
     "bits, but f16 ends at 65504.",
     "The value is combined with the zero passed at launch, if `mesa-literal-zero` adds one.",
     kZero, "integer_through_half.wye", kFormatSpirv, kMesaAndNvidia, 0, kAnyVersion, Found::Driver,
     true, false},
    {Quirk::LlvmpipeEndOfRow, "llvmpipe-end-of-row", kLavapipe,
     "Vector lanes beyond the end of a row of the workgroup run loops too: their iterations count "
     "towards the driver's limit, or keep the other lanes waiting at a barrier.",
     "These lanes return before the first statement of main.",
     "A comparison and a branch for each invocation.", "rounds_behind_the_end_of_a_row.wye",
     kFormatSpirv, kDriverLlvmpipe, 0, kAnyVersion, Found::Driver, false, true},
    {Quirk::LlvmpipeKnownLane, "llvmpipe-known-lane", kLavapipe,
     "The number of a lane is a constant to the compiler. If it also knows which lanes run a loop "
     "with an array of variables, it may end the process (\"Cannot select: "
     "zero_extend_vector_inreg\").",
     "The lane's number is combined with a zero that looks different for each invocation to the "
     "compiler.",
     kZero, "lanes_that_are_known.wye", kFormatSpirv, kDriverLlvmpipe, 0, kAnyVersion,
     Found::Driver, false, true},
    {Quirk::LlvmpipeDeepValue, "llvmpipe-deep-value", kLavapipe,
     "For an index, and for the start and step of a loop, the compiler visits a shared "
     "subexpression once for each path to it. A value that is squared again and again takes for "
     "ever.",
     "Such a value is combined with a zero that looks different for each invocation to the "
     "compiler.",
     kZero, "values_with_many_ways_to_their_parts.wye", kFormatSpirv, kDriverLlvmpipe, 0,
     kAnyVersion, Found::Driver, true, true},
    {Quirk::LlvmpipeWayOut, "llvmpipe-way-out", kLavapipe,
     "The compiler assumes that a loop ends at once if a `break` condition holds for the "
     "variable's value before the first iteration.",
     "The condition of such an `if` is combined with a zero that looks different for each "
     "invocation to the compiler.",
     kZero, "way_out_that_was_true_before.wye", kFormatSpirv, kDriverLlvmpipe, 0, kAnyVersion,
     Found::Driver, true, true},
    {Quirk::LlvmpipeWideShift, "llvmpipe-wide-shift", kLavapipe,
     "A 64-bit shift by -32 that the compiler finds late does nothing, although the amount is "
     "masked.",
     "Amounts that are not literals are combined with a zero that looks different for each "
     "invocation to the compiler.",
     kZero, "shift_by_a_late_number.wye", kFormatSpirv, kDriverLlvmpipe, 0, kAnyVersion,
     Found::Driver, true, true},
    {Quirk::LlvmpipeRoundedZero, "llvmpipe-rounded-zero", kLavapipe,
     "Rounding loses the sign of a zero that is the result of a select on an f16.",
     "The rounded value is combined with a zero that looks different for each invocation to the "
     "compiler.",
     kZero, "rounded_half_beside_zero.wye", kFormatSpirv, kDriverLlvmpipe, 0, kAnyVersion,
     Found::Driver, true, true},
    {Quirk::VkLiteralArithmetic, "vk-literal-arithmetic",
     "NVIDIA 580.159 (Vulkan), H200; lavapipe of Mesa 22.3.6",
     "Arithmetic on literals is folded with another rounding (NVIDIA), or loses signs and NaNs "
     "(lavapipe).",
     "The lowering computes it. If only the driver can find all operands to be constant, one of "
     "them is combined with a zero that looks different for each invocation to the compiler. So "
     "is a literal that is stored to an array.",
     kZero, "sum_of_a_chosen_literal.wye", kFormatSpirv, kNvidia | kDriverLlvmpipe, 0, kAnyVersion,
     Found::Driver, true, false},
    {Quirk::NvidiaVkSignedWords, "nvidia-vk-signed-words", kVk580,
     "Signed operations on unsigned types lose the sign: OpSRem always, comparisons if constants "
     "are involved.",
     "Operands of signed operations are cast to signed types; a remainder is computed from the "
     "quotient.",
     "A multiplication and a subtraction for each remainder.", "signed_remainders.wye",
     kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::NvidiaVkWideCompare, "nvidia-vk-wide-compare", kVk580,
     "A 64-bit select that looks like a minimum, a maximum or a saturating operation becomes a "
     "wrong one; loops may then never end.",
     "64-bit comparisons are made word by word, one word combined with a zero passed at launch.",
     "Six instructions in place of one; their time is not measured.", "wide_sum_beside_rounds.wye",
     kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, true, false},
    {Quirk::NvidiaVkAbsMin, "nvidia-vk-abs-min", kVk580,
     "The compiler assumes that an absolute value is never negative, but the absolute value of the "
     "least integer is negative.",
     "The sign test reads the value combined with a zero passed at launch.", kZero,
     "absolute_least_integer.wye", kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, true,
     false},
    {Quirk::NvidiaVkOverflowByDivision, "nvidia-vk-overflow-by-division", kVk580,
     "Code that tests by a division whether a product overflows does not compile.",
     "Quotients are combined with a zero passed at launch.", kZero, "overflow_by_division.wye",
     kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, false, false},
    {Quirk::NvidiaVkWideDivision, "nvidia-vk-wide-division", kVk580,
     "64-bit divisions become calls; the results of two of them are swapped, and predicates are "
     "lost across them.",
     "64-bit integers are divided word by word.",
     "Not measured; some hundred instructions, like the driver's own.",
     "quotients_beside_each_other.wye", kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, false,
     false},
    {Quirk::NvidiaVkLiteralDivision, "nvidia-vk-literal-division", kVk580,
     "The compiler crashes on some programs that divide by literals.",
     "A division by a literal is written as a multiplication and a shift, as compilers do.",
     "None.", "crash_by_a_wide_divisor.wye", kFormatSpirv, kAll, 0, kAnyVersion, Found::Driver,
     true, false},
    {Quirk::NvidiaVkDivisionCall, "nvidia-vk-division-call", kVk580,
     "f32 and f64 divisions and roots become calls, across which predicates and 16-bit elements "
     "are lost.",
     "They are computed from the inverse square root: f32 from the exact remainder in f32, f64 by "
     "fused multiply-adds, if those are exact.",
     "None: about as many instructions as the driver's own.", "store_before_a_division.wye",
     kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, false, false},
    {Quirk::NvidiaVkNarrowOnes, "nvidia-vk-narrow-ones", kVk580,
     "A population count of an unsigned 8 or 16-bit element may sign-extend it first.",
     "Such elements are masked again before a population count.", kZero,
     "narrow_element_across_a_division.wye", kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver,
     false, false},
    {Quirk::NvidiaVkLastComponent, "nvidia-vk-last-component", kVk580,
     "The population count of the last of four 16-bit components is one too high.",
     "Vectors of narrow components are loaded and stored in words.", "A shift for each component.",
     "ones_of_the_last_component.wye", kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, false,
     false},
    {Quirk::NvidiaVkReadBack, "nvidia-vk-read-back", kVk580,
     "A load after a store by the same invocation returns the value of an earlier load.",
     "Buffers that an invocation reads after writing are `Coherent`.",
     "Loads and stores of such buffers bypass the first-level cache; their time is not measured.",
     "wide_remainder_read_back.wye", kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, true,
     false},
    {Quirk::NvidiaVkContinue, "nvidia-vk-continue", kVk580,
     "The compiler crashes when it unrolls a loop with `continue` whose results are not used.",
     "Loops with `continue` are not unrolled.", "Not measured.", "continue_without_a_result.wye",
     kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, false, false},
    {Quirk::NvidiaConstantNarrowing, "nvidia-constant-narrowing", kNvcc,
     "A conversion of a constant f64 to f32 is folded to a wrong result: a subnormal f64 becomes "
     "the least f32 above zero.",
     "The f64 is combined with a zero passed at launch.", kZero, "narrowed_subnormal.wye",
     kC | kFormatSpirv, kNvidia, 0, kAnyVersion, Found::Driver, true, false},
};
static_assert(std::size(kEntries) == kQuirkCount);

}  // namespace

std::span<const QuirkEntry> quirk_entries() { return kEntries; }

}  // namespace wye::lower
