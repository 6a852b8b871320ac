// SPDX-License-Identifier: Apache-2.0
#include "lower/quirks/quirks.hpp"

#include "wye/abi.h"

namespace wye::lower {
namespace {

constexpr QuirkEntry kEntries[] = {
    {Quirk::LlvmMaskedAffineIndex, "llvm-masked-affine-index", "PoCL 3.1 with LLVM 14 and 15",
     "The loop vectoriser takes the low bits of a value that a loop steps through for the value "
     "itself (LLVM issue 156849).",
     "The low bits are joined with a zero that comes with the launch.",
     "One more instruction for each such index; its time is not measured.", "low_bits_of_steps.wye",
     WYE_FORMAT_OPENCL_C, true},
    {Quirk::MesaUnrollTableLoop, "mesa-unroll-table-loop", "lavapipe of Mesa 22.3.6",
     "A loop of N rounds that indexes an array of N elements by its counter is unrolled whatever "
     "its size.",
     "Large ones are marked not to be unrolled.", "Not measured.", "rounds_over_a_table.wye",
     WYE_FORMAT_SPIRV, true},
    {Quirk::PtxasHalfOfAChoice, "ptxas-half-of-a-choice",
     "ptxas 13.0 (V13.0.88); H200 with driver 580.159",
     "A choice between the integers 1 and 0 that is taken for the bits of a half, and widened, "
     "becomes the choice between 1.0 and 0.0.",
     "An integer that becomes two halves is joined with a zero that comes with the launch.",
     "One more instruction for each such bitcast; its time is not measured.",
     "choice_as_the_bits_of_a_half.wye", WYE_FORMAT_CUDA_C, false},
    {Quirk::MesaOneBesideZero, "mesa-one-beside-zero", "lavapipe of Mesa 22.3.6",
     "A choice between a constant 1.0 or -1.0 and a zero loses the zero's sign, however late the "
     "compiler finds the constant.",
     "Such a literal, and what becomes a float from integers that the compiler may know, is joined "
     "with a zero that comes with the launch.",
     "One more instruction for each; its time is not measured.", "converted_one_beside_zero.wye",
     WYE_FORMAT_SPIRV, false},
};

}  // namespace

std::span<const QuirkEntry> quirk_entries() { return kEntries; }

QuirkSet QuirkSet::narrowed(std::string_view format, bool cpu) const {
    QuirkSet out;
    for (const QuirkEntry& entry : kEntries)
        out.set(entry.id, has(entry.id) && entry.format == format && (cpu || !entry.cpu_only));
    return out;
}

}  // namespace wye::lower
