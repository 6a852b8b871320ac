// SPDX-License-Identifier: Apache-2.0
//
// The C functions for graphs.
#include "exec/prepared/graph.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>

#include "exec/api/api.hpp"
#include "exec/prepared/pending_launch.hpp"
#include "wye/sdk/plugin.hpp"

using namespace wye::exec;
using wye::Code;
using wye::Error;
using wye::Result;
using wye::registry::HandleKind;
using wye::registry::Pin;

namespace {

// Refuses flags that an execution of a graph does not take.
Result<void> check_run(const wye_graph_run_desc& run, std::uint32_t flags) {
    WYE_TRY(check_header(run.header, sizeof run, "wye_graph_run_desc"));
    if (run.param_count != 0) WYE_NEED(run.params);
    if ((run.flags & ~flags) != 0 || run.reserved != 0)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`flags` of wye_graph_run_desc is {:#x}, and `reserved` is {}",
                                 run.flags, run.reserved),
                     "Fix: use only WYE_DISPATCH_TIMED and, for submits, WYE_DISPATCH_AT_ONCE",
                     "flags");
    return {};
}

Result<void> check_graph(const wye_graph_desc& desc) {
    WYE_TRY(check_header(desc.header, sizeof desc, "wye_graph_desc"));
    WYE_TRY(check_string(desc.label, "label"));
    if (desc.step_count != 0) WYE_NEED(desc.steps);
    if (desc.flags != 0 || desc.reserved != 0)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`flags` of wye_graph_desc is {:#x}, and `reserved` is {}",
                                 desc.flags, desc.reserved),
                     "Fix: set both to 0", "flags");
    for (std::uint64_t i = 0; i < desc.step_count; ++i) {
        const wye_graph_step& step = desc.steps[i];
        if ((step.dispatch == nullptr) == (step.transfer == nullptr))
            return Error(
                Code::INVALID_ARGUMENT,
                fmt::format("step {} of the graph is {}", i,
                            step.dispatch == nullptr ? "nothing" : "a dispatch and a transfer"),
                "Fix: set one of `dispatch` and `transfer`, and leave the other null",
                "wye_graph_step");
        Result<void> checked = step.dispatch != nullptr
                                   ? check_dispatch(*step.dispatch)
                                   : check_transfer_desc(*step.transfer, WYE_TRANSFER_WHOLE);
        if (checked.ok()) continue;
        Error error = std::move(checked).error();
        error.message = fmt::format("step {} of graph `{}`: {}", i, wye::sdk::from_abi(desc.label),
                                    error.message);
        return error;
    }
    return {};
}

}  // namespace

wye_status wye_graph_create(wye_context* context, const wye_graph_desc* desc, wye_graph* out,
                            wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_NEED(out);
        WYE_TRY(check_graph(*desc));
        Pin device;
        WYE_ASSIGN(auto graph, Graph::record(*self, *desc, device));
        const std::string& label = graph->work()->label();
        WYE_ASSIGN(*out,
                   self->handles().add(HandleKind::graph, graph, graph->session().owner(), label));
        return {};
    });
}

namespace {

// The ordinary paths of executions. They also report why an execution is refused.
[[gnu::noinline]] wye_status run_graph(wye_context* context, wye_graph graph,
                                       const wye_graph_run_desc* run, wye_report* report,
                                       wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        const bool timed = report != nullptr || self->reads_times();
        const Clock::time_point start = timed ? now() : Clock::time_point();
        WYE_NEED(run);
        WYE_TRY(check_run(*run, WYE_DISPATCH_TIMED));
        if (report != nullptr) WYE_TRY(check_header(report->header, sizeof *report, "wye_report"));
        WYE_ASSIGN(Pin pin, self->handles().find(graph, HandleKind::graph));
        if (run->timeout_ns == 0) return pin.as<Graph>().run(*self, *run, start, report);
        WYE_ASSIGN(const auto work, Graph::submit(*self, std::move(pin), *run, now(), false));
        work->wait_for_result();
        return work->outcome(report);
    });
}

