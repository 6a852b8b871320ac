// SPDX-License-Identifier: Apache-2.0
//
// The parts of `validate`, one file each:
//   validate_declarations.cpp  names, sizes, roles, attributes, limits of the head
//   validate_structure.cpp     indices and trees, so that the other parts may walk them
//   validate_code.cpp          statements: scope, targets, purity, jumps, limits
//   validate_flow.cpp          uniformity and grid barriers
// Used by one thread.
#pragma once

#include <string>
#include <vector>

#include "program/diagnostic.hpp"
#include "wye/sdk/program.hpp"

namespace wye::ir::detail {

// Programs without text have no source positions. During validation a place with line 0 holds the
// statement number as its column, so that a report can say "main, statement 12".
inline constexpr std::uint32_t kResultColumn = 0xffffffffU;  // stands for the returned expression

class Report {
  public:
    explicit Report(const Program& program) : program_(program) {}

    // Reports an error in the code of main (kNone) or a function.
    void code(std::uint32_t function, Place place, std::string message, std::string fix);
    // Reports an error of a declaration; `where` names the declaration if it has no place.
    void head(Place place, std::string where, std::string message, std::string fix);

    [[nodiscard]] bool full() const { return list_.size() >= kMost; }
    [[nodiscard]] bool empty() const { return list_.empty(); }
    // Returns the first kMaxDiagnostics in text order.
    [[nodiscard]] std::vector<Diagnostic> take();
    // Returns a place for a message: "at 9:8", "in statement 3" or "in the returned value".
    [[nodiscard]] static std::string at(Place place);

  private:
    // Keeps more diagnostics than are returned, because the passes report one after another and the
    // list is sorted at the end.
    static constexpr std::size_t kMost = 10 * kMaxDiagnostics;
    const Program& program_;
    std::vector<Diagnostic> list_;
};

void check_declarations(const Program& program, Report& report);
// Returns false if the other parts must not walk the program.
[[nodiscard]] bool check_structure(const Program& program, Report& report);
void check_code(const Program& program, Report& report);
void check_flow(const Program& program, Report& report);

// Give the statements of a program without source positions their numbers as places, and remove
// these numbers again.
void number_places(Program& program);
void clear_numbers(Program& program);

[[nodiscard]] std::string quoted(std::string_view name);  // returns "`x`"
[[nodiscard]] std::string local_name(const Code& code, std::uint32_t local);

// Returns the bytes of one element of a `shared` or local array, where an f16 may be held as f32.
[[nodiscard]] constexpr std::uint64_t private_bytes(Type type) {
    return (type.kind == Kind::F16 ? 4U : type.component().bytes()) * std::uint64_t{type.lanes};
}

}  // namespace wye::ir::detail
