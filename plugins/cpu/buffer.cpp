// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "cpu/device.hpp"

namespace wye::cpu {

namespace {
constexpr std::uint64_t kLine = 64;
constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
// Buffers of some size stand on huge pages where the system grants them: programs that stream over
// them otherwise spend a tenth of their time or more on address translation.
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
constexpr std::uint64_t kHugeFrom = 4 * kHugePage;

void ask_for_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t size) {
#ifdef MADV_HUGEPAGE
    madvise(data, size, MADV_HUGEPAGE);  // a wish: refusal changes nothing
#endif
}
}  // namespace

std::unique_ptr<Buffer> Buffer::create(std::uint64_t size, std::uint64_t alignment) noexcept {
    const bool huge = size >= kHugeFrom;
    const std::uint64_t align = std::max(alignment, huge ? kHugePage : kLine);
    if (size > kMost || align > kMost) return nullptr;
    const std::uint64_t all = (size + kLine + align - 1) / align * align;
    auto* data = static_cast<std::byte*>(
        std::aligned_alloc(static_cast<std::size_t>(align), static_cast<std::size_t>(all)));
    if (data == nullptr) return nullptr;
    if (huge) ask_for_huge_pages(data, static_cast<std::size_t>(all));
    std::memset(data + size, 0, kLine);
    std::unique_ptr<Buffer> buffer(new (std::nothrow) Buffer(data, size));
    if (!buffer) std::free(data);
    return buffer;
}

Buffer::~Buffer() { std::free(data_); }

}  // namespace wye::cpu
