// SPDX-License-Identifier: Apache-2.0
//
// Repeated requests: a request is kept as prepared work, so that repeating it costs a look-up.
//
// The operations of a request depend on the request, its program, its device and the sizes of its
// buffers. None of them changes while its handle lives, and handles are never reused. So an equal
// request has the same operations if its handles are still live, which is checked before each
// submit.
//
// Only requests without a time limit are kept, on resident buffers only, of programs that cannot
// trap and are not split at grid barriers, of at most 256 operations, none of which is on scratch.
// The rounds of a fixpoint and the parts of a split grid are operations of the one command. A
// session keeps the last requests (QueuePool::kept), found by program or pipeline and buffers.
// Native objects and histories are borrowed from the objects of the handles.
#pragma once

#include "exec/context.hpp"
#include "exec/dispatch/pending.hpp"
#include "exec/dispatch/target.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

// Runs a dispatch: again if it is a repeated request, else with all steps, as dispatch_in_full. The
// header of the report is valid.
[[nodiscard]] Result<void> dispatch(Context& context, const wye_dispatch_desc& desc,
                                    wye_report* report);
// Submits a dispatch likewise, as Pending::submit.
[[nodiscard]] Result<WorkPtr<Pending>> submit_dispatch(Context& context, Target& target,
                                                       const RequestRules& rules,
                                                       Clock::time_point start);

}  // namespace wye::exec
