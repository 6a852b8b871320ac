// SPDX-License-Identifier: Apache-2.0
#include "oracle/launch.hpp"

#include <bit>

#include "oracle/arithmetic.hpp"

namespace oracle {
namespace {

__extension__ using Wide = __int128;

// Evaluates sizes as exact 128-bit integers, and refuses results that do not fit. The language's
// own limit is 2^63.
class Sizes {
  public:
    Sizes(const Module& module, const std::vector<std::uint64_t>& params,
          const std::vector<std::uint64_t>& counts)
        : module_(module), params_(params), counts_(counts) {}

    std::uint64_t value(const SizeExpr& size) const {
        std::size_t at = 0;
        const Wide v = read(size, at);
        if (at != size.size()) throw Refused("bad size expression");
        if (v < 0) throw Refused("a size is negative");
        if (v >> 63 != 0) throw Refused("a size is 2^63 or more");
        return static_cast<std::uint64_t>(v);
    }

  private:
    Wide read(const SizeExpr& size, std::size_t& at) const {
        if (at == size.size()) throw Refused("bad size expression");
        const SizeNode& node = size[at++];
        if (node.op == WYE_SIZE_LITERAL) return static_cast<Wide>(node.literal);
        if (node.op == WYE_SIZE_PARAM) {
            const Type type = module_.params.at(node.index);
            if (!is_integer(type.kind)) throw Refused("a size takes a float parameter");
            return is_signed(type.kind)
                       ? static_cast<Wide>(to_signed(type.kind, params_[node.index]))
                       : static_cast<Wide>(params_[node.index]);
        }
        if (node.op == WYE_SIZE_LEN) return static_cast<Wide>(counts_.at(node.index));
        const Wide a = read(size, at);
        const Wide b = read(size, at);
        Wide out = 0;
        bool overflow = false;
        switch (node.op) {
            case WYE_SIZE_ADD:
                overflow = __builtin_add_overflow(a, b, &out);
                break;
            case WYE_SIZE_SUB:
                overflow = __builtin_sub_overflow(a, b, &out);
                break;
            case WYE_SIZE_MUL:
                overflow = __builtin_mul_overflow(a, b, &out);
                break;
            default:
                if (b == 0) throw Refused("a size divides by zero");
                out = a / b;
                if (a % b != 0 && (a < 0) != (b < 0)) --out;  // rounds down
        }
        if (overflow) throw Refused("a size is too large");
        return out;
    }

