// SPDX-License-Identifier: Apache-2.0
//
// Makes random statements, functions (random_statements.cpp) and bodies (random_main.cpp), as text:
// the middle part of random_program.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "support/random_expression.hpp"
#include "support/random_program.hpp"

namespace support {

// An array that several invocations access: a buffer used by only one kind of atomic, or a `shared`
// array, whose use changes at barriers.
struct SharedMemory {
    std::string name;
    bool shared = false;
    std::vector<std::string> own;  // for `shared`: indices that an invocation owns
    std::uint64_t atomic = 0;      // which of the six atomics
    enum class Use { Atomic, Own, Read } use = Use::Atomic;
};

// The memory that main may store to, and how.
struct Writable {
    std::vector<std::string> own;      // buffers of which each invocation owns elements
    std::vector<SharedMemory> shared;  // arrays for atomics, too
    std::string plane;                 // a buffer of rows, as in Statements::plane; empty: none
    std::uint32_t plane_width = 0;
    bool line = false;  // the grid has one axis
};

class Statements {
  public:
    Statements(Random& random, Scope& scope, const std::vector<unsigned>& kinds,
               const RandomProgramOptions& options, Writable writable, bool subgroups)
        : random_(random),
          scope_(scope),
          expressions_(random, scope, kinds),
          options_(options),
          own_(std::move(writable.own)),
          shared_(std::move(writable.shared)),
          plane_(std::move(writable.plane)),
          plane_width_(writable.plane_width),
          line_(writable.line),
          subgroups_(subgroups) {}

    std::string function();
    std::string chain();  // functions (random_walks.cpp)
    std::string main();
    // A function that gives an invocation's number in the whole grid, for programs with grid
    // barriers, since a let of main ends with its phase.
    static std::string number_function();

  private:
    struct Flow {
        int depth = 0;       // of blocks
        int loops = 0;       // open loops
        bool leave = false;  // break and continue are allowed
    };

    std::string indent(const Flow& flow) const;
    std::string fresh(const char* prefix);
    std::string block(unsigned statements, Flow flow);  // with braces
    std::string body(unsigned statements, const Flow& flow);
    std::string statement(const Flow& flow);
    std::string declare();
    std::string assign();
    std::string store();
    std::string stride(const Flow& flow);
    std::string plane(const Flow& flow);
    std::string atomic();
    std::string atomic_at(const SharedMemory& s, const std::string& index);
    std::string own_atomic();
    std::string branch(const Flow& flow);
    std::string counted(const Flow& flow);
    std::string repeated(const Flow& flow);
    std::string walk(const Flow& flow);  // random_walks.cpp
    std::string rounds(const Flow& flow);
    std::string span(const Flow& flow);

    // Emits a stretch of main between barriers, or a uniform if or loop around stretches, with
    // their barriers.
    std::string stretch(const Flow& flow);
    std::string subgroup_operation();  // in flow that is uniform
    std::string subgroup_flow(const Flow& flow);
    // Emits a grid barrier between stretches, or a loop with one.
    std::string new_phase(const Flow& flow);
    std::string grid_barrier(const Flow& flow);
    std::string fixed_value();  // a u32 of level 0, known before the launch
    std::string join(const Flow& flow);
    std::string together(const Flow& flow, bool in_loop);
    std::string way_out(const Flow& flow, bool in_loop);
    void change_use();
    [[nodiscard]] bool has_shared() const;
    Memory& memory(const std::string& name);

    Random& random_;
    Scope& scope_;
    Expressions expressions_;
    const RandomProgramOptions& options_;
    std::vector<std::string> own_;
    std::vector<SharedMemory> shared_;
    std::string plane_;
    std::uint32_t plane_width_;
    bool line_;
    bool subgroups_;
    std::string number_, total_;      // of invocations, if main has a let for the first
    std::vector<Variable> fixed_;     // lets and counters that outlive grid barriers
    std::vector<std::string> ended_;  // names of variables that ended at a grid barrier
    unsigned names_ = 0;
};

}  // namespace support
