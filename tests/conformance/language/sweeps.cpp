// SPDX-License-Identifier: Apache-2.0
//
// All operations of a type are in one program, so that few programs must be compiled. The host
// computes the expected results; the oracle confirms those of the first inputs.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <map>

#include "conformance/language/judge.hpp"
#include "conformance/language/suites.hpp"
#include "support/half.hpp"
#include "support/operations.hpp"
#include "support/random.hpp"
#include "wye/program_format.h"

namespace conformance {
namespace {

using support::kind_of;
using support::Operation;
using support::Sweep;

constexpr std::size_t kChunk = 65536;
constexpr std::size_t kOracle = 512;  // inputs that the oracle evaluates too

bool names(const std::string& text, unsigned kind) {
    return text.find(kind_of(kind).name) != std::string::npos;
}

// The first capability that values of this kind need and the device lacks; empty: none.
std::string missing(const Device& device, unsigned kind) {
    const auto lacks = [&](std::initializer_list<const char*> capabilities) -> std::string {
        for (const char* name : capabilities)
            if (!device.has(name)) return name;
        return {};
    };
    switch (kind) {
        case WYE_KIND_I8:
        case WYE_KIND_U8:
            return lacks({"storage8"});
        case WYE_KIND_I16:
        case WYE_KIND_U16:
            return lacks({"storage16"});
        case WYE_KIND_F16:
        case WYE_KIND_BF16:
            return lacks({"storage16", "ieee_f32"});
        case WYE_KIND_I64:
        case WYE_KIND_U64:
            return lacks({"int64"});
        case WYE_KIND_F32:
            return lacks({"ieee_f32"});
        case WYE_KIND_F64:
            return lacks({"f64", "ieee_f64"});
        default:
            return {};
    }
}

// Removes operations that the device cannot run, and prints how many.
void keep_possible(const Device& device, Sweep& sweep) {
    std::map<std::string, std::size_t> left_out;
    std::erase_if(sweep.operations, [&](const Operation& operation) {
        for (unsigned kind = WYE_KIND_I32; kind < WYE_KIND_FIRST_FREE; ++kind) {
            const bool used = kind == sweep.kind || kind == operation.result ||
                              (kind <= WYE_KIND_F64 && names(operation.text, kind));
            const std::string lack = used ? missing(device, kind) : std::string();
            if (lack.empty()) continue;
            ++left_out[lack];
            return true;
        }
        return false;
    });
    for (const auto& [capability, count] : left_out)
        std::printf("left out: %zu operations on %s, the device has no %s\n", count,
                    kind_of(sweep.kind).name, capability.c_str());
}

// Where the results of each operation are: the output buffer of their kind, and a row in that
// buffer.
struct Layout {
    std::vector<unsigned> kinds;           // kinds of the output buffers, in binding order
    std::map<unsigned, std::size_t> rows;  // number of rows of each output buffer
    std::vector<std::size_t> row_of;       // row of each operation
};

Layout layout_of(const Sweep& sweep) {
    Layout layout;
    for (const Operation& operation : sweep.operations) {
        if (layout.rows.count(operation.result) == 0) layout.kinds.push_back(operation.result);
        layout.row_of.push_back(layout.rows[operation.result]++);
    }
    return layout;
}

std::string text_of(const Sweep& sweep, const Layout& layout) {
    const std::string type = kind_of(sweep.kind).name;
    std::string text = "wye 1; program sweep_" + type + "; workgroup 64;\n";
    for (const char* name : {"x", "y", "z"})
        text += std::string("input in_") + name + ": " + type + "[" +
                (*name == 'x' ? "" : "len(in_x)") + "];\n";
    for (const unsigned kind : layout.kinds)
        text += std::string("output out_") + kind_of(kind).name + ": " + kind_of(kind).name +
                "[len(in_x) * " + std::to_string(layout.rows.at(kind)) + "];\n";
    text +=
        "grid elements len(in_x);\nmain {\n    let i = global_id.x;\n    let n = len(in_x);\n"
        "    if i < n {\n        let x = in_x[i];\n        let y = in_y[i];\n"
        "        let z = in_z[i];\n";
    for (std::size_t k = 0; k < sweep.operations.size(); ++k) {
        const Operation& operation = sweep.operations[k];
        text += std::string("        out_") + kind_of(operation.result).name + "[" +
                std::to_string(layout.row_of[k]) + "u * n + i] = " + operation.text + ";\n";
    }
    return text + "    }\n}\n";
}

// Called millions of times. Each size is a constant, so that the copy compiles to one instruction.
template <typename T>
std::uint64_t load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

std::uint64_t element(const std::vector<std::byte>& bytes, std::size_t size, std::size_t index) {
    const std::byte* at = bytes.data() + index * size;
    switch (size) {
        case 1:
            return load<std::uint8_t>(at);
        case 2:
            return load<std::uint16_t>(at);
        case 4:
            return load<std::uint32_t>(at);
        default:
            return load<std::uint64_t>(at);
    }
}

void set_element(std::vector<std::byte>& bytes, std::size_t size, std::size_t index,
                 std::uint64_t bits) {
    std::memcpy(bytes.data() + index * size, &bits, size);
}

// The addend for which a fused multiply-add cancels almost completely: minus the rounded product.
std::uint64_t cancelling(unsigned kind, std::uint64_t x, std::uint64_t y) {
    if (kind == WYE_KIND_F64) {
        const double product = std::bit_cast<double>(x) * std::bit_cast<double>(y);
        return std::bit_cast<std::uint64_t>(-product);
    }
    const float product = std::bit_cast<float>(static_cast<std::uint32_t>(x)) *
                          std::bit_cast<float>(static_cast<std::uint32_t>(y));
    return std::bit_cast<std::uint32_t>(-product);
}

// Values at which a conversion to f16 may round either way: the middle between two neighbouring
// f16, and the values just below and above. `n` numbers them, with either sign. Integers below 2048
// are f16 themselves, so these are not rounded.
std::uint64_t near_half_tie(unsigned kind, std::uint64_t n) {
    const std::uint64_t half = n / 3 % 0x7c00;
    const auto beside = static_cast<std::int64_t>(n % 3) - 1;
    const double next = half == 0x7bff ? 65536 : support::value_of_half(half + 1);
    const double tie = (support::value_of_half(half) + next) / 2;
    const std::uint64_t negative = n / 3 / 0x7c00 % 2;
    if (kind == WYE_KIND_F32)
        return (std::bit_cast<std::uint32_t>(static_cast<float>(tie)) +
                static_cast<std::uint32_t>(beside)) |
               negative << 31U;
    if (kind == WYE_KIND_F64)
        return (std::bit_cast<std::uint64_t>(tie) + static_cast<std::uint64_t>(beside)) |
               negative << 63U;
    const std::int64_t value = static_cast<std::int64_t>(tie) + beside;
    return static_cast<std::uint64_t>(negative != 0 ? -value : value);
}

// The three operands of `count` inputs. For types of 8 and 16 bits, the first inputs take every
// value as x.
Launch inputs(const Sweep& sweep, const Layout& layout, std::uint64_t seed, std::size_t first,
              std::size_t count) {
    const unsigned size = kind_of(sweep.kind).bytes;
    support::Random random(seed);
    Launch launch;
    for (const char* name : {"in_x", "in_y", "in_z"})
        launch.buffers.push_back(
            {name, true, false, support::random_scalars(random, sweep.kind, count)});
    auto& x = launch.buffers[0].bytes;
    auto& y = launch.buffers[1].bytes;
    auto& z = launch.buffers[2].bytes;
    for (std::size_t i = 0; i < count; ++i) {
        if (size <= 2 && first + i < std::size_t{1} << (8 * size))
            set_element(x, size, i, first + i);
        if (size >= 4 && i % 8 == 3)
            set_element(x, size, i, near_half_tie(sweep.kind, (first + i) / 8));
        if (sweep.kind == WYE_KIND_F32 && i % 8 == 5)  // values near the middle of two bf16
            set_element(x, size, i, (element(x, size, i) | 0xffffU) - 0x8000U + i / 8 % 3);
        const std::uint64_t bits = element(x, size, i);
        if (i % 8 == 0) set_element(y, size, i, bits);       // y equals x
        if (i % 8 == 1) set_element(y, size, i, bits ^ 1U);  // y differs in the last bit
        const bool float_sum = sweep.kind == WYE_KIND_F32 || sweep.kind == WYE_KIND_F64;
        if (i % 4 == 2 && float_sum)
            set_element(z, size, i, cancelling(sweep.kind, bits, element(y, size, i)));
    }
    for (const unsigned kind : layout.kinds)
        launch.buffers.push_back(
            {std::string("out_") + kind_of(kind).name, false, true,
             std::vector<std::byte>(count * layout.rows.at(kind) * kind_of(kind).bytes)});
    return launch;
}

struct Mismatches {
    std::uint64_t count = 0;
    std::string first;
};

void compare(const Sweep& sweep, const Layout& layout, const Launch& launch, std::size_t count,
             const std::vector<std::vector<std::byte>>& got, std::vector<Mismatches>& found) {
    const unsigned size = kind_of(sweep.kind).bytes;
    for (std::size_t k = 0; k < sweep.operations.size(); ++k) {
        const Operation& operation = sweep.operations[k];
        const auto output = static_cast<std::size_t>(
            std::find(layout.kinds.begin(), layout.kinds.end(), operation.result) -
            layout.kinds.begin());
        const unsigned out_size = kind_of(operation.result).bytes;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t x = element(launch.buffers[0].bytes, size, i);
            const std::uint64_t y = element(launch.buffers[1].bytes, size, i);
            const std::uint64_t z = element(launch.buffers[2].bytes, size, i);
            const std::uint64_t is =
                element(got[3 + output], out_size, layout.row_of[k] * count + i);
            const std::uint64_t should_be = operation.expected(x, y, z);
            if (is == should_be) continue;
            if (found[k].count++ != 0) continue;
            char text[200];
            std::snprintf(text, sizeof text, "x %#llx, y %#llx, z %#llx: got %#llx, wanted %#llx",
                          static_cast<unsigned long long>(x), static_cast<unsigned long long>(y),
                          static_cast<unsigned long long>(z), static_cast<unsigned long long>(is),
                          static_cast<unsigned long long>(should_be));
            found[k].first = text;
        }
    }
}

// Runs all inputs, in chunks. Returns the error of a run that failed; empty: none.
std::string run_chunks(const Device& device, const wye::Program& program, const Sweep& sweep,
                       const Layout& layout, std::uint64_t inputs_wanted,
                       std::vector<Mismatches>& found, const Tally& tally) {
    std::uint64_t chunk = 0;
    for (std::uint64_t done = 0; done < inputs_wanted; done += kChunk, ++chunk) {
        const auto count =
            static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, inputs_wanted - done));
        const Launch launch =
            inputs(sweep, layout, chunk + 1, static_cast<std::size_t>(done), count);
        const auto got = device.run(program, {launch}, chunk % 2 == 1);
        if (!got.ok()) return got.error().text();
        compare(sweep, layout, launch, count, *got, found);
        tally.work();
    }
    return {};
}

