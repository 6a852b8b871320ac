// SPDX-License-Identifier: Apache-2.0
//
// The `wye` command from a user's side: exit codes, output streams, files that are left.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "command.hpp"

namespace wye::test::wye_test {
namespace {

const std::string kPrograms = WYE_PROGRAMS;

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::vector<float> random_floats(std::size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> range(-1e6F, 1e6F);
    std::vector<float> values(count);
    for (float& value : values) value = range(generator);
    return values;
}

}  // namespace

TEST_CASE("help fits 80 columns in a pipe, and has all words") {
    for (const char* verb : {"info", "run", "conform", "quirks", "bench", "fuzz", "lower"}) {
        const Outcome outcome = wye_command({verb, "--help"});
        CAPTURE(outcome.out);
        CHECK(contains(outcome.out, "Usage: wye "));
        std::istringstream lines(outcome.out);
        for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
    }
    CHECK(contains(wye_command({"info", "--help"}).out,
                   "  --from FILE                 A report that --json wrote, instead of this\n"
                   "                              machine\n"));
}

TEST_CASE("help and version go to stdout and succeed") {
    for (const char* flag : {"--help", "-h", "--version"}) {
        const Outcome outcome = wye_command({flag});
        CHECK(outcome.code == 0);
        CHECK(contains(outcome.out, "wye"));
        CHECK(outcome.err.empty());
    }
    for (const char* verb : {"info", "check", "explain", "lower", "run", "cache"})
        CHECK(wye_command({verb, "--help"}).code == 0);
}

TEST_CASE("wrong usage goes to stderr with exit code 2 and the nearest word") {
    struct Row {
        std::vector<std::string> words;
        std::string hint;
    };
    const std::vector<Row> rows = {
        {{}, "wye --help"},
        {{"inof"}, "`info`"},
        {{"info", "--jsn"}, "`--json`"},
        {{"run", kPrograms + "/saxpy.wye", "--elemnts", "3"}, "`--elements`"},
        {{"lower", kPrograms + "/saxpy.wye"}, "Fix: see `wye lower --help`"},
        {{"info", "diff", "a"}, "AFTER is missing\nFix: see `wye info diff --help`"},
        {{"conform"}, "PLUGIN is missing\nFix: see `wye conform --help`"},
        {{"conform", "x", "--timeout"}, "--timeout has no value\nFix: see `wye conform --help`"},
        {{"info", "--html=r.html"}, "--html takes no value\n"},
        {{"info", "--json=3"}, "--json takes no value\n"},
        {{"bench", "--quick=false"}, "--quick takes no value\n"},
        {{"info", "--nothing"}, "there is no option `--nothing`\n"},
        {{"check", "a", "b", "c"}, "`b` is not expected here\n"},
        {{"check", "a", ""}, "an empty word is not expected here\n"},
        {{"check", "a", "", "b"}, "an empty word is not expected here\n"},
        {{"cache", "burn"}, "`burn` is not one of size, list, clear\n"},
        {{"info", "--require", ""}, "--require has an empty value\nFix: see `wye info --help`"},
        {{"info", "--explain="}, "--explain has "},
        {{"info", "--prop", ""}, "--prop has an empty value\n"},
        {{"info", "--from", ""}, "--from has an empty value\n"},
        {{"info", "doctor", "--since", ""}, "--since has an empty value\n"},
        {{"lower", kPrograms + "/saxpy.wye", "--to", "text", "-o", ""},
         "--output has an empty value\n"},
        {{"run", kPrograms + "/saxpy.wye", "--grid", "1,2,3,4"}, "X[,Y[,Z]]"},
        {{"run", kPrograms + "/saxpy.wye", "--grid", "x"}, "X[,Y[,Z]]"},
        {{"run", kPrograms + "/saxpy.wye", "--grid", "4294967296"}, "X[,Y[,Z]]"},
    };
    for (const Row& row : rows) {
        const Outcome outcome = wye_command(row.words);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(outcome.out.empty());
        CHECK(contains(outcome.err, row.hint));
    }
}

TEST_CASE("check describes a good program and locates every mistake of a bad one") {
    const Outcome good = wye_command({"check", kPrograms + "/saxpy.wye"});
    CHECK(good.code == 0);
    CHECK(contains(good.out, "fingerprint"));
    CHECK(contains(good.out, "ieee_f32"));

    const TempFolder folder;
    const std::string bad =
        folder.write("bad.wye",
                     "wye 1;\nprogram bad;\nworkgroup 64;\noutput r: u32[4];\nmain {\n"
                     "    r[0] = 1u + 2;\n    r[local_index] = 1.0;\n}\n");
    const Outcome outcome = wye_command({"check", bad});
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.starts_with(bad + ":6:"));
    CHECK(contains(outcome.err, bad + ":7:22"));
    CHECK(contains(outcome.err, "^"));
    CHECK(contains(outcome.err, "Fix: "));
}

