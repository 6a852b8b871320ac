// SPDX-License-Identifier: Apache-2.0
#include "support/language.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "support/half.hpp"
#include "support/texts.hpp"
#include "wye/program_format.h"

namespace support {
namespace {

struct ElementType {
    unsigned kind = 0;
    std::size_t bytes = 0;
    unsigned lanes = 1;
    std::string kind_name;
};

struct Block {
    std::string what;  // the words after the code fence: "wye", "launch", ...
    std::size_t line = 0;
    std::vector<std::string> lines;
};

// A line of a launch or of a table, such as "in x: f32 = 1.0 2.0".
struct ValueLine {
    std::string name;  // in a table, the expression
    std::string type;
    std::vector<std::string> values;
};

[[noreturn]] void fail_at(std::size_t line, const std::string& problem) {
    throw std::runtime_error("LANGUAGE.md:" + std::to_string(line) + ": " + problem);
}

std::vector<std::string> split_words(const std::string& text, char separator = ' ') {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, separator);)
        if (!word.empty()) out.push_back(word);
    return out;
}

ElementType type_named(const std::string& name, std::size_t line) {
    ElementType out;
    out.kind_name = name;
    if (name.size() > 2 && name[name.size() - 2] == 'x') {
        out.lanes = static_cast<unsigned>(name.back() - '0');
        out.kind_name = name.substr(0, name.size() - 2);
    }
#define WYE_REFERENCE_KIND(id, code, text, size, bits) \
    if (out.kind_name == (text)) out.kind = code, out.bytes = size;
    WYE_KINDS(WYE_REFERENCE_KIND)
#undef WYE_REFERENCE_KIND
    if (out.kind == 0 || out.lanes < 1 || out.lanes > 4) fail_at(line, "no type " + name);
    return out;
}

// ---- Values -----------------------------------------------------------------------------------

