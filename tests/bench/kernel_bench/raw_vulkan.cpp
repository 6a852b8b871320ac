// SPDX-License-Identifier: Apache-2.0
//
// Vulkan 1.2, through the Vulkan classes of `wye bench`.
#include <algorithm>
#include <cstring>
#include <vector>

#include "bench/vulkan_driver.hpp"
#include "kernel_bench/raw_api.hpp"
#include "kernel_bench/texts.hpp"

namespace wye::bench {
namespace {

constexpr std::uint64_t kStaging = std::uint64_t{8} << 20U;

using vulkan::made;

class RawVulkan final : public RawApi {
  public:
    Result<void> open(const std::string& name) {
        WYE_TRY(device_.open(name, true));
        std::uint32_t count = device_.first.family + 1;
        std::vector<VkQueueFamilyProperties> families(count);
        device_.vkGetPhysicalDeviceQueueFamilyProperties(device_.physical, &count, families.data());
        if (families.back().timestampValidBits == 0)
            return Error(Code::UNSUPPORTED, "the queue that computes has no timestamps",
                         "Fix: use another device");
        VkPhysicalDeviceProperties properties;
        device_.vkGetPhysicalDeviceProperties(device_.physical, &properties);
        tick_ns_ = static_cast<double>(properties.limits.timestampPeriod);
        auto times = made<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
        times.queryType = VK_QUERY_TYPE_TIMESTAMP;
        times.queryCount = 2;
        TRY_VK(device_.vkCreateQueryPool(device_.device, &times, nullptr, &times_));
        WYE_TRY(commands_.open(device_.first));
        return staging_.on_host(kStaging);
    }

    ~RawVulkan() override {
        if (times_ != VK_NULL_HANDLE) device_.vkDestroyQueryPool(device_.device, times_, nullptr);
    }

    Result<Id> buffer(std::uint64_t bytes) override {
        buffers_.push_back(std::make_unique<vulkan::Memory>(device_));
        WYE_TRY(buffers_.back()->on_device(bytes));
        return buffers_.size() - 1;
    }
    Result<void> upload(Id id, std::uint64_t offset, std::span<const std::byte> bytes) override {
        for (std::uint64_t at = 0; at < bytes.size(); at += kStaging) {
            const VkBufferCopy part{0, offset + at,
                                    std::min<std::uint64_t>(kStaging, bytes.size() - at)};
            std::memcpy(staging_.host, bytes.data() + at, part.size);
            WYE_TRY(run([&](VkCommandBuffer to) {
                device_.vkCmdCopyBuffer(to, staging_.buffer, buffers_[id]->buffer, 1, &part);
            }));
        }
        return {};
    }
    Result<void> download(Id id, std::uint64_t offset, std::span<std::byte> bytes) override {
        for (std::uint64_t at = 0; at < bytes.size(); at += kStaging) {
            const VkBufferCopy part{offset + at, 0,
                                    std::min<std::uint64_t>(kStaging, bytes.size() - at)};
            WYE_TRY(run([&](VkCommandBuffer to) {
                device_.vkCmdCopyBuffer(to, buffers_[id]->buffer, staging_.buffer, 1, &part);
            }));
            std::memcpy(bytes.data() + at, staging_.host, part.size);
        }
        return {};
    }

    Result<Id> compile(const Launch& launch, std::size_t buffers, bool fast) override {
        const auto words = spirv(launch.kernel + (fast ? ".fast.comp" : ".comp"));
        if (words.empty())
            return Error(Code::NOT_FOUND, "no SPIR-V of " + launch.kernel,
                         "Fix: build where glslangValidator is");
        auto& kernel = kernels_.emplace_back(std::make_unique<vulkan::Kernel>(device_));
        WYE_TRY(kernel->open(words, static_cast<std::uint32_t>(buffers),
                             static_cast<std::uint32_t>(launch.words.size() * 4)));
        WYE_ASSIGN(sets_.emplace_back(), kernel->bind(std::vector(buffers, staging_.buffer)));
        return kernels_.size() - 1;
    }

    // The pipeline layout has 8 bindings, more than any of the programs needs.
    Result<void> build(const std::string& source) override {
        std::vector<std::uint32_t> words(source.size() / 4);
        std::memcpy(words.data(), source.data(), words.size() * 4);
        return vulkan::Kernel(device_).open(words, 8, 128);
    }

    Result<double> run(Id kernel, const Launch& launch, std::span<const Id> buffers,
                       std::span<const Id> zeroed) override {
        std::vector<VkBuffer> bound;
        for (const Id id : buffers) bound.push_back(buffers_[id]->buffer);
        kernels_[kernel]->bind_again(sets_[kernel], bound);
        WYE_TRY(run([&](VkCommandBuffer to) {
            device_.vkCmdResetQueryPool(to, times_, 0, 2);
            device_.vkCmdWriteTimestamp(to, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, times_, 0);
            for (const Id id : zeroed)
                device_.vkCmdFillBuffer(to, buffers_[id]->buffer, 0, VK_WHOLE_SIZE, 0);
            if (!zeroed.empty())
                vulkan::barrier(device_, to, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                VK_ACCESS_MEMORY_WRITE_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
            kernels_[kernel]->dispatch(to, sets_[kernel], launch.words,
                                       {launch.groups[0], launch.groups[1], launch.groups[2]});
            device_.vkCmdWriteTimestamp(to, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, times_, 1);
        }));
        std::uint64_t ticks[2] = {};
        TRY_VK(device_.vkGetQueryPoolResults(device_.device, times_, 0, 2, sizeof ticks, ticks, 8,
                                             VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
        return static_cast<double>(ticks[1] - ticks[0]) * tick_ns_;
    }

    void clear() override {
        buffers_.clear();
        kernels_.clear();
        sets_.clear();
    }

  private:
    // Records the commands that body(command buffer) adds, submits them and waits. The host then
    // sees the results.
    template <typename Body>
    Result<void> run(Body&& body) {
        WYE_TRY(
            commands_.record(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, [&](VkCommandBuffer to) {
                body(to);
                vulkan::barrier(device_, to, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                VK_ACCESS_MEMORY_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                                VK_ACCESS_HOST_READ_BIT);
            }));
        WYE_TRY(commands_.submit(true));
        return commands_.wait();
    }

    vulkan::Device device_;  // outlives the members below
    vulkan::Commands commands_{device_};
    vulkan::Memory staging_{device_};
    VkQueryPool times_ = VK_NULL_HANDLE;
    double tick_ns_ = 1;
    std::vector<std::unique_ptr<vulkan::Memory>> buffers_;
    std::vector<std::unique_ptr<vulkan::Kernel>> kernels_;
    std::vector<VkDescriptorSet> sets_;  // one for each kernel
};

}  // namespace

Result<std::unique_ptr<RawApi>> open_raw_vulkan(const std::string& device) {
    auto out = std::make_unique<RawVulkan>();
    WYE_TRY(out->open(device));
    return std::unique_ptr<RawApi>(std::move(out));
}

}  // namespace wye::bench
