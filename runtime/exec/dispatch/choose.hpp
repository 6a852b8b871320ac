// SPDX-License-Identifier: Apache-2.0
//
// The step that chooses a device for a request that names no device, no resident buffer and no
// queue. Context::open_device makes the choice, by the default selector. This step tells which
// devices fit the launch, and remembers the chosen device. Enters drivers only to open devices.
#pragma once

#include "exec/choices.hpp"
#include "exec/context.hpp"
#include "exec/program/loaded_program.hpp"
#include "plan/launch.hpp"
#include "registry/hold/ownership.hpp"
#include "route/route.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct Chosen {
    Routed routed;
    registry::Pin device;
};
// Chooses a device. Errors: NO_DEVICE, with the reason against each device as a cause. `handle`:
// the program's handle.
[[nodiscard]] Result<Chosen> choose(Context& context, registry::Handle handle,
                                    const LoadedProgram& program, const plan::Launch& launch,
                                    const route::Demands& demands);
// Like `choose` above, before the sizes of launches are known. A `workgroup` of zeros means the
// program's own.
[[nodiscard]] Result<Chosen> choose(Context& context, registry::Handle handle,
                                    const LoadedProgram& program, const plan::Count3& workgroup,
                                    const route::Demands& demands);

}  // namespace wye::exec
