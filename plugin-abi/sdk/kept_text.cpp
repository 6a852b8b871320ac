// SPDX-License-Identifier: Apache-2.0
#include "wye/sdk/kept_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace wye::sdk {
namespace {

constexpr std::size_t kMostBytes = 4096;

Error io_error(const std::string& what, const std::string& path) {
    const int number = errno;
    Error error(Code::IO, what + " `" + path + "`: " + std::strerror(number),
                "Fix: make the cache folder writable; until then each process finds out again",
                path);
    error.native_domain = "errno";
    error.native_code = number;
    return error;
}

class File {
  public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    ~File() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    [[nodiscard]] int get() const { return descriptor_; }

  private:
    int descriptor_;
};

}  // namespace

std::uint64_t text_hash(std::string_view text) noexcept {
    std::uint64_t out = 0xcbf29ce484222325U;
    for (const char c : text) out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return out;
}

std::string kept_name(std::string_view kind, std::string_view key) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "-%016llx",
                  static_cast<unsigned long long>(text_hash(key)));
    return std::string(kind) + digits;
}

std::optional<std::string> read_kept(const std::string& folder, const std::string& name) {
    const File file(open((folder + "/" + name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat status {};
    if (file.get() < 0 || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != geteuid() || (status.st_mode & 022U) != 0)
        return std::nullopt;
    std::string text(kMostBytes, '\0');
    const ssize_t size = read(file.get(), text.data(), text.size());
    if (size < 0) return std::nullopt;
    text.resize(static_cast<std::size_t>(size));
    return text;
}

Result<void> keep_text(const std::string& folder, const std::string& name, std::string_view text) {
    for (std::size_t at = folder.find('/', 1);; at = folder.find('/', at + 1)) {
        const std::string part = folder.substr(0, at);
        if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST)
            return io_error("cannot make the folder", part);
        if (at == std::string::npos) break;
    }
    const std::string path = folder + "/" + name;
    std::string temporary = path + ".XXXXXX";
    {
        const File file(mkstemp(temporary.data()));
        if (file.get() < 0) return io_error("cannot make", temporary);
        const ssize_t written = write(file.get(), text.data(), text.size());
        if (written != static_cast<ssize_t>(text.size())) {
            Error error = io_error("cannot write", temporary);
            unlink(temporary.c_str());
            return error;
        }
    }
    if (rename(temporary.c_str(), path.c_str()) != 0) {
        Error error = io_error("cannot rename to", path);
        unlink(temporary.c_str());
        return error;
    }
    return {};
}

}  // namespace wye::sdk
