// SPDX-License-Identifier: Apache-2.0
//
// The CPU plugin under another name, which does to its process what no plugin may do. The variable
// WYE_MISBEHAVES names the fault and its place, as in "crash@init". Plugins may not read the
// environment, but a constructor gets no configuration and must know the fault, too. Without the
// variable, the name of the plugin's file gives both, as in `does_crash_at_init.so`, so that one
// process can load several such plugins. The plugin's id is the name of its file without `.so`.
// Faults: crash, abort, exit, _exit, quick_exit, hang, endless (prints without end), memory
//     (allocates without end), descriptors (closes 3 and all above), scribbles (writes to 3),
//     thread (leaves a thread running), signals (sets handlers), signal_mask (blocks a signal, or
//     unblocks it), floats (rounds upward), flushes (subnormals to zero), locale, folder,
//     environment, umask, descriptor (closes 1), prints (a line); wrong_bytes (computes `or` in
//     place of `xor`), wrong_capabilities (claims int64, and refuses it), meets (waits until the
//     folder of WYE_MEETING has files of four processes), works (takes half a second of
//     processor time), daemon (starts a process in a new session, and makes a file in the
//     folder of WYE_MEETING whose name is the process id); new_driver (claims another
//     version of the driver), new_version (of the plugin), new_device (lists no device)
// Places: constructor, query, init, probe, facts, open, build, dispatch, wait
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include <atomic>
#include <cfenv>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "over_cpu.hpp"
#include "wye/program_format.h"
#include "wye/sdk/plugin.hpp"

