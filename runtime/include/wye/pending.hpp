// SPDX-License-Identifier: Apache-2.0
//
// wye::Pending: an asynchronous dispatch. Part of wye.hpp, which includes it.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wye/element.hpp"
#include "wye/handle.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye {

namespace detail {
// The error for an output that does not exist, or whose elements have another type than the one
// that was asked for.
template <typename List>
[[nodiscard]] Error no_such_output(std::string_view name, const List& outputs) {
    std::string what = "is not an output of this dispatch", fix = name_fix(name, outputs);
    for (const auto& one : outputs) {
        if (one.name != name) continue;
        what = "has elements of type " + one.type;
        fix = "Fix: ask for elements of that type, or std::byte";
    }
    return Error(Code::INVALID_ARGUMENT, "`" + std::string(name) + "` " + what, fix,
                 std::string(name));
}
}  // namespace detail

// A dispatch in flight, made by Dispatch::submit. Work continues after its Pending is destroyed; if
// the work borrows memory of the caller, the destructor waits for its end. Any threads may use it
// at the same time, except to move or destroy it.
class Pending {
  public:
    // An output that the pending dispatch owns.
    struct Output {
        std::string name, type;
        std::uint32_t binding = 0;
    };
    // Owns a handle of the C API, and names its outputs.
    Pending(std::shared_ptr<wye_context> context, wye_pending handle, std::vector<Output> outputs)
        : handle_(std::move(context), handle), outputs_(std::move(outputs)) {}

    // The handle of the C API.
    [[nodiscard]] wye_pending get() const noexcept { return handle_.get(); }
    // The context that it belongs to.
    [[nodiscard]] wye_context* context() const noexcept { return handle_.context(); }
    // The same context, by a pointer that keeps it alive.
    [[nodiscard]] const std::shared_ptr<wye_context>& shared_context() const noexcept {
        return handle_.shared_context();
    }

    // Whether it has ended.
    [[nodiscard]] Result<bool> poll() const {
        std::uint32_t ended = 0;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_pending_poll(context(), get(), &ended, e); }));
        return ended != 0;
    }
    // Waits for the end and returns the result, as Dispatch::run does. After TIMEOUT, poll says
    // which limit has passed. If the dispatch has ended, its own time limit passed. Otherwise
    // `limit` passed, and the dispatch continues.
    [[nodiscard]] Result<wye_report> wait(std::chrono::nanoseconds limit = kNoLimit) const {
        wye_report report;
        WYE_INIT(report);
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_pending_wait(context(), get(), detail::limit_ns(limit), &report, e);
        }));
        return report;
    }
    // The elements of an output by its name, after the end; valid while this object lives; not
    // callable on a temporary. T must be the declared type or std::byte.
    template <Element T>
    [[nodiscard]] Result<std::span<const T>> output(std::string_view name) const& {
        const auto found = std::ranges::find(outputs_, name, &Output::name);
        if (found == outputs_.end() || !is_element<T>(found->type))
            return detail::no_such_output(name, outputs_);
        wye_bytes bytes{};
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_pending_output(context(), get(), found->binding, &bytes, e);
        }));
        return std::span<const T>(static_cast<const T*>(bytes.data), bytes.size / sizeof(T));
    }
    template <Element T>
    Result<std::span<const T>> output(std::string_view name) const&& = delete;
    // Cancels it: its result is CANCELLED. See wye_pending_cancel for devices that cannot stop
    // work.
    [[nodiscard]] Result<void> cancel() const {
        return detail::call([&](wye_error** e) { return wye_pending_cancel(context(), get(), e); });
    }
    // Calls `function(code)`, which must not throw, on a thread of the library after the end.
    template <std::invocable<Code> Function>
    [[nodiscard]] Result<void> then(Function function) const {
        auto kept = std::make_unique<Function>(std::move(function));
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_pending_notify(
                context(), get(),
                [](void* user, wye_status status) {
                    const std::unique_ptr<Function> owned(static_cast<Function*>(user));
                    (*owned)(static_cast<Code>(status));
                },
                kept.get(), e);
        }));
        (void)kept.release();
        return {};
    }

    // `co_await pending` returns what wait() returns. The coroutine resumes on a thread of the
    // library.
    [[nodiscard]] auto operator co_await() const noexcept {
        struct Awaiter {
            const Pending& pending;
            [[nodiscard]] bool await_ready() const {
                const auto ended = pending.poll();
                return !ended.ok() || *ended;
            }
            // Returns false if no notification is possible; await_resume then waits.
            [[nodiscard]] bool await_suspend(std::coroutine_handle<> coroutine) const {
                return wye_pending_notify(
                           pending.context(), pending.get(),
                           [](void* user, wye_status) {
                               std::coroutine_handle<>::from_address(user).resume();
                           },
                           coroutine.address(), nullptr) == WYE_OK;
            }
            [[nodiscard]] Result<wye_report> await_resume() const { return pending.wait(); }
        };
        return Awaiter{*this};
    }

    static constexpr std::chrono::nanoseconds kNoLimit = std::chrono::nanoseconds::max();

  private:
    detail::Handle<&wye_pending_free> handle_;
    std::vector<Output> outputs_;
};

// Waits until one of these dispatches, all of one context, has ended, and returns its index.
// TIMEOUT if none has within the limit.
[[nodiscard]] inline Result<std::size_t> wait_any(
    std::span<const Pending> pending, std::chrono::nanoseconds limit = Pending::kNoLimit) {
    if (pending.empty())
        return Error(Code::INVALID_ARGUMENT, "there is no dispatch to wait for",
                     "Fix: pass at least one");
    std::vector<wye_pending> handles;
    for (const Pending& one : pending) handles.push_back(one.get());
    std::uint64_t index = 0;
    WYE_TRY(detail::call([&](wye_error** e) {
        return wye_pending_wait_any(pending.front().context(), handles.data(), handles.size(),
                                    detail::limit_ns(limit), &index, e);
    }));
    return static_cast<std::size_t>(index);
}

}  // namespace wye
