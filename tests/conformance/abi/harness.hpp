// SPDX-License-Identifier: Apache-2.0
//
// A minimal host for one plugin: opens the built library, passes it a host table, and owns what it
// returns. Every call goes through the ABI tables. If set-up fails, SetupFailed ends the test.
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

constexpr std::uint64_t kDeadline = 60'000'000'000;  // ns; only a hang takes that long

// A test cannot go on, since the plugin did not do what its set-up needs.
struct SetupFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The export `symbol` of a library, which stays mapped.
void* export_of(const char* library, const char* symbol);

// The controls of a fake driver or loader, through an export that real drivers lack.
template <typename Control>
const Control& control_of(const char* library, const char* symbol) {
    return *reinterpret_cast<const Control* (*)()>(export_of(library, symbol))();
}

// The plugin under test, defined by each folder of tests.
struct Subject {
    const char* library = nullptr;              // path of the built plugin
    const char* format = nullptr;               // of the artifacts that it accepts
    std::map<std::string, std::string> config;  // of every host, unless a test overrides it
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
// What a library's query describes.
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

    std::map<std::string, std::string> config;  // the subject's and the test's

    // The log as "area: text"; the errors in it.
    [[nodiscard]] std::vector<std::string> log() const;
    [[nodiscard]] std::vector<std::string> errors() const;
    void add_log(std::uint32_t level, std::string line);

  private:
    wye_host_table table_{};
    mutable std::mutex mutex_;
    std::vector<std::string> log_, errors_;
};

// Receives an error object, and frees it.
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

    // Null members if `init` or `probe_devices` failed: see `failure`. With layers, the table is
    // that of the first.
    Host host;
    const wye_plugin_table* table = nullptr;
    wye_plugin_object* object = nullptr;
    std::uint32_t devices = 0;
    wye_status status = WYE_OK;
    Failure failure;

    // Shuts down before destruction, so that a test can read the log of the shutdown.
    void close();

    // A fact of the subject's device.
    [[nodiscard]] wye_fact fact(std::uint32_t key, wye_status* status = nullptr) const;
    [[nodiscard]] bool flag(std::uint32_t key) const;

    // Opens a device; the subject's, unless another is given.
    wye_status open(wye_device_object** out, const wye_device_table** table, wye_error** error,
                    std::optional<std::uint32_t> index = {}) const;

  private:
    // What each layer gets: the table below it, and the host table for that.
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
    // What the driver gave; all zero if the plugin does not say.
    wye_queue_info queue_info(wye_queue_object* of);
    wye_buffer_object* buffer(std::uint64_t size, std::uint32_t usage = WYE_BUFFER_USAGE_DEVICE,
                              std::uint64_t alignment = 16);
    wye_buffer_object* buffer(std::span<const std::byte> content);
    // Over memory of the application (usage REGISTERED).
    wye_buffer_object* registered(std::span<std::byte> memory);
    // Null if it does not compile, with `failure` set.
    wye_program_object* program(const wye_artifact& artifact);
    // All zero if it cannot be mapped, with `failure` set.
    wye_mapping map(wye_buffer_object* buffer);
    void destroy(wye_buffer_object* buffer);

    // Submits to `queue`, unless another is given. Returns the status; sets `value` on success.
    wye_status submit(std::span<const wye_operation> operations,
                      std::span<const wye_event> waits = {}, wye_queue_object* to = nullptr,
                      std::span<const wye_event> signals = {});
    // A value of a queue's own timeline; what `query` and `wait` of the device say of it.
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
    std::uint64_t value = 0;   // of the last submit
    std::uint64_t newest = 0;  // the next submit, to whichever queue, gets the value after it
    Failure failure;

  private:
    wye_buffer_object* create(const wye_buffer_desc& desc);

    std::map<wye_queue_object*, wye_timeline_object*> timelines_;
    std::vector<wye_buffer_object*> buffers_;
    std::vector<wye_program_object*> programs_;
};

// The description of a buffer of the usage DEVICE whose memory a native handle names. A case may
// change its members between two calls of `create`.
struct NativeBuffer {
    NativeBuffer(std::uint64_t size, const wye_native_handle& of);
    NativeBuffer(const NativeBuffer&) = delete;
    NativeBuffer& operator=(const NativeBuffer&) = delete;

    wye_status create(const Device& device, wye_buffer_object** out, wye_error** error) const;

    wye_native_handle handle;
    wye_native_memory memory{};
    wye_buffer_desc desc{};
};

// A command of a device, destroyed with this.
class Command {
  public:
    // `status` and `failure` are those of command_create.
    Command(Device& device, std::span<const wye_operation> operations, std::uint32_t slots = 0,
            std::uint32_t params_size = 0, std::span<const wye_edge> edges = {},
            std::uint32_t flags = 0);
    ~Command() { destroy(); }
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    // An execution with these bindings and this block.
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

// An artifact of the subject's format around code and slots that outlive it.
wye_artifact artifact(std::string_view code, std::string_view entry,
                      std::span<const wye_slot> slots, std::uint32_t bindings,
                      std::uint32_t workgroup, std::uint32_t params_size = 0);

wye_operation dispatch(wye_program_object* program, std::span<const wye_binding> bindings,
                       std::array<std::uint32_t, 3> groups, const void* params = nullptr,
                       std::uint32_t params_size = 0);
// With one parameter, which a command may leave open.
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

// A range of `count` 32-bit elements.
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
