// SPDX-License-Identifier: Apache-2.0
//
// Devices: DeviceInfo, the immutable description of a probed device, and owners of a plugin's
// native objects: NativeDevice (an opened device), NativeBuffer, NativeProgram, NativeCommand,
// NativeQueue. Every native object keeps its device alive, and a device keeps its plugin alive, so
// that all of them are destroyed in the order that the ABI requires. Tables are the host's full
// copies: no slot is null, and a missing optional slot returns WYE_UNIMPLEMENTED. A slot that
// succeeds but returns a null object gives PLUGIN_FAULT.
//
// Threads: one thread at a time may submit to a NativeQueue (send, send_plain, submit, wait_native)
// or ask for its newest value. All other members are free-threaded. The subject of errors is the
// device's selector.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/gate.hpp"
#include "registry/open/facts.hpp"
#include "registry/open/handshake.hpp"
#include "registry/open/plugin_call.hpp"
#include "wye/abi.h"
#include "wye/abi_native.h"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::registry {

struct DeviceInfo {
    std::string plugin;       // id
    std::uint32_t index = 0;  // within the plugin
    std::string selector;     // "name:0", as accepted by parse_selector
    std::string id;           // 16 hex digits, made from plugin, name, PCI address and UUID
    std::string name;
    bool usable = false;
    std::string reason;  // why the device is unusable
    std::string fix;     // how to make the device usable, "Fix: ..."
    std::int64_t native_code = 0;
    std::vector<std::string> formats;  // accepted artifact formats, most preferred first
    Facts facts;
    std::chrono::steady_clock::time_point probed{};  // when the facts were read
};

// Counts of a device's buffers since the device was opened. Staging memory is host memory and not
// counted.
struct BufferCounts {
    std::uint64_t made = 0;
    std::uint64_t bytes = 0;  // of the live buffers, as requested
    std::uint64_t peak_bytes = 0;
};

// Counts of the driver's descriptor layouts since the device was opened; zeros if the driver has
// none.
struct LayoutCounts {
    std::uint64_t made = 0;
    std::uint64_t shared = 0;  // programs that reuse an existing layout
};

class HostServices;
class OpenPlugin;  // an initialised plugin, private to the registry; kept alive by its devices

class NativeDevice {
  public:
    // Called by Registry::open_device.
    NativeDevice(std::shared_ptr<const OpenPlugin> plugin, std::shared_ptr<const DeviceInfo> info,
                 wye_device_object* object, const wye_device_table& table, bool saves) noexcept;
    ~NativeDevice();
    NativeDevice(const NativeDevice&) = delete;
    NativeDevice& operator=(const NativeDevice&) = delete;

    [[nodiscard]] const DeviceInfo& info() const noexcept { return *info_; }
    [[nodiscard]] const wye_device_table& table() const noexcept { return table_; }
    [[nodiscard]] wye_device_object* object() const noexcept { return object_; }
    [[nodiscard]] std::uint32_t minor() const noexcept;  // the plugin's effective minor

    // Whether the plugin is built in, so that calls to it need no ProcessStateGuard.
    [[nodiscard]] bool built_in() const noexcept { return built_in_; }

    // Whether the plugin has slots to save and load programs.
    [[nodiscard]] bool saves_programs() const noexcept { return saves_; }

    // Counts since the device was opened.
    [[nodiscard]] BufferCounts buffer_counts() const noexcept;
    [[nodiscard]] LayoutCounts layout_counts() const;

    [[nodiscard]] Result<wye_memory_info> memory() const;  // UNIMPLEMENTED: the plugin cannot tell
    [[nodiscard]] Result<void> prepare() const;            // ok if the plugin has no such slot
    [[nodiscard]] Result<void> flush() const;  // UNIMPLEMENTED: wait on each queue instead
    [[nodiscard]] bool lost() const noexcept;  // false if the plugin cannot tell
    [[nodiscard]] const HostServices& host() const noexcept;  // the services given to its plugin
    // Reacquires a lost device, whose objects are invalid afterwards. Waits for calls that make or
    // describe objects of the device, and refuses later ones with DEVICE_LOST. The caller ensures
    // that nothing more is submitted, and that all work has ended. UNIMPLEMENTED or UNSUPPORTED:
    // open the device again instead.
    [[nodiscard]] Result<void> recover() const;
    // The gate of the device. Calls that make or describe objects of the device enter the gate.
    // `check_gate` returns DEVICE_LOST if the gate was closed when `stay` entered it.
    [[nodiscard]] Gate& gate() const noexcept { return gate_; }
    [[nodiscard]] Result<void> check_gate(const Gate::Stay& stay) const;
    // `recover` holds this mutex alone while it calls the plugin. Calls that are also made after
    // `recover` share it: those that destroy objects, and that of `lost`.
    [[nodiscard]] sdk::SharedMutex& recovering() const noexcept { return recovering_; }
    // The device's handle in the driver's API. UNSUPPORTED: the plugin exposes none.
    [[nodiscard]] Result<wye_native_handle> native() const;
    // Identifies the plugin, its file and its compiler, on one line: saved programs are valid for
    // one identity and one device.
    [[nodiscard]] std::string plugin_identity() const;

