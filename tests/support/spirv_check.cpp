// SPDX-License-Identifier: Apache-2.0
#include "support/spirv_check.hpp"

#include <spirv-tools/libspirv.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace support {
namespace {

struct Destroy {
    void operator()(spv_context c) const { spvContextDestroy(c); }
    void operator()(spv_diagnostic d) const { spvDiagnosticDestroy(d); }
    void operator()(spv_text t) const { spvTextDestroy(t); }
};
template <typename T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, Destroy>;

std::vector<std::uint32_t> words_of(std::span<const std::byte> module) {
    std::vector<std::uint32_t> words(module.size() / 4);
    std::memcpy(words.data(), module.data(), words.size() * 4);
    return words;
}

}  // namespace

std::string spirv_complaint(std::span<const std::byte> module) {
    if (module.size() % 4 != 0) return "not a whole number of words";
    const Owned<spv_context> context(spvContextCreate(SPV_ENV_VULKAN_1_1));
    const std::vector<std::uint32_t> words = words_of(module);
    spv_diagnostic raw = nullptr;
    const spv_result_t result = spvValidateBinary(context.get(), words.data(), words.size(), &raw);
    const Owned<spv_diagnostic> diagnostic(raw);
    if (result == SPV_SUCCESS) return {};
    return diagnostic ? diagnostic->error : "code " + std::to_string(result);
}

std::string spirv_text(std::span<const std::byte> module) {
    const Owned<spv_context> context(spvContextCreate(SPV_ENV_VULKAN_1_1));
    const std::vector<std::uint32_t> words = words_of(module);
    spv_text raw = nullptr;
    const std::uint32_t options = SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES |
                                  SPV_BINARY_TO_TEXT_OPTION_NO_HEADER |
                                  SPV_BINARY_TO_TEXT_OPTION_INDENT;
    if (spvBinaryToText(context.get(), words.data(), words.size(), options, &raw, nullptr) !=
        SPV_SUCCESS)
        return {};
    const Owned<spv_text> text(raw);
    return {text->str, text->length};
}

}  // namespace support
