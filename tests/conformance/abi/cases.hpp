// SPDX-License-Identifier: Apache-2.0
//
// What a plugin must do that only its own tests can bring about, since they know what its driver
// lacks, and have one that can be made to fail: for a TEST_CASE of theirs. Uses doctest's checks.
#pragma once

#include <functional>

#include "conformance/abi/harness.hpp"

namespace harness::cases {

// The first device takes artifacts of this format and no other.
void first_device_takes(const Plugin& plugin, std::string_view format);

// The first device does not report these facts.
void facts_are_absent(const Plugin& plugin, std::span<const std::uint32_t> keys);

// The library that `key` of the configuration names is not there, or is no driver.
void absent_library_is_named(const char* key, const std::string& library, const char* package);
void foreign_library_is_refused(const char* key, const char* function);

// How a plugin tells a loss: the call's own status behind WYE_DEVICE_LOST.
struct Loss {
    const char* native_domain;
    std::int32_t native_code;
};
void tells_loss(const Failure& failure, const Loss& loss);

// `lose` loses the device while a submit is pending; then everything of it says so, the queues that
// did not meet the loss too. `artifact` would compile.
void lost_on_every_handle(Device& device, const wye_artifact& artifact, const Loss& loss,
                          const std::function<void()>& lose);

// The driver gives a lost device to this process no more, and the error says what helps.
void not_opened_again(const Plugin& plugin, const Loss& loss);

}  // namespace harness::cases
