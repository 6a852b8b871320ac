// SPDX-License-Identifier: Apache-2.0
#include "surroundings.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <clocale>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <thread>

namespace wye::probe {
namespace {

std::size_t count_threads() {
    std::error_code error;
    const std::filesystem::directory_iterator tasks("/proc/self/task", error);
    return error ? 0 : static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

using Variables = std::map<std::string, std::string>;

// "A, B and 3 more": the names that only one of the two maps has, or that have different values.
std::string changed_names(const Variables& before, const Variables& now) {
    std::set<std::string> names;
    const auto add = [&](const Variables& from, const Variables& other) {
        for (const auto& [name, value] : from) {
            const auto same = other.find(name);
            if (same == other.end() || same->second != value) names.insert(name);
        }
    };
    add(before, now);
    add(now, before);
    constexpr std::size_t kShown = 3;
    std::string out;
    std::size_t count = 0;
    for (const std::string& name : names)
        if (count++ < kShown) out += (out.empty() ? "" : ", ") + name;
    if (count > kShown) out += " and " + std::to_string(count - kShown) + " more";
    return out;
}

}  // namespace

Surroundings::Seen Surroundings::look() {
    Seen out;
    if (const char* locale = std::setlocale(LC_ALL, nullptr)) out.locale = locale;
    std::error_code error;
    out.folder = std::filesystem::current_path(error).string();
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
        const std::string_view entry = *at;
        const std::size_t name = entry.find('=');
        out.environment.emplace(entry.substr(0, name),
                                name == entry.npos ? entry.substr(0, 0) : entry.substr(name + 1));
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

std::vector<Surroundings::Change> Surroundings::changes() const {
    const Seen now = look();
    std::vector<Change> out;
    if (now.locale != before_.locale) out.push_back({"changes the locale of its process"});
    if (now.folder != before_.folder) out.push_back({"changes the current folder of its process"});
    if (const auto names = changed_names(before_.environment, now.environment); !names.empty())
        out.push_back({"changes the environment of its process (" + names + ")", true});
    if (now.umask != before_.umask)
        out.push_back({"changes the file mode mask (umask) of its process"});
    for (std::size_t fd = 0; fd < now.standard.size(); ++fd)
        if (now.standard[fd] != before_.standard[fd])
            out.push_back({"closes or replaces descriptor " + std::to_string(fd)});
    return out;
}

std::size_t Surroundings::threads_left() const {
    // Threads that were joined may stay in the list for a moment.
    for (int tries = 0; tries < 10 && count_threads() > threads_; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::size_t now = count_threads();
    return now > threads_ ? now - threads_ : 0;
}

}  // namespace wye::probe
