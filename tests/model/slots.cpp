// SPDX-License-Identifier: Apache-2.0
//
// The slots of the scripted device's plugin. A call can be stopped at the begin and at the end of
// each slot.
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "device.hpp"
#include "fibers.hpp"
#include "plugin.hpp"
#include "wye/sdk/facts.hpp"
#include "wye/sdk/plugin.hpp"
#include "wye/wye.h"

namespace wye::model {
namespace {

const wye_host_table* host = nullptr;
constexpr std::uint64_t kMuch = 1U << 20U;

template <typename Object, typename Handle>
Object& of(Handle* handle) {
    return *reinterpret_cast<Object*>(handle);
}
template <typename Handle, typename Object>
Handle* handle_of(Object& object) {
    return reinterpret_cast<Handle*>(&object);
}

wye_status fail(wye_error** error, wye_status status, std::string_view why) {
    return sdk::report(*host,
                       Error(static_cast<Code>(status), std::string(why),
                             "Fix: none, the explorer chose this", "scripted"),
                       error);
}

// Returns an error that the script chose.
wye_status fail(wye_error** error, wye_status status) {
    if (status == WYE_DEVICE_LOST) the_device().loss_seen = true;
    return fail(error, status, wye_status_text(status));
}

// An opened device. If the device cannot be recovered, an object opened before its loss stays lost.
struct Opened {
    int session = 0;
};
bool is_lost(int session) {
    return the_device().lost || (!the_device().options.recovers && session != the_device().session);
}

// Runs a slot, unless the device is lost: then the slot returns DEVICE_LOST.
template <typename Body>
wye_status run(int session, wye_error** error, Body&& body) {
    Fibers::active->place();
    wye_status status = WYE_OK;
    if (is_lost(session))
        status = fail(error, WYE_DEVICE_LOST);
    else
        status = body();
    Fibers::active->place();
    return status;
}

template <typename Object>
Object& add(std::vector<std::unique_ptr<Object>>& list, Object&& made) {
    made.session = the_device().session;
    list.push_back(std::make_unique<Object>(std::move(made)));
    return *list.back();
}

// ---- Buffers, programs, commands ---------------------------------------------------------------

wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    return run(of<Opened>(device).session, error, [&] {
        Buffer made;
        made.size = desc->size;
        made.bytes.resize(desc->size + 64);
        made.index = static_cast<int>(the_device().buffers.size());
        *out = handle_of<wye_buffer_object>(add(the_device().buffers, std::move(made)));
        return WYE_OK;
    });
}

void buffer_destroy(wye_device_object*, wye_buffer_object* buffer) {
    the_device().destroy(of<Buffer>(buffer));
}

wye_status buffer_map(wye_device_object* device, wye_buffer_object* buffer, wye_mapping* out,
                      wye_error** error) {
    return run(of<Opened>(device).session, error, [&] {
        out->address = of<Buffer>(buffer).bytes.data();
        return WYE_OK;
    });
}

// Waits until the explorer ends the compilation.
wye_status compile(int session, wye_error** error) {
    Device& device = the_device();
    Compile& one = *device.compiles.emplace_back(std::make_unique<Compile>());
    one.of_line = Fibers::current()->of_line;
    device.on_compile(one);
    Fibers::active->block(Reason::Compile, [&one] { return one.ended; });
    if (is_lost(session)) return fail(error, WYE_DEVICE_LOST);
    if (session != device.session) device.breach("a compile goes on after a recovery");
    return one.status == WYE_OK ? WYE_OK : fail(error, one.status);
}

wye_status program_create(wye_device_object* device, const wye_artifact* artifact,
                          wye_program_object** out, wye_error** error) {
    const int session = of<Opened>(device).session;
    return run(session, error, [&] {
        if (the_device().compiles_wait)
            if (const wye_status status = compile(session, error); status != WYE_OK) return status;
        Program made;
        made.access.resize(artifact->binding_count);
        for (std::uint32_t i = 0; i < artifact->slot_count; ++i)
            if (artifact->slots[i].kind == WYE_SLOT_BUFFER)
                made.access[artifact->slots[i].binding] |= artifact->slots[i].access;
        made.params_size = artifact->params_size;
        *out = handle_of<wye_program_object>(add(the_device().programs, std::move(made)));
        return wye_status{WYE_OK};
    });
}

void program_destroy(wye_device_object*, wye_program_object* program) {
    the_device().destroy(of<Program>(program));
}

wye_status command_create(wye_device_object* device, const wye_command_desc* desc,
                          wye_command_object** out, wye_error** error) {
    return run(of<Opened>(device).session, error, [&]() -> wye_status {
        auto list = sdk::CommandList::of("scripted", *desc, [](wye_program_object* object) {
            const Program& program = of<Program>(object);
            return sdk::ArgumentSizes{static_cast<std::uint32_t>(program.access.size()),
                                      program.params_size};
        });
        if (!list.ok()) return fail(error, WYE_UNSUPPORTED);
        *out = handle_of<wye_command_object>(
            add(the_device().commands, Command{std::move(list).value()}));
        return WYE_OK;
    });
}

void command_destroy(wye_device_object*, wye_command_object* command) {
    the_device().destroy(of<Command>(command));
}

wye_status command_info(wye_device_object*, wye_command_object*, wye_command_info* out,
                        wye_error**) {
    out->late_params = out->late_slots = out->late_grid = WYE_LATE_ARGUMENT;
    return WYE_OK;
}

// ---- Queues ------------------------------------------------------------------------------------

wye_status queue_submit(wye_queue_object* queue, const wye_submission* submission,
                        wye_error** error) {
    return run(of<Native>(queue).session, error, [&] {
        Device& device = the_device();
        Native& native = of<Native>(queue);
        const Fiber* const fiber = Fibers::current();
        const int call = fiber == nullptr ? -1
                         : fiber->is_line ? device.owner_in_line(*submission)
                                          : fiber->call;
        device.check(native, "submit");
        if (std::exchange(device.refuses, false)) {
            device.refused.push_back(call);
            return fail(error, WYE_DEVICE_MEMORY);
        }
        for (std::uint64_t i = 0; i < submission->wait_count; ++i) {
            // A wait for a value that has failed is refused, unless the wait is only for the order.
            const wye_event& event = submission->waits[i];
            wye_status status = WYE_OK;
            if (event.timeline == nullptr || orders_only(event)) continue;
            if (device.failed(of<Native>(event.timeline), event.value, status))
                return fail(error, status);
        }
        device.submit(native, *submission, call);
        device.on_submit(*device.works.back());
        return wye_status{WYE_OK};
    });
}

wye_status queue_cancel(wye_queue_object* queue, std::uint64_t first, std::uint64_t last,
                        wye_error** error) {
    return run(of<Native>(queue).session, error, [&] {
        if (!the_device().options.cancels) return fail(error, WYE_UNSUPPORTED);
        the_device().check(of<Native>(queue), last, "cancel");
        for (Work* work : of<Native>(queue).works)
            if (work->value >= first && work->value <= last) work->cancel_asked = true;
        return wye_status{WYE_OK};
    });
}

void queue_destroy(wye_queue_object* queue) { the_device().destroy(of<Native>(queue)); }

const wye_queue_table kQueueTable = [] {
    wye_queue_table t{};
    t.header = sdk::header_of(sizeof t);
    t.submit = queue_submit;
    t.cancel = queue_cancel;
    t.destroy = queue_destroy;
    return t;
}();

wye_status queue_create(wye_device_object* device, const wye_queue_desc*, wye_queue_object** out,
                        wye_timeline_object** timeline, const wye_queue_table** table,
                        wye_error** error) {
    return run(of<Opened>(device).session, error, [&] {
        Native made;
        made.index = static_cast<int>(the_device().natives.size());
        Native& native = add(the_device().natives, std::move(made));
        *out = handle_of<wye_queue_object>(native);
        *timeline = handle_of<wye_timeline_object>(native);
        *table = &kQueueTable;
        return WYE_OK;
    });
}

// ---- Values ------------------------------------------------------------------------------------

// Whether the outcome of the value is known. If it is, the host knows the outcome from then on,
// too.
bool outcome(const wye_event& event, wye_status& status) {
    Native& native = of<Native>(event.timeline);
    if (!Device::reached(native, event.value)) return false;
    native.seen = std::max(native.seen, event.value);
    status = WYE_OK;
    (void)the_device().failed(native, event.value, status);
    return true;
}

wye_status query(wye_device_object*, const wye_event* event, wye_error** error) {
    Fibers::active->place();
    the_device().check(of<Native>(event->timeline), event->value, "query");
    wye_status status = WYE_NOT_READY;
    if (outcome(*event, status) && status != WYE_OK) status = fail(error, status);
    Fibers::active->place();
    return status;
}

wye_status wait(wye_device_object*, const wye_event* events, std::uint64_t count, std::uint32_t any,
                std::uint64_t timeout_ns, std::uint64_t* index, wye_error** error) {
    Fibers& fibers = *Fibers::active;
    fibers.place();
    Device& device = the_device();
    for (std::uint64_t i = 0; i < count; ++i)
        device.check(of<Native>(events[i].timeline), events[i].value, "wait");
    const auto done = [&] {
        std::uint64_t ended = 0;
        for (std::uint64_t i = 0; i < count; ++i)
            ended += Device::reached(of<Native>(events[i].timeline), events[i].value) ? 1 : 0;
        return any != 0 ? ended != 0 : ended == count;
    };
    const std::uint64_t now = fibers.now();
    const std::uint64_t deadline = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
    if (!done() && timeout_ns != 0 && device.on_block)
        for (const Work* work : of<Native>(events[0].timeline).works)
            if (!work->ended && work->value <= events[0].value) {
                device.on_block(*work);
                break;
            }
    wye_status status = WYE_OK;
    if (!fibers.block(Reason::Device, done, deadline)) status = fail(error, WYE_TIMEOUT);
    for (std::uint64_t i = 0; i < count && status == WYE_OK; ++i) {
        const bool known = outcome(events[i], status);
        if (index != nullptr && known) *index = i;
        if (status != WYE_OK) status = fail(error, status);
        if (known && any != 0) break;
    }
    fibers.place();
    return status;
}

wye_status retire(wye_device_object*, const wye_event* event, wye_error**) {
    Native& native = of<Native>(event->timeline);
    the_device().check(native, event->value, "retire");
    for (Work* const work : native.works)
        if (work->value == event->value) work->retired = true;
    return WYE_OK;
}

// ---- The device --------------------------------------------------------------------------------

std::uint32_t device_lost(wye_device_object* device) {
    if (!is_lost(of<Opened>(device).session)) return 0;
    the_device().loss_seen = true;
    return 1;
}

wye_status try_recover(wye_device_object* device, wye_error** error) {
    Fibers::active->place();
    const wye_status status = the_device().recover();
    if (status == WYE_OK) of<Opened>(device).session = the_device().session;
    Fibers::active->place();
    return status == WYE_OK ? status : fail(error, status);
}

void close(wye_device_object* object) {
    delete &of<Opened>(object);
    Device& device = the_device();
    if (--device.opens == 0 && device.objects() != 0)
        device.breach("the device is closed before its objects are destroyed");
}

const wye_device_table kDeviceTable = [] {
    wye_device_table t{};
    t.header = sdk::header_of(sizeof t);
    t.buffer_create = buffer_create;
    t.buffer_destroy = buffer_destroy;
    t.buffer_map = buffer_map;
    t.program_create = program_create;
    t.program_destroy = program_destroy;
    t.queue_create = queue_create;
    t.query = query;
    t.wait = wait;
    t.retire = retire;
    t.device_lost = device_lost;
    t.try_recover = try_recover;
    t.command_create = command_create;
    t.command_destroy = command_destroy;
    t.command_info = command_info;
    t.close = close;
    return t;
}();

// ---- The plugin --------------------------------------------------------------------------------

wye_status init(const wye_host_table* table, std::uint32_t, wye_plugin_object** out, wye_error**) {
    host = table;
    *out = reinterpret_cast<wye_plugin_object*>(&the_device());
    return WYE_OK;
}

wye_status probe_devices(wye_plugin_object*, std::uint32_t* count, wye_error**) {
    *count = 1;
    return WYE_OK;
}

wye_status device_info(wye_plugin_object*, std::uint32_t, wye_device_info* out, wye_error**) {
    static const wye_string kFormat = sdk::to_abi(WYE_FORMAT_PROGRAM);
    out->name = sdk::to_abi("Scripted");
    out->formats = &kFormat;
    out->format_count = 1;
    return WYE_OK;
}

wye_status device_fact(wye_plugin_object*, std::uint32_t, std::uint32_t key, wye_fact* out) {
    namespace facts = sdk::facts;
    *out = {};
    switch (key) {
        case WYE_FACT_KEY_MAX_WORKGROUP_SIZE:
        case WYE_FACT_KEY_MAX_WORKGROUPS:
            out->type = WYE_FACT_U32X3;
            for (std::uint32_t& one : out->xyz) one = 1024;
            return WYE_OK;
        case WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS:
            return facts::number(*out, 1024);
        case WYE_FACT_KEY_MAX_PARAM_BYTES:
        case WYE_FACT_KEY_MAX_BUFFER_BYTES:
            return facts::number(*out, kMuch);
        case WYE_FACT_KEY_MAX_BUFFERS:
            return facts::number(*out, 16);
        case WYE_FACT_KEY_MAX_QUEUES:
            return facts::number(*out, static_cast<std::uint64_t>(the_device().options.max_queues));
        default:
            return facts::known(key) ? WYE_UNSUPPORTED : WYE_UNKNOWN_KEY;
    }
}

wye_status open_device(wye_plugin_object*, const wye_open_desc*, wye_device_object** out,
                       const wye_device_table** table, wye_error** error) {
    Device& device = the_device();
    Fibers::active->place();
    if (device.opens == 0) device.clear();
    if (device.lost) {  // objects of the old session stay lost
        if (device.options.recovers) return fail(error, WYE_DEVICE_LOST);
        device.begin_session();
    }
    ++device.opens;
    *out = handle_of<wye_device_object>(*new Opened{device.session});
    *table = &kDeviceTable;
    Fibers::active->place();
    return WYE_OK;
}

void shutdown(wye_plugin_object*) {}

const wye_plugin_table kPluginTable = [] {
    wye_plugin_table t{};
    t.header = sdk::header_of(sizeof t);
    t.init = init;
    t.probe_devices = probe_devices;
    t.device_info = device_info;
    t.device_fact = device_fact;
    t.open_device = open_device;
    t.shutdown = shutdown;
    return t;
}();

const wye_plugin_desc kDesc = sdk::describe("scripted", "0", "the Wye project", kPluginTable);

}  // namespace
}  // namespace wye::model

extern "C" wye_status model_plugin_query(const wye_hello* hello, const wye_plugin_desc** out) {
    return wye::sdk::answer_query(hello, wye::model::kDesc, out);
}
