// SPDX-License-Identifier: Apache-2.0
//
// Adds dispatches that are like the last added dispatch: in graphs and batches, many dispatches
// differ only in their buffers. The operations of a dispatch depend on the sizes of its buffers, on
// their ranges, and on which ranges overlap. If all of these are the same, the operations are the
// same.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "exec/prepared/work.hpp"

namespace wye::exec {
namespace {

// Compares all members except the buffer.
bool same_but_buffer(const wye_argument& a, const wye_argument& b) {
    static_assert(std::has_unique_object_representations_v<wye_argument>);
    static_assert(offsetof(wye_argument, offset) - offsetof(wye_argument, buffer) ==
                  sizeof a.buffer);
    constexpr std::size_t kAfter = sizeof a - offsetof(wye_argument, offset);
    return std::memcmp(&a, &b, offsetof(wye_argument, buffer)) == 0 &&
           std::memcmp(&a.offset, &b.offset, kAfter) == 0;
}

bool are_distinct(std::span<const wye_argument> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (arguments[i].buffer == arguments[j].buffer) return false;
    return true;
}

}  // namespace

void PreparedWork::set_model(const wye_dispatch_desc& request, const Flow& flow,
                             const ParamRules& rules, std::size_t first) {
    const std::span arguments(request.arguments, static_cast<std::size_t>(request.argument_count));
    if (model_)
        model_->clear();
    else
        model_ = std::make_unique<Model>();
    Model& model = *model_;
    for (const wye_argument& argument : arguments) model.arguments.push_back({argument, 0, false});
    std::array<const wye_buffer_object*, WYE_LIMIT_BUFFERS> objects;
    for (const plan::BoundBuffer& bound : flow.launch.bound()) {
        const auto& buffer = flow.residents.pin(bound.argument).as<BufferObject>();
        Model::Argument& to = model.arguments[bound.argument];
        to.size = buffer.size;
        to.writes = bound.writable;
        objects[bound.argument] = buffer.native.object();
        model.argument_of.push_back(bound.argument);
    }
    model.distinct = are_distinct(arguments);
    model.bindings = workspace_->bindings;
    for (std::size_t n = first; n < operations_.size(); ++n) {
        const wye_operation& operation = operations_[n];
        if (clears_traps(operation)) continue;  // the trap words are cleared once per execution
        Model::Step& step = model.steps.emplace_back(Model::Step{operation, Model::kNone});
        if (operation.kind != WYE_OPERATION_FILL) continue;
        const auto* const found =
            std::find(objects.data(), objects.data() + arguments.size(), operation.u.fill.target);
        step.argument = static_cast<std::uint32_t>(found - objects.data());
    }
    model.params.assign(request.params, request.params + request.param_count);
    model.rules = rules;
    model.bytes_filled = flow.bound.bytes_filled;
    model.request =
        KeptRequest(request);  // set last, so that no request equals that of an incomplete model
}

bool PreparedWork::repeat(const registry::HandleTable& handles, const wye_argument* arguments,
                          const std::uint64_t* params) {
    const Model& model = *model_;
    const std::span<const std::uint64_t> words(params, model.params.size());
    const bool same_params = std::ranges::equal(model.params, words);
    if (!same_params && (use_ != Use::Once || !model.rules.allow_all())) return false;
    bool equal = true;
    for (std::size_t i = 0; i < model.arguments.size(); ++i) {
        const wye_argument& before = model.arguments[i].as;
        if (!same_but_buffer(before, arguments[i])) return false;
        equal = equal && before.buffer == arguments[i].buffer;
    }
    const std::span all(arguments, model.arguments.size());
    if (!equal && !(model.distinct && are_distinct(all))) return false;
    const void* packed = nullptr;
    if (!same_params) {
        packed = pack(words);
        if (packed == nullptr) return false;
    }
    // After a restart the work has no buffers.
    if ((!equal || handles_.empty()) && !replace_buffers(handles, all)) return false;
    if (!same_params) replace_params(words, packed);
    add_model();
    return true;
}

// A buffer that the work already has is found without the handle table. If that buffer was freed
// meanwhile, the submit refuses it.
bool PreparedWork::replace_buffers(const registry::HandleTable& handles,
                                   std::span<const wye_argument> arguments) {
    Model& model = *model_;
    std::array<std::uint32_t, WYE_LIMIT_BUFFERS> places;
    const auto find = [&] {
        bool all = true;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            places[i] = places_.find(arguments[i].buffer, handles_);
            all = all && places[i] != Places::kNone &&
                  natives_[places[i]].size == model.arguments[i].size;
        }
        return all;
    };
    if (!find() && !(add_buffers(handles, arguments) && find())) [[unlikely]]
        return false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        model.arguments[i].as.buffer = arguments[i].buffer;
        BufferUse& use = uses_[places[i]];
        use.writes = use.writes || model.arguments[i].writes;
    }
    for (std::size_t i = 0; i < model.bindings.size(); ++i)
        model.bindings[i].buffer = natives_[places[model.argument_of[i]]].object;
    const wye_binding* const bindings =
        keep(std::span<const wye_binding>(model.bindings), bindings_);
    for (Model::Step& step : model.steps) {
        if (step.argument != Model::kNone)
            step.operation.u.fill.target = natives_[places[step.argument]].object;
        else
            step.operation.u.dispatch.bindings = bindings;
    }
    return true;
}

