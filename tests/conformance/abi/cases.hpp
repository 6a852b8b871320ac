// SPDX-License-Identifier: Apache-2.0
//
// What every driver plugin must do the same way: test cases over an opened device, for a TEST_CASE
// of each plugin's own. They use doctest's checks and throw nothing.
#pragma once

#include <functional>

#include "conformance/abi/harness.hpp"

namespace harness::cases {

// Uploads, fills of every pattern size, copies and downloads move their bytes and no others.
void transfers_are_exact(Device& device);

// The n-th submit has value n; older values and an empty submit are reached in order.
void values_count_submits(Device& device, std::uint64_t submits, std::uint64_t bytes);

// Work of a second queue starts when what it waits for has ended.
void a_queue_waits_for_another(Device& device, std::uint64_t bytes);

// The time of a submit covers all of it; one of long ago, or of nowhere, has none. `device` has a
// queue with timing. `least_ns`: what filling 64 MiB takes at least.
void times_are_of_the_submit(Device& device, std::uint64_t least_ns);

// The first device is listed with a name, one format and the facts that the host relies on.
void first_device_is_listed(const Plugin& plugin, std::string_view format);

// These facts are absent, and an unknown key is said to be one.
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
