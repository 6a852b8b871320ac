// SPDX-License-Identifier: Apache-2.0
//
// State shared by the kernel and its functions while a program is written as C: required helper
// functions, the outer values that each function reads, the first refusal. Used by one thread for
// one lowering.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lower/c/spelling.hpp"
#include "lower/half.hpp"
#include "lower/middle/code.hpp"
#include "lower/quirks/masked_indices.hpp"

namespace wye::lower {

// A value from outside the code that is a name in the kernel's scope; functions receive it as an
// extra argument.
struct Outer {
    // The names in the text, in the order of the enumerators: b3, n3, m3, l3, s3, p0, wg0, lid0,
    // gid0, ng0, li, sg, lane, oz, trap.
    using Kind = middle::Outer;
    Kind kind;
    std::uint32_t index = 0;  // number of the buffer, parameter or axis
    friend auto operator<=>(const Outer&, const Outer&) = default;
};
using OuterSet = std::set<Outer>;

[[nodiscard]] std::string name_of(Outer outer);

class CModule {
  public:
    // `subgroup`: the width that subgroup_width() found.
    CModule(const ir::Program& program, const Spelling& spelling, const TargetFacts& facts,
            const Options& options, std::uint32_t subgroup);

    const ir::Program& program;
    const Spelling& spelling;
    const TargetFacts& facts;
    const std::array<std::uint32_t, 3> workgroup;
    // The number of invocations of a workgroup.
    [[nodiscard]] std::uint32_t invocations() const {
        return workgroup[0] * workgroup[1] * workgroup[2];
    }
    [[nodiscard]] bool single() const { return invocations() == 1; }
    const bool folded_grid;
    const NativeSet natives;
    const std::uint32_t subgroup;        // width of subgroups; 0 if the program uses none
    const MaskedIndices masked_indices;  // empty if the device does not have the quirk
    const bool passes_buffers;           // whether some barrier must order buffers too
    middle::Forms forms;
    const middle::ProgramForm form;
    std::array<std::uint8_t, middle::key::kEnd> form_styles{};  // by form: helper or expression
    Used used;
    bool places = false;  // lines end with the position of their statement

    [[nodiscard]] std::string barrier() const {
        return std::string(spelling.barrier(passes_buffers));
    }
    // Names and texts -------------------------------------------------------------------------
    [[nodiscard]] std::string_view value_type(ir::Kind kind) const {
        return spelling.value_type(kind);
    }
    // The C type of an access: a vector if packed, else the component in memory.
    [[nodiscard]] std::string element_type(const middle::Array& array) const;
    [[nodiscard]] std::string declaration(Outer outer) const;  // as an argument of a function
    [[nodiscard]] std::string literal(ir::Kind kind, std::uint64_t bits) const;
    [[nodiscard]] std::string intrinsic(Intrinsic what, ir::Kind kind, std::string operand) const;

    // Records that the text uses `kind`, and returns its value type.
    std::string_view use_type(ir::Kind kind);
    // The name of a struct with the components of `type`, for functions that return vectors.
    std::string vector_struct(ir::Type type);
    // Adds a helper function once. `text` is everything after the prefix, such as "uint f(uint a)
    // {...}".
    void add_helper(const std::string& name, const std::string& text);
    [[nodiscard]] bool has_helper(const std::string& name) const {
        return helper_names_.count(name) != 0;
    }
    [[nodiscard]] const std::string& helpers() const { return helpers_; }

    // Records a refusal; only the first one is kept. Afterwards the text is invalid, but writing
    // may continue.
    void refuse(Error error);
    [[nodiscard]] std::optional<Error> refusal() const { return refusal_; }

    struct Function {
        bool written = false;
        OuterSet outer;
        std::string text;
    };
    std::vector<Function> functions;  // by function index

  private:
    std::set<std::string> helper_names_;
    std::string helpers_;
    std::optional<Error> refusal_;
};

// Makes a name that is safe in a comment: only letters, digits and `_`, at most 64.
[[nodiscard]] std::string sanitised(std::string_view name);

// Returns " at 2:8", or an empty string if the position is not known.
[[nodiscard]] std::string at_place(ir::Place place);

}  // namespace wye::lower
