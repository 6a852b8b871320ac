// SPDX-License-Identifier: Apache-2.0
#include "kernel_bench/compile.hpp"

#include <stdlib.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "kernel_bench/measure.hpp"
#include "kernel_bench/open_raw.hpp"
#include "kernel_bench/pieces.hpp"
#include "kernel_bench/texts.hpp"
#include "kernel_bench/wye_side.hpp"

namespace wye::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
// Host nanoseconds from a program's text until it can be launched, and until the first result.
struct Time {
    double ready = 0, result = 0;
    bool check_free = true;
};
using Times = std::map<std::string, std::vector<Time>>;  // by program; one for each repetition

constexpr int kRepetitions = 12;

double since(Clock::time_point start) {
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// One case for each program, since a second size would compile nothing new.
std::vector<Case> programs(const std::string& only) {
    std::vector<Case> out;
    for (Case& c : check_free_cases())
        if (only.empty() || c.program.find(only) != std::string::npos) out.push_back(std::move(c));
    return out;
}

// The format of the lowered text that Wye passes to the driver's compiler.
std::string_view format_of(const std::string& selector) {
    if (selector.starts_with("cuda")) return "cuda-c";
    return selector.starts_with("vulkan") ? "spirv-vulkan" : "opencl-c";
}

Result<Time> time_wye(const Case& c, WyeSide& wye) {
    WYE_TRY(wye.prepare(c));
    const Clock::time_point start = Clock::now();
    WYE_TRY(wye.read(c));
    WYE_ASSIGN(const WyeRun run, wye.run());
    const double all = since(start);
    return Time{all - run.launch_ns, all, run.check_free};
}

// Checks that `time_wye` has launched the same lowered form that `time_lowered` compiles.
Result<void> same_form(const Case& c, const std::string& selector, bool check_free,
                       const WyeSide& wye) {
    if (check_free) return {};
    WYE_ASSIGN(const std::string launched, wye.lower(c, format_of(selector), false));
    WYE_ASSIGN(const std::string compared, wye.lower(c, format_of(selector), true));
    if (launched == compared) return {};
    return Error(Code::INTERNAL, "`" + c.program + "` is launched with range checks",
                 "Fix: compare sizes that need none", c.program);
}

Result<Time> time_raw(const Case& c, RawApi& raw) {
    raw.clear();
    std::vector<RawApi::Id> buffers, zeroed;
    for (const CaseBuffer& b : c.buffers) {
        WYE_ASSIGN(const RawApi::Id id, raw.buffer(b.bytes));
        buffers.push_back(id);
        if (b.content == Content::Sum) zeroed.push_back(id);
    }
    const Clock::time_point start = Clock::now();
    WYE_ASSIGN(const RawApi::Id kernel, raw.compile(c.strict, buffers.size(), false));
    const double ready = since(start);
    WYE_TRY(raw.run(kernel, c.strict, buffers, zeroed));
    return Time{ready, since(start)};
}

// Makes the program's buffers before the clock starts, as `time_wye` does.
Result<Time> time_lowered(const Case& c, const std::string& selector, WyeSide& wye, RawApi& raw) {
    WYE_ASSIGN(const std::string source, wye.lower(c, format_of(selector), true));
    WYE_TRY(wye.prepare(c));
    raw.clear();
    const Clock::time_point start = Clock::now();
    WYE_TRY(raw.build(source));
    const double ready = since(start);
    return Time{ready, ready};
}

// Runs a child process, and adds the times that it prints.
Result<void> add_times(const std::string& selector, const std::string& way, const std::string& only,
                       Times& out) {
    std::error_code failed;
    const fs::path self = fs::read_symlink("/proc/self/exe", failed);
    const std::string command = fmt::format("'{}' --device '{}' --compile-child {} --only '{}'",
                                            self.string(), selector, way, only);
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr)
        return Error(Code::IO, "no child process can be started", "Fix: free memory", command);
    char name[64] = {};
    Time time;
    while (std::fscanf(pipe, "%63s %lf %lf", name, &time.ready, &time.result) == 3)
        out[name].push_back(time);
    if (pclose(pipe) != 0)
        return Error(Code::INTERNAL, "`" + command + "` failed", "Fix: run it by hand");
    return {};
}

// Returns the median of the member `which`. The minimum would depend on luck, since a processor's
// clock has short boosts.
std::optional<double> median_of(const Times& times, const std::string& name, double Time::*which) {
    const auto found = times.find(name);
    if (found == times.end() || found->second.empty()) return std::nullopt;
    std::vector<double> values;
    for (const Time& each : found->second) values.push_back(each.*which);
    return median(std::move(values));
}

std::string shown(std::optional<double> nanoseconds, double unit = 1e6) {
    return nanoseconds ? fmt::format("{:.2f}", *nanoseconds / unit) : "-";
}

