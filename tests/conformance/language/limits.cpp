// SPDX-License-Identifier: Apache-2.0
//
// Programs that use a limit completely: as much as the device claims, or as the language allows if
// that is less. If the device refuses a program with LIMIT_EXCEEDED, the case does not apply.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "conformance/language/judge.hpp"
#include "conformance/language/suites.hpp"
#include "support/random.hpp"
#include "wye/program_format.h"

namespace conformance {
namespace {

constexpr std::size_t kWord = sizeof(std::uint32_t);

struct Full {
    std::string text;
    Launch launch;
};

Binding words_in(const std::string& name, std::size_t count) {
    support::Random random(count);
    return {name, true, false, support::random_scalars(random, WYE_KIND_U32, count)};
}
Binding words_out(std::size_t count) {
    return {"r", false, true, std::vector<std::byte>(count * kWord)};
}

// Two workgroups of `invocations` invocations each, which exchange elements in `shared` memory.
Full widest(std::uint64_t invocations) {
    const std::string n = std::to_string(invocations);
    Full out;
    out.text = "wye 1; program widest; workgroup " + n +
               ";\n"
               "input x: u32[]; output r: u32[len(x)]; shared s: u32[" +
               n +
               "];\n"
               "main { s[local_index] = x[global_id.x]; barrier; r[global_id.x] = s[" +
               std::to_string(invocations - 1) + "u - local_index]; }";
    out.launch.groups = std::array<std::uint32_t, 3>{2, 1, 1};
    out.launch.buffers = {words_in("x", 2 * invocations), words_out(2 * invocations)};
    return out;
}

// A workgroup of 64 invocations that writes all bytes of `shared` memory. Each invocation then
// reads what another invocation has written.
Full most_shared(std::uint64_t bytes) {
    const std::uint64_t rounds = bytes / kWord / 64;
    const std::string k = std::to_string(rounds);
    Full out;
    out.text =
        "wye 1; program most_shared; workgroup 64;\n"
        "input x: u32[64]; output r: u32[64]; shared s: u32[" +
        std::to_string(rounds * 64) +
        "];\n"
        "main {\n"
        "    for k in 0u.." +
        k +
        "u { s[k * 64u + local_index] = x[local_index] + k; }\n"
        "    barrier;\n"
        "    var sum = 0u;\n"
        "    for k in 0u.." +
        k +
        "u { sum = sum * 3u ^ s[k * 64u + 63u - local_index]; }\n"
        "    r[local_index] = sum;\n"
        "}";
    out.launch.groups = std::array<std::uint32_t, 3>{1, 1, 1};
    out.launch.buffers = {words_in("x", 64), words_out(64)};
    return out;
}

// A program with `count` buffers. The last buffer gets the sums of the elements of all other
// buffers.
Full most_buffers(std::uint64_t count) {
    Full out;
    out.text = "wye 1; program most_buffers; workgroup 64;\n";
    std::string sum = "0u";
    for (std::uint64_t i = 0; i + 1 < count; ++i) {
        const std::string name = "x" + std::to_string(i);
        out.text += "input " + name + ": u32[64];\n";
        sum = "(" + sum + " ^ " + name + "[local_index] * " + std::to_string(2 * i + 1) + "u)";
        out.launch.buffers.push_back(words_in(name, 64));
    }
    out.text += "output r: u32[64];\nmain { r[local_index] = " + sum + "; }";
    out.launch.groups = std::array<std::uint32_t, 3>{1, 1, 1};
    out.launch.buffers.push_back(words_out(64));
    return out;
}

void check(const Device& device, const Full& full, Tally& tally) {
    const auto program = device.context().program_from_text(full.text, "limit");
    if (!program.ok()) return tally.end(program.error().text());
    const auto wire = program->lower("wire");
    if (!wire.ok()) return tally.end(wire.error().text());
    const auto wanted = expected(*wire, {full.launch});
    if (!wanted.ok()) return tally.end(wanted.error().text());
    const auto got = device.run(*program, {full.launch}, false);
    if (!got.ok() && got.error().code == wye::Code::LIMIT_EXCEEDED)
        return tally.leave_out("refused: " + got.error().message);
    tally.end(got.ok() ? difference(full.launch.buffers, *got, *wanted) : got.error().text());
}

// A grid with `count` workgroups on one axis. Each workgroup writes its number, so that a
// missing workgroup or a wrong number shows. The host splits a grid above the limit of a
// device that has 64-bit integers; other devices may refuse it. `apart`: why the case does not
// apply; empty: the case applies.
std::string check_grid(const Device& device, std::size_t axis, std::uint32_t count,
                       std::string& apart) {
    const char* const names[] = {"x", "y", "z"};
    const auto program = device.context().program_from_text(
        std::string("wye 1; program far; workgroup 1;\noutput r: u32[];\n") +
            "main { r[workgroup_id." + names[axis] + "] = workgroup_id." + names[axis] +
            " * 2654435761u + num_workgroups." + names[axis] + "; }",
        "limit");
    if (!program.ok()) return program.error().text();
    Launch launch;
    launch.groups = std::array<std::uint32_t, 3>{1, 1, 1};
    (*launch.groups)[axis] = count;
    launch.buffers = {words_out(count)};
    const auto got = device.run(*program, {launch}, false);
    if (!got.ok()) {
        if (got.error().code == wye::Code::LIMIT_EXCEEDED && !device.has("int64") &&
            count > device.axes("max_workgroups")[axis])
            apart = "refused: " + got.error().message;
        return got.error().text();
    }
    std::vector<std::uint32_t> wanted(count);
    for (std::uint32_t i = 0; i < count; ++i) wanted[i] = i * 2654435761U + count;
    std::vector<std::byte> bytes(count * kWord);
    std::memcpy(bytes.data(), wanted.data(), bytes.size());
    return difference(launch.buffers, *got, {bytes});
}

// Grids around 65535 workgroups, which is many drivers' limit, and around the claimed limit. None
// has more than kMost workgroups.
void check_grids(const Device& device, Tally& tally) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 20U;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::uint64_t claimed = device.axes("max_workgroups")[axis];
        std::set<std::uint64_t> counts = {65535, 65536, 65537, claimed - 1, claimed, claimed + 1};
        std::erase_if(counts, [](std::uint64_t count) { return count == 0 || count > kMost; });
        for (const std::uint64_t count : counts) {
            const std::string what = std::to_string(count) + " workgroups in the axis ";
            if (!tally.begin(what + "xyz"[axis], "P-19")) continue;
            std::string apart;
            const std::string problem =
                check_grid(device, axis, static_cast<std::uint32_t>(count), apart);
            tally.end(problem, apart);
        }
    }
}

