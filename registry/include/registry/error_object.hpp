// SPDX-License-Identifier: Apache-2.0
//
// The object behind `wye_error*`: what plugins get from the host's error_make and what libwye hands
// to applications. One allocator, one layout, one file. Immutable after it was made; free-threaded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "wye/abi.h"
#include "wye/sdk/result.hpp"

// Global because the C header names it. Each string is terminated.
struct wye_error {
    wye::Error error;
    std::uint32_t causes = 0;  // length of error's chain of causes
    // For libwye's accessors; a plugin's error, which the host takes in, has neither.
    std::string text;                  // error.text(), made once
    std::unique_ptr<wye_error> cause;  // mirrors error.cause; null: none

    ~wye_error() {
        while (cause) cause = std::move(cause->cause);
    }
};

namespace wye::registry {

// An error object has at most this many causes. Of a longer chain the middle is left out.
inline constexpr std::uint32_t kMostCauses = 64;

// For an application. Never throws. When memory is short, a static object that stands for
// OUT_OF_MEMORY.
[[nodiscard]] wye_error* make_error_object(Error error) noexcept;
// For a plugin, in constant time: takes over `cause`, which may be null. As above otherwise.
[[nodiscard]] wye_error* make_error_object(Error error, wye_error* cause) noexcept;

// Frees it; null and the static object are fine.
void release_error_object(wye_error* error) noexcept;

// Takes the error out of a plugin's sink and frees the object. `status` is what the call returned:
// with a null `object` the error says that `what` failed without details. An unknown status is
// kept.
[[nodiscard]] Error take_error(wye_status status, wye_error* object, std::string_view what);

// Writes `error` to an application's or host's sink (may be null); returns its status.
wye_status put_error(Error error, wye_error** sink) noexcept;

}  // namespace wye::registry