TEST_CASE("check warns of what is hardly meant, if asked") {
    const TempFolder folder;
    const std::string program =
        folder.write("odd.wye",
                     "wye 1; program odd; workgroup 64; output r: u32[64];\n"
                     "main {\n    for i in 4..2 { r[i] = 1u; }\n    r[64] = 1u << 32u;\n}\n");
    const std::string lines =
        program +
        ":3:5: warning: this `for` has no iterations: its first value is 4, its end 2. Fix: count "
        "up, and compute the falling number from it\n" +
        program +
        ":4:7: warning: this index of `r` is 64, but `r` has 64 elements, so that it stores "
        "nothing. Fix: use an index below 64\n" +
        program +
        ":4:19: warning: a shift of u32 by 32 shifts by 0: only the lowest 5 bits count. Fix: "
        "shift by less than 32\n";
    // Standard error is not a terminal here, so warnings are printed only on demand.
    CHECK(wye_command({"check", program}).err.empty());
    const Outcome warned = wye_command({"check", "-W", program});
    CHECK(warned.code == 0);
    CHECK(warned.err == lines);
    CHECK(contains(warned.out, "fingerprint"));
    const Outcome failed = wye_command({"check", "--werror", program, "--json"});
    CHECK(failed.code == 1);
    CHECK(failed.err == lines);
    const auto listed = nlohmann::json::parse(failed.out).at("warnings");
    REQUIRE(listed.size() == 3);
    CHECK(listed[1].at("place") == nlohmann::json{{"line", 4}, {"column", 7}});
    CHECK(listed[1].at("fix") == "Fix: use an index below 64");
    const Outcome quiet = wye_command({"check", "--werror", "-w", program});
    CHECK(quiet.code == 1);
    CHECK(quiet.err.empty());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kPrograms)) {
        if (entry.path().extension() != ".wye") continue;
        CAPTURE(entry.path().string());
        const Outcome clean = wye_command({"check", "--werror", entry.path().string()});
        CHECK(clean.code == 0);
        CHECK(clean.err.empty());
    }
}

TEST_CASE("explain prints entries of the language reference") {
    const Outcome shift = wye_command({"explain", "<<"});
    CHECK(shift.code == 0);
    CHECK(shift.err.empty());
    CHECK(shift.out.starts_with("<<, >>\n"));
    CHECK(contains(shift.out, "    x << n: i32 = -16 -2147483648 2\n"));
    CHECK(!contains(shift.out, "```"));
    std::size_t longest = 0;
    for (std::size_t at = 0; at < shift.out.size();) {
        const std::size_t end = shift.out.find('\n', at);
        longest = std::max(longest, end - at);
        at = end + 1;
    }
    CHECK(longest > 60);
    CHECK(longest <= 80);

    const Outcome several = wye_command({"explain", "rotl", "-=", "f32x4", "rotr", "f64"});
    CHECK(several.code == 0);
    for (const char* heading : {"rotl, rotr\n", "\n+=, -=, *=", "\nf32, f64\n"}) {
        CHECK(contains(several.out, heading));
        CHECK(several.out.find(heading) == several.out.rfind(heading));  // only once
    }

    const Outcome all = wye_command({"explain"});
    CHECK(all.code == 0);
    for (const char* word : {"Atomics\n", " atomic_add ", " for in .. step", " ~ == "})
        CHECK(contains(all.out, word));
}

TEST_CASE("explain names the words nearest to an unknown one") {
    for (const auto& row : std::map<std::string, std::string>{
             {"atomic_ad", "did you mean `atomic_add`"},
             {"subgruop", "`subgroup`"},
             {"<<<", "`<<`"},
             {"--jsn", "`wye explain` lists all"},
             {"", "`wye explain` lists all"},
             {"f32x5", "Fix: "},
             {std::string(100000, 'x'), "`wye explain` lists all"}}) {
        const Outcome outcome = wye_command({"explain", "rotl", row.first});
        CAPTURE(outcome.err);
        CHECK(outcome.err.size() < 300);
        CHECK(outcome.code == 2);
        CHECK(outcome.out.empty());
        CHECK(contains(outcome.err, "the language has no word or operator"));
        CHECK(contains(outcome.err, row.second));
    }
}

