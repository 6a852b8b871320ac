// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace wye::model {
namespace {

template <typename Object>
Object* object_of(void* object) {
    return static_cast<Object*>(object);
}

bool contains(const std::vector<Buffer*>& list, const Buffer* buffer) {
    return std::ranges::find(list, buffer) != list.end();
}

std::string name_of(const Work& work) {
    return fmt::format("value {} of native queue {}", work.value, work.on->index);
}

}  // namespace

Device& the_device() {
    static auto& device = *new Device;
    return device;
}

bool Work::uses(const Buffer* buffer) const {
    return std::ranges::any_of(operations, [&](const Operation& op) {
        return contains(op.reads, buffer) || contains(op.writes, buffer);
    });
}

bool Work::writes(const Buffer* buffer) const {
    return std::ranges::any_of(operations,
                               [&](const Operation& op) { return contains(op.writes, buffer); });
}

// ---- Submits -----------------------------------------------------------------------------------

Operation Device::read(const wye_operation& op, Work& work) {
    const auto buffer = [&](wye_buffer_object* object) {
        auto* const out = object_of<Buffer>(object);
        if (!out->alive)
            breach(fmt::format("a submit uses native buffer {}, which was destroyed", out->index));
        if (out->session != session)
            breach(fmt::format("a submit after the recovery uses native buffer {}, made before it",
                               out->index));
        return out;
    };
    Operation out;
    out.kind = op.kind;
    if (op.kind == WYE_OPERATION_DISPATCH) {
        auto* const program = object_of<Program>(op.u.dispatch.program);
        if (!program->alive) breach("a submit uses a program that was destroyed");
        if (program->session != session)
            breach("a submit after the recovery uses a program made before it");
        work.programs.push_back(program);
        for (std::size_t i = 0; i < program->access.size(); ++i) {
            Buffer* const bound = buffer(op.u.dispatch.bindings[i].buffer);
            if ((program->access[i] & 1) != 0) out.reads.push_back(bound);
            if ((program->access[i] & 2) != 0) out.writes.push_back(bound);
        }
        const auto* const params = static_cast<const std::byte*>(op.u.dispatch.params);
        out.bytes.assign(params, params + program->params_size);
    } else if (op.kind == WYE_OPERATION_COPY) {
        out.reads.push_back(buffer(op.u.copy.source));
        out.writes.push_back(buffer(op.u.copy.target));
        out.from = op.u.copy.source_offset, out.to = op.u.copy.target_offset;
        out.size = op.u.copy.size;
    } else if (op.kind == WYE_OPERATION_FILL) {
        out.writes.push_back(buffer(op.u.fill.target));
        out.to = op.u.fill.offset, out.size = op.u.fill.size;
        out.pattern = op.u.fill.pattern;
        out.from = op.u.fill.pattern_size;
    } else if (op.kind == WYE_OPERATION_UPLOAD) {
        out.writes.push_back(buffer(op.u.transfer.buffer));
        out.to = op.u.transfer.offset, out.size = op.u.transfer.size;
        const auto* const from = static_cast<const std::byte*>(op.u.transfer.source);
        out.bytes.assign(from, from + out.size);
    } else {
        out.reads.push_back(buffer(op.u.transfer.buffer));
        out.from = op.u.transfer.offset, out.size = op.u.transfer.size;
        out.target = op.u.transfer.target;
    }
    return out;
}

// Adds work, which begins after all earlier work of its queue and after the values it waits for.
void Device::submit(Native& native, const wye_submission& submission, int call) {
    auto made = std::make_unique<Work>();
    Work& work = *made;
    work.index = static_cast<int>(works.size());
    work.on = &native;
    work.value = submission.value;
    work.call = call;
    if (submission.value <= native.newest)
        breach(fmt::format("a submit has the value {}, not above {}", work.value, native.newest));
    for (std::uint64_t i = 0; i < submission.operation_count; ++i) {
        const wye_operation& op = submission.operations[i];
        if (op.kind != WYE_OPERATION_EXECUTE) {
            work.operations.push_back(read(op, work));
            continue;
        }
        auto* const command = object_of<Command>(op.u.execute.command);
        if (!command->alive) breach("a submit executes a command that was destroyed");
        if (command->session != session)
            breach("a submit after the recovery executes a command made before it");
        work.commands.push_back(command);
        for (const wye_operation& one : command->list.resolve(op.u.execute))
            work.operations.push_back(read(one, work));
    }
    for (const Work* before : native.works) work.after |= before->after | 1ULL << before->index;
    for (std::uint64_t i = 0; i < submission.wait_count; ++i) {
        const wye_event& event = submission.waits[i];
        if (event.timeline == nullptr) continue;
        auto* const on = object_of<Native>(event.timeline);
        check(*on, event.value, "submit");
        work.waits.push_back({on, event.value, orders_only(event)});
        for (const Work* before : on->works)
            if (before->value <= event.value) work.after |= before->after | 1ULL << before->index;
    }
    if (works.size() >= 63) breach("the run submits too much");
    check_order(work);
    native.newest = work.value;
    native.works.push_back(&work);
    works.push_back(std::move(made));
    spread();
}

