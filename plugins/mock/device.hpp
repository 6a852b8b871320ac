// SPDX-License-Identifier: Apache-2.0
//
// The mock plugin and its devices. Buffers are memory of the host, programs are not run, and queues
// take the time that the script states. Transfers, copies and fills are done at once, but the value
// of a submit is reached only after its time. The rules for threads are those of wye/abi.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "mock/script.hpp"
#include "wye/sdk/command.hpp"
#include "wye/sdk/facts.hpp"
#include "wye/sdk/plugin_slots.hpp"
#include "wye/sdk/queue.hpp"
#include "wye/sdk/timeline.hpp"
#include "wye/sdk/work_times.hpp"

namespace wye::mock {

class Device;

struct Plugin : sdk::PluginState<DeviceInfo> {
    using Device = mock::Device;
    static constexpr std::string_view kPlugin = "mock", kDomain = "";

    using PluginState::PluginState;
    // Reads the script: the file that `mock.script` names, else the text in `mock.text`, else the
    // file that the variable WYE_MOCK_SCRIPT names.
    [[nodiscard]] static Result<std::unique_ptr<Plugin>> create(const wye_host_table& host);
    [[nodiscard]] Result<std::vector<DeviceInfo>> probe();
    [[nodiscard]] std::span<const wye_string> formats(const DeviceInfo& info) const {
        return info.format_views;
    }
    [[nodiscard]] wye_status fact(std::uint32_t index, std::uint32_t key, wye_fact& out) const;

  private:
    std::vector<DeviceInfo> script_;
};

class Buffer {
  public:
    // Error: DEVICE_MEMORY if all buffers together exceed the device's fact memory_bytes.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> create(Device& device,
                                                                const wye_buffer_desc& desc);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    [[nodiscard]] Result<sdk::Mapping> map() const { return sdk::Mapping{data(), true}; }
    [[nodiscard]] std::byte* data() const { return memory_.get(); }

  private:
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    Buffer(Device& device, std::uint64_t size) : device_(device), size_(size) {}

    Device& device_;
    const std::uint64_t size_;
    std::unique_ptr<std::byte, Free> memory_;
};

class Program {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Program>> create(Device& device,
                                                                 const wye_artifact& artifact,
                                                                 wye_bytes saved);
    [[nodiscard]] sdk::ArgumentSizes sizes() const {
        return {static_cast<std::uint32_t>(writes_.size()), params_size_};
    }
    // For each binding: whether the program may write to its buffer.
    [[nodiscard]] const std::vector<bool>& writes() const { return writes_; }

  private:
    std::vector<bool> writes_;
    std::uint32_t params_size_ = 0;
};

class Command {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Command>> create(Device& device,
                                                                 const wye_command_desc& desc);
    void describe(wye_command_info& out) const;
    [[nodiscard]] Result<void> update(std::uint64_t index, const wye_operation& operation) {
        return list_.update(index, operation);
    }
    [[nodiscard]] std::span<const wye_operation> resolve(const wye_execute_op& execution) {
        return list_.resolve(execution);
    }

  private:
    explicit Command(sdk::CommandList list) : list_(std::move(list)) {}
    sdk::CommandList list_;
};

// When the work of a submit begins and ends, on CLOCK_MONOTONIC.
struct Submit {
    std::uint64_t begin_ns = 0, end_ns = 0;
    explicit operator bool() const { return end_ns != 0; }
};

class Timeline : public sdk::Timeline<Timeline, Submit, Submit> {
  public:
    explicit Timeline(const sdk::LossState& loss) : sdk::Timeline<Timeline, Submit, Submit>(loss) {}

  private:
    friend sdk::Timeline<Timeline, Submit, Submit>;
    static constexpr bool kWaitsWithLimit = true, kFailsLate = false;

    [[nodiscard]] Result<bool> has_ended(const Submit& submit);
    [[nodiscard]] Result<Submit> event_of(Submit& submit) { return submit; }
    [[nodiscard]] std::optional<Error> settle(std::uint64_t, Submit&) { return std::nullopt; }
    [[nodiscard]] sdk::WorkTimes times_of(const Submit& submit);
    [[nodiscard]] Result<bool> wait_for(const Submit& event, std::uint64_t timeout_ns);
    [[nodiscard]] Result<void> finish();
};

class Queue : public sdk::InOrderQueue<Queue> {
  public:
    static constexpr std::string_view kPlugin = Plugin::kPlugin;

    [[nodiscard]] static Result<std::unique_ptr<Queue>> create(Device& device,
                                                               const wye_queue_desc& wanted);
    ~Queue() { timeline_.drain(); }

    [[nodiscard]] Device& device() { return device_; }
    [[nodiscard]] Timeline& timeline() { return timeline_; }

  private:
    friend InOrderQueue;

    explicit Queue(Device& device);
    Result<void> begin();
    Result<void> wait_for(Timeline& other, std::uint64_t value);
    std::span<const wye_operation> plan(std::span<const wye_operation> operations) {
        return operations;
    }
    Result<void> dispatch(const wye_dispatch_op& op);
    Result<void> copy(const wye_copy_op& op);
    Result<void> fill(const wye_fill_op& op);
    Result<void> upload(const wye_transfer_op& op);
    Result<void> download(const wye_transfer_op& op);
    Result<void> execute(const wye_execute_op& op);
    Result<void> end();
    void abandon() noexcept {}

    Device& device_;
    Timeline timeline_;
    std::uint64_t free_ns_ = 0;  // when all work so far has ended
    Submit now_;                 // the submit in progress
};

class Device {
  public:
    using Buffer = mock::Buffer;
    using Program = mock::Program;
    using Queue = mock::Queue;
    using Command = mock::Command;

    [[nodiscard]] static Result<std::unique_ptr<Device>> create(Plugin& plugin,
                                                                const DeviceInfo& info);

    Plugin& plugin;
    const DeviceInfo& info;
    sdk::LossState loss;  // the device is never lost by itself
    std::atomic<std::uint64_t> used_bytes{0};

    [[nodiscard]] Result<sdk::MemoryState> memory() const;

  private:
    Device(Plugin& owner, const DeviceInfo& found) : plugin(owner), info(found) {}
};

}  // namespace wye::mock

extern template class wye::sdk::Timeline<wye::mock::Timeline, wye::mock::Submit, wye::mock::Submit>;
extern template class wye::sdk::InOrderQueue<wye::mock::Queue>;
