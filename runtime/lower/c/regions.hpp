// SPDX-License-Identifier: Apache-2.0
//
// How one invocation of a device runs a whole workgroup, barriers included: as loops over the
// workgroup's invocations, one for each region of main that no barrier parts. What holds a barrier
// is run by the workgroup together, and the language promises that its condition is the same for
// all. Pure; a value.
#pragma once

#include <cstdint>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class Regions {
  public:
    // None: every invocation runs main by itself.
    Regions() = default;
    // `main` is valid.
    explicit Regions(const ir::Code& main);

    [[nodiscard]] bool any() const { return !parts_.empty(); }
    // Stands outside of regions: barriers and what holds some, ways out that the workgroup takes
    // together, and lets of a value that it loads together.
    [[nodiscard]] bool together(ir::StmtId statement) const {
        return any() && parts_[statement] == Part::Together;
    }
    // Is a region by itself: another use of such a value.
    [[nodiscard]] bool alone(ir::StmtId statement) const {
        return any() && parts_[statement] == Part::Alone;
    }
    // A let of ids and parameters, so that nothing need be kept: the same for all invocations, and
    // computed outside of regions, or computed again by each region that uses it.
    [[nodiscard]] bool uniform(std::uint32_t local) const {
        return any() && lets_[local].form == Form::Uniform;
    }
    [[nodiscard]] bool again(std::uint32_t local) const {
        return any() && lets_[local].form == Form::Again;
    }
    [[nodiscard]] ir::StmtId let(std::uint32_t local) const { return lets_[local].statement; }
    // Each invocation's value is kept from one region to another.
    [[nodiscard]] bool kept(std::uint32_t local) const { return any() && kept_[local]; }

  private:
    enum class Part : std::uint8_t { Inside, Together, Alone };
    enum class Form : std::uint8_t { Stored, Uniform, Again };
    struct Let {
        Form form = Form::Stored;
        ir::StmtId statement = ir::kNone;
    };

    void number(const ir::Code& main, ir::BlockId block);
    bool find_returns(const ir::Code& main, ir::BlockId block, bool in_barrier_loop);
    bool find_jumps(const ir::Code& main, ir::BlockId block, bool loop_together);
    void locals(const ir::Code& main, ir::BlockId block);
    Form form_of(const ir::Code& main, ir::ExprId id, unsigned& nodes) const;
    void whole_statement(const ir::Code& main, const ir::Stmt& s);
    void own_parts(const ir::Code& main, const ir::Stmt& s);
    void expression(const ir::Code& main, ir::ExprId id);
    void touch(std::uint32_t local);

    std::vector<Part> parts_;           // by StmtId
    std::vector<std::uint32_t> order_;  // by StmtId, in text order
    std::vector<std::uint32_t> first_;  // by local: the region where it is declared; 0: none yet
    std::vector<bool> kept_;            // by local
    std::vector<Let> lets_;             // by local
    std::uint32_t next_ = 1, last_barrier_ = 0;
    std::uint32_t region_ = 1;
};

}  // namespace wye::lower
