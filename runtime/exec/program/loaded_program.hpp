// SPDX-License-Identifier: Apache-2.0
//
// LoadedProgram: a program of a context, with its IR, plan, encoding and description. Immutable
// after loading, except for its caches (routes, compiled forms, preconditions, phases), which are
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
#include "registry/hold/ownership.hpp"
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
    bool indirect = false;  // the grid is in a buffer
    friend bool operator==(const RouteKey&, const RouteKey&) = default;
};

class LoadedProgram : public std::enable_shared_from_this<LoadedProgram> {
  public:
    explicit LoadedProgram(ir::Program program) : ir_(std::move(program)) {}
    LoadedProgram(const LoadedProgram&) = delete;
    LoadedProgram& operator=(const LoadedProgram&) = delete;

    // Encodes and plans the program; called once by the loaders (load.hpp).
    [[nodiscard]] Result<void> finish();

    [[nodiscard]] const std::string& name() const noexcept { return ir_.name; }
    // For lowering, printing and the choice of a form. Other code should prefer the name and the
    // plan: a program loaded as an artifact would have no IR.
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

    // The route of an earlier launch on a session with this key; none: there was no such launch.
    [[nodiscard]] std::optional<route::Route> find_route(const DeviceSession& session,
                                                         const RouteKey& key) const;
    void remember(const DeviceSession& session, const RouteKey& key, const route::Route& route);

    // The compiled form for a session, if it exists.
    [[nodiscard]] CompiledRef find_compiled(const DeviceSession& session, const Form& form) const;
    void remember(const DeviceSession& session, CompiledRef compiled);

    // Drops the routes and compiled forms of a session that ends.
    void forget(const DeviceSession& session);

    // The program for the phases with this path; made at the first call, and owned by this object.
    [[nodiscard]] Result<std::shared_ptr<LoadedProgram>> phase(const plan::Path& path);

  private:
    struct KnownRoute {
        // The session's owner object, which is never reused for another session.
        registry::OwnerRef session;
        RouteKey key;
        route::Route route;
    };
    struct KnownForm {
        // The session's owner object, which is never reused for another session.
        registry::OwnerRef session;
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
    std::vector<wye_buffer_hints> hints_;  // by buffer index
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
