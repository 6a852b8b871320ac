// SPDX-License-Identifier: Apache-2.0
//
// Invocation: one invocation of a program, or one call of a function: its locals and a stack of
// open blocks. These are not on the host's stack, so that an invocation can stop and continue
// later.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "oracle/memory.hpp"
#include "oracle/module.hpp"
#include "oracle/oracle.hpp"
#include "oracle/value.hpp"

namespace oracle {

// The state that all invocations of a launch share.
struct Machine {
    const Module& module;
    std::vector<std::uint64_t> params;
    // Indexed by buffer; `shared` arrays are those of the running workgroup.
    std::vector<Array> arrays;
    std::array<std::uint32_t, 3> groups{};
    std::array<std::uint32_t, 3> workgroup{};
    std::uint32_t subgroup_size = 0;
    std::uint64_t interval = 0;  // number of barriers that the running workgroup has passed
    std::uint64_t steps_left = 0;
    Trap trap;
    std::vector<bool> claims;  // as in Launch; without claims, all are false
};

// The position of an invocation in the grid.
struct Position {
    std::array<std::uint32_t, 3> workgroup_id{};
    std::array<std::uint32_t, 3> local_id{};
    std::uint32_t local_index = 0;
    std::uint64_t workgroup = 0;   // number of the workgroup in the grid
    std::uint64_t invocation = 0;  // number of the invocation in the grid
};

bool is_effect(std::uint32_t op);
bool is_subgroup(std::uint32_t op);
// The effect in a statement that several invocations perform together; 0 if there is none.
std::uint32_t together(const Statement& statement);

class Invocation {
  public:
    Invocation(Machine& machine, const Position& position, const Code& code,
               const std::vector<Value>& arguments);

    // Runs to the end, or to a statement that invocations perform together (barriers, subgroup
    // operations, workgroup_uniform_load).
    void run();
    [[nodiscard]] bool ended() const { return stack_.empty(); }
    [[nodiscard]] const Statement* waiting() const { return waiting_; }

    // While waiting at an effect: its operands, already evaluated. finish() takes the result.
    [[nodiscard]] const std::vector<Value>& operands() const { return operands_; }
    void finish(const Value& result);
    void pass() { waiting_ = nullptr; }  // continues after a barrier

    [[nodiscard]] Value evaluate(const Node& node);
    [[nodiscard]] Accessor accessor() const;

  private:
    struct Slot {
        Value value;
        std::vector<Value> array;
    };
    struct Scope {
        const Block* block;
        const Statement* loop;  // the FOR or WHILE with this body; else null
        std::size_t next = 0;
        Value i, end, step;  // of a FOR
    };

    void count_step();
    [[nodiscard]] bool claimed(std::uint32_t claim) const { return machine_.claims[claim]; }
    // Refuses an index out of range whose access is claimed to be in range.
    void check_claim(std::uint32_t claim, const Value& index, std::uint64_t count) const;
    void execute(const Statement& s);
    void enter(const Block& block, const Statement* loop = nullptr);
    void begin_for(const Statement& s);
    void next_round();  // of the loop on top of the stack
    void leave_to_loop();
    void assign(const Statement& s, const Value& index, const Value& value);
    Value atomic(const Node& node, bool used);
    Value builtin(std::uint32_t index) const;
    Value element(const Slot& slot, const Value& index) const;
    [[nodiscard]] bool condition(const Node& node);
    std::vector<Value> evaluate_all(const std::vector<Node>& nodes);

    Machine& machine_;
    Position position_;
    std::vector<Slot> locals_;
    std::vector<Scope> stack_;
    const Statement* waiting_ = nullptr;
    Value index_;  // of the store that waits
    std::vector<Value> operands_;
};

}  // namespace oracle
