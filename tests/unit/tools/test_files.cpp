// SPDX-License-Identifier: Apache-2.0
//
// Staged outputs on file systems without O_TMPFILE, where they have names from the start.
#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "files.hpp"

using namespace wye::tool;
namespace fs = std::filesystem;

namespace {

struct Folder {
    fs::path path;
    Folder() {
        std::string pattern = (fs::temp_directory_path() / "wye-files-XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()) != nullptr);
        path = pattern;
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> out;
        for (const auto& entry : fs::directory_iterator(path))
            out.push_back(entry.path().filename().string());
        return out;
    }
};

const std::vector<std::byte> kBytes(5000, std::byte{7});

}  // namespace

TEST_CASE("staged files with names are put in place, or removed") {
    for (const auto naming : {StagedOutputs::Naming::None, StagedOutputs::Naming::Always}) {
        const Folder folder;
        const std::string target = (folder.path / "r").string();
        {
            StagedOutputs outputs(naming);
            REQUIRE(outputs.add(target, kBytes).ok());
            CHECK(folder.names().size() == (naming == StagedOutputs::Naming::Always ? 1 : 0));
        }
        CHECK(folder.names().empty());
        for (int time = 0; time < 2; ++time) {  // new, then over an old one
            StagedOutputs outputs(naming);
            REQUIRE(outputs.add(target, kBytes).ok());
            REQUIRE(outputs.commit().ok());
        }
        CHECK(folder.names() == std::vector<std::string>{"r"});
        CHECK(fs::file_size(target) == kBytes.size());
    }
}

TEST_CASE("a signal that ends the process removes staged files with names") {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const Folder folder;
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::signal(signal, SIG_DFL);
            StagedOutputs outputs(StagedOutputs::Naming::Always);
            const bool added = outputs.add((folder.path / "r").string(), kBytes).ok() &&
                               outputs.add((folder.path / "s").string(), kBytes).ok() &&
                               folder.names().size() == 2;
            if (added) raise(signal);
            _exit(99);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status));
        CHECK((WIFSIGNALED(status) && WTERMSIG(status) == signal));
        CHECK(folder.names().empty());
    }
}
