// SPDX-License-Identifier: Apache-2.0
//
// The layer `validate`: compares each call of a plugin with the contract of wye/abi.h and
// plugin-abi/README.md, on both sides. A breach is an error in the host's log (breaches.hpp). A
// call with which the host breaks a rule fails with the breach as its error. The call does not
// reach the plugin, since plugins need not check arguments. checks.hpp has the checks of single
// slots. This file has the checks that all slots share: objects that ended, threads, errors,
// outputs, and the state of the thread and the process.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>

#include "layers/validate/checks.hpp"
#include "layers/validate/process.hpp"
#include "wye/sdk/layer.hpp"

namespace wye::layers::validate {
namespace {

using Clock = std::chrono::steady_clock;

// ---- Arguments -----------------------------------------------------------------------------

// Whether a type may be an output by value. Objects, whose types are incomplete here, and errors
// are not outputs by value.
template <typename T>
concept Output = !std::is_const_v<T> && !std::is_same_v<T, wye_error*> && requires {
    sizeof(T);
};

// The value behind an argument before the call, if the argument is an output.
template <typename Arg>
class Watched {
  public:
    explicit Watched(Arg) {}
    [[nodiscard]] bool is_untouched(Arg) const { return true; }
    [[nodiscard]] bool is_null(Arg) const { return false; }
};
template <Output T>
class Watched<T*> {
  public:
    explicit Watched(T* at) {
        if (at != nullptr) std::memcpy(before_, at, sizeof before_);
    }
    [[nodiscard]] bool is_untouched(T* at) const {
        return at == nullptr || std::memcmp(before_, at, sizeof before_) == 0;
    }
    // Whether an object or a table that a successful call must set is null.
    [[nodiscard]] bool is_null(T* at) const {
        if constexpr (std::is_pointer_v<T>)
            return at != nullptr && *at == nullptr;
        else
            return false;
    }

  private:
    unsigned char before_[sizeof(T)] = {};
};

// Whether an argument is an output structure with nonzero bytes after its header (H-3).
template <typename Arg>
[[nodiscard]] bool is_used(Arg) {
    return false;
}
template <Output T>
requires requires(T& out) { out.header.size; }
[[nodiscard]] bool is_used(T* at) {
    constexpr std::size_t kHeader = sizeof(wye_header);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(at);
    return std::any_of(bytes + kHeader,
                       bytes + std::clamp<std::size_t>(at->header.size, kHeader, sizeof(T)),
                       [](unsigned char byte) { return byte != 0; });
}

// ---- Slots ---------------------------------------------------------------------------------

template <typename Slot, typename... Slots>
constexpr bool kIsOneOf = (std::is_same_v<Slot, Slots> || ...);

// Slots that are marked [SYNC] for their plugin, device or queue.
template <typename Slot>
constexpr bool kAlone =
    kIsOneOf<Slot, slot::plugin::probe_devices, slot::plugin::shutdown, slot::device::try_recover,
             slot::device::close, slot::queue::submit, slot::queue::destroy>;
// Slots during which no other call may be inside of the object.
template <typename Slot>
constexpr bool kEnds =
    kIsOneOf<Slot, slot::plugin::shutdown, slot::device::close, slot::queue::destroy>;
// The slot during which no other call may concern the device (H-2).
template <typename Slot>
constexpr bool kRecovers = std::is_same_v<Slot, slot::device::try_recover>;
// Slots that may load drivers and their compilers.
template <typename Slot>
constexpr bool kMayLoad =
    kIsOneOf<Slot, slot::plugin::init, slot::plugin::probe_devices, slot::plugin::open_device,
             slot::plugin::translate, slot::plugin::shutdown, slot::device::program_create,
             slot::device::program_load, slot::device::prepare, slot::device::close>;
// Slots that fail without an error object.
template <typename Slot>
constexpr bool kHasNoErrors = kIsOneOf<Slot, slot::plugin::device_fact, slot::compiler::identity>;
// Slots that set an output after some failures.
template <typename Slot>
constexpr bool kSetsAfterFailure = kIsOneOf<Slot, slot::device::wait>;

// ---- Around a call -------------------------------------------------------------------------

// Counts the calls inside of an object.
class Visit {
  public:
    Visit(Inside& inside, bool alone) : inside_(inside), alone_(alone) {
        others_ = inside_.calls.fetch_add(1);
        if (alone_) alone_others_ = inside_.alone.fetch_add(1);
    }
    ~Visit() {
        if (alone_) inside_.alone.fetch_sub(1);
        inside_.calls.fetch_sub(1);
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    [[nodiscard]] int others() const { return others_; }
    [[nodiscard]] int others_alone() const { return alone_others_; }

  private:
    Inside& inside_;
    const bool alone_;
    int others_ = 0, alone_others_ = 0;
};

// The device that a call concerns; null: no device, or all devices of a plugin.
Inside* device_of(PluginNode&) { return nullptr; }
Inside* device_of(DeviceNode& node) { return &node.state().inside; }
Inside* device_of(QueueNode& node) { return &node.device().state().inside; }

// Marks a device as being recovered while this object exists.
class Recovery {
  public:
    explicit Recovery(Inside& inside) : inside_(inside) { inside_.recovering = true; }
    ~Recovery() { inside_.recovering = false; }
    Recovery(const Recovery&) = delete;
    Recovery& operator=(const Recovery&) = delete;

