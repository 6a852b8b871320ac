// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <bit>
#include <unordered_map>

#include "program/check/validator.hpp"
#include "program/text/words.hpp"

namespace wye::ir::detail {
namespace {

class Declarations {
  public:
    Declarations(const Program& program, Report& report) : program_(program), report_(report) {}

    void run() {
        if (!legal_name(program_.name, program_.math_set))
            head({}, "program",
                 fmt::format("the program's name {} is not legal", shown(program_.name)),
                 "Fix: use letters, digits and `_`, at most 64, and no reserved word");
        if (!math_set_known(program_.math_set))
            head({}, "program",
                 fmt::format("math set {} is unknown; this version has the sets 1 to {}",
                             program_.math_set, WYE_PROGRAM_NEWEST_MATH_SET),
                 "Fix: build the program for one of them");
        sizes();
        counts();
        for (const Param& p : program_.params) param(p);
        for (std::size_t k = 0; k < program_.buffers.size(); ++k) buffer(k);
        std::uint64_t bytes = 0;
        for (const Table& t : program_.tables) table(t, bytes);
        for (const Function& f : program_.functions) function(f);
        for (const Variant& v : program_.variants) variant(v);
        grid();
        totals();
    }

  private:
    void head(Place place, std::string where, std::string message, std::string fix) {
        report_.head(place, std::move(where), std::move(message), std::move(fix));
    }
    static std::string shown(const std::string& text) {
        return quoted(legal_string(text) ? text.substr(0, WYE_LIMIT_NAME_BYTES) : "?");
    }

    void limit(const std::string& what, std::uint64_t value, std::uint64_t most,
               const std::string& fix) {
        if (value > most)
            head({}, "program",
                 fmt::format("the program has {} {}; the limit is {}", value, what, most), fix);
    }

    void counts() {
        limit("parameters", program_.params.size(), WYE_LIMIT_PARAMS,
              "Fix: put further values into a uniform buffer");
        limit("buffers", program_.buffers.size(), WYE_LIMIT_BUFFERS,
              "Fix: join buffers of one element type");
        limit("tables", program_.tables.size(), WYE_LIMIT_TABLES,
              "Fix: join tables of one element type");
        limit("functions", program_.functions.size(), WYE_LIMIT_FUNCTIONS,
              "Fix: write short functions in place");
        limit("variants", program_.variants.size(), WYE_LIMIT_VARIANTS,
              "Fix: keep those for the devices in use");
    }

    void sizes() {
        std::uint64_t product = 1;
        for (const std::uint32_t axis : program_.workgroup) {
            if (axis == 0) head({}, "program", "a workgroup axis is 0", "Fix: write 1 or more");
            product = std::min<std::uint64_t>(product * axis, std::uint64_t{1} << 40);
        }
        if (product > WYE_LIMIT_WORKGROUP)
            head({}, "program",
                 fmt::format("the workgroup has more than {} invocations (x * y * z is {})",
                             WYE_LIMIT_WORKGROUP, product),
                 "Fix: use a smaller workgroup and more of them");
        const std::uint32_t width = program_.subgroup;
        if (width == 0) return;
        if (!std::has_single_bit(width) || width < 4 || width > 128) {
            head({}, "program",
                 fmt::format("the subgroup size is {}, not a power of two from 4 to 128", width),
                 "Fix: write 4, 8, 16, 32, 64 or 128");
        } else if (product % width != 0) {
            head({}, "program",
                 fmt::format("the workgroup has {} invocations, which is not a multiple of the "
                             "subgroup size {}",
                             product, width),
                 fmt::format("Fix: make the workgroup a multiple of {}", width));
        }
    }

