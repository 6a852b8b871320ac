// SPDX-License-Identifier: Apache-2.0
#include "vulkan/program.hpp"

#include <algorithm>
#include <cstring>

#include "vulkan/resources/module.hpp"
#include "vulkan/resources/saved.hpp"
#include "vulkan/status.hpp"

namespace wye::vulkan {
namespace {

constexpr std::uint32_t kGridBytes = 24;

std::uint32_t bytes_in_block(const wye_slot& slot, std::uint32_t params_size) {
    switch (slot.kind) {
        case WYE_SLOT_LENGTH:
        case WYE_SLOT_OPAQUE_ZERO:
            return 8;
        case WYE_SLOT_PARAMS:
            return params_size;
        case WYE_SLOT_GRID:
            return kGridBytes;
        default:
            return 0;
    }
}

}  // namespace

Result<std::unique_ptr<BuiltProgram>> BuiltProgram::build(OpenDevice& device,
                                                          const wye_artifact& artifact,
                                                          wye_bytes saved) {
    if (sdk::from_abi(artifact.format) != WYE_FORMAT_SPIRV)
        return Error(Code::UNSUPPORTED,
                     "the Vulkan plugin takes `" WYE_FORMAT_SPIRV "`, not `" +
                         std::string(sdk::from_abi(artifact.format)) + "`",
                     "Fix: hand it an artifact of a format that the device lists");
    std::unique_ptr<BuiltProgram> built(new BuiltProgram(device));
    built->serial_ = device.next_serial.fetch_add(1);
    built->label_ = std::string(sdk::from_abi(artifact.label));
    if (built->label_.empty()) built->label_ = std::string(sdk::from_abi(artifact.entry));
    WYE_TRY(built->read_slots(artifact));

    auto info = make<VkPipelineCacheCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
    if (saved.size != 0) {
        WYE_ASSIGN(const std::span<const std::byte> data,
                   unpack_saved(saved, device.info.properties.core, built->label_));
        info.initialDataSize = data.size();
        info.pInitialData = data.data();
    }
    VkPipelineCache cache = VK_NULL_HANDLE;
    const VkResult result =
        device.vk().vkCreatePipelineCache(device.handle(), &info, nullptr, &cache);
    if (result != VK_SUCCESS) return device.failed(result, "vkCreatePipelineCache", built->label_);
    built->cache_ = PipelineCache(device.logical, cache);
    WYE_ASSIGN(built->layout_,
               device.layouts.find(
                   device, {built->descriptor_count(), built->push_ ? built->block_bytes_ : 0}));
    WYE_TRY(built->make_pipeline(artifact));
    return built;
}

Result<void> BuiltProgram::read_slots(const wye_artifact& artifact) {
    binding_count_ = artifact.binding_count;
    params_size_ = artifact.params_size;
    access_.assign(binding_count_, 0);
    std::uint32_t end = 0;
    for (std::uint32_t s = 0; s < artifact.slot_count; ++s) {
        const wye_slot& slot = artifact.slots[s];
        const bool names_binding = slot.kind == WYE_SLOT_BUFFER || slot.kind == WYE_SLOT_LENGTH;
        if (names_binding && slot.binding >= binding_count_)
            return Error(Code::INVALID_PROGRAM,
                         "a slot of program `" + label_ + "` names binding " +
                             std::to_string(slot.binding) + " of " + std::to_string(binding_count_),
                         "Fix: give slots bindings below the artifact's binding count", label_);
        switch (slot.kind) {
            case WYE_SLOT_BUFFER:
                access_[slot.binding] |= slot.access != 0 ? slot.access : 3U;
                break;
            case WYE_SLOT_TRAP:
                has_trap_ = true;
                break;
            case WYE_SLOT_LENGTH:
            case WYE_SLOT_PARAMS:
            case WYE_SLOT_GRID:
            case WYE_SLOT_OPAQUE_ZERO:
                block_.push_back(slot);
                has_grid_ = has_grid_ || slot.kind == WYE_SLOT_GRID;
                end = std::max(end, slot.offset + bytes_in_block(slot, params_size_));
                break;
            default:
                return Error(
                    Code::UNSUPPORTED,
                    "the Vulkan plugin does not know slot kind " + std::to_string(slot.kind),
                    "Fix: use a plugin that is as new as the host", label_);
        }
    }
    push_ = end <= device_.info.properties.core.limits.maxPushConstantsSize;
    block_bytes_ = (end + 3) / 4 * 4;
    return {};
}

Result<void> BuiltProgram::make_pipeline(const wye_artifact& artifact) {
    const DeviceTable& vk = device_.vk();
    // Words may lie anywhere in the artifact, and Vulkan wants them aligned.
    std::vector<std::uint32_t> code(artifact.code.size / 4);
    if (artifact.code.size % 4 != 0)
        return Error(Code::COMPILE_FAILED,
                     "the SPIR-V module of program `" + label_ + "` has " +
                         std::to_string(artifact.code.size) + " bytes, which are no whole words",
                     "Fix: pass a whole module of little-endian words", label_);
    if (!code.empty()) std::memcpy(code.data(), artifact.code.data, artifact.code.size);
    const std::string entry(sdk::from_abi(artifact.entry));
    auto checked = check_module(
        code, entry,
        {artifact.workgroup_size[0], artifact.workgroup_size[1], artifact.workgroup_size[2]});
    if (!checked.ok()) {
        checked.error().subject = label_;
        return checked;
    }
    auto module_info = make<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    module_info.codeSize = code.size() * 4;
    module_info.pCode = code.data();
    VkShaderModule module = VK_NULL_HANDLE;
    VkResult result = vk.vkCreateShaderModule(device_.handle(), &module_info, nullptr, &module);
    if (result != VK_SUCCESS) return device_.failed(result, "vkCreateShaderModule", label_);
    const ShaderModule owner(device_.logical, module);

    auto info = make<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    info.layout = layout();
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = entry.c_str();
    auto subgroup = make<VkPipelineShaderStageRequiredSubgroupSizeCreateInfo>(
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO);
    if (artifact.subgroup_size != 0) {
        const auto& sizes = device_.info.subgroup_sizes;
        if (std::find(sizes.begin(), sizes.end(), artifact.subgroup_size) == sizes.end())
            return Error(Code::UNSUPPORTED,
                         "program `" + label_ + "` asks for subgroups of " +
                             std::to_string(artifact.subgroup_size) + ", which " +
                             device_.info.name + " does not offer",
                         "Fix: use a size of the device's `subgroup_sizes`", label_);
        subgroup.requiredSubgroupSize = artifact.subgroup_size;
        info.stage.pNext = &subgroup;
        info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    }
    VkPipeline pipeline = VK_NULL_HANDLE;
    result =
        vk.vkCreateComputePipelines(device_.handle(), cache_.get(), 1, &info, nullptr, &pipeline);
    if (result != VK_SUCCESS) {
        Error error = device_.failed(result, "vkCreateComputePipelines", label_);
        if (error.code != Code::DEVICE_LOST && error.code != Code::OUT_OF_MEMORY)
            error.code = Code::COMPILE_FAILED;
        return error;
    }
    pipeline_ = Pipeline(device_.logical, pipeline);
    return {};
}

Result<wye_bytes> BuiltProgram::save() {
    const DeviceTable& vk = device_.vk();
    std::size_t size = 0;
    VkResult result = vk.vkGetPipelineCacheData(device_.handle(), cache_.get(), &size, nullptr);
    std::vector<std::byte> data(size);
    if (result == VK_SUCCESS)
        result = vk.vkGetPipelineCacheData(device_.handle(), cache_.get(), &size, data.data());
    if (result != VK_SUCCESS) return device_.failed(result, "vkGetPipelineCacheData", label_);
    data.resize(size);
    saved_ = pack_saved(data);
    return wye_bytes{saved_.data(), saved_.size()};
}

Result<void> BuiltProgram::check(const wye_dispatch_op& op) const {
    for (unsigned k = 0; k < 3; ++k)
        if (!has_grid_ && (op.group_offset[k] != 0 || op.logical_groups[k] != op.groups[k]))
            return Error(Code::UNSUPPORTED,
                         "program `" + label_ + "` was not compiled for a folded or split grid",
                         "Fix: create the program from an artifact with a grid slot", label_);
    const std::uint64_t alignment =
        device_.info.properties.core.limits.minStorageBufferOffsetAlignment;
    for (std::uint32_t b = 0; b < binding_count_; ++b)
        if (op.bindings[b].size != 0 && op.bindings[b].offset % alignment != 0)
            return Error(Code::INVALID_ARGUMENT,
                         "binding " + std::to_string(b) + " of program `" + label_ +
                             "` starts at byte " + std::to_string(op.bindings[b].offset) +
                             ", and " + device_.info.name + " binds ranges at multiples of " +
                             std::to_string(alignment),
                         "Fix: bind ranges at multiples of " + std::to_string(alignment) +
                             " bytes (`buffer_alignment` of the device)",
                         label_);
    return {};
}

void BuiltProgram::fill_block(const wye_dispatch_op& op, std::byte* out) const {
    std::memset(out, 0, block_bytes_);
    for (const wye_slot& slot : block_) {
        std::byte* at = out + slot.offset;
        switch (slot.kind) {
            case WYE_SLOT_LENGTH:
                std::memcpy(at, &op.bindings[slot.binding].elements, 8);
                break;
            case WYE_SLOT_PARAMS:
                if (params_size_ != 0) std::memcpy(at, op.params, params_size_);
                break;
            case WYE_SLOT_GRID:
                std::memcpy(at, op.group_offset, sizeof op.group_offset);
                std::memcpy(at + sizeof op.group_offset, op.logical_groups,
                            sizeof op.logical_groups);
                break;
            default:  // the opaque zero
                break;
        }
    }
}

}  // namespace wye::vulkan
