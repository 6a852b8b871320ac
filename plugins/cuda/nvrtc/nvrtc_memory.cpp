// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvrtc/nvrtc_memory.hpp"

#include <algorithm>

#include "wye/sdk/kept_text.hpp"
#include "wye/sdk/numbers.hpp"
#include "wye/sdk/words.hpp"

namespace wye::cuda {
namespace {

constexpr std::string_view kKind = "cuda-nvrtc";

std::string key_of(const std::vector<std::string>& libraries) {
    std::string key("plugin=" WYE_PLUGIN_VERSION);
    for (const std::string& library : libraries) key += "\nlibrary=" + library;
    return key;
}

}  // namespace

std::optional<NvrtcFacts> recall_nvrtc(const std::string& folder,
                                       const std::vector<std::string>& libraries) {
    if (folder.empty()) return std::nullopt;
    const auto text = sdk::read_kept(folder, kKind, key_of(libraries));
    if (!text) return std::nullopt;
    const auto lines = sdk::split(*text, "\n");
    if (lines.size() != 3 || !text->ends_with('\n')) return std::nullopt;
    NvrtcFacts out;
    out.version = lines[0];
    out.file = lines[1];
    for (std::string_view rest = lines[2]; !rest.empty();) {
        if (!sdk::take_number(rest, out.architectures.emplace_back())) return std::nullopt;
        if (!rest.empty()) rest.remove_prefix(1);
    }
    const std::string path = out.file.substr(0, out.file.find(' '));
    if (out.file.empty() || file_stamp(path) != out.file) return std::nullopt;
    return out;
}

void remember_nvrtc(const std::string& folder, const std::vector<std::string>& libraries,
                    const NvrtcFacts& facts) {
    // The format cannot store a path with a space.
    if (folder.empty() || std::ranges::count(facts.file, ' ') != 2) return;
    std::string body = facts.version + "\n" + facts.file + "\n";
    for (std::size_t i = 0; i < facts.architectures.size(); ++i)
        body += (i == 0 ? "" : " ") + std::to_string(facts.architectures[i]);
    // If this fails, the next process opens NVRTC itself.
    (void)sdk::keep_text(folder, kKind, key_of(libraries), body + "\n");
}

}  // namespace wye::cuda
