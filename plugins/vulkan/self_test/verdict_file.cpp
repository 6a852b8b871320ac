// SPDX-License-Identifier: Apache-2.0
#include "vulkan/self_test/verdict_file.hpp"

#include "wye/sdk/kept_text.hpp"

namespace wye::vulkan {
namespace {

constexpr std::string_view kKind = "vulkan-self-test";

// The vector extension that a CPU driver compiles for. It is part of the key, since different
// machines may share a cache folder.
std::string_view host_vectors() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") != 0) return "avx512f";
    if (__builtin_cpu_supports("avx2") != 0) return "avx2";
    if (__builtin_cpu_supports("avx") != 0) return "avx";
#endif
    return "none";
}

}  // namespace

std::string verdict_key(const DeviceInfo& device) {
    const VkPhysicalDeviceProperties& core = device.properties.core;
    std::string out = "uuid=";
    for (const std::uint8_t byte : core.pipelineCacheUUID) {
        out += "0123456789abcdef"[byte >> 4U];
        out += "0123456789abcdef"[byte & 15U];
    }
    if (device.kind == "cpu") out += " vectors=" + std::string(host_vectors());
    // quirk lavapipe-same-uuid: so names and the driver's text are included.
    return out + " vendor=" + std::to_string(core.vendorID) +
           " device=" + std::to_string(core.deviceID) +
           " driver=" + std::to_string(core.driverVersion) +
           " api=" + std::to_string(core.apiVersion) + " plugin=" WYE_PLUGIN_VERSION " on " +
           device.platform + " " + device.driver + ", " + device.name;
}

std::string verdict_text(const Verdict& verdict) {
    std::string out;
    visit(
        verdict,
        [&](const char* name, bool flag) { out += std::string(name) + (flag ? " 1\n" : " 0\n"); },
        [&](const char* name, std::uint64_t number) {
            out += std::string(name) + " " + std::to_string(number) + "\n";
        });
    return out;
}

std::optional<Verdict> verdict_of(const std::string& text) {
    Verdict out;
    std::string_view rest = text;
    bool good = true;
    const auto expect = [&](std::string_view part) {
        good = good && rest.substr(0, part.size()) == part;
        if (good) rest.remove_prefix(part.size());
    };
    const auto number = [&](const char* name, std::uint64_t most) {
        expect(name);
        expect(" ");
        std::uint64_t value = 0;
        std::size_t digits = 0;
        for (; good && digits < rest.size() && digits < 12 && rest[digits] >= '0' &&
               rest[digits] <= '9';
             ++digits)
            value = value * 10 + static_cast<std::uint64_t>(rest[digits] - '0');
        good = good && digits != 0 && value <= most;
        if (good) rest.remove_prefix(digits);
        expect("\n");
        return value;
    };
    visit(
        out, [&](const char* name, bool& flag) { flag = number(name, 1) == 1; },
        [&](const char* name, std::uint64_t& value) { value = number(name, UINT32_MAX); });
    if (!good || !rest.empty()) return std::nullopt;
    out.ran = true;
    return out;
}

std::optional<Verdict> load_verdict(const std::string& folder, const std::string& key) {
    const auto text = sdk::read_kept(folder, kKind, key);
    return text ? verdict_of(*text) : std::nullopt;
}

Result<void> save_verdict(const std::string& folder, const std::string& key,
                          const Verdict& verdict) {
    auto kept = sdk::keep_text(folder, kKind, key, verdict_text(verdict));
    if (!kept.ok())
        kept.error().message =
            "the verdict of the self-test cannot be kept: " + kept.error().message;
    return kept;
}

void drop_verdict(const std::string& folder, const std::string& key) noexcept {
    sdk::drop_kept(folder, kKind, key);
}

}  // namespace wye::vulkan