struct Limit {
    const char* name;  // the device fact
    const char* what;
    std::uint64_t most;  // the limit of the language
    std::function<Full(std::uint64_t)> fill;
};

}  // namespace

void run_limits(const Device& device, Tally& tally) {
    const Limit limits[] = {
        {"max_workgroup_invocations", "a workgroup of the most invocations", WYE_LIMIT_WORKGROUP,
         widest},
        {"max_shared_bytes", "a workgroup with the most shared memory", WYE_LIMIT_SHARED_BYTES,
         most_shared},
        {"max_buffers", "a program with the most buffers", WYE_LIMIT_BUFFERS, most_buffers},
    };
    for (const Limit& limit : limits) {
        if (!tally.begin(limit.what, "P-19")) continue;
        std::uint64_t claimed = device.limit(limit.name, 0);
        // The workgroup has only an x axis, whose limit may be lower.
        if (limit.most == WYE_LIMIT_WORKGROUP)
            claimed = std::min<std::uint64_t>(claimed, device.axes("max_workgroup_size")[0]);
        if (claimed == 0)
            tally.leave_out(std::string("the device does not report ") + limit.name);
        else
            check(device, limit.fill(std::min(claimed, limit.most)), tally);
    }
    check_grids(device, tally);
}

}  // namespace conformance
