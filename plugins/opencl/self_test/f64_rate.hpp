// SPDX-License-Identifier: Apache-2.0
//
// F64Rate: the speed of f32 divided by the speed of f64 on a device (the fact f32_to_f64_rate).
// OpenCL has no query for this rate. The rate is measured on GPUs that have f64, when the fact is
// first asked for, and is kept in the host's cache folder. Free-threaded.
#pragma once

#include <mutex>

#include "opencl/discovery.hpp"

namespace wye::opencl {

struct Plugin;

class F64Rate {
  public:
    // `plugin` must outlive this object.
    explicit F64Rate(Plugin& plugin) : plugin_(plugin) {}

    // `info` is always the same device. 0: unknown. A CPU is not measured: its vectors have half as
    // many f64 as f32.
    [[nodiscard]] std::uint64_t of(const DeviceInfo& info);

  private:
    // The kept rate, or the measured one.
    [[nodiscard]] std::uint64_t find(const DeviceInfo& info) const;

    Plugin& plugin_;
    std::once_flag once_;
    std::uint64_t rate_ = 0;
};

}  // namespace wye::opencl
