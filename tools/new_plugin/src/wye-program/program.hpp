// SPDX-License-Identifier: Apache-2.0
//
// A program of the format `wye-program`: the program itself, in wire form, which Wye's sdk reads.
// plugin-formats.md says how the host has changed the program, and what the plugin must do.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "evaluate.hpp"
#include "fibers.hpp"
#include "queue.hpp"
#include "wye/sdk/typing.hpp"
#include "wye/sdk/wire.hpp"

namespace driver {

inline constexpr std::string_view kFormat = WYE_FORMAT_PROGRAM;

// The capabilities of the device, for programs. Claim only what works (P-19). Subgroups would need
// more code in evaluate.hpp.
inline constexpr std::uint32_t kCapabilities[] = {
    WYE_FACT_KEY_INT64,
    WYE_FACT_KEY_F64,
    WYE_FACT_KEY_IEEE_F32,
    WYE_FACT_KEY_IEEE_F64,
    WYE_FACT_KEY_STORAGE8,
    WYE_FACT_KEY_STORAGE16,
    WYE_FACT_KEY_ATOMIC_INT32,
    WYE_FACT_KEY_ATOMIC_INT64,
    WYE_FACT_KEY_ATOMIC_INT64_SHARED,
    WYE_FACT_KEY_BARRIER,
    WYE_FACT_KEY_ATOMIC_F32_ADD,
    WYE_FACT_KEY_ATOMIC_F64_ADD,
};

// Programs need no tools.
struct Tools {
    explicit Tools(const wye_host_table&) {}
    [[nodiscard]] static bool installed() { return true; }
};
inline constexpr std::string_view kToolsMissing, kToolsFix;

class Program {
  public:
    Program(const Tools&, const wye_artifact& artifact) {
        refuse_unknown(artifact.header, artifact.flags, "an artifact");
        check_format(artifact, kFormat);
        check_slots({artifact.slots, artifact.slot_count});
        const auto* bytes = static_cast<const std::byte*>(artifact.code.data);
        auto decoded = wye::ir::decode({bytes, artifact.code.size});
        if (!decoded.ok()) {
            const wye::Error& error = decoded.error();
            throw Failure{static_cast<wye_status>(error.code), error.message, error.fix, {}};
        }
        program_ = std::move(decoded).value();
        std::string problem;
        const bool typed = wye::ir::assign_types(program_, [&](const wye::ir::TypeProblem& found) {
            if (problem.empty()) problem = found.problem;
        });
        if (!typed)
            throw Failure{WYE_INVALID_PROGRAM,
                          "the program is ill-typed: " + problem,
                          "Fix: give the plugin programs that the host has checked",
                          {}};
        std::copy_n(artifact.workgroup_size, 3, size_.begin());
        const auto& main = program_.main;
        waits_ = std::any_of(main.stmts.begin(), main.stmts.end(),
                             [](const auto& s) { return s.op == Op::BARRIER; }) ||
                 std::any_of(main.exprs.begin(), main.exprs.end(),
                             [](const auto& e) { return e.op == Op::WORKGROUP_UNIFORM_LOAD; });
        params_size_ = artifact.params_size;
    }

    // Prepares a launch, with copies of its arguments. The host destroys the program after the end
    // of the launch.
    [[nodiscard]] Operation launch(const wye_dispatch_op& op) const {
        std::vector<Elements> buffers;
        std::size_t bound = 0;
        for (const wye::ir::Buffer& buffer : program_.buffers) {
            if (buffer.shared()) {
                buffers.push_back({nullptr, buffer.count});
                continue;
            }
            const wye_binding& binding = op.bindings[bound++];
            buffers.push_back({buffer_of(binding.buffer).at(binding.offset), binding.elements});
        }
        const auto* first = static_cast<const std::byte*>(op.params);
        std::vector<std::byte> params(first, first + params_size_);
        std::array<Ids, 3> grid{};
        std::copy_n(op.groups, 3, grid[0].begin());
        std::copy_n(op.group_offset, 3, grid[1].begin());
        std::copy_n(op.logical_groups, 3, grid[2].begin());
        std::byte* const trap =
            op.trap.buffer == nullptr ? nullptr : buffer_of(op.trap.buffer).at(op.trap.offset);
        return [this, buffers, params, grid, trap] { run(buffers, params, grid, trap); };
    }

  private:
    void run(std::vector<Elements> buffers, const std::vector<std::byte>& params,
             const std::array<Ids, 3>& grid, std::byte* trap) const {
        const Ids &groups = grid[0], &offset = grid[1], &logical = grid[2];
        const std::vector<std::uint32_t> offsets = wye::ir::param_layout(program_.params).offsets;
        Workgroup group{program_, buffers, params.data(), offsets,
                        size_,    {},      logical,       reinterpret_cast<std::uint32_t*>(trap),
                        {}};
        std::vector<std::vector<std::byte>> shared(buffers.size());
        each(groups, [&](const Ids& id) {
            for (std::size_t b = 0; b < buffers.size(); ++b) {
                if (!program_.buffers[b].shared()) continue;
                shared[b].assign(buffers[b].count * program_.buffers[b].type.bytes(), {});
                buffers[b].data = shared[b].data();
            }
            for (std::size_t axis = 0; axis < 3; ++axis) group.id[axis] = id[axis] + offset[axis];
            if (!waits_) {
                each(size_, [&](const Ids& local) { Invocation(group, local).run(); });
                return;
            }
            Fibers fibers(std::size_t{size_[0]} * size_[1] * size_[2], [&](std::size_t number) {
                const auto n = static_cast<std::uint32_t>(number);
                Invocation(group, {n % size_[0], n / size_[0] % size_[1], n / size_[0] / size_[1]})
                    .run();
            });
            group.wait = [&] { fibers.wait(); };
            fibers.run();
        });
    }

    // Calls body(id) for each id below `count`.
    template <typename Body>
    static void each(const Ids& count, Body&& body) {
        Ids id{};
        for (id[2] = 0; id[2] < count[2]; ++id[2])
            for (id[1] = 0; id[1] < count[1]; ++id[1])
                for (id[0] = 0; id[0] < count[0]; ++id[0]) body(std::as_const(id));
    }

    wye::ir::Program program_;
    Ids size_{};
    std::uint32_t params_size_ = 0;
    bool waits_ = false;  // invocations of a workgroup wait for each other
};

}  // namespace driver
