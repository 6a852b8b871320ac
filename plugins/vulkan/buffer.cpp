// SPDX-License-Identifier: Apache-2.0
#include "vulkan/buffer.hpp"

#include <algorithm>

#include "vulkan/resources/registered.hpp"
#include "vulkan/status.hpp"

namespace wye::vulkan {
namespace {

// Extends `why` to "WHY; N of M bytes are free".
Error no_memory(Device& device, std::uint64_t size, std::string_view label, std::string why) {
    const sdk::MemoryState state = device.memory().value();
    why += state.free == UINT64_MAX
               ? "; the device has " + std::to_string(state.total) + " bytes in all"
               : "; " + std::to_string(state.free) + " of " + std::to_string(state.total) +
                     " bytes are free";
    Error error = device.failed(VK_ERROR_OUT_OF_DEVICE_MEMORY, "vkAllocateMemory", label);
    return sdk::errors::no_memory(std::move(error), size, device.info.name, why);
}

}  // namespace

Result<AllocationTicket> AllocationTicket::take(Device& device, std::string_view label) {
    const std::uint32_t most = device.info.properties.core.limits.maxMemoryAllocationCount;
    if (device.allocations.fetch_add(1) < most) return AllocationTicket(device.allocations);
    device.allocations.fetch_sub(1);
    return Error(Code::LIMIT_EXCEEDED,
                 "`" + device.info.name + "` holds no more than " + std::to_string(most) +
                     " allocations (maxMemoryAllocationCount), and all of them are in use",
                 "Fix: free buffers, or use fewer and larger ones",
                 std::string(label.empty() ? std::string_view(device.info.name) : label));
}

Result<std::unique_ptr<Buffer>> Buffer::create(Device& device, const wye_buffer_desc& desc) {
    if (desc.usage == WYE_BUFFER_USAGE_REGISTERED) return register_memory(device, desc);
    static constexpr Placement kPlacements[] = {Placement::Device, Placement::Upload,
                                                Placement::Host, Placement::Host, Placement::Host};
    return create(device, desc.size, sdk::from_abi(desc.label), kPlacements[desc.usage]);
}

Result<std::unique_ptr<Buffer>> Buffer::adopt(Device& device, const wye_buffer_desc& desc) {
    constexpr std::string_view kType = "VkBuffer";
    WYE_ASSIGN(const auto memory, sdk::native_value_as<VkBuffer>(desc, kType, device.info.name));
    const auto owner = sdk::native_value_as<VkDevice>(desc, "VkDevice", device.info.name);
    if (owner.ok() && *owner != device.handle())
        return sdk::native_of_other(desc, kType, device.info.name);
    if (desc.size % 4 != 0)
        return sdk::native_unfit(
            desc, kType, std::to_string(desc.size) + " bytes are not whole words of 4 bytes",
            "adopt a multiple of 4 bytes");
    VkMemoryRequirements needs{};
    device.vk().vkGetBufferMemoryRequirements(device.handle(), memory, &needs);
    WYE_TRY(sdk::check_native(desc, needs.size));
    auto out = std::make_unique<Buffer>();
    out->device = device.info.name;
    out->used = memory;
    out->size = out->capacity = desc.size;
    out->serial = device.next_serial.fetch_add(1);
    return out;
}

Result<sdk::Mapping> Buffer::map() const {
    if (mapped == nullptr) return sdk::errors::not_mappable(std::string(device));
    return sdk::Mapping{mapped, host_reads_fast};
}

Result<std::unique_ptr<Buffer>> Buffer::create(Device& device, std::uint64_t size,
                                               std::string_view label, Placement placement) {
    const DeviceTable& vk = device.vk();
    const Properties& properties = device.info.properties;
    std::uint64_t most = properties.maintenance3.maxMemoryAllocationSize;
    if (properties.maintenance4.maxBufferSize != 0)
        most = std::min(most, properties.maintenance4.maxBufferSize);
    most = most / 4 * 4;  // the capacity is in whole words
    if (size > most || most < kLeastBytes)
        return no_memory(device, size, label,
                         "the driver gives no more than " + std::to_string(most) + " at once");
    auto out = std::make_unique<Buffer>();
    out->device = device.info.name;
    out->size = size;
    out->capacity = std::max((size + 3) / 4 * 4, kLeastBytes);
    out->serial = device.next_serial.fetch_add(1);

    const VkBufferCreateInfo info = device.context().describe_buffer(
        out->capacity, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
    VkBuffer object = VK_NULL_HANDLE;
    VkResult result = vk.vkCreateBuffer(device.handle(), &info, nullptr, &object);
    if (result != VK_SUCCESS)
        return device.failed(result, "vkCreateBuffer of " + std::to_string(size) + " bytes", label);
    out->object = BufferHandle(device.context(), object);
    out->used = object;

    VkMemoryRequirements needs{};
    vk.vkGetBufferMemoryRequirements(device.handle(), object, &needs);
    const VkPhysicalDeviceMemoryProperties& memory = device.info.memory;
    const auto type = choose_memory_type(memory, needs.memoryTypeBits, placement);
    if (!type)
        return Error(Code::DRIVER, "the driver has no memory that a storage buffer may use",
                     "Fix: update the Vulkan driver, or use another device", device.info.name);
    const VkMemoryType& chosen = memory.memoryTypes[*type];
    const std::uint64_t heap = memory.memoryHeaps[chosen.heapIndex].size;
    if (needs.size > heap)
        return no_memory(device, size, label,
                         "its memory heap has " + std::to_string(heap) + " bytes");
    WYE_ASSIGN(out->ticket, AllocationTicket::take(device, label));
    auto allocate = make<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    allocate.allocationSize = needs.size;
    allocate.memoryTypeIndex = *type;
    VkDeviceMemory bytes = VK_NULL_HANDLE;
    result = vk.vkAllocateMemory(device.handle(), &allocate, nullptr, &bytes);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
        return no_memory(device, size, label, "VK_ERROR_OUT_OF_DEVICE_MEMORY (-2)");
    if (result != VK_SUCCESS)
        return device.failed(result, "vkAllocateMemory of " + std::to_string(size) + " bytes",
                             label);
    out->memory = MemoryHandle(device.context(), bytes);
    result = vk.vkBindBufferMemory(device.handle(), object, bytes, 0);
    if (result != VK_SUCCESS) return device.failed(result, "vkBindBufferMemory", label);

    constexpr VkMemoryPropertyFlags kMapped =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    if ((chosen.propertyFlags & kMapped) != kMapped) return out;
    void* address = nullptr;  // mapped until the memory is freed
    result = vk.vkMapMemory(device.handle(), bytes, 0, VK_WHOLE_SIZE, 0, &address);
    if (result != VK_SUCCESS) return device.failed(result, "vkMapMemory", label);
    out->mapped = static_cast<std::byte*>(address);
    out->host_reads_fast = (chosen.propertyFlags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
    return out;
}

}  // namespace wye::vulkan
