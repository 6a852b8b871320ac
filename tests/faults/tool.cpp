// SPDX-License-Identifier: Apache-2.0
#include "faults/tool.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "support/temp_dir.hpp"

namespace faults {
namespace {

namespace fs = std::filesystem;

#if defined(WYE_FAULTS_TOOL)

constexpr auto kLimit = std::chrono::seconds(60);

struct Ended {
    int status = 0;
    bool hung = false;
};

class CommandRun {
  public:
    CommandRun(const Job& job, fs::path folder, Progress& progress)
        : job_(job),
          folder_(std::move(folder)),
          progress_(progress),
          saxpy_(subject("saxpy")),
          result_(bytes_of(saxpy_.example.buffers[2].expected)) {}

    int run(const Range& range) {
        fs::create_directories(folder_ / "work");
        put("name", std::string(kNameRoom, '\0'));
        const std::uint64_t calls = count();
        progress_.calls = calls;
        const std::uint64_t step =
            range.most == 0 ? range.stride : std::max<std::uint64_t>(1, calls / range.most);
        std::uint64_t idle = 0;
        for (std::uint64_t n = range.first; idle < 3; n += step) {
            if (range.most != 0 && n > calls) break;
            progress_.at = n;
            idle = one(n) ? 0 : idle + 1;
        }
        progress_.finished = true;
        return progress_.defects == 0 ? 0 : 1;
    }

  private:
    static std::string bytes_of(const std::vector<std::byte>& from) {
        return {reinterpret_cast<const char*>(from.data()), from.size()};
    }
    void put(const std::string& name, const std::string& bytes) const {
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
    }

    [[nodiscard]] std::vector<std::string> command() const {
        const std::string program = (folder_ / "saxpy.wye").string();
        if (job_.subject == "wye info") return {WYE_FAULTS_TOOL, "info", "--json"};
        if (job_.subject == "wye lower")
            return {WYE_FAULTS_TOOL, "lower", program, "--to", "opencl-c"};
        std::uint32_t bits = static_cast<std::uint32_t>(saxpy_.example.dispatches[0][0]);
        float factor = 0;
        std::memcpy(&factor, &bits, 4);
        return {WYE_FAULTS_TOOL,
                "run",
                program,
                "--device",
                "cpu",
                "--param",
                "a=" + std::to_string(factor),
                "--in",
                "x=" + (folder_ / "x.bin").string(),
                "--in",
                "y=" + (folder_ / "y.bin").string(),
                "--out",
                "r=" + (folder_ / "work" / "r.bin").string()};
    }

