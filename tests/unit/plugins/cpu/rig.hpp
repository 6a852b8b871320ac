// SPDX-License-Identifier: Apache-2.0
//
// The CPU plugin through the tables of the ABI, as a host uses it. Fails the test case if a
// function of the tables fails unexpectedly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wye/abi.h"

namespace test {

using Bytes = std::vector<std::byte>;

struct Failure {
    wye_status code = WYE_OK;
    std::string message;
    std::string fix;
};

// The host's services: errors as Failure, and a configuration.
class Host {
  public:
    explicit Host(std::map<std::string, std::string> config);
    [[nodiscard]] const wye_host_table* table() const { return &table_; }
    static Failure take(wye_error* error);  // reads and releases the error

  private:
    static wye_error* error_make(wye_host_object*, const wye_error_desc* desc);
    static void error_release(wye_host_object*, wye_error* error);
    static wye_status config_get(wye_host_object* self, wye_string key, wye_string* out);
    std::map<std::string, std::string> config_;
    wye_host_table table_{};
};

class Rig {
  public:
    // `isa` empty: the plugin chooses.
    explicit Rig(const std::string& isa = {}, unsigned threads = 1);
    ~Rig();
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    [[nodiscard]] const wye_plugin_table& plugin_table() const { return *plugin_table_; }
    [[nodiscard]] const wye_device_table& device_table() const { return *device_table_; }
    [[nodiscard]] const wye_queue_table& queue_table() const { return *queue_table_; }
    [[nodiscard]] wye_plugin_object* plugin() const { return plugin_; }
    [[nodiscard]] wye_device_object* device() const { return device_; }
    [[nodiscard]] wye_queue_object* queue() const { return queue_; }

    wye_queue_object* new_queue();
    wye_buffer_object* new_buffer(std::uint64_t size, const void* content = nullptr);
    Bytes content(wye_buffer_object* buffer, std::uint64_t size);

    // Stores the value of the submit's event in `value`. Values are counted over all queues, so the
    // values of one queue have gaps.
    wye_status submit(wye_queue_object* queue, const wye_operation& operation, std::uint64_t& value,
                      std::span<const wye_event> waits = {});
    [[nodiscard]] wye_event event(wye_queue_object* queue, std::uint64_t value) const;
    wye_status query(wye_queue_object* queue, std::uint64_t value, wye_error** error) const;
    wye_status await(wye_queue_object* queue, std::uint64_t value, std::uint64_t timeout_ns,
                     wye_error** error) const;
    // Waits for an event, by default of the rig's queue. Returns the failure, or the code WYE_OK.
    Failure wait(std::uint64_t value, std::uint64_t timeout_ns = UINT64_MAX);
    Failure wait(wye_queue_object* queue, std::uint64_t value, std::uint64_t timeout_ns);

  private:
    Host host_;
    const wye_plugin_table* plugin_table_ = nullptr;
    const wye_device_table* device_table_ = nullptr;
    const wye_queue_table* queue_table_ = nullptr;
    wye_plugin_object* plugin_ = nullptr;
    wye_device_object* device_ = nullptr;
    wye_queue_object* queue_ = nullptr;
    std::map<wye_queue_object*, wye_timeline_object*> timelines_;
    std::uint64_t newest_ = 0;
};

// A program in the plugin, from its text.
class Loaded {
  public:
    Loaded(Rig& rig, std::string_view text);
    ~Loaded();
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;

    [[nodiscard]] const Failure& failure() const { return failure_; }

    struct Result {
        Failure failure;
        std::vector<Bytes> buffers;
        std::uint32_t trap_code = 0;
        std::uint32_t trap_count = 0;
    };
    // Runs one dispatch. `buffers`: those of the bindings, in order, without `shared` ones. `grid`
    // not given: the program's own grid clause.
    Result run(const std::vector<std::uint64_t>& params, const std::vector<Bytes>& buffers,
               std::optional<std::array<std::uint32_t, 3>> grid = std::nullopt);

    // The parameter block with these values, which are in the order of the parameters.
    [[nodiscard]] Bytes params_block(const std::vector<std::uint64_t>& params) const;
    // An operation on ready bindings; `params` must live until the operation is submitted.
    [[nodiscard]] wye_operation operation(const std::vector<wye_binding>& bindings,
                                          const Bytes& params,
                                          std::array<std::uint32_t, 3> groups) const;

  private:
    struct Parsed;
    Rig& rig_;
    std::unique_ptr<Parsed> parsed_;
    std::vector<std::uint32_t> element_bytes_;
    wye_program_object* object_ = nullptr;
    Failure failure_;
};

// The instruction sets for which the plugin has kernels that this machine can run.
const std::vector<std::string>& isas();

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
    const auto* data = reinterpret_cast<const std::byte*>(values.data());
    return {data, data + values.size() * sizeof(T)};
}
template <typename T>
std::vector<T> values_of(const Bytes& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    for (std::size_t n = 0; n < values.size(); ++n)
        __builtin_memcpy(&values[n], bytes.data() + n * sizeof(T), sizeof(T));
    return values;
}

}  // namespace test