  private:
    Inside& inside_;
};

template <typename Return>
Return refused(const wye_host_table& host, const Error& error, wye_error** sink) {
    if constexpr (std::is_same_v<Return, wye_status>)
        return sdk::report(host, error, sink);
    else
        return Return();
}

struct Validate {
    using State = validate::State;
    static constexpr bool kKeepsEnded = true;

    template <typename Slot, typename Node>
    static std::optional<Error> check_threads(Node& node, const Visit& visit) {
        Breaches& breaches = node.plugin().state().breaches;
        if (node.state().inside.ended)
            return Error(Code::STALE_HANDLE, "the object of the call was closed or destroyed",
                         "Fix: correct the call");
        if (visit.others_alone() != 0)
            breaches.add(Side::host, "P-15", Slot::kName, &node,
                         "two threads are in [SYNC] slots of one object at once");
        else if (kEnds<Slot> && visit.others() != 0)
            breaches.add(Side::host, "P-15", Slot::kName, &node,
                         std::to_string(visit.others()) +
                             " other calls are inside of the object that it ends");
        const Inside* const device = device_of(node);
        if (kRecovers<Slot> ? visit.others() != 0 : device != nullptr && device->recovering)
            breaches.add(Side::host, "H-2", Slot::kName, &node,
                         "a device is recovered while another call concerns it");
        if (HostTable::is_inside())
            breaches.add(Side::host, "H-4", Slot::kName, &node,
                         "the host makes this call from inside of one of its own slots");
        return std::nullopt;
    }

    // Checks the error of a failed call (P-11).
    template <typename Slot>
    static void check_error(Plugin& plugin, const void* object, wye_status status,
                            const wye_error* given, bool asked) {
        const auto breach = [&](const std::string& text) {
            plugin.breaches.add(Side::plugin, "P-11", Slot::kName, object, text);
        };
        const bool may_lack = status == WYE_OUT_OF_MEMORY || status == WYE_NOT_READY ||
                              status == WYE_UNIMPLEMENTED || kHasNoErrors<Slot>;
        if (given == nullptr) {
            if (asked && !may_lack)
                breach("it fails with the status " + std::to_string(status) +
                       ", and without an error object");
            return;
        }
        const std::optional<Made> made = plugin.hooks.take(given);
        if (!made) return;  // the host made the error
        if (!made->fault.empty()) breach(made->fault);
        if (made->code != status)
            breach("its status is " + std::to_string(status) + ", and its error has the code " +
                   std::to_string(made->code));
    }

    static void check_surroundings(Plugin& plugin, std::string_view slot, const ThreadState& thread,
                                   const std::optional<ProcessState>& process) {
        const auto breach = [&](const char* what) {
            plugin.breaches.add(Side::plugin, "P-10", slot, nullptr,
                                std::string(what) + " is another after it");
        };
        for (const char* what : thread.changes()) breach(what);
        constexpr const char* kStack = "the thread's alternate signal stack";
        const bool stack = thread.has_other_stack();
        if (stack && !process) breach(kStack);
        if (!process) return;
        for (const char* what : process->changes()) breach(what);
        // Compilers of drivers change handlers when they are loaded. The host restores the
        // handlers, so the layer only warns.
        std::string signals;
        for (const int signal : process->changed_handlers())
            signals += (signals.empty() ? "" : ", ") + std::to_string(signal);
        if (stack || !signals.empty())
            plugin.breaches.warn(slot, std::string("it replaces ") + (stack ? kStack : "") +
                                           (stack && !signals.empty() ? " and " : "") +
                                           (signals.empty() ? "" : "the handlers of the signals ") +
                                           signals + ", which the host restores (P-10)");
    }