    Ended spawn(std::uint64_t n) {
        fs::remove_all(folder_ / "work");
        fs::create_directory(folder_ / "work");
        put("saxpy.wye", saxpy_.text);
        put("x.bin", bytes_of(saxpy_.example.buffers[0].before));
        put("y.bin", bytes_of(saxpy_.example.buffers[1].before));
        put("work/r.bin", "old");
        put("name", std::string(kNameRoom, '\0'));
        const std::vector<std::string> words = command();
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        const std::string faults = "WYE_FAULTS=" + std::to_string(job_.kind) + " " +
                                   std::to_string(n) + " " + (job_.persistent ? "1 " : "0 ") +
                                   std::to_string(job_.flavour) + " " + (folder_ / "name").string();
        const std::string cache = "WYE_CACHE_DIR=" + (folder_ / "cache").string();
        const char* environment[] = {faults.c_str(),
                                     cache.c_str(),
                                     "LD_PRELOAD=" WYE_FAULTS_PRELOAD,
                                     "PATH=/usr/bin:/bin",
                                     "WYE_PLUGIN_PATH=/nonexistent",
                                     nullptr};
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        const std::string out = (folder_ / "stdout").string();
        const std::string err = (folder_ / "stderr").string();
        constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
        posix_spawn_file_actions_addopen(&files, 1, out.c_str(), kWrite, 0600);
        posix_spawn_file_actions_addopen(&files, 2, err.c_str(), kWrite, 0600);
        pid_t pid = 0;
        const int failed = posix_spawn(&pid, WYE_FAULTS_TOOL, &files, nullptr, arguments.data(),
                                       const_cast<char**>(environment));
        posix_spawn_file_actions_destroy(&files);
        Ended ended;
        if (failed != 0) {
            ended.status = 127 << 8;
            return ended;
        }
        const auto start = std::chrono::steady_clock::now();
        while (waitpid(pid, &ended.status, WNOHANG) != pid) {
            if (std::chrono::steady_clock::now() - start > kLimit && !ended.hung) {
                ended.hung = true;
                kill(pid, SIGKILL);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return ended;
    }

    void defect(const std::string& text) {
        ++progress_.defects;
        std::printf("defect: %s, call %llu (%s): %s\n", job_.text().c_str(),
                    static_cast<unsigned long long>(progress_.at), progress_.what, text.c_str());
        std::fflush(stdout);
    }

    // The number of calls that a run makes. Doubles a guess until no call fails, then bisects.
    std::uint64_t count() {
        const auto fires = [&](std::uint64_t n) {
            (void)spawn(n);
            return support::read_file(folder_ / "name")[0] != '\0';
        };
        std::uint64_t low = 0, high = 1;
        while (high < 1'000'000 && fires(high)) {
            low = high;
            high *= 2;
        }
        while (low + 1 < high) {
            const std::uint64_t middle = (low + high) / 2;
            (fires(middle) ? low : high) = middle;
        }
        return low;
    }

    bool one(std::uint64_t n) {
        const Ended ended = spawn(n);
        const std::string name = support::read_file(folder_ / "name").c_str();
        std::snprintf(progress_.what, sizeof progress_.what, "%s", name.c_str());
        if (name.empty()) return false;
        ++progress_.injected;
        const bool good = WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0;
        ++(good ? progress_.unaffected : progress_.refused);
        const std::string said = support::read_file(folder_ / "stderr");
        if (ended.hung)
            defect("hangs");
        else if (!WIFEXITED(ended.status))
            defect(std::string("dies: ") + strsignal(WTERMSIG(ended.status)) + " " + said);
        else if (WEXITSTATUS(ended.status) > 5)
            defect("ends with status " + std::to_string(WEXITSTATUS(ended.status)) + " " + said);
        else if (!good && said.find("Fix: ") == std::string::npos && !out_of_words(said))
            defect("fails without a remedy: '" + said + "'");
        if (job_.subject == "wye run") check_output(good, name);
        return true;
    }

    // Whether the command could not print a message, since writing to standard error fails as well.
    [[nodiscard]] bool out_of_words(const std::string& said) const {
        return said.empty() && job_.persistent;
    }

    void check_output(bool good, const std::string& name) {
        const std::string result = fs::exists(folder_ / "work" / "r.bin")
                                       ? support::read_file(folder_ / "work" / "r.bin")
                                       : "";
        if (good && result != result_) defect("succeeds, and wrote other bytes");
        if (!good && result != result_ && result != "old") defect("left a half-written output");
        if (job_.persistent || name.starts_with("unlink")) return;
        for (const auto& entry : fs::directory_iterator(folder_ / "work"))
            if (entry.path().filename() != "r.bin")
                defect("left the file " + entry.path().filename().string());
    }

    const Job& job_;
    fs::path folder_;
    Progress& progress_;
    Subject saxpy_;
    std::string result_;
};

#endif

}  // namespace

#if defined(WYE_FAULTS_TOOL)

std::vector<std::string> tool_names() { return {"wye run", "wye info", "wye lower"}; }

int run_tool_job(const Job& job, const Range& range, const std::string& folder,
                 Progress& progress) {
    return CommandRun(job, folder, progress).run(range);
}

#else

std::vector<std::string> tool_names() { return {}; }
int run_tool_job(const Job&, const Range&, const std::string&, Progress&) { return 1; }

#endif

}  // namespace faults
