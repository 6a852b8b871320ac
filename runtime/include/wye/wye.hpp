// SPDX-License-Identifier: Apache-2.0
//
// The C++ API: a thin, header-only layer over wye/wye.h. Objects own their handles and are movable;
// each keeps its context alive. Failures are returned as Result<T> with an Error; calling value()
// on a failed Result ends the program with the error's text. Only the standard library throws (out
// of memory). Threads: as in wye.h; a Dispatch is used by one thread at a time.
//
//   wye::Result<void> saxpy(std::string_view text, std::span<const float> x,
//                           std::span<const float> y, std::span<float> r) {
//       WYE_ASSIGN(auto context, wye::Context::create());
//       WYE_ASSIGN(auto device, context.open("auto"));
//       WYE_ASSIGN(auto program, context.program_from_text(text));
//       WYE_TRY(wye::Dispatch(program, device)
//                   .param("a", 2.0F).input("x", x).input("y", y).output("r", r).run());
//       return {};
//   }
#pragma once

#include "wye/sdk/cxx20.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wye/buffer.hpp"
#include "wye/device.h"
#include "wye/device.hpp"
#include "wye/element.hpp"
#include "wye/handle.hpp"
#include "wye/outputs.hpp"
#include "wye/pending.hpp"
#include "wye/program.hpp"
#include "wye/queue.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye {

// Values that outlive the expression: an lvalue, or a view such as std::span. Functions that use
// the values later take this, and so refuse a temporary vector.
template <typename R>
concept BorrowedValues = Values<R> && std::ranges::borrowed_range<R>;

// Options of Context::create. See wye_context_desc.
struct ContextOptions {
    std::uint32_t flags = 0;  // WYE_CONTEXT_*
    std::vector<std::string> plugin_paths = {};
    std::vector<std::pair<std::string, std::string>> config = {};
    wye_log_fn log = nullptr;
    void* log_user = nullptr;
    // Time limit for destroying the context, after which running work is abandoned
    // (wye_context_destroy_within). Empty: no limit.
    std::optional<std::chrono::nanoseconds> close_within = {};
};

// Reads a file that a `variant ... file` clause names.
using Resolver = std::function<Result<std::vector<std::byte>>(std::string_view name)>;

// Everything that the library keeps for its user. Copies refer to the same context, which ends with
// the last of them and of the objects made with it.
class Context {
  public:
    // Searches for plugins, and opens none.
    [[nodiscard]] static Result<Context> create(const ContextOptions& options = {}) {
        std::vector<wye_string> paths;
        for (const std::string& path : options.plugin_paths) paths.push_back(detail::borrow(path));
        std::vector<wye_key_value> config;
        for (const auto& [key, value] : options.config)
            config.push_back({detail::borrow(key), detail::borrow(value)});
        wye_context_desc desc;
        WYE_INIT(desc);
        desc.flags = options.flags;
        desc.plugin_paths = paths.data();
        desc.plugin_path_count = paths.size();
        desc.config = config.data();
        desc.config_count = config.size();
        desc.log = options.log;
        desc.log_user = options.log_user;
        wye_context* raw = nullptr;
        WYE_TRY(detail::call([&](wye_error** e) { return wye_context_create(&desc, &raw, e); }));
        if (!options.close_within)
            return Context(std::shared_ptr<wye_context>(raw, &wye_context_destroy));
        const auto limit = static_cast<std::uint64_t>(
            std::max(*options.close_within, std::chrono::nanoseconds(0)).count());
        return Context(std::shared_ptr<wye_context>(raw, [limit](wye_context* context) {
            (void)wye_context_destroy_within(context, limit, nullptr);
        }));
    }

    // The context of the C API.
    [[nodiscard]] wye_context* get() const noexcept { return context_.get(); }

