// SPDX-License-Identifier: Apache-2.0
#include "conformance/abi/borrowed.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <mutex>

#include "conformance/abi/harness.hpp"
#include "conformance/abi/report.hpp"

namespace harness {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 16384;

// Pages that can be read only during the call whose arguments they hold. The pages are used one
// after the other in a circle, so that thousands of calls pass before a page holds another call's
// arguments.
class Arena {
  public:
    // Takes the next `count` free pages in a row, makes them writable, and returns the first one's
    // index.
    std::size_t take(std::size_t count, const char* slot) {
        const std::lock_guard lock(mutex_);
        for (std::size_t first = next_, tries = 0; tries < 2 * kPages; ++tries) {
            if (first + count > kPages) first = 0;
            const auto begin = slots_ + first;
            const auto used =
                std::find_if(begin, begin + count, [](const Page& page) { return page.taken; });
            if (used == begin + count) {
                std::fill(begin, begin + count, Page{slot, true});
                next_ = first + count;
                protect(first, count, PROT_READ | PROT_WRITE);
                return first;
            }
            first = static_cast<std::size_t>(used - slots_) + 1;
        }
        throw SetupFailed("the arguments of a call need more memory than the kit has for them");
    }
    void give_back(std::size_t first, std::size_t count) {
        const std::lock_guard lock(mutex_);
        protect(first, count, PROT_NONE);
        for (std::size_t i = 0; i < count; ++i) slots_[first + i].taken = false;
    }
    [[nodiscard]] std::byte* at(std::size_t page) const { return memory_ + page * kPage; }
    // The name of the last call that had arguments at `address`; null: no call had any there.
    [[nodiscard]] const char* slot_of(const void* address) const {
        const auto offset =
            static_cast<std::size_t>(static_cast<const std::byte*>(address) - memory_);
        return memory_ == nullptr || offset >= kPages * kPage ? nullptr
                                                              : slots_[offset / kPage].slot;
    }

    struct sigaction before {};  // the SIGSEGV handler that the process had before

  private:
    struct Page {
        const char* slot = nullptr;
        bool taken = false;
    };
    void protect(std::size_t first, std::size_t count, int access) {
        if (memory_ == nullptr) {
            void* const made = ::mmap(nullptr, kPages * kPage, PROT_NONE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (made == MAP_FAILED) throw SetupFailed("no memory for the arguments of calls");
            memory_ = static_cast<std::byte*>(made);
        }
        ::mprotect(at(first), count * kPage, access);
    }

    std::mutex mutex_;
    std::byte* memory_ = nullptr;
    std::size_t next_ = 0;
    Page slots_[kPages];
};

Arena& arena() {
    static Arena& out = *new Arena;  // never destroyed: a plugin's threads may outlive the cases
    return out;
}

void on_fault(int, siginfo_t* info, void*) {
    const char* const slot = arena().slot_of(info->si_addr);
    if (slot == nullptr) {
        ::sigaction(SIGSEGV, &arena().before, nullptr);  // the access is repeated, and faults there
        return;
    }
    char text[200];
    std::snprintf(text, sizeof text,
                  "the plugin reads or writes an argument of `%s` after that call has returned",
                  slot);
    fail_and_leave("P-13", text);
}

}  // namespace

void watch_borrowed() {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &action, &arena().before);
}

Borrowed::~Borrowed() {
    for (const Pages& pages : pages_) arena().give_back(pages.first, pages.count);
}

void* Borrowed::room(std::size_t bytes) {
    bytes = (bytes + 15) / 16 * 16;
    if (bytes > left_) {
        const std::size_t count = (bytes + kPage - 1) / kPage;
        pages_.push_back({arena().take(count, slot_), count});
        next_ = arena().at(pages_.back().first);
        left_ = count * kPage;
    }
    std::byte* const out = next_;
    next_ += bytes;
    left_ -= bytes;
    return out;
}

const wye_operation* Borrowed::operations(std::span<const wye_operation> operations) {
    wye_operation* const out = many(operations);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        if (out[i].kind == WYE_OPERATION_DISPATCH) {
            wye_dispatch_op& op = out[i].u.dispatch;
            if (i > 0 && operations[i - 1].kind == WYE_OPERATION_DISPATCH) {
                // Launches that share their arguments must share the copies, too: the hint `again`
                // promises equal pointers.
                const wye_dispatch_op& before = operations[i - 1].u.dispatch;
                const wye_dispatch_op& copied = out[i - 1].u.dispatch;
                if (op.bindings == before.bindings && op.binding_count == before.binding_count &&
                    op.params == before.params && op.params_size == before.params_size) {
                    op.bindings = copied.bindings;
                    op.params = copied.params;
                    continue;
                }
            }
            if (op.bindings != nullptr)
                op.bindings = many(std::span(op.bindings, op.binding_count));
            op.params = bytes(op.params, op.params_size);
        } else if (out[i].kind == WYE_OPERATION_EXECUTE) {
            wye_execute_op& op = out[i].u.execute;
            op.slots = many(std::span(op.slots, op.slot_count));
            op.params = bytes(op.params, op.params_size);
        }
    }
    return out;
}

const wye_artifact* Borrowed::artifact(const wye_artifact& artifact) {
    wye_artifact* const out = one(artifact);
    out->format = text(artifact.format);
    out->code.data = bytes(artifact.code.data, artifact.code.size);
    out->entry = text(artifact.entry);
    out->slots = many(std::span(artifact.slots, artifact.slot_count));
    out->label = text(artifact.label);
    out->options = text(artifact.options);
    return out;
}

}  // namespace harness
