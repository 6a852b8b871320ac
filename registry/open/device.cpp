// SPDX-License-Identifier: Apache-2.0
#include "registry/open/device.hpp"

#include <new>
#include <thread>

#include "registry/open/contain.hpp"
#include "registry/open/open_plugin.hpp"
#include "registry/open/process_state.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::registry {
namespace {

// Sets the device as the subject of an error that has none.
Error about(const NativeDevice& device, Error error) {
    if (error.subject.empty()) error.subject = device.info().selector;
    return error;
}

template <typename Call>
[[gnu::always_inline]] inline Result<void> call(const NativeDevice& device, std::string_view slot,
                                                Call&& body) {
    Result<void> result = contain_quick(device.info().plugin, slot, std::forward<Call>(body));
    if (!result.ok()) return about(device, std::move(result).error());
    return result;
}

// As `call`, for slots that not every dispatch calls. DEVICE_LOST after `recover` was called.
template <typename Call>
Result<void> rare_call(const NativeDevice& device, std::string_view slot, Call&& body) {
    const Gate::Stay stay(device.gate());
    WYE_TRY(device.check_gate(stay));
    Result<void> result = contain(device.info().plugin, slot, std::forward<Call>(body));
    if (!result.ok()) return about(device, std::move(result).error());
    return result;
}

// Calls a destroy slot. While `recover` runs, waits for it.
template <typename Call>
void end_call(const NativeDevice& device, std::string_view slot, Call&& body) noexcept {
    const sdk::SharedLock outside(device.recovering());
    contain_end(device.host(), device.info().plugin, slot, std::forward<Call>(body));
}

constexpr std::uint64_t kMostSaved = std::uint64_t{256} << 20U;  // bytes of one saved program

}  // namespace

NativeDevice::NativeDevice(std::shared_ptr<const OpenPlugin> plugin,
                           std::shared_ptr<const DeviceInfo> info, wye_device_object* object,
                           const wye_device_table& table, bool saves) noexcept
    : plugin_(std::move(plugin)),
      info_(std::move(info)),
      object_(object),
      table_(table),
      saves_(saves),
      built_in_(plugin_->built_in()) {}

NativeDevice::~NativeDevice() {
    const ProcessStateGuard guard(!built_in_);
    end_call(*this, "close", [&] { table_.close(object_); });
}

Result<wye_memory_info> NativeDevice::memory() const {
    wye_memory_info info{};
    info.header = sdk::header_of(sizeof info);
    WYE_TRY(rare_call(*this, "memory_info", [&](wye_error** error) {
        return table_.memory_info(object_, &info, error);
    }));
    return info;
}

Result<void> NativeDevice::prepare() const {
    Result<void> result = rare_call(
        *this, "prepare", [&](wye_error** error) { return table_.prepare(object_, error); });
    if (!result.ok() && result.error().code == Code::UNIMPLEMENTED) return {};
    return result;
}

Result<void> NativeDevice::flush() const {
    return rare_call(*this, "flush",
                     [&](wye_error** error) { return table_.flush(object_, error); });
}

bool NativeDevice::lost() const noexcept {
    const sdk::SharedLock outside(recovering_);
    const PluginSlot at{info_->plugin, "device_lost"};
    const PluginMark mark(at);
    try {
        return table_.device_lost(object_) != 0;
    } catch (...) {
        return true;
    }
}

Result<void> NativeDevice::recover() const {
    (void)gate_.close();
    (void)gate_.wait_empty();
    const sdk::Lock alone(recovering_);
    Result<void> result = contain(info_->plugin, "try_recover", [&](wye_error** error) {
        return table_.try_recover(object_, error);
    });
    if (!result.ok()) return about(*this, std::move(result).error());
    return result;
}

Result<void> NativeDevice::check_gate(const Gate::Stay& stay) const {
    if (stay.flags == 0) return {};
    return Error(Code::DEVICE_LOST,
                 info_->selector + " was lost; it is being recovered, or was recovered since",
                 "Fix: open the device again, and make its buffers anew", info_->selector);
}

BufferCounts NativeDevice::buffer_counts() const noexcept {
    return {buffers_made_.load(std::memory_order_relaxed),
            buffer_bytes_.load(std::memory_order_relaxed),
            peak_bytes_.load(std::memory_order_relaxed)};
}

void NativeDevice::count_buffer(std::uint64_t size) const noexcept {
    buffers_made_.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t live = buffer_bytes_.fetch_add(size, std::memory_order_relaxed) + size;
    std::uint64_t peak = peak_bytes_.load(std::memory_order_relaxed);
    while (peak < live &&
           !peak_bytes_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
    }
}