// A temporary folder, which the destructor removes.
class Folder {
  public:
    Folder() : path_((fs::temp_directory_path() / "kernel_bench.XXXXXX").string()) {
        if (mkdtemp(path_.data()) == nullptr) path_.clear();
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    [[nodiscard]] Result<void> made() const {
        if (!path_.empty()) return {};
        return Error(Code::IO, "no temporary folder can be made", "Fix: free space in /tmp");
    }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

// Moves the drivers' own caches to `folder`, and leaves them enabled, as users have them: a driver
// with a cache takes longer to compile.
void set_driver_caches(const std::string& folder) {
    for (const char* const name : {"CUDA_CACHE_PATH", "__GL_SHADER_DISK_CACHE_PATH",
                                   "POCL_CACHE_DIR", "MESA_SHADER_CACHE_DIR"})
        (void)setenv(name, folder.c_str(), 1);
    for (const char* const off : {"CUDA_CACHE_DISABLE", "__GL_SHADER_DISK_CACHE",
                                  "POCL_KERNEL_CACHE", "MESA_SHADER_CACHE_DISABLE"})
        (void)unsetenv(off);
}

// Runs one child process with empty driver caches.
Result<void> add_cold(const std::string& selector, const std::string& way, const std::string& only,
                      Times& out) {
    const Folder drivers;
    WYE_TRY(drivers.made());
    set_driver_caches(drivers.path());
    return add_times(selector, way, only, out);
}

}  // namespace

Result<void> compile_child(const std::string& selector, const std::string& way,
                           const std::string& only) {
    WYE_ASSIGN(const auto wye, WyeSide::open(selector, true));
    std::unique_ptr<RawApi> raw;
    if (way != "wye") {
        WYE_ASSIGN(raw, open_raw(selector, wye->device()));
    }
    const auto time = [&](const Case& c) {
        if (way == "wye") return time_wye(c, *wye);
        if (way == "raw") return time_raw(c, *raw);
        return time_lowered(c, selector, *wye, *raw);
    };
    // Runs a first program that is not timed: it pays for opening the driver, compiler and
    // self-tests.
    Case first = check_free_cases().front();
    first.name = first.program = first.strict.kernel = "first";
    WYE_TRY(time(first));
    std::vector<Time> times;
    for (const Case& c : programs(only)) {
        WYE_ASSIGN(const Time taken, time(c));
        times.push_back(taken);
    }
    for (std::size_t i = 0; const Case& c : programs(only)) {
        const Time& taken = times[i++];
        WYE_TRY(same_form(c, selector, taken.check_free, *wye));
        std::printf("%s %.0f %.0f\n", c.name.c_str(), taken.ready, taken.result);
    }
    return {};
}

Result<void> compile_table(const std::string& selector, const std::string& only) {
    Times hand, driver, cold, warm, kept;
    for (int i = 0; i < kRepetitions; ++i) {
        const Folder folder;
        WYE_TRY(folder.made());
        (void)setenv("WYE_CACHE_DIR", folder.path().c_str(), 1);
        WYE_TRY(add_cold(selector, "raw", only, hand));
        WYE_TRY(add_cold(selector, "lowered", only, driver));
        WYE_TRY(add_cold(selector, "wye", only, cold));
        WYE_TRY(add_cold(selector, "wye", only, warm));
    }
    const Folder folder, drivers;
    WYE_TRY(folder.made());
    WYE_TRY(drivers.made());
    (void)setenv("WYE_CACHE_DIR", folder.path().c_str(), 1);
    set_driver_caches(drivers.path());
    Times first;
    WYE_TRY(add_times(selector, "wye", only, first));
    for (int i = 0; i < kRepetitions; ++i) WYE_TRY(add_times(selector, "wye", only, kept));
    fmt::print(
        "\n{}: host milliseconds from text (medians of {} processes)\n"
        "  {:<12} {:^26} {:^26} {:^17}\n"
        "  {:<12} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
        selector, kRepetitions, "", "to a kernel", "to the first result", "next process", "program",
        "driver", "Wye", "ratio", "hand", "Wye", "ratio", "kept", "and driver");
    for (const Case& c : programs(only)) {
        const auto driver_alone = median_of(driver, c.name, &Time::ready);
        const auto ready = median_of(cold, c.name, &Time::ready);
        const auto hand_result = median_of(hand, c.name, &Time::result);
        const auto result = median_of(cold, c.name, &Time::result);
        fmt::print("  {:<12} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", c.name,
                   shown(driver_alone), shown(ready), shown(ready, driver_alone.value_or(1)),
                   shown(hand_result), shown(result), shown(result, hand_result.value_or(1)),
                   shown(median_of(warm, c.name, &Time::result)),
                   shown(median_of(kept, c.name, &Time::result)));
    }
    return {};
}

}  // namespace wye::bench
