// SPDX-License-Identifier: Apache-2.0
#include "conformance/abi/harness.hpp"

#include <dlfcn.h>

#include <utility>

#include "conformance/abi/borrowed.hpp"

struct wye_error {
    harness::Failure failure;
};

namespace harness {
namespace {

std::string text(wye_string s) { return s.size == 0 ? std::string() : std::string(s.data, s.size); }
wye_string abi(std::string_view s) { return {s.data(), s.size()}; }

Host& host_of(wye_host_object* self) { return *reinterpret_cast<Host*>(self); }

wye_error* error_make(wye_host_object*, const wye_error_desc* desc) {
    auto* error = new wye_error;
    Failure& f = error->failure;
    f.code = desc->code;
    f.native_code = desc->native_code;
    f.native_domain = text(desc->native_domain);
    f.subject = text(desc->subject);
    f.message = text(desc->message);
    f.fix = text(desc->fix);
    if (desc->cause != nullptr) {
        f.cause = std::make_shared<Failure>(std::move(desc->cause->failure));
        delete desc->cause;
    }
    return error;
}

void error_release(wye_host_object*, wye_error* error) { delete error; }
void log_line(wye_host_object* self, std::uint32_t level, wye_string area, wye_string line) {
    host_of(self).add_log(level, text(area) + ": " + text(line));
}

wye_status config_get(wye_host_object* self, wye_string key, wye_string* out) {
    const auto& config = host_of(self).config;
    const auto at = config.find(text(key));
    if (at == config.end()) return WYE_NOT_FOUND;
    *out = abi(at->second);
    return WYE_OK;
}

const void* get_extension(wye_host_object*, wye_string, std::uint32_t) { return nullptr; }

void need(wye_status status, const char* what, const Sink& sink) {
    if (status != WYE_OK) throw SetupFailed(std::string(what) + ": " + sink.failure().message);
}

}  // namespace

Host::Host(std::map<std::string, std::string> config_) : config(std::move(config_)) {
    config.insert(subject().config.begin(), subject().config.end());
    table_.header.size = sizeof table_;
    table_.self = reinterpret_cast<wye_host_object*>(this);
    table_.error_make = error_make;
    table_.error_release = error_release;
    table_.log = log_line;
    table_.config_get = config_get;
    table_.get_extension = get_extension;
}

std::vector<std::string> Host::log() const {
    const std::lock_guard lock(mutex_);
    return log_;
}

std::vector<std::string> Host::errors() const {
    const std::lock_guard lock(mutex_);
    return errors_;
}

void Host::add_log(std::uint32_t level, std::string line) {
    const std::lock_guard lock(mutex_);
    if (level == WYE_LOG_ERROR) errors_.push_back(line);
    log_.push_back(std::move(line));
}

Sink::~Sink() { delete error_; }
Failure Sink::failure() const { return error_ == nullptr ? Failure{} : error_->failure; }

void* export_of(const char* library, const char* symbol) {
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void* out = handle == nullptr ? nullptr : dlsym(handle, symbol);
    if (out == nullptr) throw SetupFailed(dlerror());
    return out;
}

const wye_plugin_desc& desc_of(const char* library) {
    const auto query =
        reinterpret_cast<wye_plugin_query_fn>(export_of(library, WYE_PLUGIN_QUERY_SYMBOL));
    const wye_plugin_desc* desc = nullptr;
    if (query(&kHello, &desc) != WYE_OK) throw SetupFailed("the query failed");
    return *desc;
}

Plugin::Plugin(std::map<std::string, std::string> config) : host(std::move(config)) {
    const wye_plugin_desc& desc = desc_of(subject().library);
    table = desc.table;
    hosts_.push_back(*host.table());
    const auto& layers = subject().layers;
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
        wye_layer_next& next = below_.emplace_front();
        next = {};
        next.header = {sizeof next, WYE_CHAIN_LAYER_NEXT | WYE_CHAIN_CRITICAL, nullptr};
        next.table = table;
        next.host = &hosts_.front();
        next.id = desc.id;
        next.version = desc.version;
        hosts_.push_front(*host.table());
        hosts_.front().header.next = &next;
        table = desc_of(*layer).table;
    }
    Sink sink;
    const std::uint32_t minor = std::min<std::uint32_t>(desc.abi_minor, WYE_ABI_MINOR);
    status = table->init(&hosts_.front(), minor, &object, sink.out());
    if (status == WYE_OK) status = table->probe_devices(object, &devices, sink.out());
    failure = sink.failure();
}