std::uint32_t NativeDevice::minor() const noexcept { return plugin_->about().minor; }
const HostServices& NativeDevice::host() const noexcept { return plugin_->host(); }
std::string NativeDevice::plugin_identity() const { return plugin_->identity(); }

// ---- Buffer -------------------------------------------------------------------------------

Result<NativeBuffer> NativeBuffer::create(DeviceRef device, std::uint64_t size,
                                          std::uint64_t alignment, std::string_view label,
                                          std::uint32_t usage) {
    wye_buffer_desc desc{};
    desc.header = sdk::header_of(sizeof desc);
    desc.size = size;
    desc.alignment = alignment;
    desc.usage = usage;
    desc.label = sdk::to_abi(label);
    return create(std::move(device), desc);
}

Result<NativeBuffer> NativeBuffer::registered(DeviceRef device, void* memory, std::uint64_t size,
                                              std::string_view label) {
    wye_buffer_desc desc{};
    desc.header = sdk::header_of(sizeof desc);
    desc.size = size;
    desc.alignment = 1;
    desc.usage = WYE_BUFFER_USAGE_REGISTERED;
    desc.label = sdk::to_abi(label);
    desc.memory = memory;
    return create(std::move(device), desc);
}

Result<NativeBuffer> NativeBuffer::adopt(DeviceRef device, const wye_native_handle& memory,
                                         std::uint64_t size, std::uint64_t alignment,
                                         std::string_view label) {
    wye_native_memory native{};
    native.header = sdk::header_of(sizeof native);
    native.header.type = WYE_CHAIN_NATIVE_MEMORY | WYE_CHAIN_CRITICAL;
    native.handle = &memory;
    wye_buffer_desc desc{};
    desc.header = sdk::header_of(sizeof desc);
    desc.header.next = &native;
    desc.size = size;
    desc.alignment = alignment;
    desc.usage = WYE_BUFFER_USAGE_DEVICE;
    desc.label = sdk::to_abi(label);
    auto made = create(device, desc);
    if (made.ok()) return made;
    if (made.error().code != Code::UNSUPPORTED_EXTENSION) return made;
    return Error(Code::UNSUPPORTED,
                 "the plugin of " + device->info().selector + " adopts no memory of its driver",
                 "Fix: make a buffer with wye_buffer_create and copy, or use a newer plugin",
                 std::string(label));
}

Result<NativeBuffer> NativeBuffer::create(DeviceRef device, const wye_buffer_desc& desc) {
    wye_buffer_object* object = nullptr;
    WYE_TRY(rare_call(*device, "buffer_create", [&](wye_error** error) {
        return device->table().buffer_create(device->object(), &desc, &object, error);
    }));
    if (object == nullptr) return about(*device, null_object_fault("buffer_create"));
    NativeBuffer out(std::move(device), object, desc.size);
    // Only device memory counts: no staging or registered memory, and none that the application
    // owns.
    out.counted_ = desc.usage < WYE_BUFFER_USAGE_STAGING && desc.header.next == nullptr;
    if (out.counted_) out.device_->count_buffer(desc.size);
    return out;
}

NativeBuffer& NativeBuffer::operator=(NativeBuffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(object_, other.object_);
    std::swap(size_, other.size_);
    std::swap(counted_, other.counted_);
    return *this;
}

NativeBuffer::~NativeBuffer() {
    if (object_ == nullptr) return;
    if (counted_) device_->buffer_bytes_.fetch_sub(size_, std::memory_order_relaxed);
    end_call(*device_, "buffer_destroy",
             [&] { device_->table().buffer_destroy(device_->object(), object_); });
}

Result<wye_mapping> NativeBuffer::map() const {
    wye_mapping out{};
    out.header = sdk::header_of(sizeof out);
    WYE_TRY(rare_call(*device_, "buffer_map", [&](wye_error** error) {
        return device_->table().buffer_map(device_->object(), object_, &out, error);
    }));
    if (out.address == nullptr) return about(*device_, null_object_fault("buffer_map"));
    return out;
}

Result<void> NativeBuffer::sync(std::uint64_t offset, std::uint64_t size,
                                std::uint32_t direction) const {
    Result<void> result = rare_call(*device_, "buffer_sync", [&](wye_error** error) {
        return device_->table().buffer_sync(device_->object(), object_, offset, size, direction,
                                            error);
    });
    if (!result.ok() && result.error().code == Code::UNIMPLEMENTED) return {};
    return result;
}

