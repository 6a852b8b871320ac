// SPDX-License-Identifier: Apache-2.0
//
// The own stage: resident arguments against the ledger of handles. `resolve` runs before admission,
// since sizes come from the buffers; `own` runs after routing, since it needs the device. Neither
// touches a driver. Handles are looked at in the order of the program's input list, then the rest.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "exec/device/session.hpp"
#include "plan/launch.hpp"
#include "registry/ownership.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// The resident buffers of one request, kept alive while it runs.
class Residents {
  public:
    // Fills in `buffer_size` of each resident argument. STALE_HANDLE, WRONG_KIND, and WRONG_OWNER
    // for a handle of another context. Arguments with unknown bindings are left to admission.
    [[nodiscard]] Result<void> resolve(const registry::HandleTable& handles,
                                       const plan::ProgramPlan& plan,
                                       std::span<plan::Argument> arguments);

    // WRONG_OWNER unless the session's device owns every one.
    [[nodiscard]] Result<void> own(const registry::HandleTable& handles,
                                   const plan::ProgramPlan& plan, const DeviceSession& session,
                                   std::span<const plan::Argument> arguments) const;

    // Re-checks that all are still live and marks them in flight, all or none.
    [[nodiscard]] Result<registry::InFlight> begin_use(const registry::HandleTable& handles) const;

    [[nodiscard]] bool empty() const noexcept { return pins_.empty(); }
    [[nodiscard]] wye_buffer_object* object(std::uint32_t argument) const;

  private:
    registry::InplaceList<registry::Pin, WYE_LIMIT_BUFFERS> pins_;
    registry::InplaceList<registry::Handle, WYE_LIMIT_BUFFERS> handles_;  // of the pins
    std::array<std::uint8_t, WYE_LIMIT_BUFFERS> pin_of_{};                // by argument
};

}  // namespace wye::exec
