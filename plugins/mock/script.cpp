// SPDX-License-Identifier: Apache-2.0
#include "mock/script.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "wye/sdk/nearest.hpp"
#include "wye/sdk/numbers.hpp"
#include "wye/sdk/words.hpp"

namespace wye::mock {
namespace {

using sdk::trimmed;

struct KnownFact {
    std::string_view name;
    std::uint32_t key, type;
};
constexpr KnownFact kFacts[] = {
#define WYE_MOCK_FACT(name, key, json, type) {json, key, WYE_FACT_##type},
    WYE_FACTS(WYE_MOCK_FACT)
#undef WYE_MOCK_FACT
};

// Returns the parts of a text that commas separate.
std::vector<std::string> parts_of(std::string_view text) {
    std::vector<std::string> out;
    for (const std::string_view part : sdk::split(text, ",")) out.emplace_back(trimmed(part));
    return out;
}

std::optional<Fact> fact_of(std::uint32_t type, std::string_view value) {
    Fact out;
    out.type = type;
    const std::vector<std::string> parts = parts_of(value);
    switch (type) {
        case WYE_FACT_BOOL:
            if (value != "true" && value != "false") return std::nullopt;
            out.u = value == "true" ? 1 : 0;
            return out;
        case WYE_FACT_U64:
            if (const auto number = sdk::parse_size(value)) return out.u = *number, out;
            return std::nullopt;
        case WYE_FACT_F64:
            if (const auto number = sdk::parse_number<double>(value)) return out.f = *number, out;
            return std::nullopt;
        case WYE_FACT_TEXT:
            out.text = value;
            return out;
        case WYE_FACT_U32X3:
            if (parts.size() != 3) return std::nullopt;
            for (std::size_t k = 0; k < 3; ++k) {
                const auto number = sdk::parse_size(parts[k]);
                if (!number || *number > UINT32_MAX) return std::nullopt;
                out.xyz[k] = static_cast<std::uint32_t>(*number);
            }
            return out;
        default:
            for (const std::string& part : parts) {
                const auto number = sdk::parse_size(part);
                if (!number || (!out.list.empty() && *number <= out.list.back()))
                    return std::nullopt;
                out.list.push_back(*number);
            }
            return out;
    }
}

class Reader {
  public:
    explicit Reader(const std::string& path) : path_(path) {}

    Result<void> line(std::string_view text) {
        ++number_;
        text = trimmed(text.substr(0, text.find('#')));
        if (text.empty()) return {};
        const std::size_t equals = text.find('=');
        if (equals == text.npos) return wrong("has no `=`", "Fix: write KEY = VALUE");
        const std::string_view key = trimmed(text.substr(0, equals));
        const std::string_view value = trimmed(text.substr(equals + 1));
        if (key == "device") {
            devices.push_back(common_device());
            devices.back().name = value;
            return {};
        }
        if (devices.empty()) devices.push_back(common_device());
        return set(devices.back(), key, value);
    }

    std::vector<DeviceInfo> devices;

  private:
    [[nodiscard]] Error wrong(const std::string& what, std::string fix) const {
        return {Code::INVALID_ARGUMENT,
                "line " + std::to_string(number_) + " of the script `" + path_ + "` " + what,
                std::move(fix), path_};
    }
    [[nodiscard]] Error bad_value(std::string_view key, std::string_view value,
                                  const char* fix) const {
        return wrong("gives `" + std::string(key) + "` the value `" + std::string(value) + "`",
                     fix);
    }

    Result<void> set(DeviceInfo& device, std::string_view key, std::string_view value) {
        if (key == "formats") return device.formats = parts_of(value), Result<void>();
        if (key == "reason") return device.reason = value, Result<void>();
        if (key == "fix") return device.fix = value, Result<void>();
        if (key == "output") return set_output(device, value);
        if (key.starts_with("fact.")) return set_fact(device, key, value);
        const std::pair<std::string_view, std::uint64_t*> times[] = {
            {"time.compile", &device.compile_ns},
            {"time.dispatch", &device.dispatch_ns},
            {"time.transfer", &device.transfer_ns}};
        for (const auto& [name, target] : times) {
            if (key != name) continue;
            const auto time = sdk::parse_quantity(value, {sdk::kTimeUnits});
            if (!time) return bad_value(key, value, "Fix: write a time, as in 20us");
            *target = *time;
            return {};
        }
        const std::string_view near =
            sdk::nearest(key, {"device", "formats", "reason", "fix", "output", "time.compile",
                               "time.dispatch", "time.transfer"});
        return wrong("has the key `" + std::string(key) + "`, which is not known",
                     near.empty() ? "Fix: use a key that plugins/layers/README.md lists"
                                  : "Fix: write `" + std::string(near) + "`");
    }

