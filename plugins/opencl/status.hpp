// SPDX-License-Identifier: Apache-2.0
//
// OpenCL status values as names and as our errors. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "opencl/driver.hpp"

namespace wye::opencl {

struct Status {
    Code code;
    std::string_view name;  // "CL_OUT_OF_RESOURCES"; "unknown OpenCL status"
};
[[nodiscard]] Status status_of(cl_int value);

// What a working driver does not say of valid calls; and CL_OUT_OF_RESOURCES, which stands for full
// memory and for a lost device.
[[nodiscard]] bool hints_at_loss(cl_int value);

// How far a command is.
struct EventState {
    cl_int status = CL_SUCCESS;  // of the question; when it failed, `state` says nothing
    cl_int state = CL_COMPLETE;  // above that: not ended yet; negative: it failed
};
[[nodiscard]] EventState state_of(const Driver& driver, cl_event event);
// From the start of one command to the end of another; 0: the driver does not say.
[[nodiscard]] std::uint64_t spent_ns(const Driver& driver, cl_event first, cl_event last);

// "CALL on SUBJECT failed: CL_NAME (-5)", with the remedy that fits the code.
[[nodiscard]] Error native_error(cl_int value, std::string_view call, std::string_view subject);

}  // namespace wye::opencl
