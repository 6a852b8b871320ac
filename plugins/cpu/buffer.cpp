// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "device.hpp"

namespace wye::cpu {

namespace {
constexpr std::uint64_t kLine = 64;
constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
}  // namespace

std::unique_ptr<Buffer> Buffer::create(std::uint64_t size, std::uint64_t alignment) noexcept {
    const std::uint64_t align = std::max(alignment, kLine);
    if (size > kMost || align > kMost) return nullptr;
    const std::uint64_t all = (size + kLine + align - 1) / align * align;
    auto* data = static_cast<std::byte*>(
        std::aligned_alloc(static_cast<std::size_t>(align), static_cast<std::size_t>(all)));
    if (data == nullptr) return nullptr;
    std::memset(data + size, 0, kLine);
    std::unique_ptr<Buffer> buffer(new (std::nothrow) Buffer(data, size));
    if (!buffer) std::free(data);
    return buffer;
}

Buffer::~Buffer() { std::free(data_); }

}  // namespace wye::cpu
