// SPDX-License-Identifier: Apache-2.0
//
// Prints the head of a program, in a fixed order and layout.
#include <algorithm>

#include "program/check/validate.hpp"
#include "program/text/literal.hpp"
#include "program/text/printer.hpp"
#include "program/text/text.hpp"
#include "program/text/words.hpp"

namespace wye::ir {
namespace {

constexpr std::size_t kWidth = 100;

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

// Whether a text can be printed between """ marks: it may contain three quotation marks in a row
// only at its end.
bool fits_raw(std::string_view text) {
    const std::size_t marks = text.find("\"\"\"");
    return utf8_error(text) == text.size() &&
           (marks == std::string_view::npos ||
            text.find_first_not_of('"', marks) == std::string_view::npos);
}

std::string size_text(const Program& program, const SizeExpr& size) {
    struct Part {
        std::string text;
        int strength;
    };
    std::vector<Part> parts;  // prefix order is read backwards, so the left operand is on top
    for (std::size_t i = size.size(); i-- > 0;) {
        const SizeNode& node = size[i];
        if (node.op == WYE_SIZE_LITERAL) {
            parts.push_back({std::to_string(node.literal), 3});
        } else if (node.op == WYE_SIZE_PARAM) {
            parts.push_back({program.params[node.index].name, 3});
        } else if (node.op == WYE_SIZE_LEN) {
            parts.push_back({"len(" + program.buffers[node.index].name + ")", 3});
        } else if (parts.size() >= 2) {
            const bool sum = node.op == WYE_SIZE_ADD || node.op == WYE_SIZE_SUB;
            const int strength = sum ? 1 : 2;
            static constexpr std::string_view kOperators[] = {" + ", " - ", " * ", " / "};
            const auto wrapped = [](Part part, int least) {
                return part.strength < least ? "(" + part.text + ")" : std::move(part.text);
            };
            std::string text = wrapped(std::move(parts.back()), strength);
            parts.pop_back();
            text += kOperators[node.op - WYE_SIZE_ADD];
            text += wrapped(std::move(parts.back()), strength + 1);
            parts.back() = {std::move(text), strength};
        }
    }
    return parts.empty() ? std::string() : std::move(parts.front().text);
}

class Printer {
  public:
    explicit Printer(const Program& program) : program_(program) {}

    std::string run() {
        head();
        for (std::size_t k = 0; k < program_.functions.size(); ++k) function(k);
        out_ += "\nmain {\n";
        const auto names = detail::local_names(program_.main, program_.math_set,
                                               taken(program_.functions.size()), lasting_locals());
        detail::CodePrinter(program_, program_.main, names, out_).block(program_.main.root, 1);
        out_ += "}\n";
        return std::move(out_);
    }

  private:
    // Returns the names that locals of a body must not have if it follows `functions` functions.
    [[nodiscard]] std::unordered_set<std::string> taken(std::size_t functions) const {
        std::unordered_set<std::string> names;
        for (const Param& param : program_.params) names.insert(param.name);
        for (const Buffer& buffer : program_.buffers) names.insert(buffer.name);
        for (const Table& table : program_.tables) names.insert(table.name);
        for (std::size_t k = 0; k < functions; ++k) names.insert(program_.functions[k].name);
        return names;
    }

    // Marks the locals of main that outlive grid barriers: loop variables and lets of level 0.
    // Returns an empty list if there are no grid barriers.
    [[nodiscard]] std::vector<bool> lasting_locals() const {
        const Code& main = program_.main;
        if (std::none_of(main.stmts.begin(), main.stmts.end(),
                         [](const Stmt& s) { return s.op == Op::GRID_BARRIER; }))
            return {};
        Program whole = program_;
        if (!validate(whole).empty()) return {};
        const Uniformity levels = uniformity(whole);
        std::vector<bool> out(main.locals.size());
        for (std::size_t k = 0; k < out.size(); ++k) {
            const Local::Form form = main.locals[k].form;
            out[k] =
                form == Local::Form::For || (form == Local::Form::Let && levels.locals[k] == 0);
        }
        return out;
    }

