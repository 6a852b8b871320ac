// SPDX-License-Identifier: Apache-2.0
//
// Record: the reason why a candidate file, plugin or device was passed over, or a warning about
// it. The report and `wye info` show records. Plain values that own their strings; immutable once
// made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::registry {

// The stage that a candidate reached. A refusal has the stage that failed: `opened` means that
// opening failed, `initialised` that init failed, and so on.
enum class Stage : std::uint8_t {
    found,         // a search folder or path
    manifest,      // reading and checking the manifest
    trust,         // permissions of the file and of the folders above it
    architecture,  // the ELF header: machine, kind, completeness
    needs,         // a system library that the manifest requires
    opened,        // the system loader
    negotiated,    // the entry symbol, the version range, the tables
    initialised,   // the plugin's init
    enumerated,    // the plugin's list of devices
    probed,        // the plugin's probe in a separate process
};

enum class Severity : std::uint8_t {
    refused,  // the candidate is not used
    warning,  // the candidate is used, but something is wrong
    note,     // ignored on purpose: a variable, a shadowed duplicate
};

struct Record {
    Stage stage = Stage::found;
    Severity severity = Severity::refused;
    Code code = Code::INTERNAL;
    std::string message = {};          // one sentence with the offending value
    std::string loader_text = {};      // the text of the system loader or the driver; may be empty
    std::string fix = {};              // begins with "Fix: "
    std::string path = {};             // the file or folder; empty for a built-in plugin
    std::string plugin = {};           // its id, as far as it is known
    std::string missing_library = {};  // by its soname; empty: none is missing, or it is not known
};

[[nodiscard]] std::string_view stage_name(Stage stage) noexcept;           // "negotiated"
[[nodiscard]] std::string_view severity_name(Severity severity) noexcept;  // "refused"
[[nodiscard]] std::string_view code_name(Code code) noexcept;              // "ABI_MISMATCH"

// Converts a record to an error: the loader's text becomes the cause.
[[nodiscard]] Error to_error(const Record& record);

// One line: "name: negotiated: message [loader text]. Fix: ...".
[[nodiscard]] std::string to_text(const Record& record);

}  // namespace wye::registry
