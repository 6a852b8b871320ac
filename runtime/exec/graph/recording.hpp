// SPDX-License-Identifier: Apache-2.0
//
// Recording: the steps of a graph as operations of its device, and as commands of the plugin. A
// command holds the launches, copies and fills between two transfers of host bytes; the transfers
// are submitted between commands. If the plugin has no commands, the operations are submitted.
//
// Made by one thread until `finish`; afterwards guarded by the lock of the session's queues. It
// keeps its programs alive, but not its buffers. The session outlives it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exec/context.hpp"
#include "exec/device/buffer.hpp"
#include "exec/device/session.hpp"
#include "exec/dispatch/flow.hpp"
#include "exec/dispatch/operations.hpp"
#include "registry/device.hpp"
#include "registry/ownership.hpp"
#include "wye/graph.h"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class Recording {
  public:
    static constexpr std::uint64_t kTrapBytes = 8;  // {u32 largest code, u32 count}

    [[nodiscard]] static Result<std::unique_ptr<Recording>> begin(DeviceSession& session,
                                                                  wye_device device,
                                                                  std::string_view label);
    Recording(DeviceSession& session, wye_device device, std::string_view label)
        : session_(session), device_(device), label_(label) {}
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    // Adds a step. Errors are those of dispatches and transfers; UNSUPPORTED for host arguments and
    // time limits, INVALID_ARGUMENT for a queue and for flags that belong to an execution. A
    // refused step leaves the recording unchanged.
    [[nodiscard]] Result<void> add(const Context& context, Target target);
    [[nodiscard]] Result<void> add(const Context& context, const wye_transfer_desc& desc);
    enum class Use : std::uint8_t { Often, Once };
    // Ends the recording. With Use::Once no commands are made.
    [[nodiscard]] Result<void> finish(Use use);

    // Sets the parameters of all dispatches, in order, for later executions. If one is refused,
    // none is changed.
    [[nodiscard]] Result<void> set_params(std::span<const std::uint64_t> params);
    // STALE_HANDLE for a buffer that was freed.
    [[nodiscard]] Result<void> check_live(const registry::HandleTable& handles, QueuePool& queues)
        WYE_REQUIRES(queues.mutex);

    [[nodiscard]] bool names(registry::Handle buffer) const { return places_.contains(buffer); }
    [[nodiscard]] bool is_empty() const noexcept { return operations_.empty(); }
    // Fills all members except the header.
    [[nodiscard]] Result<void> describe(wye_graph_info& out) const;

  private:
    friend class Graph;
    friend class Execution;

    // One dispatch.
    struct Part {
        registry::Pin program;  // of the program or the pipeline
        const plan::ProgramPlan* plan = nullptr;
        std::vector<CompiledRef> compiled;
        std::size_t first_word = 0, word_count = 0;  // range of its parameters in `words_`
        std::size_t block = 0;  // byte offset of its packed parameters in `block_`
        bool late = false;      // its parameters may change between executions
        // As in Repeat: set if parameters decide whether the launch is check-free, else null.
        const lower::Preconditions* preconditions = nullptr;
        plan::Lengths lengths;
        std::array<std::uint32_t, 3> groups, workgroup;
        bool check_free = false;
    };

    [[nodiscard]] Result<void> check(const Flow& flow) const;
    void add_use(registry::Handle buffer, BufferUse use);
    void add_operations(const Flow& flow, const Operations& operations, Part& part);
    [[nodiscard]] Result<void> make_commands();
    [[nodiscard]] Result<bool> make_command(std::span<const wye_operation> operations);
    // Whether all commands are native objects of the driver.
    [[nodiscard]] Result<bool> is_native() const;
    [[nodiscard]] Result<void> pack(const Part& part, std::span<const std::uint64_t> words);

    DeviceSession& session_;
    const wye_device device_;
    const std::string label_;
    std::vector<std::unique_ptr<Part>> parts_;
    std::uint64_t transfers_ = 0;
    wye_report report_{};  // bytes that each execution moves; the groups of a single dispatch
    std::vector<registry::Handle> handles_;                     // each buffer once
    std::vector<BufferUse> uses_;                               // of `handles_`, in the same order
    std::unordered_map<registry::Handle, std::size_t> places_;  // indices of handles in `handles_`
    bool traps_ = false;
    WorkspaceLease workspace_;  // for the trap words of one execution

    std::vector<wye_operation> operations_;
    // The memory that operations point to, as are `fixed_params_` and `block_`.
    std::deque<std::vector<wye_binding>> bindings_;
    std::deque<std::vector<std::uint64_t>> fixed_params_;
    std::vector<std::uint64_t> block_;  // parameters that may change, packed as kernels read them
    std::vector<std::uint64_t> words_;  // the parameters of the last execution
    bool warm_ = false;                 // has run before, as in Kernels
    std::uint64_t frees_ = UINT64_MAX;  // QueuePool::frees() when `handles_` were last live
    std::vector<registry::NativeCommand> commands_;
    bool limited_ = false;  // the plugin allows one pending execution of a command at a time
    // Operations that execute the commands, then the read-back of trap words.
    std::vector<wye_operation> execute_;
    // Value of the newest execution on each queue; 0: none.
    std::array<std::uint64_t, kAllQueues> newest_{};
    std::uint32_t last_queue_ = 0;  // queue of the newest execution
    bool words_taken_ = false;      // an execution in flight uses the workspace's trap words
};

}  // namespace wye::exec
