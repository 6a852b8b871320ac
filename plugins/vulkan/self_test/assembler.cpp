// SPDX-License-Identifier: Apache-2.0
#include "vulkan/self_test/assembler.hpp"

namespace wye::vulkan::spirv {

void Assembler::emit(Section section, Op op, std::initializer_list<std::uint32_t> operands) {
    std::vector<std::uint32_t>& out = sections_[static_cast<std::size_t>(section)];
    const auto words = static_cast<std::uint32_t>(operands.size() + 1);
    out.push_back(words << 16U | static_cast<std::uint32_t>(op));
    out.insert(out.end(), operands);
}

void Assembler::emit_text(Section section, Op op, std::initializer_list<std::uint32_t> operands,
                          std::string_view text, const std::vector<std::uint32_t>& rest) {
    std::vector<std::uint32_t> packed(text.size() / 4 + 1);  // ends with at least one zero byte
    for (std::size_t i = 0; i < text.size(); ++i)
        packed[i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]))
                         << (i % 4 * 8);
    std::vector<std::uint32_t>& out = sections_[static_cast<std::size_t>(section)];
    const std::size_t words = 1 + operands.size() + packed.size() + rest.size();
    out.push_back(static_cast<std::uint32_t>(words) << 16U | static_cast<std::uint32_t>(op));
    out.insert(out.end(), operands);
    out.insert(out.end(), packed.begin(), packed.end());
    out.insert(out.end(), rest.begin(), rest.end());
}

std::uint32_t Assembler::result(Section section, Op op, std::uint32_t type,
                                std::initializer_list<std::uint32_t> operands) {
    const std::uint32_t id = new_id();
    std::vector<std::uint32_t>& out = sections_[static_cast<std::size_t>(section)];
    const auto words = static_cast<std::uint32_t>(operands.size() + 3);
    out.insert(out.end(), {words << 16U | static_cast<std::uint32_t>(op), type, id});
    out.insert(out.end(), operands);
    return id;
}

std::uint32_t Assembler::global(Op op, std::initializer_list<std::uint32_t> operands) {
    const std::uint32_t id = new_id();
    std::vector<std::uint32_t>& out = sections_[static_cast<std::size_t>(Section::Globals)];
    const auto words = static_cast<std::uint32_t>(operands.size() + 2);
    out.insert(out.end(), {words << 16U | static_cast<std::uint32_t>(op), id});
    out.insert(out.end(), operands);
    return id;
}

std::vector<std::uint32_t> Assembler::words() const {
    constexpr std::uint32_t kMagic = 0x07230203, kVersion13 = 0x00010300;
    std::vector<std::uint32_t> out = {kMagic, kVersion13, 0, next_id_, 0};
    for (const auto& section : sections_) out.insert(out.end(), section.begin(), section.end());
    return out;
}

}  // namespace wye::vulkan::spirv