TEST_CASE("check says what grid barriers split a program into") {
    const TempFolder folder;
    const auto checked = [&](const std::string& body) {
        return wye_command({"check", folder.write("p.wye",
                                                  "wye 1; program p; workgroup 64; param n: u32; "
                                                  "input_output r: u32[64]; main { " +
                                                      body + " }")})
            .out;
    };
    const std::string two = checked("r[local_index] = n; grid_barrier; r[local_index] = 1u;");
    CHECK(contains(two, "grid barrier   split into 2 kernels\n"));
    CHECK_FALSE(contains(two, "needs"));
    CHECK(
        contains(checked("for k in 0u..n { grid_barrier; r[local_index] = k; }"),
                 "grid barrier   split into one kernel for each iteration of the loops around it"));
    CHECK_FALSE(contains(checked("r[local_index] = n;"), "grid barrier"));
}

TEST_CASE("check says when launches are deterministic, and run whether its launch was") {
    const TempFolder folder;
    const std::string program =
        folder.write("race.wye",
                     "wye 1; program race; workgroup 64; output r: u32[64];\n"
                     "main { r[global_id.x] = global_id.y; }\n");
    CHECK(contains(wye_command({"check", program}).out,
                   "deterministic  yes, if the launch has one invocation on the y and z axes\n"));
    const auto analysis = nlohmann::json::parse(wye_command({"check", program, "--json"}).out);
    CHECK(analysis.at("deterministic") == false);
    CHECK(analysis.at("deterministic_if") == "the launch has one invocation on the y and z axes");
    CHECK(analysis.at("doubts").empty());
    const std::string meets = folder.write(
        "meets.wye",
        "wye 1; program p; workgroup 64; shared s: u32[64]; output r: u32[64];\nmain {\n"
        "s[local_index] = 1u;\nr[local_index] = s[0];\n}");
    CHECK(
        contains(wye_command({"check", meets}).out, "race: `s` at 4:18 with the access at 3:1\n"));
    CHECK(contains(wye_command({"explain", "determinism"}).out, "Determinism\n"));
    for (const bool races : {false, true}) {
        const Outcome ran =
            wye_command({"run", program, "-d", "cpu", "--grid", races ? "1,64" : "1,1", "--out",
                         "r=" + folder.path("r"), "--json"});
        REQUIRE(ran.code == 0);
        CHECK(nlohmann::json::parse(ran.out).at("determinism") == (races ? "beyond" : "yes"));
    }
}

TEST_CASE("lower round-trips through text and wire") {
    const TempFolder folder;
    const std::string wire = folder.path("p.wyb");
    REQUIRE(wye_command({"lower", kPrograms + "/histogram.wye", "--to", "wire", "-o", wire}).code ==
            0);
    const Outcome from_text = wye_command({"lower", kPrograms + "/histogram.wye", "--to", "text"});
    const Outcome from_wire = wye_command({"lower", wire, "--to", "text"});
    CHECK(from_text.code == 0);
    CHECK(from_text.out == from_wire.out);
    const std::string printed = folder.write("again.wye", from_text.out);
    CHECK(wye_command({"lower", printed, "--to", "text"}).out == from_text.out);

    const Outcome cl = wye_command({"lower", wire, "--to", "opencl-c"});
    CHECK(cl.code == 0);
    CHECK(contains(cl.out, "__kernel"));
    const std::string words = folder.path("p.spv");
    CHECK(wye_command({"lower", wire, "--to", "spirv", "-o", words}).code == 0);
    const Outcome full_name = wye_command({"lower", wire, "--to", "spirv-vulkan"});
    CHECK(full_name.code == 0);
    CHECK(full_name.out == read_bytes(words));
    CHECK(full_name.out.substr(0, 8) == std::string("\x03\x02\x23\x07\x00\x03\x01\x00", 8));
    // A file to which the shell appends standard output (>>) keeps its content.
    const std::string log = folder.write("log", "before\n");
    const Outcome appended = run_command(
        {"/bin/sh", "-c", "exec \"$0\" lower \"$1\" --to text >> \"$2\"", WYE_TOOL, wire, log});
    CHECK(appended.code == 0);
    CHECK(read_bytes(log) == "before\n" + from_wire.out);
    check_complaint(wye_command({"lower", wire, "--to", "fortran"}), 2, "fortran");
}

