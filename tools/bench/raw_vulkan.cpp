// SPDX-License-Identifier: Apache-2.0
//
// The raw side for Vulkan: command buffers recorded once, one descriptor set per buffer, staging
// memory that stays mapped, and copies on a queue of a family that only copies, if there is such a
// family.
#include <algorithm>
#include <cstdint>

#include "advance_spirv.h"
#include "increment_spirv.h"
#include "raw.hpp"
#include "vulkan_driver.hpp"

namespace wye::bench {
namespace {

using namespace vulkan;

constexpr std::uint32_t kTinyWords = 64;

void between_dispatches(const Device& device, VkCommandBuffer to) {
    barrier(device, to, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}
void before_host(const Device& device, VkCommandBuffer to) {
    barrier(device, to, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

class Timeline : Fixed {
  public:
    explicit Timeline(const Device& device) : device_(device) {}
    ~Timeline() { device_.vkDestroySemaphore(device_.device, semaphore_, nullptr); }
    [[nodiscard]] Result<void> open() {
        auto type = made<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
        type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
        auto info = made<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
        info.pNext = &type;
        TRY_VK(device_.vkCreateSemaphore(device_.device, &info, nullptr, &semaphore_));
        return {};
    }
    [[nodiscard]] Result<void> submit(const Commands& commands) {
        ++value_;
        auto values =
            made<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
        values.signalSemaphoreValueCount = 1;
        values.pSignalSemaphoreValues = &value_;
        VkCommandBuffer buffer = commands.get();
        auto info = made<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
        info.pNext = &values;
        info.commandBufferCount = 1;
        info.pCommandBuffers = &buffer;
        info.signalSemaphoreCount = 1;
        info.pSignalSemaphores = &semaphore_;
        TRY_VK(device_.vkQueueSubmit(commands.queue().queue, 1, &info, VK_NULL_HANDLE));
        return {};
    }
    [[nodiscard]] Result<void> wait() {
        auto info = made<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
        info.semaphoreCount = 1;
        info.pSemaphores = &semaphore_;
        info.pValues = &value_;
        TRY_VK(device_.vkWaitSemaphores(device_.device, &info, UINT64_MAX));
        return {};
    }
    [[nodiscard]] Result<void> poll() {
        for (std::uint64_t reached = 0; reached < value_;)
            TRY_VK(device_.vkGetSemaphoreCounterValue(device_.device, semaphore_, &reached));
        return {};
    }

  private:
    const Device& device_;
    VkSemaphore semaphore_ = VK_NULL_HANDLE;
    std::uint64_t value_ = 0;
};

// Tiny dispatches on several buffers in turn, each with its own command buffer.
class Tiny : Fixed {
  public:
    struct Turn {
        explicit Turn(const Device& device) : words(device), commands(device) {}
        Memory words;
        Commands commands;
        VkDescriptorSet set = VK_NULL_HANDLE;
    };

    // `dispatches`: the number of dispatches in each command buffer, one after the other.
    [[nodiscard]] static Result<std::shared_ptr<Tiny>> make(const Device& device, Queue& queue,
                                                            std::uint64_t buffers,
                                                            std::uint64_t dispatches) {
        auto out = std::make_shared<Tiny>(device);
        WYE_TRY(out->kernel_.open(advance_spirv, 1));
        WYE_TRY(out->timeline.open());
        for (std::uint64_t i = 0; i < buffers; ++i) {
            Turn& turn = *out->turns.emplace_back(std::make_unique<Turn>(device));
            WYE_TRY(turn.words.on_device(std::uint64_t{kTinyWords} * 4));
            WYE_ASSIGN(turn.set, out->kernel_.bind({&turn.words.buffer, 1}));
            WYE_TRY(turn.commands.open(queue));
            WYE_TRY(turn.commands.record(0, [&](VkCommandBuffer to) {
                device.vkCmdFillBuffer(to, turn.words.buffer, 0, VK_WHOLE_SIZE, 1);
                barrier(device, to, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                        VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
            }));
            WYE_TRY(turn.commands.submit(true));
            WYE_TRY(turn.commands.wait());
            WYE_TRY(out->record(turn, dispatches, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT));
        }
        return out;
    }
    explicit Tiny(const Device& device) : timeline(device), device_(device), kernel_(device) {}
    ~Tiny() { (void)device_.vkDeviceWaitIdle(device_.device); }

    [[nodiscard]] Result<void> record(Turn& turn, std::uint64_t dispatches,
                                      VkCommandBufferUsageFlags usage) {
        return turn.commands.record(usage, [&](VkCommandBuffer to) {
            for (std::uint64_t i = 0; i < dispatches; ++i) {
                // The first barrier waits for earlier submits.
                between_dispatches(device_, to);
                kernel_.dispatch(to, turn.set, kTinyWords, 1);
            }
        });
    }
    [[nodiscard]] Result<void> expect_steps(std::uint64_t steps) {
        Memory host(device_);
        WYE_TRY(host.on_host(4));
        Commands copy(device_);
        WYE_TRY(copy.open(turns.back()->commands.queue()));
        WYE_TRY(copy.record(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, [&](VkCommandBuffer to) {
            barrier(device_, to, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                    VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
            const VkBufferCopy part{0, 0, 4};
            device_.vkCmdCopyBuffer(to, turns.back()->words.buffer, host.buffer, 1, &part);
            before_host(device_, to);
        }));
        WYE_TRY(copy.submit(true));
        WYE_TRY(copy.wait());
        const auto word = *reinterpret_cast<const std::uint32_t*>(host.host);
        return expect_word(word, advance(1, steps), "Vulkan");
    }

    std::vector<std::unique_ptr<Turn>> turns;
    Timeline timeline;

  private:
    const Device& device_;
    Kernel kernel_;
};

// Makes a way. `once(tiny)` does the row's work, which advances the last buffer by `steps`.
template <typename Once>
Way way_of(std::string name, const std::shared_ptr<Tiny>& tiny, std::uint64_t steps, Once once) {
    return repeated(
        std::move(name), [=] { return once(*tiny); },
        [=](std::uint64_t runs) { return tiny->expect_steps(runs * steps); });
}

// Submits each command buffer and waits for it, one after the other.
Result<Way> replays(const Device& device, Queue& queue, std::string name, std::uint64_t buffers,
                    std::uint64_t dispatches) {
    WYE_ASSIGN(const auto tiny, Tiny::make(device, queue, buffers, dispatches));
    return way_of(std::move(name), tiny, dispatches, [](Tiny& t) -> Result<void> {
        for (const auto& turn : t.turns) {
            WYE_TRY(turn->commands.submit(true));
            WYE_TRY(turn->commands.wait());
        }
        return {};
    });
}

// Records a command buffer without running it.
Result<Way> only_recordings(const Device& device, Queue& queue, std::string name,
                            std::uint64_t dispatches) {
    WYE_ASSIGN(const auto tiny, Tiny::make(device, queue, 1, 1));
    return way_of(std::move(name), tiny, 0, [=](Tiny& t) {
        return t.record(*t.turns.front(), dispatches, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    });
}

Result<Way> recordings(const Device& device, Queue& queue, std::string name,
                       std::uint64_t dispatches) {
    WYE_ASSIGN(const auto tiny, Tiny::make(device, queue, 1, 1));
    return way_of(std::move(name), tiny, dispatches, [=](Tiny& t) -> Result<void> {
        Tiny::Turn& turn = *t.turns.front();
        WYE_TRY(t.record(turn, dispatches, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT));
        WYE_TRY(turn.commands.submit(true));
        return turn.commands.wait();
    });
}

Result<Way> timelines(const Device& device, Queue& queue, std::string name, bool polled) {
    WYE_ASSIGN(const auto tiny, Tiny::make(device, queue, 1, 1));
    return way_of(std::move(name), tiny, 1, [polled](Tiny& t) -> Result<void> {
        WYE_TRY(t.timeline.submit(t.turns.front()->commands));
        return polled ? t.timeline.poll() : t.timeline.wait();
    });
}

Result<Way> separate_submits(const Device& device, Queue& queue, std::string name,
                             std::uint64_t count) {
    WYE_ASSIGN(const auto tiny, Tiny::make(device, queue, 1, 1));
    return way_of(std::move(name), tiny, count, [count](Tiny& t) -> Result<void> {
        Commands& commands = t.turns.front()->commands;
        for (std::uint64_t i = 0; i < count; ++i) WYE_TRY(commands.submit(i + 1 == count));
        return commands.wait();
    });
}

class VkLane final : public Lane {
  public:
    VkLane(const Device& device, VkBuffer x, VkBuffer r)
        : device_(device),
          x_(x),
          r_(r),
          chunks_{Memory(device), Memory(device)},
          commands_{Commands(device), Commands(device)} {}
    [[nodiscard]] Result<void> open(Queue& queue) {
        for (Memory& chunk : chunks_) WYE_TRY(chunk.on_host(kChunk));
        for (Commands& commands : commands_) WYE_TRY(commands.open(queue));
        return {};
    }
    std::byte* chunk(std::size_t i) override { return chunks_[i].host; }
    Result<void> up(std::size_t i, std::uint64_t at, std::uint64_t size) override {
        const VkBufferCopy part{0, at, size};
        WYE_TRY(commands_[i].record(
            VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, [&](VkCommandBuffer to) {
                device_.vkCmdCopyBuffer(to, chunks_[i].buffer, x_, 1, &part);
            }));
        return commands_[i].submit(true);
    }
    Result<void> down(std::size_t i, std::uint64_t at, std::uint64_t size) override {
        const VkBufferCopy part{at, 0, size};
        WYE_TRY(commands_[i].record(
            VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, [&](VkCommandBuffer to) {
                device_.vkCmdCopyBuffer(to, r_, chunks_[i].buffer, 1, &part);
                before_host(device_, to);
            }));
        return commands_[i].submit(true);
    }
    Result<void> wait(std::size_t i) override { return commands_[i].wait(); }

  private:
    const Device& device_;
    VkBuffer x_, r_;
    std::array<Memory, 2> chunks_;
    std::array<Commands, 2> commands_;
};

// The kernel r = x + 1 on buffers of its own.
struct Increment {
    explicit Increment(const Device& device) : x(device), r(device), kernel(device) {}
    [[nodiscard]] Result<void> open(std::uint64_t bytes) {
        for (Memory* memory : {&x, &r}) WYE_TRY(memory->on_device(bytes));
        WYE_TRY(kernel.open(increment_spirv, 2));
        const std::array buffers = {x.buffer, r.buffer};
        WYE_ASSIGN(set, kernel.bind(buffers));
        count = static_cast<std::uint32_t>(bytes / 4);
        return {};
    }
    void dispatch(VkCommandBuffer to) const {
        kernel.dispatch(to, set, count, (count + 255) / 256);
    }

    Memory x, r;
    Kernel kernel;
    VkDescriptorSet set = VK_NULL_HANDLE;
    std::uint32_t count = 0;
};

class VkPair final : public Pair {
  public:
    explicit VkPair(Device& device) : device_(device), increment_(device), commands_(device) {}
    [[nodiscard]] Result<void> open(std::uint64_t bytes) {
        WYE_TRY(increment_.open(bytes));
        WYE_TRY(commands_.open(device_.first));
        return commands_.record(0, [&](VkCommandBuffer to) {
            barrier(device_, to, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
            increment_.dispatch(to);
            barrier(device_, to, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                    VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_READ_BIT);
        });
    }
    Result<std::unique_ptr<Lane>> lane() override {
        Queue& queue = device_.copies.empty() ? device_.first
                                              : *device_.copies[lanes_++ % device_.copies.size()];
        return opened<Lane>(
            std::make_unique<VkLane>(device_, increment_.x.buffer, increment_.r.buffer), queue);
    }
    Result<void> run() override {
        WYE_TRY(commands_.submit(true));
        return commands_.wait();
    }

  private:
    Device& device_;
    Increment increment_;
    Commands commands_;
    std::size_t lanes_ = 0;
};

class VkFlight final : public Flight {
  public:
    explicit VkFlight(Device& device)
        : device_(device), increment_(device), in_(device), out_(device), commands_(device) {}
    [[nodiscard]] Result<void> open(std::uint64_t bytes) {
        WYE_TRY(increment_.open(bytes));
        WYE_TRY(in_.on_host(bytes));
        WYE_TRY(out_.on_host(bytes));
        WYE_TRY(commands_.open(device_.first));
        const VkBufferCopy all{0, 0, bytes};
        return commands_.record(0, [&](VkCommandBuffer to) {
            device_.vkCmdCopyBuffer(to, in_.buffer, increment_.x.buffer, 1, &all);
            barrier(device_, to, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
            increment_.dispatch(to);
            barrier(device_, to, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                    VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
            device_.vkCmdCopyBuffer(to, increment_.r.buffer, out_.buffer, 1, &all);
            before_host(device_, to);
        });
    }
    std::byte* in() override { return in_.host; }
    const std::byte* out() override { return out_.host; }
    Result<void> start() override { return commands_.submit(true); }
    Result<void> wait() override { return commands_.wait(); }

  private:
    Device& device_;
    Increment increment_;
    Memory in_, out_;
    Commands commands_;
};

class RawVulkan final : public RawApi {
  public:
    [[nodiscard]] Result<void> open(const std::string& name) { return device_.open(name); }

    Result<std::vector<Way>> tiny(RowId row, const Sizes& sizes) override {
        std::vector<Way> out;
        Queue& first = device_.first;
        constexpr const char* kFence = "recorded once, fence waited for";
        switch (row) {
            case RowId::OneCommand:
            case RowId::OneDispatch:
            case RowId::PipelineCall:
                WYE_TRY(add(out, replays(device_, first, kFence, 1, 1)));
                WYE_TRY(add(out,
                            recordings(device_, first, "recorded each time, fence waited for", 1)));
                WYE_TRY(add(
                    out, timelines(device_, first, "recorded once, timeline waited for", false)));
                WYE_TRY(
                    add(out, timelines(device_, first, "recorded once, timeline polled", true)));
                if (device_.compute_only)
                    WYE_TRY(add(out, timelines(device_, *device_.compute_only,
                                               "the same on a compute-only family", true)));
                break;
            case RowId::Commands:
                WYE_TRY(add(out, replays(device_, first, kFence, sizes.turns, 1)));
                break;
            case RowId::Recorded:
                WYE_TRY(add(out, replays(device_, first, "one command buffer, fence waited for", 1,
                                         sizes.recorded)));
                break;
            case RowId::Recording:
                WYE_TRY(add(out, only_recordings(device_, first, "one command buffer, recorded",
                                                 sizes.recorded)));
                break;
            case RowId::Batch:
                WYE_TRY(
                    add(out, recordings(device_, first,
                                        "one command buffer, recorded each time, fence waited for",
                                        sizes.recorded)));
                break;
            case RowId::Launches:
                WYE_TRY(add(
                    out, separate_submits(device_, first, "a submit for each, one fence waited for",
                                          sizes.recorded)));
                break;
            default:
                break;
        }
        return out;
    }
    Result<std::unique_ptr<Pair>> pair(std::uint64_t bytes) override {
        return opened<Pair>(std::make_unique<VkPair>(device_), bytes);
    }
    Result<std::unique_ptr<Flight>> flight(std::uint64_t bytes, std::size_t) override {
        return opened<Flight>(std::make_unique<VkFlight>(device_), bytes);
    }

  private:
    Device device_;
};

}  // namespace

Result<std::unique_ptr<RawApi>> open_raw_vulkan(const std::string& name) {
    return opened<RawApi>(std::make_unique<RawVulkan>(), name);
}

}  // namespace wye::bench
