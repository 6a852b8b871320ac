// SPDX-License-Identifier: Apache-2.0
#include "fibers.hpp"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

// Saves the stack pointer and the registers that a callee must keep, and continues on another
// stack. (The C library's swapcontext would make a system call for the signal mask at each switch.)
extern "C" void model_fiber_switch(void** from, void* to);
asm(R"(
.text
.type model_fiber_switch, @function
model_fiber_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size model_fiber_switch, . - model_fiber_switch
)");

namespace wye::model {
namespace {

// The initial contents of a new stack: six registers, the function, and a null return address.
void* top_of(std::byte* end, void (*begin)()) {
    auto* const at = reinterpret_cast<void**>(end) - 10;
    std::fill_n(at, 10, nullptr);
    at[6] = reinterpret_cast<void*>(begin);
    return at;
}

constexpr std::size_t kStack = std::size_t{1} << 20U;
constexpr std::uint64_t kTick = 1'100'000'000;  // longer than the time limit of any call

}  // namespace

Fibers* Fibers::active = nullptr;

// All fibers run on one thread, but the library expects thread-local variables of its own for each
// thread. Finds these variables, to save and restore them at each switch.
Fibers::Fibers() {
    const auto find = [](dl_phdr_info* info, std::size_t, void* out) {
        if (std::string_view(info->dlpi_name).find("libwye.so") == std::string_view::npos ||
            info->dlpi_tls_data == nullptr)
            return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i)
            if (info->dlpi_phdr[i].p_type == PT_TLS)
                *static_cast<std::span<std::byte>*>(out) = {
                    static_cast<std::byte*>(info->dlpi_tls_data), info->dlpi_phdr[i].p_memsz};
        return 0;
    };
    ::dl_iterate_phdr(find, &locals_);
    fresh_.assign(locals_.begin(), locals_.end());
}

void Fibers::swap_locals(Fiber& fiber) { std::ranges::swap_ranges(fiber.locals, locals_); }

Fibers::~Fibers() {
    clear();
    for (void* stack : stacks_) ::munmap(stack, kStack);
}

Fiber& Fibers::start(std::function<void()> work) {
    auto fiber = std::make_unique<Fiber>();
    if (stacks_.empty()) {
        void* const made = ::mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (made == MAP_FAILED) std::abort();
        stacks_.push_back(made);
    }
    fiber->stack = stacks_.back();
    stacks_.pop_back();
    fiber->work = std::move(work);
    fiber->locals = fresh_;
    fiber->at = top_of(static_cast<std::byte*>(fiber->stack) + kStack, &Fibers::enter);
    fibers_.push_back(std::move(fiber));
    return *fibers_.back();
}

void Fibers::enter() {
    Fiber& self = *active->current_;
    self.work();
    self.state = Fiber::State::Ended;
    active->leave(self);
}

void Fibers::resume(Fiber& fiber) {
    current_ = &fiber;
    fiber.state = Fiber::State::Ready;
    swap_locals(fiber);
    model_fiber_switch(&main_, fiber.at);
    swap_locals(fiber);
    current_ = nullptr;
}

void Fibers::leave(Fiber& fiber) { model_fiber_switch(&fiber.at, main_); }

void Fibers::settle() {
    for (bool again = true; again;) {
        again = false;
        for (std::size_t i = 0; i < fibers_.size(); ++i) {  // a fiber may start others
            Fiber& fiber = *fibers_[i];
            if (fiber.state == Fiber::State::Blocked) {
                fiber.woken = fiber.can_go();  // asked only once, since it may take a lock
                if (fiber.woken || fiber.deadline <= now_) fiber.state = Fiber::State::Ready;
            }
            if (fiber.state != Fiber::State::Ready) continue;
            resume(fiber);
            again = true;
        }
    }
    std::erase_if(fibers_, [&](const std::unique_ptr<Fiber>& fiber) {
        if (fiber->state != Fiber::State::Ended) return false;
        stacks_.push_back(fiber->stack);
        return true;
    });
}

bool Fibers::block(Reason reason, std::function<bool()> can_go, std::uint64_t deadline) {
    Fiber& self = *current_;
    if (can_go()) return true;
    if (deadline <= now_) return false;
    self.state = Fiber::State::Blocked;
    self.reason = reason;
    self.can_go = std::move(can_go);
    self.deadline = deadline;
    leave(self);
    self.can_go = nullptr;
    self.reason = Reason::None;
    return self.woken;
}

void Fibers::place() {
    Fiber* const self = current_;
    if (self == nullptr || ++self->slots != self->stop_at) return;
    self->state = Fiber::State::Stopped;
    leave(*self);
}

void Fibers::hold() {
    Fiber& self = *current_;
    if (!self.is_line || !holds_line || !holds_line()) return;
    self.slots = 0;
    self.state = Fiber::State::Stopped;
    leave(self);
}

bool Fibers::time_can_pass() const {
    return std::ranges::any_of(fibers_, [](const auto& fiber) {
        return fiber->state == Fiber::State::Blocked && fiber->deadline != UINT64_MAX;
    });
}

void Fibers::pass_time() {
    std::uint64_t first = UINT64_MAX;
    for (const auto& fiber : fibers_)
        if (fiber->state == Fiber::State::Blocked) first = std::min(first, fiber->deadline);
    now_ = std::max(now_ + kTick, first == UINT64_MAX ? 0 : first);
}

void Fibers::clear() {
    for (const auto& fiber : fibers_) stacks_.push_back(fiber->stack);
    fibers_.clear();
}

}  // namespace wye::model