    void head() {
        out_ += "wye 1;\n";
        if (program_.math_set != WYE_PROGRAM_MATH_SET)
            out_ += "math " + std::to_string(program_.math_set) + ";\n";
        out_ += "program " + program_.name + ";\nworkgroup ";
        const auto& size = program_.workgroup;
        out_ += std::to_string(size[0]);
        if (size[1] != 1 || size[2] != 1) out_ += ", " + std::to_string(size[1]);
        if (size[2] != 1) out_ += ", " + std::to_string(size[2]);
        out_ += program_.adjustable ? " adjustable;\n" : ";\n";
        if (program_.subgroup != 0) out_ += "subgroup " + std::to_string(program_.subgroup) + ";\n";
        if (!program_.params.empty() || !program_.buffers.empty() || !program_.tables.empty() ||
            program_.grid.kind != WYE_GRID_NONE || !program_.variants.empty())
            out_ += "\n";
        for (const Param& param : program_.params)
            out_ += "param " + param.name + ": " + type_name(param.type) + ";\n";
        std::uint32_t next = 0;
        for (const bool computed : {false, true})  // computed sizes may name any other buffer
            for (const Buffer& b : program_.buffers)
                if ((b.count_kind == Buffer::Count::Computed) == computed) buffer(b, next);
        for (const Table& t : program_.tables) table(t);
        if (program_.grid.kind != WYE_GRID_NONE) grid();
        for (std::size_t k = 0; k < program_.variants.size(); ++k) variant(k);
    }

    void buffer(const Buffer& b, std::uint32_t& next) {
        out_ += role_name(b.role);
        out_ += " " + b.name + ": " + type_name(b.type) + "[";
        if (b.count_kind == Buffer::Count::Literal) out_ += std::to_string(b.count);
        if (b.count_kind == Buffer::Count::Computed) out_ += size_text(program_, b.size);
        out_ += "]";
        if (b.binding != next) out_ += " binding " + std::to_string(b.binding);
        next = b.binding + 1;
        if (b.align != 0) out_ += " align " + std::to_string(b.align);
        if (b.bytes)
            out_ +=
                " bytes " + std::to_string((*b.bytes)[0]) + ".." + std::to_string((*b.bytes)[1]);
        hints(b.hints);
        if (b.live) out_ += " live";
        if (b.unset) out_ += " unset";
        out_ += ";\n";
    }

    void hints(const Hints& hints) {
        if (hints.coalesce != 0) out_.append(" coalesce ").append(hints.coalesce_axis());
        if (hints.prefer_align != 0) out_ += " prefer_align " + std::to_string(hints.prefer_align);
        if (hints.locality != Locality::UNSPECIFIED)
            out_.append(" locality ").append(locality_name(hints.locality));
    }

    void table(const Table& t) {
        out_ += "table " + t.name + ": " + type_name(t.type) + "[" + std::to_string(t.bits.size()) +
                "] = {";
        std::size_t column = kWidth;
        for (std::size_t k = 0; k < t.bits.size(); ++k) {
            const std::string text =
                literal_text(t.type, t.bits[k]) + (k + 1 < t.bits.size() ? "," : "");
            if (column + 1 + text.size() > kWidth) {
                out_ += "\n    ";
                column = 4;
            } else {
                out_ += " ";
                ++column;
            }
            out_ += text;
            column += text.size();
        }
        out_ += "\n};\n";
    }

    void grid() {
        out_ += program_.grid.kind == WYE_GRID_ELEMENTS ? "grid elements " : "grid groups ";
        for (std::size_t k = 0; k < program_.grid.axes.size(); ++k) {
            if (k > 0) out_ += ", ";
            out_ += size_text(program_, program_.grid.axes[k]);
        }
        out_ += ";\n";
    }

    // Prints a variant. Code that is not text is printed as a file clause with a generated name.
    void variant(std::size_t index) {
        const Variant& v = program_.variants[index];
        const std::string_view code(reinterpret_cast<const char*>(v.bytes.data()), v.bytes.size());
        const bool raw = !v.file && fits_raw(code);
        if (!v.file && !raw)
            out_ += "// " + std::to_string(code.size()) + " bytes that are not text:\n";
        out_ += "variant " + quoted(v.format) + " entry " + quoted(v.entry);
        if (!v.filter.empty()) out_ += " for " + quoted(v.filter);
        if (raw) {
            out_ += " text \"\"\"";
            out_ += code;
            out_ += "\"\"\";\n";
        } else {
            const std::string stand_in = "variant" + std::to_string(index) + ".bin";
            out_ += " file " + quoted(v.file.value_or(stand_in)) + ";\n";
        }
    }

    void function(std::size_t index) {
        const Function& f = program_.functions[index];
        const auto names = detail::local_names(f.code, program_.math_set, taken(index + 1));
        out_ += "\nfn " + f.name + "(";
        for (std::uint32_t k = 0; k < f.arguments; ++k) {
            if (k > 0) out_ += ", ";
            out_ += names[k] + ": " + type_name(f.code.locals[k].type);
        }
        out_ += ") -> " + type_name(f.type) + " {\n";
        detail::CodePrinter printer(program_, f.code, names, out_);
        printer.block(f.code.root, 1);
        out_ += "    return ";
        if (f.code.result != kNone) printer.expression(f.code.result);
        out_ += ";\n}\n";
    }

    const Program& program_;
    std::string out_;
};

}  // namespace

std::string print(const Program& program) { return Printer(program).run(); }

}  // namespace wye::ir
