// SPDX-License-Identifier: Apache-2.0
//
// PendingList: the asynchronous work in flight on a device, with limits on its number and on the
// host memory that it owns. Work takes room before its submit. It enters the list after its submit,
// or when it enters the session's line, so a thread can wait for any work in the list. The list
// also keeps objects of ended work for reuse. The list shares the lock of the session's queues: a
// submit holds that lock anyway, so adding work to the list takes no further lock. Free-threaded;
// calls no function of work while it holds the lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/device/clock.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// The links of an element of a circular list.
struct WorkLink {
    WorkLink *older = nullptr, *newer = nullptr;
};

// A piece of asynchronous work. Work that has ended never runs again. The object counts the
// references to it (WorkPtr). Free-threaded.
class PendingWork : private WorkLink {
  public:
    PendingWork() = default;
    PendingWork(const PendingWork&) = delete;
    PendingWork& operator=(const PendingWork&) = delete;
    virtual ~PendingWork() = default;
    // Returns whether the work has ended. If so, first settles the work: completes its report, and
    // releases the buffers and memory that it used. Does not wait for the device.
    [[nodiscard]] virtual bool poll() = 0;
    // Like `poll`, but waits for the end, at most until the deadline (none: no limit).
    virtual bool wait(std::optional<Clock::time_point> deadline) = 0;
    // Waits for the end, without a limit. Succeeds even if no memory is left.
    virtual void wait_for_end() noexcept = 0;
    // Whether the work was given up: it may still run, but its result is known already.
    [[nodiscard]] virtual bool is_given_up() const { return false; }
    // A description for messages: "dispatch of `x`".
    [[nodiscard]] virtual std::string what() const { return "work"; }
    // Called when the time limit of the work may have passed. If the limit has passed, cancels the
    // work.
    virtual void expire() noexcept {}
    // Called on the thread of the session's line, once all work before this work has had its turn.
    virtual void take_turn() noexcept {}

    void refer() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void dereference() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) unreferenced();
    }

  protected:
    // Called when the last reference is gone: frees the object, or keeps it for reuse.
    virtual void unreferenced() noexcept = 0;
    // Sets the number of references to work that no other thread knows.
    void set_references(std::uint32_t count) noexcept {
        references_.store(count, std::memory_order_relaxed);
    }

  private:
    friend class PendingList;
    friend class PendingRoom;
    std::atomic<std::uint32_t> references_ = 0;
    // Size of the host memory that the work owns. Guarded by the list's mutex, like the WorkLink.
    // While the work is in the list, the list holds a reference to it; otherwise `older` is null.
    std::uint64_t bytes_ = 0;
};

// A reference to work.
template <typename T>
class WorkPtr {
  public:
    WorkPtr() noexcept = default;
    WorkPtr(std::nullptr_t) noexcept {}  // NOLINT: as other pointers
    explicit WorkPtr(T* work) noexcept : work_(work) {
        if (work_ != nullptr) work_->refer();
    }
    // Takes over a reference that is already counted.
    [[nodiscard]] static WorkPtr adopt(T* work) noexcept {
        WorkPtr out;
        out.work_ = work;
        return out;
    }
    WorkPtr(const WorkPtr& other) noexcept : WorkPtr(other.work_) {}
    WorkPtr(WorkPtr&& other) noexcept : work_(other.release()) {}
    template <typename Derived>
    WorkPtr(const WorkPtr<Derived>& other) noexcept  // NOLINT: a conversion
        : WorkPtr(other.get()) {}
    template <typename Derived>
    WorkPtr(WorkPtr<Derived>&& other) noexcept  // NOLINT: a conversion
        : work_(other.release()) {}
    WorkPtr& operator=(WorkPtr other) noexcept {
        std::swap(work_, other.work_);
        return *this;
    }
    ~WorkPtr() {
        if (work_ != nullptr) work_->dereference();
    }

    [[nodiscard]] T* get() const noexcept { return work_; }
    [[nodiscard]] T& operator*() const noexcept { return *work_; }
    [[nodiscard]] T* operator->() const noexcept { return work_; }
    explicit operator bool() const noexcept { return work_ != nullptr; }
    // Gives the reference to the caller, who must call `dereference`.
    [[nodiscard]] T* release() noexcept { return std::exchange(work_, nullptr); }