std::uint64_t float_bits(unsigned kind, double value, const std::string& text) {
    if (kind == WYE_KIND_F64) {
        std::uint64_t bits = 0;
        if (std::isnan(value)) return 0x7ff8000000000000;
        std::memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    if (kind == WYE_KIND_F32) {
        if (std::isnan(value)) return 0x7fc00000;
        const float narrow = std::strtof(text.c_str(), nullptr);  // rounds only once
        std::uint32_t bits = 0;
        std::memcpy(&bits, &narrow, sizeof bits);
        return bits;
    }
    return kind == WYE_KIND_F16 ? half_of_value(value) : bf16_of_value(value);
}

std::uint64_t integer_bits(const std::string& text, unsigned width, bool is_signed,
                           std::size_t line) {
    const bool binary = text.starts_with("0b");
    const std::string digits = binary ? text.substr(2) : text;
    char* end = nullptr;
    errno = 0;
    std::uint64_t bits = 0;
    bool fits = true;
    if (is_signed) {
        const std::int64_t value = std::strtoll(digits.c_str(), &end, binary ? 2 : 0);
        fits = width == 64 || (value >= -(1LL << (width - 1)) && value < (1LL << (width - 1)));
        bits = static_cast<std::uint64_t>(value);
    } else {
        bits = std::strtoull(digits.c_str(), &end, binary ? 2 : 0);
        fits = text[0] != '-' && (width == 64 || bits >> width == 0);
    }
    if (errno != 0 || *end != '\0' || !fits) fail_at(line, "no integer of its type: " + text);
    return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

// The bits of a scalar. A bool has the bits of a u32.
std::uint64_t value_bits(const ElementType& type, const std::string& text, std::size_t line) {
    switch (type.kind) {
        case WYE_KIND_BOOL:
            if (text != "true" && text != "false") fail_at(line, "no bool: " + text);
            return text == "true" ? 1 : 0;
        case WYE_KIND_F16:
        case WYE_KIND_BF16:
        case WYE_KIND_F32:
        case WYE_KIND_F64: {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            const bool special = text.find("inf") != std::string::npos || text == "nan";
            if (*end != '\0' || (!special && text.find_first_of(".e") == std::string::npos))
                fail_at(line, "no float: " + text);
            return float_bits(type.kind, value, text);
        }
        default:
            return integer_bits(text, static_cast<unsigned>(type.bytes * 8),
                                type.kind_name[0] == 'i', line);
    }
}

std::size_t scalar_bytes(const ElementType& type) {
    return type.kind == WYE_KIND_BOOL ? 4 : type.bytes;
}

// Appends the bytes of a value. `_` stands for an element that is not copied back: appends zeros.
void append_value(std::vector<std::byte>& to, const ElementType& type, const std::string& text,
                  std::size_t line) {
    const std::uint64_t bits = text == "_" ? 0 : value_bits(type, text, line);
    const std::size_t at = to.size();
    to.resize(at + scalar_bytes(type));
    std::memcpy(to.data() + at, &bits, scalar_bytes(type));
}

// ---- Lines ------------------------------------------------------------------------------------

// Parses "NAME: TYPE = VALUES"; the name may be an expression that contains `:` or `=`.
ValueLine value_line(const std::string& text, std::size_t line) {
    for (std::size_t at = text.rfind(": "); at != std::string::npos && at > 0;
         at = text.rfind(": ", at - 1)) {
        const std::size_t equals = text.find(" = ", at);
        if (equals == std::string::npos) continue;
        ValueLine out{text.substr(0, at), text.substr(at + 2, equals - at - 2),
                      split_words(text.substr(equals + 3))};
        if (out.values.empty()) fail_at(line, "no values");
        return out;
    }
    fail_at(line, "expected NAME: TYPE = VALUES");
}

ReferenceBuffer& buffer_named(ReferenceExample& example, const std::string& name) {
    for (ReferenceBuffer& buffer : example.buffers)
        if (buffer.name == name) return buffer;
    example.buffers.emplace_back().name = name;
    return example.buffers.back();
}

void read_launch(ReferenceExample& example, const Block& block) {
    for (std::size_t k = 0; k < block.lines.size(); ++k) {
        const std::size_t line = block.line + k;
        const std::size_t space = block.lines[k].find(' ');
        const std::string verb = block.lines[k].substr(0, space);
        const std::string rest = block.lines[k].substr(space + 1);
        const std::vector<std::string> words = split_words(rest);
        if (verb == "groups") {
            example.groups = {1, 1, 1};
            for (std::size_t i = 0; i < words.size() && i < 3; ++i)
                (*example.groups)[i] =
                    static_cast<std::uint32_t>(integer_bits(words[i], 32, false, line));
        } else if (verb == "traps" && words.size() == 2) {
            example.trap_code = static_cast<std::uint32_t>(integer_bits(words[0], 32, false, line));
            example.trap_count =
                static_cast<std::uint32_t>(integer_bits(words[1], 32, false, line));
        } else {
            const ValueLine given = value_line(rest, line);
            const ElementType type = type_named(given.type, line);
            if (verb == "param") {
                example.params.push_back(value_bits(type, given.values.at(0), line));
                continue;
            }
            if (verb != "in" && verb != "out") fail_at(line, "expected in, out or param");
            ReferenceBuffer& buffer = buffer_named(example, given.name);
            (verb == "in" ? buffer.input : buffer.output) = true;
            for (const std::string& value : given.values)
                append_value(verb == "in" ? buffer.before : buffer.after, type, value, line);
        }
    }
    for (ReferenceBuffer& buffer : example.buffers)
        if (!buffer.input) buffer.before.resize(buffer.after.size());
}

// The element type of a buffer for values of `type`. For bool it is u32.
std::string held_as(const ElementType& type) {
    const std::string lanes = type.lanes == 1 ? "" : "x" + std::to_string(type.lanes);
    return (type.kind == WYE_KIND_BOOL ? "u32" : type.kind_name) + lanes;
}

// Makes a program of a table of operations.
ReferenceExample table_program(const Block& block) {
    ReferenceExample out;
    std::string declared;
    std::string body;
    std::string count;  // "len(x_in)" of the first operand
    std::size_t columns = 0;
    const bool set_2 = !block.lines.empty() && block.lines[0] == "math 2;";
    for (std::size_t k = set_2 ? 1 : 0; k < block.lines.size(); ++k) {
        const std::size_t line = block.line + k;
        const ValueLine given = value_line(block.lines[k], line);
        const ElementType type = type_named(given.type, line);
        const bool operand =
            given.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
        const std::string name = operand ? given.name + "_in" : "r" + std::to_string(k);
        if (count.empty()) {
            if (!operand) fail_at(line, "a table begins with an operand");
            count = "len(" + name + ")";
            columns = given.values.size();
        }
        if (given.values.size() != columns) fail_at(line, "another number of columns");
        const bool first = columns != 0 && declared.empty();
        declared += (operand ? "input " : "output ") + name + ": " + held_as(type) + "[" +
                    (first ? "" : count) + "];\n";
        const bool truth = type.kind == WYE_KIND_BOOL;
        if (operand)
            body += "    let " + given.name + " = " + name + "[k0]" +
                    (truth ? " != " + held_as(type) + "(0u)" : "") + ";\n";
        else
            body += "    " + name +
                    "[k0] = " + (truth ? held_as(type) + "(" + given.name + ")" : given.name) +
                    ";\n";
        ReferenceBuffer& buffer = buffer_named(out, name);
        (operand ? buffer.input : buffer.output) = true;
        for (const std::string& value : given.values) {
            const std::vector<std::string> parts = split_words(value, ',');
            if (parts.size() != type.lanes) fail_at(line, "another number of components");
            for (const std::string& part : parts)
                append_value(operand ? buffer.before : buffer.after, type, part, line);
        }
        if (!operand) buffer.before.resize(buffer.after.size());
    }
    out.text = std::string(set_2 ? "wye 1; math 2;" : "wye 1;") +
               " program example; workgroup 64;\n" + declared + "grid elements " + count +
               ";\nmain {\n    let k0 = global_id.x;\n" + body + "}\n";
    return out;
}

// ---- The document -----------------------------------------------------------------------------

// The words of a text that stand between backticks.
std::vector<std::string> marked(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t at = text.find('`'); at != std::string::npos;) {
        const std::size_t end = text.find('`', at + 1);
        if (end == std::string::npos) break;
        out.push_back(text.substr(at + 1, end - at - 1));
        at = text.find('`', end + 1);
    }
    return out;
}

class Reader {
  public:
    void line(const std::string& text) {
        ++line_;
        if (open_) {
            if (text == "```") {
                open_ = false;
                finish(block_);
            } else {
                block_.lines.push_back(text);
            }
        } else if (text.starts_with("```")) {
            open_ = true;
            block_ = {text.substr(3), line_ + 1, {}};
        } else if (text.starts_with("### ")) {
            out_.entries.push_back({line_, marked(text), {}});
            in_entry_ = true;
        } else if (text.starts_with("## ")) {
            in_entry_ = false;
        }
    }
    Reference take() {
        if (open_) fail_at(block_.line, "this block has no end");
        if (pending_) fail_at(pending_->line, "this program has no launch");
        return std::move(out_);
    }

  private:
    void finish(const Block& block) {
        std::string text;
        for (const std::string& line : block.lines) text += line + "\n";
        if (block.what == "ebnf") {
            out_.grammar += text;
            return;
        }
        if (in_entry_ && block.what != "launch" && block.what != "refused")
            out_.entries.back().code += text;
        if (block.what == "wye") {
            if (pending_) fail_at(pending_->line, "this program has no launch");
            pending_ = ReferenceExample{};
            pending_->text = text;
            pending_->line = block.line;
        } else if (block.what == "launch" || block.what == "refused") {
            if (!pending_) fail_at(block.line, "there is no program above");
            if (block.what == "launch")
                read_launch(*pending_, block);
            else
                pending_->refused = block.lines.at(0);
            add(std::move(*pending_));
            pending_.reset();
        } else if (block.what == "values") {
            ReferenceExample example = table_program(block);
            example.line = block.line;
            add(std::move(example));
        } else {
            fail_at(block.line, "no kind of block: " + block.what);
        }
    }
    void add(ReferenceExample example) {
        if (in_entry_) example.covers = out_.entries.back().words;
        out_.examples.push_back(std::move(example));
    }

    Reference out_;
    Block block_;
    std::optional<ReferenceExample> pending_;
    std::size_t line_ = 0;
    bool open_ = false;
    bool in_entry_ = false;
};

}  // namespace

Reference language_reference() {
    std::istringstream in{std::string(language_text())};
    Reader reader;
    for (std::string line; std::getline(in, line);) reader.line(line);
    return reader.take();
}

}  // namespace support