Plugin::~Plugin() { close(); }

void Plugin::close() {
    if (object != nullptr) table->shutdown(std::exchange(object, nullptr));
}

wye_fact Plugin::fact(std::uint32_t key, wye_status* status_out) const {
    wye_fact out{};
    out.header.size = sizeof out;
    const wye_status got = table->device_fact(object, subject().device, key, &out);
    if (status_out != nullptr) *status_out = got;
    return out;
}

bool Plugin::flag(std::uint32_t key) const { return fact(key).u == 1; }

wye_status Plugin::open(wye_device_object** out, const wye_device_table** to, wye_error** error,
                        std::optional<std::uint32_t> index) const {
    Borrowed lent("open_device");
    const wye_open_desc desc = {
        {sizeof desc, 0, nullptr}, index.value_or(subject().device), 0, lent.text(abi("subject"))};
    return table->open_device(object, lent.one(desc), out, to, error);
}

Device::Device(Plugin& plugin, bool timed_) : timed(timed_) {
    Sink sink;
    if (plugin.object == nullptr) throw SetupFailed(plugin.failure.message);
    need(plugin.open(&object, &table, sink.out()), "open_device", sink);
    const bool whole = object != nullptr && table != nullptr && table->buffer_create != nullptr &&
                       table->buffer_destroy != nullptr && table->program_create != nullptr &&
                       table->program_destroy != nullptr && table->queue_create != nullptr &&
                       table->query != nullptr && table->wait != nullptr && table->close != nullptr;
    if (!whole) throw SetupFailed("open_device: the object or a mandatory slot is null");
    queue = queue_create();
}

Device::~Device() {
    if (queue != nullptr) queue_table->destroy(queue);
    for (wye_program_object* program : programs_) table->program_destroy(object, program);
    for (wye_buffer_object* buffer : buffers_) table->buffer_destroy(object, buffer);
    if (object != nullptr) table->close(object);
}

wye_queue_object* Device::queue_create(std::uint32_t kind, std::int32_t priority) {
    Sink sink;
    wye_queue_desc desc{};
    desc.header.size = sizeof desc;
    desc.kind = kind;
    desc.priority = priority;
    wye_queue_object* out = nullptr;
    wye_timeline_object* timeline = nullptr;
    {
        Borrowed lent("queue_create");
        need(table->queue_create(object, lent.one(desc), &out, &timeline, &queue_table, sink.out()),
             "queue_create", sink);
    }
    timelines_[out] = timeline;
    if (out == nullptr || timeline == nullptr || queue_table == nullptr)
        throw SetupFailed("queue_create: succeeded with a null object or table");
    return out;
}

wye_queue_info Device::queue_info(wye_queue_object* of) {
    Sink sink;
    wye_queue_info out{};
    out.header.size = sizeof out;
    const bool says =
        queue_table->header.size > offsetof(wye_queue_table, info) && queue_table->info != nullptr;
    if (says) need(queue_table->info(of, &out, sink.out()), "info", sink);
    return out;
}

wye_buffer_object* Device::buffer(std::uint64_t size, std::uint32_t usage,
                                  std::uint64_t alignment) {
    wye_buffer_desc desc{};
    desc.header.size = sizeof desc;
    desc.size = size;
    desc.alignment = alignment;
    desc.usage = usage;
    return create(desc);
}

wye_buffer_object* Device::registered(std::span<std::byte> memory) {
    wye_buffer_desc desc{};
    desc.header.size = sizeof desc;
    desc.size = memory.size();
    desc.alignment = 1;
    desc.usage = WYE_BUFFER_USAGE_REGISTERED;
    desc.memory = memory.data();
    return create(desc);
}

wye_buffer_object* Device::create(const wye_buffer_desc& desc) {
    Sink sink;
    wye_buffer_object* out = nullptr;
    Borrowed lent("buffer_create");
    const wye_status status = table->buffer_create(object, lent.one(desc), &out, sink.out());
    failure = sink.failure();
    if (status != WYE_OK) return nullptr;
    if (out == nullptr) throw SetupFailed("buffer_create: succeeded with a null object");
    buffers_.push_back(out);
    return out;
}

wye_buffer_object* Device::buffer(std::span<const std::byte> content) {
    wye_buffer_object* out = buffer(content.size());
    if (out == nullptr || run(upload(out, 0, content)) != WYE_OK)
        throw SetupFailed("upload: " + failure.message);
    return out;
}

