// SPDX-License-Identifier: Apache-2.0
#include "vulkan/resources/registered.hpp"

#include "vulkan/status.hpp"

namespace wye::vulkan {

namespace {

// The memory type for importing application memory, which the host must still be able to access
// like any other memory.
Result<std::uint32_t> imported_type(Device& device, const wye_buffer_desc& desc,
                                    std::uint32_t allowed) {
    auto pointer = make<VkMemoryHostPointerPropertiesEXT>(
        VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT);
    const VkResult result = device.vk().vkGetMemoryHostPointerPropertiesEXT(
        device.handle(), VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, desc.memory,
        &pointer);
    if (result != VK_SUCCESS)
        return device.failed(result, "vkGetMemoryHostPointerPropertiesEXT",
                             sdk::from_abi(desc.label));
    const auto type =
        choose_memory_type(device.info.memory, pointer.memoryTypeBits & allowed, Placement::Host);
    if (!type) return sdk::errors::not_registrable(device.info.name);
    return *type;
}

}  // namespace

Result<std::unique_ptr<Buffer>> register_memory(Device& device, const wye_buffer_desc& desc) {
    const DeviceTable& vk = device.vk();
    const std::string_view label = sdk::from_abi(desc.label);
    constexpr auto kHandle = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    auto out = std::make_unique<Buffer>();
    out->device = device.info.name;
    out->size = out->capacity = desc.size;
    out->serial = device.next_serial.fetch_add(1);

    auto external = make<VkExternalMemoryBufferCreateInfo>(
        VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    external.handleTypes = kHandle;
    VkBufferCreateInfo info = device.context().describe_buffer(desc.size);
    info.pNext = &external;
    VkBuffer object = VK_NULL_HANDLE;
    VkResult result = vk.vkCreateBuffer(device.handle(), &info, nullptr, &object);
    if (result != VK_SUCCESS) return device.failed(result, "vkCreateBuffer", label);
    out->object = BufferHandle(device.context(), object);
    out->used = object;

    VkMemoryRequirements needs{};
    vk.vkGetBufferMemoryRequirements(device.handle(), object, &needs);
    if (needs.size > desc.size) return sdk::errors::not_registrable(device.info.name);
    WYE_ASSIGN(const std::uint32_t type, imported_type(device, desc, needs.memoryTypeBits));
    WYE_ASSIGN(out->ticket, AllocationTicket::take(device, label));
    auto import = make<VkImportMemoryHostPointerInfoEXT>(
        VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
    import.handleType = kHandle;
    import.pHostPointer = desc.memory;
    auto allocate = make<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    allocate.pNext = &import;
    allocate.allocationSize = desc.size;
    allocate.memoryTypeIndex = type;
    VkDeviceMemory bytes = VK_NULL_HANDLE;
    result = vk.vkAllocateMemory(device.handle(), &allocate, nullptr, &bytes);
    if (result != VK_SUCCESS)
        return device.failed(
            result, "importing " + std::to_string(desc.size) + " bytes of host memory", label);
    out->memory = MemoryHandle(device.context(), bytes);
    result = vk.vkBindBufferMemory(device.handle(), object, bytes, 0);
    if (result != VK_SUCCESS) return device.failed(result, "vkBindBufferMemory", label);
    out->mapped = static_cast<std::byte*>(desc.memory);
    out->host_reads_fast = true;
    return out;
}

}  // namespace wye::vulkan
