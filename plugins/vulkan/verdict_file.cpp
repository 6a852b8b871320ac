// SPDX-License-Identifier: Apache-2.0
#include "vulkan/verdict_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "vulkan/saved.hpp"

namespace wye::vulkan {
namespace {

// The number grows whenever the self-test or the list of its findings changes.
constexpr std::string_view kFirstLine = "wye vulkan self-test 2\n";
constexpr std::size_t kMostBytes = 4096;

std::string path_of(const std::string& folder, const std::string& key) {
    char name[48];
    std::snprintf(name, sizeof name, "/vulkan-self-test-%016llx",
                  static_cast<unsigned long long>(
                      checksum({reinterpret_cast<const std::byte*>(key.data()), key.size()})));
    return folder + name;
}

Error io_error(const std::string& what, const std::string& path) {
    const int number = errno;
    Error error(Code::IO,
                "the verdict of the self-test cannot be kept: " + what + " `" + path +
                    "`: " + std::strerror(number),
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

}  // namespace

std::string verdict_key(const Device& device) {
    const VkPhysicalDeviceProperties& core = device.properties.core;
    std::string out = "uuid=";
    for (const std::uint8_t byte : core.pipelineCacheUUID) {
        out += "0123456789abcdef"[byte >> 4U];
        out += "0123456789abcdef"[byte & 15U];
    }
    return out + " vendor=" + std::to_string(core.vendorID) +
           " device=" + std::to_string(core.deviceID) +
           " driver=" + std::to_string(core.driverVersion) +
           " api=" + std::to_string(core.apiVersion) + " plugin=" WYE_PLUGIN_VERSION " on " +
           device.platform + " " + device.driver + ", " + device.name;
}

std::string verdict_text(const std::string& key, const Verdict& verdict) {
    std::string out(kFirstLine);
    out += key + "\n";
    visit(
        verdict,
        [&](const char* name, bool flag) { out += std::string(name) + (flag ? " 1\n" : " 0\n"); },
        [&](const char* name, std::uint64_t number) {
            out += std::string(name) + " " + std::to_string(number) + "\n";
        });
    return out;
}

std::optional<Verdict> verdict_of(const std::string& text, const std::string& key) {
    Verdict out;
    std::string_view rest = text;
    bool good = true;
    const auto expect = [&](std::string_view part) {
        good = good && rest.substr(0, part.size()) == part;
        if (good) rest.remove_prefix(part.size());
    };
    const auto number = [&](const char* name, std::uint64_t most) {
        expect(name);
        expect(" ");
        std::uint64_t value = 0;
        std::size_t digits = 0;
        for (; good && digits < rest.size() && digits < 12 && rest[digits] >= '0' &&
               rest[digits] <= '9';
             ++digits)
            value = value * 10 + static_cast<std::uint64_t>(rest[digits] - '0');
        good = good && digits != 0 && value <= most;
        if (good) rest.remove_prefix(digits);
        expect("\n");
        return value;
    };
    expect(kFirstLine);
    expect(key);
    expect("\n");
    visit(
        out, [&](const char* name, bool& flag) { flag = number(name, 1) == 1; },
        [&](const char* name, std::uint64_t& value) { value = number(name, UINT32_MAX); });
    if (!good || !rest.empty()) return std::nullopt;
    out.ran = true;
    return out;
}

std::optional<Verdict> load_verdict(const std::string& folder, const std::string& key) {
    const File file(open(path_of(folder, key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (file.get() < 0) return std::nullopt;
    std::string text(kMostBytes, '\0');
    const ssize_t size = read(file.get(), text.data(), text.size());
    if (size < 0) return std::nullopt;
    text.resize(static_cast<std::size_t>(size));
    return verdict_of(text, key);
}

Result<void> save_verdict(const std::string& folder, const std::string& key,
                          const Verdict& verdict) {
    for (std::size_t at = folder.find('/', 1);; at = folder.find('/', at + 1)) {
        const std::string part = folder.substr(0, at);
        if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST)
            return io_error("cannot make the folder", part);
        if (at == std::string::npos) break;
    }
    const std::string path = path_of(folder, key);
    std::string temporary = path + ".XXXXXX";
    const std::string text = verdict_text(key, verdict);
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

}  // namespace wye::vulkan
