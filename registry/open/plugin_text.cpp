// SPDX-License-Identifier: Apache-2.0
#include "registry/open/plugin_text.hpp"

#include <fmt/format.h>

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace wye::registry {
namespace {

Error fault(std::string_view what, const std::string& how) {
    return {Code::PLUGIN_FAULT, fmt::format("{} {}", what, how),
            "Fix: report this to the plugin's author"};
}

Result<void> check_size(const void* data, std::uint64_t size, std::uint64_t limit,
                        std::string_view what) {
    if (size > limit)
        return fault(what, fmt::format("claims {} bytes; the limit is {}", size, limit));
    if (data == nullptr && size != 0)
        return fault(what, fmt::format("has {} bytes, but its pointer is null", size));
    return {};
}

Error unreadable(std::string_view what, std::uint64_t size) {
    return fault(what, fmt::format("claims {} bytes, which are not all in memory", size));
}

}  // namespace

// Set by the linker: the first byte of the library or program that contains this code, and the byte
// after the last byte.
extern "C" {
[[gnu::visibility("hidden")]] extern const char __ehdr_start;
[[gnu::visibility("hidden")]] extern const char _end;
}

// Copies by a system call, which reports unmapped memory. Copies directly if a sandbox forbids the
// call, if the memory is known to be mapped, or if the memory is a part of this library, as the
// constants of a built-in plugin are.
bool read_memory(void* to, const void* from, std::size_t size, Memory memory) noexcept {
    if (size == 0) return true;  // both pointers may be null
    const auto at = reinterpret_cast<std::uintptr_t>(from);
    const auto begin = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
    const auto end = reinterpret_cast<std::uintptr_t>(&_end);
    const bool own = at >= begin && at < end && size <= end - at;
    if (own || memory == Memory::mapped) {
        std::memcpy(to, from, size);
        return true;
    }
    std::size_t done = 0;
    while (done < size) {
        const iovec local{static_cast<std::byte*>(to) + done, size - done};
        const iovec remote{
            const_cast<std::byte*>(static_cast<const std::byte*>(from)) + done,  // only read
            size - done};
        const ssize_t read = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
        if (read < 0 && errno != EFAULT) {
            std::memcpy(local.iov_base, remote.iov_base, local.iov_len);
            return true;
        }
        if (read <= 0) return false;
        done += static_cast<std::size_t>(read);
    }
    return true;
}

Result<std::string> read_text(wye_string text, std::uint64_t limit, std::string_view what,
                              Memory memory) {
    WYE_TRY(check_size(text.data, text.size, limit, what));
    std::string raw(text.size, '\0');
    if (!read_memory(raw.data(), text.data, raw.size(), memory)) return unreadable(what, text.size);
    return one_line(raw);
}

Result<std::vector<std::byte>> read_bytes(wye_bytes bytes, std::uint64_t limit,
                                          std::string_view what) {
    WYE_TRY(check_size(bytes.data, bytes.size, limit, what));
    // Reads the last byte first, to fail before allocating room for all.
    std::byte last{};
    if (bytes.size != 0 &&
        !read_memory(&last, static_cast<const std::byte*>(bytes.data) + (bytes.size - 1), 1))
        return unreadable(what, bytes.size);
    std::vector<std::byte> out(bytes.size);
    if (!read_memory(out.data(), bytes.data, out.size())) return unreadable(what, bytes.size);
    return out;
}

}  // namespace wye::registry