    // Closes everything; later calls return SHUTTING_DOWN. See wye_context_shutdown.
    [[nodiscard]] Result<void> shut_down(
        std::chrono::nanoseconds limit = std::chrono::nanoseconds::max()) const {
        return detail::call([&](wye_error** e) {
            return wye_context_shutdown(get(), static_cast<std::uint64_t>(limit.count()), e);
        });
    }
    // Opens a device. An empty selector stands for $WYE_DEVICE, or "auto" if that is not set. With
    // a program: only a device that can run it.
    [[nodiscard]] Result<Device> open(std::string_view selector = {},
                                      const Program* program = nullptr) const {
        wye_device out = 0;
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_device_open(get(), detail::borrow(selector),
                                   program == nullptr ? 0 : program->get(), &out, e);
        }));
        return Device(context_, out);
    }

    // Like `open`, with any policy.
    [[nodiscard]] Result<Device> choose(std::string_view selector, wye_device_policy policy,
                                        const Program* program = nullptr) const {
        wye_device_choice choice;
        WYE_INIT(choice);
        choice.selector = detail::borrow(selector);
        choice.program = program == nullptr ? 0 : program->get();
        choice.policy = policy;
        wye_device out = 0;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_device_choose(get(), &choice, &out, e); }));
        return Device(context_, out);
    }

    // Why the library chose the device of a dispatch that named no device. `number`: the member
    // `choice` of the dispatch's report.
    [[nodiscard]] Result<Choice> choice(std::uint32_t number) const {
        wye_choice* raw = nullptr;
        WYE_TRY(
            detail::call([&](wye_error** e) { return wye_choice_find(get(), number, &raw, e); }));
        Choice out;
        out.owner = std::shared_ptr<const wye_choice>(raw, [raw](auto*) { wye_choice_free(raw); });
        out.selector = detail::view(wye_choice_selector(raw));
        out.reason = detail::view(wye_choice_reason(raw));
        wye_passed_over one;
        WYE_INIT(one);
        while (wye_choice_passed_over(raw, out.passed_over.size(), &one, nullptr) == WYE_OK)
            out.passed_over.push_back(one);
        return out;
    }

    // Reads and checks a program. Messages name it `name`; `resolver` reads files of its variants.
    [[nodiscard]] Result<Program> program_from_text(std::string_view text,
                                                    std::string_view name = {},
                                                    const Resolver& resolver = {}) const {
        wye_program_source source;
        WYE_INIT(source);
        source.text = detail::borrow(text);
        return create_program(source, name, resolver);
    }
    // As above, from the wire form.
    [[nodiscard]] Result<Program> program_from_wire(std::span<const std::byte> wire,
                                                    std::string_view name = {}) const {
        wye_program_source source;
        WYE_INIT(source);
        source.wire = {wire.data(), wire.size()};
        return create_program(source, name, {});
    }

    // What earlier probes of plugins found, as JSON; see wye_verdicts_report.
    [[nodiscard]] Result<std::string> verdicts_report() const {
        wye_blob* blob = nullptr;
        WYE_TRY(detail::call([&](wye_error** e) { return wye_verdicts_report(get(), &blob, e); }));
        return detail::take_text(blob);
    }
    // Makes later contexts open the plugin without a probe, while its file stays the same.
    [[nodiscard]] Result<void> trust_plugin(std::string_view id) const {
        return detail::call(
            [&](wye_error** e) { return wye_verdict_trust(get(), detail::borrow(id), e); });
    }
    // Deletes the verdict on the plugin, and its trust: later contexts probe it again.
    [[nodiscard]] Result<void> forget_plugin(std::string_view id) const {
        return detail::call(
            [&](wye_error** e) { return wye_verdict_forget(get(), detail::borrow(id), e); });
    }

    // Contents and use of the disk cache of compiled programs, as JSON.
    [[nodiscard]] Result<std::string> cache_report() const {
        wye_blob* blob = nullptr;
        WYE_TRY(detail::call([&](wye_error** e) { return wye_cache_report(get(), &blob, e); }));
        return detail::take_text(blob);
    }
    // Empties the disk cache; returns the bytes freed.
    [[nodiscard]] Result<std::uint64_t> clear_cache() const {
        std::uint64_t freed = 0;
        WYE_TRY(detail::call([&](wye_error** e) { return wye_cache_clear(get(), &freed, e); }));
        return freed;
    }

    // Limits the memory that its devices hold together; 0: no limit. See wye_memory_limit.
    [[nodiscard]] Result<void> limit_memory(std::uint64_t bytes) const {
        return detail::call([&](wye_error** e) { return wye_memory_limit(get(), 0, bytes, e); });
    }
    // Sums the counters of all its devices.
    [[nodiscard]] Result<wye_counters> counters() const {
        wye_counters out;
        WYE_INIT(out);
        WYE_TRY(detail::call([&](wye_error** e) { return wye_context_counters(get(), &out, e); }));
        return out;
    }

    // The catalogue as JSON; a selector limits which plugins are opened.
    [[nodiscard]] Result<std::string> report(std::string_view selector = {}) const {
        wye_blob* blob = nullptr;
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_context_report(get(), detail::borrow(selector), &blob, e);
        }));
        return detail::take_text(blob);
    }

  private:
    explicit Context(std::shared_ptr<wye_context> context) : context_(std::move(context)) {}

    // State of the C callback: the resolver, the files that it returned, and its first error.
    struct Resolving {
        const Resolver& resolver;
        std::vector<std::vector<std::byte>> files;
        std::optional<Error> error;
    };
    static wye_status resolve(void* user, wye_string name, wye_bytes* out) noexcept {
        auto& state = *static_cast<Resolving*>(user);
        try {
            auto bytes = state.resolver(detail::view(name));
            if (!bytes.ok()) {
                if (!state.error) state.error = bytes.error();
                return static_cast<wye_status>(bytes.error().code);
            }
            state.files.push_back(std::move(bytes).value());
            *out = {state.files.back().data(), state.files.back().size()};
            return WYE_OK;
        } catch (...) {
            return WYE_OUT_OF_MEMORY;
        }
    }
    [[nodiscard]] Result<Program> create_program(wye_program_source& source, std::string_view name,
                                                 const Resolver& resolver) const {
        source.name = detail::borrow(name);
        Resolving state{resolver, {}, {}};
        if (resolver) {
            source.resolve = &resolve;
            source.resolve_user = &state;
        }
        wye_program out = 0;
        auto created = detail::call(
            [&](wye_error** e) { return wye_program_create(get(), &source, &out, e); });
        if (state.error) return std::move(*state.error);
        WYE_TRY(std::move(created));
        return Program(context_, out);
    }

    std::shared_ptr<wye_context> context_;
};

