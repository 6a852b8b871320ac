// SPDX-License-Identifier: Apache-2.0
#include "vulkan/resources/layouts.hpp"

#include <vector>

#include "vulkan/device.hpp"

namespace wye::vulkan {

Result<const Layouts::Layout*> Layouts::find(Device& device, const LayoutShape& needed) {
    const LayoutShape shape = served_by(needed, device.info.properties.core.limits);
    const sdk::Lock lock(mutex_);
    if (const auto found = made_.find(shape); found != made_.end()) {
        ++shared_;
        return &found->second;
    }
    const DeviceTable& vk = device.vk();
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (std::uint32_t b = 0; b < shape.descriptors; ++b)
        bindings.push_back(
            {b, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
    auto set =
        make<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    set.bindingCount = shape.descriptors;
    set.pBindings = bindings.data();
    const std::vector<VkDescriptorBindingFlags> each(shape.descriptors,
                                                     VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT);
    auto flags = make<VkDescriptorSetLayoutBindingFlagsCreateInfo>(
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO);
    flags.bindingCount = shape.descriptors;
    flags.pBindingFlags = each.data();
    if (device.info.rewrites_descriptors()) {
        set.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT;
        set.pNext = &flags;
    }
    VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
    VkResult result = vk.vkCreateDescriptorSetLayout(device.handle(), &set, nullptr, &set_layout);
    WYE_TRY(device.check(result, "vkCreateDescriptorSetLayout"));
    Layout out;
    out.descriptors = shape.descriptors;
    out.set = SetLayoutHandle(device.context(), set_layout);

    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, shape.push_bytes};
    auto info = make<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    info.setLayoutCount = 1;
    info.pSetLayouts = &set_layout;
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &range;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    result = vk.vkCreatePipelineLayout(device.handle(), &info, nullptr, &layout);
    WYE_TRY(device.check(result, "vkCreatePipelineLayout"));
    out.pipeline = PipelineLayoutHandle(device.context(), layout);
    return &made_.emplace(shape, std::move(out)).first->second;
}

}  // namespace wye::vulkan
