// SPDX-License-Identifier: Apache-2.0
//
// Whole processes, spawn to exit: the CPU-only start to a first result, and `wye info` against
// `clinfo -l`. Arguments: the `wye` command and a program for it (given by the test set-up).
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
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

void add(const char* name, std::vector<std::string> command) {
    benchmark::RegisterBenchmark(name, [command = std::move(command)](benchmark::State& state) {
        for (auto _ : state) run(command);
    })->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: start_bench WYE HISTOGRAM.wye [benchmark flags]\n");
        return 2;
    }
    const std::string wye = argv[1];
    const std::string program = argv[2];
    add("start_cpu_first_result/wye",
        {wye, "run", program, "--device", "cpu", "--in", "data=" + wye, "--out", "hist=/dev/null"});
    add("info_with_opencl/wye", {wye, "info"});
    add("info_with_opencl/raw", {"clinfo", "-l"});
    argv[2] = argv[0];
    return wye::bench::run_benchmarks(
        argc - 2, argv + 2, {{"start_cpu_first_result", 0, 10e6}, {"info_with_opencl", 1.3, 0}});
}