TEST_CASE("lower shows the check-free form, and what it asks of a launch") {
    const std::string transpose = kPrograms + "/transpose.wye";
    const Outcome asked = wye_command({"lower", transpose, "--to", "preconditions"});
    CHECK(asked.code == 0);
    CHECK(contains(asked.out, "< len(from)\n"));
    const Outcome with = wye_command({"lower", transpose, "--to", "opencl-c"});
    const Outcome without = wye_command({"lower", transpose, "--to", "opencl-c", "--check-free"});
    CHECK(without.code == 0);
    CHECK(contains(with.out, "ulong l0"));  // a length, for a range check
    CHECK_FALSE(contains(without.out, "ulong l0"));
    check_complaint(wye_command({"lower", transpose, "--to", "text", "--check-free"}), 2,
                    "no range checks");
}

TEST_CASE("run computes what the host computes, on every device") {
    const TempFolder folder;
    const auto x = random_floats(1000, 1);
    const auto y = random_floats(1000, 2);
    const std::string x_file = folder.write("x", bytes_of(x));
    const std::string y_file = folder.write("y", bytes_of(y));
    std::vector<float> expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        volatile float product = 2.5F * x[i];  // volatile keeps both roundings
        expected[i] = product + y[i];
    }
    for (const std::string& device : listed_devices()) {
        CAPTURE(device);
        const std::string r_file = folder.path("r");
        const Outcome outcome =
            wye_command({"run", kPrograms + "/saxpy.wye", "--device", device, "--in", "x=" + x_file,
                         "--in", "y=" + y_file, "--out", "r=" + r_file, "--param", "a=2.5"});
        CAPTURE(outcome.err);
        REQUIRE(outcome.code == 0);
        CHECK(contains(outcome.err, device));
        CHECK(outcome.out.empty());
        CHECK(read_bytes(r_file) == bytes_of(expected));
    }
}

TEST_CASE("a refused run names the fault and touches no output") {
    const TempFolder folder;
    const std::string x = folder.write("x", std::string(16, '\0'));
    const std::string odd = folder.write("odd", std::string(15, '\0'));
    const std::string longer = folder.write("longer", std::string(20, '\0'));
    const std::string bad = folder.write("bad.wye", "wye 1;\nprogram p;\n");
    const std::string r = folder.write("r", "keep me");
    const std::string saxpy = kPrograms + "/saxpy.wye";
    const std::vector<std::string> names = folder.names();

    struct Row {
        std::vector<std::string> words;
        int code;
        std::string part;
    };
    const std::string in_x = "x=" + x;
    const std::string in_y = "y=" + x;
    const std::string out_r = "r=" + r;
    const std::vector<Row> rows = {
        {{saxpy, "--in", "x=" + odd, "--in", in_y, "--param", "a=1"}, 2, "multiple"},
        {{saxpy, "--in", "x=" + longer, "--in", in_y, "--param", "a=1"}, 2, "`y`"},
        {{saxpy, "--in", in_x, "--in", "y=" + folder.path("none"), "--param", "a=1"}, 2, "No such"},
        {{saxpy, "--in", in_x, "--in", "y=/", "--param", "a=1"}, 2, "folder"},
        {{saxpy, "--in", in_x, "--param", "a=1"}, 2, "`y`"},
        {{saxpy, "--in", in_x, "--in", in_y}, 2, "`a`"},
        {{saxpy, "--in", in_x, "--in", in_y, "--param", "a=one"}, 2, "`--param a=one`"},
        {{saxpy, "--in", in_x, "--in", in_y, "--param", "b=1", "--param", "a=1"}, 2, "`b`"},
        {{saxpy, "--in", in_x, "--in", in_y, "--in", "z=" + x, "--param", "a=1"}, 2, "`z`"},
        {{saxpy, "--in", in_x, "--in", in_x, "--param", "a=1"}, 2, "twice"},
        {{saxpy, "--in", "x", "--in", in_y, "--param", "a=1"}, 2, "name=value"},
        {{saxpy, "--in", in_x, "--in", in_y, "--param", "a=1", "--device", "tpu:0"}, 3, "tpu"},
        {{saxpy, "--in", in_x, "--in", in_y, "--param", "a=1", "--device", "cpu:99"}, 3, "cpu:99"},
        {{saxpy, "--in", in_x, "--in", in_y, "--param", "a=1", "--device", "cpu:"}, 2, "cpu:"},
        {{saxpy, "--in", in_x, "--in", in_y, "--param", "a=1", "--out", "q=" + r}, 2, "`q`"},
        {{saxpy, "--in", in_x, "--in", in_y, "--param", "a=1", "--out",
          "r=" + folder.path("no/such/folder")},
         1,
         "cannot write"},
        {{bad}, 2, "bad.wye:"},
        {{folder.path("missing.wye")}, 2, "No such"},
        {{x}, 2, "Fix: "},
    };
    for (Row row : rows) {
        row.words.insert(row.words.begin(), "run");
        if (std::ranges::find(row.words, "--out") == row.words.end()) {
            row.words.emplace_back("--out");
            row.words.push_back(out_r);
        }
        const Outcome outcome = wye_command(row.words);
        CAPTURE(row.part);
        check_complaint(outcome, row.code, row.part);
        CHECK(read_bytes(r) == "keep me");
        CHECK(folder.names() == names);
    }
}