[[gnu::noinline]] wye_status submit_graph(wye_context* context, wye_graph graph,
                                          const wye_graph_run_desc* run, const Instant& start,
                                          wye_pending* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(run);
        WYE_NEED(out);
        WYE_TRY(check_run(*run, WYE_DISPATCH_TIMED | WYE_DISPATCH_AT_ONCE));
        WYE_ASSIGN(Pin pin, self->handles().find(graph, HandleKind::graph));
        WYE_TRY(self->handles().make_room());
        WYE_ASSIGN(auto pending, Graph::submit(*self, std::move(pin), *run, start.time(), true));
        WYE_ASSIGN(*out, Pending::add(std::move(pending), self->handles()));
        return {};
    });
}

// Makes a handle for work, and takes over the caller's reference. Returns 0 after a failure.
[[gnu::cold, gnu::noinline]] wye_pending add_slowly(Context& self, Pending* work,
                                                    Result<void>& failed) {
    auto added = Pending::add(WorkPtr<Pending>::adopt(work), self.handles());
    if (added.ok()) return *added;
    failed = std::move(added).error();
    return 0;
}

bool is_plain(const wye_header& header, std::size_t size) {
    // One comparison for size and type. The API is little-endian.
    static_assert(offsetof(wye_header, type) == sizeof header.size);
    std::uint64_t size_and_type = 0;
    std::memcpy(&size_and_type, &header, sizeof size_and_type);
    return size_and_type == size && header.next == nullptr;
}

// Whether the fast paths take an execution with this description.
bool is_plain(const wye_graph_run_desc& run, std::uint32_t flags) {
    // One comparison for members that are mostly 0.
    constexpr std::size_t kFlags = offsetof(wye_graph_run_desc, flags);
    static_assert(offsetof(wye_graph_run_desc, reserved) == kFlags + sizeof run.flags);
    const std::uint32_t allowed[2] = {flags, 0};
    std::uint64_t words = 0, mask = 0;
    std::memcpy(&words, reinterpret_cast<const std::byte*>(&run) + kFlags, sizeof words);
    std::memcpy(&mask, allowed, sizeof mask);
    return is_plain(run.header, sizeof run) && (run.params != nullptr || run.param_count == 0) &&
           ((words & ~mask) | run.timeout_ns) == 0;
}

// The fast paths of executions on a public queue. They are separate functions, so that the compiler
// knows the index of the queue in the paths without a public queue.
constexpr auto kOften = PreparedWork::Use::Often;
[[gnu::noinline]] bool run_named(const wye::registry::HandleTable& handles, Graph& graph,
                                 const wye_graph_run_desc& run, const Instant& start,
                                 wye_report* report, Result<void>& failed) {
    NamedQueue queue;
    return queue.try_find(handles, run.queue, graph.session()) &&
           PreparedWork::try_run<kOften>(graph.session(), Graph::Quick{graph, run, queue.number()},
                                         start, report, failed);
}
[[gnu::noinline]] Pending* submit_named(const wye::registry::HandleTable& handles, Pin pin,
                                        const wye_graph_run_desc& run, const Instant& start,
                                        Result<void>& failed) {
    NamedQueue queue;
    Graph& graph = pin.as<Graph>();
    if (!queue.try_find(handles, run.queue, graph.session())) return nullptr;
    return PendingLaunch::try_submit<kOften>(
        graph.session(), Graph::Quick{graph, run, queue.number()}, pin, start, failed);
}

// Leaves a gate at the end of a scope.
struct Leaving {
    ~Leaving() { gate.leave(); }
    Gate& gate;
};

