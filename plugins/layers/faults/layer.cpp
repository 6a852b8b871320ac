// SPDX-License-Identifier: Apache-2.0
//
// The layer `faults`: makes calls fail, hang or lose their device by rules of the configuration
// (`layer.faults.rules`, see rules.hpp), to test how an application or the host reacts. A call
// that fails does not reach the plugin. A lost device returns DEVICE_LOST, like a driver's device,
// until try_recover. When the device is lost, the layer first ends the pending work in the plugin
// below, since the host may free the buffers of that work from then on.
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "layers/faults/rules.hpp"
#include "wye/sdk/layer.hpp"

namespace wye::layers::faults {
namespace {

namespace layer = sdk::layer;
namespace slot = sdk::layer::slot;

class Plugin;
class Device;
class Queue;
struct State {
    using Plugin = faults::Plugin;
    using Device = faults::Device;
    using Queue = faults::Queue;
};
using PluginNode = layer::PluginNode<State>;
using DeviceNode = layer::DeviceNode<State>;
using QueueNode = layer::QueueNode<State>;

constexpr const char* kArea = "faults";
constexpr std::uint64_t kDrain = 10'000'000'000;  // ns, time limit to end the work of a lost device

// The rules of a plugin, and the number of calls of its slots so far.
class Plugin {
  public:
    static Result<std::unique_ptr<Plugin>> create(const wye_host_table& host,
                                                  const wye_layer_next&) {
        WYE_ASSIGN(std::vector<Rule> rules,
                   parse_rules(sdk::config(host, "layer.faults.rules").value_or("")));
        if (rules.empty())
            layer::log(host, WYE_LOG_WARNING, kArea,
                       "the layer has no rules, so nothing fails. Fix: set layer.faults.rules, as "
                       "in submit:10:DEVICE_LOST");
        return std::make_unique<Plugin>(host, std::move(rules));
    }
    Plugin(const wye_host_table& host, std::vector<Rule> rules)
        : host_(host), rules_(std::move(rules)), applied_(rules_.size()) {
        for (const Rule& rule : rules_) calls_[rule.slot] = 0;
    }

    // Counts a call of a slot. Returns the rule that applies to it, or null.
    const Rule* enter(std::string_view name) {
        const auto at = calls_.find(name);
        if (at == calls_.end()) return nullptr;
        const std::uint64_t call = 1 + at->second.fetch_add(1);
        for (std::size_t i = 0; i < rules_.size(); ++i) {
            const Rule& rule = rules_[i];
            if (rule.slot != name || !rule.is_for(call)) continue;
            applied_[i] = true;
            layer::log(host_, WYE_LOG_INFO, kArea,
                       "call " + std::to_string(call) + " of `" + rule.slot + "`: rule `" +
                           rule.text + "`");
            return &rule;
        }
        return nullptr;
    }

    // Warns of rules that never applied, since a test that relies on such a rule tests nothing.
    void say_unused() const {
        for (std::size_t i = 0; i < rules_.size(); ++i)
            if (!applied_[i])
                layer::log(host_, WYE_LOG_WARNING, kArea,
                           "the rule `" + rules_[i].text + "` never applied: `" + rules_[i].slot +
                               "` was called " + std::to_string(calls_.at(rules_[i].slot)) +
                               " times");
    }

  private:
    const wye_host_table& host_;
    const std::vector<Rule> rules_;
    std::vector<std::atomic<bool>> applied_;                                // indexed by rule
    std::map<std::string, std::atomic<std::uint64_t>, std::less<>> calls_;  // for slots with rules
};

class Queue {
  public:
    Queue(DeviceNode&, const wye_queue_desc&) {}
    std::atomic<std::uint64_t> newest{0};  // the newest submitted value
};

// Whether a device is lost, and which values were known to be reached before the loss.
class Device {
  public:
    Device(PluginNode&, std::uint32_t) {}

    [[nodiscard]] bool lost() const { return lost_; }
    void recover() {
        const sdk::Lock lock(mutex_);
        reached_.clear();
        lost_ = false;
    }

    void add(QueueNode& queue) {
        const sdk::Lock lock(mutex_);
        queues_.insert(&queue);
    }
    void remove(QueueNode& queue) {
        const sdk::Lock lock(mutex_);
        queues_.erase(&queue);
        reached_.erase(queue.timeline);
        lost_up_to_.erase(queue.timeline);
    }
    void remove(wye_timeline_object* timeline) {
        const sdk::Lock lock(mutex_);
        reached_.erase(timeline);
    }

    // Notes that the host has seen the value as reached. The value stays reached after a loss. If
    // there is no memory for the note, the value counts as lost after a loss.
    void note_reached(const wye_event& event) noexcept {
        const sdk::Lock lock(mutex_);
        try {
            std::uint64_t& value = reached_[event.timeline];
            if (!lost_ && event.value > value) value = event.value;
        } catch (const std::bad_alloc&) {
        }
    }
    [[nodiscard]] bool was_reached(const wye_event& event) const {
        const sdk::Lock lock(mutex_);
        const auto at = reached_.find(event.timeline);
        return event.value == 0 || (at != reached_.end() && event.value <= at->second);
    }

