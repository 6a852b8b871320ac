// SPDX-License-Identifier: Apache-2.0
//
// Repeated requests: a request is kept as prepared work, so that repeating it costs only a look-up.
//
// The operations of a request depend on the request, its program, its device and the sizes of its
// buffers. Each of these is constant while its handle lives, and handles are never reused. So an
// equal request has the same operations if its handles are still live, which is checked before each
// submit.
//
// A request is kept only if it has no time limit, uses only resident buffers, and has at most 256
// operations, none of which uses scratch memory. Its program must not be able to trap, nor be split
// at grid barriers. The iterations of a fixpoint and the parts of a split grid are operations of
// one command. A session keeps a few requests (QueuePool::kept), and finds them by their program or
// pipeline and their buffers. A kept request borrows native objects and histories from the objects
// of its handles.
#pragma once

#include "exec/context.hpp"
#include "exec/dispatch/pending.hpp"
#include "exec/dispatch/target.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

// Runs a dispatch: a repeated request from its prepared work, any other request with all steps,
// like dispatch_in_full. The header of the report must be valid.
[[nodiscard]] Result<void> dispatch(Context& context, const wye_dispatch_desc& desc,
                                    wye_report* report);
// Like `dispatch`, but submits the work as Pending::submit does, and does not wait for its end.
[[nodiscard]] Result<WorkPtr<Pending>> submit_dispatch(Context& context, Target& target,
                                                       const RequestRules& rules,
                                                       Clock::time_point start);

}  // namespace wye::exec
