// SPDX-License-Identifier: Apache-2.0
#include "vulkan/resources/saved.hpp"

#include <cstring>

namespace wye::vulkan {
namespace {

struct SavedHeader {
    char magic[8];
    std::uint64_t checksum;
};
constexpr char kSavedMagic[8] = {'W', 'Y', 'E', 'V', 'K', 'P', '1', '\n'};

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) {
    std::uint64_t out = 0xcbf29ce484222325U;
    for (const std::byte byte : bytes)
        out = (out ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
    return out;
}

std::vector<std::byte> pack_saved(std::span<const std::byte> cache) {
    SavedHeader header{};
    std::memcpy(header.magic, kSavedMagic, sizeof kSavedMagic);
    header.checksum = checksum(cache);
    std::vector<std::byte> out(sizeof header + cache.size());
    std::memcpy(out.data(), &header, sizeof header);
    if (!cache.empty()) std::memcpy(out.data() + sizeof header, cache.data(), cache.size());
    return out;
}

Result<std::span<const std::byte>> unpack_saved(wye_bytes saved,
                                                const VkPhysicalDeviceProperties& device,
                                                std::string_view label) {
    const auto other = [&](std::string_view why) {
        return Error(Code::UNSUPPORTED,
                     "the saved form of program `" + std::string(label) + "` " + std::string(why),
                     "Fix: none needed, the program is compiled again", std::string(label));
    };
    const std::span all(static_cast<const std::byte*>(saved.data), saved.size);
    SavedHeader header{};
    if (all.size() < sizeof header) return other("is cut off");
    std::memcpy(&header, all.data(), sizeof header);
    const auto cache = all.subspan(sizeof header);
    if (std::memcmp(header.magic, kSavedMagic, sizeof kSavedMagic) != 0)
        return other("is something else");
    if (header.checksum != checksum(cache)) return other("is damaged");
    VkPipelineCacheHeaderVersionOne driver{};
    if (cache.size() < sizeof driver) return other("is cut off");
    std::memcpy(&driver, cache.data(), sizeof driver);
    if (driver.headerVersion != VK_PIPELINE_CACHE_HEADER_VERSION_ONE ||
        driver.vendorID != device.vendorID || driver.deviceID != device.deviceID ||
        std::memcmp(driver.pipelineCacheUUID, device.pipelineCacheUUID, VK_UUID_SIZE) != 0)
        return other("was made by another driver or device");
    return cache;
}

}  // namespace wye::vulkan
