// SPDX-License-Identifier: Apache-2.0
//
// The slots of a queue that is a C++ class, so that a plugin writes none of them:
//
//     constinit const wye_queue_table kQueueTable = sdk::QueueSlots<Queue>::table();
//
// `Queue` has submit(operations, waits), device() and timeline(). Its timeline has poll(value),
// wait(value, timeout_ns) and device_ns(value). Its device has guard(error, body): sdk::guard with
// what the plugin wants around each call. All return Result; threads as the ABI says.
#pragma once

#include <span>

#include "wye/sdk/plugin.hpp"

namespace wye::sdk {

template <typename Queue>
struct QueueSlots {
    [[nodiscard]] static Queue& of(wye_queue_object* object) {
        return *reinterpret_cast<Queue*>(object);
    }

    static wye_status submit(wye_queue_object* object, const wye_operation* operations,
                             std::uint64_t count, const wye_event* waits, std::uint64_t wait_count,
                             std::uint64_t* out_value, wye_error** error) {
        Queue& queue = of(object);
        return queue.device().guard(error, [&]() -> Result<void> {
            WYE_ASSIGN(*out_value,
                       queue.submit(std::span(operations, count), std::span(waits, wait_count)));
            return {};
        });
    }

    static wye_status poll(wye_queue_object* object, std::uint64_t value, wye_error** error) {
        Queue& queue = of(object);
        return queue.device().guard(error, [&] { return queue.timeline().poll(value); });
    }

    static wye_status wait(wye_queue_object* object, std::uint64_t value, std::uint64_t timeout_ns,
                           wye_error** error) {
        Queue& queue = of(object);
        return queue.device().guard(error,
                                    [&] { return queue.timeline().wait(value, timeout_ns); });
    }

    static wye_status timing(wye_queue_object* object, std::uint64_t value, wye_timing* out,
                             wye_error** error) {
        Queue& queue = of(object);
        return queue.device().guard(error, [&]() -> Result<void> {
            WYE_ASSIGN(out->device_ns, queue.timeline().device_ns(value));
            return {};
        });
    }

    static void destroy(wye_queue_object* object) { delete &of(object); }

    [[nodiscard]] static constexpr wye_queue_table table() {
        wye_queue_table table{};
        table.header = header_of(sizeof table);
        table.submit = submit;
        table.poll = poll;
        table.wait = wait;
        table.timing = timing;
        table.destroy = destroy;
        return table;
    }
};

}  // namespace wye::sdk
