// SPDX-License-Identifier: Apache-2.0
//
// Owners of OpenCL objects.
#pragma once

#include "opencl/driver.hpp"
#include "wye/sdk/handle.hpp"

namespace wye::opencl {

template <typename Object, auto Function>
void release(const Driver& driver, Object object) {
    (void)(driver.*Function)(object);
}
template <typename Object, auto Function>
using Handle = sdk::Handle<const Driver, Object, &release<Object, Function>>;

using ContextHandle = Handle<cl_context, &Driver::clReleaseContext>;
using QueueHandle = Handle<cl_command_queue, &Driver::clReleaseCommandQueue>;
using MemoryHandle = Handle<cl_mem, &Driver::clReleaseMemObject>;
using ProgramHandle = Handle<cl_program, &Driver::clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, &Driver::clReleaseKernel>;
using EventHandle = Handle<cl_event, &Driver::clReleaseEvent>;

// The events that an enqueued command waits for, and where to store its own event; null: none.
struct Order {
    cl_uint wait_count = 0;
    const cl_event* waits = nullptr;
    cl_event* event = nullptr;
};

}  // namespace wye::opencl
