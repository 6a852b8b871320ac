// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/steps.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "plan/phases.hpp"

namespace wye::exec {
namespace {

struct Form {
    std::shared_ptr<ProgramObject> program;
    Prepared* prepared = nullptr;
};

// The launch's own parameters keep their places; the counters follow them.
void fill(std::byte* block, const plan::ProgramPlan& plan, const plan::Launch& launch,
          const plan::Phase& phase) {
    std::memcpy(block, launch.params, launch.params_size);
    const auto& params = plan.program->params;
    const std::size_t first = params.size() - phase.counters.size();
    for (std::size_t k = 0; k < phase.counters.size(); ++k)
        std::memcpy(block + plan.params.offsets[first + k], &phase.counters[k],
                    params[first + k].type.bytes());
}

}  // namespace

Result<void> Steps::split(ProgramObject& program, DeviceSession& session, const PreparedKey& key,
                          const plan::Launch& launch, std::optional<Clock::time_point> deadline,
                          PrepareStats& stats) {
    WYE_ASSIGN(const std::vector<plan::Phase> phases, plan::phases(program.plan(), launch));
    prepared_ = std::make_shared<std::vector<PreparedRef>>();
    std::map<plan::Path, Form> forms;
    std::vector<const Form*> form_of;
    std::size_t words = 0;
    for (const plan::Phase& phase : phases) {
        Form& form = forms[phase.path];
        if (!form.program) {
            WYE_ASSIGN(form.program, program.phase(phase.path));
            WYE_ASSIGN(PreparedRef made, session.prepared(*form.program, key, stats, deadline));
            form.prepared = made.get();
            prepared_->push_back(std::move(made));
        }
        form_of.push_back(&form);
        words += form.program->plan().params.size / 8 + 1;
    }
    params_.assign(words, 0);
    std::uint64_t* block = params_.data();
    for (std::size_t n = 0; n < phases.size(); ++n) {
        const plan::ProgramPlan& plan = form_of[n]->program->plan();
        auto* bytes = reinterpret_cast<std::byte*>(block);
        fill(bytes, plan, launch, phases[n]);
        steps_.push_back({form_of[n]->prepared, bytes});
        block += plan.params.size / 8 + 1;
    }
    return {};
}

bool Steps::warm() const {
    return std::ranges::all_of(
        steps(), [](const Step& s) { return s.prepared->warm.load(std::memory_order_relaxed); });
}

void Steps::set_warm() {
    for (const Step& step : steps()) step.prepared->warm.store(true, std::memory_order_relaxed);
}

PreparedRef Steps::kept() const {
    if (!prepared_ || prepared_->empty()) return nullptr;
    return {prepared_, prepared_->front().get()};
}

}  // namespace wye::exec
