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
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "command_line.hpp"
#include "progress.hpp"
#include "sha256_program.hpp"
#include "wye/memory.hpp"
#include "wye/sdk/printable.hpp"
#include "wye/wye.hpp"

namespace {

constexpr std::uint32_t kDigestBytes = 32;
// The maximum number of bytes of a file in one dispatch: enough to keep a device busy, and few
// enough to show progress.
constexpr std::uint64_t kChunkBytes = std::uint64_t{64} << 20U;
constexpr std::uint32_t kMaxBlock = std::uint32_t{1} << 30U;  // the program counts in 32 bits

using Clock = std::chrono::steady_clock;

// Chunks on the device at once: one is uploaded while another is hashed and a third is downloaded.
constexpr std::size_t kInFlight = 3;
// Bytes that one thread reads at a time. One thread alone is slower than the bus of a device.
constexpr std::uint64_t kSliceBytes = std::uint64_t{16} << 20U;

struct Totals {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    std::chrono::nanoseconds device{};  // time to submit dispatches and wait for them
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
    explicit InputFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        struct stat info {};
        if (ok() && ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode))
            size_ = static_cast<std::uint64_t>(info.st_size);
    }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] bool ok() const { return fd_ >= 0; }
    [[nodiscard]] std::uint64_t size() const { return size_; }  // 0: unknown
    // Fills `target` from `offset` on, unless the file ends first. Returns the number of bytes, or
    // -1 with errno. Several threads read a file of known size. Other files, which may have no
    // offsets, are read in sequence.
    [[nodiscard]] ssize_t read(std::span<std::byte> target, std::uint64_t offset) const {
        if (size_ == 0) return read_on(target);
        std::vector<std::future<Slice>> slices;
        for (std::size_t at = kSliceBytes; at < target.size(); at += kSliceBytes) {
            const auto part =
                target.subspan(at, std::min<std::size_t>(target.size() - at, kSliceBytes));
            // If no thread can be started, the slice is read when it is needed.
            slices.push_back(
                std::async(std::launch::async | std::launch::deferred,
                           [this, part, at, offset] { return read_at(part, offset + at); }));
        }
        Slice last =
            read_at(target.first(std::min<std::size_t>(target.size(), kSliceBytes)), offset);
        ssize_t done = last.count;
        bool whole =
            last.count == static_cast<ssize_t>(std::min<std::size_t>(target.size(), kSliceBytes));
        for (std::future<Slice>& slice : slices) {
            const Slice next = slice.get();
            if (!whole) continue;  // bytes beyond the end of the file do not count
            last = next;
            if (next.count >= 0) done += next.count;
            whole = next.count == static_cast<ssize_t>(kSliceBytes);
        }
        if (last.count < 0) errno = last.error;
        return last.count < 0 ? -1 : done;
    }

  private:
    struct Slice {
        ssize_t count = 0;
        int error = 0;
    };
    [[nodiscard]] Slice read_at(std::span<std::byte> target, std::uint64_t offset) const {
        std::size_t done = 0;
        while (done < target.size()) {
            const ssize_t n = ::pread(fd_, target.data() + done, target.size() - done,
                                      static_cast<off_t>(offset + done));
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return {-1, errno};
            if (n == 0) break;
            done += static_cast<std::size_t>(n);
        }
        return {static_cast<ssize_t>(done), 0};
    }
    [[nodiscard]] ssize_t read_on(std::span<std::byte> target) const {
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

    int fd_;
    std::uint64_t size_ = 0;
};

// Memory for one chunk of a file. Zeros follow the file's bytes, so that whole words can be read.
class ChunkMemory {
  public:
    static constexpr std::size_t kPadding = 3;

