// SPDX-License-Identifier: Apache-2.0
//
// Breaks one rule of the contract, which the configuration's "breaks_rules.how" names:
//   throws_at_end     every slot that destroys, closes or shuts down throws
//   huge_save         a saved program claims an impossible size
//   absent_save       a saved program's address is not mapped
//   long_name         the device's name claims 5 GiB
//   absent_name       the address of the device's name is not mapped
//   forges            name, reason and log have line ends, tabs, escapes and invalid UTF-8
//   many_formats      the device claims 2^40 formats
//   more_formats      the device claims three formats and has one
//   exits             init calls exit
//   ends_thread       init calls pthread_exit
//   takes_signal      a submit with a dispatch sets a handler of SIGUSR2
#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "base.hpp"

namespace {

std::string_view how;

bool is(std::string_view what) { return how == what; }

// An address that is not null and is never mapped.
template <typename T>
const T* nowhere() {
    return reinterpret_cast<const T*>(std::uintptr_t{4096});
}

void fail_at_end(const char* slot) {
    if (is("throws_at_end")) throw std::runtime_error(slot);
}

wye_status init(const wye_host_table* host, std::uint32_t minor, wye_plugin_object** out,
                wye_error** error) {
    wye_string value{};
    if (host->config_get(host->self, fake::text("breaks_rules.how"), &value) == WYE_OK)
        how = {value.data, static_cast<std::size_t>(value.size)};
    if (is("exits")) std::exit(0);
    if (is("ends_thread")) pthread_exit(nullptr);
    if (is("forges"))
        host->log(host->self, WYE_LOG_WARNING, fake::text("fa\nke"),
                  fake::text("one\nerror: two \x1b[31mred"));
    return fake::init(host, minor, out, error);
}

wye_status device_info(wye_plugin_object* plugin, std::uint32_t index, wye_device_info* out,
                       wye_error** error) {
    const wye_status status = fake::device_info(plugin, index, out, error);
    static constexpr wye_string kOne[] = {fake::text("wye-program"), {"\x01", 1}};
    if (is("long_name")) out->name.size = std::uint64_t{5} << 30U;
    if (is("absent_name")) out->name = {nowhere<char>(), 100};
    if (is("many_formats")) out->format_count = std::uint64_t{1} << 40U;
    if (is("more_formats")) {
        out->formats = kOne;
        out->format_count = 3;
    }
    if (is("forges")) {
        out->name = fake::text("fine\nforged:0\tusable\x1b[2J \xff\xc0\x80 gr\xc3\xbcn");
        if (index == 1) out->reason = fake::text("first\nsecond\r\x7f\xc2\x85\xe2\x80\xae");
    }
    return status;
}

wye_status program_create(wye_device_object*, const wye_artifact*, wye_program_object** out,
                          wye_error**) {
    *out = static_cast<wye_program_object*>(std::malloc(1));
    return WYE_OK;
}
void program_destroy(wye_device_object*, wye_program_object* program) {
    std::free(program);
    fail_at_end("program_destroy");
}
wye_status program_save(wye_device_object*, wye_program_object*, wye_bytes* out, wye_error**) {
    *out = {"saved", 5};
    if (is("huge_save")) out->size = UINT64_MAX - 4096;
    if (is("absent_save")) *out = {nowhere<char>(), 4096};
    return WYE_OK;
}
wye_status program_load(wye_device_object*, const wye_artifact*, wye_bytes, wye_program_object**,
                        wye_error**) {
    return WYE_UNSUPPORTED;
}
void buffer_destroy(wye_device_object* device, wye_buffer_object* buffer) {
    fake::buffer_destroy(device, buffer);
    fail_at_end("buffer_destroy");
}
void handler(int) {}
wye_status submit(wye_queue_object* queue, const wye_submission* submission, wye_error** error) {
    for (std::uint64_t i = 0; i < submission->operation_count; ++i) {
        const std::uint32_t kind = submission->operations[i].kind;
        if (kind == WYE_OPERATION_DISPATCH && is("takes_signal")) std::signal(SIGUSR2, handler);
        if (kind == WYE_OPERATION_DISPATCH || kind == WYE_OPERATION_FILL) continue;
        wye_submission one = *submission;
        one.operations = submission->operations + i;
        one.operation_count = 1;
        const wye_status status = fake::submit(queue, &one, error);
        if (status != WYE_OK) return status;
    }
    queue->submitted = submission->value;
    return WYE_OK;
}
void queue_destroy(wye_queue_object* queue) {
    fake::queue_destroy(queue);
    fail_at_end("queue_destroy");
}
constexpr wye_queue_table kQueues = [] {
    auto t = fake::kQueueTable;
    t.submit = submit;
    t.destroy = queue_destroy;
    return t;
}();
wye_status queue_create(wye_device_object* device, const wye_queue_desc* desc,
                        wye_queue_object** out, wye_timeline_object** timeline,
                        const wye_queue_table** table, wye_error** error) {
    const wye_status status = fake::queue_create(device, desc, out, timeline, table, error);
    *table = &kQueues;
    return status;
}
void close_device(wye_device_object* device) {
    fake::device_close(device);
    fail_at_end("close");
}
constexpr wye_device_table kDevices = [] {
    auto t = fake::kDeviceTable;
    t.buffer_destroy = buffer_destroy;
    t.program_create = program_create;
    t.program_destroy = program_destroy;
    t.program_save = program_save;
    t.program_load = program_load;
    t.queue_create = queue_create;
    t.close = close_device;
    return t;
}();

wye_status open_device(wye_plugin_object* plugin, const wye_open_desc* desc,
                       wye_device_object** out, const wye_device_table** table, wye_error** error) {
    const wye_status status = fake::open_device(plugin, desc, out, table, error);
    *table = &kDevices;
    return status;
}
void shutdown(wye_plugin_object* plugin) {
    fake::shutdown(plugin);
    fail_at_end("shutdown");
}

}  // namespace

FAKE_TABLE("breaks_rules", t.init = init; t.device_info = device_info; t.open_device = open_device;
           t.shutdown = shutdown)
