// SPDX-License-Identifier: Apache-2.0
#include "faults/busy_world.hpp"

#include <algorithm>
#include <utility>

#include "faults/modules.h"

namespace faults {
namespace {

// The last element of a buffer is not checked. The program `meet` uses it to wait, for a limited
// time, until a second thread runs a part of the launch.
constexpr const char* kAdd = R"(wye 1; program add; workgroup 64;
input_output r: u32[]; grid elements len(r);
main { let i = global_id.x; if i + 1u < len(r) { r[i] = r[i] + 1u; } })";
constexpr const char* kCold = R"(wye 1; program cold; workgroup 64;
input_output r: u32[]; grid elements len(r);
main { let i = global_id.x; if i + 1u < len(r) { r[i] = 1u + r[i]; } })";
constexpr const char* kMeet = R"(wye 1; program meet; workgroup 64;
input_output r: u32[]; grid elements len(r);
main {
    let i = global_id.x;
    if i + 1u < len(r) { r[i] = r[i] + 1u; }
    if local_index == 0u {
        atomic_add(r[len(r) - 1u], 1u);
        for k in 0u..3000u {
            let here = atomic_load(r[len(r) - 1u]);
            if here > 16u { break; }
        }
    }
})";
constexpr const char* kGate = R"(wye 1; program gate; workgroup 64;
input_output flag: u32[]; input_output r: u32[]; grid groups 1;
main {
    let i = global_id.x;
    var open = 0u;
    while open == 0u { let now = atomic_load(flag[0]); open = now; }
    for at in i..len(r) - 1u step 64u { r[at] = r[at] + 1u; }
})";
// Between the two rounds of this program the host checks whether the program has trapped.
constexpr const char* kRounds = R"(wye 1; program rounds; workgroup 64;
input_output flag: u32[]; input_output r: u32[]; grid groups 1;
main {
    let i = global_id.x;
    var open = 0u;
    while open == 0u { let now = atomic_load(flag[0]); open = now; }
    if open != 1u { trap 1; }
    for at in i..len(r) - 1u step 64u { r[at] = r[at] + 1u; }
})";

}  // namespace

World::World(Place place, const std::string& cache, Pass& pass) : calls(pass), place_(place) {
    // One workgroup makes one block of the CPU plugin's work; more workgroups make several blocks.
    groups_ = place == Place::kCaller ? 1 : place == Place::kHandover ? 128 : 16384;
    elements_ = place == Place::kCaller ? 65 : 8193;
    wye_context_desc desc;
    WYE_INIT(desc);
    desc.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT | WYE_CONTEXT_NO_PLUGINS;
    const wye_key_value config[] = {
        {wye_str("cpu.threads"), wye_str(place == Place::kHelpers ? "3" : "1")},
        {wye_str("transfer.staging"), wye_str(place == Place::kHelpers ? "on" : "auto")},
        {wye_str("queues.count"), wye_str("1")},
        {wye_str("cache_folder"), abi(cache)},
        {wye_str("probe.mode"), wye_str("off")}};
    desc.config = config;
    desc.config_count = std::size(config);
    ready_ =
        calls.ok("wye_context_create", wye_context_create(&desc, &context, calls.sink())) && make();
}

World::~World() {
    if (context == nullptr) return;
    open();
    wye_context_destroy(context);
}

int World::clock() const {
    return place_ == Place::kHandover ? kFaultsFastClock : kFaultsSlowClock;
}

bool World::make_program(const char* text, wye_program& out) {
    wye_program_source source;
    WYE_INIT(source);
    source.text = wye_str(text);
    return calls.ok("wye_program_create", wye_program_create(context, &source, &out, calls.sink()));
}

bool World::prepare(wye_program which) {
    return calls.ok("wye_program_prepare",
                    wye_program_prepare(context, which, device, nullptr, calls.sink()));
}

wye_buffer World::buffer(std::uint32_t usage) {
    wye_buffer_create_desc desc;
    WYE_INIT(desc);
    desc.size = elements_ * 4;
    desc.usage = usage;
    wye_buffer out = 0;
    const bool good = calls.ok("wye_buffer_create",
                               wye_buffer_create(context, device, &desc, &out, calls.sink())) &&
                      calls.ok("wye_buffer_fill",
                               wye_buffer_fill(context, out, 0, desc.size, 0, 4, calls.sink()));
    return good ? out : 0;
}

bool World::make_gate(Gate& gate) {
    gate.flag = buffer(WYE_BUFFER_USAGE_SHARED);
    wye_buffer_mapping mapping;
    WYE_INIT(mapping);
    if (gate.flag == 0 ||
        !calls.ok("wye_buffer_map", wye_buffer_map(context, gate.flag, &mapping, calls.sink())))
        return false;
    gate.word = static_cast<std::uint32_t*>(mapping.address);
    return true;
}