  private:
    T* work_ = nullptr;
};
using WorkRef = WorkPtr<PendingWork>;

struct PendingLimits {
    std::uint64_t count = 1024;
    std::uint64_t bytes = UINT64_C(1) << 30U;  // of host memory
};

class PendingList;

// Room for one piece of work in a list. The destructor gives the room back unless `take` was
// called. Move-only.
class PendingRoom {
  public:
    PendingRoom(PendingRoom&& other) noexcept
        : list_(std::exchange(other.list_, nullptr)), bytes_(other.bytes_) {}
    PendingRoom& operator=(PendingRoom&&) = delete;
    ~PendingRoom();
    // Adds the work to the list: from now on any thread may poll and wait for it. The work was
    // submitted, or is about to enter the line.
    void take(WorkRef work) noexcept;

  private:
    friend class PendingList;
    PendingRoom(PendingList& list, std::uint64_t bytes) noexcept : list_(&list), bytes_(bytes) {}
    PendingList* list_;
    const std::uint64_t bytes_;
};

class PendingList {
  public:
    // `mutex`: the mutex of the session's queues. The constructor does not lock it.
    PendingList(sdk::Mutex& mutex, PendingLimits limits, std::string device)
        : mutex_(mutex), limits_(limits), device_(std::move(device)) {}
    ~PendingList();
    PendingList(const PendingList&) = delete;
    PendingList& operator=(const PendingList&) = delete;

    // Takes room for work that is about to be submitted and will own `bytes` of host memory. If the
    // work would exceed a limit, waits until the deadline (TIMEOUT) for older work to end. With
    // `at_once` the call returns DEVICE_BUSY instead of waiting. Work may exceed the limit of bytes
    // if it is the only work.
    [[nodiscard]] Result<PendingRoom> room(std::uint64_t bytes, bool at_once,
                                           std::optional<Clock::time_point> deadline = {}) {
        if (bytes < kWorthAsking && try_room(bytes)) [[likely]]
            return PendingRoom(*this, bytes);
        return room_slowly(bytes, at_once, deadline);
    }
    // Removes work that has ended, and sets `ended` under the same lock, so that a thread that
    // finds `ended` true need not remove the work again.
    void remove(PendingWork& work, std::atomic<bool>& ended) noexcept {
        WorkRef last;  // may be the last reference; released after the lock
        const sdk::Lock lock(mutex_);
        ended.store(true, std::memory_order_release);
        last = unlink(work);
    }
    // Destroys the objects that are kept for reuse.
    void drop_idle() noexcept;
    // Polls all work. False: some work has not ended, or has taken room and is about to be
    // submitted.
    bool collect();
    void wait_for_all();
    // The name (PendingWork::what) of work that was given up and still runs. Empty: there is none.
    [[nodiscard]] std::string given_up();

    // ---- For callers that hold the mutex ----

    // Tells clang's thread-safety analysis that the caller holds the mutex, which the analysis
    // cannot infer.
    void assert_held() const WYE_ASSERT_CAPABILITY(mutex_) {}
    // Removes work from the list and returns the list's reference; null if the work is not in the
    // list.
    [[nodiscard]] WorkRef unlink(PendingWork& work) noexcept WYE_REQUIRES(mutex_) {
        if (work.older == nullptr) return {};
        work.older->newer = work.newer;
        work.newer->older = work.older;
        work.older = nullptr;
        give_back(work.bytes_);
        return WorkRef::adopt(&work);
    }
    // Takes an idle object, and room for work that owns no host memory. The caller later calls
    // `append` or `keep_back`. Null: there is no idle object, or no room.
    [[nodiscard]] PendingWork* reserve() WYE_REQUIRES(mutex_) {
        if (count_ >= limits_.count) [[unlikely]]
            return nullptr;
        PendingWork* const out = take_idle();
        if (out != nullptr) ++count_;
        return out;
    }
    // Adds work that was submitted. Takes over a reference that is already counted.
    void append(PendingWork& work) WYE_REQUIRES(mutex_) { link(work); }
    // Gives back an object from `reserve`, and its room.
    void keep_back(PendingWork& work) WYE_REQUIRES(mutex_) {
        give_back(0);
        push_idle(work);
    }
    // An idle object, or null.
    [[nodiscard]] PendingWork* take_idle() WYE_REQUIRES(mutex_) {
        if (idle_ == nullptr) return nullptr;
        --idle_count_;
        return static_cast<PendingWork*>(std::exchange(idle_, idle_->newer));
    }
    // Keeps an object that has no references, for reuse. All kept objects have the same type.
    // False: the list keeps kMostIdle objects already.
    [[nodiscard]] bool keep_idle(PendingWork& work) WYE_REQUIRES(mutex_) {
        if (idle_count_ >= kMostIdle) return false;
        push_idle(work);
        return true;
    }

