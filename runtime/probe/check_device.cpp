// SPDX-License-Identifier: Apache-2.0
#include "check_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "exec/api/api.hpp"
#include "registry/record.hpp"

namespace wye::probe {

using registry::Json;

namespace {

constexpr std::uint32_t kElements = 1000;  // not a multiple of the workgroup size
constexpr std::uint32_t kUnwritten = 0xdeadbeef;
constexpr std::uint32_t kKey = 0x5bd1e995;
constexpr std::uint32_t kFactor = 2654435761;
constexpr std::uint64_t kWideFactor = 0x9e3779b97f4a7c15;

// The optional capabilities that the program uses if the device claims them.
struct Claims {
    bool int64 = false, f64 = false;
    [[nodiscard]] bool any() const { return int64 || f64; }
    [[nodiscard]] std::string text() const {
        return int64 && f64 ? "int64 and f64" : int64 ? "int64" : "f64";
    }
};

std::string program_text(const Claims& claims) {
    std::string out = R"(wye 1;
program probe;
workgroup 64;
param key: u32;
input x: u32[];
output r: u32[len(x)];
grid elements len(x);
main {
    let i = global_id.x;
    if i < len(r) {
        var v = (x[i] ^ key) * 2654435761u + i;
)";
    if (claims.int64) out += "        v = v ^ u32((u64(v) * 0x9e3779b97f4a7c15u64) >> 32u);\n";
    if (claims.f64) out += "        v = v ^ u32(f64(v & 0xffffu) * 1.5f64);\n";
    return out + "        r[i] = v ^ (v >> 15u);\n    }\n}\n";
}

std::uint32_t expected(std::uint32_t x, std::uint32_t i, const Claims& claims) {
    std::uint32_t v = (x ^ kKey) * kFactor + i;
    if (claims.int64) v ^= static_cast<std::uint32_t>((std::uint64_t{v} * kWideFactor) >> 32U);
    if (claims.f64) v ^= static_cast<std::uint32_t>((v & 0xffffU) * 1.5);
    return v ^ (v >> 15U);
}

// Takes over the error of a failed call.
Error taken(wye_status status, wye_error* error) {
    if (error == nullptr) return {static_cast<Code>(status), "it failed without details", ""};
    const std::unique_ptr<wye_error, void (*)(wye_error*)> owned(error, &wye_error_free);
    const wye_string text = wye_error_message(error);
    return {static_cast<Code>(status), std::string(text.data, text.size), ""};
}

template <typename Call>
Result<void> call(Call&& make) {
    wye_error* error = nullptr;
    const wye_status status = make(&error);
    if (status != WYE_OK) return taken(status, error);
    return {};
}

bool claims_of(wye_context* context, wye_device device, const char* name) {
    wye_fact fact;
    WYE_INIT(fact);
    return wye_device_fact(context, device, wye_str(name), &fact, nullptr) == WYE_OK &&
           fact.type == WYE_FACT_BOOL && fact.u == 1;
}

// Runs the dispatch whose result is known. Returns a text about the first wrong element, if any.
Result<std::optional<std::string>> run(wye_context* context, wye_device device,
                                       const Claims& claims) {
    const std::string text = program_text(claims);
    wye_program_source source;
    WYE_INIT(source);
    source.name = wye_str("probe");
    source.text = {text.data(), text.size()};
    wye_program program = 0;
    WYE_TRY(call([&](wye_error** e) { return wye_program_create(context, &source, &program, e); }));
    std::vector<std::uint32_t> x(kElements);
    std::vector<std::uint32_t> r(kElements);
    for (std::uint32_t i = 0; i < kElements; ++i) x[i] = i * i * 977 + 12345;
    std::array<wye_argument, 2> arguments{};
    arguments[0].kind = arguments[1].kind = WYE_ARGUMENT_HOST;
    arguments[0].input = {x.data(), x.size() * sizeof x[0]};
    arguments[1].binding = 1;
    arguments[1].output = r.data();
    arguments[1].output_size = r.size() * sizeof r[0];
    const std::uint64_t key = kKey;
    wye_dispatch_desc desc;
    WYE_INIT(desc);
    desc.program = program;
    desc.device = device;
    desc.arguments = arguments.data();
    desc.argument_count = arguments.size();
    desc.params = &key;
    desc.param_count = 1;
    // Runs twice: after a program's first dispatch, the library undoes the plugin's changes of the
    // thread's signal mask and signal stack. After the second, the caller can see the changes.
    for (int time = 0; time < 2; ++time) {
        std::ranges::fill(r, kUnwritten);
        WYE_TRY(call([&](wye_error** e) { return wye_dispatch(context, &desc, nullptr, e); }));
        for (std::uint32_t i = 0; i < kElements; ++i)
            if (const std::uint32_t want = expected(x[i], i, claims); r[i] != want)
                return std::optional(fmt::format(
                    "the test dispatch gave {:#010x} as element {}, where {:#010x} is right", r[i],
                    i, want));
    }
    return std::optional<std::string>();
}

// Whether an error only says that the device lacks an optional capability.
bool not_a_fault(Code code) {
    return code == Code::UNSUPPORTED || code == Code::UNIMPLEMENTED || code == Code::NO_DEVICE;
}

struct Outcome {
    Code code = Code::OK;
    bool wrong = false;
    std::string message;
};

Outcome outcome_of(const Result<std::optional<std::string>>& ran) {
    if (!ran.ok()) {
        if (not_a_fault(ran.error().code)) return {};
        return {ran.error().code, false, "the test dispatch failed: " + ran.error().message};
    }
    if (ran->has_value()) return {Code::PLUGIN_FAULT, true, **ran};
    return {};
}

Outcome try_device(wye_context* context, const std::string& selector) {
    wye_device device = 0;
    const auto opened = call([&](wye_error** e) {
        return wye_device_open(context, wye_str(selector.c_str()), 0, &device, e);
    });
    if (!opened.ok())
        return {opened.error().code, false, "it cannot be opened: " + opened.error().message};
    const Claims claims{claims_of(context, device, "int64"), claims_of(context, device, "f64")};
    Outcome all = outcome_of(run(context, device, claims));
    if (all.code == Code::OK || !claims.any()) return all;
    // If the same program succeeds without the claimed capabilities, one of these is at fault.
    if (outcome_of(run(context, device, {})).code != Code::OK) return all;
    return {Code::PLUGIN_FAULT, all.wrong,
            fmt::format("it claims {}, but with them {}", claims.text(), all.message)};
}

}  // namespace

Result<wye_context*> open_only(const Json& request, const std::string& file) {
    registry::Options options;
    if (const Json* config = request.find("config"); config != nullptr)
        config->for_each([&](const std::string& key, const Json& value) {
            if (const auto bytes = registry::exact_bytes(value))
                options.config.insert_or_assign(key, *bytes);
        });
    for (const auto& [name, value] : registry::environment_snapshot())
        options.config.insert_or_assign("env." + name, value);
    options.application_paths = {file};
    // The report needs only facts: the host derives the rest from them.
    options.config.insert_or_assign("report.details", "facts");
    return exec::make_context(std::move(options), "auto");
}

Json Checker::check(const std::string& device, std::uint64_t& ns) const {
    const auto begun = std::chrono::steady_clock::now();
    const Outcome outcome = try_device(context_, device);
    ns += static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                         std::chrono::steady_clock::now() - begun)
                                         .count());
    Json out;
    out["device"] = device;
    out["code"] = registry::code_name(outcome.code);
    out["wrong"] = outcome.wrong;
    out["message"] = outcome.message;
    return out;
}

}  // namespace wye::probe