    // Whether a failed value was ended by a loss, even if the device was recovered since.
    [[nodiscard]] bool was_lost(const wye_event& event) const {
        const sdk::Lock lock(mutex_);
        const auto at = lost_up_to_.find(event.timeline);
        return lost_ || (at != lost_up_to_.end() && event.value <= at->second);
    }

    // Submits hold this lock shared. A loss holds it exclusively, so the loss waits for all submits
    // that are in progress.
    sdk::SharedMutex submits;

    // Ends the work that the plugin still runs. Called with `submits` held exclusively.
    void lose(DeviceNode& node) {
        const sdk::Lock lock(mutex_);
        lost_ = true;
        for (QueueNode* queue : queues_) {
            if (queue->next.cancel != nullptr)
                (void)queue->next.cancel(queue->object, 0, UINT64_MAX, nullptr);
            const wye_event newest{queue->timeline, queue->state().newest.load(), 0, 0};
            lost_up_to_[newest.timeline] = newest.value;
            (void)node.next.wait(node.object, &newest, 1, 0, kDrain, nullptr, nullptr);
        }
    }

  private:
    mutable sdk::Mutex mutex_;
    std::atomic<bool> lost_{false};
    std::set<QueueNode*> queues_ WYE_GUARDED_BY(mutex_);
    std::map<wye_timeline_object*, std::uint64_t> reached_ WYE_GUARDED_BY(mutex_);
    std::map<wye_timeline_object*, std::uint64_t> lost_up_to_ WYE_GUARDED_BY(mutex_);
};

// ---- Errors --------------------------------------------------------------------------------

wye_status fail(const wye_host_table& host, const Rule& rule, wye_error** sink) {
    return sdk::report(host,
                       Error(rule.code,
                             "the layer `faults` lets this call of `" + rule.slot +
                                 "` fail, by the rule `" + rule.text + "`",
                             "Fix: none needed, it was asked for; else remove `faults` from "
                             "WYE_LAYERS",
                             rule.slot),
                       sink);
}

wye_status lost(const wye_host_table& host, std::string_view slot, wye_error** sink) {
    return sdk::report(host,
                       Error(Code::DEVICE_LOST,
                             "the device was lost before this call of `" + std::string(slot) +
                                 "`, by a rule of the layer `faults`",
                             "Fix: recover the device, or open it again", std::string(slot)),
                       sink);
}

// ---- The layer -----------------------------------------------------------------------------

// Slots whose calls do not fail when the device is lost: the plugin answers these calls, or the
// layer does so itself (see below).
template <typename Slot>
constexpr bool kAnswersWhenLost =
    std::is_same_v<Slot, slot::device::try_recover> || std::is_same_v<Slot, slot::device::query> ||
    std::is_same_v<Slot, slot::device::wait> || std::is_same_v<Slot, slot::device::timeline_fail> ||
    std::is_same_v<Slot, slot::device::timeline_signal> ||
    std::is_same_v<Slot, slot::device::retire> || std::is_same_v<Slot, slot::layouts::counts> ||
    !slot::kFails<Slot>;

struct Faults {
    using State = faults::State;

    static void provides(slot::device::device_lost);
    static void provides(slot::device::try_recover);

    static DeviceNode* device_of(PluginNode&) { return nullptr; }
    static DeviceNode* device_of(DeviceNode& node) { return &node; }
    static DeviceNode* device_of(QueueNode& node) { return &node.device(); }

    static void lose(DeviceNode& device) {
        const sdk::Lock alone(device.state().submits);
        if (!device.state().lost()) device.state().lose(device);
    }

    template <typename Slot, typename Node, typename Next, typename... Args>
    static auto call(Slot, Node& node, Next&& next, Args... args) -> decltype(next(args...)) {
        const wye_host_table& host = node.plugin().host;
        const Rule* rule = node.plugin().state().enter(Slot::kName);
        if (rule != nullptr) std::this_thread::sleep_for(rule->pause);
        [[maybe_unused]] DeviceNode* device = device_of(node);
        if constexpr (slot::kFails<Slot>) {
            if (rule != nullptr && rule->code != Code::OK) {
                if (rule->code == Code::DEVICE_LOST && device != nullptr) lose(*device);
                return fail(host, *rule, sdk::layer::sink_of(args...));
            }
            if (!kAnswersWhenLost<Slot> && device != nullptr && device->state().lost())
                return lost(host, Slot::kName, sdk::layer::sink_of(args...));
        }
        return answer(Slot{}, node, next, args...);
    }

    // ---- What each slot does when no rule applies ----

    template <typename Slot, typename Node, typename Next, typename... Args>
    static auto answer(Slot, Node&, Next& next, Args... args) {
        return next(args...);
    }

    template <typename Next>
    static wye_status answer(slot::queue::submit, QueueNode& queue, Next& next,
                             const wye_submission* submission, wye_error** error) {
        Device& device = queue.device().state();
        const sdk::SharedLock entering(device.submits);
        if (device.lost()) return lost(queue.plugin().host, "submit", error);
        const wye_status status = next(submission, error);
        if (status == WYE_OK) queue.state().newest = submission->value;
        return status;
    }

