// SPDX-License-Identifier: Apache-2.0
#include "exec/prepared/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "exec/dispatch/decide.hpp"
#include "exec/dispatch/report.hpp"
#include "exec/dispatch/submit.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
Result<std::unique_ptr<Recording>> Recording::begin(DeviceSession& session, const Routed& routed,
                                                    std::string_view label, Use use) {
    auto out = std::make_unique<Recording>(session, routed, label, use);
    routed.write(out->report_);
    WYE_TRY(session.ready());
    out->workspace_ = session.workspace();
    if (use == Use::Once) out->operations_.swap(out->workspace_->recorded);
    return out;
}

// With Use::Once, gives the memory of the operations back for the next recording.
Recording::~Recording() {
    if (use_ != Use::Once) return;
    if (!instances_.empty()) restart();
    if (!workspace_) return;
    operations_.clear();
    workspace_->recorded.swap(operations_);
}

void Recording::reserve(std::uint64_t steps) {
    constexpr std::uint64_t kMost = 4096;  // a refused step must not cost much memory
    operations_.reserve(static_cast<std::size_t>(std::min(steps, kMost)));
    if (use_ == Use::Often) parts_.reserve(operations_.capacity());
}

Result<void> Recording::add(Context& context, Target target) {
    if (target.routed().device != routed_.device)
        return Error(Code::WRONG_OWNER, "its device is not that of the graph",
                     "Fix: record the dispatches of each device in a graph of its own", label_);
    Flow flow(target);
    flow.counted = true;  // recording does not run it
    WYE_TRY(decide(context, flow));
    WYE_TRY(check(flow));
    WYE_TRY(compile_kernels(flow));
    if (stops_between_rounds(flow))
        return Error(
            Code::UNSUPPORTED,
            fmt::format("{} fixpoint iterations of `{}`, which can trap, need the host between "
                        "them, and a graph is one submit",
                        flow.launch.rounds, flow.program.name()),
            "Fix: dispatch it (wye_dispatch, wye_dispatch_submit) between two graphs, or record "
            "that many steps",
            flow.program.name());
    workspace_->operations.clear();
    workspace_->bindings.clear();
    const auto number = static_cast<std::uint32_t>(parts_.size());
    WYE_ASSIGN(const Operations operations,
               write_operations(flow.program.plan(), flow.launch, flow.bound, flow.kernels,
                                flow.residents, session_, *workspace_, number));
    for (const plan::BoundBuffer& bound : flow.launch.bound()) {
        const registry::Pin& pin = flow.residents.pin(bound.argument);
        auto& buffer = pin.as<BufferObject>();
        // Executions share the scratch that replaces moved ranges, so they must not overlap.
        add_use(pin.handle(), {&buffer.history, bound.writable || operations.moves},
                {buffer.native.object(), buffer.size});
    }
    if (const registry::Pin& grid = flow.residents.grid()) {
        auto& buffer = grid.as<BufferObject>();
        add_use(grid.handle(), {&buffer.history, false}, {buffer.native.object(), buffer.size});
    }
    registry::Pin program = target.take_pin();
    if (programs_.empty() || programs_.back().handle() != program.handle())
        programs_.push_back(std::move(program));
    for (const Kernel& kernel : flow.kernels.kernels())
        if (compiled_.empty() || compiled_.back() != kernel.compiled)
            compiled_.push_back(kernel.compiled);
    if (flow.kernels.grid_check && grid_checks_.empty())
        compiled_.push_back(flow.kernels.grid_check.compiled);
    const plan::ProgramPlan& plan = flow.program.plan();
    ParamRules rules(plan, flow.launch, flow.kernels);
    Part& part = parts_.emplace_back();
    part.rules = std::move(rules);
    part.program = &programs_.back();
    const std::size_t first = operations_.size();
    add_operations(flow, operations, part);
    const std::span<const wye_operation> reads = operations.read_backs();
    operations_.insert(operations_.end(), reads.begin(), reads.end());
    transfers_ += reads.size();
    report_.bytes_downloaded += flow.bound.bytes_downloaded;
    if (operations.moves || !reads.empty() || flow.launch.indirect)
        model_.reset();
    else
        set_model(target.request(), flow, part.rules, first);
    std::ranges::fill(report_.groups, 0U);
    if (parts_.size() == 1) std::ranges::copy(flow.launch.groups, report_.groups);
    report_.bytes_filled += flow.bound.bytes_filled;
    report_.bytes_copied += flow.bound.bytes_copied;
    if (!flow.kernels.launches().empty()) {
        report_.cooperative = std::max(report_.cooperative, flow.kernels.cooperative);
        report_.determinism =
            std::max(report_.determinism, determinism(plan, flow.launch, flow.kernels.form));
    }
    return {};
}