wye_mapping Device::map(wye_buffer_object* buffer) {
    Sink sink;
    wye_mapping out{};
    out.header.size = sizeof out;
    const wye_status status = table->buffer_map(object, buffer, &out, sink.out());
    failure = sink.failure();
    if (status != WYE_OK) return {};
    if (out.address == nullptr) throw SetupFailed("buffer_map: succeeded with no address");
    return out;
}

void Device::destroy(wye_buffer_object* buffer) {
    std::erase(buffers_, buffer);
    table->buffer_destroy(object, buffer);
}

wye_program_object* Device::program(const wye_artifact& artifact) {
    Sink sink;
    wye_program_object* out = nullptr;
    Borrowed lent("program_create");
    const wye_status status =
        table->program_create(object, lent.artifact(artifact), &out, sink.out());
    failure = sink.failure();
    if (status != WYE_OK) return nullptr;
    if (out == nullptr) throw SetupFailed("program_create: succeeded with a null object");
    programs_.push_back(out);
    return out;
}

wye_status Device::submit(std::span<const wye_operation> operations,
                          std::span<const wye_event> waits, wye_queue_object* to,
                          std::span<const wye_event> signals) {
    Sink sink;
    wye_submission submission{};
    wye_status status = WYE_OK;
    {
        Borrowed lent("submit");
        submission.header.size = sizeof submission;
        submission.operations = lent.operations(operations);
        submission.operation_count = operations.size();
        submission.waits = lent.many(waits);
        submission.wait_count = waits.size();
        submission.signals = lent.many(signals);
        submission.signal_count = signals.size();
        submission.value = newest + 1;
        submission.flags = timed ? WYE_SUBMISSION_TIMED : 0;
        status = queue_table->submit(to == nullptr ? queue : to, lent.one(submission), sink.out());
    }
    if (status == WYE_OK) value = newest = submission.value;
    failure = sink.failure();
    return status;
}

wye_event Device::event(wye_queue_object* of, std::uint64_t number) const {
    return {timelines_.at(of), number, 0, 0};
}

wye_status Device::query(wye_queue_object* of, std::uint64_t number, wye_error** error) const {
    Borrowed lent("query");
    return table->query(object, lent.one(event(of, number)), error);
}

wye_status Device::await(wye_queue_object* of, std::uint64_t number, std::uint64_t timeout_ns,
                         wye_error** error) const {
    Borrowed lent("wait");
    return table->wait(object, lent.one(event(of, number)), 1, 0, timeout_ns, nullptr, error);
}

wye_status Device::wait(std::uint64_t timeout_ns) {
    Sink sink;
    const wye_status status = await(queue, value, timeout_ns, sink.out());
    failure = sink.failure();
    return status;
}

wye_status Device::run(const wye_operation& operation) {
    const wye_status status = submit({&operation, 1});
    return status == WYE_OK ? wait() : status;
}

std::vector<std::byte> Device::download(wye_buffer_object* buffer, std::uint64_t size) {
    std::vector<std::byte> out(size);
    if (run(harness::download(buffer, 0, out)) != WYE_OK)
        throw SetupFailed("download: " + failure.message);
    return out;
}

NativeBuffer::NativeBuffer(std::uint64_t size, const wye_native_handle& of) : handle(of) {
    memory.header.size = sizeof memory;
    memory.header.type = WYE_CHAIN_NATIVE_MEMORY | WYE_CHAIN_CRITICAL;
    memory.handle = &handle;
    desc.header.size = sizeof desc;
    desc.header.next = &memory;
    desc.size = size;
    desc.alignment = 16;
    desc.usage = WYE_BUFFER_USAGE_DEVICE;
}
wye_status NativeBuffer::create(const Device& device, wye_buffer_object** out,
                                wye_error** error) const {
    return device.table->buffer_create(device.object, &desc, out, error);
}

Command::Command(Device& device, std::span<const wye_operation> operations, std::uint32_t slots,
                 std::uint32_t params_size, std::span<const wye_edge> edges, std::uint32_t flags)
    : device_(device) {
    Sink sink;
    Borrowed lent("command_create");
    wye_command_desc desc{};
    desc.header.size = sizeof desc;
    desc.operations = lent.operations(operations);
    desc.operation_count = operations.size();
    desc.edges = lent.many(edges);
    desc.edge_count = edges.size();
    desc.slot_count = slots;
    desc.params_size = params_size_ = params_size;
    desc.flags = flags;
    desc.label = lent.text(abi("command"));
    status = device.table->command_create(device.object, lent.one(desc), &object, sink.out());
    failure = sink.failure();
}

