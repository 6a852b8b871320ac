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

// Copies and checks the artifact's code: Vulkan requires aligned words, and the code may be
// unaligned; drivers do not check modules, and some crash on invalid ones.
Result<std::vector<std::uint32_t>> checked_code(const wye_artifact& artifact,
                                                const sdk::LaunchShape& shape) {
    if (artifact.code.size % 4 != 0)
        return Error(Code::COMPILE_FAILED,
                     "the SPIR-V module of program `" + shape.label + "` has " +
                         std::to_string(artifact.code.size) + " bytes, which are no whole words",
                     "Fix: pass a whole module of little-endian words", shape.label);
    std::vector<std::uint32_t> code(artifact.code.size / 4);
    if (!code.empty()) std::memcpy(code.data(), artifact.code.data, artifact.code.size);
    auto checked = check_module(code, shape.entry, shape.workgroup);
    if (checked.ok()) return code;
    checked.error().subject = shape.label;
    return std::move(checked).error();
}

}  // namespace

Result<std::unique_ptr<Program>> Program::create(Device& device, const wye_artifact& artifact,
                                                 wye_bytes saved) {
    WYE_ASSIGN(auto shape, sdk::LaunchShape::of(Plugin::kPlugin, artifact));
    if (sdk::from_abi(artifact.format) != WYE_FORMAT_SPIRV)
        return sdk::errors::unknown_format(Plugin::kPlugin, "`" WYE_FORMAT_SPIRV "`",
                                           sdk::from_abi(artifact.format), shape.label);
    std::unique_ptr<Program> program(new Program(device, std::move(shape)));
    WYE_TRY(program->compile(artifact, saved));
    return program;
}

Program::Program(Device& device, sdk::LaunchShape shape)
    : device_(device), shape_(std::move(shape)), serial_(device.next_serial.fetch_add(1)) {
    access_.assign(shape_.binding_count, 0);
    std::uint32_t end = 0;
    for (const wye_slot& slot : shape_.slots) {
        if (slot.kind == WYE_SLOT_BUFFER)
            access_[slot.binding] |= slot.access != 0 ? slot.access : 3U;
        if (slot.kind == WYE_SLOT_BUFFER || slot.kind == WYE_SLOT_TRAP) continue;
        block_.push_back(slot);
        end = std::max(end, slot.offset + bytes_in_block(slot, shape_.params_size));
    }
    push_ = end <= device_.info.properties.core.limits.maxPushConstantsSize;
    block_bytes_ = (end + 3) / 4 * 4;
}

Result<void> Program::compile(const wye_artifact& artifact, wye_bytes saved) {
    const DeviceTable& vk = device_.vk();
    auto cache_info = make<VkPipelineCacheCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
    if (saved.size != 0) {
        WYE_ASSIGN(const std::span<const std::byte> data,
                   unpack_saved(saved, device_.info.properties.core, shape_.label));
        cache_info.initialDataSize = data.size();
        cache_info.pInitialData = data.data();
    }
    VkPipelineCache cache = VK_NULL_HANDLE;
    VkResult result = vk.vkCreatePipelineCache(device_.handle(), &cache_info, nullptr, &cache);
    WYE_TRY(device_.check(result, "vkCreatePipelineCache", shape_.label));
    cache_ = PipelineCacheHandle(device_.context(), cache);
    WYE_ASSIGN(layout_, device_.context().layouts.find(
                            device_, {descriptor_count(), push_ ? block_bytes_ : 0}));
    WYE_ASSIGN(const std::vector<std::uint32_t> code, checked_code(artifact, shape_));
    auto info = make<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    info.codeSize = code.size() * 4;
    info.pCode = code.data();
    VkShaderModule module = VK_NULL_HANDLE;
    result = vk.vkCreateShaderModule(device_.handle(), &info, nullptr, &module);
    WYE_TRY(device_.check(result, "vkCreateShaderModule", shape_.label));
    const ShaderModuleHandle owner(device_.context(), module);
    return make_pipeline(artifact, module);
}

Result<void> Program::make_pipeline(const wye_artifact& artifact, VkShaderModule module) {
    const DeviceTable& vk = device_.vk();
    auto info = make<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    info.layout = layout();
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = shape_.entry.c_str();
    auto subgroup = make<VkPipelineShaderStageRequiredSubgroupSizeCreateInfo>(
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO);
    if (artifact.subgroup_size != 0) {
        const auto& sizes = device_.info.subgroup_sizes;
        if (std::find(sizes.begin(), sizes.end(), artifact.subgroup_size) == sizes.end())
            return Error(Code::UNSUPPORTED,
                         "program `" + shape_.label + "` asks for subgroups of " +
                             std::to_string(artifact.subgroup_size) + ", which `" +
                             device_.info.name + "` does not offer",
                         "Fix: use a size of the device's `subgroup_sizes`", shape_.label);
        subgroup.requiredSubgroupSize = artifact.subgroup_size;
        info.stage.pNext = &subgroup;
        info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    }
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result =
        vk.vkCreateComputePipelines(device_.handle(), cache_.get(), 1, &info, nullptr, &pipeline);
    if (result != VK_SUCCESS) {
        Error error = device_.failed(result, "vkCreateComputePipelines", shape_.label);
        if (error.code != Code::DEVICE_LOST && error.code != Code::OUT_OF_MEMORY)
            error.code = Code::COMPILE_FAILED;
        return error;
    }
    pipeline_ = PipelineHandle(device_.context(), pipeline);
    return {};
}

Result<wye_bytes> Program::save() {
    const DeviceTable& vk = device_.vk();
    std::size_t size = 0;
    VkResult result = vk.vkGetPipelineCacheData(device_.handle(), cache_.get(), &size, nullptr);
    std::vector<std::byte> data(size);
    if (result == VK_SUCCESS)
        result = vk.vkGetPipelineCacheData(device_.handle(), cache_.get(), &size, data.data());
    WYE_TRY(device_.check(result, "vkGetPipelineCacheData", shape_.label));
    data.resize(size);
    saved_ = pack_saved(data);
    return wye_bytes{saved_.data(), saved_.size()};
}

Result<void> Program::check(const wye_dispatch_op& op) const {
    WYE_TRY(shape_.check(op));
    const std::uint64_t alignment =
        device_.info.properties.core.limits.minStorageBufferOffsetAlignment;
    for (std::uint32_t b = 0; b < shape_.binding_count; ++b)
        if (op.bindings[b].size != 0 && op.bindings[b].offset % alignment != 0)
            return sdk::errors::misaligned(b, op.bindings[b].offset, alignment, device_.info.name,
                                           shape_.label);
    return {};
}

void Program::fill_block(const wye_dispatch_op& op, std::byte* out) const {
    std::memset(out, 0, block_bytes_);
    for (const wye_slot& slot : block_) {
        std::byte* at = out + slot.offset;
        switch (slot.kind) {
            case WYE_SLOT_LENGTH:
                std::memcpy(at, &op.bindings[slot.binding].elements, 8);
                break;
            case WYE_SLOT_PARAMS:
                if (shape_.params_size != 0) std::memcpy(at, op.params, shape_.params_size);
                break;
            case WYE_SLOT_GRID: {
                const sdk::GridWords grid(op);
                std::memcpy(at, grid.words, sizeof grid.words);
                break;
            }
            default:  // the opaque zero, which is 0 already
                break;
        }
    }
}

void Program::describe(wye_program_info& out) const {
    out.max_invocations = device_.info.properties.core.limits.maxComputeWorkGroupInvocations;
}

}  // namespace wye::vulkan
