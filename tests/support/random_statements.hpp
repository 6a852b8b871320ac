// SPDX-License-Identifier: Apache-2.0
//
// Makes random statements, functions (random_statements.cpp) and bodies of main (random_main.cpp),
// as text: the middle part of random_program.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "support/random_expression.hpp"
#include "support/random_program.hpp"

namespace support {

// An array that several invocations access: a buffer for one kind of atomic, or a `shared` array.
// The use of a `shared` array may change at barriers.
struct SharedMemory {
    std::string name;
    bool shared = false;
    std::vector<std::string> own;  // for `shared`: indices that an invocation owns
    std::uint64_t atomic = 0;      // which of the six kinds of atomics
    enum class Use { Atomic, Own, Read } use = Use::Atomic;
};

// The memory that main may write.
struct Writable {
    std::vector<std::string> own;      // buffers of which each invocation owns elements
    std::vector<SharedMemory> shared;  // arrays that atomics may use, too
    std::string plane;                 // the buffer of Statements::plane; empty: none
    std::uint32_t plane_width = 0;
    bool line = false;  // the grid has only an x axis
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
    std::string chain();  // makes functions (random_walks.cpp)
    std::string main();
    // Makes a function that returns an invocation's number in the whole grid. Programs with grid
    // barriers need the function, since a `let` of main ends at a grid barrier.
    static std::string number_function();

  private:
    struct Flow {
        int depth = 0;       // nested blocks around the statement
        int loops = 0;       // loops around the statement
        bool leave = false;  // break and continue are allowed here
    };

    std::string indent(const Flow& flow) const;
    std::string fresh(const char* prefix);
    std::string block(unsigned statements, Flow flow);  // a block with its braces
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
    std::string walk(const Flow& flow);  // in random_walks.cpp
    std::string rounds(const Flow& flow);
    std::string span(const Flow& flow);

    // Emits a stretch of main: statements between two barriers. Or emits an `if` or a loop that is
    // uniform in the workgroup, with stretches and barriers inside.
    std::string stretch(const Flow& flow);
    std::string subgroup_operation();  // needs uniform control flow
    std::string subgroup_flow(const Flow& flow);
    // Emits a grid barrier between stretches, or a loop with one.
    std::string new_phase(const Flow& flow);
    std::string grid_barrier(const Flow& flow);
    std::string fixed_value();  // a u32 whose value is known before the launch
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
    std::string number_, total_;      // the invocation's number, and their count; may be empty
    std::vector<Variable> fixed_;     // lets and counters that remain valid after grid barriers
    std::vector<std::string> ended_;  // names of variables that ended at a grid barrier
    unsigned names_ = 0;
};

}  // namespace support
