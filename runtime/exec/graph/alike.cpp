// SPDX-License-Identifier: Apache-2.0
//
// Adds dispatches like one before: in graphs and batches many differ only in their buffers. What
// the steps of a dispatch decide depends on the sizes of buffers, on their ranges, and on which
// ranges overlap. If all of these are as before, the operations are, too.
#include <algorithm>
#include <cstring>
#include <utility>

#include "exec/dispatch/request.hpp"
#include "exec/graph/recording.hpp"

namespace wye::exec {
namespace {

// Compares all but the buffers.
bool same_but_buffer(wye_argument a, const wye_argument& b) {
    a.buffer = b.buffer;
    static_assert(std::has_unique_object_representations_v<wye_argument>);
    return std::memcmp(&a, &b, sizeof a) == 0;
}

bool are_distinct(std::span<const wye_argument> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (arguments[i].buffer == arguments[j].buffer) return false;
    return true;
}

}  // namespace

void Recording::set_model(const wye_dispatch_desc& request, const Flow& flow, std::size_t first) {
    const std::span arguments(request.arguments, static_cast<std::size_t>(request.argument_count));
    Model& model = model_.emplace();
    model.request = request;
    model.profile = profile_id(request.profile);
    for (const wye_argument& argument : arguments)
        model.arguments.push_back({argument, 0, nullptr, false});
    for (const plan::BoundBuffer& bound : flow.launch.bound()) {
        const auto& buffer = flow.residents.pin(bound.argument).as<BufferObject>();
        Model::Argument& to = model.arguments[bound.argument];
        to.size = buffer.size;
        to.object = buffer.native.object();
        to.writes = bound.writable;
    }
    model.distinct = are_distinct(arguments);
    model.first = first;
    model.end = operations_.size();
    model.bytes_filled = flow.bound.bytes_filled;
}

bool Recording::is_alike(const registry::HandleTable& handles, const wye_dispatch_desc& desc,
                         Others& out) const {
    if (!model_ || !same_request(desc, model_->request) || !session_.alive().ok()) return false;
    const Model& model = *model_;
    const Part& part = parts_.back();
    if (desc.queue != 0 || desc.arguments == nullptr ||
        (desc.params == nullptr && desc.param_count != 0) ||
        profile_id(desc.profile) != model.profile)
        return false;
    const std::span arguments(desc.arguments, static_cast<std::size_t>(desc.argument_count));
    if (!std::ranges::equal(std::span(desc.params, static_cast<std::size_t>(desc.param_count)),
                            std::span(words_).subspan(part.first_word, part.word_count)))
        return false;
    bool equal = true;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!same_but_buffer(model.arguments[i].as, arguments[i])) return false;
        equal = equal && model.arguments[i].as.buffer == arguments[i].buffer;
    }
    if (!equal && !(model.distinct && are_distinct(arguments))) return false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        registry::Pin pin = handles.try_find(arguments[i].buffer, registry::HandleKind::buffer);
        if (!pin || pin.owner() != session_.owner() ||
            pin.as<BufferObject>().size != model.arguments[i].size)
            return false;
        out.push_back(std::move(pin));
    }
    return true;
}

bool Recording::add_alike(const registry::HandleTable& handles, const wye_dispatch_desc& desc) {
    Others buffers;
    if (!is_alike(handles, desc, buffers)) return false;
    copy_model(desc, buffers);
    return true;
}

void Recording::copy_model(const wye_dispatch_desc& desc, const Others& buffers) {
    const Model& model = *model_;
    const auto other = [&](wye_buffer_object* object) {
        for (std::size_t i = 0; i < model.arguments.size(); ++i)
            if (model.arguments[i].object == object)
                return buffers[i].as<BufferObject>().native.object();
        return object;  // the trap words
    };
    const Part& before = parts_.back();
    const std::size_t block_words = before.late ? block_.size() - before.block / 8 : 0;
    Part part = before;
    part.first_word = words_.size();
    words_.insert(words_.end(), desc.params, desc.params + desc.param_count);
    if (part.late) {
        part.block = block_.size() * sizeof block_[0];
        block_.resize(block_.size() + block_words);
        std::copy_n(block_.begin() + static_cast<std::ptrdiff_t>(before.block / 8), block_words,
                    block_.begin() + static_cast<std::ptrdiff_t>(part.block / 8));
    }
    const wye_binding* described = nullptr;  // the bindings of the model, and copies of them
    const wye_binding* bindings = nullptr;
    for (std::size_t n = model.first; n < model.end; ++n) {
        if (clears_traps(operations_[n])) continue;  // once per execution
        operations_.push_back(operations_[n]);
        wye_operation& operation = operations_.back();
        if (operation.kind == WYE_OPERATION_FILL) {
            operation.u.fill.target = other(operation.u.fill.target);
            continue;
        }
        wye_dispatch_op& op = operation.u.dispatch;
        if (op.bindings != described) {
            described = op.bindings;
            wye_binding* const copies = keep(std::span(described, model.arguments.size()));
            for (std::size_t i = 0; i < model.arguments.size(); ++i)
                copies[i].buffer = other(copies[i].buffer);
            bindings = copies;
        }
        op.bindings = bindings;
        if (part.late) op.late_offset = static_cast<std::uint32_t>(part.block);
    }
    for (std::size_t i = 0; i < model.arguments.size(); ++i)
        add_use(desc.arguments[i].buffer,
                {&buffers[i].as<BufferObject>().history, model.arguments[i].writes});
    parts_.push_back(part);
    std::ranges::fill(report_.groups, 0U);
    report_.bytes_filled += model.bytes_filled;
}

}  // namespace wye::exec
