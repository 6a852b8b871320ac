// SPDX-License-Identifier: Apache-2.0
//
// A minimal host for one plugin: opens the built library, passes a host table to the plugin, and
// owns the objects that the plugin returns. Every call goes through the ABI tables. If the set-up
// of a test fails, SetupFailed ends the test.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "wye/abi.h"
#include "wye/abi_layer.h"
#include "wye/abi_native.h"

namespace harness {

constexpr std::uint64_t kDeadline = 60'000'000'000;  // ns; only a call that hangs takes that long

// The plugin did not do what the set-up of a test needs, so the test ends.
struct SetupFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Returns the exported `symbol` of a library. The library stays loaded.
void* export_of(const char* library, const char* symbol);

// The controls of a fake driver or loader, which its export `symbol` returns.
template <typename Control>
const Control& control_of(const char* library, const char* symbol) {
    return *reinterpret_cast<const Control* (*)()>(export_of(library, symbol))();
}

// The plugin under test, defined by each folder of tests.
struct Subject {
    const char* library = nullptr;              // path of the plugin's file
    const char* format = nullptr;               // format of the artifacts that the plugin accepts
    std::map<std::string, std::string> config;  // of every host; a test may override it
    std::uint32_t device = 0;                   // index of the device that cases open
    // Paths of layers over the plugin, the first nearest to the host.
    std::vector<const char*> layers = {};
};
const Subject& subject();

// The hello of this version's host.
inline constexpr wye_hello kHello = {{sizeof(wye_hello), 0, nullptr},
                                     WYE_ABI_MINOR,
                                     WYE_ABI_MINOR_FLOOR,
                                     WYE_ABI_MINOR_DRAFT,
                                     WYE_ABI_MINOR_FROZEN};
// The description that the query of a library's plugin returns.
const wye_plugin_desc& desc_of(const char* library);

// The contents of a plugin's error, causes included.
struct Failure {
    wye_status code = WYE_OK;
    std::int64_t native_code = 0;
    std::string message, fix, subject, native_domain;
    std::shared_ptr<Failure> cause;
};

// The host's side of the contract.
class Host {
  public:
    explicit Host(std::map<std::string, std::string> config = {});
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    [[nodiscard]] const wye_host_table* table() const { return &table_; }

    std::map<std::string, std::string> config;  // the subject's, and what the test adds

    // `log`: all messages, as "area: text". `errors`: those of the level WYE_LOG_ERROR.
    [[nodiscard]] std::vector<std::string> log() const;
    [[nodiscard]] std::vector<std::string> errors() const;
    void add_log(std::uint32_t level, std::string line);

  private:
    wye_host_table table_{};
    mutable std::mutex mutex_;
    std::vector<std::string> log_, errors_;
};

// Receives an error object from a call, and frees the object.
class Sink {
  public:
    Sink() = default;
    ~Sink();
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;
    wye_error** out() { return &error_; }
    [[nodiscard]] Failure failure() const;

  private:
    wye_error* error_ = nullptr;
};

class Plugin {
  public:
    explicit Plugin(std::map<std::string, std::string> config = {});
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    // `table` and `object` are null if `init` or `probe_devices` failed: see `failure`. With
    // layers, `table` and `object` are those of the first layer.
    Host host;
    const wye_plugin_table* table = nullptr;
    wye_plugin_object* object = nullptr;
    std::uint32_t devices = 0;
    wye_status status = WYE_OK;
    Failure failure;

    // Calls `shutdown` before the destructor does, so that a test can read what the plugin logs
    // there.
    void close();

    // A fact of the subject's device.
    [[nodiscard]] wye_fact fact(std::uint32_t key, wye_status* status = nullptr) const;
    [[nodiscard]] bool flag(std::uint32_t key) const;

    // Opens the device `index` or, without an index, the subject's.
    wye_status open(wye_device_object** out, const wye_device_table** table, wye_error** error,
                    std::optional<std::uint32_t> index = {}) const;

  private:
    // The chain entry of each layer; the host table of each layer and of the plugin.
    std::deque<wye_layer_next> below_;
    std::deque<wye_host_table> hosts_;
};

// The subject's device, opened, with one queue.
class Device {
  public:
    // `timed`: whether all submits ask for their times.
    explicit Device(Plugin& plugin, bool timed = false);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    wye_queue_object* queue_create(std::uint32_t kind = WYE_QUEUE_ANY, std::int32_t priority = 0);
    // What the driver gave the queue; all members are 0 if the plugin has no slot `info`.
    wye_queue_info queue_info(wye_queue_object* of);
    wye_buffer_object* buffer(std::uint64_t size, std::uint32_t usage = WYE_BUFFER_USAGE_DEVICE,
                              std::uint64_t alignment = 16);
    wye_buffer_object* buffer(std::span<const std::byte> content);
    // A buffer of the usage REGISTERED, made of `memory`.
    wye_buffer_object* registered(std::span<std::byte> memory);
    // Null, with `failure` set, if the artifact does not compile.
    wye_program_object* program(const wye_artifact& artifact);
    // All members are 0, with `failure` set, if the buffer cannot be mapped.
    wye_mapping map(wye_buffer_object* buffer);
    void destroy(wye_buffer_object* buffer);