class Pipeline;

// One launch: a program with or without a device, or a pipeline, and arguments by name. Borrows
// everything until run() or submit() returns. run(), submit() and sizes() return the first wrong
// name or type.
class Dispatch {
  public:
    // A dispatch without arguments so far. The program and the device must outlive it.
    Dispatch(const Program& program, const Device& device)
        : Dispatch(program.shared_context(), program.describe()) {
        desc_.program = program.get();
        desc_.device = device.get();
    }
    Dispatch(const Program&&, const Device&) = delete;
    // As above, on the device that owns its buffers, or else one that the library chooses: see
    // wye/device.h.
    explicit Dispatch(const Program& program)
        : Dispatch(program.shared_context(), program.describe()) {
        desc_.program = program.get();
    }
    explicit Dispatch(const Program&&) = delete;
    // A dispatch through a pipeline; defined in wye/pipeline.hpp.
    explicit Dispatch(const Pipeline& pipeline);
    explicit Dispatch(const Pipeline&&) = delete;

    // Sets a parameter. The C++ type must be the declared one: std::uint32_t for u32, ....
    template <detail::ParamValue T>
    Dispatch& param(std::string_view name, T value) {
        for (std::uint64_t i = 0; i < info_.param_count; ++i) {
            if (detail::view(info_.params[i].name) != name) continue;
            if (const auto type = detail::view(info_.params[i].type);
                type != detail::scalar_name<T>())
                return wrong(name,
                             "has type " + std::string(type) + ", got " +
                                 std::string(detail::scalar_name<T>()),
                             detail::param_fix(type));
            params_[i] = detail::param_bits(value);
            given_[i] = true;
            return *this;
        }
        return wrong(name, "is not a parameter of the program",
                     detail::name_fix(name, std::span(info_.params, info_.param_count)));
    }
    // Sets a parameter, by its index, to a value's bits, zero-extended, whatever the declared type.
    Dispatch& param_bits(std::size_t index, std::uint64_t bits) {
        if (index < params_.size()) {
            params_[index] = bits;
            given_[index] = true;
        }
        return *this;
    }