TEST_CASE("a trap fails the run and leaves the output alone") {
    const TempFolder folder;
    const std::string program =
        folder.write("trap.wye",
                     "wye 1;\nprogram trapping;\nworkgroup 64;\noutput r: u32[64];\n"
                     "grid groups 1;\nmain {\n    if local_index > 61u { trap 7; }\n"
                     "    r[local_index] = 1u;\n}\n");
    const std::string r = folder.write("r", "keep me");
    for (const std::string& device : listed_devices()) {
        const Outcome outcome =
            wye_command({"run", program, "--device", device, "--out", "r=" + r});
        CAPTURE(device);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 1);
        CHECK(contains(outcome.err, "7"));
        CHECK(contains(outcome.err, "2"));
        CHECK(read_bytes(r) == "keep me");
    }
}

TEST_CASE("a program that never ends is given up after its time limit") {
    const TempFolder folder;
    const std::string program =
        folder.write("loop.wye",
                     "wye 1;\nprogram endless;\nworkgroup 64;\noutput r: u32[64];\ngrid groups 1;\n"
                     "main {\n    var x = 1u;\n    while x != 0u { x = x | 1u; }\n"
                     "    r[local_index] = x;\n}\n");
    // Mesa's lavapipe ends every loop itself after 65,535 iterations.
    for (const std::string& device : listed_devices("llvmpipe")) {
        CAPTURE(device);
        const bool stops = device.starts_with("cpu");
        const Outcome outcome =
            wye_command({"run", program, "--device", device, "--timeout-ms", stops ? "500" : "2000",
                         "--out", "r=" + folder.path("r")});
        CAPTURE(outcome.err);
        CHECK(outcome.code == 1);
        CHECK(contains(outcome.err, "did not end"));
        // A device that can stop its work is closed. A device that cannot is abandoned, and the
        // error says so. On a very busy machine the time may run out in the driver's compiler. The
        // compiler ends, so then a device may be closed although it cannot stop its work.
        if (!contains(outcome.err, "compiling"))
            CHECK(contains(outcome.err, "was abandoned") != stops);
        CHECK(folder.names() == std::vector<std::string>{"loop.wye"});
    }
}

TEST_CASE("an environment that would end a driver's process is named instead") {
    const Outcome outcome = wye_command({"info"}, {{"POCL_CACHE_DIR", ""}});
    CAPTURE(outcome.out);
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "cpu:0"));
    if (std::ranges::any_of(listed_devices(),
                            [](const auto& s) { return s.starts_with("opencl"); }))
        CHECK(contains(outcome.out, "POCL_CACHE_DIR"));
}

TEST_CASE("an input_output buffer needs no output file, and outputs may replace inputs") {
    const TempFolder folder;
    const std::string words = folder.write("words", std::string(64, '\1'));
    const std::string mix = kPrograms + "/mix.wye";
    CHECK(wye_command({"run", mix, "--device", "cpu", "--in", "words=" + words}).code == 0);
    CHECK(read_bytes(words) == std::string(64, '\1'));
    CHECK(wye_command(
              {"run", mix, "--device", "cpu", "--in", "words=" + words, "--out", "words=" + words})
              .code == 0);
    CHECK(read_bytes(words).size() == 64);
    CHECK(read_bytes(words) != std::string(64, '\1'));
}

