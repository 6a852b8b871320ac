// SPDX-License-Identifier: Apache-2.0
//
// Vulkan 1.2 through the loader.
#include <vulkan/vulkan.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernel_bench/raw_api.hpp"
#include "kernel_bench/texts.hpp"

namespace wye::bench {
namespace {

constexpr std::uint64_t kStaging = std::uint64_t{8} << 20U;

Result<void> check(VkResult status, const char* call) {
    if (status == VK_SUCCESS) return {};
    return Error(Code::DRIVER, std::string(call) + " gives " + std::to_string(status),
                 "Fix: see vulkan_core.h");
}
#define TRY_VK(call) WYE_TRY(check(call, #call))

template <typename T>
T made(VkStructureType type) {
    T out{};
    out.sType = type;
    return out;
}

struct Memory {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    std::uint64_t bytes = 0;
};
struct Pipeline {
    VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    VkDescriptorSet set = VK_NULL_HANDLE;
};

class RawVulkan final : public RawApi {
  public:
    Result<void> open(const std::string& name) {
        auto application = made<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
        application.apiVersion = VK_API_VERSION_1_2;
        auto info = made<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
        info.pApplicationInfo = &application;
        if (vkCreateInstance(&info, nullptr, &instance_) != VK_SUCCESS)
            return Error(Code::MISSING_DEPENDENCY, "Vulkan has no driver",
                         "Fix: install a Vulkan driver");
        std::uint32_t count = 0;
        TRY_VK(vkEnumeratePhysicalDevices(instance_, &count, nullptr));
        std::vector<VkPhysicalDevice> devices(count);
        TRY_VK(vkEnumeratePhysicalDevices(instance_, &count, devices.data()));
        for (VkPhysicalDevice device : devices) {
            VkPhysicalDeviceProperties properties;
            vkGetPhysicalDeviceProperties(device, &properties);
            if (name != properties.deviceName) continue;
            physical_ = device;
            tick_ns_ = static_cast<double>(properties.limits.timestampPeriod);
            return start();
        }
        return Error(Code::NO_DEVICE, "Vulkan has no device `" + name + "`",
                     "Fix: name one that it has");
    }

    ~RawVulkan() override {
        if (device_ != VK_NULL_HANDLE) {
            clear();
            free_memory(staging_);
            vkDestroyQueryPool(device_, times_, nullptr);
            vkDestroyFence(device_, fence_, nullptr);
            vkDestroyCommandPool(device_, pool_, nullptr);
            vkDestroyDevice(device_, nullptr);
        }
        if (instance_ != VK_NULL_HANDLE) vkDestroyInstance(instance_, nullptr);
    }

    Result<Id> buffer(std::uint64_t bytes) override {
        WYE_ASSIGN(Memory memory, allocate(bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT));
        buffers_.push_back(memory);
        return buffers_.size() - 1;
    }
    Result<void> upload(Id id, std::uint64_t offset, std::span<const std::byte> bytes) override {
        for (std::uint64_t at = 0; at < bytes.size(); at += kStaging) {
            const VkBufferCopy part{0, offset + at,
                                    std::min<std::uint64_t>(kStaging, bytes.size() - at)};
            std::memcpy(mapped_, bytes.data() + at, part.size);
            WYE_TRY(record([&](VkCommandBuffer to) {
                vkCmdCopyBuffer(to, staging_.buffer, buffers_[id].buffer, 1, &part);
            }));
        }
        return {};
    }
    Result<void> download(Id id, std::uint64_t offset, std::span<std::byte> bytes) override {
        for (std::uint64_t at = 0; at < bytes.size(); at += kStaging) {
            const VkBufferCopy part{offset + at, 0,
                                    std::min<std::uint64_t>(kStaging, bytes.size() - at)};
            WYE_TRY(record([&](VkCommandBuffer to) {
                vkCmdCopyBuffer(to, buffers_[id].buffer, staging_.buffer, 1, &part);
            }));
            std::memcpy(bytes.data() + at, mapped_, part.size);
        }
        return {};
    }

    Result<Id> compile(const Launch& launch, std::size_t buffers, bool fast) override {
        const auto words = spirv(launch.kernel + (fast ? ".fast.comp" : ".comp"));
        if (words.empty())
            return Error(Code::NOT_FOUND, "no SPIR-V of " + launch.kernel,
                         "Fix: build where glslangValidator is");
        return make_pipeline(words, buffers, launch.words.size() * 4);
    }

    // With a layout that has more bindings than any of the programs.
    Result<void> build(const std::string& source) override {
        std::vector<std::uint32_t> words(source.size() / 4);
        std::memcpy(words.data(), source.data(), words.size() * 4);
        WYE_TRY(make_pipeline(words, 8, 128));
        clear();
        return {};
    }

