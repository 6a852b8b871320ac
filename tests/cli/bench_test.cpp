// SPDX-License-Identifier: Apache-2.0
//
// `wye bench`: each row is measured together with its baseline, and the printed and written results
// follow from the samples. The tests check no speeds.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "command.hpp"

using nlohmann::json;

namespace wye::test::bench_test {
namespace {

Outcome bench(std::vector<std::string> words) {
    words.insert(words.begin(), {WYE_TOOL, "bench"});
    return run_command(words);
}

// The median. For an even number of values, the upper of the two middle values.
double middle(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

std::vector<std::string> listed_rows() {
    std::vector<std::string> out;
    const std::string text = bench({"--list"}).out;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
        out.push_back(text.substr(at, text.find(' ', at) - at));
    return out;
}

void check_side(const json& row, const json& side) {
    const auto samples = side["samples_ns"].get<std::vector<double>>();
    REQUIRE_FALSE(samples.empty());
    for (const double sample : samples) CHECK(sample > 0);
    CHECK(side["run_ns"] == doctest::Approx(middle(samples)));
    CHECK(side["item_ns"] == doctest::Approx(middle(samples) / row["items"].get<double>()));
    if (row["bytes"] != 0)
        CHECK(side["gb_per_s"] == doctest::Approx(row["bytes"].get<double>() / middle(samples)));
}

double ratio_of(const json& wye, const json& raw) {
    std::vector<double> quotients;
    REQUIRE(wye["samples_ns"].size() == raw["samples_ns"].size());
    for (std::size_t i = 0; i < wye["samples_ns"].size(); ++i)
        quotients.push_back(wye["samples_ns"][i].get<double>() /
                            raw["samples_ns"][i].get<double>());
    return middle(quotients);
}

std::string verdict_of(const json& row) {
    const std::string kind = row["goal"]["kind"];
    const double goal = row["goal"]["value"];
    bool met = false;
    if (kind == "none") return "no goal";
    if (kind == "ratio_at_most") {
        if (row["raw"].empty()) return "no baseline";
        met = ratio_of(row["wye"], row["raw"][0]) <= goal;
    }
    if (kind == "item_ns_at_most") met = row["wye"]["item_ns"] <= goal;
    if (kind == "gb_per_s_at_least") met = row["wye"]["gb_per_s"] >= goal;
    if (kind == "growth_bytes_at_most") met = row["stream"]["growth_bytes"] <= goal;
    return met ? "met" : "missed";
}

void check_row(const json& row, const std::string& plugin) {
    // OpenCL cannot record graphs, so the row record-1000 has no baseline on it.
    const bool has_api = plugin != "cpu" && (plugin != "opencl" || row["name"] != "record-1000");
    CAPTURE(row["name"].get<std::string>());
    CHECK_FALSE(row.contains("error"));
    CHECK(row["verdict"] == verdict_of(row));
    if (row["name"] == "million") {
        const json& stream = row["stream"];
        CHECK(stream["dispatches"] == row["items"]);
        CHECK(stream["growth_bytes"] == doctest::Approx(stream["resident_bytes"][1].get<double>() -
                                                        stream["resident_bytes"][0].get<double>() +
                                                        stream["buffer_bytes"][1].get<double>() -
                                                        stream["buffer_bytes"][0].get<double>()));
        return;
    }
    check_side(row, row["wye"]);
    CHECK(row["raw"].empty() != has_api);
    CHECK(row.contains("no_baseline") != has_api);
    for (const json& raw : row["raw"]) {
        check_side(row, raw);
        CHECK(raw["ratio"] == doctest::Approx(ratio_of(row["wye"], raw)));
    }
    if (!row["raw"].empty()) CHECK(row["ratio"] == row["raw"][0]["ratio"]);
}

}  // namespace

TEST_CASE("every device has every row, and the figures follow from the samples") {
    const TempFolder folder;
    const auto names = listed_rows();
    REQUIRE(names.size() > 8);
    const auto report = json::parse(run_command({WYE_TOOL, "info", "--json"}).out);
    for (const auto& device : report["devices"]) {
        if (device["usable"] != true) continue;
        const std::string selector = device["selector"];
        const bool cpu = device["plugin"] == "cpu";
        CAPTURE(selector);
        const std::string file = folder.path("bench.json");
        const Outcome outcome =
            bench({"--device", selector, "--quick", "--against-raw", "--json", file});
        CAPTURE(outcome.out);
        CAPTURE(outcome.err);
        REQUIRE(outcome.code == 0);
        const auto document = json::parse(read_bytes(file));
        CHECK(document["schema_version"] == 1);
        CHECK(document["device"]["selector"] == selector);
        CHECK(document["device"]["name"] == device["name"]);
        CHECK(document["quick"] == true);
        std::vector<std::string> measured;
        for (const json& row : document["rows"]) {
            measured.push_back(row["name"]);
            check_row(row, device["plugin"]);
            CHECK(contains(outcome.out, "\n" + measured.back() + " "));
            if (cpu && measured.back() != "million")
                CHECK(contains(row["no_baseline"].get<std::string>(), "`cpu`"));
        }
        auto expected = names;
        if (!cpu) std::erase(expected, "behind-another");
        if (device["plugin"] == "opencl") std::erase(expected, "registered");
        CHECK(measured == expected);
    }
}

TEST_CASE("without --against-raw there is no baseline, and named rows only are measured") {
    const TempFolder folder;
    const std::string file = folder.path("bench.json");
    const Outcome outcome =
        bench({"-d", "cpu", "--quick", "--json", file, "1000-recorded", "one-command"});
    CHECK(outcome.code == 0);
    const auto document = json::parse(read_bytes(file));
    REQUIRE(document["rows"].size() == 2);
    CHECK(document["rows"][0]["name"] == "1000-recorded");
    CHECK(document["rows"][1]["name"] == "one-command");
    for (const json& row : document["rows"]) {
        CHECK(row["raw"].empty());
        CHECK_FALSE(row.contains("no_baseline"));
        CHECK_FALSE(row.contains("ratio"));
    }
}

TEST_CASE("wrong usage of bench says what would be right") {
    const auto refused = [](const std::vector<std::string>& words, int code, const char* part) {
        check_complaint(bench(words), code, part);
    };
    refused({"two-commands"}, 2, "`two-commands`");
    refused({"--fast"}, 2, "there is no option `--fast`");
    refused({"--json"}, 2, "--json");
    refused({"--device", "nobody"}, 3, "nobody");
    refused({"--device", "cpu:::"}, 2, "cpu:::");
    refused({"--device", "cpu", "--quick", "--json", "/nowhere/bench.json", "one-command"}, 1,
            "/nowhere/bench.json");
    CHECK(bench({"--help"}).code == 0);
    const TempFolder empty;
    const Outcome helper =
        run_command({WYE_TOOL, "bench", "--list"}, {{"WYE_LIBEXEC", empty.path("")}});
    CHECK(helper.code == 1);
    CHECK(contains(helper.err, "`wye-bench`"));
}

}  // namespace wye::test::bench_test
