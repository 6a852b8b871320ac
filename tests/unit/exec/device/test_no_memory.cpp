// SPDX-License-Identifier: Apache-2.0
//
// HostMemory and Watcher when allocations of the calling thread fail. Replaces `operator new` of
// this executable.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "exec/device/host_memory.hpp"
#include "exec/device/watcher.hpp"

namespace {
// How many more allocations of the thread succeed; below 0: all.
thread_local long left = -1;
}  // namespace

// Not inlined, since compilers would report an inlined `new` or `delete` as mismatched.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (left == 0) throw std::bad_alloc();
    if (left > 0) --left;
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace wye::exec;

TEST_CASE("a block of host memory is given back and taken again without an allocation") {
    HostMemory pool;
    const std::byte* first = nullptr;
    const std::byte* again = nullptr;
    {
        HostBlock block = pool.take(5000);
        first = block.data();
        left = 0;
        block.release();
        again = pool.take(5000).data();
        left = -1;
    }
    CHECK(again == first);
}

// Pending work that has ended.
class Ended final : public PendingWork {
  public:
    Ended() { set_references(1); }
    bool poll() override { return true; }
    bool wait(std::optional<Clock::time_point>) override { return true; }
    void wait_for_end() noexcept override {}

  private:
    void unreferenced() noexcept override { delete this; }
};

TEST_CASE("a watcher that has no memory for a request never answers it, and answers later ones") {
    std::atomic<int> refused_ran{0}, ran{0};
    int refused = 0;
    {
        Watcher watcher("wye-watch");
        for (long allowed = 0;; ++allowed) {
            auto work = WorkRef::adopt(new Ended);
            std::function<void()> then = [&refused_ran] { ++refused_ran; };
            bool good = false;
            left = allowed;
            try {
                good = watcher.add(std::move(work), std::move(then)).ok();
            } catch (const std::bad_alloc&) {
            }
            left = -1;
            if (good) break;
            ++refused;
        }
        CHECK(watcher.add(WorkRef::adopt(new Ended), [&ran] { ++ran; }).ok());
    }
    CHECK(refused > 0);
    CHECK(refused_ran == 1);  // from the last request, which was accepted
    CHECK(ran == 1);
}

}  // namespace