  private:
    // From this size on, allocating memory takes longer than asking whether older work has ended.
    static constexpr std::uint64_t kWorthAsking = std::uint64_t{128} << 10U;
    static constexpr std::size_t kMostIdle = 1024;

    friend class PendingRoom;
    [[nodiscard]] Result<PendingRoom> room_slowly(std::uint64_t bytes, bool at_once,
                                                  std::optional<Clock::time_point> deadline);
    [[nodiscard]] bool has_room(std::uint64_t bytes) const WYE_REQUIRES(mutex_) {
        return count_ < limits_.count &&
               (count_ == 0 || bytes <= limits_.bytes - std::min(bytes_, limits_.bytes));
    }
    [[nodiscard]] bool try_room(std::uint64_t bytes) {
        const sdk::Lock lock(mutex_);
        if (!has_room(bytes)) return false;
        bytes_ += bytes;
        ++count_;
        return true;
    }
    // Waits until there is room, or work in the list. False: the deadline passed before.
    [[nodiscard]] bool await_change(std::uint64_t bytes, std::optional<Clock::time_point> deadline);
    // Destroys the objects of a list that is linked by `newer`.
    static void destroy(WorkLink* all) noexcept;
    void give_back(std::uint64_t bytes) WYE_REQUIRES(mutex_) {
        --count_;
        bytes_ -= bytes;
        changed();
    }
    void link(PendingWork& work) WYE_REQUIRES(mutex_) {
        work.older = ends_.older;
        work.newer = &ends_;
        ends_.older->newer = &work;
        ends_.older = &work;
        changed();
    }
    void changed() WYE_REQUIRES(mutex_) {
        if (waiting_ != 0) [[unlikely]]
            changed_.notify_all();
    }
    void push_idle(PendingWork& work) WYE_REQUIRES(mutex_) {
        work.newer = idle_;
        idle_ = &work;
        ++idle_count_;
    }
    [[nodiscard]] WorkRef oldest();
    [[nodiscard]] std::vector<WorkRef> all();

    sdk::Mutex& mutex_;
    const PendingLimits limits_;
    const std::string device_;
    WorkLink ends_ WYE_GUARDED_BY(mutex_){&ends_, &ends_};  // sentinel of the circular list
    std::uint64_t count_ WYE_GUARDED_BY(mutex_) = 0;        // includes work that only has room
    std::uint64_t bytes_ WYE_GUARDED_BY(mutex_) = 0;
    WorkLink* idle_ WYE_GUARDED_BY(mutex_) = nullptr;  // linked by `newer`
    std::size_t idle_count_ WYE_GUARDED_BY(mutex_) = 0;
    std::uint32_t waiting_ WYE_GUARDED_BY(mutex_) = 0;  // threads in await_change
    std::condition_variable_any changed_;               // notified while threads wait
};

inline PendingRoom::~PendingRoom() {
    if (list_ == nullptr) return;
    const sdk::Lock lock(list_->mutex_);
    list_->give_back(bytes_);
}

inline void PendingRoom::take(WorkRef work) noexcept {
    PendingList& list = *std::exchange(list_, nullptr);
    PendingWork& one = *work.release();
    one.bytes_ = bytes_;
    const sdk::Lock lock(list.mutex_);
    list.link(one);
}

}  // namespace wye::exec