    // Checks a name. Params, buffers, tables and functions share one namespace.
    void name(const std::string& text, Place place, const std::string& what) {
        const auto where = [&] { return fmt::format("{} {}", what, shown(text)); };
        if (!legal_name(text, program_.math_set)) {
            const bool reserved = name_shaped(text);
            head(place, where(),
                 fmt::format("{} is {}", shown(text),
                             reserved ? "a reserved word" : "not a legal name"),
                 reserved ? "Fix: choose another name"
                          : "Fix: use letters, digits and `_`, at most 64, no digit first");
            return;
        }
        const auto [at, fresh] = names_.emplace(text, what);
        if (!fresh)
            head(place, where(),
                 fmt::format("the {} {} has the name of a {} declared above", what, shown(text),
                             at->second),
                 "Fix: choose another name");
    }

    void param(const Param& p) {
        name(p.name, p.place, "parameter");
        const bool fits = p.type.scalar() && (p.type.integer() || p.type == kF32 || p.type == kF64);
        if (!fits)
            head(p.place, fmt::format("parameter {}", shown(p.name)),
                 fmt::format("the parameter {} is {}; parameters are scalars", shown(p.name),
                             type_name(p.type)),
                 "Fix: use u32, i32, u64, i64, f32 or f64");
    }

    void table(const Table& t, std::uint64_t& bytes) {
        name(t.name, t.place, "table");
        const auto where = [&] { return fmt::format("table {}", shown(t.name)); };
        const bool fits = t.type.scalar() && (t.type.integer() || t.type.floating());
        if (!fits)
            head(t.place, where(),
                 fmt::format("the table {} has elements of type {}", shown(t.name),
                             type_name(t.type)),
                 "Fix: use i32, u32, i64, u64, f16, f32 or f64");
        if (t.bits.empty())
            head(t.place, where(), fmt::format("the table {} has no elements", shown(t.name)),
                 "Fix: give it at least one");
        const std::uint64_t before = bytes;
        bytes += t.bits.size() * t.type.bytes();
        if (bytes > WYE_LIMIT_TABLE_BYTES && before <= WYE_LIMIT_TABLE_BYTES)
            head(t.place, where(),
                 fmt::format("the tables have more than {} bytes together, with {}",
                             WYE_LIMIT_TABLE_BYTES, shown(t.name)),
                 "Fix: move the data into an input buffer");
    }

    void function(const Function& f) {
        name(f.name, f.place, "function");
        const auto where = [&] { return fmt::format("function {}", shown(f.name)); };
        if (f.arguments > WYE_LIMIT_ARGUMENTS)
            head(f.place, where(),
                 fmt::format("{} has {} arguments; the limit is {}", shown(f.name), f.arguments,
                             WYE_LIMIT_ARGUMENTS),
                 "Fix: pass vectors, or split the function");
        if (f.type.none())
            head(f.place, where(), fmt::format("{} has no result type", shown(f.name)),
                 "Fix: return a value type such as f32");
    }

    void text(const std::string& value, const Variant& v, const std::string& what, bool needed) {
        if (needed && value.empty())
            head(v.place, "variant", fmt::format("the {} of a variant is empty", what),
                 fmt::format("Fix: write the {}", what));
        if (value.size() > WYE_LIMIT_STRING_BYTES)
            head(v.place, "variant",
                 fmt::format("the {} of a variant has {} bytes; the limit is {}", what,
                             value.size(), WYE_LIMIT_STRING_BYTES),
                 "Fix: shorten it");
        else if (!legal_string(value))
            head(v.place, "variant",
                 fmt::format("the {} of a variant is not one line of UTF-8 text", what),
                 "Fix: remove control characters and broken bytes");
    }

    void variant(const Variant& v) {
        text(v.format, v, "format", true);
        text(v.entry, v, "entry", true);
        text(v.filter, v, "device filter", false);
        if (v.file) text(*v.file, v, "file", true);
        if (v.bytes.size() > WYE_LIMIT_VARIANT_BYTES)
            head(v.place, "variant",
                 fmt::format("a variant has {} bytes; the limit is {}", v.bytes.size(),
                             WYE_LIMIT_VARIANT_BYTES),
                 "Fix: use a smaller kernel");
        if (v.bytes.empty() && !v.file)
            head(v.place, "variant", fmt::format("the variant {} has no code", shown(v.entry)),
                 "Fix: give it code, or remove it");
    }

    // ---- buffers ----

