// SPDX-License-Identifier: Apache-2.0
//
// Calls of the library early and late in the life of a process: from constructors and destructors
// of static and thread-local objects, and from an exit handler. Each of them runs a program. The
// process exits with 0 if all programs ran.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "wye/wye.hpp"

namespace {

constexpr std::string_view kText = R"(wye 1; program twice; workgroup 64;
input x: f32[]; output r: f32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = exp(x[i] * 0.0) + x[i]; } })";

int ran = 0;

void run(const char* when) {
    const auto done = []() -> wye::Result<bool> {
        WYE_ASSIGN(const wye::Context context, wye::Context::create());
        WYE_ASSIGN(const wye::Device device, context.open("cpu"));
        WYE_ASSIGN(const wye::Program program, context.program_from_text(kText));
        const std::vector<float> x(100, 2.0F);
        std::vector<float> r(100);
        WYE_TRY(wye::Dispatch(program, device).input("x", x).output("r", r).run());
        return r[99] == 3.0F;
    }();
    if (done.ok() && *done) {
        ++ran;
        return;
    }
    std::fprintf(stderr, "%s: %s\n", when, done.ok() ? "wrong" : done.error().text().c_str());
}

struct Last {  // destroyed last
    ~Last() { _exit(ran == 7 ? 0 : 1); }
} last;

struct Runs {
    Runs(const char* first, const char* then) : destroyed(then) { run(first); }
    ~Runs() { run(destroyed); }
    const char* destroyed;
};
Runs at_start("a static constructor", "a static destructor");

}  // namespace

int main() {
    std::atexit([] { run("an exit handler"); });
    std::thread([] {
        thread_local const Runs local("a thread", "a thread-local destructor");
    }).join();
    thread_local const Runs of_main("the main thread", "the main thread's thread-local destructor");
    return 0;
}
