// SPDX-License-Identifier: Apache-2.0
//
// Helpers that write the answers of a device_fact slot. `source` says where a value comes from. A
// number of 0, an empty text and an empty list mean that the fact is not reported. Strings and
// lists are not copied, so they must live as long as the plugin. Pure; free-threaded.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "wye/sdk/plugin.hpp"

namespace wye::sdk::facts {

// The ABI has no numbers for these two facts yet. They use numbers that are reserved for vendors;
// this project's begin at 0x77790000.
//
// A BOOL. True: f32 fma is exact if neither an operand nor the result is subnormal.
inline constexpr std::uint32_t kNativeNormalF32Fma = 0x77790001;
// A U64: the speed of operations on f32, divided by the speed of operations on f64.
inline constexpr std::uint32_t kF32ToF64Rate = 0x77790002;

// Returns an empty fact, for a device_fact slot to fill in.
[[nodiscard]] inline wye_fact empty() noexcept {
    wye_fact out{};
    out.header = header_of(sizeof out);
    return out;
}

[[nodiscard]] constexpr bool known(std::uint32_t key) noexcept {
    switch (key) {
#define WYE_SDK_FACT(name, value, json, type) case value:
        WYE_FACTS(WYE_SDK_FACT)
#undef WYE_SDK_FACT
        case kNativeNormalF32Fma:
        case kF32ToF64Rate:
            return true;
        default:
            return false;
    }
}

inline wye_status flag(wye_fact& out, bool value, std::string_view source = {}) noexcept {
    out.type = WYE_FACT_BOOL;
    out.u = value ? 1 : 0;
    out.source = to_abi(source);
    return WYE_OK;
}

inline wye_status number(wye_fact& out, std::uint64_t value,
                         std::string_view source = {}) noexcept {
    if (value == 0) return WYE_UNSUPPORTED;
    out.type = WYE_FACT_U64;
    out.u = value;
    out.source = to_abi(source);
    return WYE_OK;
}

// A number for which 0 is a value, such as an index.
inline wye_status ordinal(wye_fact& out, std::uint64_t value,
                          std::string_view source = {}) noexcept {
    out.type = WYE_FACT_U64;
    out.u = value;
    out.source = to_abi(source);
    return WYE_OK;
}

inline wye_status real(wye_fact& out, double value, std::string_view source = {}) noexcept {
    if (value == 0) return WYE_UNSUPPORTED;
    out.type = WYE_FACT_F64;
    out.f = value;
    out.source = to_abi(source);
    return WYE_OK;
}

// Three numbers, each clamped to 32 bits.
inline wye_status triple(wye_fact& out, const std::array<std::uint64_t, 3>& values,
                         std::string_view source = {}) noexcept {
    out.type = WYE_FACT_U32X3;
    for (unsigned k = 0; k < 3; ++k)
        out.xyz[k] = static_cast<std::uint32_t>(std::min<std::uint64_t>(values[k], UINT32_MAX));
    out.source = to_abi(source);
    return WYE_OK;
}

inline wye_status text(wye_fact& out, std::string_view value,
                       std::string_view source = {}) noexcept {
    if (value.empty()) return WYE_UNSUPPORTED;
    out.type = WYE_FACT_TEXT;
    out.text = to_abi(value);
    out.source = to_abi(source);
    return WYE_OK;
}

inline wye_status list(wye_fact& out, std::span<const std::uint64_t> values,
                       std::string_view source = {}) noexcept {
    if (values.empty()) return WYE_UNSUPPORTED;
    out.type = WYE_FACT_U64_LIST;
    out.list = values.data();
    out.list_size = values.size();
    out.source = to_abi(source);
    return WYE_OK;
}

}  // namespace wye::sdk::facts