    // Binds host memory, which is not copied. The elements must have the declared type (see
    // is_element).
    template <BorrowedValues R>
    Dispatch& input(std::string_view name, R&& values) {
        if (wye_argument* argument = host<R>(name)) {
            const auto bytes = std::as_bytes(std::span(values));
            argument->input = {bytes.data(), bytes.size()};
        }
        return *this;
    }
    // Host memory for the elements of an output, which must have the declared type (see
    // is_element). If a buffer was bound to this name before, its elements are read back into the
    // memory in the same submit.
    template <BorrowedValues R>
    Dispatch& output(std::string_view name, R&& values) {
        if (wye_argument* argument = host<R>(name, true)) {
            const auto bytes = std::as_writable_bytes(std::span(values));
            argument->output = bytes.data();
            argument->output_size = bytes.size();
        }
        return *this;
    }
    // A buffer on the device, or a range of it in bytes. A size of 0: up to its end.
    Dispatch& bind(std::string_view name, const Buffer& buffer, std::uint64_t offset = 0,
                   std::uint64_t size = 0) {
        if (wye_argument* argument = find(name, WYE_ARGUMENT_RESIDENT)) {
            argument->buffer = buffer.get();
            argument->offset = offset;
            argument->size = size;
        }
        return *this;
    }
    Dispatch& bind(std::string_view, const Buffer&&, std::uint64_t = 0, std::uint64_t = 0) = delete;
    // Reads the elements of a bound buffer back in the same submit. run_owned, run_into and submit
    // return them like outputs without an argument.
    Dispatch& read_back(std::string_view name) {
        if (wye_argument* argument = find(name, WYE_ARGUMENT_RESIDENT))
            argument->output_size = WYE_READ_BACK;
        return *this;
    }
    // An output that nobody reads. A size of 0: as the program says.
    Dispatch& discard(std::string_view name, std::uint64_t size = 0) {
        if (wye_argument* argument = find(name, WYE_ARGUMENT_DISCARD)) argument->size = size;
        return *this;
    }

