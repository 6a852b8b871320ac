// SPDX-License-Identifier: Apache-2.0
//
// QueueSlots: implements the slots of a queue for a C++ class `Queue`. The class has
// submit(submission); replay_alone(submission), if it has `replay` (see queue.hpp); timeline() (see
// timeline.hpp), whose result may have cancel(first, last); device(), which returns the Device of
// device_slots.hpp; and a destructor that waits for pending submits. Threads as in abi.h.
#pragma once

#include <span>

#include "wye/sdk/known.hpp"
#include "wye/sdk/native_wait.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::sdk {

// Called after each slot, with no lock held. Calls plugin.deliver_messages() if it exists.
template <typename Plugin>
void after_call(Plugin& plugin) {
    if constexpr (requires { plugin.deliver_messages(); }) plugin.deliver_messages();
}

// Runs a slot's body for a plugin, or for one of its devices.
template <typename Subject, typename Body>
wye_status run_on(Subject& subject, wye_error** error, Body&& body) noexcept {
    if constexpr (requires { subject.plugin; }) {
        const wye_status status = guard(subject.plugin.host, error, [&]() -> Result<void> {
            Result<void> result = body();
            if constexpr (requires { &Subject::judged; })
                if (!result.ok()) return subject.judged(std::move(result).error());
            return result;
        });
        after_call(subject.plugin);
        return status;
    } else {
        const wye_status status = guard(subject.host, error, body);
        after_call(subject);
        return status;
    }
}

template <typename Device, typename Body>
wye_status run_unless_lost(Device& device, wye_error** error, Body&& body) noexcept {
    return run_on(device, error, [&]() -> Result<void> {
        if (device.loss.lost()) return device.loss.check();
        return body();
    });
}

template <typename Queue>
struct QueueSlots {
    [[nodiscard]] static Queue& of(wye_queue_object* object) {
        return *reinterpret_cast<Queue*>(object);
    }

    // Defined below. The queue's source may instantiate this function, so that replay_alone is
    // inlined.
    [[gnu::hot]] static wye_status submit(wye_queue_object* object,
                                          const wye_submission* submission, wye_error** error);
    [[gnu::noinline]] static wye_status submit_steps(Queue& queue, const wye_submission& submission,
                                                     wye_error** error) {
        return run_unless_lost(queue.device(), error, [&]() -> Result<void> {
            WYE_TRY(known_parts(
                submission.header, submission.flags & ~std::uint32_t{WYE_SUBMISSION_TIMED},
                Queue::kPlugin, "a submission", waits_native<Queue>() ? WYE_CHAIN_NATIVE_WAIT : 0));
            return queue.submit(submission);
        });
    }

    static wye_status timing(wye_queue_object* object, std::uint64_t value, wye_timing* out,
                             wye_error** error) {
        Queue& queue = of(object);
        return run_on(queue.device(), error, [&]() -> Result<void> {
            WYE_ASSIGN(const auto times, queue.timeline().times(value));
            out->device_ns = times.spent_ns;
            out->begin_ns = times.begin_ns;
            out->end_ns = times.end_ns;
            return {};
        });
    }

    static wye_status cancel(wye_queue_object* object, std::uint64_t first, std::uint64_t last,
                             wye_error** error) {
        Queue& queue = of(object);
        return run_on(queue.device(), error, [&]() -> Result<void> {
            queue.timeline().cancel(first, last);
            return {};
        });
    }

    static wye_status info(wye_queue_object* object, wye_queue_info* out, wye_error** error) {
        Queue& queue = of(object);
        return run_on(queue.device(), error, [&]() -> Result<void> {
            queue.describe(*out);
            return {};
        });
    }

    static void destroy(wye_queue_object* object) {
        auto& plugin = of(object).device().plugin;
        of(object).device().loss.remove_queue(&of(object));
        delete &of(object);
        after_call(plugin);
    }

    [[nodiscard]] static constexpr wye_queue_table make_table() {
        wye_queue_table table{};
        table.header = header_of(sizeof table);
        table.submit = submit;
        table.timing = timing;
        if constexpr (requires(Queue & queue) {
                          queue.timeline().cancel(std::uint64_t{}, std::uint64_t{});
                      })
            table.cancel = cancel;
        table.destroy = destroy;
        if constexpr (requires(const Queue& queue, wye_queue_info& out) { queue.describe(out); })
            table.info = info;
        return table;
    }

    static constexpr wye_queue_table kTable = make_table();
};

template <typename Queue>
wye_status QueueSlots<Queue>::submit(wye_queue_object* object, const wye_submission* submission,
                                     wye_error** error) {
    Queue& queue = of(object);
    if constexpr (requires(const wye_execute_op& op) { queue.replay(op, std::uint64_t{}); })
        if (queue.replay_alone(*submission)) [[likely]] {
            after_call(queue.device().plugin);
            return WYE_OK;
        }
    return submit_steps(queue, *submission, error);
}

}  // namespace wye::sdk
