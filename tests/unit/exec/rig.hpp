// SPDX-License-Identifier: Apache-2.0
//
// A context on the fake driver, driven through the C API, and shorthand for its calls.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fake_driver.hpp"
#include "wye/buffer.h"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec::test {

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

// Refused with this code, a sentence that has the fragment, and a remedy.
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

struct Rig {
    FakeDriver driver;
    wye_context* context = nullptr;

    explicit Rig(registry::Config config = {}) {
        driver.config = std::move(config);
        context = driver.context();
        REQUIRE(context != nullptr);
    }
    ~Rig() {
        if (context != nullptr) wye_context_destroy(context);
        CHECK(driver.used_rooms == 0);
    }
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    wye_device device(const char* selector = "fake:0") const {
        wye_device out = 0;
        check_ok(attempt([&](wye_error** e) {
            return wye_device_open(context, wye_str(selector), 0, &out, e);
        }));
        return out;
    }
    wye_program program(std::string_view text) const {
        wye_program_source source;
        WYE_INIT(source);
        source.text = {text.data(), text.size()};
        wye_program out = 0;
        check_ok(
            attempt([&](wye_error** e) { return wye_program_create(context, &source, &out, e); }));
        return out;
    }
    wye_buffer buffer(wye_device device, std::uint64_t size, const char* label = "b") const {
        wye_buffer_create_desc desc;
        WYE_INIT(desc);
        desc.size = size;
        desc.label = wye_str(label);
        wye_buffer out = 0;
        check_ok(attempt(
            [&](wye_error** e) { return wye_buffer_create(context, device, &desc, &out, e); }));
        return out;
    }
    Outcome free(wye_buffer buffer) const {
        return attempt([&](wye_error** e) { return wye_buffer_free(context, buffer, e); });
    }
    template <typename T>
    void upload(wye_buffer buffer, const std::vector<T>& values) const {
        check_ok(attempt([&](wye_error** e) {
            return wye_buffer_upload_range(context, buffer, 0,
                                           {values.data(), values.size() * sizeof(T)}, e);
        }));
    }
    template <typename T>
    std::vector<T> download(wye_buffer buffer, std::size_t count) const {
        std::vector<T> out(count);
        check_ok(attempt([&](wye_error** e) {
            return wye_buffer_download_range(context, buffer, 0, out.data(), count * sizeof(T), e);
        }));
        return out;
    }
};

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
    Outcome run(const Rig& rig) {
        return attempt(
            [&](wye_error** e) { return wye_dispatch(rig.context, &filled(), &report, e); });
    }
};

// r = x + k, by the fake's kernel below.
inline constexpr std::string_view kAdd = R"(wye 1; program add; workgroup 64; param k: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] + k; } })";

inline void add_kernel(const wye_dispatch_op& op) {
    const auto* x = FakeDriver::data<std::uint32_t>(op.bindings[0]);
    auto* r = FakeDriver::data<std::uint32_t>(op.bindings[1]);
    const std::uint32_t k = *static_cast<const std::uint32_t*>(op.params);
    for (std::uint64_t i = 0; i < op.bindings[1].elements; ++i) r[i] = x[i] + k;
}

// Can trap.
inline constexpr std::string_view kTrap = R"(wye 1; program check; workgroup 1;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(x) { if x[i] == 0u { trap 7; } r[i] = 100u / x[i]; } })";

}  // namespace wye::exec::test
