// SPDX-License-Identifier: Apache-2.0
#include "wye/sdk/kept_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "wye/sdk/build_id.hpp"
#include "wye/sdk/checksum.hpp"
#include "wye/sdk/new_file.hpp"
#include "wye/sdk/numbers.hpp"
#include "wye/sdk/own_folders.hpp"

namespace wye::sdk {
namespace {

// The format of a file: "wye kept 1 KIND KEYBYTES TEXTBYTES\n", key, "\n", text, a checksum of
// everything before, "\n".
constexpr std::string_view kMagic = "wye kept 1 ";
constexpr std::size_t kDigits = 16;
constexpr std::size_t kRandom = 7;  // length of ".XXXXXX", the end of an unfinished file's name
constexpr char kInside = 0;         // an address in the object that this code is linked into

std::string hex(std::uint64_t number) {
    char digits[kDigits + 1];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
    return digits;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }
bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

Error io_error(const std::string& what, const std::string& path, int number = errno) {
    Error error(Code::IO, what + " `" + path + "`: " + std::strerror(number),
                "Fix: make the cache folder writable; until then each process tests again", path);
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

// Opens a folder that only this user can write to. Negative: the folder is absent, or others can
// write to it.
int open_folder(const std::string& folder) {
    const int out = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat status {};
    if (out < 0 ||
        (fstat(out, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 022U) == 0))
        return out;
    close(out);
    errno = EPERM;
    return -1;
}

std::string with_build(std::string_view key, const std::string& build) {
    return std::string(key) + "\nbuild=" + build;
}

// Removes "NUMBER" and the separator after it from the front of `rest`.
std::optional<std::size_t> take_size(std::string_view& rest, char separator) noexcept {
    std::size_t out = 0;
    if (!take_number(rest, out) || !rest.starts_with(separator)) return std::nullopt;
    rest.remove_prefix(1);
    return out;
}

// Reads a file. Returns nothing if the file is absent, too long, another user's, or writable by
// others.
std::optional<std::string> read_own(const std::string& path) {
    const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (file.get() < 0 || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != geteuid() || (status.st_mode & 022U) != 0 ||
        static_cast<std::uint64_t>(status.st_size) > kMostKeptBytes)
        return std::nullopt;
    std::string content(static_cast<std::size_t>(status.st_size), '\0');
    const ssize_t size = read(file.get(), content.data(), content.size());
    if (size != status.st_size) return std::nullopt;
    return content;
}

Result<void> replace(const std::string& path, std::string_view content) {
    NewFile file;
    int problem = file.open(path, 0600);
    if (problem == 0) problem = file.write(std::as_bytes(std::span(content)));
    if (problem == 0) problem = file.publish();
    if (problem != 0) return io_error("cannot write", path, problem);
    return {};
}

}  // namespace

std::string kept_name(std::string_view kind, std::string_view key) {
    return std::string(kind) + "-" + hex(checksum(key));
}

bool is_kept_name(std::string_view name) noexcept {
    if (name.size() > kRandom && name[name.size() - kRandom] == '.') name.remove_suffix(kRandom);
    return name.size() > kDigits + 1 && name[name.size() - kDigits - 1] == '-' &&
           std::all_of(name.begin(), name.end(), is_letter) &&
           std::all_of(name.end() - kDigits, name.end(), is_hex);
}

std::string kept_file(std::string_view kind, std::string_view key, std::string_view text) {
    std::string out(kMagic);
    out += std::string(kind) + " " + std::to_string(key.size()) + " " +
           std::to_string(text.size()) + "\n";
    out.append(key).append("\n").append(text);
    return out + hex(checksum(out)) + "\n";
}

std::optional<KeptParts> kept_parts(std::string_view file) {
    if (file.size() <= kDigits || file.back() != '\n') return std::nullopt;
    std::string_view rest = file.substr(0, file.size() - kDigits - 1);
    if (file.substr(rest.size(), kDigits) != hex(checksum(rest))) return std::nullopt;
    if (rest.substr(0, kMagic.size()) != kMagic) return std::nullopt;
    rest.remove_prefix(kMagic.size());
    const std::size_t blank = rest.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    KeptParts out;
    out.kind = rest.substr(0, blank);
    rest.remove_prefix(blank + 1);
    const auto key = take_size(rest, ' ');
    const auto text = key ? take_size(rest, '\n') : std::nullopt;
    if (!text || *key >= rest.size() || rest[*key] != '\n' || rest.size() - *key - 1 != *text)
        return std::nullopt;
    out.key = rest.substr(0, *key);
    out.text = rest.substr(*key + 1);
    return out;
}

std::optional<std::string> read_kept(const std::string& folder, std::string_view kind,
                                     std::string_view key) {
    const std::string whole = with_build(key, build_id(&kInside));
    const File place(open_folder(folder));
    if (place.get() < 0) return std::nullopt;
    const auto content = read_own(folder + "/" + kept_name(kind, whole));
    const auto parts = content ? kept_parts(*content) : std::nullopt;
    if (!parts || parts->kind != kind || parts->key != whole) return std::nullopt;
    return std::string(parts->text);
}

Result<void> keep_text(const std::string& folder, std::string_view kind, std::string_view key,
                       std::string_view text) {
    const std::string build = build_id(&kInside);
    if (build.empty())
        return Error(Code::UNSUPPORTED,
                     "the plugin has no build id, so its results cannot be told from those of "
                     "another build",
                     "Fix: link it with --build-id; until then each process tests again");
    const std::string whole = with_build(key, build);
    const std::string file = kept_file(kind, whole, text);
    const std::string path = folder + "/" + kept_name(kind, whole);
    if (file.size() > kMostKeptBytes) return io_error("cannot write", path, EFBIG);
    if (const std::string part = make_own_folders(folder); !part.empty())
        return io_error("cannot make the folder", part);
    const File place(open_folder(folder));
    if (place.get() < 0) return io_error("another user may write to the folder", folder);
    return replace(path, file);
}

void drop_kept(const std::string& folder, std::string_view kind, std::string_view key) noexcept {
    try {
        const std::string whole = with_build(key, build_id(&kInside));
        const File place(open_folder(folder));
        if (place.get() >= 0) unlinkat(place.get(), kept_name(kind, whole).c_str(), 0);
    } catch (...) {  // no memory: the file stays until the next try
    }
}

void drop_kept_of(const std::string& folder, std::string_view kind,
                  std::string_view key_begin) noexcept {
    try {
        std::error_code error;
        std::filesystem::directory_iterator at(folder, error);
        for (const std::filesystem::directory_iterator end; !error && at != end;
             at.increment(error)) {
            const std::string name = at->path().filename().string();
            if (!name.starts_with(kind) || !is_kept_name(name)) continue;
            const auto content = read_own(at->path().string());
            const auto parts = content ? kept_parts(*content) : std::nullopt;
            if (parts && parts->kind == kind && parts->key.starts_with(key_begin))
                unlink(at->path().c_str());
        }
    } catch (...) {  // no memory: the files stay
    }
}

}  // namespace wye::sdk
