// SPDX-License-Identifier: Apache-2.0
#include "command/memory.hpp"

#include <sys/mman.h>

#include <fmt/format.h>

namespace wye::tool {

Error no_memory(std::uint64_t size, std::string_view what) {
    return Error(
        Code::OUT_OF_MEMORY, fmt::format("there is no memory for {} bytes of {}", size, what),
        "Fix: free memory, raise the process's limit, or use less data", std::string(what));
}

Memory::~Memory() {
    if (data_ != nullptr) ::munmap(data_, size_);
}

Result<Memory> Memory::of(std::uint64_t size, std::string_view what) {
    Memory out;
    if (size == 0) return out;
    void* made = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return no_memory(size, what);
    out.data_ = static_cast<std::byte*>(made);
    out.size_ = size;
    return out;
}

}  // namespace wye::tool
