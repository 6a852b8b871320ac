// SPDX-License-Identifier: Apache-2.0
//
// Writes small programs in wire form by hand, word for word, so that the oracle can be tested
// without the project's own encoder. The programs have no params, tables or variants.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "wye/program_format.h"

namespace assembler {

using Words = std::vector<std::uint32_t>;

inline Words join(std::initializer_list<Words> parts) {
    Words out;
    for (const Words& p : parts) out.insert(out.end(), p.begin(), p.end());
    return out;
}

inline Words op(std::uint32_t code, std::uint32_t imm = 0, const Words& extra = {},
                std::initializer_list<Words> operands = {}) {
    return join({{code | imm << 16}, extra, join(operands)});
}

inline Words u32(std::uint32_t value) {
    return op(WYE_OP_LITERAL, WYE_TYPE(WYE_KIND_U32, 1), {value});
}
inline Words local(std::uint32_t number) { return op(WYE_OP_LOCAL, 0, {number}); }
inline Words builtin(std::uint32_t index, std::uint32_t component) {
    return op(WYE_OP_COMPONENT, component, {}, {op(WYE_OP_BUILTIN, index)});
}
inline Words load(std::uint32_t buffer, const Words& index) {
    return op(WYE_OP_LOAD, buffer, {}, {index});
}
inline Words store(std::uint32_t buffer, const Words& index, const Words& value) {
    return op(WYE_OP_STORE, buffer, {}, {index, value});
}
inline Words let(const Words& value) { return op(WYE_OP_LET, 0, {}, {value}); }
inline Words block(std::initializer_list<Words> statements) {
    return join({{static_cast<std::uint32_t>(statements.size())}, join(statements)});
}

class Program {
  public:
    explicit Program(std::array<std::uint32_t, 3> workgroup = {1, 1, 1}, std::uint32_t subgroup = 0)
        : workgroup_(workgroup), subgroup_(subgroup) {}

    // count 0: the number of elements is known only at run time.
    Program& buffer(std::uint32_t role, std::uint32_t type, std::uint64_t count = 0) {
        Words w = join({string("b" + std::to_string(buffers_)), {buffers_, role, type, 0, 0}});
        if (count == 0) {
            w.push_back(WYE_COUNT_RUNTIME);
        } else {
            w.insert(w.end(), {WYE_COUNT_LITERAL, static_cast<std::uint32_t>(count),
                               static_cast<std::uint32_t>(count >> 32)});
        }
        ++buffers_;
        buffer_words_ = join({buffer_words_, w});
        return *this;
    }
    Program& function(std::uint32_t type, const Words& arguments, const Words& body,
                      const Words& result) {
        const Words code = join({body, result});
        function_words_ = join({function_words_,
                                string("f"),
                                {type, static_cast<std::uint32_t>(arguments.size())},
                                arguments,
                                {static_cast<std::uint32_t>(code.size())},
                                code});
        ++functions_;
        return *this;
    }
    Program& main(std::initializer_list<Words> statements) {
        body_ = block(statements);
        return *this;
    }

    [[nodiscard]] std::vector<std::byte> wire() const {
        struct Section {
            std::uint32_t id;
            Words words;
        };
        std::vector<Section> sections;
        sections.push_back(
            {WYE_SECTION_HEAD, join({string("test"),
                                     {workgroup_[0], workgroup_[1], workgroup_[2], subgroup_, 0,
                                      WYE_PROGRAM_MATH_SET, WYE_GRID_NONE, 0}})});
        if (buffers_ != 0)
            sections.push_back({WYE_SECTION_BUFFERS, join({{buffers_}, buffer_words_})});
        if (functions_ != 0)
            sections.push_back({WYE_SECTION_FUNCTIONS, join({{functions_}, function_words_})});
        sections.push_back(
            {WYE_SECTION_BODY, join({{static_cast<std::uint32_t>(body_.size())}, body_})});

        const std::size_t table = WYE_PROGRAM_HEADER_BYTES;
        std::vector<std::byte> out(table + sections.size() * WYE_PROGRAM_SECTION_ENTRY_BYTES);
        std::memcpy(out.data(), WYE_PROGRAM_MAGIC, WYE_PROGRAM_MAGIC_SIZE);
        put(out, 8, WYE_PROGRAM_MAJOR, 2);
        put(out, 10, 0, 2);
        put(out, 12, sections.size(), 4);
        for (std::size_t i = 0; i < sections.size(); ++i) {
            out.resize((out.size() + 7) / 8 * 8);
            const std::size_t entry = table + i * WYE_PROGRAM_SECTION_ENTRY_BYTES;
            put(out, entry, sections[i].id, 4);
            put(out, entry + 8, out.size(), 8);
            put(out, entry + 16, sections[i].words.size() * 4, 8);
            for (const std::uint32_t w : sections[i].words) {
                out.resize(out.size() + 4);
                put(out, out.size() - 4, w, 4);
            }
        }
        put(out, 16, out.size(), 8);
        return out;
    }

  private:
    static Words string(const std::string& text) {
        Words out((text.size() + 3) / 4 + 1);
        out[0] = static_cast<std::uint32_t>(text.size());
        std::memcpy(out.data() + 1, text.data(), text.size());
        return out;
    }
    static void put(std::vector<std::byte>& out, std::size_t at, std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) out[at + i] = static_cast<std::byte>(value >> (8 * i));
    }

    std::array<std::uint32_t, 3> workgroup_;
    std::uint32_t subgroup_;
    std::uint32_t buffers_ = 0;
    std::uint32_t functions_ = 0;
    Words buffer_words_;
    Words function_words_;
    Words body_;
};

inline std::vector<std::byte> to_bytes(const Words& words) {
    std::vector<std::byte> out(words.size() * 4);
    if (!words.empty()) std::memcpy(out.data(), words.data(), out.size());
    return out;
}
inline Words to_words(const std::vector<std::byte>& bytes) {
    Words out(bytes.size() / 4);
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * 4);
    return out;
}

}  // namespace assembler
