// SPDX-License-Identifier: Apache-2.0
//
// Reads the sections other than code: HEAD, PARAMS, BUFFERS, TABLES, VARIANTS, and the names of
// locals.
#include <algorithm>
#include <cstring>

#include "wire_reader.hpp"

namespace wye::ir::detail {

namespace {

// Reads the count at the beginning of a section. The count is not 0: an empty section must be left
// out.
bool read_count(Reader& in, std::uint64_t limit, std::size_t item_bytes, std::string_view what,
                std::uint32_t& out) {
    if (!in.word(out)) return false;
    if (out == 0) return in.fail("a section without " + std::string(what) + " must be left out");
    return in.count(out, limit, item_bytes, what);
}

bool read_type(Reader& in, Type& out) {
    std::uint32_t code = 0;
    if (!in.word(code)) return false;
    const std::optional<Type> type = type_from_code(code);
    if (!type) return in.fail("type code " + hex(code) + " is unknown");
    out = *type;
    return true;
}

bool read_size_node(Reader& in, const Context& context, SizeNode& out, int& operands) {
    std::uint32_t word = 0;
    if (!in.word(word)) return false;
    const std::uint32_t imm = word >> 16U;
    switch (word & 0xffffU) {
#define WYE_SIZE_CASE(name, code, count) \
    case code:                           \
        operands = count;                \
        break;
        WYE_SIZE_OPS(WYE_SIZE_CASE)
#undef WYE_SIZE_CASE
        default:
            return in.fail("size operation " + hex(word & 0xffffU) + " is unknown");
    }
    out.op = static_cast<std::uint8_t>(word & 0xffU);
    if (out.op == WYE_SIZE_PARAM || out.op == WYE_SIZE_LEN) {
        out.index = static_cast<std::uint16_t>(imm);
        return out.op == WYE_SIZE_PARAM ? in.index(imm, context.params, "parameter")
                                        : in.index(imm, context.buffers, "buffer");
    }
    if (!in.zero(imm, "the immediate of a size operation")) return false;
    return out.op != WYE_SIZE_LITERAL || in.word64(out.literal);
}

// Reads an expression in prefix order, and consumes exactly the words announced. Its depth has the
// same limit as that of other expressions.
bool read_size(Reader& section, Context& context, SizeExpr& out) {
    std::uint32_t words = 0;
    if (!section.word(words)) return false;
    Reader in = section;
    if (!section.part(words, in)) return false;
    std::vector<std::uint8_t> open;  // operands still to come, per level
    bool complete = false;
    while (!complete) {
        SizeNode node;
        int operands = 0;
        if (!read_size_node(in, context, node, operands)) return false;
        if (++context.nodes > WYE_LIMIT_NODES)
            return in.over("the number of nodes", context.nodes, WYE_LIMIT_NODES);
        out.push_back(node);
        if (open.size() >= WYE_LIMIT_EXPRESSION_DEPTH)
            return in.over("the depth of a size expression", open.size() + 1,
                           WYE_LIMIT_EXPRESSION_DEPTH);
        open.push_back(static_cast<std::uint8_t>(operands));
        while (!open.empty() && open.back() == 0) {
            open.pop_back();
            if (!open.empty()) --open.back();
        }
        complete = open.empty();
    }
    return in.finished();
}

bool read_workgroup(Reader& in, Program& program) {
    std::uint64_t product = 1;
    for (std::uint32_t& axis : program.workgroup) {
        if (!in.word(axis)) return false;
        if (axis == 0) return in.fail("a workgroup axis is zero");
        product *= std::min<std::uint64_t>(axis, WYE_LIMIT_WORKGROUP + 1);
        if (product > WYE_LIMIT_WORKGROUP)
            return in.over("the workgroup size x * y * z", product, WYE_LIMIT_WORKGROUP);
    }
    return true;
}

bool read_buffer_count(Reader& in, Context& context, Buffer& b) {
    std::uint32_t kind = 0;
    if (!in.word(kind)) return false;
    if (kind > WYE_COUNT_COMPUTED) return in.fail("count kind " + hex(kind) + " is unknown");
    b.count_kind = static_cast<Buffer::Count>(kind);
    if (b.count_kind == Buffer::Count::Computed) return read_size(in, context, b.size);
    if (b.count_kind == Buffer::Count::Runtime) return true;
    if (!in.word64(b.count)) return false;
    return b.count <= WYE_LIMIT_LITERAL_COUNT ||
           in.over("the element count of `" + b.name + "`", b.count, WYE_LIMIT_LITERAL_COUNT);
}

bool read_hints(Reader& in, Hints& out) {
    std::uint32_t coalesce = 0;
    std::uint32_t locality = 0;
    if (!in.word(coalesce)) return false;
    if (coalesce > 3) return in.fail("axis " + hex(coalesce) + " of a hint is unknown");
    if (!in.word(out.prefer_align)) return false;
    if (out.prefer_align > WYE_LIMIT_PREFERRED_ALIGNMENT)
        return in.over("a preferred alignment", out.prefer_align, WYE_LIMIT_PREFERRED_ALIGNMENT);
    if (!in.word(locality)) return false;
    if (locality >= WYE_LOCALITY_FIRST_FREE)
        return in.fail("locality " + hex(locality) + " is unknown");
    out.coalesce = static_cast<std::uint8_t>(coalesce);
    out.locality = static_cast<Locality>(locality);
    return out.given() || in.fail("hints that say nothing must be left out");
}

bool read_buffer(Reader& in, Context& context, Buffer& b) {
    std::uint32_t role = 0;
    std::uint32_t flags = 0;
    if (!in.text(b.name, WYE_LIMIT_NAME_BYTES, "name") || !in.word(b.binding)) return false;
    if (b.binding >= WYE_LIMIT_BUFFERS)
        return in.over("the binding number of `" + b.name + "`", b.binding, WYE_LIMIT_BUFFERS - 1);
    const auto& before = context.program.buffers;
    if (!before.empty() && before.back().binding >= b.binding)
        return in.fail("binding " + std::to_string(b.binding) + " does not come after binding " +
                       std::to_string(before.back().binding));
    if (!in.word(role)) return false;
    if (role < 1 || role >= WYE_ROLE_FIRST_FREE)
        return in.fail("role " + hex(role) + " is unknown");
    b.role = static_cast<Role>(role);
    if (!read_type(in, b.type) || !in.word(flags)) return false;
    if (!in.zero(
            flags & ~(WYE_BUFFER_LIVE | WYE_BUFFER_UNSET | WYE_BUFFER_BYTES | WYE_BUFFER_HINTS),
            "an unknown buffer flag"))
        return false;
    b.live = (flags & WYE_BUFFER_LIVE) != 0;
    b.unset = (flags & WYE_BUFFER_UNSET) != 0;
    if (!in.word(b.align)) return false;
    if ((flags & WYE_BUFFER_BYTES) != 0) {
        b.bytes.emplace();
        if (!in.word64((*b.bytes)[0]) || !in.word64((*b.bytes)[1])) return false;
    }
    if ((flags & WYE_BUFFER_HINTS) != 0 && !read_hints(in, b.hints)) return false;
    return read_buffer_count(in, context, b);
}

bool read_table_elements(Reader& in, Table& table, std::uint64_t& total) {
    std::uint32_t count = 0;
    if (!in.word(count)) return false;
    const unsigned bytes = table.type.bytes();
    if (!in.count(count, WYE_LIMIT_TABLE_BYTES / bytes, bytes, "table elements")) return false;
    total += std::uint64_t{count} * bytes;
    if (total > WYE_LIMIT_TABLE_BYTES)
        return in.over("the size of all tables", total, WYE_LIMIT_TABLE_BYTES);
    table.bits.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        std::span<const std::byte> raw;
        if (!in.bytes(raw, bytes)) return false;
        std::uint64_t bits = 0;
        std::memcpy(&bits, raw.data(), bytes);
        if (!canonical_bits(table.type.kind, bits))
            return in.fail("element " + std::to_string(i) + " of `" + table.name +
                           "` is a NaN other than the canonical one");
        table.bits.push_back(bits);
    }
    return in.padding(4);
}

bool read_local_names(Reader& in, Code& code, bool& any) {
    std::uint32_t count = 0;
    if (!in.word(count)) return false;
    if (count != code.locals.size())
        return in.fail("there are names for " + std::to_string(count) + " locals, but " +
                       std::to_string(code.locals.size()) + " locals");
    for (Local& local : code.locals) {
        if (!in.text(local.name, WYE_LIMIT_NAME_BYTES, "name")) return false;
        any = any || !local.name.empty();
    }
    return true;
}

}  // namespace

