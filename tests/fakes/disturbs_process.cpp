// SPDX-License-Identifier: Apache-2.0
//
// Changes its process as some drivers do, in init and again in shutdown: replaces signal handlers,
// the alternate stack and the rounding mode, and blocks all signals of the calling thread.
#include "base.hpp"

#include <cfenv>
#include <csignal>
#include <initializer_list>

static unsigned char stack[1 << 16];
static void handler(int) {}

static void disturb() {
    for (const int signal : {SIGSEGV, SIGFPE, SIGUSR2, SIGTERM}) std::signal(signal, handler);
    stack_t alternate{};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
    std::fesetround(FE_UPWARD);
    sigset_t all{};
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
}

static wye_status init(const wye_host_table* host, std::uint32_t minor, wye_plugin_object** out,
                       wye_error** error) {
    disturb();
    return fake::init(host, minor, out, error);
}
static void shutdown(wye_plugin_object* plugin) {
    disturb();
    fake::shutdown(plugin);
}
FAKE_TABLE("disturbs_process", t.init = init; t.shutdown = shutdown)
