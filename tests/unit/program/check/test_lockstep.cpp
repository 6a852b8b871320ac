// SPDX-License-Identifier: Apache-2.0
//
// Random programs with barriers and subgroup operations at random places. All run on the oracle,
// which reports an operation that not all invocations reach. In programs that the check of
// uniformity accepts, the oracle must report none. In refused programs it must report some, or the
// oracle would be blind.
#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "oracle/oracle.hpp"
#include "program/wire/encode.hpp"
#include "support/random.hpp"
#include "support/random_expression.hpp"
#include "support/sanitized.hpp"
#include "support/slice.hpp"
#include "text_helpers.hpp"

namespace test_lockstep {

using support::cat;

namespace {

// Makes the texts of programs. Most values are uniform, so that many programs are accepted, and
// many others are nearly accepted.
class Text {
  public:
    explicit Text(support::Random& random) : random_(random) {}

    std::string program() {
        return cat({R"(wye 1; program lockstep; workgroup 8; subgroup 4; param n: u32;
input x: u32[]; input_output y: u32[]; shared s: u32[8]; table t: u32[4] = { 0u, 1u, 5u, 2u };
fn at(v: u32) -> u32 { return x[v]; }
fn lane(v: u32) -> u32 { return v + local_index; }
main {
var a = n; var c = 1u; var l: u32[4];
)",
                    block(6, 0), "}\n"});
    }

  private:
    std::string any(const std::vector<std::string>& choices) { return random_.pick(choices); }
    std::string small() { return std::to_string(random_.below(5)) + "u"; }

    std::string value(int depth) {
        switch (random_.below(depth <= 0 ? 4 : 9)) {
            case 0:
                return small();
            case 1:
                return any({"n", "len(x)", "workgroup_id.x", "num_workgroups.x", "subgroup_size"});
            case 2:
                return names_.empty() ? "n" : random_.pick(names_);
            case 3:
                return random_.chance(70) ? any({"a", "c", "n"})
                                          : any({"local_index", "global_id.x", "subgroup_id",
                                                 "subgroup_lane", "local_id.x"});
            case 4:
                return cat({any({"x", "x", "t", "l", "y", "s"}), "[", value(depth - 1), "]"});
            case 5:
                return cat({random_.chance(80) ? "at(" : "lane(", value(depth - 1), ")"});
            case 6:
                return cat({"select(", condition(depth - 1), ", ", value(depth - 1), ", ",
                            value(depth - 1), ")"});
            default:
                return cat({"(", value(depth - 1), any({" + ", " * ", " & ", " % "}),
                            value(depth - 1), ")"});
        }
    }
    std::string condition(int depth) {
        return cat({value(depth), any({" < ", " == ", " != ", " >= "}), value(depth)});
    }
    std::string fresh() { return cat({"v", std::to_string(count_++)}); }
    std::string named(const std::string& text) {
        names_.push_back(fresh());
        return cat({"let ", names_.back(), " = ", text, ";\n"});
    }
    std::string block(std::int64_t statements, int depth) {
        const std::size_t visible = names_.size();
        std::string out;
        for (; statements > 0; --statements) out += statement(depth);
        names_.resize(visible);
        return out;
    }
    std::string statement(int depth) {
        switch (random_.below(depth < 3 ? 14 : 9)) {
            case 0:
                return named(value(2));
            case 1:
                return cat({any({"a", "c"}), " = ", value(2), ";\n"});
            case 2:
                return cat({any({"l", "s", "y"}), "[", value(1), "] = ", value(1), ";\n"});
            case 3:
            case 4:
                return "barrier;\n";
            case 5:
                return named(cat({"workgroup_uniform_load(s[", value(1), "])"}));
            case 6:
                return named(cat({any({"subgroup_add(", "subgroup_max("}), value(1), ")"}));
            case 7:
                return named(cat({"subgroup_broadcast(", value(1), ", ", small(), ")"}));
            case 8: {
                std::vector<std::string> ways = {"return;", "trap 1;"};
                if (loops_ != 0) ways.insert(ways.end(), {"break;", "continue;", "break;"});
                return cat({"if ", condition(1), " { ", random_.pick(ways), " }\n"});
            }
            case 9:
            case 10: {
                const std::string name = fresh();
                std::string out = cat({"for ", name, " in 0u .. min(", value(1), ", 3u) {\n"});
                names_.push_back(name);
                ++loops_;
                out += cat({block(random_.between(1, 3), depth + 1), "}\n"});
                --loops_;
                names_.pop_back();
                return out;
            }
            default: {
                std::string out = cat(
                    {"if ", condition(1), " {\n", block(random_.between(1, 3), depth + 1), "}"});
                if (random_.chance(40)) out += cat({" else {\n", block(2, depth + 1), "}"});
                return out + "\n";
            }
        }
    }

    support::Random& random_;
    std::vector<std::string> names_;
    unsigned count_ = 0, loops_ = 0;
};

// Runs launches with random data on the oracle. Returns the first error, or "".
std::string run(support::Random& random, const std::vector<std::byte>& wire) {
    for (int again = 0; again < 3; ++again) {
        oracle::Launch launch;
        launch.groups = {static_cast<std::uint32_t>(random.between(1, 3)), 1, 1};
        launch.params = {random.below(6)};
        for (int k = 0; k < 2; ++k) {
            std::vector<std::byte>& buffer = launch.buffers.emplace_back(4 * random.below(9));
            for (std::size_t i = 0; i < buffer.size(); i += 4)
                buffer[i] = static_cast<std::byte>(random.below(6));
        }
        launch.step_limit = 1U << 20U;
        const oracle::Outcome outcome = oracle::run(wire, launch);
        if (!outcome.ok()) return outcome.error;
    }
    return {};
}

}  // namespace

TEST_CASE("barriers and subgroup operations that are accepted are reached by all") {
    constexpr std::size_t kParts = support::kSanitized ? 64 : 16;
    const support::Slice slice = support::Slice::of_this_run();
    std::size_t accepted = 0, refused = 0, diverged = 0;
    for (std::size_t seed = 0; seed < 64'000; ++seed) {
        if (!slice.has(seed, kParts)) continue;
        support::Random random(seed);
        const std::string text = Text(random).program();
        CAPTURE(seed);
        CAPTURE(text);
        wye::ir::ParseResult parsed = wye::ir::parse(text);
        REQUIRE_MESSAGE(parsed.ok(), test::shown(parsed.diagnostics, text));
        bool fine = true;
        for (const auto& d : wye::ir::validate(parsed.program)) {
            if (d.severity != wye::ir::Diagnostic::Severity::Error) continue;
            fine = false;
            CHECK_MESSAGE((d.message.find("uniform in the") != std::string::npos ||
                           d.message.find("may differ") != std::string::npos),
                          d.message);
        }
        const auto wire = wye::ir::encode(parsed.program);
        REQUIRE(wire.ok());
        const std::string error = run(random, *wire);
        (fine ? accepted : refused) += 1;
        if (fine)
            CHECK(error == "");
        else
            diverged += error.find("is not reached by") != std::string::npos ? 1 : 0;
    }
    std::printf("slice: barriers in lockstep, %s\n", slice.text(kParts).c_str());
    std::printf("%zu programs accepted, %zu refused, %zu of which diverged in a launch\n", accepted,
                refused, diverged);
    CHECK(accepted > 6400 / kParts);
    CHECK(diverged > refused / 20);
}

}  // namespace test_lockstep