bool read_head(Reader& in, Context& context) {
    Program& program = context.program;
    std::uint32_t flags = 0;
    std::uint32_t kind = 0;
    std::uint32_t axes = 0;
    if (!in.text(program.name, WYE_LIMIT_NAME_BYTES, "name") || !read_workgroup(in, program) ||
        !in.word(program.subgroup) || !in.word(flags))
        return false;
    if (!in.zero(flags & ~WYE_HEAD_ADJUSTABLE, "an unknown flag of the head")) return false;
    program.adjustable = (flags & WYE_HEAD_ADJUSTABLE) != 0;
    if (!in.word(program.math_set)) return false;
    if (!math_set_known(program.math_set))
        return in.fail("math set " + std::to_string(program.math_set) + " is unknown",
                       "Fix: use a newer Wye, which may know the math set");
    if (!in.word(kind)) return false;
    if (kind > WYE_GRID_GROUPS) return in.fail("grid kind " + hex(kind) + " is unknown");
    program.grid.kind = static_cast<std::uint8_t>(kind);
    if (!in.word(axes)) return false;
    if (axes > 3 || (axes == 0) != (kind == WYE_GRID_NONE))
        return in.fail("a grid of kind " + std::to_string(kind) + " cannot have " +
                       std::to_string(axes) + " axes");
    program.grid.axes.resize(axes);
    return std::all_of(program.grid.axes.begin(), program.grid.axes.end(),
                       [&](SizeExpr& axis) { return read_size(in, context, axis); });
}

