// SPDX-License-Identifier: Apache-2.0
#include "vulkan_driver.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace wye::bench::vulkan {

Device::~Device() {
    if (device != VK_NULL_HANDLE) vkDestroyDevice(device, nullptr);
    if (instance != VK_NULL_HANDLE) vkDestroyInstance(instance, nullptr);
}

Result<void> Device::open(const std::string& name, bool kernels) {
    const auto absent = [](std::string what) {
        return Error(Code::MISSING_DEPENDENCY, std::move(what), "Fix: install a Vulkan driver",
                     "libvulkan.so.1");
    };
    void* const library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return absent("libvulkan.so.1 cannot be opened");
    const auto get =
        reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
    if (get == nullptr) return absent("libvulkan.so.1 has no function vkGetInstanceProcAddr");
    const auto create =
        reinterpret_cast<PFN_vkCreateInstance>(get(VK_NULL_HANDLE, "vkCreateInstance"));
    auto application = made<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.apiVersion = VK_API_VERSION_1_2;
    auto info = made<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    info.pApplicationInfo = &application;
    if (create == nullptr || create(&info, nullptr, &instance) != VK_SUCCESS)
        return absent("Vulkan has no driver");
#define WYE_BENCH_FIND(name) name = reinterpret_cast<PFN_##name>(get(instance, #name));
    WYE_BENCH_INSTANCE_CALLS(WYE_BENCH_FIND)
#undef WYE_BENCH_FIND
    WYE_TRY(find(name));
    return start(kernels);
}

Result<void> Device::find(const std::string& name) {
    std::uint32_t count = 0;
    TRY_VK(vkEnumeratePhysicalDevices(instance, &count, nullptr));
    std::vector<VkPhysicalDevice> devices(count);
    TRY_VK(vkEnumeratePhysicalDevices(instance, &count, devices.data()));
    for (VkPhysicalDevice one : devices) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(one, &properties);
        if (name != properties.deviceName) continue;
        if (properties.apiVersion < VK_API_VERSION_1_2)
            return Error(Code::UNSUPPORTED, "`" + name + "` has no Vulkan 1.2",
                         "Fix: update its driver", name);
        physical = one;
        vkGetPhysicalDeviceMemoryProperties(physical, &memory);
        return {};
    }
    return Error(Code::NO_DEVICE, "Vulkan has no device named `" + name + "`",
                 "Fix: see `wye info --list`", name);
}

Result<void> Device::start(bool kernels) {
    std::uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> known(count);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, known.data());
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::uint32_t computes = kNone, only_computes = kNone, only_copies = kNone;
    for (std::uint32_t i = 0; i < count; ++i) {
        const VkQueueFlags flags = known[i].queueFlags;
        const bool compute = (flags & VK_QUEUE_COMPUTE_BIT) != 0;
        const bool draws = (flags & VK_QUEUE_GRAPHICS_BIT) != 0;
        if (compute && computes == kNone) computes = i;
        if (compute && !draws && only_computes == kNone) only_computes = i;
        if (!compute && !draws && (flags & VK_QUEUE_TRANSFER_BIT) != 0 && only_copies == kNone)
            only_copies = i;
    }
    if (computes == kNone)
        return Error(Code::UNSUPPORTED, "no queue family computes", "Fix: use another device");
    constexpr std::array<float, 8> kPriorities = {1, 1, 1, 1, 1, 1, 1, 1};
    std::vector<VkDeviceQueueCreateInfo> queues;
    const auto add = [&](std::uint32_t family, std::uint32_t most) {
        auto info = made<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
        info.queueFamilyIndex = family;
        info.queueCount = std::min(most, known[family].queueCount);
        info.pQueuePriorities = kPriorities.data();
        queues.push_back(info);
        families.push_back(family);
    };
    add(computes, 1);
    if (kernels || only_computes == computes) only_computes = kNone;
    if (kernels) only_copies = kNone;
    if (only_computes != kNone) add(only_computes, 1);
    if (only_copies != kNone) add(only_copies, kPriorities.size());
    auto newer = made<VkPhysicalDeviceVulkan12Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    auto features = made<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    features.pNext = &newer;
    if (kernels) vkGetPhysicalDeviceFeatures2(physical, &features);
    features.features.robustBufferAccess = VK_FALSE;
    newer.timelineSemaphore = VK_TRUE;
    auto info = made<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.pNext = &features;
    info.queueCreateInfoCount = static_cast<std::uint32_t>(queues.size());
    info.pQueueCreateInfos = queues.data();
    TRY_VK(vkCreateDevice(physical, &info, nullptr, &device));
