// SPDX-License-Identifier: Apache-2.0
//
// How a submit goes through an in-order queue, the same in every plugin:
//
//     begin -> wait_for, for each wait -> plan -> one call for each operation -> end
//
// and `abandon` where one of them fails or memory runs out. The plugin's class derives from this
// and has, in this order (all Result, unless noted):
//
//     begin()                  refuses where the timeline has failed
//     wait_for(other, value)   what follows runs after `value` of another queue of the device
//     plan(operations)         the part of them that is to be queued one by one
//     dispatch(op)             also of no workgroups, see is_empty
//     copy(op), fill(op), upload(op), download(op)      not of no bytes
//     end()                    the submit's value
//     void abandon(error)      all is queued or nothing: if some of it is, later values fail
//
// and `static constexpr std::string_view kPlugin`, for sentences. One thread at a time.
#pragma once

#include <span>

#include "wye/sdk/errors.hpp"

namespace wye::sdk {

// A launch of no workgroups.
[[nodiscard]] inline bool is_empty(const wye_dispatch_op& op) { return op.groups[0] == 0; }
// An operation on no bytes or workgroups.
[[nodiscard]] inline bool is_empty(const wye_operation& op) {
    switch (op.kind) {
        case WYE_OPERATION_DISPATCH:
            return is_empty(op.u.dispatch);
        case WYE_OPERATION_COPY:
            return op.u.copy.size == 0;
        case WYE_OPERATION_FILL:
            return op.u.fill.size == 0;
        case WYE_OPERATION_UPLOAD:
        case WYE_OPERATION_DOWNLOAD:
            return op.u.transfer.size == 0;
        default:
            return false;
    }
}

template <typename Derived>
class InOrderQueue {
  public:
    [[nodiscard]] static Derived& of(wye_queue_object* object) {
        return *reinterpret_cast<Derived*>(object);
    }

    [[nodiscard]] Result<std::uint64_t> submit(std::span<const wye_operation> operations,
                                               std::span<const wye_event> waits) {
        auto& queue = static_cast<Derived&>(*this);
        try {
            Result<std::uint64_t> value = steps(queue, operations, waits);
            if (!value.ok()) queue.abandon(value.error());
            return value;
        } catch (...) {
            queue.abandon(errors::submit_out_of_memory());
            throw;
        }
    }

  protected:
    InOrderQueue() = default;
    ~InOrderQueue() = default;
    // The one of the calls that the operation asks for.
    [[nodiscard]] Result<void> perform(const wye_operation& op) {
        auto& queue = static_cast<Derived&>(*this);
        if (op.kind == WYE_OPERATION_DISPATCH) return queue.dispatch(op.u.dispatch);
        if (is_empty(op)) return {};
        switch (op.kind) {
            case WYE_OPERATION_COPY:
                return queue.copy(op.u.copy);
            case WYE_OPERATION_FILL:
                return queue.fill(op.u.fill);
            case WYE_OPERATION_UPLOAD:
                return queue.upload(op.u.transfer);
            case WYE_OPERATION_DOWNLOAD:
                return queue.download(op.u.transfer);
            default:
                return errors::unknown_operation(Derived::kPlugin, op.kind);
        }
    }

  private:
    static Result<std::uint64_t> steps(Derived& queue, std::span<const wye_operation> operations,
                                       std::span<const wye_event> waits) {
        WYE_TRY(queue.begin());
        for (const wye_event& wait : waits) {
            if (wait.queue == nullptr) continue;
            Derived& other = of(wait.queue);
            if (&other != &queue) WYE_TRY(queue.wait_for(other, wait.value));
        }
        WYE_ASSIGN(const std::span<const wye_operation> rest, queue.plan(operations));
        for (const wye_operation& op : rest) WYE_TRY(queue.perform(op));
        return queue.end();
    }
};

}  // namespace wye::sdk
