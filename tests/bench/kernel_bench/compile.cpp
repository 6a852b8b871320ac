// SPDX-License-Identifier: Apache-2.0
#include "kernel_bench/compile.hpp"

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "kernel_bench/open_raw.hpp"
#include "kernel_bench/pieces.hpp"
#include "kernel_bench/texts.hpp"
#include "kernel_bench/wye_side.hpp"

namespace wye::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Times =
    std::map<std::string, std::vector<double>>;  // program -> nanoseconds of each repetition

constexpr int kRepetitions = 5;

double since(Clock::time_point start) {
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// One of each program: a second size would compile nothing.
std::vector<Case> programs(const std::string& only) {
    std::vector<Case> out;
    for (Case& c : cases(true))
        if (only.empty() || c.program.find(only) != std::string::npos) out.push_back(std::move(c));
    return out;
}

Result<double> time_wye(const Case& c, WyeSide& wye) {
    WYE_TRY(wye.prepare(c));
    const Clock::time_point start = Clock::now();
    WYE_TRY(wye.read(c));
    WYE_TRY(wye.run());
    return since(start);
}

Result<double> time_raw(const Case& c, RawApi& raw) {
    raw.clear();
    std::vector<RawApi::Id> buffers, zeroed;
    for (const CaseBuffer& b : c.buffers) {
        WYE_ASSIGN(const RawApi::Id id, raw.buffer(b.bytes));
        buffers.push_back(id);
        if (b.content == Content::Sum) zeroed.push_back(id);
    }
    const Clock::time_point start = Clock::now();
    WYE_ASSIGN(const RawApi::Id kernel, raw.compile(c.strict, buffers.size(), false));
    WYE_TRY(raw.run(kernel, c.strict, buffers, zeroed));
    return since(start);
}

Result<double> time_lowered(const Case& c, const std::string& selector, const WyeSide& wye,
                            RawApi& raw) {
    const char* const format = selector.starts_with("cuda")     ? "cuda-c"
                               : selector.starts_with("vulkan") ? "spirv-vulkan"
                                                                : "opencl-c";
    WYE_ASSIGN(const std::string source, wye.lower(c, format));
    raw.clear();
    const Clock::time_point start = Clock::now();
    WYE_TRY(raw.build(source));
    return since(start);
}

// Runs a child, and adds what it prints.
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
    double nanoseconds = 0;
    while (std::fscanf(pipe, "%63s %lf", name, &nanoseconds) == 2) out[name].push_back(nanoseconds);
    if (pclose(pipe) != 0)
        return Error(Code::INTERNAL, "`" + command + "` failed", "Fix: run it by hand");
    return {};
}

// The least: whatever else the machine does only adds.
std::optional<double> least(const Times& times, const std::string& name) {
    const auto found = times.find(name);
    if (found == times.end() || found->second.empty()) return std::nullopt;
    return *std::min_element(found->second.begin(), found->second.end());
}

std::string shown(std::optional<double> nanoseconds, double unit = 1e6) {
    return nanoseconds ? fmt::format("{:.2f}", *nanoseconds / unit) : "-";
}

// An empty folder that goes when this does.
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
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

// The drivers' own caches: off, so that what is measured is the compiler and Wye's cache, or in
// this folder.
void set_driver_caches(const std::string& folder) {
    const bool on = !folder.empty();
    for (const auto& [name, off, folder_name] :
         {std::tuple{"CUDA_CACHE_DISABLE", "1", "CUDA_CACHE_PATH"},
          {"__GL_SHADER_DISK_CACHE", "0", "__GL_SHADER_DISK_CACHE_PATH"},
          {"POCL_KERNEL_CACHE", "0", "POCL_CACHE_DIR"},
          {"MESA_SHADER_CACHE_DISABLE", "true", "MESA_SHADER_CACHE_DIR"}}) {
        if (!on) {
            (void)setenv(name, off, 1);
            continue;
        }
        (void)unsetenv(name);
        (void)setenv(folder_name, folder.c_str(), 1);
    }
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
    // What a process pays once (the driver, its compiler, self-tests) is paid by a program of no
    // interest.
    Case first = cases(true).front();
    first.name = first.program = first.strict.kernel = "first";
    WYE_TRY(time(first));
    for (const Case& c : programs(only)) {
        WYE_ASSIGN(const double nanoseconds, time(c));
        std::printf("%s %.0f\n", c.name.c_str(), nanoseconds);
    }
    return {};
}

Result<void> compile_table(const std::string& selector, const std::string& only) {
    set_driver_caches("");
    Times raw, own, off, cold, warm, both;
    for (int i = 0; i < kRepetitions; ++i) {
        const Folder folder;
        if (folder.path().empty())
            return Error(Code::IO, "no temporary folder can be made", "Fix: free space in /tmp");
        (void)setenv("WYE_CACHE_DIR", folder.path().c_str(), 1);
        WYE_TRY(add_times(selector, "raw", only, raw));
        WYE_TRY(add_times(selector, "lowered", only, own));
        (void)setenv("WYE_CACHE_SIZE", "0", 1);
        WYE_TRY(add_times(selector, "wye", only, off));
        (void)unsetenv("WYE_CACHE_SIZE");
        WYE_TRY(add_times(selector, "wye", only, cold));
        WYE_TRY(add_times(selector, "wye", only, warm));
    }
    const Folder folder, drivers;
    (void)setenv("WYE_CACHE_DIR", folder.path().c_str(), 1);
    set_driver_caches(drivers.path());
    Times first;
    WYE_TRY(add_times(selector, "wye", only, first));
    for (int i = 0; i < kRepetitions; ++i) WYE_TRY(add_times(selector, "wye", only, both));
    fmt::print(
        "\n{}: from text to the first result, host milliseconds (the least of {} processes)\n  "
        "{:<12} {:>12} {:>12} {:>12} {:>12} {:>8} {:>8} {:>12} {:>12}\n",
        selector, kRepetitions, "program", "hand-written", "Wye's text", "nothing kept", "Wye cold",
        "/hand", "/text", "Wye cached", "and driver");
    for (const Case& c : programs(only)) {
        const auto hand = least(raw, c.name), text = least(own, c.name), all = least(cold, c.name);
        fmt::print("  {:<12} {:>12} {:>12} {:>12} {:>12} {:>8} {:>8} {:>12} {:>12}\n", c.name,
                   shown(hand), shown(text), shown(least(off, c.name)), shown(all),
                   shown(all, hand.value_or(1)), shown(all, text.value_or(1)),
                   shown(least(warm, c.name)), shown(least(both, c.name)));
    }
    return {};
}

}  // namespace wye::bench
