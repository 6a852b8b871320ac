// SPDX-License-Identifier: Apache-2.0
//
// Internal to wye.hpp: calls C functions and converts their errors to wye::Error; owns handles.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wye/sdk/nearest.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye {

namespace detail {

[[nodiscard]] inline std::string_view view(wye_string text) noexcept {
    return text.data == nullptr ? std::string_view{} : std::string_view{text.data, text.size};
}
[[nodiscard]] inline std::string_view view(std::string_view text) noexcept { return text; }
[[nodiscard]] inline wye_string borrow(std::string_view text) noexcept {
    return {text.data(), text.size()};
}

// Converts an error without its causes.
[[nodiscard]] inline Error convert_one(const wye_error* error) {
    Error out(static_cast<Code>(wye_error_status(error)),
              std::string(view(wye_error_message(error))), std::string(view(wye_error_fix(error))),
              std::string(view(wye_error_subject(error))));
    out.native_domain = view(wye_error_native_domain(error));
    out.native_code = wye_error_native_code(error);
    return out;
}

[[nodiscard]] inline Error convert(const wye_error* error) {
    std::vector<const wye_error*> chain;
    for (; error != nullptr; error = wye_error_cause(error)) chain.push_back(error);
    Error out = convert_one(chain.back());
    for (chain.pop_back(); !chain.empty(); chain.pop_back()) {
        Error next = convert_one(chain.back());
        next.cause = std::make_shared<const Error>(std::move(out));
        out = std::move(next);
    }
    return out;
}

// Runs one C call with an error sink: call([&](wye_error** e) { return wye_...(..., e); }).
template <typename Function>
[[nodiscard]] Result<void> call(Function&& function) {
    wye_error* raw = nullptr;
    const wye_status status = function(&raw);
    const std::unique_ptr<wye_error, decltype(&wye_error_free)> error(raw, &wye_error_free);
    if (status == WYE_OK) return {};
    if (!error)
        return Error(static_cast<Code>(status), wye_status_text(status),
                     "Fix: free memory and try again");
    return convert(error.get());
}

[[nodiscard]] inline std::string take_text(wye_blob* blob) {
    const wye_bytes bytes = wye_blob_bytes(blob);
    std::string text(static_cast<const char*>(bytes.data), bytes.size);
    wye_blob_free(blob);
    return text;
}

// Converts a time limit for the C API; the largest duration means no limit.
[[nodiscard]] inline std::uint64_t limit_ns(std::chrono::nanoseconds limit) noexcept {
    if (limit == std::chrono::nanoseconds::max()) return UINT64_MAX;
    return static_cast<std::uint64_t>(std::max(limit, std::chrono::nanoseconds(0)).count());
}

// The remedy for an unknown name: the nearest of the declared names, else all of them.
template <typename Declared>
[[nodiscard]] std::string name_fix(std::string_view name, const Declared& declared) {
    std::vector<std::string_view> known;
    for (const auto& one : declared) known.push_back(view(one.name));
    if (const std::string_view meant = sdk::nearest(name, known); !meant.empty())
        return "Fix: did you mean `" + std::string(meant) + "`?";
    std::string all;
    for (const std::string_view one : known)
        all += (all.empty() ? "`" : ", `") + std::string(one) + "`";
    return all.empty() ? "Fix: leave it out; there are no names to use" : "Fix: use one of " + all;
}

// A 64-bit handle with the function that frees it.
template <wye_status (*Free)(wye_context*, std::uint64_t, wye_error**)>
class Handle {
  public:
    Handle() = default;
    Handle(std::shared_ptr<wye_context> context, std::uint64_t handle)
        : context_(std::move(context)), handle_(handle) {}
    Handle(Handle&& other) noexcept
        : context_(std::move(other.context_)), handle_(std::exchange(other.handle_, 0)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(context_, other.context_);
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Handle() {
        if (handle_ != 0) (void)Free(context_.get(), handle_, nullptr);
    }
    [[nodiscard]] std::uint64_t get() const noexcept { return handle_; }
    [[nodiscard]] wye_context* context() const noexcept { return context_.get(); }
    [[nodiscard]] const std::shared_ptr<wye_context>& shared_context() const noexcept {
        return context_;
    }
    [[nodiscard]] std::uint64_t release() noexcept { return std::exchange(handle_, 0); }

  private:
    std::shared_ptr<wye_context> context_;
    std::uint64_t handle_ = 0;
};

}  // namespace detail

}  // namespace wye
