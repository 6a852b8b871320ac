// SPDX-License-Identifier: Apache-2.0
//
// Converts OpenCL status values to names and errors. Free-threaded.
#pragma once

#include <string>
#include <string_view>

#include "opencl/driver.hpp"

namespace wye::opencl {

struct Status {
    Code code;
    std::string_view name;  // such as "CL_OUT_OF_RESOURCES", or "unknown OpenCL status"
};
[[nodiscard]] Status status_of(cl_int value);

// Whether a status may mean a lost device: a status that a working driver never returns for valid
// calls, or CL_OUT_OF_RESOURCES, which may also mean full memory.
[[nodiscard]] bool hints_at_loss(cl_int value);

// The state of a command.
struct EventState {
    cl_int status = CL_SUCCESS;  // of the query; if not CL_SUCCESS, ignore `state`
    cl_int state = CL_COMPLETE;  // positive: not ended yet; negative: failed
};
[[nodiscard]] EventState state_of(const Driver& driver, cl_event event);
// The start of one command and the end of another, on the device's clock; 0: not reported.
struct EventTimes {
    std::uint64_t start = 0, end = 0;
};
[[nodiscard]] EventTimes times_of(const Driver& driver, cl_event first, cl_event last);

// The error "CALL on SUBJECT failed: CL_NAME (-5)", with a remedy for the status.
[[nodiscard]] Error native_error(cl_int value, std::string_view call, std::string_view subject);

}  // namespace wye::opencl