Result<void> Recording::check(const Flow& flow) const {
    if (flow.desc.timeout_ns != 0)
        return Error(
            Code::UNSUPPORTED,
            fmt::format("it has a time-out of {} ns, and graphs have none", flow.desc.timeout_ns),
            "Fix: set timeout_ns to 0", label_);
    if (flow.desc.queue != 0)
        return Error(Code::INVALID_ARGUMENT, "it names a queue, which executions of a graph do",
                     "Fix: leave `queue` 0 in its dispatches, and set that of wye_graph_run_desc",
                     label_);
    for (const plan::BoundBuffer& bound : flow.launch.bound())
        if (bound.kind != plan::ArgumentKind::Resident)
            return Error(Code::UNSUPPORTED,
                         fmt::format("buffer `{}` is not a resident one",
                                     flow.program.ir().buffers[bound.buffer_index].name),
                         "Fix: make a buffer for it (wye_buffer_create), and record its upload as "
                         "a step before",
                         label_);
    return {};
}

Result<void> Recording::add(const Context& context, const wye_transfer_desc& desc) {
    if (desc.queue != 0 || (desc.flags & ~WYE_TRANSFER_WHOLE) != 0)
        return Error(Code::INVALID_ARGUMENT,
                     "it names a queue, or has flags that executions of a graph have",
                     "Fix: leave `queue` 0 and all flags but WYE_TRANSFER_WHOLE out, and set those "
                     "of wye_graph_run_desc",
                     label_);
    WYE_ASSIGN(const CheckedTransfer checked, check_transfer(context.handles(), desc, true));
    if (&checked.session() != &session_)
        return Error(
            Code::WRONG_OWNER,
            fmt::format("buffer `{}` is not on the device of the graph", checked.buffer.label()),
            "Fix: record the transfers of each device in a graph of its own", label_);
    for (std::size_t i = 0; i < checked.count; ++i)
        add_use(checked.handles[i], checked.uses[i], {nullptr, Native::kUnknown});
    ++transfers_;
    if (checked.size == 0) return {};
    operations_.push_back(checked.operation);
    report_transfer(checked.kind(), checked.size, report_);
    return {};
}

void Recording::add_use(registry::Handle buffer, BufferUse use, Native native) {
    const std::uint32_t place = places_.find(buffer, handles_);
    if (place == Places::kNone) {
        handles_.push_back(buffer);
        uses_.push_back(use);
        natives_.push_back(native);
        places_.added(handles_);
        return;
    }
    uses_[place].writes = uses_[place].writes || use.writes;
    if (native.size != Native::kUnknown) natives_[place] = native;
}

bool Recording::clears_traps(const wye_operation& operation) const {
    return operation.kind == WYE_OPERATION_FILL && workspace_->trap_memory &&
           operation.u.fill.target == workspace_->trap_memory->object();
}

const void* Recording::keep_params(std::span<const std::byte> block) {
    void* const out = kept_.allocate(block.size(), alignof(std::uint64_t));
    if (!block.empty()) std::memcpy(out, block.data(), block.size());
    return out;
}

void Recording::add_operations(const Flow& flow, const Operations& operations, Part& part) {
    part.first_word = words_.size();
    part.word_count = flow.desc.param_count;
    words_.insert(words_.end(), flow.desc.params, flow.desc.params + flow.desc.param_count);
    part.late = use_ == Use::Often && part.rules.may_change() && part.word_count != 0;
    if (part.late) {
        part.block = block_.size() * sizeof block_[0];
        block_.resize(block_.size() + (flow.launch.params_size + 7) / 8);
        std::memcpy(reinterpret_cast<std::byte*>(block_.data()) + part.block, flow.launch.params,
                    flow.launch.params_size);
    }
    const wye_binding* const bindings =
        keep(std::span<const wye_binding>(workspace_->bindings), bindings_);
    for (const wye_operation& operation : operations.launches()) {
        // The trap words are cleared once and read back once per execution.
        if ((traps_ && clears_traps(operation)) || operation.kind == WYE_OPERATION_DOWNLOAD)
            continue;
        wye_operation& kept = operations_.emplace_back(operation);
        if (kept.kind != WYE_OPERATION_DISPATCH) continue;
        wye_dispatch_op& op = kept.u.dispatch;
        if (op.bindings == workspace_->grid_check.bindings.data()) {
            const auto& memory = workspace_->grid_check;
            op.bindings = keep(std::span<const wye_binding>(memory.bindings), bindings_);
            op.params = keep_params({memory.params.data(), op.params_size});
            grid_checks_.push_back(operations_.size() - 1);
            continue;
        }
        op.again = 0;  // each launch has parameters of its own, and commands have no hints
        op.bindings = bindings;
        if (part.late) {
            op.late_offset = static_cast<std::uint32_t>(part.block);
            op.late_size = flow.launch.params_size;
            continue;
        }
        op.params = keep_params(flow.kernels.block(op.params));
    }
    traps_ = traps_ || operations.traps;
}