TEST_CASE("info is one screen, lists what pastes back, and prints one JSON document") {
    const Outcome screen = wye_command({"info"});
    CHECK(screen.code == 0);
    CHECK(contains(screen.out, "cpu:0"));
    CHECK(std::ranges::count(screen.out, '\n') <= 40);

    const Outcome json = wye_command({"info", "--json"});
    CHECK(json.code == 0);
    const auto report = nlohmann::json::parse(json.out);
    for (const char* key : {"schema_version", "host", "filters", "plugins", "devices"})
        CHECK(report.contains(key));
    CHECK(report["devices"][0].contains("facts"));
    for (const auto& plugin : report["plugins"])
        for (const char* key : {"name", "path", "abi", "state", "reason"})
            CHECK(plugin.contains(key));
    for (const auto& device : report["devices"])
        for (const char* key : {"id", "selector", "aliases", "facts", "formats", "quirks", "unmet"})
            CHECK(device.contains(key));

    const auto listed = listed_devices();
    REQUIRE(!listed.empty());
    for (const std::string& selector : listed) {
        const Outcome one = wye_command({"info", "-l", "-d", selector});
        CHECK(one.code == 0);
        CHECK(one.out.starts_with(selector + "\t"));
    }
}

TEST_CASE("info says on stderr why it fails, and prints its report all the same") {
    const Outcome none = wye_command({"info", "--json", "--device", "cpu:1"});
    check_complaint(none, 3, "`cpu:1`");
    CHECK(nlohmann::json::parse(none.out).contains("plugins"));

    const TempFolder folder;
    const std::string manifest = folder.write("broken.wye.json", "{}");
    const std::map<std::string, std::string> broken = {{"WYE_PLUGIN_PATH", folder.path("")}};
    CHECK(wye_command({"info"}, broken).code == 0);
    const Outcome strict = wye_command({"info", "--strict"}, broken);
    check_complaint(strict, 5, "refused paths: `");
    CHECK(contains(strict.out, manifest));
}

TEST_CASE("info and run take one grammar, and name what does not exist with the nearest") {
    const Outcome part = wye_command({"info", "-l", "-d", "cpu,nope"});
    CHECK(part.code == 3);
    CHECK(contains(part.out, "cpu:0\t"));
    CHECK(contains(part.err, "`nope`: there is no plugin `nope`"));
    CHECK(contains(part.err, "Fix: write `\"nope\"` if this is a part of a device's name"));
    const Outcome typo = wye_command({"info", "--device", "cpuu"});
    CHECK(typo.code == 3);
    CHECK(contains(typo.err, "Fix: write `cpu`"));
    const Outcome bad = wye_command({"info", "-d", "cpu[memroy_bytes>1]"});
    CHECK(bad.code == 2);
    CHECK(contains(bad.err, "Fix: write memory_bytes"));
    CHECK(contains(bad.err, "      ^"));

    const auto info = [](const char* selector) {
        return wye_command({"info", "--json"}, {{"WYE_DEVICE", selector}});
    };
    const Outcome cpu = info("cpu");
    CHECK(cpu.code == 0);
    const auto report = nlohmann::json::parse(cpu.out);
    REQUIRE(report["devices"].size() == 1);
    CHECK(report["devices"][0]["selector"] == "cpu:0");
    CHECK(report["filters"][0]["value"] == "cpu");
    const Outcome wrong = info("cpu:x");
    CHECK(wrong.code == 2);
    CHECK(contains(wrong.err, "WYE_DEVICE is `cpu:x`"));
    CHECK(info("cpu:4").code == 3);

    const std::string id = report["devices"][0]["id"].get<std::string>();
    const std::string physical = report["devices"][0]["physical_id"].get<std::string>();
    const std::string name = report["devices"][0]["name"].get<std::string>();
    for (const std::string& selector :
         {"cpu:@" + id, "cpu:@" + physical, "cpu:\"" + name + "\"", std::string("cpu[f64]"),
          std::string("cpu:*[kind=cpu,memory>1MiB]")}) {
        CAPTURE(selector);
        const Outcome one = wye_command({"info", "-l", "-d", selector});
        CHECK(one.code == 0);
        CHECK(one.out == "cpu:0\t" + name + "\n");
    }
}

TEST_CASE("every software device of this machine is one processor, with the reason") {
    const Outcome all = wye_command({"info", "--json"});
    REQUIRE(all.code == 0);
    const auto report = nlohmann::json::parse(all.out);
    std::string processor;
    std::size_t software = 0;
    for (const auto& device : report["devices"]) {
        if (device["facts"]["host_processor"] != true) continue;
        ++software;
        if (processor.empty()) processor = device["physical_id"].get<std::string>();
        CHECK(device["physical_id"] == processor);
    }
    REQUIRE(software >= 1);
    for (const auto& device : report["devices"]) {
        if (device["physical_id"] != processor) continue;
        CHECK(device["aliases"].size() + 1 == software);
        for (const auto& alias : device["aliases"]) {
            CHECK(!alias["evidence"].get<std::string>().empty());
            CHECK(alias["selector"] != device["selector"]);
        }
    }
    const Outcome listed = wye_command({"info", "-l", "-d", "@" + processor});
    CHECK(listed.code == 0);
    CHECK(static_cast<std::size_t>(std::ranges::count(listed.out, '\n')) == software);
}

