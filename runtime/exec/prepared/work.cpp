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
namespace {

bool moves_host_bytes(const wye_operation& operation) {
    return operation.kind == WYE_OPERATION_UPLOAD || operation.kind == WYE_OPERATION_DOWNLOAD;
}

}  // namespace

Result<PreparedRef> PreparedWork::begin(DeviceSession& session, const Routed& routed,
                                        std::string_view label, Use use) {
    auto out = PreparedRef::adopt(new PreparedWork(session, routed, label, use));
    routed.write(out->report_);
    WYE_TRY(session.ready());
    out->workspace_ = session.workspace();
    if (use == Use::Once) out->operations_.swap(out->workspace_->recorded);
    return out;
}

// With Use::Once, gives the memory of the operations back to the workspace, for the next list.
PreparedWork::~PreparedWork() {
    if (use_ != Use::Once) return;
    if (!instances_.empty()) restart();
    if (!workspace_) return;
    operations_.clear();
    workspace_->recorded.swap(operations_);
}

void PreparedWork::refer() noexcept {
    const sdk::Lock lock(session_.queues().mutex);
    refer_held();
}

void PreparedWork::dereference() noexcept {
    {
        const sdk::Lock lock(session_.queues().mutex);
        if (!dereference_held()) return;
    }
    delete this;
}

void PreparedWork::reserve(std::uint64_t steps) {
    constexpr std::uint64_t kMost = 4096;  // a refused step must not cost much memory
    operations_.reserve(static_cast<std::size_t>(std::min(steps, kMost)));
    if (use_ == Use::Often) parts_.reserve(operations_.capacity());
}

Result<void> PreparedWork::add(Context& context, const wye_dispatch_desc& desc) {
    const registry::HandleTable& handles = context.handles();
    if (model_ && KeptRequest::may_be_same(desc) && desc.queue == 0 &&
        model_->request.is_same(desc) && repeat(handles, desc.arguments, desc.params))
        return {};
    WYE_ASSIGN(Target target, Target::find(handles, desc));
    return add(context, std::move(target));
}

Result<void> PreparedWork::add(Context& context, Target target) {
    if (target.routed().device != routed_.device)
        return Error(Code::WRONG_OWNER, "its device is not the graph's device",
                     "Fix: record the dispatches of each device in a graph of its own", label_);
    Flow flow(target);
    flow.counted = true;  // a recorded dispatch does not run, so it is not counted
    WYE_TRY(decide(context, flow));
    WYE_TRY(check(flow));
    WYE_TRY(compile_kernels(flow));
    if (stops_between_iterations(flow))
        return Error(
            Code::UNSUPPORTED,
            fmt::format("`{}` can trap, so the host must check between its {} fixpoint iterations, "
                        "but a graph is one submit",
                        flow.program.name(), flow.launch.iterations),
            "Fix: dispatch it (wye_dispatch, wye_dispatch_submit) between two graphs, or record "
            "that many steps",
            flow.program.name());
    workspace_->operations.clear();
    workspace_->bindings.clear();
    const auto number = static_cast<std::uint32_t>(parts_.size());
    WYE_ASSIGN(const Operations operations,
               write_operations(flow.program.plan(), flow.launch, flow.bound, flow.kernels,
                                flow.residents, session_, *workspace_, number));
    const std::size_t first = operations_.size();
    Part& part = add_launch(flow, operations);
    if (const registry::Pin& grid = flow.residents.grid()) add_use(grid, false);
    registry::Pin program = target.take_pin();
    if (programs_.empty() || programs_.back().handle() != program.handle())
        programs_.push_back(std::move(program));
    for (const Kernel& kernel : flow.kernels.kernels())
        if (compiled_.empty() || compiled_.back() != kernel.compiled)
            compiled_.push_back(kernel.compiled);
    if (flow.kernels.grid_check && grid_checks_.empty())
        compiled_.push_back(flow.kernels.grid_check.compiled);
    part.program = &programs_.back();
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
        report_.determinism = std::max(
            report_.determinism, determinism(flow.program.plan(), flow.launch, flow.kernels.form));
    }
    return {};
}

