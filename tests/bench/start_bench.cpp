// SPDX-License-Identifier: Apache-2.0
//
// Whole processes, spawn to exit: the CPU-only start to a first result; `wye info` from remembered
// verdicts, and live, against one process that opens the drivers by hand; and with 20,000 bad
// manifests. Arguments, which Meson gives: the `wye` command, a program for it, and raw_open.
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ratio_reporter.hpp"

extern char** environ;

namespace {

// Runs a command with its output thrown away; ends this process when the command fails.
void run(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1 /* O_WRONLY */, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1 /* O_WRONLY */, 0);
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

// A folder with as many bad manifests as a stranger could leave; removed at the end.
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
    const std::string live = "WYE_CACHE_DIR=";  // nothing is remembered
    add("start_cpu_first_result/wye", {wye, "run", program, "--device", "cpu", "--in",
                                       "data=" + program, "--out", "hist=/dev/null"});
    add("info_remembered/wye", {wye, "info", "-l"});
    add("info_live/wye", {"env", live, wye, "info"});
    add("info_live/raw", {"env", live, raw_open});
    add("info_live_parallel/wye", {"env", live, wye, "info"});
    add("info_live_parallel/raw", {"env", live, raw_open, "parallel"});
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
