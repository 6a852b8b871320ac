// SPDX-License-Identifier: Apache-2.0
//
// Runs invocations of a workgroup that wait for each other, on one thread. Each invocation has its
// own stack, and runs until it waits or ends. A real device runs invocations as threads.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace driver {

class Fibers {
  public:
    // `run` will call body(0) to body(count - 1). A body may call `wait`; all bodies must call
    // `wait` equally often.
    Fibers(std::size_t count, std::function<void(std::size_t)> body)
        : body_(std::move(body)), fibers_(count) {}
    Fibers(const Fibers&) = delete;
    Fibers& operator=(const Fibers&) = delete;

    // Runs the bodies until all have ended. Rethrows an exception that a body has thrown.
    void run() {
        for (Fiber& fiber : fibers_) {
            fiber.stack = std::make_unique_for_overwrite<std::byte[]>(kStack);
            getcontext(&fiber.context);
            fiber.context.uc_stack.ss_sp = fiber.stack.get();
            fiber.context.uc_stack.ss_size = kStack;
            fiber.context.uc_link = &scheduler_;
            const auto self = reinterpret_cast<std::uintptr_t>(this);
            makecontext(&fiber.context, reinterpret_cast<void (*)()>(&Fibers::enter), 2,
                        static_cast<unsigned>(self), static_cast<unsigned>(self >> 32U));
        }
        for (std::size_t ended = 0; ended < fibers_.size();) {
            ended = 0;
            for (current_ = 0; current_ < fibers_.size(); ++current_) {
                Fiber& fiber = fibers_[current_];
                if (!fiber.ended) swapcontext(&scheduler_, &fiber.context);
                ended += fiber.ended ? 1 : 0;
            }
            if (failure_) std::rethrow_exception(failure_);
        }
    }

    // Returns when all other invocations have called `wait` equally often.
    void wait() { swapcontext(&fibers_[current_].context, &scheduler_); }

  private:
    static constexpr std::size_t kStack = std::size_t{1} << 20U;

    struct Fiber {
        ucontext_t context{};
        std::unique_ptr<std::byte[]> stack;
        bool ended = false;
    };

    static void enter(unsigned low, unsigned high) {
        auto& self = *reinterpret_cast<Fibers*>(std::uintptr_t{low} | std::uintptr_t{high} << 32U);
        try {
            self.body_(self.current_);
        } catch (...) {  // no exception may leave the fiber's stack
            self.failure_ = std::current_exception();
        }
        self.fibers_[self.current_].ended = true;
    }

    std::function<void(std::size_t)> body_;
    std::vector<Fiber> fibers_;
    ucontext_t scheduler_{};
    std::size_t current_ = 0;
    std::exception_ptr failure_;
};

}  // namespace driver
