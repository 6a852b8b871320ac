// SPDX-License-Identifier: Apache-2.0
#include "support/referee.hpp"

#include <algorithm>
#include <span>

#include "oracle/oracle.hpp"

namespace support {
namespace {

using Bytes = std::vector<std::vector<std::byte>>;

Bytes contents(const Case& what) {
    Bytes out;
    for (const Binding& b : what.launch.buffers) out.push_back(b.bytes);
    return out;
}

std::string element_text(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
    std::string out = "0x";
    for (std::size_t i = std::min(size, bytes.size() - at); i-- > 0;) {
        const auto b = std::to_integer<unsigned>(bytes[at + i]);
        out += "0123456789abcdef"[b >> 4];
        out += "0123456789abcdef"[b & 15];
    }
    return out;
}

// Describes the first element that differs. The element's bits are printed as one number.
std::string difference(const wye::Program& program, const Case& what, const Bytes& got,
                       const Bytes& wanted) {
    const auto described = program.describe();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const Binding& b = what.launch.buffers[i];
        if (!b.output || got[i] == wanted[i]) continue;
        std::size_t bad = 0;
        std::size_t first = 0;
        for (std::size_t k = wanted[i].size(); k-- > 0;)
            if (got[i][k] != wanted[i][k]) ++bad, first = k;
        std::size_t size = 1;
        for (std::uint64_t k = 0; described.ok() && k < described->buffer_count; ++k)
            if (wye::detail::view(described->buffers[k].name) == b.name)
                size = described->buffers[k].element_bytes;
        const std::size_t at = first / size * size;
        return b.name + "[" + std::to_string(at / size) + "] is " + element_text(got[i], at, size) +
               ", should be " + element_text(wanted[i], at, size) + " (" + std::to_string(bad) +
               " of " + std::to_string(wanted[i].size()) + " bytes differ)";
    }
    return {};
}

Finding useless(std::string why) {
    return {Finding::Kind::Useless, wye::Code::INTERNAL, std::move(why)};
}

}  // namespace

Runner on(const Device& device) {
    return [&device](const wye::Program& program, const Case& what) -> wye::Result<Ending> {
        if (!what.resident || what.may_trap) return device.run_to_trap(program, what.launch);
        WYE_ASSIGN(Bytes bytes, device.run(program, {what.launch}, true));
        Ending ending;
        ending.bytes = std::move(bytes);
        return ending;
    };
}

Finding judge(const wye::Context& context, const Runner& runner, const Case& what,
              const Care& care) {
    const auto program = context.program_from_text(what.text);
    if (!program.ok()) return useless(program.error().text());
    // The oracle has no math functions. The wire form has their definitions in their place.
    const auto wire = program->lower("wye-program");
    if (!wire.ok()) return useless(wire.error().text());
    oracle::Launch request;
    request.groups = what.launch.groups;
    request.params = what.launch.params;
    request.buffers = contents(what);
    request.step_limit = care.steps;
    request.check_races = care.races;
    const oracle::Outcome wanted = oracle::run(std::as_bytes(std::span(*wire)), request);
    if (!wanted.ok()) return useless("the oracle refuses: " + wanted.error);
    if (!wanted.race.empty()) return useless(wanted.race);
    if (wanted.trap.count != 0 && !what.may_trap) return useless("it traps");

    const auto got = runner(*program, what);
    if (!got.ok()) return {Finding::Kind::Error, got.error().code, got.error().text()};
    if (got->trap_code != wanted.trap.code || got->trap_count != wanted.trap.count)
        return {Finding::Kind::Trap, wye::Code::INTERNAL,
                "trap " + std::to_string(got->trap_code) + " x " + std::to_string(got->trap_count) +
                    ", should be " + std::to_string(wanted.trap.code) + " x " +
                    std::to_string(wanted.trap.count)};
    if (wanted.trap.count != 0)
        return got->delivered ? Finding{Finding::Kind::Trap, wye::Code::INTERNAL,
                                        "outputs were written although the program trapped"}
                              : Finding{};
    std::string text = difference(*program, what, got->bytes, wanted.buffers);
    if (text.empty()) return {};
    return {Finding::Kind::Bytes, wye::Code::INTERNAL, std::move(text)};
}

}  // namespace support
