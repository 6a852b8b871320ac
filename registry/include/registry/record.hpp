// SPDX-License-Identifier: Apache-2.0
//
// Record: why a candidate file, plugin or device was passed over, or what is worth knowing of it.
// The load report, `wye info` and the dispatch receipt are views of these. Plain values; a record
// owns its strings and is never changed after it was made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::registry {

// How far a candidate came. A refusal carries the stage at which it was refused: `opened` means
// that opening failed, `initialised` that init failed, and so on.
enum class Stage : std::uint8_t {
    found,         // a search folder or path
    manifest,      // reading and checking the manifest
    trust,         // permissions of the file and of the folders above it
    architecture,  // built for another machine, or no whole shared object
    needs,         // a system library that the manifest asks for
    opened,        // the system loader
    negotiated,    // entry symbol, version range, tables
    initialised,   // the plugin's init
    enumerated,    // its devices
};

enum class Severity : std::uint8_t {
    refused,  // the candidate is not used
    warning,  // it is used, and somebody should look
    note,     // something that was ignored on purpose (a variable, a shadowed duplicate)
};

struct Record {
    Stage stage = Stage::found;
    Severity severity = Severity::refused;
    Code code = Code::INTERNAL;
    std::string message;      // one sentence with the offending value
    std::string loader_text;  // what the system loader or the driver said; may be empty
    std::string fix;          // begins with "Fix: "
    std::string path;         // the file or folder; empty for a built-in plugin
    std::string plugin;       // its id, as far as it is known
};

[[nodiscard]] std::string_view stage_name(Stage stage) noexcept;           // "negotiated"
[[nodiscard]] std::string_view severity_name(Severity severity) noexcept;  // "refused"
[[nodiscard]] std::string_view code_name(Code code) noexcept;              // "ABI_MISMATCH"

// The same content as an error: the loader's text becomes the cause.
[[nodiscard]] Error to_error(const Record& record);

// One line: "name: negotiated: message [loader text] Fix: ...".
[[nodiscard]] std::string to_text(const Record& record);

}  // namespace wye::registry
