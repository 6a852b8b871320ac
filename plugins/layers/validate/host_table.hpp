// SPDX-License-Identifier: Apache-2.0
//
// The host table for the plugin below the layer. Each slot passes its call on to the host's own
// table. The table records each error that the plugin makes, so that the layer knows the contents
// of a failed call's error (P-11). Free-threaded.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "wye/abi.h"
#include "wye/sdk/mutex.hpp"

namespace wye::layers::validate {

// An error that the plugin made.
struct Made {
    wye_status code = WYE_OK;
    std::string fault;  // the fault of the error, for messages; empty: none
};

class HostTable {
  public:
    // `below` is the host's table, which the layer was given.
    explicit HostTable(const wye_host_table& below);
    HostTable(const HostTable&) = delete;
    HostTable& operator=(const HostTable&) = delete;

    [[nodiscard]] const wye_host_table& table() const { return table_; }
    // Whether the calling thread is inside a slot of any HostTable.
    [[nodiscard]] static bool is_inside() noexcept;
    // Removes and returns the record of an error; nullopt: the error was not made through this
    // table.
    [[nodiscard]] std::optional<Made> take(const wye_error* error);

  private:
    [[nodiscard]] static HostTable& of(wye_host_object* self) {
        return *reinterpret_cast<HostTable*>(self);
    }
    static wye_error* error_make(wye_host_object* self, const wye_error_desc* desc);
    static void error_release(wye_host_object* self, wye_error* error);
    static void log(wye_host_object* self, std::uint32_t level, wye_string area, wye_string text);
    static wye_status config_get(wye_host_object* self, wye_string key, wye_string* out);
    static const void* get_extension(wye_host_object* self, wye_string name, std::uint32_t version);

    const wye_host_table& below_;
    wye_host_table table_;
    sdk::Mutex mutex_;
    std::unordered_map<const wye_error*, Made> made_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::layers::validate
