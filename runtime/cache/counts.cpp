// SPDX-License-Identifier: Apache-2.0
#include "cache/counts.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "wye/sdk/checksum.hpp"

namespace wye::cache {
namespace {

struct Stored {
    Counts counts;
    std::uint64_t checksum;
};

// The checksum of counts. It is not 0 for counts of 0, so that a file of zeros is detected as
// damaged.
std::uint64_t checksum(const Counts& counts) {
    return sdk::checksum(std::as_bytes(std::span(&counts, 1)));
}

}  // namespace

CountsFile::CountsFile(const Folder& folder, Recount recount)
    : recount_(std::move(recount)),
      file_(openat(folder.descriptor(), kCountsName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                   0600)) {
    struct stat status {};
    if (file_.open() && (fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
                         status.st_uid != geteuid() || fchmod(file_.get(), 0600) != 0))
        file_ = Descriptor();
    if (file_.open() && !load()) update([](Counts&) {});
}

// Checks the process's file size limit, since exceeding it raises the fatal signal SIGXFSZ.
bool CountsFile::may_write() {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= sizeof(Stored);
}

bool CountsFile::lock() const {
    for (int tries = 0; tries < 50; ++tries) {
        if (flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return true;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return false;
}

std::optional<Counts> CountsFile::load() const {
    Stored stored{};
    if (pread(file_.get(), &stored, sizeof stored, 0) != sizeof stored ||
        stored.checksum != checksum(stored.counts))
        return std::nullopt;
    return stored.counts;
}

Counts CountsFile::update(const std::function<void(Counts&)>& change) {
    const sdk::Lock guard(mutex_);
    if (!file_.open() || !lock()) return {};
    const std::optional<Counts> before = load();
    Stored stored{before.value_or(Counts()), 0};
    if (!before) stored.counts.bytes = recount_();
    change(stored.counts);
    stored.checksum = checksum(stored.counts);
    if (stored.counts != before && may_write())
        (void)!pwrite(file_.get(), &stored, sizeof stored, 0);
    (void)flock(file_.get(), LOCK_UN);
    return stored.counts;
}

}  // namespace wye::cache
