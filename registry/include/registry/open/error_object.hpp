// SPDX-License-Identifier: Apache-2.0
//
// The object behind `wye_error*`, for plugins (the host's error_make) and applications. Immutable;
// free-threaded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "wye/abi.h"
#include "wye/sdk/result.hpp"

// In the global namespace because the C header names it. All strings are null-terminated.
struct wye_error {
    wye::Error error;
    std::uint32_t causes = 0;  // length of error's chain of causes
    // `text` and `cause` are for the accessors of wye.h, and are not set in errors made by plugins.
    std::string text;                  // error.text(), made once
    std::unique_ptr<wye_error> cause;  // mirrors error.cause; null: none

    ~wye_error() {
        while (cause) cause = std::move(cause->cause);
    }
};

namespace wye::registry {

// The maximum number of causes of an error object. A longer chain loses its middle.
inline constexpr std::uint32_t kMostCauses = 64;

// Makes an error for an application. Never throws: without memory, returns a static OUT_OF_MEMORY
// error.
[[nodiscard]] wye_error* make_error_object(Error error) noexcept;
// Makes an error for a plugin, in constant time. Takes ownership of `cause`, which may be null.
[[nodiscard]] wye_error* make_error_object(Error error, wye_error* cause) noexcept;

// Frees an error; null and the static object are allowed.
void release_error_object(wye_error* error) noexcept;

// Converts the error object that a plugin's slot returned, and frees the object. `status` is the
// status that the slot returned, and is kept even if it is unknown. With a null `object`, the error
// says that `what` failed without details.
[[nodiscard]] Error take_error(wye_status status, wye_error* object, std::string_view what);

// Writes `error` to `sink`, the application's or host's pointer for errors, which may be null.
// Returns the error's status.
wye_status put_error(Error error, wye_error** sink) noexcept;

}  // namespace wye::registry
