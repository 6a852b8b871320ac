// SPDX-License-Identifier: Apache-2.0
//
// blockhash: the SHA-256 digest of every block of files, computed by a portable program on any
// device. One `digest  offset  file` line per block on stdout, throughput on stderr.
//
//   blockhash [--device SEL] [--block N] FILE...
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "command_line.hpp"
#include "progress.hpp"
#include "sha256_program.hpp"
#include "wye/wye.hpp"

namespace {

constexpr std::uint32_t kDigestBytes = 32;
// Bytes of a file per dispatch: enough to keep a device busy, and few enough to show progress.
constexpr std::uint64_t kChunkBytes = std::uint64_t{64} << 20U;
constexpr std::uint32_t kMaxBlock = std::uint32_t{1} << 30U;  // the program counts in 32 bits

using Clock = std::chrono::steady_clock;

struct Totals {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    std::chrono::nanoseconds device{};  // inside dispatches, transfers included
};

wye::Error file_error(const std::string& path, int number) {
    wye::Error error(wye::Code::IO,
                     fmt::format("cannot read `{}`: {}", path, std::strerror(number)),
                     "Fix: name a readable file", path);
    error.native_domain = "errno";
    error.native_code = number;
    return error;
}

class InputFile {
  public:
    explicit InputFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] bool ok() const { return fd_ >= 0; }
    [[nodiscard]] std::uint64_t size() const {
        struct stat info {};
        return ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode)
                   ? static_cast<std::uint64_t>(info.st_size)
                   : 0;
    }
    // Fills `target` unless the file ends first; returns the count, or -1 with errno.
    [[nodiscard]] ssize_t read(std::span<std::byte> target) const {
        std::size_t done = 0;
        while (done < target.size()) {
            const ssize_t n = ::read(fd_, target.data() + done, target.size() - done);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return -1;
            if (n == 0) break;
            done += static_cast<std::size_t>(n);
        }
        return static_cast<ssize_t>(done);
    }

  private:
    int fd_;
};

class BlockHasher {
  public:
    BlockHasher(const wye::Program& program, const wye::Device& device, std::uint32_t block)
        : program_(program), device_(device), block_(block) {
        const std::uint64_t chunk = std::max<std::uint64_t>(kChunkBytes / block, 1) * block;
        // Not zeroed: a small file uses few of its pages.
        data_ = std::make_unique_for_overwrite<std::byte[]>((chunk + 3) / 4 * 4);
        chunk_ = chunk;
    }

    [[nodiscard]] wye::Result<void> hash_file(const std::string& path, wye::examples::Progress& bar,
                                              Totals& totals) {
        const InputFile file(path);
        if (!file.ok()) return file_error(path, errno);
        bar.start(path, file.size());
        for (std::uint64_t offset = 0;;) {
            const ssize_t n = file.read(std::span(data_.get(), chunk_));
            if (n < 0) return file_error(path, errno);
            if (n == 0) return {};
            WYE_TRY(hash_chunk(static_cast<std::uint32_t>(n), totals));
            if (!print(path, offset))
                return wye::Error(wye::Code::IO, "cannot write to standard output",
                                  "Fix: check where it goes");
            offset += static_cast<std::uint64_t>(n);
            bar.advance(offset);
        }
    }

  private:
    [[nodiscard]] wye::Result<void> hash_chunk(std::uint32_t length, Totals& totals) {
        const std::uint64_t blocks = (std::uint64_t{length} + block_ - 1) / block_;
        digests_.resize(blocks * kDigestBytes);
        const std::size_t words = (std::size_t{length} + 3) / 4 * 4;
        std::fill(data_.get() + length, data_.get() + words, std::byte{0});
        const auto start = Clock::now();
        auto report = wye::Dispatch(program_, device_)
                          .param("length", length)
                          .param("block", block_)
                          .input("data", std::span(data_.get(), words))
                          .output("digests", digests_)
                          .run();
        if (!report.ok()) return std::move(report).error();
        totals.device += Clock::now() - start;
        totals.bytes += length;
        totals.blocks += blocks;
        return {};
    }

    [[nodiscard]] bool print(const std::string& path, std::uint64_t offset) const {
        static constexpr char kHex[] = "0123456789abcdef";
        std::array<char, 2 * kDigestBytes> hex;
        for (std::size_t at = 0; at < digests_.size(); at += kDigestBytes, offset += block_) {
            for (std::size_t i = 0; i < kDigestBytes; ++i) {
                const auto byte = std::to_integer<unsigned>(digests_[at + i]);
                hex[2 * i] = kHex[byte >> 4U];
                hex[2 * i + 1] = kHex[byte & 15U];
            }
            if (std::fprintf(stdout, "%.*s  %llu  %s\n", static_cast<int>(hex.size()), hex.data(),
                             static_cast<unsigned long long>(offset), path.c_str()) < 0)
                return false;
        }
        return true;
    }

    const wye::Program& program_;
    const wye::Device& device_;
    std::uint32_t block_;
    std::uint64_t chunk_ = 0;
    std::unique_ptr<std::byte[]> data_;
    std::vector<std::byte> digests_;
};

int fail(const wye::Error& error, int code) {
    std::fprintf(stderr, "blockhash: error: %s\n", error.text().c_str());
    return code;
}

int run(const std::string& selector, std::uint32_t block, const std::vector<std::string>& files) {
    const auto context = wye::Context::create();
    if (!context.ok()) return fail(context.error(), 1);
    const auto program = context->program_from_text(wye::examples::kSha256, "sha256.wye");
    if (!program.ok()) return fail(program.error(), 1);
    const auto device = context->open(selector, &*program);
    if (!device.ok())
        return fail(device.error(), device.error().code == wye::Code::NO_DEVICE ? 3 : 2);
    const auto where = device->describe();
    if (!where.ok()) return fail(where.error(), 1);

    BlockHasher hasher(*program, *device, block);
    wye::examples::Progress bar(stderr);
    Totals totals;
    int code = 0;
    const auto start = Clock::now();
    for (const std::string& path : files) {
        const auto hashed = hasher.hash_file(path, bar, totals);
        bar.finish();
        if (!hashed.ok()) code = fail(hashed.error(), 1);
    }
    if (std::fflush(stdout) != 0)
        return fail(wye::Error(wye::Code::IO, "cannot write to standard output",
                               "Fix: check where it goes"),
                    1);
    const double wall = std::chrono::duration<double>(Clock::now() - start).count();
    const double inside = std::chrono::duration<double>(totals.device).count();
    const double mib = static_cast<double>(totals.bytes) / (1 << 20);
    fmt::print(stderr,
               "blockhash: {} blocks, {:.1f} MiB in {:.2f} s ({:.0f} MiB/s; in dispatches {:.0f} "
               "MiB/s) on {} ({})\n",
               totals.blocks, mib, wall, wall > 0 ? mib / wall : 0.0,
               inside > 0 ? mib / inside : 0.0, wye::detail::view(where->selector),
               wye::detail::view(where->name));
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    std::string selector;
    std::uint32_t block = 4096;
    std::vector<std::string> files;
    return wye::examples::command(
        argc, argv, "blockhash", "SHA-256 of every block of files, on any device.",
        [&](wye::examples::Options& options) {
            options.text("--device", selector, "Selector (default: $WYE_DEVICE, else auto)");
            options.number("--block", block, 1, kMaxBlock, "Bytes per block (default 4096)");
            options.files("files", files, "Files");
        },
        [&] { return run(selector, block, files); });
}
