// SPDX-License-Identifier: Apache-2.0
//
// Compiles a program for the processor of this machine, and loads the result. A real device's
// compiler and loader replace this part. Files are written to a temporary folder, which is removed
// afterwards.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host.hpp"

namespace driver {

struct Source {
    std::string language;  // as the compiler's option -x names it
    std::string text;
};

// A shared object, compiled from sources. It stays loaded while the Module exists.
class Module {
  public:
    Module(const std::string& command, const std::filesystem::path& temporary,
           const std::vector<std::string>& options, const std::vector<Source>& sources) {
        const Folder folder(temporary);
        const std::string object = folder.path / "program.so", log = folder.path / "log";
        std::vector<std::string> words = {command, "-shared", "-fPIC", "-O2"};
        words.insert(words.end(), options.begin(), options.end());
        for (const Source& source : sources) {
            const std::string file = folder.path / ("source" + std::to_string(words.size()));
            std::ofstream(file, std::ios::binary) << source.text;
            words.insert(words.end(), {"-x", source.language, file});
        }
        words.insert(words.end(), {"-o", object, "-lm"});
        run(words, log);
        if (!std::filesystem::exists(object)) throw refused(log);
        handle_.reset(dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL));
        if (handle_ == nullptr)
            throw Failure{WYE_DRIVER,
                          std::string("the compiled program cannot be loaded: ") + dlerror(),
                          "Fix: set TMPDIR to a folder from which code may be run",
                          {}};
    }

    // Returns the function of this name, which must exist.
    template <typename Function>
    [[nodiscard]] Function* function(const std::string& name) const {
        void* address = dlsym(handle_.get(), name.c_str());
        if (address == nullptr)
            throw Failure{WYE_COMPILE_FAILED,
                          "the program has no function `" + name + "`",
                          "Fix: give the entry that the code defines",
                          {}};
        return reinterpret_cast<Function*>(address);
    }

  private:
    struct Folder {
        explicit Folder(const std::filesystem::path& parent) {
            std::string name = parent / "acme-XXXXXX";
            if (mkdtemp(name.data()) == nullptr)
                throw Failure{WYE_IO,
                              "no temporary folder can be made in `" + parent.string() + "`",
                              "Fix: set TMPDIR to a folder that may be written to",
                              {}};
            path = name;
        }
        Folder(const Folder&) = delete;
        Folder& operator=(const Folder&) = delete;
        ~Folder() {
            std::error_code ignored;
            std::filesystem::remove_all(path, ignored);
        }
        std::filesystem::path path;
    };

    struct Close {
        void operator()(void* handle) const { dlclose(handle); }
    };

    // Runs a command to its end, with its output in the file `log`. Returns no exit status, since
    // an application that ignores SIGCHLD gets none: the caller looks for the file that the command
    // makes.
    static void run(std::vector<std::string>& words, const std::string& log) {
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        std::string path = "PATH=/usr/local/bin:/usr/bin:/bin";
        char* environment[] = {path.data(), nullptr};
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT, 0600);
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
        pid_t child = 0;
        const int status =
            posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environment);
        posix_spawn_file_actions_destroy(&actions);
        if (status != 0)
            throw Failure{WYE_MISSING_DEPENDENCY,
                          "the compiler `" + words[0] + "` cannot be started",
                          "Fix: install it, or name another one with `acme.compiler`",
                          {}};
        while (waitpid(child, nullptr, 0) == -1 && errno == EINTR) {
        }
    }

    static Failure refused(const std::string& file) {
        std::ifstream stream(file, std::ios::binary);
        std::string log{std::istreambuf_iterator<char>(stream), {}};
        const std::size_t error = log.find("error: ");
        const std::string first =
            error == std::string::npos
                ? ""
                : ": " + log.substr(error + 7, log.find('\n', error) - error - 7);
        return {WYE_COMPILE_FAILED, "the compiler refused the program" + first,
                "Fix: correct the program; the compiler's whole output is the cause of this error",
                std::move(log)};
    }

    std::unique_ptr<void, Close> handle_;
};

// The compiler's command, and the folder for temporary files. Both come from the host's
// configuration, which replaces environment variables (P-9). Any thread may compile.
class Compiler {
  public:
    explicit Compiler(const wye_host_table& host)
        : command_(setting(host, "acme.compiler", ACME_COMPILER)),
          temporary_(setting(host, "env.TMPDIR", "/tmp")) {}

    [[nodiscard]] bool installed() const { return access(command_.c_str(), X_OK) == 0; }

    // Compiles sources, unless the module of an earlier call with equal arguments is still cached.
    std::shared_ptr<const Module> compile(const std::vector<std::string>& options,
                                          const std::vector<Source>& sources) {
        std::string key;
        for (const std::string& option : options) key += option + '\n';
        for (const Source& source : sources) key += source.language + '\n' + source.text + '\0';
        {
            const std::lock_guard lock(mutex_);
            if (const auto known = modules_.find(key); known != modules_.end())
                return known->second;
        }
        auto made = std::make_shared<const Module>(command_, temporary_, options, sources);
        const std::lock_guard lock(mutex_);
        if (modules_.size() >= kMostModules) modules_.clear();
        return modules_.emplace(std::move(key), std::move(made)).first->second;
    }

  private:
    static constexpr std::size_t kMostModules = 64;

    const std::string command_;
    const std::filesystem::path temporary_;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const Module>> modules_;
};

}  // namespace driver
