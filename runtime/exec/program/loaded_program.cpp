// SPDX-License-Identifier: Apache-2.0
#include "exec/program/loaded_program.hpp"

#include "exec/device/session.hpp"

#include <algorithm>

#include "lower/lower.hpp"
#include "wye/sdk/plugin.hpp"
#include "wye/sdk/wide_stack.hpp"

namespace wye::exec {

Result<void> LoadedProgram::finish() {
    WYE_ASSIGN(auto wire, ir::encode(ir_, ir::Notes::Drop));
    fingerprint_ = ir::fingerprint_of_encoding(wire);
    encoding_ = std::make_shared<const std::vector<std::byte>>(std::move(wire));
    WYE_ASSIGN(plan_, plan::plan_program(ir_));
    describe();
    return {};
}

void LoadedProgram::describe() {
    fingerprint_text_ = fingerprint_.hex();
    layout_text_ = plan::hex(plan::layout_fingerprint(plan_.bindings));
    // Reserves memory for all names, so that views of them stay valid.
    type_names_.reserve(ir_.params.size() + ir_.buffers.size());
    const auto type = [&](ir::Type t) {
        return sdk::to_abi(type_names_.emplace_back(ir::type_name(t)));
    };
    for (const ir::Param& param : ir_.params)
        param_descriptions_.push_back({sdk::to_abi(param.name), type(param.type)});
    for (const plan::Binding& binding : plan_.bindings.bindings) {
        const ir::Buffer& buffer = ir_.buffers[binding.buffer_index];
        wye_buffer_description out{};
        out.name = sdk::to_abi(buffer.name);
        out.role = sdk::to_abi(ir::role_name(buffer.role));
        out.type = type(buffer.type);
        out.binding = buffer.binding;
        out.element_bytes = binding.element_size;
        out.in_inputs = binding.input_index ? 1 : 0;
        out.in_outputs = binding.output_index ? 1 : 0;
        out.count_kind = static_cast<std::uint32_t>(buffer.count_kind);
        out.alignment = binding.preferred_alignment;
        out.count = buffer.count_kind == ir::Buffer::Count::Literal ? buffer.count : 0;
        buffer_descriptions_.push_back(out);
        const ir::Hints& hints = binding.hints;
        hints_.push_back(
            {hints.coalesce, hints.prefer_align, static_cast<std::uint32_t>(hints.locality), 0});
    }
    description_.header = sdk::header_of(sizeof description_);
    description_.name = sdk::to_abi(ir_.name);
    description_.fingerprint = sdk::to_abi(fingerprint_text_);
    std::ranges::copy(ir_.workgroup, description_.workgroup);
    description_.grid_kind = ir_.grid.kind;
    description_.deterministic = plan_.analysis.deterministic() ? 1 : 0;
    description_.deterministic_if = plan_.analysis.deterministic_if() ? 1 : 0;
    description_.params = param_descriptions_.data();
    description_.param_count = param_descriptions_.size();
    description_.buffers = buffer_descriptions_.data();
    description_.buffer_count = buffer_descriptions_.size();
    description_.hints = hints_.data();
    description_.layout_fingerprint = sdk::to_abi(layout_text_);
}

Result<std::shared_ptr<LoadedProgram>> LoadedProgram::phase(const plan::Path& path) {
    const sdk::Lock lock(phases_mutex_);
    std::shared_ptr<LoadedProgram>& found = phases_[path];
    if (found) return found;
    WYE_ASSIGN(found, sdk::with_room([&]() -> Result<std::shared_ptr<LoadedProgram>> {
                   auto made = std::make_shared<LoadedProgram>(plan::phase_program(ir_, path));
                   WYE_TRY(made->finish());
                   return made;
               }));
    return found;
}

Result<const lower::Preconditions*> LoadedProgram::preconditions(lower::NativeSet natives) {
    const sdk::Lock lock(preconditions_mutex_);
    if (const auto known = preconditions_.find(natives); known != preconditions_.end())
        return &known->second;
    WYE_ASSIGN(lower::Preconditions made, sdk::with_room([&]() -> Result<lower::Preconditions> {
                   return lower::preconditions(ir_, ir_.workgroup, natives);
               }));
    return &preconditions_.emplace(natives, std::move(made)).first->second;
}

std::optional<route::Route> LoadedProgram::find_route(const DeviceSession& session,
                                                      const RouteKey& key) const {
    const sdk::SharedLock lock(known_mutex_);
    for (const KnownRoute& known : routes_)
        if (known.session == session.owner() && known.key == key) return known.route;
    return std::nullopt;
}

void LoadedProgram::remember(const DeviceSession& session, const RouteKey& key,
                             const route::Route& route) {
    const sdk::Lock lock(known_mutex_);
    for (const KnownRoute& known : routes_)
        if (known.session == session.owner() && known.key == key) return;
    routes_.push_back({session.owner(), key, route});
}

CompiledRef LoadedProgram::find_compiled(const DeviceSession& session, const Form& form) const {
    const sdk::SharedLock lock(known_mutex_);
    for (const KnownForm& known : forms_)
        if (known.session == session.owner() && known.compiled->form == form) return known.compiled;
    return nullptr;
}

void LoadedProgram::remember(const DeviceSession& session, CompiledRef compiled) {
    const sdk::Lock lock(known_mutex_);
    for (const KnownForm& known : forms_)
        if (known.session == session.owner() && known.compiled->form == compiled->form) return;
    forms_.push_back({session.owner(), std::move(compiled)});
}

void LoadedProgram::forget(const DeviceSession& session) {
    const auto of_session = [&](const auto& known) { return known.session == session.owner(); };
    {
        const sdk::Lock lock(known_mutex_);
        std::erase_if(routes_, of_session);
        std::erase_if(forms_, of_session);
    }
    const sdk::Lock lock(phases_mutex_);
    for (const auto& [path, phase] : phases_)
        if (phase) phase->forget(session);
}

}  // namespace wye::exec