    template <typename Next>
    static wye_status answer(slot::device::query, DeviceNode& node, Next& next,
                             const wye_event* event, wye_error** error) {
        if (node.state().lost())
            return node.state().was_reached(*event) ? WYE_OK
                                                    : lost(node.plugin().host, "query", error);
        const wye_status status = next(event, error);
        if (status == WYE_OK) node.state().note_reached(*event);
        if (status == WYE_OK || status == WYE_NOT_READY) return status;
        return ended(node, "query", *event, status, error);
    }

    // The status of a value that failed: DEVICE_LOST if this layer cancelled it to pretend a loss.
    static wye_status ended(DeviceNode& node, std::string_view slot, const wye_event& event,
                            wye_status status, wye_error** error) {
        if (!node.state().was_lost(event)) return status;
        const wye_host_table& host = node.plugin().host;
        if (error != nullptr && *error != nullptr)
            host.error_release(host.self, std::exchange(*error, nullptr));
        return lost(host, slot, error);
    }

    template <typename Next>
    static wye_status answer(slot::device::wait, DeviceNode& node, Next& next,
                             const wye_event* events, std::uint64_t count, std::uint32_t any,
                             std::uint64_t timeout_ns, std::uint64_t* index, wye_error** error) {
        Device& device = node.state();
        if (!device.lost()) {
            std::uint64_t at = 0;
            const wye_status status = next(events, count, any, timeout_ns, &at, error);
            if (status == WYE_TIMEOUT) return status;
            if (index != nullptr) *index = at;
            if (status == WYE_OK)
                for (std::uint64_t i = 0; i < count; ++i)
                    if (any == 0) device.note_reached(events[i]);
            return status == WYE_OK ? status : ended(node, "wait", events[at], status, error);
        }
        for (std::uint64_t i = 0; i < count; ++i) {
            const bool reached = device.was_reached(events[i]);
            if (reached && any == 0) continue;
            if (index != nullptr) *index = i;
            return reached ? WYE_OK : lost(node.plugin().host, "wait", error);
        }
        return WYE_OK;
    }

    // The plugin below gets the signal or the failure of a timeline even if the device is lost:
    // work that waits for the timeline then ends, so that the work's queue can be destroyed.
    template <typename Next>
    static wye_status answer(slot::device::timeline_signal, DeviceNode& node, Next& next,
                             const wye_event* event, wye_error** error) {
        if (!node.state().lost()) return next(event, error);
        (void)next(event, nullptr);
        return lost(node.plugin().host, "timeline_signal", error);
    }
    template <typename Next>
    static wye_status answer(slot::device::timeline_fail, DeviceNode& node, Next& next,
                             const wye_event* event, const wye_error_desc* failure,
                             wye_error** error) {
        if (!node.state().lost()) return next(event, failure, error);
        (void)next(event, failure, nullptr);
        return lost(node.plugin().host, "timeline_fail", error);
    }

    template <typename Next>
    static std::uint32_t answer(slot::device::device_lost, DeviceNode& node, Next& next) {
        return node.state().lost() || next() != 0 ? 1 : 0;
    }

    template <typename Next>
    static wye_status answer(slot::device::try_recover, DeviceNode& node, Next& next,
                             wye_error** error) {
        if (!node.state().lost() && node.next.try_recover != nullptr) return next(error);
        if (node.next.device_lost != nullptr && node.next.device_lost(node.object) != 0 &&
            node.next.try_recover != nullptr)
            if (const wye_status status = next(error); status != WYE_OK) return status;
        node.state().recover();
        return WYE_OK;
    }

    template <typename Next>
    static wye_status answer(slot::device::queue_create, DeviceNode& node, Next& next,
                             const wye_queue_desc* desc, wye_queue_object** out,
                             wye_timeline_object** timeline, const wye_queue_table** table,
                             wye_error** error) {
        const wye_status status = next(desc, out, timeline, table, error);
        if (status == WYE_OK && *out != nullptr && *timeline != nullptr)
            node.state().add(layer::node_of<State>(*out));
        return status;
    }
    template <typename Next>
    static void answer(slot::queue::destroy, QueueNode& queue, Next& next) {
        queue.device().state().remove(queue);
        next();
    }
    template <typename Next>
    static void answer(slot::device::timeline_destroy, DeviceNode& node, Next& next,
                       wye_timeline_object* timeline) {
        node.state().remove(timeline);
        next(timeline);
    }
    template <typename Next>
    static void answer(slot::plugin::shutdown, PluginNode& node, Next& next) {
        node.state().say_unused();
        next();
    }
};

constinit const wye_plugin_table kTable = layer::LayerSlots<Faults>::table();
constinit const wye_plugin_desc kDesc =
    sdk::describe("faults", WYE_LAYER_VERSION, "the Wye project", kTable, WYE_BUILD_UNLOADABLE);

}  // namespace
}  // namespace wye::layers::faults

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out);
extern "C" wye_status wye_plugin_query_1(const wye_hello* hello, const wye_plugin_desc** out) {
    return wye::sdk::answer_query(hello, wye::layers::faults::kDesc, out);
}
