// SPDX-License-Identifier: Apache-2.0
//
// wye::Device, an addition to wye/wye.hpp, which includes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wye/buffer.hpp"
#include "wye/device.h"
#include "wye/handle.hpp"
#include "wye/native.h"
#include "wye/profile.h"
#include "wye/queue.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye {

// Why the library chose a device: see wye_choice_find. Strings live as long as any copy of `owner`.
struct Choice {
    std::string_view selector, reason;
    std::vector<wye_passed_over> passed_over;  // in order of preference
    std::shared_ptr<const wye_choice> owner;
};

// An opened device. Copies refer to the same device, which the context closes.
class Device {
  public:
    // Refers to a handle of the C API.
    Device(std::shared_ptr<wye_context> context, wye_device handle)
        : context_(std::move(context)), handle_(handle) {}

    // The handle of the C API.
    [[nodiscard]] wye_device get() const noexcept { return handle_; }
    // The context that it belongs to.
    [[nodiscard]] wye_context* context() const noexcept { return context_.get(); }
    // The same context, by a pointer that keeps it alive.
    [[nodiscard]] const std::shared_ptr<wye_context>& shared_context() const noexcept {
        return context_;
    }

    // Returns selector, name, plugin, format and why it was chosen; valid while the context lives.
    [[nodiscard]] Result<wye_device_description> describe() const {
        wye_device_description out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_device_describe(context_.get(), handle_, &out, e); }));
        return out;
    }
    // Returns what was passed over when this device was first opened, in order of preference; valid
    // while the context lives.
    [[nodiscard]] Result<std::vector<wye_passed_over>> passed_over() const {
        std::vector<wye_passed_over> out;
        while (true) {
            wye_passed_over one;
            WYE_INIT(one);
            const auto found = detail::call([&](wye_error** e) {
                return wye_device_passed_over(context_.get(), handle_, out.size(), &one, e);
            });
            if (found.ok()) {
                out.push_back(one);
                continue;
            }
            if (found.error().code == Code::NOT_FOUND) return out;
            return found.error();
        }
    }
    // Returns one fact by its JSON name ("max_workgroup_size"); UNSUPPORTED if it is not reported.
    [[nodiscard]] Result<wye_fact> fact(std::string_view name) const {
        wye_fact out;
        WYE_INIT(out);
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_device_fact(context_.get(), handle_, detail::borrow(name), &out, e);
        }));
        return out;
    }
    // The driver's own handle: see wye/native.h.
    [[nodiscard]] Result<wye_native_handle> native() const {
        wye_native_handle out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_device_native(context_.get(), handle_, &out, e); }));
        return out;
    }
    // Makes a buffer from memory that the application allocated with the driver's API. The
    // application still owns the memory. See wye_buffer_adopt.
    [[nodiscard]] Result<Buffer> adopt(const wye_native_handle& memory, std::uint64_t size,
                                       std::string_view label = {}) const {
        wye_buffer_adopt_desc desc;
        WYE_INIT(desc);
        desc.memory = &memory;
        desc.size = size;
        desc.label = detail::borrow(label);
        wye_buffer out = 0;
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_buffer_adopt(context_.get(), handle_, &desc, &out, e);
        }));
        return Buffer(context_, out);
    }
    // Makes a buffer of `size` bytes.
    [[nodiscard]] Result<Buffer> buffer(std::uint64_t size, std::string_view label = {},
                                        wye_buffer_usage usage = WYE_BUFFER_USAGE_DEVICE) const {
        wye_buffer_create_desc desc;
        WYE_INIT(desc);
        desc.size = size;
        desc.label = detail::borrow(label);
        desc.usage = usage;
        wye_buffer out = 0;
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_buffer_create(context_.get(), handle_, &desc, &out, e);
        }));
        return Buffer(context_, out);
    }
    // Makes a queue in addition to the default one.
    [[nodiscard]] Result<Queue> queue(const QueueOptions& options = {}) const {
        wye_queue_create_desc desc;
        WYE_INIT(desc);
        desc.label = detail::borrow(options.label);
        desc.kind = static_cast<std::uint32_t>(options.kind);
        desc.priority = options.priority;
        desc.flags = options.own ? WYE_QUEUE_OWN : 0;
        wye_queue out = 0;
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_queue_create(context_.get(), handle_, &desc, &out, e);
        }));
        return Queue(context_, out);
    }
    // Counts what it has done since it was opened.
    [[nodiscard]] Result<wye_counters> counters() const {
        wye_counters out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_device_counters(context_.get(), handle_, &out, e); }));
        return out;
    }
    // How much memory it holds, by use.
    [[nodiscard]] Result<wye_memory_use> memory() const {
        wye_memory_use out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_device_memory(context_.get(), handle_, &out, e); }));
        return out;
    }
    // Frees the memory that is kept for later use and not in use now. Returns the bytes freed.
    [[nodiscard]] Result<std::uint64_t> trim() const {
        std::uint64_t out = 0;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_device_trim(context_.get(), handle_, &out, e); }));
        return out;
    }
    // Limits the memory that it holds for buffers and scratch memory; 0: no limit. See
    // wye_memory_limit.
    [[nodiscard]] Result<void> limit_memory(std::uint64_t bytes) const {
        return detail::call(
            [&](wye_error** e) { return wye_memory_limit(context_.get(), handle_, bytes, e); });
    }
    // Waits until its work so far has ended.
    [[nodiscard]] Result<void> flush() const {
        return detail::call(
            [&](wye_error** e) { return wye_device_flush(context_.get(), handle_, e); });
    }
    // Does the set-up that the first dispatch would do.
    [[nodiscard]] Result<void> prepare() const {
        return detail::call(
            [&](wye_error** e) { return wye_device_prepare(context_.get(), handle_, e); });
    }
    // Whether it was lost.
    [[nodiscard]] Result<bool> lost() const {
        std::uint32_t out = 0;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_device_is_lost(context_.get(), handle_, &out, e); }));
        return out != 0;
    }
    // Returns the device, opened again if it was lost. UNSUPPORTED: it cannot be recovered.
    [[nodiscard]] Result<Device> recover() const {
        wye_device out = 0;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_device_recover(context_.get(), handle_, &out, e); }));
        return Device(context_, out);
    }
    // The operations that it supports, and its profile, as JSON: see wye/profile.h.
    [[nodiscard]] Result<std::string> operations() const {
        return text([&](wye_blob** out, wye_error** e) {
            return wye_device_operations(context_.get(), handle_, out, e);
        });
    }
    // Figures such as caches and bandwidth, each with its source.
    [[nodiscard]] Result<std::string> profile() const {
        return text([&](wye_blob** out, wye_error** e) {
            return wye_device_profile(context_.get(), handle_, out, e);
        });
    }
    // Frees everything that belongs to the device. DEVICE_BUSY while its work is pending.
    [[nodiscard]] Result<void> close() const {
        return detail::call(
            [&](wye_error** e) { return wye_device_close(context_.get(), handle_, e); });
    }

  private:
    template <typename Function>
    [[nodiscard]] static Result<std::string> text(Function&& function) {
        wye_blob* blob = nullptr;
        WYE_TRY(detail::call([&](wye_error** e) { return function(&blob, e); }));
        return detail::take_text(blob);
    }

    std::shared_ptr<wye_context> context_;
    wye_device handle_;
};

}  // namespace wye
