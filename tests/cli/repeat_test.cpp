// SPDX-License-Identifier: Apache-2.0
//
// `wye run --repeat`, with `--graph` and without, compared with the host's arithmetic.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "command.hpp"

namespace wye::test::repeat_test {
namespace {

using Words = std::vector<std::uint32_t>;

// Each run changes `state`. Nothing in `seen` is kept from one run to the next.
constexpr const char* kStep = R"(wye 1; program advance; workgroup 64; param by: u32;
input k: u32[]; input_output state: u32[len(k)]; output seen: u32[len(k)] bytes 8..20;
grid elements len(k);
main {
    let i = global_id.x;
    if i < len(k) {
        seen[i] = seen[i] + state[i];
        state[i] = state[i] * by + k[i];
    }
}
)";
constexpr std::size_t kCount = 100;
constexpr std::uint32_t kBy = 5;
constexpr int kTimes = 7;

std::string text_of(const Words& words) {
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]};
}

Outcome repeat(const std::string& device, const std::string& program,
               const std::vector<std::string>& more) {
    std::vector<std::string> words = {WYE_TOOL, "run", program, "--device", device};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
}

}  // namespace

TEST_CASE("repeated dispatches and a replayed graph leave the bytes of the host's arithmetic") {
    const TempFolder folder;
    const std::string program = folder.write("step.wye", kStep);
    Words k(kCount), state(kCount), seen;
    for (std::uint32_t i = 0; i < kCount; ++i) {
        k[i] = i * 2654435761U;
        state[i] = ~i;
    }
    const std::string k_file = folder.write("k", text_of(k));
    const std::string first = text_of(state);
    for (int round = 0; round < kTimes; ++round) {
        seen.assign(state.begin() + 2, state.begin() + 5);
        for (std::size_t i = 0; i < kCount; ++i) state[i] = state[i] * kBy + k[i];
    }
    for (const std::string& device : listed_devices()) {
        for (const bool graph : {false, true}) {
            for (const bool limited : {false, true}) {
                CAPTURE(device);
                CAPTURE(graph);
                CAPTURE(limited);
                const std::string state_file = folder.write("state", first);
                const std::string seen_file = folder.path("seen");
                std::vector<std::string> more = {"--in",       "k=" + k_file,
                                                 "--in",       "state=" + state_file,
                                                 "--out",      "seen=" + seen_file,
                                                 "--out",      "state=" + state_file,
                                                 "--param",    "by=5",
                                                 "--repeat",   std::to_string(kTimes),
                                                 "--counters", "--json"};
                if (graph) more.emplace_back("--graph");
                if (limited) more.insert(more.end(), {"--timeout-ms", "60000"});
                const Outcome outcome = repeat(device, program, more);
                CAPTURE(outcome.err);
                REQUIRE(outcome.code == 0);
                CHECK(read_bytes(state_file) == text_of(state));
                CHECK(read_bytes(seen_file) == text_of(seen));
                const auto document = nlohmann::json::parse(outcome.out);
                CHECK(document.at("repeat").at("count") == kTimes);
                CHECK(document.at("repeat").at("graph").is_null() == !graph);
                CHECK(document.at("variant").is_null() == graph);
                CHECK(document.at("bytes_uploaded") == 2 * kCount * 4);
                CHECK(document.at("bytes_downloaded") == kCount * 4 + 12);
                CHECK(document.at("bytes_filled") == kTimes * kCount * 4);
                const auto& counters = document.at("counters");
                CHECK(counters.at("dispatches") == kTimes);
                CHECK(counters.at("bytes_uploaded") == 2 * kCount * 4);
                CHECK(counters.at("bytes_downloaded") == kCount * 4 + 12);
                if (!graph) continue;
                const auto& form = document.at("repeat").at("graph");
                CHECK(form.at("native").is_boolean());
                CHECK(form.at("operations") == 2);  // a fill and a launch
                CHECK(form.at("record_ns") > 0);
            }
        }
    }
}

TEST_CASE("the line says how often it ran, and whether the graph is the driver's own") {
    const std::string mix = std::string(WYE_PROGRAMS) + "/mix.wye";
    const Outcome plain = repeat("cpu", mix, {"--in", "words=@zeros(16)", "--repeat", "3"});
    CHECK(plain.code == 0);
    CHECK(contains(plain.err, "wye: ran `mix` 3 times on cpu:0"));
    const Outcome graph =
        repeat("cpu", mix, {"--in", "words=@zeros(16)", "--repeat", "3", "--graph"});
    CHECK(graph.code == 0);
    CHECK(contains(graph.err, "wye: ran `mix` 3 times on cpu:0"));
    CHECK((contains(graph.err, "as a native graph") ||
           contains(graph.err, "operation by operation")));
}