    Result<void> set_output(DeviceInfo& device, std::string_view value) {
        if (value == "none") return device.output.reset(), Result<void>();
        const std::string_view digits = value.starts_with("0x") ? value.substr(2) : "";
        const auto byte = sdk::parse_number<unsigned char>(digits, 16);
        if (!byte) return bad_value("output", value, "Fix: write none, or a byte as in 0x5a");
        device.output = *byte;
        return {};
    }

    Result<void> set_fact(DeviceInfo& device, std::string_view key, std::string_view value) {
        const std::string_view name = key.substr(5);
        const auto* known = std::ranges::find(kFacts, name, &KnownFact::name);
        if (known == std::end(kFacts)) {
            std::vector<std::string_view> names;
            for (const KnownFact& fact : kFacts) names.push_back(fact.name);
            const std::string_view near = sdk::nearest(name, names);
            return wrong("names the fact `" + std::string(name) + "`, which is not known",
                         near.empty() ? "Fix: use a fact that `wye info --json` lists"
                                      : "Fix: write `fact." + std::string(near) + "`");
        }
        if (value == "none") return device.facts.erase(known->key), Result<void>();
        auto fact = fact_of(known->type, value);
        if (!fact)
            return bad_value(key, value,
                             "Fix: write true or false, a number as in 64 or 4GiB, three numbers "
                             "or an ascending list with commas between them, or none");
        device.facts[known->key] = *std::move(fact);
        return {};
    }

    const std::string& path_;
    std::size_t number_ = 0;
};

}  // namespace

std::uint64_t DeviceInfo::memory_bytes() const {
    const auto at = facts.find(WYE_FACT_KEY_MEMORY_BYTES);
    return at == facts.end() ? 0 : at->second.u;
}

DeviceInfo common_device() {
    DeviceInfo out;
    out.name = "Mock device";
    out.formats = {WYE_FORMAT_PROGRAM};
    constexpr std::pair<std::string_view, std::string_view> kCommon[] = {
        {"int64", "true"},
        {"f64", "true"},
        {"ieee_f32", "true"},
        {"ieee_f64", "true"},
        {"storage8", "true"},
        {"storage16", "true"},
        {"atomic_int32", "true"},
        {"atomic_int64", "true"},
        {"barrier", "true"},
        {"max_workgroup_size", "1024,1024,64"},
        {"max_workgroup_invocations", "1024"},
        {"max_workgroups", "2147483647,65535,65535"},
        {"max_shared_bytes", "48KiB"},
        {"max_param_bytes", "4KiB"},
        {"max_buffers", "64"},
        {"max_buffer_bytes", "1GiB"},
        {"buffer_alignment", "16"},
        {"memory_bytes", "8GiB"},
        {"vendor", "Mock"},
        {"driver", "mock"},
        {"device_kind", "other"}};
    for (const auto& [name, value] : kCommon) {
        const auto* known = std::ranges::find(kFacts, name, &KnownFact::name);
        out.facts[known->key] = *fact_of(known->type, value);
    }
    return out;
}

Result<std::vector<DeviceInfo>> parse_script(std::string_view script, const std::string& path) {
    Reader reader(path);
    while (!script.empty()) WYE_TRY(reader.line(sdk::cut(script, "\n")));
    if (reader.devices.empty()) reader.devices.push_back(common_device());
    for (DeviceInfo& device : reader.devices) {
        if (!device.reason.empty() && !device.fix.starts_with("Fix: "))
            device.fix = "Fix: change the script of the mock plugin";
        for (const std::string& format : device.formats)
            device.format_views.push_back(sdk::to_abi(format));
    }
    return std::move(reader.devices);
}

}  // namespace wye::mock
