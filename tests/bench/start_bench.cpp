// SPDX-License-Identifier: Apache-2.0
//
// Times whole processes, from spawn to exit: `wye run` to a first result on the CPU alone; `wye
// info` with kept verdicts; `wye info` that probes (live), compared with a process that opens the
// drivers without Wye; `wye info` with 20,000 bad manifests. Meson gives the arguments: the `wye`
// command, a program, and raw_open.
//
// A live `wye info` also runs a dispatch with known results on each device; raw_open does not. So
// `info_live` leaves out the time from the last list of devices to the end of the last probe. The
// verdicts state these two times. `info_live_and_dispatch` leaves out nothing. Each run probes the
// plugins. The plugins' own tests of a driver, which are dispatches too, run only once: their
// results stay in the cache folder that all runs share.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "ratio_reporter.hpp"

extern char** environ;

namespace {

// Runs a command, and writes its output to a file. Ends this process if the command fails.
void run(const std::vector<std::string>& command, const char* output = "/dev/null") {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int spawned =
        posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (spawned != 0 || waitpid(child, &status, 0) != child || status != 0) {
        std::fprintf(stderr, "cannot run `%s`\n", arguments[0]);
        std::exit(1);
    }
}

// A folder with many bad manifests, such as another user could leave. The destructor removes it.
class BadManifests {
  public:
    BadManifests() {
        std::string name = (std::filesystem::temp_directory_path() / "wye_bench_XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) std::exit(1);
        folder_ = name;
        for (int i = 0; i < 20'000; ++i)
            std::ofstream(folder_ / ("bad" + std::to_string(i) + ".wye.json")) << "{\"schema\": 1";
    }
    ~BadManifests() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    BadManifests(const BadManifests&) = delete;
    BadManifests& operator=(const BadManifests&) = delete;
    [[nodiscard]] std::string path() const { return folder_.string(); }

  private:
    std::filesystem::path folder_;
};

void add(const char* name, std::vector<std::string> command) {
    benchmark::RegisterBenchmark(name, [command = std::move(command)](benchmark::State& state) {
        for (auto _ : state) run(command);
    })->UseRealTime();
}

// The seconds of a live `wye info` without the dispatches of its probes. All probes run at the same
// time. `wye info` keeps the times of the probes in the verdicts.
double seconds_of_list(const std::string& wye, const std::string& report) {
    using Clock = std::chrono::steady_clock;
    ::setenv("WYE_PROBE", "child", 1);  // probes, even if there are verdicts
    const Clock::time_point begun = Clock::now();
    run({wye, "info"});
    const std::chrono::nanoseconds took = Clock::now() - begun;
    ::unsetenv("WYE_PROBE");
    run({wye, "info", "--json"}, report.c_str());
    std::ifstream file(report);
    const nlohmann::json json = nlohmann::json::parse(file);
    std::int64_t listed = 0;
    std::int64_t ended = 0;
    for (const auto& plugin : json["plugins"]) {
        const auto& probe = plugin["probe"];
        if (!probe.is_object()) continue;
        listed = std::max(listed, probe["listed_ns"].get<std::int64_t>());
        ended = std::max(ended, probe["took_ns"].get<std::int64_t>());
    }
    return static_cast<double>(took.count() - (ended - listed)) * 1e-9;
}

void add_list(const char* name, const std::string& wye, const std::string& report) {
    benchmark::RegisterBenchmark(name, [wye, report](benchmark::State& state) {
        for (auto _ : state) state.SetIterationTime(seconds_of_list(wye, report));
    })->UseManualTime();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: start_bench WYE HISTOGRAM.wye RAW_OPEN [benchmark flags]\n");
        return 2;
    }
    const std::string wye = argv[1];
    const std::string program = argv[2];
    const std::string raw_open = argv[3];
    const BadManifests bad;
    const std::string live = "WYE_PROBE=child";
    add("start_cpu_first_result/wye", {wye, "run", program, "--device", "cpu", "--in",
                                       "data=" + program, "--out", "hist=/dev/null"});
    add("info_remembered/wye", {wye, "info", "-l"});
    const std::string report = bad.path() + "/report.json";
    add_list("info_live/wye", wye, report);
    add("info_live/raw", {raw_open});
    add_list("info_live_parallel/wye", wye, report);
    add("info_live_parallel/raw", {raw_open, "parallel"});
    add("info_live_and_dispatch/wye", {"env", live, wye, "info"});
    add("info_bad_manifests/wye",
        {"env", "WYE_PLUGIN_PATH=" + bad.path(), wye, "info", "-l", "-d", "cpu"});
    argv[3] = argv[0];
    return wye::bench::run_benchmarks(argc - 3, argv + 3,
                                      {{"start_cpu_first_result", 0, 3e6},
                                       {"info_remembered", 0, 5e6},
                                       {"info_live", 1.1, 0},
                                       {"info_live_parallel", 1.1, 0},
                                       {"info_bad_manifests", 0, 53e6}});
}
