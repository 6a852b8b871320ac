// SPDX-License-Identifier: Apache-2.0
//
// A program that a context keeps: read, validated, encoded, planned, described. Immutable after
// loading, except for its caches (routes, compiled forms, preconditions, phases), which are
// synchronised. Free-threaded.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/program/compiled_program.hpp"
#include "lower/analysis/preconditions.hpp"
#include "plan/launch.hpp"
#include "plan/phases.hpp"
#include "program/wire/encode.hpp"
#include "registry/ownership.hpp"
#include "route/route.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class DeviceSession;

// The properties of a launch that its route depends on, apart from sizes.
struct RouteKey {
    plan::Count3 workgroup = {1, 1, 1};
    bool variants = false;  // a native variant may run
    friend bool operator==(const RouteKey&, const RouteKey&) = default;
};

class LoadedProgram : public std::enable_shared_from_this<LoadedProgram> {
  public:
    explicit LoadedProgram(ir::Program program) : ir_(std::move(program)) {}
    LoadedProgram(const LoadedProgram&) = delete;
    LoadedProgram& operator=(const LoadedProgram&) = delete;

    // Encodes and plans; called once by the loaders below.
    [[nodiscard]] Result<void> finish();

    [[nodiscard]] const std::string& name() const noexcept { return ir_.name; }
    // For lowering, printing and the choice of a form only; other code uses the name and the plan,
    // since a program loaded as an artifact would have no IR.
    [[nodiscard]] const ir::Program& ir() const noexcept { return ir_; }
    [[nodiscard]] const plan::ProgramPlan& plan() const noexcept { return plan_; }
    [[nodiscard]] const Encoding& encoding() const noexcept { return encoding_; }
    [[nodiscard]] const ir::Fingerprint& fingerprint() const noexcept { return fingerprint_; }
    [[nodiscard]] const wye_program_description& description() const noexcept {
        return description_;
    }

    // The preconditions for check-free launches with the program's own workgroup size and these
    // native functions; computed at the first call, never null.
    [[nodiscard]] Result<const lower::Preconditions*> preconditions(lower::NativeSet natives = 0);

    // The route of earlier launches on a session; none before the first such launch.
    [[nodiscard]] std::optional<route::Route> find_route(const DeviceSession& session,
                                                         const RouteKey& key) const;
    void remember(const DeviceSession& session, const RouteKey& key, const route::Route& route);

    // The compiled form for a session, if it exists.
    [[nodiscard]] CompiledRef find_compiled(const DeviceSession& session, const Form& form) const;
    void remember(const DeviceSession& session, CompiledRef compiled);

    // Drops what it knows for a session that ends.
    void forget(const DeviceSession& session);

    // The program of the phases with this path, made once and owned by this program.
    [[nodiscard]] Result<std::shared_ptr<LoadedProgram>> phase(const plan::Path& path);

  private:
    struct KnownRoute {
        registry::OwnerRef session;  // its owner object, which is never another's
        RouteKey key;
        route::Route route;
    };
    struct KnownForm {
        registry::OwnerRef session;  // its owner object, which is never another's
        CompiledRef compiled;
    };
    void describe();

    ir::Program ir_;
    plan::ProgramPlan plan_;
    Encoding encoding_;
    ir::Fingerprint fingerprint_;

    std::string fingerprint_text_, layout_text_;
    std::vector<std::string> type_names_;
    std::vector<wye_param_description> param_descriptions_;
    std::vector<wye_buffer_description> buffer_descriptions_;
    std::vector<wye_buffer_hints> hints_;  // by buffer
    wye_program_description description_{};

    mutable sdk::SharedMutex known_mutex_;
    std::vector<KnownRoute> routes_ WYE_GUARDED_BY(known_mutex_);
    std::vector<KnownForm> forms_ WYE_GUARDED_BY(known_mutex_);

    sdk::Mutex preconditions_mutex_;
    std::map<lower::NativeSet, lower::Preconditions> preconditions_
        WYE_GUARDED_BY(preconditions_mutex_);

    sdk::Mutex phases_mutex_;
    std::map<plan::Path, std::shared_ptr<LoadedProgram>> phases_ WYE_GUARDED_BY(phases_mutex_);
};
using ProgramRef = std::shared_ptr<LoadedProgram>;

}  // namespace wye::exec
