// SPDX-License-Identifier: Apache-2.0
//
// Subgroup operations: reductions and scans from shuffles, in the order that the language fixes, so
// that float sums have the same bits everywhere. Wide values go word by word, which every device
// can.
#include "lower/spirv/ops.hpp"
#include "lower/spirv/writer.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;
using Outer = SpirvBuilder::Outer;

// The scalar operation that a reduction or scan repeats.
Op step_of(Op op) {
    switch (op) {
        case Op::SUBGROUP_MIN:
            return Op::MIN;
        case Op::SUBGROUP_MAX:
            return Op::MAX;
        case Op::SUBGROUP_AND:
            return Op::AND;
        case Op::SUBGROUP_OR:
            return Op::OR;
        case Op::SUBGROUP_XOR:
            return Op::XOR;
        default:
            return Op::ADD;
    }
}

class Subgroup {
  public:
    Subgroup(SpirvBuilder& builder, Kind kind)
        : b_(builder), kind_(kind), width_(builder.context.subgroup) {
        b_.module.capability(spv::Capability::GroupNonUniform);
    }

    // A lane's value; `how` takes a lane or the difference to one.
    Id shuffle(spv::Op how, Id value, Id lane) {
        b_.module.capability(spv::Capability::GroupNonUniformShuffle);
        const ir::Type type{kind_, 1};
        const Id held = b_.module.type_of(value);
        const Id bits = type.floating() ? b_.float_bits(kind_, value) : value;
        const auto word = [&](Id part) {
            return b_.make(how, b_.module.int_type(32), {scope(), part, lane});
        };
        if (type.bits() != 64) return b_.bitcast(word(bits), held);
        const Id low = word(b_.low_word(bits));
        return b_.bitcast(b_.join_words(low, word(b_.high_word(bits))), held);
    }
    Id any_lane(Id value, Id lane) {
        return shuffle(spv::Op::OpGroupNonUniformShuffle, value, masked(lane));
    }
    Id across(Id value, Id difference) {
        return shuffle(spv::Op::OpGroupNonUniformShuffleXor, value, masked(difference));
    }
    Id vote(spv::Op how, Id condition) {
        b_.module.capability(spv::Capability::GroupNonUniformVote);
        return b_.make(how, b_.module.bool_type(), {scope(), condition});
    }
    Id reduce(Op op, Id v) {
        for (unsigned distance = 1; distance < width_; distance *= 2)
            v = combine(step_of(op), v, across(v, b_.u32(distance)));
        return v;
    }
    Id scan(Op op, Id v) {
        const Id lane = b_.outer(Outer::SubgroupLane);
        const auto below = [&](unsigned distance) {
            return any_lane(v, b_.op(spv::Op::OpISub, lane, b_.u32(distance)));
        };
        for (unsigned distance = 1; distance < width_; distance *= 2) {
            const Id sum = combine(Op::ADD, below(distance), v);
            v = b_.select(b_.test(spv::Op::OpUGreaterThanEqual, lane, b_.u32(distance)), sum, v);
        }
        if (op == Op::SUBGROUP_INCLUSIVE_ADD) return v;
        const Id first = b_.test(spv::Op::OpIEqual, lane, b_.u32(0));
        return b_.select(first, b_.module.literal(kind_, 0), below(1));
    }
    Id scope() { return b_.u32(static_cast<std::uint32_t>(spv::Scope::Subgroup)); }

  private:
    Id masked(Id lane) { return b_.op(spv::Op::OpBitwiseAnd, lane, b_.u32(width_ - 1)); }
    Id combine(Op op, Id a, Id c) {
        const Id operands[] = {a, c};
        return spirv_operation(b_, op, kind_, operands);
    }

    SpirvBuilder& b_;
    Kind kind_;
    unsigned width_;
};

}  // namespace

SpirvValue SpirvWriter::subgroup(const ir::Expr& e) {
    const auto ids = code_.operands_of(e);
    Subgroup group(b_, code_.exprs[ids[0]].type.kind);
    const Id first = value(ids[0]).c[0];
    SpirvValue v;
    v.lanes = e.type.lanes;
    switch (e.op) {
        case Op::SUBGROUP_BROADCAST:
        case Op::SUBGROUP_SHUFFLE:
            v.c[0] = group.any_lane(first, value(ids[1]).c[0]);
            return v;
        case Op::SUBGROUP_SHUFFLE_XOR:
            v.c[0] = group.across(first, value(ids[1]).c[0]);
            return v;
        case Op::SUBGROUP_ANY:
            v.c[0] = group.vote(spv::Op::OpGroupNonUniformAny, first);
            return v;
        case Op::SUBGROUP_ALL:
            v.c[0] = group.vote(spv::Op::OpGroupNonUniformAll, first);
            return v;
        case Op::SUBGROUP_BALLOT: {
            module_.capability(spv::Capability::GroupNonUniformBallot);
            const Id word = module_.int_type(32);
            const Id bits = b_.make(spv::Op::OpGroupNonUniformBallot, module_.vector_type(word, 4),
                                    {group.scope(), first});
            for (unsigned k = 0; k < 4; ++k) v.c[k] = b_.extract(bits, word, k);
            return v;
        }
        case Op::SUBGROUP_INCLUSIVE_ADD:
        case Op::SUBGROUP_EXCLUSIVE_ADD:
            v.c[0] = group.scan(e.op, first);
            return v;
        default:
            v.c[0] = group.reduce(e.op, first);
            return v;
    }
}

}  // namespace wye::lower
