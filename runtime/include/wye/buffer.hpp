// SPDX-License-Identifier: Apache-2.0
//
// wye::Buffer: a buffer resident on one device. Part of wye.hpp, whose conventions hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "wye/buffer.h"
#include "wye/element.hpp"
#include "wye/handle.hpp"
#include "wye/native.h"
#include "wye/pending.hpp"
#include "wye/queue.hpp"
#include "wye/sdk/result.hpp"

namespace wye {

// A buffer resident on one device.
class Buffer {
  public:
    // Owns a handle of the C API.
    Buffer(std::shared_ptr<wye_context> context, wye_buffer handle)
        : handle_(std::move(context), handle) {}

    // The handle of the C API.
    [[nodiscard]] wye_buffer get() const noexcept { return handle_.get(); }
    // The context that it belongs to, by a pointer that keeps it alive.
    [[nodiscard]] const std::shared_ptr<wye_context>& shared_context() const noexcept {
        return handle_.shared_context();
    }

    // The size in bytes.
    [[nodiscard]] Result<std::uint64_t> size() const {
        std::uint64_t bytes = 0;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_buffer_size(handle_.context(), get(), &bytes, e); }));
        return bytes;
    }
    // Returns owner, sizes, label and usage. The label is valid until the buffer gets another label
    // or is freed; not callable on a temporary.
    [[nodiscard]] Result<wye_buffer_info> describe() const& {
        wye_buffer_info out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_buffer_describe(handle_.context(), get(), &out, e); }));
        return out;
    }
    Result<wye_buffer_info> describe() const&& = delete;
    // The driver's own handle: see wye/native.h.
    [[nodiscard]] Result<wye_native_handle> native() const {
        wye_native_handle out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_buffer_native(handle_.context(), get(), &out, e); }));
        return out;
    }
    // Sets the name for messages and reports.
    [[nodiscard]] Result<void> set_label(std::string_view label) {
        return detail::call([&](wye_error** e) {
            return wye_buffer_set_label(handle_.context(), get(), detail::borrow(label), e);
        });
    }
    // Maps the buffer into the host's address space, until `unmap`. See wye_buffer_map.
    [[nodiscard]] Result<std::span<std::byte>> map() {
        wye_buffer_mapping out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_buffer_map(handle_.context(), get(), &out, e); }));
        return std::span(static_cast<std::byte*>(out.address), static_cast<std::size_t>(out.size));
    }
    // Ends the mapping; its address is not valid any more.
    [[nodiscard]] Result<void> unmap() {
        return detail::call(
            [&](wye_error** e) { return wye_buffer_unmap(handle_.context(), get(), e); });
    }
    // Must be called between accesses by the host and by the device. See wye_buffer_sync.
    [[nodiscard]] Result<void> sync(wye_sync_direction direction, std::uint64_t offset,
                                    std::uint64_t size) {
        return detail::call([&](wye_error** e) {
            return wye_buffer_sync(handle_.context(), get(), offset, size, direction, e);
        });
    }

    // Blocking transfers, which run on `queue` if one is given. `upload` and `download` transfer
    // the whole buffer.
    template <Values R>
    [[nodiscard]] Result<void> upload(const R& values, const Queue* queue = nullptr) {
        return upload_bytes(std::as_bytes(std::span(values)), 0, queue, WYE_TRANSFER_WHOLE);
    }
    // Uploads to a range of the buffer, at an offset in bytes.
    template <Values R>
    [[nodiscard]] Result<void> upload_range(const R& values, std::uint64_t offset,
                                            const Queue* queue = nullptr) {
        return upload_bytes(std::as_bytes(std::span(values)), offset, queue, 0);
    }
    // Downloads the whole buffer.
    template <Values R>
    [[nodiscard]] Result<void> download(R&& values, const Queue* queue = nullptr) const {
        return download_bytes(std::as_writable_bytes(std::span(values)), 0, queue,
                              WYE_TRANSFER_WHOLE);
    }
    // Downloads a range of the buffer, at an offset in bytes.
    template <Values R>
    [[nodiscard]] Result<void> download_range(R&& values, std::uint64_t offset,
                                              const Queue* queue = nullptr) const {
        return download_bytes(std::as_writable_bytes(std::span(values)), offset, queue, 0);
    }
    // Fills a range with a repeated word. Offset and size are multiples of 4.
    [[nodiscard]] Result<void> fill(std::uint32_t word, std::uint64_t offset, std::uint64_t size,
                                    const Queue* queue = nullptr) {
        wye_transfer_desc desc = transfer(WYE_TRANSFER_FILL, offset, size, queue);
        desc.pattern = word;
        desc.pattern_size = 4;
        return run(desc);
    }
    // Copies within one device.
    [[nodiscard]] Result<void> copy_from(const Buffer& source, std::uint64_t source_offset,
                                         std::uint64_t offset, std::uint64_t size,
                                         const Queue* queue = nullptr) {
        wye_transfer_desc desc = transfer(WYE_TRANSFER_COPY, offset, size, queue);
        desc.source_buffer = source.get();
        desc.source_offset = source_offset;
        return run(desc);
    }
    // Copies from a buffer of any device; between two devices through host memory.
    [[nodiscard]] Result<void> copy_across_from(const Buffer& source, std::uint64_t source_offset,
                                                std::uint64_t offset, std::uint64_t size) {
        return detail::call([&](wye_error** e) {
            return wye_buffer_copy_across(handle_.context(), source.get(), source_offset, get(),
                                          offset, size, e);
        });
    }
    // Like `upload_range`, but does not wait. The values are copied before it returns.
    template <Values R>
    [[nodiscard]] Result<Pending> submit_upload(const R& values, std::uint64_t offset = 0,
                                                const Queue* queue = nullptr) {
        const auto bytes = std::as_bytes(std::span(values));
        wye_transfer_desc desc = transfer(WYE_TRANSFER_UPLOAD, offset, bytes.size(), queue);
        desc.source = bytes.data();
        return submit(desc);
    }
    // Like `download_range`, but does not wait. The returned Pending owns the values: its
    // output<std::byte>("bytes") returns them.
    [[nodiscard]] Result<Pending> submit_download(std::uint64_t size, std::uint64_t offset = 0,
                                                  const Queue* queue = nullptr) const {
        return submit(transfer(WYE_TRANSFER_DOWNLOAD, offset, size, queue),
                      {{"bytes", "bytes", 0}});
    }
    // Like `copy_from`, but does not wait.
    [[nodiscard]] Result<Pending> submit_copy_from(const Buffer& source,
                                                   std::uint64_t source_offset,
                                                   std::uint64_t offset, std::uint64_t size,
                                                   const Queue* queue = nullptr) {
        wye_transfer_desc desc = transfer(WYE_TRANSFER_COPY, offset, size, queue);
        desc.source_buffer = source.get();
        desc.source_offset = source_offset;
        return submit(desc);
    }
    // Frees the buffer now. Returns failures (BUFFER_IN_USE), which the destructor cannot report.
    [[nodiscard]] Result<void> free() {
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_buffer_free(handle_.context(), get(), e); }));
        (void)handle_.release();
        return {};
    }

  private:
    [[nodiscard]] Result<void> upload_bytes(std::span<const std::byte> bytes, std::uint64_t offset,
                                            const Queue* queue, std::uint32_t flags) {
        wye_transfer_desc desc = transfer(WYE_TRANSFER_UPLOAD, offset, bytes.size(), queue);
        desc.flags = flags;
        desc.source = bytes.data();
        return run(desc);
    }
    [[nodiscard]] Result<void> download_bytes(std::span<std::byte> bytes, std::uint64_t offset,
                                              const Queue* queue, std::uint32_t flags) const {
        wye_transfer_desc desc = transfer(WYE_TRANSFER_DOWNLOAD, offset, bytes.size(), queue);
        desc.flags = flags;
        desc.target = bytes.data();
        return run(desc);
    }
    [[nodiscard]] wye_transfer_desc transfer(std::uint32_t kind, std::uint64_t offset,
                                             std::uint64_t size, const Queue* queue) const {
        wye_transfer_desc out;
        WYE_INIT(out);
        out.kind = kind;
        out.queue = detail::handle_of(queue);
        out.buffer = get();
        out.offset = offset;
        out.size = size;
        return out;
    }
    [[nodiscard]] Result<void> run(const wye_transfer_desc& desc) const {
        return detail::call([&](wye_error** e) {
            return wye_buffer_transfer(handle_.context(), &desc, nullptr, e);
        });
    }
    [[nodiscard]] Result<Pending> submit(const wye_transfer_desc& desc,
                                         std::vector<Pending::Output> outputs = {}) const {
        wye_pending out = 0;
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_buffer_transfer_submit(handle_.context(), &desc, &out, e);
        }));
        return Pending(handle_.shared_context(), out, std::move(outputs));
    }

    detail::Handle<&wye_buffer_free> handle_;
};

}  // namespace wye