// ---- Program ------------------------------------------------------------------------------

Result<NativeProgram> NativeProgram::create(DeviceRef device, const wye_artifact& artifact) {
    const ProcessStateGuard guard(!device->built_in());
    wye_program_object* object = nullptr;
    WYE_TRY(rare_call(*device, "program_create", [&](wye_error** error) {
        return device->table().program_create(device->object(), &artifact, &object, error);
    }));
    if (object == nullptr) return about(*device, null_object_fault("program_create"));
    return NativeProgram(std::move(device), object);
}

Result<NativeProgram> NativeProgram::load(DeviceRef device, const wye_artifact& artifact,
                                          std::span<const std::byte> saved) {
    const ProcessStateGuard guard(!device->built_in());
    wye_program_object* object = nullptr;
    WYE_TRY(rare_call(*device, "program_load", [&](wye_error** error) {
        return device->table().program_load(device->object(), &artifact,
                                            {saved.data(), saved.size()}, &object, error);
    }));
    if (object == nullptr) return about(*device, null_object_fault("program_load"));
    return NativeProgram(std::move(device), object);
}

Result<std::vector<std::byte>> NativeProgram::save() const {
    const ProcessStateGuard guard(!device_->built_in());
    wye_bytes bytes{};
    WYE_TRY(rare_call(*device_, "program_save", [&](wye_error** error) {
        return device_->table().program_save(device_->object(), object_, &bytes, error);
    }));
    if (bytes.data == nullptr) return about(*device_, null_object_fault("program_save"));
    auto read = read_bytes(bytes, kMostSaved, "the result of the slot `program_save`");
    if (!read.ok()) return about(*device_, std::move(read).error());
    return read;
}

Result<wye_program_info> NativeProgram::info() const {
    wye_program_info out{};
    out.header = sdk::header_of(sizeof out);
    const Result<void> result = rare_call(*device_, "program_info", [&](wye_error** error) {
        return device_->table().program_info(device_->object(), object_, &out, error);
    });
    if (!result.ok() && result.error().code != Code::UNIMPLEMENTED) return result.error();
    return out;
}

NativeProgram& NativeProgram::operator=(NativeProgram&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(object_, other.object_);
    return *this;
}

NativeProgram::~NativeProgram() {
    if (object_ == nullptr) return;
    end_call(*device_, "program_destroy",
             [&] { device_->table().program_destroy(device_->object(), object_); });
}

// ---- Command ------------------------------------------------------------------------------

Result<NativeCommand> NativeCommand::create(DeviceRef device, const wye_command_desc& desc) {
    wye_command_object* object = nullptr;
    WYE_TRY(rare_call(*device, "command_create", [&](wye_error** error) {
        return device->table().command_create(device->object(), &desc, &object, error);
    }));
    if (object == nullptr) return about(*device, null_object_fault("command_create"));
    NativeCommand out(std::move(device), object);
    WYE_ASSIGN(const wye_command_info info, out.info());
    out.most_pending_ = info.most_pending;
    return out;
}

Result<wye_command_info> NativeCommand::info() const {
    wye_command_info info{};
    info.header = sdk::header_of(sizeof info);
    WYE_TRY(rare_call(*device_, "command_info", [&](wye_error** error) {
        return device_->table().command_info(device_->object(), object_, &info, error);
    }));
    return info;
}

NativeCommand& NativeCommand::operator=(NativeCommand&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(object_, other.object_);
    std::swap(most_pending_, other.most_pending_);
    return *this;
}

NativeCommand::~NativeCommand() {
    if (object_ == nullptr) return;
    end_call(*device_, "command_destroy",
             [&] { device_->table().command_destroy(device_->object(), object_); });
}

// ---- Queue --------------------------------------------------------------------------------

Result<NativeQueue> NativeQueue::create(DeviceRef device, std::string_view label,
                                        std::uint64_t newest, std::uint32_t kind,
                                        std::int32_t priority) {
    const ProcessStateGuard guard(!device->built_in());
    wye_queue_desc desc{};
    desc.header = sdk::header_of(sizeof desc);
    desc.label = sdk::to_abi(label);
    desc.kind = kind;
    desc.priority = priority;
    wye_queue_object* object = nullptr;
    wye_timeline_object* timeline = nullptr;
    const wye_queue_table* from = nullptr;
    WYE_TRY(rare_call(*device, "queue_create", [&](wye_error** error) {
        return device->table().queue_create(device->object(), &desc, &object, &timeline, &from,
                                            error);
    }));
    if (object == nullptr || timeline == nullptr)
        return about(*device, null_object_fault("queue_create"));
    auto table = adopt(from, device->minor());
    if (!table.ok()) return about(*device, std::move(table).error());
    return NativeQueue(std::move(device), object, timeline, *table, newest);
}

