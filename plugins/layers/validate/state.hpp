// SPDX-License-Identifier: Apache-2.0
//
// The layer's record of a plugin, its opened devices and their queues.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "layers/validate/breaches.hpp"
#include "layers/validate/host_checks.hpp"
#include "layers/validate/host_table.hpp"
#include "layers/validate/limits.hpp"
#include "layers/validate/objects.hpp"
#include "wye/sdk/layer.hpp"

namespace wye::layers::validate {

class Plugin;
class Device;
class Queue;
struct State {
    using Plugin = validate::Plugin;
    using Device = validate::Device;
    using Queue = validate::Queue;
};
using PluginNode = sdk::layer::PluginNode<State>;
using DeviceNode = sdk::layer::DeviceNode<State>;
using QueueNode = sdk::layer::QueueNode<State>;

// The number of calls inside an object: all calls, and calls of [SYNC] slots.
struct Inside {
    std::atomic<int> calls{0}, alone{0};
    std::atomic<bool> ended{false};       // whether the object was closed or destroyed
    std::atomic<bool> recovering{false};  // whether a call recovers the device
};

class Plugin {
  public:
    // Reads the configuration:
    //   layer.validate.of        whose breaches are reported: host, plugin or both (the default)
    //   layer.validate.late_ms   by how many ms a wait may exceed its limit; default 1000
    [[nodiscard]] static Result<std::unique_ptr<Plugin>> create(const wye_host_table& host,
                                                                const wye_layer_next& next);
    Plugin(const wye_host_table& host, const wye_layer_next& next, bool of_host, bool of_plugin,
           std::uint64_t late)
        : late_ns(late),
          breaches(host, std::string(sdk::from_abi(next.id)), of_host, of_plugin),
          hooks(*next.host) {}

    [[nodiscard]] const wye_host_table& below() { return hooks.table(); }

    const std::uint64_t late_ns;
    Breaches breaches;
    HostTable hooks;
    Inside inside;

    sdk::Mutex mutex;                                          // guards this object and all devices
    std::optional<std::uint32_t> count WYE_GUARDED_BY(mutex);  // number of devices
    std::map<std::uint32_t, std::string> infos WYE_GUARDED_BY(mutex);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> facts WYE_GUARDED_BY(mutex);
    std::set<Device*> open WYE_GUARDED_BY(mutex);
    // The addresses of devices and queues as the host knows them, also of closed and destroyed
    // ones: the layer keeps their states (kKeepsEnded), so no address is used again.
    std::set<const void*> handles WYE_GUARDED_BY(mutex);
    // Held exclusively while a timeline is removed from the record, and shared while the layer asks
    // the plugin about a timeline, so that the layer never asks about a destroyed timeline. Locked
    // before `mutex`.
    sdk::SharedMutex ends;
};

class Device {
  public:
    Device(PluginNode& plugin, std::uint32_t index)
        : limits(read_limits([&](std::uint32_t key, wye_fact& out) {
              return plugin.next.device_fact(plugin.object, index, key, &out);
          })) {}

    // Guarded by the plugin's mutex, except `limits`.
    Objects objects;
    std::uint64_t queues = 0;
    std::uint64_t marks = 0;         // number of marks so far (marks.hpp)
    std::uint32_t tried_groups = 0;  // workgroups of the largest trial launch (trials.hpp)
    std::uint64_t tried_bytes = 0;   // bytes of the largest trial move
    // Native handles as first reported, by slot and object.
    std::map<std::pair<std::string, const void*>, std::string> native;
    const Limits limits;
    Inside inside;
};

class Queue {
  public:
    Queue(DeviceNode&, const wye_queue_desc& desc) : kind(desc.kind), priority(desc.priority) {}

    const std::uint32_t kind;
    const std::int32_t priority;
    // Guarded by the plugin's mutex.
    std::uint64_t newest = 0;            // newest submitted value
    std::set<std::uint64_t> timed;       // the newest values that have times
    std::optional<wye_queue_info> info;  // as first reported
    Inside inside;
};

// Data that the checks before a call pass to the checks after the call.
struct Frame {
    explicit Frame(Plugin& owner) : plugin(owner) {}
    ~Frame();
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    Plugin& plugin;
    std::uint64_t spent_ns = 0;          // the duration of the call
    std::vector<std::uint64_t> reached;  // reached value of each event's timeline before the call
    // Timelines that this call names.
    std::vector<std::pair<Device*, wye_timeline_object*>> named;
    Submit submit;  // for the slot `submit`: the record so far
    // Commands that this call entered.
    std::vector<std::pair<Device*, wye_command_object*>> busy;
};

// Notes that the call names a timeline of the device.
inline void name([[maybe_unused]] Plugin& plugin, Device& device, Frame& frame,
                 wye_timeline_object* timeline) WYE_REQUIRES(plugin.mutex) {
    Timeline* known = device.objects.timelines.find(timeline);
    if (known == nullptr) return;
    frame.named.emplace_back(&device, timeline);
    ++known->calls;
}

[[nodiscard]] inline HostChecks checks_of(Plugin& plugin, Device& device)
    WYE_REQUIRES(plugin.mutex) {
    std::vector<const Objects*> others;
    for (Device* other : plugin.open)
        if (other != &device) others.push_back(&other->objects);
    return {device.objects, device.limits, std::move(others), plugin.handles};
}

}  // namespace wye::layers::validate
