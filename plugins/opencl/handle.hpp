// SPDX-License-Identifier: Apache-2.0
//
// Owner of one OpenCL object: releases it through the driver. Movable; not synchronised.
#pragma once

#include <utility>

#include "opencl/driver.hpp"

namespace wye::opencl {

template <typename Object, auto Release>
class Handle {
  public:
    Handle() = default;
    Handle(const Driver& driver, Object object) : driver_(&driver), object_(object) {}
    Handle(Handle&& other) noexcept
        : driver_(other.driver_), object_(std::exchange(other.object_, nullptr)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(driver_, other.driver_);
        std::swap(object_, other.object_);
        return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        if (object_ != nullptr) (driver_->*Release)(object_);
    }

    [[nodiscard]] Object get() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }

  private:
    const Driver* driver_ = nullptr;
    Object object_ = nullptr;
};

using Context = Handle<cl_context, &Driver::clReleaseContext>;
using CommandQueue = Handle<cl_command_queue, &Driver::clReleaseCommandQueue>;
using Memory = Handle<cl_mem, &Driver::clReleaseMemObject>;
using Program = Handle<cl_program, &Driver::clReleaseProgram>;
using Kernel = Handle<cl_kernel, &Driver::clReleaseKernel>;
using Event = Handle<cl_event, &Driver::clReleaseEvent>;

}  // namespace wye::opencl