TEST_CASE("a grid above a device's limit runs each workgroup once, with its ids") {
    constexpr std::uint32_t kX = 70000;  // Vulkan guarantees only 65535
    const TempFolder folder;
    const std::string program =
        folder.write("fold.wye",
                     "wye 1; program fold; workgroup 1; output r: u32[140000];\n"
                     "main { let k = workgroup_id.x + workgroup_id.y * num_workgroups.x;\n"
                     "  if k < len(r) { r[k] = r[k] + workgroup_id.y * 1000000u + "
                     "workgroup_id.x + 1u; } }\n");
    std::vector<std::uint32_t> expected;
    for (std::uint32_t y = 0; y < 2; ++y)
        for (std::uint32_t x = 0; x < kX; ++x) expected.push_back(y * 1000000U + x + 1);
    const Outcome listed = wye_command({"info", "--prop", "selector"});
    std::istringstream devices(listed.out);
    for (std::string device; std::getline(devices, device);) {
        CAPTURE(device);
        const Outcome ran = wye_command(
            {"run", program, "-d", device, "--grid", "70000,2", "--out", "r=" + folder.path("r")});
        REQUIRE(ran.code == 0);
        const std::string bytes = read_bytes(folder.path("r"));
        REQUIRE(bytes.size() == expected.size() * sizeof expected[0]);
        CHECK(std::memcmp(bytes.data(), expected.data(), bytes.size()) == 0);
    }
}

TEST_CASE("a policy says how binding the selector of a run is") {
    const auto run = [&](const std::string& selector, const std::string& policy) {
        return wye_command({"run", kPrograms + "/mix.wye", "--in", "words=@zeros(16)", "--device",
                            selector, "--policy", policy});
    };
    CHECK(run("nope", "require").code == 3);
    const Outcome typo = run("cpuu", "require");
    CHECK(contains(typo.err, "no usable device matches `cpuu`; there are plugins not opened: "));
    CHECK(contains(typo.err, "Fix: write `cpu`, or install the plugin; `cpu:0` can run it too"));
    CHECK(contains(wye_command({"run", kPrograms + "/mix.wye", "--in", "words=@zeros(16)"},
                               {{"WYE_DEVICE", "gpu0"}})
                       .err,
                   "WYE_DEVICE is `gpu0`, and no usable device matches `gpu0`; "));
    const Outcome preferred = run("nope", "prefer");
    CHECK(preferred.code == 0);
    CHECK(contains(preferred.err, "wye: passed over nope: there is no plugin `nope`"));
    CHECK(contains(preferred.err, ": no device that `nope` names can be used; auto: the best"));
    const Outcome best = run("opencl,cpu", "auto");
    CHECK(best.code == 0);
    CHECK(contains(best.err, ", of those that `opencl,cpu` names\n"));
    const Outcome wrong = run("cpu", "maybe");
    CHECK(wrong.code == 2);
    CHECK(contains(wrong.err, "`--policy maybe` is not one of require, prefer, auto\n"));
}

TEST_CASE("run names what it passed over, and its report every device that was not chosen") {
    const auto run = [&](const std::string& selector, bool json) {
        std::vector<std::string> command = {
            "run", kPrograms + "/mix.wye", "--in", "words=@zeros(16)", "--device", selector};
        if (json) command.emplace_back("--json");
        return wye_command(command);
    };
    const Outcome text = run("nope:1,cpu:7,cpu", false);
    CHECK(text.code == 0);
    CHECK(contains(text.err, "wye: passed over nope:1: there is no plugin `nope`"));
    CHECK(contains(text.err,
                   "wye: passed over cpu:7: plugin `cpu` has 1 device(s). "
                   "Fix: write `cpu:0`\n"));
    const Outcome plain = run("cpu", false);
    CHECK(!contains(plain.err, "passed over"));
    CHECK(contains(plain.err,
                   "wye: picked cpu:0: the first usable device of `cpu`, requested by name\n"));
    CHECK(contains(run("cpu,opencl,vulkan", false).err,
                   "wye: passed over opencl, vulkan: not tried, since `cpu` comes first\n"));
    const Outcome json = run("nope:1,cpu,vulkan", true);
    REQUIRE(json.code == 0);
    CHECK(json.err.empty());
    const auto document = nlohmann::json::parse(json.out);
    CHECK(contains(document["device_reason"].get<std::string>(), "preference 2 of 3"));
    REQUIRE(document["passed_over"].size() == 2);
    CHECK(document["passed_over"][0]["selector"] == "nope:1");
    CHECK(document["passed_over"][0]["why"] == "unmatched");
    CHECK(document["passed_over"][1]["selector"] == "vulkan");
    CHECK(document["passed_over"][1]["why"] == "not_tried");
    const Outcome none = run("cpu:7", false);
    CHECK(none.code == 3);
    CHECK(contains(none.err, "`cpu:0`"));
}

