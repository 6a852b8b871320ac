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
inline constexpr std::uint32_t kResultColumn = 0xffffffffU;  // the returned expression

class Report {
  public:
    explicit Report(const Program& program) : program_(program) {}

    // Reports an error in the code of main (kNone) or a function.
    void code(std::uint32_t function, Place place, std::string message, std::string fix);
    // Reports an error of a declaration; `where` names it if it has no place.
    void head(Place place, std::string where, std::string message, std::string fix);

    [[nodiscard]] bool full() const { return list_.size() >= kMost; }
    [[nodiscard]] bool empty() const { return list_.empty(); }
    [[nodiscard]] std::vector<Diagnostic> take();  // the first kMaxDiagnostics in text order
    // "9:8", or "statement 3".
    [[nodiscard]] static std::string at(Place place);

  private:
    // More than are returned, because the passes report one after another and the list is sorted at
    // the end.
    static constexpr std::size_t kMost = 10 * kMaxDiagnostics;
    const Program& program_;
    std::vector<Diagnostic> list_;
};

void check_declarations(const Program& program, Report& report);
// Returns false if the other parts must not walk the program.
[[nodiscard]] bool check_structure(const Program& program, Report& report);
void check_code(const Program& program, Report& report);
void check_flow(const Program& program, Report& report);

// Number the statements of a program without source positions, and remove the numbers.
void number_places(Program& program);
void clear_numbers(Program& program);

[[nodiscard]] std::string quoted(std::string_view name);  // "`x`"
[[nodiscard]] std::string local_name(const Code& code, std::uint32_t local);

// Bytes of one element of a `shared` or local array: f16 may be held as f32 there.
[[nodiscard]] constexpr std::uint64_t private_bytes(Type type) {
    return (type.kind == Kind::F16 ? 4U : type.component().bytes()) * std::uint64_t{type.lanes};
}

}  // namespace wye::ir::detail