    // Submits to the queue `to`; without one, to `queue`. On success sets `value`.
    wye_status submit(std::span<const wye_operation> operations,
                      std::span<const wye_event> waits = {}, wye_queue_object* to = nullptr,
                      std::span<const wye_event> signals = {});
    // `event`: a value of the timeline of queue `of`. `query` and `await` ask the device for that
    // value.
    [[nodiscard]] wye_event event(wye_queue_object* of, std::uint64_t number) const;
    wye_status query(wye_queue_object* of, std::uint64_t number, wye_error** error) const;
    wye_status await(wye_queue_object* of, std::uint64_t number, std::uint64_t timeout_ns,
                     wye_error** error) const;
    // Waits for `value` of `queue`.
    wye_status wait(std::uint64_t timeout_ns = UINT64_MAX);
    wye_status run(const wye_operation& operation);  // submit and wait

    std::vector<std::byte> download(wye_buffer_object* buffer, std::uint64_t size);

    const wye_device_table* table = nullptr;
    wye_device_object* object = nullptr;
    const wye_queue_table* queue_table = nullptr;
    wye_queue_object* queue = nullptr;
    bool timed = false;
    std::uint64_t value = 0;   // value of the last submit
    std::uint64_t newest = 0;  // the next submit to any queue gets the value newest + 1
    Failure failure;

  private:
    wye_buffer_object* create(const wye_buffer_desc& desc);

    std::map<wye_queue_object*, wye_timeline_object*> timelines_;
    std::vector<wye_buffer_object*> buffers_;
    std::vector<wye_program_object*> programs_;
};

// The description of a buffer of the usage DEVICE whose memory is that of a native handle. A case
// may change the members between two calls of `create`.
struct NativeBuffer {
    NativeBuffer(std::uint64_t size, const wye_native_handle& of);
    NativeBuffer(const NativeBuffer&) = delete;
    NativeBuffer& operator=(const NativeBuffer&) = delete;

    wye_status create(const Device& device, wye_buffer_object** out, wye_error** error) const;

    wye_native_handle handle;
    wye_native_memory memory{};
    wye_buffer_desc desc{};
};

// A command of a device. The destructor destroys the command.
class Command {
  public:
    // Calls command_create, and keeps the result in `status` and `failure`.
    Command(Device& device, std::span<const wye_operation> operations, std::uint32_t slots = 0,
            std::uint32_t params_size = 0, std::span<const wye_edge> edges = {},
            std::uint32_t flags = 0);
    ~Command() { destroy(); }
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    // An execution of the command with these bindings and this parameter block.
    [[nodiscard]] wye_operation execute(std::span<const wye_binding> slots = {},
                                        const void* params = nullptr) const;
    [[nodiscard]] wye_command_info info() const;
    [[nodiscard]] wye_status update(std::uint64_t index, const wye_operation& operation);
    void destroy();

    wye_command_object* object = nullptr;
    wye_status status = WYE_OK;
    Failure failure;

  private:
    Device& device_;
    std::uint32_t params_size_;
};

// An artifact of the subject's format. `code`, `entry` and `slots` must outlive the artifact.
wye_artifact artifact(std::string_view code, std::string_view entry,
                      std::span<const wye_slot> slots, std::uint32_t bindings,
                      std::uint32_t workgroup, std::uint32_t params_size = 0);

wye_operation dispatch(wye_program_object* program, std::span<const wye_binding> bindings,
                       std::array<std::uint32_t, 3> groups, const void* params = nullptr,
                       std::uint32_t params_size = 0);
// A dispatch with one parameter of 32 bits, whose value a command may leave to its executions.
inline wye_operation dispatch(wye_program_object* program, std::span<const wye_binding> bindings,
                              std::array<std::uint32_t, 3> groups, const std::uint32_t* param) {
    return dispatch(program, bindings, groups, param, sizeof *param);
}
wye_operation fill(wye_buffer_object* target, std::uint64_t offset, std::uint64_t size,
                   std::uint64_t pattern, std::uint32_t pattern_size);
wye_operation copy(wye_buffer_object* source, wye_buffer_object* target,
                   std::uint64_t source_offset, std::uint64_t target_offset, std::uint64_t size);
wye_operation upload(wye_buffer_object* buffer, std::uint64_t offset,
                     std::span<const std::byte> bytes);
wye_operation download(wye_buffer_object* buffer, std::uint64_t offset, std::span<std::byte> bytes);

// A range of `count` elements of 32 bits, from `offset` bytes on.
wye_binding binding(wye_buffer_object* buffer, std::uint64_t offset, std::uint64_t count);
// from, from + 1, ...
std::vector<std::uint32_t> counting(std::uint32_t count, std::uint32_t from = 0);

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
    return std::as_bytes(std::span(values));
}
template <typename T>
std::vector<T> values_of(const std::vector<std::byte>& bytes) {
    std::vector<T> out(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
    return out;
}

}  // namespace harness
