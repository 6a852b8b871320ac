// SPDX-License-Identifier: Apache-2.0
//
// Checks that only a plugin's own tests can set up: these tests know which facts the driver lacks,
// and can make the driver fail. The functions use doctest's checks, so call them from a TEST_CASE.
#pragma once

#include <functional>

#include "conformance/abi/harness.hpp"

namespace harness::cases {

// Checks that the first device accepts artifacts of the format `format` and of no other format.
void first_device_takes(const Plugin& plugin, std::string_view format);

// Checks that the first device does not report the facts `keys`.
void facts_are_absent(const Plugin& plugin, std::span<const std::uint32_t> keys);

// Check the error of `init` if the configuration's `key` names an absent library (first function),
// or a library that is no driver (second function).
void absent_library_is_named(const char* key, const std::string& library, const char* package);
void foreign_library_is_refused(const char* key, const char* function);

// Checks that a range that begins between multiples of the device's alignment is refused, that the
// error names the alignment, and that nothing is queued. `launch` makes the launch of a program
// that reads the first buffer and writes the second.
void crooked_range_is_refused(
    const Plugin& plugin, Device& device,
    const std::function<wye_operation(std::span<const wye_binding>)>& launch);

// The driver's own status, in the error of a call that returns WYE_DEVICE_LOST.
struct Loss {
    const char* native_domain;
    std::int64_t native_code;
};
void tells_loss(const Failure& failure, const Loss& loss);

// Checks that after a loss every handle returns DEVICE_LOST, also a queue that had no work. `lose`
// loses the device while a submit is pending. `artifact`: an artifact that compiles on a device
// that works.
void lost_on_every_handle(Device& device, const wye_artifact& artifact, const Loss& loss,
                          const std::function<void()>& lose);

// For a driver that can open a lost device again only in a new process. Checks that this process
// cannot open the device, and that the error has a remedy.
void not_opened_again(const Plugin& plugin, const Loss& loss);

}  // namespace harness::cases