bool World::make() {
    if (!calls.ok("wye_device_open",
                  wye_device_open(context, wye_str("cpu"), 0, &device, calls.sink())) ||
        !make_program(place_ == Place::kHelpers ? kMeet : kAdd, program) ||
        !make_program(kCold, cold) || !make_program(kGate, gate_program_) ||
        !make_program(kRounds, rounds_program_))
        return false;
    // Compiled now, so that work is submitted by its call, and not by the session's line.
    for (const wye_program one : {program, gate_program_, rounds_program_})
        if (!prepare(one)) return false;
    for (Gate& gate : gates_)
        if (!make_gate(gate)) return false;
    for (wye_buffer* one : {&target, &ones, &other, &behind_[0], &behind_[1], &copied_})
        if ((*one = buffer()) == 0) return false;
    host.assign(elements_, 1);
    wye_queue_create_desc desc;
    WYE_INIT(desc);
    return calls.ok("wye_buffer_fill",
                    wye_buffer_fill(context, ones, 0, elements_ * 4, 1, 4, calls.sink())) &&
           calls.ok("wye_queue_create",
                    wye_queue_create(context, device, &desc, &side, calls.sink())) &&
           calls.ok("wye_queue_create",
                    wye_queue_create(context, device, &desc, &queue, calls.sink()));
}

wye_argument World::resident(wye_buffer buffer) {
    wye_argument out{};
    out.kind = WYE_ARGUMENT_RESIDENT;
    out.buffer = buffer;
    return out;
}

wye_dispatch_desc World::add(const wye_argument& argument, wye_program through) const {
    wye_dispatch_desc desc;
    WYE_INIT(desc);
    desc.program = through;
    desc.device = device;
    desc.arguments = &argument;
    desc.argument_count = 1;
    desc.flags = WYE_DISPATCH_GRID;
    desc.grid[0] = groups_;
    desc.grid[1] = desc.grid[2] = 1;
    return desc;
}

bool World::submit(const wye_dispatch_desc& desc) {
    wye_pending out = 0;
    if (!calls.ok("wye_dispatch_submit", wye_dispatch_submit(context, &desc, &out, calls.sink())))
        return false;
    others_.push_back(out);
    return true;
}

bool World::begin(bool behind) {
    const bool both = behind && (place_ == Place::kQueue || place_ == Place::kHelpers);
    for (std::size_t i = 0; i < (both ? 2 : 1); ++i) {
        wye_argument arguments[] = {resident(gates_[i].flag), resident(behind_[i])};
        arguments[1].binding = 1;
        wye_dispatch_desc desc;
        WYE_INIT(desc);
        desc.program = gate_program_;
        desc.device = device;
        desc.arguments = arguments;
        desc.argument_count = 2;
        desc.queue = i == 0 ? side : 0;
        const wye_argument same = resident(behind_[i]);
        wye_dispatch_desc next = add(same);
        next.queue = desc.queue;
        blocked_[i] = true;
        if (!submit(desc) || !submit(next)) return false;
    }
    wye_transfer_desc copy;
    WYE_INIT(copy);
    copy.kind = WYE_TRANSFER_COPY;
    copy.source_buffer = behind_[0];
    copy.buffer = copied_;
    copy.size = elements_ * 4;
    copy.queue = side;
    wye_pending out = 0;
    if (!calls.ok("wye_buffer_transfer_submit",
                  wye_buffer_transfer_submit(context, &copy, &out, calls.sink())))
        return false;
    others_.push_back(out);
    return true;
}

bool World::begin_rounds() {
    wye_argument arguments[] = {resident(gates_[2].flag), resident(target)};
    arguments[1].binding = 1;
    wye_dispatch_desc desc;
    WYE_INIT(desc);
    desc.program = rounds_program_;
    desc.device = device;
    desc.arguments = arguments;
    desc.argument_count = 2;
    desc.fixpoint_iterations = 2;
    return submit(desc);
}

void World::open() {
    for (Gate& gate : gates_)
        if (std::uint32_t* const word = std::exchange(gate.word, nullptr))
            std::atomic_ref(*word).store(1);
}

bool World::settle(bool exact) {
    if (others_.empty()) return true;
    bool all = true;
    for (const wye_pending pending : others_) {
        const wye_status status =
            wye_pending_wait(context, pending, UINT64_MAX, nullptr, calls.sink());
        const bool good = calls.ok("work in flight", status);
        if (!good && exact)
            calls.defect("work in flight", "failed with status " + std::to_string(status));
        all = all && good;
        calls.ok("wye_pending_free", wye_pending_free(context, pending, calls.sink()));
    }
    others_.clear();
    for (std::size_t i = 0; i < 2; ++i)
        if (blocked_[i]) check("work in flight", behind_[i], {all ? 2U : 0U, 2});
    check("a copy in flight", copied_, {all ? 2U : 0U, 2});
    return all;
}

void World::check(const char* what, wye_buffer buffer, Expected expected) {
    std::vector<std::uint32_t> found(elements_);
    if (!calls.ok("wye_buffer_download", wye_buffer_download_range(context, buffer, 0, found.data(),
                                                                   elements_ * 4, calls.sink()))) {
        calls.defect("wye_buffer_download", "fails afterwards");
        return;
    }
    found.pop_back();
    const auto [least, most] = std::ranges::minmax(found);
    if (least < expected.least || most > expected.most)
        calls.defect(what, "left " + std::to_string(least) + " to " + std::to_string(most) +
                               " where " + std::to_string(expected.least) + " to " +
                               std::to_string(expected.most) + " is right");
}

}  // namespace faults
