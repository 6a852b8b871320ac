// SPDX-License-Identifier: Apache-2.0
//
// Which call fails: a counter of the calls of one kind that Wye's own code makes, and the number of
// the one that fails. State is of the process; `arm` and `disarm` from one thread while no call of
// Wye is running. The rest is thread-safe, allocates nothing, and may be called from operator new.
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

struct Plan {
    Kind kind = kNothing;
    std::uint64_t at = 0;       // the first call that fails, from 1; 0: none, they are counted
    bool persistent = false;    // all later ones fail as well
    std::uint32_t flavour = 0;  // which of the errors that the call may give
    // Where the name of the first call that failed is put: kNameRoom bytes, for who looks at it
    // after the process died. May be null.
    char* name = nullptr;
};
inline constexpr std::size_t kNameRoom = 96;

void arm(const Plan& plan);
// Nothing fails any more. The counts stay.
void disarm();

struct Counts {
    std::uint64_t calls = 0;  // of the armed kind
    std::uint64_t fired = 0;
    const char* first = "";  // the name of the first that failed; static
    void* caller = nullptr;  // an address in the code that made it, where known
};
Counts counts();

// One call of this kind by Wye's code; true: it fails. `name` is static.
bool hit(Kind kind, const char* name, void* caller = nullptr);
bool armed(Kind kind);
bool persistent();
std::uint32_t flavour();

// Whether the code at `address` belongs to libwye.so or one of its plugins. Where it belongs to a
// library that serves everybody (libstdc++, libc, libfmt), the nearest caller beyond those decides:
// what drivers and tests allocate or open does not count.
bool made_by_wye(void* address);

// Memory that Wye's code took with operator new and did not give back.
struct Live {
    std::uint64_t blocks = 0, bytes = 0;
};
Live live();
// Writes up to `most` of the newest of these to stderr, by size and the code that took them.
void print_newest_live(std::size_t most);

// Objects of the driver that are alive, by the proxies' count.
std::int64_t driver_objects();

}  // namespace faults
