// SPDX-License-Identifier: Apache-2.0
#include "layers/trace/sink.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "wye/sdk/layer.hpp"
#include "wye/sdk/numbers.hpp"

namespace wye::layers::trace {
namespace {

constexpr std::string_view kArea = "trace";
constexpr std::string_view kEnd = "\n]\n";  // the end of a JSON file
constexpr std::string_view kFull = "the trace has reached its size limit: later calls are missing";

// Locks the file, since other copies of the layer write to the same file.
class FileLock {
  public:
    explicit FileLock(int descriptor) : descriptor_(descriptor) {
        while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
        }
    }
    ~FileLock() { (void)::flock(descriptor_, LOCK_UN); }
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

  private:
    int descriptor_;
};

Result<std::uint64_t> parse_bytes(const std::string& text) {
    if (const auto bytes = sdk::parse_size(text); bytes && *bytes != 0) return *bytes;
    return Error(Code::INVALID_ARGUMENT, "`" + text + "` is not a size for layer.trace.bytes",
                 "Fix: give a number above 0, as in 1048576 or 64MiB", "layer.trace.bytes");
}

Result<Format> parse_format(const std::string& text) {
    if (text == "text") return Format::text;
    if (text == "chrome") return Format::chrome;
    return Error(Code::INVALID_ARGUMENT, "`" + text + "` is not a format for layer.trace.format",
                 "Fix: give text or chrome", "layer.trace.format");
}

std::string with_process(std::string path) {
    for (std::size_t at = path.find("%p"); at != std::string::npos; at = path.find("%p", at))
        path.replace(at, 2, std::to_string(::getpid()));
    return path;
}

// Returns the clock tick at which this process began. The tick and the process id together identify
// the process.
std::string process_start() {
    std::ifstream file("/proc/self/stat");
    std::string text;
    std::getline(file, text);
    // The name in parentheses may contain spaces. The start time is the 20th word after the name.
    text.erase(0, std::min(text.rfind(')') + 2, text.size()));
    for (int word = 3; word < 22; ++word)
        text.erase(0, std::min(text.find(' '), text.size() - 1) + 1);
    return text.substr(0, text.find(' '));
}

// Returns the first line of a file, which names the process.
std::string header(Format format) {
    const std::string process = std::to_string(::getpid());
    const std::string start = process_start();
    if (format == Format::text)
        return "# Calls of plugins by process " + process + ", which began at tick " + start +
               ". Microseconds on CLOCK_MONOTONIC, thread, plugin, slot, arguments -> status, "
               "microseconds, results\n";
    return "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":" + process +
           ",\"args\":{\"name\":\"calls of plugins\",\"began_at_tick\":\"" + start + "\"}}";
}

// Writes all bytes at the offset `at`. Returns 0 or errno.
int write_at(int descriptor, std::string_view bytes, std::uint64_t at) {
    while (!bytes.empty()) {
        const ssize_t written =
            ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        if (written == 0) return ENOSPC;
        bytes.remove_prefix(static_cast<std::size_t>(written));
        at += static_cast<std::uint64_t>(written);
    }
    return 0;
}

// Returns the process's limit on file sizes. A write beyond it would raise a fatal signal.
std::uint64_t file_limit() {
    rlimit limit{};
    return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : UINT64_MAX;
}

}  // namespace

Result<std::unique_ptr<Sink>> Sink::open(const wye_host_table& host) {
    std::unique_ptr<Sink> out(new Sink(host));
    out->path_ = with_process(sdk::config(host, "layer.trace.file").value_or(""));
    const bool json = out->path_.ends_with(".json");
    WYE_ASSIGN(
        out->format_,
        parse_format(sdk::config(host, "layer.trace.format").value_or(json ? "chrome" : "text")));
    WYE_ASSIGN(out->limit_, parse_bytes(sdk::config(host, "layer.trace.bytes").value_or("256MiB")));
    if (out->path_.empty()) {
        out->format_ = Format::text;
        return out;
    }
    WYE_TRY(out->begin());
    return out;
}

Sink::~Sink() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> Sink::begin() {
    const auto failed = [&](const std::string& why) {
        return Error(Code::IO, "the trace `" + path_ + "` cannot be written: " + why,
                     "Fix: set WYE_LAYER_TRACE (or `layer.trace.file`) to a file in a folder where "
                     "files can be made",
                     path_);
    };
    constexpr mode_t kMode = 0644;
    descriptor_ = ::open(path_.c_str(),
                         O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK, kMode);
    if (descriptor_ < 0 && errno == ELOOP) return failed("it is a symbolic link");
    if (descriptor_ < 0) return failed(std::strerror(errno));
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode))
        return failed("it is no regular file");
    const std::string first = header(format_);
    const FileLock alone(descriptor_);
    std::string found(first.size(), '\0');
    const ssize_t got = ::pread(descriptor_, found.data(), found.size(), 0);
    if (got == static_cast<ssize_t>(first.size()) && found == first) return {};
    const std::string whole = first + std::string(format_ == Format::chrome ? kEnd : "");
    if (whole.size() > std::min(limit_, file_limit())) return failed(std::strerror(EFBIG));
    if (::ftruncate(descriptor_, 0) != 0) return failed(std::strerror(errno));
    if (const int error = write_at(descriptor_, whole, 0); error != 0) {
        (void)::ftruncate(descriptor_, 0);
        return failed(std::strerror(error));
    }
    return {};
}

void Sink::write(std::string_view line) {
    if (descriptor_ < 0) return sdk::layer::log(host_, WYE_LOG_INFO, kArea, line);
    const sdk::Lock lock(mutex_);
    if (!stopped_) append(line);
}

void Sink::append(std::string_view line) {
    const FileLock alone(descriptor_);
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) return stop(std::strerror(errno));
    const bool json = format_ == Format::chrome;
    auto size = static_cast<std::uint64_t>(status.st_size);
    if (json && size < kEnd.size()) return stop("another process has changed it");
    std::string text =
        json ? ",\n" + std::string(line) + std::string(kEnd) : std::string(line) + '\n';
    // Keeps room for the last line.
    const std::uint64_t room = kFull.size() + 128;
    const std::uint64_t limit = std::min(limit_, file_limit());
    const bool full = size + text.size() + room > limit;
    if (full) {
        text = json ? ",\n{\"name\":\"" + std::string(kFull) +
                          "\",\"ph\":\"i\",\"s\":\"g\",\"ts\":0,\"pid\":" +
                          std::to_string(::getpid()) + ",\"tid\":0}" + std::string(kEnd)
                    : "# " + std::string(kFull) + '\n';
        if (size + text.size() > limit) return stop("it is full");
    }
    if (json) size -= kEnd.size();
    if (const int error = write_at(descriptor_, text, size); error != 0) {
        // Removes the incomplete line, so that the file stays valid.
        if (::ftruncate(descriptor_, static_cast<off_t>(size)) == 0 && json)
            (void)write_at(descriptor_, kEnd, size);
        return stop(std::strerror(error));
    }
    if (full) stop("it has reached its limit of " + std::to_string(limit_) + " bytes");
}

void Sink::stop(const std::string& why) {
    stopped_ = true;
    sdk::layer::log(host_, WYE_LOG_WARNING, kArea,
                    "the trace `" + path_ + "` ends: " + why +
                        ". Fix: name a file on another disk with WYE_LAYER_TRACE, or raise "
                        "layer.trace.bytes");
}

}  // namespace wye::layers::trace