#define WYE_BENCH_FIND(name) \
    name = reinterpret_cast<PFN_##name>(vkGetDeviceProcAddr(device, #name));
    WYE_BENCH_DEVICE_CALLS(WYE_BENCH_FIND)
#undef WYE_BENCH_FIND
    const auto get = [&](Queue& queue, std::uint32_t family, std::uint32_t index) {
        queue.family = family;
        vkGetDeviceQueue(device, family, index, &queue.queue);
    };
    get(first, computes, 0);
    if (only_computes != kNone) get(compute_only.emplace(), only_computes, 0);
    if (only_copies != kNone)
        for (std::uint32_t i = 0; i < queues.back().queueCount; ++i)
            get(*copies.emplace_back(std::make_unique<Queue>()), only_copies, i);
    return {};
}

Memory::~Memory() {
    if (buffer != VK_NULL_HANDLE) device_.vkDestroyBuffer(device_.device, buffer, nullptr);
    if (memory_ != VK_NULL_HANDLE) device_.vkFreeMemory(device_.device, memory_, nullptr);
}

Result<void> Memory::on_device(std::uint64_t bytes) {
    return make(bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
}

Result<void> Memory::on_host(std::uint64_t bytes) {
    constexpr VkMemoryPropertyFlags kHost =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    if (!make(bytes, kHost | VK_MEMORY_PROPERTY_HOST_CACHED_BIT).ok()) WYE_TRY(make(bytes, kHost));
    void* mapped = nullptr;
    TRY_VK(device_.vkMapMemory(device_.device, memory_, 0, VK_WHOLE_SIZE, 0, &mapped));
    host = static_cast<std::byte*>(mapped);
    return {};
}

Result<void> Memory::make(std::uint64_t bytes, VkMemoryPropertyFlags flags) {
    auto info = made<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if (device_.families.size() > 1) {
        info.sharingMode = VK_SHARING_MODE_CONCURRENT;
        info.queueFamilyIndexCount = static_cast<std::uint32_t>(device_.families.size());
        info.pQueueFamilyIndices = device_.families.data();
    }
    if (buffer == VK_NULL_HANDLE)
        TRY_VK(device_.vkCreateBuffer(device_.device, &info, nullptr, &buffer));
    VkMemoryRequirements needs;
    device_.vkGetBufferMemoryRequirements(device_.device, buffer, &needs);
    auto grant = made<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    grant.allocationSize = needs.size;
    VkResult status = VK_ERROR_FEATURE_NOT_PRESENT;
    for (std::uint32_t i = 0; i < device_.memory.memoryTypeCount && status != VK_SUCCESS; ++i) {
        if ((needs.memoryTypeBits >> i & 1U) == 0 ||
            (device_.memory.memoryTypes[i].propertyFlags & flags) != flags)
            continue;
        grant.memoryTypeIndex = i;
        status = device_.vkAllocateMemory(device_.device, &grant, nullptr, &memory_);
    }
    if (status != VK_SUCCESS) return failed(status, "vkAllocateMemory");
    TRY_VK(device_.vkBindBufferMemory(device_.device, buffer, memory_, 0));
    return {};
}

Kernel::~Kernel() {
    device_.vkDestroyDescriptorPool(device_.device, pool_, nullptr);
    device_.vkDestroyPipeline(device_.device, pipeline_, nullptr);
    device_.vkDestroyPipelineLayout(device_.device, layout_, nullptr);
    device_.vkDestroyDescriptorSetLayout(device_.device, sets_, nullptr);
}

Result<void> Kernel::open(std::span<const std::uint32_t> words, std::uint32_t buffers,
                          std::uint32_t push_bytes) {
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (std::uint32_t i = 0; i < buffers; ++i)
        bindings.push_back(
            {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
    auto sets =
        made<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    sets.bindingCount = buffers;
    sets.pBindings = bindings.data();
    TRY_VK(device_.vkCreateDescriptorSetLayout(device_.device, &sets, nullptr, &sets_));
    const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes};
    auto layout = made<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &sets_;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &push;
    TRY_VK(device_.vkCreatePipelineLayout(device_.device, &layout, nullptr, &layout_));
    auto code = made<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    code.codeSize = words.size_bytes();
    code.pCode = words.data();
    auto pipeline =
        made<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    pipeline.stage =
        made<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
    pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    pipeline.stage.pName = "main";
    pipeline.layout = layout_;
    TRY_VK(device_.vkCreateShaderModule(device_.device, &code, nullptr, &pipeline.stage.module));
    const VkResult status = device_.vkCreateComputePipelines(device_.device, VK_NULL_HANDLE, 1,
                                                             &pipeline, nullptr, &pipeline_);
    device_.vkDestroyShaderModule(device_.device, pipeline.stage.module, nullptr);
    if (status != VK_SUCCESS) return failed(status, "vkCreateComputePipelines");
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers * kSets};
    auto pool = made<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    pool.maxSets = kSets;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    TRY_VK(device_.vkCreateDescriptorPool(device_.device, &pool, nullptr, &pool_));
    return {};
}

Result<VkDescriptorSet> Kernel::bind(std::span<const VkBuffer> buffers) {
    auto sets = made<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    sets.descriptorPool = pool_;
    sets.descriptorSetCount = 1;
    sets.pSetLayouts = &sets_;
    VkDescriptorSet set = VK_NULL_HANDLE;
    TRY_VK(device_.vkAllocateDescriptorSets(device_.device, &sets, &set));
    bind_again(set, buffers);
    return set;
}

void Kernel::bind_again(VkDescriptorSet set, std::span<const VkBuffer> buffers) const {
    std::vector<VkDescriptorBufferInfo> infos;
    for (VkBuffer buffer : buffers) infos.push_back({buffer, 0, VK_WHOLE_SIZE});
    auto write = made<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
    write.dstSet = set;
    write.descriptorCount = static_cast<std::uint32_t>(infos.size());
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = infos.data();
    device_.vkUpdateDescriptorSets(device_.device, 1, &write, 0, nullptr);
}

void Kernel::dispatch(VkCommandBuffer to, VkDescriptorSet set, std::uint32_t count,
                      std::uint32_t groups) const {
    constexpr std::uint32_t kRow = 32768;
    dispatch(to, set, {&count, 1}, {std::min(groups, kRow), (groups + kRow - 1) / kRow, 1});
}

void Kernel::dispatch(VkCommandBuffer to, VkDescriptorSet set, std::span<const std::uint32_t> push,
                      std::array<std::uint32_t, 3> groups) const {
    device_.vkCmdBindPipeline(to, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    device_.vkCmdBindDescriptorSets(to, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set, 0,
                                    nullptr);
    device_.vkCmdPushConstants(to, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                               static_cast<std::uint32_t>(push.size_bytes()), push.data());
    device_.vkCmdDispatch(to, groups[0], groups[1], groups[2]);
}

Commands::~Commands() {
    if (pool_ == VK_NULL_HANDLE) return;
    (void)wait();
    device_.vkDestroyFence(device_.device, fence_, nullptr);
    device_.vkDestroyCommandPool(device_.device, pool_, nullptr);
}

Result<void> Commands::open(Queue& queue) {
    queue_ = &queue;
    auto pool = made<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = queue.family;
    TRY_VK(device_.vkCreateCommandPool(device_.device, &pool, nullptr, &pool_));
    auto info = made<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = pool_;
    info.commandBufferCount = 1;
    TRY_VK(device_.vkAllocateCommandBuffers(device_.device, &info, &buffer_));
    const auto fence = made<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
    TRY_VK(device_.vkCreateFence(device_.device, &fence, nullptr, &fence_));
    return {};
}

void barrier(const Device& device, VkCommandBuffer to, VkPipelineStageFlags from,
             VkAccessFlags written, VkPipelineStageFlags until, VkAccessFlags read) {
    auto all = made<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    all.srcAccessMask = written;
    all.dstAccessMask = read;
    device.vkCmdPipelineBarrier(to, from, until, 0, 1, &all, 0, nullptr, 0, nullptr);
}

}  // namespace wye::bench::vulkan