    // The workgroups to run, in place of the program's grid clause.
    Dispatch& grid(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
        desc_.flags |= WYE_DISPATCH_GRID;
        desc_.grid[0] = x;
        desc_.grid[1] = y;
        desc_.grid[2] = z;
        return *this;
    }
    // The workgroups to run are three u32 in a buffer of the device, from a byte offset on, that
    // earlier work has written: see grid_buffer of wye_dispatch_desc.
    Dispatch& grid_from(const Buffer& buffer, std::uint64_t offset = 0) {
        desc_.flags |= WYE_DISPATCH_INDIRECT;
        desc_.grid_buffer = buffer.get();
        desc_.grid_offset = offset;
        return *this;
    }
    Dispatch& grid_from(const Buffer&&, std::uint64_t = 0) = delete;
    // The element count of outputs without a declared count, and of the launch if no grid is given.
    Dispatch& elements(std::uint64_t count) {
        desc_.flags |= WYE_DISPATCH_ELEMENTS;
        desc_.elements = count;
        return *this;
    }
    // The time limit; 0: none. If it passes, run, or Pending::wait after submit, returns TIMEOUT.
    Dispatch& timeout_ns(std::uint64_t ns) {
        desc_.timeout_ns = ns;
        return *this;
    }
    // Lets `/`, sqrt and math functions use native forms with up to this error; the report names
    // them.
    Dispatch& ulp_budget(std::uint32_t ulp) {
        desc_.ulp_budget = ulp;
        return *this;
    }
    // Allows the program's native variants; the report has the index of the variant that ran.
    Dispatch& variants() {
        desc_.flags |= WYE_DISPATCH_VARIANTS;
        return *this;
    }
    // Runs on this queue.
    Dispatch& on(const Queue& queue) {
        desc_.queue = queue.get();
        return *this;
    }
    Dispatch& on(const Queue&&) = delete;
    // Measures the device time for the report.
    Dispatch& timed(bool timed = true) {
        desc_.flags = timed ? desc_.flags | WYE_DISPATCH_TIMED : desc_.flags & ~WYE_DISPATCH_TIMED;
        return *this;
    }
    // Makes the dispatch consist of this many launches with the same bindings. Outputs are zeroed
    // before the first launch only. run() refuses 0.
    Dispatch& fixpoint(std::uint32_t iterations) {
        desc_.flags |= WYE_DISPATCH_FIXPOINT;
        desc_.fixpoint_iterations = iterations;
        return *this;
    }
    // Runs all workgroups at the same time; refused unless the device has grid_sync and they fit.
    // A program with grid barriers is split at them instead; see wye_report.cooperative.
    Dispatch& cooperative() {
        desc_.flags |= WYE_DISPATCH_COOPERATIVE;
        return *this;
    }
    // Overrides the workgroup size of a program that is `adjustable`.
    Dispatch& workgroup(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
        desc_.workgroup[0] = x;
        desc_.workgroup[1] = y;
        desc_.workgroup[2] = z;
        return *this;
    }
    // A name for the log; copied.
    Dispatch& label(std::string_view text) {
        label_ = std::make_shared<const std::string>(text);
        desc_.label = detail::borrow(*label_);
        return *this;
    }
    // A name for how the program is used; copied. See wye_dispatch_desc.
    Dispatch& profile(std::string_view name) {
        profile_ = std::make_shared<const std::string>(name);
        desc_.profile = detail::borrow(*profile_);
        return *this;
    }
    // Limits the size of all outputs together (LIMIT_EXCEEDED). 0: no limit.
    Dispatch& max_output_bytes(std::uint64_t bytes) {
        desc_.max_output_bytes = bytes;
        return *this;
    }
    // The request as the C API takes it.
    [[nodiscard]] wye_dispatch_desc& desc() noexcept { return desc_; }

