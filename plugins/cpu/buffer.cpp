// SPDX-License-Identifier: Apache-2.0
#include "cpu/buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace wye::cpu {
namespace {

constexpr std::uint64_t kLine = 64;
constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
// Large buffers ask for huge pages. Without them, programs that stream through memory spend 10 % or
// more of their time on address translation, and the first write takes more than four times as
// long. In a virtual machine, the time of the first write also depends on the host: see README.md.
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
constexpr std::uint64_t kHugeFrom = 4 * kHugePage;

void ask_for_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t size) {
#ifdef MADV_HUGEPAGE
    madvise(data, size, MADV_HUGEPAGE);  // a hint: failure is harmless
#endif
}

}  // namespace

Result<std::unique_ptr<Buffer>> Buffer::create(Device& device, const wye_buffer_desc& desc) {
    if (desc.usage == WYE_BUFFER_USAGE_REGISTERED)
        return std::unique_ptr<Buffer>(new Buffer(desc.memory));
    const std::string_view label = sdk::from_abi(desc.label);
    Memory memory = allocate(desc.size, desc.alignment);
    if (memory != nullptr) return std::unique_ptr<Buffer>(new Buffer(std::move(memory)));
    Error error(Code::DEVICE_MEMORY, {}, {}, std::string(label));
    return sdk::errors::no_memory(std::move(error), desc.size, device.info.name,
                                  "the system has no more memory");
}

Result<std::unique_ptr<Buffer>> Buffer::adopt(Device& device, const wye_buffer_desc& desc) {
    constexpr std::string_view kType = "void*";
    WYE_ASSIGN(const auto memory, sdk::native_value_as<void*>(desc, kType, device.info.name));
    WYE_TRY(sdk::check_native(desc, desc.size, reinterpret_cast<std::uintptr_t>(memory)));
    return std::unique_ptr<Buffer>(new Buffer(memory));
}

Result<sdk::Mapping> Buffer::map() const { return sdk::Mapping{data_, true}; }

Buffer::Memory Buffer::allocate(std::uint64_t size, std::uint64_t alignment) {
    const bool huge = size >= kHugeFrom;
    const std::uint64_t align = std::max(alignment, huge ? kHugePage : kLine);
    if (size > kMost || align > kMost) return nullptr;
    const std::uint64_t all = (size + kLine + align - 1) / align * align;
    Memory memory(static_cast<std::byte*>(
        std::aligned_alloc(static_cast<std::size_t>(align), static_cast<std::size_t>(all))));
    if (memory == nullptr) return nullptr;
    if (huge) ask_for_huge_pages(memory.get(), static_cast<std::size_t>(all));
    std::memset(memory.get() + size, 0, kLine);
    return memory;
}

}  // namespace wye::cpu
