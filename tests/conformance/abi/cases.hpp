// SPDX-License-Identifier: Apache-2.0
//
// Cases that only a plugin's own tests can set up, since they know which facts its driver lacks and
// have a driver that can be made to fail. Called from a TEST_CASE; uses doctest's checks.
#pragma once

#include <functional>

#include "conformance/abi/harness.hpp"

namespace harness::cases {

// The first device accepts artifacts of this format only.
void first_device_takes(const Plugin& plugin, std::string_view format);

// The first device does not report these facts.
void facts_are_absent(const Plugin& plugin, std::span<const std::uint32_t> keys);

// The library named by the configuration's `key` is absent, or is not a driver.
void absent_library_is_named(const char* key, const std::string& library, const char* package);
void foreign_library_is_refused(const char* key, const char* function);

// `launch`: of a program that reads the first buffer and writes the second. A range that begins
// between multiples of the device's alignment is refused with it, and nothing is queued.
void crooked_range_is_refused(
    const Plugin& plugin, Device& device,
    const std::function<wye_operation(std::span<const wye_binding>)>& launch);

// The driver's status of the call that returns WYE_DEVICE_LOST.
struct Loss {
    const char* native_domain;
    std::int64_t native_code;
};
void tells_loss(const Failure& failure, const Loss& loss);

// `lose` loses the device while a submit is pending; afterwards every handle returns DEVICE_LOST,
// also queues that had no part in the loss. `artifact` would compile.
void lost_on_every_handle(Device& device, const wye_artifact& artifact, const Loss& loss,
                          const std::function<void()>& lose);

// The driver refuses a lost device to this process, and the error has a remedy.
void not_opened_again(const Plugin& plugin, const Loss& loss);

}  // namespace harness::cases
