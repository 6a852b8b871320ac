// SPDX-License-Identifier: Apache-2.0
//
// Lets one call after another fail, and checks the results. Each job runs in a process of its own,
// so that after a crash the failed call is known and the other jobs continue.
#include <execinfo.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "faults/job.hpp"
#include "support/slice.hpp"
#include "support/temp_dir.hpp"

namespace {

using faults::Job;
using faults::Progress;

constexpr const char* kUsage =
    "usage: faults [--all | --most N] [--only TEXT]... [--jobs N]\n"
    "  --all        every call of every job fails once; takes an hour\n"
    "  --most N     at most N calls of each job fail, spread over all (16)\n"
    "  --only TEXT  jobs whose name contains TEXT: "
    "TARGET/PROGRAM/KIND/once|from-then-on/FLAVOUR/cold|warm\n"
    "  --from N     begin with this call\n"
    "  --slices N   with --all: the calls of a job are shared by N processes, each of which counts "
    "as a job\n"
    "  --jobs N     processes at a time (2)\n"
    "The last line is \"N passed, N failed\", counted in jobs.\n";

constexpr auto kHang = std::chrono::seconds(180);
constexpr int kMostDeaths = 12;  // of one job's processes

struct Settings {
    std::uint64_t most = 16, from = 1, slices = 1;
    bool all = false;
    std::vector<std::string> only;
    unsigned jobs = 2;
};

struct Total {
    std::uint64_t injected = 0, refused = 0, unaffected = 0, later = 0, defects = 0, deaths = 0,
                  calls = 0;
};

Progress* shared(int descriptor) {
    void* memory =
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<Progress*>(memory);
}

// Prints the stack when the process crashes.
void on_death(int signal) {
    void* frames[48];
    backtrace_symbols_fd(frames, backtrace(frames, 48), STDERR_FILENO);
    std::signal(signal, SIG_DFL);
    raise(signal);
}

int child(const Job& job, const faults::Range& range, const std::string& cache, int descriptor) {
    Progress* progress = shared(descriptor);
    if (progress == nullptr) return 3;
    if (std::getenv("WYE_FAULTS_TRACE") != nullptr) {
        void* warm[1];
        (void)backtrace(warm, 1);
        for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, on_death);
    }
    return faults::run_job(job, range, cache, *progress);
}

struct Folders {
    std::string cache;  // Wye's cache, one for each job
    // PoCL's cache, one for each worker: PoCL 3.1 crashes if two processes fill the same cache.
    std::string pocl;
};

struct Death {
    int status = 0;
    bool hung = false;
};