    template <typename Slot, typename Node, typename Next, typename... Args>
    static auto call(Slot, Node& node, Next&& next, Args... args) -> decltype(next(args...)) {
        using Return = decltype(next(args...));
        Plugin& plugin = node.plugin().state();
        const wye_host_table& host = node.plugin().host;
        ++plugin.breaches.calls;
        const Visit visit(node.state().inside, kAlone<Slot>);
        std::optional<Visit> of_device;
        if constexpr (std::is_same_v<Node, QueueNode>) of_device.emplace(*device_of(node), false);
        Frame frame(plugin);

        std::optional<Error> wrong;
        if (plugin.breaches.looks_for(Side::host)) {
            wrong = check_threads<Slot>(node, visit);
            if ((is_used(args) || ...))
                plugin.breaches.add(Side::host, "H-3", Slot::kName, &node,
                                    "a structure to fill in is not zero");
        }
        std::optional<Recovery> recovery;
        if constexpr (kRecovers<Slot>) recovery.emplace(node.state().inside);
        if (!wrong)
            plugin.breaches.unless_out_of_memory([&] {
                if (Result<void> promised = before(Slot{}, node, frame, args...); !promised.ok())
                    wrong = std::move(promised).error();
            });
        if (wrong && plugin.breaches.looks_for(Side::host)) {
            const std::string rule = wrong->subject.empty() ? "P-16" : wrong->subject;
            plugin.breaches.add(Side::host, rule, Slot::kName, &node, wrong->message);
            return refused<Return>(host, *wrong, sdk::layer::sink_of(args...));
        }
        if constexpr (kEnds<Slot>) node.state().inside.ended = true;
        if (!plugin.breaches.looks_for(Side::plugin)) {
            if constexpr (std::is_void_v<Return>) {
                next(args...);
                finish(Slot{}, plugin);
                return;
            } else {
                const Return result = next(args...);
                if constexpr (slot::kFails<Slot>) record(Slot{}, node, frame, result, args...);
                return result;
            }
        } else {
            return watch(Slot{}, node, frame, next, args...);
        }
    }

    template <typename Slot, typename Node, typename... Args>
    static void record(Slot, Node& node, Frame& frame, wye_status status, Args... args) {
        node.plugin().state().breaches.unless_out_of_memory(
            [&] { after(Slot{}, node, frame, status, args...); });
    }

    static void finish(slot::plugin::shutdown, Plugin& plugin) { plugin.breaches.sum_up(); }
    template <typename Slot>
    static void finish(Slot, Plugin&) {}

    // Makes the call, and compares the results with the plugin's obligations.
    template <typename Slot, typename Node, typename Next, typename... Args>
    static auto watch(Slot, Node& node, Frame& frame, Next& next, Args... args)
        -> decltype(next(args...)) {
        using Return = decltype(next(args...));
        Plugin& plugin = node.plugin().state();
        const std::tuple<Watched<Args>...> outputs{Watched<Args>(args)...};
        wye_error** const sink = sdk::layer::sink_of(args...);
        const wye_error* const error_before = sink == nullptr ? nullptr : *sink;
        std::optional<ProcessState> process;
        if constexpr (kMayLoad<Slot>) process.emplace();
        const ThreadState thread;
        const Clock::time_point begin = Clock::now();
        const auto returned = [&] {
            frame.spent_ns = static_cast<std::uint64_t>(
                std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
            check_surroundings(plugin, Slot::kName, thread, process);
        };
        try {
            if constexpr (std::is_void_v<Return>) {
                next(args...);
                returned();
                finish(Slot{}, plugin);
            } else {
                const Return result = next(args...);
                returned();
                if constexpr (slot::kFails<Slot>) {
                    check_outputs<Slot>(plugin, &node, result, outputs, args...);
                    if (result != WYE_OK)
                        check_error<Slot>(
                            plugin, &node, result,
                            sink == nullptr || *sink == error_before ? nullptr : *sink,
                            sink != nullptr);
                    record(Slot{}, node, frame, result, args...);
                }
                return result;
            }
        } catch (const std::exception& e) {
            plugin.breaches.add(Side::plugin, "P-8", Slot::kName, &node,
                                std::string("it throws: ") + e.what());
            throw;
        }
    }

    // Checks outputs (P-12): after a failure they are as before, after a success they are not null.
    template <typename Slot, typename... Args>
    static void check_outputs(Plugin& plugin, const void* object, wye_status status,
                              const std::tuple<Watched<Args>...>& outputs, Args... args) {
        const auto breach = [&](const char* text) {
            plugin.breaches.add(Side::plugin, "P-12", Slot::kName, object, text);
        };
        bool untouched = true, null = false;
        std::apply(
            [&](const auto&... one) {
                ((untouched = untouched && one.is_untouched(args)), ...);
                ((null = null || one.is_null(args)), ...);
            },
            outputs);
        if (status == WYE_OK && null) breach("it succeeds without an object");
        if (status != WYE_OK && !untouched && !kSetsAfterFailure<Slot>)
            breach("it fails, and writes to its outputs");
    }
};

constinit const wye_plugin_table kTable = sdk::layer::LayerSlots<Validate>::table();
constinit const wye_plugin_desc kDesc =
    sdk::describe("validate", WYE_LAYER_VERSION, "the Wye project", kTable, WYE_BUILD_UNLOADABLE);

}  // namespace
}  // namespace wye::layers::validate

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out);
extern "C" wye_status wye_plugin_query_1(const wye_hello* hello, const wye_plugin_desc** out) {
    return wye::sdk::answer_query(hello, wye::layers::validate::kDesc, out);
}