  private:
    std::shared_ptr<const OpenPlugin> plugin_;
    std::shared_ptr<const DeviceInfo> info_;
    wye_device_object* object_;
    wye_device_table table_;
    bool saves_;
    bool built_in_;

    mutable Gate gate_;
    mutable sdk::SharedMutex recovering_;

    friend class NativeBuffer;
    void count_buffer(std::uint64_t size) const noexcept;
    mutable std::atomic<std::uint64_t> buffers_made_ = 0, buffer_bytes_ = 0, peak_bytes_ = 0;
};
using DeviceRef = std::shared_ptr<const NativeDevice>;

// A plugin's buffer. No pending operation may use it when it is destroyed.
class NativeBuffer {
  public:
    [[nodiscard]] static Result<NativeBuffer> create(DeviceRef device, std::uint64_t size,
                                                     std::uint64_t alignment,
                                                     std::string_view label,
                                                     std::uint32_t usage = WYE_BUFFER_USAGE_DEVICE);
    // Makes a buffer over application memory, for copies. Its mapping has the address of that
    // memory.
    [[nodiscard]] static Result<NativeBuffer> registered(DeviceRef device, void* memory,
                                                         std::uint64_t size,
                                                         std::string_view label);
    // Makes a buffer from memory of the driver's API that the application owns, and keeps owning.
    // UNSUPPORTED: the plugin cannot adopt memory.
    [[nodiscard]] static Result<NativeBuffer> adopt(DeviceRef device,
                                                    const wye_native_handle& memory,
                                                    std::uint64_t size, std::uint64_t alignment,
                                                    std::string_view label);
    NativeBuffer(NativeBuffer&& other) noexcept
        : device_(std::move(other.device_)),
          object_(std::exchange(other.object_, nullptr)),
          size_(other.size_),
          counted_(other.counted_) {}
    NativeBuffer& operator=(NativeBuffer&& other) noexcept;
    ~NativeBuffer();

    // Maps the buffer. The mapping is valid until the buffer is destroyed or the device is
    // recovered. UNIMPLEMENTED or UNSUPPORTED: the buffer cannot be mapped.
    [[nodiscard]] Result<wye_mapping> map() const;
    // Makes mapped bytes visible to the device after the host wrote them, or to the host after the
    // device wrote them (enum wye_sync_direction). Ok if the plugin has no such slot, since its
    // mappings are then coherent.
    [[nodiscard]] Result<void> sync(std::uint64_t offset, std::uint64_t size,
                                    std::uint32_t direction) const;

    // The buffer's handle in the driver's API. UNSUPPORTED: the plugin exposes none.
    [[nodiscard]] Result<wye_native_handle> native() const;
    [[nodiscard]] wye_buffer_object* object() const noexcept { return object_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }  // bytes
    [[nodiscard]] const DeviceRef& device() const noexcept { return device_; }

  private:
    [[nodiscard]] static Result<NativeBuffer> create(DeviceRef device, const wye_buffer_desc& desc);
    NativeBuffer(DeviceRef device, wye_buffer_object* object, std::uint64_t size) noexcept
        : device_(std::move(device)), object_(object), size_(size) {}
    DeviceRef device_;
    wye_buffer_object* object_;
    std::uint64_t size_;
    bool counted_ = false;  // included in the device's buffer counts
};