// Checks that work begins only after earlier work that it conflicts with. The order comes from the
// queue, from waits, or from the host's knowledge that the earlier work has ended.
void Device::check_order(const Work& work) {
    if (lost) return;
    std::uint64_t before_it = work.after;
    for (const auto& known : works)
        if (known->on->seen >= known->value) before_it |= known->after | 1ULL << known->index;
    for (const auto& before : works) {
        if (before->on->session != session || (before_it >> before->index & 1) != 0) continue;
        for (const auto& buffer : buffers) {
            const Buffer* const b = buffer.get();
            const bool conflict =
                (work.writes(b) && before->uses(b)) || (work.uses(b) && before->writes(b));
            if (conflict)
                breach(fmt::format("{} uses native buffer {} and does not wait for {}, which {}",
                                   name_of(work), b->index, name_of(*before),
                                   before->ended ? "the host has not seen end" : "still runs"));
        }
    }
}

// ---- Ends --------------------------------------------------------------------------------------

Work* Device::head(const Native& native) {
    for (Work* work : native.works) {
        if (work->ended) continue;
        for (const Wait& wait : work->waits)
            if (!reached(*wait.on, wait.value)) return nullptr;
        return work;
    }
    return nullptr;
}

void Device::apply(const Operation& op, const std::function<std::byte*(Buffer*)>& at) {
    if (op.kind == WYE_OPERATION_COPY) {
        std::memmove(at(op.writes[0]) + op.to, at(op.reads[0]) + op.from, op.size);
    } else if (op.kind == WYE_OPERATION_FILL) {
        for (std::uint64_t i = 0; i < op.size; i += op.from)
            std::memcpy(at(op.writes[0]) + op.to + i, &op.pattern, op.from);
    } else if (op.kind == WYE_OPERATION_UPLOAD) {
        std::memcpy(at(op.writes[0]) + op.to, op.bytes.data(), op.size);
    } else if (op.kind == WYE_OPERATION_DISPATCH) {
        // Mixes the parameters and the inputs into the outputs, so that the bytes depend on the
        // order.
        std::uint64_t mixed = 1469598103934665603ULL;
        const auto mix = [&](std::uint64_t word) { mixed = (mixed ^ word) * 1099511628211ULL; };
        for (const std::byte byte : op.bytes) mix(static_cast<std::uint64_t>(byte));
        for (Buffer* buffer : op.reads) {
            const std::byte* const bytes = at(buffer);
            for (std::uint64_t i = 0; i < buffer->size; i += sizeof(std::uint64_t)) {
                std::uint64_t word = 0;
                std::memcpy(&word, bytes + i, std::min(sizeof word, buffer->size - i));
                mix(word);
            }
        }
        for (Buffer* buffer : op.writes) {
            std::byte* const bytes = at(buffer);
            for (std::uint64_t i = 0; i < buffer->size; i += sizeof(std::uint64_t)) {
                mix(i);
                std::memcpy(bytes + i, &mixed, std::min(sizeof mixed, buffer->size - i));
            }
        }
    }
}

void Device::end(Work& work, wye_status status) {
    work.ended = true;
    work.status = status;
    if (status == WYE_OK)
        for (const Operation& op : work.operations) {
            apply(op, [](Buffer* buffer) { return buffer->bytes.data(); });
            if (op.kind != WYE_OPERATION_DOWNLOAD) continue;
            std::memcpy(op.target, op.reads[0]->bytes.data() + op.from, op.size);
            const Expected right = expected(*op.reads[0], &work);
            if (right.known && std::memcmp(op.target, right.bytes.data() + op.from, op.size) != 0)
                breach(fmt::format("{} reads native buffer {} without the last write before it",
                                   name_of(work), op.reads[0]->index));
        }
    spread();
}

// Fails all work that waits for failed work, unless the wait is only for the order.
void Device::spread() {
    for (bool again = true; again;) {
        again = false;
        for (const auto& native : natives) {
            Work* const work = head(*native);
            if (work == nullptr) continue;
            for (const Wait& wait : work->waits) {
                wye_status status = WYE_OK;
                if (wait.order_only || !failed(*wait.on, wait.value, status)) continue;
                work->ended = true;
                work->status = status;
                work->spread = true;
                again = true;
                break;
            }
        }
    }
}

void Device::lose() {
    lost = true;
    for (const auto& work : works) {
        if (work->ended) continue;
        work->ended = true;
        work->status = WYE_DEVICE_LOST;
    }
}

Device::Expected Device::expected(const Buffer& buffer, const Work* until) const {
    std::map<const Buffer*, Expected> all;
    const auto at = [&](Buffer* one) -> Expected& {
        Expected& out = all[one];
        out.bytes.resize(one->size);
        return out;
    };
    for (const auto& work : works) {
        if (work.get() == until) break;
        for (const Operation& op : work->operations) {
            bool known = !work->ended || work->status == WYE_OK;
            for (Buffer* one : op.reads) known = known && at(one).known;
            apply(op, [&](Buffer* one) { return at(one).bytes.data(); });
            for (Buffer* one : op.writes) at(one).known = at(one).known && known;
        }
    }
    Expected out = all[&buffer];
    out.bytes.resize(buffer.size);
    return out;
}

bool Device::is_used(const Buffer* buffer) const {
    return std::ranges::any_of(
        works, [&](const auto& work) { return !work->ended && work->uses(buffer); });
}

Compile* Device::compile() const {
    const auto found = std::ranges::find_if(compiles, [](const auto& one) { return !one->ended; });
    return found == compiles.end() ? nullptr : found->get();
}

bool Device::is_idle() const {
    return std::ranges::all_of(works, [](const auto& work) { return work->ended; });
}

}  // namespace wye::model
