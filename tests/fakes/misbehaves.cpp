// SPDX-License-Identifier: Apache-2.0
//
// The CPU plugin under another name, which does to its process what no plugin may do. The variable
// WYE_MISBEHAVES says what and where, as in "crash@init". It is read, where plugins may not read
// the environment, since a constructor has no configuration.
//   what   crash, abort, exit, _exit, quick_exit, hang, endless (prints without end), thread (keeps
//          one), locale, folder, environment, mask, descriptor (closes 1), prints (a line),
//          closes_message, scribbles (descriptor 3, where the helper writes what it found);
//          wrong_bytes (computes or for xor), wrong_capabilities (claims int64, and refuses it),
//          new_driver (another version of it), new_version (of the plugin), new_device (no device)
//   where  constructor, query, init, probe, facts, open, build, dispatch, wait (for its end)
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "cpu/cpu_plugin.h"
#include "wye/program_format.h"
#include "wye/sdk/plugin.hpp"

namespace {

volatile std::uintptr_t nowhere = 16;  // unknown to the compiler, which warns of constants

const wye_plugin_table* plugin_behind = nullptr;
const wye_device_table* device_behind = nullptr;
const wye_queue_table* queue_behind = nullptr;

std::string_view wanted() {
    const char* const value = std::getenv("WYE_MISBEHAVES");
    return value == nullptr ? std::string_view() : value;
}
std::string_view what() { return wanted().substr(0, wanted().find('@')); }

void misbehave(std::string_view where) {
    const std::size_t at = wanted().find('@');
    if (at == std::string_view::npos || wanted().substr(at + 1) != where) return;
    // Not `raise`, which only ends threads that do not block the signal. AddressSanitizer's handler
    // would end the process as `exit` does.
    if (what() == "crash") {
        std::signal(SIGSEGV, SIG_DFL);
        *reinterpret_cast<volatile int*>(nowhere) = 1;
    }
    if (what() == "abort") std::abort();
    if (what() == "exit") std::exit(0);
    if (what() == "_exit") ::_exit(0);
    if (what() == "quick_exit") std::quick_exit(0);
    if (what() == "hang")
        for (;;) ::pause();
    if (what() == "endless")
        for (;;) std::puts("there is no end to this");
    if (what() == "thread")
        std::thread([] {
            for (;;) ::pause();
        }).detach();
    if (what() == "locale") std::setlocale(LC_ALL, "C.UTF-8");
    if (what() == "folder") (void)!::chdir("/");
    if (what() == "environment") ::setenv("WYE_A_NEW_ONE", "1", 1);
    if (what() == "mask") ::umask(0777);
    if (what() == "descriptor") ::close(1);
    if (what() == "closes_message") ::close(3);  // where the helper writes what it found
    if (what() == "scribbles") (void)!::write(3, "}\n", 2);
    if (what() == "prints") {
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
    queue_behind = *table;
    static const wye_queue_table kTable = [] {
        wye_queue_table t = *queue_behind;
        t.submit = submit;
        return t;
    }();
    *table = &kTable;
    return WYE_OK;
}

wye_status program_create(wye_device_object* device, const wye_artifact* artifact,
                          wye_program_object** out, wye_error** error) {
    misbehave("build");
    std::vector<std::uint32_t> words((artifact->code.size + 3) / 4);
    std::memcpy(words.data(), artifact->code.data, artifact->code.size);
    for (std::uint32_t& word : words) {
        if (what() == "wrong_bytes" && word == WYE_OP_XOR) word = WYE_OP_OR;
        // A half of the one 64-bit constant in the program of the probe.
        if (what() == "wrong_capabilities" && word == 0x7f4a7c15) return WYE_COMPILE_FAILED;
    }
    wye_artifact other = *artifact;
    other.code.data = words.data();
    return device_behind->program_create(device, &other, out, error);
}

wye_status open_device(wye_plugin_object* plugin, std::uint32_t index, wye_device_object** out,
                       const wye_device_table** table, wye_error** error) {
    misbehave("open");
    const wye_status status = plugin_behind->open_device(plugin, index, out, table, error);
    if (status != WYE_OK) return status;
    device_behind = *table;
    static const wye_device_table kTable = [] {
        wye_device_table t = *device_behind;
        t.queue_create = queue_create;
        t.program_create = program_create;
        t.wait = wait_events;
        t.program_save = nullptr;
        t.program_load = nullptr;
        t.command_create = nullptr;
        t.command_destroy = nullptr;
        t.command_info = nullptr;
        t.command_update = nullptr;
        return t;
    }();
    *table = &kTable;
    return WYE_OK;
}

wye_status device_fact(wye_plugin_object* plugin, std::uint32_t index, std::uint32_t key,
                       wye_fact* out) {
    misbehave("facts");
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
    const wye_status status = wye_cpu_plugin_query(hello, out);
    if (status != WYE_OK) return status;
    plugin_behind = (*out)->table;
    static const wye_plugin_table kTable = [] {
        wye_plugin_table t = *plugin_behind;
        t.init = init;
        t.probe_devices = probe_devices;
        t.device_fact = device_fact;
        t.open_device = open_device;
        return t;
    }();
    const auto described = [&](const char* version) {
        wye_plugin_desc d = **out;
        d.id = wye::sdk::to_abi("misbehaves");
        d.table = &kTable;
        if (version != nullptr) d.version = wye::sdk::to_abi(version);
        return d;
    };
    static const wye_plugin_desc kDesc = described(nullptr);
    static const wye_plugin_desc kNewer = described("7.0");
    *out = what() == "new_version" ? &kNewer : &kDesc;
    return WYE_OK;
}
