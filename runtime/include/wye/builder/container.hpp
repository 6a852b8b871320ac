// SPDX-License-Identifier: Apache-2.0
//
// The builder's output: writes sections and the container around them, and renumbers buffers into
// binding order. Part of wye/builder.hpp; include that.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "wye/builder/expr.hpp"

namespace wye::builder::detail {

inline void put_bytes(Words& out, const void* data, std::size_t size) {
    const std::size_t at = out.size();
    out.resize(at + (size + 3) / 4);
    if (size != 0) std::memcpy(out.data() + at, data, size);
}
inline void put_text(Words& out, std::string_view text) {
    out.push_back(static_cast<std::uint32_t>(text.size()));
    put_bytes(out, text.data(), text.size());
}
inline void put64(Words& out, std::uint64_t value) {
    out.push_back(static_cast<std::uint32_t>(value));
    out.push_back(static_cast<std::uint32_t>(value >> 32U));
}
inline void put_counted(Words& out, const Words& code) {
    out.push_back(static_cast<std::uint32_t>(code.size()));
    append(out, code);
}

[[nodiscard]] constexpr std::size_t scalar_bytes(Type type) {
    switch (type.code & 0xffU) {
#define WYE_BUILDER_BYTES(name, code, text, bytes, bits) \
    case code:                                           \
        return bytes;
        WYE_KINDS(WYE_BUILDER_BYTES)
#undef WYE_BUILDER_BYTES
        default:
            return 0;
    }
}

// The number of words that follow the first word of a node and belong to it, without operands.
[[nodiscard]] constexpr std::size_t extra_words(std::uint32_t node) {
    switch (node & 0xffffU) {
        case WYE_OP_LITERAL: {
            const std::uint32_t kind = (node >> 16U) & 0xffU;
            return kind == WYE_KIND_I64 || kind == WYE_KIND_U64 || kind == WYE_KIND_F64 ? 2 : 1;
        }
        case WYE_OP_LOCAL:
        case WYE_OP_LEN_ARRAY:
        case WYE_OP_LEN64_ARRAY:
        case WYE_OP_LOAD_ARRAY:
        case WYE_OP_VAR_ARRAY:
        case WYE_OP_ASSIGN:
        case WYE_OP_ASSIGN_COMPONENT:
        case WYE_OP_STORE_ARRAY:
            return 1;
        default:
            return 0;
    }
}

[[nodiscard]] constexpr bool names_buffer(std::uint32_t node) {
    const std::uint32_t op = node & 0xffffU;
    return op == WYE_OP_LEN || op == WYE_OP_LEN64 || op == WYE_OP_LOAD || op == WYE_OP_STORE ||
           (op >= WYE_OP_ATOMIC_LOAD && op <= WYE_OP_ATOMIC_CAS) ||
           op == WYE_OP_WORKGROUP_UNIFORM_LOAD;
}

// Replaces buffer indices in declared order by those in binding order. `counts`: positions of block
// counts.
inline void renumber(Words& code, const std::vector<std::size_t>& counts,
                     const std::vector<std::uint16_t>& order) {
    auto next = counts.begin();
    for (std::size_t at = 0; at < code.size(); ++at) {
        if (next != counts.end() && *next == at) {
            ++next;
            continue;
        }
        const std::uint32_t node = code[at];
        if (names_buffer(node) && (node >> 16U) < order.size())
            code[at] = head(node, order[node >> 16U]);
        at += extra_words(node);
    }
}

// Converts an expression to a size expression, word by word, since both are prefix codes. An
// operation that sizes do not have becomes 0, which the reader refuses.
[[nodiscard]] inline Words size_words(const Words& expression) {
    Words size;
    for (std::size_t at = 0; at < expression.size(); ++at) {
        const std::uint32_t node = expression[at];
        const std::uint32_t imm = node >> 16U;
        switch (node & 0xffffU) {
            case WYE_OP_LITERAL: {
                const std::uint64_t low = expression[at + 1];
                const bool wide = extra_words(node) == 2;
                const std::uint64_t bits =
                    wide ? low | std::uint64_t{expression[at + 2]} << 32U : low;
                const std::uint32_t kind = imm & 0xffU;
                const bool negative = (kind == WYE_KIND_I32 && (bits >> 31U) != 0) ||
                                      (kind == WYE_KIND_I64 && (bits >> 63U) != 0);
                const bool integer = kind >= WYE_KIND_I32 && kind <= WYE_KIND_U64;
                size.push_back(integer && !negative ? head(WYE_SIZE_LITERAL) : 0);
                put64(size, bits);
                at += wide ? 2 : 1;
                break;
            }
            case WYE_OP_PARAM:
                size.push_back(head(WYE_SIZE_PARAM, imm));
                break;
            case WYE_OP_LEN:
                size.push_back(head(WYE_SIZE_LEN, imm));
                break;
            case WYE_OP_ADD:
                size.push_back(head(WYE_SIZE_ADD));
                break;
            case WYE_OP_SUB:
                size.push_back(head(WYE_SIZE_SUB));
                break;
            case WYE_OP_MUL:
                size.push_back(head(WYE_SIZE_MUL));
                break;
            case WYE_OP_DIV:
                size.push_back(head(WYE_SIZE_DIV));
                break;
            default:
                size.push_back(0);
                at += extra_words(node);
        }
    }
    return size;
}

struct Section {
    std::uint32_t id = 0;
    Words words;
};

// Writes header, table and sections; `sections` ascend by id. `minor`: the lowest minor version of
// the format that supports the sections.
[[nodiscard]] inline std::vector<std::byte> container(const std::vector<Section>& sections,
                                                      std::uint16_t minor) {
    const auto align8 = [](std::size_t n) { return (n + 7) / 8 * 8; };
    const std::size_t start =
        WYE_PROGRAM_HEADER_BYTES + sections.size() * WYE_PROGRAM_SECTION_ENTRY_BYTES;
    std::size_t total = start;
    for (const Section& s : sections) total = align8(total) + s.words.size() * 4;
    std::vector<std::byte> wire(total);
    const auto put = [&wire](std::size_t at, const auto value) {
        std::memcpy(wire.data() + at, &value, sizeof value);
    };
    std::memcpy(wire.data(), WYE_PROGRAM_MAGIC, WYE_PROGRAM_MAGIC_SIZE);
    put(8, std::uint16_t{WYE_PROGRAM_MAJOR});
    put(10, minor);
    put(12, static_cast<std::uint32_t>(sections.size()));
    put(16, std::uint64_t{total});
    std::size_t entry = WYE_PROGRAM_HEADER_BYTES;
    std::size_t at = start;
    for (const Section& s : sections) {
        at = align8(at);
        put(entry, s.id);
        put(entry + 8, std::uint64_t{at});
        put(entry + 16, std::uint64_t{s.words.size() * 4});
        entry += WYE_PROGRAM_SECTION_ENTRY_BYTES;
        if (!s.words.empty()) std::memcpy(wire.data() + at, s.words.data(), s.words.size() * 4);
        at += s.words.size() * 4;
    }
    return wire;
}

}  // namespace wye::builder::detail
