// SPDX-License-Identifier: Apache-2.0
//
// Shorthand for calls of the C API: the result of a call, and a dispatch that is built argument by
// argument. Header-only; needs doctest.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wye/wye.h"

namespace calls {

// The result of a call: OK, or the parts of the error.
struct Outcome {
    wye_status status = WYE_OK;
    std::string message, fix, text;

    [[nodiscard]] bool ok() const { return status == WYE_OK; }
    [[nodiscard]] bool says(std::string_view fragment) const {
        return message.find(fragment) != std::string::npos;
    }
};

template <typename Call>
Outcome attempt(Call&& call) {
    wye_error* error = nullptr;
    Outcome out;
    out.status = call(&error);
    if (out.status != WYE_OK) {
        const auto text = [](wye_string s) { return std::string(s.data, s.size); };
        out.message = text(wye_error_message(error));
        out.fix = text(wye_error_fix(error));
        out.text = text(wye_error_text(error));
        CHECK(wye_error_status(error) == out.status);
        wye_error_free(error);
    }
    return out;
}

// Checks that the call was refused with this code, a message that contains `fragment`, and a
// remedy.
inline void check_refused(const Outcome& outcome, wye_status status, std::string_view fragment) {
    INFO(outcome.message);
    CHECK(outcome.status == status);
    CHECK(outcome.says(fragment));
    CHECK(outcome.fix.starts_with("Fix: "));
}

inline void check_ok(const Outcome& outcome) {
    INFO(outcome.text);
    REQUIRE(outcome.ok());
}

// A dispatch under construction.
struct Job {
    wye_dispatch_desc desc;
    std::vector<wye_argument> arguments;
    std::vector<std::uint64_t> params;
    wye_report report;

    Job(wye_program program, wye_device device) {
        WYE_INIT(desc);
        WYE_INIT(report);
        desc.program = program;
        desc.device = device;
    }
    Job& in(std::uint32_t binding, const void* data, std::uint64_t size) {
        wye_argument a{};
        a.kind = WYE_ARGUMENT_HOST;
        a.binding = binding;
        a.input = {data, size};
        arguments.push_back(a);
        return *this;
    }
    Job& out(std::uint32_t binding, void* data, std::uint64_t size) {
        wye_argument a{};
        a.kind = WYE_ARGUMENT_HOST;
        a.binding = binding;
        a.output = data;
        a.output_size = size;
        arguments.push_back(a);
        return *this;
    }
    Job& resident(std::uint32_t binding, wye_buffer buffer, std::uint64_t offset = 0,
                  std::uint64_t size = 0) {
        wye_argument a{};
        a.kind = WYE_ARGUMENT_RESIDENT;
        a.binding = binding;
        a.buffer = buffer;
        a.offset = offset;
        a.size = size;
        arguments.push_back(a);
        return *this;
    }
    Job& param(std::uint64_t bits) {
        params.push_back(bits);
        return *this;
    }
    // The description with the arguments so far.
    const wye_dispatch_desc& filled() {
        desc.arguments = arguments.data();
        desc.argument_count = arguments.size();
        desc.params = params.data();
        desc.param_count = params.size();
        return desc;
    }
    // `on`: an object with a member `context`.
    template <typename On>
    Outcome run(const On& on) {
        return attempt(
            [&](wye_error** e) { return wye_dispatch(on.context, &filled(), &report, e); });
    }
};

}  // namespace calls