bool read_params(Reader& in, Context& context) {
    std::uint32_t count = 0;
    if (!read_count(in, WYE_LIMIT_PARAMS, 8, "parameters", count)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        Param p;
        if (!in.text(p.name, WYE_LIMIT_NAME_BYTES, "name") || !read_type(in, p.type)) return false;
        context.program.params.push_back(std::move(p));
    }
    return true;
}

bool read_buffers(Reader& in, Context& context) {
    std::uint32_t count = 0;
    if (!read_count(in, WYE_LIMIT_BUFFERS, 28, "buffers", count)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        Buffer b;
        if (!read_buffer(in, context, b)) return false;
        context.program.buffers.push_back(std::move(b));
    }
    return true;
}

bool read_tables(Reader& in, Context& context) {
    std::uint32_t count = 0;
    std::uint64_t total = 0;
    if (!read_count(in, WYE_LIMIT_TABLES, 12, "tables", count)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        Table table;
        if (!in.text(table.name, WYE_LIMIT_NAME_BYTES, "name") || !read_type(in, table.type))
            return false;
        if (!table.type.scalar() || table.type.boolean() || table.type.storage())
            return in.fail("a table cannot hold " + type_name(table.type));
        if (!read_table_elements(in, table, total)) return false;
        context.program.tables.push_back(std::move(table));
    }
    return true;
}

bool read_variants(Reader& in, Context& context) {
    std::uint32_t count = 0;
    if (!read_count(in, WYE_LIMIT_VARIANTS, 16, "variants", count)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        Variant v;
        std::uint32_t size = 0;
        std::span<const std::byte> content;
        if (!in.text(v.format, WYE_LIMIT_STRING_BYTES, "format") ||
            !in.text(v.entry, WYE_LIMIT_STRING_BYTES, "entry") ||
            !in.text(v.filter, WYE_LIMIT_STRING_BYTES, "device filter") || !in.word(size) ||
            !in.count(size, WYE_LIMIT_VARIANT_BYTES, 1, "bytes of a variant") ||
            !in.bytes(content, size) || !in.padding(4))
            return false;
        v.bytes.assign(content.begin(), content.end());
        context.program.variants.push_back(std::move(v));
    }
    return true;
}

bool read_names(Reader& in, Context& context) {
    bool any = false;
    for (Function& f : context.program.functions)
        if (!read_local_names(in, f.code, any)) return false;
    if (!read_local_names(in, context.program.main, any)) return false;
    return any || in.fail("no local has a name; the section must be left out");
}

}  // namespace wye::ir::detail
