// SPDX-License-Identifier: Apache-2.0
#include "layers/validate/host_table.hpp"

#include <exception>

#include "wye/sdk/layer.hpp"

namespace wye::layers::validate {
namespace {

thread_local int slots_inside = 0;

// Counts a call of a slot of the host while it runs.
struct HostCall {
    HostCall() { ++slots_inside; }
    ~HostCall() { --slots_inside; }
    HostCall(const HostCall&) = delete;
    HostCall& operator=(const HostCall&) = delete;
};

std::string fault_of(const wye_error_desc& desc) {
    const std::string_view message = sdk::from_abi(desc.message);
    const std::string_view fix = sdk::from_abi(desc.fix);
    if (desc.code == WYE_OK) return "its error has the code OK";
    if (message.empty()) return "its error has no sentence";
    if (!fix.starts_with("Fix: "))
        return "its error `" + std::string(message) + "` has no remedy that begins with `Fix: `";
    return {};
}

}  // namespace

HostTable::HostTable(const wye_host_table& below)
    : below_(below), table_(sdk::layer::known_part(below)) {
    table_.header.next = below.header.next;
    table_.self = reinterpret_cast<wye_host_object*>(this);
    table_.error_make = error_make;
    table_.error_release = error_release;
    table_.log = log;
    table_.config_get = config_get;
    table_.get_extension = get_extension;
}

bool HostTable::is_inside() noexcept { return slots_inside != 0; }

std::optional<Made> HostTable::take(const wye_error* error) {
    const sdk::Lock lock(mutex_);
    const auto at = made_.find(error);
    if (at == made_.end()) return std::nullopt;
    Made out = std::move(at->second);
    made_.erase(at);
    return out;
}

wye_error* HostTable::error_make(wye_host_object* self, const wye_error_desc* desc) {
    HostTable& table = of(self);
    const HostCall call;
    wye_error* error = table.below_.error_make(table.below_.self, desc);
    try {
        // Limits the records of errors that a plugin makes and never returns.
        constexpr std::size_t kMost = 65536;
        const wye_error_desc known =
            desc == nullptr ? wye_error_desc{} : sdk::layer::known_part(*desc);
        Made made{known.code, fault_of(known)};
        const sdk::Lock lock(table.mutex_);
        table.made_.erase(known.cause);
        if (table.made_.size() < kMost) table.made_.insert_or_assign(error, std::move(made));
    } catch (const std::exception&) {  // without memory, nothing is known of the error
    }
    return error;
}

void HostTable::error_release(wye_host_object* self, wye_error* error) {
    HostTable& table = of(self);
    (void)table.take(error);
    const HostCall call;
    table.below_.error_release(table.below_.self, error);
}

void HostTable::log(wye_host_object* self, std::uint32_t level, wye_string area, wye_string text) {
    const wye_host_table& below = of(self).below_;
    const HostCall call;
    below.log(below.self, level, area, text);
}

wye_status HostTable::config_get(wye_host_object* self, wye_string key, wye_string* out) {
    const wye_host_table& below = of(self).below_;
    const HostCall call;
    return below.config_get(below.self, key, out);
}

const void* HostTable::get_extension(wye_host_object* self, wye_string name,
                                     std::uint32_t version) {
    const wye_host_table& below = of(self).below_;
    const HostCall call;
    return below.get_extension(below.self, name, version);
}

}  // namespace wye::layers::validate
