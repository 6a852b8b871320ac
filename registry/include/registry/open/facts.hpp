// SPDX-License-Identifier: Apache-2.0
//
// The facts of a device, read once through the plugin's `device_fact` and then immutable. An
// unreported capability counts as absent, an unreported limit is unknown (never unlimited). Plain
// values, free-threaded to read. Sizes are bytes, frequencies hertz.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "registry/json.hpp"
#include "registry/open/plugin_text.hpp"
#include "wye/abi.h"

namespace wye::registry {

struct FactInfo {
    std::string_view name;  // JSON name, "max_workgroup_size"
    std::uint32_t key;      // enum wye_fact_key
    std::uint32_t type;     // enum wye_fact_type
};

// All facts of the ABI header, in its order; and one fact by name (null: no such fact).
[[nodiscard]] std::span<const FactInfo> fact_infos() noexcept;
[[nodiscard]] const FactInfo* find_fact(std::string_view name) noexcept;

using FactValue = std::variant<bool, std::uint64_t, double, std::string,
                               std::array<std::uint32_t, 3>, std::vector<std::uint64_t>>;

// Converts a value to JSON, and back. `fact_value` returns nothing if the JSON is of another type,
// if a text has more than 64 KiB, or if a list has more than 4096 numbers. Texts are escaped by
// `one_line`.
[[nodiscard]] Json json_of(const FactValue& value);
[[nodiscard]] std::optional<FactValue> fact_value(const Json& value, std::uint32_t type);

struct Fact {
    FactValue value;
    std::string source;  // where the value comes from, such as a file; may be empty
};

// Why a fact is not there.
enum class Missing : std::uint8_t {
    unreported,  // the device, or its driver, does not report the fact
    unknown,     // the plugin is older than the fact
    bad_answer,  // the plugin answered with a wrong type, or failed
};
[[nodiscard]] std::string_view missing_name(Missing missing) noexcept;

class Facts {
  public:
    void set(std::uint32_t key, Fact fact) { values_[key] = std::move(fact); }
    void set_missing(std::uint32_t key, Missing why) { missing_[key] = why; }
    // Why `find` returns nothing for this fact.
    [[nodiscard]] Missing missing(std::uint32_t key) const noexcept {
        const auto at = missing_.find(key);
        return at == missing_.end() ? Missing::unreported : at->second;
    }

    // Null: the device does not report the fact.
    [[nodiscard]] const Fact* find(std::uint32_t key) const noexcept;
    [[nodiscard]] bool has(std::uint32_t capability) const noexcept;  // reported and true
    [[nodiscard]] std::optional<std::uint64_t> number(std::uint32_t key) const noexcept;
    [[nodiscard]] std::optional<double> real(std::uint32_t key) const noexcept;
    [[nodiscard]] std::optional<std::array<std::uint32_t, 3>> triple(
        std::uint32_t key) const noexcept;
    [[nodiscard]] std::string_view text(std::uint32_t key) const noexcept;  // empty: not reported
    [[nodiscard]] std::span<const std::uint64_t> list(std::uint32_t key) const noexcept;

    // Writes a fact in the form of the C API. The texts and lists in `out` point into this object.
    // False: the fact is not reported.
    [[nodiscard]] bool to_abi(std::uint32_t key, wye_fact* out) const noexcept;

    [[nodiscard]] const std::map<std::uint32_t, Fact>& all() const noexcept { return values_; }

  private:
    std::map<std::uint32_t, Fact> values_;
    std::map<std::uint32_t, Missing> missing_;  // `unreported` is not stored
};

// Reads every fact of the ABI header. `read` is the plugin's slot, bound to plugin and index. An
// answer counts as not reported, and is added to `faults`, if its type differs from the header's,
// if its list or text is null, or if no device can have its value.
using FactReader = std::function<wye_status(std::uint32_t key, wye_fact* out)>;
[[nodiscard]] Facts read_facts(const FactReader& read, Memory memory,
                               std::vector<std::string>& faults);

}  // namespace wye::registry