    const Module& module_;
    const std::vector<std::uint64_t>& params_;
    const std::vector<std::uint64_t>& counts_;
};

// The element counts by buffer index. Computed counts come last: they may use the other counts, but
// not one another.
std::vector<std::uint64_t> element_counts(const Module& m, const Launch& launch) {
    std::vector<std::uint64_t> counts(m.buffers.size());
    std::vector<const std::vector<std::byte>*> bound(m.buffers.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < m.buffers.size(); ++i) {
        const Buffer& b = m.buffers[i];
        if (b.role != WYE_ROLE_SHARED) {
            if (next == launch.buffers.size()) throw Refused("too few buffers");
            bound[i] = &launch.buffers[next++];
        }
        if (b.count_kind == WYE_COUNT_LITERAL) counts[i] = b.count;
        if (b.count_kind != WYE_COUNT_RUNTIME || bound[i] == nullptr) continue;
        counts[i] = bound[i]->size() / (kind_bytes(b.type.kind) * b.type.lanes);
        if (b.role == WYE_ROLE_OUTPUT && bound[i]->empty()) counts[i] = launch.elements.value_or(0);
    }
    if (next != launch.buffers.size()) throw Refused("too many buffers");
    const std::vector<std::uint64_t> known = counts;
    const Sizes sizes(m, launch.params, known);
    for (std::size_t i = 0; i < m.buffers.size(); ++i) {
        const Buffer& b = m.buffers[i];
        if (b.count_kind == WYE_COUNT_COMPUTED) counts[i] = sizes.value(b.size);
        if (bound[i] == nullptr || (b.role == WYE_ROLE_OUTPUT && bound[i]->empty())) continue;
        const std::uint64_t bytes = kind_bytes(b.type.kind) * b.type.lanes;
        if (bound[i]->size() % bytes != 0 || bound[i]->size() / bytes != counts[i])
            throw Refused("`" + b.name + "` has " + std::to_string(bound[i]->size()) +
                          " bytes and should have " + std::to_string(counts[i]) + " elements");
    }
    return counts;
}

std::array<std::uint32_t, 3> grid(const Module& m, const Launch& launch,
                                  const std::array<std::uint32_t, 3>& workgroup,
                                  const std::vector<std::uint64_t>& counts) {
    std::array<std::uint64_t, 3> groups{1, 1, 1};
    if (launch.groups) {
        for (int i = 0; i < 3; ++i) groups[i] = (*launch.groups)[i];
    } else if (launch.elements) {
        groups[0] =
            *launch.elements / workgroup[0] + (*launch.elements % workgroup[0] != 0 ? 1 : 0);
    } else if (m.grid_kind != WYE_GRID_NONE && !m.axes.empty() && m.axes.size() <= 3) {
        const Sizes sizes(m, launch.params, counts);
        for (std::size_t i = 0; i < m.axes.size(); ++i) {
            const std::uint64_t n = sizes.value(m.axes[i]);
            groups[i] = m.grid_kind == WYE_GRID_GROUPS
                            ? n
                            : n / workgroup[i] + (n % workgroup[i] != 0 ? 1 : 0);
        }
    } else {
        throw Refused("neither the launch nor the program has a grid");
    }
    Wide all = 1;
    std::array<std::uint32_t, 3> out{};
    for (int i = 0; i < 3; ++i) {
        if (static_cast<Wide>(groups[i]) * workgroup[i] > 0xffffffffU)
            throw Refused("more than 2^32-1 invocations on an axis");
        out[i] = static_cast<std::uint32_t>(groups[i]);
        all *= out[i];
    }
    if (all > 0xffffffffU) throw Refused("more than 2^32-1 workgroups");
    return out;
}

}  // namespace

Machine prepare(const Module& m, const Launch& launch) {
    if (launch.params.size() != m.params.size()) throw Refused("wrong number of parameters");
    Machine machine{m, launch.params, {}, {}, m.workgroup, 0, 0, launch.step_limit, {}, {}};
    if (!launch.claims.empty() && launch.claims.size() != m.claims)
        throw Refused("wrong number of claims");
    machine.claims = launch.claims;
    machine.claims.resize(m.claims);
    if (launch.workgroup) {
        if (!m.adjustable) throw Refused("the workgroup size is not adjustable");
        machine.workgroup = *launch.workgroup;
    }
    const auto& size = machine.workgroup;
    const std::uint64_t invocations = std::uint64_t{size[0]} * size[1] * size[2];
    if (invocations == 0 || invocations > WYE_LIMIT_WORKGROUP) throw Refused("bad workgroup size");
    machine.subgroup_size = m.subgroup != 0 ? m.subgroup : launch.subgroup_size;
    if (!std::has_single_bit(machine.subgroup_size)) throw Refused("bad subgroup size");

    const std::vector<std::uint64_t> counts = element_counts(m, launch);
    machine.groups = grid(m, launch, size, counts);
    std::size_t next = 0;
    for (std::size_t i = 0; i < m.buffers.size(); ++i) {
        const Buffer& b = m.buffers[i];
        const std::uint64_t bytes = counts[i] * kind_bytes(b.type.kind) * b.type.lanes;
        if (bytes > std::uint64_t{1} << 36) throw Refused("`" + b.name + "` is too large");
        const bool zero = b.role == WYE_ROLE_OUTPUT || b.role == WYE_ROLE_SHARED;
        machine.arrays.emplace_back(b.name, b.type,
                                    zero ? std::vector<std::byte>(bytes) : launch.buffers[next]);
        if (b.role != WYE_ROLE_SHARED) ++next;
        if (launch.check_races) machine.arrays.back().watch();
    }
    return machine;
}

}  // namespace oracle