namespace {

volatile std::uintptr_t nowhere = 16;  // a constant here would make the compiler warn

const wye_plugin_table* plugin_behind = nullptr;
const wye_device_table* device_behind = nullptr;
const wye_queue_table* queue_behind = nullptr;

void ignore(int) {}

const std::string& own_id() {
    static const std::string id = [] {
        Dl_info info{};
        if (::dladdr(reinterpret_cast<const void*>(&ignore), &info) == 0) return std::string();
        const std::string_view path = info.dli_fname;
        const std::string_view name = path.substr(path.rfind('/') + 1);
        return std::string(name.substr(0, name.rfind(".so")));
    }();
    return id;
}

// "crash@init" for the id `does_crash_at_init`, "wrong_bytes" for `does_wrong_bytes`.
std::string how_of(std::string id) {
    if (!id.starts_with("does_")) return {};
    id.erase(0, 5);
    if (const std::size_t at = id.rfind("_at_"); at != std::string::npos) id.replace(at, 4, "@");
    return id;
}

// Reads the variable in each call, since a test changes it.
std::string wanted() {
    const char* const value = std::getenv("WYE_MISBEHAVES");
    return value == nullptr ? how_of(own_id()) : std::string(value);
}
std::string what() { return wanted().substr(0, wanted().find('@')); }

// The last allocation. Without this variable the compiler could remove the allocations.
void* volatile taken = nullptr;

void take_memory() {
    constexpr std::size_t kBlock = std::size_t{16} << 20U;
    for (;;) {
        taken = std::malloc(kBlock);
        if (taken != nullptr) std::memset(taken, 1, kBlock);
    }
}

void flush_small_numbers() {
#if defined(__SSE__)
    _mm_setcsr(_mm_getcsr() | 0x8040U);  // FTZ and DAZ
#elif defined(__aarch64__)
    std::uint64_t mode = 0;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    mode |= std::uint64_t{1} << 24U;
    asm volatile("msr fpcr, %0" ::"r"(mode));
#else
    std::fesetround(FE_TOWARDZERO);
#endif
}

void meet() {
    namespace fs = std::filesystem;
    const char* const folder = std::getenv("WYE_MEETING");
    if (folder == nullptr) return;
    std::ofstream(fs::path(folder) / own_id()) << "here";
    while (std::distance(fs::directory_iterator(folder), fs::directory_iterator()) < 4)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void work() {
    timespec used{};
    do {
        for (volatile int n = 0; n < 1'000'000;) n = n + 1;
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    } while (used.tv_sec == 0 && used.tv_nsec < 500'000'000);
}

void start_daemon() {
    namespace fs = std::filesystem;
    const char* const folder = std::getenv("WYE_MEETING");
    int ends[2];
    if (folder == nullptr || ::pipe(ends) != 0) return;
    if (::fork() != 0) {
        char byte = 0;
        (void)!::read(ends[0], &byte, 1);  // returns when the file exists
        ::close(ends[0]);
        ::close(ends[1]);
        return;
    }
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    std::ofstream(fs::path(folder) / std::to_string(::getpid())) << "here";
    (void)!::write(ends[1], "", 1);
    for (;;) ::pause();
}

void misbehave(std::string_view where) {
    const std::string how = wanted();
    const std::size_t at = how.find('@');
    if (at == how.npos || how.substr(at + 1) != where) return;
    const std::string doing = how.substr(0, at);
    // `raise` would not do: its signal does not end a thread that blocks the signal. Without
    // SIG_DFL, AddressSanitizer's handler would end the process with `exit`.
    if (doing == "crash") {
        std::signal(SIGSEGV, SIG_DFL);
        *reinterpret_cast<volatile int*>(nowhere) = 1;
    }
    if (doing == "abort") std::abort();
    if (doing == "exit") std::exit(0);
    if (doing == "_exit") ::_exit(0);
    if (doing == "quick_exit") std::quick_exit(0);
    if (doing == "hang")
        for (;;) ::pause();
    if (doing == "endless")
        for (;;) std::puts("there is no end to this");
    if (doing == "memory") take_memory();
    if (doing == "meets") meet();
    if (doing == "works") work();
    if (doing == "daemon") start_daemon();
    if (doing == "descriptors") ::closefrom(3);
    if (doing == "scribbles") (void)!::write(3, "nonsense\n", 9);
    if (doing == "signals")
        for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, &ignore);
    if (doing == "signal_mask") {
        // Toggles one signal, since threads that compile have all signals blocked already.
        sigset_t mask;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
        const bool blocked = ::sigismember(&mask, SIGUSR1) == 1;
        (void)(blocked ? sigdelset(&mask, SIGUSR1) : sigaddset(&mask, SIGUSR1));
        ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    }
    if (doing == "floats") std::fesetround(FE_UPWARD);
    if (doing == "flushes") flush_small_numbers();
    if (doing == "thread")
        std::thread([] {
            for (;;) ::pause();
        }).detach();
    if (doing == "locale") std::setlocale(LC_ALL, "C.UTF-8");
    if (doing == "folder") (void)!::chdir("/");
    if (doing == "environment") ::setenv("WYE_A_NEW_ONE", "1", 1);
    if (doing == "umask") ::umask(0777);
    if (doing == "descriptor") ::close(1);
    if (doing == "prints") {
        std::puts("the plugin prints this");
        std::fflush(stdout);
    }
}

__attribute__((constructor)) void constructor() { misbehave("constructor"); }

wye_status submit(wye_queue_object* queue, const wye_submission* submission, wye_error** error) {
    misbehave("dispatch");
    return queue_behind->submit(queue, submission, error);
}

wye_status wait_events(wye_device_object* device, const wye_event* events, std::uint64_t count,
                       std::uint32_t any, std::uint64_t timeout_ns, std::uint64_t* reached,
                       wye_error** error) {
    misbehave("wait");
    return device_behind->wait(device, events, count, any, timeout_ns, reached, error);
}

wye_status queue_create(wye_device_object* device, const wye_queue_desc* desc,
                        wye_queue_object** out, wye_timeline_object** timeline,
                        const wye_queue_table** table, wye_error** error) {
    const wye_status status =
        device_behind->queue_create(device, desc, out, timeline, table, error);
    if (status != WYE_OK) return status;
    fake::replace_slots(queue_behind, table, [](wye_queue_table& t) { t.submit = submit; });
    return WYE_OK;
}

wye_status program_create(wye_device_object* device, const wye_artifact* artifact,
                          wye_program_object** out, wye_error** error) {
    misbehave("build");
    std::vector<std::uint32_t> words((artifact->code.size + 3) / 4);
    std::memcpy(words.data(), artifact->code.data, artifact->code.size);
    const std::string doing = what();
    for (std::uint32_t& word : words) {
        if (doing == "wrong_bytes" && word == WYE_OP_XOR) word = WYE_OP_OR;
        // One half of the only 64-bit constant in the probe's program.
        if (doing == "wrong_capabilities" && word == 0x7f4a7c15) return WYE_COMPILE_FAILED;
    }
    wye_artifact other = *artifact;
    other.code.data = words.data();
    return device_behind->program_create(device, &other, out, error);
}

wye_status open_device(wye_plugin_object* plugin, const wye_open_desc* desc,
                       wye_device_object** out, const wye_device_table** table, wye_error** error) {
    misbehave("open");
    const wye_status status = plugin_behind->open_device(plugin, desc, out, table, error);
    if (status != WYE_OK) return status;
    fake::replace_slots(device_behind, table, [](wye_device_table& t) {
        t.queue_create = queue_create;
        t.program_create = program_create;
        t.wait = wait_events;
        t.program_save = nullptr;
        t.program_load = nullptr;
        t.command_create = nullptr;
        t.command_destroy = nullptr;
        t.command_info = nullptr;
        t.command_update = nullptr;
    });
    return WYE_OK;
}

wye_status device_fact(wye_plugin_object* plugin, std::uint32_t index, std::uint32_t key,
                       wye_fact* out) {
    // Only at the first fact: a second toggle of the signal mask would restore it.
    static std::atomic<bool> asked = false;
    if (!asked.exchange(true)) misbehave("facts");
    if (what() == "new_driver" && key == WYE_FACT_KEY_DRIVER) {
        out->text = wye::sdk::to_abi("driver 2.0");
        out->type = WYE_FACT_TEXT;
        return WYE_OK;
    }
    return plugin_behind->device_fact(plugin, index, key, out);
}

wye_status probe_devices(wye_plugin_object* plugin, std::uint32_t* count, wye_error** error) {
    misbehave("probe");
    if (what() == "new_device") {
        *count = 0;
        return WYE_OK;
    }
    return plugin_behind->probe_devices(plugin, count, error);
}

wye_status init(const wye_host_table* host, std::uint32_t minor, wye_plugin_object** out,
                wye_error** error) {
    misbehave("init");
    return plugin_behind->init(host, minor, out, error);
}

}  // namespace

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    misbehave("query");
    const wye_status status = fake::query_over_cpu(hello, out, own_id().c_str(), plugin_behind,
                                                   [](wye_plugin_table& table) {
                                                       table.init = init;
                                                       table.probe_devices = probe_devices;
                                                       table.device_fact = device_fact;
                                                       table.open_device = open_device;
                                                   });
    if (status != WYE_OK || what() != "new_version") return status;
    static const wye_plugin_desc kNewer = [&] {
        wye_plugin_desc desc = **out;
        desc.version = wye::sdk::to_abi("7.0");
        return desc;
    }();
    *out = &kNewer;
    return WYE_OK;
}
