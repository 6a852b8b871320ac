// SPDX-License-Identifier: Apache-2.0
//
// The layer `trace`: writes a line for each call of a plugin, with its time, thread, arguments,
// status, duration and results. A call is written after it has returned. sink.hpp decides where the
// line goes.
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "layers/trace/arguments.hpp"
#include "layers/trace/sink.hpp"
#include "wye/sdk/layer.hpp"
#include "wye/sdk/words.hpp"

namespace wye::layers::trace {
namespace {

namespace layer = sdk::layer;
namespace slot = sdk::layer::slot;

class Plugin {
  public:
    static Result<std::unique_ptr<Plugin>> create(const wye_host_table& host,
                                                  const wye_layer_next&) {
        WYE_ASSIGN(std::unique_ptr<Sink> sink, Sink::open(host));
        return std::make_unique<Plugin>(std::move(sink));
    }
    explicit Plugin(std::unique_ptr<Sink> opened) : sink(std::move(opened)) {}

    const std::unique_ptr<Sink> sink;
};
class Device;
class Queue;
struct State {
    using Plugin = trace::Plugin;
    using Device = trace::Device;
    using Queue = trace::Queue;
};
class Device {
  public:
    Device(layer::PluginNode<State>&, std::uint32_t) {}
};
class Queue {
  public:
    Queue(layer::DeviceNode<State>&, const wye_queue_desc&) {}
};

std::uint64_t now_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_nsec);
}

// ---- The object of a call ----

void subject(Fields& out, layer::PluginNode<State>&) { (void)out; }
void subject(Fields& out, layer::DeviceNode<State>& node) { out.object("device", &node); }
void subject(Fields& out, layer::QueueNode<State>& node) { out.object("queue", &node); }

// One call of a slot. The inputs are described before the call, since the call may free the memory
// that they point to.
class Call {
  public:
    Call(Sink& sink, std::string_view plugin, std::string_view slot)
        : sink_(sink), plugin_(plugin), slot_(slot), in_(sink.format()), out_(sink.format()) {}

    Fields& in() { return in_; }
    Fields& out() { return out_; }
    void begin() { begin_ns_ = now_ns(); }
    void end() { end_ns_ = now_ns(); }

    void write(std::string_view result) {
        std::string line;
        const auto thread = std::to_string(::syscall(SYS_gettid));
        if (sink_.format() == Format::text) {
            add_microseconds(line, begin_ns_);
            line += " [" + thread + "] " + plugin_ + ' ' + std::string(slot_);
            line += in_.written().empty() ? "" : ' ' + in_.written();
            line += " -> " + std::string(result) + ' ';
            add_microseconds(line, end_ns_ - begin_ns_);
            line += out_.written().empty() ? "" : ' ' + out_.written();
        } else {
            line = "{\"name\":\"" + std::string(slot_) + "\",\"cat\":\"";
            add_escaped(line, plugin_);
            line += "\",\"ph\":\"X\",\"ts\":";
            add_microseconds(line, begin_ns_);
            line += ",\"dur\":";
            add_microseconds(line, end_ns_ - begin_ns_);
            line += ",\"pid\":" + std::to_string(::getpid()) + ",\"tid\":" + thread;
            line += ",\"args\":{";
            for (const std::string& part : {in_.written(), out_.written()})
                if (!part.empty()) line += part + ',';
            line += "\"result\":\"" + std::string(result) + "\"}}";
        }
        sink_.write(line);
    }

  private:
    Sink& sink_;
    std::string plugin_;
    std::string_view slot_;
    Fields in_, out_;
    std::uint64_t begin_ns_ = 0, end_ns_ = 0;
};

// Runs `body`. If there is no memory, the trace lacks a line, and the call continues.
template <typename Body>
void unless_out_of_memory(Body&& body) noexcept {
    try {
        body();
    } catch (const std::exception&) {
    }
}

struct Trace {
    using State = trace::State;

    template <typename Slot, typename... Args>
    static void describe(Slot, Fields& fields, Args... args) {
        [[maybe_unused]] std::string_view names = argument_names(Slot::kName);
        (trace::in(fields, sdk::cut(names, ","), args), ...);
    }
    // Describes the first event only. Without events, the pointer `events` may be invalid.
    static void describe(slot::device::wait, Fields& fields, const wye_event* events,
                         std::uint64_t count, std::uint32_t any, std::uint64_t timeout_ns,
                         std::uint64_t*, wye_error**) {
        trace::in(fields, "event", count == 0 ? nullptr : events);
        trace::in(fields, "count", count);
        trace::in(fields, "any", any);
        if (timeout_ns != UINT64_MAX) trace::in(fields, "timeout_ns", timeout_ns);
    }

    template <typename Slot, typename... Args>
    static void describe_results(Slot, Fields& fields, Args... args) {
        [[maybe_unused]] std::string_view names = argument_names(Slot::kName);
        (trace::after(fields, sdk::cut(names, ","), args), ...);
    }
    // The index is set only if the call waits for one of several events.
    static void describe_results(slot::device::wait, Fields& fields, const wye_event*,
                                 std::uint64_t, std::uint32_t any, std::uint64_t,
                                 std::uint64_t* index, wye_error**) {
        if (any != 0) trace::after(fields, "index", index);
    }

    template <typename Slot, typename Node, typename Next, typename... Args>
    static auto call(Slot, Node& node, Next&& next, Args... args) -> decltype(next(args...)) {
        using Return = decltype(next(args...));
        // The node, and with it the plugin's id, outlives the call.
        std::optional<Call> call;
        unless_out_of_memory([&] {
            call.emplace(*node.plugin().state().sink, node.plugin().id, Slot::kName);
            subject(call->in(), node);
            describe(Slot{}, call->in(), args...);
        });
        const auto finish = [&](std::string_view result, bool good) {
            unless_out_of_memory([&] {
                if (!call) return;
                if (good) describe_results(Slot{}, call->out(), args...);
                call->write(result);
            });
        };
        if (call) call->begin();
        try {
            if constexpr (std::is_void_v<Return>) {
                next(args...);
                if (call) call->end();
                finish("done", false);
            } else {
                const Return result = next(args...);
                if (call) call->end();
                if constexpr (slot::kFails<Slot>)
                    finish(status_name(result), result == WYE_OK);
                else if constexpr (std::is_pointer_v<Return>)
                    finish(result == nullptr ? "null" : "table", false);
                else
                    finish(std::to_string(result), false);
                return result;
            }
        } catch (const std::exception&) {
            if (call) call->end();
            finish("exception", false);
            throw;
        }
    }
};

constinit const wye_plugin_table kTable = layer::LayerSlots<Trace>::table();
constinit const wye_plugin_desc kDesc =
    sdk::describe("trace", WYE_LAYER_VERSION, "the Wye project", kTable, WYE_BUILD_UNLOADABLE);

}  // namespace
}  // namespace wye::layers::trace

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out);
extern "C" wye_status wye_plugin_query_1(const wye_hello* hello, const wye_plugin_desc** out) {
    return wye::sdk::answer_query(hello, wye::layers::trace::kDesc, out);
}