// Checks all operations of one type: "2 of 40 operations: `x + y`: 3 mismatches, first at ...".
std::string check_operations(const Device& device, const wye::Program& program, const Sweep& sweep,
                             const Layout& layout, std::uint64_t wanted, const Tally& tally) {
    std::vector<Mismatches> found(sweep.operations.size());
    std::string problem = run_chunks(device, program, sweep, layout, wanted, found, tally);
    if (!problem.empty()) return problem;
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < found.size(); ++k) {
        if (found[k].count == 0) continue;
        ++wrong;
        problem += (wrong == 1 ? "" : "; ") + ("`" + sweep.operations[k].text + "`: ") +
                   std::to_string(found[k].count) + " mismatches, first at " + found[k].first;
    }
    if (wrong == 0) return {};
    return std::to_string(wrong) + " of " + std::to_string(found.size()) +
           " operations: " + problem;
}

std::string check_with_oracle(const wye::Program& program, const Sweep& sweep,
                              const Layout& layout) {
    const auto wire = program.lower("wire");
    if (!wire.ok()) return wire.error().text();
    const Launch launch = inputs(sweep, layout, 0, 1U << 16U, kOracle);
    const auto wanted = expected(*wire, {launch});
    if (!wanted.ok()) return wanted.error().text();
    std::vector<Mismatches> found(sweep.operations.size());
    compare(sweep, layout, launch, kOracle, *wanted, found);
    for (std::size_t k = 0; k < found.size(); ++k)
        if (found[k].count != 0)
            return "the oracle does not agree with the host: `" + sweep.operations[k].text +
                   "`: " + found[k].first;
    return {};
}

}  // namespace