TEST_CASE("run shows the counters of the device, as text and in its document") {
    const std::vector<std::string> command = {
        "run", kPrograms + "/mix.wye", "--in", "words=@zeros(16)", "--device", "cpu", "--counters"};
    const Outcome text = wye_command(command);
    REQUIRE(text.code == 0);
    CHECK(text.out.empty());
    CHECK(contains(text.err, "wye: ran `mix`"));
    CHECK(contains(text.err, "wye: dispatches           1\n"));
    CHECK(contains(text.err, "wye: bytes_uploaded       64\n"));
    CHECK(
        contains(text.err, "wye: memory               0 in buffers, 4096 in scratch memory (4096"));

    std::vector<std::string> json_command = command;
    json_command.push_back("--json");
    const Outcome json = wye_command(json_command);
    REQUIRE(json.code == 0);
    CHECK(json.err.empty());
    const auto document = nlohmann::json::parse(json.out);
    CHECK(document.at("program") == "mix");
    CHECK(document.at("device") == "cpu:0");
    CHECK(document.at("bytes_uploaded") == 64);
    CHECK(document.at("counters").at("dispatches") == 1);
    CHECK(document.at("counters").at("bytes_uploaded") == 64);
    CHECK(document.at("counters").size() == 24);
    CHECK(document.at("memory").at("scratch") == 4096);  // one page
    CHECK(document.at("memory").at("trims") == 0);
    CHECK(document.at("memory").size() == 11);

    json_command.erase(json_command.end() - 2);
    const Outcome without = wye_command(json_command);
    REQUIRE(without.code == 0);
    CHECK(!nlohmann::json::parse(without.out).contains("counters"));
}

TEST_CASE("WYE_LOG sends what it asks for to standard error, a line each") {
    const std::vector<std::string> command = {
        WYE_TOOL, "run", kPrograms + "/mix.wye", "--in", "words=@zeros(16)", "--device", "cpu"};
    const Outcome asked = run_command(command, {{"WYE_LOG", "dispatch:debug"}});
    CHECK(asked.code == 0);
    CHECK(contains(asked.err, "wye: debug: dispatch: "));
    CHECK(!contains(asked.err, "wye: info: registry: "));
    CHECK(!contains(run_command(command, {{"WYE_LOG", "warning"}}).err, "dispatch: "));
    const Outcome wrong = run_command(command, {{"WYE_LOG", "warning,dispatch:loud"}});
    CHECK(wrong.code != 0);
    CHECK(contains(wrong.err, "`dispatch:loud` in WYE_LOG is neither a level nor AREA:LEVEL"));
    CHECK(contains(wrong.err, "Fix: "));
}

TEST_CASE("WYE_DEVICE chooses, and a CPU-only run opens no driver plugin") {
    const TempFolder folder;
    const std::vector<std::string> command = {WYE_TOOL, "run", kPrograms + "/mix.wye", "--in",
                                              "words=@zeros(16)"};
    const Outcome chosen = run_command(
        command,
        {{"WYE_DEVICE", "cpu"}, {"LD_DEBUG", "files"}, {"LD_DEBUG_OUTPUT", folder.path("loads")}});
    CHECK(chosen.code == 0);
    CHECK(contains(chosen.err, "cpu:0"));
    bool traced = false;
    for (const std::string& name : folder.names()) {
        if (!name.starts_with("loads")) continue;
        const std::string loads = read_bytes(folder.path(name));
        traced = traced || contains(loads, "libwye.so");
        CHECK(!contains(loads, "wye_opencl.so"));
        CHECK(!contains(loads, "libOpenCL"));
    }
    CHECK(traced);
    const Outcome wrong = run_command(command, {{"WYE_DEVICE", "warp:0"}});
    CHECK(wrong.code == 3);
    CHECK(contains(wrong.err, "warp"));
}

}  // namespace wye::test::wye_test
