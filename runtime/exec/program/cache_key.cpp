// SPDX-License-Identifier: Apache-2.0
#include "exec/program/cache_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <type_traits>

#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

// Puts a text of a plugin or program on one line, so that the text cannot forge another line.
std::string line(std::string_view name, std::string_view value) {
    std::string out = fmt::format("{}={}\n", name, value);
    std::replace(out.begin(), out.end() - 1, '\n', ' ');
    return out;
}

std::string to_text(const registry::FactValue& value) {
    return std::visit(
        [](const auto& v) -> std::string {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<T, std::string>)
                return v;
            else if constexpr (std::is_arithmetic_v<T>)
                return fmt::format("{}", v);
            else
                return fmt::format("{}", fmt::join(v, ","));
        },
        value);
}

// Whether a fact has no influence on compiled code: a fact that only tells equal devices apart, or
// a profile value.
bool tells_nothing(std::uint32_t key) {
    switch (key) {
        case WYE_FACT_KEY_PCI_ADDRESS:
        case WYE_FACT_KEY_UUID:
        case WYE_FACT_KEY_LUID:
        case WYE_FACT_KEY_RENDER_NODE:
        case WYE_FACT_KEY_MEMORY_BYTES:
            return true;
        default:
            return key >= WYE_FACT_KEY_COMPUTE_UNITS && key < WYE_FACT_KEY_NATIVE_F32_DIV;
    }
}

std::vector<std::byte> with_bytes(const std::string& lines, std::span<const std::byte> bytes) {
    const auto* text = reinterpret_cast<const std::byte*>(lines.data());
    std::vector<std::byte> out(text, text + lines.size());
    out.push_back(std::byte{'\n'});
    out.insert(out.end(), bytes.begin(), bytes.end());
    return out;
}

// Key lines for all members of a Form.
std::string form_lines(const Form& form) {
    static_assert(sizeof(Form) == 40, "the key on disk needs every member");
    return line("workgroup", fmt::format("{}", fmt::join(form.workgroup, ","))) +
           line("folded", form.folded ? "1" : "0") +
           line("check-free", form.check_free ? "1" : "0") +
           line("variant", form.variant == ir::kNone ? "none" : fmt::format("{}", form.variant)) +
           line("natives", fmt::format("{:x}", form.natives)) +
           line("profile", fmt::format("{:x}", form.profile));
}

}  // namespace

std::uint64_t hash_of_profile(wye_string profile) noexcept {
    if (profile.data == nullptr) return 0;
    const std::uint64_t hash = XXH3_64bits(profile.data, static_cast<std::size_t>(profile.size));
    return hash == 0 ? 1 : hash;
}

std::string device_lines(const registry::DeviceInfo& info, const lower::TargetFacts& target) {
    std::string out = line("device", info.name);
    for (const auto& [key, fact] : info.facts.all()) {
        if (tells_nothing(key)) continue;
        const auto infos = registry::fact_infos();
        const auto named = std::ranges::find(infos, key, &registry::FactInfo::key);
        out += line(named == infos.end() ? std::to_string(key) : std::string(named->name),
                    to_text(fact.value));
    }
    out += line("stack", fmt::format("{}", target.stack_bytes));
    out += line("quirks", fmt::format("{}", fmt::join(target.quirks.names(), ",")));
    return out;
}

std::vector<std::byte> program_key(const std::string& build, const registry::NativeDevice& device,
                                   const std::string& lines, std::string_view format,
                                   std::string_view name, const Form& form,
                                   const Encoding& encoding) {
    return with_bytes(line("kind", "program") + line("program", name) + line("format", format) +
                          line("build", build) + line("plugin", device.plugin_identity()) +
                          form_lines(form) + lines,
                      *encoding);
}

std::vector<std::byte> translation_key(const std::string& build, const std::string& translator,
                                       std::string_view target, const wye_artifact& artifact,
                                       std::string_view format) {
    return with_bytes(line("kind", "translation") + line("program", sdk::from_abi(artifact.label)) +
                          line("format", format) + line("build", build) +
                          line("plugin", translator) +
                          line("from", sdk::from_abi(artifact.format)) +
                          line("options", sdk::from_abi(artifact.options)) + std::string(target),
                      {static_cast<const std::byte*>(artifact.code.data), artifact.code.size});
}

}  // namespace wye::exec