// A compiled program. No pending operation may use it when it is destroyed.
class NativeProgram {
  public:
    // Compiles; may take long. Restores signal state afterwards, as drivers install handlers at
    // their first build.
    [[nodiscard]] static Result<NativeProgram> create(DeviceRef device,
                                                      const wye_artifact& artifact);
    // Loads a program from the bytes that `save` returned, perhaps in another process. UNSUPPORTED
    // or UNIMPLEMENTED: compile the program instead.
    [[nodiscard]] static Result<NativeProgram> load(DeviceRef device, const wye_artifact& artifact,
                                                    std::span<const std::byte> saved);
    // Serialises the program; may take long, and restores signal state afterwards. UNIMPLEMENTED or
    // UNSUPPORTED: the program cannot be saved. NOT_READY: it can be saved only after its first
    // launch.
    [[nodiscard]] Result<std::vector<std::byte>> save() const;
    // What the driver says about the program. Members are 0 if unknown, all of them if the plugin
    // has no such slot.
    [[nodiscard]] Result<wye_program_info> info() const;
    NativeProgram(NativeProgram&& other) noexcept
        : device_(std::move(other.device_)), object_(std::exchange(other.object_, nullptr)) {}
    NativeProgram& operator=(NativeProgram&& other) noexcept;
    ~NativeProgram();

    [[nodiscard]] wye_program_object* object() const noexcept { return object_; }
    [[nodiscard]] const DeviceRef& device() const noexcept { return device_; }

  private:
    NativeProgram(DeviceRef device, wye_program_object* object) noexcept
        : device_(std::move(device)), object_(object) {}
    DeviceRef device_;
    wye_program_object* object_;
};

// A plugin's command: operations recorded for repeated execution. No execution may be pending when
// it is destroyed.
class NativeCommand {
  public:
    // UNIMPLEMENTED: the plugin has no commands; the operations must be submitted each time.
    [[nodiscard]] static Result<NativeCommand> create(DeviceRef device,
                                                      const wye_command_desc& desc);
    NativeCommand(NativeCommand&& other) noexcept
        : device_(std::move(other.device_)),
          object_(std::exchange(other.object_, nullptr)),
          most_pending_(other.most_pending_) {}
    NativeCommand& operator=(NativeCommand&& other) noexcept;
    ~NativeCommand();

    [[nodiscard]] Result<wye_command_info> info() const;
    // The maximum number of executions that may be pending at once; 0: no limit.
    [[nodiscard]] std::uint32_t most_pending() const noexcept { return most_pending_; }
    [[nodiscard]] wye_command_object* object() const noexcept { return object_; }

  private:
    NativeCommand(DeviceRef device, wye_command_object* object) noexcept
        : device_(std::move(device)), object_(object) {}
    DeviceRef device_;
    wye_command_object* object_;
    std::uint32_t most_pending_ = 0;
};

// A plugin's queue. Destroying it blocks until everything submitted has ended.
class NativeQueue {
  public:
    // Makes a queue whose timeline values start above `newest`. Kind and priority are hints.
    [[nodiscard]] static Result<NativeQueue> create(DeviceRef device, std::string_view label,
                                                    std::uint64_t newest = 0,
                                                    std::uint32_t kind = WYE_QUEUE_ANY,
                                                    std::int32_t priority = 0);
    NativeQueue(NativeQueue&& other) noexcept
        : device_(std::move(other.device_)),
          object_(std::exchange(other.object_, nullptr)),
          timeline_(other.timeline_),
          table_(other.table_),
          newest_(other.newest_),
          submit_slot_(other.submit_slot_),
          wait_slot_(other.wait_slot_),
          plain_(other.plain_) {}
    NativeQueue& operator=(NativeQueue&& other) noexcept;
    ~NativeQueue();