    Result<double> run(Id kernel, const Launch& launch, std::span<const Id> buffers,
                       std::span<const Id> zeroed) override {
        const Pipeline& pipeline = pipelines_[kernel];
        std::vector<VkDescriptorBufferInfo> infos;
        for (const Id id : buffers) infos.push_back({buffers_[id].buffer, 0, VK_WHOLE_SIZE});
        auto write = made<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
        write.dstSet = pipeline.set;
        write.descriptorCount = static_cast<std::uint32_t>(infos.size());
        write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        write.pBufferInfo = infos.data();
        vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
        WYE_TRY(record([&](VkCommandBuffer to) {
            vkCmdResetQueryPool(to, times_, 0, 2);
            vkCmdWriteTimestamp(to, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, times_, 0);
            for (const Id id : zeroed)
                vkCmdFillBuffer(to, buffers_[id].buffer, 0, VK_WHOLE_SIZE, 0);
            if (!zeroed.empty()) barrier(to);
            vkCmdBindPipeline(to, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.pipeline);
            vkCmdBindDescriptorSets(to, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, 1,
                                    &pipeline.set, 0, nullptr);
            vkCmdPushConstants(to, pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                               static_cast<std::uint32_t>(launch.words.size() * 4),
                               launch.words.data());
            vkCmdDispatch(to, launch.groups[0], launch.groups[1], launch.groups[2]);
            vkCmdWriteTimestamp(to, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, times_, 1);
        }));
        std::uint64_t ticks[2] = {};
        TRY_VK(vkGetQueryPoolResults(device_, times_, 0, 2, sizeof ticks, ticks, 8,
                                     VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
        return static_cast<double>(ticks[1] - ticks[0]) * tick_ns_;
    }

    void clear() override {
        for (Memory& memory : buffers_) free_memory(memory);
        for (const Pipeline& p : pipelines_) {
            vkDestroyDescriptorPool(device_, p.pool, nullptr);
            vkDestroyPipeline(device_, p.pipeline, nullptr);
            vkDestroyPipelineLayout(device_, p.layout, nullptr);
            vkDestroyDescriptorSetLayout(device_, p.set_layout, nullptr);
        }
        buffers_.clear();
        pipelines_.clear();
    }

  private:
    Result<Id> make_pipeline(std::span<const std::uint32_t> words, std::size_t buffers,
                             std::size_t push_bytes) {
        auto code = made<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
        code.codeSize = words.size_bytes();
        code.pCode = words.data();
        Pipeline& out = pipelines_.emplace_back();
        std::vector<VkDescriptorSetLayoutBinding> bindings;
        for (std::uint32_t i = 0; i < buffers; ++i)
            bindings.push_back(
                {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
        auto set = made<VkDescriptorSetLayoutCreateInfo>(
            VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
        set.bindingCount = static_cast<std::uint32_t>(buffers);
        set.pBindings = bindings.data();
        TRY_VK(vkCreateDescriptorSetLayout(device_, &set, nullptr, &out.set_layout));
        const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                       static_cast<std::uint32_t>(push_bytes)};
        auto layout =
            made<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
        layout.setLayoutCount = 1;
        layout.pSetLayouts = &out.set_layout;
        layout.pushConstantRangeCount = 1;
        layout.pPushConstantRanges = &push;
        TRY_VK(vkCreatePipelineLayout(device_, &layout, nullptr, &out.layout));
        auto pipeline =
            made<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
        pipeline.stage = made<VkPipelineShaderStageCreateInfo>(
            VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
        pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
        pipeline.stage.pName = "main";
        pipeline.layout = out.layout;
        TRY_VK(vkCreateShaderModule(device_, &code, nullptr, &pipeline.stage.module));
        const VkResult status =
            vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &pipeline, nullptr, &out.pipeline);
        vkDestroyShaderModule(device_, pipeline.stage.module, nullptr);
        WYE_TRY(check(status, "vkCreateComputePipelines"));
        const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, set.bindingCount};
        auto pool = made<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
        pool.maxSets = 1;
        pool.poolSizeCount = 1;
        pool.pPoolSizes = &size;
        TRY_VK(vkCreateDescriptorPool(device_, &pool, nullptr, &out.pool));
        auto sets =
            made<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
        sets.descriptorPool = out.pool;
        sets.descriptorSetCount = 1;
        sets.pSetLayouts = &out.set_layout;
        TRY_VK(vkAllocateDescriptorSets(device_, &sets, &out.set));
        return pipelines_.size() - 1;
    }

    Result<void> start() {
        std::uint32_t count = 0;
        vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
        std::vector<VkQueueFamilyProperties> families(count);
        vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families.data());
        const auto family =
            std::find_if(families.begin(), families.end(), [](const VkQueueFamilyProperties& f) {
                return (f.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0 && f.timestampValidBits != 0;
            });
        if (family == families.end())
            return Error(Code::UNSUPPORTED, "no queue family computes and has timestamps",
                         "Fix: use another device");
        const auto index = static_cast<std::uint32_t>(family - families.begin());
        const float priority = 1;
        auto queue = made<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
        queue.queueFamilyIndex = index;
        queue.queueCount = 1;
        queue.pQueuePriorities = &priority;
        // All that the device offers: the kernels need f64 and 8-bit elements.
        auto newer = made<VkPhysicalDeviceVulkan12Features>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
        auto features =
            made<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
        features.pNext = &newer;
        vkGetPhysicalDeviceFeatures2(physical_, &features);
        features.features.robustBufferAccess = VK_FALSE;
        auto info = made<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
        info.pNext = &features;
        info.queueCreateInfoCount = 1;
        info.pQueueCreateInfos = &queue;
        TRY_VK(vkCreateDevice(physical_, &info, nullptr, &device_));
        vkGetDeviceQueue(device_, index, 0, &queue_);
        auto pool = made<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
        pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
        pool.queueFamilyIndex = index;
        TRY_VK(vkCreateCommandPool(device_, &pool, nullptr, &pool_));
        auto commands =
            made<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
        commands.commandPool = pool_;
        commands.commandBufferCount = 1;
        TRY_VK(vkAllocateCommandBuffers(device_, &commands, &commands_));
        const auto fence = made<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
        TRY_VK(vkCreateFence(device_, &fence, nullptr, &fence_));
        auto times = made<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
        times.queryType = VK_QUERY_TYPE_TIMESTAMP;
        times.queryCount = 2;
        TRY_VK(vkCreateQueryPool(device_, &times, nullptr, &times_));
        constexpr VkMemoryPropertyFlags kHost =
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
        auto staging = allocate(kStaging, kHost | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
        if (!staging.ok()) staging = allocate(kStaging, kHost);
        WYE_ASSIGN(staging_, std::move(staging));
        return check(vkMapMemory(device_, staging_.memory, 0, VK_WHOLE_SIZE, 0, &mapped_),
                     "vkMapMemory");
    }

    Result<Memory> allocate(std::uint64_t bytes, VkMemoryPropertyFlags flags) {
        Memory out;
        out.bytes = bytes;
        auto info = made<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
        info.size = bytes;
        info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                     VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        TRY_VK(vkCreateBuffer(device_, &info, nullptr, &out.buffer));
        VkMemoryRequirements needs;
        vkGetBufferMemoryRequirements(device_, out.buffer, &needs);
        VkPhysicalDeviceMemoryProperties memory;
        vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
        auto grant = made<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
        grant.allocationSize = needs.size;
        VkResult status = VK_ERROR_FEATURE_NOT_PRESENT;
        for (std::uint32_t i = 0; i < memory.memoryTypeCount && status != VK_SUCCESS; ++i) {
            if ((needs.memoryTypeBits >> i & 1U) == 0 ||
                (memory.memoryTypes[i].propertyFlags & flags) != flags)
                continue;
            grant.memoryTypeIndex = i;
            status = vkAllocateMemory(device_, &grant, nullptr, &out.memory);
        }
        if (status == VK_SUCCESS) status = vkBindBufferMemory(device_, out.buffer, out.memory, 0);
        if (status != VK_SUCCESS) free_memory(out);
        WYE_TRY(check(status, "allocating memory"));
        return out;
    }
    void free_memory(Memory& memory) {
        vkDestroyBuffer(device_, memory.buffer, nullptr);
        vkFreeMemory(device_, memory.memory, nullptr);
        memory = {};
    }

    static void barrier(VkCommandBuffer to) {
        auto all = made<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
        all.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
        all.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
        vkCmdPipelineBarrier(to, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                             VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &all, 0, nullptr, 0,
                             nullptr);
    }

    // Records with `commands(buffer)`, submits and waits. The results are then visible to the host.
    template <typename Commands>
    Result<void> record(Commands&& commands) {
        auto begin = made<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
        begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
        TRY_VK(vkBeginCommandBuffer(commands_, &begin));
        commands(commands_);
        auto host = made<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
        host.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
        host.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
        vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                             VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &host, 0, nullptr, 0, nullptr);
        TRY_VK(vkEndCommandBuffer(commands_));
        auto submit = made<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
        submit.commandBufferCount = 1;
        submit.pCommandBuffers = &commands_;
        TRY_VK(vkQueueSubmit(queue_, 1, &submit, fence_));
        TRY_VK(vkWaitForFences(device_, 1, &fence_, VK_TRUE, UINT64_MAX));
        return check(vkResetFences(device_, 1, &fence_), "vkResetFences");
    }

    VkInstance instance_ = VK_NULL_HANDLE;
    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
    VkDevice device_ = VK_NULL_HANDLE;
    VkQueue queue_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    VkFence fence_ = VK_NULL_HANDLE;
    VkQueryPool times_ = VK_NULL_HANDLE;
    double tick_ns_ = 1;
    Memory staging_;
    void* mapped_ = nullptr;
    std::vector<Memory> buffers_;
    std::vector<Pipeline> pipelines_;
};

}  // namespace

Result<std::unique_ptr<RawApi>> open_raw_vulkan(const std::string& device) {
    auto out = std::make_unique<RawVulkan>();
    WYE_TRY(out->open(device));
    return std::unique_ptr<RawApi>(std::move(out));
}

}  // namespace wye::bench
