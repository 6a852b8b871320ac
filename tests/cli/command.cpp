// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include <doctest/doctest.h>

extern char** environ;

namespace wye::test {
namespace {

std::vector<std::string> changed_environment(const std::map<std::string, std::string>& changes) {
    std::vector<std::string> out;
    for (char** at = environ; *at != nullptr; ++at) {
        const std::string entry = *at;
        if (!changes.contains(entry.substr(0, entry.find('='))) &&
            !entry.starts_with("WYE_CACHE_SIZE="))
            out.push_back(entry);
    }
    for (const auto& [name, value] : changes) out.push_back(name + "=" + value);
    // The cache is off: programs that an earlier build has cached must not be used.
    if (!changes.contains("WYE_CACHE_SIZE")) out.emplace_back("WYE_CACHE_SIZE=0");
    return out;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> out;
    for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
    out.push_back(nullptr);
    return out;
}

}  // namespace

Outcome run_command(const std::vector<std::string>& words,
                    const std::map<std::string, std::string>& environment) {
    const TempFolder folder;
    const std::string out = folder.path("out");
    const std::string err = folder.path("err");
    const std::vector<std::string> variables = changed_environment(environment);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT, 0600);
    pid_t child = 0;
    const int spawned = posix_spawnp(&child, words[0].c_str(), &actions, nullptr,
                                     pointers(words).data(), pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    REQUIRE_MESSAGE(spawned == 0, "cannot start ", words[0]);

    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(10);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > deadline) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            FAIL(words[0], " did not end within 10 minutes");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    Outcome outcome;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.out = read_bytes(out);
    outcome.err = read_bytes(err);
    // tools/check looks for this message in a test's output, and then runs the test again without
    // the search for leaks.
    if (outcome.err.find("LeakSanitizer has encountered a fatal error") != std::string::npos)
        std::fputs(outcome.err.c_str(), stderr);
    return outcome;
}

TempFolder::TempFolder(const std::filesystem::path& parent) {
    std::string pattern = (parent / "wye-cli-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
}

TempFolder::~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
}

std::string TempFolder::write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
}

std::vector<std::string> TempFolder::names() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(root_))
        out.push_back(entry.path().filename().string());
    std::ranges::sort(out);
    return out;
}

void check_complaint(const Outcome& outcome, int code, const std::string& part) {
    CAPTURE(outcome.err);
    CHECK(outcome.code == code);
    CHECK(contains(outcome.err, part));
    CHECK(contains(outcome.err, "Fix: "));
}

std::string read_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file.good(), "cannot read ", path);
    return {std::istreambuf_iterator<char>(file), {}};
}

Outcome wye_command(std::vector<std::string> words,
                    const std::map<std::string, std::string>& environment) {
    words.insert(words.begin(), WYE_TOOL);
    return run_command(words, environment);
}

std::vector<std::string> listed_devices(const std::string& without) {
    const Outcome listed = wye_command({"info", "-l"});
    REQUIRE(listed.code == 0);
    std::vector<std::string> out;
    std::istringstream lines(listed.out);
    for (std::string line; std::getline(lines, line);)
        if (without.empty() || !contains(line, without))
            out.push_back(line.substr(0, line.find('\t')));
    REQUIRE(!out.empty());
    return out;
}

}  // namespace wye::test