Result<void> PreparedWork::check(const Flow& flow) const {
    if (flow.desc.timeout_ns != 0)
        return Error(
            Code::UNSUPPORTED,
            fmt::format("it has a time-out of {} ns, and graphs have none", flow.desc.timeout_ns),
            "Fix: set timeout_ns to 0", label_);
    if (flow.desc.queue != 0)
        return Error(
            Code::INVALID_ARGUMENT, "it names a queue, but only executions of a graph name one",
            "Fix: leave `queue` 0 in its dispatches, and set that of wye_graph_run_desc", label_);
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

Result<void> PreparedWork::add(const Context& context, const wye_transfer_desc& desc) {
    if (desc.queue != 0 || (desc.flags & ~WYE_TRANSFER_WHOLE) != 0)
        return Error(Code::INVALID_ARGUMENT,
                     "it names a queue, or has flags that executions of a graph have",
                     "Fix: set `queue` to 0 and no flag but WYE_TRANSFER_WHOLE; queue and flags "
                     "belong to wye_graph_run_desc",
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

void PreparedWork::add_use(registry::Handle buffer, BufferUse use, Native native) {
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

bool PreparedWork::clears_traps(const wye_operation& operation) const {
    return operation.kind == WYE_OPERATION_FILL && workspace_->trap_memory &&
           operation.u.fill.target == workspace_->trap_memory->object();
}

const void* PreparedWork::keep_params(std::span<const std::byte> block) {
    void* const out = kept_.allocate(block.size(), alignof(std::uint64_t));
    if (!block.empty()) std::memcpy(out, block.data(), block.size());
    return out;
}

PreparedWork::Part& PreparedWork::add_launch(const Flow& flow, const Operations& operations) {
    // If ranges are moved to scratch memory, all executions share that memory. To keep executions
    // from overlapping, the buffers of the launch count as written.
    for (const plan::BoundBuffer& bound : flow.launch.bound())
        add_use(flow.residents.pin(bound.argument), bound.writable || operations.moves);
    ParamRules rules(flow.program.plan(), flow.launch, flow.kernels);
    Part& part = parts_.emplace_back();
    part.rules = std::move(rules);
    part.first_word = words_.size();
    part.word_count = flow.desc.param_count;
    words_.insert(words_.end(), flow.desc.params, flow.desc.params + flow.desc.param_count);
    part.late = use_ != Use::Once && part.rules.may_change() && part.word_count != 0;
    if (part.late) {
        part.block = block_.size() * sizeof block_[0];
        block_.resize(block_.size() + (flow.launch.params_size + 7) / 8);
        std::memcpy(reinterpret_cast<std::byte*>(block_.data()) + part.block, flow.launch.params,
                    flow.launch.params_size);
    }
    const wye_binding* bindings = nullptr;  // the bindings of all launches
    const void* params = nullptr;           // the block of the last launch
    for (const wye_operation& operation : operations.launches()) {
        // The trap words are cleared once and read back once per execution.
        if ((traps_ && clears_traps(operation)) || operation.kind == WYE_OPERATION_DOWNLOAD)
            continue;
        wye_operation& kept = operations_.emplace_back(operation);
        if (kept.kind != WYE_OPERATION_DISPATCH) continue;
        wye_dispatch_op& op = kept.u.dispatch;
        if (workspace_ && op.bindings == workspace_->grid_check.bindings.data()) {
            const auto& memory = workspace_->grid_check;
            op.bindings = keep(std::span<const wye_binding>(memory.bindings), bindings_);
            op.params = keep_params({memory.params.data(), op.params_size});
            grid_checks_.push_back(operations_.size() - 1);
            continue;
        }
        if (bindings == nullptr)
            bindings = keep(std::span(op.bindings, op.binding_count), bindings_);
        op.bindings = bindings;
        if (use_ != Use::Kept) op.again = 0;  // each launch has parameters of its own
        if (part.late) {
            op.late_offset = static_cast<std::uint32_t>(part.block);
            op.late_size = flow.launch.params_size;
            continue;
        }
        if (op.again == 0) params = keep_params(flow.kernels.block(op.params));
        op.params = params;
    }
    traps_ = traps_ || operations.traps;
    return part;
}

Result<void> PreparedWork::finish() {
    if (traps_) trap_ = workspace_->trap_memory->object();
    operation_count_ = operations_.size();
    full_ = use_ != Use::Often;
    instances_.reserve(full_ ? 1 : kMostInstances);
    auto operations = full_ ? std::move(operations_) : operations_;
    WYE_ASSIGN(auto first, make_instance(std::move(operations), std::move(workspace_)));
    if (use_ != Use::Once) find_free_words();
    give_params(*first);
    instances_.push_back(std::move(first));
    if (use_ == Use::Kept) return {};
    if (use_ == Use::Once) {
        warm_ = std::ranges::all_of(compiled_, [](const CompiledRef& one) {
            return one->warm.load(std::memory_order_relaxed);
        });
        return {};
    }
    WYE_ASSIGN(const bool native, is_native());
    report_.graph = native ? WYE_GRAPH_NATIVE : WYE_GRAPH_REPLAYED;
    return {};
}

void PreparedWork::restart() {
    if (!instances_.empty()) {
        operations_ = std::move(instances_.front()->operations);
        workspace_ = std::move(instances_.front()->workspace);
        instances_.clear();
    }
    operations_.clear();
    bindings_.release();
    parts_.clear();
    words_.clear();
    handles_.clear();
    uses_.clear();
    natives_.clear();
    places_.clear();
    grid_checks_.clear();
    frees_ = quick_frees_ = UINT64_MAX;
    report_.bytes_filled = 0;
}

void PreparedWork::keep(const Flow& flow, const Operations& operations) {
    restart();
    kept_.release();
    block_.clear();
    free_words_.clear();
    label_ = flow.program.name();
    (void)add_launch(flow, operations);
    report_ = launch_report(flow);
    flow.routed.write(report_);
    (void)finish();  // cannot fail: there are no trap words, and no command is made yet
}

Result<std::unique_ptr<PreparedWork::Instance>> PreparedWork::make_instance(
    std::vector<wye_operation> operations, WorkspaceLease workspace) const {
    auto out = std::make_unique<Instance>();
    out->workspace = std::move(workspace);
    out->block.resize(block_.size());
    out->operations = std::move(operations);
    if (traps_) {
        WYE_ASSIGN(wye_buffer_object * trap, session_.trap_buffer(*out->workspace));
        replace_trap(out->operations, trap_, trap, out->grid_bindings);
    }
    // Without a command, the plugin reads the parameters of operations at each submit, here from
    // the instance's block. Only operations of a command have late parameters.
    if (!block_.empty()) {
        for (wye_operation& operation : out->operations) {
            wye_dispatch_op& op = operation.u.dispatch;
            if (operation.kind != WYE_OPERATION_DISPATCH || op.late_size == 0) continue;
            op.params = reinterpret_cast<const std::byte*>(out->block.data()) + op.late_offset;
            op.late_offset = op.late_size = 0;
        }
    }
    if (use_ == Use::Often) {
        auto made = make_commands(*out);
        if (!made.ok()) return session_.noted(std::move(made).error());
    }
    set_execute(*out);
    return out;
}

void PreparedWork::set_execute(Instance& one) const {
    if (traps_) {
        if (one.commands.empty()) one.own = one.operations;
        read_trap(one.own, *one.workspace);
    }
    one.execute = one.own.empty() ? one.operations : one.own;
}

void PreparedWork::read_trap(std::vector<wye_operation>& operations, Workspace& workspace) const {
    wye_operation& read = operations.emplace_back(sdk::new_operation(WYE_OPERATION_DOWNLOAD));
    read.u.transfer = {workspace.trap_memory->object(), 0,
                       grid_checks_.empty() ? kTrapBytes : kCheckedBytes, nullptr,
                       workspace.trap_words};
}

Result<void> PreparedWork::make_commands(Instance& one) const {
    one.asked = true;
    std::vector<wye_operation> all = one.operations;
    const auto block = reinterpret_cast<std::uintptr_t>(one.block.data());
    for (wye_operation& operation : all) {
        if (operation.kind != WYE_OPERATION_DISPATCH) continue;
        wye_dispatch_op& op = operation.u.dispatch;
        op.again = 0;  // commands do not have this hint
        const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(op.params) - block;
        if (offset >= one.block.size() * sizeof one.block[0]) continue;
        op.late_offset = static_cast<std::uint32_t>(offset);
        op.late_size = op.params_size;
    }
    for (auto part = all.cbegin(); part != all.cend();) {
        if (moves_host_bytes(*part)) {
            one.own.push_back(*part++);
            continue;
        }
        const auto end = std::find_if(part, all.cend(), moves_host_bytes);
        auto made = make_command(one, {part, end});
        if (!made.ok()) {
            one.own.clear();
            one.commands.clear();
            one.limited = false;
            if (made.error().code == Code::UNIMPLEMENTED) return {};
            return made;
        }
        part = end;
    }
    for (const registry::NativeCommand& command : one.commands)
        if (session_.trace() != nullptr) session_.trace()->name_object(command.object(), label_);
    return {};
}

Result<void> PreparedWork::make_command(Instance& one, std::span<const wye_operation> part) const {
    const bool late = std::ranges::any_of(part, [](const wye_operation& operation) {
        return operation.kind == WYE_OPERATION_DISPATCH && operation.u.dispatch.late_size != 0;
    });
    wye_command_desc desc{};
    desc.header = sdk::header_of(sizeof desc);
    desc.operations = part.data();
    desc.operation_count = part.size();
    if (late) desc.params_size = static_cast<std::uint32_t>(one.block.size() * sizeof one.block[0]);
    if (use_ == Use::Often) desc.label = sdk::to_abi(label_);
    WYE_ASSIGN(auto made, registry::NativeCommand::create(session_.device(), desc));
    const registry::NativeCommand& command = one.commands.emplace_back(std::move(made));
    one.limited = one.limited || command.most_pending() != 0;
    wye_operation& executes = one.own.emplace_back(sdk::new_operation(WYE_OPERATION_EXECUTE));
    executes.u.execute = {command.object(), nullptr, late ? one.block.data() : nullptr, 0,
                          desc.params_size};
    return {};
}

void PreparedWork::replace_trap(std::span<wye_operation> operations, const wye_buffer_object* from,
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
    bindings.reserve(grid_checks_.size() * kBindings);  // operations point to the elements
    for (const std::size_t n : grid_checks_) {
        wye_dispatch_op& op = operations[n].u.dispatch;
        const std::size_t first = bindings.size();
        bindings.insert(bindings.end(), op.bindings, op.bindings + kBindings);
        op.bindings = bindings.data() + first;
        for (std::size_t k = 0; k < kBindings; ++k) replace(bindings[first + k].buffer);
    }
}

Result<void> PreparedWork::set_params(std::span<const std::uint64_t> params) {
    if (params.size() != words_.size())
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("graph `{}` has {} parameters, and {} were given", label_,
                                 words_.size(), params.size()),
                     "Fix: give the parameters of all its dispatches, in the order recorded",
                     label_);
    if (std::ranges::equal(params, words_)) return {};
    std::vector<std::uint64_t> block = block_;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const auto& [program, first_word, word_count, at, late, rules] = parts_[i];
        const auto words = params.subspan(first_word, word_count);
        if (std::ranges::equal(words, std::span(words_).subspan(first_word, word_count))) continue;
        Result<void> packed =
            rules.allow(words)
                ? rules.pack(words, reinterpret_cast<std::byte*>(block.data()) + at)
                : Error(Code::UNSUPPORTED,
                        "its parameters decide sizes, the form of its kernel or whether it is "
                        "deterministic, and differ from those recorded",
                        "Fix: record a graph with these parameters", label_);
        if (packed.ok()) continue;
        Error error = std::move(packed).error();
        error.message = fmt::format("dispatch {} of graph `{}`: {}", i, label_, error.message);
        return error;
    }
    block_.swap(block);
    std::ranges::copy(params, words_.begin());
    ++version_;
    return {};
}

void PreparedWork::find_free_words() {
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

bool PreparedWork::try_set_free(const std::uint64_t* params) noexcept {
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

bool PreparedWork::try_params(const std::uint64_t* params, std::uint64_t count,
                              Instance& one) noexcept try {
    if (!take_params(params, count).ok()) return false;
    give_params(one);
    return true;
} catch (const std::exception&) {  // no memory for an error's text
    return false;
}

Result<bool> PreparedWork::is_native() const {
    const auto& commands = instances_.front()->commands;
    for (const registry::NativeCommand& command : commands) {
        WYE_ASSIGN(const wye_command_info info, command.info());
        if (info.native == 0) return false;
    }
    return !commands.empty();
}

}  // namespace wye::exec
