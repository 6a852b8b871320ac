// SPDX-License-Identifier: Apache-2.0
//
// Encodes a program in wire form. Checks limits, order, numbering and canonical literals, so that
// the reader accepts every result.
#include "program/wire/encode.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "program/wire/encode_code.hpp"

namespace wye::ir {

namespace {

using detail::Sink;
using detail::Words;

void write_params(const Program& p, Sink& out) {
    out.list(p.params.size(), WYE_LIMIT_PARAMS, "parameters");
    for (const Param& param : p.params) {
        out.text(param.name, WYE_LIMIT_NAME_BYTES, "name");
        out.word(param.type.code());
    }
}

void write_size(const SizeExpr& size, const Program& p, Sink& out) {
    Words& words = out.words();
    const std::size_t head = words.size();
    words.push_back(0);
    std::vector<std::uint8_t> open;
    bool complete = false;
    for (const SizeNode& node : size) {
        const bool indexed = node.op == WYE_SIZE_PARAM || node.op == WYE_SIZE_LEN;
        const bool inner = node.op >= WYE_SIZE_ADD && node.op < WYE_SIZE_FIRST_FREE;
        if (complete || node.op < 1 || node.op >= WYE_SIZE_FIRST_FREE ||
            (indexed &&
             node.index >= (node.op == WYE_SIZE_LEN ? p.buffers.size() : p.params.size())))
            return out.malformed("a size expression is malformed");
        out.count_node();
        if (open.size() >= WYE_LIMIT_EXPRESSION_DEPTH)
            return out.over("the depth of a size expression", open.size() + 1,
                            WYE_LIMIT_EXPRESSION_DEPTH);
        words.push_back(node.op | (indexed ? std::uint32_t{node.index} << 16U : 0U));
        if (node.op == WYE_SIZE_LITERAL) out.word64(node.literal);
        open.push_back(inner ? 2 : 0);
        while (!open.empty() && open.back() == 0) {
            open.pop_back();
            if (!open.empty()) --open.back();
        }
        complete = open.empty();
    }
    if (!complete) return out.malformed("a size expression is incomplete");
    words[head] = static_cast<std::uint32_t>(words.size() - head - 1);
}

void write_head(const Program& p, Sink& out) {
    out.text(p.name, WYE_LIMIT_NAME_BYTES, "name");
    std::uint64_t product = 1;
    for (const std::uint32_t axis : p.workgroup) {
        if (axis == 0) out.malformed("a workgroup axis is zero");
        product *= std::min<std::uint64_t>(axis, WYE_LIMIT_WORKGROUP + 1);
        out.word(axis);
    }
    out.limit("the workgroup size x * y * z", product, WYE_LIMIT_WORKGROUP);
    out.word(p.subgroup);
    out.word(p.adjustable ? WYE_HEAD_ADJUSTABLE : 0);
    out.word(p.math_set);
    out.word(p.grid.kind);
    out.word(static_cast<std::uint32_t>(p.grid.axes.size()));
    if (!math_set_known(p.math_set)) out.malformed("the math set is unknown");
    if (p.grid.kind > WYE_GRID_GROUPS || p.grid.axes.size() > 3 ||
        p.grid.axes.empty() != (p.grid.kind == WYE_GRID_NONE))
        out.malformed("the grid clause is malformed");
    for (const SizeExpr& axis : p.grid.axes) write_size(axis, p, out);
}

void write_hints(const Buffer& b, Sink& out) {
    const Hints& hints = b.hints;
    if (hints.coalesce > 3 || hints.locality > Locality::TEMPORAL)
        return out.malformed(fmt::format("the hints of `{}` are malformed", b.name));
    out.limit("the preferred alignment of", b.name, hints.prefer_align,
              WYE_LIMIT_PREFERRED_ALIGNMENT);
    out.word(hints.coalesce);
    out.word(hints.prefer_align);
    out.word(static_cast<std::uint32_t>(hints.locality));
}

void write_buffers(const Program& p, Sink& out) {
    out.list(p.buffers.size(), WYE_LIMIT_BUFFERS, "buffers");
    const Buffer* before = nullptr;
    for (const Buffer& b : p.buffers) {
        if (before != nullptr && before->binding >= b.binding)
            out.malformed(fmt::format(
                "buffers `{}` and `{}` are not in ascending order of their binding numbers",
                before->name, b.name));
        before = &b;
        out.limit("the binding number of", b.name, b.binding, WYE_LIMIT_BUFFERS - 1);
        out.text(b.name, WYE_LIMIT_NAME_BYTES, "name");
        out.word(b.binding);
        out.word(static_cast<std::uint32_t>(b.role));
        out.word(b.type.code());
        out.word((b.live ? WYE_BUFFER_LIVE : 0) | (b.unset ? WYE_BUFFER_UNSET : 0) |
                 (b.bytes ? WYE_BUFFER_BYTES : 0) | (b.hints.given() ? WYE_BUFFER_HINTS : 0));
        out.word(b.align);
        if (b.bytes) {
            out.word64((*b.bytes)[0]);
            out.word64((*b.bytes)[1]);
        }
        if (b.hints.given()) write_hints(b, out);
        out.word(static_cast<std::uint32_t>(b.count_kind));
        if (b.count_kind == Buffer::Count::Literal) {
            out.limit("the element count of", b.name, b.count, WYE_LIMIT_LITERAL_COUNT);
            out.word64(b.count);
        } else if (b.count_kind == Buffer::Count::Computed) {
            write_size(b.size, p, out);
        }
    }
}

void write_tables(const Program& p, Sink& out) {
    out.list(p.tables.size(), WYE_LIMIT_TABLES, "tables");
    std::uint64_t total = 0;
    for (const Table& table : p.tables) {
        const unsigned bytes = table.type.bytes();
        if (bytes == 0 || !table.type.scalar() || table.type.storage())
            return out.malformed(
                fmt::format("table `{}` cannot hold {}", table.name, type_name(table.type)));
        total += table.bits.size() * bytes;
        out.limit("the size of all tables", total, WYE_LIMIT_TABLE_BYTES);
        if (out.failed()) return;
        out.text(table.name, WYE_LIMIT_NAME_BYTES, "name");
        out.word(table.type.code());
        out.word(static_cast<std::uint32_t>(table.bits.size()));
        std::vector<std::byte> packed(table.bits.size() * bytes);
        for (std::size_t i = 0; i < table.bits.size(); ++i) {
            if (!canonical_bits(table.type.kind, table.bits[i]))
                return out.malformed(
                    fmt::format("an element of table `{}` is not canonical", table.name));
            std::memcpy(packed.data() + i * bytes, &table.bits[i], bytes);
        }
        out.bytes(packed);
    }
}

void write_functions(const Program& p, Sink& out, std::vector<std::uint64_t>& inlined) {
    out.list(p.functions.size(), WYE_LIMIT_FUNCTIONS, "functions");
    for (const Function& f : p.functions) {
        out.text(f.name, WYE_LIMIT_NAME_BYTES, "name");
        out.word(f.type.code());
        out.limit("the number of arguments of", f.name, f.arguments, WYE_LIMIT_ARGUMENTS);
        if (f.arguments > f.code.locals.size())
            out.malformed(fmt::format("`{}` has fewer locals than arguments", f.name));
        if (out.failed()) return;
        out.word(f.arguments);
        for (std::uint32_t i = 0; i < f.arguments; ++i) out.word(f.code.locals[i].type.code());
        detail::write_code(p, f.code, f.arguments, true, inlined, out);
    }
}

void write_variants(const Program& p, Sink& out) {
    out.list(p.variants.size(), WYE_LIMIT_VARIANTS, "variants");
    for (const Variant& v : p.variants) {
        if (v.file)
            out.fail(wye::Code::INVALID_PROGRAM,
                     fmt::format("the file `{}` of a variant has not been read", *v.file),
                     "Fix: read the file and put its bytes into the variant first");
        out.limit("the size of a variant", v.bytes.size(), WYE_LIMIT_VARIANT_BYTES);
        if (out.failed()) return;
        out.text(v.format, WYE_LIMIT_STRING_BYTES, "format");
        out.text(v.entry, WYE_LIMIT_STRING_BYTES, "entry");
        out.text(v.filter, WYE_LIMIT_STRING_BYTES, "device filter");
        out.word(static_cast<std::uint32_t>(v.bytes.size()));
        out.bytes(v.bytes);
    }
}

bool any_name(const Code& code) {
    return std::any_of(code.locals.begin(), code.locals.end(),
                       [](const Local& local) { return !local.name.empty(); });
}

void write_names(const Code& code, Sink& out) {
    out.word(static_cast<std::uint32_t>(code.locals.size()));
    for (const Local& local : code.locals) out.text(local.name, WYE_LIMIT_NAME_BYTES, "name");
}

struct Section {
    std::uint32_t id;
    std::vector<std::byte> bytes;
};

// Adds the names of locals, if any, and the unknown notes. Then sorts all sections by their ids.
void add_notes(const Program& p, Sink& out, std::vector<Section>& sections) {
    const bool named =
        any_name(p.main) || std::any_of(p.functions.begin(), p.functions.end(),
                                        [](const Function& f) { return any_name(f.code); });
    if (named) {
        for (const Function& f : p.functions) write_names(f.code, out);
        write_names(p.main, out);
        sections.push_back({WYE_SECTION_NAMES, out.take()});
    }
    for (const Note& note : p.notes) {
        if (note.id < WYE_SECTION_NOTE_BASE || note.id == WYE_SECTION_NAMES)
            return out.malformed(fmt::format("section {} is not an unknown note", note.id));
        sections.push_back({note.id, note.bytes});
    }
    std::sort(sections.begin(), sections.end(),
              [](const Section& a, const Section& b) { return a.id < b.id; });
    for (std::size_t i = 1; i < sections.size(); ++i)
        if (sections[i - 1].id == sections[i].id)
            out.malformed(fmt::format("note {} is present twice", sections[i].id));
}

constexpr std::uint64_t align8(std::uint64_t n) { return (n + 7) / 8 * 8; }

template <typename T>
void put(std::vector<std::byte>& wire, std::uint64_t at, T value) {
    std::memcpy(wire.data() + at, &value, sizeof value);
}

std::vector<std::byte> assemble(const std::vector<Section>& sections, std::uint16_t minor,
                                Sink& out) {
    std::uint64_t at = WYE_PROGRAM_HEADER_BYTES + sections.size() * WYE_PROGRAM_SECTION_ENTRY_BYTES;
    std::uint64_t total = at;
    for (const Section& s : sections) total = align8(total) + s.bytes.size();
    out.limit("the size of the wire form", total, WYE_LIMIT_WIRE_BYTES);
    if (out.failed()) return {};
    std::vector<std::byte> wire(total);
    std::memcpy(wire.data(), WYE_PROGRAM_MAGIC, WYE_PROGRAM_MAGIC_SIZE);
    put(wire, 8, static_cast<std::uint16_t>(WYE_PROGRAM_MAJOR));
    put(wire, 10, minor);
    put(wire, 12, static_cast<std::uint32_t>(sections.size()));
    put(wire, 16, total);
    std::uint64_t entry = WYE_PROGRAM_HEADER_BYTES;
    for (const Section& s : sections) {
        at = align8(at);
        put(wire, entry, s.id);
        put(wire, entry + 8, at);
        put(wire, entry + 16, std::uint64_t{s.bytes.size()});
        entry += WYE_PROGRAM_SECTION_ENTRY_BYTES;
        std::copy(s.bytes.begin(), s.bytes.end(), wire.begin() + static_cast<std::ptrdiff_t>(at));
        at += s.bytes.size();
    }
    return wire;
}

}  // namespace

Result<std::vector<std::byte>> encode(const Program& program, Notes notes) {
    Sink out(program.name);
    std::vector<Section> sections;
    std::vector<std::uint64_t> inlined;
    const auto add = [&](std::uint32_t id) { sections.push_back({id, out.take()}); };
    write_head(program, out);
    add(WYE_SECTION_HEAD);
    if (!program.params.empty()) write_params(program, out), add(WYE_SECTION_PARAMS);
    if (!program.buffers.empty()) write_buffers(program, out), add(WYE_SECTION_BUFFERS);
    if (!program.tables.empty()) write_tables(program, out), add(WYE_SECTION_TABLES);
    if (!program.functions.empty())
        write_functions(program, out, inlined), add(WYE_SECTION_FUNCTIONS);
    if (!out.failed()) detail::write_code(program, program.main, 0, false, inlined, out);
    add(WYE_SECTION_BODY);
    if (!program.variants.empty()) write_variants(program, out), add(WYE_SECTION_VARIANTS);
    if (notes == Notes::Keep && !out.failed()) add_notes(program, out, sections);
    if (out.failed()) return out.error();
    std::vector<std::byte> wire = assemble(sections, least_minor(program), out);
    if (out.failed()) return out.error();
    return wire;
}

}  // namespace wye::ir
