// SPDX-License-Identifier: Apache-2.0
#include "cache/counts.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace wye::cache {
namespace {

struct Stored {
    Counts counts;
    std::uint64_t checksum;
};

std::uint64_t checksum(const Counts& counts) { return XXH3_64bits(&counts, sizeof counts) ^ 1U; }

}  // namespace

CountsFile::CountsFile(const Folder& folder)
    : file_(openat(folder.descriptor(), kCountsName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                   0600)) {
    struct stat status {};
    if (file_.open() && (fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
                         status.st_uid != geteuid()))
        file_ = Descriptor();
}

// A limit of the process on file sizes would come as a signal that ends it.
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

Counts CountsFile::load() const {
    Stored stored{};
    if (pread(file_.get(), &stored, sizeof stored, 0) != sizeof stored ||
        stored.checksum != checksum(stored.counts))
        return {};
    return stored.counts;
}

Counts CountsFile::update(const std::function<void(Counts&)>& change) {
    const std::lock_guard guard(mutex_);
    if (!file_.open() || !lock()) return {};
    const Counts before = load();
    Stored stored{before, 0};
    change(stored.counts);
    stored.checksum = checksum(stored.counts);
    if (stored.counts != before && may_write())
        (void)!pwrite(file_.get(), &stored, sizeof stored, 0);
    (void)flock(file_.get(), LOCK_UN);
    return stored.counts;
}

}  // namespace wye::cache
