// SPDX-License-Identifier: Apache-2.0
//
// Checks the host's obligations for the arguments of a call (P-16): objects are alive, of the right
// kind and of this device; ranges are inside their buffers; launches are within limits; values
// grow. Does not check what the plugin itself must refuse: flags and operations that the plugin
// does not know (P-7), and formats that it does not list.
//
// Each check returns the first broken obligation: STALE_HANDLE for objects that were destroyed or
// are from before a recovery, WRONG_KIND or WRONG_OWNER for other wrong objects, else
// INVALID_ARGUMENT. If the broken rule is not P-16, the error's subject is the number of the rule.
// The checks read the memory that the call borrows, and change nothing. Not thread-safe.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "layers/validate/breaches.hpp"
#include "layers/validate/limits.hpp"
#include "layers/validate/objects.hpp"
#include "wye/sdk/result.hpp"

namespace wye::layers::validate {

class HostChecks {
  public:
    // `others` are the objects of the plugin's other devices.
    // `handles` are the plugin's devices and queues.
    HostChecks(Objects& objects, const Limits& limits, std::vector<const Objects*> others,
               const std::set<const void*>& handles)
        : objects_(objects), limits_(limits), others_(std::move(others)), handles_(handles) {}

    // Checks that the object may be used or, if `ending`, destroyed.
    template <typename Pointer>
    [[nodiscard]] Result<void> usable(Pointer* at, bool ending = false) const {
        auto& kind = objects_.of(at);
        const auto* object = kind.find(at);
        using Object = std::remove_cvref_t<decltype(*object)>;
        if (object == nullptr) return unknown(at, Object::kNoun, kind.has_ended(at));
        if (object->lost && !ending) return of_before_loss(Object::kNoun);
        return {};
    }

    [[nodiscard]] Result<void> buffer(const wye_buffer_desc& desc) const;
    [[nodiscard]] Result<void> range(wye_buffer_object* buffer, std::uint64_t offset,
                                     std::uint64_t size) const;
    [[nodiscard]] Result<void> artifact(const wye_artifact& artifact) const;
    [[nodiscard]] Result<void> command(const wye_command_desc& desc) const;
    // Checks an operation that replaces operation `index` of the command.
    [[nodiscard]] Result<void> update(wye_command_object* command, std::uint64_t index,
                                      const wye_operation& operation) const;
    [[nodiscard]] Result<void> event(const wye_event& event) const;
    // Checks a submission to a queue. `newest`: the highest value that was submitted to the queue.
    [[nodiscard]] Result<void> submission(const wye_submission& submission,
                                          std::uint64_t newest) const;

  private:
    // Where an operation is: in a submission, or in a command whose executions give slots and
    // parameters.
    struct Place {
        bool in_command = false;
        std::uint32_t slots = 0;
        std::uint32_t params_size = 0;
    };

    // Checks that no entry of a structure's chain names a device or a queue (P-56).
    [[nodiscard]] Result<void> chain(const wye_header& header) const;
    [[nodiscard]] Result<void> unknown(const void* at, std::string_view noun, bool ended) const;
    [[nodiscard]] static Result<void> of_before_loss(std::string_view noun);
    [[nodiscard]] Result<void> operation(const wye_operation& operation, const Place& place) const;
    [[nodiscard]] Result<void> dispatch(const wye_dispatch_op& op, const Place& place) const;
    [[nodiscard]] Result<void> grid(const wye_dispatch_op& op, const Place& place) const;
    [[nodiscard]] Result<void> copy(const wye_copy_op& op, const Place& place) const;
    [[nodiscard]] Result<void> fill(const wye_fill_op& op, const Place& place) const;
    [[nodiscard]] Result<void> transfer(const wye_transfer_op& op, bool upload) const;
    [[nodiscard]] Result<void> execute(const wye_execute_op& op) const;
    [[nodiscard]] Result<void> binding(const wye_binding& binding, const std::string& what,
                                       const Place& place) const;
    // Checks the usage of a buffer in an operation other than a copy.
    [[nodiscard]] Result<void> not_staging(wye_buffer_object* buffer) const;

    Objects& objects_;
    const Limits& limits_;
    const std::vector<const Objects*> others_;
    const std::set<const void*>& handles_;
};

}  // namespace wye::layers::validate