[[gnu::noinline]] bool PreparedWork::add_buffers(const registry::HandleTable& handles,
                                                 std::span<const wye_argument> arguments) {
    registry::InplaceList<registry::Pin, WYE_LIMIT_BUFFERS> pins;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        registry::Pin pin = handles.try_find(arguments[i].buffer, registry::HandleKind::buffer);
        if (!pin || pin.owner() != session_.owner() ||
            pin.as<BufferObject>().size != model_->arguments[i].size)
            return false;
        pins.push_back(std::move(pin));
    }
    for (const registry::Pin& pin : pins) {
        auto& buffer = pin.as<BufferObject>();
        add_use(pin.handle(), {&buffer.history, false}, {buffer.native.object(), buffer.size});
    }
    return true;
}

const void* PreparedWork::pack(std::span<const std::uint64_t> words) {
    const ParamRules& rules = model_->rules;
    void* const out = kept_.allocate(rules.plan().params.size, alignof(std::uint64_t));
    return rules.pack(words, static_cast<std::byte*>(out)).ok() ? out : nullptr;
}

void PreparedWork::replace_params(std::span<const std::uint64_t> words, const void* packed) {
    std::ranges::copy(words, model_->params.begin());
    for (Model::Step& step : model_->steps)
        if (step.argument == Model::kNone) step.operation.u.dispatch.params = packed;
}

void PreparedWork::add_again(std::uint64_t count) {
    const Model& model = *model_;
    if (use_ == Use::Once && model.steps.size() == 1) {
        wye_operation operation = model.steps.front().operation;
        if (operation.kind == WYE_OPERATION_DISPATCH) operation.u.dispatch.again = 1;
        operations_.insert(operations_.end(), count, operation);
        std::ranges::fill(report_.groups, 0U);
        report_.bytes_filled += count * model.bytes_filled;
        return;
    }
    for (; count != 0; --count) add_model();
}

void PreparedWork::add_model() {
    const Model& model = *model_;
    std::ranges::fill(report_.groups, 0U);
    report_.bytes_filled += model.bytes_filled;
    if (use_ == Use::Once) [[likely]] {
        for (const Model::Step& step : model.steps) operations_.push_back(step.operation);
        return;
    }
    const Part& before = parts_.back();
    Part part = before;
    part.first_word = words_.size();
    words_.insert(words_.end(), model.params.begin(), model.params.end());
    std::uint32_t late_offset = 0;
    if (part.late) {
        const std::size_t first = before.block / sizeof block_[0], end = block_.size();
        part.block = end * sizeof block_[0];
        block_.resize(end + (end - first));
        std::copy_n(block_.begin() + static_cast<std::ptrdiff_t>(first), end - first,
                    block_.begin() + static_cast<std::ptrdiff_t>(end));
        late_offset = static_cast<std::uint32_t>(part.block);
    }
    parts_.push_back(part);
    for (const Model::Step& step : model.steps) {
        wye_operation& operation = operations_.emplace_back(step.operation);
        if (late_offset != 0 && operation.kind == WYE_OPERATION_DISPATCH)
            operation.u.dispatch.late_offset = late_offset;
    }
}

}  // namespace wye::exec
