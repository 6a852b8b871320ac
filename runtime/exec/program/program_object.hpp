// SPDX-License-Identifier: Apache-2.0
//
// A program that a context keeps: read, validated, encoded, planned, described. Immutable after it
// was loaded, but for the list of its compiled forms, which is synchronised. Free-threaded.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/program/compiled.hpp"
#include "lower/analysis/preconditions.hpp"
#include "plan/launch.hpp"
#include "plan/phases.hpp"
#include "program/wire/encode.hpp"
#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class DeviceSession;

class ProgramObject : public std::enable_shared_from_this<ProgramObject> {
  public:
    explicit ProgramObject(ir::Program program) : program_(std::move(program)) {}
    ProgramObject(const ProgramObject&) = delete;
    ProgramObject& operator=(const ProgramObject&) = delete;

    // Encodes and plans; called once by the loaders below.
    [[nodiscard]] Result<void> finish();

    [[nodiscard]] const ir::Program& program() const noexcept { return program_; }
    [[nodiscard]] const plan::ProgramPlan& plan() const noexcept { return plan_; }
    [[nodiscard]] const Encoding& encoding() const noexcept { return encoding_; }
    [[nodiscard]] const ir::Fingerprint& fingerprint() const noexcept { return fingerprint_; }
    [[nodiscard]] const wye_program_description& description() const noexcept {
        return description_;
    }

    // What launches with the program's own workgroup size must fulfil to run without the range
    // checks that depend on them, when these functions are native; worked out when first asked for,
    // never null.
    [[nodiscard]] Result<const lower::Preconditions*> preconditions(lower::NativeSet natives = 0);

    // The compiled form for a session, if there is one already.
    [[nodiscard]] PreparedRef find_prepared(const DeviceSession& session,
                                            const PreparedKey& key) const;
    void remember(const DeviceSession& session, PreparedRef prepared);

    // The program of the phases with this path, made once.
    [[nodiscard]] Result<std::shared_ptr<ProgramObject>> phase(const plan::Path& path);

  private:
    struct Entry {
        const DeviceSession* session;
        PreparedRef prepared;
    };
    void describe();

    ir::Program program_;
    plan::ProgramPlan plan_;
    Encoding encoding_;
    ir::Fingerprint fingerprint_;

    std::string fingerprint_text_;
    std::vector<std::string> type_names_;
    std::vector<wye_param_description> param_descriptions_;
    std::vector<wye_buffer_description> buffer_descriptions_;
    wye_program_description description_{};

    mutable std::shared_mutex prepared_mutex_;
    std::vector<Entry> prepared_;

    std::mutex preconditions_mutex_;
    std::map<lower::NativeSet, lower::Preconditions> preconditions_;

    std::mutex phases_mutex_;
    std::map<plan::Path, std::shared_ptr<ProgramObject>> phases_;
};
using ProgramRef = std::shared_ptr<ProgramObject>;

// The bytes of a file that a `variant` clause names.
using Resolve = std::function<Result<std::vector<std::byte>>(std::string_view name)>;

// INVALID_TEXT, INVALID_WIRE, INVALID_PROGRAM, LIMIT_EXCEEDED. For programs with errors the message
// has every diagnostic, rendered with its place, and runs over several lines.
[[nodiscard]] Result<ProgramRef> load_text(std::string_view text, std::string_view name,
                                           const Resolve& resolve);
[[nodiscard]] Result<ProgramRef> load_wire(std::span<const std::byte> wire, std::string_view name);

// One JSON document: name, fingerprint, needs, determinism, sizes.
[[nodiscard]] std::string analysis_json(const ProgramObject& program);

}  // namespace wye::exec