Result<void> Recording::finish() {
    if (traps_) trap_ = workspace_->trap_memory->object();
    operation_count_ = operations_.size();
    instances_.reserve(use_ == Use::Once ? 1 : kMostInstances);
    // One execution needs no other instance.
    auto operations = use_ == Use::Once ? std::move(operations_) : operations_;
    WYE_ASSIGN(auto first, make_instance(std::move(operations), std::move(workspace_)));
    give_params(*first);
    instances_.push_back(std::move(first));
    if (use_ == Use::Once) {
        warm_ = std::ranges::all_of(compiled_, [](const CompiledRef& one) {
            return one->warm.load(std::memory_order_relaxed);
        });
        return {};
    }
    find_free_words();
    WYE_ASSIGN(const bool native, is_native());
    report_.graph = native ? WYE_GRAPH_NATIVE : WYE_GRAPH_REPLAYED;
    return {};
}

void Recording::restart() {
    operations_ = std::move(instances_.front()->operations);
    workspace_ = std::move(instances_.front()->workspace);
    instances_.clear();
    operations_.clear();
    bindings_.release();
    parts_.clear();
    words_.clear();
    handles_.clear();
    uses_.clear();
    natives_.clear();
    places_.clear();
    grid_checks_.clear();
    frees_ = UINT64_MAX;
    report_.bytes_filled = 0;
}

Result<std::unique_ptr<Recording::Instance>> Recording::make_instance(
    std::vector<wye_operation> operations, WorkspaceLease workspace) const {
    auto out = std::make_unique<Instance>();
    out->workspace = std::move(workspace);
    out->block.resize(block_.size());
    out->operations = std::move(operations);
    wye_buffer_object* trap = nullptr;
    if (traps_) {
        WYE_ASSIGN(trap, session_.trap_buffer(*out->workspace));
        replace_trap(out->operations, trap_, trap, out->grid_bindings);
    }
    if (use_ == Use::Often) {
        const auto* const block = reinterpret_cast<const std::byte*>(out->block.data());
        for (wye_operation& operation : out->operations)
            if (operation.kind == WYE_OPERATION_DISPATCH && operation.u.dispatch.late_size != 0)
                operation.u.dispatch.params = block + operation.u.dispatch.late_offset;
        auto made = out->make_commands(session_.device(), out->operations, out->block.data(),
                                       static_cast<std::uint32_t>(block_.size() * sizeof block_[0]),
                                       label_);
        if (!made.ok()) return session_.noted(std::move(made).error());
        out->name_in(session_.trace(), label_);
        // Operations that are submitted without a command read their parameters at each submit, so
        // none are late.
        for (wye_operation& operation : out->operations)
            if (operation.kind == WYE_OPERATION_DISPATCH)
                operation.u.dispatch.late_offset = operation.u.dispatch.late_size = 0;
    }
    if (out->commands.empty()) out->execute = out->operations;
    if (!traps_) return out;
    if (out->commands.empty()) out->own = out->operations;
    wye_operation& read = out->own.emplace_back(sdk::new_operation(WYE_OPERATION_DOWNLOAD));
    read.u.transfer = {trap, 0, trap_bytes(), nullptr, out->workspace->trap_words};
    out->execute = out->own;
    return out;
}

void Recording::replace_trap(std::span<wye_operation> operations, const wye_buffer_object* from,
                             wye_buffer_object* to, std::vector<wye_binding>& bindings) const {
    const auto replace = [&](wye_buffer_object*& buffer) {
        if (buffer == from) buffer = to;
    };
    for (wye_operation& operation : operations) {
        if (operation.kind == WYE_OPERATION_FILL) replace(operation.u.fill.target);
        if (operation.kind != WYE_OPERATION_DISPATCH) continue;
        replace(operation.u.dispatch.trap.buffer);
        replace(operation.u.dispatch.indirect.buffer);
    }
    constexpr std::size_t kBindings = GridCheckMemory::kBindings;
    bindings.clear();
    bindings.reserve(grid_checks_.size() * kBindings);  // operations point to its elements
    for (const std::size_t n : grid_checks_) {
        wye_dispatch_op& op = operations[n].u.dispatch;
        const std::size_t first = bindings.size();
        bindings.insert(bindings.end(), op.bindings, op.bindings + kBindings);
        op.bindings = bindings.data() + first;
        for (std::size_t k = 0; k < kBindings; ++k) replace(bindings[first + k].buffer);
    }
}

