// SPDX-License-Identifier: Apache-2.0
//
// Detects loops that the driver ended. A flag is set before each loop and cleared where the program
// leaves it, so a flag that is still set after the loop means that the driver ended the loop. The
// flag is in an array at an index that compilers do not know. Otherwise they would prove that it is
// always cleared.
#include "lower/lower.hpp"
#include "lower/spirv/writer.hpp"

namespace wye::lower {

using spv::StorageClass;

Id SpirvWriter::watch() {
    if (!context_.watches_loops()) return 0;
    const Id word = module_.int_type(32);
    const Id flags = b_.variable(module_.array_type(word, 2));
    const Id at[] = {b_.outer(SpirvBuilder::Outer::OpaqueZero)};
    const Id flag = b_.pointer(StorageClass::Function, word, flags, at);
    b_.store(flag, b_.u32(1));
    return flag;
}

Id SpirvWriter::way_out(const Loop& loop) { return loop.flag == 0 ? loop.merge : module_.fresh(); }

void SpirvWriter::leave(const Loop& loop, Id way_out) {
    if (way_out != loop.merge) {
        b_.open(way_out);
        b_.store(loop.flag, b_.u32(0));
        b_.branch(loop.merge);
    }
}

void SpirvWriter::leave(const Loop& loop) {
    if (loop.flag != 0) b_.store(loop.flag, b_.u32(0));
    b_.branch(loop.merge);
}

void SpirvWriter::close(const Loop& loop) {
    b_.open(loop.merge);
    if (loop.flag == 0) return;
    const Id raised =
        b_.test(spv::Op::OpINotEqual, b_.load(module_.int_type(32), loop.flag), b_.u32(0));
    const Id ended = module_.fresh();
    const Id fine = module_.fresh();
    b_.selection(raised, ended, fine, fine);
    b_.open(ended);
    trap(kLoopsEnded);
    b_.branch(fine);
    b_.open(fine);
}

}  // namespace wye::lower
