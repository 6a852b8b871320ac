// SPDX-License-Identifier: Apache-2.0
//
// The report of a machine as a JSON value, read from this machine or from a file. Every view of
// `wye info` is a pure function of the report. Reading is bounded: an untrusted file costs limited
// memory and time. The getters treat absent members, and those of another type, as "not known", so
// that views work on reports of older and newer versions. Pure; free-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "wye/sdk/result.hpp"

namespace wye::tool {

using Report = nlohmann::ordered_json;

constexpr std::size_t kReportBytes = std::size_t{16} << 20U;
constexpr std::size_t kReportValues = std::size_t{1} << 20U;
constexpr std::size_t kReportMembers = 1024;  // per object
constexpr std::size_t kReportNesting = 32;

// Reads a report and checks it against the schema. `name` is the file's name in errors.
// INVALID_ARGUMENT: not JSON (with line and column), a member of a wrong type, or a missing
// required member. UNSUPPORTED: a newer schema. LIMIT_EXCEEDED.
[[nodiscard]] Result<Report> read_report(std::string_view bytes, const std::string& name);

// The schema of reports, as installed (JSON Schema, draft 2020-12).
[[nodiscard]] std::string_view report_schema() noexcept;

// ---- Getters ------------------------------------------------------------------------------------

// A member of an object; a null value if the member is absent, or `object` is no object.
[[nodiscard]] const Report& member(const Report& object, const char* key);
[[nodiscard]] std::string text(const Report& object, const char* key);     // empty: not known
[[nodiscard]] const Report& items(const Report& object, const char* key);  // empty: not known
// Like `items`, for an object.
[[nodiscard]] const Report& fields(const Report& object, const char* key);
[[nodiscard]] std::optional<std::uint64_t> number(const Report& object, const char* key);
[[nodiscard]] bool flag(const Report& object, const char* key);  // false: not known
[[nodiscard]] std::vector<std::string> texts(const Report& object, const char* key);

// The value of a fact on one line: "4096 x 4096 x 1", "4 8 16", "yes", "no", or the text; "unknown"
// for null.
[[nodiscard]] std::string value_text(const Report& value);

[[nodiscard]] bool usable(const Report& device);
// Whether a plugin or candidate was refused or failed; false if a selector left it out.
[[nodiscard]] bool failed(const Report& plugin);

}  // namespace wye::tool
