// SPDX-License-Identifier: Apache-2.0
//
// The files that a command reads and writes. Staged outputs are also tested as on file systems
// without O_TMPFILE, where the staged files have names from the start.
#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "command/files.hpp"

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

bool add(StagedOutputs& outputs, const std::string& target) {
    const auto number = outputs.open(target);
    return number.ok() && outputs.write(*number, kBytes).ok();
}

bool put(const fs::path& target) {
    StagedOutputs outputs;
    return add(outputs, target.string()) && outputs.commit().ok();
}

}  // namespace

TEST_CASE("staged files with names are put in place, or removed") {
    for (const auto naming : {StagedOutputs::Naming::None, StagedOutputs::Naming::Always}) {
        const Folder folder;
        const std::string target = (folder.path / "r").string();
        {
            StagedOutputs outputs(naming);
            REQUIRE(add(outputs, target));
            CHECK(folder.names().size() == (naming == StagedOutputs::Naming::Always ? 1 : 0));
        }
        CHECK(folder.names().empty());
        for (int time = 0; time < 2; ++time) {  // a new file, then over an old one
            StagedOutputs outputs(naming);
            REQUIRE(add(outputs, target));
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
            const bool added = add(outputs, (folder.path / "r").string()) &&
                               add(outputs, (folder.path / "s").string()) &&
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

TEST_CASE("a file with several hard links is written in place, longer or shorter than before") {
    const Folder folder;
    const fs::path target = folder.path / "r";
    for (const std::size_t size : {std::size_t{3}, 2 * kBytes.size()}) {
        std::ofstream(target) << std::string(size, 'x');
        fs::create_hard_link(target, folder.path / "other");
        CHECK(put(target));
        CHECK(fs::file_size(folder.path / "other") == kBytes.size());
        fs::remove(folder.path / "other");
    }
}

TEST_CASE("a socket is refused before there is anything to write") {
    const Folder folder;
    sockaddr_un name{AF_UNIX, {}};
    const std::string path = (folder.path / "s").string();
    path.copy(name.sun_path, sizeof name.sun_path - 1);
    const int listens = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(bind(listens, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
    StagedOutputs outputs;
    const auto opened = outputs.open(path);
    close(listens);
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().message == "cannot write `" + path + "`: it is a socket");
    CHECK(opened.error().fix == "Fix: name a file");
}

TEST_CASE("a file that is replaced keeps its owner and group") {
    if (geteuid() != 0) return;  // only root can give a file away
    const Folder folder;
    const fs::path target = folder.path / "r";
    std::ofstream(target) << "old";
    REQUIRE(chown(target.c_str(), 1001, 2000) == 0);
    REQUIRE(chmod(target.c_str(), 0640) == 0);
    CHECK(put(target));
    struct stat now {};
    REQUIRE(stat(target.c_str(), &now) == 0);
    CHECK(now.st_uid == 1001);
    CHECK(now.st_gid == 2000);
    CHECK((now.st_mode & 07777U) == 0640);
    CHECK(now.st_size == static_cast<off_t>(kBytes.size()));
}

TEST_CASE("links are followed, also to a file that is yet to be made") {
    const Folder folder;
    fs::create_directory(folder.path / "below");
    fs::create_symlink("below/second", folder.path / "first");
    fs::create_symlink("r", folder.path / "below/second");
    for (int time = 0; time < 2; ++time) {
        CHECK(put(folder.path / "first"));
        CHECK(fs::is_symlink(folder.path / "first"));
        CHECK(fs::is_symlink(folder.path / "below/second"));
        CHECK(fs::file_size(folder.path / "below/r") == kBytes.size());
    }
    fs::create_symlink("none/r", folder.path / "lost");
    CHECK_FALSE(put(folder.path / "lost"));
    CHECK(fs::is_symlink(folder.path / "lost"));
}

TEST_CASE("files of one command are told apart by what they are, not by their names") {
    const Folder folder;
    const std::string x = (folder.path / "x").string();
    std::ofstream(x) << "x";
    fs::create_hard_link(x, folder.path / "hard");
    fs::create_symlink("x", folder.path / "soft");
    fs::create_symlink("new", folder.path / "dangling");
    const auto good = [&](const std::string& one, const std::string& other, bool written) {
        return check_files({{"input `x`", one}, {"output `r`", other, written}}).ok();
    };
    for (const char* name : {"x", "hard", "soft", "./x"}) {
        CHECK_FALSE(good(x, (folder.path / name).string(), true));
        CHECK(good(x, (folder.path / name).string(), false));  // read twice
    }
    CHECK(good(x, (folder.path / "r").string(), true));
    CHECK_FALSE(check_files({{"output `r`", (folder.path / "new").string(), true},
                             {"output `s`", (folder.path / "dangling").string(), true}})
                    .ok());
    CHECK(check_files({{"", "/dev/null", true}, {"", "/dev/null", true}}).ok());
    // An output may replace the input file of its own buffer, but not that of another buffer.
    CHECK(check_files({{"input `x`", x, false, "x"}, {"output `x`", x, true, "x"}}).ok());
    CHECK_FALSE(check_files({{"input `x`", x, false, "x"},
                             {"input `y`", x, false, "y"},
                             {"output `x`", x, true, "x"}})
                    .ok());
}