    void buffer(std::size_t index) {
        const Buffer& b = program_.buffers[index];
        name(b.name, b.place, "buffer");
        const auto where = [&] { return fmt::format("buffer {}", shown(b.name)); };
        const auto report = [&](std::string message, std::string fix) {
            head(b.place, where(), std::move(message), std::move(fix));
        };
        const std::string role = quoted(role_name(b.role));
        if (b.binding >= WYE_LIMIT_BUFFERS)
            report(fmt::format("{} has binding {}; the numbers are 0 to {}", shown(b.name),
                               b.binding, WYE_LIMIT_BUFFERS - 1),
                   "Fix: write `binding` with a smaller number");
        if (index > 0) {
            const Buffer& above = program_.buffers[index - 1];
            if (above.binding == b.binding)
                report(fmt::format("{} has binding {}, as {} has", shown(b.name), b.binding,
                                   shown(above.name)),
                       "Fix: give each buffer its own `binding`");
            else if (above.binding > b.binding)
                report(fmt::format("buffer {} is out of binding order", shown(b.name)),
                       "Fix: sort the buffers by binding");
        }
        if (b.type.none() || b.type.boolean())
            report(fmt::format("{} has elements of type {}", shown(b.name), type_name(b.type)),
                   "Fix: use u32 or u8, with 0 and 1");
        else if (b.shared() && b.type.storage())
            report(fmt::format("{} is `shared`, but {} is for bound buffers only", shown(b.name),
                               type_name(b.type)),
                   fmt::format("Fix: use {}", type_name(b.type.loaded())));
        attributes(b, role, report);
        count(b, role, report);
    }

    template <typename Say>
    void attributes(const Buffer& b, const std::string& role, Say report) {
        const bool may_live =
            b.role == Role::INPUT || b.role == Role::UNIFORM || b.role == Role::PERSISTENT;
        if (b.live && !may_live)
            report(fmt::format("`live` has no meaning for {}, which is {}", shown(b.name), role),
                   b.shared() ? "Fix: remove `live`; `shared` never leaves the device"
                              : "Fix: remove `live`; it is read back anyway");
        if (b.unset && b.role != Role::OUTPUT && b.role != Role::SHARED)
            report(fmt::format("`unset` has no meaning for {}, which is {}", shown(b.name), role),
                   "Fix: remove `unset`; only `output` and `shared` start at zero");
        if (b.align != 0 && b.shared())
            report(fmt::format("`align` has no meaning for {}, which is `shared`", shown(b.name)),
                   "Fix: remove `align`");
        else if (b.align != 0 && !std::has_single_bit(b.align))
            report(fmt::format("the alignment of {} is {}, not a power of two", shown(b.name),
                               b.align),
                   fmt::format("Fix: write {} or another power of two", std::bit_floor(b.align)));
        hints(b, report);
        if (!b.bytes) return;
        const auto [first, end] = *b.bytes;
        if (!b.in_outputs() || b.shared())
            report(
                fmt::format("`bytes` has no meaning for {}, which is not read back", shown(b.name)),
                may_live ? "Fix: add `live`, or remove `bytes`" : "Fix: remove `bytes`");
        else if (first > end)
            report(fmt::format("`bytes` of {} ends before it begins: {}..{}", shown(b.name), first,
                               end),
                   "Fix: write the smaller number first");
        else if (b.count_kind == Buffer::Count::Literal && b.count <= WYE_LIMIT_LITERAL_COUNT &&
                 end > b.count * b.type.bytes())
            report(fmt::format("`bytes` of {} ends at {}, but the buffer has {} bytes",
                               shown(b.name), end, b.count * b.type.bytes()),
                   fmt::format("Fix: end at {} or before", b.count * b.type.bytes()));
    }

