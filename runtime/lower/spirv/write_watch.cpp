// SPDX-License-Identifier: Apache-2.0
//
// Writes the blocks of loops. Detects loops that the driver ended. A flag is set before each loop
// and cleared where the program leaves it, so a flag that is still set after the loop means that
// the driver ended the loop. The flag is in an array at an index that compilers do not know.
// Otherwise compilers would prove that the flag is always cleared.
#include "lower/lower.hpp"
#include "lower/spirv/writer.hpp"

namespace wye::lower {

using spv::StorageClass;

SpirvWriter::Loop SpirvWriter::open_loop(bool has_body) {
    Loop loop{module_.fresh(), module_.fresh(), watch()};
    loop.before = b_.here();
    loop.header = module_.fresh();
    if (has_body) loop.body = module_.fresh();
    b_.branch(loop.header);
    b_.open(loop.header);
    return loop;
}

Id SpirvWriter::counter(const Loop& loop, Id first, Id next) {
    return b_.make(spv::Op::OpPhi, module_.type_of(next), {first, loop.before, next, loop.next});
}

void SpirvWriter::open_body(const Loop& loop, Id goes_on) {
    const Id out = way_out(loop);
    b_.branch(goes_on, loop.body, out);
    leave(loop, out);
    b_.open(loop.body);
}

void SpirvWriter::end_body(const Loop& loop) {
    if (!b_.ended()) b_.branch(loop.next);
    b_.open(loop.next);
}

void SpirvWriter::body(const Loop& loop, ir::BlockId id) {
    loops_.push_back(loop);
    block(id);
    loops_.pop_back();
    end_body(loop);
}

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
    b_.branch(loop.header);
    b_.open(loop.merge);
    if (loop.flag != 0)
        when(b_.test(spv::Op::OpINotEqual, b_.load(module_.int_type(32), loop.flag), b_.u32(0)),
             [&] { record_trap(kLoopsEnded); });
}

}  // namespace wye::lower
