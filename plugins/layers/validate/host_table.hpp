// SPDX-License-Identifier: Apache-2.0
//
// The host table for what is below the layer: the host's own, except that it remembers each error
// that is made, so that the layer knows what a failed call says (P-11). Free-threaded.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "wye/abi.h"
#include "wye/sdk/mutex.hpp"

namespace wye::layers::validate {

// An error that was made.
struct Made {
    wye_status code = WYE_OK;
    std::string fault;  // what is wrong with it as the error of a call; empty: nothing
};

class HostTable {
  public:
    // Over `below`, the table that the layer was given for what is below it.
    explicit HostTable(const wye_host_table& below);
    HostTable(const HostTable&) = delete;
    HostTable& operator=(const HostTable&) = delete;

    [[nodiscard]] const wye_host_table& table() const { return table_; }
    // What is known of an error, which leaves the record; none: it was not made here.
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