    template <typename Say>
    void hints(const Buffer& b, Say report) {
        const Hints& h = b.hints;
        const auto pointless = [&](bool given, std::string_view word) {
            if (given)
                report(fmt::format("`{}` has no meaning for {}, which is `shared`", word,
                                   shown(b.name)),
                       fmt::format("Fix: remove `{}`", word));
        };
        if (b.shared()) {
            pointless(h.coalesce != 0, "coalesce");
            pointless(h.prefer_align != 0, "prefer_align");
            pointless(h.locality != Locality::UNSPECIFIED, "locality");
            return;
        }
        if (h.coalesce > 3) {
            report(fmt::format("{} coalesces along axis {}, which no grid has", shown(b.name),
                               h.coalesce - 1),
                   "Fix: use axis 0, 1 or 2");
        } else if (h.coalesce != 0 && !program_.adjustable &&
                   program_.workgroup[h.coalesce - 1U] == 1) {
            report(fmt::format("{} coalesces along {}, but a workgroup has one invocation along it",
                               shown(b.name), h.coalesce_axis()),
                   "Fix: name an axis along which the workgroup is larger, or remove `coalesce`");
        }
        if (h.prefer_align != 0 && !std::has_single_bit(h.prefer_align))
            report(fmt::format("the preferred alignment of {} is {}, not a power of two",
                               shown(b.name), h.prefer_align),
                   fmt::format(
                       "Fix: write {} or another power of two",
                       std::min(std::bit_floor(h.prefer_align), WYE_LIMIT_PREFERRED_ALIGNMENT)));
        else if (h.prefer_align > WYE_LIMIT_PREFERRED_ALIGNMENT)
            report(fmt::format("the preferred alignment of {} is {}; the limit is {}",
                               shown(b.name), h.prefer_align, WYE_LIMIT_PREFERRED_ALIGNMENT),
                   fmt::format("Fix: write {} or less", WYE_LIMIT_PREFERRED_ALIGNMENT));
        else if (h.prefer_align != 0 && h.prefer_align <= b.align)
            report(fmt::format("{} prefers the alignment {}, and `align` demands {} already",
                               shown(b.name), h.prefer_align, b.align),
                   "Fix: remove `prefer_align`, or write a larger number");
        if (h.locality > Locality::TEMPORAL)
            report(fmt::format("the locality {} of {} is unknown",
                               static_cast<unsigned>(h.locality), shown(b.name)),
                   "Fix: use streaming, temporal or unspecified");
    }

    template <typename Say>
    void count(const Buffer& b, const std::string& role, Say report) {
        const bool literal = b.count_kind == Buffer::Count::Literal;
        if (!literal && (b.shared() || b.role == Role::UNIFORM))
            report(fmt::format("the count of {} must be a literal, since the buffer is {}",
                               shown(b.name), role),
                   "Fix: write a number or an integer constant between `[` and `]`");
        if (literal && b.count == 0)
            report(fmt::format("the count of {} is 0", shown(b.name)),
                   "Fix: give it at least one element");
        if (literal && b.count > WYE_LIMIT_LITERAL_COUNT)
            report(fmt::format("the count of {} is {}; the limit of a literal count is 2^40",
                               shown(b.name), b.count),
                   "Fix: leave the count out; the bound buffer then sets it");
        const std::uint64_t most = WYE_LIMIT_UNIFORM_BYTES;
        if (literal && b.role == Role::UNIFORM && b.count > most / std::max(b.type.bytes(), 1U))
            report(fmt::format("{} has more than the {} bytes that a `uniform` buffer may have",
                               shown(b.name), most),
                   "Fix: declare it `input`");
        if (b.count_kind != Buffer::Count::Computed) return;
        size(b.size, "the count of " + shown(b.name), true, report);
    }