    // `alignment`: a power of two.
    [[nodiscard]] static wye::Result<ChunkMemory> make(std::uint64_t bytes,
                                                       std::uint64_t alignment) {
        ChunkMemory out;
        out.size_ = (bytes + kPadding + alignment - 1) / alignment * alignment;
        out.bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, out.size_)));
        if (out.bytes_) return out;
        return wye::Error(wye::Code::OUT_OF_MEMORY, fmt::format("no memory for {} bytes", bytes),
                          "Fix: free some memory");
    }
    // Lets the device read the memory directly from now on. If the device cannot, bytes are copied.
    void register_with(const wye::Device& device) {
        auto made = wye::RegisteredMemory::add(device, std::span(bytes_.get(), size_));
        if (made.ok()) registered_ = std::make_unique<wye::RegisteredMemory>(std::move(*made));
    }
    [[nodiscard]] bool registered() const { return registered_ != nullptr; }
    [[nodiscard]] std::byte* data() const { return bytes_.get(); }

  private:
    struct Free {
        void operator()(std::byte* bytes) const { std::free(bytes); }
    };
    std::unique_ptr<std::byte, Free> bytes_;
    std::size_t size_ = 0;
    std::unique_ptr<wye::RegisteredMemory> registered_;  // destroyed before the memory
};

// Reads a file in chunks. Another thread reads each chunk before it is needed.
class ReadAhead {
  public:
    // `chunk`: bytes of a chunk, whole blocks. The memory for large files is registered with the
    // device.
    ReadAhead(const InputFile& file, std::uint64_t chunk, std::uint32_t block,
              const wye::Device& device)
        : file_(file),
          // A small file needs no large buffer.
          bytes_(file.size() == 0 ? chunk
                                  : std::min((file.size() + block - 1) / block * block, chunk)),
          device_(device) {
        const auto fact = device.fact("host_memory_alignment");
        registers_ = fact.ok() && fact->u != 0 && file.size() >= kRegisterFrom;
        if (registers_) alignment_ = std::max(alignment_, fact->u);
    }
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    struct Part {
        std::span<std::byte> bytes;  // empty at the end
        bool registered = false;
    };
    // Returns the next chunk. Its memory is used again kInFlight + 2 calls later.
    [[nodiscard]] wye::Result<Part> next(const std::string& path) {
        if (offset_ == 0 && !reading_.valid()) WYE_TRY(start());
        if (!reading_.valid()) return Part{};
        const Read read = reading_.get();
        if (read.count < 0) return file_error(path, read.error);
        const ChunkMemory& memory = *memory_[now_];
        const std::span<std::byte> out(memory.data(), static_cast<std::size_t>(read.count));
        std::fill_n(out.data() + out.size(), ChunkMemory::kPadding, std::byte{0});
        offset_ += out.size();
        now_ = (now_ + 1) % memory_.size();
        if (out.size() == bytes_) WYE_TRY(start());
        return Part{out, memory.registered()};
    }

  private:
    // Registering memory takes as long as copying it several times.
    static constexpr std::uint64_t kRegisterFrom = 16 * kChunkBytes;
    struct Read {
        ssize_t count = 0;
        int error = 0;
    };
    [[nodiscard]] wye::Result<void> start() {
        std::optional<ChunkMemory>& memory = memory_[now_];
        if (!memory) {
            WYE_ASSIGN(memory, ChunkMemory::make(bytes_, alignment_));
            if (registers_) memory->register_with(device_);
        }
        // A small chunk is not worth a thread. Without a thread, a chunk is read when it is needed.
        const auto how = bytes_ <= kSliceBytes ? std::launch::deferred
                                               : std::launch::async | std::launch::deferred;
        reading_ = std::async(how, [this, target = memory->data()] {
            const ssize_t count = file_.read({target, bytes_}, offset_);
            return Read{count, count < 0 ? errno : 0};
        });
        return {};
    }

    const InputFile& file_;
    const std::uint64_t bytes_;
    const wye::Device& device_;
    std::uint64_t alignment_ = 64;
    bool registers_ = false;
    std::uint64_t offset_ = 0;
    // The chunks in flight, the chunk that was read last, and the chunk that is being read.
    std::array<std::optional<ChunkMemory>, kInFlight + 2> memory_;
    std::size_t now_ = 0;
    // The read of the next chunk; none: the file has ended. Destroyed first: it waits for the
    // thread.
    std::future<Read> reading_;
};

class BlockHasher {
  public:
    BlockHasher(const wye::Program& program, const wye::Device& device, std::uint32_t block)
        : program_(program),
          device_(device),
          block_(block),
          // A chunk has fewer bytes if blocks are smaller than digests, so that the digests fit,
          // too.
          chunk_(std::max<std::uint64_t>(kChunkBytes / std::max(block, kDigestBytes), 1) * block) {}

