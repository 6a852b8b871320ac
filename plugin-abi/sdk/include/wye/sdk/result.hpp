// SPDX-License-Identifier: Apache-2.0
//
// Error and Result<T>: how Wye's C++ code reports failure. Values; nothing throws. An Error is a
// code, one sentence with the offending value, and a remedy that begins with "Fix: ". It owns its
// strings and causes, is immutable once returned, and may be shared between threads. Asking a
// failed Result for its value, or a successful one for its error, prints a message and ends the
// program.
#pragma once

#include "wye/sdk/cxx20.hpp"

#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "wye/abi.h"
#include "wye/sdk/printable.hpp"

namespace wye {

enum class Code : wye_status {
#define WYE_CODE_ENUM(name, value, text) name = value,
    WYE_STATUSES(WYE_CODE_ENUM)
#undef WYE_CODE_ENUM
};

// Returns the fixed text of a code, such as "wrong owner", or "unknown status" for a code that this
// build does not know.
[[nodiscard]] constexpr std::string_view code_text(Code code) noexcept {
    switch (code) {
#define WYE_CODE_TEXT(name, value, text) \
    case Code::name:                     \
        return text;
        WYE_STATUSES(WYE_CODE_TEXT)
#undef WYE_CODE_TEXT
    }
    return "unknown status";
}

// Joins a reason, mostly a sentence without a full stop, and its remedy: "reason. Fix: ...".
// Either may be empty. After a reason that ends with a line end, as a text with a caret does, the
// remedy is on a line of its own.
[[nodiscard]] inline std::string with_remedy(std::string reason, std::string_view remedy) {
    if (reason.empty() || remedy.empty() || reason.back() == '\n')
        return reason + std::string(remedy);
    if (std::string_view(".!?").find(reason.back()) == std::string_view::npos) reason += '.';
    return reason + ' ' + std::string(remedy);
}

struct Error {
    Code code = Code::INTERNAL;
    std::string message;  // one sentence, present tense, with the offending value
    std::string fix;      // begins with "Fix: "
    std::string subject;  // the path, device, buffer or program concerned
    std::string native_domain;
    std::int64_t native_code = 0;
    std::shared_ptr<const Error> cause;

    Error() = default;
    Error(Code c, std::string what, std::string remedy, std::string about = {})
        : code(c), message(std::move(what)), fix(std::move(remedy)), subject(std::move(about)) {}
    Error(const Error&) = default;
    Error(Error&&) = default;
    Error& operator=(const Error&) = default;
    Error& operator=(Error&&) = default;
    // Frees a chain of causes of any length without recursion. The loop stops at a cause that
    // another error shares, as far as the use count tells.
    ~Error() {
        for (auto next = std::move(cause); next.use_count() == 1;) {
            auto behind = next->cause;
            next = std::move(behind);
        }
    }

    // Makes this error the cause of a more general one.
    [[nodiscard]] Error wrapped(Code c, std::string what, std::string remedy,
                                std::string about = {}) && {
        Error outer(c, std::move(what), std::move(remedy), std::move(about));
        outer.cause = std::make_shared<const Error>(std::move(*this));
        return outer;
    }

    // Returns "message. Fix: ...", and a line for each cause below it. The texts are escaped for a
    // terminal.
    [[nodiscard]] std::string text() const {
        std::string out = with_remedy(shown(message), shown(fix));
        for (const Error* e = cause.get(); e != nullptr; e = e->cause.get())
            out += "\n  because: " + with_remedy(e->shown(e->message), e->shown(e->fix));
        return out;
    }

  private:
    // Keeps line ends in messages about a program's text and in those of compilers, which may have
    // several lines.
    [[nodiscard]] std::string shown(std::string_view part) const {
        const bool lists = code == Code::INVALID_PROGRAM || code == Code::INVALID_TEXT ||
                           code == Code::COMPILE_FAILED;
        return lists ? sdk::several_lines(part) : sdk::indented_lines(part);
    }
};

namespace detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void end_without_value(const Error* error) {
    std::fprintf(stderr, "wye: the value of a failed result was used: %s\n",
                 error != nullptr ? error->text().c_str() : "its error was moved away");
    std::abort();
}
[[noreturn, gnu::cold, gnu::noinline]] inline void end_without_error() {
    std::fputs("wye: the error of a result without one was used\n", stderr);
    std::abort();
}

// Out of line, so that destroying a Result without an error is only a comparison.
struct FreeError {
    [[gnu::cold, gnu::noinline]] void operator()(Error* error) const noexcept { delete error; }
};

}  // namespace detail

// Either a value or an Error. `Result<void>` carries only success.
template <typename T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(std::move(value)) {}
    Result(Error error) : error_(new Error(std::move(error))) {}
    Result(Result&&) = default;
    Result(const Result& other) requires std::copy_constructible<T>
        : value_(other.value_), error_(other.error_ ? new Error(*other.error_) : nullptr) {}
    Result& operator=(Result&&) = default;
    ~Result() = default;

    [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
    explicit operator bool() const noexcept { return ok(); }

    [[nodiscard]] T& value() & { return need_value(), *value_; }
    [[nodiscard]] const T& value() const& { return need_value(), *value_; }
    [[nodiscard]] T&& value() && { return need_value(), std::move(*value_); }
    [[nodiscard]] T& operator*() & { return value(); }
    [[nodiscard]] const T& operator*() const& { return value(); }
    [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
    [[nodiscard]] T* operator->() { return &value(); }
    [[nodiscard]] const T* operator->() const { return &value(); }

    [[nodiscard]] Error& error() & { return need_error(), *error_; }
    [[nodiscard]] const Error& error() const& { return need_error(), *error_; }
    [[nodiscard]] Error&& error() && { return need_error(), std::move(*error_); }

  private:
    void need_value() const {
        if (!ok()) [[unlikely]]
            detail::end_without_value(error_.get());
    }
    void need_error() const {
        if (!error_) [[unlikely]]
            detail::end_without_error();
    }

    std::optional<T> value_;
    std::unique_ptr<Error, detail::FreeError> error_;  // null: it has a value, or was moved from
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(new Error(std::move(error))) {}

    [[nodiscard]] bool ok() const noexcept { return !error_; }
    explicit operator bool() const noexcept { return ok(); }
    [[nodiscard]] Error& error() & { return need_error(), *error_; }
    [[nodiscard]] const Error& error() const& { return need_error(), *error_; }
    [[nodiscard]] Error&& error() && { return need_error(), std::move(*error_); }

  private:
    void need_error() const {
        if (ok()) [[unlikely]]
            detail::end_without_error();
    }

    std::unique_ptr<Error, detail::FreeError> error_;
};

}  // namespace wye

// Returns the error of `expression`, if it has one, from the enclosing function.
#define WYE_TRY(expression)                                           \
    do {                                                              \
        auto wye_result_ = (expression);                              \
        if (!wye_result_.ok()) return std::move(wye_result_).error(); \
    } while (false)

// Like WYE_TRY, but also assigns the value: WYE_ASSIGN(auto bytes, read(path));
#define WYE_ASSIGN(target, expression) \
    WYE_ASSIGN_(WYE_JOIN_(wye_result_, __COUNTER__), target, expression)
#define WYE_ASSIGN_(temporary, target, expression)            \
    auto temporary = (expression);                            \
    if (!temporary.ok()) return std::move(temporary).error(); \
    target = std::move(temporary).value()
#define WYE_JOIN_(a, b) WYE_JOIN2_(a, b)
#define WYE_JOIN2_(a, b) a##b
