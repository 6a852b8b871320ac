// SPDX-License-Identifier: Apache-2.0
//
// Decides which call fails. Counts the calls of one kind that Wye's code makes, and lets the n-th
// call fail. There is one state for the process. Call `arm` and `disarm` from one thread, while no
// call of Wye is running. All other functions are thread-safe, allocate nothing, and may be called
// from operator new.
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

// Which threads' calls count: all, only that of the caller of `arm`, or all others.
enum class Threads : std::uint32_t { kAll, kCaller, kOthers };

struct Plan {
    Kind kind = kNothing;
    // Number of the first call that fails, from 1; 0: none, calls are only counted.
    std::uint64_t at = 0;
    bool persistent = false;    // all later calls fail, too
    std::uint32_t flavour = 0;  // which of the errors that the call may return
    // Memory of kNameRoom bytes for the name of the first call that failed. The memory must be
    // readable after the process has died. May be null.
    char* name = nullptr;
    std::uint64_t second = 0;  // number of a second call that fails; 0: none
    Threads threads = Threads::kAll;
};
inline constexpr std::size_t kNameRoom = 96;

void arm(const Plan& plan);
// No call fails any more. The counts are kept.
void disarm();

struct Counts {
    std::uint64_t calls = 0;  // calls of the plan's kind
    std::uint64_t fired = 0;
    const char* first = "";  // name of the first call that failed; static
    void* caller = nullptr;  // an address in the code that made that call, or null
};
Counts counts();

// Counts a call of this kind that Wye's code makes. True: the call must fail. `name` is static.
bool hit(Kind kind, const char* name, void* caller = nullptr);
bool armed(Kind kind);
bool persistent();
std::uint32_t flavour();

// Whether Wye's code made a call: the code at `address` belongs to libwye.so or to a plugin. If it
// belongs to libstdc++, libc or libfmt, the nearest caller outside such libraries decides. Calls
// that drivers and tests make do not count.
bool made_by_wye(void* address);

// Memory that Wye's code allocated with operator new and has not freed.
struct Live {
    std::uint64_t blocks = 0, bytes = 0;
};
Live live();
// Writes the newest live blocks, `most` of them at most, to stderr, with their sizes and the code
// that allocated them.
void print_newest_live(std::size_t most);

// The number of live driver objects, which the driver proxies count.
std::int64_t driver_objects();

}  // namespace faults
