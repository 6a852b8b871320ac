// SPDX-License-Identifier: Apache-2.0
#include "registry/open/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "registry/open/plugin_text.hpp"
#include "wye/sdk/facts.hpp"
#include "wye/sdk/plugin.hpp"
#include "wye/sdk/words.hpp"

namespace wye::registry {
namespace {

constexpr std::uint64_t kListLimit = 4096;
constexpr std::uint64_t kFactTextLimit = 4096;

constexpr FactInfo kFacts[] = {
#define WYE_FACT_INFO(name, key, json, type) {json, key, WYE_FACT_##type},
    WYE_FACTS(WYE_FACT_INFO)
#undef WYE_FACT_INFO
        {"native_normal_f32_fma", sdk::facts::kNativeNormalF32Fma, WYE_FACT_BOOL},
    {"f32_to_f64_rate", sdk::facts::kF32ToF64Rate, WYE_FACT_U64},
};

template <typename T>
const T* get(const Fact* fact) noexcept {
    return fact == nullptr ? nullptr : std::get_if<T>(&fact->value);
}

std::optional<FactValue> text_of(wye_string text, Memory memory) {
    auto read = read_text(text, kFactTextLimit, "the fact", memory);
    if (!read.ok()) return std::nullopt;
    return std::move(read).value();
}

std::optional<FactValue> list_of(const std::uint64_t* list, std::uint64_t size, Memory memory) {
    std::vector<std::uint64_t> out(size);
    if (!read_memory(out.data(), list, size * sizeof *list, memory)) return std::nullopt;
    return out;
}

// Converts a plugin's answer; nullopt if the answer's type differs from the ABI header's, or if the
// answer cannot be read.
std::optional<FactValue> to_value(const wye_fact& raw, std::uint32_t type, Memory memory) {
    if (raw.type != type) return std::nullopt;
    switch (type) {
        case WYE_FACT_BOOL:
            if (raw.u > 1) return std::nullopt;
            return raw.u == 1;
        case WYE_FACT_U64:
            return raw.u;
        case WYE_FACT_F64:
            return raw.f;
        case WYE_FACT_TEXT:
            if (raw.text.data == nullptr) return std::nullopt;
            return text_of(raw.text, memory);
        case WYE_FACT_U32X3:
            return std::array<std::uint32_t, 3>{raw.xyz[0], raw.xyz[1], raw.xyz[2]};
        case WYE_FACT_U64_LIST:
            if ((raw.list == nullptr && raw.list_size != 0) || raw.list_size > kListLimit)
                return std::nullopt;
            return list_of(raw.list, raw.list_size, memory);
        default:
            return std::nullopt;
    }
}

// ---- Nonsense: values of the right type that no device has -----------------------------------

bool is_hex(std::string_view text, std::size_t size) {
    return text.size() == size && std::ranges::all_of(text, [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
           });
}

// Whether a text has the form "0000:01:00.0".
bool is_pci_address(std::string_view text) {
    return text.size() == 12 && is_hex(text.substr(0, 4), 4) && text[4] == ':' &&
           is_hex(text.substr(5, 2), 2) && text[7] == ':' && is_hex(text.substr(8, 2), 2) &&
           text[10] == '.' && is_hex(text.substr(11), 1);
}

bool is_sensible_text(std::uint32_t key, std::string_view text) {
    constexpr std::string_view kKinds[] = {"cpu", "gpu", "accelerator", "other"};
    switch (key) {
        case WYE_FACT_KEY_DEVICE_KIND:
            return std::ranges::find(kKinds, text) != std::end(kKinds);
        case WYE_FACT_KEY_PCI_ADDRESS:
            return is_pci_address(text);
        case WYE_FACT_KEY_UUID:
            return is_hex(text, 32);
        case WYE_FACT_KEY_LUID:
            return is_hex(text, 16);
        default:
            return true;
    }
}

bool is_sensible_number(std::uint32_t key, std::uint64_t value) {
    constexpr std::uint64_t kUnits = std::uint64_t{1} << 24U;
    constexpr std::uint64_t kHz = 1'000'000'000'000;
    constexpr std::uint64_t kBytes = std::uint64_t{1} << 60U;
    switch (key) {
        case WYE_FACT_KEY_COMPUTE_UNITS:
            return value != 0 && value <= kUnits;
        case WYE_FACT_KEY_CLOCK_HZ:
            return value <= kHz;
        case WYE_FACT_KEY_MEMORY_BYTES:
            return value != 0 && value <= kBytes;
        case WYE_FACT_KEY_MEMORY_BANDWIDTH:
        case WYE_FACT_KEY_L1_CACHE_BYTES:
        case WYE_FACT_KEY_L2_CACHE_BYTES:
            return value <= kBytes;
        case WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS:
        case WYE_FACT_KEY_MAX_QUEUES:
            return value != 0;
        case WYE_FACT_KEY_BUFFER_ALIGNMENT:
        case WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT:
            return std::has_single_bit(value);
        default:
            return true;
    }
}

bool is_sensible(std::uint32_t key, const FactValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return is_sensible_text(key, *text);
    if (const auto* number = std::get_if<std::uint64_t>(&value))
        return is_sensible_number(key, *number);
    if (const auto* real = std::get_if<double>(&value)) return std::isfinite(*real) && *real >= 0;
    if (const auto* sizes = std::get_if<std::array<std::uint32_t, 3>>(&value))
        return std::ranges::find(*sizes, 0U) == sizes->end();
    if (const auto* list = std::get_if<std::vector<std::uint64_t>>(&value))
        return std::ranges::is_sorted(*list) && (list->empty() || list->front() != 0);
    return true;
}

}  // namespace

std::span<const FactInfo> fact_infos() noexcept { return kFacts; }

const FactInfo* find_fact(std::string_view name) noexcept {
    const auto* at = std::find_if(std::begin(kFacts), std::end(kFacts),
                                  [&](const FactInfo& info) { return info.name == name; });
    return at == std::end(kFacts) ? nullptr : at;
}

Json json_of(const FactValue& value) {
    return std::visit([](const auto& v) { return Json(v); }, value);
}

std::optional<FactValue> fact_value(const Json& value, std::uint32_t type) {
    constexpr std::size_t kMostText = 1U << 16U;
    constexpr std::size_t kMostNumbers = 4096;
    if (type == WYE_FACT_BOOL)
        return value.is_boolean() ? std::optional(value.text() == "true") : std::nullopt;
    if (type == WYE_FACT_TEXT)
        return value.is_string() && value.text().size() <= kMostText
                   ? std::optional(one_line(value.text()))
                   : std::nullopt;
    if (type == WYE_FACT_U64) return value.number<std::uint64_t>();
    if (type == WYE_FACT_F64) return value.number<double>();
    if (!value.is_array() || value.size() > kMostNumbers) return std::nullopt;
    std::vector<std::uint64_t> list;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const auto number = value.at(i).number<std::uint64_t>();
        if (!number || (type == WYE_FACT_U32X3 && *number > UINT32_MAX)) return std::nullopt;
        list.push_back(*number);
    }
    if (type != WYE_FACT_U32X3) return list;
    std::array<std::uint32_t, 3> three{};
    if (list.size() != three.size()) return std::nullopt;
    std::ranges::transform(list, three.begin(),
                           [](std::uint64_t axis) { return static_cast<std::uint32_t>(axis); });
    return three;
}

