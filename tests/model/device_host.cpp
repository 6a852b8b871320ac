// SPDX-License-Identifier: Apache-2.0
//
// The part of Device that answers the host's questions, and checks them.
#include <fmt/format.h>

#include <algorithm>

#include "device.hpp"
#include "fibers.hpp"

namespace wye::model {

bool Device::reached(const Native& native, std::uint64_t value) {
    return std::ranges::all_of(
        native.works, [&](const Work* work) { return work->value > value || work->ended; });
}

// A failure that the host has let the device forget counts as success. A loss is never forgotten.
bool Device::failed(const Native& native, std::uint64_t value, wye_status& status) {
    for (const Work* const work : native.works) {
        if (work->value != value || !work->ended || work->status == WYE_OK) continue;
        if (work->retired && work->status != WYE_DEVICE_LOST) return false;
        status = work->status;
        return true;
    }
    return false;
}

const Work* Device::kept() const {
    for (const auto& work : works)
        if (work->on->alive && work->ended && work->status != WYE_OK && !work->retired &&
            work->status != WYE_DEVICE_LOST)
            return work.get();
    return nullptr;
}

void Device::check(const Native& native, const char* slot) {
    if (!native.alive)
        breach(
            fmt::format("`{}` concerns native queue {}, which was destroyed", slot, native.index));
    if (options.recovers && native.session != session)
        breach(fmt::format("`{}` after the recovery concerns native queue {}, made before it", slot,
                           native.index));
}

// A value that the host has seen end may be asked for at any time, also after a recovery.
void Device::check(const Native& native, std::uint64_t value, const char* slot) {
    if (native.alive && value <= native.seen) return;
    check(native, slot);
    if (value > native.newest || native.works.empty())
        breach(fmt::format("`{}` asks native queue {} for the value {}, which was not submitted",
                           slot, native.index, value));
}

void Device::destroy(Buffer& buffer) {
    if (!buffer.alive) breach("a buffer is destroyed twice");
    buffer.alive = false;
    for (const auto& work : works)
        if (!work->ended && work->uses(&buffer))
            breach(
                fmt::format("native buffer {} is destroyed while value {} of native queue {} "
                            "uses it",
                            buffer.index, work->value, work->on->index));
}

void Device::destroy(Program& program) {
    program.alive = false;
    for (const auto& work : works)
        if (!work->ended && std::ranges::find(work->programs, &program) != work->programs.end())
            breach("a program is destroyed while work uses it");
}

void Device::destroy(Command& command) {
    command.alive = false;
    for (const auto& work : works)
        if (!work->ended && std::ranges::find(work->commands, &command) != work->commands.end())
            breach("a command is destroyed while work uses it");
}

void Device::destroy(Native& native) {
    if (!native.alive) breach("a queue is destroyed twice");
    for (const Work* work : native.works) {
        if (work->ended) continue;
        if (on_block) on_block(*work);
        if (Fibers::current() != nullptr)
            Fibers::active->block(Reason::Device, [work] { return work->ended; });
    }
    native.alive = false;
    for (const auto& work : works)
        for (const Wait& wait : work->waits)
            if (!work->ended && wait.on == &native)
                breach(
                    fmt::format("native queue {} is destroyed while value {} of native queue "
                                "{} waits for it",
                                native.index, work->value, work->on->index));
}

wye_status Device::recover() {
    if (!options.recovers) return WYE_UNSUPPORTED;
    begin_session();
    return WYE_OK;
}

void Device::begin_session() {
    ++session;
    lost = loss_seen = false;
}

int Device::objects() const {
    const auto alive = [](const auto& list) {
        return static_cast<int>(
            std::ranges::count_if(list, [](const auto& one) { return one->alive; }));
    };
    return alive(buffers) + alive(programs) + alive(commands) + alive(natives);
}

void Device::clear() {
    buffers.clear();
    programs.clear();
    commands.clear();
    natives.clear();
    works.clear();
    compiles.clear();
    breach_.clear();
    session = opens = 0;
    lost = loss_seen = refuses = false;
    refused.clear();
}

}  // namespace wye::model