TEST_CASE("a cooperative run says whether it was one launch or split, and why") {
    constexpr std::uint32_t kLength = 1000;
    const TempFolder folder;
    const std::string program = folder.write(
        "turn.wye",
        "wye 1; program turn; workgroup 64; input x: u32[]; output y: u32[len(x)];\n"
        "output z: u32[len(x)]; grid elements len(x);\n"
        "main {\n"
        "    if global_id.x < len(x) { y[global_id.x] = x[len(x) - 1u - global_id.x] + 1u; }\n"
        "    grid_barrier;\n"
        "    if global_id.x < len(x) { z[global_id.x] = y[len(x) - 1u - global_id.x] * 3u; }\n"
        "}\n");
    Words x(kLength), z(kLength);
    for (std::uint32_t i = 0; i < kLength; ++i) z[i] = ((x[i] = i * 2654435761U) + 1) * 3;
    const std::string x_file = folder.write("x", text_of(x)), z_file = folder.path("z");
    const std::vector<std::string> usual = {"--in", "x=" + x_file, "--out", "z=" + z_file,
                                            "--json"};
    for (const std::string& device : listed_devices()) {
        for (const std::vector<std::string>& form :
             {std::vector<std::string>{}, {"--repeat", "2"}, {"--repeat", "2", "--graph"}}) {
            for (const bool cooperative : {false, true}) {
                CAPTURE(device);
                CAPTURE(form.size());
                CAPTURE(cooperative);
                std::vector<std::string> more = usual;
                more.insert(more.end(), form.begin(), form.end());
                if (cooperative) more.emplace_back("--cooperative");
                const Outcome outcome = repeat(device, program, more);
                CAPTURE(outcome.err);
                REQUIRE(outcome.code == 0);
                CHECK(read_bytes(z_file) == text_of(z));
                const auto document = nlohmann::json::parse(outcome.out);
                const auto& how = document.at("cooperative");
                const auto& why = document.at("split_because");
                if (!cooperative)
                    CHECK((how == "none" && why.is_null()));
                else if (device == "cpu:0")
                    CHECK((how == "split" && why == "device"));
                else
                    CHECK(((how == "split" && why.is_string()) ||
                           (how == "native" && why.is_null())));
            }
        }
    }
    const Outcome line =
        repeat("cpu", program, {"--in", "x=" + x_file, "--out", "z=" + z_file, "--cooperative"});
    CHECK(line.code == 0);
    CHECK(contains(line.err, ", split at its grid barriers: the device has no grid_sync"));
    const Outcome refused = repeat("cpu", std::string(WYE_PROGRAMS) + "/mix.wye",
                                   {"--in", "words=" + x_file, "--cooperative"});
    CHECK(refused.code != 0);
    CHECK(contains(refused.err, "grid_sync"));
}

TEST_CASE("a repetition that fails is named, and leaves the outputs alone") {
    const TempFolder folder;
    const std::string program = folder.write(
        "count.wye",
        "wye 1; program count; workgroup 1; input_output r: u32[1]; grid groups 1; main { "
        "r[0] = r[0] + 1u; if r[0] == 3u { trap 9; } }\n");
    for (const std::string& device : listed_devices()) {
        for (const bool graph : {false, true}) {
            CAPTURE(device);
            CAPTURE(graph);
            const std::string r = folder.write("r", std::string(4, '\0'));
            std::vector<std::string> more = {"--in", "r=" + r, "--out", "r=" + r, "--repeat", "5"};
            if (graph) more.emplace_back("--graph");
            const Outcome outcome = repeat(device, program, more);
            CAPTURE(outcome.err);
            CHECK(outcome.code == 1);
            CHECK(contains(outcome.err, "repetition 3 of 5: "));
            CHECK(contains(outcome.err, "code 9"));
            CHECK(read_bytes(r) == std::string(4, '\0'));
        }
    }
}

TEST_CASE("wrong counts, and a graph without a count, are refused by name") {
    const std::string mix = std::string(WYE_PROGRAMS) + "/mix.wye";
    struct Row {
        std::vector<std::string> more;
        const char* part;
    };
    const Row rows[] = {{{"--repeat", "0"}, "`--repeat 0` runs nothing"},
                        {{"--repeat", "-1"}, "0 to 4294967295"},
                        {{"--repeat", "4294967296"}, "0 to 4294967295"},
                        {{"--repeat", "many"}, "0 to 4294967295"},
                        {{"--graph"}, "--repeat"}};
    for (const Row& row : rows) {
        std::vector<std::string> more = {"--in", "words=@zeros(16)"};
        more.insert(more.end(), row.more.begin(), row.more.end());
        check_complaint(repeat("cpu", mix, more), 2, row.part);
    }
}

TEST_CASE("a repetition that never ends is given up after its time limit") {
    const TempFolder folder;
    const std::string program = folder.write(
        "loop.wye",
        "wye 1; program endless; workgroup 64; output r: u32[64]; grid groups 1; main { "
        "var x = 1u; while x != 0u { x = x | 1u; } r[local_index] = x; }\n");
    for (const bool graph : {false, true}) {
        std::vector<std::string> more = {"--repeat", "2",     "--timeout-ms",
                                         "300",      "--out", "r=" + folder.path("r")};
        if (graph) more.emplace_back("--graph");
        const Outcome outcome = repeat("cpu", program, more);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 1);
        CHECK(contains(outcome.err, "repetition 1 of 2: "));
        CHECK(contains(outcome.err, "did not end"));  // also if the compilation took all the time
        CHECK(folder.names() == std::vector<std::string>{"loop.wye"});
    }
}

}  // namespace wye::test::repeat_test
