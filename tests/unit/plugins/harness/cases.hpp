// SPDX-License-Identifier: Apache-2.0
//
// What every driver plugin must do the same way: test cases over an opened device, for a TEST_CASE
// of each plugin's own. They use doctest's checks and throw nothing.
#pragma once

#include "harness/harness.hpp"

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

}  // namespace harness::cases