    // Returns the exact bytes of each argument given so far, in the order given. Runs nothing.
    [[nodiscard]] Result<std::vector<std::uint64_t>> sizes() {
        WYE_TRY(ready());
        std::vector<std::uint64_t> out(arguments_.size());
        std::uint32_t groups[3];
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_dispatch_sizes(context_.get(), &desc_, out.data(), groups, e);
        }));
        return out;
    }

    // Runs the dispatch, waits for its end and returns its report.
    [[nodiscard]] Result<wye_report> run() {
        WYE_TRY(ready());
        WYE_INIT(report_);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_dispatch(context_.get(), &desc_, &report_, e); }));
        return report_;
    }
    // Like `run`, but outputs without an argument are read back into memory that the result owns.
    [[nodiscard]] Result<Outputs> run_owned() {
        std::vector<Pending::Output> owned = own_outputs();
        WYE_TRY(ready());
        WYE_INIT(report_);
        wye_pending out = 0;
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_dispatch_owned(context_.get(), &desc_, &report_, &out, e);
        }));
        return Outputs(Pending(context_, out, std::move(owned)), report_);
    }
    // Like `run`, but outputs without an argument are read back into these slots, which grow if
    // needed.
    [[nodiscard]] Result<wye_report> run_into(OutputSlots& slots) {
        WYE_ASSIGN(const std::vector<Pending::Output> owned, point_at(slots));
        auto result = run();
        point_nowhere(owned);
        return result;
    }
    // Starts the launch and does not wait for it. Inputs are copied. Outputs without an argument
    // are read back into memory that the Pending owns; see Pending::output.
    [[nodiscard]] Result<Pending> submit() { return start(own_outputs()); }
    // Like `submit`, but copies nothing: the memory of inputs and outputs is in use until the
    // dispatch ends.
    [[nodiscard]] Result<Pending> submit_borrowing() {
        desc_.flags |= WYE_DISPATCH_BORROW;
        auto started = start({});
        desc_.flags &= ~WYE_DISPATCH_BORROW;
        return started;
    }
    // The report of the last run; zeros after an error other than TRAPPED.
    [[nodiscard]] const wye_report& report() const noexcept { return report_; }

  private:
    Dispatch(std::shared_ptr<wye_context> context, Result<wye_program_description> described)
        : context_(std::move(context)) {
        WYE_INIT(desc_);
        if (!described.ok()) {
            error_ = std::move(described).error();
            return;
        }
        info_ = *described;
        params_.assign(info_.param_count, 0);
        given_.assign(info_.param_count, false);
    }
    Dispatch& wrong(std::string_view name, const std::string& what, std::string fix) {
        if (!error_)
            error_ = Error(Code::INVALID_ARGUMENT, "`" + std::string(name) + "` " + what,
                           std::move(fix), std::string(name));
        return *this;
    }
    // Returns the argument for a buffer, which it adds at first use.
    wye_argument* find(std::string_view name, std::uint32_t kind, bool or_resident = false) {
        for (std::uint64_t i = 0; i < info_.buffer_count; ++i) {
            if (detail::view(info_.buffers[i].name) != name) continue;
            const std::uint32_t binding = info_.buffers[i].binding;
            auto found = std::ranges::find(arguments_, binding, &wye_argument::binding);
            if (found == arguments_.end()) {
                wye_argument argument{};
                argument.kind = kind;
                argument.binding = binding;
                found = arguments_.insert(arguments_.end(), argument);
            } else if (found->kind != kind &&
                       !(or_resident && found->kind == WYE_ARGUMENT_RESIDENT)) {
                wrong(name, "is bound twice, to arguments of different kinds",
                      "Fix: bind it once: to host memory, to a buffer, or discard it");
                return nullptr;
            }
            return &*found;
        }
        wrong(name, "is not a buffer of the program",
              detail::name_fix(name, std::span(info_.buffers, info_.buffer_count)));
        return nullptr;
    }
    template <typename R>
    wye_argument* host(std::string_view name, bool or_resident = false) {
        using T = std::ranges::range_value_t<R>;
        for (std::uint64_t i = 0; i < info_.buffer_count; ++i) {
            const wye_buffer_description& buffer = info_.buffers[i];
            const std::string_view type = detail::view(buffer.type);
            if (detail::view(buffer.name) != name || is_element<T>(type)) continue;
            using Lanes = detail::Lanes<T>;
            std::string got(detail::scalar_name<typename Lanes::Scalar>());
            if (Lanes::kCount != 1) got += "x" + std::to_string(Lanes::kCount);
            wrong(name, "has elements of type " + std::string(type) + ", got " + got,
                  "Fix: convert the values to " + std::string(type) +
                      ", or declare the buffer with elements of " + got);
            return nullptr;
        }
        return find(name, WYE_ARGUMENT_HOST, or_resident);
    }

    // Returns the outputs without storage; adds host arguments for outputs without an argument.
    [[nodiscard]] std::vector<Pending::Output> own_outputs() {
        std::vector<Pending::Output> owned;
        for (std::uint64_t i = 0; !error_ && i < info_.buffer_count; ++i) {
            const wye_buffer_description& buffer = info_.buffers[i];
            if (buffer.in_outputs == 0) continue;
            auto found = std::ranges::find(arguments_, buffer.binding, &wye_argument::binding);
            if (found == arguments_.end()) {
                wye_argument argument{};
                argument.kind = WYE_ARGUMENT_HOST;
                argument.binding = buffer.binding;
                found = arguments_.insert(arguments_.end(), argument);
            }
            const bool wanted = found->kind == WYE_ARGUMENT_HOST ||
                                (found->kind == WYE_ARGUMENT_RESIDENT && found->output_size != 0);
            if (!wanted || found->output != nullptr) continue;
            owned.push_back({std::string(detail::view(buffer.name)),
                             std::string(detail::view(buffer.type)), buffer.binding});
        }
        return owned;
    }
    // Points outputs without storage at the slots, until point_nowhere.
    [[nodiscard]] Result<std::vector<Pending::Output>> point_at(OutputSlots& slots) {
        std::vector<Pending::Output> owned = own_outputs();
        WYE_ASSIGN(const std::vector<std::uint64_t> sizes, this->sizes());
        slots.slots_.resize(owned.size());
        for (std::size_t i = 0; i < owned.size(); ++i) {
            OutputSlots::Slot& slot = slots.slots_[i];
            slot.name = owned[i].name;
            slot.type = owned[i].type;
            slot.binding = owned[i].binding;
            const auto argument =
                std::ranges::find(arguments_, slot.binding, &wye_argument::binding);
            slots.reserve(slot, sizes[static_cast<std::size_t>(argument - arguments_.begin())]);
            argument->output = slot.bytes.get();
            argument->output_size = slot.size;
        }
        return owned;
    }
    void point_nowhere(const std::vector<Pending::Output>& owned) {
        for (const Pending::Output& one : owned) {
            const auto argument =
                std::ranges::find(arguments_, one.binding, &wye_argument::binding);
            argument->output = nullptr;
            argument->output_size = argument->kind == WYE_ARGUMENT_RESIDENT ? WYE_READ_BACK : 0;
        }
    }
    [[nodiscard]] Result<Pending> start(std::vector<Pending::Output> owned) {
        WYE_TRY(ready());
        wye_pending out = 0;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_dispatch_submit(context_.get(), &desc_, &out, e); }));
        return Pending(context_, out, std::move(owned));
    }

    [[nodiscard]] static Error no_value(const std::string& param) {
        return Error(Code::INVALID_ARGUMENT, "parameter `" + param + "` has no value",
                     "Fix: give it one, with param(\"" + param + "\", ...)", param);
    }
    [[nodiscard]] Result<void> ready() {
        if (error_) return *error_;
        for (std::size_t i = 0; i < given_.size(); ++i)
            if (!given_[i]) return no_value(std::string(detail::view(info_.params[i].name)));
        desc_.arguments = arguments_.data();
        desc_.argument_count = arguments_.size();
        desc_.params = params_.data();
        desc_.param_count = params_.size();
        return {};
    }

    friend class Graph;
    friend class Pipeline;

    std::shared_ptr<wye_context> context_;
    wye_program_description info_{};
    wye_dispatch_desc desc_{};
    wye_report report_{};
    std::vector<wye_argument> arguments_;
    std::vector<std::uint64_t> params_;
    std::vector<bool> given_;
    std::shared_ptr<const std::string> label_, profile_;  // copies of a dispatch share them
    std::optional<Error> error_;
};

// The table of workarounds for drivers, as JSON (wye_quirks_report).
[[nodiscard]] inline Result<std::string> quirks_report() {
    wye_blob* blob = nullptr;
    WYE_TRY(detail::call([&](wye_error** e) { return wye_quirks_report(&blob, e); }));
    return detail::take_text(blob);
}

}  // namespace wye
