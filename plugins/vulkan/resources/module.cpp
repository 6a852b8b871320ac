// SPDX-License-Identifier: Apache-2.0
#include "vulkan/resources/module.hpp"

#include <string>

namespace wye::vulkan {
namespace {

// Values of the SPIR-V specification.
constexpr std::uint32_t kMagic = 0x07230203;
constexpr std::size_t kHeaderWords = 5;
constexpr std::uint32_t kOpEntryPoint = 15, kOpExecutionMode = 16;
constexpr std::uint32_t kOpFunction = 54, kOpFunctionEnd = 56;
constexpr std::uint32_t kExecutionModelGLCompute = 5;
constexpr std::uint32_t kExecutionModeLocalSize = 17;

Error refused(std::string message, std::string_view fix) {
    return {Code::COMPILE_FAILED, "the SPIR-V module " + std::move(message), std::string(fix)};
}

// Reads a literal string: bytes packed into words, the lowest byte first, terminated by a zero
// byte.
std::string string_at(std::span<const std::uint32_t> words) {
    std::string out;
    for (const std::uint32_t word : words)
        for (unsigned shift = 0; shift < 32; shift += 8) {
            const auto byte = static_cast<char>(word >> shift & 0xffU);
            if (byte == '\0') return out;
            out += byte;
        }
    return out;
}

std::uint64_t invocations(std::span<const std::uint32_t> size) {
    return std::uint64_t{size[0]} * size[1] * size[2];
}

std::string size_text(std::span<const std::uint32_t> size) {
    return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

}  // namespace

Result<void> check_module(std::span<const std::uint32_t> code, std::string_view entry,
                          const std::array<std::uint32_t, 3>& workgroup) {
    constexpr std::string_view kWhole = "Fix: pass a whole module of little-endian words";
    if (code.size() < kHeaderWords || code[0] != kMagic)
        return refused("does not begin with SPIR-V's magic number", kWhole);
    std::string names;
    std::uint32_t function = 0;  // 0 is not a valid id
    std::uint32_t last = 0;
    bool defined = false;
    for (std::size_t at = kHeaderWords; at < code.size();) {
        const std::uint32_t words = code[at] >> 16U;
        const std::uint32_t opcode = code[at] & 0xffffU;
        // quirk lavapipe-truncated-module.
        if (words == 0 || words > code.size() - at)
            return refused("is cut off at word " + std::to_string(at), kWhole);
        const auto operands = code.subspan(at + 1, words - 1);
        if (opcode == kOpEntryPoint && words >= 4 && operands[0] == kExecutionModelGLCompute) {
            const std::string name = string_at(operands.subspan(2));
            if (name == entry) function = operands[1];
            names += (names.empty() ? "`" : ", `") + name + "`";
        }
        if (opcode == kOpExecutionMode && words == 6 && function != 0 && operands[0] == function &&
            operands[1] == kExecutionModeLocalSize) {
            // Modules with subgroups put all invocations of a workgroup on the x axis, so only the
            // number of invocations is compared.
            const auto size = operands.subspan(2);
            if (invocations(size) != invocations(workgroup))
                return refused("has workgroups of " + size_text(size) + ", and the artifact says " +
                                   size_text(workgroup),
                               "Fix: give the program and the module one workgroup size");
        }
        if (opcode == kOpFunction && words == 5 && function != 0 && operands[1] == function)
            defined = true;
        last = opcode;
        at += words;
    }
    if (function == 0)
        return refused("has no compute entry point `" + std::string(entry) + "`; it has " +
                           (names.empty() ? "none" : names),
                       "Fix: name an entry point that the module has");
    if (!defined || last != kOpFunctionEnd)
        return refused("ends before the function of its entry point does", kWhole);
    return {};
}

}  // namespace wye::vulkan
