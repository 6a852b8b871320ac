// SPDX-License-Identifier: Apache-2.0
//
// The CPU plugin under the id `faulty`. Each slot fails on request: with an error, with an error
// but no error object, with an exception, or with success but no result. If the contract says that
// a slot must wait or free even if it fails, the slot does that first.
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "cpu/cpu_plugin.h"
#include "faults/modules.h"
#include "wye/sdk/plugin.hpp"

namespace {

constexpr std::uint32_t kSlot = 3;
enum Flavour : std::uint32_t { kError, kSilent, kThrows, kThrowsOther, kNothing, kFlavours };

// The CPU plugin's tables are static, so all threads set the same values.
template <typename Table>
const Table* behind = nullptr;
const wye_host_table* host = nullptr;

// Returns the next status code. After the last code, begins again with the first.
wye_status next_status() {
    static std::uint32_t turn = 0;
    return static_cast<wye_status>(1 + turn++ % (WYE_STATUS_FIRST_FREE - 1));
}

wye_status fail(wye_error** sink) {
    const wye_status status = next_status();
    if (host != nullptr)
        return wye::sdk::report(
            *host,
            wye::Error(static_cast<wye::Code>(status), "the slot was made to fail",
                       "Fix: none, this is a test"),
            sink);
    return status;
}

template <typename... A>
wye_error** sink_of(A... arguments) {
    wye_error** out = nullptr;
    const auto look = [&](auto argument) {
        if constexpr (std::is_same_v<decltype(argument), wye_error**>) out = argument;
    };
    (look(arguments), ...);
    return out;
}

constexpr bool does_first(std::string_view slot) {
    for (const std::string_view name : {"query", "wait", "flush", "cancel", "retire"})
        if (slot == name) return true;
    return false;
}
// A submit without effect would count as a success, so `submit` is left out.
constexpr bool may_give_nothing(std::string_view slot) { return slot != "submit"; }

template <auto Member>
const char* name_of = "";

template <auto Member>
struct Wrapped;
template <typename Table, typename R, typename... A, R (*Table::*Member)(A...)>
struct Wrapped<Member> {
    static R call(A... a) {
        const char* name = name_of<Member>;
        const auto real = behind<Table>->*Member;
        const std::uint32_t flavour = faults_flavour();
        if constexpr (std::is_void_v<R>) {
            real(a...);
            if (flavour != kThrows && flavour != kThrowsOther) return;
            if (faults_hit(kSlot, name) == 0) return;
            if (flavour == kThrowsOther) throw 1;
            throw std::runtime_error("the slot was made to throw");
        } else {
            if (flavour == kNothing && !may_give_nothing(name)) return real(a...);
            if (faults_hit(kSlot, name) == 0) return real(a...);
            if (does_first(name)) (void)real(a...);
            if (flavour == kThrowsOther) throw 1;
            if (flavour == kThrows) throw std::runtime_error("the slot was made to throw");
            if constexpr (std::is_same_v<R, wye_status>) {
                if (flavour == kNothing) return WYE_OK;
                if (flavour == kSilent) return next_status();
                return fail(sink_of(a...));
            } else if constexpr (std::is_pointer_v<R>) {
                return nullptr;
            } else {
                return 1;  // the result of device_lost
            }
        }
    }
};

template <auto Member, typename Table>
void wrap(Table& table, const char* name) {
    name_of<Member> = name;
    if (table.*Member != nullptr) table.*Member = &Wrapped<Member>::call;
}

const wye_queue_table* queue_table() {
    static const wye_queue_table kTable = [] {
        wye_queue_table t = *behind<wye_queue_table>;
        wrap<&wye_queue_table::submit>(t, "submit");
        wrap<&wye_queue_table::timing>(t, "timing");
        wrap<&wye_queue_table::cancel>(t, "cancel");
        wrap<&wye_queue_table::destroy>(t, "queue destroy");
        wrap<&wye_queue_table::info>(t, "queue info");
        return t;
    }();
    return &kTable;
}

wye_status queue_create(wye_device_object* device, const wye_queue_desc* desc,
                        wye_queue_object** out, wye_timeline_object** timeline,
                        const wye_queue_table** table, wye_error** error) {
    using Slot = Wrapped<&wye_device_table::queue_create>;
    const wye_queue_table* made = nullptr;
    const wye_status status = Slot::call(device, desc, out, timeline, &made, error);
    if (status != WYE_OK || made == nullptr) return status;
    behind<wye_queue_table> = made;
    *table = queue_table();
    return status;
}

const wye_device_table* device_table() {
    static const wye_device_table kTable = [] {
        wye_device_table t = *behind<wye_device_table>;
        wrap<&wye_device_table::buffer_create>(t, "buffer_create");
        wrap<&wye_device_table::buffer_destroy>(t, "buffer_destroy");
        wrap<&wye_device_table::buffer_map>(t, "buffer_map");
        wrap<&wye_device_table::buffer_sync>(t, "buffer_sync");
        wrap<&wye_device_table::program_create>(t, "program_create");
        wrap<&wye_device_table::program_destroy>(t, "program_destroy");
        wrap<&wye_device_table::program_info>(t, "program_info");
        wrap<&wye_device_table::queue_create>(t, "queue_create");
        t.queue_create = queue_create;
        wrap<&wye_device_table::query>(t, "query");
        wrap<&wye_device_table::wait>(t, "wait");
        wrap<&wye_device_table::retire>(t, "retire");
        wrap<&wye_device_table::timeline_create>(t, "timeline_create");
        wrap<&wye_device_table::timeline_destroy>(t, "timeline_destroy");
        wrap<&wye_device_table::timeline_signal>(t, "timeline_signal");
        wrap<&wye_device_table::timeline_fail>(t, "timeline_fail");
        wrap<&wye_device_table::memory_info>(t, "memory_info");
        wrap<&wye_device_table::prepare>(t, "prepare");
        wrap<&wye_device_table::flush>(t, "flush");
        wrap<&wye_device_table::device_lost>(t, "device_lost");
        wrap<&wye_device_table::try_recover>(t, "try_recover");
        wrap<&wye_device_table::program_save>(t, "program_save");
        wrap<&wye_device_table::program_load>(t, "program_load");
        wrap<&wye_device_table::get_extension>(t, "device get_extension");
        wrap<&wye_device_table::close>(t, "close");
        return t;
    }();
    return &kTable;
}

wye_status open_device(wye_plugin_object* plugin, const wye_open_desc* desc,
                       wye_device_object** out, const wye_device_table** table, wye_error** error) {
    using Slot = Wrapped<&wye_plugin_table::open_device>;
    const wye_device_table* made = nullptr;
    const wye_status status = Slot::call(plugin, desc, out, &made, error);
    if (status != WYE_OK || made == nullptr) return status;
    behind<wye_device_table> = made;
    *table = device_table();
    return status;
}

wye_status init(const wye_host_table* table, std::uint32_t minor, wye_plugin_object** out,
                wye_error** error) {
    host = table;
    return Wrapped<&wye_plugin_table::init>::call(table, minor, out, error);
}

}  // namespace

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    const wye_status status = wye_cpu_plugin_query(hello, out);
    if (status != WYE_OK) return status;
    behind<wye_plugin_table> = (*out)->table;
    static const wye_plugin_table kTable = [] {
        wye_plugin_table t = *behind<wye_plugin_table>;
        wrap<&wye_plugin_table::init>(t, "init");
        t.init = init;
        wrap<&wye_plugin_table::probe_devices>(t, "probe_devices");
        wrap<&wye_plugin_table::device_info>(t, "device_info");
        wrap<&wye_plugin_table::device_fact>(t, "device_fact");
        wrap<&wye_plugin_table::open_device>(t, "open_device");
        t.open_device = open_device;
        wrap<&wye_plugin_table::get_extension>(t, "plugin get_extension");
        wrap<&wye_plugin_table::shutdown>(t, "shutdown");
        return t;
    }();
    static const wye_plugin_desc kDesc = [&] {
        wye_plugin_desc d = **out;
        d.id = wye::sdk::to_abi("faulty");
        d.table = &kTable;
        return d;
    }();
    *out = &kDesc;
    return WYE_OK;
}