NativeQueue& NativeQueue::operator=(NativeQueue&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(object_, other.object_);
    std::swap(timeline_, other.timeline_);
    std::swap(table_, other.table_);
    std::swap(newest_, other.newest_);
    std::swap(submit_slot_, other.submit_slot_);
    std::swap(wait_slot_, other.wait_slot_);
    std::swap(plain_, other.plain_);
    return *this;
}

NativeQueue::NativeQueue(DeviceRef device, wye_queue_object* object, wye_timeline_object* timeline,
                         const wye_queue_table& table, std::uint64_t newest) noexcept
    : device_(std::move(device)),
      object_(object),
      timeline_(timeline),
      table_(table),
      newest_(newest),
      submit_slot_{device_->info().plugin, "submit"},
      wait_slot_{device_->info().plugin, "wait"},
      plain_(sdk::submission_of(0, {})) {}

NativeQueue::~NativeQueue() {
    if (object_ != nullptr) end_call(*device_, "destroy", [&] { table_.destroy(object_); });
}

Result<void> NativeQueue::about_it(Result<void> failed) const {
    return about(*device_, std::move(failed).error());
}

bool NativeQueue::has_ended(std::uint64_t value) const noexcept {
    const wye_event event = this->event(value);
    const PluginSlot at{device_->info().plugin, "query"};
    const PluginMark mark(at);
    try {
        return device_->table().query(device_->object(), &event, nullptr) != WYE_NOT_READY;
    } catch (...) {
        return false;
    }
}

// OUT_OF_MEMORY means that the value has failed, or only that the plugin had no memory for another
// error, such as that of a time-out. `has_ended` tells which of the two.
Result<void> NativeQueue::failed_wait(std::uint64_t value, std::uint64_t timeout_ns,
                                      Result<void> failed) const {
    if (failed.error().code != Code::OUT_OF_MEMORY || has_ended(value))
        return about_it(std::move(failed));
    if (timeout_ns != UINT64_MAX) throw std::bad_alloc();
    std::this_thread::yield();
    return wait(value);
}

[[gnu::hot]] Result<void> NativeQueue::send(std::span<const wye_operation> operations, bool timed,
                                            std::span<const wye_event> waits) {
    const wye_submission submission =
        sdk::submission_of(newest_ + 1, operations, waits, timed ? WYE_SUBMISSION_TIMED : 0);
    auto sent = call_slot(submit_slot_, [&](wye_error** error) {
        return table_.submit(object_, &submission, error);
    });
    if (!sent.ok()) return about_it(std::move(sent));
    newest_ = submission.value;
    return sent;
}

Result<bool> NativeQueue::reached(std::uint64_t value) const {
    wye_status status = WYE_OK;
    const wye_event event = this->event(value);
    Result<void> result = call(*device_, "query", [&](wye_error** error) {
        status = device_->table().query(device_->object(), &event, error);
        return status == WYE_NOT_READY ? WYE_OK : status;
    });
    if (!result.ok()) return std::move(result).error();
    return status == WYE_OK;
}

Result<wye_timing> NativeQueue::timing(std::uint64_t value) const {
    wye_timing out{};
    out.header = sdk::header_of(sizeof out);
    WYE_TRY(call(*device_, "timing",
                 [&](wye_error** error) { return table_.timing(object_, value, &out, error); }));
    return out;
}

Result<void> NativeQueue::cancel(std::uint64_t first, std::uint64_t last) const {
    return call(*device_, "cancel",
                [&](wye_error** error) { return table_.cancel(object_, first, last, error); });
}

Result<void> NativeQueue::retire(std::uint64_t value) const {
    const wye_event event = this->event(value);
    return call(*device_, "retire", [&](wye_error** error) {
        return device_->table().retire(device_->object(), &event, error);
    });
}

Result<wye_queue_info> NativeQueue::info() const {
    wye_queue_info out{};
    out.header = sdk::header_of(sizeof out);
    auto told = rare_call(*device_, "info",
                          [&](wye_error** error) { return table_.info(object_, &out, error); });
    if (told.ok()) return out;
    if (told.error().code == Code::UNIMPLEMENTED) return wye_queue_info{};
    return std::move(told).error();
}

}  // namespace wye::registry
