// SPDX-License-Identifier: Apache-2.0
//
// Whether a sanitizer is compiled in. A sanitizer makes computing several times slower, and finds
// only faults of memory and threads, so tests that repeat random work do less with one.
#pragma once

namespace support {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace support