    [[nodiscard]] wye::Result<void> hash_file(const std::string& path, wye::examples::Progress& bar,
                                              Totals& totals) {
        const InputFile file(path);
        if (!file.ok()) return file_error(path, errno);
        bar.start(wye::sdk::one_line(path), file.size());
        ReadAhead input(file, chunk_, block_, device_);
        std::deque<Chunk> chunks;  // in flight, the oldest first; they may use memory of `input`
        for (std::uint64_t offset = 0;;) {
            WYE_ASSIGN(const ReadAhead::Part part, input.next(path));
            if (part.bytes.empty()) break;
            if (chunks.size() == kInFlight) WYE_TRY(settle(path, chunks, bar, totals));
            WYE_TRY(submit(part, offset, chunks, totals));
            offset += part.bytes.size();
        }
        while (!chunks.empty()) WYE_TRY(settle(path, chunks, bar, totals));
        return {};
    }

  private:
    struct Chunk {
        std::uint64_t offset, bytes;
        std::vector<std::byte> digests;  // empty: the dispatch owns the digests
        std::optional<wye::Pending> pending;
    };

    // The device reads registered memory directly; other bytes are copied before `submit` returns.
    [[nodiscard]] wye::Result<void> submit(const ReadAhead::Part& part, std::uint64_t offset,
                                           std::deque<Chunk>& chunks, Totals& totals) {
        const auto start = Clock::now();
        const std::span<const std::byte> bytes = part.bytes;
        const std::span words(bytes.data(), (bytes.size() + 3) / 4 * 4);  // see ChunkMemory
        wye::Dispatch dispatch(program_, device_);
        dispatch.param("length", static_cast<std::uint32_t>(bytes.size()))
            .param("block", block_)
            .input("data", words);
        Chunk& chunk = chunks.emplace_back(Chunk{offset, bytes.size(), {}, {}});
        if (part.registered) {
            chunk.digests.resize((bytes.size() + block_ - 1) / block_ * kDigestBytes);
            dispatch.output("digests", chunk.digests);
            WYE_ASSIGN(chunk.pending, dispatch.submit_borrowing());
        } else {
            WYE_ASSIGN(chunk.pending, dispatch.submit());
        }
        totals.device += Clock::now() - start;
        return {};
    }

    // Waits for the oldest chunk and prints its digests.
    [[nodiscard]] wye::Result<void> settle(const std::string& path, std::deque<Chunk>& chunks,
                                           wye::examples::Progress& bar, Totals& totals) {
        Chunk chunk = std::move(chunks.front());
        chunks.pop_front();
        const auto start = Clock::now();
        auto report = chunk.pending->wait();
        totals.device += Clock::now() - start;
        if (!report.ok()) return std::move(report).error();
        std::span<const std::byte> digests = chunk.digests;
        if (digests.empty()) {
            WYE_ASSIGN(digests, chunk.pending->output<std::byte>("digests"));
        }
        totals.bytes += chunk.bytes;
        totals.blocks += digests.size() / kDigestBytes;
        if (!print(path, chunk.offset, digests))
            return wye::Error(wye::Code::IO, "cannot write to standard output",
                              "Fix: check where standard output goes");
        bar.advance(chunk.offset + chunk.bytes);
        return {};
    }

    [[nodiscard]] bool print(const std::string& path, std::uint64_t offset,
                             std::span<const std::byte> digests) {
        static constexpr char kHex[] = "0123456789abcdef";
        text_.clear();
        const std::string shown = wye::sdk::one_line(path);
        for (std::size_t at = 0; at < digests.size(); at += kDigestBytes, offset += block_) {
            for (const std::byte byte : digests.subspan(at, kDigestBytes)) {
                text_.push_back(kHex[std::to_integer<unsigned>(byte) >> 4U]);
                text_.push_back(kHex[std::to_integer<unsigned>(byte) & 15U]);
            }
            fmt::format_to(std::back_inserter(text_), "  {}  {}\n", offset, shown);
        }
        return std::fwrite(text_.data(), 1, text_.size(), stdout) == text_.size();
    }

    const wye::Program& program_;
    const wye::Device& device_;
    const std::uint32_t block_;
    const std::uint64_t chunk_;
    fmt::memory_buffer text_;
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
                               "Fix: check where standard output goes"),
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