    // Queues operations; then newest() is the value of their event. After an error nothing was
    // queued. `timed`: `timing` will be called for the value. If a value in `waits` fails, the
    // operations fail too. One thread at a time.
    [[nodiscard]] Result<void> send(std::span<const wye_operation> operations, bool timed = false,
                                    std::span<const wye_event> waits = {});
    // As `send`, without waits and times. False: the submit failed, and `failed` is written.
    [[nodiscard, gnu::always_inline]] bool send_plain(std::span<const wye_operation> operations,
                                                      Result<void>& failed) {
        plain_.operations = operations.data();
        plain_.operation_count = operations.size();
        plain_.value = newest_ + 1;
        const auto submit = [this](wye_error** error) {
            return table_.submit(object_, &plain_, error);
        };
        if (!try_slot(submit_slot_, submit, failed)) [[unlikely]] {
            failed = about_it(std::move(failed));
            return false;
        }
        ++newest_;
        return true;
    }
    // As `send` without operations: operations that are sent later begin only after the native
    // event. UNSUPPORTED: the plugin cannot wait for native events.
    [[nodiscard]] Result<void> wait_native(const wye_native_handle& event,
                                           std::span<const wye_event> waits = {});
    [[nodiscard]] std::uint64_t newest() const noexcept { return newest_; }
    // As `send`, and returns the value of the operations' event.
    [[nodiscard]] Result<std::uint64_t> submit(std::span<const wye_operation> operations,
                                               bool timed = false,
                                               std::span<const wye_event> waits = {}) {
        WYE_TRY(send(operations, timed, waits));
        return newest_;
    }
    [[nodiscard]] Result<bool> reached(std::uint64_t value) const;  // or the value's error
    // Errors: TIMEOUT, or the error of the value. UINT64_MAX: no limit. Throws std::bad_alloc if
    // there is no memory for an error: `has_ended` then tells whether the value has ended.
    [[nodiscard]] Result<void> wait(std::uint64_t value,
                                    std::uint64_t timeout_ns = UINT64_MAX) const {
        const wye_event event = this->event(value);
        auto waited = call_slot(wait_slot_, [&](wye_error** error) {
            return device_->table().wait(device_->object(), &event, 1, 0, timeout_ns, nullptr,
                                         error);
        });
        if (!waited.ok()) [[unlikely]]
            return failed_wait(value, timeout_ns, std::move(waited));
        return {};
    }
    // Whether the value was reached or has failed. Allocates nothing.
    [[nodiscard]] bool has_ended(std::uint64_t value) const noexcept;
    [[nodiscard]] Result<wye_timing> timing(std::uint64_t value) const;  // UNIMPLEMENTED: no times
    // Asks the plugin to end the work of the values in [first, last], and no other work.
    // UNIMPLEMENTED: the plugin cannot cancel work.
    [[nodiscard]] Result<void> cancel(std::uint64_t first, std::uint64_t last) const;
    // Allows the plugin to forget that a value has failed. UNIMPLEMENTED: the plugin forgets no
    // failures.
    [[nodiscard]] Result<void> retire(std::uint64_t value) const;

    // The kind and priority that the driver granted; ANY and 0 if the plugin has no such slot.
    [[nodiscard]] Result<wye_queue_info> info() const;

    // A value of this queue, to be passed in `waits` to another queue of the same device.
    [[nodiscard]] wye_event event(std::uint64_t value) const noexcept {
        return {timeline_, value, 0, 0};
    }
    // As `event`, but a wait for the returned event ends when the value was reached or has failed.
    [[nodiscard]] wye_event order_event(std::uint64_t value) const noexcept {
        return {timeline_, value, WYE_EVENT_ORDER_ONLY, 0};
    }

    // The queue's handle in the driver's API. UNSUPPORTED: the plugin exposes none.
    [[nodiscard]] Result<wye_native_handle> native() const;
    [[nodiscard]] wye_queue_object* object() const noexcept { return object_; }
    [[nodiscard]] const wye_queue_table& table() const noexcept { return table_; }
    [[nodiscard]] const DeviceRef& device() const noexcept { return device_; }

  private:
    NativeQueue(DeviceRef device, wye_queue_object* object, wye_timeline_object* timeline,
                const wye_queue_table& table, std::uint64_t newest) noexcept;
    // Sets the device as the subject of a failure that has none.
    [[nodiscard, gnu::cold]] Result<void> about_it(Result<void> failed) const;
    // Handles a wait that failed. If only memory ran out, waits again, or throws std::bad_alloc if
    // there is a time limit. Otherwise returns the error.
    [[nodiscard, gnu::cold]] Result<void> failed_wait(std::uint64_t value, std::uint64_t timeout_ns,
                                                      Result<void> failed) const;

    DeviceRef device_;
    wye_queue_object* object_;
    wye_timeline_object* timeline_;  // owned by the queue
    wye_queue_table table_;
    std::uint64_t newest_;                // the value of the last submit
    PluginSlot submit_slot_, wait_slot_;  // `plugin` points into the DeviceInfo
    // The submission of `send_plain`, which writes the operations and the value only.
    wye_submission plain_;
};

}  // namespace wye::registry
