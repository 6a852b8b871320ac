// SPDX-License-Identifier: Apache-2.0
//
// Later: a request that is submitted after its call has returned. It owns a copy of the request,
// copies of the inputs (unless the request lends its memory), and the state of the steps before
// submit. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/context.hpp"
#include "exec/device/host_memory.hpp"
#include "exec/dispatch/flow.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class Later {
  public:
    // Copies the request of `target`, and runs the steps before submit again for the copy. `from`:
    // the state of the original request after these steps. Its queue is moved to the copy's state.
    [[nodiscard]] static Result<std::unique_ptr<Later>> make(Context& context, Target& target,
                                                             Flow& from);
    Later() = default;
    Later(const Later&) = delete;
    Later& operator=(const Later&) = delete;

    [[nodiscard]] Flow& flow() { return *flow_; }
    // The memory of the copied inputs, which must live until the work has ended.
    [[nodiscard]] HostBlock take_inputs() noexcept { return std::move(inputs_); }

  private:
    void copy_inputs(DeviceSession& session);

    wye_dispatch_desc desc_{};
    std::vector<wye_argument> arguments_;
    std::vector<std::uint64_t> params_;
    std::string label_, profile_;
    HostBlock inputs_;
    std::optional<Target> target_;
    std::optional<Flow> flow_;  // refers to the members above
};

}  // namespace wye::exec
