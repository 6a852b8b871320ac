// SPDX-License-Identifier: Apache-2.0
#include "surroundings.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <clocale>
#include <filesystem>
#include <iterator>
#include <thread>

namespace wye::probe {
namespace {

std::size_t count_threads() {
    std::error_code error;
    const std::filesystem::directory_iterator tasks("/proc/self/task", error);
    return error ? 0 : static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

}  // namespace

Surroundings::Seen Surroundings::look() {
    Seen out;
    if (const char* locale = std::setlocale(LC_ALL, nullptr)) out.locale = locale;
    std::error_code error;
    out.folder = std::filesystem::current_path(error).string();
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
        out.environment += *at;
        out.environment += '\n';
    }
    out.umask = ::umask(0);
    ::umask(out.umask);
    for (int fd = 0; fd <= 2; ++fd) {
        struct stat status {};
        if (::fstat(fd, &status) != 0) status = {};
        out.standard.emplace_back(status.st_dev, status.st_ino);
    }
    return out;
}

Surroundings::Surroundings() : before_(look()), threads_(count_threads()) {}

std::vector<std::string> Surroundings::changes() const {
    const Seen now = look();
    std::vector<std::string> out;
    if (now.locale != before_.locale) out.emplace_back("changes the locale of its process");
    if (now.folder != before_.folder) out.emplace_back("changes the current folder of its process");
    if (now.environment != before_.environment)
        out.emplace_back("changes the environment of its process");
    if (now.umask != before_.umask)
        out.emplace_back("changes the file mode mask (umask) of its process");
    for (std::size_t fd = 0; fd < now.standard.size(); ++fd)
        if (now.standard[fd] != before_.standard[fd])
            out.push_back("closes or replaces descriptor " + std::to_string(fd));
    return out;
}

std::size_t Surroundings::threads_left() const {
    // Threads that were joined may need a moment to leave the list.
    for (int tries = 0; tries < 10 && count_threads() > threads_; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::size_t now = count_threads();
    return now > threads_ ? now - threads_ : 0;
}

}  // namespace wye::probe