std::string_view missing_name(Missing missing) noexcept {
    constexpr std::string_view kNames[] = {"unreported", "unknown_to_plugin", "bad_answer"};
    return sdk::name_in(kNames, missing);
}

const Fact* Facts::find(std::uint32_t key) const noexcept {
    const auto at = values_.find(key);
    return at == values_.end() ? nullptr : &at->second;
}

bool Facts::has(std::uint32_t capability) const noexcept {
    const bool* value = get<bool>(find(capability));
    return value != nullptr && *value;
}

std::optional<std::uint64_t> Facts::number(std::uint32_t key) const noexcept {
    const auto* value = get<std::uint64_t>(find(key));
    return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<double> Facts::real(std::uint32_t key) const noexcept {
    const auto* value = get<double>(find(key));
    return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<std::array<std::uint32_t, 3>> Facts::triple(std::uint32_t key) const noexcept {
    const auto* value = get<std::array<std::uint32_t, 3>>(find(key));
    return value == nullptr ? std::nullopt : std::optional(*value);
}

std::string_view Facts::text(std::uint32_t key) const noexcept {
    const auto* value = get<std::string>(find(key));
    return value == nullptr ? std::string_view{} : std::string_view{*value};
}

std::span<const std::uint64_t> Facts::list(std::uint32_t key) const noexcept {
    const auto* value = get<std::vector<std::uint64_t>>(find(key));
    return value == nullptr ? std::span<const std::uint64_t>{} : std::span{*value};
}

bool Facts::to_abi(std::uint32_t key, wye_fact* out) const noexcept {
    const Fact* fact = find(key);
    if (fact == nullptr || out == nullptr) return false;
    const wye_header header = out->header;
    *out = wye_fact{};
    out->header = header;
    out->source = sdk::to_abi(fact->source);
    if (const auto* truth = std::get_if<bool>(&fact->value)) {
        out->type = WYE_FACT_BOOL;
        out->u = *truth ? 1 : 0;
    } else if (const auto* number = std::get_if<std::uint64_t>(&fact->value)) {
        out->type = WYE_FACT_U64;
        out->u = *number;
    } else if (const auto* real = std::get_if<double>(&fact->value)) {
        out->type = WYE_FACT_F64;
        out->f = *real;
    } else if (const auto* text = std::get_if<std::string>(&fact->value)) {
        out->type = WYE_FACT_TEXT;
        out->text = sdk::to_abi(*text);
    } else if (const auto* xyz = std::get_if<std::array<std::uint32_t, 3>>(&fact->value)) {
        out->type = WYE_FACT_U32X3;
        std::copy(xyz->begin(), xyz->end(), out->xyz);
    } else if (const auto* list = std::get_if<std::vector<std::uint64_t>>(&fact->value)) {
        out->type = WYE_FACT_U64_LIST;
        out->list = list->data();
        out->list_size = list->size();
    }
    return true;
}

Facts read_facts(const FactReader& read, Memory memory, std::vector<std::string>& faults) {
    Facts facts;
    for (const FactInfo& info : kFacts) {
        wye_fact raw = sdk::facts::empty();
        const wye_status status = read(info.key, &raw);
        if (status != WYE_OK) {
            // The plugin does not know the key, or its driver does not report the fact.
            if (status == WYE_UNKNOWN_KEY) facts.set_missing(info.key, Missing::unknown);
            if (status == WYE_UNSUPPORTED || status == WYE_UNKNOWN_KEY) continue;
            facts.set_missing(info.key, Missing::bad_answer);
            faults.push_back(fmt::format("{}: status {}", info.name, status));
            continue;
        }
        std::optional<FactValue> value = to_value(raw, info.type, memory);
        if (!value) {
            facts.set_missing(info.key, Missing::bad_answer);
            faults.push_back(
                fmt::format("{}: a wrong type ({}), or a malformed value", info.name, raw.type));
            continue;
        }
        if (!is_sensible(info.key, *value)) {
            faults.push_back(fmt::format("{}: a value that no device has", info.name));
            continue;
        }
        auto source = read_text(raw.source, kFactTextLimit, "the source of a fact", memory);
        facts.set(info.key,
                  {std::move(*value), source.ok() ? std::move(source).value() : std::string{}});
    }
    return facts;
}

}  // namespace wye::registry
