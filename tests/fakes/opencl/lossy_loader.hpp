// SPDX-License-Identifier: Apache-2.0
//
// An OpenCL loader before the real one that loses devices as NVIDIA's driver 580 does after a
// kernel used an address that is not its own. State is of the process.
#pragma once

namespace lossy_opencl {

struct Control {
    void (*reset)();
    // From now on work fails: clFinish says CL_INVALID_COMMAND_QUEUE, the rest -9999. Nothing new
    // can be had of the driver.
    void (*lose)();
    // clFinish says CL_INVALID_COMMAND_QUEUE once, and all is well.
    void (*fail_next_finish)();
    // Fills say CL_OUT_OF_RESOURCES while set.
    void (*memory_full)(bool full);
};

}  // namespace lossy_opencl

extern "C" const lossy_opencl::Control* lossy_opencl_control();