void run_sweeps(const Device& device, const std::string& only, std::uint64_t inputs_wanted,
                Tally& tally) {
    for (Sweep& sweep : support::operations()) {
        const support::Kind kind = kind_of(sweep.kind);
        if (!only.empty() && only != kind.name) continue;
        keep_possible(device, sweep);
        if (sweep.operations.empty()) {
            tally.add_left_out(std::string(kind.name) + ", every operation",
                               "the device lacks a capability that the type needs");
            continue;
        }
        const Layout layout = layout_of(sweep);
        const auto program = device.context().program_from_text(text_of(sweep, layout), kind.name);
        if (!program.ok()) {
            tally.add(kind.name, program.error().text());
            continue;
        }
        // Types of 8 and 16 bits that can only be loaded and stored: each value is used once.
        const bool storage = sweep.kind >= WYE_KIND_I8;
        const std::uint64_t wanted =
            storage ? std::uint64_t{1} << (8U * kind.bytes) : inputs_wanted;
        if (tally.begin(std::string(kind.name) + ", the oracle"))
            tally.end(check_with_oracle(*program, sweep, layout));
        if (!tally.begin(std::string(kind.name) + ", every operation")) continue;
        tally.end(check_operations(device, *program, sweep, layout, wanted, tally));
        std::printf("%s: %zu operations, %llu inputs each\n", kind.name, sweep.operations.size(),
                    static_cast<unsigned long long>(wanted));
    }
    if (only.empty() || only == "subgroup") sweep_subgroups(device, inputs_wanted, tally);
    if (only.empty() || only == "math") sweep_math(device, inputs_wanted, tally);
}

}  // namespace conformance