void Command::destroy() {
    if (object != nullptr) device_.table->command_destroy(device_.object, object);
    object = nullptr;
}

wye_operation Command::execute(std::span<const wye_binding> slots, const void* params) const {
    wye_operation out{};
    out.kind = WYE_OPERATION_EXECUTE;
    out.u.execute = {object, slots.data(), params, static_cast<std::uint32_t>(slots.size()),
                     params_size_};
    return out;
}

wye_command_info Command::info() const {
    Sink sink;
    wye_command_info out{};
    out.header.size = sizeof out;
    need(device_.table->command_info(device_.object, object, &out, sink.out()), "command_info",
         sink);
    return out;
}

wye_status Command::update(std::uint64_t index, const wye_operation& operation) {
    Sink sink;
    Borrowed lent("command_update");
    const wye_status out = device_.table->command_update(
        device_.object, object, index, lent.operations({&operation, 1}), sink.out());
    failure = sink.failure();
    return out;
}

wye_artifact artifact(std::string_view code, std::string_view entry,
                      std::span<const wye_slot> slots, std::uint32_t bindings,
                      std::uint32_t workgroup, std::uint32_t params_size) {
    wye_artifact out{};
    out.header.size = sizeof out;
    out.format = abi(subject().format);
    out.code = {code.data(), code.size()};
    out.entry = abi(entry);
    out.slots = slots.data();
    out.slot_count = static_cast<std::uint32_t>(slots.size());
    out.binding_count = bindings;
    out.workgroup_size[0] = workgroup;
    out.workgroup_size[1] = out.workgroup_size[2] = 1;
    out.params_size = params_size;
    out.label = abi("test");
    return out;
}

wye_operation dispatch(wye_program_object* program, std::span<const wye_binding> bindings,
                       std::array<std::uint32_t, 3> groups, const void* params,
                       std::uint32_t params_size) {
    wye_operation op{};
    op.kind = WYE_OPERATION_DISPATCH;
    op.u.dispatch.program = program;
    op.u.dispatch.bindings = bindings.data();
    op.u.dispatch.binding_count = static_cast<std::uint32_t>(bindings.size());
    op.u.dispatch.params = params;
    op.u.dispatch.params_size = params_size;
    for (unsigned k = 0; k < 3; ++k)
        op.u.dispatch.groups[k] = op.u.dispatch.logical_groups[k] = groups[k];
    return op;
}

wye_operation fill(wye_buffer_object* target, std::uint64_t offset, std::uint64_t size,
                   std::uint64_t pattern, std::uint32_t pattern_size) {
    wye_operation op{};
    op.kind = WYE_OPERATION_FILL;
    op.u.fill = {target, offset, size, pattern, pattern_size, 0};
    return op;
}

wye_operation copy(wye_buffer_object* source, wye_buffer_object* target,
                   std::uint64_t source_offset, std::uint64_t target_offset, std::uint64_t size) {
    wye_operation op{};
    op.kind = WYE_OPERATION_COPY;
    op.u.copy = {source, target, source_offset, target_offset, size, 0, 0};
    return op;
}

wye_operation upload(wye_buffer_object* buffer, std::uint64_t offset,
                     std::span<const std::byte> bytes) {
    wye_operation op{};
    op.kind = WYE_OPERATION_UPLOAD;
    op.u.transfer = {buffer, offset, bytes.size(), bytes.data(), nullptr};
    return op;
}

wye_operation download(wye_buffer_object* buffer, std::uint64_t offset,
                       std::span<std::byte> bytes) {
    wye_operation op{};
    op.kind = WYE_OPERATION_DOWNLOAD;
    op.u.transfer = {buffer, offset, bytes.size(), nullptr, bytes.data()};
    return op;
}

wye_binding binding(wye_buffer_object* buffer, std::uint64_t offset, std::uint64_t count) {
    return {buffer, offset, count * 4, count, 0, 0, 0};
}

std::vector<std::uint32_t> counting(std::uint32_t count, std::uint32_t from) {
    std::vector<std::uint32_t> out(count);
    for (std::uint32_t i = 0; i < count; ++i) out[i] = from + i;
    return out;
}

}  // namespace harness