// Starts a process that runs the job from call `first` on, and waits until the process ends.
Death spawn(const std::string& program, const Job& job, std::uint64_t first,
            const Settings& settings, const Folders& folders, int descriptor,
            const Progress& progress) {
    const std::string range = std::to_string(first);
    const std::string most = std::to_string(settings.all ? 0 : settings.most);
    const std::string stride = std::to_string(settings.slices);
    const std::string fd = std::to_string(descriptor);
    const std::string name = job.text();
    std::vector<char*> environment;
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (std::strncmp(*entry, "POCL_CACHE_DIR=", 15) != 0) environment.push_back(*entry);
    std::string pocl = "POCL_CACHE_DIR=" + folders.pocl;
    environment.push_back(pocl.data());
    environment.push_back(nullptr);
    const char* arguments[] = {program.c_str(),       "--child",    name.c_str(),
                               range.c_str(),         most.c_str(), stride.c_str(),
                               folders.cache.c_str(), fd.c_str(),   nullptr};
    pid_t pid = 0;
    if (posix_spawn(&pid, program.c_str(), nullptr, nullptr, const_cast<char**>(arguments),
                    environment.data()) != 0)
        return {3 << 8, false};
    std::uint64_t seen = 0;
    auto since = std::chrono::steady_clock::now();
    Death out;
    for (;;) {
        if (waitpid(pid, &out.status, WNOHANG) == pid) return out;
        const auto now = std::chrono::steady_clock::now();
        if (progress.at != seen) {
            seen = progress.at;
            since = now;
        } else if (now - since > kHang) {
            out.hung = true;
            kill(pid, SIGKILL);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

std::string how(const Death& death) {
    if (death.hung) return "hangs";
    if (WIFSIGNALED(death.status)) return std::string("dies: ") + strsignal(WTERMSIG(death.status));
    return "ends with status " + std::to_string(WEXITSTATUS(death.status));
}

// Runs a job from call `first` on, in as many processes as it takes. Returns whether no defect was
// found.
bool run(const std::string& program, const Job& job, std::uint64_t first, const Settings& settings,
         const Folders& folders, Total& total) {
    const int descriptor = memfd_create("faults", 0);
    if (descriptor < 0 || ftruncate(descriptor, sizeof(Progress)) != 0) return false;
    Progress* progress = shared(descriptor);
    if (progress == nullptr) return false;
    std::uint64_t deaths = 0;
    for (;;) {
        const Death death = spawn(program, job, first, settings, folders, descriptor, *progress);
        const bool ended =
            WIFEXITED(death.status) && progress->finished && WEXITSTATUS(death.status) <= 1;
        if (ended) break;
        ++deaths;
        std::printf("defect: %s, call %llu of %llu (%s): the process %s\n", job.text().c_str(),
                    static_cast<unsigned long long>(progress->at),
                    static_cast<unsigned long long>(progress->calls), progress->what,
                    how(death).c_str());
        std::fflush(stdout);
        if (progress->at == 0 || progress->finished || deaths >= kMostDeaths) break;
        const std::uint64_t step =
            settings.all ? settings.slices
                         : std::max<std::uint64_t>(1, progress->calls / settings.most);
        first = progress->at + step;
    }
    total.injected += progress->injected + deaths;
    total.calls += progress->calls;
    total.refused += progress->refused;
    total.unaffected += progress->unaffected;
    total.later += progress->later;
    total.defects += progress->defects;
    total.deaths += deaths;
    const bool good = progress->finished && deaths == 0 && progress->defects == 0;
    munmap(progress, sizeof(Progress));
    close(descriptor);
    return good;
}

// Whether a run without --all takes this job: all programs on the CPU and without a device. On
// drivers, which are slower, it takes only a few programs, which together use all features.
bool sampled(const Job& job) {
    if (job.target == "none" || job.target == "cpu" || job.target == "faulty" ||
        job.target == "tool" || job.busy())
        return true;
    return job.subject == "scale" || job.subject == "saxpy" || job.subject == "phases";
}

int run_all(const std::string& program, const Settings& settings) {
    const support::TempDir folder;
    // All processes share the drivers' caches, so that only the first one waits for compilers.
    for (const char* name : {"MESA_SHADER_CACHE_DIR", "XDG_CACHE_HOME"}) {
        std::filesystem::create_directory(folder / name);
        setenv(name, (folder / name).c_str(), 1);
    }
    struct Slice {
        Job job;
        std::uint64_t first;
    };
    std::vector<Slice> jobs;
    // The jobs take minutes, so one run of the tests takes only a part of the jobs, and a smaller
    // part of those on a busy device.
    constexpr std::size_t kSlices = 3, kBusySlices = 12;
    const auto slice = support::Slice::of_this_run();
    std::size_t busy = 0, idle = 0;
    for (const Job& job : faults::all_jobs()) {
        bool wanted = settings.only.empty() ? settings.all || sampled(job) : false;
        if (wanted && !settings.all)
            wanted = job.busy() ? slice.has(busy++, kBusySlices) : slice.has(idle++, kSlices);
        for (const std::string& text : settings.only)
            wanted |= job.text().find(text) != std::string::npos;
        const std::uint64_t slices = job.busy() ? 1 : settings.slices;
        for (std::uint64_t i = 0; wanted && i < slices; ++i)
            jobs.push_back({job, settings.from + i});
    }
    if (settings.only.empty() && !settings.all)
        std::printf("slice: faults, %s\nslice: faults on a busy device, %s\n",
                    slice.text(kSlices).c_str(), slice.text(kBusySlices).c_str());
    std::mutex mutex;
    std::size_t next = 0, good = 0;
    std::map<std::string, Total> totals;
    const auto work = [&](unsigned worker) {
        const std::filesystem::path pocl = folder / ("pocl-" + std::to_string(worker));
        std::filesystem::create_directory(pocl);
        for (;;) {
            std::size_t at = 0;
            {
                const std::lock_guard lock(mutex);
                if (next == jobs.size()) return;
                at = next++;
            }
            const auto& [job, first] = jobs[at];
            Total total;
            const std::filesystem::path cache = folder / ("cache-" + std::to_string(at));
            std::filesystem::create_directory(cache);
            const bool well =
                run(program, job, first, settings, {cache.string(), pocl.string()}, total);
            std::filesystem::remove_all(cache);
            const std::lock_guard lock(mutex);
            good += well ? 1 : 0;
            // Progress is printed, so that a run that is stopped early has told something.
            if (settings.all) {
                std::printf("%s from %llu: %llu of %llu calls failed\n", job.text().c_str(),
                            static_cast<unsigned long long>(first),
                            static_cast<unsigned long long>(total.injected),
                            static_cast<unsigned long long>(total.calls));
                std::fflush(stdout);
            }
            const std::string what = faults::kind_name(job.kind) + (job.twice ? " pair" : "");
            Total& sum = totals[what + " on " + job.target];
            sum.injected += total.injected;
            // Each part of a job counts all calls of the job, so only the first part's count is
            // added.
            if (first == settings.from) sum.calls += total.calls;
            sum.refused += total.refused;
            sum.unaffected += total.unaffected;
            sum.later += total.later;
            sum.defects += total.defects;
            sum.deaths += total.deaths;
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < settings.jobs; ++i) threads.emplace_back(work, i);
    for (std::thread& thread : threads) thread.join();

    Total all;
    std::map<std::string, std::uint64_t> by_kind;
    for (const auto& [name, total] : totals) {
        std::printf(
            "%s: %llu of %llu calls failed; %llu runs were refused with an error, %llu succeeded "
            "all the same, %llu needed a new context; %llu deaths, %llu other defects\n",
            name.c_str(), static_cast<unsigned long long>(total.injected),
            static_cast<unsigned long long>(total.calls),
            static_cast<unsigned long long>(total.refused),
            static_cast<unsigned long long>(total.unaffected),
            static_cast<unsigned long long>(total.later),
            static_cast<unsigned long long>(total.deaths),
            static_cast<unsigned long long>(total.defects));
        by_kind[name] += total.injected;
        all.injected += total.injected;
        all.deaths += total.deaths;
        all.defects += total.defects;
    }
    std::printf("injected faults: ");
    for (const auto& [name, count] : by_kind)
        std::printf("%s %llu, ", name.c_str(), static_cast<unsigned long long>(count));
    std::printf("together %llu: %llu deaths, %llu other defects\n",
                static_cast<unsigned long long>(all.injected),
                static_cast<unsigned long long>(all.deaths),
                static_cast<unsigned long long>(all.defects));
    std::printf("%zu passed, %zu failed\n", good, jobs.size() - good);
    return good == jobs.size() && !jobs.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** values) {
    if (count == 8 && std::strcmp(values[1], "--child") == 0) {
        Job job;
        if (!faults::parse_job(values[2], job)) return 2;
        return child(job,
                     {std::strtoull(values[3], nullptr, 10), std::strtoull(values[4], nullptr, 10),
                      std::strtoull(values[5], nullptr, 10)},
                     values[6], std::atoi(values[7]));
    }
    Settings settings;
    for (int i = 1; i < count; ++i) {
        const std::string name = values[i];
        const char* value = i + 1 < count ? values[i + 1] : nullptr;
        if (name == "--all") {
            settings.all = true;
        } else if (name == "--most" && value != nullptr) {
            settings.most = std::strtoull(values[++i], nullptr, 10);
        } else if (name == "--from" && value != nullptr) {
            settings.from = std::strtoull(values[++i], nullptr, 10);
        } else if (name == "--slices" && value != nullptr) {
            settings.slices = std::max<std::uint64_t>(1, std::strtoull(values[++i], nullptr, 10));
        } else if (name == "--only" && value != nullptr) {
            settings.only.emplace_back(values[++i]);
        } else if (name == "--jobs" && value != nullptr) {
            settings.jobs = static_cast<unsigned>(std::strtoul(values[++i], nullptr, 10));
        } else {
            std::fputs(kUsage, stderr);
            return 2;
        }
    }
    if (!settings.all) settings.slices = 1;
    return run_all("/proc/self/exe", settings);
}
