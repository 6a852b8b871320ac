// SPDX-License-Identifier: Apache-2.0
//
// Computes the uniformity levels of one body as a graph. Nodes are expressions, locals and regions
// of control flow; each edge passes a level on. Every rule takes a maximum, so the level of a node
// is that of the highest source that reaches it. The path from that source is the chain of causes.
// Takes linear time. For programs that passed validate_structure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::ir::detail {

class Flow {
  public:
    // `functions`: the levels of the results of the functions that the code may call.
    Flow(const Program& program, const Code& code, const std::vector<std::uint8_t>& functions);

    [[nodiscard]] std::uint8_t expr(ExprId id) const { return level_[id]; }
    [[nodiscard]] std::uint8_t local(std::uint32_t local) const { return level_[locals_ + local]; }
    [[nodiscard]] std::uint8_t control(StmtId id) const { return level_[control_[id]]; }

    // Returns the reason for a level, such as "differs between invocations because of `local_id` at
    // 9:8, through `i`".
    [[nodiscard]] std::string expr_cause(ExprId id) const { return cause(id); }
    [[nodiscard]] std::string local_cause(std::uint32_t local) const {
        return cause(locals_ + local);
    }
    [[nodiscard]] std::string control_cause(StmtId id) const { return cause(control_[id]); }
    // Whether the causes include a return or trap above the statement.
    [[nodiscard]] bool control_left_early(StmtId id) const;

  private:
    using Node = std::uint32_t;

    [[nodiscard]] std::string cause(Node node) const;
    Node region(StmtId stmt);
    void edge(Node from, Node to) { edges_.push_back({from, to}); }
    void feed(ExprId from, Node to) { consumer_[from] = to; }
    void expressions(const std::vector<std::uint8_t>& functions);
    void block(BlockId id, Node control);
    void statement(StmtId id, Node control);
    void solve();

    struct Edge {
        Node from;
        Node to;
    };
    struct Loop {
        Node body;
    };

    const Program& program_;
    const Code& code_;
    Node locals_ = 0;                   // the node of local 0
    Node regions_ = 0;                  // the node of region 0
    std::vector<StmtId> region_of_;     // the statement of each region; kNone: the whole body
    std::vector<Node> consumer_;        // for each expression, the node that its level passes to
    std::vector<Edge> edges_;           // the edges that start at locals and regions
    std::vector<Node> control_;         // by statement: the region that it is in
    std::vector<std::uint8_t> source_;  // the level that each expression itself introduces
    std::vector<std::uint8_t> level_;
    std::vector<Node> from_;  // for each node, the node that raised its level
    std::vector<Loop> loops_;
    Node after_ = kNone;  // the node that joins the levels of all returns and traps so far
};

// Returns the levels of the results of all functions, for arguments at level 0.
[[nodiscard]] std::vector<std::uint8_t> function_levels(const Program& program);

}  // namespace wye::ir::detail
