// SPDX-License-Identifier: Apache-2.0
//
// How one invocation of a device runs a whole workgroup with barriers: main is split at its
// barriers into regions, each a loop over the workgroup's invocations. Statements that contain a
// barrier are run by the workgroup together; their condition is uniform by the rules of the
// language. Pure; a value.
#pragma once

#include <cstdint>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower::middle {

class Regions {
  public:
    // Has no regions: each invocation of the device runs main for one invocation of the program.
    Regions() = default;
    // `main` is valid.
    explicit Regions(const ir::Code& main);

    [[nodiscard]] bool any() const { return !parts_.empty(); }
    // Whether the workgroup runs the statement together, outside of regions: a barrier or a
    // statement that contains one, a jump that the whole workgroup takes, or a let of a
    // WORKGROUP_UNIFORM_LOAD.
    [[nodiscard]] bool together(ir::StmtId statement) const {
        return any() && parts_[statement] == Part::Together;
    }
    // Whether the statement is a region of its own: a statement, other than a let, that contains a
    // WORKGROUP_UNIFORM_LOAD.
    [[nodiscard]] bool alone(ir::StmtId statement) const {
        return any() && parts_[statement] == Part::Alone;
    }
    // How lets that depend only on ids and parameters are written. Such lets are not stored. A
    // uniform let is computed outside of regions. Any other such let is computed again in each
    // region that uses it.
    [[nodiscard]] bool uniform(std::uint32_t local) const {
        return any() && lets_[local].form == Form::Uniform;
    }
    [[nodiscard]] bool again(std::uint32_t local) const {
        return any() && lets_[local].form == Form::Again;
    }
    [[nodiscard]] ir::StmtId let(std::uint32_t local) const { return lets_[local].statement; }
    // Whether several regions use the local, so that it becomes an array with one value for each
    // invocation.
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
    std::vector<std::uint32_t> first_;  // by local: the region that declares it; 0: none yet
    std::vector<bool> kept_;            // by local
    std::vector<Let> lets_;             // by local
    std::uint32_t next_ = 1, last_barrier_ = 0;
    std::uint32_t region_ = 1;
};

}  // namespace wye::lower::middle