Result<void> Recording::set_params(std::span<const std::uint64_t> params) {
    if (params.size() != words_.size())
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("graph `{}` has {} parameters, and {} were given", label_,
                                 words_.size(), params.size()),
                     "Fix: give those of all its dispatches, in the order recorded", label_);
    if (std::memcmp(params.data(), words_.data(), params.size_bytes()) == 0) return {};
    const auto words_of = [](std::span<const std::uint64_t> all, const Part& part) {
        return all.subspan(part.first_word, part.word_count);
    };
    const auto about = [&](Error error, std::size_t i) {
        error.message = fmt::format("dispatch {} of graph `{}`: {}", i, label_, error.message);
        return error;
    };
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Part& part = parts_[i];
        const auto words = words_of(params, part);
        if (std::ranges::equal(words, words_of(words_, part))) continue;
        if (!part.rules.allow(words))
            return about(Error(Code::UNSUPPORTED,
                               "its parameters decide sizes, the form of its kernel or whether it "
                               "is deterministic, and differ from those recorded",
                               "Fix: record a graph with these parameters", label_),
                         i);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (!parts_[i].late) continue;
        auto packed = pack(parts_[i], words_of(params, parts_[i]));
        if (packed.ok()) continue;
        // A refused call changes nothing, so earlier blocks are restored.
        for (std::size_t back = 0; back <= i; ++back)
            if (parts_[back].late) (void)pack(parts_[back], words_of(words_, parts_[back]));
        return about(std::move(packed).error(), i);
    }
    std::ranges::copy(params, words_.begin());
    ++version_;
    return {};
}

void Recording::find_free_words() {
    const auto is_free = [](const Part& part) {
        return part.word_count == 0 || part.rules.allow_all();
    };
    if (!std::ranges::all_of(parts_, is_free)) return;
    for (const Part& part : parts_) {
        for (std::size_t i = 0; i < part.word_count; ++i) {
            const plan::ProgramPlan& plan = part.rules.plan();
            free_words_.push_back(
                {part.block + plan.params.offsets[i], plan.program->params[i].type.bytes()});
        }
    }
}

bool Recording::try_set_free(const std::uint64_t* params) noexcept {
    auto* const block = reinterpret_cast<std::byte*>(block_.data());
    const std::span<const FreeWord> places = free_words_;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i].size == 4 && params[i] >> 32U != 0) return false;
    std::uint64_t changed = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::uint64_t bits = params[i];
        changed |= bits ^ std::exchange(words_[i], bits);
        if (places[i].size == 4) [[likely]]
            std::memcpy(block + places[i].offset, &bits, 4);  // little endian
        else
            std::memcpy(block + places[i].offset, &bits, places[i].size);
    }
    if (changed != 0) ++version_;
    return true;
}

bool Recording::try_params(const wye_graph_run_desc& run, Instance& one) noexcept try {
    if (!take_params(run).ok()) return false;
    give_params(one);
    return true;
} catch (const std::exception&) {  // no memory for an error's text
    return false;
}

void Recording::copy_params(Instance& one) const {
    std::ranges::copy(block_, one.block.begin());
    one.version = version_;
}

Result<void> Recording::pack(const Part& part, std::span<const std::uint64_t> words) {
    return part.rules.pack(words, reinterpret_cast<std::byte*>(block_.data()) + part.block);
}

Result<void> Recording::check_live(const registry::HandleTable& handles, QueuePool& queues) {
    constexpr std::size_t kMost = WYE_LIMIT_BUFFERS;  // at once
    for (std::size_t first = 0; first < handles_.size(); first += kMost) {
        auto used = handles.begin_use(
            std::span(handles_).subspan(first, std::min(kMost, handles_.size() - first)));
        if (!used.ok() && used.error().code == Code::STALE_HANDLE)
            return std::move(used).error().wrapped(
                Code::STALE_HANDLE, fmt::format("graph `{}` uses a buffer that was freed", label_),
                "Fix: keep its buffers while it runs, or put others in their place "
                "(wye_graph_rebind)",
                label_);
        WYE_TRY(std::move(used));
    }
    frees_ = queues.frees();
    return {};
}

Result<void> Recording::describe(wye_graph_info& out) const {
    routed_.write(out);
    out.dispatches = parts_.size();
    out.operations = operation_count_;
    out.transfers = transfers_;
    out.native = report_.graph == WYE_GRAPH_NATIVE ? 1 : 0;
    for (const auto& one : instances_) {
        for (const registry::NativeCommand& command : one->commands) {
            WYE_ASSIGN(const wye_command_info info, command.info());
            out.recordings += info.recordings;
        }
    }
    return {};
}

Result<bool> Recording::is_native() const {
    const auto& commands = instances_.front()->commands;
    for (const registry::NativeCommand& command : commands) {
        WYE_ASSIGN(const wye_command_info info, command.info());
        if (info.native == 0) return false;
    }
    return !commands.empty();
}

}  // namespace wye::exec
