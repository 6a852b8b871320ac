// SPDX-License-Identifier: Apache-2.0
#include "layers/validate/objects.hpp"

namespace wye::layers::validate {
namespace {

template <typename Kind>
bool has(const Kind& kind, const void* at) {
    auto& live = const_cast<Kind&>(kind).all();
    for (const auto& [pointer, object] : live)
        if (static_cast<const void*>(pointer) == at) return true;
    return false;
}

void add_count(std::string& out, std::uint64_t count, std::string_view noun) {
    if (count == 0) return;
    out += (out.empty() ? "" : ", ") + std::to_string(count) + ' ' + std::string(noun) +
           (count == 1 ? "" : "s");
}

template <typename Visit>
void each_kind(Objects& objects, Visit&& visit) {
    visit(objects.buffers);
    visit(objects.programs);
    visit(objects.commands);
    visit(objects.timelines);
}

}  // namespace

std::string Objects::kind_at(const void* at) const {
    if (has(buffers, at)) return "a buffer";
    if (has(programs, at)) return "a program";
    if (has(commands, at)) return "a command";
    if (has(timelines, at)) return "a timeline";
    return {};
}

std::string Objects::left(std::uint64_t queues) const {
    std::string out;
    add_count(out, buffers.size(), "buffer");
    add_count(out, programs.size(), "program");
    add_count(out, commands.size(), "command");
    add_count(out, queues, "queue");
    // Timelines of queues are not counted, since they end with their queues.
    add_count(out, timelines.size() - std::min<std::size_t>(timelines.size(), queues), "timeline");
    return out;
}

void Objects::end_commands_of(wye_buffer_object* at, std::string_view noun) {
    for (auto& [pointer, command] : commands.all())
        if (command.buffers.count(at) != 0 && command.dead.empty()) command.dead = noun;
}

void Objects::end_commands_of(wye_program_object* at, std::string_view noun) {
    for (auto& [pointer, command] : commands.all())
        if (command.programs.count(at) != 0 && command.dead.empty()) command.dead = noun;
}

void Objects::forget_uses(wye_timeline_object* queue) {
    each_kind(*this, [&](auto& kind) {
        for (auto& [pointer, object] : kind.all()) object.uses.erase(queue);
    });
    for (auto& [pointer, command] : commands.all())
        std::erase_if(command.pending,
                      [&](const wye_event& event) { return event.timeline == queue; });
}

void Objects::lose() {
    each_kind(*this, [](auto& kind) {
        for (auto& [pointer, object] : kind.all()) object.lost = true;
    });
}

}  // namespace wye::layers::validate
