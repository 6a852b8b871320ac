// SPDX-License-Identifier: Apache-2.0
#include "conformance/abi/watch.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "conformance/abi/harness.hpp"

namespace harness {
namespace {

std::string real_path(const std::string& path) {
    std::error_code error;
    return std::filesystem::canonical(path, error).string();
}

// Whether a library is the plugin itself or a run-time library of C or C++.
bool of_the_plugin(const std::string& path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    for (const std::string_view own : {"libstdc++.", "libgcc_s.", "libm.", "libc.", "ld-linux",
                                       "libdl.", "libpthread.", "librt.", "libatomic."})
        if (name.starts_with(own)) return true;
    return real_path(path) == real_path(subject().library);
}

std::set<std::string> loaded() {
    std::set<std::string> out;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* user) {
            const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
            if (name.starts_with('/')) static_cast<std::set<std::string>*>(user)->emplace(name);
            return 0;
        },
        &out);
    return out;
}

// The libraries of the kit itself: those that were loaded at the first call, before the plugin.
const std::set<std::string>& loaded_first() {
    static const std::set<std::string> libraries = loaded();
    return libraries;
}

// The address of the handler's code, or SIG_DFL or SIG_IGN.
const void* code_of(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 ? reinterpret_cast<const void*>(action.sa_sigaction)
                                               : reinterpret_cast<const void*>(action.sa_handler);
}

// Whether code is in a library other than the plugin and the run-time libraries.
bool in_a_driver(const void* code) {
    Dl_info info{};
    return ::dladdr(code, &info) != 0 && info.dli_fname != nullptr && info.dli_fname[0] == '/' &&
           !of_the_plugin(info.dli_fname);
}

bool flushes_to_zero() {
    volatile float tiny = 1e-40F;
    volatile float same = tiny * 1.0F;
    return same == 0.0F;
}

// The name of an environment variable that was added, changed or removed.
std::string first_new(const std::set<std::string>& before, const std::set<std::string>& now) {
    for (const auto& [here, there] : {std::pair(&now, &before), std::pair(&before, &now)})
        for (const std::string& variable : *here)
            if (!there->contains(variable)) return variable.substr(0, variable.find('='));
    return {};
}

std::size_t entries(const char* folder) {
    std::error_code error;
    const std::filesystem::directory_iterator all(folder, error);
    return error ? 0 : static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

ProcessWatch::Seen ProcessWatch::look() {
    Seen out;
    for (int number = 1; number < static_cast<int>(out.handlers.size()); ++number)
        ::sigaction(number, nullptr, &out.handlers[static_cast<std::size_t>(number)]);
    ::pthread_sigmask(SIG_SETMASK, nullptr, &out.mask);
    ::sigaltstack(nullptr, &out.stack);
    out.rounding = std::fegetround();
    out.traps = ::fegetexcept();
    out.flushes = flushes_to_zero();
    if (const char* locale = std::setlocale(LC_ALL, nullptr)) out.locale = locale;
    std::error_code error;
    out.folder = std::filesystem::current_path(error).string();
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) out.environment.insert(*at);
    out.file_mask = ::umask(0);
    ::umask(out.file_mask);
    for (int fd = 0; fd <= 2; ++fd) {
        struct stat status {};
        if (::fstat(fd, &status) != 0) status = {};
        out.standard.emplace_back(status.st_dev, status.st_ino);
    }
    return out;
}

ProcessWatch::ProcessWatch() : before_(look()) { (void)loaded_first(); }

bool ProcessWatch::driver_loaded() {
    for (const std::string& path : loaded())
        if (!loaded_first().contains(path) && !of_the_plugin(path)) return true;
    return false;
}

std::vector<Change> ProcessWatch::changes() const {
    const Seen now = look();
    const bool driver = driver_loaded();
    std::vector<Change> out;
    std::string numbers[2];  // signal numbers: with handlers of the plugin, of drivers
    for (std::size_t number = 1; number < now.handlers.size(); ++number) {
        const void* code = code_of(now.handlers[number]);
        if (code == code_of(before_.handlers[number])) continue;
        std::string& list = numbers[in_a_driver(code) ? 1 : 0];
        list += (list.empty() ? "" : ", ") + std::to_string(number);
    }
    for (const bool by_driver : {false, true})
        if (!numbers[by_driver ? 1 : 0].empty())
            out.push_back(
                {"the handler of each of the signals " + numbers[by_driver ? 1 : 0], by_driver});
    const auto add = [&](bool changed, const char* what, bool by_driver) {
        if (changed) out.push_back({what, by_driver});
    };
    bool mask = false;
    for (int number = 1; number < static_cast<int>(now.handlers.size()); ++number)
        mask = mask || ::sigismember(&now.mask, number) != ::sigismember(&before_.mask, number);
    add(mask, "the thread's signal mask", driver);
    add(now.stack.ss_sp != before_.stack.ss_sp || now.stack.ss_size != before_.stack.ss_size,
        "the thread's alternate stack", driver);
    add(now.rounding != before_.rounding, "the rounding mode", driver);
    add(now.flushes != before_.flushes, "what becomes of subnormal numbers", driver);
    add(now.traps != before_.traps, "which floating-point exceptions are signals", driver);
    add(now.locale != before_.locale, "the locale", false);
    add(now.folder != before_.folder, "the working folder", false);
    if (now.environment != before_.environment)
        out.push_back(
            {"the environment (" + first_new(before_.environment, now.environment) + ")", driver});
    add(now.file_mask != before_.file_mask, "the file mode mask", false);
    for (std::size_t fd = 0; fd < now.standard.size(); ++fd)
        if (now.standard[fd] != before_.standard[fd])
            out.push_back({"descriptor " + std::to_string(fd), false});
    return out;
}

std::size_t count_threads() { return entries("/proc/self/task"); }
std::size_t count_descriptors() { return entries("/proc/self/fd"); }

Printed::Printed() {
    std::fflush(nullptr);
    for (int i = 0; i < 2; ++i) {
        kept_[i] = ::dup(i + 1);
        files_[i] = ::memfd_create("printed", 0);
        if (kept_[i] < 0 || files_[i] < 0 || ::dup2(files_[i], i + 1) < 0)
            throw SetupFailed("standard output cannot be kept");
    }
}

void Printed::end() {
    if (kept_[0] < 0) return;
    std::fflush(nullptr);
    for (int i = 0; i < 2; ++i) {
        ::dup2(kept_[i], i + 1);
        char chunk[4096];
        ::lseek(files_[i], 0, SEEK_SET);
        for (ssize_t got = 0; (got = ::read(files_[i], chunk, sizeof chunk)) > 0;)
            texts_[i].append(chunk, static_cast<std::size_t>(got));
        ::close(files_[i]);
        ::close(kept_[i]);
        kept_[i] = files_[i] = -1;
    }
}

}  // namespace harness