    // Checks that a size is well-formed and uses only integer parameters and lengths of buffers
    // without computed counts.
    template <typename Say>
    void size(const SizeExpr& size, const std::string& what, bool needs_name, Say report) {
        std::size_t wanted = 1;  // number of operands still to come
        std::vector<std::uint8_t> open;
        bool named = false;
        for (const SizeNode& node : size) {
            const bool leaf =
                node.op == WYE_SIZE_LITERAL || node.op == WYE_SIZE_PARAM || node.op == WYE_SIZE_LEN;
            if (wanted == 0 || node.op < WYE_SIZE_LITERAL || node.op >= WYE_SIZE_FIRST_FREE) {
                wanted = 1;
                break;
            }
            wanted += leaf ? 0 : 1;
            if (leaf) --wanted;
            if (open.size() >= WYE_LIMIT_EXPRESSION_DEPTH)
                return report(fmt::format("{} is deeper than {} operations", what,
                                          WYE_LIMIT_EXPRESSION_DEPTH),
                              "Fix: pass part of it as a parameter");
            open.push_back(leaf ? 0 : 2);
            while (!open.empty() && open.back() == 0) {
                open.pop_back();
                if (!open.empty()) --open.back();
            }
            named = named || node.op == WYE_SIZE_PARAM || node.op == WYE_SIZE_LEN;
            operand(node, what, report);
        }
        if (wanted != 0 || size.empty())
            report(fmt::format("{} is a malformed size expression", what), "Fix: build it again");
        else if (needs_name && !named)
            report(fmt::format("{} is computed from numbers alone", what),
                   "Fix: write its value as a literal");
    }

    template <typename Say>
    void operand(const SizeNode& node, const std::string& what, Say report) {
        if (node.op == WYE_SIZE_PARAM) {
            if (node.index >= program_.params.size())
                return report(
                    fmt::format("{} uses parameter {}, which does not exist", what, node.index),
                    "Fix: use a parameter of the program");
            const Param& p = program_.params[node.index];
            if (!p.type.integer() || !p.type.scalar())
                report(fmt::format("{} uses {}, which is {}, not an integer", what, shown(p.name),
                                   type_name(p.type)),
                       "Fix: use an integer parameter");
        }
        if (node.op == WYE_SIZE_LEN) {
            if (node.index >= program_.buffers.size())
                return report(
                    fmt::format("{} uses buffer {}, which does not exist", what, node.index),
                    "Fix: use a buffer of the program");
            const Buffer& b = program_.buffers[node.index];
            if (b.count_kind == Buffer::Count::Computed)
                report(fmt::format("{} uses the length of {}, which is computed itself", what,
                                   shown(b.name)),
                       "Fix: write the expression that gives that length");
        }
    }

    void grid() {
        const Grid& grid = program_.grid;
        const auto report = [this](std::string message, std::string fix) {
            head({}, "grid", std::move(message), std::move(fix));
        };
        const bool clause = grid.kind == WYE_GRID_ELEMENTS || grid.kind == WYE_GRID_GROUPS;
        if (grid.kind > WYE_GRID_GROUPS)
            report(fmt::format("grid kind {} is unknown", grid.kind),
                   "Fix: use elements or groups");
        if (clause ? grid.axes.empty() || grid.axes.size() > 3 : !grid.axes.empty())
            report(fmt::format("the grid has {} axes", grid.axes.size()),
                   clause ? "Fix: give it 1 to 3" : "Fix: give it a kind, or no axes");
        for (const SizeExpr& axis : grid.axes) size(axis, "the grid", false, report);
    }

    void totals() {
        std::uint64_t bytes = 0;
        for (const Buffer& b : program_.buffers) {
            if (!b.shared() || b.count_kind != Buffer::Count::Literal) continue;
            const std::uint64_t before = bytes;
            bytes +=
                std::min<std::uint64_t>(b.count, WYE_LIMIT_LITERAL_COUNT) * private_bytes(b.type);
            if (bytes > WYE_LIMIT_SHARED_BYTES && before <= WYE_LIMIT_SHARED_BYTES)
                head(b.place, fmt::format("buffer {}", shown(b.name)),
                     fmt::format("the `shared` arrays have {} bytes with {}; the limit is {}",
                                 bytes, shown(b.name), WYE_LIMIT_SHARED_BYTES),
                     "Fix: use smaller arrays, or a `persistent` buffer");
        }
    }

    const Program& program_;
    Report& report_;
    std::unordered_map<std::string, std::string> names_;
};

}  // namespace

void check_declarations(const Program& program, Report& report) {
    Declarations(program, report).run();
}

}  // namespace wye::ir::detail
