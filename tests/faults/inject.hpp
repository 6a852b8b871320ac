// SPDX-License-Identifier: Apache-2.0
//
// Decides which call fails: counts calls of one kind made by Wye's code, up to the one that fails.
// The state belongs to the process; call `arm` and `disarm` from one thread while no call of Wye is
// running. The rest is thread-safe, allocates nothing, and may be called from operator new.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faults/modules.h"

namespace faults {

enum Kind : std::uint32_t {
    kNothing = 0,
    kAllocation = 1,  // operator new and aligned_alloc
    kSystem = 2,      // files, folders, libraries, threads
    kSlot = 3,        // slots of a plugin
    kDriver = 4,      // functions of a driver
};

// Whose calls count: those of the thread that calls `arm`, those of all other threads, or all.
enum class Threads : std::uint32_t { kAll, kCaller, kOthers };

struct Plan {
    Kind kind = kNothing;
    // Number of the first call that fails, from 1; 0: none, calls are only counted.
    std::uint64_t at = 0;
    bool persistent = false;    // all later calls fail too
    std::uint32_t flavour = 0;  // which of the call's possible errors
    // Receives the name of the first call that failed: kNameRoom bytes, which can be read after the
    // process died. May be null.
    char* name = nullptr;
    std::uint64_t second = 0;  // number of another call that fails; 0: none
    Threads threads = Threads::kAll;
};
inline constexpr std::size_t kNameRoom = 96;

void arm(const Plan& plan);
// Stops failures, but keeps the counts.
void disarm();

struct Counts {
    std::uint64_t calls = 0;  // of the armed kind
    std::uint64_t fired = 0;
    const char* first = "";  // name of the first call that failed; static
    void* caller = nullptr;  // an address in the calling code, if known
};
Counts counts();

// Counts a call of this kind by Wye's code. Returns true if it must fail. `name` is static.
bool hit(Kind kind, const char* name, void* caller = nullptr);
bool armed(Kind kind);
bool persistent();
std::uint32_t flavour();

// Whether the code at `address` belongs to libwye.so or one of its plugins. For code of a shared
// library (libstdc++, libc, libfmt), the nearest caller outside such libraries decides: calls by
// drivers and tests do not count.
bool made_by_wye(void* address);

// Memory that Wye's code allocated with operator new and has not freed.
struct Live {
    std::uint64_t blocks = 0, bytes = 0;
};
Live live();
// Writes up to `most` of the newest live blocks to stderr, with their sizes and the allocating
// code.
void print_newest_live(std::size_t most);

// The number of live driver objects, as counted by the proxies.
std::int64_t driver_objects();

}  // namespace faults