// Tries a fast path. Returns true if the call has ended, with its status in `status`; false if the
// general path must be taken. `path`: a function bool(Context&, Result<void>& failed) that returns
// whether the call has succeeded.
template <typename Path>
[[gnu::always_inline]] inline bool took(Path&& path, wye_context* context, wye_status& status,
                                        wye_error** error) {
    if (context == nullptr || context->forks != wye::registry::fork_count()) [[unlikely]]
        return false;
    const std::uint32_t flags = context->gate.enter();
    const Leaving leaving{context->gate};
    if (flags != 0 && !Call::admits(context, flags)) [[unlikely]]
        return false;
    try {
        Result<void> failed;
        status = WYE_OK;
        if (path(*context->context, failed)) [[likely]]
            return true;
        if (failed.ok()) return false;
        status = wye::registry::put_error(std::move(failed).error(), error);
    } catch (...) {
        status = caught(error);
    }
    return true;
}

}  // namespace

[[gnu::hot]] wye_status wye_graph_run(wye_context* context, wye_graph graph,
                                      const wye_graph_run_desc* run, wye_report* report,
                                      wye_error** error) {
    Instant start;
    if (report != nullptr) start.read();
    const auto path = [&](Context& self, Result<void>& failed) {
        const Pin pin = self.handles().try_find(graph, HandleKind::graph);
        if (!pin || self.reads_times()) [[unlikely]]
            return false;
        Graph& found = pin.as<Graph>();
        if (run->queue != 0) return run_named(self.handles(), found, *run, start, report, failed);
        return PreparedWork::try_run<kOften>(found.session(), Graph::Quick{found, *run, 0}, start,
                                             report, failed);
    };
    wye_status status = WYE_OK;
    if (run != nullptr && is_plain(*run, 0) &&
        (report == nullptr || is_plain(report->header, sizeof *report)) &&
        took(path, context, status, error)) [[likely]]
        return status;
    return run_graph(context, graph, run, report, error);
}

[[gnu::hot]] wye_status wye_graph_submit(wye_context* context, wye_graph graph,
                                         const wye_graph_run_desc* run, wye_pending* out,
                                         wye_error** error) {
    Instant start;
    start.read();
    const auto path = [&](Context& self, Result<void>& failed) {
        Pin pin = self.handles().try_find(graph, HandleKind::graph);
        if (!pin) [[unlikely]]
            return false;
        wye::registry::HandleTable& handles = self.handles();
        Graph& found = pin.as<Graph>();
        Pending* const work =
            run->queue == 0 ? PendingLaunch::try_submit<kOften>(
                                  found.session(), Graph::Quick{found, *run, 0}, pin, start, failed)
                            : submit_named(handles, std::move(pin), *run, start, failed);
        if (work == nullptr) [[unlikely]]
            return false;
        wye_pending handle = handles.try_add(HandleKind::pending, work, Pending::release_handle,
                                             work->session().owner());
        if (handle == 0) [[unlikely]]
            handle = add_slowly(self, work, failed);
        if (handle != 0) [[likely]]
            *out = handle;
        return handle != 0;
    };
    wye_status status = WYE_OK;
    if (run != nullptr && out != nullptr && is_plain(*run, WYE_DISPATCH_AT_ONCE) &&
        took(path, context, status, error)) [[likely]]
        return status;
    return submit_graph(context, graph, run, start, out, error);
}

wye_status wye_graph_rebind(wye_context* context, wye_graph graph,
                            const wye_graph_rebinding* rebindings, uint64_t rebinding_count,
                            wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        if (rebinding_count != 0) WYE_NEED(rebindings);
        WYE_ASSIGN(const Pin pin, self->handles().find(graph, HandleKind::graph));
        return pin.as<Graph>().rebind(*self,
                                      {rebindings, static_cast<std::size_t>(rebinding_count)});
    });
}

wye_status wye_graph_describe(wye_context* context, wye_graph graph, wye_graph_info* out,
                              wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_header(out->header, sizeof *out, "wye_graph_info"));
        WYE_ASSIGN(const Pin pin, self->handles().find(graph, HandleKind::graph));
        return pin.as<Graph>().describe(*out);
    });
}

wye_status wye_graph_free(wye_context* context, wye_graph graph, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        return self->handles().retire(graph, HandleKind::graph);
    });
}
