// SPDX-License-Identifier: Apache-2.0
//
// The step that chooses a device for a request that names none, and whose buffers have no owner.
// The choice itself is that of Context::open_device, by the default selector; this step says which
// devices fit the launch, and remembers the answer. Enters drivers only to open devices.
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
// Chooses a device. NO_DEVICE has the reason against each device as a cause. `handle`: the program.
[[nodiscard]] Result<Chosen> choose(Context& context, registry::Handle handle,
                                    const LoadedProgram& program, const plan::Launch& launch,
                                    const route::Demands& demands);
// As above, before the sizes of launches are known. A `workgroup` of zeros means the program's own.
[[nodiscard]] Result<Chosen> choose(Context& context, registry::Handle handle,
                                    const LoadedProgram& program, const plan::Count3& workgroup,
                                    const route::Demands& demands);

}  // namespace wye::exec
